// names: the defined names of a workbook, with meaning and place.
//
// All begin with pt_, so that none looks like a cell (H200, mi300). Spreadsheets ignore case in
// names, so names that differ only in case are the same.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_NAMES_H
#define PERTOKEN_REPORTS_SPREADSHEET_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct name {
  const char *text;    // pt_h200_discount
  const char *meaning; // for messages: "'h200.discount'"
  const char *sheet;   // of its cell; NULL until placed
  int row, column;     // from 0
  bool used;           // by a formula; only such names are defined
};

struct names {
  struct arena *arena;
  struct name **sorted; // by text, case ignored
  size_t count, capacity;
};

// The name of that text, or NULL.
struct name *names_find(const struct names *names, const char *text);

// Adds a name. If it already exists, the old one is returned: compare `meaning`.
struct name *names_add(struct names *names, const char *text, const char *meaning);

// Adds the first of STEM_1, STEM_2, ... that is not taken.
struct name *names_add_numbered(struct names *names, const char *stem, const char *meaning);

// The text, for a formula: marks the name as used.
const char *name_use(struct name *name);

void name_place(struct name *name, const char *sheet, int row, int column);

#endif
