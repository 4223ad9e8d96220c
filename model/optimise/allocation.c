#include "model/optimise/allocation.h"

#include "model/optimise/row.h"
#include "model/optimise/solver.h"

#include <math.h>
#include <stddef.h>

static const double tolerance = 1e-6; // of a row
static const double rounding = 1e-9;  // of a sum

static const struct allocation_pair *pair_of(const struct allocation_problem *problem, size_t w,
                                             size_t o) {
  return &problem->pairs[w * problem->option_count + o];
}

// Nodes that would serve the whole workload.
static double nodes_of_all(const struct allocation_problem *problem, size_t w, size_t o) {
  const struct allocation_pair *pair = pair_of(problem, w, o);
  return pair->capacity > 0 ? problem->workloads[w].demand / pair->capacity : 0;
}

// Rounded up to a whole number of steps, unless it exceeds one by less than the share `slack`.
static double rounded_up(double nodes, double step, double slack) {
  return ceil(nodes / step * (1 - slack)) * step;
}

// The first workload whose replicas on o span as many nodes as w's: these workloads share replicas.
static size_t first_of_span(const struct allocation_problem *problem, size_t w, size_t o) {
  size_t first = 0;
  while (pair_of(problem, first, o)->span != pair_of(problem, w, o)->span)
    first++;
  return first;
}

double allocation_busy(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t workload, size_t option) {
  return allocation->shares[workload * problem->option_count + option] *
         nodes_of_all(problem, workload, option);
}

static double spares_of(const struct allocation_problem *problem, size_t o, double nodes) {
  const double needed = problem->options[o].spares * nodes;
  return problem->divisible ? needed : rounded_up(needed, 1, rounding);
}

bool allocation_in_stock(const struct allocation_problem *problem, size_t o, double nodes) {
  const struct allocation_option *option = &problem->options[o];
  const double spares = spares_of(problem, o, nodes);
  return nodes + (spares > 0 ? spares / option->accelerators : 0) <=
         option->stock * (1 + tolerance);
}

double allocation_spares(const struct allocation_problem *problem,
                         const struct allocation *allocation, size_t o) {
  return spares_of(problem, o, allocation->nodes[o]);
}

double allocation_spares_added(const struct allocation_problem *problem,
                               const struct allocation *allocation, size_t o) {
  return allocation_spares(problem, allocation, o) -
         problem->options[o].spares * allocation->nodes[o];
}

static struct allocation new_allocation(const struct allocation_problem *problem,
                                        struct arena *arena) {
  const size_t pairs = problem->workload_count * problem->option_count;
  return (struct allocation){.status = ALLOCATION_FAILED,
                             .nodes = arena_array(arena, problem->option_count + 1, sizeof(double)),
                             .shares = arena_array(arena, pairs + 1, sizeof(double))};
}

static double cost_of(const struct allocation_problem *problem, const struct allocation *allocation,
                      size_t o, bool capex) {
  const struct allocation_option *option = &problem->options[o];
  const double nodes = allocation->nodes[o];
  if (nodes <= 0)
    return 0;
  const double added = allocation_spares_added(problem, allocation, o);
  double cost = capex
                    ? option->fixed_capex + option->node_capex * nodes + option->spare_capex * added
                    : option->fixed_cost + option->node_cost * nodes + option->spare_cost * added;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const struct allocation_pair *pair = pair_of(problem, w, o);
    cost +=
        (capex ? pair->extra_capex : pair->extra_cost) * allocation_busy(problem, allocation, w, o);
  }
  return cost;
}

double allocation_cost(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t o) {
  return cost_of(problem, allocation, o, false);
}

static void sum_up(const struct allocation_problem *problem, struct allocation *allocation) {
  allocation->cost = allocation->capex = 0;
  for (size_t o = 0; o < problem->option_count; o++) {
    allocation->cost += cost_of(problem, allocation, o, false);
    allocation->capex += cost_of(problem, allocation, o, true);
  }
}

// Nodes that hold what an option must serve, with whole replicas if they span several nodes.
static double nodes_held(const struct allocation_problem *problem,
                         const struct allocation *allocation, size_t o, double slack) {
  double held = 0;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = pair_of(problem, w, o)->span;
    double busy = 0;
    if (first_of_span(problem, w, o) != w)
      continue;
    for (size_t other = w; other < problem->workload_count; other++)
      if (pair_of(problem, other, o)->span == span)
        busy += allocation_busy(problem, allocation, other, o);
    held += span > 1 && !problem->divisible ? rounded_up(busy, span, slack) : busy;
  }
  return held;
}

// ---- checks without a solver

static bool is_split(const struct allocation *allocation) {
  return allocation->status == ALLOCATION_OPTIMAL || allocation->status == ALLOCATION_UNPROVEN;
}

// In the unit in which shares are counted.
static double amount_of(const struct allocation_problem *problem,
                        const struct allocation *allocation, size_t o) {
  double tokens = 0;
  if (problem->share_of == SHARE_ACCELERATORS)
    return allocation->nodes[o] * problem->options[o].accelerators;
  if (problem->share_of == SHARE_COST)
    return cost_of(problem, allocation, o, false);
  for (size_t w = 0; w < problem->workload_count; w++)
    tokens += allocation->shares[w * problem->option_count + o] * problem->workloads[w].demand;
  return tokens;
}

static bool shares_are_kept(const struct allocation_problem *problem,
                            const struct allocation *allocation) {
  double all = 0;
  for (size_t o = 0; o < problem->option_count; o++)
    all += amount_of(problem, allocation, o);
  for (int v = 0; v < problem->vendor_count; v++) {
    double own = 0;
    for (size_t o = 0; o < problem->option_count; o++)
      own += problem->options[o].vendor == v ? amount_of(problem, allocation, o) : 0;
    if (own < (problem->minimum_shares[v] - tolerance) * all)
      return false;
  }
  return true;
}

// Whether a split satisfies the program's rows, by independent sums.
static bool is_kept(const struct allocation_problem *problem, const struct allocation *allocation) {
  for (size_t o = 0; o < problem->option_count; o++) {
    if (nodes_held(problem, allocation, o, tolerance) > allocation->nodes[o] * (1 + tolerance) ||
        !allocation_in_stock(problem, o, allocation->nodes[o]))
      return false;
  }
  return allocation->cost <= problem->budget * (1 + tolerance) &&
         allocation->capex <= problem->capex_budget * (1 + tolerance) &&
         shares_are_kept(problem, allocation);
}

// Everything on one option.
static struct allocation all_on(const struct allocation_problem *problem, size_t o,
                                struct arena *arena) {
  struct allocation allocation = new_allocation(problem, arena);
  for (size_t w = 0; w < problem->workload_count; w++) {
    allocation.shares[w * problem->option_count + o] = 1;
    if (pair_of(problem, w, o)->capacity <= 0)
      return allocation;
  }
  allocation.nodes[o] = nodes_held(problem, &allocation, o, rounding);
  if (!problem->divisible)
    allocation.nodes[o] = rounded_up(allocation.nodes[o], problem->options[o].lot, rounding);
  sum_up(problem, &allocation);
  if (is_kept(problem, &allocation))
    allocation.status = ALLOCATION_UNPROVEN;
  return allocation;
}

// A solution that beats an optimum shows that it was not one.
static void keep_better(struct allocation *best, const struct allocation *other) {
  if (is_split(other) && !(is_split(best) && best->cost <= other->cost * (1 + tolerance))) {
    *best = *other;
    best->status = ALLOCATION_UNPROVEN;
  }
}

#ifdef HAVE_GLPK
#include <glpk.h>

// The program while it is being built. Money is counted in units of `money`, so that coefficients
// are close to one.
struct programme {
  const struct allocation_problem *problem;
  struct row row;
  double money;
  double total_demand;
};

// Columns: shares, lots, options taken, replicas of each pair's span, spares.
static int share_column(const struct programme *programme, size_t w, size_t o) {
  return 1 + (int)(w * programme->problem->option_count + o);
}

static int lot_column(const struct programme *programme, size_t o) {
  return 1 + (int)(programme->problem->workload_count * programme->problem->option_count + o);
}

static int taken_column(const struct programme *programme, size_t o) {
  return lot_column(programme, o) + (int)programme->problem->option_count;
}

static int replica_column(const struct programme *programme, size_t w, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  return taken_column(programme, problem->option_count) - 1 +
         share_column(programme, first_of_span(problem, w, o), o);
}

static int spare_column(const struct programme *programme, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  return 1 +
         (int)(2 * problem->workload_count * problem->option_count + 2 * problem->option_count + o);
}

static size_t column_count(const struct allocation_problem *problem) {
  return 2 * problem->workload_count * problem->option_count + 3 * problem->option_count;
}

// A node's cost without its fraction of spares.
static double bare_cost(const struct allocation_option *option) {
  return option->node_cost - option->spares * option->spare_cost;
}

static double bare_capex(const struct allocation_option *option) {
  return option->node_capex - option->spares * option->spare_capex;
}

// Nodes of o that serve everything, each workload in its own replicas.
static double most_held(const struct allocation_problem *problem, size_t o) {
  double needed = 0;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const double span = fmax(pair_of(problem, w, o)->span, 1);
    needed += ceil(nodes_of_all(problem, w, o) / span) * span;
  }
  return needed;
}

// What a node counts towards shares, if these are not of tokens.
static double node_amount(const struct allocation_problem *problem, size_t o) {
  const struct allocation_option *option = &problem->options[o];
  return problem->share_of == SHARE_ACCELERATORS ? option->accelerators : option->node_cost;
}

// Of all options together, if each served everything, in the unit in which shares are counted.
static double most_served(const struct allocation_problem *problem) {
  double all = 0;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    all += (ceil(most_held(problem, o) / option->lot) + 1) * option->lot * node_amount(problem, o);
    all += problem->share_of == SHARE_COST ? option->fixed_cost + option->spare_cost : 0;
    for (size_t w = 0; w < problem->workload_count && problem->share_of == SHARE_COST; w++)
      all += pair_of(problem, w, o)->extra_cost * nodes_of_all(problem, w, o);
  }
  return all;
}

// The largest total that shares can require beyond what serves: a vendor's share of the whole is
// filled up with idle hardware, and the whole grows until the serving part is what the shares
// leave.
static double most_amount(const struct allocation_problem *problem) {
  double left = 1, least = 1;
  for (int v = 0; v < problem->vendor_count; v++) {
    left -= problem->minimum_shares[v];
    least = problem->minimum_shares[v] > 0 ? fmin(least, problem->minimum_shares[v]) : least;
  }
  return most_served(problem) / (left > rounding ? left : least);
}

// More lots than would serve everything alone make no sense, unless a share must be filled up.
static double max_lots(const struct allocation_problem *problem, size_t o) {
  const struct allocation_option *option = &problem->options[o];
  double needed = most_held(problem, o);
  if (problem->share_of != SHARE_TOKENS && node_amount(problem, o) > 0)
    needed = fmax(needed, most_amount(problem) / node_amount(problem, o));
  return fmin(floor(option->stock / option->lot + 1e-9), ceil(needed / option->lot));
}

static void add_lots(struct programme *programme, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  const struct allocation_option *option = &problem->options[o];
  const double most = max_lots(problem, o);
  const int lot = lot_column(programme, o), taken = taken_column(programme, o);
  glp_set_col_kind(programme->row.glpk, lot, problem->divisible ? GLP_CV : GLP_IV);
  glp_set_col_bnds(programme->row.glpk, lot, most > 0 ? GLP_DB : GLP_FX, 0, most);
  glp_set_obj_coef(programme->row.glpk, lot, option->lot * bare_cost(option) / programme->money);
  glp_set_col_kind(programme->row.glpk, taken, GLP_BV);
  glp_set_obj_coef(programme->row.glpk, taken, option->fixed_cost / programme->money);
}

static void add_spares_of(struct programme *programme, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  const struct allocation_option *option = &problem->options[o];
  const double most = ceil(option->spares * option->lot * max_lots(problem, o));
  const int spares = spare_column(programme, o);
  glp_set_col_kind(programme->row.glpk, spares, problem->divisible ? GLP_CV : GLP_IV);
  glp_set_col_bnds(programme->row.glpk, spares, most > 0 ? GLP_DB : GLP_FX, 0, most);
  glp_set_obj_coef(programme->row.glpk, spares, option->spare_cost / programme->money);
}

static void add_share_of(struct programme *programme, size_t w, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  const struct allocation_pair *pair = pair_of(problem, w, o);
  const int share = share_column(programme, w, o), replicas = replica_column(programme, w, o);
  const bool barred = pair->capacity <= 0;
  if (problem->workloads[w].whole)
    glp_set_col_kind(programme->row.glpk, share, GLP_BV);
  glp_set_col_bnds(programme->row.glpk, share, barred ? GLP_FX : GLP_DB, 0, barred ? 0 : 1);
  glp_set_obj_coef(programme->row.glpk, share,
                   pair->extra_cost * nodes_of_all(problem, w, o) / programme->money);
  glp_set_col_bnds(programme->row.glpk, replicas, pair->span > 1 ? GLP_LO : GLP_FX, 0, 0);
  glp_set_col_kind(programme->row.glpk, replicas,
                   pair->span > 1 && !problem->divisible ? GLP_IV : GLP_CV);
}

static void add_columns(struct programme *programme) {
  const struct allocation_problem *problem = programme->problem;
  glp_add_cols(programme->row.glpk, (int)column_count(problem));
  for (size_t o = 0; o < problem->option_count; o++) {
    add_lots(programme, o);
    add_spares_of(programme, o);
    for (size_t w = 0; w < problem->workload_count; w++)
      add_share_of(programme, w, o);
  }
}

// What an option's nodes hold: workloads that share a node's time, and whole replicas.
static void add_nodes(struct programme *programme, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = pair_of(problem, w, o)->span;
    if (span <= 1 || first_of_span(problem, w, o) != w)
      continue;
    for (size_t other = w; other < problem->workload_count; other++)
      if (pair_of(problem, other, o)->span == span)
        row_add(&programme->row, share_column(programme, other, o),
                nodes_of_all(problem, other, o));
    row_add(&programme->row, replica_column(programme, w, o), -span);
    row_end(&programme->row, -INFINITY, 0);
  }
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = pair_of(problem, w, o)->span;
    if (span <= 1)
      row_add(&programme->row, share_column(programme, w, o), nodes_of_all(problem, w, o));
    else if (first_of_span(problem, w, o) == w)
      row_add(&programme->row, replica_column(programme, w, o), span);
  }
  row_add(&programme->row, lot_column(programme, o), -problem->options[o].lot);
  row_end(&programme->row, -INFINITY, 0);
}

// As many spares as are needed, and less than one more.
static void add_spares(struct programme *programme, size_t o) {
  const struct allocation_option *option = &programme->problem->options[o];
  const bool divisible = programme->problem->divisible;
  for (int most = 0; most < (divisible ? 1 : 2); most++) {
    row_add(&programme->row, spare_column(programme, o), 1);
    row_add(&programme->row, lot_column(programme, o), -option->spares * option->lot);
    if (most)
      row_end(&programme->row, -INFINITY, 1 - tolerance);
    else
      row_end(&programme->row, 0, divisible ? 0 : INFINITY);
  }
}

// Without spares, the bounds of lots suffice.
static void add_supply(struct programme *programme, size_t o) {
  const struct allocation_option *option = &programme->problem->options[o];
  row_add(&programme->row, lot_column(programme, o), option->lot);
  row_add(&programme->row, spare_column(programme, o), 1 / option->accelerators);
  row_end(&programme->row, -INFINITY, option->stock);
}

static void add_service(struct programme *programme) {
  const struct allocation_problem *problem = programme->problem;
  for (size_t w = 0; w < problem->workload_count; w++) {
    for (size_t o = 0; o < problem->option_count; o++)
      row_add(&programme->row, share_column(programme, w, o), 1);
    row_end(&programme->row, 1, 1);
    for (size_t o = 0; o < problem->option_count; o++) {
      if (pair_of(problem, w, o)->capacity <= 0)
        continue;
      row_add(&programme->row, share_column(programme, w, o), 1);
      row_add(&programme->row, taken_column(programme, o), -1);
      row_end(&programme->row, -INFINITY, 0);
    }
  }
  for (size_t o = 0; o < problem->option_count; o++) {
    add_nodes(programme, o);
    if (problem->options[o].spares > 0)
      add_spares(programme, o);
    if (problem->options[o].spares > 0 && isfinite(problem->options[o].stock))
      add_supply(programme, o);
    row_add(&programme->row, lot_column(programme, o), 1);
    row_add(&programme->row, taken_column(programme, o), -max_lots(problem, o));
    row_end(&programme->row, -INFINITY, 0);
    if (problem->divisible)
      continue;
    row_add(&programme->row, taken_column(programme, o), 1);
    row_add(&programme->row, lot_column(programme, o), -1);
    row_end(&programme->row, -INFINITY, 0);
  }
}

// Adds `factor` times an option's amount, in the unit in which shares are counted.
static void add_amount(struct programme *programme, size_t o, double factor) {
  const struct allocation_problem *problem = programme->problem;
  const struct allocation_option *option = &problem->options[o];
  if (problem->share_of == SHARE_ACCELERATORS)
    row_add(&programme->row, lot_column(programme, o), factor * option->lot * option->accelerators);
  if (problem->share_of == SHARE_COST) {
    row_add(&programme->row, lot_column(programme, o),
            factor * option->lot * bare_cost(option) / programme->money);
    row_add(&programme->row, spare_column(programme, o),
            factor * option->spare_cost / programme->money);
    row_add(&programme->row, taken_column(programme, o),
            factor * option->fixed_cost / programme->money);
  }
  for (size_t w = 0; w < problem->workload_count; w++) {
    const double extra = pair_of(problem, w, o)->extra_cost * nodes_of_all(problem, w, o);
    const double tokens = problem->workloads[w].demand / programme->total_demand;
    if (problem->share_of == SHARE_COST)
      row_add(&programme->row, share_column(programme, w, o), factor * extra / programme->money);
    if (problem->share_of == SHARE_TOKENS)
      row_add(&programme->row, share_column(programme, w, o), factor * tokens);
  }
}

static void add_shares(struct programme *programme) {
  const struct allocation_problem *problem = programme->problem;
  for (int v = 0; v < problem->vendor_count; v++) {
    const double share = problem->minimum_shares[v];
    if (share <= 0)
      continue;
    for (size_t o = 0; o < problem->option_count; o++)
      add_amount(programme, o, problem->options[o].vendor == v ? 1 - share : -share);
    row_end(&programme->row, 0, INFINITY);
  }
}

static void add_budgets(struct programme *programme) {
  const struct allocation_problem *problem = programme->problem;
  for (int capex = 0; capex < 2; capex++) {
    const double budget = capex ? problem->capex_budget : problem->budget;
    if (!isfinite(budget))
      continue;
    for (size_t o = 0; o < problem->option_count; o++) {
      const struct allocation_option *option = &problem->options[o];
      row_add(&programme->row, lot_column(programme, o),
              option->lot * (capex ? bare_capex(option) : bare_cost(option)) / programme->money);
      row_add(&programme->row, spare_column(programme, o),
              (capex ? option->spare_capex : option->spare_cost) / programme->money);
      row_add(&programme->row, taken_column(programme, o),
              (capex ? option->fixed_capex : option->fixed_cost) / programme->money);
      for (size_t w = 0; w < problem->workload_count; w++) {
        const struct allocation_pair *pair = pair_of(problem, w, o);
        row_add(&programme->row, share_column(programme, w, o),
                (capex ? pair->extra_capex : pair->extra_cost) * nodes_of_all(problem, w, o) /
                    programme->money);
      }
    }
    row_end(&programme->row, -INFINITY, budget / programme->money);
  }
}

// GLPK's solution without its tolerances: whole lots are whole, shares add up to one, and options
// that are not taken get nothing.
static void take_split(const struct programme *programme, struct allocation *allocation) {
  const struct allocation_problem *problem = programme->problem;
  for (size_t o = 0; o < problem->option_count; o++) {
    const double lots = glp_mip_col_val(programme->row.glpk, lot_column(programme, o));
    const bool taken = glp_mip_col_val(programme->row.glpk, taken_column(programme, o)) > 0.5;
    allocation->nodes[o] =
        !taken ? 0 : problem->options[o].lot * (problem->divisible ? lots : round(lots));
  }
  for (size_t w = 0; w < problem->workload_count; w++) {
    double *shares = &allocation->shares[w * problem->option_count], sum = 0;
    for (size_t o = 0; o < problem->option_count; o++) {
      const double share = glp_mip_col_val(programme->row.glpk, share_column(programme, w, o));
      shares[o] = share < 1e-9 || allocation->nodes[o] <= 0 ? 0 : share;
      sum += shares[o];
    }
    for (size_t o = 0; o < problem->option_count; o++)
      shares[o] /= sum;
  }
}

static double money_unit(const struct allocation_problem *problem) {
  double largest = 0;
  for (size_t o = 0; o < problem->option_count; o++)
    largest = fmax(largest, fmax(problem->options[o].node_cost, problem->options[o].fixed_cost));
  return largest > 0 ? largest : 1;
}

static void build(struct programme *programme) {
  glp_set_obj_dir(programme->row.glpk, GLP_MIN);
  add_columns(programme);
  add_service(programme);
  add_shares(programme);
  add_budgets(programme);
}

// Without GLPK 5.0's presolver and cuts: both cut off optima, and the presolver lets a row be
// violated by 1e-3. With the default tol_int, many nodes omit a fixed cost.
static enum allocation_status run(const struct programme *programme, double limit_s) {
  glp_smcp relaxed;
  glp_iocp whole;
  glp_init_smcp(&relaxed);
  glp_init_iocp(&whole);
  relaxed.msg_lev = whole.msg_lev = GLP_MSG_OFF;
  relaxed.tm_lim = whole.tm_lim = (int)(1000 * limit_s);
  whole.tol_int = 1e-9;
  glp_scale_prob(programme->row.glpk, GLP_SF_AUTO);
  glp_adv_basis(programme->row.glpk, 0);
  if (glp_simplex(programme->row.glpk, &relaxed))
    return ALLOCATION_FAILED;
  if (glp_get_status(programme->row.glpk) == GLP_NOFEAS)
    return ALLOCATION_INFEASIBLE;
  if (glp_get_status(programme->row.glpk) != GLP_OPT)
    return ALLOCATION_FAILED;
  const int failed = glp_intopt(programme->row.glpk, &whole);
  const int status = glp_mip_status(programme->row.glpk);
  if (!failed && status == GLP_NOFEAS)
    return ALLOCATION_INFEASIBLE;
  if (!failed && status == GLP_OPT)
    return ALLOCATION_OPTIMAL;
  return status == GLP_FEAS ? ALLOCATION_UNPROVEN : ALLOCATION_FAILED;
}

struct work {
  struct programme programme;
  double limit_s;
  struct allocation *allocation;
};

static void find_split(void *context) {
  struct work *work = context;
  struct programme *programme = &work->programme;
  programme->row.glpk = glp_create_prob();
  build(programme);
  work->allocation->status = run(programme, work->limit_s);
  if (is_split(work->allocation))
    take_split(programme, work->allocation);
  glp_delete_prob(programme->row.glpk);
}

bool allocation_available(void) {
  return true;
}

static struct allocation solve_once(const struct allocation_problem *problem, double limit_s,
                                    struct arena *arena) {
  struct allocation allocation = new_allocation(problem, arena);
  struct work work = {.programme = {.problem = problem,
                                    .money = money_unit(problem),
                                    .row = row_of(column_count(problem), arena)},
                      .limit_s = limit_s,
                      .allocation = &allocation};
  for (size_t w = 0; w < problem->workload_count; w++)
    work.programme.total_demand += problem->workloads[w].demand;
  solver_run(find_split, &work);
  if (!is_split(&allocation))
    return allocation;
  sum_up(problem, &allocation);
  if (!is_kept(problem, &allocation))
    allocation.status = ALLOCATION_FAILED;
  return allocation;
}

#else

bool allocation_available(void) {
  return false;
}

static struct allocation solve_once(const struct allocation_problem *problem, double limit_s,
                                    struct arena *arena) {
  (void)problem, (void)limit_s, (void)arena;
  return (struct allocation){.status = ALLOCATION_FAILED};
}

#endif

struct allocation allocation_solve(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena) {
  struct allocation best = solve_once(problem, limit_s, arena);
  for (size_t o = 0; o < problem->option_count && allocation_available(); o++) {
    const struct allocation alone = all_on(problem, o, arena);
    keep_better(&best, &alone);
  }
  return best;
}

struct allocation allocation_prove(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena) {
  static const struct allocation_pair none = {0};
  struct allocation best = allocation_solve(problem, limit_s, arena);
  const size_t count = problem->workload_count * problem->option_count;
  struct allocation_pair *pairs = arena_array(arena, count, sizeof *pairs);
  struct allocation_problem without = *problem;
  without.pairs = pairs;
  for (size_t o = 0; o < problem->option_count && best.status != ALLOCATION_FAILED; o++) {
    for (size_t i = 0; i < count; i++)
      pairs[i] = i % problem->option_count == o ? none : problem->pairs[i];
    const struct allocation other = allocation_solve(&without, limit_s, arena);
    keep_better(&best, &other);
  }
  return best;
}
