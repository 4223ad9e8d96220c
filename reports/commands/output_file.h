// output_file: what the end of the name after -o asks for.
#ifndef PERTOKEN_REPORTS_COMMANDS_OUTPUT_FILE_H
#define PERTOKEN_REPORTS_COMMANDS_OUTPUT_FILE_H

#include "reports/commands/run.h"
#include "reports/print/format.h"

#include <stdbool.h>

// Whether -o names a workbook: x.xlsx.
bool output_file_is_workbook(const struct run *run);

// The format of --format; without it, of the name after -o: x.csv, x.json; else a table.
enum output_format output_file_format(const struct run *run);

// For an answer that no workbook has. Returns -1, after an error, if -o names one, else 0.
int output_file_refuse_workbook(struct run *run);

// For a command that writes nothing but `what`, "a workbook" or "a page", in files of `ending`:
// refuses a name that ends like other files, in up to five letters. Returns 0, or -1 after an
// error.
int output_file_expect(struct run *run, const char *what, const char *ending);

#endif
