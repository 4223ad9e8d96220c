// short_text: how long a user's text may be for every output to show it in full: on a line or two
// of a page, in a cell of a workbook.
#ifndef PERTOKEN_BASE_SHORT_TEXT_H
#define PERTOKEN_BASE_SHORT_TEXT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"

#include <stdbool.h>
#include <stddef.h>

enum { MAX_SHORT_TEXT = 150 }; // characters, not bytes

// How many of the first `most_bytes` bytes of valid UTF-8 belong to whole characters.
size_t text_within(const char *text, size_t most_bytes);

// At most `most_characters` characters of valid UTF-8: a text that is longer loses its middle,
// "Acme, …n 2".
const char *text_abridged(const char *text, size_t most_characters, struct arena *arena);

// Whether a text of valid UTF-8 has at most MAX_SHORT_TEXT characters.
bool text_is_short(const char *text);

// The text with U+FFFD for unreadable characters: control characters and codes that are not
// characters.
const char *text_readable(const char *text, struct arena *arena);

// An error at `place` if a title, label or source is too long. `what` names it: "a title". Returns
// 0 or -1.
int short_text_check(const char *what, const char *text, struct place place,
                     struct diagnostics *diagnostics);

#endif
