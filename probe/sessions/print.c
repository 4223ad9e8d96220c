#include "probe/sessions/print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

void print_safely(const char *text, FILE *out) {
  for (; *text; text++)
    putc((unsigned char)*text < ' ' || *text == 127 ? '?' : *text, out);
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
