// short_text: how long a text of the user's may be, so that every face can show the whole of it: on
// a line or two of a page, in a cell of a workbook.
#ifndef PERTOKEN_BASE_SHORT_TEXT_H
#define PERTOKEN_BASE_SHORT_TEXT_H

#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>

enum { SHORT_TEXT_MOST = 150 }; // characters, not bytes

// Of valid UTF-8.
size_t text_characters(const char *text);

// At most SHORT_TEXT_MOST characters. Quick for what is.
bool text_is_short(const char *text);

// Titles, labels and sources: an error at `place` for one that is longer. `what` names it: "a
// title". Returns 0 or -1.
int short_text_check(const char *what, const char *text, struct place place,
                     struct diagnostics *diagnostics);

#endif
