// writers: one function for each sheet, in their order; Outputs is a room of its own.
#ifndef PERTOKEN_REPORTS_WORKBOOK_WRITERS_H
#define PERTOKEN_REPORTS_WORKBOOK_WRITERS_H

#include "reports/sheets/sheets.h"
#include "reports/spreadsheet/book.h"

void write_cover(struct book *book);
void write_summary(struct book *book);
void write_scope(struct book *book);
void write_inputs(struct book *book);
void write_calculation(struct book *book, struct option_sheet *sheet);
void write_finance(struct book *book);
void write_sensitivity(struct book *book);
void write_simulation(struct book *book);
void write_negotiation(struct book *book);
void write_decisions(struct book *book);
void write_evidence(struct book *book);
void write_checks(struct book *book);
void write_log(struct book *book);

#endif
