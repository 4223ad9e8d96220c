#include "reports/print/csv_out.h"

#include "base/digits.h"

#include <csv.h>
#include <inttypes.h>
#include <string.h>

static void begin_cell(struct csv_out *out) {
  if (out->inside)
    putc(',', out->file);
  out->inside = true;
}

void csv_out_text(struct csv_out *out, const char *text) {
  begin_cell(out);
  // A sign alone, like the unit "-", is not a formula.
  const bool formula = strlen(text) > 1 && strchr("=+-@\t\r", *text);
  if (!formula) {
    csv_fwrite(out->file, text, strlen(text));
    return;
  }
  // libcsv writes the quotes, so the apostrophe has to be part of what it gets.
  char guarded[strlen(text) + 2];
  guarded[0] = '\'';
  memcpy(guarded + 1, text, strlen(text) + 1);
  csv_fwrite(out->file, guarded, strlen(guarded));
}

void csv_out_number(struct csv_out *out, double value) {
  begin_cell(out);
  char digits[DIGITS_ROOM];
  fputs(digits_shortest(value, digits), out->file);
}

void csv_out_integer(struct csv_out *out, uint64_t value) {
  begin_cell(out);
  fprintf(out->file, "%" PRIu64, value);
}

void csv_out_blank(struct csv_out *out) {
  begin_cell(out);
}

void csv_out_end_row(struct csv_out *out) {
  putc('\n', out->file);
  out->inside = false;
}

void csv_out_header(struct csv_out *out, const char *const *names, size_t count) {
  for (size_t i = 0; i < count; i++)
    csv_out_text(out, names[i]);
  csv_out_end_row(out);
}
