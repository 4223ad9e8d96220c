// run: one run of one command, and what the commands share.
#ifndef PERTOKEN_REPORTS_COMMANDS_RUN_H
#define PERTOKEN_REPORTS_COMMANDS_RUN_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "model/evidence/catalog.h"
#include "model/scenario/scenario.h"
#include "reports/commands/options.h"
#include "reports/faces/answer.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Everything in it lives in the arena.
struct run {
  struct options options;
  struct arena *arena;
  struct diagnostics *diagnostics;
  bool no;        // the answer is no: exit 1
  bool undecided; // too little evidence for an answer: exit 4
  bool silent;    // another process reports
};

// "pertoken: KINDTEXT" on stderr; kind is "" or ends in a space.
void run_print_note(const struct run *run, const char *kind, const char *text);

// The scenario's and its options' warnings on stderr, unless -q.
void run_print_warnings(const struct run *run, const struct scenario *scenario);

// Opens the catalogue of --data and --data-extra; the shipped one by default. Returns 0, or -1
// after errors.
int run_open_catalog(const struct run *run, struct catalog *catalog);

// The scenario that an argument names, with everything that the command line adds to it; with -v
// its findings are printed. NULL after errors.
struct scenario *run_read_scenario(struct run *run, int argument);

// The same for one of two scenarios that are compared; `beside` is the other's path.
struct scenario *run_read_beside(struct run *run, int argument, const char *beside);

// The same for any file; beside: NULL for none.
struct scenario *run_read_file(struct run *run, const char *path, const char *beside);

// The file of -o, or standard output. Returns 0, or -1 after an error.
int run_open_output(struct run *run, struct output *output);

// Before anything that takes long, refuse what run_print_answers would refuse after it: a name that
// is no answer's or not of the format asked for, and a file that cannot be written. Nothing is left
// behind. Return 0, or -1 after an error.
int run_check_output_name(struct run *run);
int run_try_output(struct run *run);

// Prints the answers to -o, in the format asked for by --format or the name (output_name.h); the
// answer is no if one of them says so. scenario: NULL if there is none. Returns 0, or -1 after an
// error.
int run_print_answers(struct run *run, const struct scenario *scenario,
                      const struct answers *answers);

// The same for one answer.
int run_print_answer(struct run *run, const struct scenario *scenario, struct answer answer);

// The same with its reasons and all digits. A "no" of the answer is not one of the explanation.
int run_explain_answer(struct run *run, const struct scenario *scenario,
                       const struct answer *answer);

// An option that has no effect as the command was called.
struct stray {
  const char *name; // "--set"
  bool given;
};

// An error that names those given: "--set, --case need a scenario". Returns 0 if there are none,
// or -1.
int run_refuse_strays(const struct run *run, const struct stray *strays, size_t count,
                      const char *need);

// Refuses the options that change a scenario or how one is read: for a command without one.
int run_refuse_without_scenario(const struct run *run);

// "20 %", typed after the option `name`, as a fraction within (-1, 1]. Returns 0, or -1 after an
// error.
int run_read_share(const struct run *run, const char *name, const char *text, double *share);

// A whole number without sign, typed after the option `name`. Returns 0, or -1 after an error.
int run_read_count(const struct run *run, const char *name, const char *text, uint64_t *value);

#endif
