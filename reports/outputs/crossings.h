// crossings: when the options' cumulative costs cross the baseline's.
#ifndef PERTOKEN_REPORTS_OUTPUTS_CROSSINGS_H
#define PERTOKEN_REPORTS_OUTPUTS_CROSSINGS_H

#include "reports/spreadsheet/book.h"

// The row for it among the results and, in the workings, what that is derived from.
void crossings_place(struct book *book);
void crossings_write(struct book *book);

#endif
