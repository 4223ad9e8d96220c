#include "reports/commands/prompt.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "reports/commands/typing.h"
#include "reports/print/style.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

bool prompt_is_possible(void) {
  return isatty(STDIN_FILENO) && isatty(STDERR_FILENO);
}

void prompt_say(const struct run *run, const char *text) {
  const struct style style = style_of(stderr, run->arena);
  fprintf(stderr, "%s\n", style_text(&style, text));
}

static char *trimmed(char *line) {
  size_t length = strlen(line);
  while (length && isspace((unsigned char)line[length - 1]))
    line[--length] = 0;
  while (isspace((unsigned char)*line))
    line++;
  return line;
}

const char *prompt_ask(const struct run *run, const char *question, const char *usual) {
  return prompt_ask_among(run, question, usual, &(const struct texts){0});
}

const char *prompt_ask_among(const struct run *run, const char *question, const char *usual,
                             const struct texts *words) {
  const char *prompt = *usual ? arena_printf(run->arena, "%s [%s]: ", question, usual)
                              : arena_printf(run->arena, "%s: ", question);
  const char *line = typing_line(prompt, words, run->arena);
  const char *typed = line ? trimmed(arena_copy(run->arena, line)) : NULL;
  if (typed && !source_invalid_utf8(typed, strlen(typed)))
    return *typed ? typed : usual;
  diagnostics_error(run->diagnostics, nowhere, "%s: nothing is written",
                    typed ? "the input is not UTF-8"
                          : "the input ended before all questions were answered");
  return NULL;
}
