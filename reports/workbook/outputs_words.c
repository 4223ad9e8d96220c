// The answer of Outputs in words, and the costs that it does not include, live.
#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/schedule.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/left_out.h"
#include "model/scenario/scenario.h"
#include "model/simulate/sampler.h"
#include "reports/print/verdict.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/inputs_written.h"
#include "reports/workbook/outputs.h"
#include "reports/workbook/sheets.h"

#include <math.h>
#include <string.h>

static const struct unit digits = {.text = "digits", .counts = true};
static const struct unit flag = {.text = "flag", .counts = true};

struct words {
  struct book *book;
  const struct ranking *ranking;
  struct verdict verdict; // of several options
  const char *currency;
  struct name *decimals;
  const char *others; // costs of those that are ranked but not among the cheapest: a range
  int others_row;
};

static const char *cost_text(const struct words *words, double cost) {
  return outputs_number(cost, words->book->formats.cost_decimals, words->book->arena);
}

static double cost_of(const struct words *words, size_t option) {
  return outputs_value(words->book, option, "cost_per_mtok", 0);
}

// Whether the cheapest may be compared with it: the baseline, if that is ranked and not among them,
// else every other ranked option.
static bool is_other(const struct words *words, size_t option) {
  const struct ranking *ranking = words->ranking;
  const size_t baseline = words->book->scenario->baseline;
  const struct standing *standing = &ranking->options[option];
  return ranking->against >= 0 && standing->ranked && !standing->cheapest &&
         (option == baseline || (size_t)ranking->against != baseline);
}

static double lowest_cost(const struct words *words) {
  double lowest = INFINITY;
  for (size_t o = 0; o < words->ranking->option_count; o++)
    if (words->ranking->options[o].ranked)
      lowest = fmin(lowest, cost_of(words, o));
  return isfinite(lowest) ? lowest : 0;
}

// A part of the sentence, in the next row.
static void put_part(struct words *words, enum answer_part part, const char *label, const char *key,
                     const char *formula, const char *value) {
  struct book *book = words->book;
  book->sheets->rows.words[part].row = book->row;
  book->sheets->rows.words[part].text = value;
  outputs_text(book, label, key, formula, value);
}

// A formula that is empty if no option is the cheapest.
static const char *unless_none(const struct words *words, const char *formula) {
  struct arena *arena = words->book->arena;
  return words->verdict.count
             ? arena_printf(arena, "=IF(%s=0,\"\",%s)", words->verdict.count, formula)
             : arena_printf(arena, "=%s", formula);
}

static bool is_none(const struct words *words) {
  return words->verdict.count && words->ranking->cheapest < 0;
}

// ---- which, and how much

// "h100 costs 0.1498 USD per million output tokens"
static void write_single_cost(struct words *words) {
  struct arena *arena = words->book->arena;
  struct book *book = words->book;
  put_part(words, PART_COST, "The answer, which and how much", "answer_cost",
           arena_printf(arena, "=%s&\" costs \"&FIXED(%s,%s,1)&\" %s per million output tokens\"",
                        outputs_fixed(book, book->sheets->rows.options),
                        outputs_fixed(book, book->sheets->rows.cost), words->decimals->text,
                        words->currency),
           arena_printf(arena, "%s costs %s %s per million output tokens",
                        book->scenario->options[0].label, cost_text(words, cost_of(words, 0)),
                        words->currency));
}

// "mi325x costs least: 0.1498 USD per million output tokens"
static void write_cost_part(struct words *words) {
  struct book *book = words->book;
  struct arena *arena = book->arena;
  const struct verdict *verdict = &words->verdict;
  const size_t cheapest = words->ranking->cheapest_count;
  const char *verb = cheapest == 1 ? " costs least: " : " cost least: ";
  const char *amount = arena_printf(arena, "%s %s per million output tokens",
                                    cost_text(words, lowest_cost(words)), words->currency);
  const char *who = outputs_fixed(book, book->sheets->rows.cheapest);
  const char *verb_cell = outputs_text(
      book, "The answer, its verb", "answer_verb",
      arena_printf(arena, "=IF(%s=1,\" costs least: \",\" cost least: \")", verdict->count), verb);
  const char *amount_cell =
      outputs_text(book, "The answer, how much", "answer_amount",
                   arena_printf(arena, "=FIXED(MIN(%s),%s,1)&\" %s per million output tokens\"",
                                verdict->costs, words->decimals->text, words->currency),
                   amount);
  put_part(words, PART_COST, "The answer, which and how much", "answer_cost",
           arena_printf(arena, "=IF(%s=0,\"The options are \"&%s,%s&%s&%s)", verdict->count, who,
                        who, verb_cell, amount_cell),
           cheapest ? arena_printf(arena, "%s%s%s", verdict->names, verb, amount)
                    : arena_printf(arena, "The options are %s", verdict->names));
}

// ---- by how much

static void write_others(struct words *words) {
  struct book *book = words->book;
  const struct unit *unit = outputs_unit(book, "cost_per_mtok");
  lxw_format *format = formats_cell(&book->formats, CELL_FORMULA, unit);
  const size_t baseline = book->scenario->baseline;
  const int row = outputs_labels(book, "Cost per token of what the cheapest is compared with",
                                 "other_cost", unit->text);
  const char *no_baseline =
      arena_printf(book->arena, ",OR(%s=0,%s=1)",
                   cell_fixed(book, book->sheets->rows.ranked, outputs_option_column(baseline)),
                   cell_fixed(book, words->verdict.flags_row, outputs_option_column(baseline)));
  for (size_t o = 0; o < words->ranking->option_count; o++) {
    const char *formula = arena_printf(
        book->arena, "=IF(AND(%s>0,%s=1,%s=0%s),%s,\"-\")", words->verdict.count,
        outputs_cell(book, book->sheets->rows.ranked, o),
        outputs_cell(book, words->verdict.flags_row, o), o == baseline ? "" : no_baseline,
        outputs_cell(book, book->sheets->rows.cost, o));
    if (is_other(words, o))
      put_formula_in(book, row, outputs_option_column(o), cost_of(words, o), format, "%s", formula);
    else
      put_formula_text(book, row, outputs_option_column(o), "-", format, "%s", formula);
  }
  words->others_row = row;
  words->others = outputs_all_options(book, row);
}

// ", 14.3 % less than h200", ", less than nothing"; empty if there is no other.
static void write_margin_part(struct words *words) {
  struct book *book = words->book;
  struct arena *arena = book->arena;
  const int next = words->ranking->against;
  const char *name = next < 0 ? "-" : book->scenario->options[next].label;
  const char *next_cell = outputs_text(
      book, "The answer, compared with", "answer_next",
      arena_printf(arena, "=IF(COUNT(%s)=0,\"-\",INDEX(%s,1,MATCH(MIN(%s),%s,0)))", words->others,
                   outputs_all_options(book, book->sheets->rows.options), words->others,
                   words->others),
      name);
  const int row =
      outputs_labels(book, "The answer, saving over it", "answer_less", unit_percent.text);
  const bool negative = next >= 0 && isnan(words->ranking->saving);
  const double saving = negative ? 0 : words->ranking->saving;
  put_formula(book, row, COLUMN_VALUE, saving, CELL_FORMULA, &unit_percent,
              "=IF(OR(COUNT(%s)=0,MIN(%s)<0),0,1-MIN(%s)/MIN(%s))", words->others,
              words->verdict.costs, words->verdict.costs, words->others);
  const char *share = verdict_percent(saving, arena);
  struct name *least =
      constants_literal(&book->constants, "answer", "Least saving shown as a number",
                        "below, one decimal would show 0.0 %", VERDICT_LEAST_SAVING, &unit_percent);
  struct name *most = constants_literal(
      &book->constants, "answer", "Least saving shown as almost all",
      "from here, one decimal would show 100.0 %", VERDICT_MOST_SAVING, &unit_percent);
  least->used = most->used = true;
  const char *number_cell =
      outputs_text(book, "The answer, saving as a number", "answer_number",
                   arena_printf(arena, "=IF(AND(%s>=%s,%s<1),\"%s\",FIXED(%s*100,1,1)&\" %%\")",
                                outputs_fixed(book, row), most->text, outputs_fixed(book, row),
                                VERDICT_MUCH, outputs_fixed(book, row)),
                   saving < VERDICT_LEAST_SAVING
                       ? arena_printf(arena, "%s %%", outputs_number(saving * 100, 1, arena))
                       : share);
  const char *share_cell =
      outputs_text(book, "The answer, saving in words", "answer_share",
                   arena_printf(arena, "=IF(%s<%s,\"%s\",%s)", outputs_fixed(book, row),
                                least->text, VERDICT_LITTLE, number_cell),
                   share);
  const char *than =
      negative ? VERDICT_NEGATIVE : arena_printf(arena, "%s less than %s", share, name);
  const char *than_cell = outputs_text(
      book, "The answer, how much less", "answer_than",
      arena_printf(arena, "=IF(MIN(%s)<0,\"" VERDICT_NEGATIVE "\",%s&\" less than \"&%s)",
                   words->verdict.costs, share_cell, next_cell),
      than);
  put_part(words, PART_MARGIN, "The answer, by how much", "answer_margin",
           arena_printf(arena, "=IF(%s=\"-\",\"\",\", \"&%s)", next_cell, than_cell),
           next < 0 ? "" : arena_printf(arena, ", %s", than));
}

// ---- with what uncertainty

// "|base|dear_power|", in which a formula finds a name; "" for none.
static const char *barred(const struct texts *names, struct arena *arena) {
  return names->count ? arena_printf(arena, "|%s|", texts_joined_by(names, "|", arena)) : "";
}

// The cases in which no input has a range.
static const char *certain_cases(const struct words *words) {
  struct arena *arena = words->book->arena;
  struct scenario in_case = *words->book->scenario;
  struct texts names = {0};
  for (in_case.selected = 0; in_case.selected < in_case.case_count; in_case.selected++)
    if (!sampler_draws_any(&in_case, NULL))
      texts_add(&names, arena, "%s", in_case.case_labels[in_case.selected]);
  return barred(&names, arena);
}

// The text about the ranges if the run does not apply.
static const char *write_otherwise(struct words *words) {
  static const char again[] = " (over the ranges: run simulate again)";
  struct book *book = words->book;
  const char *certain = certain_cases(words);
  if (!*certain)
    return arena_printf(book->arena, "\"%s\"", again);
  struct name *shown = book->sheets->case_name;
  const int cases = outputs_labels(book, "The answer, cases without ranges", "answer_certain", "-");
  put_text(book, cases, COLUMN_VALUE, certain, TEXT_PLAIN);
  shown->used = true;
  return outputs_text(
      book, "The answer, where the draws do not hold", "answer_otherwise",
      arena_printf(book->arena, "=IF(ISNUMBER(FIND(\"|\"&%s&\"|\",%s)),\"; %s\",\"%s\")",
                   shown->text, outputs_fixed(book, cases), VERDICT_CERTAIN, again),
      strstr(certain, arena_printf(book->arena, "|%s|",
                                   book->scenario->case_labels[book->scenario->selected]))
          ? "; " VERDICT_CERTAIN
          : again);
}

// That everything before is at the base values and, as long as the simulation is of the current
// inputs, the result over the ranges.
static void write_ranges_part(struct words *words) {
  struct book *book = words->book;
  struct arena *arena = book->arena;
  const char *verdict = arena_printf(
      arena, "; %s",
      verdict_over_ranges(book->scenario, words->ranking, book->sheets->simulation, arena));
  const char *otherwise = write_otherwise(words);
  const char *said = outputs_text(
      book, "The answer, what the ranges make of it", "answer_over_ranges",
      arena_printf(
          arena, "=IF(%s=\"" STATE_CURRENT "\",\"; \"&%s,%s)", simulation_state(book),
          cell_on(book, SHEET_SIMULATION, book->sheets->simulation_rows.words, COLUMN_VALUE),
          otherwise),
      verdict);
  put_part(words, PART_RANGES, "The answer, how sure", "answer_ranges",
           unless_none(words, arena_printf(arena, "\"%s\"&%s", VERDICT_BASE, said)),
           is_none(words) ? "" : arena_printf(arena, "%s%s", VERDICT_BASE, verdict));
}

// ---- on what evidence

// All grades, in whose order a formula finds the weaker of two: their cells, absolute.
static const char *write_grade_order(struct book *book) {
  const int row = outputs_labels(book, "Grades, the strongest first", "answer_grades", "-");
  for (int grade = 0; grade < GRADES; grade++)
    put_text(book, row, COLUMN_VALUE + grade, grade_name((enum grade)grade), TEXT_RIGHT);
  return arena_printf(book->arena, "%s:%s", outputs_fixed(book, row),
                      cell_fixed(book, row, COLUMN_VALUE + GRADES - 1));
}

// The evidence for what options are compared by is its weakest grade: the row of the weakest so
// far. Returns the cell of the last one.
static const char *write_weakest(struct words *words, enum grade *weakest) {
  struct book *book = words->book;
  struct arena *arena = book->arena;
  lxw_format *format = formats_text(&book->formats, TEXT_RIGHT);
  const char *order = write_grade_order(book);
  const int named = outputs_labels(book, "The answer, grades it rests on", "answer_grade_of", "-");
  const int row =
      outputs_labels(book, "The answer, the weakest so far", "answer_grade_weakest", "-");
  *weakest = (enum grade)0;
  for (size_t o = 0; o < words->ranking->option_count; o++) {
    const int column = outputs_option_column(o);
    const enum grade own = ranking_names(book->scenario, words->ranking, o)
                               ? book->scenario->options[o].headline_grade
                               : (enum grade)0;
    const char *own_cell = outputs_cell(book, named, o);
    *weakest = own > *weakest ? own : *weakest;
    put_formula_text(book, named, column, grade_name(own), format, "=IF(OR(%s=1,%s=MIN(%s)),%s,%s)",
                     outputs_cell(book, words->verdict.flags_row, o),
                     outputs_cell(book, words->others_row, o), words->others,
                     outputs_cell(book, book->sheets->rows.grade, o),
                     outputs_fixed(book, named - 1));
    put_formula_text(book, row, column, grade_name(*weakest), format, "%s",
                     o ? arena_printf(arena, "=INDEX(%s,1,MAX(MATCH(%s,%s,0),MATCH(%s,%s,0)))",
                                      order, outputs_cell(book, row, o - 1), order, own_cell, order)
                       : arena_printf(arena, "=%s", own_cell));
  }
  const size_t last = words->ranking->option_count - 1;
  return cell_fixed(book, row, outputs_option_column(last));
}

// "; weakest evidence that matters: claim."
static void write_grade_part(struct words *words) {
  static const char before[] = "; weakest evidence that matters: ";
  struct book *book = words->book;
  struct arena *arena = book->arena;
  const bool several = words->verdict.count != NULL;
  enum grade grade = book->scenario->options[0].headline_grade;
  const char *cell =
      several ? write_weakest(words, &grade) : outputs_fixed(book, book->sheets->rows.grade);
  const char *formula = arena_printf(arena, "\"%s\"&%s", before, cell);
  put_part(words, PART_GRADE, "The answer, how well founded", "answer_grade",
           arena_printf(arena, "%s&\".\"", unless_none(words, formula)),
           is_none(words) ? "." : arena_printf(arena, "%s%s.", before, grade_name(grade)));
}

// ---- the whole

void write_words(struct book *book) {
  const bool several = ranking_may_rank(book->sheets->ranking);
  if (!several && book->scenario->option_count > 1)
    return;
  static const char *const headings[] = {"The answer in words", "Key", "Unit", ""};
  const struct unit *unit = outputs_unit(book, "cost_per_mtok");
  struct words words = {.book = book,
                        .ranking = book->sheets->ranking,
                        .currency = arena_copy_n(book->arena, unit->text, strcspn(unit->text, "/")),
                        .decimals = constants_literal(&book->constants, "answer",
                                                      "Decimals of the answer's cost", "decimals",
                                                      book->formats.cost_decimals, &digits)};
  words.decimals->used = true;
  put_header(book, book->row++, headings, 4);
  if (several) {
    write_verdict(book, &words.verdict);
    write_others(&words);
    write_cost_part(&words);
  } else
    write_single_cost(&words);
  if (several)
    write_margin_part(&words);
  if (book->sheets->simulation)
    write_ranges_part(&words);
  write_grade_part(&words);
  book->row++;
}

// ---- what it takes to cost nothing

// The net price of purchased accelerators, a rate of others; -1 for none that is one number.
static int price_of(const struct scenario *scenario, const struct option *option) {
  const int net = model_find(scenario->model, "net_price");
  const int price = net >= 0 && option_is_owned(option) && option_has(option, net)
                        ? net
                        : option_price(scenario, option);
  return price >= 0 && option_has(option, price) && !graph_is_series(option->graph, price) ? price
                                                                                           : -1;
}

// The first of the options with a price of zero: it is valid, and costs least.
void write_free(struct book *book) {
  static const char has[] = " has a price of zero";
  const struct scenario *scenario = book->scenario;
  struct output_rows *rows = &book->sheets->rows;
  const int row = outputs_labels(book, "A price of zero", "free", flag.text);
  rows->free_text = "";
  for (size_t o = scenario->option_count; o-- > 0;) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    const int price = price_of(scenario, sheet->option);
    const bool is_free = price >= 0 && shown_value(book, sheet, price, 0) == 0;
    if (price >= 0)
      put_formula(book, row, outputs_option_column(o), is_free, CELL_FORMULA, &flag,
                  "=IF(%s=0,1,0)", option_name_used(sheet, price));
    if (is_free)
      rows->free_text = arena_printf(book->arena, "%s%s", scenario->options[o].label, has);
  }
  const char *flags = outputs_all_options(book, row);
  const char *which = scenario->option_count > 1
                          ? arena_printf(book->arena, "INDEX(%s,1,MATCH(1,%s,0))",
                                         outputs_all_options(book, rows->options), flags)
                          : outputs_fixed(book, rows->options);
  rows->free = book_place(book, book->row);
  outputs_text(book, "The first price of zero, in words", "free_words",
               arena_printf(book->arena, "=IF(SUM(%s)=0,\"\",%s&\"%s\")", flags, which, has),
               rows->free_text);
  book->row++;
}

// ---- the costs that it does not include

// The costs that each option lacks, up to one of them: the row and its text, if there is one yet.
struct missing {
  int *rows;
  const char **texts;
};

// A cost that an option may leave out, and the inputs that state it.
struct omissible {
  struct book *book;
  size_t option;
  int declaration, inputs[MAX_YEARS], count;
};

static bool may_be_missing(struct book *book, size_t option, int declaration,
                           struct omissible *cost) {
  *cost = (struct omissible){.book = book, .option = option, .declaration = declaration};
  cost->count =
      left_out_inputs(book->scenario, &book->scenario->options[option], declaration, cost->inputs);
  return cost->count > 0;
}

static bool any_may_be_missing(struct book *book, int declaration, const struct missing *before) {
  struct omissible cost;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if ((!before || before->rows[o] >= 0) && may_be_missing(book, o, declaration, &cost))
      return true;
  return false;
}

static bool is_left_out(const struct omissible *cost, size_t which_case) {
  const struct scenario *scenario = cost->book->scenario;
  return left_out(scenario, &scenario->options[cost->option], which_case, cost->declaration);
}

static bool is_zero(const struct omissible *cost, size_t which_case) {
  const struct option_sheet *sheet = &cost->book->sheets->options[cost->option];
  for (int i = 0; i < cost->count; i++)
    if (amount_in(sheet, cost->inputs[i], 0, which_case) != 0)
      return false;
  return true;
}

// Is there a case in which it is zero and left out as written, or one in which it is only zero?
static bool any_case(const struct omissible *cost, bool left_out) {
  for (size_t c = 0; c < cost->book->scenario->case_count; c++)
    if (is_zero(cost, c) && is_left_out(cost, c) == left_out)
      return true;
  return false;
}

static bool has_source(const struct omissible *cost) {
  return any_case(cost, false);
}

static bool depends_on_case(const struct omissible *cost) {
  return has_source(cost) && any_case(cost, true);
}

// The rows of one cost, a column for each option; -1 for one that none needs.
struct cost_rows {
  int cases;    // those in which it is left out as written, although in others it has a source
  int lost;     // whether a zero has no source, or no longer
  int left_out; // whether it is left out
  int commas, texts;
};

static void write_cases_without(const struct omissible *cost, int row) {
  const struct scenario *scenario = cost->book->scenario;
  struct texts names = {0};
  for (size_t c = 0; c < scenario->case_count; c++)
    if (is_left_out(cost, c))
      texts_add(&names, cost->book->arena, "%s", scenario->case_labels[c]);
  put_text(cost->book, row, outputs_option_column(cost->option), barred(&names, cost->book->arena),
           TEXT_RIGHT);
}

// "pt_hall_colo_rate=0" of an input that is one value or a list, whose years are side by side on
// Inputs.
static const char *zero_text(struct book *book, const struct option_sheet *sheet, int declaration,
                             const int *inputs, int years) {
  const int row = sheet->input_rows[inputs[0]];
  if (inputs[0] == declaration)
    return arena_printf(book->arena, "%s=0", option_name_used(sheet, declaration));
  return arena_printf(book->arena, "SUM(%s:%s)=0", cell_on(book, SHEET_INPUTS, row, COLUMN_CASE),
                      cell_fixed(book, row, COLUMN_CASE + years - 1));
}

static int years_of(const struct book *book, int declaration) {
  return book->scenario->model->declarations[declaration].year_count;
}

// The source is lost if the zero is overwritten, or a figure that it is part of, or if the rent of
// which that is a part becomes zero; in some cases it may have none.
static void write_lost(const struct omissible *cost, const struct cost_rows *rows) {
  struct book *book = cost->book;
  const struct option_sheet *sheet = &book->sheets->options[cost->option];
  struct name *shown = book->sheets->case_name;
  struct texts reasons = {0};
  int within = -1, rents = 0, rent[MAX_YEARS];
  for (size_t c = 0; c < book->scenario->case_count && within < 0; c++) {
    within = left_out_within(book->scenario, sheet->option, c, cost->inputs[0]);
    rents = left_out_rent(book->scenario, sheet->option, c, cost->inputs[0], rent);
  }
  texts_add(&reasons, book->arena, "%s=1",
            written_changed(book, sheet->input_rows[cost->inputs[0]]));
  if (within >= 0)
    texts_add(&reasons, book->arena, "%s=1", written_changed(book, sheet->input_rows[within]));
  if (rents) {
    const int rented = book->scenario->model->declarations[within].only_with;
    texts_add(
        &reasons, book->arena, "%s",
        zero_text(book, sheet, option_stated(sheet->option, rented), rent, years_of(book, rented)));
  }
  if (depends_on_case(cost)) {
    shown->used = true;
    texts_add(&reasons, book->arena, "ISNUMBER(FIND(\"|\"&%s&\"|\",%s))", shown->text,
              outputs_cell(book, rows->cases, cost->option));
  }
  put_formula(book, rows->lost, outputs_option_column(cost->option),
              is_left_out(cost, book->scenario->selected), CELL_FORMULA, &flag, "=IF(OR(%s),1,0)",
              texts_joined_by(&reasons, ",", book->arena));
}

// ",Scale=0" of a list that is scaled, unless a zero scale as written has a source; else "".
static const char *or_scaled_away(const struct omissible *cost) {
  struct book *book = cost->book;
  const struct option *option = &book->scenario->options[cost->option];
  const int scale = left_out_scale(option, cost->declaration);
  for (size_t c = 0; scale >= 0 && c < book->scenario->case_count; c++) {
    const struct figure *figure = option_figure(book->scenario, option, c, scale);
    if (figure->value == 0 && figure_has_source(figure))
      return "";
  }
  return scale < 0 ? ""
                   : arena_printf(book->arena, ",%s=0",
                                  option_name_used(&book->sheets->options[cost->option], scale));
}

static void write_left_out(const struct omissible *cost, const struct cost_rows *rows) {
  struct book *book = cost->book;
  const char *zero = zero_text(book, &book->sheets->options[cost->option], cost->declaration,
                               cost->inputs, years_of(book, cost->declaration));
  const char *formula = has_source(cost)
                            ? arena_printf(book->arena, "AND(%s,%s=1)", zero,
                                           outputs_cell(book, rows->lost, cost->option))
                            : zero;
  put_formula(book, rows->left_out, outputs_option_column(cost->option),
              is_left_out(cost, book->scenario->selected), CELL_FORMULA, &flag, "=IF(OR(%s%s),1,0)",
              formula, or_scaled_away(cost));
}

static void write_text(const struct omissible *cost, const struct cost_rows *rows,
                       struct missing *missing) {
  struct book *book = cost->book;
  const size_t option = cost->option;
  lxw_format *format = formats_text(&book->formats, TEXT_RIGHT);
  const char *left_out = outputs_cell(book, rows->left_out, option), *comma = "", *before = "";
  const char *notice = left_out_notice(book->scenario, cost->declaration);
  const bool now = is_left_out(cost, book->scenario->selected);
  const int column = outputs_option_column(option);
  if (missing->rows[option] >= 0) {
    const char *others = outputs_cell(book, missing->rows[option], option);
    comma = now && *missing->texts[option] ? ", " : "";
    before = arena_printf(book->arena, "%s&%s&", others, outputs_cell(book, rows->commas, option));
    put_formula_text(book, rows->commas, column, comma, format,
                     "=IF(AND(%s=1,%s<>\"\"),\", \",\"\")", left_out, others);
  }
  missing->rows[option] = rows->texts;
  missing->texts[option] =
      arena_printf(book->arena, "%s%s%s", missing->texts[option], comma, now ? notice : "");
  put_formula_text(book, rows->texts, column, missing->texts[option], format,
                   "=%sIF(%s=1,\"%s\",\"\")", before, left_out, notice);
}

// A row of a cost, if there is an option for which something holds.
static int row_if(struct book *book, int declaration, bool (*holds)(const struct omissible *),
                  const char *label, const char *key, const char *unit) {
  const struct declaration *input = &book->scenario->model->declarations[declaration];
  struct omissible cost;
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (may_be_missing(book, o, declaration, &cost) && holds(&cost))
      return outputs_labels(
          book,
          arena_printf(book->arena, "%s %s", label, left_out_notice(book->scenario, declaration)),
          arena_printf(book->arena, "%s_%s", key, input->name), unit);
  return -1;
}

static bool is_any(const struct omissible *cost) {
  return cost->count > 0;
}

static void write_missing_cost(struct book *book, int declaration, struct missing *missing) {
  struct omissible cost;
  struct cost_rows rows = {.commas = -1};
  rows.cases = row_if(book, declaration, depends_on_case, "Cases, as written, without",
                      "cases_without", "-");
  rows.lost =
      row_if(book, declaration, has_source, "No source that includes", "no_source", flag.text);
  rows.left_out = row_if(book, declaration, is_any, "Left out:", "left_out", flag.text);
  if (any_may_be_missing(book, declaration, missing))
    rows.commas = row_if(book, declaration, is_any, "Comma before", "comma", "-");
  rows.texts = row_if(book, declaration, is_any, "Not included, up to", "without", "-");
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    if (!may_be_missing(book, o, declaration, &cost))
      continue;
    if (depends_on_case(&cost))
      write_cases_without(&cost, rows.cases);
    if (has_source(&cost))
      write_lost(&cost, &rows);
    write_left_out(&cost, &rows);
    write_text(&cost, &rows, missing);
  }
}

void write_missing(struct book *book) {
  static const char *const headings[] = {"Costs that are not included", "Key", "Unit", ""};
  const struct scenario *scenario = book->scenario;
  const size_t count = scenario->option_count;
  struct missing missing = {.rows = arena_array(book->arena, count, sizeof *missing.rows),
                            .texts = arena_array(book->arena, count, sizeof *missing.texts)};
  for (size_t o = 0; o < count; o++) {
    missing.rows[o] = -1;
    missing.texts[o] = "";
  }
  put_header(book, book->row++, headings, 4);
  for (int d = 0; d < scenario->model->count; d++)
    if (any_may_be_missing(book, d, NULL))
      write_missing_cost(book, d, &missing);
  book->sheets->rows.not_included = missing.rows;
  book->row++;
}
