#include "tests/support/timing/timing_flow.h"

#include <math.h>

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/stream.h"
#include "kernels/integers.h"

#define SHIFT_CYCLES 8           // of a pair: four instructions of 16 lanes a cycle and scheduler
#define FEW_COPIES   (48 << 10)  // bytes under way, behind which loads take trip_us,
#define MANY_COPIES  (192 << 10) // and copied_trip_us

enum { VECTOR_WARPS = VECTOR_THREADS / 32 };

double timing_windows(int warps, double use, double latency) {
  double queue = 0, rate = 0;
  for (int n = 1; n <= warps; n++) {
    const double there = use * (1 + queue);
    rate = n / (there + latency);
    queue = rate * there;
  }
  return rate;
}

bool timing_has(const struct timing_context *context, enum timing_point point) {
  return context->points & (unsigned)point;
}

int timing_units(const struct timing_context *context) {
  return context->plan->device.described.units;
}

double timing_trip_us(const struct timing_context *context) {
  const struct timing_machine *machine = context->machine;
  const struct plan_stream *stream = &context->plan->stream;
  const double flying = (double)least(stream->slots, stream->flying) * STREAM_SLOT * VECTOR_WARPS;
  const double many = fmin(1, fmax(0, (flying - FEW_COPIES) / (MANY_COPIES - FEW_COPIES)));
  return machine->trip_us +
         (context->plan->streaming ? many : 0) * (machine->copied_trip_us - machine->trip_us);
}

double timing_cycles_us(const struct timing_context *context, double cycles) {
  return cycles / context->machine->clock;
}

double timing_flow_rate(const struct timing_context *context, const struct timing_flow *flow,
                        int warps) {
  const int loads = flow->counted ? flow->loads : 1;
  return SCHEDULERS * flow->window / loads *
         timing_windows(warps * loads, flow->use_us / loads, context->machine->latency_us);
}

bool timing_flow_time(const struct timing_context *context, const struct timing_flow *flow,
                      struct timing_stage *stage) {
  const struct timing_machine *machine = context->machine;
  const double readers = timing_units(context) - flow->idle;
  const double share = machine->read / readers;
  const double port = machine->port * machine->clock;
  const double l2 = fmin(machine->l2 / readers, port) / (1 + flow->beside);
  const double brought = timing_flow_rate(context, flow, flow->warps);
  const bool busy = flow->warps * flow->use_us > machine->latency_us;
  double rate = share * flow->most;
  enum timing_term by = TIMING_CACHE;
  if (l2 < rate) {
    rate = l2;
    by = TIMING_L2;
  }
  if (brought < rate) {
    rate = brought;
    by = busy ? flow->used : TIMING_IN_FLIGHT;
  }
  stage->rate = rate * readers;
  const double whole_us = stage->bytes / stage->rate;
  stage->slower[by] += whole_us - stage->bytes / machine->read;
  stage->slower[TIMING_TILES] += whole_us * (flow->waves / flow->whole - 1);
  stage->use_us = stage->bytes / (SCHEDULERS * flow->window / flow->use_us * readers) *
                  (flow->waves / flow->whole);
  return rate == brought;
}

double timing_conversion_us(const struct timing_context *context, double elements) {
  const double lanes = context->machine->conversions / SCHEDULERS;
  const double cycles =
      timing_has(context, TIMING_P5) ? elements / 2 * SHIFT_CYCLES / 32 : elements / lanes;
  return timing_cycles_us(context, cycles);
}
