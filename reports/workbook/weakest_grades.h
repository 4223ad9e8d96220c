// weakest_grades: on Sensitivity, which figures an option's cost stands or falls with, and the weakest
// grade among them, live, by the rule of model/scenario/reading/grading.h: a figure counts where a swing of it
// alone moves the cost per token by more than is said there.
#ifndef PERTOKEN_REPORTS_WORKBOOK_WEAKEST_GRADES_H
#define PERTOKEN_REPORTS_WORKBOOK_WEAKEST_GRADES_H

#include "reports/spreadsheet/book.h"

#include <stddef.h>

// How many rows the answers need, one row an option; none where no input is graded.
int grades_rows(const struct book *book);

// The answers from `row` on, and what they are found by from `calculations` on. Returns the row behind
// the latter.
int grades_write(struct book *book, int row, int calculations);

// The cell of an option's answer on that sheet, "Sensitivity!$D$7".
const char *grades_cell(const struct book *book, size_t option);

#endif
