// like_run: finds measured watts of a similar run for a throughput whose watts were not measured.
//
// A run on the same accelerator in the same precision, with active parameters and throughput within
// a factor of LIKE_RUN of those requested; of several, the nearest by the product of both factors.
// Figures derived from it are projected.
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
  double active_b;     // parameters, in billions; NAN: unknown, so that nothing is similar
};

// The active parameters of a model in the catalogue ("": NAN), then of a row's model.
double like_run_active(const struct table *models, const char *model);
double like_run_active_of_row(const struct like_run *run, size_t row);

// Finds the nearest run with watts. Returns false if none is near enough.
bool like_run_find(const struct like_run *run, struct evidence *nearest);

#endif
