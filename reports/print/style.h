// style: what the stream that is printed to can show, and text made to fit it.
//
// Text from files goes through style_text before it is printed: a terminal must not act on it.
#ifndef PERTOKEN_REPORTS_PRINT_STYLE_H
#define PERTOKEN_REPORTS_PRINT_STYLE_H

#include "base/arena.h"

#include <stdbool.h>
#include <stdio.h>

enum emphasis { EMPHASIS_NONE, EMPHASIS_STRONG, EMPHASIS_FAINT, EMPHASIS_GOOD, EMPHASIS_ALARM };

struct style {
  FILE *out;
  struct arena *arena;
  int width;     // columns: as COLUMNS says, else of the terminal, 80 elsewhere
  bool terminal; // a person looks at it right away
  bool colour;   // a terminal, unless NO_COLOR is set or TERM is dumb
  bool utf8;     // as the locale says; else ASCII alone
};

struct style style_of(FILE *out, struct arena *arena);

// Columns that the text takes on a terminal.
int style_width(const char *text);

// The text without control characters, without those that turn the direction of writing and, where
// UTF-8 is not understood, without anything beyond ASCII: "?" stands in their place.
const char *style_text(const struct style *style, const char *text);

// The text in that emphasis, as far as there is colour.
const char *style_mark(const struct style *style, enum emphasis emphasis, const char *text);

// Breaks the text at blanks into lines of at most `width` columns; a longer word stays whole.
// Never fewer than one line. Returns their number.
size_t style_wrap(const char *text, int width, struct arena *arena, const char ***lines);

// The text, or as much of its beginning as fits into `width` columns beside "..".
const char *style_cut(const char *text, int width, struct arena *arena);

// Prints a paragraph no wider than the style: `first` before its first line, blanks of the same
// width before the others. The text is passed through style_text.
void style_paragraph(const struct style *style, const char *first, const char *text);

// Prints a text, wrapped to the style's width, in that emphasis. It is passed through style_text.
void style_block(const struct style *style, enum emphasis emphasis, const char *text);

// A horizontal line over `width` columns.
void style_rule(const struct style *style, int width);

#endif
