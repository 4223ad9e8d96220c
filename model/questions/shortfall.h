// shortfall: what a delivery below the guarantee is worth: the price at which an option costs as
// much per token with what was delivered as it does with what was guaranteed.
#ifndef PERTOKEN_MODEL_QUESTIONS_SHORTFALL_H
#define PERTOKEN_MODEL_QUESTIONS_SHORTFALL_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/delivery/offer.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// The rates measured for one guarantee: delivered over guaranteed; 1 if nothing was measured.
struct delivered_rates {
  const struct offer_guarantee *guarantee;
  double tokens, watts;
};

// The guarantee for the option's own workload changes the option; if that was not measured, the
// only measured one does.
struct shortfall_question {
  const struct offer *offer; // the accepted one
  const char *option;        // NULL: the only one with this offer
  const struct delivered_rates *delivered;
  size_t delivered_count; // at least 1
};

struct shortfall {
  const struct scenario *scenario;
  size_t option;
  const struct offer_guarantee *guarantee; // the one that changed the option
  int price;            // its declaration: NAME_usd if it is in USD and the report is not
  double quoted, worth; // the quoted price, and that at which the costs are equal; NAN: none
  double paid_share;    // of a change of that price which is paid: less than 1 after a discount
  double cost;          // per Mtok, as guaranteed, in base units
  double count;         // accelerators
  double hour;          // cost of one accelerator-hour, as guaranteed, in base units; NAN: unknown
};

// Errors: no such option, or one without this offer; none or several with it if none is named; one
// whose throughput or price is computed; several guarantees measured, but none for the option's
// workload. NULL after errors.
const struct shortfall *shortfall_ask(const struct scenario *scenario,
                                      const struct shortfall_question *question,
                                      struct arena *arena, struct diagnostics *diagnostics);

#endif
