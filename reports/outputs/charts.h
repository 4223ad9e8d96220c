// charts: the charts of Outputs, two side by side, in rows reserved for them.
#ifndef PERTOKEN_REPORTS_OUTPUTS_CHARTS_H
#define PERTOKEN_REPORTS_OUTPUTS_CHARTS_H

#include "reports/spreadsheet/book.h"

// The number of rows that the charts need, and the charts.
int outputs_chart_rows(const struct book *book);
void insert_charts(struct book *book);
void break_pages(struct book *book, int tables, int years);

// The first of them again, on the Cover. Returns the row after it.
int insert_cover_chart(struct book *book, int row, int width);

#endif
