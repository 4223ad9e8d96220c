// watts: the power of imported rungs, from a file that another program wrote alongside them.
#ifndef PERTOKEN_MODEL_IMPORTS_WATTS_H
#define PERTOKEN_MODEL_IMPORTS_WATTS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/imports/import.h"
#include "model/imports/imported.h"

#include <stddef.h>

// A statement as typed; NULL: not stated.
struct watts_statement {
  const char *path;
  const char *devices;      // "0,2": those that served, by index or name
  const char *utc_offset;   // "+02:00": of times without a zone
  const char *clock_offset; // "0.5": maximum difference of the two hosts' clocks, in seconds
};

// Sets the power of every rung by its window's time; a rung without power states why, and so does
// `doubts`; the import's notes name the devices. For MLPerf's rungs the window is that of the
// detailed log, and the clocks may differ by what MLPerf allows. Errors: a file that power_read
// refuses, devices that it lacks, an invalid offset, no rung with watts. Returns 0 or -1.
int watts_join(struct import *import, const struct imported *list, size_t count,
               const struct watts_statement *statement, struct texts *doubts, struct arena *arena,
               struct diagnostics *diagnostics);

#endif
