// published_curve: an accelerator's published throughputs as a function of the batch.
//
// A curve comes from one source, one test setup and one number of accelerators.
#ifndef PERTOKEN_MODEL_EVIDENCE_PUBLISHED_CURVE_H
#define PERTOKEN_MODEL_EVIDENCE_PUBLISHED_CURVE_H

#include "base/arena.h"
#include "model/evidence/curve.h"
#include "model/evidence/evidence.h"

// The curve that fits a workload whose batch is open; if there are several, request->wanted names a
// row of one. *evidence is the row with the largest batch. Returns NULL, or why there is none: no
// rows with several batches, several curves (listed by one row each), an unknown id.
const char *published_curve(const struct evidence_request *request, struct curve *curve,
                            struct evidence *evidence, struct arena *arena);

#endif
