#include "model/plan/formulation.h"

#include "base/arena.h"
#include "model/cost/arithmetic.h"
#include "model/optimise/row.h"
#include "model/plan/columns.h"
#include "model/plan/fleet.h"

#include <glpk.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// ---- columns

static void set_column(const struct formulation *formulation, int column, int kind, double most,
                       double cost) {
  glp_set_col_kind(formulation->row.glpk, column, kind);
  glp_set_col_bnds(formulation->row.glpk, column, most > 0 ? GLP_DB : GLP_FX, 0,
                   most > 0 ? most : 0);
  glp_set_obj_coef(formulation->row.glpk, column, cost / formulation->money);
}

static double share_of_lot(const struct fleet_option *option) {
  return option->lot * option->accelerators * option->spares;
}

// A value of an action without its share of spares, which have their own columns.
static double bare(const struct formulation *formulation, const struct fleet_action *action,
                   double value, const double *spares) {
  const struct fleet_problem *problem = formulation->problem;
  const size_t order = action->option * (size_t)problem->periods + (size_t)action->first;
  return value - share_of_lot(&problem->options[action->option]) * spares[order];
}

// Fixes the whole spares in an order of so many lots, without a column that must be whole.
static void fix_spares(const struct formulation *formulation, size_t o, int t, double lots) {
  const struct fleet_option *option = &formulation->problem->options[o];
  const double spares = share_of_lot(option) * lots + fleet_lacking_spares(option, lots);
  glp_set_col_bnds(formulation->row.glpk, spare_column(formulation->problem, o, t), GLP_FX, spares,
                   spares);
}

static void add_spare_columns(const struct formulation *formulation, size_t o) {
  const struct fleet_problem *problem = formulation->problem;
  const double each = share_of_lot(&problem->options[o]);
  for (int t = 0; t < problem->periods; t++) {
    const size_t order = o * (size_t)problem->periods + (size_t)t;
    set_column(formulation, spare_column(problem, o, t), problem->divisible ? GLP_CV : GLP_IV,
               each > 0 ? ceil(each * most_in_order(problem, o)) : 0,
               formulation->spare_cost[order]);
    if (problem->divisible && fleet_spares_are_whole(problem, o, t))
      fix_spares(formulation, o, t, problem->ordered[order]);
  }
}

static void add_option_columns(const struct formulation *formulation, size_t o) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_option *option = &problem->options[o];
  const int whole = problem->divisible ? GLP_CV : GLP_IV;
  const double lots = option->by_token ? 0 : most_lots(problem, o);
  const double order = option->by_token ? 0 : most_in_order(problem, o);
  const bool fixed = has_fixed_cost(problem, o);
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o)
      set_column(formulation, action_column(a), fleet_parts(problem, a) ? GLP_CV : whole, order,
                 bare(formulation, &problem->actions[a], problem->actions[a].cost,
                      formulation->spare_cost));
  for (int t = 0; t < problem->periods; t++) {
    set_column(formulation, lots_column(problem, o, t), whole, lots, 0);
    set_column(formulation, presence_column(problem, o, t), GLP_IV, fixed, option->standing[t]);
    set_column(formulation, entry_column(problem, o, t), GLP_CV, fixed, option->entry[t]);
  }
}

static void add_pair_columns(const struct formulation *formulation, size_t w, size_t o) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_pair *pair = fleet_pair_of(problem, w, o);
  for (int t = 0; t < problem->periods; t++) {
    const double nodes = fleet_nodes_of_all(problem, w, o, t);
    const bool own = pair->span > 1 && fleet_first_of_span(problem, w, o) == w;
    const double nodes_most = most_lots(problem, o) * problem->options[o].lot;
    const double most =
        arithmetic_floor(nodes_most / fmax(1, pair->span)); // GLPK takes no fractions
    set_column(formulation, share_column(problem, w, o, t),
               problem->workloads[w].whole ? GLP_IV : GLP_CV, nodes > 0, pair->extra[t] * nodes);
    set_column(formulation, replica_column(problem, w, o, t), problem->divisible ? GLP_CV : GLP_IV,
               own ? most : 0, 0);
  }
}

// The tiers of an option's orders, and the total lots of all tiers if these may have fractions.
static void add_tier_columns(const struct formulation *formulation, size_t o) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_option *option = &problem->options[o];
  for (int t = 0; t < problem->periods; t++)
    for (int k = 0; k <= FLEET_MOST_TIERS; k++)
      set_column(formulation, tier_column(problem, o, t, k), GLP_IV,
                 option->tier_count && k <= option->tier_count, 0);
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o)
      set_column(formulation, whole_column(problem, a), GLP_IV,
                 fleet_parts(problem, a) && !problem->actions[a].tier && !problem->divisible
                     ? most_in_order(problem, o)
                     : 0,
                 0);
}

static void add_columns(const struct formulation *formulation) {
  const struct fleet_problem *problem = formulation->problem;
  glp_add_cols(formulation->row.glpk, column_count(problem));
  for (size_t o = 0; o < problem->option_count; o++) {
    add_option_columns(formulation, o);
    if (fleet_has_spares(problem))
      add_spare_columns(formulation, o);
    if (fleet_has_tiers(problem))
      add_tier_columns(formulation, o);
    for (size_t w = 0; w < problem->workload_count; w++)
      add_pair_columns(formulation, w, o);
  }
}

// ---- rows

static void add_service(struct formulation *formulation) {
  const struct fleet_problem *problem = formulation->problem;
  for (size_t w = 0; w < problem->workload_count; w++)
    for (int t = 0; t < problem->periods; t++) {
      for (size_t o = 0; o < problem->option_count; o++)
        row_add(&formulation->row, share_column(problem, w, o, t), 1);
      row_end(&formulation->row, 1, 1);
    }
}

// Adds the row by which an option's replicas hold its workloads with workload w's span, once for
// each span.
static void add_replicas(struct formulation *formulation, size_t w, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  const int span = fleet_pair_of(problem, w, o)->span;
  if (span <= 1 || fleet_first_of_span(problem, w, o) != w)
    return;
  for (size_t other = 0; other < problem->workload_count; other++)
    if (fleet_pair_of(problem, other, o)->span == span)
      row_add(&formulation->row, share_column(problem, other, o, t),
              fleet_nodes_of_all(problem, other, o, t));
  row_add(&formulation->row, replica_column(problem, w, o, t), -span);
  row_end(&formulation->row, -INFINITY, 0);
}

static void add_capacity(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = fleet_pair_of(problem, w, o)->span;
    if (span <= 1)
      row_add(&formulation->row, share_column(problem, w, o, t),
              fleet_nodes_of_all(problem, w, o, t));
    else if (fleet_first_of_span(problem, w, o) == w)
      row_add(&formulation->row, replica_column(problem, w, o, t), span);
  }
  row_add(&formulation->row, lots_column(problem, o, t), -problem->options[o].lot);
  row_end(&formulation->row, -INFINITY, 0);
}

// The stock is what was bought for this period or before, and has not been retired.
static void add_stock(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (action->option == o && action->first <= t && t <= action->last)
      row_add(&formulation->row, action_column(a), 1);
  }
  row_add(&formulation->row, lots_column(problem, o, t), -1);
  row_end(&formulation->row, 0, 0);
}

static void add_presence(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  if (!has_fixed_cost(problem, o))
    return;
  for (size_t w = 0; w < problem->workload_count; w++) {
    row_add(&formulation->row, share_column(problem, w, o, t), 1);
    row_add(&formulation->row, presence_column(problem, o, t), -1);
    row_end(&formulation->row, -INFINITY, 0);
  }
  row_add(&formulation->row, presence_column(problem, o, t), 1);
  for (int u = 0; u <= t; u++)
    row_add(&formulation->row, entry_column(problem, o, u), -1);
  row_end(&formulation->row, -INFINITY, 0);
  if (problem->options[o].by_token)
    return;
  row_add(&formulation->row, lots_column(problem, o, t), 1);
  row_add(&formulation->row, presence_column(problem, o, t), -most_lots(problem, o));
  row_end(&formulation->row, -INFINITY, 0);
}

static void add_spares(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  const double each = share_of_lot(&problem->options[o]);
  row_add(&formulation->row, spare_column(problem, o, t), 1);
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && problem->actions[a].first == t)
      row_add(&formulation->row, action_column(a), -each);
  row_end(&formulation->row, 0, INFINITY);
}

static void add_lots_of_tier(struct formulation *formulation, size_t o, int t, int tier) {
  const struct fleet_problem *problem = formulation->problem;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && problem->actions[a].first == t &&
        problem->actions[a].tier == tier)
      row_add(&formulation->row, action_column(a), 1);
}

// Adds the rows of a tier that applies to the whole order: all its lots have the same tier, and it
// is at least as large as that tier's start.
static void add_tier_of_all(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_option *option = &problem->options[o];
  for (int k = 0; k <= option->tier_count; k++) {
    add_lots_of_tier(formulation, o, t, k);
    row_add(&formulation->row, tier_column(problem, o, t, k), -most_in_order(problem, o));
    row_end(&formulation->row, -INFINITY, 0);
    add_lots_of_tier(formulation, o, t, k);
    row_add(&formulation->row, tier_column(problem, o, t, k), k ? -option->tier_from[k - 1] : 0);
    row_end(&formulation->row, 0, INFINITY);
  }
  for (int k = 0; k <= option->tier_count; k++)
    row_add(&formulation->row, tier_column(problem, o, t, k), 1);
  row_end(&formulation->row, -INFINITY, 1);
}

// Adds the rows of tiers that apply to the lots beyond their start: no lot has a tier's discount
// before the tiers below are full.
static void add_tiers_beyond(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_option *option = &problem->options[o];
  for (int k = 0; k <= option->tier_count; k++) {
    const double width = fmin(fleet_tier_width(option, k), most_in_order(problem, o));
    add_lots_of_tier(formulation, o, t, k);
    if (k)
      row_add(&formulation->row, tier_column(problem, o, t, k), -width);
    row_end(&formulation->row, -INFINITY, k ? 0 : width);
    if (k == option->tier_count)
      continue;
    add_lots_of_tier(formulation, o, t, k);
    row_add(&formulation->row, tier_column(problem, o, t, k + 1), -width);
    row_end(&formulation->row, 0, INFINITY);
  }
  for (size_t a = 0; a < problem->action_count && !problem->divisible; a++) {
    if (problem->actions[a].option != o || problem->actions[a].first != t ||
        problem->actions[a].tier)
      continue;
    for (int k = 0; k <= option->tier_count; k++)
      row_add(&formulation->row, action_column(a + (size_t)k), 1);
    row_add(&formulation->row, whole_column(problem, a), -1);
    row_end(&formulation->row, 0, 0);
  }
}

// Adds the row that limits all that is ever bought, in lots, spares included.
static void add_supply(struct formulation *formulation, size_t o) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_option *option = &problem->options[o];
  const bool own_columns = fleet_has_spares(problem) && option->spares > 0;
  const double lots = option->stock / option->lot;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o)
      row_add(&formulation->row, action_column(a), own_columns ? 1 : 1 + option->spares);
  for (int t = 0; t < problem->periods && own_columns; t++)
    row_add(&formulation->row, spare_column(problem, o, t),
            1 / (option->lot * option->accelerators));
  row_end(&formulation->row, -INFINITY, option->spares > 0 ? lots : arithmetic_floor(lots));
}

static void add_option_rows(struct formulation *formulation, size_t o) {
  const struct fleet_problem *problem = formulation->problem;
  const struct fleet_option *option = &problem->options[o];
  for (int t = 0; t < problem->periods; t++) {
    add_presence(formulation, o, t);
    if (option->by_token)
      continue;
    for (size_t w = 0; w < problem->workload_count; w++)
      add_replicas(formulation, w, o, t);
    add_capacity(formulation, o, t);
    add_stock(formulation, o, t);
    if (fleet_has_spares(problem) && option->spares > 0)
      add_spares(formulation, o, t);
    if (option->tier_count)
      (option->tier_of_all ? add_tier_of_all : add_tiers_beyond)(formulation, o, t);
  }
  if (!option->rented && !option->by_token && isfinite(option->stock))
    add_supply(formulation, o);
}

static void add_site(struct formulation *formulation, int t) {
  const struct fleet_problem *problem = formulation->problem;
  for (size_t o = 0; o < problem->option_count; o++)
    row_add(&formulation->row, lots_column(problem, o, t),
            problem->options[o].power * problem->options[o].lot / problem->site_power);
  row_end(&formulation->row, -INFINITY, 1);
}

// Adds `factor` times an option's amount to the row, in the unit in which shares are counted.
static void add_amount(struct formulation *formulation, size_t o, int t, double factor) {
  const struct fleet_problem *problem = formulation->problem;
  double all = 0;
  if (problem->share_of_accelerators) {
    row_add(&formulation->row, lots_column(problem, o, t),
            factor * problem->options[o].lot * problem->options[o].accelerators);
    return;
  }
  for (size_t w = 0; w < problem->workload_count; w++)
    all += problem->workloads[w].demand[t];
  for (size_t w = 0; w < problem->workload_count; w++)
    row_add(&formulation->row, share_column(problem, w, o, t),
            factor * problem->workloads[w].demand[t] / all);
}

static void add_shares(struct formulation *formulation, int t) {
  const struct fleet_problem *problem = formulation->problem;
  for (int v = 0; v < problem->vendor_count; v++) {
    const double share = problem->minimum_shares[v];
    if (share <= 0)
      continue;
    for (size_t o = 0; o < problem->option_count; o++)
      add_amount(formulation, o, t, problem->options[o].vendor == v ? 1 - share : -share);
    row_end(&formulation->row, 0, INFINITY);
  }
}

// Payments for purchases in one year, or in all of them: year -1.
static void add_budget(struct formulation *formulation, int year, double budget) {
  const struct fleet_problem *problem = formulation->problem;
  if (!isfinite(budget))
    return;
  const bool whole_spares = fleet_has_spares(problem);
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    if (year < 0 || problem->years[action->first] == year)
      row_add(&formulation->row, action_column(a),
              bare(formulation, action, action->outlay, formulation->spare_outlay) /
                  formulation->money);
  }
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods; t++) {
      if (year >= 0 && problem->years[t] != year)
        continue;
      row_add(&formulation->row, entry_column(problem, o, t),
              problem->options[o].entry_outlay / formulation->money);
      if (whole_spares)
        row_add(&formulation->row, spare_column(problem, o, t),
                formulation->spare_outlay[o * (size_t)problem->periods + (size_t)t] /
                    formulation->money);
    }
  row_end(&formulation->row, -INFINITY, budget / formulation->money);
}

// Orders that are fixed.
static void add_orders(struct formulation *formulation, size_t o, int t) {
  const struct fleet_problem *problem = formulation->problem;
  const double ordered = problem->ordered[o * (size_t)problem->periods + (size_t)t];
  if (isnan(ordered))
    return;
  for (size_t a = 0; a < problem->action_count; a++)
    if (problem->actions[a].option == o && problem->actions[a].first == t)
      row_add(&formulation->row, action_column(a), 1);
  if (formulation->row.terms || ordered > 0)
    row_end(&formulation->row, ordered, ordered);
}

static void add_rows(struct formulation *formulation) {
  const struct fleet_problem *problem = formulation->problem;
  add_service(formulation);
  for (size_t o = 0; o < problem->option_count; o++)
    add_option_rows(formulation, o);
  for (int t = 0; t < problem->periods; t++) {
    if (isfinite(problem->site_power))
      add_site(formulation, t);
    add_shares(formulation, t);
  }
  for (int year = 0; year < problem->year_count; year++)
    add_budget(formulation, year, problem->budgets[year]);
  add_budget(formulation, -1, problem->capex_budget);
  for (size_t o = 0; o < problem->option_count && problem->ordered; o++)
    for (int t = 0; t < problem->periods; t++)
      add_orders(formulation, o, t);
}

// ---- the solution

void formulation_take(const struct formulation *formulation, const double *values,
                      struct planned_fleet *fleet) {
  const struct fleet_problem *problem = formulation->problem;
  for (size_t a = 0; a < problem->action_count; a++) {
    const double lots = values[action_column(a)];
    const bool parts = problem->divisible || fleet_parts(problem, a);
    fleet->lots[a] = parts ? fmax(0, lots) : round(lots);
  }
  fleet_take_tiers(problem, fleet);
  for (size_t w = 0; w < problem->workload_count; w++)
    for (int t = 0; t < problem->periods; t++) {
      double sum = 0;
      for (size_t o = 0; o < problem->option_count; o++) {
        const double share = values[share_column(problem, w, o, t)];
        const bool there = problem->options[o].by_token || fleet_nodes(problem, fleet, o, t) > 0;
        *fleet_share(problem, fleet, w, o, t) = share < 1e-9 || !there ? 0 : share;
        sum += *fleet_share(problem, fleet, w, o, t);
      }
      for (size_t o = 0; o < problem->option_count && sum > 0; o++)
        *fleet_share(problem, fleet, w, o, t) /= sum;
    }
}

static double money_unit(const struct fleet_problem *problem) {
  double largest = 0;
  for (size_t a = 0; a < problem->action_count; a++)
    largest = fmax(largest, fabs(problem->actions[a].cost));
  for (size_t w = 0; w < problem->workload_count && largest == 0; w++)
    for (size_t o = 0; o < problem->option_count; o++)
      largest = fmax(largest, fabs(fleet_pair_of(problem, w, o)->extra[0]) *
                                  problem->workloads[w].demand[0]);
  return largest > 0 ? largest : 1;
}

// Finds what a spare in each order costs at least, and its largest outlay; 0 if spares are not
// whole, or if nothing can be ordered.
static void price_spares(const struct fleet_problem *problem, double *cost, double *outlay) {
  const size_t periods = (size_t)problem->periods, count = problem->option_count * periods;
  for (size_t i = 0; i < count; i++) {
    cost[i] = INFINITY;
    outlay[i] = 0;
  }
  for (size_t a = 0; a < problem->action_count; a++) {
    const struct fleet_action *action = &problem->actions[a];
    const size_t i = action->option * periods + (size_t)action->first;
    if (!action->spare || !fleet_spares_are_whole(problem, action->option, action->first))
      continue;
    cost[i] = fmin(cost[i], action->spare->cost);
    outlay[i] = fmax(outlay[i], action->spare->outlay);
  }
  for (size_t i = 0; i < count; i++)
    cost[i] = isfinite(cost[i]) ? cost[i] : 0;
}

struct formulation formulation_of(const struct fleet_problem *problem, struct arena *arena) {
  const size_t orders = problem->option_count * (size_t)problem->periods;
  struct formulation formulation = {.problem = problem,
                                    .money = money_unit(problem),
                                    .row = row_of((size_t)column_count(problem), arena),
                                    .spare_cost = arena_array(arena, orders, sizeof(double)),
                                    .spare_outlay = arena_array(arena, orders, sizeof(double))};
  price_spares(problem, formulation.spare_cost, formulation.spare_outlay);
  return formulation;
}

void formulation_build(struct formulation *formulation) {
  formulation->row.glpk = glp_create_prob();
  glp_set_obj_dir(formulation->row.glpk, GLP_MIN);
  add_columns(formulation);
  add_rows(formulation);
  glp_scale_prob(formulation->row.glpk, GLP_SF_AUTO);
  glp_adv_basis(formulation->row.glpk, 0);
}
