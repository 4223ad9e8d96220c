#include "kernels/gpu/launches/list.h"

#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/integers.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

void *list_at(const struct launch_list *list, enum plan_region region) {
  const struct plan_extent *extent = &list->plan->region[region];
  const size_t layer = list->layer < 0 ? 0 : (size_t)(list->layer - extent->first_layer);
  return list->base + extent->offset + layer * extent->layer_bytes;
}

void *list_shared_at(const struct launch_list *list, enum plan_region region) {
  return list->base + list->plan->region[region].offset;
}

const float *list_vector_at(const struct launch_list *list, enum plan_region region) {
  const bool is_there = region != NO_REGION && list->plan->region[region].layer_bytes > 0;
  return is_there ? list_at(list, region) : NULL;
}

float *list_scales_at(const struct launch_list *list, enum plan_region region) {
  const size_t scales = list->plan->region[region].scales;
  return scales ? (float *)(void *)((char *)list_at(list, region) + scales) : NULL;
}

void list_add(struct launch_list *list, const char *stage, const struct gpu_launch *launch,
              const union launch_arguments *arguments) {
  const size_t i = list->count++;
  if (!list->launches)
    return;
  list->arguments[i] = *arguments;
  list->launches[i] = *launch;
  list->launches[i].arguments = &list->arguments[i];
  list->launches[i].maps = &list->arguments[i].wgmma.weights;
  list->launches[i].carveout = list->plan->carveout;
  list->what[i] = list->stages[i];
  if (list->layer < 0)
    snprintf(list->stages[i], LAUNCH_STAGE_BYTES, "%s", stage);
  else
    snprintf(list->stages[i], LAUNCH_STAGE_BYTES, "layer %d %s", list->layer, stage);
}

struct gpu_launch *list_make(struct launch_list *list, void (*emit)(struct launch_list *),
                             size_t *count) {
  emit(list);
  const size_t n = list->count;
  const size_t alignment = _Alignof(union launch_arguments);
  const size_t before = round_up(n * sizeof *list->launches, alignment);
  const size_t behind = n * (sizeof *list->arguments + sizeof *list->what + sizeof *list->stages);
  struct gpu_launch *launches = aligned_alloc(alignment, round_up(before + behind, alignment));
  if (!launches)
    return NULL;
  list->launches = launches;
  list->arguments = (union launch_arguments *)(void *)((char *)launches + before);
  list->what = (const char **)(void *)(list->arguments + n);
  list->stages = (char(*)[LAUNCH_STAGE_BYTES])(void *)(list->what + n);
  list->count = 0;
  emit(list);
  *count = n;
  return launches;
}

int *list_item_count(const struct launch_list *list) {
  return list_shared_at(list, REGION_ITEMS);
}

struct expert_item *list_items(const struct launch_list *list) {
  return (struct expert_item *)(void *)((char *)list_shared_at(list, REGION_ITEMS) + ITEMS_OFFSET);
}
