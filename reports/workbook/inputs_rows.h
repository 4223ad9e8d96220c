// inputs_rows: which inputs of an option have rows of their own on Inputs, and which share one.
#ifndef PERTOKEN_REPORTS_WORKBOOK_INPUTS_ROWS_H
#define PERTOKEN_REPORTS_WORKBOOK_INPUTS_ROWS_H

#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

#include <stdbool.h>
#include <stddef.h>

bool input_is_read(const struct option_sheet *sheet, int declaration);

// Whether the option uses the value common to all options that do not set their own.
bool input_is_common(const struct book *book, const struct option_sheet *sheet, size_t which_case,
                     int declaration);

// What a rent includes is not an input of a rented option, and the rent is not one of an option
// that is bought.
bool input_does_not_apply(const struct book *book, const struct option_sheet *sheet,
                          int declaration);

bool input_has_row(const struct book *book, const struct option_sheet *sheet, int declaration);

// Whether that row is the one of all options that use the common value in every case.
bool input_is_shared(const struct book *book, const struct option_sheet *sheet, int declaration);

#endif
