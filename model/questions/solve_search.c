#include "model/questions/solve_search.h"

#include "base/statistics.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum { PART_POINTS = 256, MAX_DOUBLINGS = 20, MAX_ITERATIONS = 200 };

// The largest gap that remains at a zero that is approached, not jumped over.
static const double small_gap = 1e-9;

struct search {
  struct solve_answer *answer;
  struct variation *variation; // one column
  double size;  // of the input's values: the scenario's or, if that is zero, one unit
  double dense; // up to here the points are dense; beyond, they double
};

// ---- the gap

static struct solve_costs costs_in(const struct solve_answer *answer,
                                   const struct variation *variation, size_t column) {
  return solve_costs(
      answer, variation_item(variation, answer->option, answer->item, column),
      answer->matches ? variation_item(variation, answer->match, answer->item, column) : NAN);
}

static struct solve_costs costs_at(double value, const struct search *search) {
  const struct solve_answer *answer = search->answer;
  variation_set(search->variation, answer->target, 0, answer->integer ? round(value) : value);
  variation_evaluate(search->variation);
  return costs_in(answer, search->variation, 0);
}

// The function whose root is sought, at one value.
static double gap_at(double value, void *context) {
  return solve_gap(costs_at(value, context));
}

static int sign_of(double gap) {
  return (gap > 0) - (gap < 0);
}

// ---- the points

// Where a contract ends the input's effect: a rate of damages that reaches their cap with the first
// week pays all there is. The cap may be drawn, or be another one for each option: then 100 %.
static double end_of_effect(const struct solve_answer *answer) {
  const struct scenario *scenario = answer->scenario;
  const int cap = model_find(scenario->model, "delay_damages_limit");
  const struct target of_cap = {cap, answer->target.option};
  if (cap < 0 || strcmp(target_input(scenario, answer->target)->name, "delay_damages") != 0)
    return INFINITY;
  bool fixed = answer->target.option >= 0;
  for (size_t i = 0; i < scenario->range_count; i++)
    fixed = fixed && scenario->ranges[i].declaration != cap;
  return fmax(fixed ? target_value(scenario, of_cap) : 1, answer->base);
}

// The input's limits. Without an upper limit, the points are dense up to twice the scenario's value
// or, if nothing has changed by then, up to the first of its doublings at which the sign has.
static void choose_interval(struct search *search) {
  struct solve_answer *answer = search->answer;
  struct limits limits = target_answered(answer->scenario, answer->target);
  limits.high = fmin(limits.high, end_of_effect(answer));
  answer->low = isfinite(limits.low) ? limits.low : -ldexp(search->size, MAX_DOUBLINGS);
  search->dense = answer->high = limits.high;
  if (isfinite(limits.high))
    return;
  const double start = gap_at(answer->low, search);
  search->dense = fmax(answer->low, 0) + 2 * search->size;
  answer->high = ldexp(search->dense, MAX_DOUBLINGS);
  bool changes = isfinite(start) && (solve_gap(answer->costs_base) > 0) != (start > 0);
  while (!changes && search->dense < answer->high) {
    const double end = gap_at(search->dense, search);
    changes = isfinite(end) && isfinite(start) && (end > 0) != (start > 0);
    search->dense *= changes ? 1 : 2;
  }
}

// Points on both sides of the scenario's value, whose distances from it grow geometrically; for a
// whole number, all of those beside it.
static size_t add_around_base(const struct search *search, double *points, size_t n) {
  const struct solve_answer *answer = search->answer;
  const double base = answer->base, ends[] = {answer->low, search->dense};
  if (!(base >= answer->low && base <= answer->high))
    return n;
  points[n++] = base;
  for (size_t side = 0; side < 2; side++) {
    const double farthest = ends[side] - base, nearest = 1e-6 * search->size;
    for (int i = 1; i < PART_POINTS / 2 && fabs(farthest) > nearest; i++)
      points[n++] =
          base + (answer->integer ? copysign(fmin(i, fabs(farthest)), farthest)
                                  : farthest * pow(nearest / fabs(farthest), 2. * i / PART_POINTS));
  }
  return n;
}

// The points to check: both ends, evenly spaced points, points whose distances from the low end
// grow geometrically, those around the scenario's value, and doublings up to the high end.
static size_t fill_points(const struct search *search, double *points) {
  const struct solve_answer *answer = search->answer;
  const double span = search->dense - answer->low;
  size_t n = 0, kept = 1;
  for (int i = 0; i <= PART_POINTS; i++)
    points[n++] = answer->low + span * i / PART_POINTS;
  for (int i = 1; i < PART_POINTS; i++)
    points[n++] = answer->low + span * pow(1e-9, (double)i / PART_POINTS);
  n = add_around_base(search, points, n);
  for (double beyond = 2 * search->dense; beyond <= answer->high && beyond > search->dense;
       beyond *= 2)
    points[n++] = beyond;
  for (size_t i = 0; i < n && answer->integer; i++)
    points[i] = round(points[i]);
  sort_ascending(points, n);
  for (size_t i = 1; i < n; i++)
    if (points[i] > points[kept - 1])
      points[kept++] = points[i];
  return kept;
}

// Returns the gap at every point.
static double *check_points(struct search *search, struct arena *arena, struct arena *scratch) {
  struct solve_answer *answer = search->answer;
  double *points = arena_array(arena, 3 * PART_POINTS + 1 + MAX_DOUBLINGS, sizeof *points);
  const size_t count = answer->point_count = fill_points(search, points);
  double *gaps = arena_array(scratch, count, sizeof *gaps);
  struct variation *block = variation_new(answer->scenario, count, scratch);
  for (size_t i = 0; i < count; i++)
    variation_set(block, answer->target, i, points[i]);
  variation_evaluate(block);
  const double base = solve_gap(answer->costs_base);
  answer->flat = isfinite(base);
  for (size_t i = 0; i < count; i++) {
    gaps[i] = solve_gap(costs_in(answer, block, i));
    const bool same = fabs(gaps[i] - base) < SOLVE_TIE || !isfinite(gaps[i]);
    answer->flat = answer->flat && same;
  }
  answer->points = points;
  answer->costs_low = costs_in(answer, block, 0);
  answer->costs_high = costs_in(answer, block, count - 1);
  return gaps;
}

// ---- between two points

static double refine(struct search *search, double low, double high) {
  gsl_function problem = {.function = gap_at, .params = search};
  gsl_root_fsolver *solver = gsl_root_fsolver_alloc(gsl_root_fsolver_brent);
  double root = NAN;
  if (solver && gsl_root_fsolver_set(solver, &problem, low, high) == GSL_SUCCESS) {
    for (int i = 0; i < MAX_ITERATIONS; i++) {
      if (gsl_root_fsolver_iterate(solver) != GSL_SUCCESS)
        break;
      root = gsl_root_fsolver_root(solver);
      if (gsl_root_test_interval(gsl_root_fsolver_x_lower(solver), gsl_root_fsolver_x_upper(solver),
                                 0, 1e-12) == GSL_SUCCESS)
        break;
    }
  }
  if (solver)
    gsl_root_fsolver_free(solver);
  return root;
}

static bool is_above(double gap) {
  return gap > 0;
}

// Near a threshold, counts that are rounded up leave a trace of the share that they neglect.
static bool is_tie(double gap) {
  return fabs(gap) < small_gap;
}

// Halves the interval, whose ends differ in what `is` says of them, until no number, or no whole
// number, lies between its two ends.
static struct solve_sides close_in(struct search *search, double low, double high,
                                   bool (*is)(double gap)) {
  const bool integer = search->answer->integer;
  struct solve_sides sides = {.below = low,
                              .above = high,
                              .costs_below = costs_at(low, search),
                              .costs_above = costs_at(high, search)};
  const double least = integer ? 1 : 0x1p-51 * fmax(fabs(low), fabs(high));
  while (sides.above - sides.below > least) {
    const double half = sides.below + (sides.above - sides.below) / 2;
    const double middle = integer ? floor(half) : half;
    const struct solve_costs there = costs_at(middle, search);
    if (middle <= sides.below || middle >= sides.above)
      break;
    if (is(solve_gap(there)) == is(solve_gap(sides.costs_below))) {
      sides.below = middle;
      sides.costs_below = there;
    } else {
      sides.above = middle;
      sides.costs_above = there;
    }
  }
  return sides;
}

// The same root again is a single whole number that is cheap enough between two that are not.
static void add_root(struct solve_answer *answer, double root, struct solve_sides sides) {
  if (answer->count && answer->roots[answer->count - 1] == root) {
    struct solve_sides *last = &answer->sides[answer->count - 1];
    last->after = sides.after;
    last->above = sides.above;
    last->costs_above = sides.costs_above;
    return;
  }
  if (answer->count == MAX_SOLVE_ROOTS) {
    answer->more = true;
    return;
  }
  answer->by_stretches = answer->by_stretches || sides.jumps || sides.ties;
  answer->sides[answer->count] = sides;
  answer->roots[answer->count++] = root;
}

static void add_exact(struct solve_answer *answer, double root, int before, int after) {
  add_root(answer, root,
           (struct solve_sides){.below = root, .above = root, .before = before, .after = after});
}

// The sign changes between the two: at a zero, a jump or a pole.
static void add_crossing(struct search *search, double low, double high) {
  struct solve_answer *answer = search->answer;
  const double root = answer->integer ? NAN : refine(search, low, high);
  const int before = sign_of(gap_at(low, search)), after = sign_of(gap_at(high, search));
  if (isfinite(root) && fabs(gap_at(root, search)) < 1e-6) {
    add_exact(answer, root, before, after);
    return;
  }
  struct solve_sides sides = close_in(search, low, high, is_above);
  const double gap_below = solve_gap(sides.costs_below), gap_above = solve_gap(sides.costs_above);
  const double cheap = fmin(gap_below, gap_above);
  sides.jumps = fabs(cheap) > small_gap;
  sides.before = before;
  sides.after = after;
  if (fabs(gap_below) < SOLVE_POLE && fabs(gap_above) < SOLVE_POLE)
    add_root(answer, gap_below == cheap ? sides.below : sides.above, sides);
}

// ---- values that cost as much as wanted

// One end of a stretch of zeros, between a point in it and the next one outside.
static void add_tie_end(struct search *search, struct solve_sides sides, bool is_low_end) {
  const double outside = solve_gap(is_low_end ? sides.costs_below : sides.costs_above);
  struct solve_costs *inside = is_low_end ? &sides.costs_above : &sides.costs_below;
  inside->cost = inside->wanted;
  sides.ties = true;
  sides.jumps = fabs(outside) > small_gap;
  sides.before = sign_of(solve_gap(sides.costs_below));
  sides.after = sign_of(solve_gap(sides.costs_above));
  add_root(search->answer, is_low_end ? sides.above : sides.below, sides);
}

// The points from `first` to `last` are zeros: a stretch of them, or a single one.
static void add_tie(struct search *search, const double *gaps, size_t first, size_t last) {
  struct solve_answer *answer = search->answer;
  const double *points = answer->points, narrow = answer->integer ? 0 : 1e-4;
  const bool begins = first > 0 && isfinite(gaps[first - 1]);
  const bool ends = last + 1 < answer->point_count && isfinite(gaps[last + 1]);
  struct solve_sides low = {.above = points[first]}, high = {.below = points[last]};
  if (begins)
    low = close_in(search, points[first - 1], points[first], is_tie);
  if (ends)
    high = close_in(search, points[last], points[last + 1], is_tie);
  if (high.below - low.above <=
      narrow * fmax(search->size, fmax(fabs(low.above), fabs(high.below)))) {
    const int before = sign_of(solve_gap(low.costs_below)),
              after = sign_of(solve_gap(high.costs_above));
    add_exact(answer, points[first], begins ? before : after, ends ? after : before);
    return;
  }
  if (begins)
    add_tie_end(search, low, true);
  if (ends)
    add_tie_end(search, high, false);
}

static void find_roots(struct search *search, const double *gaps) {
  const struct solve_answer *answer = search->answer;
  const size_t count = answer->point_count;
  for (size_t i = 0, last; i < count; i = last + 1) {
    last = i;
    while (gaps[i] == 0 && last + 1 < count && gaps[last + 1] == 0)
      last++;
    if (gaps[i] == 0)
      add_tie(search, gaps, i, last);
    else if (i + 1 < count && isfinite(gaps[i]) && isfinite(gaps[i + 1]) &&
             sign_of(gaps[i]) == -sign_of(gaps[i + 1]))
      add_crossing(search, answer->points[i], answer->points[i + 1]);
  }
}

// ---- the stretches

static void add_stretch(struct solve_answer *answer, double from, double to) {
  answer->stretches[answer->stretch_count++] = (struct solve_stretch){from, to};
}

// Joins the roots to stretches of the values that cost no more than wanted. Where one that is not
// listed would end the last of them, that is left out.
static void find_stretches(struct solve_answer *answer) {
  bool open = answer->count && answer->sides[0].before <= 0;
  double from = -INFINITY;
  for (size_t i = 0; i < answer->count; i++) {
    const double root = answer->roots[i];
    if (!open)
      from = root;
    open = answer->sides[i].after <= 0;
    if (!open)
      add_stretch(answer, from, root);
  }
  if (open && !answer->more)
    add_stretch(answer, from, INFINITY);
}

void solve_search(struct solve_answer *answer, bool interval_given, struct arena *arena) {
  const double unit = unit_factor(&target_input(answer->scenario, answer->target)->unit);
  struct arena scratch = {NULL}; // every option's complete evaluation, once per point
  struct search search = {.answer = answer,
                          .variation = variation_new(answer->scenario, 1, arena),
                          .size = answer->base != 0 ? fabs(answer->base) : unit,
                          .dense = answer->high};
  gsl_set_error_handler_off();
  answer->costs_base = costs_at(answer->base, &search);
  if (!interval_given)
    choose_interval(&search);
  const double *gaps = check_points(&search, arena, &scratch);
  if (!answer->flat)
    find_roots(&search, gaps);
  find_stretches(answer);
  arena_free(&scratch);
}
