#include "probe/sessions/serving_check.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "probe/options/serving_options.h"
#include "probe/serving/load.h"
#include "probe/serving/rung.h"
#include "probe/serving/server.h"
#include "probe/sessions/print.h"
#include "probe/sessions/serving_table.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const struct serving_rung *best_rung(const struct serving_record *record) {
  const struct serving_rung *best = NULL;
  for (size_t i = 0; i < record->count; i++) {
    const struct serving_rung *rung = &record->rungs[i];
    if (rung->load == LOAD_CLOSED && !*rung->refused &&
        (!best || rung->output_tokens_per_s > best->output_tokens_per_s))
      best = rung;
  }
  return best;
}

static struct serving_options options_of(const struct serving_record *record,
                                         const struct serving_rung *rung) {
  return (struct serving_options){
      .url = record->url,
      .accelerator = record->accelerator,
      .accelerators = record->accelerators,
      .precision = record->precision,
      .model = record->model,
      .served_model = record->served_model,
      .input_tokens = (int)rung->asked_input_tokens,
      .output_tokens = (int)rung->asked_output_tokens,
      .slo = {rung->slo_ttft_s, rung->slo_tpot_s},
      .window_s = fmin(rung->window_s, STEADY_WINDOW_S),
      .limit_s = USUAL_LIMIT_S,
  };
}

static void warn_of_engine(const struct serving_session *session,
                           const struct serving_record *record) {
  if (strcmp(session->engine.name, record->engine) != 0 ||
      strcmp(session->engine.version, record->engine_version) != 0)
    diagnostics_warning(session->diagnostics, (struct place){record->source, 0, 0},
                        "measured with %s %s, served now by %s %s", record->engine,
                        record->engine_version, session->engine.name, session->engine.version);
}

static void print_line(const char *what, double recorded, double now, FILE *out) {
  if (isnan(recorded) || isnan(now))
    return;
  fprintf(out, "  %-16s %10.4g %10.4g %+9.2f %%", what, recorded, now, 100 * (now / recorded - 1));
}

static bool print_comparison(const struct serving_rung *recorded, const struct serving_rung *now,
                             double tolerance, FILE *out) {
  const double change = now->output_tokens_per_s / recorded->output_tokens_per_s - 1;
  const bool agrees = fabs(change) <= tolerance;
  fprintf(out, "  %-16s %10s %10s %11s\n", "", "recorded", "now", "change");
  print_line("output token/s", recorded->output_tokens_per_s, now->output_tokens_per_s, out);
  fputs(agrees ? "  within tolerance\n" : "  OUT OF TOLERANCE\n", out);
  print_line("TTFT P50, ms", 1e3 * recorded->ttft.p50_s, 1e3 * now->ttft.p50_s, out);
  fputs("\n", out);
  print_line("TPOT P50, ms", 1e3 * recorded->tpot.p50_s, 1e3 * now->tpot.p50_s, out);
  fputs("\n", out);
  return agrees;
}

static enum recheck_outcome compare(struct serving_session *session,
                                    const struct serving_rung *recorded, double tolerance,
                                    FILE *out) {
  struct serving_rung now;
  double chunk_tokens;
  const struct rung_order order =
      serving_session_order(session, LOAD_CLOSED, (size_t)recorded->concurrency, NAN);
  const enum rung_end end =
      rung_run(&order, &now, &chunk_tokens, session->arena, session->diagnostics);
  if (end == RUNG_FAILED || end == RUNG_STOPPED)
    return end == RUNG_FAILED ? RECHECK_FAILED : RECHECK_STOPPED;
  if (session->progress)
    session->progress(""); // what is printed starts on a line of its own
  fprintf(out, "%s served at ", session->record->model);
  print_safely(session->server.url, out);
  fprintf(out, ", %s, tolerance %g %%\n", serving_load_text(recorded, session->arena),
          100 * tolerance);
  if (!*now.refused)
    return print_comparison(recorded, &now, tolerance, out) ? RECHECK_AGREES : RECHECK_DIFFERS;
  fputs("  refused: ", out);
  print_safely(now.refused, out);
  putc('\n', out);
  return RECHECK_DIFFERS;
}

enum recheck_outcome serving_recheck(struct serving_session *session,
                                     const struct serving_record *record, double tolerance,
                                     FILE *out) {
  const struct serving_rung *rung = best_rung(record);
  const struct place place = {record->source, 0, 0};
  if (!rung || !*record->url || isnan(rung->asked_input_tokens) ||
      isnan(rung->asked_output_tokens)) {
    diagnostics_error(session->diagnostics, place,
                      !*record->url ? "the record names no server to measure again"
                                    : "the record has no result to check");
    return RECHECK_FAILED;
  }
  const struct serving_options options = options_of(record, rung);
  enum recheck_outcome outcome = RECHECK_FAILED;
  session->options = &options;
  if (!serving_session_open(session)) {
    warn_of_engine(session, record);
    if (!serving_session_rehearse(session))
      outcome = compare(session, rung, tolerance, out);
  }
  server_close(&session->server);
  session->options = NULL; // they end here
  return outcome == RECHECK_FAILED && *session->stop && !session->diagnostics->errors
             ? RECHECK_STOPPED
             : outcome;
}
