// costs: what each action of a plan costs, and what each option serves, by the cost model: the
// numbers of fleet.h.
//
// An action is an option resolved for a workload (route_pairs.h) and evaluated with another
// horizon, that of the lot, and with the prices of its time:
//   horizon            = its periods, from f to l
//   list_price         = list_price * growth(-price_decline, time from the scenario's date to the
//                        order), where the order is placed lead_time before period f begins
//   electricity_price, colo_rate, engineer_cost grown until period f begins
//   year               counted from the plan's start: lists by year, inflation, rent_decline,
//                      throughput_gain (shift.h)
//   discount           that of the action's volume tier, on all of it
//   residual_value     without `resale`: in a straight line from the full price to residual_value
//                      at the end of the life, or at the horizon if that is sooner; zero if it is
//                      retired before the horizon; so are server_residual and network_residual,
//                      with `resale`, too
//   cost   = sum over its periods of cash * growth(-wacc, time of the payment)
//   outlay = its capex
// A lot costs the slope over nodes of the workload that is cheapest in each period; the additional
// cost of another workload's watts is `extra`. Cost that nodes do not change belongs to the option:
// `entry` in period 0, `standing` in each later one. A lot includes its share of spares; `spare` is
// one accelerator more, as a spare.
#ifndef PERTOKEN_MODEL_PLAN_COSTS_H
#define PERTOKEN_MODEL_PLAN_COSTS_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/plan/fleet.h"
#include "model/plan/terms.h"
#include "model/questions/route_pairs.h"

#include <stdbool.h>
#include <stddef.h>

struct plan_costs_request {
  const struct plan_terms *terms;
  const struct pairing *pairing;
  const double *drawn; // of the scenario's ranges; NULL: as in the selected case
};

// The problem of a plan. NULL after errors: options that have a ramp, a delivery delay or a day,
// build their own facility, have a demand of their own, or live for less than a period or than
// their lead time.
const struct fleet_problem *plan_costs(const struct plan_costs_request *request,
                                       struct arena *arena, struct diagnostics *diagnostics);

#endif
