#include "kernels/gpu/host/calibration.h"

#include "kernels/gpu/arguments/calibration.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/host/tile_check.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/vendor.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
  READ_VARIANTS = 3,
  READ_MULTIPLE = 64 * 1024,
  READ_BYTE = 0x5A,
  RATE_BLOCKS = 4,
  MAX_RATE_REPEATS = 1 << 20,
  LIBRARY_ROUNDS = 4,
  MAX_LIBRARY_ROUNDS = 1000,
  PATTERN_BYTES = 1 << 20,
  MIN_LIBRARY_SIZE = 128,
  MAX_LIBRARY_SIZE = 8192
};

// Most of the first.
static const int read_blocks[READ_VARIANTS] = {READ_0_BLOCKS, READ_1_BLOCKS, READ_2_BLOCKS};

// Long enough that the launch time is negligible.
static const double min_rate_s = 0.02, min_product_s = 0.001;
// A prompt takes longer than a GPU needs to notice that its power limit is reached.
static const double min_library_s = 0.5;

// Kept between calls, per thread, so that devices can be calibrated side by side.
static _Thread_local struct {
  struct gpu_context *context;
  void *buffer;
  void *sums; // per warp
  uint64_t bytes;
  int device, units, warp;
} reading;

void calibration_end(void) {
  if (reading.context) {
    gpu_driver.release(reading.context, reading.buffer);
    gpu_driver.release(reading.context, reading.sums);
  }
  gpu_driver.close(reading.context);
  memset(&reading, 0, sizeof reading);
}

static enum decode_status read_once(int variant, double *seconds) {
  const struct read_arguments arguments = {reading.buffer, reading.bytes, reading.sums};
  struct gpu_launch launch = {.grid = {(unsigned)(reading.units * read_blocks[variant]), 1, 1},
                              .block = VECTOR_THREADS,
                              .arguments = &arguments,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "read_%d", variant);
  enum decode_status status = failure_told(gpu_driver.timer_start(reading.context));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.launch(reading.context, &launch));
  return status == DECODE_OK ? failure_told(gpu_driver.timer_stop(reading.context, seconds))
                             : status;
}

static size_t read_warps(int variant) {
  const int warps_of_block = VECTOR_THREADS / reading.warp;
  return (size_t)reading.units * (size_t)read_blocks[variant] * (size_t)warps_of_block;
}

// A kernel that skipped part of the memory would seem faster for it.
static enum decode_status check_sums(int variant) {
  const size_t warps = read_warps(variant);
  const uint32_t word = READ_BYTE * 0x01010101u;
  uint32_t sum = 0, *sums = malloc(warps * sizeof *sums);
  if (!sums)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  const enum decode_status status =
      failure_told(gpu_driver.copy_out(reading.context, sums, reading.sums, warps * sizeof *sums));
  for (size_t i = 0; i < warps && status == DECODE_OK; i++)
    sum += sums[i];
  free(sums);
  if (status == DECODE_OK && sum != (uint32_t)(reading.bytes / sizeof word) * word)
    return failure_keep(DECODE_FAILED, "a read kernel did not read all of the memory");
  return status;
}

// A kernel's first launch loads its code and must not be timed.
static enum decode_status warm_up(void) {
  enum decode_status status = DECODE_OK;
  double seconds;
  for (int variant = 0; variant < READ_VARIANTS && status == DECODE_OK; variant++) {
    status = read_once(variant, &seconds);
    if (status == DECODE_OK)
      status = check_sums(variant);
  }
  return status;
}

static enum decode_status prepare_reading(int device, uint64_t bytes) {
  if (reading.context && reading.device == device && reading.bytes == bytes)
    return DECODE_OK;
  calibration_end();
  struct gpu_device gpu;
  enum decode_status status = state_describe(device, &gpu);
  if (status != DECODE_OK)
    return status;
  reading.device = device;
  reading.units = gpu.described.units;
  reading.warp = gpu.warp;
  reading.bytes = bytes;
  status = failure_told(gpu_driver.open(device, &reading.context));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.allocate(reading.context, bytes, &reading.buffer));
  if (status == DECODE_OK)
    status = failure_told(
        gpu_driver.allocate(reading.context, read_warps(0) * sizeof(uint32_t), &reading.sums));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.set(reading.context, reading.buffer, READ_BYTE, bytes));
  return status == DECODE_OK ? warm_up() : status;
}

enum decode_status calibration_read(int device, uint64_t bytes, int threads, int variant,
                                    double *seconds) {
  (void)threads; // of a CPU
  const uint64_t whole = bytes / READ_MULTIPLE * READ_MULTIPLE;
  if (variant < 0 || variant >= READ_VARIANTS)
    return failure_keep(DECODE_UNSUPPORTED, "there is no such read kernel");
  if (whole == 0)
    return failure_keep(DECODE_UNSUPPORTED, "a read takes at least 64 KiB");
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
    status = failure_told(gpu_driver.timer_start(context));
    if (status == DECODE_OK)
      status = failure_told(gpu_driver.launch(context, launch));
    if (status == DECODE_OK)
      status = failure_told(gpu_driver.timer_stop(context, seconds));
    if (*seconds >= min_rate_s || arguments->repeats >= MAX_RATE_REPEATS)
      break;
  }
  return status;
}

// Two row tiles by one column tile for each repeat and warp: rate_* in arguments/calibration.h.
static double rate_operations(const struct plan *plan, const struct plan_product *product,
                              unsigned blocks, int repeats) {
  const int elements =
      gpu_plan_multiplied(product) == ELEMENT_BF16 ? TILE_CHECK_ELEMENTS / 2 : TILE_CHECK_ELEMENTS;
  const int columns = plan->device.warp / 4;
  const double step = 2.0 * (2 * TILE_CHECK_ROWS) * columns * elements;
  return step * MATRIX_WARPS * blocks * repeats;
}

static enum decode_status measure_rate(struct gpu_context *context, const struct plan *plan,
                                       double *operations_per_s) {
  const struct plan_product *product = &plan->product[PRODUCT_QKV];
  const unsigned blocks = RATE_BLOCKS * (unsigned)plan->device.described.units;
  struct gpu_launch launch = {.grid = {blocks, 1, 1},
                              .block = MATRIX_WARPS * (unsigned)plan->device.warp,
                              .shared_bytes = TILE_CHECK_SHARED,
                              .argument_bytes = sizeof(struct rate_arguments)};
  snprintf(launch.kernel, sizeof launch.kernel, "rate_%s_%s",
           gpu_element_names[gpu_plan_multiplied(product)],
           gpu_element_names[product->activations]);
  struct rate_arguments arguments = {0};
  const size_t bytes = (size_t)blocks * launch.block * sizeof *arguments.out;
  enum decode_status status =
      failure_told(gpu_driver.allocate(context, bytes, (void **)&arguments.out));
  if (status != DECODE_OK)
    return status;
  double seconds = 0;
  status = time_rate(context, &launch, &arguments, &seconds);
  gpu_driver.release(context, arguments.out);
  if (status == DECODE_OK && !(seconds > 0))
    return failure_keep(DECODE_FAILED, "the device's timer stands still");
  if (status == DECODE_OK)
    *operations_per_s = rate_operations(plan, product, blocks, arguments.repeats) / seconds;
  return status;
}

// ---- the library's rate, which prompts can reach

// One buffer for everything: weights, activations, workspace and sums of a square product.
static struct vendor_product square(char *buffer, enum element element, int size) {
  const size_t matrix = (size_t)size * (size_t)size;
  return (struct vendor_product){.size = {element, size, size, size},
                                 .weights = buffer,
                                 .activations = buffer + 2 * matrix,
                                 .workspace = buffer + 4 * matrix,
                                 .out = (float *)(void *)(buffer + 4 * matrix + VENDOR_WORKSPACE)};
}

// Signs and fractions differ, as those of weights do: the power, and with it the clock, depend on
// them. No infinity, no NaN, in FNUZ either.
static enum decode_status set_operands(struct gpu_context *context, enum element element,
                                       char *buffer, size_t bytes) {
  uint32_t *pattern = malloc(PATTERN_BYTES);
  if (!pattern)
    return DECODE_NO_MEMORY;
  for (uint32_t i = 0; i < PATTERN_BYTES / sizeof *pattern; i++) {
    const uint32_t random = weights_hash(0, i);
    pattern[i] = element == ELEMENT_BF16 ? (random & 0x80FF80FFu) | 0x3F003F00u
                                         : (random & 0xBFBFBFBFu) | 0x01010101u;
  }
  enum decode_status status = DECODE_OK;
  for (size_t at = 0; at < bytes && status == DECODE_OK; at += PATTERN_BYTES)
    status = gpu_driver.copy_in(context, buffer + at, pattern,
                                bytes - at < PATTERN_BYTES ? bytes - at : PATTERN_BYTES);
  free(pattern);
  return status;
}

static enum decode_status time_rounds(struct gpu_context *context,
                                      const struct vendor_product *product, int rounds,
                                      double *seconds) {
  enum decode_status status = gpu_driver.timer_start(context);
  for (int i = 0; i < rounds && status == DECODE_OK; i++)
    status = gpu_driver.multiply(context, product);
  double all = 0;
  if (status == DECODE_OK)
    status = gpu_driver.timer_stop(context, &all);
  *seconds = all / rounds;
  return status;
}

// One that is long enough is repeated for min_library_s.
static enum decode_status time_products(struct gpu_context *context,
                                        const struct vendor_product *product, double *seconds) {
  enum decode_status status = gpu_driver.multiply(context, product); // chooses, and loads code
  if (status == DECODE_OK)
    status = time_rounds(context, product, LIBRARY_ROUNDS, seconds);
  if (status == DECODE_OK && *seconds >= min_product_s)
    status = time_rounds(context, product,
                         (int)fmin(MAX_LIBRARY_ROUNDS, ceil(min_library_s / *seconds)), seconds);
  return status;
}

static enum decode_status time_square(struct gpu_context *context, enum element element, int size,
                                      double *seconds) {
  const size_t matrix = (size_t)size * (size_t)size, bytes = 8 * matrix + VENDOR_WORKSPACE;
  void *buffer;
  enum decode_status status = gpu_driver.allocate(context, bytes, &buffer);
  if (status != DECODE_OK)
    return status;
  status = set_operands(context, element, buffer, 4 * matrix);
  const struct vendor_product product = square(buffer, element, size);
  if (status == DECODE_OK)
    status = time_products(context, &product, seconds);
  gpu_driver.release(context, buffer);
  return status;
}

// The library gets prompts only in these types (plan.h).
static bool multiplies_alike(const struct plan *plan) {
  const struct plan_product *product = &plan->product[PRODUCT_QKV];
  return product->weights == product->activations;
}

// Square products, each twice as wide as the last, until one takes long enough; *best becomes its
// rate if that is higher. If there is no library, or no more memory, stops there.
static enum decode_status measure_library(struct gpu_context *context, const struct plan *plan,
                                          double *best) {
  const enum element element = gpu_plan_multiplied(&plan->product[PRODUCT_QKV]);
  double seconds = 0, rate = 0;
  for (int size = MIN_LIBRARY_SIZE; size <= MAX_LIBRARY_SIZE && seconds < min_product_s;
       size *= 2) {
    const enum decode_status status = time_square(context, element, size, &seconds);
    if (status == DECODE_UNSUPPORTED || status == DECODE_NO_MEMORY)
      break;
    if (status != DECODE_OK)
      return failure_told(status);
    if (seconds > 0)
      rate = 2 * pow(size, 3) / seconds;
  }
  *best = fmax(*best, rate);
  return DECODE_OK;
}

enum decode_status calibration_rate(int device, const struct decode_types *types, int threads,
                                    double *operations_per_s) {
  const struct decode_request request = {
      .shape = {.layers = 1,
                .hidden = 64,
                .heads = 1,
                .kv_heads = 1,
                .head_dim = 64,
                .ffn_hidden = 64,
                .vocab = 64,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f},
      .types = *types,
      .batch = 16,
      .context = 1,
      .threads = threads,
  };
  struct plan plan;
  struct gpu_context *context = NULL;
  enum decode_status status = state_plan(device, &request, 0, &plan);
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.open(device, &context));
  if (status == DECODE_OK)
    status = measure_rate(context, &plan, operations_per_s);
  if (status == DECODE_OK && multiplies_alike(&plan))
    status = measure_library(context, &plan, operations_per_s);
  gpu_driver.close(context);
  return status;
}
