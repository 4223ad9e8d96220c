// head: a scenario's title, date, start, baseline and selected case.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_HEAD_H
#define PERTOKEN_MODEL_SCENARIO_READING_HEAD_H

#include "model/scenario/reading/reading.h"

// After sections_read. Without a title the path stands in, without a date SOURCE_DATE_EPOCH or
// today, without a start the date, without a baseline the first option. Errors: a title that is too
// long, a malformed date, an unknown baseline or case.
void head_read(struct reading *reading);

#endif
