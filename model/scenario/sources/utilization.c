#include "model/scenario/sources/utilization.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/day.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/production.h"
#include "model/records/records.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct production *production_named(const struct records *records, const char *file) {
  for (size_t i = 0; i < records->production_count; i++)
    if (!strcmp(source_file_name(records->productions[i]->path), file))
      return records->productions[i];
  return NULL;
}

static bool differs(const char *said, const char *recorded) {
  return *said && strcmp(said, recorded) != 0;
}

// Why a record does not apply to the option, or NULL. A share of one fleet's capacity is not a
// share of another's.
static const char *refuse_production(const struct resolving *resolving, const char *file,
                                     const struct production *production) {
  const struct option *option = resolving->option;
  const char *const *workload = option->workload.values;
  struct arena *arena = resolving->arena;
  if (!production)
    return arena_printf(arena, "no record of production named '%s' among the --measurements%s",
                        file, records_name_hint(file, arena));
  if (differs(option->accelerator, production->accelerator) ||
      differs(workload[WORKLOAD_MODEL], production->model) ||
      differs(workload[WORKLOAD_PRECISION], production->precision))
    return arena_printf(arena,
                        "'%s' covers %s in %s on %s: its utilization does not apply to another "
                        "accelerator, model or precision; its 'demand' does",
                        file, production->model, production->precision, production->accelerator);
  if (production->covered_s < PRODUCTION_DAY_S)
    return arena_printf(arena, "'%s' covers %.1f hours: utilization needs a whole day", file,
                        hours_from_seconds(production->covered_s));
  return NULL;
}

static const char *production_words(const struct production *production, struct arena *arena) {
  const char *hits = isnan(production->cache_hit)
                         ? ""
                         : arena_printf(arena, ", %.3g %% of input tokens from the prefix cache",
                                        100 * production->cache_hit);
  const char *peak = isnan(production->peak_over_mean)
                         ? ""
                         : arena_printf(arena, ", %.3g times that rate in the busiest hour",
                                        production->peak_over_mean);
  return arena_printf(
      arena, "%s counters: %.6g token/s over %.3g days on %s%s%s", production->engine,
      production->output_tokens_per_s, production->covered_s / PRODUCTION_DAY_S,
      text_counted((size_t)production->accelerators, "accelerator", arena), peak, hits);
}

// The tokens of the busiest hour over the day's mean: with a day's profile, utilization is that of
// the peak hour.
static double busiest_over_mean(const struct production *production) {
  double most = 0;
  for (size_t hour = 0; hour < production->day_profile_count; hour++)
    most = fmax(most, production->day_profile[hour]);
  return most > 0 ? HOURS_OF_DAY * most : 1;
}

static struct figure counted(const struct resolving *resolving, const struct production *production,
                             double value) {
  return figure_found(value, (struct place){production->source, 0, 0}, GRADE_MEASURED,
                      production_words(production, resolving->arena),
                      arena_copy_n(resolving->arena, production->finished, 10));
}

// Cache hits change what is left to prefill, and a provider's price; a serving throughput already
// includes its own.
static void fill_hits(struct resolving *resolving, const struct production *production) {
  const struct model *model = resolving->scenario->model;
  const bool counts = resolving->option->provider ||
                      resolving_has(resolving, model_find(model, "prefill_throughput"));
  if (counts && !isnan(production->cache_hit))
    resolving_fill(resolving, model_find(model, "cache_hit"),
                   counted(resolving, production, production->cache_hit));
}

// A day stated as measured: taken from the option's record. Why it cannot be, or NULL.
static const char *take_day(const struct resolving *resolving, const struct figure **figures,
                            const struct production *production) {
  const int first = model_find(resolving->scenario->model, "day_share_1");
  if (first < 0 || figures[first]->origin == ORIGIN_NONE || !isnan(figures[first]->value))
    return NULL;
  const bool is_there = production && production->day_profile_count == HOURS_OF_DAY;
  for (int hour = 0; hour < HOURS_OF_DAY; hour++) {
    struct figure share = *figures[first + hour];
    share.value = is_there ? production->day_profile[hour] : 1.0 / HOURS_OF_DAY;
    if (is_there) {
      share.grade = GRADE_MEASURED;
      share.source = production_words(production, resolving->arena);
      share.date = arena_copy_n(resolving->arena, production->finished, 10);
    }
    figures[first + hour] = resolving_keep(resolving, share);
  }
  return is_there     ? NULL
         : production ? "the record has no daily profile: not every hour was fully covered"
                      : "a measured day needs 'production', the record of what was served";
}

// Takes the day's shares in all cases, with a single error.
static void take_days(const struct resolving *resolving, const struct production *production) {
  const int first = model_find(resolving->scenario->model, "day_share_1");
  const char *why = NULL;
  for (size_t c = 0; c < resolving->scenario->case_count; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    const char *its = take_day(resolving, figures, production);
    if (its && !why)
      diagnostics_error(resolving->diagnostics, figures[first]->place, "option '%s': %s",
                        resolving->option->id, its);
    why = why ? why : its;
  }
}

// Takes the record's figures for inputs that the option leaves open.
static void take_production(struct resolving *resolving, const struct production *production) {
  const struct scenario *scenario = resolving->scenario;
  const int utilization = model_find(scenario->model, "utilization");
  const int tokens = model_find(scenario->model, "production_throughput");
  const bool in_peak = resolving_has(resolving, model_find(scenario->model, "day_share_1"));
  const double served =
      production_throughput(production) * (in_peak ? busiest_over_mean(production) : 1);
  const struct figure *figure =
      resolving_keep(resolving, counted(resolving, production, rate_per_hour(served)));
  fill_hits(resolving, production);
  for (size_t c = 0; c < scenario->case_count && tokens >= 0 && !resolving->option->provider; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    if (figures[utilization]->origin == ORIGIN_NONE && figures[tokens]->origin == ORIGIN_NONE)
      figures[tokens] = figure;
  }
}

// The place at which the tokens served are stated, or the record that has them.
static struct place tokens_place(const struct scenario *scenario, const struct option *option,
                                 const struct figure *tokens) {
  const struct selections *selections = &scenario->selections[1 + (option - scenario->options)];
  const struct ini_key *key = selection_of(selections, SELECT_PRODUCTION);
  return tokens->origin == ORIGIN_CATALOGUE && key ? key->value_place : tokens->place;
}

// Tokens served say nothing of a share of what is decoded only.
static void check_base(const struct resolving *resolving) {
  static const char *const bases[] = {"throughput", "prefill_throughput"};
  const struct model *model = resolving->scenario->model;
  const int tokens = model_find(model, "production_throughput");
  bool serves = !resolving_has(resolving, tokens);
  for (size_t i = 0; i < sizeof bases / sizeof bases[0]; i++)
    serves |= resolving_has(resolving, model_find(model, bases[i]));
  if (serves)
    return;
  diagnostics_error(
      resolving->diagnostics,
      tokens_place(resolving->scenario, resolving->option, resolving_figures(resolving, 0)[tokens]),
      "utilization from production needs a serving throughput as its base");
}

void utilization_apply(struct resolving *resolving) {
  const struct ini_key *key = selection_of(&resolving->selections, SELECT_PRODUCTION);
  if (model_find(resolving->scenario->model, "utilization") < 0)
    return;
  const struct production *production =
      key ? production_named(resolving->scenario->records, key->value) : NULL;
  const char *why = key ? refuse_production(resolving, key->value, production) : NULL;
  if (why) {
    diagnostics_error(resolving->diagnostics, key->value_place, "%s", why);
    resolving_pretend(resolving, "utilization");
    return;
  }
  take_days(resolving, production);
  if (production)
    take_production(resolving, production);
  check_base(resolving);
}

void utilization_refuse(const struct scenario *scenario, const struct option *option,
                        struct arena *arena, struct diagnostics *diagnostics) {
  const int excess = model_find(scenario->model, "check_production");
  const int tokens = model_find(scenario->model, "production_throughput");
  if (excess < 0 || tokens < 0 || !option_has(option, excess))
    return;
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct figure *figure = option_figure(scenario, option, c, tokens);
    const double beyond = evaluation_at(option->evaluation, excess, 0)[c];
    if (beyond <= 1e-9)
      continue;
    diagnostics_error(
        diagnostics, tokens_place(scenario, option, figure),
        "option '%s' served %s in production, %.0f %% of what its accelerators can serve at this "
        "throughput: one of the two is wrong",
        option->id,
        quantity_text(figure->value, &scenario->model->declarations[tokens].unit, arena),
        100 * (1 + beyond));
    return;
  }
}
