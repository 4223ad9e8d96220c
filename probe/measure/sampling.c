#include "probe/measure/sampling.h"

#include "base/arena.h"
#include "base/clock.h"
#include "kernels/decode.h"
#include "model/records/timing.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

static const double warm_chunk_s = 0.05;
static const double warm_limit_s = 3;
static const double glance_s = 0.3;
static const double warm_share = 0.01; // three chunks this close together count as settled
// Fewer, or fewer that are as good as independent, cannot tell how much neighbors are correlated:
// the rule would end by chance, with an interval too narrow.
enum { MIN_SAMPLES = 30, MIN_INDEPENDENT = 20, MIN_GLANCES = 10 };

// Seconds per step, over `steps` steps.
static enum decode_status time_steps(const struct sampling *sampling, int steps, double *seconds) {
  const struct protocol *protocol = sampling->protocol;
  const double start = clock_now(protocol->clock);
  const enum decode_status status = protocol->device->backend->run(sampling->state, steps);
  *seconds = (clock_now(protocol->clock) - start) / steps;
  return status == DECODE_OK && !(*seconds > 0) ? DECODE_FAILED : status;
}

enum decode_status sampling_warm_up(struct sampling *sampling) {
  const struct clock *clock = sampling->protocol->clock;
  const double end = clock_now(clock) + warm_limit_s;
  double step_s, last[2] = {0, 0};
  enum decode_status status = time_steps(sampling, 1, &step_s);
  while (status == DECODE_OK && clock_now(clock) < end && !*sampling->protocol->stop) {
    status = time_steps(sampling, protocol_steps(warm_chunk_s, step_s), &step_s);
    if (fabs(step_s / last[0] - 1) < warm_share && fabs(step_s / last[1] - 1) < warm_share)
      break;
    last[0] = last[1];
    last[1] = step_s;
  }
  sampling->step_s = step_s;
  sampling->steps = protocol_steps(PROTOCOL_SAMPLE_S, step_s);
  return status;
}

static void keep(struct sampling *sampling, double step_s, double share) {
  struct arena *arena = sampling->protocol->arena;
  const size_t count = sampling->count++;
  sampling->samples = arena_room(arena, sampling->samples, count, sizeof(double));
  sampling->shares = arena_room(arena, sampling->shares, count, sizeof(double));
  sampling->sorted = arena_room(arena, sampling->sorted, count, sizeof(double));
  sampling->samples[count] = step_s;
  sampling->shares[count] = share;
}

static void report(const struct sampling *sampling) {
  const struct protocol *protocol = sampling->protocol;
  const struct summary *summary = &sampling->summary;
  if (!protocol->progress)
    return;
  const double width = (summary->mean_high - summary->mean_low) / 2 / summary->mean;
  const char *format = width < 0.995 ? " +-%.2g %%" : " +-%.0f %%";
  const char *interval = !(width < 1) ? "" : arena_printf(protocol->arena, format, 100 * width);
  protocol->progress(arena_printf(protocol->arena, "%s: %.4g token/s%s, %zu sample%s",
                                  sampling->label, sampling->batch / summary->mean, interval,
                                  sampling->count, sampling->count == 1 ? "" : "s"));
}

// Since the state was made; nothing for a model without experts.
static enum decode_status count_experts(const struct sampling *sampling,
                                        struct decode_touched *out) {
  const struct decode_backend *backend = sampling->protocol->device->backend;
  *out = (struct decode_touched){0};
  if (sampling->cost->expert_bytes == 0)
    return DECODE_OK;
  return backend->touched ? backend->touched(sampling->state, out) : DECODE_UNSUPPORTED;
}

// Bytes that a step of the sample read, from the counts before and after it.
static double bytes_between(struct sampling *sampling, const struct decode_touched *before,
                            const struct decode_touched *after) {
  const struct decode_cost *cost = sampling->cost;
  const uint64_t experts = after->experts - before->experts, steps = after->steps - before->steps;
  sampling->touched.experts += experts;
  sampling->touched.steps += steps;
  return (double)(cost->weight_bytes + cost->kv_bytes) +
         (steps ? (double)cost->expert_bytes * (double)experts / (double)steps : 0);
}

// One sample, between two reads of memory: *read_s is the time of the read before it, and then of
// the one after it.
static enum decode_status take(struct sampling *sampling, double *read_s) {
  const struct calibration *calibration = sampling->calibration;
  struct decode_touched before, after;
  double step_s, after_s;
  enum decode_status status = count_experts(sampling, &before);
  if (status == DECODE_OK)
    status = time_steps(sampling, sampling->steps, &step_s);
  if (status == DECODE_OK)
    status = count_experts(sampling, &after);
  if (status == DECODE_OK)
    status = calibration_read(calibration, &after_s);
  if (status != DECODE_OK)
    return status;
  const double bandwidth = (double)calibration->bytes / ((*read_s + after_s) / 2);
  keep(sampling, step_s, bytes_between(sampling, &before, &after) / step_s / bandwidth);
  *read_s = after_s;
  return DECODE_OK;
}

// Sorting is not free: the rule is checked after every 5 % more samples.
static bool is_time_to_look(size_t count, size_t *next) {
  if (count < *next)
    return false;
  *next = count + 1 + count / 20;
  return true;
}

static bool is_enough(const struct sampling *sampling) {
  return is_settled(&sampling->summary, TIMING_SETTLED) && sampling->count >= MIN_SAMPLES &&
         sampling->summary.independent >= MIN_INDEPENDENT;
}

enum decode_status sampling_run(struct sampling *sampling) {
  const struct protocol *protocol = sampling->protocol;
  const double end = clock_now(protocol->clock) + protocol->time_s;
  double read_s;
  size_t next = 1;
  enum decode_status status = calibration_read(sampling->calibration, &read_s);
  while (status == DECODE_OK && !*protocol->stop) {
    status = take(sampling, &read_s);
    const bool over = clock_now(protocol->clock) >= end && sampling->count >= MIN_INTERVAL_SAMPLES;
    if (status != DECODE_OK || (!is_time_to_look(sampling->count, &next) && !over))
      continue;
    sampling->summary = summarise(sampling->samples, sampling->count, sampling->sorted);
    report(sampling);
    if (over || is_enough(sampling))
      break;
  }
  return status;
}

enum decode_status sampling_glance(struct sampling *sampling) {
  const struct protocol *protocol = sampling->protocol;
  const double end = clock_now(protocol->clock) + glance_s;
  enum decode_status status = DECODE_OK;
  double step_s;
  while (status == DECODE_OK && !*protocol->stop &&
         (sampling->count < MIN_GLANCES || clock_now(protocol->clock) < end)) {
    status = time_steps(sampling, sampling->steps, &step_s);
    if (status == DECODE_OK)
      keep(sampling, step_s, NAN);
  }
  if (sampling->count > 0)
    sampling->summary = summarise(sampling->samples, sampling->count, sampling->sorted);
  return status;
}
