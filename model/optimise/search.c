#include "model/optimise/search.h"

#include "model/chance/sobol.h"
#include "model/optimise/solver.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

enum {
  BINS = 6,         // of each coordinate: a start from each
  TOP_STARTS = 8,   // and this many from anywhere
  MAX_STARTS = 64,  // in total
  FINALISTS = 6,    // of the starts, followed to the end
  FIRST_STEPS = 8,  // from every start
  ITERATIONS = 100, // for a finalist
  STEP_LENGTHS = 8, // tried along a step
  PENALTIES = 4,    // raised until the bounds are met
  GOAL_ROWS = 2,    // an absolute distance is the larger of two functions
  MAX_ROWS = 2 * MAX_SEARCH_FUNCTIONS + GOAL_ROWS
};

static const double first_radius = 0.25, last_radius = 1e-9;
static const double difference = 1e-6;  // of a coordinate, for slopes
static const double out_of_reach = 1e9; // used for what cannot be computed

// A descent: one run from one start.
struct descent {
  const struct search *search;
  const struct search_bound *bounds;
  const struct search_goal *goal; // NULL: the smallest violation
  double penalty;
  struct search_point here;
  double slopes[MAX_SEARCH_FUNCTIONS][MAX_SEARCH_DIMENSIONS];
};

// ---- the value of a point

static double violation_of(const struct search *search, const struct search_bound *bounds,
                           const double *values) {
  double worst = -out_of_reach;
  for (int f = 0; f < search->functions; f++) {
    if (!isfinite(values[f]) && (isfinite(bounds[f].low) || isfinite(bounds[f].high)))
      return out_of_reach;
    worst = fmax(worst, fmax(bounds[f].low - values[f], values[f] - bounds[f].high));
  }
  return worst;
}

static double goal_of(const struct search_goal *goal, const double *at, const double *values) {
  const double value = goal->coordinate ? at[goal->which] : values[goal->which];
  if (!isfinite(value))
    return out_of_reach;
  return goal->wish == SEARCH_LOWEST    ? value
         : goal->wish == SEARCH_HIGHEST ? -value
                                        : fabs(value - goal->target);
}

static double worth(const struct descent *descent, const struct search_point *point) {
  if (!descent->goal)
    return point->violation;
  return goal_of(descent->goal, point->at, point->values) +
         descent->penalty * fmax(point->violation, 0);
}

static void fill_point(const struct search *search, const struct search_bound *bounds,
                       const double *at, const double *values, struct search_point *point) {
  memcpy(point->at, at, (size_t)search->dimensions * sizeof *at);
  memcpy(point->values, values, (size_t)search->functions * sizeof *values);
  point->violation = violation_of(search, bounds, values);
}

// ---- slopes

static void find_slopes(struct descent *descent) {
  const struct search *search = descent->search;
  const size_t n = (size_t)search->dimensions, functions = (size_t)search->functions;
  double points[2 * MAX_SEARCH_DIMENSIONS * MAX_SEARCH_DIMENSIONS] = {0};
  double values[2 * MAX_SEARCH_DIMENSIONS * MAX_SEARCH_FUNCTIONS];
  for (size_t k = 0; k < n; k++)
    for (size_t side = 0; side < 2; side++) {
      double *point = points + (2 * k + side) * n;
      memcpy(point, descent->here.at, n * sizeof *point);
      point[k] = side ? fmin(point[k] + difference, 1) : fmax(point[k] - difference, 0);
    }
  search->evaluate(search->context, points, 2 * n, values);
  for (size_t k = 0; k < n; k++) {
    const double width = points[(2 * k + 1) * n + k] - points[2 * k * n + k];
    for (size_t f = 0; f < functions; f++) {
      const double slope =
          (values[(2 * k + 1) * functions + f] - values[2 * k * functions + f]) / width;
      descent->slopes[f][k] = isfinite(slope) ? slope : 0;
    }
  }
}

// ---- the linear program of a step

#ifdef HAVE_GLPK
#include <glpk.h>

bool search_available(void) {
  return true;
}

// A row of the linear program: gap + slope . step is to be minimized, or to stay below another
// row's.
struct row {
  double slope[MAX_SEARCH_DIMENSIONS], value;
  bool goal;
};

static void add_row(struct row *rows, int *count, const struct descent *descent, int function,
                    double sign, double offset, bool goal) {
  struct row *row = &rows[(*count)++];
  row->goal = goal;
  row->value = sign * descent->here.values[function] + offset;
  for (int k = 0; k < descent->search->dimensions; k++)
    row->slope[k] = sign * descent->slopes[function][k];
}

static void add_goal(struct row *rows, int *count, const struct descent *descent, double sign,
                     double offset) {
  const struct search_goal *goal = descent->goal;
  if (!goal->coordinate) {
    add_row(rows, count, descent, goal->which, sign, offset, true);
    return;
  }
  struct row *row = &rows[(*count)++];
  *row = (struct row){.goal = true, .value = sign * descent->here.at[goal->which] + offset};
  row->slope[goal->which] = sign;
}

static int rows_of(const struct descent *descent, struct row *rows) {
  const struct search_bound *bounds = descent->bounds;
  int count = 0;
  for (int f = 0; f < descent->search->functions; f++) {
    if (isfinite(bounds[f].high))
      add_row(rows, &count, descent, f, 1, -bounds[f].high, false);
    if (isfinite(bounds[f].low))
      add_row(rows, &count, descent, f, -1, bounds[f].low, false);
  }
  const struct search_goal *goal = descent->goal;
  if (!goal)
    return count;
  const double target = goal->wish == SEARCH_NEAREST ? goal->target : 0;
  if (goal->wish != SEARCH_HIGHEST)
    add_goal(rows, &count, descent, 1, -target);
  if (goal->wish != SEARCH_LOWEST)
    add_goal(rows, &count, descent, -1, target);
  return count;
}

// The largest value among rows of a kind, relative to which the program counts.
static double top_of(const struct row *rows, int count, bool goal) {
  double top = -out_of_reach;
  for (int r = 0; r < count; r++)
    if (rows[r].goal == goal)
      top = fmax(top, rows[r].value);
  return top;
}

static double scale_of(const struct row *rows, int count, int n, double radius) {
  double steepest = 0;
  for (int r = 0; r < count; r++)
    for (int k = 0; k < n; k++)
      steepest = fmax(steepest, fabs(rows[r].slope[k]));
  return steepest > 0 ? steepest * radius : 1;
}

// Columns of the program: the step in radii (1 .. n), the violation (n + 1) and the goal (n + 2),
// both as changes from the current one in units of `scale`.
static void set_columns(glp_prob *programme, const struct descent *descent, double radius,
                        double violation, double scale) {
  const int n = descent->search->dimensions;
  glp_add_cols(programme, n + 2);
  for (int k = 0; k < n; k++) {
    const double low = fmax(-1, -descent->here.at[k] / radius);
    const double high = fmin(1, (1 - descent->here.at[k]) / radius);
    glp_set_col_bnds(programme, k + 1, high > low ? GLP_DB : GLP_FX, low, high);
  }
  if (violation <= -out_of_reach) // nothing is bounded
    glp_set_col_bnds(programme, n + 1, GLP_FX, 0, 0);
  else if (descent->goal) // no credit for room to spare
    glp_set_col_bnds(programme, n + 1, GLP_LO, -violation / scale, 0);
  else
    glp_set_col_bnds(programme, n + 1, GLP_FR, 0, 0);
  glp_set_col_bnds(programme, n + 2, descent->goal ? GLP_FR : GLP_FX, 0, 0);
  glp_set_obj_coef(programme, n + 1, descent->goal ? descent->penalty : 1);
  glp_set_obj_coef(programme, n + 2, descent->goal ? 1 : 0);
}

static void set_row(glp_prob *programme, const struct row *row, int n, double radius, double top,
                    double scale) {
  int columns[MAX_SEARCH_DIMENSIONS + 2];
  double factors[MAX_SEARCH_DIMENSIONS + 2];
  const double room = (top - row->value) / scale;
  if (room > 2 * n + 2) // beyond reach within the radius
    return;
  const int number = glp_add_rows(programme, 1);
  for (int k = 0; k < n; k++) {
    columns[k + 1] = k + 1;
    factors[k + 1] = row->slope[k] * radius / scale;
  }
  columns[n + 1] = row->goal ? n + 2 : n + 1;
  factors[n + 1] = -1;
  glp_set_mat_row(programme, number, n + 1, columns, factors);
  glp_set_row_bnds(programme, number, GLP_UP, 0, room);
}

// The best step within the radius, according to the tangents.
struct tangents {
  const struct descent *descent;
  double radius, *step;
  bool found;
};

static void solve_tangents(void *context) {
  struct tangents *tangents = context;
  const struct descent *descent = tangents->descent;
  struct row rows[MAX_ROWS];
  const int n = descent->search->dimensions, count = rows_of(descent, rows);
  const double radius = tangents->radius, scale = scale_of(rows, count, n, radius);
  const double violation = top_of(rows, count, false), goal = top_of(rows, count, true);
  glp_prob *programme = glp_create_prob();
  set_columns(programme, descent, radius, violation, scale);
  for (int r = 0; r < count; r++)
    set_row(programme, &rows[r], n, radius, rows[r].goal ? goal : violation, scale);
  glp_smcp settings;
  glp_init_smcp(&settings);
  settings.msg_lev = GLP_MSG_OFF;
  settings.it_lim = 1000;
  tangents->found = !glp_simplex(programme, &settings) && glp_get_status(programme) == GLP_OPT;
  for (int k = 0; k < n && tangents->found; k++)
    tangents->step[k] = glp_get_col_prim(programme, k + 1) * radius;
  glp_delete_prob(programme);
}

// Finds the step by the linear program. Returns false if there is none.
static bool find_step(const struct descent *descent, double radius, double *step) {
  struct tangents tangents = {descent, radius, step, false};
  return solver_run(solve_tangents, &tangents) && tangents.found;
}

#else

bool search_available(void) {
  return false;
}

static bool find_step(const struct descent *descent, double radius, double *step) {
  (void)descent, (void)radius, (void)step;
  return false;
}

#endif

// ---- one descent

// Goes as far along the step as is best. Returns the share of the step, 0 if none improves.
static double walk(struct descent *descent, const double *step) {
  const struct search *search = descent->search;
  const size_t n = (size_t)search->dimensions;
  double points[STEP_LENGTHS * MAX_SEARCH_DIMENSIONS], values[STEP_LENGTHS * MAX_SEARCH_FUNCTIONS];
  for (int i = 0; i < STEP_LENGTHS; i++)
    for (size_t k = 0; k < n; k++)
      points[(size_t)i * n + k] = fmin(fmax(descent->here.at[k] + ldexp(step[k], -2 * i), 0), 1);
  search->evaluate(search->context, points, STEP_LENGTHS, values);
  const double before = worth(descent, &descent->here);
  double best = before, share = 0;
  struct search_point trial;
  struct search_point chosen = descent->here;
  for (int i = 0; i < STEP_LENGTHS; i++) {
    fill_point(search, descent->bounds, points + (size_t)i * n,
               values + (size_t)i * (size_t)search->functions, &trial);
    if (!(worth(descent, &trial) < best))
      continue;
    best = worth(descent, &trial);
    share = ldexp(1, -2 * i);
    chosen = trial;
  }
  descent->here = chosen;
  return share;
}

static void descend(struct descent *descent, int iterations) {
  double radius = first_radius;
  double step[MAX_SEARCH_DIMENSIONS];
  bool moved = true;
  for (int i = 0; i < iterations && radius > last_radius; i++) {
    if (moved)
      find_slopes(descent);
    if (!find_step(descent, radius, step))
      return;
    const double share = walk(descent, step);
    moved = share > 0;
    radius *= share >= 1 ? 2 : moved ? fmax(2 * share, 0.1) : 1. / 64;
    radius = fmin(radius, 1);
  }
}

// ---- from many starts

static void look_at(struct descent *descent, size_t point) {
  const struct search *search = descent->search;
  fill_point(search, descent->bounds, search->points + point * (size_t)search->dimensions,
             search->values + point * (size_t)search->functions, &descent->here);
}

static double distance(const struct search *search, size_t a, size_t b) {
  double largest = 0;
  for (size_t k = 0; k < (size_t)search->dimensions; k++)
    largest = fmax(largest, fabs(search->points[a * (size_t)search->dimensions + k] -
                                 search->points[b * (size_t)search->dimensions + k]));
  return largest;
}

// The best points of the global look, best first, that are far enough apart to be different.
static int top_starts(const struct descent *descent, const double *worths, size_t *chosen) {
  const struct search *search = descent->search;
  bool taken[SEARCH_POINTS] = {false};
  int count = 0;
  while (count < TOP_STARTS) {
    size_t best = SEARCH_POINTS;
    for (size_t i = 0; i < SEARCH_POINTS; i++)
      if (!taken[i] && (best == SEARCH_POINTS || worths[i] < worths[best]))
        best = i;
    if (best == SEARCH_POINTS)
      break;
    chosen[count++] = best;
    for (size_t i = 0; i < SEARCH_POINTS; i++)
      taken[i] |= distance(search, i, best) < 0.1;
  }
  return count;
}

// Adds the best start of every part of every coordinate, so that no valley crowds out all others.
static int add_bins(const struct descent *descent, const double *worths, size_t *chosen,
                    int count) {
  const struct search *search = descent->search;
  const size_t n = (size_t)search->dimensions;
  for (size_t k = 0; k < n; k++) {
    size_t best[BINS];
    for (int b = 0; b < BINS; b++)
      best[b] = SEARCH_POINTS;
    for (size_t i = 0; i < SEARCH_POINTS; i++) {
      const int bin = (int)(search->points[i * n + k] * BINS);
      if (best[bin] == SEARCH_POINTS || worths[i] < worths[best[bin]])
        best[bin] = i;
    }
    for (int b = 0; b < BINS && count < MAX_STARTS; b++) {
      bool known = false;
      for (int c = 0; c < count; c++)
        known |= chosen[c] == best[b];
      if (!known)
        chosen[count++] = best[b];
    }
  }
  return count;
}

static int choose_starts(struct descent *descent, size_t *chosen) {
  double worths[SEARCH_POINTS];
  for (size_t i = 0; i < SEARCH_POINTS; i++) {
    look_at(descent, i);
    worths[i] = worth(descent, &descent->here);
  }
  return add_bins(descent, worths, chosen, top_starts(descent, worths, chosen));
}

// Fills in the finalists, best first: the points reached by the first steps from every start, and
// `known`.
static int choose_finalists(struct descent *descent, const struct search_point *known,
                            struct search_point *finalists) {
  size_t starts[MAX_STARTS];
  double worths[FINALISTS];
  const int start_count = choose_starts(descent, starts);
  int count = 0;
  for (int i = known ? -1 : 0; i < start_count; i++) {
    if (i >= 0) {
      look_at(descent, starts[i]);
      descend(descent, FIRST_STEPS);
    } else
      fill_point(descent->search, descent->bounds, known->at, known->values, &descent->here);
    const double own = worth(descent, &descent->here);
    int place = count;
    while (place > 0 && own < worths[place - 1])
      place--;
    if (place == FINALISTS)
      continue;
    count += count < FINALISTS;
    for (int k = count - 1; k > place; k--) {
      finalists[k] = finalists[k - 1];
      worths[k] = worths[k - 1];
    }
    finalists[place] = descent->here;
    worths[place] = own;
  }
  return count;
}

void search_start(struct search *search, struct arena *arena) {
  const size_t n = (size_t)search->dimensions;
  search->points = arena_array(arena, SEARCH_POINTS * n + 1, sizeof *search->points);
  search->values =
      arena_array(arena, SEARCH_POINTS * (size_t)search->functions + 1, sizeof *search->values);
  for (size_t k = 0; k < n; k++) {
    uint32_t directions[SOBOL_BITS];
    sobol_directions((int)k, directions);
    for (uint32_t i = 0; i < SEARCH_POINTS; i++) {
      uint32_t bits = 0; // bit 0 is the first after the point
      for (int b = 0; b < SOBOL_BITS && i >> b; b++)
        bits ^= (i >> b & 1) ? directions[b] : 0;
      double x = 0;
      for (int b = 0; b < SOBOL_BITS; b++)
        x += (bits >> b & 1) ? ldexp(1, -1 - b) : 0;
      search->points[i * n + k] = x;
    }
  }
  search->evaluate(search->context, search->points, SEARCH_POINTS, search->values);
}

void search_least_violation(const struct search *search, const struct search_bound *bounds,
                            double enough, struct search_point *best) {
  struct descent descent = {.search = search, .bounds = bounds};
  struct search_point finalists[FINALISTS];
  const int count = choose_finalists(&descent, NULL, finalists);
  *best = finalists[0];
  for (int i = 0; i < count && best->violation > enough; i++) {
    descent.here = finalists[i];
    descend(&descent, ITERATIONS);
    if (descent.here.violation < best->violation)
      *best = descent.here;
  }
}

// Raises the penalty until the bounds are met. False if they cannot be.
static bool descend_within(struct descent *descent) {
  const struct search_point start = descent->here;
  descent->penalty = 10;
  for (int i = 0; i < PENALTIES; i++) {
    descend(descent, ITERATIONS);
    if (descent->here.violation <= SEARCH_TOLERANCE)
      return true;
    descent->penalty *= 100;
    if (i == PENALTIES / 2)
      descent->here = start;
  }
  // Goes back to the bounds from a point where the goal is nearly reached.
  const struct search_goal *goal = descent->goal;
  descent->goal = NULL;
  descend(descent, ITERATIONS);
  descent->goal = goal;
  return descent->here.violation <= SEARCH_TOLERANCE;
}

static void keep_better(const struct descent *descent, bool *found, struct search_point *best) {
  const struct search_goal *goal = descent->goal;
  const struct search_point *here = &descent->here;
  if (*found && !(goal_of(goal, here->at, here->values) < goal_of(goal, best->at, best->values)))
    return;
  *found = true;
  *best = *here;
}

bool search_best(const struct search *search, const struct search_bound *bounds,
                 const struct search_goal *goal, const struct search_point *known,
                 struct search_point *best) {
  struct descent descent = {.search = search, .bounds = bounds, .goal = goal, .penalty = 10};
  struct search_point finalists[FINALISTS];
  bool found = known != NULL;
  if (known)
    fill_point(search, bounds, known->at, known->values, best);
  const int count = choose_finalists(&descent, known, finalists);
  for (int i = 0; i < count; i++) {
    descent.here = finalists[i];
    if (descend_within(&descent))
      keep_better(&descent, &found, best);
    descent.penalty = 10;
  }
  return found;
}
