#include "model/optimise/merged.h"

#include "base/arena.h"
#include "base/statistics.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A workload on every option, to be sorted.
struct line {
  const struct allocation_pair *pairs; // [option_count]
  size_t option_count, workload;
  bool whole;
};

static int by_figures(const struct line *a, const struct line *b) {
  int order = a->whole - b->whole;
  for (size_t o = 0; o < a->option_count && !order; o++) {
    const struct allocation_pair *x = &a->pairs[o], *y = &b->pairs[o];
    order = number_order(x->capacity, y->capacity);
    order = order ? order : number_order(x->extra_cost, y->extra_cost);
    order = order ? order : number_order(x->extra_capex, y->extra_capex);
    order = order ? order : x->span - y->span;
  }
  return order;
}

static int by_figures_and_place(const void *a, const void *b) {
  const struct line *x = a, *y = b;
  const int order = by_figures(x, y);
  return order ? order : (x->workload > y->workload) - (x->workload < y->workload);
}

// The first workload with the same figures as each one [workload_count]; the workload itself if it
// must be whole.
static size_t *find_firsts(const struct allocation_problem *problem, struct arena *arena) {
  const size_t count = problem->workload_count;
  struct line *lines = arena_array(arena, count, sizeof *lines);
  size_t *firsts = arena_array(arena, count, sizeof *firsts);
  for (size_t w = 0; w < count; w++)
    lines[w] = (struct line){&problem->pairs[w * problem->option_count], problem->option_count, w,
                             problem->workloads[w].whole};
  qsort(lines, count, sizeof *lines, by_figures_and_place);
  for (size_t i = 0; i < count; i++)
    firsts[lines[i].workload] = i && !lines[i].whole && !by_figures(&lines[i - 1], &lines[i])
                                    ? firsts[lines[i - 1].workload]
                                    : lines[i].workload;
  return firsts;
}

struct merged merged_of(const struct allocation_problem *problem, struct arena *arena) {
  const size_t count = problem->workload_count, options = problem->option_count;
  const size_t *firsts = find_firsts(problem, arena);
  struct allocation_workload *workloads = arena_array(arena, count, sizeof *workloads);
  struct allocation_pair *pairs = arena_array(arena, count * options, sizeof *pairs);
  size_t *group = arena_array(arena, count, sizeof *group), groups = 0;
  for (size_t w = 0; w < count; w++) {
    group[w] = firsts[w] == w ? groups++ : group[firsts[w]];
    workloads[group[w]].whole = problem->workloads[w].whole;
    workloads[group[w]].demand += problem->workloads[w].demand;
    if (firsts[w] == w)
      memcpy(&pairs[group[w] * options], &problem->pairs[w * options], options * sizeof *pairs);
  }
  struct merged merged = {*problem, group};
  merged.problem.workloads = workloads;
  merged.problem.workload_count = groups;
  merged.problem.pairs = pairs;
  return merged;
}

// Takes a workload's demand from what is left of its group on each option; the last one gets what
// rounding leaves over.
static void take_shares(double *left, size_t option_count, double demand, double *shares) {
  static const double sliver = 1e-9; // of a demand
  double open = demand;
  size_t last = 0;
  for (size_t o = 0; o < option_count; o++) {
    const double taken = fmin(open, left[o]);
    if (taken <= sliver * demand)
      continue;
    shares[o] = taken / demand;
    left[o] -= taken;
    open -= taken;
    last = o;
  }
  shares[last] += open / demand;
}

struct allocation merged_apart(const struct merged *merged,
                               const struct allocation_problem *problem,
                               const struct allocation *together, struct arena *arena) {
  const size_t options = problem->option_count, groups = merged->problem.workload_count;
  struct allocation apart = allocation_new(problem, arena);
  double *left = arena_array(arena, groups * options, sizeof *left);
  apart.status = together->status;
  if (!allocation_is_split(together))
    return apart;
  memcpy(apart.nodes, together->nodes, options * sizeof *apart.nodes);
  for (size_t i = 0; i < groups * options; i++)
    left[i] = together->shares[i] * merged->problem.workloads[i / options].demand;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const size_t g = merged->group[w];
    const double demand = problem->workloads[w].demand;
    if (demand < merged->problem.workloads[g].demand)
      take_shares(&left[g * options], options, demand, &apart.shares[w * options]);
    else // alone
      memcpy(&apart.shares[w * options], &together->shares[g * options],
             options * sizeof *apart.shares);
  }
  return apart;
}
