// loop: libcurl's transfers driven by epoll, with the time at which the kernel had something for
// them.
#ifndef PERTOKEN_PROBE_SERVING_LOOP_H
#define PERTOKEN_PROBE_SERVING_LOOP_H

#include "base/diagnostics.h"

#include <curl/curl.h>
#include <curl/multi.h>
#include <stddef.h>

struct loop {
  CURLM *multi;
  int epoll, timer; // descriptors
  double now_s;     // machine_clock's when the last wait ended: all that it found was there
  double lag_s;     // how long it then took to process it
  double curl_due_s, armed_s;
  double nap_s; // between two waits
};

// With at least this many connections, data is collected for LOOP_NAP_US before it is processed:
// times are later by that, as accurately as the system wakes, and a fifth of the work is saved.
enum { LOOP_MANY = 256, LOOP_NAP_US = 50 };

// Opens a loop for up to `connections` at a time: raises the process's limit of open files if
// needed. Returns 0 or -1, with an error; loop_close then does nothing.
int loop_open(struct loop *loop, size_t connections, struct diagnostics *diagnostics);
void loop_close(struct loop *loop);

// Waits until something has come, or `until_s`, and lets libcurl process it.
void loop_turn(struct loop *loop, double until_s);

// The next transfer that has ended since, with its result; NULL: no more.
CURL *loop_ended(struct loop *loop, CURLcode *code);

#endif
