// proposals: a draft's sections for a request for proposals in stages: the demand and its growth,
// when each vendor delivers, the minimum share of each, and the search for the purchases.
#ifndef PERTOKEN_MODEL_DRAFT_PROPOSALS_H
#define PERTOKEN_MODEL_DRAFT_PROPOSALS_H

#include "model/draft/drafting.h"
#include "model/draft/lines.h"

#include <stddef.h>

// Adds keys to [scenario]: stages of half a year, the first starting half a year after the draft's
// date.
void draft_stages_add(struct drafting *drafting, struct draft_section *section);

// The number of accelerators in the largest server: `compare` shows that many, while the plan finds
// its own number.
const char *draft_proposals_unit(const struct drafting *drafting);

// Adds [demand all], [supply ID] for each option, [portfolio] and [plan].
void draft_proposals_add(struct drafting *drafting);

// The file name for the i-th vendor's offer.
const char *draft_proposals_offer(const struct drafting *drafting, size_t i);

#endif
