// fleet: the choices of a plan over several periods, and its decisions, as numbers.
//
//   given      demand_wt      tokens of workload w in period t
//              capacity_wot   tokens of w that a node of option o serves in t; 0: excluded
//              a = (o, f, l)  an action: a lot of option o, present from period f to period l; if o
//                             has volume tiers, (o, f, l, k), at the price of tier k
//              cost_a         its cost, discounted to the outset; outlay_a: what is paid for it at
//                             the purchase, undiscounted
//              spares_o       a lot's share of spares, fractions that its cost includes; spare_ot:
//                             the cost and outlay of a spare in an order
//              extra_wot      the additional cost of a node that serves w throughout t, discounted
//              standing_ot    cost of having any of o in t, discounted: engineers
//              entry_ot       cost of having o for the first time in t, discounted: migration
//   variables  N_a integer    lots that are bought or rented; n_ot = lot_o sum_{a: f <= t <= l} N_a
//              x_wot >= 0     the share of w's tokens in t that o serves; 0 or 1 if w is not split
//              r_ost integer  replicas over s nodes of o, shared by the workloads with that span
//              s_ot integer   spares in an order
//              i_ot 0 or 1    whether any of o is present
//              e_ot in 0..1   whether o is present for the first time
//   minimize   sum_a cost_a N_a + sum_ot (standing_ot i_ot + entry_ot e_ot)
//              + sum_ot spare_ot (s_ot - spares_o sum_{a of o, f = t} N_a)
//              + sum_wot extra_wot busy_wot      with busy_wot = x_wot demand_wt / capacity_wot
//   subject to sum_o x_wot = 1                                    every workload is served
//              sum_{w of no span} busy_wot + sum_s s r_ost <= n_ot     on existing nodes
//              sum_{w of span s} busy_wot <= s r_ost
//              n_ot <= most_o i_ot,   x_wot <= i_ot,   i_ot <= sum_{u <= t} e_ou
//              sum_{a of o} lot_o N_a + sum_t s_ot / accelerators_o <= stock_o
//                                                       rented: n_ot <= stock_o
//              sum_o power_o n_ot <= site_power
//              sum_{o of v} amount_ot >= share_v sum_o amount_ot   for each vendor v and period
//              sum of outlays in each year <= its budget, of all <= capex_budget
//              s_ot >= spares_o sum_{a of o, f = t} N_a      if lots are divisible: only where
//                             the order is given, and so is whole; elsewhere spares are parts too
//              sum_{a of o, f = t} N_a = ordered_ot, if that is given
//              on the order q_ofk = sum_{a of o, f, k} N_a of an option with volume tiers, whose
//              tier k begins at from_k lots, from_0 = 0: if tiers are for all lots of an order,
//              q_ofk > 0 for one k, and then q_ofk >= from_k; if they are for the lots beyond,
//              N_a are fractions of lots whose sum over k is an integer, and
//              q_ofk = from_{k+1} - from_k wherever q_of{k+1} > 0, and never more
//   where amount_ot is tokens or accelerators. An option without nodes, a token API, serves by the
//   token: its capacity is 1, and extra is the price of a token. What an order lacks to whole
//   spares stays as long as what stays longest of it, at the price of the highest tier that this
//   has; the program, in which that is not known yet, counts the lowest cost that it may have, and
//   the highest outlay.
#ifndef PERTOKEN_MODEL_PLAN_FLEET_H
#define PERTOKEN_MODEL_PLAN_FLEET_H

#include "base/arena.h"

#include <stdbool.h>
#include <stddef.h>

struct planned_workload {
  const double *demand; // [periods] tokens, above 0
  bool whole;           // on a single option in each period
};

enum { FLEET_MOST_TIERS = 4 }; // not counting the one below the first

struct fleet_option {
  double lot;               // nodes, above 0
  double accelerators;      // per node
  double spares;            // bought with each accelerator, a fraction
  double stock;             // nodes, spares included; INFINITY: no limit
  double power;             // W per node, at the site's meter
  bool rented;              // its stock limits what is present at a time, not all that is bought
  bool by_token;            // without nodes
  double tax_rate;          // on its costs and returns; 0: none
  double *standing, *entry; // [periods] USD
  double entry_outlay;      // USD
  int vendor;
  double tier_from[FLEET_MOST_TIERS]; // [tier_count] lots, rising; a larger order has a lower price
  int tier_count;                     // 0: each lot has one price
  bool tier_of_all;                   // a tier's price is for the whole order, not just beyond
};

struct fleet_action {
  size_t option;
  int first, last;     // periods, from 0
  int tier;            // volume tier; those of one option, first and last are consecutive, from 0
  double cost, outlay; // USD per lot
  const double
      *cash; // [last + 2 - first] USD per lot: at first's start, then period ends; NULL: unknown
  const double *depreciation, *book_value, *after_tax; // USD per lot, likewise; NULL: unknown
  const struct fleet_action *spare; // one more accelerator, as a spare; NULL: unknown, or no spares
};

struct fleet_pair {
  double *capacity, *extra; // [periods] token, USD
  int span;                 // nodes of a replica; up to 1: it shares the node
};

struct fleet_problem {
  int periods;
  const struct planned_workload *workloads;
  size_t workload_count;
  const struct fleet_option *options;
  size_t option_count;
  const struct fleet_pair *pairs; // [workload_count][option_count]
  const struct fleet_action *actions;
  size_t action_count;
  const double *minimum_shares; // [vendor_count]; 0: none
  int vendor_count;
  bool share_of_accelerators; // else of tokens
  double site_power;          // W; INFINITY: no limit
  const double *budgets;      // [year_count] USD; INFINITY: none
  int year_count;
  const int *years; // [periods] the year to which a purchase for the period counts
  double capex_budget;
  const double *ordered; // [option_count][periods] lots bought for it; NAN: free; NULL: all free
  bool divisible;        // fractions of lots and replicas are possible
};

struct planned_fleet {
  double *lots; // [action_count]
  double
      *spares; // [action_count] accelerators added to the lots' own, so that an order's are whole
  double *shares; // [workload_count][option_count][periods]
  double cost;    // USD, discounted
  double outlay;  // USD
};

static inline const struct fleet_pair *fleet_pair_of(const struct fleet_problem *problem, size_t w,
                                                     size_t o) {
  return &problem->pairs[w * problem->option_count + o];
}

static inline double *fleet_share(const struct fleet_problem *problem,
                                  const struct planned_fleet *fleet, size_t w, size_t o, int t) {
  return &fleet->shares[(w * problem->option_count + o) * (size_t)problem->periods + (size_t)t];
}

// A fleet that buys nothing and serves nothing.
struct planned_fleet fleet_new(const struct fleet_problem *problem, struct arena *arena);
struct planned_fleet fleet_copy(const struct fleet_problem *problem,
                                const struct planned_fleet *fleet, struct arena *arena);

double fleet_nodes(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                   size_t option, int period);

// The nodes that a workload would keep busy if the option served all of it; 0 if it cannot.
double fleet_nodes_of_all(const struct fleet_problem *problem, size_t workload, size_t option,
                          int period);

double fleet_busy(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                  size_t workload, size_t option, int period);

// The tokens that an option serves.
double fleet_served(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                    size_t option, int period);

// The nodes that hold what an option must serve, with whole replicas if they span several nodes.
double fleet_held(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                  size_t option, int period);

// The additional tokens of the same workloads that its empty nodes could serve.
double fleet_spare(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                   size_t option, int period);

// The first workload whose replicas on an option span as many nodes: these workloads share
// replicas.
size_t fleet_first_of_span(const struct fleet_problem *problem, size_t workload, size_t option);

// The number of an action's tiers above the lowest, and whether they may have fractions of lots.
int fleet_tiers(const struct fleet_problem *problem, size_t action);
bool fleet_parts(const struct fleet_problem *problem, size_t action);
bool fleet_has_tiers(const struct fleet_problem *problem);

// The number of lots of tier k that an order can have; INFINITY for the last.
double fleet_tier_width(const struct fleet_option *option, int k);

// The lots of an action in all tiers together.
double fleet_lots_of_tiers(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                           size_t action);

// Puts all lots in tier 0, as whole lots unless they are divisible; the other, in the best tiers
// for the size of their orders.
void fleet_gather_tiers(const struct fleet_problem *problem, struct planned_fleet *fleet);
void fleet_take_tiers(const struct fleet_problem *problem, struct planned_fleet *fleet);

// The lots that are bought or rented for a period.
double fleet_ordered(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                     size_t option, int period);

// The accelerators in that order, with whole spares.
double fleet_ordered_with_spares(const struct fleet_problem *problem,
                                 const struct planned_fleet *fleet, size_t option, int period);

// Whether any option has spares, and they are bought whole in any order: unless lots are divisible,
// or in an order that is given.
bool fleet_has_spares(const struct fleet_problem *problem);
bool fleet_spares_are_whole(const struct fleet_problem *problem, size_t option, int period);

// The part of a spare by which an order of so many lots is rounded up to whole accelerators.
double fleet_lacking_spares(const struct fleet_option *option, double lots);

// Whether any of an option is present, or serves.
bool fleet_has(const struct fleet_problem *problem, const struct planned_fleet *fleet,
               size_t option, int period);

// The outlay for an action at the purchase.
double fleet_outlay(const struct fleet_problem *problem, const struct planned_fleet *fleet,
                    size_t action);

// Recomputes spares, cost and outlay from lots and shares.
void fleet_sum(const struct fleet_problem *problem, struct planned_fleet *fleet);

// The constraint of the program that a fleet violates, by independent sums, or NULL. Lots are whole
// unless they are divisible.
const char *fleet_broken(const struct fleet_problem *problem, const struct planned_fleet *fleet);

#endif
