// book: an xlsx file while it is made, in two passes over the same functions, as an assembler makes
// a program: the first places every cell and writes nothing, the second writes, and every formula
// then knows where the cells stand that it reads, before it or behind it.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_BOOK_H
#define PERTOKEN_REPORTS_SPREADSHEET_BOOK_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "reports/spreadsheet/constants.h"
#include "reports/spreadsheet/formats.h"
#include "reports/spreadsheet/names.h"

#include <stdbool.h>
#include <stddef.h>
#include <xlsxwriter.h>

struct scenario;
struct sheets; // what a book's sheets know of one another; theirs

struct book {
  const struct scenario *scenario;
  struct sheets *sheets;
  struct arena *arena;
  struct diagnostics *diagnostics;
  lxw_workbook *workbook;
  lxw_worksheet *sheet; // the one at hand
  int row;              // its next
  struct formats formats;
  struct names names;
  struct constants constants;
  bool writing; // the second pass
  bool failed;  // a cell could not be written, or the passes disagree
  // The places that the first pass recorded, in their order; `next` of the second.
  int *places;
  size_t place_count, place_capacity, next;
};

// Opens a file on disk; what the library cannot hold in memory goes beside it. Returns 0 or -1;
// book_close frees it.
int book_open(struct book *book, const struct output *output);

// Makes a sheet the one at hand; it is added when there is none of that name.
void book_turn_to(struct book *book, const char *sheet);

// A row that others read: recorded by the first pass; the second fails the book where it differs.
// Returns the row.
int book_place(struct book *book, int row);

// A name's cell on the sheet at hand, likewise.
void book_place_name(struct book *book, struct name *name, int row, int column);

// Ends the first pass, or the second, after which the names that formulas read are defined.
void book_end_pass(struct book *book);

// Writes the file and reads it again, to see that it is whole; closes it even when the book has failed.
// Errors of the disk are the machine's. Returns 0 or -1.
int book_close(struct book *book, const struct output *output);

#endif
