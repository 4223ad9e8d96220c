// The integer program behind `pertoken plan` compared with enumeration, written from docs/plan.md:
// every number of lots of every action, and the best vertex of the shares in each period.
#include "tests/support/fixture.h"
#include "tests/support/small_plan.h"

#include "base/arena.h"
#include "model/plan/challenge.h"
#include "model/plan/fleet.h"
#include "model/plan/programme.h"

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_LOTS = 3, ROWS = 10, MAX_THERE = ACTIONS * MAX_LOTS + 1 };

// ---- the best shares of a period, for given nodes

struct half_plane {
  double a[WORKLOADS], b; // a x <= b
};

static void add_row(struct half_plane *rows, size_t *count, double a, double other, double b) {
  rows[(*count)++] = (struct half_plane){{a, other}, b};
}

// x: the share of each workload on option 0. The rows include whether there are any nodes at all.
static size_t rows_of(const struct small_plan *plan, int t, const double *nodes,
                      struct half_plane *rows) {
  const size_t workloads = plan->problem.workload_count;
  double busy[OPTIONS][WORKLOADS] = {{0}}, all = 0, tokens[WORKLOADS] = {0};
  size_t count = 0;
  for (size_t w = 0; w < workloads; w++) {
    tokens[w] = plan->demand[w][t];
    all += tokens[w];
    for (size_t o = 0; o < OPTIONS; o++) {
      const double capacity = plan->capacity[w * OPTIONS + o][t];
      busy[o][w] = capacity > 0 ? tokens[w] / capacity : 0; // excluded by cost_at
    }
  }
  for (size_t w = 0; w < WORKLOADS; w++) {
    add_row(rows, &count, w == 0, w == 1, w < workloads ? 1 : 0);
    add_row(rows, &count, -(double)(w == 0), -(double)(w == 1), 0);
  }
  add_row(rows, &count, busy[0][0], busy[0][1], nodes[0]);
  add_row(rows, &count, -busy[1][0], -busy[1][1], nodes[1] - busy[1][0] - busy[1][1]);
  if (plan->problem.share_of_accelerators)
    return count;
  add_row(rows, &count, -tokens[0], -tokens[1], -plan->shares[0] * all);
  add_row(rows, &count, tokens[0], tokens[1], (1 - plan->shares[1]) * all);
  return count;
}

static double cost_at(const struct small_plan *plan, int t, const double *x,
                      const struct half_plane *rows, size_t count) {
  double cost = 0;
  for (size_t i = 0; i < count; i++)
    if (rows[i].a[0] * x[0] + rows[i].a[1] * x[1] > rows[i].b + 1e-7)
      return INFINITY;
  for (size_t w = 0; w < plan->problem.workload_count; w++)
    for (size_t o = 0; o < OPTIONS; o++) {
      const double share = o ? 1 - x[w] : x[w], capacity = plan->capacity[w * OPTIONS + o][t];
      if (plan->workloads[w].whole && fabs(share - round(share)) > 1e-9)
        return INFINITY;
      if (share > 1e-9)
        cost += capacity > 0
                    ? plan->extra[w * OPTIONS + o][t] * share * plan->demand[w][t] / capacity
                    : INFINITY;
    }
  return cost;
}

// The minimum over the vertices: points at which two rows hold with equality.
static double best_vertex(const struct small_plan *plan, int t, const struct half_plane *rows,
                          size_t count) {
  double best = INFINITY;
  for (size_t i = 0; i < count; i++)
    for (size_t j = 0; j < i; j++) {
      const double d = rows[i].a[0] * rows[j].a[1] - rows[i].a[1] * rows[j].a[0];
      if (fabs(d) < 1e-12)
        continue;
      const double x[2] = {(rows[i].b * rows[j].a[1] - rows[i].a[1] * rows[j].b) / d,
                           (rows[i].a[0] * rows[j].b - rows[i].b * rows[j].a[0]) / d};
      best = fmin(best, cost_at(plan, t, x, rows, count));
    }
  return best;
}

// A workload that is not split is on either option: all placings.
static double best_shares(const struct small_plan *plan, int t, const double *nodes) {
  double best = INFINITY;
  for (int place = 0; place < 4; place++) {
    struct half_plane rows[ROWS + 4];
    size_t count = rows_of(plan, t, nodes, rows);
    for (size_t w = 0; w < WORKLOADS; w++) {
      const double at = place >> w & 1;
      if (!plan->workloads[w].whole)
        continue;
      add_row(rows, &count, w == 0, w == 1, at);
      add_row(rows, &count, -(double)(w == 0), -(double)(w == 1), -at);
    }
    best = fmin(best, best_vertex(plan, t, rows, count));
  }
  return best;
}

// ---- every number of lots

struct counting {
  const struct small_plan *plan;
  int lots[ACTIONS];                           // of the actions of each head
  double known[PERIODS][MAX_THERE][MAX_THERE]; // NAN: not yet computed
  double best;
};

static double shares_at(struct counting *counting, int t, const int *there) {
  const struct small_plan *plan = counting->plan;
  double *known = &counting->known[t][there[0]][there[1]];
  const double nodes[] = {there[0] * plan->options[0].lot, there[1] * plan->options[1].lot};
  if (isnan(*known))
    *known = best_shares(plan, t, nodes);
  return *known;
}

static bool accelerators_are_shared(const struct small_plan *plan, const int *there) {
  double amounts[OPTIONS], all = 0;
  for (size_t o = 0; o < OPTIONS; o++)
    all += amounts[o] = there[o] * plan->options[o].lot * plan->options[o].accelerators;
  for (size_t o = 0; o < OPTIONS && plan->problem.share_of_accelerators; o++)
    if (amounts[o] < plan->shares[o] * all - 1e-7)
      return false;
  return true;
}

static double cost_of_period(struct counting *counting, int t, bool *had, double *spent) {
  const struct small_plan *plan = counting->plan;
  int there[OPTIONS] = {0};
  double cost = 0, power = 0;
  for (size_t h = 0; h < plan->head_count; h++) {
    const struct fleet_action *action = &plan->actions[plan->heads[h]];
    there[action->option] += action->first <= t && t <= action->last ? counting->lots[h] : 0;
  }
  for (size_t o = 0; o < OPTIONS; o++) {
    const double nodes = there[o] * plan->options[o].lot;
    power += nodes * plan->options[o].power;
    if (plan->options[o].rented && nodes > plan->options[o].stock)
      return INFINITY;
    if (!there[o])
      continue;
    cost += plan->standing[o][t] + (had[o] ? 0 : plan->entry[o][t]);
    spent[plan->years[t]] += had[o] ? 0 : plan->options[o].entry_outlay;
    had[o] = true;
  }
  if (power > plan->problem.site_power || !accelerators_are_shared(plan, there))
    return INFINITY;
  return cost + shares_at(counting, t, there);
}

// The tier of a position in an order: of the whole order, or of the accelerators beyond a number.
static int tier_at(const struct fleet_option *option, double place) {
  int tier = 0;
  while (tier < option->tier_count && place >= option->tier_from[tier] - 1e-9)
    tier++;
  return tier;
}

// The parts of the lot that ends at position `end` of an order, at the prices of their positions.
static double lot_before(const struct small_plan *plan, const struct fleet_action *head, double end,
                         double order, bool outlay) {
  const struct fleet_option *option = &plan->options[head->option];
  const int whole = tier_at(option, order);
  double sum = 0, begin = end - 1;
  while (begin < end - 1e-9) {
    const int k = option->tier_of_all ? whole : tier_at(option, begin);
    const bool ends = option->tier_of_all || k == option->tier_count;
    const double next = ends ? end : fmin(end, option->tier_from[k]);
    sum += (next - begin) * (outlay ? head[k].outlay : head[k].cost);
    begin = next;
  }
  return sum;
}

// The lots of an order in their positions: first those for which a discount is worth least.
static double order_sum(const struct counting *counting, size_t o, int f, bool outlay) {
  const struct small_plan *plan = counting->plan;
  const int tiers = plan->options[o].tier_count;
  int left[ACTIONS] = {0};
  double order = 0, sum = 0;
  for (size_t h = 0; h < plan->head_count; h++) {
    const struct fleet_action *head = &plan->actions[plan->heads[h]];
    left[h] = head->option == o && head->first == f ? counting->lots[h] : 0;
    order += left[h];
  }
  for (int place = 1; place <= (int)order; place++) {
    const struct fleet_action *best = NULL;
    size_t next = 0;
    for (size_t h = 0; h < plan->head_count; h++) {
      const struct fleet_action *head = &plan->actions[plan->heads[h]];
      if (!left[h] || (best && head->cost - head[tiers].cost >= best->cost - best[tiers].cost))
        continue;
      next = h;
      best = head;
    }
    assert_non_null(best);
    left[next]--;
    sum += lot_before(plan, &plan->actions[plan->heads[next]], place, order, outlay);
  }
  return sum;
}

// Nodes and whole spares of all orders, in nodes.
static double bought_of(const struct counting *counting, size_t o) {
  const struct small_plan *plan = counting->plan;
  const struct fleet_option *option = &plan->options[o];
  double bought = 0;
  for (int f = 0; f < plan->problem.periods; f++) {
    double ordered = 0;
    for (size_t h = 0; h < plan->head_count; h++) {
      const struct fleet_action *head = &plan->actions[plan->heads[h]];
      ordered += head->option == o && head->first == f ? counting->lots[h] * option->lot : 0;
    }
    const double spares = ordered * option->accelerators * option->spares;
    bought += ordered + ceil(spares - 1e-9) / option->accelerators;
  }
  return bought;
}

// What an order lacks to whole spares, as long as the last of it stays.
static double spares_sum(const struct counting *counting, size_t o, int f, bool outlay) {
  const struct small_plan *plan = counting->plan;
  const struct fleet_option *option = &plan->options[o];
  const struct fleet_action *last = NULL;
  double ordered = 0;
  for (size_t h = 0; h < plan->head_count; h++) {
    const struct fleet_action *head = &plan->actions[plan->heads[h]];
    if (head->option != o || head->first != f || !counting->lots[h])
      continue;
    ordered += counting->lots[h] * option->lot * option->accelerators * option->spares;
    last = !last || head->last > last->last ? head : last;
  }
  const double lacking = ceil(ordered - 1e-9) - ordered;
  return !last || !last->spare ? 0 : lacking * (outlay ? last->spare->outlay : last->spare->cost);
}

static double cost_of_lots(struct counting *counting) {
  const struct small_plan *plan = counting->plan;
  double cost = 0, spent[PERIODS] = {0}, all = 0;
  bool had[OPTIONS] = {false};
  for (size_t h = 0; h < plan->head_count; h++) {
    const struct fleet_action *action = &plan->actions[plan->heads[h]];
    if (plan->options[action->option].tier_count)
      continue;
    cost += counting->lots[h] * action->cost;
    spent[plan->years[action->first]] += counting->lots[h] * action->outlay;
  }
  for (size_t o = 0; o < OPTIONS; o++)
    for (int f = 0; f < plan->problem.periods && plan->options[o].tier_count; f++) {
      cost += order_sum(counting, o, f, false);
      spent[plan->years[f]] += order_sum(counting, o, f, true);
    }
  for (size_t o = 0; o < OPTIONS; o++)
    for (int f = 0; f < plan->problem.periods; f++) {
      cost += spares_sum(counting, o, f, false);
      spent[plan->years[f]] += spares_sum(counting, o, f, true);
    }
  for (size_t o = 0; o < OPTIONS; o++)
    if (!plan->options[o].rented && bought_of(counting, o) > plan->options[o].stock)
      return INFINITY;
  for (int t = 0; t < plan->problem.periods && cost < counting->best; t++)
    cost += cost_of_period(counting, t, had, spent);
  for (int year = 0; year < PERIODS; year++) {
    all += spent[year];
    if (spent[year] > plan->budgets[year])
      return INFINITY;
  }
  return all > plan->problem.capex_budget ? INFINITY : cost;
}

static void count_from(struct counting *counting, size_t action) {
  if (action == counting->plan->head_count) {
    counting->best = fmin(counting->best, cost_of_lots(counting));
    return;
  }
  for (int lots = 0; lots <= MAX_LOTS; lots++) {
    counting->lots[action] = lots;
    count_from(counting, action + 1);
  }
  counting->lots[action] = 0;
}

static double enumerate(const struct small_plan *plan) {
  struct counting *counting = calloc(1, sizeof *counting);
  counting->plan = plan;
  counting->best = INFINITY;
  for (int t = 0; t < PERIODS; t++)
    for (size_t i = 0; i < MAX_THERE; i++)
      for (size_t j = 0; j < MAX_THERE; j++)
        counting->known[t][i][j] = NAN;
  count_from(counting, 0);
  const double best = counting->best;
  free(counting);
  return best;
}

// If the best fleet has more lots of an action than are enumerated, enumeration cannot judge.
static bool is_countable(const struct small_plan *plan, const struct planned_fleet *fleet) {
  for (size_t h = 0; h < plan->head_count; h++)
    if (fleet_lots_of_tiers(&plan->problem, fleet, plan->heads[h]) > MAX_LOTS)
      return false;
  return true;
}

static bool has_discount(const struct small_plan *plan, const struct planned_fleet *fleet) {
  for (size_t a = 0; a < plan->problem.action_count; a++)
    if (plan->actions[a].tier && fleet->lots[a] > 0)
      return true;
  return false;
}

// If spares cost more than the program counts: from its bound to what it found.
static bool is_between(const struct programme_result *result, double best) {
  return result->bound <= best * (1 + 1e-6) && best <= result->fleet.cost * (1 + 1e-6);
}

static void test_equals_enumeration(void **state) {
  const unsigned plans = 500;
  unsigned judged = 0, infeasible = 0, discounted = 0, spared = 0, rounded = 0;
  (void)state;
  if (!programme_available())
    skip();
  for (unsigned number = 0; judged < plans; number++) {
    struct arena arena = {NULL};
    struct small_plan plan;
    small_plan_make(&plan, number);
    const struct programme_result result = challenge_prove(&plan.problem, NULL, 60, &arena);
    if (result.status != PROGRAMME_INFEASIBLE && is_countable(&plan, &result.fleet)) {
      const double best = enumerate(&plan);
      if (result.rounded ? !is_between(&result, best)
                         : result.status != PROGRAMME_OPTIMAL ||
                               fabs(result.fleet.cost - best) > 1e-6 * fabs(best))
        fail_msg("plan %u: status %d, %.9g, but enumeration finds %.9g", number, result.status,
                 result.fleet.cost, best);
      assert_null(fleet_broken(&plan.problem, &result.fleet));
      discounted += has_discount(&plan, &result.fleet);
      spared += fleet_has_spares(&plan.problem);
      rounded += result.rounded;
      judged++;
    } else if (result.status == PROGRAMME_INFEASIBLE) {
      const double best = enumerate(&plan);
      if (isfinite(best))
        fail_msg("plan %u: infeasible, but enumeration finds %.9g", number, best);
      judged++;
      infeasible++;
    }
    arena_free(&arena);
  }
  print_message(
      "%u plans, %u of them without an answer, %u with a volume discount, %u with spares, "
      "%u of which are not proven\n",
      judged, infeasible, discounted, spared, rounded);
  assert_true(infeasible < plans / 2 && discounted > plans / 10 && spared > plans / 10);
  assert_true(rounded < spared / 2);
}

// ---- replicas over several nodes

// One option, rented by the period: two workloads share replicas of three nodes, a third has its
// own of two, a fourth uses parts of nodes.
static void test_replicas(void **state) {
  enum { TIMES = 2, LOADS = 4 };
  static const int spans[LOADS] = {3, 3, 2, 0};
  static const double price = 7;
  (void)state;
  if (!programme_available())
    skip();
  for (unsigned number = 0; number < 60; number++) {
    unsigned short seed[3] = {(unsigned short)number, 3, 2};
    double demand[LOADS][TIMES], ones[TIMES] = {1, 1}, zeros[TIMES] = {0}, wanted = 0;
    struct planned_workload workloads[LOADS];
    struct fleet_pair pairs[LOADS];
    struct fleet_action actions[TIMES];
    struct fleet_option option = {.lot = 1,
                                  .accelerators = 8,
                                  .stock = INFINITY,
                                  .rented = true,
                                  .standing = zeros,
                                  .entry = zeros};
    double shares[1] = {0}, budgets[1] = {INFINITY};
    const int years[TIMES] = {0, 0};
    for (int w = 0; w < LOADS; w++) {
      workloads[w] = (struct planned_workload){demand[w], false};
      pairs[w] = (struct fleet_pair){ones, zeros, spans[w]};
      for (int t = 0; t < TIMES; t++)
        demand[w][t] = 0.2 + 7.8 * erand48(seed);
    }
    for (int t = 0; t < TIMES; t++) {
      actions[t] = (struct fleet_action){.first = t, .last = t, .cost = price};
      wanted += price * ceil(3 * ceil((demand[0][t] + demand[1][t]) / 3) +
                             2 * ceil(demand[2][t] / 2) + demand[3][t]);
    }
    const struct fleet_problem problem = {.periods = TIMES,
                                          .workloads = workloads,
                                          .workload_count = LOADS,
                                          .options = &option,
                                          .option_count = 1,
                                          .pairs = pairs,
                                          .actions = actions,
                                          .action_count = TIMES,
                                          .minimum_shares = shares,
                                          .vendor_count = 1,
                                          .site_power = INFINITY,
                                          .budgets = budgets,
                                          .year_count = 1,
                                          .years = years,
                                          .capex_budget = INFINITY};
    struct arena arena = {NULL};
    const struct programme_result result = challenge_prove(&problem, NULL, 60, &arena);
    assert_int_equal(result.status, PROGRAMME_OPTIMAL);
    assert_true(fabs(result.fleet.cost - wanted) <= 1e-9 * wanted);
    arena_free(&arena);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_equals_enumeration),
                                     cmocka_unit_test(test_replicas)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
