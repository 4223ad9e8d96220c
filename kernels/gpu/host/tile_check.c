#include "kernels/gpu/host/tile_check.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/calibration.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/host/wgmma_check.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Integers from -8 to 8 without 0: exact in every type, and so are their sums.
static int check_value(int operand, int row, int element) {
  const uint32_t hash =
      weights_hash((uint64_t)operand, (uint64_t)row * TILE_CHECK_ELEMENTS + (uint64_t)element);
  const int magnitude = 1 + (int)(hash >> 8) % 8;
  return hash & 1 ? -magnitude : magnitude;
}

static void check_operand(enum element element, int operand, void *out) {
  for (int i = 0; i < TILE_CHECK_ROWS * TILE_CHECK_ELEMENTS; i++) {
    const float value =
        (float)check_value(operand, i / TILE_CHECK_ELEMENTS, i % TILE_CHECK_ELEMENTS);
    if (element == ELEMENT_BF16)
      ((uint16_t *)out)[i] = bf16_from_float(value);
    else
      ((uint8_t *)out)[i] = e4m3_from_float(value); // FNUZ, too: half of each, see platform.h
  }
}

static bool check_passes(const float *c, int columns, int elements) {
  for (int row = 0; row < TILE_CHECK_ROWS; row++)
    for (int column = 0; column < TILE_CHECK_ROWS; column++) {
      int sum = 0;
      for (int i = 0; i < elements && column < columns; i++)
        sum += check_value(0, row, i) * check_value(1, column, i);
      if (c[row * TILE_CHECK_ROWS + column] != (float)sum)
        return false;
    }
  return true;
}

// What one check needs, both on the device and on the host; both operands have room for 16 rows of
// BF16.
struct tile_operands {
  uint16_t a[TILE_CHECK_ROWS * TILE_CHECK_ELEMENTS], b[TILE_CHECK_ROWS * TILE_CHECK_ELEMENTS];
  float c[TILE_CHECK_ROWS * TILE_CHECK_ROWS];
};

static enum decode_status check_tile(struct gpu_context *context, const struct plan *plan,
                                     enum element weights, enum element activations) {
  struct tile_operands check, *device = NULL;
  check_operand(weights, 0, check.a);
  check_operand(activations, 1, check.b);
  for (size_t i = 0; i < sizeof check.c / sizeof check.c[0]; i++)
    check.c[i] = NAN;
  enum decode_status status =
      failure_told(gpu_driver.allocate(context, sizeof check, (void **)&device));
  if (status != DECODE_OK)
    return status;
  const struct tile_check_arguments arguments = {device->a, device->b, device->c};
  struct gpu_launch launch = {.grid = {1, 1, 1},
                              .block = (unsigned)plan->device.warp,
                              .shared_bytes = TILE_CHECK_SHARED,
                              .arguments = &arguments,
                              .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "tile_check_%s_%s", gpu_element_names[weights],
           gpu_element_names[activations]);
  status = failure_told(gpu_driver.copy_in(context, device, &check, sizeof check));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.launch(context, &launch));
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.copy_out(context, check.c, device->c, sizeof check.c));
  gpu_driver.release(context, device);
  const int elements = weights == ELEMENT_BF16 ? TILE_CHECK_ELEMENTS / 2 : TILE_CHECK_ELEMENTS;
  if (status == DECODE_OK && !check_passes(check.c, plan->device.warp / 4, elements))
    return failure_keep(DECODE_FAILED,
                        "the matrix unit's layout is not the one that the kernels assume");
  return status;
}

static enum decode_status check_wgmma(struct gpu_context *context, const struct plan *plan,
                                      enum product_name name) {
  const struct plan_product *product = &plan->product[name];
  for (int p = 0; p < (int)name; p++) {
    const struct plan_product *before = &plan->product[p];
    if (before->weights == product->weights && before->activations == product->activations &&
        before->slice == product->slice && before->warp_columns == product->warp_columns &&
        before->beside == product->beside && before->strips == product->strips &&
        before->parts == product->parts)
      return DECODE_OK; // the same kernel
  }
  bool passes;
  const enum decode_status status = failure_told(wgmma_check(context, product, &passes));
  if (status == DECODE_OK && !passes)
    return failure_keep(DECODE_FAILED, "wgmma's layout is not the one that the kernels assume");
  return status;
}

enum decode_status tile_check(struct gpu_context *context, const struct plan *plan) {
  enum decode_status status = check_tile(context, plan, plan->request.types.kv, ELEMENT_BF16);
  for (int p = 0; p < PRODUCTS && status == DECODE_OK; p++)
    if (plan->product[p].rows > 0 && gpu_plan_uses_matrix_unit(&plan->product[p]))
      status = plan->product[p].wgmma
                   ? check_wgmma(context, plan, (enum product_name)p)
                   : check_tile(context, plan, gpu_plan_multiplied(&plan->product[p]),
                                plan->product[p].activations);
  return status;
}
