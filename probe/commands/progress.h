// progress: one line on standard error that is written over again and again, if that is a terminal.
#ifndef PERTOKEN_PROBE_COMMANDS_PROGRESS_H
#define PERTOKEN_PROBE_COMMANDS_PROGRESS_H

#include <stdbool.h>

// Whether anybody could see it.
bool progress_is_seen(void);

// Shows a text instead of the last one, cut to the terminal's width.
void progress_print(const char *text);

// Leaves an empty line, for what is printed next; does nothing if nobody sees it.
void progress_clear(void);

#endif
