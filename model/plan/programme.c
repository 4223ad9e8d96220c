#include "model/plan/programme.h"

#include "base/arena.h"
#include "base/clock.h"
#include "model/optimise/solver.h"
#include "model/plan/columns.h"
#include "model/plan/fleet.h"

#include <math.h>
#include <stddef.h>

double programme_gap(const struct programme_result *result) {
  if (result->status == PROGRAMME_OPTIMAL || result->fleet.cost == 0)
    return 0;
  return fmax(0, (result->fleet.cost - result->bound) / fabs(result->fleet.cost));
}

bool programme_has_fleet(const struct programme_result *result) {
  return result->status == PROGRAMME_OPTIMAL || result->status == PROGRAMME_UNPROVEN;
}

#ifdef HAVE_GLPK
#include "model/plan/formulation.h"
#include "model/plan/incumbent.h"
#include "model/plan/neighbours.h"

#include <glpk.h>

// The seconds for which a search runs alone: most programs are solved by then, and always in the
// same way.
static const double alone_s = 1;

// Costs are in units of the formulation's money.
struct programme {
  struct formulation formulation;
  struct incumbent incumbent;
  struct neighbours *neighbours; // NULL: not yet, or not available
  bool is_helped;
  double begin_s, end_s;
  double bound, to_beat;
  double told;    // cost of the best solution that GLPK has been given
  double *values; // [columns + 1]
  struct arena *arena;
};

static void keep_found(struct programme *programme) {
  glp_prob *glpk = programme->formulation.row.glpk;
  for (int column = 1; column <= programme->incumbent.columns; column++)
    programme->values[column] = glp_mip_col_val(glpk, column);
  incumbent_offer(&programme->incumbent, glp_mip_obj_val(glpk), programme->values);
}

// Passes on what the other search has found.
static void tell_found(struct programme *programme, glp_tree *tree) {
  if (!(programme->incumbent.cost < programme->told))
    return;
  programme->told = incumbent_copy(&programme->incumbent, programme->values);
  glp_ios_heur_sol(tree, programme->values);
}

// The first periods first: what is present then determines what must be bought later, so the bound
// rises faster than with GLPK's own choice.
static int first_branch(const struct fleet_problem *problem, glp_tree *tree,
                        int (*column_of)(const struct fleet_problem *problem, size_t o, int t)) {
  for (int t = 0; t < problem->periods; t++)
    for (size_t o = 0; o < problem->option_count; o++)
      if (glp_ios_can_branch(tree, column_of(problem, o, t)))
        return column_of(problem, o, t);
  return 0;
}

static void branch(const struct programme *programme, glp_tree *tree) {
  const struct fleet_problem *problem = programme->formulation.problem;
  int column = first_branch(problem, tree, presence_column);
  if (!column)
    column = first_branch(problem, tree, lots_column);
  if (column)
    glp_ios_branch_upon(tree, column, GLP_NO_BRNCH);
}

// Records the bound of the whole tree, which GLPK does not report afterwards; stops once it shows
// that nothing can be gained.
static void follow(glp_tree *tree, void *context) {
  struct programme *programme = context;
  const int best = glp_ios_best_node(tree), reason = glp_ios_reason(tree);
  if (best)
    programme->bound = fmax(programme->bound, glp_ios_node_bound(tree, best));
  if (programme->bound >= programme->to_beat)
    glp_ios_terminate(tree);
  else if (reason == GLP_IBINGO)
    keep_found(programme);
  else if (reason == GLP_IHEUR)
    tell_found(programme, tree);
  else if (reason == GLP_IBRANCH)
    branch(programme, tree);
  if (programme->is_helped || clock_now(&machine_clock) < programme->begin_s + alone_s)
    return;
  programme->is_helped = true;
  programme->neighbours = neighbours_start(programme->formulation.problem, &programme->incumbent,
                                           programme->end_s, programme->arena);
}

static enum programme_status relax(struct programme *programme, double time_s) {
  glp_prob *glpk = programme->formulation.row.glpk;
  glp_smcp relaxed;
  glp_init_smcp(&relaxed);
  relaxed.msg_lev = GLP_MSG_OFF;
  relaxed.tm_lim = (int)fmin(1000 * time_s, 1e9);
  if (glp_simplex(glpk, &relaxed))
    return PROGRAMME_FAILED;
  if (glp_get_status(glpk) == GLP_NOFEAS)
    return PROGRAMME_INFEASIBLE;
  if (glp_get_status(glpk) != GLP_OPT)
    return PROGRAMME_FAILED;
  programme->bound = glp_get_obj_val(glpk);
  return programme->bound >= programme->to_beat ? PROGRAMME_BEATEN : PROGRAMME_OPTIMAL;
}

// Runs GLPK with the settings that model/optimise/allocation.c found to be safe in 5.0: without its
// presolver and cuts.
static enum programme_status run(struct programme *programme, double time_s) {
  glp_prob *glpk = programme->formulation.row.glpk;
  const enum programme_status relaxed = relax(programme, time_s);
  glp_iocp whole;
  if (relaxed != PROGRAMME_OPTIMAL)
    return relaxed;
  glp_init_iocp(&whole);
  whole.msg_lev = GLP_MSG_OFF;
  whole.tm_lim = (int)fmin(1000 * time_s, 1e9);
  whole.tol_int = 1e-9;
  whole.mip_gap = PROGRAMME_GAP;
  whole.cb_func = follow;
  whole.cb_info = programme;
  const int failed = glp_intopt(glpk, &whole);
  const int status = glp_mip_status(glpk);
  if (status == GLP_OPT || status == GLP_FEAS)
    keep_found(programme);
  if ((!failed || failed == GLP_EMIPGAP) && status == GLP_OPT)
    return PROGRAMME_OPTIMAL;
  if (!failed && status == GLP_NOFEAS)
    return PROGRAMME_INFEASIBLE;
  if (failed == GLP_ESTOP)
    return PROGRAMME_BEATEN;
  return isfinite(programme->incumbent.cost) ? PROGRAMME_UNPROVEN : PROGRAMME_FAILED;
}

struct work {
  struct programme programme;
  struct programme_limits limits;
  struct programme_result *result;
};

static void find_fleet(void *context) {
  struct work *work = context;
  struct programme *programme = &work->programme;
  formulation_build(&programme->formulation);
  work->result->status = run(programme, work->limits.time_s);
  glp_delete_prob(programme->formulation.row.glpk);
}

bool programme_available(void) {
  return true;
}

// Settles whether the fleet is proven: the program's optimum is, but spares may cost more than it
// counts.
static void settle(const struct fleet_problem *problem, double objective,
                   struct programme_result *result) {
  result->rounded =
      fleet_has_spares(problem) && result->fleet.cost > objective + PROGRAMME_GAP * fabs(objective);
  result->bound = result->rounded ? objective : result->fleet.cost;
  if (result->rounded)
    result->status = PROGRAMME_UNPROVEN;
}

static void finish(struct programme *programme, struct programme_result *result) {
  const struct fleet_problem *problem = programme->formulation.problem;
  if (programme->neighbours)
    neighbours_end(programme->neighbours);
  result->bound = programme->bound * programme->formulation.money;
  if (!programme_has_fleet(result))
    return;
  const double objective =
      incumbent_copy(&programme->incumbent, programme->values) * programme->formulation.money;
  formulation_take(&programme->formulation, programme->values, &result->fleet);
  fleet_sum(problem, &result->fleet);
  if (fleet_broken(problem, &result->fleet))
    result->status = PROGRAMME_FAILED;
  else if (result->status == PROGRAMME_OPTIMAL)
    settle(problem, objective, result);
}

struct programme_result programme_solve(const struct fleet_problem *problem,
                                        struct programme_limits limits, struct arena *arena) {
  struct programme_result result = {.status = PROGRAMME_FAILED, .fleet = fleet_new(problem, arena)};
  const int columns = column_count(problem);
  const double begin_s = clock_now(&machine_clock);
  struct work work = {
      .programme = {.formulation = formulation_of(problem, arena),
                    .begin_s = begin_s,
                    .end_s = begin_s + limits.time_s,
                    .bound = -INFINITY,
                    .told = INFINITY,
                    .values = arena_array(arena, (size_t)columns + 1, sizeof(double)),
                    .arena = arena},
      .limits = limits,
      .result = &result};
  work.programme.to_beat = limits.cost / work.programme.formulation.money;
  incumbent_start(&work.programme.incumbent, columns, arena);
  solver_run(find_fleet, &work);
  finish(&work.programme, &result);
  incumbent_end(&work.programme.incumbent);
  return result;
}

#else

bool programme_available(void) {
  return false;
}

struct programme_result programme_solve(const struct fleet_problem *problem,
                                        struct programme_limits limits, struct arena *arena) {
  (void)limits;
  return (struct programme_result){.status = PROGRAMME_FAILED, .fleet = fleet_new(problem, arena)};
}

#endif
