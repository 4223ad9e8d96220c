// courier: what a process of a launch that shares no folder exchanges with process 0: it sends its
// entry of the roll and its records, and gets the others' entries.
//
// A broken connection is made again. If that takes longer than COURIER_AGAIN_S, or process 0 sends
// nothing for wait_s, process 0 is lost for good: the courier then warns once, and its process goes
// on alone.
#ifndef PERTOKEN_PROBE_FLEET_COURIER_H
#define PERTOKEN_PROBE_FLEET_COURIER_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/fleet/launch.h"
#include "probe/fleet/rendezvous.h"
#include "probe/fleet/wire.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

enum { COURIER_AGAIN_S = 10, COURIER_LAST_S = 5 };

// A record as it was last sent.
struct courier_sent;

struct courier {
  // Set by the caller.
  const struct rendezvous *rendezvous;
  const struct launch *launch;
  const char *records; // this node's folder
  double wait_s;
  const struct clock *clock;
  const volatile sig_atomic_t *stop; // after that, COURIER_LAST_S remain for what is left to send
  struct arena *arena;
  struct diagnostics *diagnostics;
  // The courier's own; courier_close frees it.
  int fd; // -1: not connected
  struct wire wire;
  struct arena wire_arena, list_arena;
  const char *entry;         // as last sent; NULL: none
  const char *list;          // the entries; NULL: none yet
  const char *list_number;   // as process 0 counts them
  struct courier_sent *sent; // [sent_count]
  size_t sent_count;
  bool is_lost;
};

// Connects; waits up to wait_s for process 0. If it is not there by then, or is somebody else, that
// is an error with machine_failed set. Returns 0, also when stopped, or -1.
int courier_open(struct courier *courier);

// The board of a roll; its context is the courier.
int courier_tell(void *courier, const char *entry);
int courier_list(void *courier, const char **entries, struct arena *arena);

// Sends the records of this node's folder that are new or have changed; an entry must have been
// sent before. A record that process 0 does not keep is an error. Returns 0, 1 if process 0 is
// lost, or -1.
int courier_send(struct courier *courier);

void courier_close(struct courier *courier);

#endif
