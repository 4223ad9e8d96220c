// negotiation: the sheet Negotiation: what each side would have to concede, or may ask, for its
// option's cost per token to match the other's, and to be 5 and 10 % below it, live. Costs are
// linear in the price, so the price follows from the cost at a price of zero. An option's other
// side is its cheapest alternative: no buyer pays more because a more expensive one costs as much.
#ifndef PERTOKEN_REPORTS_WORKBOOK_NEGOTIATION_H
#define PERTOKEN_REPORTS_WORKBOOK_NEGOTIATION_H

#include "model/scenario/option.h"
#include "reports/spreadsheet/book.h"

#include <stdbool.h>

// Whether tokens are bought, of which all prices are negotiated together, as api_discount is.
bool negotiates_tokens(const struct book *book, const struct option *option);

// The input that is negotiated with the option's vendor: list_price, rental_rate or output_price,
// NAME_scale where it is a list; -1 for none.
int negotiated_price(const struct book *book, const struct option *option);
bool negotiation_shown(const struct book *book);

// The input that delays a part of such an option's accelerators; -1 for none.
int negotiated_delay(const struct book *book, const struct option *option);

// The distributions over the ranges of the negotiated prices. Returns 0, or -1 after errors.
int negotiation_plan(struct book *book);

#endif
