#include "kernels/gpu/launches/token.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stddef.h>
#include <stdio.h>

// `count` tokens, as the vectors from `vector` on.
static void embed(struct launch_list *list, const int *tokens, int vector, int count) {
  const struct plan_product *head = &list->plan->product[PRODUCT_HEAD];
  const struct embed_arguments arguments = {
      .embedding = list_shared_at(list, REGION_EMBEDDING),
      .scales = list_scales_at(list, REGION_EMBEDDING),
      .tokens = tokens,
      .hidden = head->columns,
      .stride = head->stride,
      .x = (float *)list_shared_at(list, REGION_X) + (size_t)vector * (size_t)head->columns,
  };
  struct gpu_launch launch = {
      .grid = {(unsigned)count, 1, 1}, .block = SMALL_THREADS, .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "embed_%s", gpu_element_names[head->weights]);
  list_add(list, "embed", &launch, &(union launch_arguments){.embed = arguments});
}

void launch_embed(struct launch_list *list) {
  const int *tokens = list_shared_at(list, REGION_TOKENS);
  const struct prompt_piece *piece = list->piece;
  if (!piece) {
    embed(list, tokens, 0, list->plan->request.batch);
    return;
  }
  const int before = piece_before(piece), behind = piece_behind(piece);
  embed(list, (const int *)list_shared_at(list, REGION_PROMPT_TOKENS) + piece->from, before,
        piece->count);
  if (before > 0)
    embed(list, tokens, 0, before);
  if (behind > 0)
    embed(list, tokens + piece->row + 1, before + piece->count, behind);
}

void launch_sample(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const struct sample_arguments arguments = {
      .logits = list_shared_at(list, REGION_LOGITS),
      .vocab = plan->request.shape.vocab,
      .best = list_shared_at(list, REGION_BEST),
      .best_index = list_shared_at(list, REGION_BEST_INDEX),
      .counters = list_shared_at(list, REGION_COUNTERS),
      .tokens = list_shared_at(list, REGION_TOKENS),
      .first = plan->rank * plan->request.shape.vocab,
      .keys = plan->ranks > 1 ? list_shared_at(list, REGION_KEYS_OF_TOKENS) : NULL,
      .step = plan->region[REGION_STEP].layer_bytes > 0 ? list_shared_at(list, REGION_STEP) : NULL,
  };
  const struct gpu_launch launch = {.kernel = "sample",
                                    .grid = {SAMPLE_BLOCKS, (unsigned)plan->request.batch, 1},
                                    .block = SMALL_THREADS,
                                    .shared_bytes = LAUNCH_SMALL_SHARED,
                                    .argument_bytes = sizeof arguments};
  list_add(list, "sample", &launch, &(union launch_arguments){.sample = arguments});
}
