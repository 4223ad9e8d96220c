#include "reports/plans/chance.h"

#include "base/arena.h"
#include "model/chance/draw.h"
#include "model/plan/fleet.h"
#include "model/plan/outcome.h"
#include "model/plan/uncertainty.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"
#include "reports/plans/calendar.h"
#include "reports/print/number.h"

#include <math.h>
#include <stddef.h>

static double accelerators_of(const struct plan_answer *answer, size_t o, double lots) {
  const struct fleet_option *option = &answer->problem->options[o];
  return lots * option->lot * option->accelerators;
}

// Draws say nothing if too few of them were solved.
static bool says_anything(const struct plan_chance *chance) {
  enum { FEWEST = 10 };
  return chance && chance->best.count >= FEWEST;
}

// The deadline for ordering what is bought first.
static const char *decide_by(const struct plan_answer *answer, size_t o, struct arena *arena) {
  return calendar_order_by(answer, o, answer->chance->first, arena);
}

static bool rents_any(const struct plan_answer *answer) {
  const struct fleet_problem *problem = answer->problem;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->options[problem->actions[a].option].rented && answer->result.fleet.lots[a] > 0)
      return true;
  return false;
}

static void write_commitments(struct answer *written, const struct plan_answer *answer) {
  const struct plan_chance *chance = answer->chance;
  struct answer_table *table = ANSWER_TABLE(
      written, "commitments", "What to commit to", {"option", "Option", NULL},
      {"planned", "Planned", "gpu"}, {"sure", "Commit to", "gpu"}, {"open", "Depends", "gpu"},
      {"decide_by", "Decide by", NULL}, {"enough", "Whole order needed in", "%"});
  for (size_t o = 0; o < answer->problem->option_count; o++)
    if (chance->lots[o] > 0)
      ANSWER_ROW(table, cell_option(&answer->scenario->options[o]),
                 cell_value(accelerators_of(answer, o, chance->lots[o])),
                 cell_value(accelerators_of(answer, o, chance->sure[o])),
                 cell_value(accelerators_of(answer, o, chance->lots[o] - chance->sure[o])),
                 cell_words(decide_by(answer, o, written->arena)), cell_value(chance->enough[o]));
  table->note = arena_printf(
      written->arena,
      "Planned: to buy for %s, the first period with purchases. Commit to: in 90 %% of the draws "
      "the best plan buys at least this many for it. Decide by: the last day to order, given the "
      "lead time.%s",
      calendar_begins(answer, chance->first, written->arena),
      rents_any(answer) ? " Rents are not judged: they follow each draw." : "");
}

static void write_spread(struct answer_table *table, const char *name,
                         const struct plan_spread *spread, size_t draws) {
  ANSWER_ROW(table, cell_words(name), cell_value(spread->mean), cell_value(spread->low),
             cell_value(spread->high), cell_value((double)spread->count / (double)draws));
}

static void write_spreads(struct answer *written, const struct plan_answer *answer) {
  const struct plan_chance *chance = answer->chance;
  struct answer_table *table =
      ANSWER_TABLE(written, "uncertainty", "Cost under uncertainty", {"choice", "Choice", NULL},
                   {"mean", "Mean", "USD"}, {"p10", "P10", "USD"}, {"p90", "P90", "USD"},
                   {"serves", "Serves in", "%"});
  write_spread(table, "the best, knowing each draw", &chance->best, chance->draws);
  write_spread(table, "first order as planned", &chance->first_order, chance->draws);
  write_spread(table, "its regret: more than the best", &chance->regret, chance->draws);
  if (isfinite(chance->rounding))
    ANSWER_ROW(table, cell_words("of which rounding to whole units"), cell_value(chance->rounding),
               cell_nothing(), cell_nothing(), cell_nothing());
  write_spread(table, "every order as planned", &chance->whole_plan, chance->draws);
  write_spread(table, "more than the best", &chance->excess, chance->draws);
  const struct draws_made draws = {chance->draws, chance->seed, DRAW_SOBOL};
  table->note = arena_printf(written->arena,
                             "%s of everything uncertain, each solved again in fractional "
                             "purchase units. Rounding: the regret of the base case, where nothing "
                             "is uncertain. Every order as planned: nothing is added where a draw "
                             "needs more, and means are over the draws that it serves.",
                             draws_words(&draws, written->arena));
  written->drawn = draws;
}

void plan_chance_write(struct answer *written, const struct plan_answer *answer) {
  const struct plan_chance *chance = answer->chance;
  if (chance && chance->draws < chance->asked)
    answer_warn(written,
                "%zu of %zu draws were solved in time: set a longer 'time' under [plan] for all%s",
                chance->draws, chance->asked,
                says_anything(chance) ? "" : "; these are too few to tell what to commit to");
  if (!says_anything(chance))
    return;
  write_commitments(written, answer);
  write_spreads(written, answer);
  if (chance->unserved)
    answer_warn(written, "in %zu of %zu draws no plan serves everything", chance->unserved,
                chance->draws);
}

// "176 H200", of each option; those that remain beyond `less`, with their deadlines: "8 H200 by
// 2027-01-01".
static const char *numbers_words(const struct plan_answer *answer, const double *lots,
                                 const double *less, struct arena *arena) {
  const char *text = "";
  for (size_t o = 0; o < answer->problem->option_count; o++) {
    const double number = accelerators_of(answer, o, lots[o] - (less ? less[o] : 0));
    const char *words = arena_printf(arena, "%s %s", number_fixed(number, 0, arena),
                                     answer->scenario->options[o].label);
    if (less)
      words = arena_printf(arena, "%s by %s", words, decide_by(answer, o, arena));
    if (number > 0)
      text = options_joined(answer->scenario, text, words, arena);
  }
  return text;
}

// What the draws say of the purchases for the first period with any.
static const char *purchases_words(const struct plan_answer *answer, struct arena *arena) {
  const struct plan_chance *chance = answer->chance;
  const char *sure = numbers_words(answer, chance->sure, NULL, arena);
  const char *rest = numbers_words(answer, chance->lots, chance->sure, arena);
  const char *from = calendar_begins(answer, chance->first, arena);
  const char *all = numbers_words(answer, chance->lots, NULL, arena);
  if (!*sure)
    return arena_printf(arena,
                        " Of what is bought for %s, %s, no part is needed in 90 %% of the draws.",
                        from, all);
  if (!*rest)
    return arena_printf(arena,
                        " Commit to what is bought for %s, %s: all of it is needed in at least "
                        "90 %% of the draws.",
                        from, all);
  return arena_printf(arena,
                      " For %s, commit to %s: they are needed in at least 90 %% of the draws. "
                      "Decide on the other %s: they depend on what is not known yet.",
                      from, sure, rest);
}

const char *plan_chance_words(const struct plan_answer *answer, struct arena *arena) {
  if (!says_anything(answer->chance))
    return "";
  return arena_printf(arena, "%s%s", purchases_words(answer, arena),
                      rents_any(answer) ? " Rents follow each draw, and are not judged." : "");
}
