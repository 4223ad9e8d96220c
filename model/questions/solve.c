#include "model/questions/solve.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_math.h>
#include <gsl/gsl_roots.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct place nowhere = {0};

enum { GRID_POINTS = 512, MAX_DOUBLINGS = 20, MAX_ITERATIONS = 200 };

// The wanted cost of the option: another option's cost, or an amount of money.
static int read_wanted(struct solve_answer *answer, const struct solve_question *question,
                       struct diagnostics *diagnostics) {
  const struct scenario *scenario = answer->scenario;
  const int in_usd = model_find(scenario->model, "cost_per_mtok_usd");
  if (question->target && in_usd >= 0 && text_has_currency(question->target, "USD"))
    answer->item = in_usd;
  const struct unit *unit = &scenario->model->declarations[answer->item].unit;
  if (question->target && question->match) {
    diagnostics_error(diagnostics, nowhere, "--match and --target exclude each other");
    return -1;
  }
  if (question->target) {
    const struct place place = source_text_start("--target", question->target, diagnostics->arena);
    if (quantity_parse(question->target, place, unit, &answer->wanted_cost, diagnostics))
      return -1;
    if (answer->wanted_cost > 0)
      return 0;
    diagnostics_error(diagnostics, place, "a target must be above zero, not %s", question->target);
    return -1;
  }
  answer->matches = true;
  answer->match = scenario->baseline;
  if (question->match &&
      option_named(scenario, question->match, nowhere, &answer->match, diagnostics))
    return -1;
  if (answer->match != answer->option)
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "option '%s' cannot be matched with itself: name another with --match, or a "
                    "cost with --target",
                    scenario->options[answer->option].id);
  return -1;
}

static int read_bound(const char **text, double *value) {
  char *end;
  *value = strtod(*text, &end);
  const int bad = end == *text || !isfinite(*value);
  *text = end;
  return bad ? -1 : 0;
}

static int read_between(struct solve_answer *answer, const char *text,
                        struct diagnostics *diagnostics) {
  const struct declaration *input = target_input(answer->scenario, answer->target);
  const struct limits limits = target_limits(answer->scenario, answer->target);
  const struct place place = source_text_start("--between", text, diagnostics->arena);
  const char *rest = text;
  struct unit unit = input->unit;
  bool bad = read_bound(&rest, &answer->low) || *rest++ != ':' || read_bound(&rest, &answer->high);
  if (!bad) {
    rest += strspn(rest, " ");
    if (*rest && unit_parse(rest, place, &unit, diagnostics->arena, diagnostics))
      return -1;
    bad = !dimension_equal(unit.dimension, input->unit.dimension);
  }
  answer->low *= unit_factor(&unit);
  answer->high *= unit_factor(&unit);
  answer->reach = answer->high;
  if (bad || answer->low >= answer->high) {
    diagnostics_error(diagnostics, place,
                      "expected LOW:HIGH in ascending order with one unit, as in '1:2 %s'",
                      input->unit.text);
    return -1;
  }
  if (answer->low >= limits.low && answer->high <= limits.high)
    return 0;
  diagnostics_error(diagnostics, place, "'%s' is outside the allowed range of '%s'", text,
                    input->name);
  return -1;
}

// cost / wanted cost - 1 in a column.
static double gap_in(const struct solve_answer *answer, const struct variation *variation,
                     size_t column) {
  const double cost = variation_item(variation, answer->option, answer->item, column);
  const double wanted = answer->matches
                            ? variation_item(variation, answer->match, answer->item, column)
                            : answer->wanted_cost;
  return cost / (wanted * (1 - answer->saving)) - 1;
}

// The function whose root is sought, at one value.
struct gap {
  const struct solve_answer *answer;
  struct variation *variation; // one column
};

static double gap_at(double value, void *context) {
  const struct gap *gap = context;
  const struct solve_answer *answer = gap->answer;
  variation_set(gap->variation, answer->target, 0, answer->integer ? round(value) : value);
  variation_evaluate(gap->variation);
  return gap_in(answer, gap->variation, 0);
}

// The default interval: the input's limits; without an upper limit, it is doubled until the sign
// changes.
static void choose_interval(struct solve_answer *answer, struct gap *gap) {
  const struct limits limits = target_limits(answer->scenario, answer->target);
  const double unit = unit_factor(&target_input(answer->scenario, answer->target)->unit);
  const double size = answer->base != 0 ? fabs(answer->base) : unit;
  answer->low = isfinite(limits.low) ? limits.low : -size * ldexp(1, MAX_DOUBLINGS);
  answer->reach = answer->high = limits.high;
  if (isfinite(limits.high))
    return;
  const double start = gap_at(answer->low, gap);
  answer->high = fmax(answer->low, 0) + 2 * size;
  answer->reach = ldexp(answer->high, MAX_DOUBLINGS);
  for (int i = 0; i < MAX_DOUBLINGS; i++) {
    const double end = gap_at(answer->high, gap);
    if (isfinite(end) && isfinite(start) && (end > 0) != (start > 0))
      return;
    answer->high *= 2;
  }
}

static int ascending(const void *a, const void *b) {
  const double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

// The points to check: both ends, evenly spaced points, and points whose distances from the low end
// grow geometrically.
static double *grid_points(const struct solve_answer *answer, size_t *count, struct arena *arena) {
  const double span = answer->high - answer->low;
  double *points = arena_array(arena, GRID_POINTS + 1, sizeof *points);
  const int half = GRID_POINTS / 2;
  size_t n = 0;
  for (int i = 0; i <= half; i++)
    points[n++] = answer->low + span * i / half;
  for (int i = 1; i < half; i++)
    points[n++] = answer->low + span * pow(1e-9, (double)i / half);
  if (answer->integer)
    for (size_t i = 0; i < n; i++)
      points[i] = round(points[i]);
  qsort(points, n, sizeof *points, ascending);
  size_t kept = 1;
  for (size_t i = 1; i < n; i++)
    if (points[i] > points[kept - 1])
      points[kept++] = points[i];
  *count = kept;
  return points;
}

static double refine(struct gap *gap, double low, double high) {
  gsl_function problem = {.function = gap_at, .params = gap};
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

// Halves the interval until no number, or no whole number, lies between its two ends.
static struct solve_sides close_in(struct gap *gap, double low, double high) {
  struct solve_sides sides = {true, low, high, gap_at(low, gap), gap_at(high, gap)};
  const double least = gap->answer->integer ? 1 : 0x1p-51 * fmax(fabs(low), fabs(high));
  while (sides.above - sides.below > least) {
    const double half = sides.below + (sides.above - sides.below) / 2;
    const double middle = gap->answer->integer ? floor(half) : half;
    const double there = gap_at(middle, gap);
    if (middle <= sides.below || middle >= sides.above)
      break;
    if ((there > 0) == (sides.gap_below > 0)) {
      sides.below = middle;
      sides.gap_below = there;
    } else {
      sides.above = middle;
      sides.gap_above = there;
    }
  }
  return sides;
}

static void add_root(struct solve_answer *answer, double root, struct solve_sides sides) {
  if (answer->count && answer->roots[answer->count - 1] == root)
    return;
  if (answer->count == MAX_SOLVE_ROOTS) {
    answer->more = true;
    return;
  }
  answer->sides[answer->count] = sides;
  answer->roots[answer->count++] = root;
}

static void add_exact(struct solve_answer *answer, double root) {
  add_root(answer, root, (struct solve_sides){.below = root, .above = root});
}

// The sign changes between the two: at a zero, a jump or a pole.
static void add_crossing(struct solve_answer *answer, struct gap *gap, double low, double high) {
  const double root = answer->integer ? NAN : refine(gap, low, high);
  if (isfinite(root) && fabs(gap_at(root, gap)) < 1e-6) {
    add_exact(answer, root);
    return;
  }
  struct solve_sides sides = close_in(gap, low, high);
  const double cheap = fmin(sides.gap_below, sides.gap_above);
  sides.jumps = fabs(cheap) > 1e-9;
  if (fabs(sides.gap_below) < SOLVE_POLE && fabs(sides.gap_above) < SOLVE_POLE)
    add_root(answer, sides.gap_below == cheap ? sides.below : sides.above, sides);
}

static void find_roots(struct solve_answer *answer, struct gap *gap, struct arena *arena) {
  size_t count;
  const double *points = answer->points = grid_points(answer, &count, arena);
  answer->point_count = count;
  struct arena scratch = {NULL}; // every option's complete evaluation, once per point
  struct variation *block = variation_new(answer->scenario, count, &scratch);
  for (size_t i = 0; i < count; i++)
    variation_set(block, answer->target, i, points[i]);
  variation_evaluate(block);
  answer->gap_low = gap_in(answer, block, 0);
  answer->gap_high = gap_in(answer, block, count - 1);
  for (size_t i = 0; i + 1 < count; i++) {
    const double left = gap_in(answer, block, i), right = gap_in(answer, block, i + 1);
    if (left == 0)
      add_exact(answer, points[i]);
    if (isfinite(left) && isfinite(right) && left * right < 0)
      add_crossing(answer, gap, points[i], points[i + 1]);
  }
  if (answer->gap_high == 0)
    add_exact(answer, points[count - 1]);
  arena_free(&scratch);
}

const struct solve_answer *solve_ask(const struct scenario *scenario,
                                     const struct solve_question *question, struct arena *arena,
                                     struct diagnostics *diagnostics) {
  struct solve_answer *answer = arena_alloc(arena, sizeof *answer);
  *answer = (struct solve_answer){.scenario = scenario, .saving = question->saving};
  answer->item = model_require(scenario->model, "cost_per_mtok", diagnostics);
  if (answer->item < 0 ||
      option_named(scenario, question->option, nowhere, &answer->option, diagnostics) ||
      target_of_option(scenario, answer->option, question->input, nowhere, &answer->target,
                       diagnostics) ||
      read_wanted(answer, question, diagnostics))
    return NULL;
  gsl_set_error_handler_off();
  answer->name = target_name(scenario, answer->target, arena);
  answer->base = target_value(scenario, answer->target);
  answer->integer = target_input(scenario, answer->target)->integer;
  struct gap gap = {answer, variation_new(scenario, 1, arena)};
  answer->gap_base = gap_at(answer->base, &gap);
  if (!question->between)
    choose_interval(answer, &gap);
  else if (read_between(answer, question->between, diagnostics))
    return NULL;
  find_roots(answer, &gap, arena);
  return answer;
}
