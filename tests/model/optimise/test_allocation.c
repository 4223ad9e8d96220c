// The integer program behind `pertoken route` compared with enumeration: every number of whole
// nodes, every placing of workloads that may not be split, every number of whole replicas, and the
// best vertex of the shares.
// Deep: 10,000 random portfolios rather than 300.
// Seconds: 1, deep 20
#include "tests/support/depth.h"
#include "tests/support/fixture.h"

#include "model/optimise/allocation.h"
#include "model/optimise/allocation_programme.h"

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKLOADS = 3, OPTIONS = 3, VENDORS = 2, ROWS = 16, COLUMNS = 32 };
enum { MAX_COUNTED = 3000 }; // lots and replicas of a problem that is enumerated: about a second

struct small_problem {
  struct allocation_workload workloads[WORKLOADS];
  struct allocation_option options[OPTIONS];
  struct allocation_pair pairs[WORKLOADS * OPTIONS];
  double shares[VENDORS];
  struct allocation_problem problem;
};

static double uniform(unsigned short *seed, double low, double high) {
  return low + (high - low) * erand48(seed);
}

static bool chance(unsigned short *seed, double share) {
  return erand48(seed) < share;
}

static void make(struct small_problem *small, unsigned number) {
  unsigned short seed[3] = {(unsigned short)number, 7, 4711};
  const size_t workloads = 1 + (size_t)nrand48(seed) % WORKLOADS;
  const size_t options = workloads == 3 ? 2 : 1 + (size_t)nrand48(seed) % OPTIONS;
  for (size_t w = 0; w < workloads; w++)
    small->workloads[w] = (struct allocation_workload){uniform(seed, 1, 20), chance(seed, 0.25)};
  for (size_t o = 0; o < options; o++)
    small->options[o] = (struct allocation_option){
        .fixed_cost = chance(seed, 0.5) ? uniform(seed, 0, 40) : 0,
        .fixed_capex = uniform(seed, 0, 10),
        .node_cost = uniform(seed, 5, 30),
        .node_capex = uniform(seed, 1, 20),
        .accelerators = chance(seed, 0.5) ? 4 : 8,
        .lot = 1,
        .stock = chance(seed, 0.3) ? INFINITY : (double)(1 + nrand48(seed) % 5),
        .vendor = (int)(o % VENDORS)};
  for (size_t i = 0; i < workloads * options; i++)
    small->pairs[i] =
        (struct allocation_pair){.capacity = chance(seed, 0.15) ? 0 : uniform(seed, 4, 12),
                                 .extra_cost = chance(seed, 0.5) ? uniform(seed, 0, 5) : 0,
                                 .extra_capex = chance(seed, 0.3) ? uniform(seed, 0, 3) : 0};
  for (int v = 0; v < VENDORS; v++)
    small->shares[v] = chance(seed, 0.4) ? uniform(seed, 0.05, 0.5) : 0;
  small->problem = (struct allocation_problem){
      .workloads = small->workloads,
      .workload_count = workloads,
      .options = small->options,
      .option_count = options,
      .pairs = small->pairs,
      .minimum_shares = small->shares,
      .vendor_count = VENDORS,
      .share_of = (enum allocation_share)(nrand48(seed) % SHARE_KINDS),
      .budget = chance(seed, 0.2) ? uniform(seed, 50, 200) : INFINITY,
      .capex_budget = chance(seed, 0.2) ? uniform(seed, 30, 120) : INFINITY};
}

// Racks and cards, and replicas over several nodes.
static void add_units(struct small_problem *small, unsigned number) {
  static const double lots[] = {1, 2, 3, 0.5};
  unsigned short seed[3] = {(unsigned short)number, 11, 1712};
  for (size_t o = 0; o < small->problem.option_count; o++) {
    const int span = chance(seed, 0.5) ? 2 + (int)(nrand48(seed) % 2) : 1;
    small->options[o].lot = lots[nrand48(seed) % 4];
    for (size_t w = 0; w < small->problem.workload_count; w++)
      small->pairs[w * small->problem.option_count + o].span = chance(seed, 0.6) ? span : 0;
  }
}

// Fractions of spares, whole ones of which are bought in total.
static void add_spares(struct small_problem *small, unsigned number) {
  unsigned short seed[3] = {(unsigned short)number, 5, 1901};
  for (size_t o = 0; o < small->problem.option_count; o++) {
    small->options[o].spares = chance(seed, 0.7) ? uniform(seed, 0.1, 1.6) : 0;
    small->options[o].spare_cost = uniform(seed, 1, 6);
    small->options[o].spare_capex = uniform(seed, 1, 5);
  }
}

// The same figures for all workloads, which are then one to the program, unless they are whole.
static void make_alike(struct small_problem *small) {
  const size_t options = small->problem.option_count;
  for (size_t i = options; i < small->problem.workload_count * options; i++)
    small->pairs[i] = small->pairs[i % options];
}

// What nodes of an option cost, with whole spares.
static double cost_of_option(const struct allocation_option *option, double nodes, bool capex) {
  const double added = ceil(option->spares * nodes - 1e-9) - option->spares * nodes;
  return nodes * (capex ? option->node_capex : option->node_cost) +
         added * (capex ? option->spare_capex : option->spare_cost) +
         (nodes > 0 ? capex ? option->fixed_capex : option->fixed_cost : 0);
}

// The span of an option's replicas; 1: they share nodes.
static int span_of(const struct allocation_problem *problem, size_t o) {
  int span = 1;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int own = problem->pairs[w * problem->option_count + o].span;
    span = own > span ? own : span;
  }
  return span;
}

// The shares for given nodes: minimize cost . x, rows . x <= right or = right, x >= 0. A row's
// slack, if it has one, is a column of its own.
struct shares_problem {
  size_t columns, rows, shares;
  double matrix[ROWS][COLUMNS], right[ROWS], cost[COLUMNS];
  bool barred[COLUMNS]; // must be zero
};

static void add_row(struct shares_problem *lp, const double *row, double right, bool equal) {
  for (size_t c = 0; c < lp->shares; c++)
    lp->matrix[lp->rows][c] = row[c];
  if (!equal)
    lp->matrix[lp->rows][lp->columns++] = 1;
  lp->right[lp->rows++] = right;
}

// Solves the square system of the chosen columns; false if it is singular, or if a value is
// negative, or if one that must be zero is not.
static bool vertex(const struct shares_problem *lp, const size_t *chosen, double *x) {
  double a[ROWS][ROWS + 1];
  const size_t n = lp->rows;
  for (size_t r = 0; r < n; r++) {
    for (size_t c = 0; c < n; c++)
      a[r][c] = lp->matrix[r][chosen[c]];
    a[r][n] = lp->right[r];
  }
  for (size_t k = 0; k < n; k++) {
    size_t pivot = k;
    for (size_t r = k + 1; r < n; r++)
      pivot = fabs(a[r][k]) > fabs(a[pivot][k]) ? r : pivot;
    if (fabs(a[pivot][k]) < 1e-10)
      return false;
    for (size_t c = k; c <= n; c++) {
      const double swap = a[k][c];
      a[k][c] = a[pivot][c];
      a[pivot][c] = swap;
    }
    for (size_t r = 0; r < n; r++) {
      const double factor = a[r][k] / a[k][k];
      for (size_t c = k; c <= n && r != k; c++)
        a[r][c] -= factor * a[k][c];
    }
  }
  for (size_t k = 0; k < n; k++) {
    x[k] = a[k][n] / a[k][k];
    if (x[k] < -1e-9 || (lp->barred[chosen[k]] && x[k] > 1e-9))
      return false;
  }
  return true;
}

static double best_vertex(const struct shares_problem *lp) {
  size_t chosen[ROWS];
  double x[ROWS], best = INFINITY;
  const size_t n = lp->rows;
  for (size_t i = 0; i < n; i++)
    chosen[i] = i;
  while (n <= lp->columns) {
    if (vertex(lp, chosen, x)) {
      double cost = 0;
      for (size_t i = 0; i < n; i++)
        cost += lp->cost[chosen[i]] * x[i];
      best = fmin(best, cost);
    }
    size_t i = n;
    while (i && chosen[i - 1] == lp->columns - n + i - 1)
      i--;
    if (!i)
      break;
    chosen[i - 1]++;
    for (; i < n; i++)
      chosen[i] = chosen[i - 1] + 1;
  }
  return best;
}

static double busy_of(const struct allocation_problem *problem, size_t w, size_t o) {
  const double capacity = problem->pairs[w * problem->option_count + o].capacity;
  return capacity > 0 ? problem->workloads[w].demand / capacity : 0;
}

static void add_budget(struct shares_problem *lp, const struct allocation_problem *problem,
                       const double *nodes, bool capex) {
  double row[COLUMNS] = {0}, right = capex ? problem->capex_budget : problem->budget;
  if (!isfinite(right))
    return;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    right -= cost_of_option(option, nodes[o], capex);
    for (size_t w = 0; w < problem->workload_count; w++) {
      const size_t i = w * problem->option_count + o;
      row[i] = (capex ? problem->pairs[i].extra_capex : problem->pairs[i].extra_cost) *
               busy_of(problem, w, o);
    }
  }
  add_row(lp, row, right, false);
}

// share * all - own <= 0
static void add_vendor(struct shares_problem *lp, const struct allocation_problem *problem,
                       const double *nodes, int vendor) {
  const double share = problem->minimum_shares[vendor];
  double row[COLUMNS] = {0}, right = 0;
  for (size_t o = 0; o < problem->option_count && share > 0; o++) {
    const struct allocation_option *option = &problem->options[o];
    const double factor = share - (option->vendor == vendor ? 1 : 0);
    if (problem->share_of == SHARE_ACCELERATORS)
      right -= factor * nodes[o] * option->accelerators;
    if (problem->share_of == SHARE_COST)
      right -= factor * cost_of_option(option, nodes[o], false);
    for (size_t w = 0; w < problem->workload_count; w++) {
      const size_t i = w * problem->option_count + o;
      if (problem->share_of == SHARE_COST)
        row[i] = factor * problem->pairs[i].extra_cost * busy_of(problem, w, o);
      if (problem->share_of == SHARE_TOKENS)
        row[i] = factor * problem->workloads[w].demand;
    }
  }
  if (share > 0)
    add_row(lp, row, right, false);
}

// How much of an option's nodes is busy: those of its replicas, and those that they leave.
static void add_nodes(struct shares_problem *lp, const struct allocation_problem *problem, size_t o,
                      double nodes, int replicas) {
  const int span = span_of(problem, o);
  for (int spanning = 0; spanning < (span > 1 ? 2 : 1); spanning++) {
    double row[COLUMNS] = {0};
    for (size_t w = 0; w < problem->workload_count; w++) {
      const size_t i = w * problem->option_count + o;
      row[i] = (problem->pairs[i].span > 1) == spanning ? busy_of(problem, w, o) : 0;
    }
    add_row(lp, row, spanning ? span * replicas : nodes - (span > 1 ? span * replicas : 0), false);
  }
}

// placed[w]: the option that serves a workload that may not be split.
static double cost_of_nodes(const struct allocation_problem *problem, const double *nodes,
                            const int *replicas, const size_t *placed) {
  const size_t options = problem->option_count;
  struct shares_problem lp = {.shares = problem->workload_count * options};
  double cost = 0;
  lp.columns = lp.shares;
  for (size_t o = 0; o < options; o++)
    cost += cost_of_option(&problem->options[o], nodes[o], false);
  for (size_t w = 0; w < problem->workload_count; w++) {
    double row[COLUMNS] = {0};
    for (size_t o = 0; o < options; o++) {
      const size_t i = w * options + o;
      const bool barred = problem->pairs[i].capacity <= 0 || nodes[o] <= 0;
      row[i] = !barred && (!problem->workloads[w].whole || placed[w] == o);
      lp.barred[i] = row[i] <= 0;
      lp.cost[i] = lp.barred[i] ? 0 : problem->pairs[i].extra_cost * busy_of(problem, w, o);
    }
    add_row(&lp, row, 1, true);
  }
  for (size_t o = 0; o < options; o++)
    add_nodes(&lp, problem, o, nodes[o], replicas[o]);
  for (int v = 0; v < problem->vendor_count; v++)
    add_vendor(&lp, problem, nodes, v);
  add_budget(&lp, problem, nodes, false);
  add_budget(&lp, problem, nodes, true);
  return cost + best_vertex(&lp);
}

static bool next(int *digits, const int *limits, size_t count) {
  for (size_t i = 0; i < count; i++) {
    if (digits[i] < limits[i]) {
      digits[i]++;
      return true;
    }
    digits[i] = 0;
  }
  return false;
}

// What a node of o contributes to shares of accelerators or cost.
static double amount_of_node(const struct allocation_problem *problem, size_t o) {
  const struct allocation_option *option = &problem->options[o];
  return problem->share_of == SHARE_COST ? option->node_cost : option->accelerators;
}

// An upper bound of the total in which shares are counted, including what only fills up shares:
// serving takes at least what the shares leave of the total or, if they leave nothing, the smallest
// of them.
static double most_counted(const struct allocation_problem *problem, const double *held) {
  double all = 0, left = 1, least = 1;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    all += (held[o] + 2 * option->lot) * amount_of_node(problem, o);
    for (size_t w = 0; w < problem->workload_count && problem->share_of == SHARE_COST; w++)
      all += problem->pairs[w * problem->option_count + o].extra_cost * busy_of(problem, w, o);
    all += problem->share_of == SHARE_COST ? option->fixed_cost + option->spare_cost : 0;
  }
  for (int v = 0; v < problem->vendor_count; v++) {
    left -= problem->minimum_shares[v];
    least = problem->minimum_shares[v] > 0 ? fmin(least, problem->minimum_shares[v]) : least;
  }
  return all / (left > 1e-9 ? left : least);
}

// Lots beyond those that could serve everything only fill up a share of accelerators or cost.
static void most_lots(const struct allocation_problem *problem, int *most) {
  double held[OPTIONS] = {0};
  for (size_t o = 0; o < problem->option_count; o++)
    for (size_t w = 0; w < problem->workload_count; w++) {
      const double span = fmax(problem->pairs[w * problem->option_count + o].span, 1);
      held[o] += span * ceil(busy_of(problem, w, o) / span);
    }
  for (size_t o = 0; o < problem->option_count; o++) {
    const double counted = most_counted(problem, held) / amount_of_node(problem, o);
    const double nodes = problem->share_of == SHARE_TOKENS ? held[o] : fmax(held[o], counted);
    most[o] = (int)fmin(floor(problem->options[o].stock / problem->options[o].lot),
                        ceil(nodes / problem->options[o].lot));
  }
}

// The minimum over every number of whole replicas and every placing.
static double cost_of_lots(const struct allocation_problem *problem, const double *nodes) {
  int replicas[OPTIONS] = {0}, most[OPTIONS] = {0}, places[WORKLOADS] = {0}, last[WORKLOADS] = {0};
  double best = INFINITY;
  for (size_t o = 0; o < problem->option_count; o++)
    most[o] = span_of(problem, o) > 1 ? (int)floor(nodes[o] / span_of(problem, o)) : 0;
  for (size_t w = 0; w < problem->workload_count; w++)
    last[w] = problem->workloads[w].whole ? (int)problem->option_count - 1 : 0;
  do {
    do {
      size_t placed[WORKLOADS];
      for (size_t w = 0; w < problem->workload_count; w++)
        placed[w] = (size_t)places[w];
      best = fmin(best, cost_of_nodes(problem, nodes, replicas, placed));
    } while (next(places, last, problem->workload_count));
  } while (next(replicas, most, problem->option_count));
  return best;
}

// The number of combinations of lots and replicas: an upper bound of what most_lots and
// cost_of_lots enumerate.
static double count_of(const struct allocation_problem *problem) {
  int most[OPTIONS];
  double count = 1;
  most_lots(problem, most);
  for (size_t o = 0; o < problem->option_count; o++) {
    const int span = span_of(problem, o);
    count *= most[o] + 1;
    count *= span > 1 ? 1 + floor(most[o] * problem->options[o].lot / span) : 1;
  }
  return count;
}

static double enumerate(const struct allocation_problem *problem) {
  int lots[OPTIONS] = {0}, most[OPTIONS];
  double best = INFINITY;
  most_lots(problem, most);
  do {
    double nodes[OPTIONS], floor = 0;
    bool in_stock = true;
    for (size_t o = 0; o < problem->option_count; o++) {
      const struct allocation_option *option = &problem->options[o];
      nodes[o] = lots[o] * option->lot;
      floor += nodes[o] * option->node_cost;
      in_stock &=
          nodes[o] + ceil(option->spares * nodes[o] - 1e-9) / option->accelerators <= option->stock;
    }
    if (in_stock && floor < best)
      best = fmin(best, cost_of_lots(problem, nodes));
  } while (next(lots, most, problem->option_count));
  return best;
}

enum outcome { SERVED, INFEASIBLE, TOO_MANY };

// Each workload is served, and of alike ones few are on several options: as many as fill one up.
static void check_shares(const struct allocation_problem *problem,
                         const struct allocation *allocation, bool alike, unsigned number) {
  size_t splits = 0;
  for (size_t w = 0; w < problem->workload_count; w++) {
    double sum = 0;
    for (size_t o = 0; o < problem->option_count; o++) {
      const double share = allocation->shares[w * problem->option_count + o];
      splits += share > 0 && sum > 0;
      sum += share;
    }
    if (fabs(sum - 1) > 1e-12)
      fail_msg("seed %u: workload %zu is served to %.17g", number, w, sum);
  }
  if (alike && splits > problem->option_count - 1)
    fail_msg("seed %u: %zu splits of alike workloads over %zu options", number, splits,
             problem->option_count);
}

static enum outcome check_problem(unsigned number, bool units, bool spares, bool alike) {
  struct fixture fixture;
  struct small_problem small;
  fixture_start(&fixture);
  make(&small, number);
  if (units)
    add_units(&small, number);
  if (spares)
    add_spares(&small, number);
  if (alike)
    make_alike(&small);
  if (count_of(&small.problem) > MAX_COUNTED) {
    fixture_end(&fixture);
    return TOO_MANY;
  }
  const double truth = enumerate(&small.problem);
  const struct allocation allocation = allocation_prove(&small.problem, 10, &fixture.arena);
  if (!isfinite(truth) != (allocation.status == ALLOCATION_INFEASIBLE))
    fail_msg("seed %u: enumeration says %g, the solver status %d (%g)", number, truth,
             (int)allocation.status, allocation.cost);
  if (isfinite(truth) && fabs(allocation.cost - truth) > 1e-6 * truth)
    fail_msg("seed %u: enumeration says %.12g, the solver %.12g", number, truth, allocation.cost);
  if (isfinite(truth))
    check_shares(&small.problem, &allocation, alike, number);
  fixture_end(&fixture);
  return isfinite(truth) ? SERVED : INFEASIBLE;
}

static void test_against_enumeration(void **state) {
  (void)state;
  const unsigned problems = depth_is_full() ? 10000 : 300;
  unsigned outcomes[TOO_MANY + 1] = {0};
  if (!allocation_available())
    skip();
  print_message("problems 1 to %u are their seeds, the odd ones with units, every other four with "
                "alike workloads\n",
                problems);
  for (unsigned number = 1; number <= problems; number++)
    outcomes[check_problem(number, number % 2, number % 4 > 1, number % 8 > 3)]++;
  print_message("%u of them cannot be served, %u have too much to enumerate\n",
                outcomes[INFEASIBLE], outcomes[TOO_MANY]);
  assert_in_range(outcomes[INFEASIBLE], problems / 20, problems / 2);
  assert_in_range(outcomes[TOO_MANY], 0, problems / 20);
}

// Cases in which GLPK's presolver and cuts go wrong: they miss a split that exists, or return one
// that violates a share by 1e-3.
static void test_presolver(void **state) {
  (void)state;
  if (!allocation_available())
    skip();
  assert_int_equal(check_problem(26332, false, false, false), SERVED);
  assert_int_equal(check_problem(12192, false, false, false), SERVED);
  assert_int_equal(check_problem(29743, false, false, false), INFEASIBLE);
}

// One workload, one vendor per option, and unlimited budgets.
static struct allocation_problem problem_of(const struct allocation_workload *workload,
                                            const struct allocation_option *options, size_t count,
                                            const struct allocation_pair *pairs,
                                            const double *shares) {
  return (struct allocation_problem){.workloads = workload,
                                     .workload_count = 1,
                                     .options = options,
                                     .option_count = count,
                                     .pairs = pairs,
                                     .minimum_shares = shares,
                                     .vendor_count = (int)count,
                                     .budget = INFINITY,
                                     .capex_budget = INFINITY};
}

// By hand: 10 tokens/h, nodes of 4 tokens/h for 100 or of 6 for 120; 2 and 1 in stock. One large
// and one small node serve all (220); three small ones would cost 300, and there are no two large
// ones.
static void test_by_hand(void **state) {
  (void)state;
  if (!allocation_available())
    skip();
  struct fixture fixture;
  fixture_start(&fixture);
  const struct allocation_workload workload = {.demand = 10};
  struct allocation_option options[] = {
      {.node_cost = 100, .accelerators = 8, .lot = 1, .stock = 3, .vendor = 0},
      {.node_cost = 120, .accelerators = 8, .lot = 1, .stock = 1, .vendor = 1}};
  const struct allocation_pair pairs[] = {{.capacity = 4}, {.capacity = 6}};
  double shares[] = {0, 0};
  struct allocation_problem problem = problem_of(&workload, options, 2, pairs, shares);
  struct allocation split = allocation_solve(&problem, 10, &fixture.arena);
  assert_int_equal(split.status, ALLOCATION_OPTIMAL);
  expect_near(split.cost, 220, 1e-12, "cost");
  expect_near(split.shares[0] + split.shares[1], 1, 1e-12, "shares");
  options[1].stock = INFINITY;
  split = allocation_solve(&problem, 10, &fixture.arena);
  expect_near(split.cost, 220, 1e-12, "cost without the limit of stock");
  problem.divisible = true;
  split = allocation_solve(&problem, 10, &fixture.arena);
  expect_near(split.cost, 200, 1e-9, "cost with parts of nodes");
  problem.divisible = false;
  shares[0] = 0.5, shares[1] = 0.1; // 5 tokens/h on small nodes: two of them, and one large
  split = allocation_solve(&problem, 10, &fixture.arena);
  expect_near(split.cost, 320, 1e-12, "cost with a share of half");
  problem.budget = 319;
  split = allocation_solve(&problem, 10, &fixture.arena);
  assert_int_equal(split.status, ALLOCATION_INFEASIBLE);
  fixture_end(&fixture);
}

// By hand: 20 tokens/h on 10 nodes of 8 accelerators; half of all accelerators must be from a
// vendor that serves nothing and sells them singly: 80 of them, for 1 each, added to 1000.
static void test_share_filled_up(void **state) {
  (void)state;
  if (!allocation_available())
    skip();
  struct fixture fixture;
  fixture_start(&fixture);
  const struct allocation_workload workload = {.demand = 20};
  const struct allocation_option options[] = {
      {.node_cost = 100, .accelerators = 8, .lot = 1, .stock = INFINITY, .vendor = 0},
      {.node_cost = 1, .accelerators = 1, .lot = 1, .stock = INFINITY, .vendor = 1}};
  const struct allocation_pair pairs[] = {{.capacity = 2}, {.capacity = 0}};
  const double shares[] = {0, 0.5};
  struct allocation_problem problem = problem_of(&workload, options, 2, pairs, shares);
  problem.share_of = SHARE_ACCELERATORS;
  const struct allocation split = allocation_prove(&problem, 10, &fixture.arena);
  assert_int_equal(split.status, ALLOCATION_OPTIMAL);
  expect_near(split.nodes[1], 80, 1e-9, "filled up");
  expect_near(split.cost, 1080, 1e-9, "cost");
  fixture_end(&fixture);
}

// By hand: 10 tokens/h on nodes of 2 tokens/h are 5 nodes for 100 each. Sold in threes they are 6;
// in replicas over 4 nodes they are 8, and sold in threes 9.
static void test_units_by_hand(void **state) {
  (void)state;
  if (!allocation_available())
    skip();
  struct fixture fixture;
  fixture_start(&fixture);
  const struct allocation_workload workload = {.demand = 10};
  struct allocation_option option = {
      .node_cost = 100, .accelerators = 4, .lot = 1, .stock = INFINITY};
  struct allocation_pair pair = {.capacity = 2};
  const double share = 0;
  struct allocation_problem problem = problem_of(&workload, &option, 1, &pair, &share);
  static const struct {
    double lot;
    int span;
    double nodes;
  } cases[] = {{1, 0, 5}, {1, 1, 5},    {3, 0, 6},      {1, 4, 8},
               {3, 4, 9}, {0.25, 0, 5}, {0.75, 0, 5.25}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    option.lot = cases[i].lot;
    pair.span = cases[i].span;
    const struct allocation split = allocation_prove(&problem, 10, &fixture.arena);
    assert_int_equal(split.status, ALLOCATION_OPTIMAL);
    expect_near(split.nodes[0], cases[i].nodes, 1e-12, "nodes");
    expect_near(split.cost, 100 * cases[i].nodes, 1e-12, "cost");
  }
  option.stock = 8;
  const struct allocation split = allocation_prove(&problem, 10, &fixture.arena);
  expect_near(split.nodes[0], 5.25, 1e-12, "nodes in stock");
  fixture_end(&fixture);
}

// What makes GLPK abort: more nodes than it can count.
static void test_too_many_nodes(void **state) {
  (void)state;
  if (!allocation_available())
    skip();
  struct fixture fixture;
  fixture_start(&fixture);
  const double share = 0;
  const struct allocation_option option = {.node_cost = 1, .lot = 1, .stock = INFINITY};
  for (double demand = 1e9; demand < 1e308; demand *= 1e20) {
    const struct allocation_workload workload = {.demand = demand};
    const struct allocation_pair pair = {.capacity = 1e-3};
    const struct allocation_problem problem = problem_of(&workload, &option, 1, &pair, &share);
    const struct allocation split = allocation_solve(&problem, 10, &fixture.arena);
    if (split.status == ALLOCATION_OPTIMAL)
      expect_near(split.nodes[0], demand / 1e-3, 1e-9, "nodes");
  }
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_by_hand),       cmocka_unit_test(test_share_filled_up),
      cmocka_unit_test(test_units_by_hand), cmocka_unit_test(test_against_enumeration),
      cmocka_unit_test(test_presolver),     cmocka_unit_test(test_too_many_nodes)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
