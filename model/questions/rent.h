// rent: rent or own: what the tokens of an owned option cost on rented accelerators.
//
// An offer is a rate per accelerator-hour: a price of its own, for the same accelerators with the
// same throughput, or a rented option of the scenario, sized in whole nodes to serve the same
// tokens. Rented around the clock it is paid for every hour, as the cost model says, and for whole
// terms where it is committed to; rented on demand it is paid for the hours alone in which tokens
// are made: tokens over throughput. Power, cooling and the site are in the rent; engineers,
// licences, migration and the user's own items are paid besides.
//
// Where prefill and decoding have rates of their own, the cost divides over input and output tokens
// as their times do (prefill_share), so that the two prices add up to it.
//
// Break-even utilization: the owned fleet stays and its load moves, while renting follows the
// tokens, in proportion; where owning is affine in the load, own(u) = fixed + use * u / base, this
// is closed: u = base * (fixed - beside) / (rental - use). Elsewhere a root is searched for.
// Break-even month: the first at which the cash paid for owning (capex at once, operation evenly
// within a period, nothing credited) is no more than that paid for renting. Rent is paid at its
// rate, month by month, or on demand with the tokens; what a term reaches beyond the horizon is
// paid when the horizon ends, there and in the levelised cost.
#ifndef PERTOKEN_MODEL_QUESTIONS_RENT_H
#define PERTOKEN_MODEL_QUESTIONS_RENT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/grade.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

enum rent_hours { RENT_AROUND_THE_CLOCK, RENT_HOURS_USED };

struct rent_offer {
  const char *name;  // "on_demand", "three_years"; or of an option: "h100", "h100_used"
  const char *title; // "on demand"
  enum rent_hours hours;
  double term; // h that are committed to at a time; 0: none
  double rate; // USD/h per accelerator
  int option;  // of the scenario that is rented; -1: the owned one's accelerators
  enum grade grade;
  const char *source, *date;
  const char *origin; // the source in short: a row's id and provider
  bool in_usd;        // said in USD where the report is in another currency
  const char *typed;  // the rate as a quantity, as said
};

// Over the horizon, in base units.
struct rent_cost {
  struct rent_offer offer;
  double accelerators, paid;       // rented, and accelerator-hours paid for
  double rental, beside, cost;     // beside: what is paid besides the rent
  double cost_per_mtok, levelised; // USD per token
  double per_input, per_output; // USD per token, adding up to the cost; NAN without prefill rates
  double saving, saving_levelised;  // of owning: 1 - own / rent
  double break_even_utilization;    // above 1: never; 0 or less: always; NAN: no crossing
  bool owning_always, owning_never; // the cheaper one at every utilization
  bool is_closed;                   // whether the utilization follows from the formula above
  double break_even_month;          // h; NAN: not within the horizon
  double break_even_rate;           // USD/h at which both cost the same
};

struct rent_answer {
  const char *name; // of the question
  int own;
  bool has_split; // whether prefill and decoding have rates of their own
  double tco, use, tokens, cost_per_mtok, levelised, hours; // of owning; hours: accelerators x time
  struct rent_cost *costs;
  size_t count;
};

struct rent_answers {
  struct rent_answer *list;
  size_t count;
};

// Whether an owned option and a rented one of the same workload are there, or a [rent NAME].
bool rent_is_asked(const struct scenario *scenario);

// Answers the sections [rent NAME] or, without any, sets each owned option against the rented ones
// of the same workload. Keys of a section: own = ID, cloud = ID of a rented option; on_demand (for
// the hours used), one_year, three_years, reserved (around the clock) = a rate or the id of a row
// of data/prices.csv, with .source and .date. `only`: the name of one answer, or NULL. NULL after
// errors: no question of that name; an option that is not there, or rented where an owned one is
// wanted; no offer; a price of another accelerator, basis or term; unlike horizons.
const struct rent_answers *rent_ask(const struct scenario *scenario, const char *only,
                                    struct arena *arena, struct diagnostics *diagnostics);

#endif
