#include "model/scenario/reading/range.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/chance/distribution_text.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/schedule.h"
#include "model/evidence/evidence.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/refusal.h"
#include "model/scenario/reading/sections.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/source_spread.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix_double.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

double correlation_of_normals(double rank) {
  return 2 * sin(M_PI * rank / 6);
}

// A range in %, or any range of an input that is a list by year in some case, applies to its scale.
static int ranged(const struct scenario *scenario, int option, int declaration, const char *text) {
  const struct model *model = scenario->model;
  if (declaration < 0 || model->declarations[declaration].scale < 0)
    return declaration;
  const struct declaration *input = &model->declarations[declaration];
  struct arena scratch = {NULL};
  const struct figure **figures =
      arena_array(&scratch, (size_t)model->count, sizeof(const struct figure *));
  bool is_list = false;
  for (size_t c = 0; c < scenario->case_count; c++) {
    inputs_resolve(scenario, option, c, figures);
    is_list |= figures[declaration]->year_count > 0;
  }
  arena_free(&scratch);
  return is_list || range_is_scale(input, text) ? input->scale : declaration;
}

static bool read_range(struct reading *reading, const struct ini_key *key, struct range *range) {
  const struct model *model = reading->scenario->model;
  const struct prefixed of = reading_prefixed(reading, key->name);
  const int named = ranged(reading->scenario, of.option, model_find(model, of.name), key->value);
  const int d = model_stated(model, named, key->value);
  *range =
      (struct range){.key = key->name, .place = key->place, .declaration = d, .option = of.option};
  if ((of.id && of.option < 0) || d < 0 || model->declarations[d].kind != DECLARATION_INPUT) {
    refuse_key(reading, reading_section(reading, "range"), key);
    return false;
  }
  return !distribution_parse(key->value, key->value_place, &model->declarations[d],
                             &range->distribution, reading->arena, reading->diagnostics);
}

// The range with a key of [range], however bad its value; or -1 after an error.
static int correlated_range(struct reading *reading, const char *name, struct place place) {
  const struct ini_section *section = reading_section(reading, "range");
  const struct scenario *scenario = reading->scenario;
  for (size_t r = 0; r < scenario->range_count; r++)
    if (!strcmp(scenario->ranges[r].key, name))
      return (int)r;
  if (section && ini_find(section, name))
    return -1;
  size_t count = scenario->range_count <= MAX_CANDIDATES ? scenario->range_count : 0;
  const char **names = arena_array(reading->arena, count + 1, sizeof *names);
  for (size_t r = 0; r < count; r++)
    names[r] = scenario->ranges[r].key;
  diagnostics_error(reading->diagnostics, place, "'%s' has no range to correlate%s", name,
                    name_hint(name, names, count, reading->arena));
  return -1;
}

static bool read_rank(struct reading *reading, const struct ini_key *key, double *rank) {
  bool negative = *key->value == '-';
  size_t length = number_prefix(key->value + negative, rank);
  *rank = negative ? -*rank : *rank;
  if (length && !key->value[negative + length] && fabs(*rank) <= 1)
    return true;
  diagnostics_error(reading->diagnostics, key->value_place,
                    "expected a rank correlation within -1 and 1, not '%s'", key->value);
  return false;
}

static bool read_correlation(struct reading *reading, const struct ini_key *key,
                             struct correlation *correlation) {
  const char *comma = strchr(key->name, ',');
  if (!comma || strchr(comma + 1, ',')) {
    diagnostics_error(reading->diagnostics, key->place,
                      "expected two ranged inputs and their rank correlation, as in 'a, b = 0.3'");
    return false;
  }
  size_t length = (size_t)(comma - key->name), space = strspn(comma + 1, " \t");
  while (length && strchr(" \t", key->name[length - 1]))
    length--;
  struct place second = key->place;
  second.column += (int)(comma + 1 + space - key->name);
  int a = correlated_range(reading, arena_copy_n(reading->arena, key->name, length), key->place);
  int b = correlated_range(reading, comma + 1 + space, second);
  *correlation = (struct correlation){.place = key->place};
  bool good = read_rank(reading, key, &correlation->rank) && a >= 0 && b >= 0;
  if (a >= 0 && a == b)
    diagnostics_error(reading->diagnostics, second, "an input cannot be correlated with itself");
  correlation->a = (size_t)(a < b ? a : b);
  correlation->b = (size_t)(a < b ? b : a);
  return good && a != b;
}

// "b, a" after "a, b" repeats it or contradicts it.
static bool is_repeated(struct reading *reading, const struct correlation *correlation) {
  const struct scenario *scenario = reading->scenario;
  for (size_t c = 0; c < scenario->correlation_count; c++) {
    const struct correlation *other = &scenario->correlations[c];
    if (other->a != correlation->a || other->b != correlation->b)
      continue;
    if (other->rank != correlation->rank)
      diagnostics_error(reading->diagnostics, correlation->place,
                        "'%s' and '%s' are correlated twice: %g here and %g in line %d",
                        scenario->ranges[other->a].key, scenario->ranges[other->b].key,
                        correlation->rank, other->rank, other->place.line);
    return true;
  }
  return false;
}

static bool has_own_range(const struct scenario *scenario, int option, int declaration) {
  for (size_t r = 0; r < scenario->range_count; r++)
    if (scenario->ranges[r].option == option && scenario->ranges[r].declaration == declaration)
      return true;
  return false;
}

static void add_range(struct scenario *scenario, struct range range) {
  range.drawn_as = scenario->range_count;
  scenario->ranges[scenario->range_count++] = range;
  scenario->is_ranged[range.declaration] = true;
}

// Adds the ranges of published rows without a distribution: the rows are known only once the
// options are resolved.
static void add_ranges_of_rows(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const int throughput = model_find(scenario->model, "throughput");
  for (size_t o = 0; o < scenario->option_count && throughput >= 0; o++) {
    const struct ini_key *key = selection_of(&scenario->selections[1 + o], SELECT_SPREAD);
    const char *id = scenario->options[o].id;
    if (!key || strcmp(key->value, "yes") != 0)
      continue;
    if (has_own_range(scenario, (int)o, throughput))
      diagnostics_error(reading->diagnostics, key->place,
                        "option '%s' already has a range for its throughput in [range]", id);
    else
      add_range(scenario, (struct range){.key = arena_printf(reading->arena, "%s.throughput", id),
                                         .place = key->place,
                                         .declaration = throughput,
                                         .option = (int)o,
                                         .of_rows = true});
  }
}

void ranges_read(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const struct ini_section *ranges = reading_section(reading, "range");
  const struct ini_section *correlate = reading_section(reading, "correlate");
  size_t count = ranges ? ranges->key_count : 0, pairs = correlate ? correlate->key_count : 0;
  size_t most = count + scenario->option_count; // ranges, and correlations that follow from them
  scenario->ranges = arena_array(reading->arena, most + 1, sizeof *scenario->ranges);
  scenario->is_ranged =
      arena_array(reading->arena, (size_t)scenario->model->count, sizeof *scenario->is_ranged);
  scenario->correlations =
      arena_array(reading->arena, pairs + most + 1, sizeof *scenario->correlations);
  for (size_t k = 0; k < count; k++) {
    struct range range;
    if (read_range(reading, &ranges->keys[k], &range))
      add_range(scenario, range);
  }
  add_ranges_of_rows(reading);
  for (size_t k = 0; k < pairs; k++) {
    struct correlation *next = &scenario->correlations[scenario->correlation_count];
    if (read_correlation(reading, &correlate->keys[k], next) && !is_repeated(reading, next))
      scenario->correlation_count++;
  }
}

static bool is_correlated(const struct scenario *scenario, size_t range) {
  for (size_t c = 0; c < scenario->correlation_count; c++)
    if (scenario->correlations[c].a == range || scenario->correlations[c].b == range)
      return true;
  return false;
}

// Whether the rows give a range.
static bool complete_rows(struct reading *reading, struct range *range, size_t number) {
  const struct scenario *scenario = reading->scenario;
  const struct evidence *evidence = scenario->options[range->option].evidence;
  const char *id = scenario->options[range->option].id;
  if (!evidence)
    diagnostics_error(reading->diagnostics, range->place,
                      "option '%s' has no published throughputs to form a range from", id);
  else if (evidence->candidates.submitters > 1)
    range->distribution = source_spread_of_rows(evidence, reading->arena);
  else if (is_correlated(scenario, number))
    diagnostics_error(reading->diagnostics, range->place,
                      "'%s' has no range to correlate: there is one submitter", range->key);
  return evidence && evidence->candidates.submitters > 1;
}

// The ranges of evidence are the last of all ranges, so only their own numbers change if one of
// them is dropped.
void ranges_of_evidence(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const size_t count = scenario->range_count;
  scenario->range_count = 0;
  for (size_t r = 0; r < count; r++) {
    struct range range = scenario->ranges[r];
    if (range.of_rows && !complete_rows(reading, &range, r))
      continue;
    for (size_t c = 0; c < scenario->correlation_count; c++) {
      struct correlation *correlation = &scenario->correlations[c];
      correlation->a = correlation->a == r ? scenario->range_count : correlation->a;
      correlation->b = correlation->b == r ? scenario->range_count : correlation->b;
    }
    add_range(scenario, range);
  }
}

static bool takes_common(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE && figure->origin != ORIGIN_RENT && !figure_is_own(figure);
}

bool ranges_name(const struct scenario *scenario, size_t option, int declaration) {
  for (size_t r = 0; r < scenario->range_count; r++) {
    const struct range *range = &scenario->ranges[r];
    if (range->declaration == declaration && (range->option < 0 || (size_t)range->option == option))
      return true;
  }
  return false;
}

int option_stated_range(const struct scenario *scenario, const struct option *option,
                        int declaration) {
  if (!scenario->range_count || !scenario->is_ranged[declaration])
    return -1;
  const struct figure *figure = option_figure(scenario, option, scenario->selected, declaration);
  if (option_is_lent(option, declaration))
    return option_stated_range(scenario, &scenario->options[option->lender], declaration);
  int found = -1, number = (int)(option - scenario->options);
  if (option->graph->state[declaration] != GRAPH_INPUT || figure->origin == ORIGIN_RENT ||
      figure->contained || figure_is_what_if(figure))
    return -1;
  for (size_t r = 0; r < scenario->range_count; r++) {
    const struct range *range = &scenario->ranges[r];
    if (range->declaration != declaration)
      continue;
    if (range->option == number)
      return (int)r;
    if (range->option < 0 && takes_common(figure))
      found = (int)r;
  }
  return found;
}

int option_range(const struct scenario *scenario, const struct option *option, int declaration) {
  const int stated = option_stated_range(scenario, option, declaration);
  return stated < 0 ? -1 : (int)scenario->ranges[stated].drawn_as;
}

// Whether what holds for all options in a case, of the input that may be a list, is a list by year.
static bool has_common_list(const struct scenario *scenario, size_t which_case, int list) {
  for (enum origin origin = ORIGIN_SET_OPTION; origin >= ORIGIN_COMMON; origin--) {
    const struct layer layer = {origin, -1, which_case};
    const struct figure *said =
        origin_layers[origin].of_option ? NULL : inputs_said(scenario->inputs, layer, list);
    if (said)
      return said->year_count > 0;
  }
  return false;
}

bool option_scales_own(const struct scenario *scenario, const struct option *option,
                       size_t which_case, int declaration) {
  const int list = scenario->model->declarations[declaration].scale_of;
  if (list < 0 || option_figure(scenario, option, which_case, declaration)->text)
    return false;
  for (size_t r = 0; r < scenario->range_count; r++)
    if (scenario->ranges[r].declaration == declaration && scenario->ranges[r].option < 0)
      return false;
  return figure_is_of_option(option_figure(scenario, option, which_case, list)) &&
         !has_common_list(scenario, which_case, list);
}

static void refuse_contained(struct reading *reading, const struct range *range, const char *name) {
  diagnostics_error(reading->diagnostics, range->place,
                    "a range on '%s' has no effect: it is part of the power of the whole node, "
                    "which was measured",
                    name);
}

// An option's own range: the option must have the input, and pay for it.
static void check_own(struct reading *reading, const struct range *range) {
  const struct scenario *scenario = reading->scenario;
  const struct option *option = &scenario->options[range->option];
  const char *name = scenario->model->declarations[range->declaration].name;
  int state = option->graph->state[range->declaration];
  const struct figure *figure = option_figure(scenario, option, 0, range->declaration);
  if (state >= 0)
    diagnostics_error(
        reading->diagnostics, range->place,
        "a range on '%s', which option '%s' otherwise computes: give it a value there", name,
        option->id);
  else if (state == GRAPH_ABSENT)
    diagnostics_error(reading->diagnostics, range->place, "option '%s' has no '%s'", option->id,
                      name);
  else if (figure->origin == ORIGIN_RENT)
    refuse_rented(reading->diagnostics, range->place, name, option->id);
  else if (figure->contained)
    refuse_contained(reading, range, name);
}

// Whether the option takes the common value, or would without a --set of its own.
static bool would_take_common(const struct scenario *scenario, int option, int declaration) {
  const struct declaration *input = &scenario->model->declarations[declaration];
  const struct figure *figure = option_figure(scenario, &scenario->options[option], 0, declaration);
  const struct layer own = {ORIGIN_OPTION, option, 0};
  return takes_common(figure) ||
         (figure->origin == ORIGIN_SET_OPTION &&
          !inputs_said(scenario->inputs, own, input->usd_of < 0 ? declaration : input->usd_of));
}

static void check_common(struct reading *reading, const struct range *range) {
  const struct scenario *scenario = reading->scenario;
  const char *name = scenario->model->declarations[range->declaration].name, *list = "";
  bool taken = false, contained = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    bool own = has_own_range(scenario, (int)o, range->declaration);
    if (option->graph->state[range->declaration] >= 0 && !own) {
      diagnostics_error(reading->diagnostics, range->place,
                        "a range on '%s', which option '%s' otherwise computes: give it a value "
                        "in [common]",
                        name, option->id);
      return;
    }
    const struct figure *figure = option_figure(scenario, option, 0, range->declaration);
    contained |= figure->contained;
    taken |= option->graph->state[range->declaration] == GRAPH_INPUT && !figure->contained &&
             would_take_common(scenario, (int)o, range->declaration);
    list = arena_printf(reading->arena, "%s%s%s.%s", list, o ? " or " : "", option->id, name);
  }
  if (!taken && contained)
    refuse_contained(reading, range, name);
  else if (!taken)
    diagnostics_error(reading->diagnostics, range->place,
                      "no option uses a common '%s': name the option, %s", name, list);
}

static void complete_measured(struct reading *reading, struct range *range) {
  static const char *const measured[] = {"decode_throughput", "load_power", "idle_power"};
  const struct scenario *scenario = reading->scenario;
  const char *name = scenario->model->declarations[range->declaration].name;
  const struct option *option = range->option < 0 ? NULL : &scenario->options[range->option];
  bool known = false;
  for (size_t i = 0; i < sizeof measured / sizeof measured[0]; i++)
    known |= !strcmp(name, measured[i]);
  if (!option || !known)
    diagnostics_error(reading->diagnostics, range->place,
                      "only OPTION.decode_throughput, OPTION.load_power and OPTION.idle_power can "
                      "be 'from measurement'");
  else if (!source_spread_is_recorded(scenario, option, range->declaration))
    diagnostics_error(reading->diagnostics, range->place,
                      "'%s' of option '%s' does not come from a probe record", name, option->id);
  else if (source_spread_of_record(scenario, option, range->declaration, &range->distribution,
                                   reading->arena))
    diagnostics_error(reading->diagnostics, range->place,
                      "the record of option '%s' has too few independent samples to tell how "
                      "uncertain '%s' is: state the range itself",
                      option->id, name);
}

// A range may take an input above zero that has no effect without another one.
static void check_companion(struct reading *reading, const struct range *range) {
  const struct scenario *scenario = reading->scenario;
  const struct model *model = scenario->model;
  for (int d = 0; d < model->count; d++)
    for (size_t o = 0; o < scenario->option_count; o++) {
      const struct option *option = &scenario->options[o];
      if (model->declarations[d].needed_with != range->declaration)
        continue;
      bool silent = option_figure(scenario, option, 0, d)->origin == ORIGIN_DEFAULT &&
                    option_range(scenario, option, d) < 0;
      if (!silent || range->distribution.high <= 0 ||
          option_stated_range(scenario, option, range->declaration) !=
              (int)(range - scenario->ranges))
        continue;
      diagnostics_error(reading->diagnostics, range->place,
                        "option '%s' may have '%s' and so needs '%s' (%s)", option->id,
                        model->declarations[range->declaration].name, model->declarations[d].name,
                        model->declarations[d].unit.text);
    }
}

// Every draw would keep what was found for the value that is stated. A --set makes it certain.
static void refuse_finding(struct reading *reading, const struct range *range) {
  const struct scenario *scenario = reading->scenario;
  const char *fixed = scenario_why_fixed(scenario, range->declaration, reading->arena);
  bool drawn = false;
  for (size_t o = 0; o < scenario->option_count && fixed && !drawn; o++)
    drawn = option_stated_range(scenario, &scenario->options[o], range->declaration) ==
            (int)(range - scenario->ranges);
  if (drawn)
    diagnostics_error(reading->diagnostics, range->place, "a range on '%s' is not drawn: %s",
                      scenario->model->declarations[range->declaration].name, fixed);
}

static bool is_sourced(const struct range *range) {
  return range->of_rows || range->distribution.kind == DISTRIBUTION_MEASURED;
}

static bool are_one_quantity(const struct scenario *scenario, const struct range *one,
                             const struct range *other) {
  return is_sourced(one) && is_sourced(other) && one->declaration == other->declaration &&
         source_spread_is_one(scenario, &scenario->options[one->option],
                              &scenario->options[other->option], one->declaration);
}

// Whether the file states another correlation of the two than the one that follows from their
// source.
static bool are_told_apart(const struct scenario *scenario, size_t a, size_t b) {
  for (size_t c = 0; c < scenario->correlation_count; c++) {
    const struct correlation *correlation = &scenario->correlations[c];
    if (correlation->a == a && correlation->b == b && correlation->rank < 1)
      return true;
  }
  return false;
}

// The first earlier range of one quantity with this one, and of the same width if `same_width`; or
// `number`.
static size_t first_as(const struct scenario *scenario, size_t number, bool same_width) {
  const struct range *range = &scenario->ranges[number];
  for (size_t r = 0; r < number; r++) {
    const struct range *other = &scenario->ranges[r];
    if (other->drawn_as == r && are_one_quantity(scenario, other, range) &&
        !are_told_apart(scenario, r, number) &&
        (!same_width || distribution_equal(&other->distribution, &range->distribution)))
      return r;
  }
  return number;
}

// Has each quantity drawn once for all options. If it is wider for one option than for another, as
// the means of fleets of different sizes are, both are fully correlated.
static void share_draws(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  for (size_t r = 0; r < scenario->range_count; r++) {
    struct range *range = &scenario->ranges[r];
    const size_t first = first_as(scenario, r, false);
    range->drawn_as = first_as(scenario, r, true);
    if (range->drawn_as == r && first != r)
      scenario->correlations[scenario->correlation_count++] =
          (struct correlation){.a = first, .b = r, .rank = 1, .place = range->place};
  }
  const size_t count = scenario->correlation_count;
  scenario->correlation_count = 0;
  for (size_t c = 0; c < count; c++) {
    struct correlation one = scenario->correlations[c];
    const size_t a = scenario->ranges[one.a].drawn_as, b = scenario->ranges[one.b].drawn_as;
    one.a = a < b ? a : b;
    one.b = a < b ? b : a;
    if (a != b && !is_repeated(reading, &one))
      scenario->correlations[scenario->correlation_count++] = one;
  }
}

// Whether the matrix of the first `count` correlations is positive definite. It is scaled down
// slightly, so that an exact 1 passes unless it contradicts another.
static bool go_together(const struct scenario *scenario, size_t count, gsl_matrix *matrix) {
  gsl_matrix_set_identity(matrix);
  for (size_t c = 0; c < count; c++) {
    const struct correlation *correlation = &scenario->correlations[c];
    double r = correlation_of_normals(correlation->rank) * CORRELATION_SHRINK;
    gsl_matrix_set(matrix, correlation->a, correlation->b, r);
    gsl_matrix_set(matrix, correlation->b, correlation->a, r);
  }
  return gsl_linalg_cholesky_decomp1(matrix) == GSL_SUCCESS;
}

// The complete matrix must be positive definite: an entry may be wrong only until a later one
// corrects it. The error names the pair from which on it never is, in the order of the file.
static void check_correlations(struct reading *reading) {
  const struct scenario *scenario = reading->scenario;
  if (!scenario->correlation_count)
    return;
  gsl_set_error_handler_off();
  gsl_matrix *matrix = gsl_matrix_alloc(scenario->range_count, scenario->range_count);
  size_t count = scenario->correlation_count;
  bool good = go_together(scenario, count, matrix);
  while (!good && !go_together(scenario, count - 1, matrix))
    count--;
  gsl_matrix_free(matrix);
  if (good)
    return;
  const struct correlation *bad = &scenario->correlations[count - 1];
  diagnostics_error(reading->diagnostics, bad->place,
                    "'%s' and '%s' cannot have the correlation %g with the ones above: the matrix "
                    "is not positive definite (unnamed pairs have 0)",
                    scenario->ranges[bad->a].key, scenario->ranges[bad->b].key, bad->rank);
}

void ranges_check(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  for (size_t r = 0; r < scenario->range_count; r++) {
    struct range *range = &scenario->ranges[r];
    size_t errors = reading->diagnostics->errors;
    if (range->option < 0)
      check_common(reading, range);
    else
      check_own(reading, range);
    if (reading->diagnostics->errors == errors && range->distribution.kind == DISTRIBUTION_MEASURED)
      complete_measured(reading, range);
    if (reading->diagnostics->errors == errors)
      check_companion(reading, range);
    if (reading->diagnostics->errors == errors)
      refuse_finding(reading, range);
  }
  if (reading->diagnostics->errors == reading->errors_before)
    share_draws(reading);
  check_correlations(reading);
}
