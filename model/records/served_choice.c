#include "model/records/served_choice.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/evidence/grade.h"

#include <stdlib.h>
#include <string.h>

// ---- which records and rungs fit

struct query {
  const struct served_request *request;
  struct served_rungs *found; // each of one record and one length
  size_t count, records;      // records of the accelerator, or the one named
  const char *others;         // lengths that did not fit, in words
  struct arena *arena;
};

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
  return *request->file ? !strcmp(source_file_name(record->path), request->file)
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
  const struct served_request request = {records, file, "", &none, 0, 0, 0};
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

// The reason why a record does not fit: how it differs from the option, or what the workload states
// and the record does not.
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
       workload_is_alike(workload, WORKLOAD_SPECULATION, record->speculation,
                         workload->values[WORKLOAD_SPECULATION])},
      {"activations", record->activations, workload->values[WORKLOAD_ACTIVATIONS],
       is_wanted(workload, WORKLOAD_ACTIVATIONS, record->activations)},
      {"kv", record->kv, workload->values[WORKLOAD_KV],
       is_wanted(workload, WORKLOAD_KV, record->kv)},
      {"head", "", workload->values[WORKLOAD_HEAD], is_wanted(workload, WORKLOAD_HEAD, "")},
      {"sparsity", "dense", workload->values[WORKLOAD_SPARSITY],
       is_wanted(workload, WORKLOAD_SPARSITY, "dense")},
      {"tokens", "output", workload->values[WORKLOAD_TOKENS],
       is_wanted(workload, WORKLOAD_TOKENS, "output")},
  };
  for (size_t i = 0; i < sizeof demands / sizeof demands[0]; i++)
    if (!demands[i].fits)
      return arena_printf(query->arena, "record '%s' has %s = %s, but the option asks for %s",
                          source_file_name(record->path), demands[i].what,
                          *demands[i].has ? demands[i].has : "(not stated)",
                          *demands[i].wanted ? demands[i].wanted : "none");
  return NULL;
}

static bool has_length(double served, double wanted) {
  return wanted <= 0 || served_is_alike(served, wanted);
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

// Whether the rungs may count for the workload. MLPerf's requests count for any length.
static bool may_count(const struct query *query, const struct served_rungs *rungs) {
  return rungs->record->grade == GRADE_BENCHMARK || has_lengths(query, rungs);
}

// The rungs of this record with lengths like the rung's, made if there are none yet.
static struct served_rungs *place_of(struct query *query, size_t from,
                                     const struct serving_record *record,
                                     const struct serving_rung *rung) {
  for (size_t i = from; i < query->count; i++) {
    struct served_rungs *rungs = &query->found[i];
    if (served_is_alike(rungs->input_tokens, rung->input_tokens) &&
        served_is_alike(rungs->output_tokens, rung->output_tokens))
      return rungs;
  }
  query->found = arena_room(query->arena, query->found, query->count, sizeof *query->found);
  struct served_rungs *fresh = &query->found[query->count++];
  *fresh = (struct served_rungs){.record = record,
                                 .input_tokens = rung->input_tokens,
                                 .output_tokens = rung->output_tokens,
                                 .remark = ""};
  return fresh;
}

static void insert(struct served_rungs *rungs, const struct serving_rung *rung,
                   struct arena *arena) {
  const bool closed = rung->load == LOAD_CLOSED;
  size_t at = rungs->count;
  rungs->list = arena_room(arena, rungs->list, rungs->count, sizeof *rungs->list);
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
                   served_lengths_text(rungs, query->arena), source_file_name(rungs->record->path));
}

// The rungs of a record whose lengths may count.
static void add_record(struct query *query, const struct serving_record *record) {
  const size_t from = query->count;
  for (size_t i = 0; i < record->count; i++)
    if (counts(&record->rungs[i]))
      insert(place_of(query, from, record, &record->rungs[i]), &record->rungs[i], query->arena);
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
  return arena_printf(query->arena, "no serving record %s%s: see --measurements%s",
                      *request->file ? "named " : "of ",
                      *request->file ? request->file : request->accelerator,
                      records_name_hint(request->file, query->arena));
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
                        served_lengths_text(&query->found[i], query->arena),
                        source_file_name(query->found[i].record->path));
  return arena_printf(query->arena,
                      "serving records of '%s' match with several request lengths; choose with "
                      "input_tokens and output_tokens: %s",
                      query->request->accelerator, list);
}

// Keeps only the rungs with the lengths that the workload states, if there are any: MLPerf's then
// do not count.
static void keep_stated_lengths(struct query *query) {
  size_t stated = 0;
  for (size_t i = 0; i < query->count; i++)
    if (has_lengths(query, &query->found[i]))
      query->found[stated++] = query->found[i];
  query->count = stated ? stated : query->count;
}

static const char *remark_of(const struct query *query, const struct served_rungs *chosen) {
  const struct serving_record *record = chosen->record;
  const char *speculation = query->request->workload->values[WORKLOAD_SPECULATION];
  struct texts remarks = {0};
  if (chosen->others)
    texts_add(&remarks, query->arena,
              "of %zu matching serving records, %s is used: the best grade, then the newest",
              query->count, source_file_name(record->path));
  if (!has_lengths(query, chosen))
    texts_add(&remarks, query->arena, "the record's requests have MLPerf's lengths, not %s",
              has_request(query, chosen) ? "that of context"
                                         : "those of input_tokens and output_tokens");
  if (!strcmp(record->speculation, WORKLOAD_UNNAMED) && strcmp(speculation, WORKLOAD_UNNAMED) != 0)
    texts_add(&remarks, query->arena,
              "the record does not name its method of speculation, which counts as %s",
              speculation);
  return texts_joined_by(&remarks, "; ", query->arena);
}

static const char *choose(struct query *query, struct served_rungs *out) {
  keep_stated_lengths(query);
  const struct served_rungs *best = &query->found[0];
  for (size_t i = 1; i < query->count; i++) {
    if (!served_is_alike(query->found[i].input_tokens, best->input_tokens) ||
        !served_is_alike(query->found[i].output_tokens, best->output_tokens))
      return why_several(query);
    best = is_better(&query->found[i], best) ? &query->found[i] : best;
  }
  *out = *best;
  out->others = query->count - 1;
  out->remark = remark_of(query, out);
  return NULL;
}

const char *served_find(const struct served_request *request, struct served_rungs *rungs,
                        struct arena *arena) {
  struct query query = {.request = request, .arena = arena, .others = ""};
  const char *why = find(&query);
  if (!why)
    why = choose(&query, rungs);
  return why ? why : served_draw_curve(rungs, request->workload, request->percentile, arena);
}
