#include "reports/outputs/words.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/sampler.h"
#include "reports/outputs/rows.h"
#include "reports/outputs/verdict.h"
#include "reports/print/verdict.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <math.h>
#include <string.h>

static const struct unit digits = {.text = "digits", .counts = true};

struct words {
  struct book *book;
  const struct ranking *ranking;
  struct verdict verdict; // of several options
  const char *currency;
  const char *decimals; // the name of their number
  const char *others;   // costs of those that are ranked but not among the cheapest: a range
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
                        outputs_fixed(book, book->sheets->rows.cost), words->decimals,
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
                                verdict->costs, words->decimals, words->currency),
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
  const char *number_cell =
      outputs_text(book, "The answer, saving as a number", "answer_number",
                   arena_printf(arena, "=IF(AND(%s>=%s,%s<1),\"%s\",FIXED(%s*100,1,1)&\" %%\")",
                                outputs_fixed(book, row), name_use(most), outputs_fixed(book, row),
                                VERDICT_MUCH, outputs_fixed(book, row)),
                   saving < VERDICT_LEAST_SAVING
                       ? arena_printf(arena, "%s %%", outputs_number(saving * 100, 1, arena))
                       : share);
  const char *share_cell =
      outputs_text(book, "The answer, saving in words", "answer_share",
                   arena_printf(arena, "=IF(%s<%s,\"%s\",%s)", outputs_fixed(book, row),
                                name_use(least), VERDICT_LITTLE, number_cell),
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

// The cases in which no input has a range.
static const char *certain_cases(const struct words *words) {
  struct arena *arena = words->book->arena;
  struct scenario in_case = *words->book->scenario;
  struct texts names = {0};
  for (in_case.selected = 0; in_case.selected < in_case.case_count; in_case.selected++)
    if (!sampler_draws_any(&in_case, NULL))
      texts_add(&names, arena, "%s", in_case.case_labels[in_case.selected]);
  return outputs_name_list(&names, arena);
}

// The text about the ranges if the run does not apply.
static const char *write_otherwise(struct words *words) {
  static const char again[] = " (over the ranges: run simulate again)";
  struct book *book = words->book;
  const char *certain = certain_cases(words);
  if (!*certain)
    return arena_printf(book->arena, "\"%s\"", again);
  const int cases = outputs_labels(book, "The answer, cases without ranges", "answer_certain", "-");
  put_text(book, cases, COLUMN_VALUE, certain, TEXT_PLAIN);
  return outputs_text(
      book, "The answer, if the simulation is out of date", "answer_otherwise",
      arena_printf(book->arena, "=IF(ISNUMBER(FIND(\"|\"&%s&\"|\",%s)),\"; %s\",\"%s\")",
                   name_use(book->sheets->case_name), outputs_fixed(book, cases), VERDICT_CERTAIN,
                   again),
      strstr(certain, arena_printf(book->arena, "|%s|",
                                   book->scenario->case_labels[book->scenario->selected]))
          ? "; " VERDICT_CERTAIN
          : again);
}

// Says that everything before is at the base values and, as long as the simulation is of the
// current inputs, what the result is over the ranges.
static void write_ranges_part(struct words *words) {
  struct book *book = words->book;
  struct arena *arena = book->arena;
  const char *verdict = arena_printf(
      arena, "; %s",
      verdict_over_ranges(book->scenario, words->ranking, book->sheets->simulation, arena));
  const char *otherwise = write_otherwise(words);
  const char *said = outputs_text(
      book, "The answer, over the ranges", "answer_over_ranges",
      arena_printf(
          arena, "=IF(%s=\"" STATE_CURRENT "\",\"; \"&%s,%s)", simulation_state(book),
          cell_on(book, SHEET_SIMULATION, book->sheets->simulation_rows.words, COLUMN_VALUE),
          otherwise),
      verdict);
  put_part(words, PART_RANGES, "The answer, how sure", "answer_ranges",
           unless_none(words, arena_printf(arena, "\"%s\"&%s", VERDICT_BASE, said)),
           is_none(words) ? "" : arena_printf(arena, "%s%s", VERDICT_BASE, verdict));
}

// ---- whether the discount rate decides

static const char levelised[] = "levelised_cost_per_mtok";

static double levelised_of(const struct words *words, size_t option) {
  return outputs_value(words->book, option, levelised, 0);
}

// The levelized costs of the ranked options: a range in which the others have texts.
static int write_levelised_costs(struct words *words) {
  struct book *book = words->book;
  const struct unit *unit = outputs_unit(book, levelised);
  lxw_format *format = formats_cell(&book->formats, CELL_FORMULA, unit);
  const int row = outputs_labels(book, "Levelized cost per token of the ranked options",
                                 "ranked_levelised", unit->text);
  for (size_t o = 0; o < words->ranking->option_count; o++) {
    const char *formula = arena_printf(book->arena, "=IF(%s=1,%s,\"-\")",
                                       outputs_cell(book, book->sheets->rows.ranked, o),
                                       outputs_cell(book, book->sheets->rows.levelised, o));
    if (words->ranking->options[o].ranked)
      put_formula_in(book, row, outputs_option_column(o), levelised_of(words, o), format, "%s",
                     formula);
    else
      put_formula_text(book, row, outputs_option_column(o), "-", format, "%s", formula);
  }
  return row;
}

static const bool *cheapest_by_levelised(const struct words *words) {
  const size_t count = words->ranking->option_count;
  double *costs = arena_array(words->book->arena, count, sizeof *costs);
  bool *ranked = arena_array(words->book->arena, 2 * count, sizeof *ranked);
  for (size_t o = 0; o < count; o++) {
    costs[o] = levelised_of(words, o);
    ranked[o] = words->ranking->options[o].ranked;
  }
  ranking_mark(costs, ranked, count, ranked + count);
  return ranked + count;
}

// Flags of the cheapest by levelized cost, and of those that are it by both costs.
struct levelised_flags {
  int cheapest, both;
};

static struct levelised_flags write_levelised_flags(struct words *words, int costs_row) {
  struct book *book = words->book;
  const struct ranking *ranking = words->ranking;
  const char *costs = outputs_all_options(book, costs_row);
  const bool *cheapest = cheapest_by_levelised(words);
  const struct levelised_flags rows = {
      outputs_labels(book, "Flag of the cheapest by levelized cost", "levelised_cheapest",
                     unit_flag.text),
      outputs_labels(book, "Flag of the cheapest by both costs", "both_cheapest", unit_flag.text)};
  for (size_t o = 0; o < ranking->option_count; o++) {
    put_formula(book, rows.cheapest, outputs_option_column(o), cheapest[o], CELL_FORMULA,
                &unit_flag, "=IF(AND(COUNT(%s)>1,%s<=MIN(%s)),1,0)", costs,
                outputs_cell(book, costs_row, o), costs);
    put_formula(book, rows.both, outputs_option_column(o),
                cheapest[o] && ranking->options[o].cheapest, CELL_FORMULA, &unit_flag, "=%s*%s",
                outputs_cell(book, words->verdict.flags_row, o),
                outputs_cell(book, rows.cheapest, o));
  }
  return rows;
}

// "By levelized cost, h200 costs least.", if none of the cheapest does.
static void write_turned(struct words *words) {
  static const char before[] = "By levelized cost, ", after[] = " costs least.";
  struct book *book = words->book;
  struct arena *arena = book->arena;
  const int turned = words->ranking->turned_to;
  const struct levelised_flags rows = write_levelised_flags(words, write_levelised_costs(words));
  const char *flags = outputs_all_options(book, rows.cheapest);
  const char *name = turned < 0 ? "-" : book->scenario->options[turned].label;
  const char *name_cell =
      outputs_text(book, "The cheapest by levelized cost, if another", "answer_turned_to",
                   arena_printf(arena, "=IF(OR(%s=0,SUM(%s)>0),\"-\",INDEX(%s,1,MATCH(1,%s,0)))",
                                words->verdict.count, outputs_all_options(book, rows.both),
                                outputs_all_options(book, book->sheets->rows.options), flags),
                   name);
  const char *text = turned < 0 ? "" : arena_printf(arena, "%s%s%s", before, name, after);
  book->sheets->rows.turned = book_place(book, book->row);
  book->sheets->rows.turned_text = text;
  outputs_text(book, "The answer, if the discount rate decides", "answer_turned",
               arena_printf(arena, "=IF(%s=\"-\",\"\",\"%s\"&%s&\"%s\")", name_cell, before,
                            name_cell, after),
               text);
}

// ---- on what evidence

// A row of all grades, in whose order a formula finds the weaker of two. Returns its cells,
// absolute.
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

void words_write(struct book *book) {
  const bool several = ranking_may_rank(book->sheets->ranking);
  if (!several && book->scenario->option_count > 1)
    return;
  static const char *const headings[] = {"The answer in words", "Key", "Unit", ""};
  const struct unit *unit = outputs_unit(book, "cost_per_mtok");
  struct words words = {.book = book,
                        .ranking = book->sheets->ranking,
                        .currency = arena_copy_n(book->arena, unit->text, strcspn(unit->text, "/")),
                        .decimals = name_use(constants_literal(
                            &book->constants, "answer", "Decimals of the answer's cost", "decimals",
                            book->formats.cost_decimals, &digits))};
  put_header(book, book->row++, headings, 4);
  if (several) {
    verdict_write(book, &words.verdict);
    write_others(&words);
    write_cost_part(&words);
  } else
    write_single_cost(&words);
  if (several)
    write_margin_part(&words);
  if (book->sheets->simulation)
    write_ranges_part(&words);
  write_grade_part(&words);
  if (several)
    write_turned(&words);
  book->row++;
}
