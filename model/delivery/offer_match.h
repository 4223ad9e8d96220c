// offer_match: which of an offer's guarantees applies to a workload, and why the others do not.
#ifndef PERTOKEN_MODEL_DELIVERY_OFFER_MATCH_H
#define PERTOKEN_MODEL_DELIVERY_OFFER_MATCH_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/delivery/offer.h"
#include "model/evidence/workload.h"

#include <stddef.h>

// The one guarantee of tokens/s that agrees with what the workload states, except keys that it
// leaves open: NULL for none; *others counts further ones. A workload's times and rate per user are
// met by a guarantee of at most that ttft and tpot at P90 or higher; of several, the one closest to
// them counts.
const struct offer_guarantee *offer_guarantee_for(const struct offer *offer,
                                                  const struct workload *workload, size_t *others);

// The share of the requests, in percent, that a guarantee promises to serve within the ttft or tpot
// of a workload that it fits. 0: the workload does not limit it, or it is another key.
int offer_guarantee_percentile(const struct offer_guarantee *guarantee,
                               const struct workload *workload, enum workload_key key);

// The names of all inputs that it gives to an option of that workload.
struct texts offer_given(const struct offer *offer, const struct workload *workload,
                         struct arena *arena);

// The guarantees of tokens/s that do not apply to the workload, each with the first condition in
// which it differs: "chat (3900 token/s/gpu) does not state scenario = server". What the workload
// asks for comes before what its throughput was measured on.
struct texts offer_mismatches(const struct offer *offer, const struct workload *workload,
                              struct arena *arena);

#endif
