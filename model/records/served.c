#include "model/records/served.h"

#include "base/source.h"

#include <math.h>
#include <stddef.h>

// The strictest known percentile of P90, P95 and P99, NAN for none.
static double strictest(const struct serving_latency *latency, int *percentile) {
  const struct {
    int percentile;
    double seconds;
  } told[] = {{99, latency->p99_s}, {95, latency->p95_s}, {90, latency->p90_s}};
  for (size_t i = 0; i < sizeof told / sizeof told[0]; i++)
    if (!isnan(told[i].seconds)) {
      *percentile = told[i].percentile;
      return told[i].seconds;
    }
  *percentile = 0;
  return NAN;
}

static const char *in_flight_text(double requests, struct arena *arena) {
  return arena_printf(arena, "%g request%s in flight", requests, requests == 1 ? "" : "s");
}

static const char *load_text(const struct serving_rung *rung, struct arena *arena) {
  if (rung->load == LOAD_CLOSED)
    return in_flight_text(rung->concurrency, arena);
  if (!isnan(rung->request_rate))
    return arena_printf(arena, "%.4g requests/s, %s", rung->request_rate,
                        serving_load_names[rung->load]);
  return rung->load == LOAD_BURST     ? "all requests at once"
         : rung->load == LOAD_UNKNOWN ? "an unknown load"
                                      : serving_load_names[rung->load];
}

// ", TTFT P99 1.2 s", or the strictest if that percentile is unknown or 0, or the median, or "".
static const char *latency_text(const char *name, const struct serving_latency *latency,
                                int percentile, struct arena *arena) {
  double seconds = serving_percentile(latency, percentile);
  if (isnan(seconds))
    seconds = strictest(latency, &percentile);
  if (!percentile && isnan(latency->p50_s))
    return isnan(latency->mean_s)
               ? ""
               : arena_printf(arena, ", %s %.3g s on average", name, latency->mean_s);
  return percentile ? arena_printf(arena, ", %s P%d %.3g s", name, percentile, seconds)
                    : arena_printf(arena, ", %s P50 %.3g s", name, latency->p50_s);
}

static const char *times_text(const struct serving_rung *rung, int percentile,
                              struct arena *arena) {
  return arena_printf(arena, "%s%s", latency_text("TTFT", &rung->ttft, percentile, arena),
                      latency_text("TPOT", &rung->tpot, percentile, arena));
}

// "vLLM 0.10.1 on 8 accelerators"
static const char *engine_text(const struct serving_record *record, struct arena *arena) {
  const char *split = record->input_accelerators
                          ? arena_printf(arena, ", %d for input and %d for output",
                                         record->input_accelerators, record->output_accelerators)
                          : "";
  return arena_printf(arena, "%s%s%s on %d accelerator%s%s",
                      *record->engine ? record->engine : "an unstated engine",
                      *record->engine_version ? " " : "", record->engine_version,
                      record->accelerators, record->accelerators == 1 ? "" : "s", split);
}

static const char *tool_text(const struct serving_record *record, struct arena *arena) {
  const char *published = *record->published_title
                              ? arena_printf(arena, "; published: %s", record->published_title)
                              : "";
  return arena_printf(arena, "by %s%s%s%s", record->tool, *record->tool_version ? " " : "",
                      record->tool_version, published);
}

static const char *doubt_of(const struct serving_rung *rung, struct arena *arena) {
  return serving_counters_differ(rung)
             ? arena_printf(arena, "with %s, the server's own counters %s", load_text(rung, arena),
                            rung->server_counters)
             : "";
}

// The doubt about the first rung of the curve that has one.
static const char *doubt_of_curve(const struct served_rungs *rungs, struct arena *arena) {
  const char *doubt = "";
  for (size_t i = 0; i < rungs->closed && !*doubt; i++)
    doubt = doubt_of(rungs->list[i], arena);
  return doubt;
}

// Fills in what the rung delivers, with its times at a percentile; 0: the strictest.
static void fill(const struct served_rungs *rungs, const struct serving_rung *nearest,
                 int percentile, struct served *out, struct arena *arena) {
  const struct serving_record *record = rungs->record;
  const struct serving_power *power = &nearest->power;
  const double watts = served_watts(rungs, power->load_power_w, power);
  const bool whole = power->covers != COVERS_ACCELERATORS;
  *out = (struct served){
      .rungs = rungs,
      .nearest = nearest,
      .tokens_per_s = nearest->output_tokens_per_s / record->accelerators,
      .load_power_w = whole ? NAN : watts,
      .node_power_w = whole ? watts : NAN,
      .idle_power_w = whole ? NAN : served_watts(rungs, power->idle_power_w, power),
      .grade = record->grade,
      .power_grade = record->grade,
      .place = {record->source, 0, 0},
      .source = arena_printf(arena, "record %s: %s, %s, %s%s; %s", source_file_name(record->path),
                             engine_text(record, arena), load_text(nearest, arena),
                             served_lengths_text(rungs, arena),
                             times_text(nearest, percentile, arena), tool_text(record, arena)),
      .power_source = arena_printf(arena, "record %s: %s, %s%s%s", source_file_name(record->path),
                                   power->source, load_text(nearest, arena),
                                   *power->remark ? "; " : "", power->remark),
      .date = record->date,
      .load = load_text(nearest, arena),
      .note = "",
      .doubt = doubt_of(nearest, arena),
  };
}

double served_input_tokens(const struct served *served) {
  const double asked = served->rungs->list[0]->asked_input_tokens;
  return !isnan(asked) && served_is_alike(asked, served->rungs->input_tokens)
             ? asked
             : served->rungs->input_tokens;
}

static const char *refused_text(const struct serving_record *record, struct arena *arena) {
  size_t refused = 0;
  const char *first = "";
  for (size_t i = 0; i < record->count; i++)
    if (*record->rungs[i].refused && !refused++)
      first = record->rungs[i].refused;
  if (!refused)
    return "";
  return arena_printf(arena, "; %zu of its rungs %s refused: %s%s", refused,
                      refused == 1 ? "was" : "were", first, refused > 1 ? ", ..." : "");
}

static double size_of(const struct serving_rung *rung) {
  return rung->load == LOAD_CLOSED ? rung->concurrency : rung->request_rate;
}

// Whether the highest rate found is the highest possible: for a ladder of loads of its kind, not
// for all requests at once.
static const char *saturation_text(const struct served_rungs *rungs,
                                   const struct serving_rung *most) {
  const struct serving_rung *below = NULL;
  for (size_t i = 0; i < rungs->count; i++) {
    const struct serving_rung *rung = rungs->list[i];
    if (rung->load == most->load && size_of(rung) > size_of(most))
      return "";
    if (rung->load == most->load && size_of(rung) < size_of(most) &&
        (!below || size_of(rung) > size_of(below)))
      below = rung;
  }
  if (isnan(size_of(most)) ||
      (below && most->output_tokens_per_s <= (1 + SERVED_SATURATION) * below->output_tokens_per_s))
    return "";
  return most->load == LOAD_CLOSED
             ? "; more requests in flight may yield more, as the ladder ends before saturation"
             : "; a higher rate of requests may yield more, as the ladder ends before saturation";
}

// The closed loop nearest to a batch or, if `metered`, the nearest whose watts are on the curve;
// NULL for none.
static const struct serving_rung *nearest_to(const struct served_rungs *rungs, double batch,
                                             bool metered) {
  const struct serving_rung *nearest = NULL;
  for (size_t i = 0; i < rungs->closed; i++)
    if (!(metered && isnan(rungs->curve.load_power[i])) &&
        (!nearest ||
         fabs(rungs->list[i]->concurrency - batch) < fabs(nearest->concurrency - batch)))
      nearest = rungs->list[i];
  return nearest;
}

// The watts of a place on the curve without its own, of the rungs that have any.
static void fill_watts(double concurrency, struct served *out, struct arena *arena) {
  const struct served_rungs *rungs = out->rungs;
  const struct curve *curve = &rungs->curve;
  const struct serving_rung *metered = nearest_to(rungs, concurrency, true);
  const bool whole = rungs->covers != COVERS_ACCELERATORS;
  if (!metered)
    return;
  const struct serving_power *power = &metered->power;
  const double watts =
      curve_interpolate(curve->batch, curve->load_power, curve->count, concurrency);
  out->load_power_w = whole ? NAN : watts;
  out->node_power_w = whole ? watts : NAN;
  out->idle_power_w = whole ? NAN : served_watts(rungs, power->idle_power_w, power);
  out->power_grade = grade_weaker(out->power_grade, GRADE_PROJECTED);
  out->power_source =
      arena_printf(arena, "record %s: %s, interpolated to %g requests in flight",
                   source_file_name(rungs->record->path), power->source, concurrency);
}

static bool has_watts(const struct served *served) {
  return isfinite(served->load_power_w) || isfinite(served->node_power_w);
}

void served_most(const struct served_rungs *rungs, struct served *out, struct arena *arena) {
  const struct serving_rung *most = rungs->list[0];
  for (size_t i = 1; i < rungs->count; i++)
    if (rungs->list[i]->output_tokens_per_s > most->output_tokens_per_s)
      most = rungs->list[i];
  fill(rungs, most, 0, out, arena);
  if (most->load == LOAD_CLOSED && !has_watts(out))
    fill_watts(most->concurrency, out, arena);
  out->note = arena_printf(arena,
                           "the throughput is the server's maximum, with %s%s: interactivity, "
                           "ttft, tpot or batch select another load%s%s",
                           load_text(most, arena), times_text(most, 0, arena),
                           saturation_text(rungs, most), refused_text(rungs->record, arena));
}

// ", TTFT P99 1.2 s", or "" if it is unknown.
static const char *time_text(const char *name, int percentile, double seconds,
                             struct arena *arena) {
  return isnan(seconds) ? "" : arena_printf(arena, ", %s P%d %.3g s", name, percentile, seconds);
}

static void fill_choice(const struct served_rungs *rungs, const struct curve_choice *choice,
                        struct served *out, struct arena *arena) {
  const struct curve *curve = &rungs->curve;
  fill(rungs, nearest_to(rungs, choice->batch, false), curve->percentile, out, arena);
  if (!choice->is_measured || !has_watts(out))
    fill_watts(choice->batch, out, arena);
  if (choice->is_measured)
    return;
  out->tokens_per_s = choice->tokens_per_s;
  out->load = in_flight_text(choice->batch, arena);
  out->doubt = doubt_of_curve(rungs, arena);
  out->grade = out->grade > GRADE_PROJECTED ? out->grade : GRADE_PROJECTED;
  const char *how = arena_printf(arena, "interpolated to %d requests in flight, of %g to %g%s%s",
                                 choice->batch, curve->batch[0], curve->batch[curve->count - 1],
                                 time_text("TTFT", curve->percentile, choice->ttft_s, arena),
                                 time_text("TPOT", curve->percentile, choice->tpot_s, arena));
  out->source =
      arena_printf(arena, "record %s: %s, %s, %s; %s", source_file_name(rungs->record->path),
                   engine_text(rungs->record, arena), how, served_lengths_text(rungs, arena),
                   tool_text(rungs->record, arena));
}

const char *served_at(const struct served_rungs *rungs, int batch, struct served *out,
                      struct arena *arena) {
  const struct curve *curve = &rungs->curve;
  struct curve_choice choice;
  if (!rungs->closed)
    return arena_printf(arena,
                        "record '%s' has no closed loop, and so no fixed number of requests in "
                        "flight: omit batch",
                        source_file_name(rungs->record->path));
  if (curve_at(curve, batch, &choice))
    return arena_printf(
        arena,
        "the serving record has %g to %g requests in flight, and batch %d is outside that range",
        curve->batch[0], curve->batch[curve->count - 1], batch);
  fill_choice(rungs, &choice, out, arena);
  return NULL;
}

// The fastest rung of arrivals within limits, or NULL. They have no users to give a rate to.
static const struct serving_rung *fastest_within(const struct served_rungs *rungs,
                                                 const struct curve_limits *limits) {
  const struct serving_rung *best = NULL;
  for (size_t i = rungs->closed; i < rungs->count && !(limits->interactivity > 0); i++) {
    const struct serving_rung *rung = rungs->list[i];
    if (curve_is_within(serving_percentile(&rung->ttft, rungs->percentile), limits->ttft_s) &&
        curve_is_within(serving_percentile(&rung->tpot, rungs->percentile), limits->tpot_s) &&
        (!best || rung->output_tokens_per_s > best->output_tokens_per_s))
      best = rung;
  }
  return best;
}

// Whether a time of some rung is within a limit.
static bool any_within(const struct served_rungs *rungs, size_t latency, double limit) {
  for (size_t i = 0; i < rungs->count; i++) {
    const struct serving_latency *its = latency ? &rungs->list[i]->tpot : &rungs->list[i]->ttft;
    if (curve_is_within(serving_percentile(its, rungs->percentile), limit))
      return true;
  }
  return false;
}

enum workload_key served_missed(const struct served_rungs *rungs,
                                const struct curve_limits *limits) {
  const double fastest = rungs->closed ? curve_interactivity(&rungs->curve, 0) : 0;
  if (!curve_is_within(limits->interactivity, fastest))
    return WORKLOAD_INTERACTIVITY;
  if (!any_within(rungs, 0, limits->ttft_s))
    return WORKLOAD_TTFT;
  return any_within(rungs, 1, limits->tpot_s) ? WORKLOAD_KEYS : WORKLOAD_TPOT;
}

static const char *why_no_arrivals(const struct served_rungs *rungs,
                                   const struct curve_limits *limits, struct arena *arena) {
  if (limits->interactivity > 0)
    return "its record has no closed loop, and interactivity needs requests in flight: state ttft "
           "and tpot";
  if (!rungs->percentile)
    return rungs->curve.no_times;
  return arena_printf(arena, "no rung meets the limits at P%d", rungs->percentile);
}

// What limits of time mean that every load of its kind meets; "" if higher ones were tested, or
// would serve no more.
static const char *unlimited_text(const struct served *served, struct arena *arena) {
  const char *more = saturation_text(served->rungs, served->nearest);
  return *more ? arena_printf(arena, "the highest load tested, %s, is within the limits%s",
                              load_text(served->nearest, arena), more)
               : "";
}

const char *served_within(const struct served_rungs *rungs, const struct curve_limits *limits,
                          struct curve_choice *choice, struct served *out, struct arena *arena) {
  const struct serving_rung *arrivals = fastest_within(rungs, limits);
  const bool counts = limits->interactivity > 0 || rungs->curve.percentile == rungs->percentile;
  const char *why = rungs->closed && counts ? curve_choose(&rungs->curve, limits, choice, arena)
                                            : why_no_arrivals(rungs, limits, arena);
  if (!why)
    fill_choice(rungs, choice, out, arena);
  if (!why && choice->batch == rungs->curve.batch[rungs->curve.count - 1])
    out->note = unlimited_text(out, arena);
  if (!arrivals ||
      (!why && arrivals->output_tokens_per_s / rungs->record->accelerators <= out->tokens_per_s))
    return why;
  fill(rungs, arrivals, rungs->percentile, out, arena);
  out->note = unlimited_text(out, arena);
  *choice = (struct curve_choice){
      .tokens_per_s = out->tokens_per_s, .load_power = NAN, .is_measured = true};
  return NULL;
}
