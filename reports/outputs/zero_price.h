// zero_price: which options have a price of zero, live.
#ifndef PERTOKEN_REPORTS_OUTPUTS_ZERO_PRICE_H
#define PERTOKEN_REPORTS_OUTPUTS_ZERO_PRICE_H

#include "reports/spreadsheet/book.h"

// Writes them in the workings.
void zero_price_write(struct book *book);

#endif
