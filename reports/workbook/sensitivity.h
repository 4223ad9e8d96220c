// sensitivity: the sheet Sensitivity: the tornado, live: every swing's ends, their effect, and
// their order.
#ifndef PERTOKEN_REPORTS_WORKBOOK_SENSITIVITY_H
#define PERTOKEN_REPORTS_WORKBOOK_SENSITIVITY_H

#include "model/questions/sensitivity.h"
#include "reports/spreadsheet/book.h"

// The tornado of the ranking_contender; NULL if its saving is not defined.
const struct sensitivity *sensitivity_shown(const struct book *book);

#endif
