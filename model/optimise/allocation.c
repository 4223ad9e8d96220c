#include "model/optimise/allocation.h"

#include <math.h>
#include <stddef.h>

static const struct allocation_pair *pair_of(const struct allocation_problem *problem, size_t w,
                                             size_t o) {
  return &problem->pairs[w * problem->option_count + o];
}

// Nodes that would serve the whole workload.
static double nodes_of_all(const struct allocation_problem *problem, size_t w, size_t o) {
  const struct allocation_pair *pair = pair_of(problem, w, o);
  return pair->capacity > 0 ? problem->workloads[w].demand / pair->capacity : 0;
}

double allocation_busy(const struct allocation_problem *problem,
                       const struct allocation *allocation, size_t workload, size_t option) {
  return allocation->shares[workload * problem->option_count + option] *
         nodes_of_all(problem, workload, option);
}

#ifdef HAVE_GLPK
#include <glpk.h>

// The programme while it is built. Money is counted in units of `money`, so that the coefficients
// are of the size of one.
struct programme {
  const struct allocation_problem *problem;
  glp_prob *glpk;
  double money;
  double total_demand;
  int *columns; // of the row that is being built, from 1
  double *values;
  int terms;
};

// Columns: shares, nodes, options taken.
static int share_column(const struct programme *programme, size_t w, size_t o) {
  return 1 + (int)(w * programme->problem->option_count + o);
}

static int node_column(const struct programme *programme, size_t o) {
  return 1 + (int)(programme->problem->workload_count * programme->problem->option_count + o);
}

static int taken_column(const struct programme *programme, size_t o) {
  return node_column(programme, o) + (int)programme->problem->option_count;
}

static void add_term(struct programme *programme, int column, double value) {
  if (value == 0)
    return;
  programme->terms++;
  programme->columns[programme->terms] = column;
  programme->values[programme->terms] = value;
}

// Ends the row: its terms together are within low and high; infinite ends are open.
static void end_row(struct programme *programme, double low, double high) {
  const int kind = !isfinite(low) ? GLP_UP : !isfinite(high) ? GLP_LO : GLP_FX;
  const int row = glp_add_rows(programme->glpk, 1);
  glp_set_row_bnds(programme->glpk, row, kind, low, high);
  glp_set_mat_row(programme->glpk, row, programme->terms, programme->columns, programme->values);
  programme->terms = 0;
}

// No more nodes than would serve everything alone make sense, unless a share is to be filled up.
static double max_nodes(const struct allocation_problem *problem, size_t o) {
  double needed = 0;
  for (size_t w = 0; w < problem->workload_count; w++)
    needed += nodes_of_all(problem, w, o);
  for (size_t p = 0; p < problem->option_count && problem->share_of != SHARE_TOKENS; p++)
    for (size_t w = 0; w < problem->workload_count && p != o; w++)
      needed += nodes_of_all(problem, w, p);
  return fmin(problem->options[o].stock, ceil(needed));
}

static void add_columns(struct programme *programme) {
  const struct allocation_problem *problem = programme->problem;
  glp_prob *glpk = programme->glpk;
  glp_add_cols(glpk, taken_column(programme, problem->option_count) - 1);
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    const double most = max_nodes(problem, o);
    const int node = node_column(programme, o);
    glp_set_col_kind(glpk, node, problem->divisible ? GLP_CV : GLP_IV);
    glp_set_col_bnds(glpk, node, most > 0 ? GLP_DB : GLP_FX, 0, most);
    glp_set_obj_coef(glpk, node, option->node_cost / programme->money);
    glp_set_col_kind(glpk, taken_column(programme, o), GLP_BV);
    glp_set_obj_coef(glpk, taken_column(programme, o), option->fixed_cost / programme->money);
    for (size_t w = 0; w < problem->workload_count; w++) {
      const int share = share_column(programme, w, o);
      const bool barred = pair_of(problem, w, o)->capacity <= 0;
      if (problem->workloads[w].whole)
        glp_set_col_kind(glpk, share, GLP_BV);
      glp_set_col_bnds(glpk, share, barred ? GLP_FX : GLP_DB, 0, barred ? 0 : 1);
      glp_set_obj_coef(glpk, share,
                       pair_of(problem, w, o)->extra_cost * nodes_of_all(problem, w, o) /
                           programme->money);
    }
  }
}

static void add_service(struct programme *programme) {
  const struct allocation_problem *problem = programme->problem;
  for (size_t w = 0; w < problem->workload_count; w++) {
    for (size_t o = 0; o < problem->option_count; o++)
      add_term(programme, share_column(programme, w, o), 1);
    end_row(programme, 1, 1);
    for (size_t o = 0; o < problem->option_count; o++) {
      if (pair_of(problem, w, o)->capacity <= 0)
        continue;
      add_term(programme, share_column(programme, w, o), 1);
      add_term(programme, taken_column(programme, o), -1);
      end_row(programme, -INFINITY, 0);
    }
  }
  for (size_t o = 0; o < problem->option_count; o++) {
    for (size_t w = 0; w < problem->workload_count; w++)
      add_term(programme, share_column(programme, w, o), nodes_of_all(problem, w, o));
    add_term(programme, node_column(programme, o), -1);
    end_row(programme, -INFINITY, 0);
    add_term(programme, node_column(programme, o), 1);
    add_term(programme, taken_column(programme, o), -max_nodes(problem, o));
    end_row(programme, -INFINITY, 0);
    if (problem->divisible)
      continue;
    add_term(programme, taken_column(programme, o), 1);
    add_term(programme, node_column(programme, o), -1);
    end_row(programme, -INFINITY, 0);
  }
}

// Adds `factor` times an option's amount, in what shares are counted in.
static void add_amount(struct programme *programme, size_t o, double factor) {
  const struct allocation_problem *problem = programme->problem;
  const struct allocation_option *option = &problem->options[o];
  if (problem->share_of == SHARE_ACCELERATORS)
    add_term(programme, node_column(programme, o), factor * option->accelerators);
  if (problem->share_of == SHARE_COST) {
    add_term(programme, node_column(programme, o), factor * option->node_cost / programme->money);
    add_term(programme, taken_column(programme, o), factor * option->fixed_cost / programme->money);
  }
  for (size_t w = 0; w < problem->workload_count; w++) {
    const double extra = pair_of(problem, w, o)->extra_cost * nodes_of_all(problem, w, o);
    const double tokens = problem->workloads[w].demand / programme->total_demand;
    if (problem->share_of == SHARE_COST)
      add_term(programme, share_column(programme, w, o), factor * extra / programme->money);
    if (problem->share_of == SHARE_TOKENS)
      add_term(programme, share_column(programme, w, o), factor * tokens);
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
    end_row(programme, 0, INFINITY);
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
      add_term(programme, node_column(programme, o),
               (capex ? option->node_capex : option->node_cost) / programme->money);
      add_term(programme, taken_column(programme, o),
               (capex ? option->fixed_capex : option->fixed_cost) / programme->money);
      for (size_t w = 0; w < problem->workload_count; w++) {
        const struct allocation_pair *pair = pair_of(problem, w, o);
        add_term(programme, share_column(programme, w, o),
                 (capex ? pair->extra_capex : pair->extra_cost) * nodes_of_all(problem, w, o) /
                     programme->money);
      }
    }
    end_row(programme, -INFINITY, budget / programme->money);
  }
}

// What GLPK found, cleared of its tolerances: whole nodes whole, shares that add up to one.
static void take_split(const struct programme *programme, struct allocation *allocation) {
  const struct allocation_problem *problem = programme->problem;
  for (size_t o = 0; o < problem->option_count; o++) {
    const double nodes = glp_mip_col_val(programme->glpk, node_column(programme, o));
    allocation->nodes[o] = problem->divisible ? nodes : round(nodes);
  }
  for (size_t w = 0; w < problem->workload_count; w++) {
    double *shares = &allocation->shares[w * problem->option_count], sum = 0;
    for (size_t o = 0; o < problem->option_count; o++) {
      const double share = glp_mip_col_val(programme->glpk, share_column(programme, w, o));
      shares[o] = share < 1e-9 ? 0 : share;
      sum += shares[o];
    }
    for (size_t o = 0; o < problem->option_count; o++)
      shares[o] /= sum;
  }
}

static void sum_up(const struct allocation_problem *problem, struct allocation *allocation) {
  allocation->cost = allocation->capex = 0;
  for (size_t o = 0; o < problem->option_count; o++) {
    const struct allocation_option *option = &problem->options[o];
    if (allocation->nodes[o] <= 0)
      continue;
    allocation->cost += option->fixed_cost + option->node_cost * allocation->nodes[o];
    allocation->capex += option->fixed_capex + option->node_capex * allocation->nodes[o];
    for (size_t w = 0; w < problem->workload_count; w++) {
      const double busy = allocation_busy(problem, allocation, w, o);
      allocation->cost += pair_of(problem, w, o)->extra_cost * busy;
      allocation->capex += pair_of(problem, w, o)->extra_capex * busy;
    }
  }
}

static double money_unit(const struct allocation_problem *problem) {
  double largest = 0;
  for (size_t o = 0; o < problem->option_count; o++)
    largest = fmax(largest, fmax(problem->options[o].node_cost, problem->options[o].fixed_cost));
  return largest > 0 ? largest : 1;
}

static void build(struct programme *programme) {
  glp_set_obj_dir(programme->glpk, GLP_MIN);
  add_columns(programme);
  add_service(programme);
  add_shares(programme);
  add_budgets(programme);
}

// Of GLPK 5.0's cuts only MIR: with Gomory's too, one of 20,000 small problems came out 1 % dear;
// cover cuts abort on a problem that presolving has emptied.
static enum allocation_status run(const struct programme *programme, double limit_s) {
  glp_iocp parameters;
  glp_init_iocp(&parameters);
  parameters.presolve = GLP_ON;
  parameters.mir_cuts = GLP_ON;
  parameters.tm_lim = (int)(1000 * limit_s);
  parameters.msg_lev = GLP_MSG_OFF;
  const int failed = glp_intopt(programme->glpk, &parameters);
  const int status = glp_mip_status(programme->glpk);
  if (failed == GLP_ENOPFS || (!failed && status == GLP_NOFEAS))
    return ALLOCATION_INFEASIBLE;
  if (!failed && status == GLP_OPT)
    return ALLOCATION_OPTIMAL;
  return status == GLP_FEAS ? ALLOCATION_UNPROVEN : ALLOCATION_FAILED;
}

bool allocation_available(void) {
  return true;
}

struct allocation allocation_solve(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena) {
  const size_t pairs = problem->workload_count * problem->option_count;
  struct allocation allocation = {.nodes =
                                      arena_array(arena, problem->option_count + 1, sizeof(double)),
                                  .shares = arena_array(arena, pairs + 1, sizeof(double))};
  struct programme programme = {
      .problem = problem,
      .glpk = glp_create_prob(),
      .money = money_unit(problem),
      .columns = arena_array(arena, pairs + 2 * problem->option_count + 1, sizeof(int)),
      .values = arena_array(arena, pairs + 2 * problem->option_count + 1, sizeof(double))};
  for (size_t w = 0; w < problem->workload_count; w++)
    programme.total_demand += problem->workloads[w].demand;
  glp_term_out(GLP_OFF);
  build(&programme);
  allocation.status = run(&programme, limit_s);
  if (allocation.status == ALLOCATION_OPTIMAL || allocation.status == ALLOCATION_UNPROVEN) {
    take_split(&programme, &allocation);
    sum_up(problem, &allocation);
  }
  glp_delete_prob(programme.glpk);
  glp_free_env();
  return allocation;
}

#else

bool allocation_available(void) {
  return false;
}

struct allocation allocation_solve(const struct allocation_problem *problem, double limit_s,
                                   struct arena *arena) {
  (void)problem, (void)limit_s, (void)arena;
  return (struct allocation){.status = ALLOCATION_FAILED};
}

#endif
