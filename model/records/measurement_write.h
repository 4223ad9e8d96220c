// measurement_write: writes a measurement_record to a file.
#ifndef PERTOKEN_MODEL_RECORDS_MEASUREMENT_WRITE_H
#define PERTOKEN_MODEL_RECORDS_MEASUREMENT_WRITE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/measurement.h"

// Like record_write. Sets path and digest. Returns 0 or -1.
int measurement_write(struct measurement_record *record, const char *path, struct arena *arena,
                      struct diagnostics *diagnostics);

#endif
