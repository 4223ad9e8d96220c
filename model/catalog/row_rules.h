// row_rules: what the figures of one row must be to each other: a figure lies between its low and
// its high, and figures that say the same twice agree, such as the tokens/s of one accelerator and
// of all. data/README.md describes the columns.
#ifndef PERTOKEN_MODEL_CATALOG_ROW_RULES_H
#define PERTOKEN_MODEL_CATALOG_ROW_RULES_H

#include "base/csv.h"
#include "base/diagnostics.h"

#include <stddef.h>

// Reports the rows of a table of the catalogue that contradict themselves. Blank cells, and those
// that are not numbers, contradict nothing; nor do amounts in two currencies.
void row_rules_check(const struct table *table, struct diagnostics *diagnostics);

// The USD per unit of the currency in which a row of prices states its amount, as its
// usd_per_gpu_equivalent implies. NAN if the row states only one of the two, or the amount is in
// USD.
double row_rules_exchange(const struct table *prices, size_t row);

#endif
