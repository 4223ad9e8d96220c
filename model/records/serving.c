#include "model/records/serving.h"

#include "base/json_in.h"
#include "base/record.h"
#include "base/record_fields.h"
#include "model/evidence/date.h"

#include <ctype.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

// ---- the fields of a record

static const char *const kinds[] = {SERVING_RECORD, NULL};
static const char *const bases[] = {[BASIS_SERVING] = "serving", [BASIS_DECODE] = "decode", NULL};
// The grades that a record may have, in the order of enum grade.
static const char *const grades[] = {"measured", "", "benchmark", "published", "projected", NULL};

const char *const serving_coverage_names[] = {[COVERS_NOTHING] = "nothing",
                                              [COVERS_ACCELERATORS] = "accelerators",
                                              [COVERS_MODULES] = "modules",
                                              [COVERS_NODE] = "node",
                                              NULL};

const char *const serving_load_names[] = {[LOAD_CLOSED] = "closed loop",
                                          [LOAD_POISSON] = "Poisson arrivals",
                                          [LOAD_CONSTANT] = "constant arrivals",
                                          [LOAD_BURST] = "all at once",
                                          [LOAD_STATIC] = "static batch",
                                          [LOAD_UNKNOWN] = "unknown",
                                          NULL};

static const struct field latency_fields[] = {MAYBE(serving_latency, mean_s, 0),
                                              MAYBE(serving_latency, p50_s, 0),
                                              MAYBE(serving_latency, p90_s, 0),
                                              MAYBE(serving_latency, p95_s, 0),
                                              MAYBE(serving_latency, p99_s, 0),
                                              MAYBE(serving_latency, std_s, 0),
                                              END};

static const struct field power_fields[] = {TEXT(serving_power, source),
                                            NAME(serving_power, covers, serving_coverage_names),
                                            INT(serving_power, devices, 0),
                                            TEXT(serving_power, which),
                                            MAYBE(serving_power, load_power_w, 0),
                                            MAYBE(serving_power, idle_power_w, 0),
                                            MAYBE(serving_power, energy_j, 0),
                                            MAYBE(serving_power, window_s, 0),
                                            MAYBE(serving_power, power_limit_w, 0),
                                            MAYBE(serving_power, clock_offset_s, 0),
                                            TEXT(serving_power, remark),
                                            END};

static const struct field rung_fields[] = {NAME(serving_rung, load, serving_load_names),
                                           MAYBE(serving_rung, concurrency, 1),
                                           MAYBE(serving_rung, mean_concurrency, 0),
                                           MAYBE(serving_rung, request_rate, 0),
                                           MAYBE(serving_rung, input_tokens, 0),
                                           MAYBE(serving_rung, output_tokens, 0),
                                           MAYBE(serving_rung, asked_input_tokens, 0),
                                           MAYBE(serving_rung, asked_output_tokens, 0),
                                           MAYBE(serving_rung, cached_share, 0),
                                           MAYBE(serving_rung, window_s, 0),
                                           MAYBE(serving_rung, completed, 0),
                                           MAYBE(serving_rung, failed, 0),
                                           MAYBE(serving_rung, output_tokens_per_s, 0),
                                           MAYBE(serving_rung, input_tokens_per_s, 0),
                                           OBJECT(serving_rung, ttft, latency_fields),
                                           OBJECT(serving_rung, tpot, latency_fields),
                                           MAYBE_SINCE(serving_rung, tpot_requests, 0, 13),
                                           OBJECT(serving_rung, end_to_end, latency_fields),
                                           OBJECT(serving_rung, chunk_gap, latency_fields),
                                           MAYBE(serving_rung, slo_ttft_s, 0),
                                           MAYBE(serving_rung, slo_tpot_s, 0),
                                           MAYBE(serving_rung, goodput_per_s, 0),
                                           MAYBE(serving_rung, accepted_length, 1),
                                           OBJECT(serving_rung, power, power_fields),
                                           MAYBE(serving_rung, client_cpu_share, 0),
                                           TEXT(serving_rung, server_counters),
                                           TEXT(serving_rung, refused),
                                           COUNT(serving_rung, seed),
                                           TEXT(serving_rung, started),
                                           TEXT(serving_rung, finished),
                                           END};

const struct field serving_file_fields[] = {TEXT(serving_file, name), TEXT(serving_file, sha256),
                                            END};

static const struct field record_fields[] = {
    CONSTANT("record", kinds),
    NAME(serving_record, basis, bases),
    TEXT(serving_record, tool),
    TEXT(serving_record, tool_version),
    TEXT(serving_record, engine),
    TEXT(serving_record, engine_version),
    TEXT(serving_record, accelerator),
    TEXT_SINCE(serving_record, device, 10),
    TEXT_SINCE(serving_record, node, 11),
    INT(serving_record, accelerators, 1),
    TEXT(serving_record, precision),
    TEXT_SINCE(serving_record, activations, 12),
    TEXT_SINCE(serving_record, kv, 12),
    TEXT(serving_record, model),
    TEXT(serving_record, served_model),
    TEXT(serving_record, url),
    TEXT(serving_record, prompts),
    TEXT(serving_record, speculation),
    INT(serving_record, input_accelerators, 0),
    INT(serving_record, output_accelerators, 0),
    TEXT(serving_record, published_title),
    TEXT(serving_record, published_url),
    TEXT(serving_record, remarks),
    LIST(serving_record, files, file_count, serving_file, serving_file_fields),
    TEXT(serving_record, started),
    TEXT(serving_record, finished),
    TEXT(serving_record, date),
    NAME(serving_record, grade, grades),
    LIST(serving_record, rungs, count, serving_rung, rung_fields),
    END};

static const struct record_form form = {"serving record", SERVING_OLDEST, SERVING_SCHEMA,
                                        record_fields};

struct serving_rung serving_rung_unknown(void) {
  struct serving_rung rung = {.load = LOAD_UNKNOWN};
  record_leave_unknown(rung_fields, &rung);
  return rung;
}

struct serving_record serving_record_unknown(void) {
  struct serving_record record = {.digest = ""};
  record_leave_unknown(record_fields, &record);
  return record;
}

// ---- consistency

int serving_samples(int percentile) {
  static const struct { int percentile, samples; } table[] = {{99, 662}, {95, 130}, {90, 64}};
  for (size_t i = 0; i < sizeof table / sizeof table[0]; i++)
    if (percentile >= table[i].percentile)
      return table[i].samples;
  return 1;
}

const char *const serving_statistic_names[LATENCY_STATISTICS] = {[LATENCY_MEAN] = "mean",
                                                                 [LATENCY_P50] = "P50",
                                                                 [LATENCY_P90] = "P90",
                                                                 [LATENCY_P95] = "P95",
                                                                 [LATENCY_P99] = "P99"};

bool serving_record_has_rungs(const struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++)
    if (!*record->rungs[i].refused)
      return true;
  return false;
}

bool serving_record_has_watts(const struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++)
    if (!isnan(record->rungs[i].power.load_power_w))
      return true;
  return false;
}

double serving_latency_at(const struct serving_latency *latency, enum serving_statistic statistic) {
  const double told[LATENCY_STATISTICS] = {[LATENCY_MEAN] = latency->mean_s,
                                           [LATENCY_P50] = latency->p50_s,
                                           [LATENCY_P90] = latency->p90_s,
                                           [LATENCY_P95] = latency->p95_s,
                                           [LATENCY_P99] = latency->p99_s};
  return told[statistic];
}

double serving_percentile(const struct serving_latency *latency, int percentile) {
  return percentile == 99   ? latency->p99_s
         : percentile == 95 ? latency->p95_s
         : percentile == 90 ? latency->p90_s
                            : NAN;
}

int serving_statistic_samples(enum serving_statistic statistic) {
  static const int percentiles[LATENCY_STATISTICS] = {0, 50, 90, 95, 99};
  return serving_samples(percentiles[statistic]);
}

const char *serving_untold(const struct serving_rung *rung, struct arena *arena) {
  const double untold = rung->completed - rung->tpot_requests;
  if (!(untold > 0))
    return "";
  return arena_printf(
      arena,
      "%.0f of %.0f requests have no time per output token: one token, text that came all at once, "
      "or thoughts that were not streamed; %s",
      untold, rung->completed,
      rung->tpot_requests < SERVING_TOLD * rung->completed
          ? "that is most of them, so no TPOT is given, and no SLO of it is met"
          : "TPOT is of the others");
}

// Of requests of one length: their chunks follow from the gap between them over TPOT.
const char *serving_chunk_doubt(const struct serving_rung *rung, struct arena *arena) {
  const double tokens = rung->output_tokens;
  const double tokens_per_gap = rung->chunk_gap.mean_s / rung->tpot.mean_s;
  const double chunks = 1 + (tokens - 1) / tokens_per_gap;
  const double share = (tokens - 1) * chunks / (tokens * (chunks - 1)) - 1;
  if (!(tokens_per_gap > SERVING_CHUNK_TOKENS) || !(share > SERVING_CHUNK_SHARE))
    return "";
  return arena_printf(arena,
                      "chunks hold %.2g tokens, so TPOT, as clients define it, is too low: it is "
                      "over the first chunk's tokens, too, and from chunk to chunk a token takes "
                      "%.3g ms, %.2g %% more",
                      tokens / chunks, 1e3 * (1 + share) * rung->tpot.mean_s, 100 * share);
}

bool serving_counters_differ(const struct serving_rung *rung) {
  return !strncmp(rung->server_counters, "differ", strlen("differ"));
}

static bool ascends(const double *values, size_t count) {
  double last = 0;
  for (size_t i = 0; i < count; i++) {
    if (values[i] < last)
      return false;
    last = isnan(values[i]) ? last : values[i];
  }
  return true;
}

// Whether there are too few samples for a percentile; an unknown number of samples passes.
static bool is_told_too_early(double value, int percentile, double samples) {
  return !isnan(value) && samples < serving_samples(percentile);
}

static const char *wrong_latency(const struct serving_latency *latency, double samples) {
  const double percentiles[] = {latency->p50_s, latency->p90_s, latency->p95_s, latency->p99_s};
  if (is_told_too_early(latency->p90_s, 90, samples) ||
      is_told_too_early(latency->p95_s, 95, samples) ||
      is_told_too_early(latency->p99_s, 99, samples))
    return "a percentile with too few requests: 64 are needed for P90, 130 for P95, 662 for P99";
  if (!ascends(percentiles, sizeof percentiles / sizeof percentiles[0]))
    return "a latency's percentiles do not ascend";
  return NULL;
}

static const char *wrong_power(const struct serving_power *power) {
  const bool has_meter = *power->source && strncmp(power->source, "none", 4) != 0;
  const bool has_watts = !isnan(power->load_power_w);
  return has_watts && (!has_meter || power->covers == COVERS_NOTHING)
             ? "watts need a meter and its scope"
             : NULL;
}

static const char *wrong_load(const struct serving_rung *rung, enum serving_basis basis) {
  const bool arrives = rung->load == LOAD_POISSON || rung->load == LOAD_CONSTANT;
  const bool is_set = rung->load == LOAD_CLOSED || rung->load == LOAD_STATIC;
  if ((basis == BASIS_DECODE) != (rung->load == LOAD_STATIC))
    return "a static batch must be decoding, and only a static batch can be";
  if (is_set && isnan(rung->concurrency))
    return "its concurrency is missing";
  if (arrives != !isnan(rung->request_rate))
    return "a request rate applies only to Poisson and constant arrivals";
  return NULL;
}

// Clients may divide by a time that they measured a little later.
static const double goodput_over = 1.02;

static const char *wrong_rates(const struct serving_rung *rung, enum serving_basis basis,
                               struct arena *arena) {
  const bool reads_only = basis == BASIS_DECODE && rung->input_tokens_per_s > 0;
  if (!(rung->output_tokens_per_s > 0) && !(reads_only && isnan(rung->output_tokens_per_s)))
    return "output_tokens_per_s must be above 0";
  if (rung->completed == 0)
    return "no request was completed";
  const double answered_per_s = rung->completed / rung->window_s;
  if (rung->goodput_per_s > goodput_over * answered_per_s)
    return arena_printf(arena,
                        "goodput: %.6g requests per second met their limits, but only %.6g "
                        "were answered",
                        rung->goodput_per_s, answered_per_s);
  return NULL;
}

const char *serving_wrong_rung(const struct serving_rung *rung, enum serving_basis basis,
                               struct arena *arena) {
  const struct serving_latency *latencies[] = {&rung->ttft, &rung->end_to_end, &rung->chunk_gap};
  const char *wrong = record_wrong_number(rung_fields, rung, arena);
  if (!wrong)
    wrong = wrong_load(rung, basis);
  if (!wrong && !*rung->refused)
    wrong = wrong_rates(rung, basis, arena);
  for (size_t i = 0; i < sizeof latencies / sizeof latencies[0] && !wrong; i++)
    wrong = wrong_latency(latencies[i], rung->completed);
  if (!wrong && rung->tpot_requests > rung->completed)
    wrong = "more requests have a TPOT than were completed";
  if (!wrong)
    wrong = wrong_latency(&rung->tpot, fmin(rung->completed, rung->tpot_requests));
  return wrong ? wrong : wrong_power(&rung->power);
}

static const char *wrong_record(const struct serving_record *record) {
  const bool is_public = *record->published_title || *record->published_url;
  struct date date;
  if (!*record->accelerator || !*record->model || !*record->precision || !*record->tool)
    return "accelerator, model, precision and tool must be stated";
  if (strlen(record->date) != strlen("2026-11-21") || !date_parse(record->date, &date))
    return "date: expected a day such as 2026-11-21";
  if ((record->grade == GRADE_PUBLISHED &&
       (!*record->published_title || !*record->published_url)) ||
      (record->grade == GRADE_MEASURED && is_public))
    return "a published run has a title and a URL, one's own run has none";
  if (record->input_accelerators + record->output_accelerators &&
      record->input_accelerators + record->output_accelerators != record->accelerators)
    return "accelerators of input and of output do not add up";
  return record->count ? NULL : "a record needs a rung";
}

int serving_check(const struct serving_record *record, struct diagnostics *diagnostics) {
  const struct place place = {record->source, 0, 0};
  const size_t errors = diagnostics->errors;
  const char *wrong = wrong_record(record);
  if (wrong)
    diagnostics_error(diagnostics, place, "%s", wrong);
  for (size_t i = 0; i < record->count; i++) {
    wrong = serving_wrong_rung(&record->rungs[i], record->basis, diagnostics->arena);
    if (!wrong && record->rungs[i].power.devices > record->accelerators)
      wrong = "the watts cover more accelerators than the rates";
    if (wrong)
      diagnostics_error(diagnostics, place, "rungs[%zu]: %s", i, wrong);
  }
  return diagnostics->errors > errors ? -1 : 0;
}

// ---- files

const char *serving_told_name(const char *name) {
  const bool has_drive = isalpha((unsigned char)name[0]) && name[1] == ':';
  const bool is_path = strchr("/\\.~", *name) || has_drive;
  const char *file = name;
  for (const char *at = name; is_path && *at; at++)
    if (strchr("/\\", *at) && at[1] && !strchr("/\\", at[1]))
      file = at + 1;
  return file;
}

int serving_write(struct serving_record *record, const char *path, struct arena *arena,
                  struct diagnostics *diagnostics) {
  record->served_model = serving_told_name(record->served_model);
  if (serving_check(record, diagnostics) ||
      record_write(&form, record, &record->digest, path, arena, diagnostics))
    return -1;
  record->path = arena_copy(arena, path);
  return 0;
}

struct serving_record *serving_of_json(const json_t *object, const struct source *source,
                                       struct arena *arena, struct diagnostics *diagnostics) {
  struct serving_record *record = arena_alloc(arena, sizeof *record);
  if (record_of_json(&form, object, source, record, &record->digest, arena, diagnostics))
    return NULL;
  record->source = source;
  record->path = source->name;
  return serving_check(record, diagnostics) ? NULL : record;
}

struct serving_record *serving_read(const char *path, struct arena *arena,
                                    struct diagnostics *diagnostics) {
  const struct source *source;
  json_t *object =
      json_in_read(path, "expected a complete serving record in JSON", &source, arena, diagnostics);
  if (!object)
    return NULL;
  struct serving_record *record = serving_of_json(object, source, arena, diagnostics);
  json_decref(object);
  return record;
}

bool serving_is_one(const json_t *object) {
  return record_is(&form, object);
}
