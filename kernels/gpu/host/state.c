#include "kernels/gpu/host/state.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/host/tile_check.h"
#include "kernels/gpu/host/wgmma_check.h"
#include "kernels/gpu/launches/fill.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/launches/streaming.h"
#include "kernels/gpu/plan/arithmetic.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/units.h"
#include "kernels/quantised.h"
#include "kernels/rope.h"
#include "kernels/routing.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int state_device_count(void) {
  const int count = gpu_driver.device_count();
  if (count <= 0)
    failure_keep(DECODE_NO_DEVICE, gpu_driver.error());
  return count > 0 ? count : 0;
}

// Tunes a device as a text says; `where` begins the words about a text that says nothing known.
static enum decode_status tune(struct gpu_device *device, const char *text, const char *where) {
  char words[256], refused[sizeof words + 32];
  if (gpu_tuning_read(text, &device->tuning, words, sizeof words))
    return DECODE_OK;
  snprintf(refused, sizeof refused, "%s%s", where, words);
  return failure_keep(DECODE_UNSUPPORTED, refused);
}

// Adds the tuning from the environment, which goes into every record.
static enum decode_status tuned(enum decode_status status, struct gpu_device *out) {
  char words[256];
  if (status == DECODE_OK)
    status = tune(out, getenv("PERTOKEN_GPU_TUNING"), "PERTOKEN_GPU_TUNING: ");
  if (status != DECODE_OK)
    return status;
  gpu_tuning_write(&out->tuning, words, sizeof words);
  const size_t used = strlen(out->described.runtime);
  if (*words)
    snprintf(out->described.runtime + used, sizeof out->described.runtime - used, ", %s", words);
  return DECODE_OK;
}

enum decode_status state_describe(int device, struct gpu_device *out) {
  const int count = state_device_count();
  if (count == 0)
    return DECODE_NO_DEVICE;
  if (device >= 0 && device < count)
    return tuned(failure_told(gpu_driver.describe(device, out)), out);
  char words[96];
  snprintf(words, sizeof words, "there is no device %d, only %d, counted from 0", device, count);
  return failure_keep(DECODE_NO_DEVICE, words);
}

enum decode_status state_plan(int device, const struct decode_request *request, int rank,
                              struct plan *out) {
  struct gpu_device gpu;
  const char *why = NULL;
  enum decode_status status = state_describe(device, &gpu);
  if (status == DECODE_OK && request->variant && *request->variant)
    status = tune(&gpu, request->variant, "");
  if (status != DECODE_OK)
    return status;
  status = gpu_plan_make(request, rank, &gpu, out, &why);
  return status == DECODE_OK ? status : failure_keep(status, why);
}

// ---- the model in memory

void state_free_step(struct decode_state *state) {
  if (state->context)
    gpu_driver.graph_free(state->context, state->step);
  state->step = NULL;
}

void state_close(struct decode_state *state) {
  if (state->context)
    gpu_driver.release(state->context, state->base);
  gpu_driver.close(state->context);
}

static void *at(const struct decode_state *state, enum plan_region region) {
  return (char *)state->base + state->plan.region[region].offset;
}

enum decode_status state_copy_tokens(struct decode_state *state, const int *tokens) {
  return failure_told(gpu_driver.copy_in(state->context, at(state, REGION_TOKENS), tokens,
                                         (size_t)state->plan.request.batch * sizeof *tokens));
}

static enum decode_status first_tokens(struct decode_state *state) {
  const struct decode_request *request = &state->plan.request;
  const uint64_t vocab = (uint64_t)state->plan.whole.vocab;
  int tokens[LIMITS_BATCH];
  for (int row = 0; row < request->batch; row++)
    tokens[row] = (int)((request->seed % vocab + (uint64_t)row) % vocab);
  return state_copy_tokens(state, tokens);
}

void state_angles(const struct decode_shape *shape, int position, float *out) {
  const int pairs = rope_width(shape) / 2;
  double cosines[LIMITS_HEAD_DIM / 2], sines[LIMITS_HEAD_DIM / 2];
  rope_turns(shape, position, cosines, sines);
  for (int i = 0; i < pairs; i++) {
    out[2 * i] = (float)cosines[i];
    out[2 * i + 1] = (float)sines[i];
  }
}

// The angles of the held position.
static enum decode_status copy_angles(struct decode_state *state) {
  const struct decode_request *request = &state->plan.request;
  const int pairs = rope_width(&request->shape) / 2;
  float angles[LIMITS_HEAD_DIM];
  state_angles(&request->shape, request->context - 1, angles);
  return failure_told(gpu_driver.copy_in(state->context, at(state, REGION_ANGLES), angles,
                                         2 * (size_t)pairs * sizeof *angles));
}

static enum decode_status copy_routing(struct decode_state *state) {
  const struct decode_request *request = &state->plan.request;
  const size_t count = routing_entries(request);
  uint16_t *table = count > 0 ? malloc(count * sizeof *table) : NULL;
  if (count == 0)
    return DECODE_OK;
  if (!table)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  routing_fill(request, table);
  const enum decode_status status = failure_told(
      gpu_driver.copy_in(state->context, at(state, REGION_ROUTING), table, count * sizeof *table));
  free(table);
  return status;
}

// What any block of a tensor becomes; INT8 has no blocks and uses the entry with the largest value
// 0.
static void make_table(const struct quantised *quantised, struct fill_table *out) {
  memset(out, 0, sizeof *out);
  if (quantised->element == ELEMENT_INT8)
    for (int i = 0; i < 256; i++)
      out->codes[0][i] = (uint8_t)quantised->plain[i];
  else
    memcpy(out->codes, quantised->codes, sizeof out->codes);
  memcpy(out->scales, quantised->scales, sizeof out->scales);
}

static enum decode_status copy_tables(struct decode_state *state) {
  static const struct {
    enum product_name product; // that it is part of
    enum tensor tensor;
  } tensors[] = {
      {PRODUCT_QKV, TENSOR_WQ},
      {PRODUCT_QKV, TENSOR_WK},
      {PRODUCT_QKV, TENSOR_WV},
      {PRODUCT_QKV, TENSOR_Q_A},
      {PRODUCT_QKV, TENSOR_KV_A},
      {PRODUCT_Q_B, TENSOR_Q_B},
      {PRODUCT_WO, TENSOR_WO},
      {PRODUCT_GATE_UP, TENSOR_GATE},
      {PRODUCT_GATE_UP, TENSOR_UP},
      {PRODUCT_DOWN, TENSOR_DOWN},
      {PRODUCT_SHARED_GATE_UP, TENSOR_SHARED_GATE},
      {PRODUCT_SHARED_GATE_UP, TENSOR_SHARED_UP},
      {PRODUCT_SHARED_DOWN, TENSOR_SHARED_DOWN},
      {PRODUCT_EXPERT_GATE_UP, TENSOR_EXPERT_GATE},
      {PRODUCT_EXPERT_GATE_UP, TENSOR_EXPERT_UP},
      {PRODUCT_EXPERT_DOWN, TENSOR_EXPERT_DOWN},
      {PRODUCT_HEAD, TENSOR_EMBEDDING},
      {PRODUCT_HEAD, TENSOR_HEAD},
  };
  const struct plan *plan = &state->plan;
  struct fill_table *const tables = at(state, REGION_TABLES);
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < sizeof tensors / sizeof tensors[0] && status == DECODE_OK; i++) {
    const enum tensor tensor = tensors[i].tensor;
    struct quantised quantised;
    struct fill_table table;
    const struct plan_product *product = &plan->product[tensors[i].product];
    if (product->rows == 0 || !lies_in_units(product->weights))
      continue;
    quantise(product->weights, weights_scale(&plan->whole, tensor), &quantised);
    make_table(&quantised, &table);
    status =
        failure_told(gpu_driver.copy_in(state->context, &tables[tensor], &table, sizeof table));
  }
  return status;
}

static enum decode_status fill(struct decode_state *state) {
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_fill(&state->plan, state->base, &count);
  if (!launches)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < count && status == DECODE_OK; i++)
    status = failure_told(gpu_driver.launch(state->context, &launches[i]));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.wait(state->context));
  free(launches);
  return status;
}

static enum decode_status make_streaming(struct decode_state *state) {
  struct streaming_lists lists;
  struct gpu_launch *launch = gpu_plan_streaming(&state->plan, state->base, &lists);
  if (!launch)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = failure_told(gpu_driver.copy_in(
      state->context, at(state, REGION_STAGES), lists.stages, lists.count * sizeof *lists.stages));
  if (status == DECODE_OK)
    status =
        failure_told(gpu_driver.copy_in(state->context, at(state, REGION_STREAM), lists.products,
                                        lists.product_count * sizeof *lists.products));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.graph_make(state->context, launch, 1, false, &state->step));
  free(launch);
  return status;
}

enum decode_status state_make_step(struct decode_state *state) {
  if (state->plan.streaming)
    return make_streaming(state);
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_step(&state->plan, state->base, &count, NULL);
  if (!launches)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = failure_told(wgmma_maps(state->context, launches, count));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.graph_make(state->context, launches, count,
                                                state->plan.device.tuning.step != STEP_LAUNCHES,
                                                &state->step));
  free(launches);
  return status;
}

void state_step_form(const struct decode_state *state, struct decode_step_form *out) {
  gpu_driver.graph_form(state->step, out);
  if (state->plan.fallback && !*out->fallback)
    snprintf(out->fallback, sizeof out->fallback, "%s", state->plan.fallback);
  gpu_plan_arithmetic(&state->plan, out);
}

static enum decode_status take_memory(struct decode_state *state) {
  const size_t bytes = state->plan.bytes;
  const uint64_t total = state->plan.device.described.memory_bytes;
  if (total > 0 && bytes > total) {
    char words[160];
    snprintf(words, sizeof words,
             "the model and its cache need %.1f GB, but the device has %.1f GB",
             1e-9 * (double)bytes, 1e-9 * (double)total);
    return failure_keep(DECODE_NO_MEMORY, words);
  }
  const enum decode_status status =
      failure_told(gpu_driver.allocate(state->context, bytes, &state->base));
  return status == DECODE_OK ? failure_told(gpu_driver.set(state->context, state->base, 0, bytes))
                             : status;
}

// Half the blocks of the plan's largest cluster of which the device does not hold enough; as it is
// if it holds enough of all.
static enum decode_status find_clusters(const struct decode_state *state,
                                        struct gpu_device *device) {
  const struct plan *plan = &state->plan;
  enum decode_status status = DECODE_OK;
  int most = 0;
  for (int p = 0; p < PRODUCTS && status == DECODE_OK; p++) {
    const struct plan_product *product = &plan->product[p];
    const int cluster = product->wgmma ? gpu_plan_cluster(product) : 0;
    bool fit = true;
    if (cluster > 1)
      status = failure_told(wgmma_check_clusters(state->context, &plan->device, product, &fit));
    most = fit || cluster < most ? most : cluster;
  }
  device->clusters = most > 0 ? most / 2 : device->clusters;
  return status;
}

// A part of a device may refuse clusters, or hold fewer of them than its multiprocessors suggest:
// eight blocks need as many of one part. The plan is then one with smaller clusters or without.
static enum decode_status check_clusters(struct decode_state *state) {
  struct gpu_device device = state->plan.device;
  struct decode_request request = state->plan.request;
  enum decode_status status = find_clusters(state, &device);
  request.shape = state->plan.whole;
  while (status == DECODE_OK && device.clusters != state->plan.device.clusters) {
    const char *why;
    status = gpu_plan_make(&request, state->plan.rank, &device, &state->plan, &why);
    status = status == DECODE_OK ? find_clusters(state, &device) : failure_keep(status, why);
  }
  return status;
}

enum decode_status state_load(struct decode_state *state, int device) {
  state->positions = state->plan.request.context;
  enum decode_status status = failure_told(gpu_driver.open(device, &state->context));
  if (status == DECODE_OK)
    status = check_clusters(state);
  if (status == DECODE_OK)
    status = tile_check(state->context, &state->plan);
  if (status == DECODE_OK)
    status = take_memory(state);
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.copy_in(state->context, at(state, REGION_BELL), weights_bell,
                                             sizeof weights_bell));
  if (status == DECODE_OK)
    status = copy_angles(state);
  if (status == DECODE_OK)
    status = copy_routing(state);
  if (status == DECODE_OK)
    status = copy_tables(state);
  if (status == DECODE_OK)
    status = fill(state);
  return status == DECODE_OK ? first_tokens(state) : status;
}

enum decode_status state_check_position(const struct decode_state *state, int position) {
  return position >= 0 && position < state->positions
             ? DECODE_OK
             : failure_keep(DECODE_FAILED, "the position lies outside the cache");
}

enum decode_status state_set_position(struct decode_state *state, int position) {
  enum decode_status status = state_check_position(state, position);
  if (status != DECODE_OK || (state->step && position + 1 == state->plan.request.context))
    return status;
  state->plan.request.context = position + 1;
  state_free_step(state);
  status = copy_angles(state);
  return status == DECODE_OK ? state_make_step(state) : status;
}

enum decode_status state_check_tokens(const struct plan *plan, const int *tokens, int count) {
  for (int i = 0; i < count; i++)
    if (tokens[i] < 0 || tokens[i] >= plan->whole.vocab)
      return failure_keep(DECODE_FAILED, "a token lies outside the vocabulary");
  return DECODE_OK;
}

enum decode_status state_run(struct decode_state *state, int steps) {
  const enum decode_status status =
      failure_told(gpu_driver.graph_run(state->context, state->step, steps));
  return status == DECODE_OK ? failure_told(gpu_driver.wait(state->context)) : status;
}

enum decode_status state_tokens(struct decode_state *state, int *out) {
  return failure_told(gpu_driver.copy_out(state->context, out, at(state, REGION_TOKENS),
                                          (size_t)state->plan.request.batch * sizeof *out));
}

enum decode_status state_logits(struct decode_state *state, float *out) {
  const struct decode_request *request = &state->plan.request;
  return failure_told(
      gpu_driver.copy_out(state->context, out, at(state, REGION_LOGITS),
                          (size_t)request->batch * (size_t)request->shape.vocab * sizeof *out));
}

enum decode_status state_chosen(struct decode_state *state, int *out) {
  const struct plan *plan = &state->plan;
  const struct plan_extent *extent = &plan->region[REGION_CHOSEN];
  const size_t pairs = (size_t)plan->experts.pairs;
  enum decode_status status = DECODE_OK;
  for (int layer = 0; layer < plan->request.shape.layers && status == DECODE_OK; layer++) {
    int *to = out + (size_t)layer * pairs;
    if (layer >= extent->first_layer)
      status = failure_told(
          gpu_driver.copy_out(state->context, to,
                              (const char *)at(state, REGION_CHOSEN) +
                                  (size_t)(layer - extent->first_layer) * extent->layer_bytes,
                              pairs * sizeof *to));
    else
      memset(to, 0xFF, pairs * sizeof *to); // -1
  }
  return status;
}

enum decode_status state_touched(struct decode_state *state, struct decode_touched *out) {
  const size_t layers = (size_t)state->plan.request.shape.layers;
  *out = (struct decode_touched){0};
  if (state->plan.experts.layers == 0)
    return DECODE_OK;
  int *counts = malloc((layers + 1) * sizeof *counts);
  if (!counts)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  const enum decode_status status = failure_told(gpu_driver.copy_out(
      state->context, counts, at(state, REGION_TOUCHED), (layers + 1) * sizeof *counts));
  for (size_t layer = 0; layer < layers && status == DECODE_OK; layer++)
    out->experts += (uint64_t)counts[layer];
  if (status == DECODE_OK)
    out->steps = (uint64_t)counts[layers];
  free(counts);
  return status;
}
