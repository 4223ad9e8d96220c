#include "kernels/gpu/plan/variants.h"

#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/stream.h"

#include <stdbool.h>
#include <stddef.h>

static bool streams(const struct plan *own, const struct plan *other) {
  (void)own;
  return other->streaming;
}

static bool streams_through_more(const struct plan *own, const struct plan *other) {
  return streams(own, other) && other->stream.slots > STREAM_FLYING;
}

static bool swaps_matrix_unit(const struct plan *own, const struct plan *other) {
  return gpu_plan_uses_wgmma(own) != gpu_plan_uses_wgmma(other);
}

static bool shares_activations(const struct plan *own, const struct plan *other) {
  bool differs = false;
  for (int p = 0; p < PRODUCTS; p++)
    differs |= own->product[p].strips > other->product[p].strips;
  return differs && gpu_plan_uses_wgmma(other);
}

static const struct variant {
  const char *tuning;
  bool (*differs)(const struct plan *own, const struct plan *other);
} variants[] = {
    {"step=streaming", streams},
    {"stream_flying=4 step=streaming", streams_through_more},
    {"matrix=registers", swaps_matrix_unit},
    {"matrix=wgmma", swaps_matrix_unit},
    {"wgmma_strips=1", shares_activations},
};
enum { VARIANTS = sizeof variants / sizeof variants[0] };

static bool is_tuned(const struct gpu_device *device) {
  char words[256];
  gpu_tuning_write(&device->tuning, words, sizeof words);
  return *words != '\0';
}

static bool is_variant(const struct variant *variant, const struct decode_request *request,
                       const struct gpu_device *device, const struct plan *own) {
  struct gpu_device tuned = *device;
  struct plan other;
  const char *why;
  char words[256];
  return gpu_tuning_read(variant->tuning, &tuned.tuning, words, sizeof words) &&
         gpu_plan_make(request, 0, &tuned, &other, &why) == DECODE_OK &&
         variant->differs(own, &other);
}

const char *gpu_plan_variant(const struct decode_request *request, const struct gpu_device *device,
                             int number) {
  struct plan own;
  const char *why;
  int found = 0;
  if (is_tuned(device) || request->ranks > 1 ||
      gpu_plan_make(request, 0, device, &own, &why) != DECODE_OK)
    return NULL;
  for (int i = 0; i < VARIANTS; i++)
    if (is_variant(&variants[i], request, device, &own) && found++ == number)
      return variants[i].tuning;
  return NULL;
}
