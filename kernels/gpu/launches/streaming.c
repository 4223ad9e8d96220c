#include "kernels/gpu/launches/streaming.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// By the name of the stage's own kernel.
static enum streaming_kind streaming_kind(const char *kernel) {
  static const struct {
    const char *begins;
    enum streaming_kind kind;
  } kinds[] = {{"embed_bf16", STREAMING_EMBED},
               {"vector_bf16_bf16_norm_store_", STREAMING_STORE_BF16},
               {"vector_e4m3_bf16_norm_store_", STREAMING_STORE_E4M3},
               {"vector_bf16_bf16_round_add_", STREAMING_ADD_BF16},
               {"vector_e4m3_bf16_round_add_", STREAMING_ADD_E4M3},
               {"vector_bf16_bf16_norm_swiglu_", STREAMING_SWIGLU_BF16},
               {"vector_e4m3_bf16_norm_swiglu_", STREAMING_SWIGLU_E4M3},
               {"attention_bf16_128", STREAMING_ATTENTION_BF16},
               {"attention_e4m3_128", STREAMING_ATTENTION_E4M3}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strncmp(kernel, kinds[i].begins, strlen(kinds[i].begins)) == 0)
      return kinds[i].kind;
  return STREAMING_SAMPLE;
}

_Static_assert(sizeof(struct streaming_stage) % 16 == 0, "copied in pieces of 16 bytes");

struct gpu_launch *gpu_plan_streaming(const struct plan *plan, void *base,
                                       const struct streaming_stage **stages, size_t *count) {
  struct whole {
    struct gpu_launch launch;
    struct streaming_arguments arguments;
    struct streaming_stage stages[];
  } *whole = NULL;
  struct gpu_launch *steps = gpu_plan_step(plan, base, count, NULL);
  if (steps)
    whole = calloc(1, sizeof *whole + *count * sizeof whole->stages[0]);
  if (!whole) {
    free(steps);
    return NULL;
  }
  const struct launch_list list = {.plan = plan, .base = base};
  whole->arguments = (struct streaming_arguments){
      list_shared_at(&list, REGION_STAGES), list_shared_at(&list, REGION_ARRIVED), (int)*count};
  whole->launch = (struct gpu_launch){.grid = {(unsigned)plan->device.described.units, 1, 1},
                                      .block = VECTOR_THREADS,
                                      .carveout = plan->carveout,
                                      .arguments = &whole->arguments,
                                      .argument_bytes = sizeof whole->arguments,
                                      .cooperative = true};
  snprintf(whole->launch.kernel, sizeof whole->launch.kernel, "streaming_%d", plan->vector_rows);
  for (size_t i = 0; i < *count; i++) {
    const struct gpu_launch *from = &steps[i];
    struct streaming_stage *to = &whole->stages[i];
    to->kind = (int)streaming_kind(from->kernel);
    to->blocks = (int)(from->grid[0] * from->grid[1] * from->grid[2]);
    to->grid[0] = (int)from->grid[0];
    to->grid[1] = (int)from->grid[1];
    memcpy(&to->arguments, from->arguments, from->argument_bytes);
    if (from->shared_bytes > whole->launch.shared_bytes)
      whole->launch.shared_bytes = from->shared_bytes;
  }
  free(steps);
  *stages = whole->stages;
  return &whole->launch;
}
