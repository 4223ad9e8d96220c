// head: a scenario's title, date, start, baseline and selected case.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_HEAD_H
#define PERTOKEN_MODEL_SCENARIO_READING_HEAD_H

#include "model/scenario/reading/reading.h"

#include <stdbool.h>

// Reads [scenario], after sections_read. The defaults: the path for the title, SOURCE_DATE_EPOCH or
// today for the date, the date for the start, the first option for the baseline. Errors: a title
// that is too long, a malformed date, an unknown baseline or case.
void head_read(struct reading *reading);

// Whether it is a key of [scenario] that is not an input, including keys that other files read.
bool head_is_key(const char *name);

// The one that a misspelt key probably meant, or the input that people call so; or NULL.
const char *head_nearest_key(const char *name);

#endif
