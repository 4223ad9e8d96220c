// quote: an option by the cost model if it is bought for other periods or in other volume tiers.
//
// An option resolved for a workload (route_pairs.h), evaluated with another horizon and with the
// prices of its time, as described in costs.h: twice, for two numbers of nodes, between which
// everything is linear. The slope is the cost of a node; the rest, which nodes do not change, is
// fixed.
#ifndef PERTOKEN_MODEL_PLAN_QUOTE_H
#define PERTOKEN_MODEL_PLAN_QUOTE_H

#include "base/arena.h"
#include "model/cost/evaluate.h"
#include "model/plan/terms.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

struct quoting {
  const struct plan_terms *terms;
  const struct portfolio *portfolio;
  const struct scenario *scenario;
  const double *drawn; // of the scenario's ranges; NULL: as in the selected case
  struct arena *arena;
};

// A quote: hardware that is present from period `first` to period `last`.
struct quote {
  int first, last;
  double discount; // instead of all volume tiers; NAN: there are none
  double spares;   // in addition to the option's own, as a share of its accelerators
};

// The declaration of an item, or -1.
int quote_item(const struct quoting *quoting, const char *name);

double quote_input(const struct quoting *quoting, const struct option *option, const char *name,
                   double otherwise);
double quote_per_node(const struct quoting *quoting, const struct option *option);

// The life of an option in whole periods, at most those of the plan.
double quote_life(const struct quoting *quoting, const struct option *option);

// An option's spares as a share of its accelerators; 0 if they are not bought.
double quote_spares(const struct quoting *quoting, const struct option *option);

// The discount of a volume tier, 0 below the first, and the number from which it applies.
bool quote_has_tiers(const struct quoting *quoting, const struct option *option);
double quote_tier_discount(const struct quoting *quoting, const struct option *option, int tier);
double quote_tier_from(const struct quoting *quoting, const struct option *option, int tier,
                       double otherwise);

struct evaluation *quotes_evaluate(const struct quoting *quoting, const struct option *option,
                                   const struct quote *quotes, size_t count, struct arena *arena);

// An item in a period, with 0 at the purchase: per node, or per token and hour if a provider
// serves; and the part that nodes do not change. 0 for a missing item.
double quote_slope(const struct evaluation *block, size_t quote, int item, int period);
double quote_fixed(const struct evaluation *block, size_t quote, int item, int period);

#endif
