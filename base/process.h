// process: how a program starts, and with what apart from its options: whether its arguments are
// valid text, which characters its locale and which colors its terminal shows, the day that the
// environment sets, and how many files it may open.
//
// The programs stay in the C locale, so that letters sort, fold and compare the same everywhere.
#ifndef PERTOKEN_BASE_PROCESS_H
#define PERTOKEN_BASE_PROCESS_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <time.h>

// What a program does first. A file that grows too large is then an error like a full disk, and a
// reader of the output that has seen enough is none; what could not be written to standard output
// is told at the end, with that exit status. Returns 0, or -1 after showing the errors: an argument
// that is not valid UTF-8, a SOURCE_DATE_EPOCH that is not a whole number of seconds from 1970 to
// the year 9999.
enum { PROCESS_OUTPUT_FAILED = 3 };
int process_start(int argc, char **argv);

// Whether SOURCE_DATE_EPOCH is set, and valid for process_start: then *epoch is its value.
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
