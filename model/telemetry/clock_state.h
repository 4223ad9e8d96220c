// clock_state: how far a host's clock may be from UTC, according to its kernel: adjtimex(2), which
// a running NTP service keeps up to date.
#ifndef PERTOKEN_MODEL_TELEMETRY_CLOCK_STATE_H
#define PERTOKEN_MODEL_TELEMETRY_CLOCK_STATE_H

#include <stdbool.h>

struct clock_state {
  bool synchronised;               // by an NTP service; else the errors are meaningless
  double max_error_s, est_error_s; // NAN: not stated
  double utc_minus_monotonic_s;    // a time of CLOCK_MONOTONIC plus this is UTC; NAN: not stated
};

// The state for a file that does not state its clock.
extern const struct clock_state clock_state_unknown;

// The state of this host's clock now.
struct clock_state clock_state_read(void);

// A bound on the clock's distance from UTC over the time between two states: the larger of the two
// maximum errors, plus the amount by which the clock was stepped in between. NAN if either is
// unknown.
double clock_state_bound(const struct clock_state *before, const struct clock_state *after);

#endif
