// When the options' cumulative costs cross the baseline's, on Outputs.
#include "reports/workbook/outputs.h"

#include <math.h>

static const struct unit plain = {.text = "-", .counts = true};

static double time_at(const struct outputs *outputs, size_t option, int t) {
  return fmin(outputs_value(outputs, option, "end", t),
              outputs_value(outputs, option, "horizon", 0));
}

static double excess_at(const struct outputs *outputs, size_t option, int t) {
  return outputs_value(outputs, option, "cumulative_cash", t) -
         outputs_value(outputs, outputs->scenario->baseline, "cumulative_cash", t);
}

static bool crosses_in(const struct outputs *outputs, size_t option, int t) {
  return round(excess_at(outputs, option, t - 1)) * round(excess_at(outputs, option, t)) < 0;
}

// The share of the period after which the costs are equal.
static double crossing_share(const struct outputs *outputs, size_t option, int t) {
  const double before = excess_at(outputs, option, t - 1);
  return before / (before - excess_at(outputs, option, t));
}

// A value of the two ends of a period at the crossing within; 0 where there is none.
static double crossing_at(const struct outputs *outputs, size_t option, int t,
                          double (*value)(const struct outputs *, size_t, int)) {
  const double before = value(outputs, option, t - 1), after = value(outputs, option, t);
  return crosses_in(outputs, option, t)
             ? before + (after - before) * crossing_share(outputs, option, t)
             : 0;
}

static double last_crossing(const struct outputs *outputs, size_t option,
                            double (*value)(const struct outputs *, size_t, int)) {
  double last = 0;
  for (int t = 1; t < outputs->scenario->periods; t++)
    last = fmax(last, crossing_at(outputs, option, t, value));
  return last;
}

static const char *cell(const struct outputs *outputs, int row, int t) {
  return cell_address(row, COLUMN_PERIOD + t, ADDRESS_RELATIVE, outputs->book->arena);
}

static int labels_of(struct outputs *outputs, size_t option, const char *label, const char *key,
                     const struct unit *unit) {
  struct arena *arena = outputs->book->arena;
  const struct scenario *scenario = outputs->scenario;
  const char *id = scenario->options[option].id;
  return outputs_labels(
      outputs,
      arena_printf(arena, "%s, %s and %s", label, id, scenario->options[scenario->baseline].id),
      arena_printf(arena, "%s.%s", id, key), unit->text);
}

// "=MAX(F40:L40)" of the periods, beside the unit: the last of several crossings.
static void write_last(const struct outputs *outputs, int row, double value,
                       const struct unit *unit) {
  struct book *book = outputs->book;
  put_formula(book, outputs->sheet, row, COLUMN_VALUE,
              arena_printf(book->arena, "=MAX(%s:%s)", cell(outputs, row, 1),
                           cell(outputs, row, outputs->scenario->periods - 1)),
              value, formats_cell(&book->formats, CELL_TOTAL, unit));
}

static int write_excess(struct outputs *outputs, size_t option) {
  struct book *book = outputs->book;
  const struct unit *unit = outputs_unit(outputs, "cumulative_cash");
  const int row = labels_of(outputs, option, "Difference of cumulative cost", "excess", unit);
  for (int t = 0; t < outputs->scenario->periods; t++)
    put_formula(book, outputs->sheet, row, COLUMN_PERIOD + t,
                arena_printf(book->arena, "=%s-%s", cell(outputs, outputs->cumulative[option], t),
                             cell(outputs, outputs->cumulative[outputs->scenario->baseline], t)),
                excess_at(outputs, option, t), formats_cell(&book->formats, CELL_FORMULA, unit));
  return row;
}

// In a period whose ends have the difference on either side of zero: where between them it is zero,
// on the line of another row; else 0.
static int write_where(struct outputs *outputs, size_t option, const char *label, const char *key,
                       int excess, int line, double (*value)(const struct outputs *, size_t, int),
                       const struct unit *unit) {
  struct book *book = outputs->book;
  const int row = labels_of(outputs, option, label, key, unit);
  for (int t = 1; t < outputs->scenario->periods; t++) {
    const char *before = cell(outputs, excess, t - 1), *after = cell(outputs, excess, t);
    const char *from = cell(outputs, line, t - 1), *to = cell(outputs, line, t);
    const double found = crossing_at(outputs, option, t, value);
    put_formula(book, outputs->sheet, row, COLUMN_PERIOD + t,
                arena_printf(book->arena, "=IF(ROUND(%s,0)*ROUND(%s,0)<0,%s+(%s-%s)*%s/(%s-%s),0)",
                             before, after, from, to, from, before, before, after),
                found, formats_cell(&book->formats, CELL_FORMULA, unit));
  }
  write_last(outputs, row, last_crossing(outputs, option, value), unit);
  return row;
}

static double cumulative_at(const struct outputs *outputs, size_t option, int t) {
  return outputs_value(outputs, option, "cumulative_cash", t);
}

// For the chart: a point on the axis below the crossing, and the crossing.
static void write_points(struct outputs *outputs, size_t option) {
  struct book *book = outputs->book;
  const char *const labels[] = {"Crossing, on the axis", "Crossing"};
  const char *const keys[] = {"crossing_foot", "crossing_point"};
  const struct unit *time = outputs_unit(outputs, "end"),
                    *cost = outputs_unit(outputs, "cumulative_cash");
  outputs->points[option] = outputs->row;
  for (int i = 0; i < 2; i++) {
    const int row = labels_of(outputs, option, labels[i], keys[i], time);
    const char *when =
        cell_address(outputs->crossing[option], COLUMN_VALUE, ADDRESS_RELATIVE, book->arena);
    const char *what =
        cell_address(outputs->crossing_cost[option], COLUMN_VALUE, ADDRESS_RELATIVE, book->arena);
    put_formula(book, outputs->sheet, row, COLUMN_VALUE, arena_printf(book->arena, "=%s", when),
                last_crossing(outputs, option, time_at),
                formats_cell(&book->formats, CELL_FORMULA, time));
    put_formula(book, outputs->sheet, row, COLUMN_PERIOD,
                i ? arena_printf(book->arena, "=%s", what) : "=0",
                i ? last_crossing(outputs, option, cumulative_at) : 0,
                formats_cell(&book->formats, CELL_FORMULA, cost));
  }
}

// What the chart's legend says of it.
static void write_statement(struct outputs *outputs, size_t option) {
  struct book *book = outputs->book;
  static const char none[] = "no crossing", before[] = "crossing after ", after[] = " years";
  const char *when =
      cell_address(outputs->crossing[option], COLUMN_VALUE, ADDRESS_RELATIVE, book->arena);
  const double years = last_crossing(outputs, option, time_at);
  const int row = labels_of(outputs, option, "Crossing in words", "crossing_words", &plain);
  put_formula_text(book, outputs->sheet, row, COLUMN_VALUE,
                   arena_printf(book->arena, "=IF(%s=0,\"%s\",\"%s\"&FIXED(%s,1,1)&\"%s\")", when,
                                none, before, when, after),
                   years == 0 ? none
                              : arena_printf(book->arena, "%s%s%s", before,
                                             outputs_number(years, 1, book->arena), after),
                   formats_text(&book->formats, TEXT_PLAIN));
}

void write_crossings(struct outputs *outputs) {
  const struct scenario *scenario = outputs->scenario;
  const size_t count = scenario->option_count, baseline = scenario->baseline;
  outputs->crossing = arena_array(outputs->book->arena, count, sizeof *outputs->crossing);
  outputs->crossing_cost = arena_array(outputs->book->arena, count, sizeof *outputs->crossing_cost);
  outputs->points = arena_array(outputs->book->arena, count, sizeof *outputs->points);
  for (size_t o = 0; o < count; o++) {
    outputs->crossing[o] = outputs->crossing_cost[o] = -1;
    const bool there =
        outputs->cumulative[o] >= 0 && outputs->years[o] >= 0 && outputs->cumulative[baseline] >= 0;
    if (o == baseline || !there || !outputs->book->ranking->options[o].compared)
      continue;
    const int excess = write_excess(outputs, o);
    outputs->crossing[o] =
        write_where(outputs, o, "Crossing of cumulative cost", "crossing", excess,
                    outputs->years[o], time_at, outputs_unit(outputs, "end"));
    outputs->crossing_cost[o] = write_where(
        outputs, o, "Cumulative cost at the crossing", "crossing_cost", excess,
        outputs->cumulative[o], cumulative_at, outputs_unit(outputs, "cumulative_cash"));
    write_points(outputs, o);
    write_statement(outputs, o);
  }
}
