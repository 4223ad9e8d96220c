// rent: rent or own: what the tokens of an owned option cost on rented accelerators.
//
// An offer is a rate per accelerator-hour: a price of its own, for the same accelerators with the
// same throughput, or a rented option of the scenario, sized in whole nodes to serve the same
// tokens. Accelerators rented around the clock are paid for every hour, as in the cost model, and
// for whole terms if there is a commitment; those rented on demand are paid for only the hours in
// use, as in the cost model: tokens over what an accelerator in use produces, outages included. The
// rent includes power, cooling and the site; engineers, licenses, migration and the user's own
// items are paid in addition, but not those limited to options, unless a rented one is among them.
// Spot hours lost to interruptions are paid for again, as in the cost model.
//
// Tokens that the owned option buys elsewhere (burst_price, burst_rate): the same accelerators,
// rented, leave the same ones to be bought, at the same price, and their hours in use are those of
// the rest. A rented option of the scenario is sized to serve every period's tokens and buys none.
//
// If prefill and decoding have their own rates, the cost is divided over input and output tokens by
// their times (prefill_share), so that the two prices add up to it.
//
// Break-even utilization: the owned fleet is fixed and its load u varies, while the rent is
// proportional to the tokens. If owning is affine in the load, own(u) = fixed + use * u / load, it
// has a closed form: u = load * (fixed - beside) / (rental - use). A user's own item that follows
// the rent, such as a tax on it, counts as rent here and in the break-even rate, and is assumed to
// be linear in it.
//
// Otherwise a root search finds the utilization limit at which both cost the same, and the
// break-even is the mean load over the periods, each of which serves as much of its demand as that
// limit allows. Above the load that the demand can fill, the demand is scaled up.
//
// A rent around the clock follows the tokens only up to the planned utilization or, for the same
// accelerators, their present load. Beyond that it serves more tokens for the same rent, as owning
// does, so there is no break-even there.
//
// With a discount rate, the verdict compares monthly payments, whichever period the scenario has:
// paid at the end of a year, a rent would be cheaper than any that is billed.
//
// Break-even month: the first one at which the cash paid for owning (capex at once, operation
// evenly within a period, nothing credited) is no more than that paid for renting. Rent is paid at
// its rate, month by month, or on demand with the tokens; the part of a term beyond the horizon is
// paid when the horizon ends, in the break-even month and in the levelized cost.
#ifndef PERTOKEN_MODEL_QUESTIONS_RENT_H
#define PERTOKEN_MODEL_QUESTIONS_RENT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/questions/rent_offers.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// The cost of one offer over the horizon, in base units.
struct rent_cost {
  struct rent_offer offer;
  double accelerators, paid;       // rented, and accelerator-hours paid for
  double rental, beside, cost;     // beside: what is paid in addition to the rent
  double following;                // of it, what follows the rent: see above
  double cost_per_mtok, levelised; // USD per token
  double per_input, per_output; // USD per token, adding up to the cost; NAN without prefill rates
  double saving, saving_levelised;  // of owning: cost_saving
  double present;                   // USD, discounted, with what is paid in a period paid by month
  double break_even_utilization;    // the mean; above 1: never; 0 or less: always; NAN: none
  bool owning_always, owning_never; // the cheaper one at every utilization
  bool is_closed;                   // whether the utilization follows from the formula above
  double break_even_month;          // h; NAN: not within the horizon
  double break_even_rate;           // USD/h at which both cost the same
  double break_even_levelised;      // the same, discounted
};

struct rent_answer {
  const char *name; // of the question
  int own;
  bool has_split;       // whether prefill and decoding have their own rates
  const char *left_out; // labels of the owned option's limited items: "Rack, Levy"; "" for none
  struct texts aside;   // options that are not compared, and why: rent_offers_aside
  double tco, use, tokens, cost_per_mtok, levelised, hours; // of owning; hours: accelerators x time
  double present;       // of owning: USD, discounted, with what is paid in a period paid by month
  double residual_base; // USD that a residual value of 100 % would credit; 0 if any is credited
  bool buys_elsewhere;  // the owned option, the demand beyond its capacity
  double load; // of owning: the utilization that its tokens take, below the planned one if more
               // accelerators are there than a demand needs
  struct rent_cost *costs;
  size_t count;
};

struct rent_answers {
  struct rent_answer *list;
  size_t count;
};

// Whether there are an owned option and a rented one with the same workload, or a [rent NAME].
bool rent_is_asked(const struct scenario *scenario);

// Answers the sections [rent NAME] or, without any, compares each owned option with the rented ones
// of the same workload. Keys of a section: own = ID, cloud = ID of a rented option; on_demand, spot
// (for the hours used), one_year, three_years, reserved (around the clock) = a rate or the id of a
// row of data/prices.csv, with .source and .date; interruption = a share, with spot. `only`: the
// name of one answer, or NULL. NULL after errors: no question with that name; an unknown option, or
// a rented one where an owned one is required; no offer; a price of another accelerator, basis or
// term; different horizons.
const struct rent_answers *rent_ask(const struct scenario *scenario, const char *only,
                                    struct arena *arena, struct diagnostics *diagnostics);

#endif
