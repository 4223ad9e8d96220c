#include "kernels/gpu/host/wgmma_check.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/integers.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// More rows than a warpgroup's tiles, and not a multiple of them; a step and a half in E4M3.
enum { ROWS = 200, COLUMNS = 192, MAX_BATCH = 256 };

// What the kernel works on, both on the device and on the host; room for BF16.
struct check_operands {
  uint16_t weights[ROWS * COLUMNS];
  uint16_t activations[MAX_BATCH * 2 * WGMMA_STEP_BYTES]; // COLUMNS in whole steps
  float ones[MAX_BATCH];
  float output[MAX_BATCH * ROWS];
};

// Integers from -8 to 8 without 0: exact in every type.
static int value_of(int operand, int row, int column) {
  const uint32_t hash = weights_hash((uint64_t)operand, (uint64_t)row * COLUMNS + (uint64_t)column);
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
  return is_paired(product) ? (int)gpu_round_up(COLUMNS, WGMMA_STEP_BYTES) : COLUMNS;
}

static void set_operands(const struct plan_product *product, struct check_operands *out) {
  memset(out, 0, sizeof *out);
  for (int i = 0; i < ROWS * COLUMNS; i++)
    put(product->weights, out->weights, i, value_of(0, i / COLUMNS, i % COLUMNS));
  for (int row = 0; row < product->slice; row++)
    for (int c = 0; c < COLUMNS; c++) {
      const int at = is_paired(product) ? 2 * wgmma_paired_word(c / 2) + c % 2 : c;
      put(product->activations, out->activations, row * activation_stride(product) + at,
          value_of(1, row, c));
    }
  for (int i = 0; i < MAX_BATCH; i++)
    out->ones[i] = 1;
  for (int i = 0; i < MAX_BATCH * ROWS; i++)
    out->output[i] = NAN;
}

static bool is_right(const struct plan_product *product, const struct check_operands *operands) {
  for (int column = 0; column < product->slice; column++)
    for (int row = 0; row < ROWS; row++) {
      int sum = 0;
      for (int c = 0; c < COLUMNS; c++)
        sum += value_of(0, row, c) * value_of(1, column, c);
      if (operands->output[column * ROWS + row] != (float)sum)
        return false;
    }
  return true;
}

static struct wgmma_arguments arguments_of(const struct plan_product *product,
                                           struct check_operands *device) {
  const uint64_t weight = product->weights == ELEMENT_BF16 ? 2 : 1;
  const uint64_t activation = product->activations == ELEMENT_BF16 ? 2 : 1;
  const uint32_t slice = (uint32_t)product->slice;
  const unsigned cluster = (unsigned)product->cluster;
  const unsigned rows =
      (unsigned)wgmma_tiles(product->slice, product->warp_columns) * WGMMA_ROWS * cluster;
  const unsigned tiles = (ROWS + rows - 1) / rows;
  const unsigned steps = ((unsigned)weight * COLUMNS + WGMMA_STEP_BYTES - 1) / WGMMA_STEP_BYTES;
  return (struct wgmma_arguments){
      .weights.matrix = {device->weights, COLUMNS * weight, ROWS, WGMMA_ROWS},
      .activations.matrix = {device->activations, (uint64_t)activation_stride(product) * activation,
                             slice, slice / cluster},
      .product = {.scales = weight == 1 ? device->ones : NULL,
                  .rows = ROWS,
                  .columns = COLUMNS,
                  .stride = COLUMNS,
                  .batch = product->slice,
                  .activation_scales = activation == 1 ? device->ones : NULL,
                  .batch_padded = product->slice,
                  .output = device->output,
                  .output_stride = ROWS},
      .work = {tiles, steps, tiles},
      .stages = product->stages,
      .cluster = product->cluster};
}

static struct gpu_launch launch_of(const struct plan_product *product, unsigned blocks) {
  struct gpu_launch launch = {.grid = {blocks, 1, 1},
                              .block = WGMMA_THREADS,
                              .shared_bytes = product->shared_bytes,
                              .cluster = (unsigned)product->cluster};
  snprintf(launch.kernel, sizeof launch.kernel, "wgmma_%s_%s_store_%d",
           gpu_element_names[product->weights], gpu_element_names[product->activations],
           product->warp_columns);
  return launch;
}

enum decode_status wgmma_check_clusters(struct gpu_context *context,
                                        const struct gpu_device *device,
                                        const struct plan_product *product, bool *fit) {
  const struct gpu_launch launch = launch_of(product, (unsigned)product->blocks);
  const int room = device->described.units / product->cluster;
  int count;
  const enum decode_status status = gpu_driver.clusters(context, &launch, &count);
  *fit = status == DECODE_OK && count >= least((int)product->work.blocks, room);
  return status;
}

static enum decode_status run(struct gpu_context *context, const struct plan_product *product,
                              struct check_operands *device) {
  struct wgmma_arguments arguments = arguments_of(product, device);
  struct gpu_launch launch =
      launch_of(product, arguments.work.blocks * (unsigned)arguments.cluster);
  launch.arguments = &arguments;
  launch.argument_bytes = sizeof arguments;
  enum decode_status status = gpu_driver.tensor_map(context, &arguments.weights);
  if (status == DECODE_OK)
    status = gpu_driver.tensor_map(context, &arguments.activations);
  return status == DECODE_OK ? gpu_driver.launch(context, &launch) : status;
}

enum decode_status wgmma_check(struct gpu_context *context, const struct plan_product *product,
                               bool *passes) {
  struct check_operands *host = malloc(sizeof *host), *device = NULL;
  *passes = false;
  if (!host)
    return DECODE_NO_MEMORY;
  set_operands(product, host);
  enum decode_status status = gpu_driver.allocate(context, sizeof *host, (void **)&device);
  if (status == DECODE_OK)
    status = gpu_driver.copy_in(context, device, host, sizeof *host);
  if (status == DECODE_OK)
    status = run(context, product, device);
  if (status == DECODE_OK)
    status = gpu_driver.copy_out(context, host->output, device->output, sizeof host->output);
  if (status == DECODE_OK)
    *passes = is_right(product, host);
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
