#include "kernels/gpu/plan/arithmetic.h"

#include "kernels/arithmetic.h"
#include "kernels/decode.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <string.h>

// Vector kernels multiply floats, and so does the tile if there is no matrix unit. Some matrix
// units have an instruction for E4M3 (matrix_tile_mma.h, matrix_tile_mfma.h; sm_90a's own); the
// others multiply BF16, or on CUDA F16 if both sides are E4M3.
static const char *multiplied_as(const struct plan *plan, const struct plan_product *product) {
  static const struct {
    const char *architecture, *bf16, *e4m3;
  } units[] = {{"sm_12", "bf16", "e4m3"},  {"sm_", "bf16", "f16"},   {"gfx942", "bf16", "e4m3"},
               {"gfx950", "bf16", "e4m3"}, {"gfx9", "bf16", "bf16"}, {"", "f32", "f32"}};
  size_t i = 0;
  while (strncmp(plan->device.architecture, units[i].architecture, strlen(units[i].architecture)) !=
         0)
    i++;
  if (!gpu_plan_uses_matrix_unit(product))
    return "f32";
  if (product->weights != ELEMENT_E4M3 || product->activations != ELEMENT_E4M3)
    return units[i].bf16;
  return product->wgmma ? "e4m3" : units[i].e4m3;
}

void gpu_plan_arithmetic(const struct plan *plan, struct decode_step_form *out) {
  struct arithmetic arithmetic = {"", ""};
  for (int p = 0; p < PRODUCTS; p++) {
    const struct plan_product *product = &plan->product[p];
    if (product->rows == 0)
      continue;
    arithmetic_add(&arithmetic, product->weights, multiplied_as(plan, product));
    arithmetic_add(&arithmetic, product->activations, multiplied_as(plan, product));
  }
  arithmetic_tell(&arithmetic, out);
}
