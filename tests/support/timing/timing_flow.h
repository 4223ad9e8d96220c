// timing_flow: the laws that the stages of timing.h's model share: how long bytes take to
// flow.
#ifndef PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_FLOW_H
#define PERTOKEN_TESTS_SUPPORT_TIMING_TIMING_FLOW_H

#include "kernels/gpu/plan/plan.h"
#include "tests/support/timing/timing.h"

#include <stdbool.h>

enum { SCHEDULERS = 4 }; // of a multiprocessor; each issues one instruction a cycle

struct timing_stage {
  double bytes;                // from memory
  double rate;                 // bytes/us at which they flow
  double slower[TIMING_TERMS]; // us that they take longer than at full speed
  double gap[TIMING_TERMS];    // us from the preceding stage to the flow
  double tail[TIMING_TERMS];   // us from the last byte of the flow to the results
  double asked_us;             // of the flow that takes place before the gap ends
  bool passes_on;              // the next stage makes requests while this one's gap lasts
  double finish_us, use_us;    // of a streaming step: the tail; the time to use all bytes
};

struct timing_context {
  const struct plan *plan;
  const struct timing_machine *machine;
  unsigned points;
  int before; // blocks of the preceding launch, which occupy their multiprocessors
};

// How a stage's bytes are fetched and used, in a multiprocessor.
struct timing_flow {
  int warps;             // per scheduler, that fetch windows
  int loads;             // per window
  bool counted;          // each is waited for by itself
  double window;         // bytes per warp
  double use_us;         // time that the scheduler takes to use one
  enum timing_term used; // what limits that
  double beside;         // bytes from L2 for each byte of weights or cache
  double most;           // share of the memory's speed, at most
  double waves, whole;   // of blocks: as assigned, and as if they could be divided
  int idle;              // multiprocessors whose share of the memory and of L2 the others have
};

bool timing_has(const struct timing_context *context, enum timing_point point);
int timing_units(const struct timing_context *context); // multiprocessors
double timing_cycles_us(const struct timing_context *context, double cycles);

// Of a read of L2 that something waits for.
double timing_trip_us(const struct timing_context *context);

// Of a scheduler, for weights that become BF16: two F2FP per pair, or shifts.
double timing_conversion_us(const struct timing_context *context, double elements);

// Windows per us of a scheduler with `warps`, each of which waits `latency` and then uses it for
// `use`.
double timing_windows(int warps, double use, double latency);

// Bytes/us of a multiprocessor with so many warps per scheduler.
double timing_flow_rate(const struct timing_context *context, const struct timing_flow *flow,
                        int warps);

// Adds to `stage` a term for the slowest of a multiprocessor's limits, and one for the waves. True
// if the limit is the use of its windows, not their fetching.
bool timing_flow_time(const struct timing_context *context, const struct timing_flow *flow,
                      struct timing_stage *stage);

#endif
