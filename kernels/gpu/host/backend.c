// The backend of a plugin: a request becomes a plan, and a driver, the one that this is linked
// with, carries it out.
#include "kernels/gpu/host/stage_times.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/host/wgmma_check.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[512];

enum decode_status state_refuse(enum decode_status status, const char *words) {
  snprintf(last_error, sizeof last_error, "%s", words);
  return status;
}

enum decode_status state_told(enum decode_status status) {
  return status == DECODE_OK ? status : state_refuse(status, gpu_driver.error());
}

const char *state_error(void) {
  return last_error;
}

static enum decode_status refuse(enum decode_status status, const char *words) {
  return state_refuse(status, words);
}

static enum decode_status told(enum decode_status status) {
  return state_told(status);
}

static int device_count(void) {
  const int count = gpu_driver.device_count();
  if (count <= 0)
    refuse(DECODE_NO_DEVICE, gpu_driver.error());
  return count > 0 ? count : 0;
}

// With what the environment says of tuning, which goes into every record.
static enum decode_status tuned(enum decode_status status, struct gpu_device *out) {
  if (status != DECODE_OK)
    return status;
  char words[256];
  if (!gpu_tuning_read(getenv("PERTOKEN_GPU_TUNING"), &out->tuning, words, sizeof words))
    return refuse(DECODE_UNSUPPORTED, words);
  gpu_tuning_write(&out->tuning, words, sizeof words);
  const size_t used = strlen(out->described.runtime);
  if (*words)
    snprintf(out->described.runtime + used, sizeof out->described.runtime - used, ", %s", words);
  return DECODE_OK;
}

static enum decode_status describe_gpu(int device, struct gpu_device *out) {
  const int count = device_count();
  if (count == 0)
    return DECODE_NO_DEVICE;
  if (device >= 0 && device < count)
    return tuned(told(gpu_driver.describe(device, out)), out);
  char words[96];
  snprintf(words, sizeof words, "there is no device %d, only %d, counted from 0", device, count);
  return refuse(DECODE_NO_DEVICE, words);
}

static enum decode_status describe(int device, struct decode_device *out) {
  struct gpu_device gpu;
  const enum decode_status status = describe_gpu(device, &gpu);
  if (status == DECODE_OK)
    *out = gpu.described;
  return status;
}

enum decode_status state_plan(int device, const struct decode_request *request, int rank,
                              struct plan *out) {
  struct gpu_device gpu;
  const char *why = NULL;
  enum decode_status status = describe_gpu(device, &gpu);
  if (status != DECODE_OK)
    return status;
  status = gpu_plan_make(request, &gpu, out, &why);
  out->rank = rank;
  return status == DECODE_OK ? status : refuse(status, why);
}

// The step is the same on every device; only resident_bytes depends on it a little.
static enum decode_status cost(const struct decode_request *request, struct decode_cost *out) {
  struct plan plan;
  const enum decode_status status = state_plan(0, request, 0, &plan);
  if (status == DECODE_OK)
    *out = gpu_plan_cost(&plan);
  return status;
}

// ---- the matrix unit's layout

enum {
  CHECK_ROWS = 16,
  CHECK_ELEMENTS = 64,
  CHECK_SHARED = CHECK_ROWS * (CHECK_ELEMENTS * 2 + 16) // tile_check.h, rate.h
};

static const char *const element_names[] = {
    [ELEMENT_F32] = "f32", [ELEMENT_BF16] = "bf16", [ELEMENT_E4M3] = "e4m3"};

// Integers from -8 to 8, none of them 0: exact in every type, and so are their sums.
static int check_value(int operand, int row, int element) {
  const uint32_t hash =
      weights_hash((uint64_t)operand, (uint64_t)row * CHECK_ELEMENTS + (uint64_t)element);
  const int magnitude = 1 + (int)(hash >> 8) % 8;
  return hash & 1 ? -magnitude : magnitude;
}

static void check_operand(enum element element, int operand, void *out) {
  for (int i = 0; i < CHECK_ROWS * CHECK_ELEMENTS; i++) {
    const float value = (float)check_value(operand, i / CHECK_ELEMENTS, i % CHECK_ELEMENTS);
    if (element == ELEMENT_BF16)
      ((uint16_t *)out)[i] = bf16_from_float(value);
    else
      ((uint8_t *)out)[i] = e4m3_from_float(value); // FNUZ, too: half of each, see platform.h
  }
}

static bool check_passes(const float *c, int columns, int elements) {
  for (int row = 0; row < CHECK_ROWS; row++)
    for (int column = 0; column < CHECK_ROWS; column++) {
      int sum = 0;
      for (int i = 0; i < elements && column < columns; i++)
        sum += check_value(0, row, i) * check_value(1, column, i);
      if (c[row * CHECK_ROWS + column] != (float)sum)
        return false;
    }
  return true;
}

// What one check needs, on the device as on the host; both operands with room for 16 rows of BF16.
struct check {
  uint16_t a[CHECK_ROWS * CHECK_ELEMENTS], b[CHECK_ROWS * CHECK_ELEMENTS];
  float c[CHECK_ROWS * CHECK_ROWS];
};

static enum decode_status check_tile(struct gpu_context *context, const struct plan *plan,
                                     enum element weights, enum element activations) {
  struct check check, *device = NULL;
  check_operand(weights, 0, check.a);
  check_operand(activations, 1, check.b);
  for (size_t i = 0; i < sizeof check.c / sizeof check.c[0]; i++)
    check.c[i] = NAN;
  enum decode_status status = told(gpu_driver.allocate(context, sizeof check, (void **)&device));
  if (status != DECODE_OK)
    return status;
  const struct tile_check_arguments arguments = {device->a, device->b, device->c};
  struct gpu_launch launch = {.grid = {1, 1, 1},
                              .block = (unsigned)plan->device.warp,
                              .shared_bytes = CHECK_SHARED,
                              .arguments = &arguments,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "tile_check_%s_%s", element_names[weights],
           element_names[activations]);
  status = told(gpu_driver.copy_in(context, device, &check, sizeof check));
  if (status == DECODE_OK)
    status = told(gpu_driver.launch(context, &launch));
  if (status == DECODE_OK)
    status = told(gpu_driver.copy_out(context, check.c, device->c, sizeof check.c));
  gpu_driver.release(context, device);
  const int elements = weights == ELEMENT_BF16 ? CHECK_ELEMENTS / 2 : CHECK_ELEMENTS;
  if (status == DECODE_OK && !check_passes(check.c, plan->device.warp / 4, elements))
    return refuse(DECODE_FAILED, "the matrix unit's layout is not what was assumed");
  return status;
}

static enum decode_status check_wgmma(struct gpu_context *context, const struct plan *plan,
                                      enum product_name name) {
  const struct plan_product *product = &plan->product[name];
  for (int p = 0; p < (int)name; p++) {
    const struct plan_product *before = &plan->product[p];
    if (before->weights == product->weights && before->activations == product->activations &&
        before->slice == product->slice)
      return DECODE_OK; // the same kernel
  }
  bool passes;
  const enum decode_status status = told(wgmma_check(context, product, &passes));
  if (status == DECODE_OK && !passes)
    return refuse(DECODE_FAILED, "wgmma's layout is not what was assumed");
  return status;
}

// Attention multiplies keys and values by BF16.
static enum decode_status check_tiles(struct gpu_context *context, const struct plan *plan) {
  enum decode_status status = check_tile(context, plan, plan->request.types.kv, ELEMENT_BF16);
  for (int p = 0; !plan->vector && p < PRODUCTS && status == DECODE_OK; p++)
    status = plan->product[p].wgmma ? check_wgmma(context, plan, (enum product_name)p)
                                    : check_tile(context, plan, plan->product[p].weights,
                                                 plan->product[p].activations);
  return status;
}

// ---- states

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

static void destroy(struct decode_state *state) {
  if (!state)
    return;
  ranks_destroy(state->ranks);
  state_free_step(state);
  state_close(state);
  free(state);
}

static void *at(const struct decode_state *state, enum plan_region region) {
  return (char *)state->base + state->plan.region[region].offset;
}

enum decode_status state_copy_tokens(struct decode_state *state, const int *tokens) {
  return told(gpu_driver.copy_in(state->context, at(state, REGION_TOKENS), tokens,
                                 (size_t)state->plan.request.batch * sizeof *tokens));
}

static enum decode_status first_tokens(struct decode_state *state) {
  const struct decode_request *request = &state->plan.request;
  const uint64_t vocab = (uint64_t)state->plan.whole.vocab;
  int tokens[256]; // the plan refuses larger batches
  for (int row = 0; row < request->batch; row++)
    tokens[row] = (int)((request->seed % vocab + (uint64_t)row) % vocab);
  return state_copy_tokens(state, tokens);
}

// Cosine and sine of what the held position turns each pair by.
static enum decode_status copy_angles(struct decode_state *state) {
  const struct decode_request *request = &state->plan.request;
  const int pairs = request->shape.head_dim / 2;
  float angles[256];
  for (int i = 0; i < pairs; i++) {
    const double angle = (request->context - 1) /
                         pow((double)request->shape.rope_theta, 2.0 * i / request->shape.head_dim);
    angles[2 * i] = (float)cos(angle);
    angles[2 * i + 1] = (float)sin(angle);
  }
  return told(gpu_driver.copy_in(state->context, at(state, REGION_ANGLES), angles,
                                 2 * (size_t)pairs * sizeof *angles));
}

static enum decode_status fill(struct decode_state *state) {
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_fill(&state->plan, state->base, &count);
  if (!launches)
    return refuse(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < count && status == DECODE_OK; i++)
    status = told(gpu_driver.launch(state->context, &launches[i]));
  if (status == DECODE_OK)
    status = told(gpu_driver.wait(state->context));
  free(launches);
  return status;
}

static enum decode_status make_persistent(struct decode_state *state) {
  const struct persistent_stage *stages = NULL;
  size_t count = 0;
  struct gpu_launch *launch = gpu_plan_persistent(&state->plan, state->base, &stages, &count);
  if (!launch)
    return refuse(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = told(
      gpu_driver.copy_in(state->context, at(state, REGION_STAGES), stages, count * sizeof *stages));
  if (status == DECODE_OK)
    status = told(gpu_driver.graph_make(state->context, launch, 1, false, &state->step));
  free(launch);
  return status;
}

enum decode_status state_make_step(struct decode_state *state) {
  if (state->plan.persistent)
    return make_persistent(state);
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_step(&state->plan, state->base, &count, NULL);
  if (!launches)
    return refuse(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = told(wgmma_maps(state->context, launches, count));
  if (status == DECODE_OK)
    status =
        told(gpu_driver.graph_make(state->context, launches, count,
                                   state->plan.device.tuning.step != STEP_LAUNCHES, &state->step));
  free(launches);
  return status;
}

void state_step_form(const struct decode_state *state, struct decode_step_form *out) {
  if (state->ranks)
    ranks_step_form(state->ranks, out);
  else
    gpu_driver.graph_form(state->step, out);
}

static enum decode_status take_memory(struct decode_state *state) {
  const size_t bytes = state->plan.bytes;
  const uint64_t total = state->plan.device.described.memory_bytes;
  if (total > 0 && bytes > total) {
    char words[160];
    snprintf(words, sizeof words, "the model and its cache take %.1f GB, the device has %.1f GB",
             1e-9 * (double)bytes, 1e-9 * (double)total);
    return refuse(DECODE_NO_MEMORY, words);
  }
  const enum decode_status status = told(gpu_driver.allocate(state->context, bytes, &state->base));
  return status == DECODE_OK ? told(gpu_driver.set(state->context, state->base, 0, bytes)) : status;
}

enum decode_status state_load(struct decode_state *state, int device) {
  enum decode_status status = told(gpu_driver.open(device, &state->context));
  if (status == DECODE_OK)
    status = check_tiles(state->context, &state->plan);
  if (status == DECODE_OK)
    status = take_memory(state);
  if (status == DECODE_OK)
    status = told(gpu_driver.copy_in(state->context, at(state, REGION_BELL), weights_bell,
                                     sizeof weights_bell));
  if (status == DECODE_OK)
    status = copy_angles(state);
  if (status == DECODE_OK)
    status = fill(state);
  return status == DECODE_OK ? first_tokens(state) : status;
}

static enum decode_status build(struct decode_state *state, int device,
                                const struct decode_request *request) {
  if (request->ranks > 1)
    return ranks_create(request, &state->ranks);
  enum decode_status status = state_plan(device, request, 0, &state->plan);
  if (status == DECODE_OK)
    status = state_load(state, device);
  return status == DECODE_OK ? state_make_step(state) : status;
}

static struct decode_state *create(int device, const struct decode_request *request,
                                   enum decode_status *status) {
  struct decode_state *state = calloc(1, sizeof *state);
  if (!state) {
    *status = refuse(DECODE_NO_MEMORY, "the host is out of memory");
    return NULL;
  }
  *status = build(state, device, request);
  if (*status == DECODE_OK)
    return state;
  destroy(state);
  return NULL;
}

enum decode_status state_check_tokens(const struct plan *plan, const int *tokens) {
  for (int row = 0; row < plan->request.batch; row++)
    if (tokens[row] < 0 || tokens[row] >= plan->whole.vocab)
      return refuse(DECODE_FAILED, "a token lies outside the vocabulary");
  return DECODE_OK;
}

enum decode_status state_run(struct decode_state *state, int steps) {
  const enum decode_status status = told(gpu_driver.graph_run(state->context, state->step, steps));
  return status == DECODE_OK ? told(gpu_driver.wait(state->context)) : status;
}

enum decode_status state_tokens(struct decode_state *state, int *out) {
  return told(gpu_driver.copy_out(state->context, out, at(state, REGION_TOKENS),
                                  (size_t)state->plan.request.batch * sizeof *out));
}

enum decode_status state_logits(struct decode_state *state, float *out) {
  const struct decode_request *request = &state->plan.request;
  return told(
      gpu_driver.copy_out(state->context, out, at(state, REGION_LOGITS),
                          (size_t)request->batch * (size_t)request->shape.vocab * sizeof *out));
}

static enum decode_status run(struct decode_state *state, int steps) {
  return state->ranks ? ranks_run(state->ranks, steps) : state_run(state, steps);
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  return state->ranks ? ranks_tokens(state->ranks, out) : state_tokens(state, out);
}

static enum decode_status logits(struct decode_state *state, float *out) {
  return state->ranks ? ranks_logits(state->ranks, out) : state_logits(state, out);
}

static enum decode_status set_tokens(struct decode_state *state, const int *in) {
  if (state->ranks)
    return ranks_set_tokens(state->ranks, in);
  const enum decode_status status = state_check_tokens(&state->plan, in);
  return status == DECODE_OK ? state_copy_tokens(state, in) : status;
}

static enum decode_status all_reduce(struct decode_state *state, int repeats,
                                     struct decode_all_reduce *out) {
  if (!state->ranks)
    return refuse(DECODE_UNSUPPORTED, "the model is on one device");
  return ranks_all_reduce(state->ranks, repeats, out);
}

// ---- calibration

enum {
  READ_VARIANTS = 3,
  READ_MULTIPLE = 64 * 1024,
  READ_BLOCKS = 4, // of a multiprocessor: 2048 threads, as many as one holds
  READ_BYTE = 0x5A,
  RATE_BLOCKS = 4,
  MAX_RATE_REPEATS = 1 << 20
};

// Long enough that the launch does not count.
static const double rate_least_s = 0.02;

// Kept between calls by each thread for itself, so that devices can be calibrated side by side.
static _Thread_local struct {
  struct gpu_context *context;
  void *buffer;
  void *sum;
  uint64_t bytes;
  int device, units;
} reading;

static void calibration_end(void) {
  if (reading.context) {
    gpu_driver.release(reading.context, reading.buffer);
    gpu_driver.release(reading.context, reading.sum);
  }
  gpu_driver.close(reading.context);
  memset(&reading, 0, sizeof reading);
}

static enum decode_status read_once(int variant, double *seconds) {
  const struct read_arguments arguments = {reading.buffer, reading.bytes, reading.sum};
  struct gpu_launch launch = {.grid = {(unsigned)(reading.units * READ_BLOCKS), 1, 1},
                              .block = VECTOR_THREADS,
                              .arguments = &arguments,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "read_%d", variant);
  enum decode_status status = told(gpu_driver.timer_start(reading.context));
  if (status == DECODE_OK)
    status = told(gpu_driver.launch(reading.context, &launch));
  return status == DECODE_OK ? told(gpu_driver.timer_stop(reading.context, seconds)) : status;
}

// The kernels' first launches load their code: not to be timed.
static enum decode_status warm_up(void) {
  enum decode_status status = DECODE_OK;
  double seconds;
  for (int variant = 0; variant < READ_VARIANTS && status == DECODE_OK; variant++)
    status = read_once(variant, &seconds);
  return status;
}

static enum decode_status prepare_reading(int device, uint64_t bytes) {
  if (reading.context && reading.device == device && reading.bytes == bytes)
    return DECODE_OK;
  calibration_end();
  struct gpu_device gpu;
  enum decode_status status = describe_gpu(device, &gpu);
  if (status != DECODE_OK)
    return status;
  reading.device = device;
  reading.units = gpu.described.units;
  reading.bytes = bytes;
  status = told(gpu_driver.open(device, &reading.context));
  if (status == DECODE_OK)
    status = told(gpu_driver.allocate(reading.context, bytes, &reading.buffer));
  if (status == DECODE_OK)
    status = told(gpu_driver.allocate(reading.context, sizeof(uint32_t), &reading.sum));
  if (status == DECODE_OK)
    status = told(gpu_driver.set(reading.context, reading.buffer, READ_BYTE, bytes));
  return status == DECODE_OK ? warm_up() : status;
}

static enum decode_status read_memory(int device, uint64_t bytes, int threads, int variant,
                                      double *seconds) {
  (void)threads; // of a CPU
  const uint64_t whole = bytes / READ_MULTIPLE * READ_MULTIPLE;
  if (variant < 0 || variant >= READ_VARIANTS)
    return refuse(DECODE_UNSUPPORTED, "there is no such read kernel");
  if (whole == 0)
    return refuse(DECODE_UNSUPPORTED, "at least 64 KiB are read at a time");
  enum decode_status status = prepare_reading(device, whole);
  if (status == DECODE_OK)
    status = read_once(variant, seconds);
  if (status != DECODE_OK) {
    calibration_end();
    return status;
  }
  // What lies beyond the last 64 KiB counts as read at the same speed.
  *seconds *= (double)bytes / (double)whole;
  return DECODE_OK;
}

static enum decode_status time_rate(struct gpu_context *context, struct gpu_launch *launch,
                                    struct rate_arguments *arguments, double *seconds) {
  enum decode_status status = DECODE_OK;
  launch->arguments = arguments;
  *seconds = 0;
  for (arguments->repeats = 16; status == DECODE_OK; arguments->repeats *= 2) {
    status = told(gpu_driver.timer_start(context));
    if (status == DECODE_OK)
      status = told(gpu_driver.launch(context, launch));
    if (status == DECODE_OK)
      status = told(gpu_driver.timer_stop(context, seconds));
    if (*seconds >= rate_least_s || arguments->repeats >= MAX_RATE_REPEATS)
      break;
  }
  return status;
}

// Two tiles of rows by one of columns for each repeat and warp: rate_* in arguments.h.
static double rate_operations(const struct plan *plan, const struct plan_product *product,
                              unsigned blocks, int repeats) {
  const int elements = product->weights == ELEMENT_BF16 ? CHECK_ELEMENTS / 2 : CHECK_ELEMENTS;
  const int columns = plan->device.warp / 4;
  const double step = 2.0 * (2 * CHECK_ROWS) * columns * elements;
  return step * MATRIX_WARPS * blocks * repeats;
}

static enum decode_status measure_rate(struct gpu_context *context, const struct plan *plan,
                                       double *operations_per_s) {
  const struct plan_product *product = &plan->product[PRODUCT_QKV];
  const unsigned blocks = RATE_BLOCKS * (unsigned)plan->device.described.units;
  struct gpu_launch launch = {.grid = {blocks, 1, 1},
                              .block = MATRIX_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = CHECK_SHARED,
                              .argument_bytes = sizeof(struct rate_arguments)};
  snprintf(launch.kernel, sizeof launch.kernel, "rate_%s_%s", element_names[product->weights],
           element_names[product->activations]);
  struct rate_arguments arguments = {0};
  const size_t bytes = (size_t)blocks * launch.block * sizeof *arguments.out;
  enum decode_status status = told(gpu_driver.allocate(context, bytes, (void **)&arguments.out));
  if (status != DECODE_OK)
    return status;
  double seconds = 0;
  status = time_rate(context, &launch, &arguments, &seconds);
  gpu_driver.release(context, arguments.out);
  if (status == DECODE_OK && !(seconds > 0))
    return refuse(DECODE_FAILED, "the device's timer stands still");
  if (status == DECODE_OK)
    *operations_per_s = rate_operations(plan, product, blocks, arguments.repeats) / seconds;
  return status;
}

static enum decode_status matrix_rate(int device, const struct decode_types *types, int threads,
                                      double *operations_per_s) {
  const struct decode_request request = {
      .shape = {1, 64, 1, 1, 64, 64, 64, 1e-5f, 1e4f, 0, 0},
      .types = *types,
      .batch = 16,
      .context = 1,
      .threads = threads,
  };
  struct plan plan;
  struct gpu_context *context = NULL;
  enum decode_status status = state_plan(device, &request, 0, &plan);
  if (status == DECODE_OK)
    status = told(gpu_driver.open(device, &context));
  if (status == DECODE_OK)
    status = measure_rate(context, &plan, operations_per_s);
  gpu_driver.close(context);
  return status;
}

__attribute__((visibility("default"))) gpu_stage_times_function pertoken_stage_times;

enum decode_status pertoken_stage_times(struct decode_state *state, double least_s,
                                        struct gpu_stage_time *out, size_t *count) {
  if (state->ranks)
    return refuse(DECODE_UNSUPPORTED, "stages are timed on one device");
  return told(gpu_stage_times(state->context, &state->plan, state->base, least_s, out, count));
}

__attribute__((visibility("default"))) decode_plugin pertoken_backend;

// Called once, by whoever loads the plugin.
const struct decode_backend *pertoken_backend(void) {
  static struct decode_backend backend = {
      .abi = DECODE_ABI,
      .device_count = device_count,
      .describe = describe,
      .cost = cost,
      .create = create,
      .destroy = destroy,
      .run = run,
      .tokens = tokens,
      .logits = logits,
      .set_tokens = set_tokens,
      .all_reduce = all_reduce,
      .read_memory = read_memory,
      .matrix_rate = matrix_rate,
      .calibration_end = calibration_end,
      .error = state_error,
      .step_form = state_step_form,
  };
  backend.name = gpu_driver.name;
  backend.build = gpu_driver.build;
  return &backend;
}
