#include "kernels/gpu/launches/exchange.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

#include <stdio.h>

static void all_reduce(struct launch_list *list, const char *kernel, enum plan_region region,
                       size_t count) {
  const struct all_reduce_arguments arguments = {list_shared_at(list, region), count};
  struct gpu_launch launch = {.grid = {1, 1, 1}, .block = 1, .argument_bytes = sizeof arguments};
  snprintf(launch.kernel, sizeof launch.kernel, "%s", kernel);
  list_add(list, "all-reduce", &launch, &(union launch_arguments){.all_reduce = arguments});
}

void launch_add_up_residual(struct launch_list *list) {
  const struct decode_request *request = &list->plan->request;
  if (list->plan->ranks < 2)
    return;
  all_reduce(list, ALL_REDUCE_SUM, REGION_X,
             (size_t)request->batch * (size_t)request->shape.hidden);
}

void launch_agree(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const struct sample_key_arguments arguments = {
      .keys = list_shared_at(list, REGION_KEYS_OF_TOKENS),
      .batch = plan->request.batch,
      .tokens = list_shared_at(list, REGION_TOKENS),
  };
  const struct gpu_launch launch = {.kernel = "sample_key",
                                    .grid = {1, 1, 1},
                                    .block = SMALL_THREADS,
                                    .argument_bytes = sizeof arguments};
  if (plan->ranks < 2)
    return;
  all_reduce(list, ALL_REDUCE_MAX, REGION_KEYS_OF_TOKENS, (size_t)plan->request.batch);
  list_add(list, "sample", &launch, &(union launch_arguments){.sample_key = arguments});
}

static void every_all_reduce(struct launch_list *list) {
  launch_add_up_residual(list);
  all_reduce(list, ALL_REDUCE_MAX, REGION_KEYS_OF_TOKENS, (size_t)list->plan->request.batch);
}

struct gpu_launch *gpu_plan_all_reduce(const struct plan *plan, void *base, size_t *count) {
  struct launch_list list = {.plan = plan, .base = base, .layer = -1};
  return list_make(&list, every_all_reduce, count);
}
