// day: how a day's tokens fall on its hours, as the key day_profile says it.
#ifndef PERTOKEN_MODEL_EVIDENCE_DAY_H
#define PERTOKEN_MODEL_EVIDENCE_DAY_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/catalog.h"
#include "model/evidence/production.h"

// The shares of each hour, 1 in all.
struct day {
  double share[HOURS_OF_DAY]; // NAN each of a measured day, until the record is known
  long row;                   // of the table of day_profiles; -1: flat, measured or typed
};

// The word of a day that an option's record of production has.
extern const char day_measured[];

// "flat", "measured", an id of the table of day_profiles, or 24 shares: "4 %, 3 %, ...", "4, 3, ... %". Errors:
// another word, other than 24 shares, one below zero, shares that do not sum to 100 %. Returns 0 or -1.
int day_read(const char *text, struct place place, struct catalog *catalog, struct day *day,
             struct arena *arena, struct diagnostics *diagnostics);

#endif
