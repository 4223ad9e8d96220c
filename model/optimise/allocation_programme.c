#include "model/optimise/allocation_programme.h"

#include "model/cost/arithmetic.h"
#include "model/optimise/row.h"
#include "model/optimise/solver.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

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
         share_column(programme, allocation_first_of_span(problem, w, o), o);
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
    const double span = fmax(allocation_pair_of(problem, w, o)->span, 1);
    needed += ceil(allocation_nodes_of_all(problem, w, o) / span) * span;
  }
  return needed;
}

// What a node counts towards shares, if these are not of tokens.
static double node_amount(const struct allocation_problem *problem, size_t o) {
  const struct allocation_option *option = &problem->options[o];
  return problem->share_of == SHARE_ACCELERATORS ? option->accelerators : option->node_cost;
}

// What all options together would amount to if each served everything, in the unit in which shares
// are counted.
static double most_served(const struct allocation_problem *problem) {
  double all = 0;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    all += (ceil(most_held(problem, o) / option->lot) + 1) * option->lot * node_amount(problem, o);
    all += problem->share_of == SHARE_COST ? option->fixed_cost + option->spare_cost : 0;
    for (size_t w = 0; w < problem->workload_count && problem->share_of == SHARE_COST; w++)
      all += allocation_pair_of(problem, w, o)->extra_cost * allocation_nodes_of_all(problem, w, o);
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
  return most_served(problem) / (left > ALLOCATION_ROUNDING ? left : least);
}

// More lots than would serve everything alone make no sense, unless a share must be filled up.
static double max_lots(const struct allocation_problem *problem, size_t o) {
  const struct allocation_option *option = &problem->options[o];
  double needed = most_held(problem, o);
  if (problem->share_of != SHARE_TOKENS && node_amount(problem, o) > 0)
    needed = fmax(needed, most_amount(problem) / node_amount(problem, o));
  return fmin(arithmetic_floor(option->stock / option->lot), ceil(needed / option->lot));
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
  const struct allocation_pair *pair = allocation_pair_of(problem, w, o);
  const int share = share_column(programme, w, o), replicas = replica_column(programme, w, o);
  const bool barred = pair->capacity <= 0;
  if (problem->workloads[w].whole)
    glp_set_col_kind(programme->row.glpk, share, GLP_BV);
  glp_set_col_bnds(programme->row.glpk, share, barred ? GLP_FX : GLP_DB, 0, barred ? 0 : 1);
  glp_set_obj_coef(programme->row.glpk, share,
                   pair->extra_cost * allocation_nodes_of_all(problem, w, o) / programme->money);
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

// Adds the rows by which an option's nodes hold what it serves: workloads that share a node's time,
// and whole replicas.
static void add_nodes(struct programme *programme, size_t o) {
  const struct allocation_problem *problem = programme->problem;
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = allocation_pair_of(problem, w, o)->span;
    if (span <= 1 || allocation_first_of_span(problem, w, o) != w)
      continue;
    for (size_t other = w; other < problem->workload_count; other++)
      if (allocation_pair_of(problem, other, o)->span == span)
        row_add(&programme->row, share_column(programme, other, o),
                allocation_nodes_of_all(problem, other, o));
    row_add(&programme->row, replica_column(programme, w, o), -span);
    row_end(&programme->row, -INFINITY, 0);
  }
  for (size_t w = 0; w < problem->workload_count; w++) {
    const int span = allocation_pair_of(problem, w, o)->span;
    if (span <= 1)
      row_add(&programme->row, share_column(programme, w, o),
              allocation_nodes_of_all(problem, w, o));
    else if (allocation_first_of_span(problem, w, o) == w)
      row_add(&programme->row, replica_column(programme, w, o), span);
  }
  row_add(&programme->row, lot_column(programme, o), -problem->options[o].lot);
  row_end(&programme->row, -INFINITY, 0);
}

// Adds rows for an option's spares: as many as are needed, and less than one more.
static void add_spares(struct programme *programme, size_t o) {
  const struct allocation_option *option = &programme->problem->options[o];
  const bool divisible = programme->problem->divisible;
  for (int most = 0; most < (divisible ? 1 : 2); most++) {
    row_add(&programme->row, spare_column(programme, o), 1);
    row_add(&programme->row, lot_column(programme, o), -option->spares * option->lot);
    if (most)
      row_end(&programme->row, -INFINITY, 1 - ALLOCATION_TOLERANCE);
    else
      row_end(&programme->row, 0, divisible ? 0 : INFINITY);
  }
}

// Adds the row that limits an option's lots and spares to its stock. Without spares, the bounds of
// lots suffice.
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
      if (allocation_pair_of(problem, w, o)->capacity <= 0)
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
    const double extra =
        allocation_pair_of(problem, w, o)->extra_cost * allocation_nodes_of_all(problem, w, o);
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
        const struct allocation_pair *pair = allocation_pair_of(problem, w, o);
        row_add(&programme->row, share_column(programme, w, o),
                (capex ? pair->extra_capex : pair->extra_cost) *
                    allocation_nodes_of_all(problem, w, o) / programme->money);
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

// Runs GLPK without 5.0's presolver and cuts: both cut off optima, and the presolver lets a row be
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
  if (allocation_is_split(work->allocation))
    take_split(programme, work->allocation);
  glp_delete_prob(programme->row.glpk);
}

bool allocation_available(void) {
  return true;
}

struct allocation allocation_programme(const struct allocation_problem *problem, double limit_s,
                                       struct arena *arena) {
  struct allocation allocation = allocation_new(problem, arena);
  struct work work = {.programme = {.problem = problem,
                                    .money = money_unit(problem),
                                    .row = row_of(column_count(problem), arena)},
                      .limit_s = limit_s,
                      .allocation = &allocation};
  for (size_t w = 0; w < problem->workload_count; w++)
    work.programme.total_demand += problem->workloads[w].demand;
  solver_run(find_split, &work);
  return allocation;
}

#else

bool allocation_available(void) {
  return false;
}

struct allocation allocation_programme(const struct allocation_problem *problem, double limit_s,
                                       struct arena *arena) {
  (void)problem, (void)limit_s, (void)arena;
  return (struct allocation){.status = ALLOCATION_FAILED};
}

#endif
