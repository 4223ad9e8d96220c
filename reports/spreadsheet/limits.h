// limits: what may be typed into the cells of an input, from the cost model's text.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_LIMITS_H
#define PERTOKEN_REPORTS_SPREADSHEET_LIMITS_H

#include "reports/spreadsheet/book.h"

#include <xlsxwriter.h>

// In the cells' unit, with the message for anything else.
lxw_data_validation *limits_of(const struct book *book, int declaration);

#endif
