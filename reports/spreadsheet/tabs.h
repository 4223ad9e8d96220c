// tabs: the names of a workbook's sheets, within the limits of spreadsheet programs: 31 characters,
// none of : \ / ? * [ ], and no two that differ only in case.
#ifndef PERTOKEN_REPORTS_SPREADSHEET_TABS_H
#define PERTOKEN_REPORTS_SPREADSHEET_TABS_H

#include "base/arena.h"
#include "base/texts.h"

struct tabs {
  struct arena *arena;
  struct texts names;
};

// A name for another sheet, as close to `wanted` as possible: characters that a name cannot have
// are replaced, a long name ends in an ellipsis, and one that is taken gets a number: "H200 (2)".
// `otherwise`: the name if nothing of `wanted` is left; letters and digits.
const char *tabs_add(struct tabs *tabs, const char *wanted, const char *otherwise);

#endif
