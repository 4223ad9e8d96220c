// The integer programme behind `pertoken route` against enumeration: every number of whole nodes,
// every placing of workloads that may not be split, and of the shares the best vertex.
#include "tests/support/fixture.h"

#include "model/optimise/allocation.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { WORKLOADS = 3, OPTIONS = 3, VENDORS = 2, ROWS = 16, COLUMNS = 32, PROBLEMS = 200 };

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

// The shares for given nodes: minimise cost . x, rows . x <= right or = right, x >= 0. A row's
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

// Solves the square system of the chosen columns; false when singular or a value is negative, or
// one that must be zero is not.
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
                       const int *nodes, bool capex) {
  double row[COLUMNS] = {0}, right = capex ? problem->capex_budget : problem->budget;
  if (!isfinite(right))
    return;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    right -= nodes[o] * (capex ? option->node_capex : option->node_cost);
    right -= nodes[o] ? capex ? option->fixed_capex : option->fixed_cost : 0;
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
                       const int *nodes, int vendor) {
  const double share = problem->minimum_shares[vendor];
  double row[COLUMNS] = {0}, right = 0;
  for (size_t o = 0; o < problem->option_count && share > 0; o++) {
    const struct allocation_option *option = &problem->options[o];
    const double factor = share - (option->vendor == vendor ? 1 : 0);
    if (problem->share_of == SHARE_ACCELERATORS)
      right -= factor * nodes[o] * option->accelerators;
    if (problem->share_of == SHARE_COST)
      right -= factor * (nodes[o] * option->node_cost + (nodes[o] ? option->fixed_cost : 0));
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

// placed[w]: the option that a workload which may not be split is on.
static double cost_of_nodes(const struct allocation_problem *problem, const int *nodes,
                            const size_t *placed) {
  const size_t options = problem->option_count;
  struct shares_problem lp = {.shares = problem->workload_count * options};
  double cost = 0;
  lp.columns = lp.shares;
  for (size_t o = 0; o < options; o++)
    cost +=
        nodes[o] * problem->options[o].node_cost + (nodes[o] ? problem->options[o].fixed_cost : 0);
  for (size_t w = 0; w < problem->workload_count; w++) {
    double row[COLUMNS] = {0};
    for (size_t o = 0; o < options; o++) {
      const size_t i = w * options + o;
      const bool barred = problem->pairs[i].capacity <= 0 || !nodes[o];
      row[i] = !barred && (!problem->workloads[w].whole || placed[w] == o);
      lp.barred[i] = row[i] <= 0;
      lp.cost[i] = lp.barred[i] ? 0 : problem->pairs[i].extra_cost * busy_of(problem, w, o);
    }
    add_row(&lp, row, 1, true);
  }
  for (size_t o = 0; o < options; o++) {
    double row[COLUMNS] = {0};
    for (size_t w = 0; w < problem->workload_count; w++)
      row[w * options + o] = busy_of(problem, w, o);
    add_row(&lp, row, nodes[o], false);
  }
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

// Nodes beyond those that could serve everything only ever fill up a share of accelerators or cost.
static void most_nodes(const struct allocation_problem *problem, int *most) {
  double all = 0, own[OPTIONS] = {0};
  for (size_t o = 0; o < problem->option_count; o++)
    for (size_t w = 0; w < problem->workload_count; w++) {
      own[o] += busy_of(problem, w, o);
      all += busy_of(problem, w, o);
    }
  for (size_t o = 0; o < problem->option_count; o++)
    most[o] = (int)fmin(problem->options[o].stock,
                        ceil(problem->share_of == SHARE_TOKENS ? own[o] : all));
}

static double enumerate(const struct allocation_problem *problem) {
  int nodes[OPTIONS] = {0}, most[OPTIONS], places[WORKLOADS] = {0}, last[WORKLOADS] = {0};
  double best = INFINITY;
  most_nodes(problem, most);
  for (size_t w = 0; w < problem->workload_count; w++)
    last[w] = problem->workloads[w].whole ? (int)problem->option_count - 1 : 0;
  do {
    double floor = 0;
    for (size_t o = 0; o < problem->option_count; o++)
      floor += nodes[o] * problem->options[o].node_cost;
    if (floor >= best)
      continue;
    do {
      size_t placed[WORKLOADS];
      for (size_t w = 0; w < problem->workload_count; w++)
        placed[w] = (size_t)places[w];
      best = fmin(best, cost_of_nodes(problem, nodes, placed));
    } while (next(places, last, problem->workload_count));
  } while (next(nodes, most, problem->option_count));
  return best;
}

static void test_against_enumeration(void **state) {
  (void)state;
  unsigned infeasible = 0;
  if (!allocation_available())
    skip();
  print_message("problems 1 to %d are their seeds\n", PROBLEMS);
  for (unsigned number = 1; number <= PROBLEMS; number++) {
    struct fixture fixture;
    struct small_problem small;
    fixture_start(&fixture);
    make(&small, number);
    const double truth = enumerate(&small.problem);
    const struct allocation allocation = allocation_solve(&small.problem, 10, &fixture.arena);
    if (!isfinite(truth) != (allocation.status == ALLOCATION_INFEASIBLE))
      fail_msg("seed %u: enumeration says %g, the solver status %d (%g)", number, truth,
               (int)allocation.status, allocation.cost);
    if (isfinite(truth) && fabs(allocation.cost - truth) > 1e-6 * truth)
      fail_msg("seed %u: enumeration says %.12g, the solver %.12g", number, truth, allocation.cost);
    infeasible += isfinite(truth) ? 0 : 1;
    fixture_end(&fixture);
  }
  print_message("%u of them cannot be served\n", infeasible);
  assert_in_range(infeasible, PROBLEMS / 20, PROBLEMS / 2);
}

// By hand: 10 tokens/h, nodes of 4 tokens/h for 100 or of 6 for 120; 2 and 1 in stock. One large
// and one small node serve all (220); three small ones would cost 300, two large are not there.
static void test_by_hand(void **state) {
  (void)state;
  if (!allocation_available())
    skip();
  struct fixture fixture;
  fixture_start(&fixture);
  const struct allocation_workload workload = {.demand = 10};
  struct allocation_option options[] = {
      {.node_cost = 100, .accelerators = 8, .stock = 3, .vendor = 0},
      {.node_cost = 120, .accelerators = 8, .stock = 1, .vendor = 1}};
  const struct allocation_pair pairs[] = {{.capacity = 4}, {.capacity = 6}};
  double shares[] = {0, 0};
  struct allocation_problem problem = {.workloads = &workload,
                                       .workload_count = 1,
                                       .options = options,
                                       .option_count = 2,
                                       .pairs = pairs,
                                       .minimum_shares = shares,
                                       .vendor_count = 2,
                                       .budget = INFINITY,
                                       .capex_budget = INFINITY};
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

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_by_hand),
                                     cmocka_unit_test(test_against_enumeration)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
