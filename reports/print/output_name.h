// output_name: what the end of a file's name, as given to -o, asks for.
#ifndef PERTOKEN_REPORTS_PRINT_OUTPUT_NAME_H
#define PERTOKEN_REPORTS_PRINT_OUTPUT_NAME_H

#include "base/diagnostics.h"
#include "reports/print/format.h"

#include <stdbool.h>

// In all of these, `path` may be NULL: no file. Capitals do not matter.

// x.xlsx
bool output_name_is_workbook(const char *path);

// What no answer is, and which command writes it: "workbook", "report" for x.xlsx. NULL: it may be
// an answer.
struct output_kind {
  const char *ending, *what, *command;
};

const struct output_kind *output_name_other(const char *path);

// The format of an answer in x.csv or x.json; else a table.
enum output_format output_name_format(const char *path);

// Refuses any other name of a file for a command that writes nothing but `what`, "a workbook" or "a
// page", in files of `ending`. Returns 0, or -1 after an error.
int output_name_expect(const char *path, const char *what, const char *ending,
                       struct diagnostics *diagnostics);

#endif
