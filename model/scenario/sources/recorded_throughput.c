#include "model/scenario/sources/recorded_throughput.h"

#include "base/arena.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/delivery/fleet.h"
#include "model/delivery/fleet_spread.h"
#include "model/evidence/curve.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/record_device.h"
#include "model/records/records.h"
#include "model/scenario/amendment.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolving.h"
#include "model/scenario/selection.h"
#include "model/scenario/sources/recorded_prefill.h"
#include "model/scenario/sources/user_rate.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static bool is_at_limit(const struct measurement_record *record, double limit_w) {
  return fabs(record->environment.device_state.power_limit_w - limit_w) < 0.5;
}

// The records at the requested power limit; all of them if none is requested, or if no record has
// it: the limit that they have is then reported.
static const struct records *records_of(const struct sources *sources) {
  const struct records *all = sources->scenario->records;
  const double limit_w = sources->request.power_limit_w;
  if (!(limit_w > 0) || !all->count)
    return all;
  struct records *held = arena_alloc(sources->arena, sizeof *held);
  *held = *all;
  held->list = arena_array(sources->arena, all->count, sizeof(struct measurement_record *));
  held->count = 0;
  for (size_t i = 0; i < all->count; i++)
    if (is_at_limit(all->list[i], limit_w))
      held->list[held->count++] = all->list[i];
  return held->count ? held : all;
}

static struct lack recorded_at_rate(const struct sources *sources, const char *file,
                                    struct recorded *recorded) {
  struct option *option = sources->option;
  struct curve *curve = arena_alloc(sources->arena, sizeof *curve);
  const char *why = recorded_curve(records_of(sources), file, option->accelerator,
                                   &option->workload, curve, recorded, sources->arena);
  const struct lack lack =
      why ? sources_lack(sources, SELECT_RECORD, why) : user_rate_choose(sources, curve);
  if (lack.kind)
    return lack;
  recorded->tokens_per_s = option->choice.tokens_per_s;
  recorded->load_power_w = option->choice.load_power;
  recorded->grade = user_rate_grade(option, curve->grade);
  recorded->power_grade = user_rate_power_grade(option, curve->grade);
  recorded->source =
      user_rate_words(sources, arena_printf(sources->arena, "records of %s, decode only",
                                            recorded->nearest->record->device.name));
  recorded->load_source = user_rate_power_words(sources, recorded->load_source);
  return (struct lack){.kind = LACK_NONE};
}

static const char *find_record(const struct sources *sources, const char *file,
                               struct recorded *recorded) {
  const struct option *option = sources->option;
  return recorded_choose(records_of(sources), file, option->accelerator, &option->workload,
                         recorded, sources->arena);
}

static const char *mean_words(const struct sources *sources, const struct recorded *recorded,
                              const struct fleet_spread *spread, const char *what) {
  return arena_printf(
      sources->arena,
      "%s, the mean of %zu devices of %zu node%s from %.5g to %.5g %s, the newest in "
      "record %s",
      recorded->nearest->record->device.name, spread->device_count, spread->node_count,
      spread->node_count == 1 ? "" : "s", spread->low, spread->high, what,
      source_file_name(recorded->nearest->record->path));
}

// The mean of the devices if enough of them were measured alike, which counts instead of the newest
// one; but not for a named record, an interpolated figure, or a device that ran beside others.
static struct recorded mean_of_devices(const struct sources *sources,
                                       const struct recorded *recorded) {
  const struct measurement *nearest = recorded->nearest;
  const bool as_measured =
      recorded->tokens_per_s == measurement_rate(nearest) / measurement_devices(nearest);
  const bool has_limit = sources->request.power_limit_w > 0; // which other records do not state
  const struct fleet *fleet = !sources->record && as_measured && !has_limit
                                  ? fleet_of_records(sources->scenario->records, sources->arena)
                                  : NULL;
  const long workload = fleet ? fleet_workload_like(fleet, nearest, sources->arena) : -1;
  struct recorded mean = *recorded;
  if (workload < 0 || fleet->workloads[workload].together > 1)
    return mean;
  const struct fleet_spread tokens =
      fleet_spread_of(fleet, (size_t)workload, FLEET_TOKENS, FLEET_MARGIN, sources->arena);
  const struct fleet_spread watts =
      fleet_spread_of(fleet, (size_t)workload, FLEET_WATTS, FLEET_MARGIN, sources->arena);
  if (tokens.device_count < FLEET_ENOUGH)
    return mean;
  mean.tokens_per_s = tokens.mean;
  mean.alike = 1; // none is chosen
  mean.source = arena_printf(sources->arena, "%s, decode only",
                             mean_words(sources, recorded, &tokens, "token/s"));
  if (watts.device_count == tokens.device_count) {
    mean.load_power_w = watts.mean;
    mean.power_grade = recorded->grade;
    mean.load_source = mean_words(sources, recorded, &watts, "W");
  }
  return mean;
}

struct lack recorded_throughput_choose(const struct sources *sources, struct recorded *recorded) {
  const char *file = sources->record ? sources->record->value : "";
  const struct lack lack =
      workload_chooses_batch(&sources->option->workload)
          ? recorded_at_rate(sources, file, recorded)
          : sources_lack(sources, SELECT_RECORD, find_record(sources, file, recorded));
  if (!lack.kind && !workload_chooses_batch(&sources->option->workload))
    *recorded = mean_of_devices(sources, recorded);
  return lack.kind
             ? lack
             : sources_lack_limit(
                   sources, recorded->nearest->record->environment.device_state.power_limit_w);
}

void recorded_throughput_watts(const struct sources *sources, const struct recorded *recorded) {
  struct resolving *resolving = sources->resolving;
  const struct model *model = sources->scenario->model;
  if (isfinite(recorded->load_power_w)) // replaces the TDP
    resolving_fill_over(resolving, model_find(model, "load_power"), ORIGIN_CATALOGUE,
                        sources_recorded(recorded, recorded->load_power_w, recorded->power_grade,
                                         recorded->load_source));
  if (isfinite(recorded->idle_power_w))
    resolving_fill(
        resolving, model_find(model, "idle_power"),
        sources_recorded(recorded, recorded->idle_power_w, recorded->grade, recorded->idle_source));
}

static struct figure decode_figure(const struct recorded *recorded) {
  return sources_recorded(recorded, rate_per_hour(recorded->tokens_per_s), recorded->grade,
                          recorded->source);
}

static bool is_case_open(const struct sources *sources, size_t which_case) {
  const enum origin origin =
      resolving_figures(sources->resolving, which_case)[sources->decode]->origin;
  return origin == ORIGIN_NONE || origin == ORIGIN_CATALOGUE;
}

// The record's figures in a case whose requests are of other lengths; false, and an error, if it
// has none for them.
static bool choose_in_case(const struct sources *sources, size_t which_case,
                           const struct figure *length, struct recorded *recorded) {
  struct option copy;
  const struct sources its = sources_in_case(sources, which_case, &copy);
  const struct lack lack = recorded_throughput_choose(&its, recorded);
  const char *why = lack.kind ? lack.why
                    : copy.curve && copy.choice.batch != sources->option->choice.batch
                        ? "requests of these lengths decode in another batch than those of the "
                          "base case"
                        : NULL;
  if (why)
    sources_report(sources, (struct lack){LACK_EVIDENCE, length->place,
                                          arena_printf(sources->arena,
                                                       "option '%s' in case '%s': %s: give "
                                                       "'%s.decode_throughput' in the case",
                                                       sources->option->id,
                                                       sources->scenario->cases[which_case], why,
                                                       sources->option->id)});
  return !why;
}

// The result that decodes in each case: the base case's, unless a case's requests are of other
// lengths.
static const struct recorded *in_cases(const struct sources *sources, const struct recorded *base) {
  const size_t cases = sources->scenario->case_count;
  struct recorded *chosen = arena_array(sources->arena, cases, sizeof *chosen);
  for (size_t c = 0; c < cases; c++) {
    const struct figure *length = sources_other_length(sources, c);
    struct recorded other;
    chosen[c] = *base;
    if (!length || !sources_follow_lengths(sources) || !is_case_open(sources, c) ||
        !choose_in_case(sources, c, length, &other))
      continue;
    chosen[c] = other;
    resolving_figures(sources->resolving, c)[sources->decode] =
        resolving_keep(sources->resolving, decode_figure(&other));
  }
  return chosen;
}

// The watts of a case that decodes otherwise than the base case, in place of the latter's.
static void take_case_watts(const struct sources *sources, const struct recorded *chosen) {
  const int power = model_find(sources->scenario->model, "load_power");
  for (size_t c = 1; power >= 0 && c < sources->scenario->case_count; c++) {
    const struct figure **at = &resolving_figures(sources->resolving, c)[power];
    if (isfinite(chosen[c].load_power_w) && (*at)->origin == ORIGIN_CATALOGUE)
      *at = resolving_keep(sources->resolving,
                           sources_recorded(&chosen[c], chosen[c].load_power_w,
                                            chosen[c].power_grade, chosen[c].load_source));
  }
}

void recorded_throughput_take(const struct sources *sources, const struct recorded *recorded) {
  sources->option->record = recorded->nearest;
  sources->option->record_remark = recorded_remark(recorded, sources->arena);
  sources_take_workload(sources, recorded->nearest);
  const struct recorded *chosen = in_cases(sources, recorded);
  resolving_fill(sources->resolving, sources->decode, decode_figure(recorded));
  recorded_throughput_watts(sources, recorded);
  take_case_watts(sources, chosen);
  recorded_prefill_take(sources, chosen);
  if (sources_follow_lengths(sources))
    sources_found_for_lengths(sources->resolving, recorded->grade, "decoding");
}

void recorded_throughput_apply(const struct sources *sources) {
  struct recorded recorded;
  const struct lack lack = recorded_throughput_choose(sources, &recorded);
  if (!lack.kind) {
    recorded_throughput_take(sources, &recorded);
    return;
  }
  sources_report(sources, lack);
  resolving_pretend(sources->resolving, "decode_throughput");
  resolving_pretend(sources->resolving, "load_power");
}

bool recorded_throughput_exists(const struct sources *sources) {
  struct recorded recorded;
  return !find_record(sources, "", &recorded);
}

bool recorded_throughput_speaks(const struct sources *sources) {
  const struct records *records = sources->scenario->records;
  const struct option *option = sources->option;
  return records_of_backend(records, option->accelerator) ||
         (workload_is_decoding(&option->workload) &&
          records_of_accelerator(records, option->accelerator));
}
