#include "tests/support/small_plan.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static double uniform(unsigned short *seed, double low, double high) {
  return low + (high - low) * erand48(seed);
}

static bool chance(unsigned short *seed, double share) {
  return erand48(seed) < share;
}

// Tiers begin at a whole number of lots, or within a lot.
static void make_tiers(struct small_plan *plan, size_t o, unsigned short *seed) {
  struct fleet_option *option = &plan->options[o];
  double from = 0;
  if (option->rented || !chance(seed, 0.45))
    return;
  option->tier_count = 1 + (int)(nrand48(seed) % TIERS);
  option->tier_of_all = chance(seed, 0.5);
  for (int k = 0; k < option->tier_count; k++) {
    from += chance(seed, 0.5) ? 1 : uniform(seed, 0.3, 1.6);
    option->tier_from[k] = from;
    plan->discounts[o][k + 1] = plan->discounts[o][k] + uniform(seed, 0.02, 0.3);
  }
}

// A lot at the price of its tier: upkeep and resale depend on the price paid.
static struct fleet_action action_of(size_t o, int f, int l, int tier, const double *terms) {
  const double price = terms[0], upkeep = terms[1], kept = terms[2], wacc = terms[3];
  struct fleet_action action = {.option = o, .first = f, .last = l, .tier = tier};
  action.outlay = price;
  action.cost = price / pow(1 + wacc, f);
  for (int t = f; t <= l; t++)
    action.cost += upkeep * price / pow(1 + wacc, t + 1);
  action.cost -= price * pow(kept, l + 1 - f) / pow(1 + wacc, l + 1);
  return action;
}

static void make_actions(struct small_plan *plan, unsigned short *seed, double wacc) {
  size_t count = 0;
  for (size_t o = 0; o < OPTIONS; o++) {
    const double price = uniform(seed, 20, 40), upkeep = uniform(seed, 0.03, 0.2);
    const double decline = uniform(seed, 0, 0.2), kept = uniform(seed, 0, 0.6);
    for (int f = 0; f < plan->problem.periods; f++)
      for (int l = f; l < plan->problem.periods; l++) {
        if (plan->options[o].rented ? l > f : l + 1 < plan->problem.periods && chance(seed, 0.5))
          continue;
        if (plan->head_count == ACTIONS)
          return;
        plan->heads[plan->head_count++] = count;
        for (int k = 0; k <= plan->options[o].tier_count; k++) {
          const double paid = price * pow(1 - decline, f) * (1 - plan->discounts[o][k]);
          const double terms[] = {paid, upkeep, kept, wacc};
          plan->actions[count] = action_of(o, f, l, k, terms);
          if (plan->options[o].rented)
            plan->actions[count] = (struct fleet_action){
                .option = o, .first = f, .last = l, .cost = price / 2 / pow(1 + wacc, f + 1)};
          plan->problem.action_count = ++count;
        }
      }
  }
}

// Whole spares of what is bought, at a price of their own for each action.
static void add_spares(struct small_plan *plan, unsigned number) {
  unsigned short seed[3] = {(unsigned short)number, 4, 1901};
  for (size_t o = 0; o < OPTIONS; o++)
    if (!plan->options[o].rented && !plan->options[o].tier_count && chance(seed, 0.7))
      plan->options[o].spares = uniform(seed, 0.02, 0.3);
  for (size_t a = 0; a < plan->problem.action_count; a++) {
    struct fleet_action *action = &plan->actions[a];
    plan->spares[a] = *action;
    plan->spares[a].cost = action->cost / 6;
    plan->spares[a].outlay = action->outlay / 6;
    action->spare = plan->options[action->option].spares > 0 ? &plan->spares[a] : NULL;
  }
}

static void make_options(struct small_plan *plan, unsigned short *seed, double wacc) {
  for (size_t o = 0; o < OPTIONS; o++) {
    const bool fixed = chance(seed, 0.4);
    plan->options[o] = (struct fleet_option){
        .lot = chance(seed, 0.3) ? 2 : 1,
        .accelerators = chance(seed, 0.5) ? 4 : 8,
        .stock = chance(seed, 0.3) ? (double)(1 + nrand48(seed) % 5) : INFINITY,
        .power = uniform(seed, 0.5, 1.5),
        .rented = o == 1 && chance(seed, 0.3),
        .standing = plan->standing[o],
        .entry = plan->entry[o],
        .entry_outlay = fixed ? uniform(seed, 0, 10) : 0,
        .vendor = (int)o};
    make_tiers(plan, o, seed);
    plan->shares[o] = chance(seed, 0.3) ? uniform(seed, 0.05, 0.45) : 0;
    for (int t = 0; t < PERIODS && fixed; t++) {
      plan->standing[o][t] = uniform(seed, 0, 6) / pow(1 + wacc, t + 1);
      plan->entry[o][t] = plan->options[o].entry_outlay / pow(1 + wacc, t);
    }
  }
}

static void make_workloads(struct small_plan *plan, unsigned short *seed, double wacc) {
  for (size_t w = 0; w < plan->problem.workload_count; w++) {
    const double first = uniform(seed, 2, 8), growth = uniform(seed, 0.8, 1.5);
    plan->workloads[w] = (struct planned_workload){plan->demand[w], chance(seed, 0.2)};
    for (int t = 0; t < PERIODS; t++)
      plan->demand[w][t] = first * pow(growth, t);
    for (size_t o = 0; o < OPTIONS; o++) {
      const size_t i = w * OPTIONS + o;
      const double capacity = chance(seed, 0.1) ? 0 : uniform(seed, 5, 12);
      const int ready = chance(seed, 0.2) ? 1 : 0;
      plan->pairs[i] = (struct fleet_pair){plan->capacity[i], plan->extra[i], 0};
      for (int t = 0; t < PERIODS; t++) {
        plan->capacity[i][t] = t < ready ? 0 : capacity;
        plan->extra[i][t] = uniform(seed, 0, 3) / pow(1 + wacc, t + 1);
      }
    }
  }
}

void small_plan_make(struct small_plan *plan, unsigned number) {
  unsigned short seed[3] = {(unsigned short)number, 22, 1848};
  const double wacc = chance(seed, 0.7) ? uniform(seed, 0.02, 0.2) : 0;
  memset(plan, 0, sizeof *plan);
  plan->problem = (struct fleet_problem){
      .periods = 1 + (int)(nrand48(seed) % PERIODS),
      .workloads = plan->workloads,
      .workload_count = 1 + (size_t)nrand48(seed) % WORKLOADS,
      .options = plan->options,
      .option_count = OPTIONS,
      .pairs = plan->pairs,
      .actions = plan->actions,
      .minimum_shares = plan->shares,
      .vendor_count = OPTIONS,
      .share_of_accelerators = chance(seed, 0.3),
      .site_power = chance(seed, 0.25) ? uniform(seed, 2, 6) : INFINITY,
      .budgets = plan->budgets,
      .year_count = PERIODS,
      .years = plan->years,
      .capex_budget = chance(seed, 0.15) ? uniform(seed, 40, 160) : INFINITY};
  make_options(plan, seed, wacc);
  make_workloads(plan, seed, wacc);
  for (int t = 0; t < PERIODS; t++) {
    plan->years[t] = t / 2;
    plan->budgets[t] = chance(seed, 0.15) ? uniform(seed, 30, 150) : INFINITY;
  }
  make_actions(plan, seed, wacc);
  if (number % 3 == 0)
    add_spares(plan, number);
}
