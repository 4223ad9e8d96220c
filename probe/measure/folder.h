// folder: the directory that records are written to, locked by one run at a time.
#ifndef PERTOKEN_PROBE_MEASURE_FOLDER_H
#define PERTOKEN_PROBE_MEASURE_FOLDER_H

#include "base/arena.h"
#include "base/diagnostics.h"

struct folder {
  const char *path;
  const char *lock; // the lock file
  int fd;           // of that file, -1 when not locked
};

// Makes the directory and those around it if necessary, and locks it. It is an error if it cannot
// be made or written to (machine_failed), or if another run holds it. Returns 0 or -1.
int folder_open(struct folder *folder, const char *path, struct diagnostics *diagnostics);

// "PATH/MODEL-KIND-HASH.json", of the record that a run with this identity resumes.
const char *folder_record(const char *path, const char *model, const char *kind,
                          const char *identity, struct arena *arena);

// Reports that such a record cannot be resumed, after why. Returns -1.
int folder_refuse_record(const char *record, struct diagnostics *diagnostics);

// Gives up the lock; does nothing if it is not held.
void folder_close(struct folder *folder);

#endif
