#include "model/scenario/resolution/requirements.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/model.h"
#include "model/cost/step.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"
#include "model/scenario/sources/lending.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// Checks that an option with a provider has the inputs without which it is unknown what to pay for.
static void check_api(const struct resolving *resolving, const struct figure **figures) {
  static const char *const needed[] = {"demand", "input_tokens", "output_tokens"};
  const struct model *model = resolving->scenario->model;
  for (size_t i = 0; i < sizeof needed / sizeof needed[0] && resolving->option->provider; i++) {
    const int d = model_find(model, needed[i]);
    const bool lent = i == 0 && tokens_are_lent(resolving);
    if (d >= 0 && !figure_exists(figures[d]) && !lent)
      diagnostics_error(resolving->diagnostics, resolving->option->place,
                        "option '%s' buys tokens from a provider and so needs '%s' (%s)",
                        resolving->option->id, needed[i], model->declarations[d].unit.text);
  }
}

// A server's throughput already includes its own cache hits; the effect of additional ones is
// unknown.
static void check_cache(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  const int hits = model_find(model, "cache_hit"), throughput = model_find(model, "throughput");
  if (hits >= 0 && figure_exists(figures[hits]) && figure_exists(figures[throughput]))
    diagnostics_error(
        resolving->diagnostics, figures[hits]->place,
        "option '%s' has a serving throughput, which already reflects cache hits: 'cache_hit' goes "
        "with decode_throughput and prefill_throughput, or with a token API",
        resolving->option->id);
}

// A rent of several kinds covers all the accelerators, each kind at its own rate.
static void check_shares(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  const int reserved = model_find(model, "reserved_share"), spot = model_find(model, "spot_share");
  const int around_the_clock = model_find(model, "rental_rate");
  const int on_demand = model_find(model, "on_demand_rate");
  if (reserved < 0 || spot < 0 ||
      (!figure_is_stated(figures[reserved]) && !figure_is_stated(figures[spot])))
    return;
  const struct figure *share = figures[figure_is_stated(figures[spot]) ? spot : reserved];
  const double percent = round(1e8 * (figures[reserved]->value + figures[spot]->value)) / 1e6;
  const char *wrong = NULL;
  if (percent > 100)
    wrong = arena_printf(
        resolving->arena,
        "reserved_share and spot_share of option '%s' total %g %%; the maximum is 100 %%",
        resolving->option->id, percent);
  else if (percent < 100 && !figure_is_stated(figures[on_demand]))
    wrong = arena_printf(resolving->arena,
                         "reserved_share and spot_share leave %g %% of option '%s' to rent on "
                         "demand, which needs 'on_demand_rate' (%s)",
                         100 - percent, resolving->option->id,
                         model->declarations[on_demand].unit.text);
  else if (figure_is_stated(figures[around_the_clock]) && !figure_is_stated(figures[reserved]))
    wrong = arena_printf(resolving->arena,
                         "option '%s' has 'spot_share' and 'rental_rate': state with "
                         "'reserved_share' how much of it is rented around the clock",
                         resolving->option->id);
  if (wrong)
    diagnostics_error(resolving->diagnostics, share->place, "%s", wrong);
}

// Reports a list for an input whose value is looked up: that is known only after the lists are
// settled.
static void report_list(const struct resolving *resolving, size_t which, int declaration) {
  const struct scenario *scenario = resolving->scenario;
  const struct declaration *input = &scenario->model->declarations[declaration];
  diagnostics_error(resolving->diagnostics, resolving_figures(resolving, which)[declaration]->place,
                    "case '%s' gives '%s' %s, which is looked up for option '%s' otherwise: "
                    "give it there too",
                    scenario->cases[which], input->name,
                    step_words(input->step_h, resolving->arena), resolving->option->id);
}

// The words for what a case may give in place of an input that the base case computes: ", or
// 'decode_throughput' here", the first that the formula needs; "" if it needs none.
static const char *or_here(const struct resolving *resolving, const struct declaration *input,
                           const struct figure **base) {
  for (int a = 0; a < input->alternative_count; a++) {
    const struct alternative *alternative = &input->alternatives[a];
    bool met = !alternative->left_out && alternative->need_count > 0;
    for (int n = 0; n < alternative->need_count; n++)
      met &= figure_exists(base[alternative->needs[n]]);
    if (met)
      return arena_printf(resolving->arena, ", or '%s' here",
                          resolving->scenario->model->declarations[alternative->needs[0]].name);
  }
  return "";
}

// What the base case gives to be the same as without an input: ", as 'delivery_delay = 0 month'";
// "" for an input of which nothing in particular does.
static const char *as_without(const struct resolving *resolving, const struct declaration *input) {
  static const char *const neutral_at_zero[] = {"delivery_delay", "migration_cost"};
  for (size_t i = 0; i < sizeof neutral_at_zero / sizeof neutral_at_zero[0]; i++)
    if (!strcmp(input->name, neutral_at_zero[i]))
      return arena_printf(resolving->arena, ", as '%s = 0 %s'", input->name, input->unit.text);
  return "";
}

void requirements_check_case(struct resolving *resolving, size_t which) {
  const struct scenario *scenario = resolving->scenario;
  const struct figure **base = resolving_figures(resolving, 0);
  const struct figure **figures = resolving_figures(resolving, which);
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    // The years of a list are reported through the list.
    const char *name = declaration_key(scenario->model, d);
    if (!figure_is_stated(figures[d]) || figure_exists(base[d]) || input->year_of >= 0 || !*name)
      continue;
    if (input->scale_of < 0) {
      diagnostics_error(
          resolving->diagnostics, figures[d]->place,
          "case '%s' gives '%s', which option '%s' otherwise %s: give it there too%s%s",
          scenario->cases[which], name, resolving->option->id,
          input->alternative_count ? "computes" : "does not have", as_without(resolving, input),
          or_here(resolving, input, base));
      resolving_pretend(resolving, input->name);
    } else if (figure_exists(base[input->scale_of]))
      report_list(resolving, which, input->scale_of);
  }
}

void requirements_check(const struct resolving *resolving, const struct figure **figures) {
  static void (*const checks[])(const struct resolving *,
                                const struct figure **) = {check_api, check_cache, check_shares};
  const size_t errors = resolving->diagnostics->errors;
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    if (resolving->diagnostics->errors == errors)
      checks[i](resolving, figures);
}
