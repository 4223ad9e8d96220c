#include "tests/support/timing/timing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/division.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/stream.h"
#include "tests/support/kernels/shapes.h"
#include "tests/support/timing/timing_stage.h"

const struct timing_machine timing_h200 = {.read = 4.5e6,
                                           .l2 = 6.0e6,
                                           .port = 64,
                                           .network = 2.78e6 * 2.78 / 3.28,
                                           .network_us = 200.0 / 1980,
                                           .clock = 1980,
                                           .latency_us = 1.0,
                                           .trip_us = 0.2,
                                           .release_us = 1.5,
                                           .arrive_us = 0.5,
                                           .start_us = 0.3,
                                           .cached = 3000.0 / 3180,
                                           .matrix = 620e6 / 2 / 132,
                                           .wgmma = 989e6 / 2 / 132,
                                           .conversions = 16,
                                           .overlap = 1,
                                           .residual_us = 0,
                                           .cached_whole = 3000.0 / 3180,
                                           .cached_copied = 3000.0 / 3180,
                                           .copied_trip_us = 0.2,
                                           .handover_us = 0.5};

const struct timing_machine timing_h200_measured = {.read = 4.6e6,
                                                    .l2 = 5.0e6,
                                                    .port = 64,
                                                    .network = 2.78e6 * 2.78 / 3.28,
                                                    .network_us = 200.0 / 1980,
                                                    .clock = 1980,
                                                    .latency_us = 1.0,
                                                    .trip_us = 0.29,
                                                    .release_us = 1.8,
                                                    .arrive_us = 0.5,
                                                    .start_us = 0.3,
                                                    .cached = 0.77,
                                                    .matrix = 620e6 / 2 / 132,
                                                    .wgmma = 989e6 / 2 / 132,
                                                    .conversions = 16,
                                                    .overlap = 0,
                                                    .residual_us = 0.345,
                                                    .cached_whole = 0.63,
                                                    .cached_copied = 3000.0 / 3180,
                                                    .copied_trip_us = 1.6,
                                                    .handover_us = 0.8};

const struct gpu_device timing_device = {
    .described = {.name = "H200", .units = 132, .cache_bytes = UINT64_C(60) << 20},
    .architecture = "sm_90",
    .warp = 32,
    .shared_bytes = 232448,
    .overlap = true,
    .wgmma = true,
    .clusters = MAX_CLUSTER,
    .cooperative = true};

#define BF16_TYPES                                                                                 \
  { ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32 }
#define FP8_TYPES                                                                                  \
  { ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32 }
#define FP8_KV_TYPES                                                                               \
  { ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32 }
#define ALL_FP8_TYPES                                                                              \
  { ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32 }

const struct timing_workload timing_workloads[TIMING_WORKLOADS] = {
    {"8B bf16, batch 1", &llama_8b, BF16_TYPES, 1, 512, MATRIX_REGISTERS, false},
    {"8B fp8 weights, batch 1", &llama_8b, FP8_TYPES, 1, 512, MATRIX_REGISTERS, false},
    {"Llama-2-70B fp8, batch 1", &llama_70b, FP8_TYPES, 1, 512, MATRIX_REGISTERS, false},
    {"Llama-2-70B fp8, batch 64, context 4096, fp8 KV, registers", &llama_70b, FP8_KV_TYPES, 64,
     4096, MATRIX_REGISTERS, false},
    {"Llama-2-70B fp8, batch 64, context 4096, fp8 KV, wgmma", &llama_70b, FP8_KV_TYPES, 64, 4096,
     MATRIX_WGMMA, false},
    {"Llama-2-70B fp8, activations too, batch 64, context 4096, fp8 KV, wgmma", &llama_70b,
     ALL_FP8_TYPES, 64, 4096, MATRIX_WGMMA, false},
    {"attention alone, batch 64, context 4096, GQA 8, bf16 KV", &llama_70b, FP8_TYPES, 64, 4096,
     MATRIX_REGISTERS, true},
    {"attention alone, batch 64, context 4096, GQA 8, fp8 KV", &llama_70b, FP8_KV_TYPES, 64, 4096,
     MATRIX_REGISTERS, true},
    {"8B bf16, batch 64, registers", &llama_8b, BF16_TYPES, 64, 512, MATRIX_REGISTERS, false},
    {"8B bf16, batch 64, wgmma", &llama_8b, BF16_TYPES, 64, 512, MATRIX_WGMMA, false},
};

const char *const timing_terms[TIMING_TERMS] = {
    [TIMING_MEMORY] = "memory",
    [TIMING_IN_FLIGHT] = "bytes in flight",
    [TIMING_ISSUE] = "issue slots",
    [TIMING_CONVERSION] = "conversion",
    [TIMING_MATRIX] = "matrix unit",
    [TIMING_L2] = "L2",
    [TIMING_SHARED] = "shared memory",
    [TIMING_CACHE] = "scattered cache",
    [TIMING_TILES] = "tiles over multiprocessors",
    [TIMING_DRAIN] = "window drain",
    [TIMING_TAIL] = "tails",
    [TIMING_RELEASE] = "launches",
    [TIMING_ROUNDING] = "norm and rounding",
    [TIMING_QUERIES] = "queries",
    [TIMING_MERGE] = "merges",
    [TIMING_RESIDUAL] = "residuals",
    [TIMING_BARRIER] = "barriers",
};

const char *const timing_points[TIMING_POINTS] = {"P1m", "P3",  "P4",  "P5",       "P6",  "P6c",
                                                  "P6s", "P7",  "P8",  "P9",       "P10", "P11",
                                                  "P12", "P13", "P14", "streaming"};

static const char *unknown(const struct plan *plan) {
  const struct decode_types *types = &plan->request.types;
  const bool plain = (types->weights == ELEMENT_BF16 || types->weights == ELEMENT_E4M3) &&
                     (types->head == ELEMENT_BF16 || types->head == ELEMENT_E4M3);
  if (strncmp(plan->device.architecture, "sm_", 3) != 0)
    return "no kernels but NVIDIA's are modelled";
  if (!plain)
    return "no weights but bf16 and fp8 are modelled";
  if (plan->experts.layers > 0)
    return "no experts are modelled";
  if (gpu_plan_is_latent(plan) || plan->request.shape.window > 0)
    return "no attention but a Llama's is modelled";
  if (plan->ranks > 1)
    return "no exchange between GPUs is modelled";
  for (int p = 0; p < PRODUCTS; p++)
    if (plan->product[p].rows > 0 && !plan->product[p].vector &&
        plan->product[p].slice < plan->request.batch)
      return "no batches that read the weights more than once are modelled";
  return NULL;
}

// ---- stages one after the other

static double sum_of(const double (*terms)[TIMING_TERMS]) {
  double sum = 0;
  for (int t = 0; t < TIMING_TERMS; t++)
    sum += (*terms)[t];
  return sum;
}

// Bytes requested in advance reduce all terms of the gap proportionally. `open` is what the
// preceding stages left over.
static void add_stage(const struct timing_machine *machine, const struct timing_stage *stage,
                      double (*open)[TIMING_TERMS], struct timing *out) {
  double gap = 0;
  for (int t = 0; t < TIMING_TERMS; t++)
    gap += (*open)[t] + stage->gap[t];
  const double left = gap > 0 ? fmax(0, gap - machine->overlap * stage->asked_us) / gap : 0;
  for (int t = 0; t < TIMING_TERMS; t++) {
    const double idle = ((*open)[t] + stage->gap[t]) * left;
    out->term[t] += stage->slower[t] + (stage->passes_on ? 0 : idle);
    (*open)[t] = stage->tail[t] + (stage->passes_on ? idle : 0);
  }
  out->term[TIMING_MEMORY] += stage->bytes / machine->read;
}

// ---- the streaming step. All in us of memory time: the rings hold `ring` of them.

struct streaming {
  double ring, held; // present and not yet used
  double us;
};

// While the blocks wait for each other and for their inputs, the rings fill; then their contents
// are used, as fast as they can be, and whatever follows.
static void stream_stage(const struct timing_context *context, const struct timing_stage *stage,
                         struct streaming *s, struct timing *out) {
  const struct timing_machine *machine = context->machine;
  const double waited = stage->finish_us + machine->handover_us + timing_trip_us(context) +
                        stage->gap[TIMING_ROUNDING] + stage->gap[TIMING_QUERIES];
  const double flowing = fmin(waited, s->ring - s->held), bytes = stage->bytes / machine->read;
  s->held += flowing;
  const double using = fmax(stage->use_us, fmax(0, bytes - s->held));
  const double room = s->ring - s->held + bytes;
  s->held = fmin(s->held + using, s->held + room) - bytes;
  s->us += waited + using;
  out->term[TIMING_MEMORY] += bytes;
  out->us += waited + using;
}

// Of all multiprocessors together; bytes in flight take room from the start.
static double ring_us(const struct plan *plan, const struct timing_machine *machine) {
  const int warps = VECTOR_THREADS / 32;
  const double bytes = (double)plan->stream.slots * STREAM_SLOT * warps;
  return bytes * plan->device.described.units / machine->read - machine->latency_us;
}

// ---- a layer's launches, those of the second if there is one

struct launched {
  struct gpu_launch *launches;
  const char *const *what;
  size_t count;
};

// The name without its layer; NULL: of another layer, or of any if `layer` is -1.
static const char *stage_in(const char *what, int layer) {
  char *end;
  if (strncmp(what, "layer ", 6) != 0)
    return layer < 0 ? what : NULL;
  return strtol(what + 6, &end, 10) == layer ? end + 1 : NULL;
}

// `rounded`: by a kernel before it that the plan does not have.
static struct timing_stage stage_at(struct timing_context *context, const struct launched *all,
                                    size_t i, int layer, bool rounded) {
  const char *stage = stage_in(all->what[i], layer);
  if (strcmp(stage, "round") == 0)
    stage = stage_in(all->what[i + 1], layer);
  context->before = rounded ? context->plan->batch_padded
                    : i > 0 ? (int)(all->launches[i - 1].grid[0])
                            : 0;
  return timing_stage_of(context, &all->launches[i], stage);
}

static void add_launches(struct timing_context *context, const struct launched *all, int layer,
                         double (*open)[TIMING_TERMS], struct streaming *streaming,
                         struct timing *out) {
  for (size_t i = 0; i < all->count; i++) {
    if (!stage_in(all->what[i], layer))
      continue;
    struct timing_stage stage;
    const bool rounded =
        timing_round_before(context, &all->launches[i], stage_in(all->what[i], layer), &stage);
    if (rounded)
      add_stage(context->machine, &stage, open, out);
    stage = stage_at(context, all, i, layer, rounded);
    if (context->plan->streaming)
      stream_stage(context, &stage, streaming, out);
    else
      add_stage(context->machine, &stage, open, out);
  }
  if (!context->plan->streaming)
    out->us = sum_of((const double(*)[TIMING_TERMS]) & out->term);
  else
    out->term[TIMING_BARRIER] = out->us - out->term[TIMING_MEMORY];
}

static struct timing attention_alone(struct timing_context *context, const struct launched *all,
                                     int layer) {
  struct timing out = {0};
  for (size_t i = 0; i < all->count; i++) {
    const char *stage = stage_in(all->what[i], layer);
    if (!stage || strcmp(stage, "attention") != 0)
      continue;
    struct timing_stage alone = stage_at(context, all, i, layer, false);
    double open[TIMING_TERMS] = {0};
    alone.passes_on = false;
    add_stage(context->machine, &alone, &open, &out);
    for (int t = 0; t < TIMING_TERMS; t++)
      out.term[t] += open[t];
  }
  out.us = sum_of((const double(*)[TIMING_TERMS]) & out.term);
  return out;
}

static bool add_up(const struct plan *plan, const struct timing_machine *machine, unsigned points,
                   struct timing_step *out) {
  struct timing_context context = {.plan = plan, .machine = machine, .points = points};
  struct launched all = {.count = 0};
  const int layer = plan->request.shape.layers > 1 ? 1 : 0;
  double open[TIMING_TERMS] = {0};
  struct streaming streaming = {.ring = ring_us(plan, machine)};
  all.launches = gpu_plan_step(plan, NULL, &all.count, &all.what);
  if (!all.launches)
    return false;
  *out = (struct timing_step){.layers = plan->request.shape.layers};
  for (int round = 0; round < 2; round++) { // until it is known what a layer leaves to the next
    out->layer = (struct timing){0};
    add_launches(&context, &all, layer, &open, &streaming, &out->layer);
  }
  add_launches(&context, &all, -1, &open, &streaming, &out->rest);
  out->attention = attention_alone(&context, &all, layer);
  free(all.launches);
  return true;
}

// Before P13, registers limited attention's blocks on a multiprocessor: that decides its splits.
static int splits_of_registers(const struct plan *plan) {
  const bool light = plan->head_dim_padded <= 64 ||
                     (plan->request.types.kv == ELEMENT_E4M3 && plan->head_dim_padded <= 128);
  const int blocks = plan->context_padded / VALUE_BLOCK;
  return division_splits(gpu_plan_attention_rows(plan), blocks, 0,
                         (light ? 3 : 2) * plan->device.described.units,
                         blocks < ATTENTION_SPLITS ? blocks : ATTENTION_SPLITS);
}

static const char *timing_tuned(const struct decode_request *request,
                                const struct gpu_device *device,
                                const struct timing_machine *machine, unsigned points,
                                struct timing_step *out) {
  struct gpu_device described = *device;
  struct plan plan;
  const char *why;
  if (!(points & TIMING_P6_SUMS))
    described.tuning.wgmma_parts = 1;
  if (!(points & TIMING_P14))
    described.tuning.wgmma_strips = 1;
  if (gpu_plan_make(request, 0, &described, &plan, &why) != DECODE_OK)
    return why;
  if (!(points & TIMING_P13) && !plan.streaming && described.tuning.attention_splits == 0) {
    described.tuning.attention_splits = splits_of_registers(&plan);
    if (gpu_plan_make(request, 0, &described, &plan, &why) != DECODE_OK)
      return why;
  }
  why = unknown(&plan);
  return why ? why : add_up(&plan, machine, points, out) ? NULL : "memory ran out";
}

// Unless tuned, with P6c: of steps with and without clusters that share activations, the faster.
const char *timing_of(const struct decode_request *request, const struct gpu_device *device,
                      const struct timing_machine *machine, unsigned points,
                      struct timing_step *out) {
  struct timing_step shared;
  struct gpu_device tuned = *device;
  const int chosen = device->tuning.wgmma_beside;
  tuned.tuning.wgmma_beside = chosen > 0 ? chosen : 1;
  const char *why = timing_tuned(request, &tuned, machine, points, out);
  tuned.tuning.wgmma_beside = MAX_WGMMA_BESIDE;
  if (!why && chosen == 0 && points & TIMING_P6_CLUSTERS &&
      !timing_tuned(request, &tuned, machine, points, &shared) &&
      timing_step_us(&shared) < timing_step_us(out))
    *out = shared;
  return why;
}

struct decode_request timing_request(const struct timing_workload *workload) {
  return (struct decode_request){.shape = *workload->shape,
                                 .types = workload->types,
                                 .batch = workload->batch,
                                 .context = workload->context};
}

const char *timing_of_workload(const struct timing_workload *workload,
                               const struct timing_machine *machine, unsigned points,
                               struct timing_step *out) {
  const struct decode_request request = timing_request(workload);
  struct gpu_device device = timing_device;
  device.tuning.matrix = workload->matrix;
  if (points & TIMING_STREAMING && workload->batch <= VECTOR_BATCH)
    device.tuning.step = STEP_STREAMING;
  return timing_of(&request, &device, machine, points, out);
}

double timing_step_us(const struct timing_step *step) {
  return step->layers * step->layer.us + step->rest.us;
}

double timing_share(const struct timing_step *step) {
  return (step->layers * step->layer.term[TIMING_MEMORY] + step->rest.term[TIMING_MEMORY]) /
         timing_step_us(step);
}

enum timing_term timing_limit(const struct timing *timing) {
  enum timing_term most = TIMING_MEMORY;
  for (int t = TIMING_MEMORY + 1; t < TIMING_TERMS; t++)
    if (timing->term[t] > (most == TIMING_MEMORY ? 0 : timing->term[most]))
      most = (enum timing_term)t;
  return most;
}
