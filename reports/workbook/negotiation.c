#include "reports/workbook/negotiation.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/chance/draw.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/offer.h"
#include "model/questions/lateness.h"
#include "model/questions/solve.h"
#include "model/questions/solve_search.h"
#include "model/questions/solve_spread.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/scenario.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulate.h"
#include "model/simulate/simulation.h"
#include "model/whatif/price_terms.h"
#include "model/whatif/variation.h"
#include "reports/faces/parts.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/writers.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };
enum {
  COLUMN_SAVING = 3,
  COLUMN_WANTED,
  COLUMN_PRICE,
  COLUMN_CONCESSION,
  COLUMN_ROOM,
  COLUMN_NET,
  COLUMN_DISCOUNT,
  COLUMN_LOW,
  COLUMN_MEDIAN,
  COLUMN_HIGH
};
enum { TARGETS = 3 };

static const double wanted_savings[TARGETS] = {0, 0.05, 0.10};

// The option on the other side of an option's negotiation; -1 if there is none.
static int rival_of(const struct book *book, size_t option) {
  return ranking_alternative(book->scenario, book->sheets->ranking, option);
}

bool negotiates_tokens(const struct book *book, const struct option *option) {
  const int price = model_find(book->scenario->model, "output_price");
  return price >= 0 && option_has(option, price);
}

int negotiated_price(const struct book *book, const struct option *option) {
  const struct scenario *scenario = book->scenario;
  const int priced = negotiates_tokens(book, option) ? model_find(scenario->model, "output_price")
                                                     : option_price(scenario, option);
  const int price = option_moved(option, priced);
  const bool there = price >= 0 && option->graph->state[price] == GRAPH_INPUT &&
                     option_value(scenario, option, price, 0) > 0;
  return there && rival_of(book, (size_t)(option - scenario->options)) >= 0 ? price : -1;
}

int negotiated_delay(const struct book *book, const struct option *option) {
  const int delay = model_find(book->scenario->model, "delivery_delay");
  const bool there =
      delay >= 0 && option_has(option, delay) && option->graph->state[delay] == GRAPH_INPUT;
  return there && negotiated_price(book, option) >= 0 ? delay : -1;
}

bool negotiation_shown(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (book->sheets->tornado && negotiated_price(book, &scenario->options[o]) >= 0)
      return true;
  return false;
}

int negotiation_plan(struct book *book) {
  enum { DRAWS = 4096, MOST = 8 };
  const struct scenario *scenario = book->scenario;
  const struct simulate_request request = {.draws = DRAWS, .seed = 1, .method = DRAW_SOBOL};
  const struct solve_spread **spreads = book->sheets->price_spreads =
      arena_array(book->arena, scenario->option_count, sizeof(struct solve_spread *));
  for (size_t o = 0; o < scenario->option_count && scenario->option_count <= MOST; o++) {
    const struct option *option = &scenario->options[o];
    const int price = book->sheets->tornado ? negotiated_price(book, option) : -1;
    if (price < 0 || !book->sheets->simulation || !book->sheets->simulation->done ||
        negotiates_tokens(book, option)) // of which solve moves one price, not all
      continue;
    const struct solve_question question = {
        .option = option->id,
        .input = arena_printf(book->arena, "%s.%s", option->id,
                              scenario->model->declarations[price].name),
        .match = scenario->options[rival_of(book, o)].id};
    const struct solve_answer *answer =
        solve_ask(scenario, &question, book->arena, book->diagnostics);
    if (!answer)
      return -1;
    if (!sampler_draws_any(scenario, &answer->target))
      continue;
    spreads[o] = solve_spread_ask(answer, &request, book->arena, book->diagnostics);
    if (!spreads[o])
      return -1;
  }
  return 0;
}

struct deal {
  const struct option_sheet *option, *rival;
  const char *rival_words;           // "B200, 64 GPUs", or "the cheapest alternative"
  const char *rival_cost;            // a formula: its cost, or the lowest of theirs
  int price, discount;               // declarations; discount is -1 for a rent or a list
  double cost, other, paid;          // as in cells: its own cost, the rival's, the price paid
  int today;                         // the row of current values; then that for a price of zero
  const struct solve_spread *spread; // over the price at the rival's cost; NULL without ranges
};

// Whichever alternative is the cheapest, also after inputs have been overwritten.
static void name_rival(const struct book *book, struct deal *deal, size_t option) {
  const int row = book->sheets->rows.alternative;
  deal->rival_words = row ? "the cheapest alternative" : deal->rival->option->label;
  deal->rival_cost = row ? cell_on(book, SHEET_OUTPUTS, row, COLUMN_VALUE + (int)option)
                         : option_name_used(deal->rival, model_cost_item(book->scenario->model));
}

// Whether the price is a list, which is negotiated by its factor.
static bool prices_vary(const struct book *book, const struct deal *deal) {
  return book->scenario->model->declarations[deal->price].scale_of >= 0;
}

static struct deal deal_of(struct book *book, size_t o) {
  const struct scenario *scenario = book->scenario;
  struct deal deal = {.option = &book->sheets->options[o],
                      .rival = &book->sheets->options[rival_of(book, o)],
                      .discount = -1,
                      .spread = book->sheets->price_spreads[o]};
  deal.price = negotiated_price(book, deal.option->option);
  if (negotiates_tokens(book, deal.option->option))
    deal.discount = model_find(scenario->model, "api_discount");
  else if (option_is_owned(deal.option->option))
    deal.discount = model_find(scenario->model, "discount");
  if (deal.discount >= 0 &&
      (prices_vary(book, &deal) || graph_is_series(deal.option->option->graph, deal.discount)))
    deal.discount = -1;
  deal.cost = shown_value(book, deal.option, model_cost_item(book->scenario->model), 0);
  deal.other = shown_value(book, deal.rival, model_cost_item(book->scenario->model), 0);
  deal.paid = shown_value(book, deal.option, deal.price, 0);
  name_rival(book, &deal, o);
  return deal;
}

// The price at which the option costs `target`; NAN if even a price of zero is too high.
static double price_at(const struct deal *deal, double target) {
  const double slope = deal->cost - deal->option->free_cost;
  return slope == 0 || target < deal->option->free_cost
             ? NAN
             : deal->paid * (target - deal->option->free_cost) / slope;
}

static const struct unit *price_unit(const struct book *book, const struct deal *deal) {
  return &book->scenario->model->declarations[deal->price].unit;
}

// A number, or the text shown if there is none.
static void put_found(struct book *book, int row, int column, double value, enum cell_role role,
                      const struct unit *unit, const char *otherwise, const char *formula) {
  if (isnan(value))
    put_formula_text(book, row, column, otherwise, formats_cell(&book->formats, role, unit), "%s",
                     formula);
  else
    put_formula_in(book, row, column, value,
                   unit->percents ? formats_share(&book->formats, role, value)
                                  : formats_cell(&book->formats, role, unit),
                   "%s", formula);
}

// Linear interpolation: today's price times (cost wanted - cost at zero) / (today's cost - cost at
// zero).
static void write_price(struct book *book, const struct deal *deal, int row, double price) {
  static const char none[] = "no such price";
  struct arena *arena = book->arena;
  const char *cost = cell_fixed(book, deal->today, COLUMN_WANTED);
  const char *zero = cell_fixed(book, deal->today + 1, COLUMN_WANTED);
  const char *paid = cell_fixed(book, deal->today, COLUMN_PRICE);
  const char *wanted = cell_here(book, row, COLUMN_WANTED);
  const char *found = cell_here(book, row, COLUMN_PRICE);
  put_found(book, row, COLUMN_PRICE, price, CELL_TOTAL, price_unit(book, deal), none,
            arena_printf(arena, "=IF(OR(%s=%s,%s<%s),\"%s\",%s*(%s-%s)/(%s-%s))", cost, zero,
                         wanted, zero, none, paid, wanted, zero, cost, zero));
  const double change = price / deal->paid - 1;
  put_found(book, row, COLUMN_CONCESSION, isnan(price) ? NAN : fmax(0, -change), CELL_TOTAL,
            &unit_percent, "-",
            arena_printf(arena, "=IF(ISNUMBER(%s),MAX(0,1-%s/%s),\"-\")", found, found, paid));
  put_found(book, row, COLUMN_ROOM, isnan(price) ? NAN : fmax(0, change), CELL_TOTAL, &unit_percent,
            "-",
            arena_printf(arena, "=IF(ISNUMBER(%s),MAX(0,(%s/%s)-1),\"-\")", found, found, paid));
}

// The net price, and the discount on the current list price that results in it.
static void write_discount(struct book *book, const struct deal *deal, int row, double price) {
  struct arena *arena = book->arena;
  if (deal->discount < 0)
    return;
  const double net = price * (1 - shown_value(book, deal->option, deal->discount, 0));
  const char *found = cell_here(book, row, COLUMN_PRICE);
  const char *net_cell = cell_here(book, row, COLUMN_NET);
  const char *paid = cell_fixed(book, deal->today, COLUMN_PRICE);
  put_found(book, row, COLUMN_NET, net, CELL_FORMULA, price_unit(book, deal), "-",
            arena_printf(arena, "=IF(ISNUMBER(%s),%s*(1-%s),\"-\")", found, found,
                         cell_fixed(book, deal->today, COLUMN_DISCOUNT)));
  put_found(book, row, COLUMN_DISCOUNT, net <= deal->paid ? 1 - net / deal->paid : NAN,
            CELL_FORMULA, &unit_percent, "none",
            arena_printf(arena, "=IF(AND(ISNUMBER(%s),MAX(%s,%s)=%s),1-%s/%s,\"none\")", net_cell,
                         net_cell, paid, paid, net_cell, paid));
}

// The distribution, over the ranges, of the price at which both cost the same.
static void write_spread(struct book *book, const struct deal *deal, int row) {
  for (int i = 0; i < 3 && deal->spread; i++) {
    const double value = deal->spread->percentiles[i * (SIMULATE_LEVELS / 2)];
    const struct unit *unit = price_unit(book, deal);
    if (isnan(value))
      put_text(book, row, COLUMN_LOW + i, "-", TEXT_RIGHT);
    else
      put_number(book, row, COLUMN_LOW + i, value / unit_cell_factor(unit),
                 formats_cell(&book->formats, CELL_RESULT, unit));
  }
}

static void write_target(struct book *book, const struct deal *deal, size_t t) {
  const struct scenario *scenario = book->scenario;
  const int row = book->row++;
  const double target = deal->other * (1 - wanted_savings[t]);
  const struct declaration *cost =
      &scenario->model->declarations[model_cost_item(book->scenario->model)];
  const char *rival = deal->rival_words;
  const char *label =
      t ? arena_printf(book->arena, "%g %% below %s", 100 * wanted_savings[t], rival)
        : arena_printf(book->arena, "Same cost per token as %s", rival);
  put_labels(book, row, label, scenario->model->declarations[deal->price].name,
             scenario->model->declarations[deal->price].unit.text);
  const char *saving =
      t ? name_use(constants_literal(&book->constants, "wanted", "Saving to negotiate",
                                     arena_printf(book->arena, "%g %%", 100 * wanted_savings[t]),
                                     wanted_savings[t], &unit_percent))
        : "0";
  put_formula(book, row, COLUMN_SAVING, wanted_savings[t], t ? CELL_LINK : CELL_FORMULA,
              &unit_percent, "=%s", saving);
  put_formula(book, row, COLUMN_WANTED, target, CELL_FORMULA, &cost->unit, "=%s*(1-%s)",
              deal->rival_cost, cell_here(book, row, COLUMN_SAVING));
  write_price(book, deal, row, price_at(deal, target));
  write_discount(book, deal, row, price_at(deal, target));
  if (!t)
    write_spread(book, deal, row);
}

static void write_headings(struct book *book, const struct deal *deal) {
  struct arena *arena = book->arena;
  const struct option *option = deal->option->option;
  const bool tokens = negotiates_tokens(book, option);
  const char *price = tokens ? "Output price" : option->rented ? "Rent" : "List price";
  const char *what = prices_vary(book, deal) ? arena_printf(arena, "%s, all values", price) : price;
  const char *unit =
      book->scenario->model->declarations[model_cost_item(book->scenario->model)].unit.text;
  const char *const numbers[] = {
      "Target saving",
      arena_printf(arena, "Cost, %s", unit),
      what,
      "Concession needed",
      "Room for a higher price",
      option->rented || prices_vary(book, deal) ? "" : "Net price",
      deal->discount < 0 ? "" : "Or as discount",
      deal->spread ? arena_printf(arena, "%s, P5, against %s", what, deal->rival->option->label)
                   : "",
      deal->spread ? "Median" : "",
      deal->spread ? "P95" : ""};
  const char *const texts[] = {arena_printf(arena, "Price position of %s's %s", option->label,
                                            tokens ? "provider" : "vendor"),
                               "Key", "Unit"};
  put_header(book, book->row, texts, 3);
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
    put_text(book, book->row, COLUMN_SAVING + (int)i, numbers[i], TEXT_HEADER_RIGHT);
}

static void write_today(struct book *book, const struct deal *deal) {
  const struct model *model = book->scenario->model;
  const struct unit *cost = &model->declarations[model_cost_item(book->scenario->model)].unit;
  const struct declaration *price = &model->declarations[deal->price];
  const int row = deal->today;
  put_labels(book, row, "Today", price->name, price->unit.text);
  put_link(book, row, COLUMN_WANTED,
           option_name(deal->option, model_cost_item(book->scenario->model)), deal->cost, cost);
  put_link(book, row, COLUMN_PRICE, option_name(deal->option, deal->price), deal->paid,
           &price->unit);
  if (deal->discount >= 0) {
    const double discount = shown_value(book, deal->option, deal->discount, 0);
    put_link(book, row, COLUMN_DISCOUNT, option_name(deal->option, deal->discount), discount,
             &unit_percent);
    put_formula(book, row, COLUMN_NET, deal->paid * (1 - discount), CELL_FORMULA, &price->unit,
                "=%s*(1-%s)", cell_here(book, row, COLUMN_PRICE),
                cell_here(book, row, COLUMN_DISCOUNT));
  }
  put_labels(book, row + 1, "At a price of zero", price->name, price->unit.text);
  put_formula(book, row + 1, COLUMN_WANTED, deal->option->free_cost, CELL_LINK, cost, "=%s",
              deal->option->free_cost_cell);
}

static bool is_promised(const struct offer_text *text) {
  static const char *const kinds[] = {"guarantee ", "acceptance.", "terms.delay_"};
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
    if (!strncmp(text->name, kinds[i], strlen(kinds[i])))
      return true;
  return false;
}

// "guarantee chat.tokens_per_s" is "Guarantee chat: output tokens per second".
static const char *promise_label(const char *name, struct arena *arena) {
  static const struct {
    const char *key, *label;
  } labels[] = {
      {"model", "model"},
      {"precision", "precision"},
      {"activations", "precision of activations"},
      {"kv", "precision of the KV cache"},
      {"basis", "basis"},
      {"scenario", "benchmark scenario"},
      {"batch", "concurrent requests"},
      {"context", "context in tokens"},
      {"tokens_per_s", "output tokens per second"},
      {"power", "power under load"},
      {"ttft", "time to first token (TTFT)"},
      {"tpot", "time per output token (TPOT)"},
      {"input_tokens", "input tokens per request"},
      {"output_tokens", "output tokens per request"},
      {"request_rate", "arriving requests"},
      {"concurrency", "requests in flight"},
      {"tolerance", "tolerance of the fleet's mean"},
      {"node_tolerance", "tolerance of a single node"},
      {"confidence", "confidence"},
      {"may_fail", "nodes that may fail"},
      {"remedy", "remedy, share of the price per percent missing"},
      {"remedy_limit", "cap on the remedy, share of the price"},
      {"replacement_time", "time for a replacement"},
      {"delay_damages", "damages for a delay, share of the late hardware's price"},
      {"delay_damages_per", "the damages are for each such time begun"},
      {"delay_damages_limit", "cap on the damages, share of the late hardware's price"},
      {"delay_grace", "grace period, for which no damages are due"},
  };
  const char *dot = strrchr(name, '.'), *label = dot ? dot + 1 : name;
  for (size_t i = 0; dot && i < sizeof labels / sizeof labels[0]; i++)
    if (!strcmp(labels[i].key, dot + 1))
      label = labels[i].label;
  return dot ? arena_printf(arena, "%c%.*s: %s", toupper((unsigned char)*name),
                            (int)(dot - name - 1), name + 1, label)
             : label;
}

// ", case base, revised", the cases in which an offer holds; "" for all of them.
static const char *cases_of(const struct book *book, const struct option *option,
                            const struct scenario_offer *quoted) {
  const struct scenario *scenario = book->scenario;
  struct texts labels = {0};
  for (size_t c = 0; c < scenario->case_count; c++)
    if (option_offer(scenario, option, c) == quoted)
      texts_add(&labels, book->arena, "%s", scenario->case_labels[c]);
  return labels.count == scenario->case_count
             ? ""
             : arena_printf(book->arena, ", case %s", texts_joined(&labels, book->arena));
}

static bool promises_any(const struct offer *offer) {
  for (size_t i = 0; i < offer->text_count; i++)
    if (is_promised(&offer->texts[i]))
      return true;
  return false;
}

static void write_clauses(struct book *book, const struct option *option,
                          const struct scenario_offer *quoted) {
  const bool any = promises_any(quoted->offer);
  const char *heading = arena_printf(book->arena, "%s for %s by %s, %s%s",
                                     any ? "Guaranteed" : "Nothing is guaranteed", option->label,
                                     offer_reference(quoted->offer, book->arena),
                                     quoted->offer->date, cases_of(book, option, quoted));
  const char *const texts[] = {"Clause", "Key", "In the offer", ""};
  put_heading(book, book->row++, COLUMN_SAVING, heading);
  if (any)
    put_header(book, book->row++, texts, COLUMN_SAVING + 1);
  for (size_t i = 0; i < quoted->offer->text_count; i++)
    if (is_promised(&quoted->offer->texts[i])) {
      const struct offer_text *text = &quoted->offer->texts[i];
      put_labels(book, book->row++, promise_label(text->name, book->arena), text->name, text->text);
    }
  book->row++;
}

// The vendor's guarantees, and what it owes if it misses them, in the offer's own words: they are
// negotiated along with the price. The case can be switched, so each offer is there, with its own.
static void write_guarantees(struct book *book, const struct option *option) {
  const struct scenario *scenario = book->scenario;
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct scenario_offer *quoted = option_offer(scenario, option, c);
    bool is_written = !quoted;
    for (size_t before = 0; before < c; before++)
      is_written |= option_offer(scenario, option, before) == quoted;
    if (!is_written)
      write_clauses(book, option, quoted);
  }
}

// ---- what is late

// A row with an amount that a formula gives, in its unit. Returns the amount's cell.
static const char *put_late(struct book *book, const char *label, const struct unit *unit,
                            double value, enum cell_role role, const char *formula) {
  const int row = book->row++;
  put_labels(book, row, label, "delivery_delay", unit->text);
  put_formula_in(book, row, COLUMN_SAVING, value,
                 unit->percents ? formats_saving(&book->formats, role, value)
                                : formats_cell(&book->formats, role, unit),
                 "=%s", formula);
  return cell_here(book, row, COLUMN_SAVING);
}

static const struct unit *unit_of(const struct book *book, const char *text) {
  return unit_known(model_unit_text(book->scenario->model, text), book->arena);
}

// A row with an amount that `compare` shows as well, under the same label.
static const char *put_amount(struct book *book, const struct lateness *lateness,
                              enum lateness_amount amount, enum cell_role role,
                              const char *formula) {
  const struct unit *unit = unit_of(book, lateness_words[amount].unit);
  return put_late(book, lateness_words[amount].label, unit,
                  lateness->amounts[amount] / unit_cell_factor(unit), role, formula);
}

// The delay, which is typed in months.
static const char *put_weeks(struct book *book, const struct option_sheet *sheet) {
  const int delay = model_find(book->scenario->model, "delivery_delay");
  const struct unit *week = unit_known("week", book->arena);
  const struct conversion excess = conversion_multiply(
      book->scenario->model->declarations[delay].unit.conversion, week->conversion, -1);
  conversion_use(excess, &book->constants);
  return put_late(book, "Delay, in weeks", week,
                  shown_value(book, sheet, delay, 0) * conversion_value(excess), CELL_FORMULA,
                  arena_printf(book->arena, "%s%s", option_name_used(sheet, delay),
                               conversion_factors(excess, &book->constants, book->arena)));
}

// The damages by time, and of the price only where one is paid.
static void write_rates(struct book *book, const struct option_sheet *sheet,
                        const struct lateness *lateness, const char *damages) {
  const struct lateness_words *words = &lateness_words[LATENESS_SHARE];
  const int price = model_find(book->scenario->model, "late_price");
  const char *delay = put_weeks(book, sheet);
  const char *rate =
      put_amount(book, lateness, LATENESS_RATE, CELL_FORMULA,
                 arena_printf(book->arena, "IF(%s>0,%s/%s,0)", delay, damages, delay));
  if (!option_is_owned(sheet->option))
    return;
  const struct unit *unit = unit_of(book, words->unit);
  const double share = lateness->amounts[LATENESS_SHARE];
  const int row = book->row++;
  put_labels(book, row, words->label, "delivery_delay", unit->text);
  put_formula_in(book, row, COLUMN_SAVING, isnan(share) ? 0 : share / unit_cell_factor(unit),
                 formats_small(&book->formats, CELL_FORMULA, unit), "=IF(%s>0,%s/%s,0)", rate, rate,
                 option_name_used(sheet, price));
}

// What the contract pays of the damages. credit: for the damages of the contract; -1: it has no
// clause for a delay.
static void write_paid(struct book *book, const struct option_sheet *sheet,
                       const struct lateness *lateness, int credit, const char *damages) {
  const struct model *model = book->scenario->model;
  const int most = model_find(model, "delay_covered");
  if (credit < 0)
    return;
  const char *pays = put_amount(book, lateness, LATENESS_PAID, CELL_FORMULA,
                                arena_printf(book->arena, "-%s", option_name_used(sheet, credit)));
  put_amount(book, lateness, LATENESS_UNCOVERED, CELL_FORMULA,
             arena_printf(book->arena, "MAX(0,%s-%s)", damages, pays));
  put_late(book, model->declarations[most].label, unit_of(book, "week"),
           shown_value(book, sheet, most, 0), CELL_LINK, option_name_used(sheet, most));
}

// The cost with the delay, without the contract's damages, which the total and the cost credit.
static const char *put_late_cost(struct book *book, const struct option_sheet *sheet, int credit) {
  const struct unit *unit = unit_of(book, "USD/Mtok");
  const int tco = model_find(book->scenario->model, "tco"),
            cost = model_cost_item(book->scenario->model);
  const char *now = option_name_used(sheet, cost);
  const double value = shown_value(book, sheet, cost, 0);
  if (credit < 0)
    return put_late(book, "Cost per million output tokens, with the delay", unit, value, CELL_LINK,
                    now);
  const double total = shown_value(book, sheet, tco, 0);
  return put_late(book, "Cost per million output tokens, with the delay, no damages", unit,
                  value * ((total - shown_value(book, sheet, credit, 0)) / total), CELL_FORMULA,
                  arena_printf(book->arena, "%s*(1-%s/%s)", now, option_name_used(sheet, credit),
                               option_name_used(sheet, tco)));
}

// What the delay costs, what would make up for it, and what the contract pays, as in
// model/questions/lateness.h.
static void write_late(struct book *book, const struct option_sheet *sheet) {
  struct arena *arena = book->arena;
  const struct model *model = book->scenario->model;
  const int clause = model_find(model, "damages_total");
  const int credit = clause >= 0 && option_has(sheet->option, clause) ? clause : -1;
  const char *const texts[] = {arena_printf(arena, "Late delivery of %s", sheet->option->label),
                               "Key", "Unit"};
  struct lateness lateness;
  if (!sheet->on_time_cost_cell)
    return;
  lateness_of(book->scenario, (size_t)(sheet->option - book->scenario->options), &lateness, arena);
  put_header(book, book->row, texts, 3);
  put_text(book, book->row++, COLUMN_SAVING, "Amount", TEXT_HEADER_RIGHT);
  const char *cost = put_late_cost(book, sheet, credit);
  const char *on_time =
      put_amount(book, &lateness, LATENESS_ON_TIME, CELL_LINK, sheet->on_time_cost_cell);
  put_amount(book, &lateness, LATENESS_INCREASE, CELL_FORMULA,
             arena_printf(arena, "(%s/%s)-1", cost, on_time));
  const char *sum = option_name_used(sheet, model_find(model, "tco"));
  if (credit >= 0)
    sum = arena_printf(arena, "(%s-%s)", sum, option_name_used(sheet, credit));
  const char *damages = put_amount(book, &lateness, LATENESS_DAMAGES, CELL_FORMULA,
                                   arena_printf(arena, "MAX(0,%s*(1-%s/%s))", sum, on_time, cost));
  write_rates(book, sheet, &lateness, damages);
  write_paid(book, sheet, &lateness, credit, damages);
  book->row++;
}

// What else the price moves in any case, as the case can be switched.
static void write_price_terms(struct book *book, const struct deal *deal) {
  struct texts all = {0};
  struct scenario in_case = *book->scenario;
  const size_t option = (size_t)(deal->option->option - book->scenario->options);
  const bool tokens = negotiates_tokens(book, deal->option->option);
  const struct target target = {.declaration = tokens ? deal->discount : deal->price,
                                .option = (int)option};
  if (tokens)
    put_text(book, book->row++, 0,
             "The provider's prices of input move with its price of output, in proportion",
             TEXT_NOTE);
  for (in_case.selected = 0; in_case.selected < in_case.case_count; in_case.selected++) {
    const struct texts terms = price_terms(&in_case, target, option, book->arena);
    for (size_t i = 0; i < terms.count; i++)
      if (!texts_have(&all, terms.list[i]))
        texts_add(&all, book->arena, "%s", terms.list[i]);
  }
  put_text(book, book->row++, 0,
           arena_printf(book->arena, "Moves with the price of %s: %s", deal->option->option->label,
                        all.count ? texts_joined(&all, book->arena) : "nothing else"),
           TEXT_NOTE);
}

static void write_offer(struct book *book, struct deal *deal) {
  write_headings(book, deal);
  deal->today = ++book->row;
  write_today(book, deal);
  book->row += 2;
  for (size_t t = 0; t < TARGETS; t++)
    write_target(book, deal, t);
  write_price_terms(book, deal);
  book->row++;
  write_late(book, deal->option);
  write_guarantees(book, deal->option->option);
}

void write_negotiation(struct book *book) {
  const struct scenario *scenario = book->scenario;
  bool drawn = false;
  begin_sheet(book, "Negotiation", FIRST_STAMP_ROW, COLUMN_LABEL + 1);
  for (size_t o = 0; o < scenario->option_count; o++)
    drawn |= book->sheets->price_spreads[o] != NULL;
  put_text(book, NOTE_ROW, 0,
           drawn ? "Live: change an input and the prices follow. P5, median and P95 were computed "
                   "when the workbook was written, from 4,096 draws of the ranges."
                 : "Live: change an input and the prices follow.",
           TEXT_NOTE);
  book->row = put_stamps(book, FIRST_STAMP_ROW) + 1;
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!book->sheets->options[o].free_cost_cell)
      continue;
    struct deal deal = deal_of(book, o);
    write_offer(book, &deal);
  }
  const int last = drawn ? COLUMN_HIGH : COLUMN_DISCOUNT;
  set_widths(book, (const int[]){46, 25, 13, 17}, 4, last);
  end_sheet(book, book->row - 2, last);
}
