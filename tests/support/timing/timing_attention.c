#include "tests/support/timing/timing_attention.h"

#include <math.h>

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/integers.h"

// From the kernels' sources (kernels/gpu/device), and lengths of instruction sequences.
#define QUERY_CYCLES     500 // for the instructions around their loads
#define SOFTMAX_CYCLES   800 // of one unit of a single warp: chains of mma, shuffles, exponentials
#define ATTENTION_CYCLES 420 // instructions of a unit of 16 KiB in BF16
#define COPIED_CYCLES    633 // the same with P13, in the machine code; in E4M3
#define COPIED_E4M3      1815
#define HEAD_CYCLES      150 // to merge a head's warps
#define HELD_CYCLES      100 // to merge a head's splits, without the loads
#define AT_ONCE          4   // splits whose loads are under way together: the first kernels
#define MANY_AT_ONCE     16  // with P4: attention_merge.h
#define QUAD             4   // elements of a load there
#define BUFFERS          2   // of attention.h, without P13

struct attended {
  int heads, blocks, slots, splits;
  bool few; // a warp has at most one unit, and blocks leave room for those of the next launch
  struct timing_flow flow;
};

// In a streaming step attention's kernel is another.
static bool copies_cache(const struct timing_context *context) {
  return timing_has(context, TIMING_P13) && gpu_plan_copies_cache(context->plan);
}

static double cached(const struct timing_context *context) {
  const bool whole = context->plan->carveout == 100 && timing_has(context, TIMING_P7);
  return copies_cache(context) ? context->machine->cached_copied
         : whole               ? context->machine->cached_whole
                               : context->machine->cached;
}

// Blocks of attention on a multiprocessor: two or, without P13, what registers allow.
static int attention_blocks(const struct timing_context *context) {
  const struct plan *plan = context->plan;
  const bool light = plan->head_dim_padded <= 64 ||
                     (plan->request.types.kv == ELEMENT_E4M3 && plan->head_dim_padded <= 128);
  return light && !copies_cache(context) ? 3 : 2;
}

static struct attended attended_by(const struct timing_context *context,
                                   const struct gpu_launch *launch) {
  const struct plan *plan = context->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const bool narrow = plan->request.types.kv == ELEMENT_E4M3;
  const int tiles = plan->head_dim_padded / 16;
  const int most = narrow || plan->head_dim_padded > 128 ? 4 : 8; // attention_kind::MOST
  const bool copied = copies_cache(context);
  const int on_one = attention_blocks(context);
  const int loads = copied ? ATTENTION_COPIED_BATCHES : BUFFERS;
  const double window = loads * 1024.0 * least(tiles, copied ? ATTENTION_COPIED_TILES : most);
  const double units_of_warp =
      (double)plan->request.context / (narrow ? 64 : 32) / launch->grid[0] / ATTENTION_WARPS;
  struct attended attended = {.heads = shape->heads / shape->kv_heads / plan->head_groups,
                              .blocks = (int)(launch->grid[0] * launch->grid[1] * launch->grid[2]),
                              .slots = on_one * timing_units(context),
                              .splits = (int)launch->grid[0]};
  attended.few = units_of_warp <= 1 && attended.blocks <= timing_units(context);
  const int unit_cycles = !copied ? ATTENTION_CYCLES : narrow ? COPIED_E4M3 : COPIED_CYCLES;
  const double scored_us = timing_cycles_us(context, unit_cycles * window / 16384);
  const double converted_us = narrow && !copied ? timing_conversion_us(context, window) : 0;
  attended.flow = (struct timing_flow){.warps = on_one * ATTENTION_WARPS / SCHEDULERS,
                                       .loads = loads,
                                       .counted = copied,
                                       .window = window,
                                       .use_us = fmax(scored_us, converted_us),
                                       .used = narrow && !copied ? TIMING_CONVERSION : TIMING_ISSUE,
                                       .most = cached(context),
                                       .waves = ceiling(attended.blocks, attended.slots),
                                       .whole = (double)attended.blocks / attended.slots};
  if (attended.few) // limited by its latencies only
    attended.flow.waves = attended.flow.whole = attended.flow.most = 1;
  return attended;
}

// With P4 the new key and value arrive with the queries.
static double queries_us(const struct timing_context *context, const struct attended *attended) {
  const int trips = timing_has(context, TIMING_P4) ? 1 : attended->heads + 1;
  return trips * timing_trip_us(context) + timing_cycles_us(context, QUERY_CYCLES);
}

// Of the block that merges: with P4 the first sums arrive with what they are multiplied by.
static int merge_trips(const struct timing_context *context, const struct attended *attended) {
  if (!timing_has(context, TIMING_P4))
    return 1 + attended->heads * ceiling(attended->splits, AT_ONCE);
  const int threads = ATTENTION_WARPS * 32;
  const int items = attended->heads * ceiling(context->plan->request.shape.head_dim, QUAD);
  int parts = 1;
  while (parts < 32 && items * parts * 2 <= threads)
    parts *= 2;
  return ceiling(items * parts, threads) * ceiling(attended->splits, parts * MANY_AT_ONCE);
}

static double merged_us(const struct timing_context *context, const struct attended *attended) {
  const struct timing_machine *machine = context->machine;
  const double warps_us = timing_cycles_us(context, HEAD_CYCLES * attended->heads);
  if (attended->splits == 1)
    return warps_us + timing_trip_us(context);
  const int columns = timing_has(context, TIMING_P4) ? 1 : attended->heads;
  return warps_us + machine->arrive_us + merge_trips(context, attended) * timing_trip_us(context) +
         timing_cycles_us(context, HELD_CYCLES * columns);
}

// A block that begins where another has ended leaves its multiprocessor to the others meanwhile.
static double turnover_us(const struct timing_context *context, const struct attended *attended,
                          double path_us) {
  const double share = context->machine->read * cached(context) / timing_units(context);
  const double all = fmin(share, timing_flow_rate(context, &attended->flow, attended->flow.warps));
  const double others =
      fmin(share, timing_flow_rate(context, &attended->flow, attended->flow.warps - 1));
  return (attended->flow.waves - 1) * path_us * (1 - others / all);
}

struct timing_stage timing_attention(const struct timing_context *context,
                                     const struct gpu_launch *launch) {
  const struct timing_machine *machine = context->machine;
  const struct attended attended = attended_by(context, launch);
  struct timing_stage stage = {.bytes = (double)gpu_plan_cache_bytes(context->plan) /
                                        context->plan->request.shape.layers,
                               .passes_on = attended.few};
  stage.gap[TIMING_RELEASE] = machine->release_us;
  stage.gap[TIMING_QUERIES] = queries_us(context, &attended);
  stage.tail[TIMING_MERGE] = merged_us(context, &attended);
  stage.finish_us = stage.tail[TIMING_MERGE];
  if (attended.few) { // the newest unit is read after it has been written
    stage.gap[TIMING_QUERIES] += machine->latency_us + timing_cycles_us(context, SOFTMAX_CYCLES);
    return stage;
  }
  timing_flow_time(context, &attended.flow, &stage);
  stage.tail[TIMING_TAIL] = machine->latency_us / 2;
  const double path_us = machine->start_us + stage.gap[TIMING_QUERIES] + stage.tail[TIMING_MERGE] +
                         stage.tail[TIMING_TAIL];
  stage.slower[TIMING_QUERIES] += turnover_us(context, &attended, path_us);
  const double held_us =
      SCHEDULERS * attended.flow.warps * attended.flow.window * timing_units(context) / stage.rate;
  stage.asked_us =
      fmin(held_us, machine->release_us - machine->start_us + stage.gap[TIMING_QUERIES]);
  return stage;
}
