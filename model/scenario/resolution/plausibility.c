#include "model/scenario/resolution/plausibility.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/catalog/columns.h"
#include "model/chance/distribution.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/evidence/grade.h"
#include "model/evidence/memory.h"
#include "model/evidence/roofline.h"
#include "model/evidence/workload.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/reading/free.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/resolution/published_bounds.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

// A low overhead of cooling is possible; look_at_low_throughput judges low throughputs.
// Tokens from a cache cost a share of others. A price of 0 for demand beyond capacity is none.
static const struct looked_at {
  const char *input;
  enum catalog_table table;
  bool low_as_well, nothing_as_well;
} looked_at[] = {
    {"throughput", CATALOG_THROUGHPUT, false, false},
    {"list_price", CATALOG_PRICES, true, true},
    {"rental_rate", CATALOG_PRICES, true, true},
    {"on_demand_rate", CATALOG_PRICES, true, true},
    {"spot_rate", CATALOG_PRICES, true, true},
    {"burst_rate", CATALOG_PRICES, true, false},
    {"output_price", CATALOG_API_PRICES, true, true},
    {"input_price", CATALOG_API_PRICES, true, true},
    {"cached_input_price", CATALOG_API_PRICES, false, true},
    {"burst_price", CATALOG_API_PRICES, true, false},
    {"electricity_price", CATALOG_POWER, true, false},
    {"pue", CATALOG_POWER, false, false},
    {"support", CATALOG_TYPICAL_VALUES, false, false},
    {"failure_rate", CATALOG_TYPICAL_VALUES, false, false},
    {"spares", CATALOG_TYPICAL_VALUES, false, false},
    {"network_price", CATALOG_TYPICAL_VALUES, false, false},
    {"colo_rate", CATALOG_TYPICAL_VALUES, true, false},
    {"demand_charge", CATALOG_TYPICAL_VALUES, false, false},
    {"build_price", CATALOG_TYPICAL_VALUES, true, false},
    {"water_use", CATALOG_TYPICAL_VALUES, false, false},
    {"loan_rate", CATALOG_TYPICAL_VALUES, false, false},
};

enum { SHOWN_DIGITS = 5 };

// The typed values of an input, which neither come from the catalogue nor were left at a default:
// the lowest and the highest of its years.
struct typed {
  int declaration; // whose unit it has: NAME_usd if it is in USD and the report is not
  double low, high;
  bool any;
};

static void widen(const struct scenario *scenario, const struct option *option, int declaration,
                  struct typed *typed) {
  const struct figure *figure = option_figure(scenario, option, scenario->selected, declaration);
  if (option->graph->state[declaration] != GRAPH_INPUT || figure->origin < ORIGIN_COMMON)
    return;
  typed->low = typed->any ? fmin(typed->low, figure->value) : figure->value;
  typed->high = typed->any ? fmax(typed->high, figure->value) : figure->value;
  typed->any = true;
}

static struct typed typed_of(const struct scenario *scenario, size_t number, const char *input) {
  const struct option *option = &scenario->options[number];
  const int d = model_find(scenario->model, input);
  struct typed typed = {.declaration = option_stated(option, d)};
  if (d < 0)
    return typed;
  widen(scenario, option, typed.declaration, &typed);
  const struct declaration *declaration = &scenario->model->declarations[d];
  for (int i = 0; i < declaration->year_count; i++) {
    const int year = option_stated(option, declaration->years[i]);
    widen(scenario, option, year, &typed);
    typed.declaration = year == declaration->years[i] ? typed.declaration : declaration->in_usd;
  }
  return typed;
}

// "207 times", "1/843 of"; beyond 1000, its size says nothing more.
static const char *ratio_text(double ratio, struct arena *arena) {
  const double most = 1000.5;
  if (ratio > most || ratio < 1 / most)
    return ratio > 1 ? "more than 1000 times" : "less than 1/1000 of";
  if (ratio < 1)
    return arena_printf(arena, "1/%.0f of", 1 / ratio);
  return arena_printf(arena, ratio < 10 ? "%.1f times" : "%.0f times", ratio);
}

// A published figure, whose further digits are of the conversion to the scenario's currency only.
static const char *beside_text(double value, const struct unit *unit, struct arena *arena) {
  return quantity_rounded(value, unit, SHOWN_DIGITS, arena);
}

static void warn(const struct scenario *scenario, size_t option, const char *name, int declaration,
                 double value, double beside, const char *what, const char *from,
                 struct arena *arena) {
  const struct declaration *input = &scenario->model->declarations[declaration];
  texts_add(&scenario->options[option].warnings, arena,
            "%s, %s, is %s the %s, %s (%s): check its unit", name,
            quantity_text(value, &input->unit, arena), ratio_text(value / beside, arena), what,
            beside_text(beside, &input->unit, arena), from);
}

// "list_price is stated as 0", or its scale is, or a discount takes all of it; NULL for none.
static const char *free_words(const struct scenario *scenario, size_t option,
                              const struct typed *typed, const char *name, struct arena *arena) {
  const struct typed scale = typed_of(scenario, option, arena_printf(arena, "%s_scale", name));
  if (typed->any && typed->low == 0)
    return arena_printf(arena, "%s is stated as 0", name);
  if (scale.any && scale.low == 0)
    return arena_printf(arena, "%s_scale is stated as 0", name);
  return !strcmp(name, "list_price") && typed_of(scenario, option, "discount").high >= 1
             ? "discount is stated as 100 %"
             : NULL;
}

// Warns of a price of 0, which nothing else reveals: a tenth more of it moves no result.
// Electricity may be left out on purpose.
static void warn_of_nothing(const struct scenario *scenario, size_t option, const char *words,
                            int declaration, double beside, const char *what, const char *from,
                            struct arena *arena) {
  const struct declaration *input = &scenario->model->declarations[declaration];
  texts_add(&scenario->options[option].warnings, arena,
            "%s, as if it cost nothing: the %s is %s (%s)", words, what,
            beside_text(beside, &input->unit, arena), from);
}

static void look_at(const struct scenario *scenario, size_t option, const struct looked_at *input,
                    struct arena *arena) {
  const bool any_grade = input->table != CATALOG_THROUGHPUT && input->table != CATALOG_POWER;
  const char *name = input->input;
  struct published published;
  const struct typed typed = typed_of(scenario, option, name);
  const char *nothing =
      input->nothing_as_well ? free_words(scenario, option, &typed, name, arena) : NULL;
  if ((!typed.any && !nothing) || !catalog_glance(scenario->catalog, input->table) ||
      !published_input(scenario, option, typed.declaration,
                       any_grade ? GRADE_ASSUMED : GRADE_PUBLISHED, &published))
    return;
  const char *lowest = any_grade ? "lowest in the catalogue" : "lowest published";
  const char *highest = any_grade ? "highest in the catalogue" : "highest published";
  if (nothing)
    warn_of_nothing(scenario, option, nothing, typed.declaration, published.low, lowest,
                    published.low_id, arena);
  else if (typed.high > PLAUSIBILITY_TIMES * published.high)
    warn(scenario, option, name, typed.declaration, typed.high, published.high, highest,
         published.high_id, arena);
  else if (input->low_as_well && typed.low > 0 && PLAUSIBILITY_TIMES * typed.low < published.low)
    warn(scenario, option, name, typed.declaration, typed.low, published.low, lowest,
         published.low_id, arena);
}

// The TDP of the option's accelerator; NAN if the catalogue lacks it.
static double tdp_of(const struct scenario *scenario, const struct option *option) {
  const struct table *table = catalog_glance(scenario->catalog, CATALOG_ACCELERATORS);
  const long row = table ? catalog_find(table, option->accelerator) : -1;
  return row >= 0 ? table_number_or(table, (size_t)row, "tdp_w", NAN) : (double)NAN;
}

// Of a record's watts as well: a meter's file may be of another device, or in another unit.
static void look_at_power(const struct scenario *scenario, size_t option, const char *input,
                          struct arena *arena) {
  const double tdp_w = tdp_of(scenario, &scenario->options[option]);
  const char *accelerator = scenario->options[option].accelerator;
  const struct typed typed = typed_of(scenario, option, input);
  const struct figure *figure =
      option_figure(scenario, &scenario->options[option], scenario->selected, typed.declaration);
  const double watts = typed.any ? typed.high : figure->value;
  if ((!typed.any && figure->origin != ORIGIN_CATALOGUE) || isnan(tdp_w))
    return;
  if (watts > PLAUSIBILITY_TDP_HIGH * tdp_w || watts < PLAUSIBILITY_TDP_LOW * tdp_w)
    warn(scenario, option, input, typed.declaration, watts, tdp_w, "TDP", accelerator, arena);
}

// Inputs whose costs are sized by the peak power; metered costs follow the power under load.
static const char *const sized_by_peak[] = {"site_power", "colo_rate", "build_price"};

static const char *sized_inputs(const struct scenario *scenario, const struct option *option,
                                struct arena *arena) {
  struct texts inputs = {0};
  for (size_t i = 0; i < sizeof sized_by_peak / sizeof sized_by_peak[0]; i++)
    if (option_amount(scenario, option, sized_by_peak[i]) > 0)
      texts_add(&inputs, arena, "%s", sized_by_peak[i]);
  return inputs.count ? texts_joined_by(&inputs, " and ", arena) : NULL;
}

// A run's mean is below its peaks, and another workload's mean may be above it.
static void look_at_peak(const struct scenario *scenario, size_t number, struct arena *arena) {
  static const double slack = 1e-9;
  struct option *option = &scenario->options[number];
  const double load_w = option_amount(scenario, option, "load_power");
  const double peak_w = option_amount(scenario, option, "peak_power");
  const char *sized = option_is_owned(option) ? sized_inputs(scenario, option, arena) : NULL;
  double most_w = tdp_of(scenario, option);
  if (option->power_limit_w > 0)
    most_w = fmin(most_w, option->power_limit_w);
  if (load_w == 0)
    return;
  const struct unit *unit =
      &scenario->model->declarations[model_find(scenario->model, "load_power")].unit;
  if (peak_w > 0 && peak_w < load_w * (1 - slack))
    texts_add(&option->warnings, arena, "peak_power, %s, is below the power under load, %s",
              quantity_text(peak_w, unit, arena), quantity_text(load_w, unit, arena));
  else if (sized && peak_w == 0 && load_w < most_w * (1 - slack))
    texts_add(&option->warnings, arena,
              "%s: sized by the power under load, %s, though each may draw %s: give peak_power",
              sized, quantity_text(load_w, unit, arena), quantity_text(most_w, unit, arena));
}

// ---- memory

// Warns if not even one copy of the weights fits into memory: what is served takes more.
static void look_at_memory(const struct scenario *scenario, size_t number, struct arena *arena) {
  struct option *option = &scenario->options[number];
  const struct table *parts = catalog_glance(scenario->catalog, CATALOG_ACCELERATORS);
  const struct table *models = catalog_glance(scenario->catalog, CATALOG_MODELS);
  const char *precision = option->workload.values[WORKLOAD_PRECISION];
  const char *id = option->workload.values[WORKLOAD_MODEL];
  const long part = parts ? catalog_find(parts, option->accelerator) : -1;
  const long row = models && *id ? catalog_find(models, id) : -1;
  const int count = model_find(scenario->model, "accelerators");
  struct fit_device device;
  if (part < 0 || row < 0 || count < 0 || !fit_device_of(parts, (size_t)part, &device))
    return;
  const struct memory_model model = memory_model_of(models, (size_t)row);
  const double weights = memory_weights(&model, precision);
  const double accelerators = option_value(scenario, option, count, 0);
  const double room = accelerators * device.memory * MEMORY_SHARE;
  if (weights > room)
    texts_add(&option->warnings, arena,
              "the model does not fit: %s in %s has %.4g GB of weights, and %.4g %% of the memory "
              "of %g %s are %.4g GB; see pertoken fit",
              id, precision, 1e-9 * weights, 100 * MEMORY_SHARE, accelerators, option->accelerator,
              1e-9 * room);
}

// ---- a throughput that is too low

// Whatever slows one accelerator down slows another one down too, however fast both are in
// benchmarks.
// An option's throughput beside the published ones.
struct speed {
  const struct option *option;
  const struct figure *figure;
  struct published published;
};

// Finds the option's throughput beside the published ones. Returns false unless it is stated or
// found for the option alone: a common one is often a placeholder.
static bool speed_of(const struct scenario *scenario, size_t number, int throughput,
                     struct speed *speed) {
  const struct option *option = &scenario->options[number];
  *speed = (struct speed){
      option, option_figure(scenario, option, scenario->selected, throughput), {.count = 0}};
  return option->graph->state[throughput] == GRAPH_INPUT && figure_is_own(speed->figure) &&
         catalog_glance(scenario->catalog, CATALOG_THROUGHPUT) &&
         published_input(scenario, number, throughput, GRADE_PUBLISHED, &speed->published);
}

// The keys that slow an accelerator down, apart from the lengths of requests.
static const enum workload_key slowing[] = {WORKLOAD_INTERACTIVITY, WORKLOAD_TTFT, WORKLOAD_TPOT,
                                            WORKLOAD_BATCH, WORKLOAD_CONTEXT};

enum { SLOWING = sizeof slowing / sizeof slowing[0] };

static bool is_as_published(const struct scenario *scenario, const struct option *option) {
  const int input = model_find(scenario->model, "input_tokens");
  for (size_t i = 0; i < SLOWING; i++)
    if (*option->workload.values[slowing[i]])
      return false;
  return *option->workload.values[WORKLOAD_SCENARIO] && !(option->workload.input_tokens > 0) &&
         (input < 0 ||
          !figure_is_stated(option_figure(scenario, option, scenario->selected, input)));
}

// "throughput, 395.5 token/s/gpu, is 1/9 of the lowest published, 3587 token/s/gpu (tp0222)"
static const char *low_words(const struct speed *own, const struct unit *unit,
                             struct arena *arena) {
  return arena_printf(arena, "throughput, %s, is 1/%.0f of the lowest published, %s (%s)",
                      quantity_rounded(own->figure->value, unit, SHOWN_DIGITS, arena),
                      own->published.low / own->figure->value,
                      quantity_rounded(own->published.low, unit, SHOWN_DIGITS, arena),
                      own->published.low_id);
}

// Whether two options can be compared: what slows them down is stated for both or for neither, and
// the compared keys agree.
static bool are_alike(const struct option *a, const struct option *b, struct arena *arena) {
  for (size_t i = 0; i < SLOWING; i++)
    if (strcmp(a->workload.values[slowing[i]], b->workload.values[slowing[i]]) != 0)
      return false;
  return ranking_compares(a, b) && !workload_difference(&a->workload, &b->workload, arena);
}

// Whether the throughput is lower than the other option's shows: it is far below its own lowest
// published figure, even compared with the other's highest.
static bool is_below(const struct speed *own, const struct speed *other, struct arena *arena) {
  const double share = own->figure->value / own->published.low;
  const double of_other = other->figure->value / other->published.high;
  return PLAUSIBILITY_TIMES * share < of_other &&
         strcmp(own->option->accelerator, other->option->accelerator) != 0 &&
         are_alike(own->option, other->option, arena);
}

static bool warn_beside(const struct scenario *scenario, const struct speed *own, size_t number,
                        int throughput, struct arena *arena) {
  struct texts *warnings = &scenario->options[own->option - scenario->options].warnings;
  const struct unit *unit = &scenario->model->declarations[throughput].unit;
  struct speed other;
  if (!speed_of(scenario, number, throughput, &other) || !is_below(own, &other, arena))
    return false;
  texts_add(warnings, arena,
            "%s, and that of %s, on a like workload, is %.3g %% of its highest, %s (%s): check its "
            "unit",
            low_words(own, unit, arena), other.option->label,
            100 * other.figure->value / other.published.high,
            quantity_rounded(other.published.high, unit, SHOWN_DIGITS, arena),
            other.published.high_id);
  return true;
}

static void look_at_low_throughput(const struct scenario *scenario, size_t option,
                                   struct arena *arena) {
  const int throughput = model_find(scenario->model, "throughput");
  struct speed own;
  if (throughput < 0 || !speed_of(scenario, option, throughput, &own) ||
      own.figure->origin < ORIGIN_COMMON || !(own.figure->value > 0) ||
      PLAUSIBILITY_TIMES * own.figure->value >= own.published.low)
    return;
  if (is_as_published(scenario, own.option)) {
    texts_add(&scenario->options[option].warnings, arena, "%s of %s: check its unit",
              low_words(&own, &scenario->model->declarations[throughput].unit, arena),
              own.published.of);
    return;
  }
  if (option != scenario->baseline) {
    warn_beside(scenario, &own, scenario->baseline, throughput, arena);
    return;
  }
  for (size_t other = 0; other < scenario->option_count; other++)
    if (warn_beside(scenario, &own, other, throughput, arena))
      return;
}

// ---- rooflines

static const struct rate {
  const char *input;
  bool is_decode, is_serving;
} rates[] = {{"throughput", false, true},
             {"decode_throughput", true, false},
             {"prefill_throughput", false, false}};

enum { RATES = sizeof rates / sizeof rates[0] };

// An input of the option in a case, 0 if it has none.
static double value_of(const struct scenario *scenario, const struct option *option,
                       size_t which_case, const char *input) {
  const struct figure *figure =
      option_figure(scenario, option, which_case, model_find(scenario->model, input));
  return figure_is_stated(figure) ? figure_highest(figure) : 0;
}

// Tokens computed per token that a rate counts: of input that is not cached, and of cached input.
struct work {
  double uncached, cached;
};

// The work that a rate counts. A prefill rate's is as stated; a server's input may come from its
// own cache.
static struct work work_of(const struct scenario *scenario, const struct option *option,
                           size_t which_case, const struct rate *rate) {
  const double input = value_of(scenario, option, which_case, "input_tokens");
  const double output = value_of(scenario, option, which_case, "output_tokens");
  const bool is_known = input > 0 && output > 0;
  if (!rate->is_serving) {
    const bool counts_hits =
        !rate->is_decode && value_of(scenario, option, which_case, "prefill_includes_hits") > 0;
    const double hits = value_of(scenario, option, which_case, "cache_hit");
    return counts_hits ? (struct work){1 - hits, 1 - hits} : (struct work){1, 1};
  }
  if (!strcmp(option->workload.values[WORKLOAD_TOKENS], "total"))
    return (struct work){1, is_known ? output / (input + output) : 0};
  return (struct work){is_known ? 1 + input / output : 1, 1};
}

static bool find_roofline(const struct scenario *scenario, const struct option *option,
                          size_t which_case, const struct rate *rate, struct roofline *roofline) {
  const char *const *said = option->workload.values;
  *roofline =
      (struct roofline){.accelerators = catalog_glance(scenario->catalog, CATALOG_ACCELERATORS),
                        .models = catalog_glance(scenario->catalog, CATALOG_MODELS),
                        .precision = said[WORKLOAD_PRECISION],
                        .kv = said[WORKLOAD_KV],
                        .is_sparse = !strcmp(said[WORKLOAD_SPARSITY], "sparse"),
                        .computed = work_of(scenario, option, which_case, rate).uncached,
                        .batch = rate->is_decode ? strtod(said[WORKLOAD_BATCH], NULL) : 0,
                        .context = strtod(said[WORKLOAD_CONTEXT], NULL)};
  if (!roofline->accelerators || !roofline->models || !*said[WORKLOAD_MODEL])
    return false;
  const long accelerator = catalog_find(roofline->accelerators, option->accelerator);
  const long model = catalog_find(roofline->models, said[WORKLOAD_MODEL]);
  roofline->accelerator = (size_t)accelerator;
  roofline->model = (size_t)model;
  return accelerator >= 0 && model >= 0;
}

static double limit_of(const struct roofline *roofline) {
  return fmin(roofline_computing(roofline), roofline_reading(roofline));
}

// The roofline of a server that finds all of its input in a cache and, if it speculates, yields
// several tokens a step.
static struct roofline highest_of(const struct option *option, struct roofline roofline,
                                  const struct work *work) {
  roofline.computed = work->cached;
  roofline.batch = *option->workload.values[WORKLOAD_SPECULATION] ? 0 : roofline.batch;
  return roofline;
}

static const char *limit_words(const struct option *option, const struct roofline *roofline,
                               struct arena *arena) {
  const bool is_read = roofline_reading(roofline) < roofline_computing(roofline);
  const char *how = is_read                ? arena_printf(arena, " at batch %g", roofline->batch)
                    : *roofline->precision ? arena_printf(arena, " in %s", roofline->precision)
                                           : "";
  return arena_printf(arena, "more than %s can %s of %s%s: %.6g token/s by its datasheet",
                      option->accelerator, is_read ? "read" : "compute",
                      option->workload.values[WORKLOAD_MODEL], how, limit_of(roofline));
}

// The conditions that make a rate above the limit possible.
static const char *unless_words(const struct roofline *roofline, const struct work *work,
                                double per_second, struct arena *arena) {
  const double computing = roofline_computing(roofline), reading = roofline_reading(roofline);
  if (reading < computing)
    return arena_printf(arena, "unless a step yields %.3g tokens", per_second / reading);
  const double computed = work->uncached * computing / per_second;
  const double hits = (work->uncached - computed) / (work->uncached - work->cached);
  return arena_printf(arena, "unless %.3g %% of the input comes from a cache", 100 * hits);
}

static struct excess beyond(const struct scenario *scenario, const struct option *option,
                            size_t which_case, const struct rate *rate, double value,
                            struct arena *arena) {
  struct roofline roofline;
  const double per_second = rate_per_second(value);
  if (!find_roofline(scenario, option, which_case, rate, &roofline) ||
      per_second <= limit_of(&roofline))
    return (struct excess){NULL, false};
  const struct work work = work_of(scenario, option, which_case, rate);
  const struct roofline highest = highest_of(option, roofline, &work);
  if (per_second > limit_of(&highest))
    return (struct excess){limit_words(option, &highest, arena), false};
  const char *words = arena_printf(arena, "%s, %s", limit_words(option, &roofline, arena),
                                   unless_words(&roofline, &work, per_second, arena));
  return (struct excess){words, true};
}

struct excess plausibility_beyond(const struct scenario *scenario, const struct option *option,
                                  int declaration, double value, struct arena *arena) {
  const char *input = scenario->model->declarations[declaration].name;
  for (size_t r = 0; r < RATES; r++)
    if (!strcmp(rates[r].input, input))
      return beyond(scenario, option, scenario->selected, &rates[r], value, arena);
  return (struct excess){NULL, false};
}

// The warning about a rate above its roofline; no words if it is not above, or not given.
static struct excess exceeds(const struct scenario *scenario, const struct option *option,
                             size_t which_case, const struct rate *rate,
                             const struct figure **figure, struct arena *arena) {
  const int d = model_find(scenario->model, rate->input);
  *figure = option_figure(scenario, option, which_case, d);
  if ((*figure)->origin <= ORIGIN_RENT)
    return (struct excess){NULL, false};
  struct excess excess = beyond(scenario, option, which_case, rate, (*figure)->value, arena);
  const struct unit *unit = &scenario->model->declarations[d].unit;
  if (excess.words)
    excess.words = arena_printf(arena, "%s, %s, is %s", rate->input,
                                quantity_text((*figure)->value, unit, arena), excess.words);
  return excess;
}

// ---- the ranges of rates

// A range of an input, or the bounds of a free one.
struct reach {
  struct place place;
  double low, high;
};

static bool reach_of(const struct scenario *scenario, const struct option *option, int d,
                     struct reach *reach) {
  const int range = option_stated_range(scenario, option, d),
            number = (int)(option - scenario->options);
  if (range >= 0) {
    const struct distribution *distribution = &scenario->ranges[range].distribution;
    *reach = (struct reach){scenario->ranges[range].place, distribution->low, distribution->high};
    return true;
  }
  for (size_t i = 0; i < scenario->free_count; i++) {
    const struct free_quantity *quantity = &scenario->frees[i];
    if (quantity->declaration == d && (quantity->option < 0 || quantity->option == number)) {
      *reach = (struct reach){quantity->place, quantity->low, quantity->high};
      return true;
    }
  }
  return false;
}

// The rate's declaration; negative if there is none, or no range.
static int reach_of_rate(const struct scenario *scenario, const struct option *option,
                         const struct rate *rate, struct reach *reach) {
  const int d = model_find(scenario->model, rate->input);
  return d >= 0 && reach_of(scenario, option, d, reach) ? d : -1;
}

void plausibility_refuse_reach(const struct scenario *scenario, struct arena *arena,
                               struct diagnostics *diagnostics) {
  for (size_t i = 0; i < RATES * scenario->option_count; i++) {
    const struct option *option = &scenario->options[i / RATES];
    const struct rate *rate = &rates[i % RATES];
    struct reach reach;
    const int d = reach_of_rate(scenario, option, rate, &reach);
    if (d < 0)
      continue;
    const struct excess excess =
        beyond(scenario, option, scenario->selected, rate, reach.low, arena);
    if (excess.words && !excess.is_possible)
      diagnostics_error(
          diagnostics, reach.place, "the whole range of %s, from %s, is %s", rate->input,
          quantity_text(reach.low, &scenario->model->declarations[d].unit, arena), excess.words);
  }
}

static void look_at_reach(const struct scenario *scenario, struct option *option,
                          const struct rate *rate, struct arena *arena) {
  struct reach reach;
  const int d = reach_of_rate(scenario, option, rate, &reach);
  const char *than =
      d < 0 ? NULL : beyond(scenario, option, scenario->selected, rate, reach.high, arena).words;
  if (than)
    texts_add(&option->warnings, arena, "%s may be up to %s, %s", rate->input,
              quantity_text(reach.high, &scenario->model->declarations[d].unit, arena), than);
}

double plausibility_most(const struct scenario *scenario, const struct option *option,
                         int declaration) {
  struct roofline roofline;
  const char *input = scenario->model->declarations[declaration].name;
  for (size_t r = 0; r < RATES; r++)
    if (!strcmp(rates[r].input, input) &&
        find_roofline(scenario, option, scenario->selected, &rates[r], &roofline)) {
      const struct work work = work_of(scenario, option, scenario->selected, &rates[r]);
      const struct roofline highest = highest_of(option, roofline, &work);
      return conversion_table[CONVERT_SECONDS_PER_HOUR].value * limit_of(&highest);
    }
  return INFINITY;
}

static bool is_typed_alone(const struct figure *figure) {
  return figure->origin >= ORIGIN_COMMON && !*figure->source;
}

void plausibility_refuse(const struct scenario *scenario, const struct option *option,
                         struct arena *arena, struct diagnostics *diagnostics) {
  const struct figure *figure, *told = NULL;
  for (size_t c = 0; c < scenario->case_count; c++)
    for (size_t r = 0; r < RATES; r++) {
      const struct excess excess = exceeds(scenario, option, c, &rates[r], &figure, arena);
      if (!excess.words || excess.is_possible || !is_typed_alone(figure) || figure == told)
        continue;
      told = figure;
      diagnostics_error(diagnostics, figure->place, "%s; check its unit, or give %s.source",
                        excess.words, rates[r].input);
    }
}

static void look_at_rooflines(const struct scenario *scenario, size_t number, struct arena *arena) {
  struct option *option = &scenario->options[number];
  const struct figure *figure;
  for (size_t r = 0; r < RATES; r++) {
    const char *what =
        exceeds(scenario, option, scenario->selected, &rates[r], &figure, arena).words;
    if (what)
      texts_add(&option->warnings, arena, "%s", what);
    look_at_reach(scenario, option, &rates[r], arena);
  }
}

// A result at the stated value is then none of those drawn.
static void look_at_range(const struct scenario *scenario, size_t number, int d,
                          struct arena *arena) {
  static const double slack = 1e-12;
  struct option *option = &scenario->options[number];
  const int found = option_stated_range(scenario, option, d);
  const struct declaration *input = &scenario->model->declarations[d];
  const double value = option_figure(scenario, option, scenario->selected, d)->value;
  const struct range *range = found < 0 ? NULL : &scenario->ranges[found];
  if (!range || (value >= range->distribution.low - slack * fabs(value) &&
                 value <= range->distribution.high + slack * fabs(value)))
    return;
  const char *name =
      input->scale_of < 0 ? input->name : scenario->model->declarations[input->scale_of].name;
  texts_add(&option->warnings, arena, "%s, %s, is outside its range from %s to %s (%s:%d:%d)", name,
            quantity_text(value, &input->unit, arena),
            quantity_text(range->distribution.low, &input->unit, arena),
            quantity_text(range->distribution.high, &input->unit, arena), range->place.source->name,
            range->place.line, range->place.column);
}

void plausibility_warn(const struct scenario *scenario, size_t option, struct arena *arena) {
  for (size_t i = 0; i < sizeof looked_at / sizeof looked_at[0]; i++)
    look_at(scenario, option, &looked_at[i], arena);
  look_at_low_throughput(scenario, option, arena);
  look_at_memory(scenario, option, arena);
  look_at_power(scenario, option, "load_power", arena);
  look_at_power(scenario, option, "prefill_power", arena);
  look_at_power(scenario, option, "peak_power", arena);
  look_at_peak(scenario, option, arena);
  look_at_rooflines(scenario, option, arena);
  for (int d = 0; d < scenario->model->count && scenario->range_count; d++)
    look_at_range(scenario, option, d, arena);
}
