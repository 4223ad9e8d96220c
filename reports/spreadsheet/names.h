// names: the defined names of a workbook, each with what it stands for and where.
//
// All begin with pt_, so that none reads like a cell (H200, mi300). Spreadsheets ignore case in
// names, so two names that differ in case alone are one.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_NAMES_H
#define PERTOKEN_REPORTS_SPREADSHEET_NAMES_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct name {
  const char *text;    // pt_h200_discount
  const char *meaning; // for messages: "'h200.discount'"
  const char *sheet;   // where it stands; NULL until placed
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

// Adds a name. If it is there already, the old one comes back: compare `meaning`.
struct name *names_add(struct names *names, const char *text, const char *meaning);

// Adds the first of STEM_1, STEM_2, ... that is free.
struct name *names_add_numbered(struct names *names, const char *stem, const char *meaning);

void name_place(struct name *name, const char *sheet, int row, int column);

#endif
