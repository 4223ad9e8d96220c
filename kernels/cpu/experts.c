#include "kernels/cpu/experts.h"

#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/mlp.h"
#include "kernels/cpu/multiply.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/prompt_product.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/worker.h"
#include "kernels/decode.h"
#include "kernels/routing.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// A row and an expert that it chose. Pairs are numbered expert by expert, so that the results of
// one expert's rows are contiguous.
struct pair {
  size_t row;
  float weight;
};

// Each thread counts the groups for itself: that is faster than a barrier.
struct groups {
  size_t *start; // [experts + 1], the first pair of each expert
  struct pair *pairs;
  float *scales; // of the rows gathered for one expert
  int32_t *sums;
};

static struct groups groups_of(const struct worker *worker) {
  const struct plan *plan = worker->plan;
  uint8_t *at =
      (uint8_t *)worker->state->block[BLOCK_GROUPS] + (size_t)worker->thread * plan->groups_stride;
  struct groups groups = {.pairs = (struct pair *)(void *)at};
  groups.start = (size_t *)(void *)(groups.pairs + plan->pairs);
  groups.scales = (float *)(void *)(groups.start + plan->experts + 1);
  groups.sums = (int32_t *)(void *)(groups.scales + plan->vectors);
  return groups;
}

static float sigmoid(float x) {
  return 1 / (1 + expf(-x));
}

// A group's score: the sum of its two best experts.
static float best_two(const float *scores, size_t count) {
  float first = -INFINITY, second = -INFINITY;
  for (size_t i = 0; i < count; i++)
    if (scores[i] > first) {
      second = first;
      first = scores[i];
    } else if (scores[i] > second) {
      second = scores[i];
    }
  return count > 1 ? first + second : first;
}

// Keeps only the groups that may be chosen from: a group stays if fewer than that many are better.
static void keep_groups(const struct decode_experts *experts, float *scores) {
  const size_t groups = (size_t)experts->groups, size = (size_t)experts->count / groups;
  float sums[MAX_DECODE_EXPERTS];
  for (size_t g = 0; g < groups; g++)
    sums[g] = best_two(scores + g * size, size);
  for (size_t g = 0; g < groups; g++) {
    size_t better = 0;
    for (size_t other = 0; other < groups; other++)
      better += sums[other] > sums[g] || (other < g && sums[other] == sums[g]);
    for (size_t i = 0; better >= (size_t)experts->kept_groups && i < size; i++)
      scores[g * size + i] = -INFINITY;
  }
}

// Takes the largest scores, equal ones in order of index, and sets them to -infinity.
static void take_largest(float *scores, size_t count, size_t chosen, int *out) {
  for (size_t k = 0; k < chosen; k++) {
    size_t best = 0;
    for (size_t i = 1; i < count; i++)
      if (scores[i] > scores[best])
        best = i;
    out[k] = (int)best;
    scores[best] = -INFINITY;
  }
}

// scores: what the row's choice is based on, computed from the router's r.
static void choose(const struct worker *worker, size_t layer, const float *routed, float *scores,
                   int *out) {
  const struct plan *plan = worker->plan;
  const struct decode_experts *experts = &plan->request.shape.experts;
  const float *bias = layer_vector(worker->state, VECTOR_CHOICE_BIAS, layer);
  for (size_t i = 0; i < plan->experts; i++) {
    scores[i] = experts->router == ROUTER_SIGMOID ? sigmoid(routed[i]) : routed[i];
    scores[i] += bias ? bias[i] : 0;
  }
  if (experts->router == ROUTER_SIGMOID && experts->groups > 0)
    keep_groups(experts, scores);
  take_largest(scores, plan->experts, plan->chosen, out);
}

// A prompt's position uses the choice of the step with its number.
static void look_up(const struct worker *worker, size_t layer, size_t vector, int *out) {
  const struct plan *plan = worker->plan;
  const struct decode_state *state = worker->state;
  const bool prompt = vector < state->pass.prompt_count;
  const size_t step = (prompt ? pass_position(state, vector) : state->steps) % ROUTING_STEPS;
  const size_t row = pass_row(&state->pass, vector);
  const uint16_t *table = (const uint16_t *)state->block[BLOCK_ROUTING] +
                          ((step * plan->layers + layer) * plan->batch + row) * plan->chosen;
  for (size_t k = 0; k < plan->chosen; k++)
    out[k] = table[k];
}

// Largest r first; equal ones keep their order.
static void sort_by(const float *routed, int *chosen, size_t count) {
  for (size_t i = 1; i < count; i++)
    for (size_t k = i; k > 0 && routed[chosen[k]] > routed[chosen[k - 1]]; k--) {
      int other = chosen[k];
      chosen[k] = chosen[k - 1];
      chosen[k - 1] = other;
    }
}

static void weigh(const struct plan *plan, const float *routed, const int *chosen, float *weights) {
  const struct decode_experts *experts = &plan->request.shape.experts;
  const bool all = experts->router == ROUTER_SOFTMAX_ALL;
  const float scale = experts->router == ROUTER_SIGMOID && experts->scale != 0 ? experts->scale : 1;
  float most = -INFINITY, sum = 0;
  for (size_t i = 0; i < plan->experts; i++)
    most = fmaxf(most, routed[i]);
  for (size_t i = 0; all && i < plan->experts; i++)
    sum += expf(routed[i] - most);
  for (size_t k = 0; k < plan->chosen; k++) {
    const float r = routed[chosen[k]];
    weights[k] = experts->router == ROUTER_SIGMOID ? sigmoid(r) : expf(r - most);
    sum += all ? 0 : weights[k];
  }
  for (size_t k = 0; k < plan->chosen; k++)
    weights[k] *= scale / sum;
}

static void choose_rows(const struct worker *worker, size_t layer) {
  const struct plan *plan = worker->plan;
  for (size_t b = (size_t)worker->thread; b < worker->vectors; b += (size_t)plan->threads) {
    const float *routed = block_floats(worker->state, BLOCK_ROUTED) + b * plan->routed_stride;
    int *chosen = chosen_experts(worker->state, layer, b);
    if (plan->request.routing == ROUTING_MODEL)
      choose(worker, layer, routed, worker->row, chosen);
    else
      look_up(worker, layer, b, chosen);
    sort_by(routed, chosen, plan->chosen);
    weigh(plan, routed, chosen,
          block_floats(worker->state, BLOCK_CHOSEN_WEIGHTS) + b * plan->chosen);
  }
}

static void group_pairs(const struct worker *worker, size_t layer, struct groups *groups) {
  const struct plan *plan = worker->plan;
  const int *chosen = chosen_experts(worker->state, layer, 0);
  const float *weights = block_floats(worker->state, BLOCK_CHOSEN_WEIGHTS);
  const size_t pairs = worker->vectors * plan->chosen;
  memset(groups->start, 0, (plan->experts + 1) * sizeof *groups->start);
  for (size_t i = 0; i < pairs; i++)
    groups->start[chosen[i] + 1]++;
  for (size_t e = 0; e < plan->experts; e++)
    groups->start[e + 1] += groups->start[e];
  for (size_t i = 0; i < pairs; i++) // a group's start has advanced to the next group's
    groups->pairs[groups->start[chosen[i]]++] = (struct pair){i / plan->chosen, weights[i]};
  for (size_t e = plan->experts; e > 0; e--)
    groups->start[e] = groups->start[e - 1];
  groups->start[0] = 0;
}

static size_t group_size(const struct groups *groups, size_t expert) {
  return groups->start[expert + 1] - groups->start[expert];
}

// The next expert from `expert` on that any row chose, or `experts` if there is none.
static size_t next_touched(const struct plan *plan, const struct groups *groups, size_t expert) {
  while (expert < plan->experts && group_size(groups, expert) == 0)
    expert++;
  return expert;
}

// Counted for whole steps only.
static void count_touched(const struct worker *worker, const struct groups *groups) {
  const bool counts = worker->thread == 0 && worker->state->pass.prompt_count == 0;
  for (size_t e = 0; counts && e < worker->plan->experts; e++)
    worker->state->touched.experts += group_size(groups, e) > 0;
}

// The input m of an expert's rows: in place for a single row or for all of them, otherwise a copy.
static struct operand gather(const struct worker *worker, const struct groups *groups,
                             size_t expert) {
  const struct pair *pairs = groups->pairs + groups->start[expert];
  const size_t count = group_size(groups, expert);
  if (count == 1 || count == worker->vectors)
    return cpu_operand(worker, INPUT_MLP, pairs->row, count);
  struct operand gathered = cpu_operand(worker, INPUT_MLP, 0, count);
  for (size_t i = 0; i < count; i++) {
    const struct operand row = cpu_operand(worker, INPUT_MLP, pairs[i].row, 1);
    memcpy(worker->gathered + i * row.stride, row.vectors, row.stride);
    groups->scales[i] = *row.scales;
    groups->sums[i] = *row.sums;
  }
  gathered.vectors = worker->gathered;
  gathered.scales = groups->scales;
  gathered.sums = groups->sums;
  return gathered;
}

// An expert's vectors for the library: next to each other, and padded with zeros.
static struct operand gather_for_library(const struct worker *worker, const struct groups *groups,
                                         enum matrix_name name, size_t expert) {
  const struct matrix *matrix = &worker->plan->matrix[name];
  const size_t first = groups->start[expert], count = group_size(groups, expert);
  const size_t padded = cpu_prompt_product_padded(worker->state, count);
  const size_t bytes = matrix->padded * sizeof(uint16_t);
  for (size_t i = 0; i < count; i++) {
    const size_t at = name == MATRIX_EXPERT_DOWN ? first + i : groups->pairs[first + i].row;
    const struct operand vector = cpu_operand(worker, matrix->source, at, 1);
    memcpy(worker->gathered + i * bytes, vector.vectors, bytes);
    groups->scales[i] = *vector.scales;
  }
  memset(worker->gathered + count * bytes, 0, (padded - count) * bytes);
  memset(groups->scales + count, 0, (padded - count) * sizeof *groups->scales);
  return (struct operand){
      .vectors = worker->gathered, .stride = bytes, .count = count, .scales = groups->scales};
}

static struct operand input_of(const struct worker *worker, const struct groups *groups,
                               enum matrix_name name, size_t expert) {
  const size_t count = group_size(groups, expert);
  if (cpu_prompt_product_takes(worker->state, name, count))
    return gather_for_library(worker, groups, name, expert);
  return name == MATRIX_EXPERT_DOWN ? cpu_operand(worker, INPUT_PAIRS, groups->start[expert], count)
                                    : gather(worker, groups, expert);
}

static void use_gate_up(const struct worker *worker, const struct run *run, size_t panel,
                        size_t count) {
  const struct plan *plan = worker->plan;
  const size_t grain = plan->matrix[run->name].grain;
  float *out = block_floats(worker->state, BLOCK_PAIRS_GATED) +
               run->first_pair * plan->pair_stride + panel / grain * PANEL_ROWS;
  for (size_t i = 0; i < run->in.count; i++)
    worker->elementwise->activate[plan->request.shape.mlp](
        run->results + i * run->result_stride, count / grain, out + i * plan->pair_stride);
}

static void use_down(const struct worker *worker, const struct run *run, size_t panel,
                     size_t count) {
  const struct pair *pairs = (const struct pair *)run->pairs + run->first_pair;
  float *x = block_floats(worker->state, BLOCK_X) + panel * PANEL_ROWS;
  for (size_t i = 0; i < run->in.count; i++)
    worker->elementwise->add_scaled(x + pairs[i].row * worker->plan->x_stride, pairs[i].weight,
                                    run->results + i * run->result_stride, count * PANEL_ROWS);
}

// All chosen experts, one after the other; the beginning of the next is prefetched.
static void multiply_experts(const struct worker *worker, enum matrix_name name, size_t layer,
                             const struct groups *groups) {
  const struct plan *plan = worker->plan;
  size_t next;
  for (size_t e = next_touched(plan, groups, 0); e < plan->experts; e = next) {
    next = next_touched(plan, groups, e + 1);
    if (next < plan->experts)
      cpu_prefetch_start(worker, name, layer, next);
    cpu_multiply(worker, &(struct run){
                             .name = name,
                             .layer = layer,
                             .copy = e,
                             .in = input_of(worker, groups, name, e),
                             .use = name == MATRIX_EXPERT_DOWN ? use_down : use_gate_up,
                             .first_pair = groups->start[e],
                             .pairs = groups->pairs,
                         });
  }
}

static void round_pairs(const struct worker *worker) {
  const struct plan *plan = worker->plan;
  const float *gated = block_floats(worker->state, BLOCK_PAIRS_GATED);
  for (size_t p = (size_t)worker->thread; p < worker->vectors * plan->chosen;
       p += (size_t)plan->threads)
    cpu_store_input(worker, MATRIX_EXPERT_DOWN, p, gated + p * plan->pair_stride);
}

static void use_routed(const struct worker *worker, const struct run *run, size_t panel,
                       size_t count) {
  const struct plan *plan = worker->plan;
  float *out = block_floats(worker->state, BLOCK_ROUTED) + panel * PANEL_ROWS;
  for (size_t b = 0; b < run->in.count; b++)
    memcpy(out + b * plan->routed_stride, run->results + b * run->result_stride,
           count * PANEL_ROWS * sizeof *out);
}

void cpu_experts(const struct worker *worker, size_t layer) {
  const struct plan *plan = worker->plan;
  const bool shared = plan->matrix[MATRIX_SHARED_DOWN].copies > 0;
  struct groups groups = groups_of(worker);
  cpu_multiply(worker, &(struct run){.name = MATRIX_ROUTER,
                                     .layer = layer,
                                     .in = cpu_operand(worker, INPUT_ROUTER, 0, worker->vectors),
                                     .use = use_routed});
  if (shared)
    cpu_mlp_gate_up(worker, MATRIX_SHARED_GATE_UP, layer);
  worker_wait(worker);
  choose_rows(worker, layer);
  if (shared)
    cpu_mlp_round(worker, MATRIX_SHARED_DOWN);
  worker_wait(worker);
  group_pairs(worker, layer, &groups);
  count_touched(worker, &groups);
  multiply_experts(worker, MATRIX_EXPERT_GATE_UP, layer, &groups);
  cpu_prefetch_start(worker, MATRIX_EXPERT_DOWN, layer, next_touched(plan, &groups, 0));
  worker_wait(worker);
  round_pairs(worker);
  worker_wait(worker);
  if (shared)
    cpu_mlp_down(worker, MATRIX_SHARED_DOWN, layer);
  multiply_experts(worker, MATRIX_EXPERT_DOWN, layer, &groups);
}
