// measurement_write: a measurement_record as a file.
#ifndef PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_WRITE_H
#define PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_WRITE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/measurement.h"

// Writes beside `path`, flushes to the disk and renames, so that `path` holds the old record or the
// new one and never half of one. Sets path and digest. A failure is an error with machine_failed
// set. Returns 0 or -1.
int measurement_write(struct measurement_record *record, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
