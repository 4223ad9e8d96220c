// import: what `pertoken import` made of other programs' files, as an answer.
#ifndef PERTOKEN_REPORTS_RECORDS_IMPORT_H
#define PERTOKEN_REPORTS_RECORDS_IMPORT_H

#include "base/arena.h"
#include "model/imports/import.h"
#include "reports/faces/answer.h"

// The answer about records that have been written: the rungs of each, what was refused and why, and
// what the files do not state.
struct answer import_answer(const struct import *import, struct arena *arena);

#endif
