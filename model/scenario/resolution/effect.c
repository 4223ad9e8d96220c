#include "model/scenario/resolution/effect.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/option.h"
#include "model/scenario/selection.h"

#include <stdbool.h>
#include <stddef.h>

// The key by which an option itself gives an input in a case, or NULL.
static const char *own_key(const struct scenario *scenario, size_t option, size_t which_case,
                           int d) {
  const int of = scenario->model->declarations[d].year_of; // the input whose list also states it
  const int selected = selection_giving(&scenario->selections[1 + option],
                                        scenario->model->declarations[of < 0 ? d : of].name);
  if (inputs_of_option(scenario, option, which_case, d) ||
      (of >= 0 && inputs_of_option(scenario, option, which_case, of)))
    return declaration_key(scenario->model, d);
  return selected < 0 ? NULL : selection_key_name(selected);
}

// The options with their own statement about an input in a case: "h200.discount", "b200.discount".
static struct texts own_words(const struct scenario *scenario, size_t which_case, int d,
                              struct arena *arena) {
  struct texts own = {0};
  for (size_t o = 0; o < scenario->option_count; o++) {
    const char *key = own_key(scenario, o, which_case, d);
    if (key)
      texts_add(&own, arena, "%s.%s", scenario->options[o].id, key);
  }
  return own;
}

// Reports that a common statement reaches only some options. `own`: what the others state
// themselves.
static void report_reach(struct scenario *scenario, const char *name, const struct texts *own,
                         struct place place, struct arena *arena, struct diagnostics *diagnostics) {
  if (own->count && own->count == scenario->option_count)
    diagnostics_error(diagnostics, place, "every option sets its own '%s': %s", name,
                      texts_joined(own, arena));
  else if (own->count)
    texts_add(&scenario->warnings, arena, "--set %s does not affect options that set their own: %s",
              name, texts_joined(own, arena));
}

static void check_workload_reach(struct scenario *scenario, struct arena *arena,
                                 struct diagnostics *diagnostics) {
  const struct selections *all = scenario->selections;
  for (int key = SELECT_WORKLOAD; key < SELECTION_KEYS; key++) {
    const char *name = selection_key_name(key);
    struct texts own = {0};
    if (!all->keys[key].name || !origin_layers[all->origins[key]].is_set)
      continue;
    for (size_t o = 0; o < scenario->option_count; o++)
      if (all[1 + o].keys[key].name)
        texts_add(&own, arena, "%s.%s", scenario->options[o].id, name);
    report_reach(scenario, name, &own, all->keys[key].value_place, arena, diagnostics);
  }
}

static void check_setting_reach(struct scenario *scenario, int d, struct arena *arena,
                                struct diagnostics *diagnostics) {
  const struct layer set = {ORIGIN_SET, -1, 0};
  const char *name = declaration_key(scenario->model, d);
  if (!inputs_said(scenario->inputs, set, d) || !*name)
    return;
  const struct texts own = own_words(scenario, scenario->selected, d, arena);
  report_reach(scenario, name, &own, inputs_said(scenario->inputs, set, d)->place, arena,
               diagnostics);
}

void effect_check_reach(struct scenario *scenario, struct arena *arena,
                        struct diagnostics *diagnostics) {
  check_workload_reach(scenario, arena, diagnostics);
  for (int d = 0; d < scenario->model->count; d++) {
    const size_t cases = inputs_said_in_cases(scenario->inputs, d) ? scenario->case_count : 1;
    check_setting_reach(scenario, d, arena, diagnostics);
    for (size_t c = 1; c < cases; c++) {
      const char *name = declaration_key(scenario->model, d);
      if (!inputs_said(scenario->inputs, (struct layer){ORIGIN_CASE, -1, c}, d) || !*name)
        continue;
      const struct texts own = own_words(scenario, c, d, arena);
      if (own.count && own.count == scenario->option_count)
        texts_add(&scenario->warnings, arena,
                  "'%s' in case %s has no effect, because every option sets its own: %s", name,
                  scenario->cases[c], texts_joined(&own, arena));
    }
  }
}

// Whether the option's cost follows what a layer says about an input, itself or in USD.
static bool uses(const struct scenario *scenario, const struct option *option, struct layer layer,
                 int d) {
  const int in_usd = scenario->model->declarations[d].in_usd;
  const struct figure *figure = option_figure(scenario, option, layer.which_case, d);
  const bool is_input =
      option->graph->state[d] == GRAPH_INPUT || figure->year_count || figure->tier_count;
  return (is_input && figure->origin == layer.origin) ||
         (in_usd >= 0 && uses(scenario, option, layer, in_usd));
}

// A --set is for all cases.
static bool is_unused(const struct scenario *scenario, struct layer layer, int d,
                      struct arena *arena) {
  const bool is_set = origin_layers[layer.origin].is_set;
  const size_t first = is_set ? 0 : layer.which_case;
  const size_t last = is_set ? scenario->case_count - 1 : layer.which_case;
  if (!inputs_said(scenario->inputs, layer, d) || !*declaration_key(scenario->model, d))
    return false;
  if (own_words(scenario, layer.which_case, d, arena).count == scenario->option_count)
    return false; // effect_check_reach has said so
  for (layer.which_case = first; layer.which_case <= last; layer.which_case++)
    for (size_t o = 0; o < scenario->option_count; o++)
      if (uses(scenario, &scenario->options[o], layer, d))
        return false;
  return true;
}

// The reason why no option uses the common statement: --set outranks a case, some options may set
// their own value, and the others not use the input.
static const char *why_unused(const struct scenario *scenario, struct layer layer, int d,
                              struct arena *arena) {
  const struct layer set = {ORIGIN_SET, -1, 0};
  const struct texts own = own_words(scenario, layer.which_case, d, arena);
  if (layer.origin == ORIGIN_CASE && inputs_said(scenario->inputs, set, d))
    return "--set replaces it";
  return own.count ? arena_printf(arena, "no option uses it, except those that set their own: %s",
                                  texts_joined(&own, arena))
                   : "no option uses it, given its other values";
}

void effect_check_use(struct scenario *scenario, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const struct layer set = {ORIGIN_SET, -1, scenario->selected};
  for (int d = 0; d < scenario->model->count; d++) {
    const char *name = declaration_key(scenario->model, d);
    const size_t cases = inputs_said_in_cases(scenario->inputs, d) ? scenario->case_count : 1;
    if (is_unused(scenario, set, d, arena))
      diagnostics_error(diagnostics, inputs_said(scenario->inputs, set, d)->place,
                        "'%s' has no effect: %s", name, why_unused(scenario, set, d, arena));
    for (size_t c = 1; c < cases; c++) {
      const struct layer layer = {ORIGIN_CASE, -1, c};
      if (is_unused(scenario, layer, d, arena))
        texts_add(&scenario->warnings, arena, "'%s' in case %s has no effect: %s", name,
                  scenario->cases[c], why_unused(scenario, layer, d, arena));
    }
  }
}
