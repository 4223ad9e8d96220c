#include "tests/support/kernels/timed.h"

#include "tests/support/fixture.h"

#include <string.h>

int timed_workload(const char *fragment) {
  for (int w = 0; w < TIMING_WORKLOADS; w++)
    if (strstr(timing_workloads[w].name, fragment))
      return w;
  fail_msg("no workload '%s'", fragment);
  return 0;
}

struct timing_step timed_step(int workload, const struct timing_machine *machine, unsigned points) {
  struct timing_step step;
  const char *why = timing_of_workload(&timing_workloads[workload], machine, points, &step);
  if (why)
    fail_msg("%s: %s", timing_workloads[workload].name, why);
  return step;
}

double timed_share_by(const struct timing_machine *machine, int workload, unsigned points) {
  const struct timing_step step = timed_step(workload, machine, points);
  return timing_workloads[workload].attention
             ? step.attention.term[TIMING_MEMORY] / step.attention.us
             : timing_share(&step);
}

double timed_share(int workload, unsigned points) {
  return timed_share_by(&timing_h200, workload, points);
}

double timed_share_measured(int workload, unsigned points) {
  return timed_share_by(&timing_h200_measured, workload, points);
}
