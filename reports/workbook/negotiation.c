// Negotiation: for each option that is not the baseline, the price at which it costs as much per
// token as the baseline, and 5 and 10 % less, live: costs are linear in the price, so that the
// price follows from the cost at a price of zero.
#include "model/scenario/ranking.h"
#include "reports/answers/compare.h"
#include "reports/spreadsheet/book.h"

#include <math.h>
#include <string.h>

enum { TITLE_ROW, NOTE_ROW, FIRST_STAMP_ROW };
enum { COLUMN_SAVING = 3, COLUMN_WANTED, COLUMN_PRICE, COLUMN_CHANGE, COLUMN_DISCOUNT };
enum { TARGETS = 3 };

static const double wanted_savings[TARGETS] = {0, 0.05, 0.10};
static const struct unit percent = {.text = "%", .percents = 1};

struct writer {
  struct book *book;
  lxw_worksheet *sheet;
  int item; // cost_per_mtok
  int row;  // the next
};

int negotiated_price(const struct book *book, const struct option *option) {
  const struct scenario *scenario = book->scenario;
  const struct option *baseline = &scenario->options[scenario->baseline];
  const int price = option_stated(
      option, model_find(scenario->model, option->rented ? "rental_rate" : "list_price"));
  const bool there = option != baseline && price >= 0 &&
                     option->graph->state[price] == GRAPH_INPUT &&
                     option_value(scenario, option, price, 0) > 0;
  return there && book->ranking->options[option - scenario->options].compared ? price : -1;
}

bool negotiation_shown(const struct book *book) {
  const struct scenario *scenario = book->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (book->tornado && negotiated_price(book, &scenario->options[o]) >= 0)
      return true;
  return false;
}

static const char *used(struct name *name) {
  name->used = true;
  return name->text;
}

static const char *fixed(const struct writer *writer, int row, int column) {
  return cell_address(row, column, ADDRESS_ABSOLUTE, writer->book->arena);
}

static const char *here(const struct writer *writer, int row, int column) {
  return cell_address(row, column, ADDRESS_RELATIVE, writer->book->arena);
}

struct offer {
  const struct option_sheet *option;
  int price, discount;         // declarations; discount -1 for a rent
  double cost, baseline, paid; // as cells show them
  int today;                   // the row of what holds today, before that at a price of zero
};

static struct offer offer_of(const struct writer *writer, size_t o) {
  const struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  struct offer offer = {.option = &book->options[o], .discount = -1};
  offer.price = negotiated_price(book, offer.option->option);
  if (!offer.option->option->rented)
    offer.discount = model_find(scenario->model, "discount");
  offer.cost = shown_value(book, offer.option, writer->item, 0);
  offer.baseline = shown_value(book, &book->options[scenario->baseline], writer->item, 0);
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
static void write_price(const struct writer *writer, const struct offer *offer, int row,
                        double price) {
  struct book *book = writer->book;
  struct arena *arena = book->arena;
  const char *cost = fixed(writer, offer->today, COLUMN_WANTED);
  const char *zero = fixed(writer, offer->today + 1, COLUMN_WANTED);
  const char *paid = fixed(writer, offer->today, COLUMN_PRICE);
  const struct unit *unit = &book->scenario->model->declarations[offer->price].unit;
  put_formula(book, writer->sheet, row, COLUMN_PRICE,
              arena_printf(arena, "=IF(%s=%s,0,%s*(%s-%s)/(%s-%s))", cost, zero, paid,
                           here(writer, row, COLUMN_WANTED), zero, cost, zero),
              price, formats_cell(&book->formats, CELL_TOTAL, unit));
  put_formula(
      book, writer->sheet, row, COLUMN_CHANGE,
      arena_printf(arena, "=IF(%s=0,0,%s/%s-1)", paid, here(writer, row, COLUMN_PRICE), paid),
      price / offer->paid - 1, formats_cell(&book->formats, CELL_FORMULA, &percent));
}

// The discount that does to the present list price what the lower list price would do.
static void write_discount(const struct writer *writer, const struct offer *offer, int row,
                           double price) {
  struct book *book = writer->book;
  if (offer->discount < 0) {
    put_text(book, writer->sheet, row, COLUMN_DISCOUNT, "-", TEXT_RIGHT);
    return;
  }
  const double discount = shown_value(book, offer->option, offer->discount, 0);
  const char *formula = arena_printf(
      book->arena, "=IF(%s=0,0,1-%s/%s*(1-%s))", fixed(writer, offer->today, COLUMN_PRICE),
      here(writer, row, COLUMN_PRICE), fixed(writer, offer->today, COLUMN_PRICE),
      fixed(writer, offer->today, COLUMN_DISCOUNT));
  put_formula(book, writer->sheet, row, COLUMN_DISCOUNT, formula,
              1 - price / offer->paid * (1 - discount),
              formats_cell(&book->formats, CELL_TOTAL, &percent));
}

static void write_target(struct writer *writer, const struct offer *offer, size_t t) {
  struct book *book = writer->book;
  const struct scenario *scenario = book->scenario;
  const int row = writer->row++;
  const double target = offer->baseline * (1 - wanted_savings[t]);
  const struct declaration *cost = &scenario->model->declarations[writer->item];
  const char *baseline = used(option_name(&book->options[scenario->baseline], writer->item));
  const char *id = scenario->options[scenario->baseline].id;
  const char *label = t ? arena_printf(book->arena, "%g %% below %s", 100 * wanted_savings[t], id)
                        : arena_printf(book->arena, "As dear as %s per token", id);
  put_text(book, writer->sheet, row, COLUMN_LABEL, label, TEXT_PLAIN);
  put_text(book, writer->sheet, row, COLUMN_KEY, scenario->model->declarations[offer->price].name,
           TEXT_NOTE);
  put_text(book, writer->sheet, row, COLUMN_UNIT,
           scenario->model->declarations[offer->price].unit.text, TEXT_PLAIN);
  struct name *saving = NULL;
  if (t)
    saving = constants_literal(&book->constants, "wanted", "Saving to be negotiated",
                               arena_printf(book->arena, "%g %%", 100 * wanted_savings[t]),
                               wanted_savings[t], &percent);
  put_formula(book, writer->sheet, row, COLUMN_SAVING,
              saving ? arena_printf(book->arena, "=%s", used(saving)) : "=0", wanted_savings[t],
              formats_cell(&book->formats, saving ? CELL_LINK : CELL_FORMULA, &percent));
  put_formula(book, writer->sheet, row, COLUMN_WANTED,
              arena_printf(book->arena, "=%s*(1-%s)", baseline, here(writer, row, COLUMN_SAVING)),
              target, formats_cell(&book->formats, CELL_FORMULA, &cost->unit));
  write_price(writer, offer, row, price_at(offer, target));
  write_discount(writer, offer, row, price_at(offer, target));
}

static void write_headings(const struct writer *writer, const char *title) {
  struct book *book = writer->book;
  const char *unit = book->scenario->model->declarations[writer->item].unit.text;
  const char *const numbers[] = {"Saving wanted", arena_printf(book->arena, "Cost, %s", unit),
                                 "Walk-away price", "Against today's", "Or a discount of"};
  const char *const texts[] = {title, "Key", "Unit"};
  put_header(writer->book, writer->sheet, writer->row, texts, 3);
  for (int i = 0; i < 5; i++)
    put_text(writer->book, writer->sheet, writer->row, COLUMN_SAVING + i, numbers[i],
             TEXT_HEADER_RIGHT);
}

static void write_today(const struct writer *writer, const struct offer *offer) {
  struct book *book = writer->book;
  const struct model *model = book->scenario->model;
  const struct unit *cost = &model->declarations[writer->item].unit;
  const struct declaration *price = &model->declarations[offer->price];
  const int row = offer->today;
  put_text(book, writer->sheet, row, COLUMN_LABEL, "Today", TEXT_PLAIN);
  put_text(book, writer->sheet, row, COLUMN_KEY, price->name, TEXT_NOTE);
  put_text(book, writer->sheet, row, COLUMN_UNIT, price->unit.text, TEXT_PLAIN);
  put_link(book, writer->sheet, row, COLUMN_WANTED, option_name(offer->option, writer->item),
           offer->cost, cost);
  put_link(book, writer->sheet, row, COLUMN_PRICE, option_name(offer->option, offer->price),
           offer->paid, &price->unit);
  if (offer->discount >= 0)
    put_link(book, writer->sheet, row, COLUMN_DISCOUNT, option_name(offer->option, offer->discount),
             shown_value(book, offer->option, offer->discount, 0), &percent);
  put_text(book, writer->sheet, row + 1, COLUMN_LABEL, "At a price of zero", TEXT_PLAIN);
  put_text(book, writer->sheet, row + 1, COLUMN_KEY, price->name, TEXT_NOTE);
  put_text(book, writer->sheet, row + 1, COLUMN_UNIT, price->unit.text, TEXT_PLAIN);
  put_formula(book, writer->sheet, row + 1, COLUMN_WANTED,
              arena_printf(book->arena, "=%s", offer->option->free_cost_cell),
              offer->option->free_cost, formats_cell(&book->formats, CELL_LINK, cost));
}

static void write_offer(struct writer *writer, struct offer *offer) {
  const struct option *option = offer->option->option;
  write_headings(writer, arena_printf(writer->book->arena, "%s: highest %s", option->id,
                                      option->rented ? "rent" : "list price"));
  offer->today = ++writer->row;
  write_today(writer, offer);
  writer->row += 2;
  for (size_t t = 0; t < TARGETS; t++)
    write_target(writer, offer, t);
  writer->row++;
}

void write_negotiation(struct book *book) {
  const struct scenario *scenario = book->scenario;
  struct writer writer = {.book = book, .sheet = book->negotiation};
  writer.item = model_find(scenario->model, "cost_per_mtok");
  begin_sheet(book, writer.sheet, "Negotiation", FIRST_STAMP_ROW, COLUMN_LABEL + 1);
  put_text(book, writer.sheet, NOTE_ROW, 0,
           "Above its walk-away price an option no longer costs that much less per token. Live: "
           "change an input and the prices move.",
           TEXT_NOTE);
  writer.row = put_stamps(book, writer.sheet, FIRST_STAMP_ROW) + 1;
  for (size_t o = 0; o < scenario->option_count; o++) {
    if (!book->options[o].free_cost_cell)
      continue;
    struct offer offer = offer_of(&writer, o);
    write_offer(&writer, &offer);
  }
  worksheet_set_column(writer.sheet, COLUMN_LABEL, COLUMN_LABEL, 46, NULL);
  worksheet_set_column(writer.sheet, COLUMN_KEY, COLUMN_KEY, 25, NULL);
  worksheet_set_column(writer.sheet, COLUMN_UNIT, COLUMN_UNIT, 13, NULL);
  worksheet_set_column(writer.sheet, COLUMN_SAVING, COLUMN_DISCOUNT, 17, NULL);
  end_sheet(writer.sheet, writer.row - 2, COLUMN_DISCOUNT);
}
