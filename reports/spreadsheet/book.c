#include "reports/spreadsheet/book.h"

#include "base/source.h"
#include "reports/spreadsheet/archive.h"
#include "reports/spreadsheet/formula.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int book_write(struct book *book, const char *path,
               int (*write)(struct book *book, const struct output *output, const void *context),
               const void *context) {
  struct output output;
  if (output_open(&output, path, book->arena, book->diagnostics))
    return -1;
  if (!output.folder)
    diagnostics_error(book->diagnostics, nowhere,
                      "a workbook can only be written to a file, and '%s' is not one", path);
  if (!output.folder || write(book, &output, context)) {
    output_discard(&output);
    return -1;
  }
  return output_close(&output, book->diagnostics);
}

int book_open(struct book *book, const struct output *output) {
  lxw_workbook_options options = {.tmpdir = (char *)output->folder};
  book->formats.workbook = book->workbook = workbook_new_opt(output->writable, &options);
  return book->workbook ? 0 : -1;
}

// An option's label may look like a cell address (H200): its sheet's name then needs quotes
// everywhere, which the library adds only for spaces and similar characters.
static void quote_name(struct book *book) {
  char *quoted = strdup(arena_printf(book->arena, "'%s'", book->sheet->name));
  if (!quoted)
    return;
  free(book->sheet->quoted_name);
  book->sheet->quoted_name = quoted;
}

void book_turn_to(struct book *book, const char *sheet) {
  book->blank_column = 0;
  book->sheet = workbook_get_worksheet_by_name(book->workbook, sheet);
  if (book->sheet)
    return;
  book->sheet = workbook_add_worksheet(book->workbook, sheet);
  if (book->sheet)
    quote_name(book);
  else
    book->failed = true;
}

int book_place(struct book *book, int row) {
  if (book->writing) {
    const bool agrees = book->next < book->place_count && book->places[book->next] == row;
    assert(agrees);
    book->failed |= !agrees;
    book->next++;
    return row;
  }
  if (book->place_count == book->place_capacity) {
    const size_t capacity = 2 * book->place_capacity + 256;
    book->places = arena_grow(book->arena, book->places, book->place_count, capacity, sizeof(int));
    book->place_capacity = capacity;
  }
  return book->places[book->place_count++] = row;
}

void book_place_name(struct book *book, struct name *name, int row, int column) {
  name_place(name, book->sheet->name, book_place(book, row), book_place(book, column));
}

// Defines the names, from the last: the library keeps them sorted, and looks for the place of each
// from the first.
static void define_names(struct book *book) {
  for (size_t i = book->names.count; i-- > 0;) {
    const struct name *name = book->names.sorted[i];
    if (!name->used)
      continue;
    const char *where = name->sheet ? sheet_address(name->sheet, name->row, name->column,
                                                    ADDRESS_ABSOLUTE, book->arena)
                                    : "";
    if (workbook_define_name(book->workbook, name->text, arena_printf(book->arena, "=%s", where)) !=
        LXW_NO_ERROR)
      book->failed = true;
  }
}

void book_end_pass(struct book *book) {
  if (book->writing) {
    book->failed |= book->next != book->place_count;
    define_names(book);
  }
  book->writing = true;
}

// The library does not notice if a part of the file could not be written.
static bool is_whole(const struct output *output, int sheets) {
  FILE *file = fopen(output->writable, "re");
  const bool whole = file && archive_is_whole(file, sheets);
  if (file)
    fclose(file);
  return whole;
}

// The library reports errors only when it closes the file, which also frees it.
int book_close(struct book *book, const struct output *output) {
  const int sheets = (int)book->workbook->num_worksheets;
  sigset_t before;
  output_hold_signals(&before); // the library removes its temporary files one by one
  errno = 0;
  const lxw_error error = workbook_close(book->workbook);
  const int reason = errno;
  output_release_signals(&before);
  if (book->failed) {
    diagnostics_error(book->diagnostics, nowhere, "a workbook cannot hold all of this scenario%s%s",
                      book->no_number ? ": there is no finite value for cell " : "",
                      book->no_number ? book->no_number : "");
    return -1;
  }
  if (error == LXW_NO_ERROR && is_whole(output, sheets))
    return 0;
  book->diagnostics->machine_failed = true;
  diagnostics_error(book->diagnostics, nowhere, "cannot write '%s': %s", output->path,
                    reason                  ? strerror(reason)
                    : error == LXW_NO_ERROR ? "the file is incomplete"
                                            : lxw_strerror(error));
  return -1;
}
