#include "model/records/served.h"

#include "base/arena.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_FOUND = 64 };

static const char *file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

// ---- which records and rungs fit

struct query {
  const struct served_request *request;
  struct served_rungs found[MAX_FOUND]; // each of one record and one length
  size_t count, records;                // records of the accelerator, or the one named
  const char *others;                   // lengths that did not fit, in words
  struct arena *arena;
};

static bool is_alike(double a, double b) {
  return (isnan(a) && isnan(b)) || fabs(a - b) <= REQUEST_LENGTHS * fmax(a, b);
}

static bool counts(const struct serving_rung *rung) {
  return !*rung->refused && rung->output_tokens_per_s > 0;
}

static bool is_wanted(const struct workload *workload, enum workload_key key, const char *value) {
  return !*workload->values[key] || workload_is_alike(workload, key, workload->values[key], value);
}

static bool is_of_model(const struct served_request *request, const struct serving_record *record) {
  return is_wanted(request->workload, WORKLOAD_MODEL, record->model) &&
         is_wanted(request->workload, WORKLOAD_PRECISION, record->precision);
}

static bool is_candidate(const struct served_request *request,
                         const struct serving_record *record) {
  if (record->basis != BASIS_SERVING)
    return false;
  return *request->file ? !strcmp(file_name(record->path), request->file)
                        : !strcmp(record->accelerator, request->accelerator);
}

bool served_is_there(const struct served_request *request) {
  const struct records *records = request->records;
  for (size_t i = 0; i < records->serving_count; i++)
    if (is_candidate(request, records->servings[i]) && is_of_model(request, records->servings[i]))
      return true;
  return false;
}

const struct serving_record *served_named(const struct records *records, const char *file) {
  const struct workload none = {.values = {NULL}};
  const struct served_request request = {records, file, "", &none, 0, 0};
  for (size_t i = 0; *file && i < records->serving_count; i++)
    if (is_candidate(&request, records->servings[i]))
      return records->servings[i];
  return NULL;
}

static const char *age_of(const struct serving_record *record) {
  return *record->finished ? record->finished : record->date;
}

const struct serving_record *served_of_accelerator(const struct records *records,
                                                   const char *accelerator) {
  const struct serving_record *newest = NULL;
  for (size_t i = 0; i < records->serving_count; i++) {
    const struct serving_record *record = records->servings[i];
    if (!strcmp(record->accelerator, accelerator) &&
        (!newest || strcmp(age_of(record), age_of(newest)) > 0))
      newest = record;
  }
  return newest;
}

// How a record differs from the option, or what the workload states and the record does not.
static const char *why_not(const struct query *query, const struct serving_record *record) {
  const struct served_request *request = query->request;
  const struct workload *workload = request->workload;
  const struct {
    const char *what, *has, *wanted;
    bool fits;
  } demands[] = {
      {"accelerator", record->accelerator, request->accelerator,
       !strcmp(record->accelerator, request->accelerator)},
      {"model", record->model, workload->values[WORKLOAD_MODEL],
       is_wanted(workload, WORKLOAD_MODEL, record->model)},
      {"precision", record->precision, workload->values[WORKLOAD_PRECISION],
       is_wanted(workload, WORKLOAD_PRECISION, record->precision)},
      {"speculation", record->speculation, workload->values[WORKLOAD_SPECULATION],
       !strcmp(record->speculation, workload->values[WORKLOAD_SPECULATION])},
      {"activations", record->activations, workload->values[WORKLOAD_ACTIVATIONS],
       is_wanted(workload, WORKLOAD_ACTIVATIONS, record->activations)},
      {"kv", record->kv, workload->values[WORKLOAD_KV],
       is_wanted(workload, WORKLOAD_KV, record->kv)},
      {"sparsity", "dense", workload->values[WORKLOAD_SPARSITY],
       is_wanted(workload, WORKLOAD_SPARSITY, "dense")},
      {"tokens", "output", workload->values[WORKLOAD_TOKENS],
       is_wanted(workload, WORKLOAD_TOKENS, "output")},
  };
  for (size_t i = 0; i < sizeof demands / sizeof demands[0]; i++)
    if (!demands[i].fits)
      return arena_printf(query->arena, "record '%s' has %s = %s, but the option asks for %s",
                          file_name(record->path), demands[i].what,
                          *demands[i].has ? demands[i].has : "(not stated)",
                          *demands[i].wanted ? demands[i].wanted : "none");
  return NULL;
}

static bool has_length(double served, double wanted) {
  return wanted <= 0 || is_alike(served, wanted);
}

static bool has_request(const struct query *query, const struct served_rungs *rungs) {
  const struct served_request *request = query->request;
  return has_length(rungs->input_tokens, request->input_tokens) &&
         has_length(rungs->output_tokens, request->output_tokens);
}

static bool has_lengths(const struct query *query, const struct served_rungs *rungs) {
  const char *context = query->request->workload->values[WORKLOAD_CONTEXT];
  return has_length(rungs->input_tokens, *context ? atof(context) : 0) && has_request(query, rungs);
}

// MLPerf's requests count for any length.
static bool may_count(const struct query *query, const struct served_rungs *rungs) {
  return rungs->record->grade == GRADE_BENCHMARK || has_lengths(query, rungs);
}

static const char *lengths_text(const struct served_rungs *rungs, struct arena *arena) {
  const double in = rungs->input_tokens, out = rungs->output_tokens;
  if (isnan(in) && isnan(out))
    return "requests of unstated length";
  if (isnan(in) || isnan(out))
    return arena_printf(arena, "requests of %.0f tokens %s, unstated %s", isnan(in) ? out : in,
                        isnan(in) ? "out" : "in", isnan(in) ? "in" : "out");
  return arena_printf(arena, "requests of %.0f tokens in, %.0f out", in, out);
}

// With similar lengths.
static struct served_rungs *place_of(struct query *query, size_t from,
                                     const struct serving_record *record,
                                     const struct serving_rung *rung) {
  for (size_t i = from; i < query->count; i++) {
    struct served_rungs *rungs = &query->found[i];
    if (is_alike(rungs->input_tokens, rung->input_tokens) &&
        is_alike(rungs->output_tokens, rung->output_tokens))
      return rungs;
  }
  if (query->count == MAX_FOUND)
    return NULL;
  struct served_rungs *fresh = &query->found[query->count++];
  *fresh = (struct served_rungs){.record = record,
                                 .input_tokens = rung->input_tokens,
                                 .output_tokens = rung->output_tokens,
                                 .remark = ""};
  return fresh;
}

static void insert(struct served_rungs *rungs, const struct serving_rung *rung) {
  const bool closed = rung->load == LOAD_CLOSED;
  size_t at = rungs->count;
  if (rungs->count == MAX_CURVE_POINTS)
    return;
  for (;
       closed && at && (at > rungs->closed || rungs->list[at - 1]->concurrency > rung->concurrency);
       at--)
    rungs->list[at] = rungs->list[at - 1];
  rungs->list[at] = rung;
  rungs->count++;
  rungs->closed += closed;
}

static void list_other(struct query *query, const struct served_rungs *rungs) {
  query->others =
      arena_printf(query->arena, "%s%s%s (%s)", query->others, *query->others ? "; " : "",
                   lengths_text(rungs, query->arena), file_name(rungs->record->path));
}

// The rungs of a record whose lengths may count.
static void add_record(struct query *query, const struct serving_record *record) {
  const size_t from = query->count;
  for (size_t i = 0; i < record->count; i++) {
    struct served_rungs *rungs =
        counts(&record->rungs[i]) ? place_of(query, from, record, &record->rungs[i]) : NULL;
    if (rungs)
      insert(rungs, &record->rungs[i]);
  }
  const size_t end = query->count;
  query->count = from;
  for (size_t i = from; i < end; i++)
    if (may_count(query, &query->found[i]))
      query->found[query->count++] = query->found[i];
    else
      list_other(query, &query->found[i]);
}

static const char *wanted_lengths(const struct query *query) {
  const struct served_request *request = query->request;
  const char *context = request->workload->values[WORKLOAD_CONTEXT];
  const double input = request->input_tokens > 0 ? request->input_tokens : atof(context);
  const char *in = input > 0 ? arena_printf(query->arena, " %.0f tokens in", input) : "";
  const char *out =
      request->output_tokens > 0
          ? arena_printf(query->arena, "%s %.0f out", *in ? "," : "", request->output_tokens)
          : "";
  return arena_printf(query->arena, "%s%s", in, out);
}

static const char *why_nothing(const struct query *query, const char *contradiction) {
  const struct served_request *request = query->request;
  if (contradiction)
    return contradiction;
  if (*query->others)
    return arena_printf(query->arena, "the workload's requests have%s, but the records served %s",
                        wanted_lengths(query), query->others);
  if (query->records)
    return arena_printf(query->arena, "every rung of the serving records of '%s' was refused",
                        request->accelerator);
  return arena_printf(query->arena, "no serving record %s%s: see --measurements",
                      *request->file ? "named " : "of ",
                      *request->file ? request->file : request->accelerator);
}

static const char *find(struct query *query) {
  const struct records *records = query->request->records;
  const char *contradiction = NULL;
  for (size_t i = 0; i < records->serving_count; i++) {
    const struct serving_record *record = records->servings[i];
    if (!is_candidate(query->request, record))
      continue;
    query->records++;
    const char *why = why_not(query, record);
    contradiction = contradiction ? contradiction : why;
    if (!why)
      add_record(query, record);
  }
  return query->count ? NULL : why_nothing(query, contradiction);
}

// ---- one of them

static bool is_better(const struct served_rungs *a, const struct served_rungs *b) {
  if (a->record->grade != b->record->grade)
    return a->record->grade < b->record->grade;
  return strcmp(age_of(a->record), age_of(b->record)) > 0;
}

static const char *why_several(const struct query *query) {
  const char *list = "";
  for (size_t i = 0; i < query->count; i++)
    list = arena_printf(query->arena, "%s%s%s (%s)", list, i ? "; " : "",
                        lengths_text(&query->found[i], query->arena),
                        file_name(query->found[i].record->path));
  return arena_printf(query->arena,
                      "serving records of '%s' match with several request lengths; choose with "
                      "input_tokens and output_tokens: %s",
                      query->request->accelerator, list);
}

// Where some have the lengths that the workload states, MLPerf's do not count.
static void keep_stated_lengths(struct query *query) {
  size_t stated = 0;
  for (size_t i = 0; i < query->count; i++)
    if (has_lengths(query, &query->found[i]))
      query->found[stated++] = query->found[i];
  query->count = stated ? stated : query->count;
}

static const char *remark_of(const struct query *query, const struct served_rungs *chosen) {
  const char *of_several =
      chosen->others
          ? arena_printf(query->arena,
                         "of %zu matching serving records, %s is used: the best grade, then the "
                         "newest",
                         query->count, file_name(chosen->record->path))
          : "";
  return has_lengths(query, chosen)
             ? of_several
             : arena_printf(query->arena, "%s%sthe record's requests have MLPerf's lengths, not %s",
                            of_several, *of_several ? "; " : "",
                            has_request(query, chosen) ? "that of context"
                                                       : "those of input_tokens and output_tokens");
}

static const char *choose(struct query *query, struct served_rungs *out) {
  keep_stated_lengths(query);
  const struct served_rungs *best = &query->found[0];
  for (size_t i = 1; i < query->count; i++) {
    if (!is_alike(query->found[i].input_tokens, best->input_tokens) ||
        !is_alike(query->found[i].output_tokens, best->output_tokens))
      return why_several(query);
    best = is_better(&query->found[i], best) ? &query->found[i] : best;
  }
  *out = *best;
  out->others = query->count - 1;
  out->remark = remark_of(query, out);
  return NULL;
}

// ---- its curve

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

static double percentile_of(const struct serving_latency *latency, int percentile) {
  return percentile == 99   ? latency->p99_s
         : percentile == 95 ? latency->p95_s
         : percentile == 90 ? latency->p90_s
                            : NAN;
}

// Whether a rung has the times that the workload limits, both if it limits none.
static bool has_times(const struct serving_rung *rung, int percentile,
                      const struct workload *workload) {
  const bool ttft = *workload->values[WORKLOAD_TTFT], tpot = *workload->values[WORKLOAD_TPOT];
  return ((tpot && !ttft) || !isnan(percentile_of(&rung->ttft, percentile))) &&
         ((ttft && !tpot) || !isnan(percentile_of(&rung->tpot, percentile)));
}

static size_t count_times(const struct served_rungs *rungs, size_t count, int percentile,
                          const struct workload *workload) {
  size_t told = 0;
  for (size_t i = 0; i < count; i++)
    told += has_times(rungs->list[i], percentile, workload);
  return told;
}

// The percentile for which most rungs have the times; the strictest if several tie; 0: none.
static int common_percentile(const struct served_rungs *rungs, const struct workload *workload) {
  static const int percentiles[] = {99, 95, 90};
  size_t most = 0;
  int percentile = 0;
  for (size_t p = 0; p < sizeof percentiles / sizeof percentiles[0]; p++) {
    const size_t told = count_times(rungs, rungs->count, percentiles[p], workload);
    if (told <= most)
      continue;
    most = told;
    percentile = percentiles[p];
  }
  return percentile;
}

// Watts per accelerator: its own, or including its share of the host if the meter covers that.
static double watts_of(const struct served_rungs *rungs, double watts,
                       const struct serving_power *power) {
  const bool whole = power->covers != COVERS_ACCELERATORS;
  return watts / (whole || !power->devices ? rungs->record->accelerators : power->devices);
}

// What the meter of the first metered closed loop covers.
static enum serving_coverage coverage_of(const struct served_rungs *rungs) {
  for (size_t i = 0; i < rungs->closed; i++)
    if (!isnan(rungs->list[i]->power.load_power_w))
      return rungs->list[i]->power.covers;
  return COVERS_NOTHING;
}

static const char *draw_curve(struct served_rungs *rungs, const struct workload *workload,
                              struct arena *arena) {
  struct curve *curve = &rungs->curve;
  const int percentile = rungs->percentile = common_percentile(rungs, workload);
  rungs->covers = coverage_of(rungs);
  *curve = (struct curve){
      .accelerators = rungs->record->accelerators,
      .grade = rungs->record->grade,
      .percentile = count_times(rungs, rungs->closed, percentile, workload) ? percentile : 0};
  for (size_t i = 0; i < rungs->closed; i++) {
    const struct serving_rung *rung = rungs->list[i];
    const struct serving_power *power = &rung->power;
    const double watts =
        power->covers == rungs->covers ? watts_of(rungs, power->load_power_w, power) : NAN;
    if (!curve_add(curve, rung->concurrency, rung->output_tokens_per_s / curve->accelerators, watts,
                   ""))
      return arena_printf(
          arena, "'%s' has two rungs with %g requests in flight, and nothing distinguishes them",
          file_name(rungs->record->path), rung->concurrency);
    curve->ttft_s[i] = percentile_of(&rung->ttft, percentile);
    curve->tpot_s[i] = percentile_of(&rung->tpot, percentile);
  }
  return NULL;
}

const char *served_find(const struct served_request *request, struct served_rungs *rungs,
                        struct arena *arena) {
  struct query *query = arena_alloc(arena, sizeof *query);
  query->request = request;
  query->arena = arena;
  query->others = "";
  const char *why = find(query);
  if (!why)
    why = choose(query, rungs);
  return why ? why : draw_curve(rungs, request->workload, arena);
}

// ---- a place on it

static const char *load_text(const struct serving_rung *rung, struct arena *arena) {
  if (rung->load == LOAD_CLOSED)
    return arena_printf(arena, "%g request%s in flight", rung->concurrency,
                        rung->concurrency == 1 ? "" : "s");
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
  double seconds = percentile_of(latency, percentile);
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
  return arena_printf(arena, "%s%s%s on %d accelerator%s",
                      *record->engine ? record->engine : "an unstated engine",
                      *record->engine_version ? " " : "", record->engine_version,
                      record->accelerators, record->accelerators == 1 ? "" : "s");
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

// Of the first rung of the curve that has one.
static const char *doubt_of_curve(const struct served_rungs *rungs, struct arena *arena) {
  const char *doubt = "";
  for (size_t i = 0; i < rungs->closed && !*doubt; i++)
    doubt = doubt_of(rungs->list[i], arena);
  return doubt;
}

// With its times at a percentile; 0: the strictest.
static void fill(const struct served_rungs *rungs, const struct serving_rung *nearest,
                 int percentile, struct served *out, struct arena *arena) {
  const struct serving_record *record = rungs->record;
  const struct serving_power *power = &nearest->power;
  const double watts = watts_of(rungs, power->load_power_w, power);
  const bool whole = power->covers != COVERS_ACCELERATORS;
  *out = (struct served){
      .rungs = rungs,
      .nearest = nearest,
      .tokens_per_s = nearest->output_tokens_per_s / record->accelerators,
      .load_power_w = whole ? NAN : watts,
      .node_power_w = whole ? watts : NAN,
      .idle_power_w = whole ? NAN : watts_of(rungs, power->idle_power_w, power),
      .grade = record->grade,
      .power_grade = record->grade,
      .place = {record->source, 0, 0},
      .source = arena_printf(arena, "record %s: %s, %s, %s%s; %s", file_name(record->path),
                             engine_text(record, arena), load_text(nearest, arena),
                             lengths_text(rungs, arena), times_text(nearest, percentile, arena),
                             tool_text(record, arena)),
      .power_source =
          arena_printf(arena, "record %s: %s, %s%s%s", file_name(record->path), power->source,
                       load_text(nearest, arena), *power->remark ? "; " : "", power->remark),
      .date = record->date,
      .note = "",
      .doubt = doubt_of(nearest, arena),
  };
}

double served_input_tokens(const struct served *served) {
  const double asked = served->rungs->list[0]->asked_input_tokens;
  return !isnan(asked) && is_alike(asked, served->rungs->input_tokens)
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

// Of the closed loops, or of those whose watts are on the curve; NULL for none.
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
  out->idle_power_w = whole ? NAN : watts_of(rungs, power->idle_power_w, power);
  out->power_grade = grade_weaker(out->power_grade, GRADE_PROJECTED);
  out->power_source = arena_printf(arena, "record %s: %s, interpolated to %g requests in flight",
                                   file_name(rungs->record->path), power->source, concurrency);
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
  out->doubt = doubt_of_curve(rungs, arena);
  out->grade = out->grade > GRADE_PROJECTED ? out->grade : GRADE_PROJECTED;
  const char *how = arena_printf(arena, "interpolated to %d requests in flight, of %g to %g%s%s",
                                 choice->batch, curve->batch[0], curve->batch[curve->count - 1],
                                 time_text("TTFT", curve->percentile, choice->ttft_s, arena),
                                 time_text("TPOT", curve->percentile, choice->tpot_s, arena));
  out->source = arena_printf(arena, "record %s: %s, %s, %s; %s", file_name(rungs->record->path),
                             engine_text(rungs->record, arena), how, lengths_text(rungs, arena),
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
                        file_name(rungs->record->path));
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
    if (curve_is_within(percentile_of(&rung->ttft, rungs->percentile), limits->ttft_s) &&
        curve_is_within(percentile_of(&rung->tpot, rungs->percentile), limits->tpot_s) &&
        (!best || rung->output_tokens_per_s > best->output_tokens_per_s))
      best = rung;
  }
  return best;
}

static const char *why_no_arrivals(const struct served_rungs *rungs,
                                   const struct curve_limits *limits, struct arena *arena) {
  if (limits->interactivity > 0)
    return "its record has no closed loop, and interactivity needs requests in flight: state ttft "
           "and tpot";
  if (!rungs->percentile)
    return curve_no_times;
  return arena_printf(arena, "no rung meets the limits at P%d", rungs->percentile);
}

const char *served_within(const struct served_rungs *rungs, const struct curve_limits *limits,
                          struct curve_choice *choice, struct served *out, struct arena *arena) {
  const struct serving_rung *arrivals = fastest_within(rungs, limits);
  const bool counts = limits->interactivity > 0 || rungs->curve.percentile == rungs->percentile;
  const char *why = rungs->closed && counts ? curve_choose(&rungs->curve, limits, choice, arena)
                                            : why_no_arrivals(rungs, limits, arena);
  if (!why)
    fill_choice(rungs, choice, out, arena);
  if (!arrivals ||
      (!why && arrivals->output_tokens_per_s / rungs->record->accelerators <= out->tokens_per_s))
    return why;
  fill(rungs, arrivals, rungs->percentile, out, arena);
  *choice = (struct curve_choice){
      .tokens_per_s = out->tokens_per_s, .load_power = NAN, .is_measured = true};
  return NULL;
}
