#include "model/plan/neighbours.h"

#include "base/arena.h"
#include "base/clock.h"
#include "model/optimise/solver.h"
#include "model/plan/columns.h"
#include "model/plan/fleet.h"
#include "model/plan/formulation.h"

#include <glpk.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>

enum { FIRST_PERIODS = 4, MORE_PERIODS = 2, PART_PERIODS = 3 };

static const double each_s = 1;      // for the first neighborhoods; larger ones get more
static const double part_s = 2;      // for a part of the first solution
static const double part_gap = 1e-3; // a gap that is good enough for a part
static const double better_gap = 1e-5;

struct neighbours {
  const struct fleet_problem *problem;
  struct incumbent *incumbent;
  double end_s;
  pthread_t thread;
  // Used by the thread only:
  struct formulation formulation;
  double *values; // [columns + 1] of the best solution, as last copied
  int *kinds;     // [columns + 1] kinds of GLPK's columns
  struct arena arena;
};

static bool is_over(const struct neighbours *neighbours) {
  return neighbours->incumbent->is_ended || clock_now(&machine_clock) >= neighbours->end_s;
}

// ---- one search

// The aim of a search: any first solution; one close enough to the best while not all lots need be
// whole; or a better one.
enum aim { AIM_ANY, AIM_PART, AIM_BETTER };

struct search {
  struct neighbours *neighbours;
  enum aim aim;
  bool known; // GLPK has been given the best solution
};

static void follow(glp_tree *tree, void *context) {
  struct search *search = context;
  struct neighbours *neighbours = search->neighbours;
  const int reason = glp_ios_reason(tree);
  const bool found = isfinite(neighbours->incumbent->cost);
  if (is_over(neighbours) || (search->aim != AIM_BETTER && found) ||
      (search->aim == AIM_ANY && reason == GLP_IBINGO))
    glp_ios_terminate(tree);
  else if (search->aim == AIM_BETTER && !search->known && reason == GLP_IHEUR)
    search->known = glp_ios_heur_sol(tree, neighbours->values) == 0;
}

// Whether it found a solution, which is then in `values`.
static bool search_for(struct neighbours *neighbours, enum aim aim, double time_s) {
  struct search search = {.neighbours = neighbours, .aim = aim};
  glp_prob *glpk = neighbours->formulation.row.glpk;
  const double left_s = fmax(0, neighbours->end_s - clock_now(&machine_clock));
  glp_smcp relaxed;
  glp_iocp whole;
  glp_init_smcp(&relaxed);
  glp_init_iocp(&whole);
  relaxed.msg_lev = whole.msg_lev = GLP_MSG_OFF;
  relaxed.meth = GLP_DUALP;
  relaxed.tm_lim = whole.tm_lim = (int)fmin(1000 * fmin(time_s, left_s), 1e9);
  whole.tol_int = 1e-9;
  whole.mip_gap = aim == AIM_PART ? part_gap : better_gap;
  whole.cb_func = follow;
  whole.cb_info = &search;
  if (glp_simplex(glpk, &relaxed) || glp_get_status(glpk) != GLP_OPT)
    return false;
  glp_intopt(glpk, &whole);
  if (glp_mip_status(glpk) != GLP_OPT && glp_mip_status(glpk) != GLP_FEAS)
    return false;
  for (int column = 1; column <= neighbours->incumbent->columns; column++)
    neighbours->values[column] = glp_mip_col_val(glpk, column);
  return true;
}

static void offer(const struct neighbours *neighbours) {
  incumbent_offer(neighbours->incumbent, glp_mip_obj_val(neighbours->formulation.row.glpk),
                  neighbours->values);
}

// ---- neighborhoods

// The part that may change: periods from `first` to `last`, or two options.
struct freed {
  int first, last;
  size_t options[2];
};

static bool is_free(const struct freed *freed, size_t o, int t) {
  return (freed->first <= t && t <= freed->last) || o == freed->options[0] ||
         o == freed->options[1];
}

// Fixes the lots of everything that is not free.
static void hold(const struct neighbours *neighbours, const struct freed *freed) {
  const struct fleet_problem *problem = neighbours->problem;
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods; t++) {
      const int column = lots_column(problem, o, t);
      if (!is_free(freed, o, t))
        glp_set_col_bnds(neighbours->formulation.row.glpk, column, GLP_FX,
                         neighbours->values[column], neighbours->values[column]);
    }
}

static void let_go(const struct neighbours *neighbours) {
  const struct fleet_problem *problem = neighbours->problem;
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods; t++) {
      const double most = problem->options[o].by_token ? 0 : most_lots(problem, o);
      glp_set_col_bnds(neighbours->formulation.row.glpk, lots_column(problem, o, t),
                       most > 0 ? GLP_DB : GLP_FX, 0, most);
    }
}

// Whether it found anything better.
static bool improve(struct neighbours *neighbours, struct freed freed, double time_s) {
  if (is_over(neighbours))
    return false;
  const double before = incumbent_copy(neighbours->incumbent, neighbours->values);
  hold(neighbours, &freed);
  if (search_for(neighbours, AIM_BETTER, time_s))
    offer(neighbours);
  let_go(neighbours);
  return neighbours->incumbent->cost < before - 1e-6 * fabs(before);
}

static bool improve_all(struct neighbours *neighbours, int periods) {
  const struct fleet_problem *problem = neighbours->problem;
  const size_t none = problem->option_count;
  const double time_s = each_s * periods / FIRST_PERIODS;
  bool better = false;
  for (int first = 0; first < problem->periods; first += periods / 2)
    better |= improve(neighbours, (struct freed){first, first + periods - 1, {none, none}}, time_s);
  for (size_t a = 0; a < problem->option_count; a++)
    for (size_t b = a + 1; b < problem->option_count; b++)
      better |= improve(neighbours, (struct freed){0, -1, {a, b}}, time_s);
  return better;
}

// ---- the first solution

// Requires whole lots for what is present or bought before a period, and allows fractions after it.
static void make_whole(const struct neighbours *neighbours, int before) {
  const struct fleet_problem *problem = neighbours->problem;
  glp_prob *glpk = neighbours->formulation.row.glpk;
  for (size_t a = 0; a < problem->action_count; a++)
    glp_set_col_kind(glpk, action_column(a),
                     problem->actions[a].first < before ? neighbours->kinds[action_column(a)]
                                                        : GLP_CV);
  for (size_t o = 0; o < problem->option_count; o++)
    for (int t = 0; t < problem->periods; t++) {
      const int columns[] = {lots_column(problem, o, t), presence_column(problem, o, t),
                             spare_column(problem, o, t)};
      for (int i = 0; i < (fleet_has_spares(problem) ? 3 : 2); i++)
        glp_set_col_kind(glpk, columns[i], t < before ? neighbours->kinds[columns[i]] : GLP_CV);
    }
}

// A few periods at a time, with earlier ones fixed; false if that leads nowhere.
static bool go_through(struct neighbours *neighbours) {
  const int periods = neighbours->problem->periods;
  const size_t none = neighbours->problem->option_count;
  bool found = true;
  for (int first = 0; first < periods && found; first += PART_PERIODS) {
    const struct freed freed = {first, periods - 1, {none, none}};
    hold(neighbours, &freed);
    make_whole(neighbours, first + PART_PERIODS);
    found = search_for(neighbours, AIM_PART, part_s);
  }
  make_whole(neighbours, periods);
  let_go(neighbours);
  return found;
}

static void find_any(struct neighbours *neighbours) {
  if (!isfinite(neighbours->incumbent->cost) &&
      (go_through(neighbours) || search_for(neighbours, AIM_ANY, INFINITY)))
    offer(neighbours);
}

static void work(void *context) {
  struct neighbours *neighbours = context;
  const int periods = neighbours->problem->periods;
  formulation_build(&neighbours->formulation);
  for (int column = 1; column <= neighbours->incumbent->columns; column++)
    neighbours->kinds[column] = glp_get_col_kind(neighbours->formulation.row.glpk, column);
  find_any(neighbours);
  for (int wide = FIRST_PERIODS; wide < 2 * periods && !is_over(neighbours); wide += MORE_PERIODS)
    while (improve_all(neighbours, wide))
      ;
  glp_delete_prob(neighbours->formulation.row.glpk);
}

// ---- the thread

static void *run(void *context) {
  struct neighbours *neighbours = context;
  solver_run(work, neighbours);
  glp_free_env();
  arena_free(&neighbours->arena);
  return NULL;
}

struct neighbours *neighbours_start(const struct fleet_problem *problem,
                                    struct incumbent *incumbent, double end_s,
                                    struct arena *arena) {
  struct neighbours *neighbours = arena_alloc(arena, sizeof *neighbours);
  *neighbours = (struct neighbours){.problem = problem, .incumbent = incumbent, .end_s = end_s};
  if (!glp_config("TLS"))
    return NULL;
  neighbours->formulation = formulation_of(problem, &neighbours->arena);
  neighbours->values =
      arena_array(&neighbours->arena, (size_t)incumbent->columns + 1, sizeof(double));
  neighbours->kinds = arena_array(&neighbours->arena, (size_t)incumbent->columns + 1, sizeof(int));
  if (!pthread_create(&neighbours->thread, NULL, run, neighbours))
    return neighbours;
  arena_free(&neighbours->arena);
  return NULL;
}

void neighbours_end(struct neighbours *neighbours) {
  neighbours->incumbent->is_ended = true;
  pthread_join(neighbours->thread, NULL);
}
