// print: texts and numbers in tables for people.
#ifndef PERTOKEN_PROBE_SESSIONS_PRINT_H
#define PERTOKEN_PROBE_SESSIONS_PRINT_H

#include "base/arena.h"

#include <stdio.h>

// A text from a device or a file, with '?' for anything that a terminal would interpret.
void print_safely(const char *text, FILE *out);

// A cell of that many columns, right-aligned after at least one blank: a number in a format of
// printf; "-" for NAN.
void print_number(double value, const char *format, int width, struct arena *arena, FILE *out);

// A cell with a number of this many significant digits, and all those before the point: exponents
// are hard to read.
void print_digits(double value, int digits, int width, struct arena *arena, FILE *out);

#endif
