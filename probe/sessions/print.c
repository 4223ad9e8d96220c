#include "probe/sessions/print.h"

#include "base/texts.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <unistr.h>
#include <unitypes.h>

void print_safely(const char *text, FILE *out) {
  for (const uint8_t *at = (const uint8_t *)text; *at;) {
    ucs4_t code;
    const int bytes = u8_strmbtouc(&code, at);
    if (bytes <= 0 || text_acts_on_terminal(code))
      putc('?', out);
    else
      fwrite(at, 1, (size_t)bytes, out);
    at += bytes > 0 ? bytes : 1;
  }
}

static void print_cell(const char *text, int width, FILE *out) {
  fprintf(out, " %*s", width - 1, text);
}

void print_number(double value, const char *format, int width, struct arena *arena, FILE *out) {
  print_cell(isnan(value) ? "-" : arena_printf(arena, format, value), width, out);
}

void print_digits(double value, int digits, int width, struct arena *arena, FILE *out) {
  const char *text = isnan(value) ? "-" : arena_printf(arena, "%.*g", digits, value);
  const bool long_one = value > 1 && strchr(text, 'e');
  print_cell(long_one ? arena_printf(arena, "%.0f", value) : text, width, out);
}
