// like_run: whose measured watts stand in where none were measured with a throughput.
//
// A run of the same accelerator in the same precision, of a model whose active parameters, and at a
// throughput that, are within a factor of LIKE_RUN of those asked for; of several the nearest, by the
// product of both factors. What follows from it is projected.
#ifndef PERTOKEN_MODEL_EVIDENCE_LIKE_RUN_H
#define PERTOKEN_MODEL_EVIDENCE_LIKE_RUN_H

#include "base/csv.h"
#include "model/evidence/evidence.h"

#include <stdbool.h>
#include <stddef.h>

#define LIKE_RUN 2

struct like_run {
  const struct table *throughputs, *models;
  const char *accelerator, *precision;
  double tokens_per_s; // per accelerator
  double active_b;     // parameters, in billions; NAN: unknown, and nothing is like it
};

// The active parameters of a model of the catalogue ("": NAN), and of a row's.
double like_run_active(const struct table *models, const char *model);
double like_run_active_of_row(const struct like_run *run, size_t row);

// False where no row with watts is near enough.
bool like_run_find(const struct like_run *run, struct evidence *nearest);

#endif
