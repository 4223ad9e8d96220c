// clock_state: how far a host's clock may be from UTC, as its kernel states it: adjtimex(2), which a
// running NTP service keeps up to date.
#ifndef PERTOKEN_MODEL_TELEMETRY_CLOCK_STATE_H
#define PERTOKEN_MODEL_TELEMETRY_CLOCK_STATE_H

#include <stdbool.h>

struct clock_state {
  bool synchronised;               // by an NTP service; else the errors mean nothing
  double max_error_s, est_error_s; // NAN: not stated
  double utc_minus_monotonic_s;    // a time of CLOCK_MONOTONIC plus this is UTC; NAN: not stated
};

// Of a file that says nothing of its clock.
extern const struct clock_state clock_state_unknown;

// Of this host, now.
struct clock_state clock_state_read(void);

// A bound of the clock's distance from UTC over the time between two states: the larger of the two
// largest errors, and by how much the clock was stepped in between. NAN where either is not known.
double clock_state_bound(const struct clock_state *before, const struct clock_state *after);

#endif
