// Negotiation: for each option that is not the baseline, the price at which it costs as much per
// token as the baseline, and 5 and 10 % less, live: costs are linear in the price, so that the
// price follows from the cost at a price of zero.
#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/currency.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"
#include "reports/workbook/sheets.h"

#include <math.h>
#include <string.h>

enum { NOTE_ROW = 1, FIRST_STAMP_ROW };
enum { COLUMN_SAVING = 3, COLUMN_WANTED, COLUMN_PRICE, COLUMN_CHANGE, COLUMN_DISCOUNT };
enum { TARGETS = 3 };

static const double wanted_savings[TARGETS] = {0, 0.05, 0.10};
static const struct unit percent = {.text = "%", .percents = 1};

int negotiated_price(const struct book *book, const struct option *option) {
  const struct scenario *scenario = book->scenario;
  const struct option *baseline = &scenario->options[scenario->baseline];
  const int price = option_stated(
      option, model_find(scenario->model, option->rented ? "rental_rate" : "list_price"));
  const bool there = option != baseline && price >= 0 &&
                     option->graph->state[price] == GRAPH_INPUT &&
                     option_value(scenario, option, price, 0) > 0;
  return there && book->sheets->ranking->options[option - scenario->options].compared ? price : -1;
}

bool negotiation_shown(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (book->sheets->tornado && negotiated_price(book, &scenario->options[o]) >= 0)
      return true;
  return false;
}

static int cost_item(const struct book *book) {
  return model_find(book->scenario->model, "cost_per_mtok");
}

struct offer {
  const struct option_sheet *option;
  int price, discount;         // declarations; discount -1 for a rent
  double cost, baseline, paid; // as cells show them
  int today;                   // the row of what holds today, before that at a price of zero
};

static struct offer offer_of(struct book *book, size_t o) {
  const struct scenario *scenario = book->scenario;
  struct offer offer = {.option = &book->sheets->options[o], .discount = -1};
  offer.price = negotiated_price(book, offer.option->option);
  if (!offer.option->option->rented)
    offer.discount = model_find(scenario->model, "discount");
  offer.cost = shown_value(book, offer.option, cost_item(book), 0);
  offer.baseline =
      shown_value(book, &book->sheets->options[scenario->baseline], cost_item(book), 0);
  offer.paid = shown_value(book, offer.option, offer.price, 0);
  return offer;
}

// The price at which the option costs `target`.
static double price_at(const struct offer *offer, double target) {
  const double slope = offer->cost - offer->option->free_cost;
  return slope == 0 ? 0 : offer->paid * (target - offer->option->free_cost) / slope;
}

// Linear: today's price times the way from the cost at zero to the cost wanted, over the way from
// there to today's.
static void write_price(struct book *book, const struct offer *offer, int row, double price) {
  const char *cost = cell_fixed(book, offer->today, COLUMN_WANTED);
  const char *zero = cell_fixed(book, offer->today + 1, COLUMN_WANTED);
  const char *paid = cell_fixed(book, offer->today, COLUMN_PRICE);
  const struct unit *unit = &book->scenario->model->declarations[offer->price].unit;
  put_formula(book, row, COLUMN_PRICE, price, CELL_TOTAL, unit, "=IF(%s=%s,0,%s*(%s-%s)/(%s-%s))",
              cost, zero, paid, cell_here(book, row, COLUMN_WANTED), zero, cost, zero);
  put_formula(book, row, COLUMN_CHANGE, price / offer->paid - 1, CELL_FORMULA, &percent,
              "=IF(%s=0,0,%s/%s-1)", paid, cell_here(book, row, COLUMN_PRICE), paid);
}

// The discount that does to the present list price what the lower list price would do.
static void write_discount(struct book *book, const struct offer *offer, int row, double price) {
  if (offer->discount < 0) {
    put_text(book, row, COLUMN_DISCOUNT, "-", TEXT_RIGHT);
    return;
  }
  const double discount = shown_value(book, offer->option, offer->discount, 0);
  put_formula(book, row, COLUMN_DISCOUNT, 1 - price / offer->paid * (1 - discount), CELL_TOTAL,
              &percent, "=IF(%s=0,0,1-%s/%s*(1-%s))", cell_fixed(book, offer->today, COLUMN_PRICE),
              cell_here(book, row, COLUMN_PRICE), cell_fixed(book, offer->today, COLUMN_PRICE),
              cell_fixed(book, offer->today, COLUMN_DISCOUNT));
}

static void write_target(struct book *book, const struct offer *offer, size_t t) {
  const struct scenario *scenario = book->scenario;
  const int row = book->row++;
  const double target = offer->baseline * (1 - wanted_savings[t]);
  const struct declaration *cost = &scenario->model->declarations[cost_item(book)];
  const char *baseline =
      option_name_used(&book->sheets->options[scenario->baseline], cost_item(book));
  const char *id = scenario->options[scenario->baseline].id;
  const char *label = t ? arena_printf(book->arena, "%g %% below %s", 100 * wanted_savings[t], id)
                        : arena_printf(book->arena, "Same cost per token as %s", id);
  put_labels(book, row, label, scenario->model->declarations[offer->price].name,
             scenario->model->declarations[offer->price].unit.text);
  struct name *saving = NULL;
  if (t)
    saving = constants_literal(&book->constants, "wanted", "Saving to be negotiated",
                               arena_printf(book->arena, "%g %%", 100 * wanted_savings[t]),
                               wanted_savings[t], &percent);
  if (saving)
    saving->used = true;
  put_formula(book, row, COLUMN_SAVING, wanted_savings[t], saving ? CELL_LINK : CELL_FORMULA,
              &percent, "%s", saving ? arena_printf(book->arena, "=%s", saving->text) : "=0");
  put_formula(book, row, COLUMN_WANTED, target, CELL_FORMULA, &cost->unit, "=%s*(1-%s)", baseline,
              cell_here(book, row, COLUMN_SAVING));
  write_price(book, offer, row, price_at(offer, target));
  write_discount(book, offer, row, price_at(offer, target));
}

static void write_headings(struct book *book, const char *title) {
  const char *unit = book->scenario->model->declarations[cost_item(book)].unit.text;
  const char *const numbers[] = {"Saving wanted", arena_printf(book->arena, "Cost, %s", unit),
                                 "Walk-away price", "Against today's", "Or a discount of"};
  const char *const texts[] = {title, "Key", "Unit"};
  put_header(book, book->row, texts, 3);
  for (int i = 0; i < 5; i++)
    put_text(book, book->row, COLUMN_SAVING + i, numbers[i], TEXT_HEADER_RIGHT);
}

static void write_today(struct book *book, const struct offer *offer) {
  const struct model *model = book->scenario->model;
  const struct unit *cost = &model->declarations[cost_item(book)].unit;
  const struct declaration *price = &model->declarations[offer->price];
  const int row = offer->today;
  put_labels(book, row, "Today", price->name, price->unit.text);
  put_link(book, row, COLUMN_WANTED, option_name(offer->option, cost_item(book)), offer->cost,
           cost);
  put_link(book, row, COLUMN_PRICE, option_name(offer->option, offer->price), offer->paid,
           &price->unit);
  if (offer->discount >= 0)
    put_link(book, row, COLUMN_DISCOUNT, option_name(offer->option, offer->discount),
             shown_value(book, offer->option, offer->discount, 0), &percent);
  put_labels(book, row + 1, "At a price of zero", price->name, price->unit.text);
  put_formula(book, row + 1, COLUMN_WANTED, offer->option->free_cost, CELL_LINK, cost, "=%s",
              offer->option->free_cost_cell);
}

static void write_offer(struct book *book, struct offer *offer) {
  const struct option *option = offer->option->option;
  write_headings(book, arena_printf(book->arena, "%s: highest %s", option->id,
                                    option->rented ? "rent" : "list price"));
  offer->today = ++book->row;
  write_today(book, offer);
  book->row += 2;
  for (size_t t = 0; t < TARGETS; t++)
    write_target(book, offer, t);
  book->row++;
}

void write_negotiation(struct book *book) {
  const struct scenario *scenario = book->scenario;
  begin_sheet(book, "Negotiation", FIRST_STAMP_ROW, COLUMN_LABEL + 1);
  put_text(book, NOTE_ROW, 0,
           "Above its walk-away price an option no longer saves that much per token. Live: change "
           "an input and the prices follow.",
           TEXT_NOTE);
  book->row = put_stamps(book, FIRST_STAMP_ROW) + 1;
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!book->sheets->options[o].free_cost_cell)
      continue;
    struct offer offer = offer_of(book, o);
    write_offer(book, &offer);
  }
  set_widths(book, (const int[]){46, 25, 13, 17}, 4, COLUMN_DISCOUNT);
  end_sheet(book, book->row - 2, COLUMN_DISCOUNT);
}
