#include "reports/answers/served.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/questions/prediction.h"
#include "model/records/served.h"
#include "model/records/serving.h"
#include "model/scenario/option.h"
#include "reports/faces/parts.h"

#include <math.h>
#include <stddef.h>

bool served_asked(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (scenario->options[o].served)
      return true;
  return false;
}

// ---- every load

static const char *load_words(const struct serving_rung *rung, struct arena *arena) {
  if (rung->load == LOAD_CLOSED)
    return arena_printf(arena, "%g in flight", rung->concurrency);
  if (!isnan(rung->request_rate))
    return arena_printf(arena, "%.4g/s, %s", rung->request_rate, serving_load_names[rung->load]);
  return serving_load_names[rung->load];
}

// Watts over tokens per second, for the accelerators that the meter covers.
static double joules_per_token(const struct serving_record *record,
                               const struct serving_rung *rung) {
  const struct serving_power *power = &rung->power;
  const int devices = power->devices ? power->devices : record->accelerators;
  const double all = power->covers == COVERS_ACCELERATORS ? record->accelerators : devices;
  return power->load_power_w * all / devices / rung->output_tokens_per_s;
}

static double in_hours(double seconds) {
  return seconds / rate_per_hour(1);
}

static void add_rung(struct answer_table *table, struct answer_cell name,
                     const struct serving_record *record, const struct serving_rung *rung) {
  const double per_user = rung->output_tokens_per_s / rung->concurrency;
  ANSWER_ROW(table, name, cell_words(load_words(rung, table->arena)),
             cell_value(rate_per_hour(rung->output_tokens_per_s / record->accelerators)),
             cell_value(rate_per_hour(per_user)), cell_value(in_hours(rung->ttft.p50_s)),
             cell_value(in_hours(rung->ttft.p90_s)), cell_value(in_hours(rung->ttft.p99_s)),
             cell_value(in_hours(rung->tpot.p50_s)), cell_value(in_hours(rung->tpot.p90_s)),
             cell_value(in_hours(rung->tpot.p99_s)),
             cell_value(in_hours(joules_per_token(record, rung))),
             cell_words(*rung->refused ? rung->refused : "-"));
}

static void warn_of_rungs(struct answer *answer, const char *name,
                          const struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++) {
    const char *doubts[] = {serving_untold(&record->rungs[i], answer->arena),
                            serving_chunk_doubt(&record->rungs[i], answer->arena)};
    for (size_t d = 0; d < sizeof doubts / sizeof doubts[0]; d++)
      if (*doubts[d])
        answer_warn(answer, "%s: %s: %s", name, load_words(&record->rungs[i], answer->arena),
                    doubts[d]);
    if (serving_counters_differ(&record->rungs[i]))
      answer_warn(answer, "%s: %s: the server's own counters %s", name,
                  load_words(&record->rungs[i], answer->arena), record->rungs[i].server_counters);
  }
}

static void add_rungs(struct answer_table *table, struct answer_cell name,
                      const struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++)
    add_rung(table, name, record, &record->rungs[i]);
}

// `whose`: what a row belongs to.
static struct answer_table *add_curves(struct answer *answer, struct heading whose) {
  struct answer_table *table = ANSWER_TABLE(
      answer, "loads", "At every load", whose, {"load", "Requests", NULL},
      {"throughput", "Per accelerator", "token/s"}, {"interactivity", "Per user", "token/s"},
      {"ttft_p50", "TTFT P50", "s"}, {"ttft_p90", "TTFT P90", "s"}, {"ttft_p99", "TTFT P99", "s"},
      {"tpot_p50", "TPOT P50", "ms"}, {"tpot_p90", "TPOT P90", "ms"},
      {"tpot_p99", "TPOT P99", "ms"}, {"energy_per_token", "Energy", "J/token"},
      {"refused", "Refused", NULL});
  static const size_t wide[] = {5, 8, 6, 9, 11}; // columns that a narrow terminal leaves out
  for (size_t i = 0; i < sizeof wide / sizeof wide[0]; i++)
    table->columns[wide[i]].room = ROOM_WIDE;
  table->note = "Per user is an average. Times to first token (TTFT) and per output token (TPOT) "
                "are over a rung's requests; energy is for what the meter covers. A refused rung "
                "is not used.";
  return table;
}

// ---- what met limits

static bool has_goodput(const struct serving_rung *rung) {
  return !*rung->refused && !isnan(rung->goodput_per_s) &&
         (!isnan(rung->slo_ttft_s) || !isnan(rung->slo_tpot_s));
}

static struct answer_table *add_goodputs(struct answer *answer, struct heading whose) {
  struct answer_table *table = ANSWER_TABLE(
      answer, "goodput", "Requests that met their limits", whose, {"load", "Requests", NULL},
      {"slo_ttft", "TTFT", "s"}, {"slo_tpot", "TPOT", "ms"}, {"goodput", "Goodput", "1/s"},
      {"share_met", "Share", "%"});
  table->note = "The limits are those stated when it was measured, for each request. A server's "
                "goodput is the highest of these rates of arrivals whose share is 90 % or more.";
  return table;
}

static void add_goodput(struct answer_table *table, struct answer_cell name,
                        const struct serving_record *record) {
  for (size_t i = 0; i < record->count; i++) {
    const struct serving_rung *rung = &record->rungs[i];
    if (has_goodput(rung))
      ANSWER_ROW(table, name, cell_words(load_words(rung, table->arena)),
                 cell_value(in_hours(rung->slo_ttft_s)), cell_value(in_hours(rung->slo_tpot_s)),
                 cell_value(rate_per_hour(rung->goodput_per_s)),
                 cell_value(rung->goodput_per_s * rung->window_s / rung->completed));
  }
}

// A table of nothing is not shown.
static void drop_empty(struct answer *answer, const struct answer_table *table) {
  if (!table->row_count)
    answer->table_count--;
}

// If several options share a record, the first shows it.
static bool is_shown(const struct scenario *scenario, size_t before,
                     const struct serving_record *record) {
  for (size_t o = 0; o < before; o++)
    if (scenario->options[o].served && scenario->options[o].served->rungs->record == record)
      return true;
  return false;
}

static void add_options(const struct scenario *scenario, struct answer *answer) {
  struct answer_table *table = add_curves(answer, (struct heading){"option", "Option", NULL});
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (!option->served || is_shown(scenario, o, option->served->rungs->record))
      continue;
    add_rungs(table, cell_option(option), option->served->rungs->record);
    warn_of_rungs(answer, option->label, option->served->rungs->record);
  }
  table->note = arena_printf(
      answer->arena, "All rungs of each record, listed under the first option that uses it. %s",
      table->note);
  table = add_goodputs(answer, (struct heading){"option", "Option", NULL});
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (option->served && !is_shown(scenario, o, option->served->rungs->record))
      add_goodput(table, cell_option(option), option->served->rungs->record);
  }
  drop_empty(answer, table);
}

struct answer served_records_answer(const struct records *records, struct arena *arena) {
  struct answer answer = answer_new("served", "records", NULL, NULL, arena);
  struct answer_table *table = add_curves(&answer, (struct heading){"record", "Record", NULL});
  answer.schema = 1;
  answer.sentence = "";
  size_t count = 0;
  for (size_t i = 0; i < records->serving_count; i++) {
    const struct serving_record *record = records->servings[i];
    const char *name = source_file_name(record->path);
    if (record->basis != BASIS_SERVING)
      continue;
    add_rungs(table, cell_words(name), record);
    warn_of_rungs(&answer, name, record);
    const bool is_measured = record->grade == GRADE_MEASURED;
    answer.sentence = arena_printf(
        arena, "%s%s%s: %s in %s on %d x %s, %s by %s on %s%s%s.", answer.sentence,
        count++ ? " " : "", name, record->model, record->precision, record->accelerators,
        record->accelerator, is_measured ? "measured" : "run", record->tool, record->date,
        is_measured ? "" : ", graded ", is_measured ? "" : grade_name(record->grade));
  }
  struct answer_table *goodput = add_goodputs(&answer, (struct heading){"record", "Record", NULL});
  for (size_t i = 0; i < records->serving_count; i++)
    if (records->servings[i]->basis == BASIS_SERVING)
      add_goodput(goodput, cell_words(source_file_name(records->servings[i]->path)),
                  records->servings[i]);
  if (count == 1) // the sentence names it
    for (size_t t = 0; t < answer.table_count; t++)
      answer.tables[t].columns[0].faces = FACE_CSV | FACE_JSON;
  drop_empty(&answer, goodput);
  return answer;
}

// ---- compared with decode and prefill

enum { AT_IN = 1, AT_OUT, AT_DECODE, AT_PREFILL, AT_PREDICTED, AT_SERVED };

static struct answer_cell given(double value, const char *unit, struct arena *arena) {
  return cell_live(
      value, arena_printf(arena, "[=%s]", quantity_text(value, unit_known(unit, arena), arena)));
}

static void add_prediction(struct answer_table *table, const struct option *option,
                           const struct prediction *prediction) {
  struct arena *arena = table->arena;
  const int r = (int)table->row_count;
  const double predicted = prediction->predicted;
  ANSWER_ROW(table, cell_option(option), given(prediction->input_tokens, "token", arena),
             given(prediction->output_tokens, "token", arena),
             given(rate_per_hour(prediction->decode), "token/s", arena),
             given(rate_per_hour(prediction->prefill), "token/s", arena),
             cell_live(rate_per_hour(predicted),
                       arena_printf(arena, "[@%d,%d]/([@%d,%d]/[@%d,%d]+[@%d,%d]/[@%d,%d])", r,
                                    AT_OUT, r, AT_IN, r, AT_PREFILL, r, AT_OUT, r, AT_DECODE)),
             given(rate_per_hour(prediction->served), "token/s", arena),
             cell_live(prediction->served / predicted,
                       arena_printf(arena, "[@%d,%d]/[@%d,%d]", r, AT_SERVED, r, AT_PREDICTED)));
}

static const char *words_of(const struct option *option, const struct prediction *prediction,
                            struct arena *arena) {
  if (prediction->why)
    return arena_printf(arena, "%s: the server cannot be compared: %s.", option->label,
                        prediction->why);
  return arena_printf(arena,
                      "%s: decode and prefill predict %.4g token/s per accelerator; the server "
                      "delivered %.4g, %s of that.",
                      option->label, prediction->predicted, prediction->served,
                      percent_words(prediction->served / prediction->predicted, arena));
}

static void add_predictions(const struct scenario *scenario, struct answer *answer,
                            struct arena *arena) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "prediction", "Compared with decode and prefill",
                   {"option", "Option", NULL}, {"input_tokens", "In", "token"},
                   {"output_tokens", "Out", "token"}, {"decode", "Decode", "token/s"},
                   {"prefill", "Prefill", "token/s"}, {"predicted", "Predicted", "token/s"},
                   {"served", "Served", "token/s"}, {"share", "Of that", "%"});
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    if (!option->served)
      continue;
    const struct prediction prediction = prediction_of(scenario, option, arena);
    answer->sentence = arena_printf(arena, "%s%s%s", answer->sentence, *answer->sentence ? " " : "",
                                    words_of(option, &prediction, arena));
    if (prediction.why)
      continue;
    add_prediction(table, option, &prediction);
    answer_reason(answer, "%s: decoding is of %s.", option->label, prediction.decode_source);
    answer_reason(answer, "%s: prefill is of %s.", option->label, prediction.prefill_source);
  }
  table->note = "Predicted = out / (in / prefill + out / decode), per accelerator: as if a server "
                "did only these two, one after the other.";
  drop_empty(answer, table);
}

int answer_served(const struct scenario *scenario, const char *only, struct answers *answers,
                  struct arena *arena, struct diagnostics *diagnostics) {
  struct answer answer =
      answer_new("served", "options", "Measured server performance", scenario, arena);
  (void)only;
  (void)diagnostics;
  answer.sentence = "";
  add_options(scenario, &answer);
  add_predictions(scenario, &answer, arena);
  answers_add(answers, answer);
  return 0;
}
