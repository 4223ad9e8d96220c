#include "kernels/gpu/launches/streaming.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/streaming.h"
#include "kernels/gpu/stream.h"
#include "kernels/gpu/units.h"

#include <stdalign.h>
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
#define OF_UNITS(name, ELEMENT, code_bytes, beside_bytes)                                          \
  {"vector_" #name "_bf16_", STREAMING_##ELEMENT},
               GPU_UNIT_ELEMENTS(OF_UNITS)
#undef OF_UNITS
                   {"attention_bf16_128", STREAMING_ATTENTION_BF16},
               {"attention_e4m3_128", STREAMING_ATTENTION_E4M3}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strncmp(kernel, kinds[i].begins, strlen(kinds[i].begins)) == 0)
      return kinds[i].kind;
  return STREAMING_SAMPLE;
}

_Static_assert(sizeof(struct streaming_stage) % 16 == 0, "copied in pieces of 16 bytes");

static bool is_product(int kind) {
  return kind >= STREAMING_STORE_BF16 && kind < STREAMING_ATTENTION_BF16;
}

static bool is_in_units(int kind) {
  return kind > STREAMING_SWIGLU_E4M3 && kind < STREAMING_ATTENTION_BF16;
}

// A product that is divided as stream.h says is shared by all blocks.
static struct streaming_stage stage_of(const struct gpu_launch *launch, const struct plan *plan) {
  struct streaming_stage stage = {.kind = (int)streaming_kind(launch->kernel),
                                  .blocks =
                                      (int)(launch->grid[0] * launch->grid[1] * launch->grid[2]),
                                  .grid = {(int)launch->grid[0], (int)launch->grid[1]}};
  if (is_in_units(stage.kind) || (plan->stream.slots > 0 && is_product(stage.kind)))
    stage.blocks = stage.grid[0] = streaming_blocks(plan);
  memcpy(&stage.arguments, launch->arguments, launch->argument_bytes);
  return stage;
}

// All products but the head, which is BF16, have the model's weights.
static struct stream_product product_of(const struct plan *plan,
                                        const struct streaming_stage *stage) {
  const struct product_arguments *arguments = &stage->arguments.product;
  struct plan_product product = {
      .rows = arguments->rows, .stride = arguments->stride, .weights = plan->request.types.weights};
  if (stage->kind == STREAMING_STORE_BF16)
    product.weights = ELEMENT_BF16;
  return streaming_divided(&product, arguments->weights, arguments->second);
}

struct gpu_launch *gpu_plan_streaming(const struct plan *plan, void *base,
                                      struct streaming_lists *lists) {
  struct whole {
    struct gpu_launch launch;
    struct streaming_arguments arguments;
    alignas(16) struct streaming_stage stages[]; // and then the products, which need that
  } *whole = NULL;
  size_t count = 0, products = 0;
  struct gpu_launch *steps = gpu_plan_step(plan, base, &count, NULL);
  if (steps)
    whole = calloc(1, sizeof *whole +
                          count * (sizeof whole->stages[0] + sizeof(struct stream_product)));
  if (!whole) {
    free(steps);
    return NULL;
  }
  struct stream_product *product = (struct stream_product *)(void *)(whole->stages + count);
  for (size_t i = 0; i < count; i++) {
    whole->stages[i] = stage_of(&steps[i], plan);
    if (is_product(whole->stages[i].kind))
      product[products++] = product_of(plan, &whole->stages[i]);
  }
  free(steps);
  const struct launch_list list = {.plan = plan, .base = base};
  const struct plan_stream *stream = &plan->stream;
  whole->arguments = (struct streaming_arguments){.stages = list_shared_at(&list, REGION_STAGES),
                                                  .arrived = list_shared_at(&list, REGION_ARRIVED),
                                                  .products = list_shared_at(&list, REGION_STREAM),
                                                  .count = (int)count,
                                                  .product_count = (int)products,
                                                  .sums = (int)stream->sums,
                                                  .pairs = stream->pairs,
                                                  .ring = (int)stream->ring,
                                                  .slots = stream->slots,
                                                  .beside = stream->beside};
  whole->launch = (struct gpu_launch){.grid = {(unsigned)streaming_blocks(plan), 1, 1},
                                      .block = VECTOR_THREADS,
                                      .shared_bytes = stream->shared_bytes,
                                      .carveout = plan->carveout,
                                      .arguments = &whole->arguments,
                                      .argument_bytes = sizeof whole->arguments,
                                      .cooperative = true};
  snprintf(whole->launch.kernel, sizeof whole->launch.kernel, "streaming_%d", plan->vector_rows);
  *lists = (struct streaming_lists){whole->stages, product, count, products};
  return &whole->launch;
}
