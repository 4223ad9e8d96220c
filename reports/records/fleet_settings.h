// fleet_settings: which devices of a fleet are set up differently from most, and which nodes are
// missing.
#ifndef PERTOKEN_REPORTS_RECORDS_FLEET_SETTINGS_H
#define PERTOKEN_REPORTS_RECORDS_FLEET_SETTINGS_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/delivery/fleet.h"
#include "reports/faces/answer.h"

#include <stddef.h>

// Adds a table with a row for each setting and each value of it that is not the usual one. Returns
// the number of rows; without any there is no table.
size_t fleet_settings_add(const struct fleet *fleet, struct answer *answer, struct arena *arena);

// Names the missing nodes: a note with the first ones, and for sheets a table with all.
void fleet_missing_add(const struct fleet *fleet, struct answer *answer, struct arena *arena);

// "node-07, node-12 and 30 more"
const char *fleet_few_names(const struct texts *names, struct arena *arena);

#endif
