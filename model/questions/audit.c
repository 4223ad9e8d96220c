#include "model/questions/audit.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/evaluate.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/questions/experiment.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/scenario.h"
#include "model/whatif/response.h"
#include "model/whatif/variation.h"

#include <gsl/gsl_errno.h>
#include <math.h>
#include <string.h>

// The limit of the search for an input without one, as a multiple of its stated value.
static const double far_away = 100;

// ---- bounds

enum strictness { WITHIN_TOLERANCE, AS_SAID };

static const struct search_bound unbounded = {-INFINITY, INFINITY};

static struct search_bound bound_of(const struct claim *claim, double scale,
                                    enum strictness strictness) {
  if (strictness == AS_SAID && claim->relation == CLAIM_EQUALS)
    return (struct search_bound){claim->value / scale, claim->value / scale};
  return (struct search_bound){claim->low / scale, claim->high / scale};
}

// The bounds of all claims for which `wanted` is true, of all if it is NULL; the others have none.
static void bounds_of(const struct experiment_setup *setup, const bool *wanted,
                      enum strictness strictness, struct search_bound *bounds) {
  for (int c = 0; c < setup->claims->count; c++)
    bounds[c] = !wanted || wanted[c]
                    ? bound_of(&setup->claims->list[c], setup->scales[c], strictness)
                    : unbounded;
}

static int number_of(const struct experiment_setup *setup, const struct claim *claim) {
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
                    "%.3g to %.3g %s cannot be searched: the search covers %.0e to %.0e",
                    quantity->low / unit_factor(free->unit),
                    quantity->high / unit_factor(free->unit), free->unit->text, 1 / MAX_CLAIM,
                    MAX_CLAIM);
  return -1;
}

// Refuses a free quantity that moves nothing, unless a case or --set gives it.
static int check_still(const struct scenario *scenario, const struct free_quantity *quantity,
                       struct diagnostics *diagnostics) {
  struct target target;
  for (size_t o = 0; o < scenario->option_count; o++)
    if (figure_is_what_if(option_figure(scenario, &scenario->options[o], scenario->selected,
                                        quantity->declaration)))
      return 0;
  return target_find(scenario, quantity->key, quantity->place, &target, diagnostics);
}

static int choose_frees(struct audit *audit, const struct scenario *scenario, struct arena *arena,
                        struct diagnostics *diagnostics) {
  int result = 0;
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
    else
      result |= check_still(scenario, quantity, diagnostics);
  }
  for (int i = 0; i < audit->free_count; i++)
    result |= check_free(&audit->frees[i], diagnostics);
  if (audit->free_count <= EXPERIMENT_FREES)
    return result;
  diagnostics_error(diagnostics, audit->frees[EXPERIMENT_FREES].quantity->place,
                    "%d quantities are free: a search takes at most %d", audit->free_count,
                    EXPERIMENT_FREES);
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

// Everything as stated, and the scales of quantities that are only shown.
static int evaluate_as_stated(struct experiment_setup *setup, struct audit *audit,
                              struct diagnostics *diagnostics) {
  struct experiment *still = experiment_new(setup, true);
  double values[MAX_CLAIMS];
  const double nowhere = 0; // a point without coordinates
  for (int c = 0; c < setup->claims->count; c++)
    setup->scales[c] = setup->claims->list[c].scale;
  experiment_evaluate(still, &nowhere, values);
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

enum { AS_OWED, NOTHING_OWED, OWINGS };

// Whether what a claim says about the option would change if its vendor owed nothing.
static bool counts_owed(const struct variation *variation, const struct claim *claim,
                        size_t option) {
  for (int t = 0; t < claim->quantity.term_count; t++) {
    const struct claim_term *term = &claim->quantity.terms[t];
    if (term->option != option || term->declaration < 0)
      continue;
    const double owed = variation_item(variation, option, term->declaration, AS_OWED);
    const double none = variation_item(variation, option, term->declaration, NOTHING_OWED);
    if (fabs(owed - none) > AUDIT_TOLERANCE * fabs(none))
      return true;
  }
  return false;
}

static void owe_nothing(const struct variation *variation, size_t option) {
  static const char *const inputs[] = {"remedy", "replacement"};
  for (size_t i = 0; i < sizeof inputs / sizeof inputs[0]; i++) {
    const int d = model_find(variation->scenario->model, inputs[i]);
    if (d >= 0 && option_has(&variation->scenario->options[option], d))
      evaluation_at(variation->evaluations[option], d, 0)[NOTHING_OWED] = 0;
  }
}

// Marks the options whose vendors' remedies a claim counts at the point. claim: NULL for any.
static void mark_owing(const struct experiment *experiment, const struct audit *audit,
                       const struct search_point *point, const struct claim *claim) {
  const struct experiment_setup *setup = experiment->setup;
  const struct scenario *scenario = setup->claims->scenario;
  struct variation *variation = variation_new(scenario, OWINGS, setup->arena);
  for (int i = 0; i < audit->free_count; i++) {
    const struct free_quantity *quantity = audit->frees[i].quantity;
    const double value = coordinate_value(&experiment->coordinates[i], point->at[i]);
    for (size_t o = 0; o < scenario->option_count; o++)
      for (int c = 0; c < OWINGS; c++)
        if (claim_free(scenario, o, quantity->declaration) == (int)(quantity - scenario->frees))
          evaluation_at(variation->evaluations[o], quantity->declaration, 0)[c] = value;
  }
  for (size_t o = 0; o < scenario->option_count; o++)
    owe_nothing(variation, o);
  variation_evaluate(variation);
  for (size_t o = 0; o < scenario->option_count; o++)
    for (int c = 0; c < setup->claims->count; c++)
      if (!claim || claim == &setup->claims->list[c])
        audit->owes[o] |= counts_owed(variation, &setup->claims->list[c], o);
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
  if (audit->holds)
    mark_owing(experiment, audit, best, NULL);
}

// Finds the ranges of the free and of the shown quantities in which all claims hold.
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

// Drops claims one by one if the rest is impossible without them too, starting with the last ones,
// and this claim at the very end.
static void find_conflict(const struct experiment *experiment, const struct audit *audit,
                          struct audit_claim *claim) {
  const struct experiment_setup *setup = experiment->setup;
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

// The value of a claim's quantity that is nearest to the claimed one while the others hold.
static double nearest_while(const struct experiment *experiment, const struct audit *audit,
                            const struct audit_claim *claim, enum strictness strictness) {
  const struct experiment_setup *setup = experiment->setup;
  const int c = number_of(setup, claim->claim);
  const double scale = setup->scales[c];
  const struct search_goal goal = {SEARCH_NEAREST, false, c, claim->claim->value / scale};
  struct search_bound bounds[MAX_CLAIMS];
  struct search_point point;
  bounds_of(setup, claim->beside_all ? NULL : claim->conflict, strictness, bounds);
  bounds[c] = unbounded;
  if (!search_best(&experiment->search, bounds, &goal, NULL, &point))
    return NAN;
  mark_owing(experiment, audit, &point, claim->claim);
  return point.values[c] * scale;
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
    claim->nearest = nearest_while(experiment, audit, claim, WITHIN_TOLERANCE);
    claim->nearest_said = nearest_while(experiment, audit, claim, AS_SAID);
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
  const struct experiment_setup *setup = experiment->setup;
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

// ---- the needed values

// The search range: the input's limits, as far as values make sense.
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

// Makes the input the last coordinate, in one claim's conditions or (set -1) in all.
static void free_input(struct experiment *experiment, struct target target, int set) {
  const struct experiment_setup *setup = experiment->setup;
  const int last = experiment->coordinate_count - 1;
  for (int i = 0; i < setup->set_count; i++)
    for (int s = 0; s < setup->slot_count; s++)
      if ((set < 0 || i == set) && setup->slots[s].declaration == target.declaration &&
          target_moves(setup->claims->scenario, target, setup->slots[s].option))
        experiment->assignments[i][s] = (struct slot_value){last, 1};
}

static void find_need(const struct experiment_setup *setup, struct audit_need *need) {
  struct experiment *experiment = experiment_bare(setup, false);
  struct search_bound bounds[MAX_CLAIMS];
  const int last = experiment->coordinate_count;
  const bool alone = condition_on(need->claim, need->target);
  if (last == MAX_SEARCH_DIMENSIONS)
    return;
  experiment->coordinates[experiment->coordinate_count++] =
      coordinate_of(need->looked.low, need->looked.high);
  if (alone)
    experiment_apply_conditions(experiment);
  free_input(experiment, need->target, alone ? setup->set_of[number_of(setup, need->claim)] : -1);
  if (!alone)
    experiment_apply_conditions(experiment);
  experiment_start(experiment);
  bounds_of(setup, NULL, WITHIN_TOLERANCE, bounds);
  need->span = span_of(experiment, bounds, true, last, NULL);
  bounds_of(setup, NULL, AS_SAID, bounds);
  need->exact = span_of(experiment, bounds, true, last, NULL);
}

// An end at the border of the search range, but not at the input's limit, is open.
static void open_ends(struct audit_span *span, struct audit_span looked, struct limits limits) {
  const double near = 1e-9 * (looked.high - looked.low);
  if (span->high >= looked.high - near && limits.high > looked.high)
    span->high = INFINITY;
  if (span->low <= looked.low + near && limits.low < looked.low)
    span->low = -INFINITY;
}

static void add_need(const struct experiment_setup *setup, struct audit *audit,
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
  find_need(setup, need);
  open_ends(&need->exact, need->looked, target_limits(scenario, target));
  open_ends(&need->span, need->looked, target_limits(scenario, target));
}

// The inputs that a claim's conditions fix, and those that it names under `needs`.
static void find_needs(const struct experiment_setup *setup, struct audit *audit) {
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

// If nothing is free, every claim that does not hold is its own conflict.
static void compare_as_stated(const struct experiment_setup *setup, struct audit *audit) {
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

static void search_claims(const struct experiment_setup *setup, struct audit *audit) {
  struct experiment *experiment = experiment_new(setup, false);
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
    diagnostics_error(
        diagnostics, nowhere,
        "this build lacks GLPK, which the search needs: install libglpk-dev and rebuild");
    return NULL;
  }
  const struct claims *claims = claims_read(scenario, arena, diagnostics);
  if (!claims)
    return NULL;
  struct audit *audit = arena_alloc(arena, sizeof *audit);
  struct experiment_setup *setup = arena_alloc(arena, sizeof *setup);
  choose_claims(audit, claims, arena);
  audit->owes = arena_array(arena, scenario->option_count, sizeof *audit->owes);
  if (choose_frees(audit, scenario, arena, diagnostics))
    return NULL;
  setup->free_count = audit->free_count;
  for (int i = 0; i < audit->free_count; i++)
    setup->frees[i] = audit->frees[i].quantity;
  if (experiment_setup_make(setup, claims, arena, diagnostics))
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
