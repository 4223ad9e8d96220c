// autofit: room for what the current sheet shows at 100 % zoom: wider columns where a text or a
// number would be cut off, wrapped texts and higher rows where a column would become too wide.
//
// A text that is not wrapped runs over the empty cells beside it, as spreadsheet programs show it.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_AUTOFIT_H
#define PERTOKEN_REPORTS_SPREADSHEET_AUTOFIT_H

#include "reports/spreadsheet/book.h"

// Call after all cells and widths of the sheet have been set; last_row and last_column are the last
// ones printed, but if letters would then be too small, its blank columns
// (book.h) are not. Also chooses the paper on which the sheet is one legible page, if there is one;
// a sheet that is too wide for any takes several, with its frozen columns on each. Returns the last
// column printed: that of the longest text at least, unless it is blank.
int autofit(struct book *book, int last_row, int last_column);

#endif
