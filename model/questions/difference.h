// difference: two scenarios compared, and the effect of each differing input by itself.
//
// Both are read with the same cost model, and the user's own line items come after it: an input of
// such an item may have another number in the second scenario. Input numbers here are those of the
// first one. Every figure comes from the engine: a what-if is the first scenario's option,
// evaluated again with inputs of the second.
#ifndef PERTOKEN_MODEL_QUESTIONS_DIFFERENCE_H
#define PERTOKEN_MODEL_QUESTIONS_DIFFERENCE_H

#include "base/arena.h"
#include "model/evidence/workload.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// An option that both scenarios have.
struct pair {
  const struct option *a, *b;
};

// An input in one of the two scenarios, if it has it.
struct side {
  const struct scenario *scenario;
  const struct option *option;
  int input; // its number there
};

// One input that differs in some options, or all inputs that belong together, none of which would
// mean anything alone: a list with its years and scale, a discount with its volume tiers, an amount
// with that in USD, and whatever changes with whether an option is bought or rented.
struct change {
  int input; // the one input, or that of which the others are parts; -1 for "bought or rented"
  const int *inputs; // [input_count]
  size_t input_count;
  const bool *differs; // [pair_count] in value or grade
  const bool *matters; // [pair_count] in value
};

struct difference {
  const struct scenario *a, *b;
  const int *in_b; // [a->model->count] an input's number in b; -1: missing, or not the same
  struct pair *pairs;
  size_t pair_count;
  const char **only_a, **only_b; // ids of options that only one has
  size_t only_a_count, only_b_count;
  const char **items; // own line items, or period_length, that differ or exist in one only
  size_t item_count;
  struct change *changes;
  size_t change_count;
};

struct difference *difference_of(const struct scenario *a, const struct scenario *b,
                                 struct arena *arena);

// Whether the two agree in options, inputs (values and grades), workloads and line items.
bool difference_is_empty(const struct difference *difference);

// Whether any input, result or part of the workload of the pair differs.
bool difference_in_pair(const struct difference *difference, size_t pair);

// An input of a pair in the first scenario, or the second.
struct side difference_side(const struct difference *difference, size_t pair, int input,
                            bool second);

// Whether the input was stated for the option: a default was not, nor what a rented option does not
// pay for.
bool difference_is_stated(struct side side);

// Whether the input's value differs in the pair; whether its grade does, if both have one.
bool difference_in_value(const struct difference *difference, size_t pair, int input);
bool difference_in_grade(const struct difference *difference, size_t pair, int input);

// Whether the pair's workloads differ in a key: both have it, or one states it and the other lacks
// it.
bool difference_in_workload(const struct difference *difference, size_t pair,
                            enum workload_key key);

// The reason why the pair's throughputs, and so the costs of their tokens, cannot be compared, in
// the words of workload_difference; NULL for none.
const char *difference_unlike(const struct difference *difference, size_t pair,
                              struct arena *arena);

// Whether more than one thing differs in the pair, so that their separate effects are worth
// showing.
bool difference_has_parts(const struct difference *difference, size_t pair);

// Computes cost_per_mtok (base units) of the first scenario's option with the inputs of these
// changes taken from the second. Returns false if such an option cannot be computed.
bool difference_cost(const struct difference *difference, size_t pair, const struct change *changes,
                     size_t count, struct arena *arena, double *cost);

#endif
