// doubts: what to know of the records behind an acceptance: results in doubt, too few requests,
// what was assumed, runs outside the days of the offer, and what was left out.
#ifndef PERTOKEN_MODEL_DELIVERY_DOUBTS_H
#define PERTOKEN_MODEL_DELIVERY_DOUBTS_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/delivery/guaranteed_workload.h"
#include "model/delivery/offer.h"

#include <stddef.h>

struct doubts {
  const struct guaranteed_among *among;
  struct texts *warnings; // to add to
  struct arena *arena;
};

// Adds the doubts about the runs of fleet->workloads[workload], by which a guarantee is judged.
void doubts_of_runs(const struct doubts *doubts, const struct offer_guarantee *guarantee,
                    size_t workload);

// Adds the doubts about the days of the first and the last run that were judged; "" without runs.
void doubts_of_days(const struct doubts *doubts, const char *first_day, const char *last_day);

// Adds the doubts about runs that no guarantee covers, about loads that were refused, about nodes
// that may be one, and about unlike kernels.
void doubts_of_strays(const struct doubts *doubts);

#endif
