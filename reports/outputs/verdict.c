#include "reports/outputs/verdict.h"

#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/rows.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <stddef.h>

static const struct standing *standing_of(struct book *book, size_t option) {
  return &book->sheets->ranking->options[option];
}

// The sheet's names for ranking_amounts, in their order.
static const struct amount_labels {
  const char *label, *key;         // of the row of words
  const char *beside, *beside_key; // of the row of additional notes
  const char *limit, *limit_note;  // constants
  const char *shown, *shown_note;
} amount_labels[RANKING_AMOUNTS] = {
    {"Demand served, where not all of it", "served_words", "Additional note", "served_ramp",
     "Share of the demand that counts as all of it", "100 %, less rounding error",
     "Largest share shown for partly served demand", "so that it is never shown as all"},
    {"Power drawn above the site limit", "site_words", NULL, NULL,
     "Share above the site power that counts as none", "0 %, and rounding error",
     "Smallest excess of site power shown", "so that it is never shown as none"}};

// The option's item, or -1 if nothing of this kind can exclude it.
static int item_of(struct book *book, size_t option, size_t amount) {
  if (!ranking_is_eligible(standing_of(book, option)))
    return -1;
  return ranking_amount_of(book->scenario, &book->scenario->options[option],
                           &ranking_amounts[amount]);
}

static bool any_item(struct book *book, size_t amount) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (item_of(book, o, amount) >= 0)
      return true;
  return false;
}

// ---- which options are ranked

static const char *amount_cell(struct book *book, size_t option, size_t amount) {
  return outputs_cell(book, book->sheets->outputs->amounts[amount], option);
}

// "D$20<pt_ranking_1": whether it is beyond the limit.
static const char *beyond(struct book *book, size_t option, size_t amount) {
  const struct ranking_amount *rule = &ranking_amounts[amount];
  struct name *limit =
      constants_literal(&book->constants, "ranking", amount_labels[amount].limit,
                        amount_labels[amount].limit_note, rule->limit, &unit_percent);
  return arena_printf(book->arena, "%s%s%s", amount_cell(book, option, amount),
                      rule->at_most ? ">" : "<", name_use(limit));
}

// "=IF(D$20<pt_ranking_1,0,1)"
static const char *ranked_formula(struct book *book, size_t option) {
  const char *bars = "";
  size_t count = 0;
  if (!ranking_is_eligible(standing_of(book, option)))
    return "=0";
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    if (item_of(book, option, a) >= 0)
      bars = arena_printf(book->arena, "%s%s%s", bars, count++ ? "," : "", beyond(book, option, a));
  return count == 0   ? "=1"
         : count == 1 ? arena_printf(book->arena, "=IF(%s,0,1)", bars)
                      : arena_printf(book->arena, "=IF(OR(%s),0,1)", bars);
}

// The rows of words for an amount; 0 if no option has it, or no note goes with it.
struct amount_rows {
  int words, beside;
};

static bool is_last(size_t amount) {
  return amount == RANKING_AMOUNTS - 1;
}

static void write_beside(struct book *book, size_t option, const struct ranking_amount *rule,
                         const struct amount_rows *rows, bool holds) {
  const struct option_sheet *sheet = &book->sheets->options[option];
  const int column = outputs_option_column(option);
  const int beside = model_find(book->scenario->model, rule->beside);
  if (beside < 0 || !option_has(&book->scenario->options[option], beside))
    put_text(book, rows->beside, column, "", TEXT_RIGHT);
  else
    put_formula_text(book, rows->beside, column,
                     !holds && shown_value(book, sheet, beside, 0) > 0 ? rule->beside_words : "",
                     formats_text(&book->formats, TEXT_RIGHT_WRAPPED),
                     "=IF(AND(%s<>\"\",%s>0),\"%s\",\"\")", outputs_cell(book, rows->words, option),
                     option_name_used(sheet, beside), rule->beside_words);
}

static void write_amount(struct book *book, size_t option, size_t amount,
                         const struct amount_rows *rows) {
  const struct ranking_amount *rule = &ranking_amounts[amount];
  const struct option_sheet *sheet = &book->sheets->options[option];
  const int item = item_of(book, option, amount);
  if (item < 0)
    return;
  struct name *shown =
      constants_literal(&book->constants, "ranking", amount_labels[amount].shown,
                        amount_labels[amount].shown_note, rule->shown, &unit_percent);
  const double value = shown_value(book, sheet, item, 0);
  const bool holds = ranking_holds(rule, value);
  const char *nothing = is_last(amount) ? VERDICT_RANKED : "";
  put_formula_text(book, rows->words, outputs_option_column(option),
                   holds ? nothing : ranking_words(rule, value, book->arena),
                   formats_text(&book->formats, TEXT_RIGHT_WRAPPED),
                   "=IF(%s,\"%s\"&FIXED(ROUND(%s(%s,%s)*100,1),1,1)&\"%s\",\"%s\")",
                   beyond(book, option, amount), rule->before, rule->at_most ? "MAX" : "MIN",
                   amount_cell(book, option, amount), name_use(shown), rule->after, nothing);
  if (rows->beside)
    write_beside(book, option, rule, rows, holds);
}

// The words for the first amount beyond its limit. IFs are not nested: of two amounts, the last
// one's words say by themselves that there is no reason.
static const char *why_formula(struct book *book, size_t option, const struct amount_rows *rows) {
  const char *formula = "";
  for (size_t a = RANKING_AMOUNTS; a-- > 0;) {
    if (item_of(book, option, a) < 0)
      continue;
    const char *words = outputs_cell(book, rows[a].words, option);
    const char *beside = rows[a].beside ? outputs_cell(book, rows[a].beside, option) : "";
    formula = is_last(a) ? words
                         : arena_printf(book->arena, "IF(%s=\"\",%s,%s%s%s)", words,
                                        *formula ? formula : "\"" VERDICT_RANKED "\"", words,
                                        *beside ? "&" : "", beside);
  }
  return formula;
}

// Why an option is not ranked, or that it is: a formula if amounts decide.
static void write_why(struct book *book, size_t option, int row, const struct amount_rows *rows) {
  const int column = outputs_option_column(option);
  const struct standing *standing = standing_of(book, option);
  const char *why = standing->ranked ? VERDICT_RANKED : standing->why_not;
  const char *formula = why_formula(book, option, rows);
  if (!*formula)
    put_text(book, row, column, why, TEXT_RIGHT_WRAPPED);
  else
    put_formula_text(book, row, column, why, formats_text(&book->formats, TEXT_RIGHT_WRAPPED),
                     "=%s", formula);
}

bool verdict_has_bars(struct book *book) {
  const struct ranking *ranking = book->sheets->ranking;
  bool any = false;
  for (size_t o = 0; o < ranking->option_count; o++)
    if (!ranking_is_eligible(&ranking->options[o]))
      return true;
  for (size_t a = 0; a < RANKING_AMOUNTS; a++)
    any |= any_item(book, a);
  return ranking->option_count > 1 && any;
}

void verdict_place_ranked(struct book *book) {
  if (book->scenario->option_count > 1 && verdict_has_bars(book))
    book->sheets->rows.why_not = outputs_labels(book, "Ranked?", "why_not_ranked", unit_plain.text);
}

static void write_reasons(struct book *book) {
  const size_t count = book->scenario->option_count;
  struct amount_rows rows[RANKING_AMOUNTS] = {{0}};
  for (size_t a = 0; a < RANKING_AMOUNTS; a++) {
    const struct amount_labels *labels = &amount_labels[a];
    if (!any_item(book, a))
      continue;
    rows[a].words = outputs_labels(book, labels->label, labels->key, unit_plain.text);
    if (labels->beside)
      rows[a].beside = outputs_labels(book, labels->beside, labels->beside_key, unit_plain.text);
    for (size_t o = 0; o < count; o++)
      write_amount(book, o, a, &rows[a]);
  }
  for (size_t o = 0; o < count; o++)
    write_why(book, o, book->sheets->rows.why_not, rows);
}

void verdict_write_ranked(struct book *book) {
  const size_t count = book->scenario->option_count;
  if (count == 1)
    return;
  book->sheets->rows.ranked =
      outputs_labels(book, "Ranked against the others: 1 or 0", "ranked", unit_flag.text);
  for (size_t o = 0; o < count; o++)
    put_formula(book, book->sheets->rows.ranked, outputs_option_column(o),
                standing_of(book, o)->ranked, CELL_FORMULA, &unit_flag, "%s",
                ranked_formula(book, o));
  if (verdict_has_bars(book))
    write_reasons(book);
}

// ---- which of them is the cheapest

static void write_ranked_costs(struct book *book, struct verdict *verdict) {
  const struct unit *unit = outputs_unit(book, "cost_per_mtok");
  lxw_format *format = formats_cell(&book->formats, CELL_FORMULA, unit);
  const int row =
      outputs_labels(book, "Cost per token of the ranked options", "ranked_cost", unit->text);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const char *formula = arena_printf(book->arena, "=IF(%s=1,%s,\"-\")",
                                       outputs_cell(book, book->sheets->rows.ranked, o),
                                       outputs_cell(book, book->sheets->rows.cost, o));
    if (standing_of(book, o)->ranked)
      put_formula_in(book, row, outputs_option_column(o),
                     outputs_value(book, o, "cost_per_mtok", 0), format, "%s", formula);
    else
      put_formula_text(book, row, outputs_option_column(o), "-", format, "%s", formula);
  }
  verdict->costs_row = row;
  verdict->costs = outputs_all_options(book, row);
}

// "$D$11:$E$11,$G$11:$G$11": of a row, the columns of an option's alternatives.
static const char *of_alternatives(const struct book *book, int row, size_t option) {
  const struct ranking *ranking = book->sheets->ranking;
  const size_t count = book->scenario->option_count;
  const char *cells = "";
  for (size_t from = 0, to; from < count; from = to + 1) {
    to = from;
    if (!ranking_is_alternative(ranking, option, from))
      continue;
    while (to + 1 < count && ranking_is_alternative(ranking, option, to + 1))
      to++;
    cells = arena_printf(book->arena, "%s%s%s:%s", cells, *cells ? "," : "",
                         cell_fixed(book, row, outputs_option_column(from)),
                         cell_fixed(book, row, outputs_option_column(to)));
  }
  return cells;
}

// What the cheapest alternative to each option costs: of the ranked ones, if there are any.
static void write_alternatives(struct book *book, const struct verdict *verdict) {
  const struct unit *unit = outputs_unit(book, "cost_per_mtok");
  const int row = book->sheets->rows.alternative = outputs_labels(
      book, "Cost per token of the cheapest alternative", "alternative_cost", unit->text);
  for (size_t o = 0; o < book->scenario->option_count; o++) {
    const int rival = ranking_alternative(book->scenario, book->sheets->ranking, o);
    const char *ranked = of_alternatives(book, verdict->costs_row, o);
    if (rival >= 0)
      put_formula(book, row, outputs_option_column(o),
                  outputs_value(book, (size_t)rival, "cost_per_mtok", 0), CELL_FORMULA, unit,
                  "=IF(COUNT(%s)>0,MIN(%s),MIN(%s))", ranked, ranked,
                  of_alternatives(book, book->sheets->rows.cost, o));
  }
}

// Like arithmetic_compare, a spreadsheet's `<=` treats numbers that differ in the last bits as
// equal.
static void write_flags(struct book *book, struct verdict *verdict) {
  const struct ranking *ranking = book->sheets->ranking;
  verdict->flags_row = outputs_labels(book, "Flag of the cheapest", "cheapest", unit_flag.text);
  for (size_t o = 0; o < book->scenario->option_count; o++)
    put_formula(book, verdict->flags_row, outputs_option_column(o), standing_of(book, o)->cheapest,
                CELL_FORMULA, &unit_flag, "=IF(AND(COUNT(%s)>1,%s<=MIN(%s)),1,0)", verdict->costs,
                outputs_cell(book, verdict->costs_row, o), verdict->costs);
  const char *flags = outputs_all_options(book, verdict->flags_row);
  verdict->count =
      outputs_count(book, "How many are the cheapest", "cheapest_count",
                    arena_printf(book->arena, "=SUM(%s)", flags), (double)ranking->cheapest_count);
  verdict->first =
      outputs_count(book, "First of the cheapest, from the left", "cheapest_first",
                    arena_printf(book->arena, "=IF(%s=0,1,MATCH(1,%s,0))", verdict->count, flags),
                    ranking->cheapest < 0 ? 1 : ranking->cheapest + 1);
}

// The ids of the cheapest among the options so far, and the comma before the next.
static const char *write_ids_so_far(struct book *book, struct verdict *verdict) {
  struct arena *arena = book->arena;
  lxw_format *format = formats_text(&book->formats, TEXT_RIGHT);
  const int commas = outputs_labels(book, "Comma between the cheapest", "cheapest_comma", "-");
  const int ids = outputs_labels(book, "The cheapest so far", "cheapest_so_far", "-");
  const size_t count = book->scenario->option_count;
  const char *between = options_between(book->scenario);
  for (size_t o = 0; o < count; o++) {
    const bool cheapest = standing_of(book, o)->cheapest;
    const char *flagged = outputs_cell(book, verdict->flags_row, o);
    const char *comma = cheapest && *verdict->names ? between : "", *so_far = "";
    if (o) {
      put_formula_text(book, commas, outputs_option_column(o), comma, format,
                       "=IF(AND(%s=1,SUM(%s:%s)>0),\"%s\",\"\")", flagged,
                       outputs_fixed(book, verdict->flags_row),
                       outputs_cell(book, verdict->flags_row, o - 1), between);
      so_far = arena_printf(arena, "%s&%s&", outputs_cell(book, ids, o - 1),
                            outputs_cell(book, commas, o));
    }
    verdict->names = arena_printf(arena, "%s%s%s", verdict->names, comma,
                                  cheapest ? book->scenario->options[o].label : "");
    put_formula_text(book, ids, outputs_option_column(o), verdict->names, format,
                     "=%sIF(%s=1,%s,\"\")", so_far, flagged,
                     outputs_cell(book, book->sheets->rows.options, o));
  }
  return cell_fixed(book, ids, outputs_option_column(count - 1));
}

// The answer itself is at the top of the sheet.
static void write_cheapest(struct book *book, struct verdict *verdict) {
  struct arena *arena = book->arena;
  const struct ranking *ranking = book->sheets->ranking;
  const char *nobody = arena_printf(arena, "not ranked: %s", ranking_why_nobody(ranking, arena));
  const char *ids = write_ids_so_far(book, verdict);
  const int none =
      outputs_labels(book, "Where fewer than two are ranked", "cheapest_none", unit_plain.text);
  put_text(book, none, COLUMN_VALUE, nobody, TEXT_PLAIN);
  if (ranking->cheapest_count > 1)
    verdict->names = arena_printf(arena, "%s (equal)", verdict->names);
  if (!ranking->cheapest_count)
    verdict->names = nobody;
  put_formula_text(book, book->sheets->rows.cheapest, COLUMN_VALUE, verdict->names,
                   formats_cell_text(&book->formats, CELL_TOTAL),
                   "=IF(%s=0,%s,%s)&IF(%s>1,\" (equal)\",\"\")", verdict->count,
                   outputs_fixed(book, none), ids, verdict->count);
}

void verdict_write(struct book *book, struct verdict *verdict) {
  *verdict = (struct verdict){.names = ""};
  write_ranked_costs(book, verdict);
  write_flags(book, verdict);
  write_cheapest(book, verdict);
  if (book->scenario->option_count > 2)
    write_alternatives(book, verdict);
}
