#include "model/telemetry/clock_state.h"

#include <math.h>
#include <sys/timex.h>
#include <time.h>

const struct clock_state clock_state_unknown = {
    .max_error_s = NAN, .est_error_s = NAN, .utc_minus_monotonic_s = NAN};

static double seconds_of(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct clock_state clock_state_read(void) {
  struct clock_state state = clock_state_unknown;
  struct timex kernel = {0};
  const int status = adjtimex(&kernel);
  if (status >= 0) {
    state.synchronised = status != TIME_ERROR && !(kernel.status & STA_UNSYNC);
    state.max_error_s = 1e-6 * (double)kernel.maxerror;
    state.est_error_s = 1e-6 * (double)kernel.esterror;
  }
  const double before_s = seconds_of(CLOCK_MONOTONIC);
  const double utc_s = seconds_of(CLOCK_REALTIME);
  state.utc_minus_monotonic_s = utc_s - (before_s + seconds_of(CLOCK_MONOTONIC)) / 2;
  return state;
}

double clock_state_bound(const struct clock_state *before, const struct clock_state *after) {
  if (!before->synchronised || !after->synchronised)
    return NAN;
  return fmax(before->max_error_s, after->max_error_s) +
         fabs(after->utc_minus_monotonic_s - before->utc_minus_monotonic_s);
}
