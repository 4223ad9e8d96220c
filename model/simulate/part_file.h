// part_file: a part of a simulation as a JSON file.
#ifndef PERTOKEN_MODEL_SIMULATE_PART_FILE_H
#define PERTOKEN_MODEL_SIMULATE_PART_FILE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/simulate/part.h"

#include <stdio.h>

// Returns 0, or -1 if it could not be written.
int simulation_part_print(const struct simulation_part *part, FILE *out);

// Reads a part. NULL after errors: invalid JSON, something missing or of the wrong type, counts
// that do not add up.
struct simulation_part *simulation_part_read(const char *path, struct arena *arena,
                                             struct diagnostics *diagnostics);

#endif
