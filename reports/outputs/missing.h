// missing: the costs that options leave out, live.
#ifndef PERTOKEN_REPORTS_OUTPUTS_MISSING_H
#define PERTOKEN_REPORTS_OUTPUTS_MISSING_H

#include "reports/spreadsheet/book.h"
#include "reports/spreadsheet/formats.h"

#include <stddef.h>

// The costs that each option leaves out, in the order of the model; in the workings.
void missing_write(struct book *book);

// On any sheet: what an option leaves out, or "nothing".
void put_not_included(struct book *book, int row, int column, size_t option,
                      enum text_format format);

#endif
