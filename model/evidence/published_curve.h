// published_curve: the published throughputs of an accelerator over the batch.
//
// A curve is of one source, one test set-up and one number of accelerators.
#ifndef PERTOKEN_MODEL_EVIDENCE_PUBLISHED_CURVE_H
#define PERTOKEN_MODEL_EVIDENCE_PUBLISHED_CURVE_H

#include "base/arena.h"
#include "model/evidence/curve.h"
#include "model/evidence/evidence.h"

// The curve that fits a workload whose batch is open; of several, request->wanted names a row of
// one. *evidence is of the row with the largest batch. Returns NULL, or why there is none: no rows
// of several batches, several curves (one row of each listed), an unknown id.
const char *published_curve(const struct evidence_request *request, struct curve *curve,
                            struct evidence *evidence, struct arena *arena);

#endif
