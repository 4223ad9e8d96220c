// typing: a line typed on the terminal; Tab completes its last word.
#ifndef PERTOKEN_REPORTS_COMMANDS_TYPING_H
#define PERTOKEN_REPORTS_COMMANDS_TYPING_H

#include "base/arena.h"
#include "base/texts.h"

// Shows `prompt` on standard error and reads a line from the terminal on standard input. Tab
// completes the word before the cursor as far as all matching words agree, and lists them if it
// cannot go further; Ctrl-U deletes the line, Ctrl-W the last word. Returns the line without its
// end, or NULL if the input ended first.
const char *typing_line(const char *prompt, const struct texts *words, struct arena *arena);

#endif
