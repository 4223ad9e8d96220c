#include "kernels/gpu/launches/order.h"

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

struct order order_of(const struct launch_list *list) {
  static const enum plan_region regions[] = {[OF_X] = REGION_X,
                                             [OF_QKV] = REGION_QKV_OUT,
                                             [OF_ATTENDED] = REGION_ATTENDED,
                                             [OF_FFN] = REGION_FFN_OUT};
  struct order order = {.arrivals = 1}; // after clearing
  for (int i = 0; i < MARKED; i++) {
    struct marked *marked = &order.marked[i];
    marked->from = list_shared_at(list, regions[i]);
    marked->end = marked->from + list->plan->region[regions[i]].layer_bytes;
    marked->mark = MARK_ZERO;
  }
  return order;
}

static struct marked *marked_at(struct order *order, const void *place) {
  for (int i = 0; i < MARKED; i++)
    if ((const char *)place >= order->marked[i].from && (const char *)place < order->marked[i].end)
      return &order->marked[i];
  return NULL;
}

// The floats that a stage is passed, and those that it passes on, of each batch row `count`.
struct ends {
  const void *from, *to;
  int count;
};

static struct ends ends_of(const struct streaming_stage *stage) {
  const struct embed_arguments *embed = &stage->arguments.embed;
  const struct product_arguments *product = &stage->arguments.product;
  const struct attention_arguments *attention = &stage->arguments.attention;
  const struct combine_arguments *combine = &stage->arguments.combine;
  switch (stage->kind) {
  case STREAMING_EMBED: return (struct ends){NULL, embed->x, embed->hidden};
  case STREAMING_ATTENTION_BF16_64:
  case STREAMING_ATTENTION_E4M3_64:
  case STREAMING_ATTENTION_BF16_128:
  case STREAMING_ATTENTION_E4M3_128:
    return (struct ends){attention->qkv, attention->output, attention->heads * attention->head_dim};
  case STREAMING_COMBINE: return (struct ends){NULL, combine->x, combine->hidden};
  case STREAMING_ROUTE:
  case STREAMING_SAMPLE: return (struct ends){NULL, NULL, 0};
  default: return (struct ends){product->input, product->output, product->rows};
  }
}

// The other mark; none from where the place is used for vectors of another length, since what is
// beyond a shorter one keeps its mark.
static enum streaming_mark next_mark(struct marked *marked, const struct ends *ends) {
  if (!marked)
    return MARK_NONE;
  if (marked->written && (marked->written != ends->to || marked->count != ends->count))
    marked->mark = MARK_NONE;
  else if (marked->mark != MARK_NONE)
    marked->mark = marked->mark == MARK_ONE ? MARK_ZERO : MARK_ONE;
  marked->written = ends->to;
  marked->count = ends->count;
  return marked->mark;
}

// Whether a stage needs no more than what is passed to it by marks. Once experts are chosen, their
// products and those of a shared expert use the same vectors in an order of their own, up to the
// next layer's first product.
void order_put(struct order *order, struct streaming_stage *stage) {
  const struct ends ends = ends_of(stage);
  struct marked *from = marked_at(order, ends.from), *to = marked_at(order, ends.to);
  order->in_mixture =
      stage->kind == STREAMING_ROUTE || (order->in_mixture && to != &order->marked[OF_QKV]);
  stage->awaits = (signed char)(from && !order->in_mixture ? from->mark : MARK_NONE);
  if (stage->awaits == MARK_NONE && stage->kind != STREAMING_EMBED) {
    stage[-1].arrivals = stage->barriers = (short)++order->arrivals;
  }
  stage->marks = (signed char)next_mark(to, &ends);
}
