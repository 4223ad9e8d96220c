#include "model/questions/experiment.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/vector.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <math.h>

// Free ranges that span more than this factor are searched by ratios rather than differences.
static const double wide_range = 20;
double coordinate_value(const struct coordinate *coordinate, double at) {
  if (coordinate->by_ratio)
    return coordinate->low * pow(coordinate->high / coordinate->low, at);
  return coordinate->low + at * (coordinate->high - coordinate->low);
}

struct coordinate coordinate_of(double low, double high) {
  return (struct coordinate){low, high, low > 0 && high / low > wide_range};
}

// ---- evaluating claims

// The values of all slots at one point, under every set of conditions.
static void write_point(const struct experiment *experiment, const double *at, size_t lane) {
  const struct experiment_setup *setup = experiment->setup;
  double values[MAX_SEARCH_DIMENSIONS] = {0};
  for (int k = 0; k < experiment->coordinate_count; k++)
    values[k] = coordinate_value(&experiment->coordinates[k], at[k]);
  for (int s = 0; s < setup->slot_count; s++) {
    double *variable = response_variable(setup->workspace, s) + lane;
    for (int set = 0; set < setup->set_count; set++) {
      const struct slot_value *assignment = &experiment->assignments[set][s];
      variable[set] = assignment->coordinate < 0
                          ? assignment->factor
                          : assignment->factor * values[assignment->coordinate];
    }
  }
}

// Lanes without a point repeat the first lane.
static void fill_lanes(const struct experiment_setup *setup, size_t from) {
  for (int s = 0; s < setup->slot_count; s++) {
    double *variable = response_variable(setup->workspace, s);
    for (size_t lane = from; lane < VECTOR_BLOCK; lane++)
      variable[lane] = variable[0];
  }
}

static size_t item_of(const struct experiment_setup *setup, int declaration) {
  size_t i = 0;
  while (setup->items[i] != declaration)
    i++;
  return i;
}

static double quantity_at(const struct experiment_setup *setup,
                          const struct claim_quantity *quantity, size_t lane) {
  double product = 1;
  for (int t = 0; t < quantity->term_count; t++) {
    const struct claim_term *term = &quantity->terms[t];
    const double value = term->declaration < 0
                             ? term->constant
                             : response_item(setup->response, setup->workspace, term->option,
                                             item_of(setup, term->declaration))[lane];
    product = term->below ? product / value : product * value;
  }
  return quantity->saving ? 1 - product : product;
}

// The values of all claims, each in units of its scale; a search_function.
static void evaluate_claims(void *context, const double *points, size_t count, double *values) {
  const struct experiment *experiment = context;
  const struct experiment_setup *setup = experiment->setup;
  const size_t sets = (size_t)setup->set_count, together = VECTOR_BLOCK / sets;
  const size_t n = (size_t)experiment->coordinate_count, claims = (size_t)setup->claims->count;
  for (size_t first = 0; first < count; first += together) {
    const size_t end = first + together < count ? first + together : count;
    for (size_t p = first; p < end; p++)
      write_point(experiment, points + p * n, (p - first) * sets);
    fill_lanes(setup, (end - first) * sets);
    response_run(setup->response, setup->workspace);
    for (size_t p = first; p < end; p++)
      for (size_t c = 0; c < claims; c++)
        values[p * claims + c] = quantity_at(setup, &setup->claims->list[c].quantity,
                                             (p - first) * sets + (size_t)setup->set_of[c]) /
                                 setup->scales[c];
  }
}

// ---- setting up

// Slots beyond the last are counted, to be refused.
static int slot_of(const struct experiment_setup *setup, size_t option, int declaration) {
  for (int s = 0; s < setup->slot_count && s < EXPERIMENT_SLOTS; s++)
    if (setup->slots[s].option == option && setup->slots[s].declaration == declaration)
      return s;
  return -1;
}

static void add_slots(struct experiment_setup *setup, struct target target) {
  const struct scenario *scenario = setup->claims->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (target_moves(scenario, target, o) && slot_of(setup, o, target.declaration) < 0 &&
        setup->slot_count++ < EXPERIMENT_SLOTS)
      setup->slots[setup->slot_count - 1] = (struct slot){o, target.declaration};
}

static int find_slots(struct experiment_setup *setup, struct diagnostics *diagnostics) {
  const struct claims *claims = setup->claims;
  const struct scenario *scenario = claims->scenario;
  for (size_t i = 0; i < scenario->free_count; i++)
    add_slots(setup, (struct target){scenario->frees[i].declaration, scenario->frees[i].option});
  setup->set_count = 1;
  for (int c = 0; c < claims->count; c++) {
    const struct claim *claim = &claims->list[c];
    setup->set_of[c] = claim->condition_count || claim->need_count ? setup->set_count++ : 0;
    for (int i = 0; i < claim->condition_count; i++)
      add_slots(setup, claim->conditions[i].target);
    for (int i = 0; i < claim->need_count; i++)
      add_slots(setup, claim->needs[i]);
  }
  if (setup->slot_count <= EXPERIMENT_SLOTS)
    return 0;
  diagnostics_error(diagnostics, claims->list[0].place,
                    "free quantities, conditions and needs involve %d inputs of the options: an "
                    "audit takes at most %d",
                    setup->slot_count, EXPERIMENT_SLOTS);
  return -1;
}

static void find_items(struct experiment_setup *setup) {
  const struct claims *claims = setup->claims;
  int *items =
      arena_array(setup->arena, (size_t)claims->count * MAX_CLAIM_TERMS + 1, sizeof *items);
  setup->items = items;
  for (int c = 0; c < claims->count; c++)
    for (int t = 0; t < claims->list[c].quantity.term_count; t++) {
      const int declaration = claims->list[c].quantity.terms[t].declaration;
      size_t i = 0;
      if (declaration < 0)
        continue;
      while (i < setup->item_count && items[i] != declaration)
        i++;
      items[i] = declaration;
      setup->item_count += i == setup->item_count;
    }
}

static void find_wanted(struct experiment_setup *setup) {
  const struct claims *claims = setup->claims;
  bool *wanted = arena_array(setup->arena, claims->scenario->option_count * setup->item_count + 1,
                             sizeof *wanted);
  setup->wanted = wanted;
  for (int c = 0; c < claims->count; c++)
    for (int t = 0; t < claims->list[c].quantity.term_count; t++) {
      const struct claim_term *term = &claims->list[c].quantity.terms[t];
      if (term->declaration >= 0)
        wanted[term->option * setup->item_count + item_of(setup, term->declaration)] = true;
    }
}

// The number of periods for the longest horizon of a free range or a condition.
static int periods_of(const struct experiment_setup *setup) {
  const struct scenario *scenario = setup->claims->scenario;
  const int horizon = model_find(scenario->model, "horizon");
  double longest = 0;
  for (size_t i = 0; i < scenario->free_count; i++)
    if (scenario->frees[i].declaration == horizon)
      longest = fmax(longest, scenario->frees[i].high);
  for (int c = 0; c < setup->claims->count; c++)
    for (int i = 0; i < setup->claims->list[c].condition_count; i++)
      if (setup->claims->list[c].conditions[i].target.declaration == horizon)
        longest = fmax(longest, setup->claims->list[c].conditions[i].value);
  const int needed = 1 + (int)arithmetic_ceil(longest / HOURS_PER_YEAR);
  return needed > scenario->periods ? needed : scenario->periods;
}

static int build_response(struct experiment_setup *setup, struct diagnostics *diagnostics) {
  const struct scenario *scenario = setup->claims->scenario;
  const size_t count = (size_t)scenario->model->count, inputs = scenario->option_count * count;
  int *variables = arena_array(setup->arena, inputs, sizeof *variables);
  for (size_t i = 0; i < inputs; i++)
    variables[i] = -1;
  for (int s = 0; s < setup->slot_count; s++)
    variables[setup->slots[s].option * count + (size_t)setup->slots[s].declaration] = s;
  struct response_request request = {.scenario = scenario,
                                     .periods = periods_of(setup),
                                     .variables = variables,
                                     .variable_count = setup->slot_count,
                                     .items = setup->items,
                                     .item_count = setup->item_count,
                                     .wanted = setup->wanted};
  setup->response = response_new(&request, setup->arena, diagnostics);
  setup->workspace = setup->response ? response_workspace_new(setup->response) : NULL;
  return setup->response ? 0 : -1;
}

static double stated(const struct experiment_setup *setup, const struct slot *slot) {
  const struct scenario *scenario = setup->claims->scenario;
  return option_figure(scenario, &scenario->options[slot->option], scenario->selected,
                       slot->declaration)
      ->value;
}

void experiment_apply_conditions(struct experiment *experiment) {
  const struct experiment_setup *setup = experiment->setup;
  const struct scenario *scenario = setup->claims->scenario;
  for (int c = 0; c < setup->claims->count; c++) {
    const struct claim *claim = &setup->claims->list[c];
    for (int i = 0; i < claim->condition_count; i++) {
      const struct claim_condition *condition = &claim->conditions[i];
      for (int s = 0; s < setup->slot_count; s++) {
        if (setup->slots[s].declaration != condition->target.declaration ||
            !target_moves(scenario, condition->target, setup->slots[s].option))
          continue;
        struct slot_value *assignment = &experiment->assignments[setup->set_of[c]][s];
        if (condition->times)
          assignment->factor *= condition->value;
        else
          *assignment = (struct slot_value){-1, condition->value};
      }
    }
  }
}

struct experiment *experiment_bare(const struct experiment_setup *setup, bool still) {
  struct experiment *experiment = arena_alloc(setup->arena, sizeof *experiment);
  const struct scenario *scenario = setup->claims->scenario;
  experiment->setup = setup;
  experiment->assignments =
      arena_array(setup->arena, (size_t)setup->set_count, sizeof *experiment->assignments);
  for (int i = 0; i < setup->free_count && !still; i++)
    experiment->coordinates[experiment->coordinate_count++] =
        coordinate_of(setup->frees[i]->low, setup->frees[i]->high);
  for (int s = 0; s < setup->slot_count; s++) {
    const int free_number =
        claim_free(scenario, setup->slots[s].option, setup->slots[s].declaration);
    struct slot_value assignment = {-1, stated(setup, &setup->slots[s])};
    for (int i = 0; i < setup->free_count && !still && free_number >= 0; i++)
      if (setup->frees[i] == &scenario->frees[free_number])
        assignment = (struct slot_value){i, 1};
    for (int set = 0; set < setup->set_count; set++)
      experiment->assignments[set][s] = assignment;
  }
  return experiment;
}

struct experiment *experiment_new(const struct experiment_setup *setup, bool still) {
  struct experiment *experiment = experiment_bare(setup, still);
  experiment_apply_conditions(experiment);
  return experiment;
}

void experiment_start(struct experiment *experiment) {
  experiment->search = (struct search){.dimensions = experiment->coordinate_count,
                                       .functions = experiment->setup->claims->count,
                                       .evaluate = evaluate_claims,
                                       .context = experiment};
  search_start(&experiment->search, experiment->setup->arena);
}

void experiment_evaluate(const struct experiment *experiment, const double *at, double *values) {
  evaluate_claims((void *)experiment, at, 1, values);
}

int experiment_setup_make(struct experiment_setup *setup, const struct claims *claims,
                          struct arena *arena, struct diagnostics *diagnostics) {
  setup->claims = claims;
  setup->arena = arena;
  if (find_slots(setup, diagnostics))
    return -1;
  find_items(setup);
  find_wanted(setup);
  return build_response(setup, diagnostics);
}
