#include "probe/sessions/serving_table.h"

#include "model/evidence/grade.h"
#include "probe/serving/ladder.h"
#include "probe/sessions/print.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const char *serving_load_text(const struct serving_rung *rung, struct arena *arena) {
  return rung->load == LOAD_CLOSED ? arena_printf(arena, "%.0f in flight", rung->concurrency)
                                   : arena_printf(arena, "%.3g/s", rung->request_rate);
}

static void print_rung(const struct serving_rung *rung, bool metered, struct arena *arena,
                       FILE *out) {
  fprintf(out, "%-14s", serving_load_text(rung, arena));
  if (*rung->refused) {
    fputs(" refused\n", out);
    return;
  }
  print_digits(rung->output_tokens_per_s, 4, 9, arena, out);
  print_digits(rung->input_tokens_per_s, 4, 9, arena, out);
  print_digits(1e3 * rung->ttft.p50_s, 4, 9, arena, out);
  print_digits(1e3 * rung->ttft.p90_s, 4, 9, arena, out);
  print_digits(1e3 * rung->tpot.p50_s, 4, 9, arena, out);
  print_digits(1e3 * rung->tpot.p90_s, 4, 9, arena, out);
  print_number(rung->completed, "%.0f", 9, arena, out);
  print_number(rung->window_s, "%.0f", 6, arena, out);
  if (metered) {
    print_digits(rung->power.load_power_w, 4, 8, arena, out);
    print_digits(rung->power.load_power_w / rung->output_tokens_per_s, 3, 9, arena, out);
  }
  putc('\n', out);
}

static void print_heading(const struct serving_record *record, bool metered, FILE *out) {
  fputs(record->model, out);
  fprintf(out, " in %s on %d x %s, served by ", record->precision, record->accelerators,
          record->accelerator);
  print_safely(*record->engine ? record->engine : "an unnamed engine", out);
  fputs(*record->engine_version ? " " : "", out);
  print_safely(record->engine_version, out);
  fprintf(out, "\n%-14s %8s %8s %17s %17s %8s %5s\n", "", "output", "input", "TTFT, ms", "TPOT, ms",
          "", "");
  fprintf(out, "%-14s %8s %8s %8s %8s %8s %8s %8s %5s", "load", "token/s", "token/s", "P50", "P90",
          "P50", "P90", "requests", "s");
  fprintf(out, metered ? " %7s %8s\n" : "\n", "W", "J/token");
}

// A remark on rungs, preceded by those that it applies to: "1 in flight: ..."; once if it applies
// to all.
static void print_remarks(const struct serving_record *record, const char *what,
                          const char *(*of)(const struct serving_rung *, struct arena *),
                          struct arena *arena, FILE *out) {
  const char *last = "";
  for (size_t i = 0; i < record->count; i++) {
    const char *text = of(&record->rungs[i], arena);
    if (!*text || !strcmp(text, last))
      continue;
    fprintf(out, "%s, %s: ", serving_load_text(&record->rungs[i], arena), what);
    print_safely(text, out);
    putc('\n', out);
    last = text;
  }
}

static const char *refusal(const struct serving_rung *rung, struct arena *arena) {
  (void)arena;
  return rung->refused;
}

static const char *counters(const struct serving_rung *rung, struct arena *arena) {
  (void)arena;
  return *rung->refused ? "" : rung->server_counters;
}

static const char *missing_watts(const struct serving_rung *rung, struct arena *arena) {
  (void)arena;
  return *rung->refused || !isnan(rung->power.load_power_w) ? "" : rung->power.source;
}

static void print_goodput(const struct serving_record *record, FILE *out) {
  const struct serving_rung *rung = &record->rungs[0];
  const double goodput = ladder_goodput(record->rungs, record->count);
  bool arrives = false, judged = false;
  for (size_t i = 0; i < record->count; i++) {
    const bool counts = record->rungs[i].load == LOAD_POISSON && !*record->rungs[i].refused;
    arrives |= counts;
    judged |= counts && !isnan(record->rungs[i].goodput_per_s);
  }
  if (!arrives || (isnan(rung->slo_ttft_s) && isnan(rung->slo_tpot_s)))
    return;
  fputs("goodput", out);
  if (!isnan(rung->slo_ttft_s))
    fprintf(out, ", TTFT %g ms", 1e3 * rung->slo_ttft_s);
  if (!isnan(rung->slo_tpot_s))
    fprintf(out, ", TPOT %g ms", 1e3 * rung->slo_tpot_s);
  if (!judged)
    fputs(": unknown, as most requests have no TPOT\n", out);
  else if (isnan(goodput))
    fputs(": none of the rates met it\n", out);
  else
    fprintf(out, ": %.3g requests/s, the highest rate at which %.0f %% met it\n", goodput,
            100 * LADDER_ATTAINMENT);
}

void serving_table_print(const struct serving_record *record, struct arena *arena, FILE *out) {
  const bool metered = serving_record_has_watts(record);
  print_heading(record, metered, out);
  for (size_t i = 0; i < record->count; i++)
    print_rung(&record->rungs[i], metered, arena, out);
  print_remarks(record, "refused", refusal, arena, out);
  print_remarks(record, "TPOT", serving_untold, arena, out);
  print_remarks(record, "TPOT", serving_chunk_doubt, arena, out);
  if (record->grade != GRADE_MEASURED) {
    fprintf(out, "graded %s: ", grade_name(record->grade));
    print_safely(record->remarks, out);
    putc('\n', out);
  }
  print_remarks(record, "watts", missing_watts, arena, out);
  print_remarks(record, "the server's counters", counters, arena, out);
  print_goodput(record, out);
}
