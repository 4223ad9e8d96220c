// outputs: the sheet Outputs: the options side by side, category by category and year by year.
#ifndef PERTOKEN_REPORTS_OUTPUTS_OUTPUTS_H
#define PERTOKEN_REPORTS_OUTPUTS_OUTPUTS_H

#include "reports/spreadsheet/book.h"

void write_outputs(struct book *book);

#endif
