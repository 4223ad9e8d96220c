#include "model/scenario/resolution.h"
#include "model/scenario/currency.h"
#include "model/scenario/free_range.h"
#include "model/scenario/selection.h"

static struct figure *figures_of(const struct reading *reading, size_t option, size_t which) {
  const struct scenario *scenario = reading->scenario;
  return scenario->options[option].figures + which * (size_t)scenario->model->count;
}

static bool said(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE;
}

static bool at_option_level(const struct figure *figure) {
  return figure->origin >= ORIGIN_OPTION;
}

static void report_both(struct reading *reading, size_t option, int a, int b,
                        const struct figure *figures) {
  const struct declaration *declarations = reading->scenario->model->declarations;
  diagnostics_error(reading->diagnostics, figures[a].place,
                    "option '%s' has both '%s' and '%s': give one of them",
                    reading->scenario->options[option].id, declarations[a].name,
                    declarations[b].name);
}

// Pairs that exclude each other: an error, or the option level's word against the common one's.
static void settle_pairs(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int conflicts = model->declarations[d].conflicts, instead = model->declarations[d].instead_of;
    if (conflicts >= 0 && said(&figures[d]) && said(&figures[conflicts]) && figures[d].value != 0 &&
        figures[conflicts].value != 0)
      report_both(reading, option, d, conflicts, figures);
    if (instead < 0 || !said(&figures[d]) || !said(&figures[instead]))
      continue;
    if (at_option_level(&figures[d]) == at_option_level(&figures[instead]))
      report_both(reading, option, d, instead, figures);
    else
      figures[at_option_level(&figures[d]) ? instead : d].origin = ORIGIN_NONE;
  }
}

// A row of prices counts as the option's own list price when it is weighed against a rent, before
// its value has been looked up.
static void settle_purchase(struct reading *reading, size_t option, struct figure *figures) {
  int list_price = model_find(reading->scenario->model, "list_price");
  const struct ini_key *price = &reading->chosen[option][SELECT_PRICE];
  bool pending = list_price >= 0 && price->name && !said(&figures[list_price]);
  if (pending)
    figures[list_price] =
        (struct figure){.origin = ORIGIN_OPTION, .place = price->place, .source = "", .date = ""};
  settle_pairs(reading, option, figures);
  if (pending)
    figures[list_price].origin = ORIGIN_NONE;
}

// What a rented option does not pay for itself counts as zero there.
static void settle_rent(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  int rental_rate = model_find(model, "rental_rate");
  if (rental_rate < 0 || !said(&figures[rental_rate]))
    return;
  reading->scenario->options[option].rented = true;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->in_rent)
      continue;
    if (at_option_level(&figures[d]))
      diagnostics_error(reading->diagnostics, figures[d].place,
                        "'%s' is part of the rent of option '%s': a rented option does not pay it",
                        input->name, reading->scenario->options[option].id);
    // What an option need not have, a rented one does not have.
    bool counts = input->has_default || input->required;
    figures[d] = (struct figure){.origin = counts ? ORIGIN_RENT : ORIGIN_NONE,
                                 .grade = GRADE_ASSUMED,
                                 .source = "included in the rent",
                                 .date = ""};
  }
}

static bool is_given(const struct figure *figure) {
  return said(figure) && figure->origin != ORIGIN_RENT;
}

// What is said of a view of finance to an option that does not have that view: an error at the
// option's own level, and no matter at the common one as long as some option has it.
static void settle_companions(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int with = model->declarations[d].only_with;
    if (with < 0 || !is_given(&figures[d]))
      continue;
    if (is_given(&figures[with])) {
      reading->companions[d] = true;
      continue;
    }
    if (at_option_level(&figures[d]))
      diagnostics_error(reading->diagnostics, figures[d].place,
                        "'%s' means nothing to option '%s' without '%s'",
                        model->declarations[d].name, reading->scenario->options[option].id,
                        model->declarations[with].name);
    else if (!reading->idle[d].source)
      reading->idle[d] = figures[d].place;
    figures[d].origin = ORIGIN_NONE;
  }
}

static void report_idle(struct reading *reading) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (reading->idle[d].source && !reading->companions[d])
      diagnostics_error(reading->diagnostics, reading->idle[d],
                        "'%s' means nothing without '%s', which no option has",
                        model->declarations[d].name,
                        model->declarations[model->declarations[d].only_with].name);
}

static void apply_defaults(struct reading *reading, size_t option, struct figure *figures) {
  const struct model *model = reading->scenario->model;
  bool rented = reading->scenario->options[option].rented;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    bool neutral = rented && input->has_rent_default;
    bool applies = input->only_with < 0 || is_given(&figures[input->only_with]);
    if (said(&figures[d]) || !applies || (!input->has_default && !neutral))
      continue;
    figures[d] = (struct figure){.origin = neutral ? ORIGIN_RENT : ORIGIN_DEFAULT,
                                 .value = neutral ? input->rent_default : input->default_value,
                                 .grade = GRADE_ASSUMED,
                                 .source = neutral ? "included in the rent" : "default",
                                 .date = ""};
  }
}

// An input that another one, once above zero, makes no sense without.
static void check_companions(struct reading *reading, size_t option, const struct figure *figures) {
  const struct model *model = reading->scenario->model;
  for (int d = 0; d < model->count; d++) {
    int with = model->declarations[d].needed_with;
    if (with >= 0 && figures[with].value > 0 && figures[d].origin == ORIGIN_DEFAULT)
      diagnostics_error(reading->diagnostics, figures[with].place,
                        "option '%s' has '%s' and so needs '%s' (%s)",
                        reading->scenario->options[option].id, model->declarations[with].name,
                        model->declarations[d].name, model->declarations[d].unit.text);
  }
}

// A case may change what an input is, not which inputs there are.
static void check_case(struct reading *reading, size_t option, size_t which) {
  const struct scenario *scenario = reading->scenario;
  const struct figure *base = figures_of(reading, option, 0);
  const struct figure *figures = figures_of(reading, option, which);
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    if (!said(&figures[d]) || said(&base[d]))
      continue;
    diagnostics_error(reading->diagnostics, figures[d].place,
                      "case '%s' gives '%s', which option '%s' otherwise %s: give it there too",
                      scenario->cases[which], input->name, scenario->options[option].id,
                      input->alternative_count ? "computes" : "does not have");
  }
}

static enum given given_by(const struct figure *figure) {
  if (figure->origin == ORIGIN_RENT)
    return GIVEN_NEUTRAL;
  return figure->origin > ORIGIN_RENT || figure->in_usd ? GIVEN_VALUE : GIVEN_NOT;
}

// What the layers say, settled between inputs that bear on one another. After an error in one case
// the later ones would only repeat it.
static void settle_case(struct reading *reading, size_t option, size_t which, size_t errors) {
  size_t before = reading->diagnostics->errors;
  struct figure *figures = figures_of(reading, option, which);
  inputs_resolve(reading->inputs, (int)option, which, figures);
  if (which && errors != before)
    return;
  frees_fill(reading, option, figures);
  settle_purchase(reading, option, figures);
  if (reading->diagnostics->errors == before)
    settle_rent(reading, option, figures);
  if (reading->diagnostics->errors == before)
    settle_companions(reading, option, figures);
}

static void complete_case(struct reading *reading, size_t option, size_t which, size_t errors) {
  apply_defaults(reading, option, figures_of(reading, option, which));
  if (reading->diagnostics->errors == errors)
    check_companions(reading, option, figures_of(reading, option, which));
  if (which && reading->diagnostics->errors == errors)
    check_case(reading, option, which);
}

static void build_graph(struct reading *reading, struct option *option) {
  const struct model *model = reading->scenario->model;
  enum given *given = arena_array(reading->arena, (size_t)model->count, sizeof *given);
  for (int d = 0; d < model->count; d++)
    given[d] = given_by(&option->figures[d]);
  option->graph =
      graph_build(model, option->id, option->place, given, reading->arena, reading->diagnostics);
}

static void resolve_option(struct reading *reading, size_t o) {
  struct scenario *scenario = reading->scenario;
  struct option *option = &scenario->options[o];
  size_t errors = reading->diagnostics->errors, count = (size_t)scenario->model->count;
  option->figures =
      arena_array(reading->arena, count * scenario->case_count, sizeof *option->figures);
  for (size_t c = 0; c < scenario->case_count; c++)
    settle_case(reading, o, c, errors);
  selection_apply(reading, o);
  for (size_t c = 0; c < scenario->case_count; c++)
    complete_case(reading, o, c, errors);
  currency_settle(reading, o);
  build_graph(reading, option);
}

void resolve_options(struct reading *reading) {
  size_t count = (size_t)reading->scenario->model->count;
  reading->companions = arena_array(reading->arena, count, sizeof *reading->companions);
  reading->idle = arena_array(reading->arena, count, sizeof *reading->idle);
  for (size_t o = 0; o < reading->scenario->option_count; o++)
    resolve_option(reading, o);
  report_idle(reading);
  currency_check(reading);
}
