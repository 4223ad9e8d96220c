// Any text as a CSV table.
#include "fuzz.h"

#include "base/csv.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void check_cell(const struct table *table, size_t row, const char *column) {
  const char *cell = table_cell(table, row, column);
  double number = 0;
  assert(cell && isfinite(number));
  if (table_number(table, row, column, &number))
    assert(isfinite(number) && *cell);
  struct place place = table_place(table, row, column);
  const char *start;
  size_t length;
  assert(place.column >= 1 && source_line(place.source, place.line, &start, &length));
}

static void check_table(const struct table *table) {
  assert(table->columns > 0);
  for (size_t c = 0; c < table->columns; c++) {
    const char *column = table->column_names[c];
    assert(*column && table_column(table, column) == (int)c);
    for (size_t row = 0; row < table->rows; row++)
      check_cell(table, row, column);
  }
}

// Every row is found by its cell in an indexed column.
static void check_index(struct table *table, struct fuzz *fuzz) {
  const char *column = table->column_names[0];
  if (table_index(table, column, &fuzz->arena, &fuzz->diagnostics) < 0)
    return;
  for (size_t row = 0; row < table->rows; row++)
    assert(table_find(table, table_cell(table, row, column)) == (long)row);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  struct table *table = csv_read(fuzz.source, "fuzz", &fuzz.arena, &fuzz.diagnostics);
  assert((table != NULL) == (fuzz.diagnostics.errors == 0));
  if (table) {
    check_table(table);
    check_index(table, &fuzz);
  }
  fuzz_end(&fuzz);
  return 0;
}
