#include "kernels/gpu/launches/operands.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

static const struct operands operands_table[PRODUCTS] = {
    [PRODUCT_QKV] = {"qkv", "norm", "store", REGION_QKV, NO_REGION, REGION_X, REGION_ATTENTION_NORM,
                     REGION_QKV_OUT, REGION_ATTENTION_NORM_BIAS, REGION_QKV_BIAS, NO_REGION},
    [PRODUCT_Q_B] = {"q_b", "norm", "store", REGION_Q_B, NO_REGION, REGION_QKV_OUT, REGION_Q_A_NORM,
                     REGION_QUERIES, NO_REGION, NO_REGION, NO_REGION},
    [PRODUCT_K_B] = {"k_b", "round", "store", REGION_K_B, NO_REGION, REGION_QUERIES, NO_REGION,
                     REGION_ABSORBED, NO_REGION, NO_REGION, NO_REGION},
    [PRODUCT_V_B] = {"v_b", "round", "store", REGION_V_B, NO_REGION, REGION_LATENT_SUMS, NO_REGION,
                     REGION_ATTENDED, NO_REGION, NO_REGION, NO_REGION},
    [PRODUCT_WO] = {"wo", "round", "add", REGION_WO, NO_REGION, REGION_ATTENDED, NO_REGION,
                    REGION_X, NO_REGION, REGION_WO_BIAS, NO_REGION},
    [PRODUCT_GATE_UP] = {"gate and up", "norm", "swiglu", REGION_GATE, REGION_UP, REGION_X,
                         REGION_FFN_NORM, REGION_FFN_OUT, REGION_FFN_NORM_BIAS, REGION_GATE_BIAS,
                         REGION_UP_BIAS},
    [PRODUCT_DOWN] = {"down", "round", "add", REGION_DOWN, NO_REGION, REGION_FFN_OUT, NO_REGION,
                      REGION_X, NO_REGION, REGION_DOWN_BIAS, NO_REGION},
    [PRODUCT_ROUTER] = {"router", "norm", "store", REGION_ROUTER, NO_REGION, REGION_X,
                        REGION_FFN_NORM, REGION_ROUTED, NO_REGION, NO_REGION, NO_REGION},
    [PRODUCT_SHARED_GATE_UP] = {"shared gate and up", "norm", "swiglu", REGION_SHARED_GATE,
                                REGION_SHARED_UP, REGION_X, REGION_FFN_NORM, REGION_FFN_OUT,
                                NO_REGION, NO_REGION, NO_REGION},
    [PRODUCT_SHARED_DOWN] = {"shared down", "round", "add", REGION_SHARED_DOWN, NO_REGION,
                             REGION_FFN_OUT, NO_REGION, REGION_X, NO_REGION, NO_REGION, NO_REGION},
    [PRODUCT_EXPERT_GATE_UP] = {"experts gate and up", "norm", "swiglu", REGION_EXPERT_GATE,
                                REGION_EXPERT_UP, REGION_X, REGION_FFN_NORM, REGION_EXPERT_OUT,
                                NO_REGION, REGION_EXPERT_GATE_BIAS, REGION_EXPERT_UP_BIAS},
    [PRODUCT_EXPERT_DOWN] = {"experts down", "round", "store", REGION_EXPERT_DOWN, NO_REGION,
                             REGION_EXPERT_OUT, NO_REGION, REGION_EXPERT_SUMS, NO_REGION,
                             REGION_EXPERT_DOWN_BIAS, NO_REGION},
    [PRODUCT_HEAD] = {"head", "norm", "store", REGION_HEAD, NO_REGION, REGION_X, REGION_FINAL_NORM,
                      REGION_LOGITS, REGION_FINAL_NORM_BIAS, NO_REGION, NO_REGION},
};

// In an MLP without a gate, up takes its place; without q_b the queries come from wq.
struct operands operands_of(const struct plan *plan, enum product_name name) {
  struct operands operands = operands_table[name];
  if (name == PRODUCT_GATE_UP && !plan->product[name].gated) {
    operands.stage = "up";
    operands.weights = operands.second;
    operands.bias = operands.second_bias;
  }
  if (name == PRODUCT_K_B && plan->product[PRODUCT_Q_B].rows == 0)
    operands.input = REGION_QKV_OUT;
  return operands;
}

// Whether the residual stream is left out of the result. It enters the sum over the ranks once,
// with the first rank's part; in a mixture of experts, the others' parts begin with what combine
// makes.
static bool is_part(const struct plan *plan, enum product_name name) {
  return plan->rank > 0 && (name == PRODUCT_WO || name == PRODUCT_DOWN);
}

static bool adds(const struct plan *plan, enum product_name name) {
  return plan->rank == 0 && operands_table[name].output == REGION_X;
}

// Whether the rank adds biases: in sums over ranks, the first one alone does.
static bool has_bias(const struct plan *plan, enum product_name name) {
  return plan->rank == 0 ||
         (name != PRODUCT_WO && name != PRODUCT_DOWN && name != PRODUCT_EXPERT_DOWN);
}

const char *operands_epilogue(const struct plan *plan, enum product_name name, const char *part) {
  const struct plan_product *product = &plan->product[name];
  if (product->family)
    return product->gated ? "gated" : "biased";
  return is_part(plan, name) ? part : operands_table[name].epilogue;
}

const char *operands_kind(const struct plan_product *product) {
  return product->routed ? "expert_" : product->by_head ? "heads_" : "";
}

// The product that an MLP's first is followed by; PRODUCTS for none.
static enum product_name down_of(enum product_name name) {
  switch (name) {
  case PRODUCT_GATE_UP: return PRODUCT_DOWN;
  case PRODUCT_SHARED_GATE_UP: return PRODUCT_SHARED_DOWN;
  case PRODUCT_EXPERT_GATE_UP: return PRODUCT_EXPERT_DOWN;
  default: return PRODUCTS;
  }
}

int operands_input_stride(const struct plan *plan, enum product_name name) {
  const struct plan_product *products = plan->product;
  const bool low = products[PRODUCT_Q_B].rows > 0;
  if (name == PRODUCT_Q_B || (name == PRODUCT_K_B && !low))
    return products[PRODUCT_QKV].rows;
  if (name == PRODUCT_K_B)
    return products[PRODUCT_Q_B].rows;
  return products[name].columns * (products[name].by_head ? products[name].copies : 1);
}

int operands_input_step(const struct plan *plan, enum product_name name) {
  if (!plan->product[name].by_head)
    return 0;
  return name == PRODUCT_K_B ? plan->request.shape.head_dim : plan->product[name].columns;
}

struct product_arguments operands_arguments(const struct launch_list *list,
                                            enum product_name name) {
  const struct plan_product *product = &list->plan->product[name];
  const struct operands operands = operands_of(list->plan, name);
  const bool part = is_part(list->plan, name);
  const enum product_name down = down_of(name);
  return (struct product_arguments){
      .weights = list_at(list, operands.weights),
      .second = product->gated ? list_at(list, operands.second) : NULL,
      .scales = list_scales_at(list, operands.weights),
      .second_scales = product->gated ? list_scales_at(list, operands.second) : NULL,
      .rows = product->rows,
      .columns = product->columns,
      .stride = product->stride,
      .batch = list->plan->request.batch,
      .splits = 1,
      .output = list_shared_at(list, operands.output),
      .output_stride = product->by_head ? product->rows * product->copies : product->rows,
      .without_residual = part || (product->family && !adds(list->plan, name)),
      .bias = has_bias(list->plan, name) ? list_vector_at(list, operands.bias) : NULL,
      .second_bias = product->gated ? list_vector_at(list, operands.second_bias) : NULL,
      .input_stride = operands_input_stride(list->plan, name),
      .mlp = down < PRODUCTS ? (int)list->plan->request.shape.mlp : MLP_SWIGLU,
      .passed = down < PRODUCTS ? (int)gpu_plan_passed(list->plan, down) : PASSED_FLOAT,
      .rounded = gpu_plan_passed(list->plan, name) != PASSED_FLOAT,
  };
}

void operands_add(struct launch_list *list, enum product_name name, struct gpu_launch *launch,
                  const struct product_arguments *product) {
  union launch_arguments arguments = {.product = *product};
  const struct plan_product *of = &list->plan->product[name];
  if (of->routed) {
    const struct expert_run all = {.items = list->plan->experts.items};
    const struct expert_run *run = list->run ? list->run : &all;
    arguments.expert =
        (struct expert_arguments){*product, list_items(list) + run->item, list_item_count(list)};
    launch->argument_bytes = sizeof arguments.expert;
    launch->grid[2] = (unsigned)run->items;
  }
  if (of->by_head) {
    const size_t row = (size_t)of->activation_stride * gpu_element_bytes(of->activations);
    arguments.heads = (struct heads_arguments){*product, operands_input_step(list->plan, name),
                                               of->rows, (uint64_t)list->plan->batch_padded * row};
    launch->argument_bytes = sizeof arguments.heads;
    launch->grid[2] = (unsigned)of->copies;
  }
  list_add(list, operands_of(list->plan, name).stage, launch, &arguments);
}
