// question: the keys of a section that asks something about a scenario's options, [rent NAME] or
// [fit].
#ifndef PERTOKEN_MODEL_QUESTIONS_QUESTION_H
#define PERTOKEN_MODEL_QUESTIONS_QUESTION_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/cost/model.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// The section of a kind and, unless NULL, with a name; NULL for none.
const struct ini_section *question_section(const struct scenario *scenario, const char *kind,
                                           const char *name);

// Reads a key's value as a distribution, as in [range], of a quantity of a unit within the limits
// of `input`, and prepares it. Returns 0 or -1.
int question_belief(const struct ini_key *key, const char *unit, struct declaration *input,
                    struct distribution *out, struct arena *arena, struct diagnostics *diagnostics);

// Reads a key's value as the name of a precision; an unknown one is an error.
const char *question_precision(const struct ini_key *key, struct diagnostics *diagnostics);

// Reads a key as a quantity of its unit, above 0; *out is unchanged if the section (or NULL) does
// not have it. Returns 0 or -1.
int question_quantity(const struct ini_section *section, const char *key, double *out,
                      struct diagnostics *diagnostics);

// The same for a whole number.
int question_count(const struct ini_section *section, const char *key, double *out,
                   struct diagnostics *diagnostics);

// An amount small enough for sums to stay finite; else an error at its key. Returns 0 or -1.
int question_check_size(const struct ini_key *key, double amount, struct diagnostics *diagnostics);

// Whether an option's fleet changes from year to year or by the hour of the day, or its hardware is
// renewed within the horizon.
bool question_changing(const struct scenario *scenario, const struct option *option);

// "changes from year to year (see its 'in_service')" of such an option, else NULL.
const char *question_change_words(const struct scenario *scenario, const struct option *option,
                                  struct arena *arena);

// Refuses, at `place`, an option whose fleet changes, in a question about fleets that do not.
// Returns 0 or -1.
int question_refuse_changing(const struct scenario *scenario, const struct option *option,
                             struct place place, struct diagnostics *diagnostics);

// Whether an option reaches its full throughput only after a ramp, in the selected case or over its
// range.
bool question_ramps(const struct scenario *scenario, const struct option *option);

// Refuses, at `place`, options with different values of an input that a question needs to be the
// same. Returns 0 or -1.
int question_refuse_different(const struct scenario *scenario, const struct option *one,
                              const struct option *other, const char *input, struct place place,
                              struct diagnostics *diagnostics);

// The option that a key names, or -1 after an error; a missing key is an error too, at the section.
int question_option(const struct scenario *scenario, const struct ini_section *section,
                    const char *key, struct diagnostics *diagnostics);

#endif
