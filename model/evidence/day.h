// day: how a day's tokens are distributed over its hours, as stated by the key day_profile.
#ifndef PERTOKEN_MODEL_EVIDENCE_DAY_H
#define PERTOKEN_MODEL_EVIDENCE_DAY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/catalog.h"

enum { HOURS_OF_DAY = 24 };

// The share of each hour; their sum is 1.
struct day {
  double share[HOURS_OF_DAY]; // all NAN for a measured day, until the record is known
  long row;                   // of the table of day_profiles; -1: flat, measured or typed
};

// "flat", "measured", an id of the table of day_profiles, or 24 shares: "4 %, 3 %, ...", "4, 3, ...
// %". Errors: any other word, a number of shares other than 24, a negative share, shares that do
// not add up to 100 %. Returns 0 or -1.
int day_read(const char *text, struct place place, struct catalog *catalog, struct day *day,
             struct arena *arena, struct diagnostics *diagnostics);

#endif
