// part_numbers: a part of a simulation as plain numbers, for processes that add them up.
#ifndef PERTOKEN_MODEL_SIMULATE_PART_NUMBERS_H
#define PERTOKEN_MODEL_SIMULATE_PART_NUMBERS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/simulate/part.h"

#include <stddef.h>
#include <stdint.h>

// Numbers that processes can combine without knowing their meaning: integers to be added modulo
// 2^64, and doubles of which the minimum and the maximum count.
struct simulation_numbers {
  uint64_t *sums;       // [sum_count]
  double *lows, *highs; // [end_count]
  size_t sum_count, end_count;
};

// The numbers of a part, in the arena. All parts of one run have the same number of them.
struct simulation_numbers simulation_part_numbers(const struct simulation_part *part,
                                                  struct arena *arena);

// Sets a part to the combination of all parts. Returns -1, with an error, if they were not all of
// the same run.
int simulation_part_set(struct simulation_part *part, const struct simulation_numbers *numbers,
                        struct diagnostics *diagnostics);

#endif
