// merged: workloads that no option tells apart, as one workload with the sum of their demands, and
// a split of that as splits of each.
//
// Workloads that may be split and have the same figures on every option are one to the program: its
// rows contain only sums of what an option serves of them. Thousands of users of one model are then
// a few columns.
#ifndef PERTOKEN_MODEL_OPTIMISE_MERGED_H
#define PERTOKEN_MODEL_OPTIMISE_MERGED_H

#include "base/arena.h"
#include "model/optimise/allocation_problem.h"

#include <stddef.h>

struct merged {
  struct allocation_problem problem;
  const size_t *group; // [workload_count of the whole problem] the workload that it is part of
};

struct merged merged_of(const struct allocation_problem *problem, struct arena *arena);

// The split of the whole problem: the workloads of a group fill up the options in order, so that
// few of them are on more than one.
struct allocation merged_apart(const struct merged *merged,
                               const struct allocation_problem *problem,
                               const struct allocation *together, struct arena *arena);

#endif
