// process: what a program was started with apart from its options: whether its arguments are valid
// text, which characters its locale and which colors its terminal shows, the day that the
// environment sets, and how many files it may open.
//
// The programs stay in the C locale, so that letters sort, fold and compare the same everywhere.
#ifndef PERTOKEN_BASE_PROCESS_H
#define PERTOKEN_BASE_PROCESS_H

#include "base/arena.h"
#include "base/diagnostics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

// Reports each argument that is not valid UTF-8. Returns 0 or -1.
int process_check_arguments(int argc, char **argv, struct diagnostics *diagnostics);

// Reports a SOURCE_DATE_EPOCH that is not a whole number of seconds from 1970 to the year 9999.
// Returns 0 or -1.
int process_check_epoch(struct diagnostics *diagnostics);

// Whether SOURCE_DATE_EPOCH is set, and valid for process_check_epoch: then *epoch is its value.
bool process_epoch(time_t *epoch);

// The day of SOURCE_DATE_EPOCH, else today: YYYY-MM-DD, in UTC.
const char *process_today(struct arena *arena);

// Whether this process may have that many files open at a time; raises its limit if necessary.
// *most is the highest that it may be raised to.
bool process_may_open(size_t files, size_t *most);

// Whether the user's locale writes UTF-8.
bool process_shows_utf8(void);

// Whether the stream is a terminal that is to show colors: NO_COLOR is not set, TERM is not dumb.
bool process_shows_colour(FILE *stream);

// "help fit" asks for what "fit --help" prints: turns the arguments into these.
void process_turn_help(int argc, char **argv);

#endif
