#include "reports/answers/solve.h"

#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/solve.h"
#include "model/simulate/simulation.h"
#include "model/whatif/variation.h"
#include "reports/answers/answer_parts.h"
#include "reports/print/number.h"

#include <math.h>
#include <string.h>

enum { SHOWN_DIGITS = 5, MAX_FIGURES = 48 };

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
    return arena_printf(solving->arena, "%s costs %s at %s = %s%s.", solving->option, wanted,
                        solved->name, values, solved->more ? ", and at further values" : "");
  if (is_flat(solved))
    return arena_printf(solving->arena,
                        "No value of %s makes %s cost %s: it does not matter to that.",
                        solved->name, solving->option, wanted);
  return arena_printf(solving->arena, "No value of %s in [%s, %s] makes %s cost %s.", solved->name,
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

// ---- figures

// What is said of an answer, by its place in JSON and its column in CSV; NULL: not there.
struct figures {
  struct answer_column columns[MAX_FIGURES];
  struct answer_cell cells[MAX_FIGURES];
  struct column_look *looks; // [MAX_FIGURES]
  size_t count;
};

static void add(struct figures *figures, const char *json, const char *csv,
                struct answer_cell cell) {
  figures->columns[figures->count].key = csv;
  figures->looks[figures->count].json = json;
  figures->looks[figures->count].faces = (csv ? FACE_CSV : 0) | (json ? FACE_JSON : 0);
  figures->cells[figures->count++] = cell;
}

static void add_of_spread(const struct solving *solving, struct figures *figures) {
  const struct solve_spread *spread = solving->spread;
  const struct texts notes = {(const char **)spread->notes, spread->note_count};
  add(figures, "ranges.draws", NULL, cell_counts(&spread->draws, 1));
  add(figures, "ranges.done", "draws", cell_counts(&spread->done, 1));
  add(figures, "ranges.seed", NULL, cell_counts(&spread->seed, 1));
  add(figures, "ranges.method", NULL, cell_words(draw_method_names[spread->method]));
  add(figures, "ranges.partial", NULL, cell_flag(spread->partial));
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

// A row for each value, or one without; JSON has what is the same in all of them.
static struct answer_table values_table(const struct solving *solving) {
  const struct solve_answer *solved = solving->solved;
  const struct unit *unit = solving->unit;
  struct figures figures = {.looks =
                                arena_array(solving->arena, MAX_FIGURES, sizeof *figures.looks)};
  add(&figures, "option", NULL, cell_words(solving->option));
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
  add(&figures, "gaps.base", "gap_base", cell_value(solved->gap_base));
  add(&figures, "gaps.low", "gap_low", cell_value(solved->gap_low));
  add(&figures, "gaps.high", "gap_high", cell_value(solved->gap_high));
  const size_t value = figures.count;
  add(&figures, NULL, "value", cell_nothing());
  add(&figures, "values", NULL, cell_series(solved->roots, solved->count, unit));
  add(&figures, "more", NULL, cell_flag(solved->more));
  if (solving->spread)
    add_of_spread(solving, &figures);
  struct answer_table table = answer_table_of_rows("values", NULL, figures.columns, figures.count,
                                                   MAX_SOLVE_ROOTS, solving->arena);
  for (size_t i = 0; i < solved->count || i == 0; i++) {
    struct answer_cell *cells =
        answer_table_row_of(&table, (struct answer_row){.faces = i ? FACE_CSV : 0});
    memcpy(cells, figures.cells, figures.count * sizeof *cells);
    if (solved->count)
      cells[value] = cell_in(solved->roots[i], unit);
  }
  table.looks = figures.looks;
  table.json = "%c";
  table.is_wide = true;
  table.faces = FACE_CSV | FACE_JSON;
  return table;
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
  const struct answer_table table = values_table(&solving);
  answer_set_tables(&answer, &table, 1, arena);
  add_gaps(&solving, &answer);
  if (spread)
    add_spread(&solving, &answer);
  return answer;
}
