#include "reports/outputs/crossings.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/rows.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"

#include <math.h>
#include <stddef.h>

static double time_at(struct book *book, size_t option, int t) {
  return fmin(outputs_value(book, option, "end", t), outputs_value(book, option, "horizon", 0));
}

static double excess_at(struct book *book, size_t option, int t) {
  return outputs_value(book, option, "cumulative_cash", t) -
         outputs_value(book, book->scenario->baseline, "cumulative_cash", t);
}

static bool crosses_in(struct book *book, size_t option, int t) {
  return round(excess_at(book, option, t - 1)) * round(excess_at(book, option, t)) < 0;
}

// The share of the period after which the costs are equal.
static double crossing_share(struct book *book, size_t option, int t) {
  const double before = excess_at(book, option, t - 1);
  return before / (before - excess_at(book, option, t));
}

// A value at the crossing within a period, from its two ends; 0 if there is none.
static double crossing_at(struct book *book, size_t option, int t,
                          double (*value)(struct book *, size_t, int)) {
  const double before = value(book, option, t - 1), after = value(book, option, t);
  return crosses_in(book, option, t) ? before + (after - before) * crossing_share(book, option, t)
                                     : 0;
}

static double last_crossing(struct book *book, size_t option,
                            double (*value)(struct book *, size_t, int)) {
  double last = 0;
  for (int t = 1; t < book->scenario->periods; t++)
    last = fmax(last, crossing_at(book, option, t, value));
  return last;
}

static const char *cell(struct book *book, int row, int t) {
  return cell_here(book, row, COLUMN_PERIOD + t);
}

static int labels_of(struct book *book, size_t option, const char *label, const char *key,
                     const struct unit *unit) {
  struct arena *arena = book->arena;
  const struct scenario *scenario = book->scenario;
  const char *id = scenario->options[option].id;
  return outputs_labels(book,
                        arena_printf(arena, "%s, %s and %s", label, scenario->options[option].label,
                                     scenario->options[scenario->baseline].label),
                        arena_printf(arena, "%s.%s", id, key), unit->text);
}

// "=MAX(F40:L40)" over the periods, beside the unit: the last of several crossings.
static void write_last(struct book *book, int row, double value, const struct unit *unit) {
  put_formula(book, row, COLUMN_VALUE, value, CELL_TOTAL, unit, "=MAX(%s:%s)", cell(book, row, 1),
              cell(book, row, book->scenario->periods - 1));
}

static int write_excess(struct book *book, size_t option) {
  const struct unit *unit = outputs_unit(book, "cumulative_cash");
  const int row = labels_of(book, option, "Difference of cumulative cost", "excess", unit);
  for (int t = 0; t < book->scenario->periods; t++)
    put_formula(book, row, COLUMN_PERIOD + t, excess_at(book, option, t), CELL_FORMULA, unit,
                "=%s-%s", cell(book, book->sheets->outputs->cumulative[option], t),
                cell(book, book->sheets->outputs->cumulative[book->scenario->baseline], t));
  return row;
}

// A row that interpolates the row `line` where the difference is zero, in a period at whose ends it
// has opposite signs; 0 in the others.
static int write_where(struct book *book, size_t option, const char *label, const char *key,
                       int excess, int line, double (*value)(struct book *, size_t, int),
                       const struct unit *unit) {
  const int row = labels_of(book, option, label, key, unit);
  for (int t = 1; t < book->scenario->periods; t++) {
    const char *before = cell(book, excess, t - 1), *after = cell(book, excess, t);
    const char *from = cell(book, line, t - 1), *to = cell(book, line, t);
    const double found = crossing_at(book, option, t, value);
    put_formula(book, row, COLUMN_PERIOD + t, found, CELL_FORMULA, unit,
                "=IF(ROUND(%s,0)*ROUND(%s,0)<0,%s+(%s-%s)*%s/(%s-%s),0)", before, after, from, to,
                from, before, before, after);
  }
  write_last(book, row, last_crossing(book, option, value), unit);
  return row;
}

static double cumulative_at(struct book *book, size_t option, int t) {
  return outputs_value(book, option, "cumulative_cash", t);
}

// Two points for the chart: the one on the axis below the crossing, and the crossing.
static void write_points(struct book *book, size_t option) {
  const char *const labels[] = {"Crossing, on the axis", "Crossing"};
  const char *const keys[] = {"crossing_foot", "crossing_point"};
  const struct unit *time = outputs_unit(book, "end"),
                    *cost = outputs_unit(book, "cumulative_cash");
  book->sheets->outputs->points[option] = book->row;
  for (int i = 0; i < 2; i++) {
    const int row = labels_of(book, option, labels[i], keys[i], time);
    const char *when = cell_here(book, book->sheets->outputs->crossing[option], COLUMN_VALUE);
    const char *what = cell_here(book, book->sheets->outputs->crossing_cost[option], COLUMN_VALUE);
    put_formula(book, row, COLUMN_VALUE, last_crossing(book, option, time_at), CELL_FORMULA, time,
                "=%s", when);
    put_formula(book, row, COLUMN_PERIOD, i ? last_crossing(book, option, cumulative_at) : 0,
                CELL_FORMULA, cost, "%s", i ? arena_printf(book->arena, "=%s", what) : "=0");
  }
}

static bool has_lines(const struct book *book, size_t option) {
  const struct model *model = book->scenario->model;
  const int cumulative = model_find(model, "cumulative_cash"), end = model_find(model, "end");
  const struct option *of = &book->scenario->options[option];
  return cumulative >= 0 && end >= 0 && option_has(of, cumulative) && option_has(of, end);
}

// Whether an option's line is compared with the baseline's.
static bool is_crossed(const struct book *book, size_t option) {
  const size_t baseline = book->scenario->baseline;
  return option != baseline && has_lines(book, option) && has_lines(book, baseline) &&
         book->sheets->ranking->options[option].compared;
}

void crossings_place(struct book *book) {
  const struct scenario *scenario = book->scenario;
  bool any = false;
  for (size_t o = 0; o < scenario->option_count; o++)
    any |= is_crossed(book, o);
  if (any)
    book->sheets->outputs->crossing_words =
        outputs_labels(book,
                       arena_printf(book->arena, "Cumulative cost the same as that of %s",
                                    scenario->options[scenario->baseline].label),
                       "crossing_words", unit_plain.text);
}

// A cell among the results: when the option's cumulative cost equals the baseline's.
static void write_statement(struct book *book, size_t option) {
  static const char none[] = "not within the horizon", before[] = "after ", after[] = " years";
  const char *when = cell_here(book, book->sheets->outputs->crossing[option], COLUMN_VALUE);
  const double years = last_crossing(book, option, time_at);
  put_formula_text(book, book->sheets->outputs->crossing_words, outputs_option_column(option),
                   years == 0 ? none
                              : arena_printf(book->arena, "%s%s%s", before,
                                             outputs_number(years, 1, book->arena), after),
                   formats_text(&book->formats, TEXT_RIGHT_WRAPPED),
                   "=IF(%s=0,\"%s\",\"%s\"&FIXED(%s,1,1)&\"%s\")", when, none, before, when, after);
}

void crossings_write(struct book *book) {
  const struct scenario *scenario = book->scenario;
  const size_t count = scenario->option_count;
  book->sheets->outputs->crossing =
      arena_array(book->arena, count, sizeof *book->sheets->outputs->crossing);
  book->sheets->outputs->crossing_cost =
      arena_array(book->arena, count, sizeof *book->sheets->outputs->crossing_cost);
  book->sheets->outputs->points =
      arena_array(book->arena, count, sizeof *book->sheets->outputs->points);
  for (size_t o = 0; o < count; o++) {
    book->sheets->outputs->crossing[o] = book->sheets->outputs->crossing_cost[o] = -1;
    if (!is_crossed(book, o))
      continue;
    const int excess = write_excess(book, o);
    book->sheets->outputs->crossing[o] =
        write_where(book, o, "Crossing of cumulative cost", "crossing", excess,
                    book->sheets->outputs->years[o], time_at, outputs_unit(book, "end"));
    book->sheets->outputs->crossing_cost[o] = write_where(
        book, o, "Cumulative cost at the crossing", "crossing_cost", excess,
        book->sheets->outputs->cumulative[o], cumulative_at, outputs_unit(book, "cumulative_cash"));
    write_points(book, o);
    write_statement(book, o);
  }
}
