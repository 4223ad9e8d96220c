// The answer of Outputs in words, live; and when the options' cumulative costs cross.
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/print/interval.h"
#include "reports/workbook/outputs.h"

#include <math.h>
#include <string.h>

enum { COST_DECIMALS = 4 };

static const struct unit plain = {.text = "-", .counts = true};
static const struct unit digits = {.text = "digits", .counts = true};

// As a spreadsheet's FIXED writes a number. Joined to a text without it, numbers show what rounding
// leaves behind in some spreadsheets.
static const char *number_text(double value, int decimals, struct arena *arena) {
  const double scale = pow(10, decimals);
  return arena_printf(arena, "%.*f", decimals, round(value * scale) / scale);
}

// ---- crossings

static double at(const struct outputs *outputs, size_t option, const char *series, int t) {
  return shown_value(outputs->book, &outputs->book->options[option],
                     model_find(outputs->model, series), t);
}

static double time_at(const struct outputs *outputs, size_t option, int t) {
  return fmin(at(outputs, option, "end", t), at(outputs, option, "horizon", 0));
}

static double excess_at(const struct outputs *outputs, size_t option, int t) {
  return at(outputs, option, "cumulative_cash", t) -
         at(outputs, outputs->scenario->baseline, "cumulative_cash", t);
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

static const struct unit *unit_of(const struct outputs *outputs, const char *item) {
  return &outputs->model->declarations[model_find(outputs->model, item)].unit;
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
  const struct unit *unit = unit_of(outputs, "cumulative_cash");
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
  return at(outputs, option, "cumulative_cash", t);
}

// For the chart: a point on the axis below the crossing, and the crossing.
static void write_points(struct outputs *outputs, size_t option) {
  struct book *book = outputs->book;
  const char *const labels[] = {"Crossing, on the axis", "Crossing"};
  const char *const keys[] = {"crossing_foot", "crossing_point"};
  const struct unit *time = unit_of(outputs, "end"), *cost = unit_of(outputs, "cumulative_cash");
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
                                             number_text(years, 1, book->arena), after),
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
    if (o == baseline || !there ||
        !ranking_compares(&scenario->options[o], &scenario->options[baseline]))
      continue;
    const int excess = write_excess(outputs, o);
    outputs->crossing[o] = write_where(outputs, o, "Crossing of cumulative cost", "crossing",
                                       excess, outputs->years[o], time_at, unit_of(outputs, "end"));
    outputs->crossing_cost[o] =
        write_where(outputs, o, "Cumulative cost at the crossing", "crossing_cost", excess,
                    outputs->cumulative[o], cumulative_at, unit_of(outputs, "cumulative_cash"));
    write_points(outputs, o);
    write_statement(outputs, o);
  }
}

// ---- words

struct words {
  struct outputs *outputs;
  const char *costs, *ids; // all options', absolute
  const char *currency;
  struct name *decimals;
  int next; // row of the next best option's id
};

static double cost_of(const struct outputs *outputs, size_t option) {
  return at(outputs, option, "cost_per_mtok", 0);
}

static double lowest_cost(const struct outputs *outputs) {
  double lowest = INFINITY;
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    lowest = fmin(lowest, cost_of(outputs, o));
  return lowest;
}

static double highest_cost(const struct outputs *outputs) {
  double highest = -INFINITY;
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    highest = fmax(highest, cost_of(outputs, o));
  return highest;
}

// Of an option's cost, but of the cheapest the highest of all: the lowest of these is the second.
static double other_cost(const struct outputs *outputs, size_t option) {
  const double cost = cost_of(outputs, option);
  return cost == lowest_cost(outputs) ? highest_cost(outputs) : cost;
}

static double second_cost(const struct outputs *outputs) {
  double lowest = INFINITY;
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    lowest = fmin(lowest, other_cost(outputs, o));
  return lowest;
}

static const struct option *option_of_cost(const struct outputs *outputs, double cost) {
  size_t o = 0;
  while (o + 1 < outputs->scenario->option_count && cost_of(outputs, o) != cost)
    o++;
  return &outputs->scenario->options[o];
}

// Of the sentence, unless `part` is -1.
static void put_part(struct words *words, int part, const char *label, const char *key,
                     const char *formula, const char *value) {
  struct outputs *outputs = words->outputs;
  const int row = outputs_labels(outputs, label, key, "-");
  put_formula_text(outputs->book, outputs->sheet, row, COLUMN_VALUE, formula, value,
                   formats_text(&outputs->book->formats, TEXT_PLAIN));
  if (part < 0)
    return;
  outputs->book->rows.words[part].row = row;
  outputs->book->rows.words[part].text = value;
}

static struct words words_of(struct outputs *outputs) {
  struct book *book = outputs->book;
  const struct unit *unit = unit_of(outputs, "cost_per_mtok");
  return (struct words){.outputs = outputs,
                        .costs = outputs_all_options(outputs, book->rows.cost),
                        .ids = outputs_all_options(outputs, book->rows.options),
                        .currency = arena_copy_n(book->arena, unit->text, strcspn(unit->text, "/")),
                        .decimals = constants_literal(&book->constants, "answer",
                                                      "Decimals of the answer's cost", "decimals",
                                                      COST_DECIMALS, &digits)};
}

static int write_others(struct words *words) {
  struct outputs *outputs = words->outputs;
  struct book *book = outputs->book;
  const struct unit *unit = unit_of(outputs, "cost_per_mtok");
  const int row = outputs_labels(outputs, "Cost per token, the cheapest set to the dearest",
                                 "other_cost", unit->text);
  for (size_t o = 0; o < outputs->scenario->option_count; o++) {
    const char *cost =
        cell_address(book->rows.cost, outputs_option_column(o), ADDRESS_ROW, book->arena);
    put_formula(book, outputs->sheet, row, outputs_option_column(o),
                arena_printf(book->arena, "=IF(%s=MIN(%s),MAX(%s),%s)", cost, words->costs,
                             words->costs, cost),
                other_cost(outputs, o), formats_cell(&book->formats, CELL_FORMULA, unit));
  }
  return row;
}

// "mi325x costs least: 0.1498 USD per million output tokens"
static void write_cost_part(struct words *words) {
  struct outputs *outputs = words->outputs;
  struct book *book = outputs->book;
  const double lowest = lowest_cost(outputs);
  const bool ranked = book->rows.cheapest >= 0;
  const char *who =
      ranked ? arena_printf(
                   book->arena, "%s&\" costs least: \"",
                   cell_address(book->rows.cheapest, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena))
             : arena_printf(book->arena, "\"%s costs \"", outputs->scenario->options[0].id);
  words->decimals->used = true;
  put_part(words, PART_COST, "The answer, which and how much", "answer_cost",
           arena_printf(book->arena, "=%s&FIXED(MIN(%s),%s,1)&\" %s per million output tokens\"",
                        who, words->costs, words->decimals->text, words->currency),
           arena_printf(book->arena, "%s %s %s %s per million output tokens",
                        option_of_cost(outputs, lowest)->id, ranked ? "costs least:" : "costs",
                        number_text(lowest, COST_DECIMALS, book->arena), words->currency));
}

enum { INTERVAL_ROWS = 3 };

static struct interval cheapest_interval(const struct outputs *outputs) {
  const struct scenario *scenario = outputs->scenario;
  const size_t option = (size_t)(cheapest_option(scenario) - scenario->options);
  return interval_of(outputs->book->simulation, OUTCOME_COST, option);
}

// " (P5 to P95: 0.1305 to 0.2161)" while the simulation is of the inputs as they are. Its cells are
// filled in later.
static void reserve_interval(struct words *words) {
  struct outputs *outputs = words->outputs;
  struct book *book = outputs->book;
  const struct interval interval = cheapest_interval(outputs);
  if (isnan(interval.low))
    return;
  outputs->interval = outputs->row;
  outputs->row += INTERVAL_ROWS;
  book->rows.words[PART_INTERVAL].row = outputs->row - 1;
  book->rows.words[PART_INTERVAL].text = arena_printf(
      book->arena, " (P5 to P95: %s to %s)", number_text(interval.low, COST_DECIMALS, book->arena),
      number_text(interval.high, COST_DECIMALS, book->arena));
}

// An end of the cheapest option's interval, with the words before it.
static void write_end(struct words *words, const char *label, const char *key, const char *before,
                      int row, double value) {
  struct book *book = words->outputs->book;
  const size_t last = words->outputs->scenario->option_count - 1;
  const char *first = cell_address(row, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena);
  const char *end = arena_printf(book->arena, "%s!%s", book->simulation_sheet->name, first);
  if (last)
    end = arena_printf(
        book->arena, "INDEX(%s:%s,1,MATCH(%s,%s,0))", end,
        cell_address(row, COLUMN_VALUE + (int)last, ADDRESS_ABSOLUTE, book->arena),
        cell_address(book->rows.cheapest, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena), words->ids);
  put_part(
      words, -1, label, key,
      arena_printf(book->arena, "=\"%s\"&FIXED(%s,%s,1)", before, end, words->decimals->text),
      arena_printf(book->arena, "%s%s", before, number_text(value, COST_DECIMALS, book->arena)));
}

void write_interval(struct outputs *outputs) {
  struct book *book = outputs->book;
  if (outputs->interval < 0)
    return;
  struct words words = words_of(outputs);
  const struct interval interval = cheapest_interval(outputs);
  const int next = outputs->row;
  outputs->row = outputs->interval;
  write_end(&words, "The answer, from", "answer_low",
            " (P5 to P95: ", book->simulation_rows.cost_p5, interval.low);
  write_end(&words, "The answer, to", "answer_high", " to ", book->simulation_rows.cost_p95,
            interval.high);
  const char *low = cell_address(outputs->interval, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena);
  const char *high =
      cell_address(outputs->interval + 1, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena);
  put_part(&words, PART_INTERVAL, "The answer, how sure", "answer_interval",
           arena_printf(book->arena,
                        "=IF(%s=\"current\",%s&%s&\")\",\" (P5 to P95: simulate anew)\")",
                        simulation_state(book), low, high),
           book->rows.words[PART_INTERVAL].text);
  outputs->row = next;
}

// ", 14.3 % less than h200"
static void write_margin_part(struct words *words, int others) {
  struct outputs *outputs = words->outputs;
  struct arena *arena = outputs->book->arena;
  const char *rest = outputs_all_options(outputs, others);
  const double lowest = lowest_cost(outputs), second = second_cost(outputs);
  put_part(words, -1, "The answer, next best option", "answer_next",
           arena_printf(arena, "=INDEX(%s,1,MATCH(MIN(%s),%s,0))", words->ids, rest, words->costs),
           option_of_cost(outputs, second)->id);
  words->next = outputs->row - 1;
  const char *next = cell_address(words->next, COLUMN_VALUE, ADDRESS_ABSOLUTE, arena);
  put_part(words, PART_MARGIN, "The answer, by how much", "answer_margin",
           arena_printf(arena, "=\", \"&FIXED((1-MIN(%s)/MIN(%s))*100,1,1)&\" %% less than \"&%s",
                        words->costs, rest, next),
           arena_printf(arena, ", %s %% less than %s",
                        number_text((1 - lowest / second) * 100, 1, arena),
                        option_of_cost(outputs, second)->id));
}

// "; weakest evidence that matters: claim."
static void put_grade_part(struct words *words, const char *formula, enum grade grade) {
  static const char before[] = "; weakest evidence that matters: ";
  struct arena *arena = words->outputs->book->arena;
  put_part(words, PART_GRADE, "The answer, how well founded", "answer_grade",
           arena_printf(arena, "=\"%s\"&%s&\".\"", before, formula),
           arena_printf(arena, "%s%s.", before, grade_name(grade)));
}

// All grades, of which a formula finds the weaker of two by their places: their cells, absolute.
static const char *write_grade_order(struct words *words) {
  struct outputs *outputs = words->outputs;
  struct book *book = outputs->book;
  const int row = outputs_labels(outputs, "Grades, the strongest first", "answer_grades", "-");
  for (int grade = 0; grade < GRADES; grade++)
    put_text(book, outputs->sheet, row, COLUMN_VALUE + grade, grade_name((enum grade)grade),
             TEXT_RIGHT);
  return arena_printf(book->arena, "%s:%s",
                      cell_address(row, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena),
                      cell_address(row, COLUMN_VALUE + GRADES - 1, ADDRESS_ABSOLUTE, book->arena));
}

// Where the grade of the option that a cell names stands among all grades, as a formula's part.
static const char *write_grade_of(struct words *words, const char *label, const char *key,
                                  const char *named, const char *order,
                                  const struct option *option) {
  struct outputs *outputs = words->outputs;
  struct arena *arena = outputs->book->arena;
  put_part(words, -1, label, key,
           arena_printf(arena, "=INDEX(%s,1,MATCH(%s,%s,0))",
                        outputs_all_options(outputs, outputs->grade), named, words->ids),
           grade_name(option->headline_grade));
  return arena_printf(arena, "MATCH(%s,%s,0)",
                      cell_address(outputs->row - 1, COLUMN_VALUE, ADDRESS_ABSOLUTE, arena), order);
}

// What two options are compared by is as good as the weaker of both.
static void write_compared_grade(struct words *words) {
  struct outputs *outputs = words->outputs;
  struct book *book = outputs->book;
  const struct option *best = cheapest_option(outputs->scenario);
  const struct option *next = option_of_cost(outputs, second_cost(outputs));
  const char *order = write_grade_order(words);
  const char *first = write_grade_of(
      words, "The answer, grade of the cheapest", "answer_grade_cheapest",
      cell_address(book->rows.cheapest, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena), order, best);
  const char *second = write_grade_of(
      words, "The answer, grade of the next best", "answer_grade_next",
      cell_address(words->next, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena), order, next);
  const enum grade weaker =
      best->headline_grade > next->headline_grade ? best->headline_grade : next->headline_grade;
  put_part(words, -1, "The answer, the weaker of both", "answer_grade_weaker",
           arena_printf(book->arena, "=INDEX(%s,1,MAX(%s,%s))", order, first, second),
           grade_name(weaker));
  put_grade_part(words, cell_address(outputs->row - 1, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena),
                 weaker);
}

static void write_grade_part(struct words *words) {
  struct outputs *outputs = words->outputs;
  struct book *book = outputs->book;
  if (book->rows.cheapest >= 0)
    write_compared_grade(words);
  else
    put_grade_part(words, cell_address(outputs->grade, COLUMN_VALUE, ADDRESS_ABSOLUTE, book->arena),
                   outputs->scenario->options[0].headline_grade);
}

void write_words(struct outputs *outputs) {
  struct book *book = outputs->book;
  const struct scenario *scenario = outputs->scenario;
  const bool ranked = book->rows.cheapest >= 0;
  if (!ranked && scenario->option_count > 1)
    return;
  struct words words = words_of(outputs);
  static const char *const headings[] = {"The answer in words", "Key", "Unit", ""};
  put_header(book, outputs->sheet, outputs->row++, headings, 4);
  const int others = ranked ? write_others(&words) : -1;
  write_cost_part(&words);
  if (book->simulation)
    reserve_interval(&words);
  if (ranked)
    write_margin_part(&words, others);
  write_grade_part(&words);
  outputs->row++;
}
