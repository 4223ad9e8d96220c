#include "kernels/gpu/host/wgmma_check.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/limits.h"
#include "kernels/integers.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More rows than a strip of four tiles of 64, so that its second strip has some, and not a multiple
// of a tile.
enum { ROWS = 328, MAX_COLUMNS = (MAX_CLUSTER + 1) * WGMMA_STEP_BYTES };
// The most blocks that do a step of a tile each: two steps of three tiles of 128 rows, or of two
// whose blocks are beside each other.
enum { MAX_BLOCKS = 8 };

// What the kernel works on, both on the device and on the host; room for BF16.
struct check_operands {
  uint16_t weights[ROWS * MAX_COLUMNS];
  uint16_t activations[LIMITS_BATCH * MAX_COLUMNS];
  float ones[ROWS]; // more than LIMITS_BATCH
  float output[LIMITS_BATCH * ROWS];
  unsigned counters[MAX_BLOCKS * WGMMA_GROUPS * 4];
};

// Half a step more than each part needs: of a tile without parts, two pieces.
static int columns_of(const struct plan_product *product) {
  const int step = product->weights == ELEMENT_BF16 ? WGMMA_STEP_BYTES / 2 : WGMMA_STEP_BYTES;
  return product->parts * step + step / 2;
}

// Integers from -8 to 8 without 0: exact in every type.
static int value_of(int operand, int row, int column) {
  const uint32_t hash =
      weights_hash((uint64_t)operand, (uint64_t)row * MAX_COLUMNS + (uint64_t)column);
  const int magnitude = 1 + (int)(hash >> 8) % 8;
  return hash & 1 ? -magnitude : magnitude;
}

static void put(enum element element, uint16_t *array, int i, int value) {
  if (element == ELEMENT_BF16)
    array[i] = bf16_from_float((float)value);
  else
    ((uint8_t *)array)[i] = e4m3_from_float((float)value);
}

static bool is_paired(const struct plan_product *product) {
  return product->weights != product->activations;
}

static int activation_stride(const struct plan_product *product) {
  const int columns = columns_of(product);
  return is_paired(product) ? (int)round_up((size_t)columns, WGMMA_STEP_BYTES) : columns;
}

static void set_operands(const struct plan_product *product, struct check_operands *out) {
  const int columns = columns_of(product);
  memset(out, 0, sizeof *out);
  for (int i = 0; i < ROWS * columns; i++)
    put(product->weights, out->weights, i, value_of(0, i / columns, i % columns));
  for (int row = 0; row < product->slice; row++)
    for (int c = 0; c < columns; c++) {
      const int at = is_paired(product) ? 2 * wgmma_paired_word(c / 2) + c % 2 : c;
      put(product->activations, out->activations, row * activation_stride(product) + at,
          value_of(1, row, c));
    }
  for (int i = 0; i < ROWS; i++)
    out->ones[i] = 1;
  for (int i = 0; i < LIMITS_BATCH * ROWS; i++)
    out->output[i] = NAN;
}

static bool is_right(const struct plan_product *product, const float *output) {
  for (int column = 0; column < product->slice; column++)
    for (int row = 0; row < ROWS; row++) {
      int sum = 0;
      for (int c = 0; c < columns_of(product); c++)
        sum += value_of(0, row, c) * value_of(1, column, c);
      if (output[column * ROWS + row] != (float)sum)
        return false;
    }
  return true;
}

// A cluster for each tile, or `shared`, for each step of one. The partial sums follow the operands.
static struct wgmma_arguments arguments_of(const struct plan_product *product, bool shared,
                                           struct check_operands *device) {
  const uint64_t weight = product->weights == ELEMENT_BF16 ? 2 : 1;
  const uint64_t activation = product->activations == ELEMENT_BF16 ? 2 : 1;
  const uint32_t slice = (uint32_t)product->slice;
  const int columns = columns_of(product);
  const unsigned beside = (unsigned)product->beside;
  const unsigned rows = (unsigned)(wgmma_tiles(product->slice, product->warp_columns) * WGMMA_ROWS *
                                   product->strips) *
                        beside;
  const unsigned tiles = (ROWS + rows - 1) / rows;
  const unsigned steps =
      ((unsigned)weight * (unsigned)columns + WGMMA_STEP_BYTES - 1) / WGMMA_STEP_BYTES;
  return (struct wgmma_arguments){
      .weights.matrix = {device->weights, (uint64_t)columns * weight, ROWS, WGMMA_ROWS},
      .activations.matrix = {device->activations, (uint64_t)activation_stride(product) * activation,
                             slice, slice / beside},
      .product = {.scales = weight == 1 ? device->ones : NULL,
                  .rows = ROWS,
                  .columns = columns,
                  .stride = columns,
                  .batch = product->slice,
                  .activation_scales = activation == 1 ? device->ones : NULL,
                  .batch_padded = product->slice,
                  .partials = (float *)(void *)(device + 1),
                  .counters = device->counters,
                  .output = device->output,
                  .output_stride = ROWS},
      .work = {tiles, steps, shared ? tiles * steps : tiles},
      .stages = product->stages,
      .slots = wgmma_slots(product->stages, product->strips),
      .beside = product->beside,
      .parts = product->parts};
}

static struct gpu_launch launch_of(const struct plan_product *product, unsigned blocks) {
  struct gpu_launch launch = {.grid = {blocks, 1, 1},
                              .block = WGMMA_THREADS,
                              .shared_bytes = product->shared_bytes,
                              .cluster = (unsigned)gpu_plan_cluster(product)};
  snprintf(launch.kernel, sizeof launch.kernel, "wgmma%s_%s_%s_store_%d",
           product->strips > 1 ? "_strips" : "", gpu_element_names[product->weights],
           gpu_element_names[product->activations], product->warp_columns);
  return launch;
}

enum decode_status wgmma_check_clusters(struct gpu_context *context,
                                        const struct gpu_device *device,
                                        const struct plan_product *product, bool *fit) {
  const struct gpu_launch launch = launch_of(product, (unsigned)product->blocks);
  const int room = device->described.units / gpu_plan_cluster(product);
  int count;
  const enum decode_status status = gpu_driver.clusters(context, &launch, &count);
  *fit = status == DECODE_OK && count >= least((int)product->work.blocks, room);
  return status;
}

static enum decode_status launch_check(struct gpu_context *context,
                                       const struct plan_product *product, bool shared,
                                       struct check_operands *device) {
  struct wgmma_arguments arguments = arguments_of(product, shared, device);
  struct gpu_launch launch =
      launch_of(product, arguments.work.blocks * (unsigned)gpu_plan_cluster(product));
  launch.arguments = &arguments;
  launch.argument_bytes = sizeof arguments;
  enum decode_status status = gpu_driver.tensor_map(context, &arguments.weights);
  if (status == DECODE_OK)
    status = gpu_driver.tensor_map(context, &arguments.activations);
  return status == DECODE_OK ? gpu_driver.launch(context, &launch) : status;
}

// `output`: as many as in check_operands.
static enum decode_status run(struct gpu_context *context, const struct plan_product *product,
                              bool shared, const struct check_operands *host,
                              struct check_operands *device, float *output) {
  enum decode_status status = gpu_driver.copy_in(context, device, host, sizeof *host);
  if (status == DECODE_OK)
    status = launch_check(context, product, shared, device);
  return status == DECODE_OK
             ? gpu_driver.copy_out(context, output, device->output, sizeof host->output)
             : status;
}

enum decode_status wgmma_check(struct gpu_context *context, const struct plan_product *product,
                               bool *passes) {
  struct check_operands *host = malloc(sizeof *host + sizeof host->output), *device = NULL;
  const size_t partials =
      2 * MAX_BLOCKS * wgmma_partial_floats(product->warp_columns, product->strips) * sizeof(float);
  *passes = false;
  if (!host)
    return DECODE_NO_MEMORY;
  float *output = (float *)(void *)(host + 1);
  set_operands(product, host);
  enum decode_status status =
      gpu_driver.allocate(context, sizeof *host + partials, (void **)&device);
  bool right = true;
  for (int shared = 0; shared < (product->parts > 1 ? 1 : 2) && status == DECODE_OK; shared++) {
    status = run(context, product, shared, host, device, output);
    right = right && status == DECODE_OK && is_right(product, output);
  }
  *passes = status == DECODE_OK && right;
  gpu_driver.release(context, device);
  free(host);
  return status;
}

enum decode_status wgmma_maps(struct gpu_context *context, const struct gpu_launch *launches,
                              size_t count) {
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < count; i++)
    for (int m = 0; m < launches[i].map_count && status == DECODE_OK; m++)
      status = gpu_driver.tensor_map(context, &launches[i].maps[m]);
  return status;
}
