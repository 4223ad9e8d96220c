#include "kernels/gpu/launches/streaming.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/order.h"
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

// The kind of a stage, by the name of its own kernel.
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
               {"expert_vector_bf16_bf16_norm_", STREAMING_SWIGLU_BF16},
               {"expert_vector_e4m3_bf16_norm_", STREAMING_SWIGLU_E4M3},
               {"expert_vector_bf16_bf16_round_", STREAMING_ADD_BF16}, // without the residual
               {"expert_vector_e4m3_bf16_round_", STREAMING_ADD_E4M3},
               {"route", STREAMING_ROUTE},
               {"combine", STREAMING_COMBINE},
#define OF_UNITS(name, ELEMENT, code_bytes, beside_bytes)                                          \
  {"vector_" #name "_bf16_", STREAMING_##ELEMENT},                                                 \
      {"expert_vector_" #name "_bf16_", STREAMING_##ELEMENT},
               GPU_UNIT_ELEMENTS(OF_UNITS)
#undef OF_UNITS
                   {"attention_bf16_64", STREAMING_ATTENTION_BF16_64},
               {"attention_e4m3_64", STREAMING_ATTENTION_E4M3_64},
               {"attention_bf16_128", STREAMING_ATTENTION_BF16_128},
               {"attention_e4m3_128", STREAMING_ATTENTION_E4M3_128}};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (strncmp(kernel, kinds[i].begins, strlen(kinds[i].begins)) == 0)
      return kinds[i].kind;
  return STREAMING_SAMPLE;
}

_Static_assert(sizeof(struct expert_arguments) != sizeof(struct product_arguments), "told apart");
_Static_assert(sizeof(struct streaming_stage) % 16 == 0, "copied in pieces of 16 bytes");

static bool is_product(int kind) {
  return kind >= STREAMING_STORE_BF16 && kind < STREAMING_ATTENTION_BF16_64;
}

static enum element weights_of(int kind) {
  static const enum element weights[] = {[STREAMING_STORE_BF16] = ELEMENT_BF16,
                                         [STREAMING_STORE_E4M3] = ELEMENT_E4M3,
                                         [STREAMING_ADD_BF16] = ELEMENT_BF16,
                                         [STREAMING_ADD_E4M3] = ELEMENT_E4M3,
                                         [STREAMING_SWIGLU_BF16] = ELEMENT_BF16,
                                         [STREAMING_SWIGLU_E4M3] = ELEMENT_E4M3,
#define OF_UNITS(name, ELEMENT, code_bytes, beside_bytes) [STREAMING_##ELEMENT] = ELEMENT_##ELEMENT,
                                         GPU_UNIT_ELEMENTS(OF_UNITS)
#undef OF_UNITS
  };
  return weights[kind];
}

static struct stream_product product_of(const struct streaming_stage *stage) {
  const struct product_arguments *arguments = &stage->arguments.product;
  const struct plan_product product = {
      .rows = arguments->rows, .stride = arguments->stride, .weights = weights_of(stage->kind)};
  return streaming_divided(&product, arguments->weights, arguments->second);
}

// A product's arguments come first in those of experts' products.
static void copy_arguments(struct streaming_stage *stage, const struct gpu_launch *launch) {
  if (!is_product(stage->kind)) {
    memcpy(&stage->arguments, launch->arguments, launch->argument_bytes);
    return;
  }
  struct product_arguments *product = &stage->arguments.product;
  memcpy(product, launch->arguments, sizeof *product);
  if (launch->argument_bytes == sizeof(struct expert_arguments))
    product->expert_row_bytes = product_of(stage).row_bytes;
}

// The choice of experts is made by each block.
static struct streaming_stage stage_of(const struct gpu_launch *launch, const struct plan *plan) {
  struct streaming_stage stage = {.kind = (short)streaming_kind(launch->kernel),
                                  .grid = {(short)launch->grid[0], (short)launch->grid[1]}};
  if (stage.kind == STREAMING_ROUTE)
    stage.grid[0] = (short)streaming_blocks(plan);
  stage.blocks = stage.grid[0] * stage.grid[1] * (int)launch->grid[2];
  copy_arguments(&stage, launch);
  return stage;
}

// The first stage, which is no launch's: everything from REGION_X to REGION_PARTIALS.
static struct streaming_stage clearing(const struct launch_list *list) {
  const struct plan_extent *first = &list->plan->region[REGION_X];
  const struct plan_extent *last = &list->plan->region[REGION_PARTIALS];
  const short blocks = (short)streaming_blocks(list->plan);
  return (struct streaming_stage){
      .kind = STREAMING_CLEAR,
      .grid = {blocks, 1},
      .blocks = blocks,
      .awaits = MARK_NONE,
      .marks = MARK_NONE,
      .arguments.clear = {list_shared_at(list, REGION_X),
                          (int)((last->offset + last->layer_bytes - first->offset) / 16)}};
}

// The products of a step while they are written. Their weights are known as far as the choice of
// experts before them lets them be, which is told to the stage that makes it.
struct written {
  struct stream_product *products;
  int count;
  int *known, *choice; // what is told at the next product of experts, and at the one after
};

static void write_products(struct written *out, struct streaming_stage *stage, int items) {
  struct stream_product product = product_of(stage);
  const bool routed = stage->arguments.product.expert_row_bytes > 0;
  if (routed && out->choice) {
    *out->known = out->count;
    out->known = out->choice;
    out->choice = NULL;
  }
  for (int item = 0; item < (routed ? items : 1); item++) {
    product.item = (short)(routed ? item + 1 : 0);
    out->products[out->count++] = product;
  }
}

static void write_stages(struct streaming_stage *stages, const struct gpu_launch *steps,
                         size_t count, const struct launch_list *list, struct written *out) {
  const struct plan *plan = list->plan;
  struct order order = order_of(list);
  stages[0] = clearing(list);
  for (size_t i = 1; i < count; i++) {
    stages[i] = stage_of(&steps[i - 1], plan);
    order_put(&order, &stages[i]);
    if (stages[i].kind == STREAMING_ROUTE)
      out->choice = &stages[i].arguments.route.products;
    if (is_product(stages[i].kind))
      write_products(out, &stages[i], plan->experts.items);
  }
  *out->known = out->count;
  stages[count - 1].arrivals = (short)(order.arrivals + 1);
}

struct gpu_launch *gpu_plan_streaming(const struct plan *plan, void *base,
                                      struct streaming_lists *lists) {
  struct whole {
    struct gpu_launch launch;
    struct streaming_arguments arguments;
    alignas(16) struct streaming_stage stages[]; // and then the products, which need that
  } *whole = NULL;
  size_t count = 0;
  struct gpu_launch *steps = gpu_plan_step(plan, base, &count, NULL);
  count++; // clearing
  const size_t products = count + 2 * (size_t)(plan->experts.layers * plan->experts.items);
  if (steps)
    whole = calloc(1, sizeof *whole + count * sizeof whole->stages[0] +
                          products * sizeof(struct stream_product));
  if (!whole) {
    free(steps);
    return NULL;
  }
  const struct launch_list list = {.plan = plan, .base = base};
  const struct plan_stream *stream = &plan->stream;
  whole->arguments = (struct streaming_arguments){.stages = list_shared_at(&list, REGION_STAGES),
                                                  .arrived = list_shared_at(&list, REGION_ARRIVED),
                                                  .products = list_shared_at(&list, REGION_STREAM),
                                                  .count = (int)count,
                                                  .sums = (int)stream->sums,
                                                  .pairs = stream->pairs,
                                                  .ring = (int)stream->ring,
                                                  .slots = (short)stream->slots,
                                                  .beside = (short)stream->beside,
                                                  .flying = (short)stream->flying,
                                                  .experts = (int)stream->experts};
  struct written written = {.products = (struct stream_product *)(void *)(whole->stages + count),
                            .known = &whole->arguments.product_count};
  write_stages(whole->stages, steps, count, &list, &written);
  free(steps);
  whole->launch = (struct gpu_launch){.grid = {(unsigned)streaming_blocks(plan), 1, 1},
                                      .block = VECTOR_THREADS,
                                      .shared_bytes = stream->shared_bytes,
                                      .carveout = plan->carveout,
                                      .arguments = &whole->arguments,
                                      .argument_bytes = sizeof whole->arguments,
                                      .cooperative = true};
  snprintf(whole->launch.kernel, sizeof whole->launch.kernel, "streaming_%d", plan->vector_rows);
  *lists = (struct streaming_lists){whole->stages, written.products, count, (size_t)written.count};
  return &whole->launch;
}
