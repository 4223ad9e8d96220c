// csv_out: CSV for spreadsheets. Texts are quoted, numbers are not; lines end in LF.
#ifndef PERTOKEN_REPORTS_PRINT_CSV_OUT_H
#define PERTOKEN_REPORTS_PRINT_CSV_OUT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct csv_out {
  FILE *file;
  bool inside; // a row has begun
};

// A text that a spreadsheet would take for a formula (it begins with = + - @, a tab or a carriage
// return, and continues) gets an apostrophe in front.
void csv_out_text(struct csv_out *out, const char *text);

// Writes a number with as many digits as it takes to read back the same one; -0 is written as 0.
void csv_out_number(struct csv_out *out, double value);

void csv_out_integer(struct csv_out *out, uint64_t value);

// An empty cell.
void csv_out_blank(struct csv_out *out);

void csv_out_end_row(struct csv_out *out);

// A row of texts.
void csv_out_header(struct csv_out *out, const char *const *names, size_t count);

#endif
