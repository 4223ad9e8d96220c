#include "model/scenario/resolution/resolution.h"

#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/arithmetic.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/schedule.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/served_rungs.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/reading/refusal.h"
#include "model/scenario/reading/schedules.h"
#include "model/scenario/reading/tiers.h"
#include "model/scenario/resolution/colocation.h"
#include "model/scenario/resolution/companions.h"
#include "model/scenario/resolution/effect.h"
#include "model/scenario/resolution/plausibility.h"
#include "model/scenario/resolution/warnings.h"
#include "model/scenario/resolving.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/hardware.h"
#include "model/scenario/sources/lending.h"
#include "model/scenario/sources/load_power.h"
#include "model/scenario/sources/quoted_sums.h"
#include "model/scenario/sources/throughput.h"
#include "model/scenario/sources/utilization.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool said(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE;
}

// ---- inputs that affect one another

static void report_both(const struct resolving *resolving, int a, int b,
                        const struct figure **figures) {
  const struct declaration *declarations = resolving->scenario->model->declarations;
  diagnostics_error(resolving->diagnostics, figures[a]->place,
                    "option '%s' has both '%s' and '%s': give only one", resolving->option->id,
                    declarations[a].name, declarations[b].name);
}

static void settle_pair(const struct resolving *resolving, int a, int b,
                        const struct figure **figures) {
  if (!said(figures[a]) || !said(figures[b]))
    return;
  if (figure_is_of_option(figures[a]) == figure_is_of_option(figures[b]))
    report_both(resolving, a, b, figures);
  else
    figures[figure_is_of_option(figures[a]) ? b : a] = &figure_none;
}

// Settles pairs that exclude each other: an error, or the option level wins over the common one.
static void settle_pairs(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const int conflicts = input->conflicts;
    if (conflicts >= 0 && said(figures[d]) && said(figures[conflicts]) &&
        figure_highest(figures[d]) != 0 && figure_highest(figures[conflicts]) != 0)
      report_both(resolving, d, conflicts, figures);
    const bool together = input->unless >= 0 && said(figures[input->unless]);
    for (int i = 0; i < input->instead_count && !together; i++)
      settle_pair(resolving, d, input->instead_of[i], figures);
  }
}

// A row of prices counts as the option's own list price when compared with a rent, before its value
// has been looked up.
static void settle_purchase(const struct resolving *resolving, const struct figure **figures) {
  const int list_price = model_find(resolving->scenario->model, "list_price");
  const struct ini_key *price = selection_of(&resolving->selections, SELECT_PRICE);
  const bool pending = list_price >= 0 && price && !said(figures[list_price]);
  if (pending)
    figures[list_price] = resolving_keep(
        resolving,
        (struct figure){.origin = ORIGIN_OPTION, .place = price->place, .source = "", .date = ""});
  settle_pairs(resolving, figures);
  if (pending)
    figures[list_price] = &figure_none;
}

// Whether the figure ranks below what is stated at that layer. An offer's does so also at its own
// layer.
static bool ranks_below(const struct scenario *scenario, const struct figure *figure,
                        enum origin origin) {
  return figure->origin < origin ||
         (figure->origin == origin && scenario_offer_of(scenario, figure) != NULL);
}

// Settles what an option names, such as a row of prices. It counts as a statement of the layer that
// names it: what weaker layers say does not apply, as if the option stated its value there.
static void settle_named(const struct resolving *resolving, const struct figure **figures) {
  const struct selections *selections = &resolving->selections;
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const int key = selection_giving(selections, model->declarations[d].name);
    if (key >= 0 && ranks_below(resolving->scenario, figures[d], selections->origins[key]))
      figures[d] = &figure_none;
  }
  // A row has all prices, whether or not it lists one for cached input.
  for (size_t i = 0; i < SELECTION_API_PRICES; i++) {
    const int d = model_find(model, selection_api_prices[i]);
    if (d >= 0 && selection_of(selections, SELECT_API) && figure_is_of_option(figures[d]) &&
        figures[d]->origin < selections->origins[SELECT_API])
      figures[d] = &figure_none;
  }
}

// Leaves out inputs that a bought option does not use.
static void leave_out_rent(const struct resolving *resolving, const struct figure **figures) {
  static const char *const shares[] = {"reserved_share", "spot_share"};
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const int d = model_find(resolving->scenario->model, shares[i]);
    if (d < 0 || !said(figures[d]))
      continue;
    if (figure_is_of_option(figures[d]))
      diagnostics_error(resolving->diagnostics, figures[d]->place,
                        "'%s' applies to a rent, and option '%s' has none", shares[i],
                        resolving->option->id);
    figures[d] = &figure_none;
  }
}

// Sets what a rented option does not pay for itself to zero.
static void settle_rent(const struct resolving *resolving, const struct figure **figures) {
  static const struct figure paid = {
      .origin = ORIGIN_RENT, .grade = GRADE_ASSUMED, .source = "included in the rent", .date = ""};
  const struct model *model = resolving->scenario->model;
  const int list_price = model_find(model, "list_price");
  for (int i = 0; list_price >= 0 && i < model->declarations[list_price].instead_count; i++)
    resolving->option->rented |= said(figures[model->declarations[list_price].instead_of[i]]);
  if (!resolving->option->rented) {
    leave_out_rent(resolving, figures);
    return;
  }
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->in_rent)
      continue;
    if (figure_is_of_option(figures[d]))
      refuse_rented(resolving->diagnostics, figures[d]->place, input->name, resolving->option->id);
    // Inputs that an option may lack, a rented one lacks.
    figures[d] = input->has_default || input->required ? &paid : &figure_none;
  }
}

// A life shorter than a period cannot be modeled.
static void check_life(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int life = model_find(scenario->model, "life");
  for (size_t c = 0; life >= 0 && c < scenario->case_count; c++) {
    const struct figure *figure = resolving_figures(resolving, c)[life];
    const struct unit *unit = &scenario->model->declarations[life].unit;
    if (!figure_is_given(figure) || figure->value <= 0 ||
        arithmetic_reaches(figure->value, scenario->period_h))
      continue;
    diagnostics_error(resolving->diagnostics, figure->place,
                      "option '%s' has a 'life' of %s, which is shorter than a period of %s: give "
                      "[scenario] a shorter 'period'",
                      resolving->option->id, quantity_text(figure->value, unit, resolving->arena),
                      quantity_text(scenario->period_h, unit, resolving->arena));
    return;
  }
}

// Checks that hardware that is renewed can be ordered within its life.
static void check_lead_time(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int life = model_find(scenario->model, "life");
  const int lead_time = model_find(scenario->model, "lead_time");
  for (size_t c = 0; life >= 0 && lead_time >= 0 && c < scenario->case_count; c++) {
    const struct figure *const *figures = resolving_figures(resolving, c);
    if (!figure_is_given(figures[life]) || !figure_is_given(figures[lead_time]) ||
        figures[lead_time]->value <= figures[life]->value)
      continue;
    diagnostics_error(resolving->diagnostics, figures[lead_time]->place,
                      "option '%s' has a life shorter than its lead time: it would be retired "
                      "before it arrives",
                      resolving->option->id);
    return;
  }
}

// "40 month"
static const char *figure_words(const struct resolving *resolving, size_t which, int input) {
  return quantity_text(resolving_figures(resolving, which)[input]->value,
                       &resolving->scenario->model->declarations[input].unit, resolving->arena);
}

static void refuse_delay(const struct resolving *resolving, const struct figure *delay,
                         const char *why) {
  diagnostics_error(resolving->diagnostics, delay->place, "option '%s' has a 'delivery_delay' %s",
                    resolving->option->id, why);
}

// Whether hardware is retired before a time: after the last whole period of its life.
static bool retires_before(const struct resolving *resolving, const struct figure *const *figures,
                           double time) {
  const struct scenario *scenario = resolving->scenario;
  const int life = model_find(scenario->model, "life");
  if (life < 0 || !figure_is_given(figures[life]))
    return false;
  const double periods = arithmetic_floor(figures[life]->value / scenario->period_h);
  return arithmetic_reaches(time, periods * scenario->period_h);
}

// Checks that late hardware arrives within the horizon, and before it is retired.
static void check_delivery_delay(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int delay = model_find(scenario->model, "delivery_delay");
  const int horizon = model_find(scenario->model, "horizon");
  for (size_t c = 0; delay >= 0 && horizon >= 0 && c < scenario->case_count; c++) {
    const struct figure *const *figures = resolving_figures(resolving, c);
    if (!figure_is_given(figures[delay]))
      continue;
    if (figures[delay]->value > 0 && retires_before(resolving, figures, figures[delay]->value)) {
      refuse_delay(resolving, figures[delay],
                   arena_printf(resolving->arena,
                                "of %s: what is late would be retired before it arrives",
                                figure_words(resolving, c, delay)));
      return;
    }
    if (arithmetic_reaches(figures[delay]->value, figures[horizon]->value)) {
      refuse_delay(resolving, figures[delay],
                   arena_printf(resolving->arena, "of %s: what is late never arrives within %s",
                                figure_words(resolving, c, delay),
                                figure_words(resolving, c, horizon)));
      return;
    }
  }
}

// ---- what was not stated

// An option has the same inputs in every case. One with a default, which no other case needs to
// state, and the years of a list are there if one case states them.
static bool is_stated_somewhere(const struct resolving *resolving, int declaration) {
  const struct declaration *input = &resolving->scenario->model->declarations[declaration];
  const bool may_be = input->has_default || input->year_of >= 0 || input->scale_of >= 0;
  for (size_t c = 0; c < (may_be ? resolving->scenario->case_count : 0); c++)
    if (figure_is_stated(resolving_figures(resolving, c)[declaration]))
      return true;
  return false;
}

static bool may_apply(const struct resolving *resolving, const struct declaration *input,
                      const struct figure **figures) {
  return (input->only_with < 0 || figure_is_given(figures[input->only_with]) ||
          is_stated_somewhere(resolving, input->only_with)) &&
         (input->absent_with < 0 || !figure_is_given(figures[input->absent_with]));
}

// Reuses the previous option's figure if it is equal: with thousands of options, most defaults are.
static const struct figure *keep_default(const struct resolving *resolving, int declaration,
                                         struct figure figure) {
  const size_t before = resolving->number ? resolving->number - 1 : 0;
  const struct figure **figures = resolving->scenario->options[before].figures;
  const struct figure *its = figures ? figures[declaration] : NULL;
  const bool same = its && its->origin == figure.origin && its->source == figure.source &&
                    its->value == figure.value;
  return same ? its : resolving_keep(resolving, figure);
}

static void apply_defaults(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const bool neutral = resolving->option->rented && input->has_rent_default;
    if (said(figures[d]) || !may_apply(resolving, input, figures) ||
        (!input->has_default && !neutral))
      continue;
    figures[d] =
        keep_default(resolving, d,
                     (struct figure){.origin = neutral ? ORIGIN_RENT : ORIGIN_DEFAULT,
                                     .value = neutral ? input->rent_default : input->default_value,
                                     .grade = GRADE_ASSUMED,
                                     .source = neutral ? "included in the rent" : "default",
                                     .date = ""});
  }
}

// Checks that an option with a provider has the inputs without which it is unknown what to pay for.
static void check_api(const struct resolving *resolving, const struct figure **figures) {
  static const char *const needed[] = {"demand", "input_tokens", "output_tokens"};
  const struct model *model = resolving->scenario->model;
  for (size_t i = 0; i < sizeof needed / sizeof needed[0] && resolving->option->provider; i++) {
    const int d = model_find(model, needed[i]);
    const bool lent = i == 0 && tokens_are_lent(resolving);
    if (d >= 0 && !said(figures[d]) && !lent)
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
  if (hits >= 0 && said(figures[hits]) && said(figures[throughput]))
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
  const char *name = scenario->model->declarations[declaration].name;
  diagnostics_error(resolving->diagnostics, resolving_figures(resolving, which)[declaration]->place,
                    "case '%s' gives '%s' by year, which is looked up for option '%s' otherwise: "
                    "give it there too",
                    scenario->cases[which], name, resolving->option->id);
}

// The words for what a case may give in place of an input that the base case computes: ", or
// 'decode_throughput' here", the first that the formula needs; "" if it needs none.
static const char *or_here(const struct resolving *resolving, const struct declaration *input,
                           const struct figure **base) {
  for (int a = 0; a < input->alternative_count; a++) {
    const struct alternative *alternative = &input->alternatives[a];
    bool met = !alternative->left_out && alternative->need_count > 0;
    for (int n = 0; n < alternative->need_count; n++)
      met &= said(base[alternative->needs[n]]);
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

// A case may change the value of an input, but not which inputs there are. One that it adds is then
// pretended to be there, so that the graph misses nothing.
static void check_case(struct resolving *resolving, size_t which) {
  const struct scenario *scenario = resolving->scenario;
  const struct figure **base = resolving_figures(resolving, 0);
  const struct figure **figures = resolving_figures(resolving, which);
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    // The years of a list are reported through the list.
    const char *name = declaration_key(scenario->model, d);
    if (!figure_is_stated(figures[d]) || said(base[d]) || input->year_of >= 0 || !*name)
      continue;
    if (input->scale_of < 0) {
      diagnostics_error(
          resolving->diagnostics, figures[d]->place,
          "case '%s' gives '%s', which option '%s' otherwise %s: give it there too%s%s",
          scenario->cases[which], name, resolving->option->id,
          input->alternative_count ? "computes" : "does not have", as_without(resolving, input),
          or_here(resolving, input, base));
      resolving_pretend(resolving, input->name);
    } else if (said(base[input->scale_of]))
      report_list(resolving, which, input->scale_of);
  }
}

// ---- the steps

// Settles what the layers state between inputs that affect one another. Stops early after an error
// in an earlier case, which this one would only repeat.
static void settle_case(const struct resolving *resolving, size_t which, size_t errors) {
  const struct diagnostics *diagnostics = resolving->diagnostics;
  const size_t before = diagnostics->errors;
  const struct figure **figures = resolving_figures(resolving, which);
  inputs_resolve(resolving->scenario, (int)resolving->number, which, figures);
  if (resolving->amendment)
    amendment_apply(resolving->amendment, figures);
  if (which && errors != before)
    return;
  settle_named(resolving, figures);
  hardware_api(resolving, figures);
  frees_fill(resolving, figures);
  settle_purchase(resolving, figures);
  if (diagnostics->errors == before)
    settle_rent(resolving, figures);
}

static void complete_case(struct resolving *resolving, size_t which, size_t errors) {
  companions_settle(resolving, which, true);
  apply_defaults(resolving, resolving_figures(resolving, which));
  static void (*const checks[])(const struct resolving *, const struct figure **) = {
      companions_check, check_api, check_cache, check_shares};
  for (size_t i = 0; i < sizeof checks / sizeof checks[0]; i++)
    if (resolving->diagnostics->errors == errors)
      checks[i](resolving, resolving_figures(resolving, which));
  if (which && resolving->diagnostics->errors == errors)
    check_case(resolving, which);
}

static enum given given_by(const struct figure *figure) {
  if (figure->origin == ORIGIN_RENT)
    return GIVEN_NEUTRAL;
  if (figure->year_count)
    return GIVEN_LIST;
  return figure_is_stated(figure) || figure->in_usd ? GIVEN_VALUE : GIVEN_NOT;
}

enum { LAST_FEW = 8 };

// One of the last few options with the same inputs given, or NULL: most options of a scenario have
// one.
static const struct option *given_alike(const struct resolving *resolving,
                                        const enum given *given) {
  const struct option *first = resolving->scenario->options, *other = resolving->option;
  const size_t size = (size_t)resolving->scenario->model->count * sizeof *given;
  for (int i = 0; i < LAST_FEW && other > first && !resolving->option->lent; i++)
    if ((--other)->graph && !other->lent && !memcmp(other->given, given, size))
      return other;
  return NULL;
}

// The graph and what it was built of.
static void find_graph(const struct resolving *resolving, const enum given *given) {
  const struct model *model = resolving->scenario->model;
  const size_t count = (size_t)model->count;
  struct option *option = resolving->option;
  const struct option *like = given_alike(resolving, given);
  option->given = like ? like->given
                       : memcpy(arena_array(resolving->arena, count, sizeof *given), given,
                                count * sizeof *given);
  option->graph = like ? like->graph
                       : graph_build_lent(model, option->id, option->place, given, option->lent,
                                          resolving->arena, resolving->diagnostics);
}

static void build_graph(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  const struct option *option = resolving->option;
  enum given given[model->count];
  for (int d = 0; d < model->count; d++)
    given[d] = given_by(option->figures[d]);
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const int one = input->year_of >= 0 || input->scale_of >= 0 ? d : input->only_with;
    if (one >= 0 && given[one] == GIVEN_NOT && is_stated_somewhere(resolving, one))
      given[one] = GIVEN_VALUE;
  }
  find_graph(resolving, given);
  if (!option->graph)
    return;
  companions_settle_varying(resolving);
  check_life(resolving);
  check_lead_time(resolving);
  check_delivery_delay(resolving);
  if (option->lent)
    tokens_hide(resolving);
}

static void pretend_meant(struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const char *name = model->declarations[d].name;
    if (model->declarations[d].required && scenario_meant(resolving->scenario, name))
      resolving_pretend(resolving, name);
  }
}

// What its layers state, and what its hardware gives. Returns 0, or -1 if it is unknown what that
// is.
static int settle_stated(struct resolving *resolving, size_t errors) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    settle_case(resolving, c, errors);
  quoted_sums_settle(resolving);
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    if (resolving->diagnostics->errors == errors)
      companions_settle(resolving, c, false);
    else
      companions_assume(resolving, c);
  pretend_meant(resolving);
  colocation_apply(resolving);
  schedules_settle(resolving);
  tiers_settle(resolving);
  return resolving->option->provider ? 0 : hardware_apply(resolving);
}

static void settle(struct resolving *resolving) {
  const size_t errors = resolving->diagnostics->errors;
  if (resolving->option->lacks_offer)
    return; // what it needs may be in the offer
  if (settle_stated(resolving, errors) == 0) {
    throughput_apply(resolving);
    utilization_apply(resolving);
    load_power_find(resolving);
  }
  if (resolving->lack && resolving->lack->kind)
    return;
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    complete_case(resolving, c, errors);
  currency_settle(resolving);
  if (tokens_are_lent(resolving) &&
      (resolving->diagnostics->errors != errors || tokens_lend(resolving)))
    return;
  build_graph(resolving);
}

// The evaluation of one of the last few options that computes the same from the same kinds of
// input: most options of a scenario have one.
static const struct evaluation *evaluated_alike(const struct scenario *scenario,
                                                const struct option *option) {
  const struct option *other = option;
  for (int i = 0; i < LAST_FEW && other > scenario->options; i++)
    if (graph_equal((--other)->graph, option->graph))
      return other->evaluation;
  return NULL;
}

// The number of decades by which a typed input differs from 1 in its own unit: 0 for none, and for
// a 0.
static double decades_of(const struct scenario *scenario, const struct figure *figure, int d) {
  const double value = figure->value / unit_factor(&scenario->model->declarations[d].unit);
  return figure->origin < ORIGIN_COMMON || value == 0 ? 0 : fabs(log10(fabs(value)));
}

// An item without a value names formulas; the input that is to blame is, as a rule, the one whose
// size is the most unusual.
static void name_most_extreme(const struct scenario *scenario, const struct option *option,
                              size_t which, const bool *sources, struct diagnostics *diagnostics) {
  // If the formula is the scenario's own, its place shows what is wrong.
  const bool is_of_own_item =
      diagnostics->list[diagnostics->count - 1].place.source != scenario->model->source;
  int most = -1;
  double decades = 0;
  for (int d = 0; d < scenario->model->count; d++) {
    if (!sources[d] || option->graph->state[d] != GRAPH_INPUT)
      continue;
    const double of = decades_of(scenario, option_figure(scenario, option, which, d), d);
    if (of <= decades)
      continue;
    most = d;
    decades = of;
  }
  if (most < 0 || is_of_own_item)
    return;
  const struct figure *figure = option_figure(scenario, option, which, most);
  diagnostics_error(diagnostics, figure->place,
                    "of the inputs of option '%s', '%s' is the most extreme, %s: check its value "
                    "and its unit",
                    option->id, scenario->model->declarations[most].name,
                    figure->text
                        ? figure->text
                        : quantity_text(figure->value, &scenario->model->declarations[most].unit,
                                        diagnostics->arena));
}

static void evaluate_option(const struct scenario *scenario, struct option *option,
                            struct arena *arena, struct diagnostics *diagnostics) {
  const struct evaluation *like = evaluated_alike(scenario, option);
  option->evaluation =
      like ? evaluation_like(like, scenario->case_count, arena)
           : evaluation_new(option->graph, scenario->periods, scenario->case_count, arena);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c < scenario->case_count && option->graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(option->evaluation, d, 0)[c] = option_figure(scenario, option, c, d)->value;
  evaluate(option->evaluation);
  bool *sources = arena_array(arena, (size_t)scenario->model->count, sizeof *sources);
  for (size_t c = 0; c < scenario->case_count; c++) {
    const char *what = arena_printf(arena, c ? "option '%s' in case '%s'" : "option '%s'",
                                    option->id, scenario->cases[c]);
    if (evaluation_check(option->evaluation, c, what, sources, diagnostics)) {
      name_most_extreme(scenario, option, c, sources, diagnostics);
      return;
    }
  }
  plausibility_refuse(scenario, option, arena, diagnostics);
  utilization_refuse(scenario, option, arena, diagnostics);
}

static void find_periods(struct scenario *scenario) {
  double longest = MIN_YEARS * HOURS_PER_YEAR;
  const int horizon = model_find(scenario->model, "horizon");
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++)
      longest = fmax(longest, option_figure(scenario, &scenario->options[o], c, horizon)->value);
  scenario->periods = scenario_columns(scenario, longest);
}

// A copy of the scenario, with options that can be changed.
static struct scenario *copy_of(const struct scenario *scenario, struct arena *arena) {
  struct scenario *copy = arena_alloc(arena, sizeof *copy);
  *copy = *scenario;
  copy->options = arena_array(arena, scenario->option_count, sizeof *copy->options);
  memcpy(copy->options, scenario->options, scenario->option_count * sizeof *copy->options);
  const size_t inputs = (size_t)scenario->model->count;
  copy->finds = arena_array(arena, inputs, sizeof *copy->finds);
  memcpy(copy->finds, scenario->finds, inputs * sizeof *copy->finds);
  return copy;
}

// ---- the percentile by which all options are judged

static bool limits_times(const struct selections *selections) {
  static const enum workload_key times[] = {WORKLOAD_TTFT, WORKLOAD_TPOT};
  for (size_t i = 0; i < sizeof times / sizeof times[0]; i++)
    if (selection_of(selections, SELECT_WORKLOAD + (int)times[i]))
      return true;
  return false;
}

static bool any_limits_times(const struct scenario *scenario) {
  for (size_t s = 0; s <= scenario->option_count; s++)
    if (limits_times(&scenario->selections[s]))
      return true;
  return false;
}

// Options whose records tell of different percentiles are judged by one that all of them have: who
// tests longer, and so knows a stricter one, must not lose by it. The amendment is of one option,
// and its workload of all. 0: there is none, or nothing to judge.
static int find_percentile(const struct scenario *scenario, size_t number,
                           const struct amendment *amendment) {
  struct arena scratch = {NULL};
  struct diagnostics quiet = {.arena = &scratch};
  struct served_tally tally = {0};
  struct scenario *copy = copy_of(scenario, &scratch);
  for (size_t o = 0; o < copy->option_count; o++) {
    struct amendment its = amendment ? *amendment : (struct amendment){.scenario = scenario};
    struct lack lack = {.kind = LACK_NONE};
    if (o != number)
      its.option = (struct selections){0};
    struct resolving resolving = resolving_new(copy, o, amendment ? &its : NULL, &scratch, &quiet);
    resolving.lack = &lack;
    if (!resolving.option->lacks_offer && settle_stated(&resolving, quiet.errors) == 0)
      throughput_tally(&resolving, &tally);
  }
  arena_free(&scratch);
  return served_tally_percentile(&tally);
}

static int percentile_of_all(const struct scenario *scenario, size_t number,
                             const struct amendment *amendment) {
  return scenario->option_count > 1 && scenario->records->serving_count > 1 &&
                 any_limits_times(scenario)
             ? find_percentile(scenario, number, amendment)
             : 0;
}

void scenario_resolve(struct scenario *scenario, struct arena *arena,
                      struct diagnostics *diagnostics) {
  const size_t count = (size_t)scenario->model->count;
  scenario->percentile = percentile_of_all(scenario, 0, NULL);
  struct companions *companions = arena_array(arena, scenario->case_count, sizeof *companions);
  for (size_t c = 0; c < scenario->case_count; c++)
    companions[c] = (struct companions){arena_array(arena, count, sizeof(bool)),
                                        arena_array(arena, count, sizeof(struct place))};
  for (int asking = 0; asking <= 1; asking++) // those that ask for another's tokens come last
    for (size_t o = 0; o < scenario->option_count; o++) {
      if ((selection_of(&scenario->selections[1 + o], SELECT_TOKENS_OF) != NULL) != asking)
        continue;
      struct resolving resolving = resolving_new(scenario, o, NULL, arena, diagnostics);
      resolving.companions = companions;
      settle(&resolving);
    }
  for (size_t c = 0; c < scenario->case_count; c++)
    companions_report(scenario, c, &companions[c], diagnostics);
  currency_check(scenario, diagnostics);
}

void scenario_evaluate(struct scenario *scenario, struct arena *arena,
                       struct diagnostics *diagnostics) {
  find_periods(scenario);
  for (size_t o = 0; o < scenario->option_count; o++)
    evaluate_option(scenario, &scenario->options[o], arena, diagnostics);
}

const struct option *option_resolve(const struct scenario *scenario, size_t number,
                                    const struct amendment *amendment, struct lack *lack,
                                    struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct scenario *copy = copy_of(scenario, arena);
  copy->percentile = percentile_of_all(scenario, number, amendment);
  struct resolving resolving = resolving_new(copy, number, amendment, arena, diagnostics);
  *lack = (struct lack){.kind = LACK_NONE};
  resolving.lack = lack;
  settle(&resolving);
  if (lack->kind || diagnostics->errors != errors)
    return NULL;
  evaluate_option(resolving.scenario, resolving.option, arena, diagnostics);
  if (diagnostics->errors != errors)
    return NULL;
  option_assess(resolving.scenario, number, arena);
  return resolving.option;
}

const struct scenario *scenario_in_case(const struct scenario *scenario, size_t which_case,
                                        struct arena *arena, struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  struct scenario *copy = copy_of(scenario, arena);
  copy->selected = which_case;
  for (size_t o = 0; o < copy->option_count; o++)
    copy->options[o].workload = copy->options[o].workloads[which_case];
  copy->warnings = (struct texts){0};
  for (size_t i = 0; i < scenario->text_warnings; i++)
    texts_add(&copy->warnings, arena, "%s", scenario->warnings.list[i]);
  effect_check_reach(copy, arena, diagnostics);
  effect_check_use(copy, arena, diagnostics);
  if (diagnostics->errors != errors)
    return NULL;
  scenario_assess(copy, arena);
  return copy;
}
