// Who is the cheapest: the rule of model/scenario/ranking in formulas, so that it moves with the
// inputs. What no input changes, such as unlike workloads, is a fact of the option.
#include "model/cost/arithmetic.h"
#include "model/scenario/ranking.h"
#include "reports/workbook/outputs.h"

static const struct unit flag = {.text = "flag", .counts = true};
static const struct unit plain = {.text = "-", .counts = true};
static const struct unit percent = {.text = "%", .percents = 1};

static const struct standing *standing_of(const struct outputs *outputs, size_t option) {
  return &outputs->book->ranking->options[option];
}

static int coverage_of(const struct outputs *outputs, size_t option) {
  const int coverage = model_find(outputs->model, "coverage");
  const bool there = coverage >= 0 && option_has(&outputs->scenario->options[option], coverage);
  return there ? coverage : -1;
}

// ---- who is ranked

// "=IF(pt_h200_coverage<pt_ranking_1,0,1)"
static const char *ranked_formula(const struct outputs *outputs, size_t option) {
  struct book *book = outputs->book;
  const int coverage = coverage_of(outputs, option);
  if (!ranking_is_eligible(standing_of(outputs, option)))
    return "=0";
  if (coverage < 0)
    return "=1";
  struct name *share = option_name(&book->options[option], coverage);
  struct name *least =
      constants_literal(&book->constants, "ranking", "Demand that counts as served",
                        "100 %, less what rounding takes", RANKING_MET, &percent);
  share->used = least->used = true;
  return arena_printf(book->arena, "=IF(%s<%s,0,1)", share->text, least->text);
}

// "-" of a ranked option. A formula where the demand alone decides.
static void write_why(struct outputs *outputs, size_t option, int row, int ranked) {
  struct book *book = outputs->book;
  const int column = outputs_option_column(option), coverage = coverage_of(outputs, option);
  const struct standing *standing = standing_of(outputs, option);
  const char *share = coverage < 0 ? "" : option_name(&book->options[option], coverage)->text;
  if (coverage < 0 || !ranking_is_eligible(standing)) {
    put_text(book, outputs->sheet, row, column, standing->ranked ? "-" : standing->why_not,
             TEXT_RIGHT_WRAPPED);
    return;
  }
  put_formula_text(
      book, outputs->sheet, row, column,
      arena_printf(book->arena,
                   "=IF(%s=1,\"-\",\"it serves \"&IF(ROUND(%s*100,1)<100,FIXED(%s*100,1,1),"
                   "\"nearly 100\")&\" %% of the demand\")",
                   outputs_cell(outputs, ranked, option), share, share),
      standing->ranked ? "-" : standing->why_not, formats_text(&book->formats, TEXT_RIGHT_WRAPPED));
}

// Whether anything can keep an option from being ranked.
static bool has_bars(const struct outputs *outputs) {
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    if (!ranking_is_eligible(standing_of(outputs, o)) || coverage_of(outputs, o) >= 0)
      return true;
  return false;
}

static void write_reasons(struct outputs *outputs) {
  struct book *book = outputs->book;
  const size_t count = outputs->scenario->option_count;
  const char **reasons = arena_array(book->arena, count, sizeof *reasons);
  book->rows.why_not =
      outputs_labels(outputs, "Why it is not ranked", "why_not_ranked", plain.text);
  for (size_t o = 0; o < count; o++) {
    write_why(outputs, o, book->rows.why_not, book->rows.ranked);
    reasons[o] = standing_of(outputs, o)->why_not;
  }
  set_option_height(book, outputs->sheet, book->rows.why_not, reasons);
}

void write_ranked(struct outputs *outputs) {
  struct book *book = outputs->book;
  const size_t count = outputs->scenario->option_count;
  if (count == 1)
    return;
  book->rows.ranked =
      outputs_labels(outputs, "Ranked against the others: 1 or 0", "ranked", flag.text);
  for (size_t o = 0; o < count; o++)
    put_formula(book, outputs->sheet, book->rows.ranked, outputs_option_column(o),
                ranked_formula(outputs, o), standing_of(outputs, o)->ranked,
                formats_cell(&book->formats, CELL_FORMULA, &flag));
  if (has_bars(outputs))
    write_reasons(outputs);
}

// ---- who is the cheapest of them

static void write_ranked_costs(struct outputs *outputs, struct verdict *verdict) {
  struct book *book = outputs->book;
  const struct unit *unit = outputs_unit(outputs, "cost_per_mtok");
  lxw_format *format = formats_cell(&book->formats, CELL_FORMULA, unit);
  const int row =
      outputs_labels(outputs, "Cost per token of the ranked options", "ranked_cost", unit->text);
  for (size_t o = 0; o < outputs->scenario->option_count; o++) {
    const char *formula =
        arena_printf(book->arena, "=IF(%s=1,%s,\"-\")", outputs_cell(outputs, book->rows.ranked, o),
                     outputs_cell(outputs, book->rows.cost, o));
    if (standing_of(outputs, o)->ranked)
      put_formula(book, outputs->sheet, row, outputs_option_column(o), formula,
                  outputs_value(outputs, o, "cost_per_mtok", 0), format);
    else
      put_formula_text(book, outputs->sheet, row, outputs_option_column(o), formula, "-", format);
  }
  verdict->costs_row = row;
  verdict->costs = outputs_all_options(outputs, row);
}

// Like arithmetic_compare, a spreadsheet's `<=` takes what differs in the last bits for equal.
static void write_flags(struct outputs *outputs, struct verdict *verdict) {
  struct book *book = outputs->book;
  const struct ranking *ranking = book->ranking;
  verdict->flags_row = outputs_labels(outputs, "Flag of the cheapest", "cheapest", flag.text);
  for (size_t o = 0; o < outputs->scenario->option_count; o++)
    put_formula(book, outputs->sheet, verdict->flags_row, outputs_option_column(o),
                arena_printf(book->arena, "=IF(AND(COUNT(%s)>1,%s<=MIN(%s)),1,0)", verdict->costs,
                             outputs_cell(outputs, verdict->costs_row, o), verdict->costs),
                standing_of(outputs, o)->cheapest,
                formats_cell(&book->formats, CELL_FORMULA, &flag));
  const char *flags = outputs_all_options(outputs, verdict->flags_row);
  verdict->count =
      outputs_count(outputs, "Number of the cheapest", "cheapest_count",
                    arena_printf(book->arena, "=SUM(%s)", flags), (double)ranking->cheapest_count);
  verdict->first =
      outputs_count(outputs, "The first of them, from the left", "cheapest_first",
                    arena_printf(book->arena, "=IF(%s=0,1,MATCH(1,%s,0))", verdict->count, flags),
                    ranking->cheapest < 0 ? 1 : ranking->cheapest + 1);
}

// The ids of the cheapest among the options so far, and the comma before the next.
static const char *write_ids_so_far(struct outputs *outputs, struct verdict *verdict) {
  struct book *book = outputs->book;
  struct arena *arena = book->arena;
  lxw_format *format = formats_text(&book->formats, TEXT_RIGHT);
  const int commas = outputs_labels(outputs, "Comma between the cheapest", "cheapest_comma", "-");
  const int ids = outputs_labels(outputs, "The cheapest so far", "cheapest_so_far", "-");
  const size_t count = outputs->scenario->option_count;
  for (size_t o = 0; o < count; o++) {
    const bool cheapest = standing_of(outputs, o)->cheapest;
    const char *flagged = outputs_cell(outputs, verdict->flags_row, o);
    const char *comma = cheapest && *verdict->names ? ", " : "", *so_far = "";
    if (o) {
      put_formula_text(book, outputs->sheet, commas, outputs_option_column(o),
                       arena_printf(arena, "=IF(AND(%s=1,SUM(%s:%s)>0),\", \",\"\")", flagged,
                                    outputs_fixed(outputs, verdict->flags_row),
                                    outputs_cell(outputs, verdict->flags_row, o - 1)),
                       comma, format);
      so_far = arena_printf(arena, "%s&%s&", outputs_cell(outputs, ids, o - 1),
                            outputs_cell(outputs, commas, o));
    }
    verdict->names = arena_printf(arena, "%s%s%s", verdict->names, comma,
                                  cheapest ? outputs->scenario->options[o].id : "");
    put_formula_text(book, outputs->sheet, ids, outputs_option_column(o),
                     arena_printf(arena, "=%sIF(%s=1,%s,\"\")", so_far, flagged,
                                  outputs_cell(outputs, book->rows.options, o)),
                     verdict->names, format);
  }
  return cell_address(ids, outputs_option_column(count - 1), ADDRESS_ABSOLUTE, arena);
}

// The answer itself stands at the top of the sheet.
static void write_cheapest(struct outputs *outputs, struct verdict *verdict) {
  struct book *book = outputs->book;
  struct arena *arena = book->arena;
  const struct ranking *ranking = book->ranking;
  const char *nobody = arena_printf(arena, "not ranked: %s", ranking_why_nobody(ranking));
  const char *ids = write_ids_so_far(outputs, verdict);
  const int none =
      outputs_labels(outputs, "Where fewer than two are ranked", "cheapest_none", plain.text);
  put_text(book, outputs->sheet, none, COLUMN_VALUE, nobody, TEXT_PLAIN);
  if (ranking->cheapest_count > 1)
    verdict->names = arena_printf(arena, "%s (equal)", verdict->names);
  if (!ranking->cheapest_count)
    verdict->names = nobody;
  put_formula_text(book, outputs->sheet, book->rows.cheapest, COLUMN_VALUE,
                   arena_printf(arena, "=IF(%s=0,%s,%s)&IF(%s>1,\" (equal)\",\"\")", verdict->count,
                                outputs_fixed(outputs, none), ids, verdict->count),
                   verdict->names, formats_cell_text(&book->formats, CELL_TOTAL));
}

void write_verdict(struct outputs *outputs, struct verdict *verdict) {
  *verdict = (struct verdict){.names = ""};
  write_ranked_costs(outputs, verdict);
  write_flags(outputs, verdict);
  write_cheapest(outputs, verdict);
}
