// texts: a list of sentences that grows one by one: warnings, reasons; counted things; and the
// characters that are not printed for people.
#ifndef PERTOKEN_BASE_TEXTS_H
#define PERTOKEN_BASE_TEXTS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <unitypes.h>

// Empty when zeroed.
struct texts {
  const char **list;
  size_t count;
};

// Adds one, printed into the arena.
void texts_add(struct texts *texts, struct arena *arena, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

// Whether the list has a text equal to this one.
bool texts_have(const struct texts *texts, const char *text);

// Whether the text is longer than the ending, ".json", and ends in it.
bool text_ends_in(const char *text, const char *ending);

// "a, b, c": all texts, separated by commas, or by `between`.
const char *texts_joined(const struct texts *texts, struct arena *arena);
const char *texts_joined_by(const struct texts *texts, const char *between, struct arena *arena);

// "1 node", "2 nodes".
const char *text_counted(size_t count, const char *noun, struct arena *arena);

// Whether the character changes the direction of the text after it (Unicode 15, UAX 9), which could
// make a line read as a different one.
bool text_turns_direction(ucs4_t code);

// Whether a terminal could act on the character rather than show it: that, and control characters.
bool text_acts_on_terminal(ucs4_t code);

#endif
