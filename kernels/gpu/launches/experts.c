#include "kernels/gpu/launches/experts.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/product.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>

static void route(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const struct decode_shape *shape = &plan->request.shape;
  const struct decode_experts *experts = &shape->experts;
  const bool sigmoid = experts->router == ROUTER_SIGMOID;
  const struct prompt_piece *piece = list->piece;
  int *touched = list_shared_at(list, REGION_TOUCHED);
  const struct route_arguments arguments = {
      .r = list_shared_at(list, REGION_ROUTED),
      .bias = shape->biases & BIAS_ROUTER ? list_at(list, REGION_ROUTER_BIAS) : NULL,
      .table = plan->request.routing == ROUTING_MODEL ? NULL : list_shared_at(list, REGION_ROUTING),
      .table_batch = piece ? piece->of : plan->request.batch,
      .before = piece ? piece_before(piece) : plan->request.batch,
      .positions = piece ? piece->count : 0,
      .prompt = piece ? piece->row : 0,
      .first = piece ? piece->first : 0,
      .step = list_shared_at(list, REGION_STEP),
      .layer = list->layer,
      .layers = shape->layers,
      .last = list->layer + 1 == shape->layers,
      .batch = plan->request.batch,
      .count = experts->count,
      .chosen = experts->chosen,
      .router = (int)experts->router,
      .groups = sigmoid ? experts->groups : 0,
      .kept_groups = experts->kept_groups,
      .scale = sigmoid && experts->scale > 0 ? experts->scale : 1,
      .columns = plan->experts.columns,
      .experts = list_at(list, REGION_CHOSEN),
      .weights = list_shared_at(list, REGION_CHOSEN_WEIGHTS),
      .slots = list_shared_at(list, REGION_SLOTS),
      .rows = list_shared_at(list, REGION_SLOT_ROWS),
      .items = list_items(list),
      .item_count = list_item_count(list),
      .touched = touched + list->layer,
      .steps = touched + shape->layers,
      .counters = list_shared_at(list, REGION_COUNTERS),
  };
  const struct gpu_launch launch = {
      .kernel = "route",
      .grid = {(unsigned)plan->request.batch, 1, 1},
      .block = SMALL_THREADS,
      .shared_bytes = route_shared_bytes(plan->request.batch, experts->count, experts->chosen),
      .argument_bytes = sizeof arguments};
  list_add(list, "route", &launch, &(union launch_arguments){.route = arguments});
}

static void combine(struct launch_list *list) {
  const struct plan *plan = list->plan;
  const unsigned hidden = (unsigned)plan->request.shape.hidden;
  const struct combine_arguments arguments = {
      .sums = list_shared_at(list, REGION_EXPERT_SUMS),
      .slots = list_shared_at(list, REGION_SLOTS),
      .weights = list_shared_at(list, REGION_CHOSEN_WEIGHTS),
      .chosen = plan->request.shape.experts.chosen,
      .hidden = (int)hidden,
      .without_residual = plan->rank > 0,
      .x = list_shared_at(list, REGION_X),
  };
  const struct gpu_launch launch = {
      .kernel = "combine",
      .grid = {(hidden + SMALL_THREADS - 1) / SMALL_THREADS, (unsigned)plan->request.batch, 1},
      .block = SMALL_THREADS,
      .argument_bytes = sizeof arguments};
  list_add(list, "combine", &launch, &(union launch_arguments){.combine = arguments});
}

// x is changed last, because what comes before reads it again.
void launch_experts(struct launch_list *list) {
  const bool shared = list->plan->product[PRODUCT_SHARED_DOWN].rows > 0;
  launch_product(list, PRODUCT_ROUTER);
  route(list);
  if (shared)
    launch_product(list, PRODUCT_SHARED_GATE_UP);
  launch_product(list, PRODUCT_EXPERT_GATE_UP);
  launch_product(list, PRODUCT_EXPERT_DOWN);
  combine(list);
  if (shared)
    launch_product(list, PRODUCT_SHARED_DOWN);
}
