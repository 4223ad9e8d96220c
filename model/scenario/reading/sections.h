// sections: the sections that a scenario file may have, and the options, cases and questions that
// they name.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_SECTIONS_H
#define PERTOKEN_MODEL_SCENARIO_READING_SECTIONS_H

#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/scenario/reading/reading.h"

#include <stdbool.h>

// The key with the label of an option or a case.
#define SECTION_LABEL "label"

// Lists options, cases and questions in the order of the file. Errors: a section of an unknown
// kind, with a missing or a superfluous name; a malformed or reserved id; options that differ only
// in case; no option at all; a label that is too long, has a character that is special in a
// workbook's formulas, or is another option's or another case's label or id; in a section that asks
// something, whatever is asked in the end, an unknown key, and a value that is not a number in the
// key's unit, or not a positive whole one.
void sections_read(struct reading *reading);

// Of a key whose value is a number, in a section that asks something: its unit, and its value in
// base units, which may be negative unless it is a whole number. section_number returns 0, or -1
// after an error.
const char *section_unit(const char *kind, const char *key);
int section_number(const char *kind, const struct ini_key *key, double *out,
                   struct diagnostics *diagnostics);

// Whether it is [scenario], [workload] or [common], whose keys hold for every option.
bool section_is_common(const char *kind);

// Whether it is the section of a question, whose keys the code that answers it reads.
bool section_is_question(const char *kind);

// Whether a common section that comes before `kind` in the list above also has the key.
bool section_is_repeated(const struct reading *reading, const char *kind, const char *key);

// The only section of its kind, or NULL; a key of [scenario], or NULL.
const struct ini_section *reading_section(const struct reading *reading, const char *kind);
const struct ini_key *reading_head_key(const struct reading *reading, const char *name);

// A key as OPTION.NAME, or as NAME of all options.
struct prefixed {
  const char *id; // as written, whether there is such an option or not; NULL: of all options
  int option;     // -1: of all options, or there is none
  const char *name;
};
struct prefixed reading_prefixed(const struct reading *reading, const char *key);

// The number of a case by its id or label, or -1.
int reading_case(const struct reading *reading, const char *name);

#endif
