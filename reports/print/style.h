// style: what the output stream can show, and text made to fit it.
//
// Text from files goes through style_text before it is printed: a terminal must not interpret it.
#ifndef PERTOKEN_REPORTS_PRINT_STYLE_H
#define PERTOKEN_REPORTS_PRINT_STYLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

enum emphasis { EMPHASIS_NONE, EMPHASIS_STRONG, EMPHASIS_FAINT, EMPHASIS_GOOD, EMPHASIS_ALARM };

struct style {
  FILE *out;
  struct arena *arena;
  int width;     // columns: of COLUMNS or the terminal, else 80; between 60 and 132, for legibility
  int screen;    // the same without the upper limit
  bool terminal; // a person sees the output immediately
  bool colour;   // a terminal, unless NO_COLOR is set or TERM is dumb
  bool utf8;     // according to the locale; else ASCII only
};

struct style style_of(FILE *out, struct arena *arena);

// The number of columns that the text takes on a terminal.
int style_width(const char *text);

// The text without control characters, without those that change the direction of writing and, if
// UTF-8 is not supported, without anything beyond ASCII: "?" replaces each of them.
const char *style_text(const struct style *style, const char *text);

// The text with that emphasis, if there is color.
const char *style_mark(const struct style *style, enum emphasis emphasis, const char *text);

// Breaks the text at spaces into lines of at most `width` columns; a longer word stays whole.
// Returns the number of lines, at least one.
size_t style_wrap(const char *text, int width, struct arena *arena, const char ***lines);

// The text, or as much of its beginning as fits into `width` columns with "..".
const char *style_cut(const char *text, int width, struct arena *arena);

// Prints a paragraph no wider than the style: `first` before its first line, spaces of the same
// width before the others. The text is passed through style_text.
void style_paragraph(const struct style *style, const char *first, const char *text);

// Prints a text with that emphasis, wrapped to the style's width. It is passed through style_text.
void style_block(const struct style *style, enum emphasis emphasis, const char *text);

// A horizontal line over `width` columns.
void style_rule(const struct style *style, int width);

#endif
