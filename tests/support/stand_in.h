// stand_in: a device for tests whose speed is known and whose time is controlled by the test. It
// computes with the oracle, so it passes verification unless it is told to compute wrong results.
#ifndef PERTOKEN_TESTS_SUPPORT_STAND_IN_H
#define PERTOKEN_TESTS_SUPPORT_STAND_IN_H

#include "tests/support/fixture.h"

#include "probe/measure/protocol.h"

#include <signal.h>

// What the test sets, and what the backend has done.
struct stand_in {
  double now_s;
  double step_s, layer_s; // of a step: fixed part, and part per layer
  double bytes_per_s;     // of reads
  double jitter;          // share by which every second sample takes longer
  double drift;           // share by which each call takes longer than the preceding one
  double read_drift;      // the same for reads
  double disturbance;     // deviation of the logarithm of a call's time, which outlasts the call
  double disturbed;       // that of the last call
  uint64_t seed;          // of the disturbances
  double sway;            // share by which memory is slower at times, for reads and steps alike
  double large_gain;      // share by which reads of more than twice CALIBRATION_BYTES are faster
  double read_overhead_s; // overhead of every read
  uint64_t memory_bytes, cache_bytes;
  bool wrong, fails;
  struct stand_in_variant {
    const char *name;
    double slower;           // its steps take this many times as long as those of the own choice
    bool wrong, refused;     // as `wrong`; not made
  } variants[4];             // up to the first without a name
  const char *fallback;      // why its recorded steps are single launches; NULL: they are not
  int states, buffers, runs; // alive; alive; so far
  int reads;                 // so far
  int stop_after;            // runs, 0: never
  int stop_after_reads;
};
extern struct stand_in stand_in;
extern volatile sig_atomic_t stand_in_stop;
extern const struct clock stand_in_clock;
extern const struct decode_backend stand_in_backend; // "fake"

// A workload on it, and the protocol that measures it.
struct scene {
  struct fixture fixture;
  struct device device;
  struct meter meter, host;
  struct protocol protocol;
  struct trial trial;
};

// 10 ms a step for a model of 8 layers, 8 GB of weights at 1 TB/s: 80 % of the read bandwidth. No
// meter.
void scene_start(struct scene *scene);

// Everything that was created has been destroyed.
void scene_end(struct scene *scene);

// The result; an error fails the test.
struct measurement scene_measured(struct scene *scene);

#endif
