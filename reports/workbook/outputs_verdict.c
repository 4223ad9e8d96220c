// Who is the cheapest: the rule of model/scenario/ranking in formulas, so that it moves with the
// inputs. What no input changes, such as unlike workloads, is a fact of the option.
#include "base/arena.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/outputs.h"
#include "reports/workbook/sheets.h"

#include <stddef.h>

static const struct unit flag = {.text = "flag", .counts = true};
static const struct unit plain = {.text = "-", .counts = true};
static const struct unit percent = {.text = "%", .percents = 1};

static const struct standing *standing_of(struct book *book, size_t option) {
  return &book->sheets->ranking->options[option];
}

static int coverage_of(const struct book *book, size_t option) {
  const int coverage = model_find(book->scenario->model, "coverage");
  const bool there = coverage >= 0 && option_has(&book->scenario->options[option], coverage);
  return there ? coverage : -1;
}

// ---- who is ranked

// "=IF(pt_h200_coverage<pt_ranking_1,0,1)"
static const char *ranked_formula(struct book *book, size_t option) {
  const int coverage = coverage_of(book, option);
  if (!ranking_is_eligible(standing_of(book, option)))
    return "=0";
  if (coverage < 0)
    return "=1";
  struct name *share = option_name(&book->sheets->options[option], coverage);
  struct name *least =
      constants_literal(&book->constants, "ranking", "Share of the demand that counts as all of it",
                        "100 %, less rounding error", RANKING_MET, &percent);
  share->used = least->used = true;
  return arena_printf(book->arena, "=IF(%s<%s,0,1)", share->text, least->text);
}

// "-" of a ranked option. A formula where the demand alone decides.
static void write_why(struct book *book, size_t option, int row) {
  const int column = outputs_option_column(option), coverage = coverage_of(book, option);
  const struct standing *standing = standing_of(book, option);
  const char *why = standing->ranked ? "-" : standing->why_not;
  if (coverage < 0 || !ranking_is_eligible(standing)) {
    put_text(book, row, column, why, TEXT_RIGHT_WRAPPED);
    return;
  }
  struct name *most =
      constants_literal(&book->constants, "ranking", "Most shown of unserved demand",
                        "so that it is never shown as all", RANKING_NEARLY_MET, &percent);
  most->used = true;
  put_formula_text(book, row, column, why, formats_text(&book->formats, TEXT_RIGHT_WRAPPED),
                   "=IF(%s=1,\"-\",\"it serves \"&FIXED(MIN(%s,%s)*100,1,1)&\" %% of the demand\")",
                   outputs_cell(book, book->sheets->rows.ranked, option),
                   option_name_used(&book->sheets->options[option], coverage), most->text);
}

static bool any_coverage(const struct book *book) {
  for (size_t o = 0; o < book->scenario->option_count; o++)
    if (coverage_of(book, o) >= 0)
      return true;
  return false;
}

bool verdict_has_bars(const struct book *book) {
  const struct ranking *ranking = book->sheets->ranking;
  for (size_t o = 0; o < ranking->option_count; o++)
    if (!ranking_is_eligible(&ranking->options[o]))
      return true;
  return ranking->option_count > 1 && any_coverage(book);
}

static void write_reasons(struct book *book) {
  const size_t count = book->scenario->option_count;
  const char **reasons = arena_array(book->arena, count, sizeof *reasons);
  const int why = outputs_labels(book, "Why it is not ranked", "why_not_ranked", plain.text);
  for (size_t o = 0; o < count; o++) {
    write_why(book, o, why);
    reasons[o] = standing_of(book, o)->why_not;
  }
  book->sheets->rows.why_not = why;
  set_option_height(book, why, reasons);
}

void write_ranked(struct book *book) {
  const size_t count = book->scenario->option_count;
  if (count == 1)
    return;
  book->sheets->rows.ranked =
      outputs_labels(book, "Ranked against the others: 1 or 0", "ranked", flag.text);
  for (size_t o = 0; o < count; o++)
    put_formula(book, book->sheets->rows.ranked, outputs_option_column(o),
                standing_of(book, o)->ranked, CELL_FORMULA, &flag, "%s", ranked_formula(book, o));
  if (verdict_has_bars(book))
    write_reasons(book);
}

// ---- who is the cheapest of them

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

// Like arithmetic_compare, a spreadsheet's `<=` takes what differs in the last bits for equal.
static void write_flags(struct book *book, struct verdict *verdict) {
  const struct ranking *ranking = book->sheets->ranking;
  verdict->flags_row = outputs_labels(book, "Flag of the cheapest", "cheapest", flag.text);
  for (size_t o = 0; o < book->scenario->option_count; o++)
    put_formula(book, verdict->flags_row, outputs_option_column(o), standing_of(book, o)->cheapest,
                CELL_FORMULA, &flag, "=IF(AND(COUNT(%s)>1,%s<=MIN(%s)),1,0)", verdict->costs,
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
  for (size_t o = 0; o < count; o++) {
    const bool cheapest = standing_of(book, o)->cheapest;
    const char *flagged = outputs_cell(book, verdict->flags_row, o);
    const char *comma = cheapest && *verdict->names ? ", " : "", *so_far = "";
    if (o) {
      put_formula_text(book, commas, outputs_option_column(o), comma, format,
                       "=IF(AND(%s=1,SUM(%s:%s)>0),\", \",\"\")", flagged,
                       outputs_fixed(book, verdict->flags_row),
                       outputs_cell(book, verdict->flags_row, o - 1));
      so_far = arena_printf(arena, "%s&%s&", outputs_cell(book, ids, o - 1),
                            outputs_cell(book, commas, o));
    }
    verdict->names = arena_printf(arena, "%s%s%s", verdict->names, comma,
                                  cheapest ? book->scenario->options[o].id : "");
    put_formula_text(book, ids, outputs_option_column(o), verdict->names, format,
                     "=%sIF(%s=1,%s,\"\")", so_far, flagged,
                     outputs_cell(book, book->sheets->rows.options, o));
  }
  return cell_fixed(book, ids, outputs_option_column(count - 1));
}

// The answer itself stands at the top of the sheet.
static void write_cheapest(struct book *book, struct verdict *verdict) {
  struct arena *arena = book->arena;
  const struct ranking *ranking = book->sheets->ranking;
  const char *nobody = arena_printf(arena, "not ranked: %s", ranking_why_nobody(ranking));
  const char *ids = write_ids_so_far(book, verdict);
  const int none =
      outputs_labels(book, "Where fewer than two are ranked", "cheapest_none", plain.text);
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

void write_verdict(struct book *book, struct verdict *verdict) {
  *verdict = (struct verdict){.names = ""};
  write_ranked_costs(book, verdict);
  write_flags(book, verdict);
  write_cheapest(book, verdict);
}
