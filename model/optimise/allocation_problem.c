#include "model/optimise/allocation_problem.h"

const struct allocation_pair *allocation_pair_of(const struct allocation_problem *problem, size_t w,
                                                 size_t o) {
  return &problem->pairs[w * problem->option_count + o];
}

double allocation_nodes_of_all(const struct allocation_problem *problem, size_t w, size_t o) {
  const struct allocation_pair *pair = allocation_pair_of(problem, w, o);
  return pair->capacity > 0 ? problem->workloads[w].demand / pair->capacity : 0;
}

size_t allocation_first_of_span(const struct allocation_problem *problem, size_t w, size_t o) {
  size_t first = 0;
  while (allocation_pair_of(problem, first, o)->span != allocation_pair_of(problem, w, o)->span)
    first++;
  return first;
}

struct allocation allocation_new(const struct allocation_problem *problem, struct arena *arena) {
  const size_t pairs = problem->workload_count * problem->option_count;
  return (struct allocation){.status = ALLOCATION_FAILED,
                             .nodes = arena_array(arena, problem->option_count + 1, sizeof(double)),
                             .shares = arena_array(arena, pairs + 1, sizeof(double))};
}

bool allocation_is_split(const struct allocation *allocation) {
  return allocation->status == ALLOCATION_OPTIMAL || allocation->status == ALLOCATION_UNPROVEN;
}
