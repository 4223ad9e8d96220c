#include "probe/sessions/serving_session.h"

#include "base/csv.h"
#include "base/installation.h"
#include "base/source.h"
#include "base/texts.h"
#include "base/version.h"
#include "kernels/cpu/backend.h"
#include "kernels/decode.h"
#include "model/catalog/columns.h"
#include "model/evidence/catalog.h"
#include "model/evidence/grade.h"
#include "model/evidence/naming.h"
#include "model/evidence/workload.h"
#include "model/records/url.h"
#include "model/telemetry/utc.h"
#include "probe/measure/folder.h"
#include "probe/serving/ladder.h"
#include "probe/serving/load.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/random.h>
#include <unistd.h>

enum { USUAL_VOCABULARY = 32000 }; // no model in use has many fewer tokens

// ---- names

static const char *settle(struct serving_session *session, struct naming naming) {
  if (!naming.word && naming.why)
    diagnostics_error(session->diagnostics, nowhere, "%s", naming.why);
  if (naming.note)
    diagnostics_warning(session->diagnostics, nowhere, "%s", naming.note);
  return naming.word;
}

static const char *find_accelerator(struct serving_session *session, struct catalog *catalog) {
  long row;
  const char *typed = session->options->accelerator;
  if (!strcmp(typed, "cpu"))
    return typed;
  return settle(session,
                naming_find_row(catalog, CATALOG_ACCELERATORS, typed, &row, session->arena));
}

// The model's id, and the size of its vocabulary; 0: unknown.
static const char *find_model(struct serving_session *session, struct catalog *catalog,
                              long *vocabulary) {
  long row;
  const char *word =
      settle(session, naming_find_row(catalog, CATALOG_MODELS, session->options->model, &row,
                                      session->arena));
  double size = 0;
  if (word)
    table_number(catalog_table(catalog, CATALOG_MODELS), (size_t)row, "vocab", &size);
  *vocabulary = (long)size;
  return word;
}

// NULL after an error.
static const char *find_precision(struct serving_session *session, struct catalog *catalog,
                                  const char *typed) {
  return typed ? settle(session, naming_find_precision(catalog, typed, session->arena)) : "";
}

// The record's head, as far as the catalogue has its words.
static int name_record(struct serving_session *session, long *vocabulary) {
  struct catalog catalog;
  struct serving_record *record = session->record;
  const struct serving_options *options = session->options;
  const char *directory =
      installation_data(options->data_directory, session->arena, session->diagnostics);
  if (!directory || catalog_open(&catalog, directory, session->arena, session->diagnostics) ||
      catalog_add_files(&catalog, &options->data_extra, options->data_extra != NULL))
    return -1;
  record->accelerator = find_accelerator(session, &catalog);
  record->model = find_model(session, &catalog, vocabulary);
  record->precision = find_precision(session, &catalog, options->precision);
  record->activations = find_precision(session, &catalog, options->activations);
  record->kv = find_precision(session, &catalog, options->kv);
  record->accelerators = options->accelerators;
  return record->accelerator && record->model && record->precision && record->activations &&
                 record->kv
             ? 0
             : -1;
}

// ---- the server

static int check_context(struct serving_session *session) {
  const struct serving_options *options = session->options;
  const long wanted = (long)options->input_tokens + options->output_tokens;
  if (!session->served->context || wanted <= session->served->context)
    return 0;
  diagnostics_error(session->diagnostics, nowhere,
                    "the server takes requests of up to %ld tokens, but --input %d and --output %d "
                    "are %ld",
                    session->served->context, options->input_tokens, options->output_tokens,
                    wanted);
  return -1;
}

static int meet_server(struct serving_session *session) {
  const struct serving_options *options = session->options;
  struct arena *arena = session->arena;
  struct diagnostics *diagnostics = session->diagnostics;
  if (engine_ask(&session->server, options->served_model, &session->engine, arena, diagnostics) ||
      (options->engine && engine_state(&session->engine, options->engine, arena, diagnostics)))
    return -1;
  session->served = engine_model(&session->engine, options->served_model, arena, diagnostics);
  return session->served ? check_context(session) : -1;
}

// The token ids that both the server and the catalogue know.
static long smaller_vocabulary(long one, long other) {
  return !one || (other && other < one) ? other : one;
}

static uint64_t drawn_seed(void) {
  uint64_t seed = 0;
  return getrandom(&seed, sizeof seed, 0) == sizeof seed ? seed : (uint64_t)getpid();
}

static void set_prompt(struct serving_session *session, long vocabulary) {
  const struct serving_options *options = session->options;
  session->prompt = (struct prompt){.model = session->served->name,
                                    .input_tokens = options->input_tokens,
                                    .output_tokens = options->output_tokens,
                                    .seed = options->seed ? options->seed : drawn_seed(),
                                    .arena = session->arena};
  const long known = smaller_vocabulary(session->served->vocabulary, vocabulary);
  prompt_set_ids(&session->prompt, known ? known : USUAL_VOCABULARY);
}

// The processor's name, if the server runs on this host's.
static const char *processor_of(const struct serving_session *session) {
  struct decode_device device = {.name = ""};
  return !strcmp(session->record->accelerator, "cpu") && url_is_of_this_host(session->server.url) &&
                 cpu_backend.describe(0, &device) == DECODE_OK
             ? arena_copy(session->arena, device.name)
             : "";
}

// The method of speculative decoding, as stated or as the server reports it.
static const char *speculation_of(const struct serving_session *session) {
  const char *stated = session->options->speculation;
  if (!stated)
    return session->engine.speculation;
  return strcasecmp(stated, "none") != 0 ? stated : "";
}

// A job on one node measures that node; elsewhere a record does not reveal a host name unless
// asked.
static const char *node_of(const struct serving_session *session) {
  const char *by_slurm = getenv("SLURMD_NODENAME");
  return session->options->node                                 ? session->options->node
         : by_slurm && url_is_of_this_host(session->server.url) ? by_slurm
                                                                : "";
}

int serving_session_open(struct serving_session *session) {
  long vocabulary;
  struct serving_record *record = arena_alloc(session->arena, sizeof *record);
  *record = serving_record_unknown();
  session->record = record;
  if (name_record(session, &vocabulary) ||
      server_open(&session->server, session->options->url, session->arena, session->diagnostics))
    return -1;
  session->server.stop = session->stop;
  if (meet_server(session))
    return -1;
  set_prompt(session, vocabulary);
  record->basis = BASIS_SERVING;
  record->tool = "pertoken-probe";
  record->tool_version = PERTOKEN_VERSION;
  record->engine = session->engine.name;
  record->engine_version = session->engine.version;
  record->device = processor_of(session);
  record->node = node_of(session);
  record->served_model = session->served->name;
  record->speculation = speculation_of(session);
  record->url = session->server.url;
  record->started = utc_now(session->arena);
  record->date = arena_copy_n(session->arena, record->started, strlen("2026-11-21"));
  record->grade = GRADE_MEASURED;
  if (session->options->window_s < STEADY_WINDOW_S) {
    record->grade = GRADE_PROJECTED;
    record->remarks = arena_printf(session->arena, "steady windows of %g s, not of %d s",
                                   session->options->window_s, STEADY_WINDOW_S);
  }
  return 0;
}

// ---- the record

// A run resumes a record with the same server, node, machine, model, precisions, speculation,
// lengths, window and SLO.
static const char *record_path(const struct serving_session *session) {
  const struct serving_options *options = session->options;
  const struct serving_record *record = session->record;
  struct arena *arena = session->arena;
  const char *identity = arena_printf(
      arena, "%s|%s|%s|%s|%d|%s|%s|%s|%d|%d|%.17g|%.17g|%.17g", record->url, record->engine,
      record->engine_version, record->accelerator, record->accelerators, record->precision,
      record->model, record->served_model, options->input_tokens, options->output_tokens,
      options->window_s, options->slo.ttft_s, options->slo.tpot_s);
  if (*record->node)
    identity = arena_printf(arena, "%s|%s", identity, record->node);
  if (*record->activations || *record->kv)
    identity = arena_printf(arena, "%s|%s|%s", identity, record->activations, record->kv);
  if (*record->speculation)
    identity = arena_printf(arena, "%s|%s", identity, record->speculation);
  return folder_record(options->output_directory, record->model, "serving", identity, arena);
}

// Refused rungs are measured again.
static void drop_refused(struct serving_record *record) {
  size_t kept = 0;
  for (size_t i = 0; i < record->count; i++)
    if (!*record->rungs[i].refused)
      record->rungs[kept++] = record->rungs[i];
  record->count = kept;
}

static int resume_record(struct serving_session *session) {
  session->path = record_path(session);
  if (access(session->path, F_OK) != 0)
    return 0;
  struct serving_record *earlier =
      serving_read(session->path, session->arena, session->diagnostics);
  if (!earlier)
    return folder_refuse_record(session->path, session->diagnostics);
  drop_refused(earlier);
  session->record = earlier;
  session->known = earlier->count;
  session->is_written = earlier->count > 0;
  return 0;
}

static const char speculation_unknown[] =
    "whether the server speculates is unknown, as its chunks hold several tokens";

static const char tpot_low[] = "TPOT is too low, as its first chunk holds several tokens";

static void remark(struct serving_session *session, const char *text) {
  struct serving_record *record = session->record;
  const char *remarks = record->remarks;
  record->remarks = arena_printf(session->arena, "%s%s%s", remarks, *remarks ? "; " : "", text);
}

// Said once, of the first load that it applies to.
static void say_chunks(struct serving_session *session, const struct serving_rung *rung) {
  const char *doubt = serving_chunk_doubt(rung, session->arena);
  if (!*doubt || strstr(session->record->remarks, tpot_low))
    return;
  remark(session, tpot_low);
  diagnostics_warning(session->diagnostics, nowhere, "%s", doubt);
}

// The server's counters prove it; chunks of several tokens make it a question, asked once.
static void say_speculation(struct serving_session *session, const struct serving_rung *rung,
                            double chunk_tokens) {
  struct serving_record *record = session->record;
  if (*record->speculation)
    return;
  if (!isnan(rung->accepted_length)) {
    record->speculation = WORKLOAD_UNNAMED;
    diagnostics_warning(session->diagnostics, nowhere,
                        "by its counters the server speculates, %.3g tokens a step: name the "
                        "method with --speculation METHOD",
                        rung->accepted_length);
  } else if (!session->options->speculation && !strstr(record->remarks, speculation_unknown) &&
             chunk_tokens > SERVING_CHUNK_TOKENS) {
    remark(session, speculation_unknown);
    diagnostics_warning(session->diagnostics, nowhere, "%s: state --speculation METHOD, or none",
                        speculation_unknown);
  }
}

static int keep(struct serving_session *session, const struct serving_rung *rung) {
  struct serving_record *record = session->record;
  record->rungs =
      arena_grow(session->arena, record->rungs, record->count, record->count + 1, sizeof *rung);
  record->rungs[record->count++] = *rung;
  record->finished = utc_now(session->arena);
  if (serving_write(record, session->path, session->arena, session->diagnostics))
    return -1;
  session->is_written = true;
  return 0;
}

// ---- the loads

static void tell(void *context, const struct load_progress *progress) {
  static const char *const phases[] = {"ramping up", "steady", "draining", "over"};
  const struct serving_session *session = context;
  session->progress(
      arena_printf(session->arena, "%s for %.0f s: %zu in flight, %zu completed, %zu failed",
                   phases[progress->phase],
                   progress->phase == LOAD_STEADY ? progress->steady_s : progress->elapsed_s,
                   progress->in_flight, progress->completed, progress->failed));
}

struct rung_order serving_session_order(struct serving_session *session, enum serving_load load,
                                        size_t concurrency, double rate_per_s) {
  const struct serving_options *options = session->options;
  return (struct rung_order){.server = &session->server,
                             .prompt = &session->prompt,
                             .load = load,
                             .concurrency = concurrency,
                             .rate_per_s = rate_per_s,
                             .window_s = options->window_s,
                             .limit_s = options->limit_s,
                             .request_s = session->rehearsal.request_s,
                             .slo = options->slo,
                             .meter = session->meter,
                             .stop = session->stop,
                             .told = session->progress ? tell : NULL,
                             .told_context = session};
}

static const char *prompts_text(const struct serving_session *session) {
  const char *name = prompt_form_name(session->prompt.form);
  const char *rejected = session->rehearsal.rejected;
  return *rejected ? arena_printf(session->arena, "%s, without %s", name, rejected) : name;
}

int serving_session_rehearse(struct serving_session *session) {
  if (rehearse(&session->server, &session->prompt, session->options->limit_s, session->stop,
               &session->rehearsal, session->arena, session->diagnostics))
    return -1;
  session->record->prompts = prompts_text(session);
  if (*session->rehearsal.rejected)
    diagnostics_warning(session->diagnostics, nowhere, "the server does not take %s",
                        session->rehearsal.rejected);
  return 0;
}

static double most_requests(struct serving_session *session, const struct ladder_step *first) {
  const struct ladder *ladder = &session->options->ladder;
  struct rung_order order = serving_session_order(session, LOAD_CLOSED, first->concurrency, NAN);
  double most = 0;
  for (size_t i = 0; i < ladder->count; i++) {
    order.concurrency = (size_t)ladder->concurrencies[i];
    most += (double)rung_most_requests(&order);
  }
  for (int c = 1; !ladder->count && c <= ladder->most; c *= 2) {
    order.concurrency = (size_t)c;
    most += (double)rung_most_requests(&order);
  }
  order.load = LOAD_POISSON;
  const double busiest = ladder->count ? (double)order.concurrency : ladder->most;
  for (size_t i = 0; i < ladder->rate_count; i++) {
    order.rate_per_s = ladder->rates_are_shares
                           ? ladder->rates[i] * busiest / session->rehearsal.request_s
                           : ladder->rates[i];
    most += (double)rung_most_requests(&order);
  }
  return most;
}

static void announce(struct serving_session *session, const struct ladder_step *first) {
  const struct serving_options *options = session->options;
  const size_t steps = ladder_most_steps(&options->ladder);
  session->announce(
      session->announce_context,
      arena_printf(session->arena,
                   "%s%s%s serves %s at %s: up to %s of at least %g s, at most %.0f requests "
                   "of %d tokens in and %d out (%s)",
                   *session->engine.name ? session->engine.name : "an unnamed engine",
                   *session->engine.version ? " " : "", session->engine.version,
                   session->served->name, session->server.url,
                   text_counted(steps, "load", session->arena), options->window_s,
                   most_requests(session, first), options->input_tokens, options->output_tokens,
                   prompts_text(session)));
}

static void warn_of_places(struct serving_session *session, const struct ladder_step *step) {
  if (session->engine.places && (long)step->concurrency > session->engine.places)
    diagnostics_warning(session->diagnostics, nowhere,
                        "the server runs %ld requests at once: further requests wait",
                        session->engine.places);
}

static int fail_gone(struct serving_session *session, const struct serving_rung *rung) {
  session->diagnostics->machine_failed = true;
  diagnostics_error(session->diagnostics, nowhere, "the server no longer answers: %s",
                    rung->refused);
  return -1;
}

static int measure(struct serving_session *session, struct ladder_step step) {
  do {
    const struct rung_order order =
        serving_session_order(session, step.load, step.concurrency, step.rate_per_s);
    struct serving_rung rung;
    warn_of_places(session, &step);
    double chunk_tokens = NAN;
    const enum rung_end end =
        rung_run(&order, &rung, &chunk_tokens, session->arena, session->diagnostics);
    if (end == RUNG_FAILED)
      return -1;
    if (end == RUNG_STOPPED)
      return 0;
    say_speculation(session, &rung, chunk_tokens);
    say_chunks(session, &rung);
    if (keep(session, &rung))
      return -1;
    if (end == RUNG_GONE)
      return fail_gone(session, &rung);
  } while (!*session->stop && ladder_next(&session->options->ladder, session->record->rungs,
                                          session->record->count, &step));
  return 0;
}

static int run_ladder(struct serving_session *session) {
  struct ladder_step step;
  struct folder folder;
  if (folder_open(&folder, session->options->output_directory, session->diagnostics))
    return -1;
  int result = resume_record(session);
  if (!result && ladder_next(&session->options->ladder, session->record->rungs,
                             session->record->count, &step)) {
    result = serving_session_rehearse(session);
    if (!result) {
      announce(session, &step);
      result = measure(session, step);
    }
  }
  folder_close(&folder);
  return result;
}

int serving_session_run(struct serving_session *session) {
  int result = serving_session_open(session);
  if (!result)
    result = run_ladder(session);
  server_close(&session->server);
  return result && *session->stop && !session->diagnostics->errors ? 0 : result;
}
