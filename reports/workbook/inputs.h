// inputs: the sheet Inputs: every figure that an analyst may change, in every case, and the
// constants of formulas.
#ifndef PERTOKEN_REPORTS_WORKBOOK_INPUTS_H
#define PERTOKEN_REPORTS_WORKBOOK_INPUTS_H

#include "reports/spreadsheet/book.h"

// "='Inputs'!$E$6:$H$6": the names of the cases.
const char *inputs_cases(const struct book *book);

#endif
