#include "reports/answers/solve.h"

#include "model/cost/graph.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 5, FACTS = 40 };

// What is said of a value that was looked for.
struct solving {
  const struct solve_answer *solved;
  const struct solve_spread *spread;
  const struct unit *unit, *cost_unit; // of the input
  const char *option;
  struct arena *arena;
};

// ---- words

static const char *with_unit(const struct solving *solving, double value, const struct unit *unit) {
  const char *number =
      number_significant(number_in_unit(value, unit), SHOWN_DIGITS, solving->arena);
  return strcmp(unit->text, "-") != 0 ? arena_printf(solving->arena, "%s %s", number, unit->text)
                                      : number;
}

static const char *input_text(const struct solving *solving, double value) {
  return with_unit(solving, value, solving->unit);
}

static const char *percent(const struct solving *solving, double share) {
  return arena_printf(solving->arena, "%s %%", number_significant(100 * share, 3, solving->arena));
}

// "as much as h200", "5 % less than h200", "0.3 USD/Mtok"
static const char *wanted_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const char *than = solved->matches ? solved->scenario->options[solved->match].id
                                     : with_unit(solving, solved->wanted_cost, solving->cost_unit);
  if (solved->saving != 0)
    return arena_printf(solving->arena, "%s %s than %s", percent(solving, fabs(solved->saving)),
                        solved->saving > 0 ? "less" : "more", than);
  return solved->matches ? arena_printf(solving->arena, "as much as %s", than) : than;
}

// "3.1 % more than that"
static const char *gap_text(const struct solving *solving, double gap) {
  if (!isfinite(gap))
    return "no finite amount";
  if (fabs(gap) < 5e-8)
    return "just that";
  return arena_printf(solving->arena, "%s %s than that", percent(solving, fabs(gap)),
                      gap > 0 ? "more" : "less");
}

// Where the search begins: where an input may be no 0, say, a hair above it stands in.
static const char *low_text(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const struct declaration *input = target_input(solved->scenario, solved->target);
  const struct limits limits = target_limits(solved->scenario, solved->target);
  if (input->has_min && input->min_exclusive && solved->low == limits.low)
    return arena_printf(solving->arena, "just above %s", input_text(solving, input->min));
  return input_text(solving, solved->low);
}

static bool is_flat(const struct solve_answer *solved) {
  return fabs(solved->gap_low - solved->gap_high) < 1e-12 &&
         fabs(solved->gap_low - solved->gap_base) < 1e-12;
}

static const char *sentence(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const char *values = "", *wanted = wanted_text(solving);
  for (size_t i = 0; i < solved->count; i++)
    values = arena_printf(solving->arena, "%s%s%s", values, i == 0 ? "" : " and at ",
                          input_text(solving, solved->roots[i]));
  if (solved->count)
    return arena_printf(solving->arena, "%s costs %s at %s = %s%s", solving->option, wanted,
                        solved->name, values, solved->more ? ", and at further values" : "");
  if (is_flat(solved))
    return arena_printf(solving->arena,
                        "No value of %s makes %s cost %s: it does not matter to that", solved->name,
                        solving->option, wanted);
  return arena_printf(solving->arena, "No value of %s in [%s, %s] makes %s cost %s", solved->name,
                      low_text(solving), input_text(solving, solved->high), solving->option,
                      wanted);
}

static void add_gaps(const struct solving *solving, struct answer *answer) {
  const struct solve_answer *solved = solving->solved;
  struct arena *arena = solving->arena;
  if (answer->no && !is_flat(solved)) {
    answer_note(answer, arena, "", "at %s it costs %s", low_text(solving),
                gap_text(solving, solved->gap_low));
    answer_note(answer, arena, "", "at %s it costs %s", input_text(solving, solved->high),
                gap_text(solving, solved->gap_high));
  }
  answer_note(answer, arena, "", "now, at %s, it costs %s", input_text(solving, solved->base),
              gap_text(solving, solved->gap_base));
}

// Draws without a value, and with several.
static void add_exceptions(const struct solving *solving, struct answer *answer) {
  const struct solve_spread *spread = solving->spread;
  const struct {
    double share;
    const char *what;
  } exceptions[] = {{spread->above, "no value, as it costs more than that throughout"},
                    {spread->below, "no value, as it costs less than that throughout"},
                    {1 - spread->found - spread->above - spread->below, "no value found"}};
  for (size_t i = 0; i < sizeof exceptions / sizeof exceptions[0]; i++)
    if (exceptions[i].share > 1e-12)
      answer_note(answer, solving->arena, "", "in %s of draws %s [%s, %s]",
                  percent(solving, exceptions[i].share), exceptions[i].what, low_text(solving),
                  input_text(solving, solving->solved->reach));
  if (spread->several > 0)
    answer_note(answer, solving->arena, "", "in %s of draws several values: the lowest counts",
                percent(solving, spread->several));
}

static void add_spread(const struct solving *solving, struct answer *answer) {
  enum { LOW = 0, MIDDLE = SIMULATE_LEVELS / 2, HIGH = SIMULATE_LEVELS - 1 };
  const struct solve_spread *spread = solving->spread;
  struct arena *arena = solving->arena;
  const double *values = spread->percentiles;
  if (spread->found > 0)
    answer_note(answer, arena, "With the ranges: ", "median %s, 90 %% between %s and %s%s",
                input_text(solving, values[MIDDLE]),
                number_significant(number_in_unit(values[LOW], solving->unit), SHOWN_DIGITS, arena),
                input_text(solving, values[HIGH]), spread->found < 1 ? ", where there is one" : "");
  add_exceptions(solving, answer);
  answer_note(answer, arena, "", "at %s it costs no more than that in %s of draws",
              input_text(solving, solving->solved->base), percent(solving, spread->enough));
  answer_note(answer, arena, "", "%s draws (%s, seed %llu)",
              number_fixed((double)spread->done, 0, arena), draw_method_names[spread->method],
              (unsigned long long)spread->seed);
  if (spread->partial)
    texts_add(&answer->warnings, arena, "PARTIAL: %s of %s draws",
              number_fixed((double)spread->done, 0, arena),
              number_fixed((double)spread->draws, 0, arena));
  for (size_t i = 0; i < spread->note_count; i++)
    answer_note(answer, arena, "Note: ", "%s", spread->notes[i]);
}

// ---- tables

static const char *level_key(int level, struct arena *arena) {
  return arena_printf(arena, "P%.0f", 100 * simulate_levels[level]);
}

static struct answer_table values_table(const struct solving *solving) {
  enum { ALONE = 9, OF_SPREAD = 3, ALL = ALONE + OF_SPREAD + SIMULATE_LEVELS };
  struct answer_column columns[ALL] = {{.key = "input"},   {.key = "unit"},     {.key = "base"},
                                       {.key = "low"},     {.key = "high"},     {.key = "gap_base"},
                                       {.key = "gap_low"}, {.key = "gap_high"}, {.key = "value"},
                                       {.key = "draws"},   {.key = "found"},    {.key = "enough"}};
  const struct solve_answer *solved = solving->solved;
  const struct solve_spread *spread = solving->spread;
  const struct unit *unit = solving->unit;
  for (int level = 0; level < SIMULATE_LEVELS; level++)
    columns[ALONE + OF_SPREAD + level].key = level_key(level, solving->arena);
  struct answer_table table =
      answer_table_new("values", NULL, columns, spread ? ALL : ALONE, SOLVE_ROOTS, solving->arena);
  for (size_t i = 0; i < solved->count || i == 0; i++) {
    struct answer_cell cells[ALL] = {cell_words(solved->name),
                                     cell_words(unit->text),
                                     cell_in(solved->base, unit),
                                     cell_in(solved->low, unit),
                                     cell_in(solved->high, unit),
                                     cell_value(solved->gap_base),
                                     cell_value(solved->gap_low),
                                     cell_value(solved->gap_high),
                                     cell_in(solved->count ? solved->roots[i] : NAN, unit)};
    if (spread) {
      cells[ALONE] = cell_counts(&spread->done, 1);
      cells[ALONE + 1] = cell_value(spread->found);
      cells[ALONE + 2] = cell_value(spread->enough);
    }
    for (int level = 0; spread && level < SIMULATE_LEVELS; level++)
      cells[ALONE + OF_SPREAD + level] = cell_in(spread->percentiles[level], unit);
    answer_table_add(&table, cells);
  }
  table.is_wide = true;
  table.faces = FACE_CSV;
  return table;
}

static void add_spread_facts(const struct solving *solving, struct answer_table *facts) {
  const struct solve_spread *spread = solving->spread;
  const struct texts notes = {(const char **)spread->notes, spread->note_count};
  answer_fact(facts, "ranges.draws", cell_counts(&spread->draws, 1));
  answer_fact(facts, "ranges.done", cell_counts(&spread->done, 1));
  answer_fact(facts, "ranges.seed", cell_counts(&spread->seed, 1));
  answer_fact(facts, "ranges.method", cell_words(draw_method_names[spread->method]));
  answer_fact(facts, "ranges.partial", cell_flag(spread->partial));
  answer_fact(facts, "ranges.found", cell_value(spread->found));
  answer_fact(facts, "ranges.several", cell_value(spread->several));
  answer_fact(facts, "ranges.above", cell_value(spread->above));
  answer_fact(facts, "ranges.below", cell_value(spread->below));
  answer_fact(facts, "ranges.enough", cell_value(spread->enough));
  for (int level = 0; level < SIMULATE_LEVELS; level++)
    answer_fact(
        facts,
        arena_printf(solving->arena, "ranges.percentiles.%s", level_key(level, solving->arena)),
        cell_in(spread->percentiles[level], solving->unit));
  answer_fact(facts, "ranges.notes", cell_list(notes));
}

static struct answer_table facts_table(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const struct unit *unit = solving->unit;
  struct answer_table facts = answer_table_of_facts(FACTS, solving->arena);
  answer_fact(&facts, "option", cell_words(solving->option));
  if (solved->matches)
    answer_fact(&facts, "match", cell_words(solved->scenario->options[solved->match].id));
  else
    answer_fact(&facts, "target", cell_in(solved->wanted_cost, solving->cost_unit));
  answer_fact(&facts, "saving", cell_value(solved->saving));
  answer_fact(&facts, "input", cell_words(solved->name));
  answer_fact(&facts, "unit", cell_words(unit->text));
  answer_fact(&facts, "base", cell_in(solved->base, unit));
  answer_fact(&facts, "low", cell_in(solved->low, unit));
  answer_fact(&facts, "high", cell_in(solved->high, unit));
  answer_fact(&facts, "gaps.base", cell_value(solved->gap_base));
  answer_fact(&facts, "gaps.low", cell_value(solved->gap_low));
  answer_fact(&facts, "gaps.high", cell_value(solved->gap_high));
  answer_fact(&facts, "values", cell_series(solved->roots, solved->count, unit));
  answer_fact(&facts, "more", cell_flag(solved->more));
  if (solving->spread)
    add_spread_facts(solving, &facts);
  return facts;
}

struct answer solve_answer_of(const struct solve_answer *solved, const struct solve_spread *spread,
                              struct arena *arena) {
  const struct solving solving = {.solved = solved,
                                  .spread = spread,
                                  .unit = &target_input(solved->scenario, solved->target)->unit,
                                  .cost_unit =
                                      &solved->scenario->model->declarations[solved->item].unit,
                                  .option = solved->scenario->options[solved->option].id,
                                  .arena = arena};
  struct answer answer = {.kind = "solve",
                          .name = solved->name,
                          .sentence = sentence(&solving),
                          .no = !solved->count,
                          .schema = 1};
  const struct answer_table tables[] = {facts_table(&solving), values_table(&solving)};
  answer_set_tables(&answer, tables, 2, arena);
  add_gaps(&solving, &answer);
  if (spread)
    add_spread(&solving, &answer);
  return answer;
}
