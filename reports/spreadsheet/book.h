// book: an xlsx file being made, in two passes over the same functions, as an assembler makes a
// program: the first assigns every cell its place and writes nothing; the second writes, so a
// formula can refer to cells before and after it.
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
struct sheets; // what a book's sheets know about one another; owned by them

struct book {
  const struct scenario *scenario;
  struct sheets *sheets;
  struct arena *arena;
  struct diagnostics *diagnostics;
  lxw_workbook *workbook;
  lxw_worksheet *sheet; // the current one
  int row;              // its next row
  int blank_column;     // of the sheet: the first of its last columns, blank in every case; 0: none
  struct formats formats;
  struct names names;
  struct constants constants;
  bool writing;          // the second pass
  bool failed;           // a cell could not be written, or the passes disagree
  const char *no_number; // the first cell whose value is not finite, or NULL
  // The places recorded by the first pass, in order; `next` is the second pass's position.
  int *places;
  size_t place_count, place_capacity, next;
};

// Writes a workbook to -o: `write` opens, fills and closes it. An error if -o is not a file.
// Returns 0, or -1 with no file left behind.
int book_write(struct book *book, const char *path,
               int (*write)(struct book *book, const struct output *output, const void *context),
               const void *context);

// Opens a file on disk; what the library cannot keep in memory goes into a temporary file beside
// it. Returns 0 or -1; book_close frees it.
int book_open(struct book *book, const struct output *output);

// Makes a sheet the current one; adds it if there is none of that name.
void book_turn_to(struct book *book, const char *sheet);

// A row that others read: recorded by the first pass; if it differs in the second, the book fails.
// Returns the row.
int book_place(struct book *book, int row);

// The same for a name's cell on the current sheet.
void book_place_name(struct book *book, struct name *name, int row, int column);

// Ends the first pass, or the second, after which the names that formulas use are defined.
void book_end_pass(struct book *book);

// Writes the file and reads it back to see that it is complete; closes it even if the book has
// failed. Disk errors count as the machine's (machine_failed). Returns 0 or -1.
int book_close(struct book *book, const struct output *output);

#endif
