#include "model/questions/audit.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/vector.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/scenario.h"
#include "model/whatif/response.h"
#include "model/whatif/variation.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

enum { MAX_SLOTS = 256, MAX_FREES = MAX_SEARCH_DIMENSIONS - 1 }; // a need is one more

// Free ranges over more than this factor are searched by ratios rather than differences.
static const double wide_range = 20;
// How far beyond its stated value an input is looked for that has no limit of its own.
static const double far_away = 100;

// An input of one option that is free, or given by a condition.
struct slot {
  size_t option;
  int declaration;
};

// A slot's value under the conditions of a claim: times a coordinate's, or a number.
struct slot_value {
  int coordinate; // -1: none
  double factor;  // or the value
};

struct coordinate {
  double low, high;
  bool by_ratio;
};

// What all searches of an audit share.
struct audit_setup {
  const struct claims *claims;
  const struct response *response;
  double *workspace;
  struct slot slots[MAX_SLOTS];
  int slot_count;
  const int *items; // of the response
  size_t item_count;
  const bool *wanted;     // [option][item]: only some options may have what a claim is of
  int set_of[MAX_CLAIMS]; // the conditions of each claim; 0: none
  int set_count;
  double scales[MAX_CLAIMS];
  struct arena *arena;
};

// Claims as functions of coordinates.
struct experiment {
  const struct audit_setup *setup;
  struct coordinate coordinates[MAX_SEARCH_DIMENSIONS];
  int coordinate_count;
  struct slot_value (*assignments)[MAX_SLOTS]; // [set_count]
  struct search search;
};

static double coordinate_value(const struct coordinate *coordinate, double at) {
  if (coordinate->by_ratio)
    return coordinate->low * pow(coordinate->high / coordinate->low, at);
  return coordinate->low + at * (coordinate->high - coordinate->low);
}

static struct coordinate coordinate_of(double low, double high) {
  return (struct coordinate){low, high, low > 0 && high / low > wide_range};
}

// ---- evaluating claims

// The values of all slots at one point, under every set of conditions.
static void write_point(const struct experiment *experiment, const double *at, size_t lane) {
  const struct audit_setup *setup = experiment->setup;
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

// Lanes without a point repeat the first.
static void fill_lanes(const struct audit_setup *setup, size_t from) {
  for (int s = 0; s < setup->slot_count; s++) {
    double *variable = response_variable(setup->workspace, s);
    for (size_t lane = from; lane < VECTOR_BLOCK; lane++)
      variable[lane] = variable[0];
  }
}

static size_t item_of(const struct audit_setup *setup, int declaration) {
  size_t i = 0;
  while (setup->items[i] != declaration)
    i++;
  return i;
}

static double quantity_at(const struct audit_setup *setup, const struct claim_quantity *quantity,
                          size_t lane) {
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
  const struct audit_setup *setup = experiment->setup;
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

// Those past the last are counted, to be refused.
static int slot_of(const struct audit_setup *setup, size_t option, int declaration) {
  for (int s = 0; s < setup->slot_count && s < MAX_SLOTS; s++)
    if (setup->slots[s].option == option && setup->slots[s].declaration == declaration)
      return s;
  return -1;
}

static void add_slots(struct audit_setup *setup, struct target target) {
  const struct scenario *scenario = setup->claims->scenario;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (target_moves(scenario, target, o) && slot_of(setup, o, target.declaration) < 0 &&
        setup->slot_count++ < MAX_SLOTS)
      setup->slots[setup->slot_count - 1] = (struct slot){o, target.declaration};
}

static int find_slots(struct audit_setup *setup, struct diagnostics *diagnostics) {
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
  if (setup->slot_count <= MAX_SLOTS)
    return 0;
  diagnostics_error(diagnostics, claims->list[0].place,
                    "free quantities, conditions and needs are of %d inputs of the options: an "
                    "audit takes at most %d",
                    setup->slot_count, MAX_SLOTS);
  return -1;
}

static void find_items(struct audit_setup *setup) {
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

static void find_wanted(struct audit_setup *setup) {
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

// Room for the longest horizon of a free range or a condition.
static int periods_of(const struct audit_setup *setup) {
  const struct scenario *scenario = setup->claims->scenario;
  const double year_h = conversion_table[CONVERT_HOURS_PER_YEAR].value;
  const int horizon = model_find(scenario->model, "horizon");
  double longest = 0;
  for (size_t i = 0; i < scenario->free_count; i++)
    if (scenario->frees[i].declaration == horizon)
      longest = fmax(longest, scenario->frees[i].high);
  for (int c = 0; c < setup->claims->count; c++)
    for (int i = 0; i < setup->claims->list[c].condition_count; i++)
      if (setup->claims->list[c].conditions[i].target.declaration == horizon)
        longest = fmax(longest, setup->claims->list[c].conditions[i].value);
  const int needed = 1 + (int)ceil(longest / year_h - 1e-9);
  return needed > scenario->periods ? needed : scenario->periods;
}

static int build_response(struct audit_setup *setup, struct diagnostics *diagnostics) {
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

static double stated(const struct audit_setup *setup, const struct slot *slot) {
  const struct scenario *scenario = setup->claims->scenario;
  return option_figure(scenario, &scenario->options[slot->option], scenario->selected,
                       slot->declaration)
      ->value;
}

// The conditions of the claims on top of what their slots are otherwise.
static void apply_conditions(struct experiment *experiment) {
  const struct audit_setup *setup = experiment->setup;
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

// Frees become coordinates, unless `still`: then everything is as the scenario states it.
// Conditions are left to be applied.
static struct experiment *experiment_bare(const struct audit_setup *setup,
                                          const struct audit *audit, bool still) {
  struct experiment *experiment = arena_alloc(setup->arena, sizeof *experiment);
  const struct scenario *scenario = setup->claims->scenario;
  experiment->setup = setup;
  experiment->assignments =
      arena_array(setup->arena, (size_t)setup->set_count, sizeof *experiment->assignments);
  for (int i = 0; i < audit->free_count && !still; i++)
    experiment->coordinates[experiment->coordinate_count++] =
        coordinate_of(audit->frees[i].quantity->low, audit->frees[i].quantity->high);
  for (int s = 0; s < setup->slot_count; s++) {
    const int free_number =
        claim_free(scenario, setup->slots[s].option, setup->slots[s].declaration);
    struct slot_value assignment = {-1, stated(setup, &setup->slots[s])};
    for (int i = 0; i < audit->free_count && !still && free_number >= 0; i++)
      if (audit->frees[i].quantity == &scenario->frees[free_number])
        assignment = (struct slot_value){i, 1};
    for (int set = 0; set < setup->set_count; set++)
      experiment->assignments[set][s] = assignment;
  }
  return experiment;
}

static struct experiment *experiment_new(const struct audit_setup *setup, const struct audit *audit,
                                         bool still) {
  struct experiment *experiment = experiment_bare(setup, audit, still);
  apply_conditions(experiment);
  return experiment;
}

static void experiment_start(struct experiment *experiment) {
  experiment->search = (struct search){.dimensions = experiment->coordinate_count,
                                       .functions = experiment->setup->claims->count,
                                       .evaluate = evaluate_claims,
                                       .context = experiment};
  search_start(&experiment->search, experiment->setup->arena);
}

// ---- bounds

enum strictness { WITHIN_TOLERANCE, AS_SAID };

static const struct search_bound unbounded = {-INFINITY, INFINITY};

static struct search_bound bound_of(const struct claim *claim, double scale,
                                    enum strictness strictness) {
  if (strictness == AS_SAID && claim->relation == CLAIM_EQUALS)
    return (struct search_bound){claim->value / scale, claim->value / scale};
  return (struct search_bound){claim->low / scale, claim->high / scale};
}

// Of all claims for which `wanted` holds; NULL: of all.
static void bounds_of(const struct audit_setup *setup, const bool *wanted,
                      enum strictness strictness, struct search_bound *bounds) {
  for (int c = 0; c < setup->claims->count; c++)
    bounds[c] = !wanted || wanted[c]
                    ? bound_of(&setup->claims->list[c], setup->scales[c], strictness)
                    : unbounded;
}

static int number_of(const struct audit_setup *setup, const struct claim *claim) {
  return (int)(claim - setup->claims->list);
}

// ---- questions

static double least_breach(const struct experiment *experiment, const struct search_bound *bounds) {
  struct search_point point;
  search_least_violation(&experiment->search, bounds, AUDIT_TOLERANCE, &point);
  return point.violation;
}

static struct audit_span span_of(const struct experiment *experiment,
                                 const struct search_bound *bounds, bool coordinate, int which,
                                 const struct search_point *known) {
  struct audit_span span = {NAN, NAN};
  struct search_point point;
  const double scale = coordinate ? 1 : experiment->setup->scales[which];
  for (int side = 0; side < 2; side++) {
    const struct search_goal goal = {side ? SEARCH_HIGHEST : SEARCH_LOWEST, coordinate, which, 0};
    if (!search_best(&experiment->search, bounds, &goal, known, &point))
      continue;
    const double value = coordinate
                             ? coordinate_value(&experiment->coordinates[which], point.at[which])
                             : point.values[which] * scale;
    *(side ? &span.high : &span.low) = value;
  }
  return span;
}

// ---- the audit

static int check_free(const struct audit_free *free, struct diagnostics *diagnostics) {
  const struct free_quantity *quantity = free->quantity;
  if (claim_can_count(quantity->low) && claim_can_count(quantity->high))
    return 0;
  diagnostics_error(diagnostics, quantity->place,
                    "%.3g to %.3g %s cannot be searched: numbers of %.0e to %.0e can",
                    quantity->low / unit_factor(free->unit),
                    quantity->high / unit_factor(free->unit), free->unit->text, 1 / LARGEST_CLAIM,
                    LARGEST_CLAIM);
  return -1;
}

static int choose_frees(struct audit *audit, const struct scenario *scenario, struct arena *arena,
                        struct diagnostics *diagnostics) {
  audit->frees = arena_array(arena, scenario->free_count + 1, sizeof *audit->frees);
  for (size_t i = 0; i < scenario->free_count; i++) {
    const struct free_quantity *quantity = &scenario->frees[i];
    bool moves = false;
    for (size_t o = 0; o < scenario->option_count; o++)
      moves |= claim_free(scenario, o, quantity->declaration) == (int)i;
    if (moves)
      audit->frees[audit->free_count++] =
          (struct audit_free){.quantity = quantity,
                              .unit = &scenario->model->declarations[quantity->declaration].unit,
                              .best = NAN,
                              .holds = {NAN, NAN}};
  }
  int result = 0;
  for (int i = 0; i < audit->free_count; i++)
    result |= check_free(&audit->frees[i], diagnostics);
  if (audit->free_count <= MAX_FREES)
    return result;
  diagnostics_error(diagnostics, audit->frees[MAX_FREES].quantity->place,
                    "%d quantities are free: a search takes at most %d", audit->free_count,
                    MAX_FREES);
  return -1;
}

static void choose_claims(struct audit *audit, const struct claims *claims, struct arena *arena) {
  audit->claims = claims;
  audit->list = arena_array(arena, (size_t)claims->count + 1, sizeof *audit->list);
  audit->shown = arena_array(arena, (size_t)claims->count + 1, sizeof *audit->shown);
  for (int c = 0; c < claims->count; c++) {
    const struct audit_claim claim = {.claim = &claims->list[c],
                                      .reach = {NAN, NAN},
                                      .together = {NAN, NAN},
                                      .nearest = NAN,
                                      .nearest_said = NAN};
    if (claims->list[c].relation == CLAIM_SHOWS)
      audit->shown[audit->shown_count++] = claim;
    else
      audit->list[audit->count++] = claim;
  }
}

static struct audit_claim *claim_at(struct audit *audit, int i) {
  return i < audit->count ? &audit->list[i] : &audit->shown[i - audit->count];
}

// Everything as it is stated, and the scales of what is only shown.
static int evaluate_as_stated(struct audit_setup *setup, struct audit *audit,
                              struct diagnostics *diagnostics) {
  struct experiment *still = experiment_new(setup, audit, true);
  double values[MAX_CLAIMS];
  const double nowhere = 0; // a point of no coordinates
  for (int c = 0; c < setup->claims->count; c++)
    setup->scales[c] = setup->claims->list[c].scale;
  evaluate_claims(still, &nowhere, 1, values);
  const size_t errors = diagnostics->errors;
  for (int i = 0; i < audit->count + audit->shown_count; i++) {
    struct audit_claim *claim = claim_at(audit, i);
    const int c = number_of(setup, claim->claim);
    claim->stands = claim->best = values[c] * setup->scales[c];
    if (!isfinite(claim->stands))
      diagnostics_error(diagnostics, claim->claim->place,
                        "claim '%s' cannot be computed: '%s' divides by zero or overflows",
                        claim->claim->name, claim->claim->quantity.text);
    if (claim->claim->relation == CLAIM_SHOWS && claim->stands != 0)
      setup->scales[c] = fabs(claim->stands);
  }
  return diagnostics->errors == errors ? 0 : -1;
}

static void keep_best(const struct experiment *experiment, struct audit *audit,
                      const struct search_point *best) {
  for (int i = 0; i < audit->count + audit->shown_count; i++) {
    struct audit_claim *claim = claim_at(audit, i);
    const int c = number_of(experiment->setup, claim->claim);
    claim->best = best->values[c] * experiment->setup->scales[c];
  }
  for (int i = 0; i < audit->free_count; i++)
    audit->frees[i].best = coordinate_value(&experiment->coordinates[i], best->at[i]);
}

// Where all claims hold: what the free quantities, and what is shown, may be there.
static void find_spans(const struct experiment *experiment, struct audit *audit,
                       const struct search_point *best) {
  struct search_bound bounds[MAX_CLAIMS];
  bounds_of(experiment->setup, NULL, WITHIN_TOLERANCE, bounds);
  for (int i = 0; i < audit->free_count; i++)
    audit->frees[i].holds = span_of(experiment, bounds, true, i, best);
  for (int i = 0; i < audit->count + audit->shown_count; i++) {
    struct audit_claim *claim = claim_at(audit, i);
    claim->together =
        span_of(experiment, bounds, false, number_of(experiment->setup, claim->claim), best);
  }
}

static bool can_hold(const struct experiment *experiment, const bool *wanted) {
  struct search_bound bounds[MAX_CLAIMS];
  bounds_of(experiment->setup, wanted, WITHIN_TOLERANCE, bounds);
  return least_breach(experiment, bounds) <= AUDIT_TOLERANCE;
}

// Drops one claim after the other that the rest does not need to be impossible, the last ones
// first, and this one at the very end.
static void find_conflict(const struct experiment *experiment, const struct audit *audit,
                          struct audit_claim *claim) {
  const struct audit_setup *setup = experiment->setup;
  const int own = number_of(setup, claim->claim);
  bool *wanted = claim->conflict;
  for (int i = 0; i < audit->count; i++)
    wanted[number_of(setup, audit->list[i].claim)] = true;
  for (int i = audit->count - 1; i >= -1; i--) {
    const int c = i < 0 ? own : number_of(setup, audit->list[i].claim);
    if (c == own && i >= 0)
      continue;
    wanted[c] = false;
    wanted[c] = can_hold(experiment, wanted);
  }
  if (!wanted[own])
    memset(wanted, false, sizeof claim->conflict);
  for (int c = 0; c < setup->claims->count; c++)
    claim->conflict_size += wanted[c];
}

// The value of a claim's quantity nearest to what is claimed, while the others hold.
static double nearest_while(const struct experiment *experiment, const struct audit_claim *claim,
                            enum strictness strictness) {
  const struct audit_setup *setup = experiment->setup;
  const int c = number_of(setup, claim->claim);
  const double scale = setup->scales[c];
  const struct search_goal goal = {SEARCH_NEAREST, false, c, claim->claim->value / scale};
  struct search_bound bounds[MAX_CLAIMS];
  struct search_point point;
  bounds_of(setup, claim->beside_all ? NULL : claim->conflict, strictness, bounds);
  bounds[c] = unbounded;
  return search_best(&experiment->search, bounds, &goal, NULL, &point) ? point.values[c] * scale
                                                                       : NAN;
}

static void find_conflicts(const struct experiment *experiment, struct audit *audit) {
  for (int i = 0; i < audit->count; i++) {
    struct audit_claim *claim = &audit->list[i];
    find_conflict(experiment, audit, claim);
    if (!claim->conflict_size)
      continue;
    bool others[MAX_CLAIMS];
    for (int c = 0; c < MAX_CLAIMS; c++)
      others[c] = c != number_of(experiment->setup, claim->claim);
    claim->beside_all = can_hold(experiment, others);
    claim->nearest = nearest_while(experiment, claim, WITHIN_TOLERANCE);
    claim->nearest_said = nearest_while(experiment, claim, AS_SAID);
    if (!audit->worst || claim->conflict_size < audit->worst->conflict_size)
      audit->worst = claim;
  }
}

static void find_reach(const struct experiment *experiment, struct audit *audit) {
  struct search_bound bounds[MAX_CLAIMS];
  const bool none[MAX_CLAIMS] = {false};
  bounds_of(experiment->setup, none, WITHIN_TOLERANCE, bounds);
  for (int i = 0; i < audit->count; i++)
    audit->list[i].reach = span_of(experiment, bounds, false,
                                   number_of(experiment->setup, audit->list[i].claim), NULL);
}

static void find_alone(const struct experiment *experiment, struct audit *audit) {
  const struct audit_setup *setup = experiment->setup;
  audit->alone = arena_array(setup->arena, (size_t)(audit->count * audit->shown_count) + 1,
                             sizeof *audit->alone);
  for (int i = 0; i < audit->count; i++) {
    struct search_bound bounds[MAX_CLAIMS];
    bool wanted[MAX_CLAIMS] = {false};
    wanted[number_of(setup, audit->list[i].claim)] = true;
    bounds_of(setup, wanted, AS_SAID, bounds);
    for (int k = 0; k < audit->shown_count; k++)
      audit->alone[audit->alone_count++] = (struct audit_alone){
          audit->list[i].claim, audit->shown[k].claim,
          span_of(experiment, bounds, false, number_of(setup, audit->shown[k].claim), NULL)};
  }
}

// ---- what would be needed

// Where a value is looked for: what the input may be, as far as it makes sense.
static struct audit_span look_where(const struct scenario *scenario, struct target target,
                                    double value) {
  const struct limits limits = target_limits(scenario, target);
  const double unit = unit_factor(&target_input(scenario, target)->unit);
  const double size = far_away * (value != 0 ? fabs(value) : unit);
  return (struct audit_span){fmax(limits.low, -size), fmin(limits.high, size)};
}

static const struct claim_condition *condition_on(const struct claim *claim, struct target target) {
  for (int i = 0; i < claim->condition_count; i++)
    if (claim->conditions[i].target.declaration == target.declaration &&
        claim->conditions[i].target.option == target.option)
      return &claim->conditions[i];
  return NULL;
}

// The input becomes the last coordinate, in one claim's conditions or (set -1) in all.
static void free_input(struct experiment *experiment, struct target target, int set) {
  const struct audit_setup *setup = experiment->setup;
  const int last = experiment->coordinate_count - 1;
  for (int i = 0; i < setup->set_count; i++)
    for (int s = 0; s < setup->slot_count; s++)
      if ((set < 0 || i == set) && setup->slots[s].declaration == target.declaration &&
          target_moves(setup->claims->scenario, target, setup->slots[s].option))
        experiment->assignments[i][s] = (struct slot_value){last, 1};
}

static void find_need(const struct audit_setup *setup, const struct audit *audit,
                      struct audit_need *need) {
  struct experiment *experiment = experiment_bare(setup, audit, false);
  struct search_bound bounds[MAX_CLAIMS];
  const int last = experiment->coordinate_count;
  const bool alone = condition_on(need->claim, need->target);
  if (last == MAX_SEARCH_DIMENSIONS)
    return;
  experiment->coordinates[experiment->coordinate_count++] =
      coordinate_of(need->looked.low, need->looked.high);
  if (alone)
    apply_conditions(experiment);
  free_input(experiment, need->target, alone ? setup->set_of[number_of(setup, need->claim)] : -1);
  if (!alone)
    apply_conditions(experiment);
  experiment_start(experiment);
  bounds_of(setup, NULL, WITHIN_TOLERANCE, bounds);
  need->span = span_of(experiment, bounds, true, last, NULL);
  bounds_of(setup, NULL, AS_SAID, bounds);
  need->exact = span_of(experiment, bounds, true, last, NULL);
}

// An end where only the look ended is open.
static void open_ends(struct audit_span *span, struct audit_span looked, struct limits limits) {
  const double near = 1e-9 * (looked.high - looked.low);
  if (span->high >= looked.high - near && limits.high > looked.high)
    span->high = INFINITY;
  if (span->low <= looked.low + near && limits.low < looked.low)
    span->low = -INFINITY;
}

static void add_need(const struct audit_setup *setup, struct audit *audit,
                     const struct claim *claim, struct target target, double value) {
  const struct scenario *scenario = setup->claims->scenario;
  struct audit_need *need = &audit->needs[audit->need_count++];
  *need = (struct audit_need){.claim = claim,
                              .target = target,
                              .name = target_name(scenario, target, setup->arena),
                              .stated = value,
                              .exact = {NAN, NAN},
                              .span = {NAN, NAN},
                              .looked = look_where(scenario, target, value)};
  find_need(setup, audit, need);
  open_ends(&need->exact, need->looked, target_limits(scenario, target));
  open_ends(&need->span, need->looked, target_limits(scenario, target));
}

// The inputs that a claim's conditions fix, and those that it names.
static void find_needs(const struct audit_setup *setup, struct audit *audit) {
  const struct scenario *scenario = setup->claims->scenario;
  const size_t most = (size_t)audit->count * (MAX_CLAIM_CONDITIONS + MAX_CLAIM_NEEDS);
  audit->needs = arena_array(setup->arena, most + 1, sizeof *audit->needs);
  for (int i = 0; i < audit->count; i++) {
    const struct claim *claim = audit->list[i].claim;
    for (int k = 0; k < claim->condition_count && audit->list[i].conflict_size; k++)
      if (!claim->conditions[k].times)
        add_need(setup, audit, claim, claim->conditions[k].target, claim->conditions[k].value);
    for (int k = 0; k < claim->need_count; k++)
      if (!condition_on(claim, claim->needs[k]))
        add_need(setup, audit, claim, claim->needs[k], target_value(scenario, claim->needs[k]));
  }
}

// Nothing is free: every claim that does not hold is a conflict of its own.
static void compare_as_stated(const struct audit_setup *setup, struct audit *audit) {
  audit->margin = -INFINITY;
  for (int i = 0; i < audit->count; i++) {
    struct audit_claim *claim = &audit->list[i];
    const double stands = claim->stands;
    const double breach =
        fmax(claim->claim->low - stands, stands - claim->claim->high) / claim->claim->scale;
    const bool broken = breach > AUDIT_TOLERANCE;
    claim->conflict[number_of(setup, claim->claim)] = broken;
    claim->conflict_size = broken;
    if (broken && breach > audit->margin)
      audit->worst = claim;
    audit->margin = fmax(audit->margin, breach);
  }
  audit->holds = audit->margin <= AUDIT_TOLERANCE;
}

static void search_claims(const struct audit_setup *setup, struct audit *audit) {
  struct experiment *experiment = experiment_new(setup, audit, false);
  struct search_bound bounds[MAX_CLAIMS];
  struct search_point best;
  experiment_start(experiment);
  bounds_of(setup, NULL, WITHIN_TOLERANCE, bounds);
  search_least_violation(&experiment->search, bounds, -INFINITY, &best);
  audit->margin = best.violation;
  audit->holds = best.violation <= AUDIT_TOLERANCE;
  keep_best(experiment, audit, &best);
  find_reach(experiment, audit);
  if (audit->holds) {
    find_spans(experiment, audit, &best);
    return;
  }
  find_conflicts(experiment, audit);
  find_alone(experiment, audit);
}

const struct audit *audit_ask(const struct scenario *scenario, struct arena *arena,
                              struct diagnostics *diagnostics) {
  gsl_set_error_handler_off();
  if (!search_available()) {
    diagnostics_error(diagnostics, (struct place){0},
                      "this build is without GLPK, which the search needs: install libglpk-dev and "
                      "build again");
    return NULL;
  }
  const struct claims *claims = claims_read(scenario, arena, diagnostics);
  if (!claims)
    return NULL;
  struct audit *audit = arena_alloc(arena, sizeof *audit);
  struct audit_setup *setup = arena_alloc(arena, sizeof *setup);
  *setup = (struct audit_setup){.claims = claims, .arena = arena};
  choose_claims(audit, claims, arena);
  if (choose_frees(audit, scenario, arena, diagnostics) || find_slots(setup, diagnostics))
    return NULL;
  find_items(setup);
  find_wanted(setup);
  if (build_response(setup, diagnostics))
    return NULL;
  const int failed = evaluate_as_stated(setup, audit, diagnostics);
  if (!failed && audit->free_count)
    search_claims(setup, audit);
  else if (!failed)
    compare_as_stated(setup, audit);
  if (!failed && !audit->holds)
    find_needs(setup, audit);
  response_workspace_free(setup->workspace);
  return failed ? NULL : audit;
}
