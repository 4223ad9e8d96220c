// prompt: a question on the terminal, on standard error, and the line typed in reply.
#ifndef PERTOKEN_REPORTS_COMMANDS_PROMPT_H
#define PERTOKEN_REPORTS_COMMANDS_PROMPT_H

#include "base/texts.h"
#include "reports/commands/run.h"

#include <stdbool.h>

// Whether there is a person to ask.
bool prompt_is_possible(void);

// Prints a line for the person at the terminal.
void prompt_say(const struct run *run, const char *text);

// The typed line without surrounding spaces or, for an empty line, `usual`, which is shown unless
// it is blank; NULL after an error: the input ended, or is not text.
const char *prompt_ask(const struct run *run, const char *question, const char *usual);

// The same; Tab completes these words.
const char *prompt_ask_among(const struct run *run, const char *question, const char *usual,
                             const struct texts *words);

#endif
