#include "reports/outputs/zero_price.h"

#include "base/arena.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "reports/outputs/rows.h"
#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/cells.h"
#include "reports/spreadsheet/formats.h"

#include <stddef.h>

// The net price of purchased accelerators, a rate of others, what a provider of tokens is paid; -1
// for none that is one number.
static int price_of(const struct scenario *scenario, const struct option *option) {
  const int net = model_find(scenario->model, "net_price");
  const int paid = model_find(scenario->model, "api_rate_paid");
  const int price = net >= 0 && option_is_owned(option) && option_has(option, net) ? net
                    : paid >= 0 && option_has(option, paid)                        ? paid
                                                            : option_price(scenario, option);
  return price >= 0 && option_has(option, price) && !graph_is_series(option->graph, price) ? price
                                                                                           : -1;
}

// The first of the options with a price of zero: it is valid, and costs least.
void zero_price_write(struct book *book) {
  static const char has[] = " has a price of zero";
  const struct scenario *scenario = book->scenario;
  struct output_rows *rows = &book->sheets->rows;
  const int row = outputs_labels(book, "A price of zero", "free", unit_flag.text);
  rows->free_text = "";
  for (size_t o = scenario->option_count; o-- > 0;) {
    const struct option_sheet *sheet = &book->sheets->options[o];
    const int price = price_of(scenario, sheet->option);
    const bool is_free = price >= 0 && shown_value(book, sheet, price, 0) == 0;
    if (price >= 0)
      put_formula(book, row, outputs_option_column(o), is_free, CELL_FORMULA, &unit_flag,
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
