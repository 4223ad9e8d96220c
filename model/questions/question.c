#include "model/questions/question.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/chance/distribution_text.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/cost/usable.h"
#include "model/evidence/memory.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/reading/sections.h"

#include <math.h>
#include <string.h>

const struct ini_section *question_section(const struct scenario *scenario, const char *kind,
                                           const char *name) {
  for (size_t i = 0; i < scenario->question_count; i++) {
    const struct ini_section *section = &scenario->questions[i];
    if (!strcmp(section->kind, kind) && (!name || !strcmp(section->argument, name)))
      return section;
  }
  return NULL;
}

int question_belief(const struct ini_key *key, const char *unit_text, struct declaration *input,
                    struct distribution *out, struct arena *arena,
                    struct diagnostics *diagnostics) {
  if (unit_parse(unit_text, key->value_place, &input->unit, arena, diagnostics) ||
      distribution_parse(key->value, key->value_place, input, out, arena, diagnostics))
    return -1;
  if (out->kind != DISTRIBUTION_MEASURED)
    return distribution_prepare(out, key->value_place, arena, diagnostics);
  diagnostics_error(diagnostics, key->value_place, "no record measures %s", key->name);
  return -1;
}

const char *question_precision(const struct ini_key *key, struct diagnostics *diagnostics) {
  if (memory_bits(key->value) == 0)
    diagnostics_error(diagnostics, key->value_place, "unknown precision '%s'", key->value);
  return key->value;
}

int question_quantity(const struct ini_section *section, const char *name, double *out,
                      struct diagnostics *diagnostics) {
  const struct ini_key *key = section ? ini_find(section, name) : NULL;
  double value;
  if (!key)
    return 0;
  if (section_number(section->kind, key, &value, diagnostics))
    return -1;
  if (value > 0) {
    *out = value;
    return 0;
  }
  diagnostics_error(diagnostics, key->value_place, "%s must be above 0, not %s", name, key->value);
  return -1;
}

int question_check_size(const struct ini_key *key, double amount, struct diagnostics *diagnostics) {
  static const double most = 1e30;
  if (fabs(amount) <= most)
    return 0;
  diagnostics_error(diagnostics, key->value_place, "'%s' is too large to add up", key->value);
  return -1;
}

int question_count(const struct ini_section *section, const char *name, double *out,
                   struct diagnostics *diagnostics) {
  const struct ini_key *key = section ? ini_find(section, name) : NULL;
  return key ? section_number(section->kind, key, out, diagnostics) : 0;
}

int question_option(const struct scenario *scenario, const struct ini_section *section,
                    const char *name, struct diagnostics *diagnostics) {
  const struct ini_key *key = ini_find(section, name);
  if (!key) {
    diagnostics_error(diagnostics, section->place, "[%s %s] needs '%s = ID' of an option",
                      section->kind, section->argument, name);
    return -1;
  }
  const int option = scenario_option(scenario, key->value);
  if (option < 0)
    scenario_unknown_option(scenario, key->value, key->value_place, diagnostics);
  return option;
}

// ---- fleets that change

static bool follows_year(const struct scenario *scenario, const struct option *option, int item) {
  return graph_is_series(option->graph, item) &&
         model_follows_year(scenario->model, option->graph->state, item);
}

static bool is_there(const struct scenario *scenario, const struct option *option, int item) {
  (void)scenario;
  return option_has(option, item);
}

// The order at the outset is for the first period.
static bool is_renewed(const struct scenario *scenario, const struct option *option, int item) {
  (void)item;
  const int bought = model_find(scenario->model, "bought");
  for (int t = 2; bought >= 0 && option_has(option, bought) && t < scenario->periods; t++)
    if (option_value(scenario, option, bought, t) > 0)
      return true;
  return false;
}

// Ways in which a fleet changes. The first that applies counts: hardware that is renewed may also
// follow the year.
static const struct change {
  const char *item, *when;
  bool (*applies)(const struct scenario *, const struct option *, int item);
} changes[] = {
    {"in_service", "from year to year", follows_year},
    {"tokens_per_gpu", "from year to year", follows_year},
    {"rental_rate", "from year to year", follows_year},
    {"on_demand_rate", "from year to year", follows_year},
    {"rent_level", "from year to year", follows_year},
    {"peak_over_mean", "with the hour of the day", is_there},
    {"life", "when its hardware is renewed", is_renewed},
    {"delivery_delay", "when what is late arrives", is_there},
};

static const struct change *change_of(const struct scenario *scenario,
                                      const struct option *option) {
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
    const int item = model_find(scenario->model, changes[i].item);
    if (item >= 0 && option_has(option, item) && changes[i].applies(scenario, option, item))
      return &changes[i];
  }
  return NULL;
}

bool question_changing(const struct scenario *scenario, const struct option *option) {
  return change_of(scenario, option) != NULL;
}

const char *question_change_words(const struct scenario *scenario, const struct option *option,
                                  struct arena *arena) {
  const struct change *change = change_of(scenario, option);
  if (!change)
    return NULL;
  const struct model *model = scenario->model;
  const int clock =
      change->applies == follows_year
          ? model_followed_clock(model, option->graph->state, model_find(model, change->item))
          : -1;
  const double step_h = clock < 0 ? 0 : model->declarations[clock].step_h;
  return arena_printf(arena, "changes %s (see its '%s')",
                      step_h > 0 ? step_words(step_h, arena) : change->when, change->item);
}

int question_refuse_changing(const struct scenario *scenario, const struct option *option,
                             struct place place, struct diagnostics *diagnostics) {
  const char *changes_how = question_change_words(scenario, option, diagnostics->arena);
  if (!changes_how)
    return 0;
  diagnostics_error(diagnostics, place,
                    "option '%s' %s, and this question covers only constant fleets: use 'pertoken "
                    "compare' for others",
                    option->id, changes_how);
  return -1;
}

bool question_ramps(const struct scenario *scenario, const struct option *option) {
  const int ramp = model_find(scenario->model, "ramp");
  return ramp >= 0 && option_has(option, ramp) &&
         (option_value(scenario, option, ramp, 0) > 0 || option_range(scenario, option, ramp) >= 0);
}

int question_refuse_different(const struct scenario *scenario, const struct option *one,
                              const struct option *other, const char *input, struct place place,
                              struct diagnostics *diagnostics) {
  const int d = model_require(scenario->model, input, diagnostics);
  if (d < 0)
    return -1;
  if (option_value(scenario, one, d, 0) == option_value(scenario, other, d, 0))
    return 0;
  diagnostics_error(diagnostics, place,
                    "options '%s' and '%s' differ in '%s', which must be the same here", one->id,
                    other->id, input);
  return -1;
}
