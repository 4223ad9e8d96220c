// weakest_grades: on Sensitivity, the figures that an option's cost depends on, and the weakest
// grade among them, live, by the rule of model/scenario/resolution/grading.h: a figure counts if a
// swing of it alone moves the cost per token by more than the limit there.
#ifndef PERTOKEN_REPORTS_SHEETS_WEAKEST_GRADES_H
#define PERTOKEN_REPORTS_SHEETS_WEAKEST_GRADES_H

#include "reports/spreadsheet/book.h"

#include <stddef.h>

// The number of rows for the answers, one for each option; none if no input is graded.
int grades_rows(const struct book *book);

// Writes the answers from `row` on, and their calculations from `calculations` on. Returns the row
// after the latter.
int grades_write(struct book *book, int row, int calculations);

// The cell with an option's answer on that sheet, "Sensitivity!$D$7".
const char *grades_cell(const struct book *book, size_t option);

#endif
