#include "reports/answers/solve.h"

#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/solve_search.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/resolution/plausibility.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "model/whatif/price_terms.h"
#include "model/whatif/variation.h"
#include "reports/answers/compare_notes.h"
#include "reports/faces/parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 5, WHOLE_DIGITS = 12 };

// What the words about a solution are built from.
struct solving {
  const struct solve_answer *solved;
  const struct solve_spread *spread;
  const struct unit *unit, *cost_unit; // of the input
  const char *option;
  struct arena *arena;
};

// ---- words

static const char *input_text(const struct solving *solving, double value) {
  return quantity_words(value, solving->unit, SHOWN_DIGITS, solving->arena);
}

enum side { SIDE_BELOW = -1, SIDE_ABOVE = 1 };

// The end of a stretch of values: rounded into the stretch, which lies on that side of it, so that
// what is shown holds. A whole number is shown in full.
static const char *end_text(const struct solving *solving, double value, enum side side) {
  const double shown = number_in_unit(value, solving->unit), size = fabs(shown);
  if (solving->solved->integer || size == 0)
    return quantity_words(value, solving->unit, WHOLE_DIGITS, solving->arena);
  const double step = pow(10, floor(log10(size)) + 1 - SHOWN_DIGITS);
  const double nearest = round(shown / step), inside = (int)side * (nearest * step - shown);
  const double rounded = inside < -1e-9 * size ? nearest + (int)side : nearest;
  return quantity_words(rounded * step * unit_factor(solving->unit), solving->unit, SHOWN_DIGITS,
                        solving->arena);
}

static const char *cost_text(const struct solving *solving, double cost) {
  return quantity_words(cost, solving->cost_unit, SHOWN_DIGITS, solving->arena);
}

// "h200", "0.3 USD/Mtok"
static const char *reference_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  return solved->matches ? solved->scenario->options[solved->match].label
                         : cost_text(solving, solved->wanted_cost);
}

// "as much as h200", "5 % less than h200", "0.3 USD/Mtok"
static const char *wanted_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const char *than = reference_text(solving);
  if (solved->saving != 0)
    return arena_printf(solving->arena, "%s %s than %s",
                        percent_words(fabs(solved->saving), solving->arena),
                        solved->saving > 0 ? "less" : "more", than);
  return solved->matches ? arena_printf(solving->arena, "as much as %s", than) : than;
}

// "no more than h200", "at least 5 % less than h200", "at most 0.3 USD/Mtok"
static const char *at_most_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  if (solved->matches && solved->saving == 0)
    return arena_printf(solving->arena, "no more than %s", reference_text(solving));
  return arena_printf(solving->arena, "at %s %s", solved->saving > 0 ? "least" : "most",
                      wanted_text(solving));
}

// "3.1 % more than h200", or the cost itself beside what costs nothing.
static const char *against_text(const struct solving *solving, double cost, double other,
                                const char *what) {
  const double more = cost / other - 1;
  if (!isfinite(cost))
    return "no finite amount";
  if (cost == other || fabs(more) < 5e-8)
    return arena_printf(solving->arena, "as much as %s", what);
  if (!(other > 0))
    return cost_text(solving, cost);
  return arena_printf(solving->arena, "%s %s than %s", percent_words(fabs(more), solving->arena),
                      more > 0 ? "more" : "less", what);
}

// A cost compared with the reference itself: "x % of 80 % of another cost" would be unclear.
static const char *gap_text(const struct solving *solving, struct solve_costs costs) {
  return against_text(solving, costs.cost, costs.wanted / (1 - solving->solved->saving),
                      reference_text(solving));
}

// "now, at 22,000 USD/gpu, it costs 14.3 % less than h200", which it is to match. If that is an
// amount, "it costs 0.1498 USD/Mtok, 14.3 % less than h200", the baseline, unless that costs
// nothing; the baseline itself is compared with the amount.
static const char *now_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const struct scenario *scenario = solved->scenario;
  const struct option *baseline = &scenario->options[scenario->baseline];
  const struct solve_costs costs = solved->costs_base;
  const double other = option_value(scenario, baseline, solved->item, 0);
  const char *at = input_text(solving, solved->base);
  if (solved->matches)
    return arena_printf(solving->arena, "now, at %s, it costs %s", at, gap_text(solving, costs));
  const char *against = solved->option == scenario->baseline ? gap_text(solving, costs)
                        : other > 0 ? against_text(solving, costs.cost, other, baseline->label)
                                    : "";
  return arena_printf(solving->arena, "now, at %s, it costs %s%s%s", at,
                      cost_text(solving, costs.cost), *against ? ", " : "", against);
}

// The lower end of the search: if the input may not be 0, for example, the smallest value above it.
static const char *low_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const struct declaration *input = target_input(solved->scenario, solved->target);
  const struct limits limits = target_limits(solved->scenario, solved->target);
  if (input->has_min && input->min_exclusive && solved->low == limits.low)
    return arena_printf(solving->arena, "just above %s", input_text(solving, input->min));
  return input_text(solving, solved->low);
}

// Whether the input has no effect on a cost that is as wanted.
static bool holds_throughout(const struct solve_answer *solved) {
  return solved->flat && solve_gap(solved->costs_base) == 0;
}

static bool is_impossible(struct excess excess) {
  return excess.words && !excess.is_possible;
}

// What the value exceeds for an option that the input affects.
static struct excess excess_at(const struct solving *solving, double value) {
  const struct scenario *scenario = solving->solved->scenario;
  const struct target target = solving->solved->target;
  struct excess excess = {NULL, false};
  for (size_t o = 0; o < scenario->option_count && !is_impossible(excess); o++)
    if (target_moves(scenario, target, o)) {
      const struct excess own = plausibility_beyond(scenario, &scenario->options[o],
                                                    target.declaration, value, solving->arena);
      excess = own.words ? own : excess;
    }
  return excess;
}

// The lowest value is the easiest to reach.
static const char *excess_text(const struct solving *solving) {
  const struct excess excess = excess_at(solving, solving->solved->roots[0]);
  return excess.words ? arena_printf(solving->arena, "; that is %s%s",
                                     is_impossible(excess) ? "impossible, " : "", excess.words)
                      : "";
}

// "from b.accelerators = 3 gpu up to 30 gpu", "at every value of b.discount"; the input is named if
// the stretch is the first.
static const char *stretch_text(const struct solving *solving, struct solve_stretch stretch,
                                bool is_first) {
  struct arena *arena = solving->arena;
  const char *input = is_first ? arena_printf(arena, "%s = ", solving->solved->name) : "";
  const char *from = isfinite(stretch.from) ? end_text(solving, stretch.from, SIDE_ABOVE) : "";
  const char *to = isfinite(stretch.to) ? end_text(solving, stretch.to, SIDE_BELOW) : "";
  if (!*from && !*to)
    return arena_printf(arena, "at every value of %s", solving->solved->name);
  if (stretch.from == stretch.to)
    return arena_printf(arena, "at %s%s", input,
                        solving->solved->integer ? from : input_text(solving, stretch.from));
  if (!*from)
    return arena_printf(arena, "up to %s%s", input, to);
  return arena_printf(arena, "from %s%s%s%s", input, from, *to ? " up to " : "", to);
}

static const char *between(size_t i, size_t count, bool more) {
  return i == 0 ? "" : i + 1 == count && !more ? " and " : ", ";
}

// The values for which it holds: "no more than h200 from h200.discount = ...", "as much as h200 at
// h200.discount = ...".
static const char *solution_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  struct arena *arena = solving->arena;
  const char *text = "";
  if (!solved->by_stretches) {
    for (size_t i = 0; i < solved->count; i++)
      text = arena_printf(arena, "%s%s%s", text, i == 0 ? "" : " and at ",
                          input_text(solving, solved->roots[i]));
    return arena_printf(arena, "%s at %s = %s", wanted_text(solving), solved->name, text);
  }
  for (size_t i = 0; i < solved->stretch_count; i++)
    text = arena_printf(arena, "%s%s%s", text, between(i, solved->stretch_count, solved->more),
                        stretch_text(solving, solved->stretches[i], i == 0));
  return arena_printf(arena, "%s %s", at_most_text(solving), text);
}

// Two columns: the selected case, and the case with another value of the input.
static struct variation *shifted(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  struct variation *variation = variation_new(solved->scenario, 2, solving->arena);
  const double value = target_value(solved->scenario, solved->target);
  variation_set(variation, solved->target, 1,
                value != 0 ? 0.99 * value : unit_factor(solving->unit));
  variation_evaluate(variation);
  return variation;
}

// Far above the rounding of a sum, far below any cost that is worth a word.
#define MOVES 1e-9

// In any period, for a series.
static bool shift_moves(const struct variation *variation, size_t o, const char *item) {
  const struct option *option = &variation->scenario->options[o];
  const int d = model_find(variation->scenario->model, item);
  const bool has = d >= 0 && option_has(option, d);
  const int count = !has ? 0 : graph_is_series(option->graph, d) ? variation->scenario->periods : 1;
  for (int t = 0; t < count; t++) {
    const double *values = evaluation_at(variation->evaluations[o], d, t);
    if (fabs(values[0] - values[1]) > MOVES * fmax(fabs(values[0]), fabs(values[1])))
      return true;
  }
  return false;
}

// What an input may move without the cost that is solved for, and where that is shown.
static const struct {
  const char *item, *cost, *moved, *command;
} elsewhere[] = {
    {"levelised_cost_per_mtok", "the undiscounted cost", "the levelized one", "compare"},
    {"after_tax_npv", "the cost before tax", "that after tax", "finance"},
    {"loan_npv", "the cost without the loan", "that with it", "finance"},
    {"lease_npv", "the cost without the lease", "that with it", "finance"},
    {"npv", "the cost", "the margin", "finance"},
};

// "how the two compare", "the undiscounted cost, only on the levelized one, which compare shows"
static const char *unaffected_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const size_t options[] = {solved->option, solved->matches ? solved->match : solved->option};
  const char *whole = solved->matches ? "how the two compare" : "that cost";
  const struct variation *variation = shifted(solving);
  const char *cost = solved->scenario->model->declarations[solved->item].name;
  for (size_t o = 0; o < 2; o++)
    if (shift_moves(variation, options[o], cost))
      return whole;
  for (size_t e = 0; e < 2 * (sizeof elsewhere / sizeof elsewhere[0]); e++)
    if (shift_moves(variation, options[e % 2], elsewhere[e / 2].item))
      return arena_printf(solving->arena, "%s, only on %s, which %s shows", elsewhere[e / 2].cost,
                          elsewhere[e / 2].moved, elsewhere[e / 2].command);
  return whole;
}

static const char *sentence(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const char *wanted = wanted_text(solving);
  if (solved->count)
    return arena_printf(solving->arena, "%s costs %s%s%s", solving->option, solution_text(solving),
                        solved->more ? ", and at other values" : "", excess_text(solving));
  if (holds_throughout(solved))
    return arena_printf(solving->arena, "%s costs %s at every value of %s", solving->option, wanted,
                        solved->name);
  if (solved->flat)
    return arena_printf(solving->arena, "No value of %s makes %s cost %s: it has no effect on %s",
                        solved->name, solving->option, wanted, unaffected_text(solving));
  return arena_printf(solving->arena, "No value of %s in [%s, %s] makes %s cost %s", solved->name,
                      low_text(solving), input_text(solving, solved->high), solving->option,
                      wanted);
}

// A note on a jump, where the cost is never equal to the target: the costs on both sides.
static void add_jump(const struct solving *solving, double root, const struct solve_sides *sides,
                     struct answer *answer) {
  const bool integer = solving->solved->integer;
  const enum side side = solve_gap(sides->costs_above) <= 0 ? SIDE_ABOVE : SIDE_BELOW;
  answer_note(answer, "", "%s %s it costs %s, %s %s", integer ? "at" : "below",
              end_text(solving, integer ? sides->below : root, side),
              gap_text(solving, sides->costs_below), integer ? "at" : "above",
              integer ? arena_printf(solving->arena, "%s %s", end_text(solving, sides->above, side),
                                     gap_text(solving, sides->costs_above))
                      : gap_text(solving, sides->costs_above));
}

static void add_gaps(const struct solving *solving, struct answer *answer) {
  const struct solve_answer *solved = solving->solved;
  for (size_t i = 0; i < solved->count; i++)
    if (solved->sides[i].jumps)
      add_jump(solving, solved->roots[i], &solved->sides[i], answer);
  if (!solved->count && !solved->flat) {
    answer_note(answer, "", "at %s it costs %s", low_text(solving),
                gap_text(solving, solved->costs_low));
    answer_note(answer, "", "at %s it costs %s", input_text(solving, solved->high),
                gap_text(solving, solved->costs_high));
  }
}

// A third option that costs less than the one to match, whatever the input: no price is worth
// paying because another option costs as much.
static void add_cheaper(const struct solving *solving, struct answer *answer) {
  const struct solve_answer *solved = solving->solved;
  const struct scenario *scenario = solved->scenario;
  const struct ranking *ranking = ranking_of(scenario, solving->arena);
  const int third = ranking_alternative(scenario, ranking, solved->option);
  if (!solved->matches || !solved->count || third < 0 || !ranking->options[third].ranked ||
      target_moves(scenario, solved->target, solved->match) ||
      target_moves(scenario, solved->target, (size_t)third))
    return;
  const struct option *option = &scenario->options[third];
  const double cost = option_value(scenario, option, solved->item, 0),
               wanted = option_value(scenario, &scenario->options[solved->match], solved->item, 0) *
                        (1 - solved->saving);
  if (cost < wanted)
    answer_note(answer, "Note: ", "%s then still costs less, %s: --match %s finds the value for it",
                option->label, cost_text(solving, cost), option->id);
}

// Whether the input is a price, or what a price is computed from: a discount, an exchange rate.
static bool is_priced(const struct solving *solving, size_t option) {
  return dimension_money(solving->unit->dimension) != 0 ||
         shift_moves(shifted(solving), option, "net_price");
}

// What else a negotiated price moves, so that nobody takes it for fixed.
static void add_price_terms(const struct solving *solving, struct answer *answer) {
  const struct solve_answer *solved = solving->solved;
  for (size_t o = 0; o < solved->scenario->option_count && solved->count; o++) {
    if (!target_moves(solved->scenario, solved->target, o) || !is_priced(solving, o))
      continue;
    const struct texts terms = price_terms(solved->scenario, solved->target, o, solving->arena);
    if (terms.count)
      answer_note(answer, "", "Moves with the price of %s: %s", solved->scenario->options[o].label,
                  texts_joined(&terms, solving->arena));
  }
}

// The draws without a value, and those with several.
static void add_exceptions(const struct solving *solving, struct answer *answer) {
  const struct solve_spread *spread = solving->spread;
  const struct {
    double share;
    const char *what;
  } exceptions[] = {{spread->above, "no value: the cost is always above the target in"},
                    {spread->below, "no value: the cost is never above the target in"},
                    {1 - spread->found - spread->above - spread->below, "no value found in"}};
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
    if (exceptions[i].share > 1e-12)
      answer_note(answer, "", "in %s of draws %s [%s, %s]",
                  percent_words(exceptions[i].share, solving->arena), exceptions[i].what,
                  low_text(solving), input_text(solving, solving->solved->high));
  if (spread->several > 0)
    answer_note(answer, "", "in %s of draws there are several values: the lowest is used",
                percent_words(spread->several, solving->arena));
}

static void add_spread(const struct solving *solving, struct answer *answer) {
  enum { LOW = 0, MIDDLE = SIMULATE_LEVELS / 2, HIGH = SIMULATE_LEVELS - 1 };
  const struct solve_spread *spread = solving->spread;
  struct arena *arena = solving->arena;
  const double *values = spread->percentiles;
  if (spread->found > 0)
    answer_note(answer, "With the ranges: ", "median %s, 90 %% between %s and %s%s",
                input_text(solving, values[MIDDLE]),
                number_significant(number_in_unit(values[LOW], solving->unit), SHOWN_DIGITS, arena),
                input_text(solving, values[HIGH]), spread->found < 1 ? ", where there is one" : "");
  add_exceptions(solving, answer);
  answer_note(answer, "", "at %s the target is met in %s of draws",
              input_text(solving, solving->solved->base),
              percent_words(spread->enough, solving->arena));
  const struct draws_made draws = {spread->done, spread->seed, spread->method};
  answer_note(answer, "", "%s", draws_words(&draws, arena));
  if (spread->partial)
    texts_add(&answer->warnings, arena, "PARTIAL: %s of %s draws",
              number_fixed((double)spread->done, 0, arena),
              number_fixed((double)spread->draws, 0, arena));
  for (size_t i = 0; i < spread->note_count; i++)
    answer_note(answer, "Note: ", "%s", spread->notes[i]);
}

// ---- figures

// The fields of an answer: a column each, with the same cell in all rows.
struct figures {
  struct answer_table table;
  struct answer_cell *cells; // [table.column_count]
};

// A field, by its place in JSON and its column in CSV; NULL: not shown there.
static void add(struct figures *figures, const char *json, const char *csv,
                struct answer_cell cell) {
  figures->cells =
      arena_room(figures->table.arena, figures->cells, figures->table.column_count, sizeof cell);
  figures->cells[figures->table.column_count] = cell;
  ANSWER_COLUMN(&figures->table, .key = csv, .json = json,
                .faces = (csv ? FACE_CSV : 0) | (json ? FACE_JSON : 0));
}

static void add_of_spread(const struct solving *solving, struct figures *figures) {
  const struct solve_spread *spread = solving->spread;
  const struct texts notes = {(const char **)spread->notes, spread->note_count};
  add(figures, "ranges.draws", NULL, cell_counts(&spread->draws, 1));
  add(figures, "ranges.done", "draws", cell_counts(&spread->done, 1));
  add(figures, "ranges.seed", "seed", cell_counts(&spread->seed, 1));
  add(figures, "ranges.method", "method", cell_words(draw_method_names[spread->method]));
  add(figures, "ranges.partial", "partial", cell_flag(spread->partial));
  add(figures, "ranges.found", "found", cell_value(spread->found));
  add(figures, "ranges.several", NULL, cell_value(spread->several));
  add(figures, "ranges.above", NULL, cell_value(spread->above));
  add(figures, "ranges.below", NULL, cell_value(spread->below));
  add(figures, "ranges.enough", "enough", cell_value(spread->enough));
  for (int level = 0; level < SIMULATE_LEVELS; level++) {
    const char *name = arena_printf(solving->arena, "P%.0f", 100 * simulate_levels[level]);
    add(figures, arena_printf(solving->arena, "ranges.percentiles.%s", name), name,
        cell_in(spread->percentiles[level], solving->unit));
  }
  add(figures, "ranges.notes", NULL, cell_list(notes));
}

// The input values on both sides of each solution, and the gaps there; they differ only at a jump.
static void add_of_sides(const struct solving *solving, struct figures *figures) {
  const struct solve_answer *solved = solving->solved;
  double *parts[4];
  for (size_t p = 0; p < 4; p++)
    parts[p] = arena_array(solving->arena, solved->count + 1, sizeof(double));
  for (size_t i = 0; i < solved->count; i++) {
    parts[0][i] = solved->sides[i].below;
    parts[1][i] = solved->sides[i].above;
    parts[2][i] = solve_ratio(solved->sides[i].costs_below);
    parts[3][i] = solve_ratio(solved->sides[i].costs_above);
  }
  add(figures, "sides.below", NULL, cell_series(parts[0], solved->count, solving->unit));
  add(figures, "sides.above", NULL, cell_series(parts[1], solved->count, solving->unit));
  add(figures, "sides.gap_below", NULL, cell_series(parts[2], solved->count, NULL));
  add(figures, "sides.gap_above", NULL, cell_series(parts[3], solved->count, NULL));
}

// A row for each value, or one row without a value; in JSON, fields that all rows share.
static struct answer_table values_table(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const struct unit *unit = solving->unit;
  struct figures figures = {.table = answer_table_new("values", NULL, solving->arena)};
  add(&figures, "option", NULL, cell_words(solved->scenario->options[solved->option].id));
  if (solved->matches)
    add(&figures, "match", NULL, cell_words(solved->scenario->options[solved->match].id));
  else
    add(&figures, "target", NULL, cell_in(solved->wanted_cost, solving->cost_unit));
  add(&figures, "saving", NULL, cell_value(solved->saving));
  add(&figures, "input", "input", cell_words(solved->name));
  add(&figures, "unit", "unit", cell_words(unit->text));
  add(&figures, "base", "base", cell_in(solved->base, unit));
  add(&figures, "low", "low", cell_in(solved->low, unit));
  add(&figures, "high", "high", cell_in(solved->high, unit));
  add(&figures, "gaps.base", "gap_base", cell_value(solve_ratio(solved->costs_base)));
  add(&figures, "gaps.low", "gap_low", cell_value(solve_ratio(solved->costs_low)));
  add(&figures, "gaps.high", "gap_high", cell_value(solve_ratio(solved->costs_high)));
  const size_t value = figures.table.column_count;
  add(&figures, NULL, "value", cell_nothing());
  add(&figures, NULL, "gap_below", cell_nothing());
  add(&figures, NULL, "gap_above", cell_nothing());
  add(&figures, "values", NULL, cell_series(solved->roots, solved->count, unit));
  add_of_sides(solving, &figures);
  add(&figures, "more", NULL, cell_flag(solved->more));
  if (solving->spread)
    add_of_spread(solving, &figures);
  add(&figures, NULL, "label", cell_words(solving->option));
  struct answer_table table = figures.table;
  for (size_t i = 0; i < solved->count || i == 0; i++) {
    struct answer_cell *cells =
        answer_table_row_of(&table, (struct answer_row){.faces = i ? FACE_CSV : 0});
    memcpy(cells, figures.cells, table.column_count * sizeof *cells);
    if (!solved->count)
      continue;
    cells[value] = cell_in(solved->roots[i], unit);
    cells[value + 1] = cell_value(solve_ratio(solved->sides[i].costs_below));
    cells[value + 2] = cell_value(solve_ratio(solved->sides[i].costs_above));
  }
  table.json = "%c";
  table.is_wide = true;
  table.faces = FACE_CSV | FACE_JSON;
  return table;
}

struct answer solution_answer(const struct solve_answer *solved, const struct solve_spread *spread,
                              struct arena *arena) {
  const struct solving solving = {.solved = solved,
                                  .spread = spread,
                                  .unit = &target_input(solved->scenario, solved->target)->unit,
                                  .cost_unit =
                                      &solved->scenario->model->declarations[solved->item].unit,
                                  .option = solved->scenario->options[solved->option].label,
                                  .arena = arena};
  struct answer answer = answer_new("solve", solved->name, NULL, solved->scenario, arena);
  answer.sentence = arena_printf(arena, "%s; %s.", sentence(&solving), now_text(&solving));
  answer.no = solved->count ? is_impossible(excess_at(&solving, solved->roots[0]))
                            : !holds_throughout(solved);
  answer.schema = 1;
  answer_push(&answer, values_table(&solving));
  add_gaps(&solving, &answer);
  add_price_terms(&solving, &answer);
  add_cheaper(&solving, &answer);
  standing_notes(&answer, solved->scenario, solved->option,
                 solved->matches ? solved->match : solved->option, arena);
  if (spread)
    add_spread(&solving, &answer);
  return answer;
}
