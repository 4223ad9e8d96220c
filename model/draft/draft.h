// draft: a scenario file for a question about buying, from the names of accelerators and a model.
//
// The draft refers to the catalogue wherever that has evidence: the workload is one for which the
// rules of model/evidence/evidence.h find throughputs, and prices are rows. An unpublished figure
// is replaced by a stand-in, marked MISSING together with what would supply it: a throughput as
// described in workload.h; a price, or watts, from another accelerator of the draft, else from the
// one in the catalogue with the nearest memory bandwidth, so that it affects the decision as little
// as possible.
#ifndef PERTOKEN_MODEL_DRAFT_DRAFT_H
#define PERTOKEN_MODEL_DRAFT_DRAFT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/draft/request.h"
#include "model/evidence/catalog.h"

// Errors, without a place: an unknown name, an accelerator that is repeated or not sold, a count
// that is not a whole number from 1, no published rent or token price although the question needs
// one. Returns 0 or -1.
int draft_make(const struct draft_request *request, struct catalog *catalog, struct draft *draft,
               struct arena *arena, struct diagnostics *diagnostics);

// The ids of the scenario's options, in the order of the request's accelerators; NULL after errors.
const char *const *draft_ids(const struct draft_request *request, struct catalog *catalog,
                             struct arena *arena, struct diagnostics *diagnostics);

#endif
