#include "model/simulate/part_numbers.h"

#include "base/source.h"
#include "model/chance/exact_sum.h"
#include "model/chance/quantile_sketch.h"

#include <stdlib.h>
#include <string.h>

// Visits the numbers of a part in one fixed order, to copy them out or in.
struct walk {
  uint64_t *sums;
  size_t at;
  bool in; // into the part
};

static void walk_one(struct walk *walk, uint64_t *number) {
  if (walk->sums && walk->in)
    *number = walk->sums[walk->at];
  else if (walk->sums)
    walk->sums[walk->at] = *number;
  walk->at++;
}

static void walk_sum(struct walk *walk, struct exact_sum *sum) {
  exact_sum_normalise(sum);
  for (int i = 0; i < EXACT_LIMBS; i++) {
    uint64_t limb = (uint64_t)sum->limbs[i];
    walk_one(walk, &limb);
    sum->limbs[i] = (int64_t)limb;
  }
}

static void walk_count(struct walk *walk, uint32_t *count) {
  uint64_t number = *count;
  walk_one(walk, &number);
  if (walk->in)
    *count = (uint32_t)number;
}

static void walk_flag(struct walk *walk, bool *flag) {
  uint64_t number = *flag;
  walk_one(walk, &number);
  *flag = number != 0;
}

static void walk_tally(struct walk *walk, struct tally *tally,
                       const struct simulation_frame *frame) {
  walk_one(walk, &tally->done);
  walk_one(walk, &tally->influence_done);
  for (unsigned r = 0; r < frame->replicates; r++) {
    walk_one(walk, &tally->replicate_done[r]);
    walk_sum(walk, &tally->replicate_sums[r]);
  }
  walk_sum(walk, &tally->squares);
  walk_sum(walk, &tally->influence_sum);
  walk_sum(walk, &tally->influence_squares);
  for (size_t g = 0; g < frame->group_count; g++) {
    walk_sum(walk, &tally->first[g]);
    walk_sum(walk, &tally->total[g]);
  }
}

static void walk_part(struct walk *walk, struct simulation_part *part) {
  const struct simulation_frame *frame = &part->frame;
  walk_flag(walk, &part->stopped);
  for (unsigned s = 0; s < frame->shards; s++)
    walk_flag(walk, &part->shards[s]);
  walk_one(walk, &part->verdicts.decided);
  for (size_t i = 0; i < frame->option_count; i++) {
    walk_one(walk, &part->verdicts.ranked[i]);
    walk_one(walk, &part->verdicts.cheapest[i]);
    walk_one(walk, &part->verdicts.unsaved[i]);
  }
  for (size_t o = 0; o < frame->outcome_count; o++) {
    walk_tally(walk, &part->tallies[o], frame);
    for (size_t b = 0; b < sketch_bins(&frame->shapes[o]); b++)
      walk_count(walk, &part->counts[o][b]);
  }
}

// Values that must be the same in all parts: one double each.
enum { GUARDS_PER_OUTCOME = 4, GUARDS = 3 };

static void fill_guards(const struct simulation_frame *frame, double *guards) {
  enum { HEX_DIGITS = 12 }; // 48 bits of the digest, exact in a double
  char start[HEX_DIGITS + 1] = {0};
  strncpy(start, frame->digest, HEX_DIGITS);
  *guards++ = (double)strtoull(start, NULL, 16);
  *guards++ = (double)frame->draws;
  *guards++ = (double)frame->seed;
  for (size_t o = 0; o < frame->outcome_count; o++) {
    *guards++ = frame->shapes[o].centre;
    *guards++ = frame->shapes[o].half_width;
    *guards++ = frame->shapes[o].equal_bins;
    *guards++ = (double)frame->shapes[o].atom_count;
  }
}

struct simulation_numbers simulation_part_numbers(const struct simulation_part *part,
                                                  struct arena *arena) {
  const struct simulation_frame *frame = &part->frame;
  const size_t outcomes = frame->outcome_count;
  struct simulation_part copy = *part; // its values do not change
  struct walk walk = {NULL, 0, false};
  walk_part(&walk, &copy);
  struct simulation_numbers numbers = {
      .sum_count = walk.at, .end_count = outcomes + GUARDS + GUARDS_PER_OUTCOME * outcomes};
  numbers.sums = arena_array(arena, numbers.sum_count, sizeof *numbers.sums);
  numbers.lows = arena_array(arena, numbers.end_count, sizeof *numbers.lows);
  numbers.highs = arena_array(arena, numbers.end_count, sizeof *numbers.highs);
  walk = (struct walk){numbers.sums, 0, false};
  walk_part(&walk, &copy);
  for (size_t o = 0; o < outcomes; o++) {
    numbers.lows[o] = part->tallies[o].lowest;
    numbers.highs[o] = part->tallies[o].highest;
  }
  fill_guards(frame, numbers.lows + outcomes);
  fill_guards(frame, numbers.highs + outcomes);
  return numbers;
}

int simulation_part_set(struct simulation_part *part, const struct simulation_numbers *numbers,
                        struct diagnostics *diagnostics) {
  const size_t outcomes = part->frame.outcome_count;
  if (memcmp(numbers->lows + outcomes, numbers->highs + outcomes,
             (numbers->end_count - outcomes) * sizeof(double)) != 0) {
    diagnostics_error(diagnostics, nowhere,
                      "the processes do not simulate the same scenario in the same way");
    return -1;
  }
  struct walk walk = {numbers->sums, 0, true};
  walk_part(&walk, part);
  for (size_t o = 0; o < outcomes; o++) {
    part->tallies[o].lowest = numbers->lows[o];
    part->tallies[o].highest = numbers->highs[o];
  }
  return 0;
}
