// timed: what the timing model predicts for its workloads; without a prediction, the test fails.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_TIMED_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_TIMED_H

#include "tests/support/timing/timing.h"

// The number of the first workload with this in its name.
int timed_workload(const char *fragment);

struct timing_step timed_step(int workload, const struct timing_machine *machine, unsigned points);

// The memory's share of the step, or of its attention if that alone is meant: on any machine, on
// the H200 before any measurement, and as measured.
double timed_share_by(const struct timing_machine *machine, int workload, unsigned points);
double timed_share(int workload, unsigned points);
double timed_share_measured(int workload, unsigned points);

#endif
