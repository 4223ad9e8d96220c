// equal_shares: what a token would cost if every record had reached the highest share of its
// device's read bandwidth, live, on the sheet Sensitivity. Only where model/scenario/read_shares.h
// finds the shares apart. The rates and shares are those of the records: an input typed over them
// does not change them, everything else does.
#ifndef PERTOKEN_REPORTS_SHEETS_EQUAL_SHARES_H
#define PERTOKEN_REPORTS_SHEETS_EQUAL_SHARES_H

#include "reports/spreadsheet/book.h"

struct equal_shares;

// NULL if the shares are not apart.
struct equal_shares *equal_shares_plan(const struct book *book);

// The number of rows of its table with an empty one below; 0 without one.
int equal_shares_rows(const struct book *book);

int equal_shares_last_column(const struct book *book);

// Writes the table from one row on, the calculations from another. Returns the row after the
// latter.
int equal_shares_write(struct book *book, int row, int calculations);

#endif
