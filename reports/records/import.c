#include "reports/records/import.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/records/serving.h"
#include "reports/faces/parts.h"

#include <math.h>
#include <stddef.h>

// Energy of everything that the meter covers, per output token.
static double joules_per_token(const struct serving_rung *rung) {
  return rung->power.load_power_w / rung->output_tokens_per_s;
}

// "concurrency 64", "2.5 requests/s", "all at once"
static const char *load_words(const struct serving_rung *rung, struct arena *arena) {
  if (rung->load == LOAD_STATIC)
    return arena_printf(arena, "batch %.6g", rung->concurrency);
  if (!isnan(rung->concurrency))
    return arena_printf(arena, "concurrency %.6g", rung->concurrency);
  return isnan(rung->request_rate) ? serving_load_names[rung->load]
                                   : arena_printf(arena, "%.6g requests/s", rung->request_rate);
}

static const struct {
  struct heading heading;
  unsigned faces; // 0: all
} columns[] = {{{"what", "Load", NULL}, FACE_TERMINAL},
               {{"file", "File", NULL}, FACE_CSV | FACE_JSON},
               {{"load", "Load", NULL}, FACE_CSV | FACE_JSON},
               {{"concurrency", "Concurrency", "request"}, FACE_CSV | FACE_JSON},
               {{"request_rate", "Rate", "1/s"}, FACE_CSV | FACE_JSON},
               {{"input_tokens", "In", "token"}, 0},
               {{"output_tokens", "Out", "token"}, 0},
               {{"input_tokens_per_s", "Input", "token/s"}, 0},
               {{"output_tokens_per_s", "Output", "token/s"}, 0},
               {{"ttft", "TTFT", "s"}, 0},
               {{"tpot", "TPOT", "s"}, 0},
               {{"load_power", "Power", "W"}, 0},
               {{"energy_per_output_token", "Energy", "J/token"}, 0}};

enum { COLUMNS = sizeof columns / sizeof columns[0], WATTS = COLUMNS - 2 };

static void add_rungs(const struct import_record *made, struct answer *answer) {
  const struct serving_record *record = &made->record;
  struct heading headings[COLUMNS];
  for (size_t i = 0; i < COLUMNS; i++)
    headings[i] = columns[i].heading;
  struct answer_table *table =
      answer_add_table(answer, "rungs",
                       arena_printf(answer->arena, "%s in %s on %d x %s", record->model,
                                    record->precision, record->accelerators, record->accelerator),
                       headings, COLUMNS);
  for (size_t i = 0; i < COLUMNS; i++)
    table->columns[i].faces =
        i < WATTS || serving_record_has_watts(record) ? columns[i].faces : FACE_CSV | FACE_JSON;
  for (size_t i = 0; i < record->count; i++) {
    const struct serving_rung *rung = &record->rungs[i];
    if (*rung->refused)
      continue;
    ANSWER_ROW(table, cell_words(load_words(rung, answer->arena)),
               cell_words(source_file_name(made->origins[i].imported->source->name)),
               cell_words(serving_load_names[rung->load]), cell_value(rung->concurrency),
               cell_value(rate_per_hour(rung->request_rate)), cell_value(rung->input_tokens),
               cell_value(rung->output_tokens), cell_value(rate_per_hour(rung->input_tokens_per_s)),
               cell_value(rate_per_hour(rung->output_tokens_per_s)),
               cell_value(hours_from_seconds(rung->ttft.mean_s)),
               cell_value(hours_from_seconds(rung->tpot.mean_s)),
               cell_value(rung->power.load_power_w),
               cell_value(hours_from_seconds(joules_per_token(rung))));
  }
  table->note = "TTFT and TPOT are means.";
}

static size_t add_refused(const struct import *import, struct answer *answer) {
  struct answer_table *table = NULL;
  for (size_t i = 0; i < import->count; i++)
    for (size_t r = 0; r < import->records[i].record.count; r++) {
      const struct import_record *made = &import->records[i];
      const struct serving_rung *rung = &made->record.rungs[r];
      if (!*rung->refused)
        continue;
      if (!table)
        table = ANSWER_TABLE(answer, "refused", "Refused", {"file", "File", NULL},
                             {"concurrency", "Conc.", "request"}, {"why", "Why", NULL});
      ANSWER_ROW(table, cell_words(source_file_name(made->origins[r].imported->source->name)),
                 cell_value(rung->concurrency), cell_words(rung->refused));
    }
  return table ? table->row_count : 0;
}

static void add_files(const struct import *import, struct answer *answer) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "records", NULL, {"path", "Record", NULL}, {"tool", "Tool", NULL},
                   {"basis", "Basis", NULL}, {"grade", "Grade", NULL}, {"digest", "Digest", NULL});
  table->faces = FACE_CSV | FACE_JSON;
  for (size_t i = 0; i < import->count; i++) {
    const struct serving_record *record = &import->records[i].record;
    ANSWER_ROW(table, cell_words(record->path), cell_words(record->tool),
               cell_words(record->basis == BASIS_SERVING ? "serving" : "decode"),
               cell_words(grade_name(record->grade)), cell_words(record->digest));
  }
}

// "measured by vLLM bench serve, in fp8"; a publication of others also has its grade.
static const char *how(const struct serving_record *record, struct arena *arena) {
  const char *version =
      *record->tool_version ? arena_printf(arena, " %s", record->tool_version) : "";
  const char *grade = record->grade == GRADE_MEASURED
                          ? ""
                          : arena_printf(arena, ", graded %s", grade_name(record->grade));
  return arena_printf(arena, "measured by %s%s, in %s%s", record->tool, version, record->precision,
                      grade);
}

static void add_notes(const struct import *import, struct answer *answer) {
  const struct serving_record *record = &import->records[0].record;
  for (size_t i = 0; i < import->count; i++)
    answer_note(answer, "Record: ", "%s", import->records[i].record.path);
  for (size_t i = 0; i < import->notes.count; i++)
    answer_note(answer, "", "%s", import->notes.list[i]);
  if (import->unsaid.count)
    answer_note(answer, "Not stated: ", "%s", texts_joined(&import->unsaid, answer->arena));
  if (*record->remarks)
    answer_note(answer, "Remarks: ", "%s", record->remarks);
}

// The shortest window of pertoken's own measurements; another tool's run may be shorter.
enum { SHORT_WINDOW_S = 60 };

static void warn_of_short_windows(const struct import *import, struct answer *answer) {
  size_t count = 0;
  for (size_t i = 0; i < import->count; i++)
    for (size_t r = 0; r < import->records[i].record.count; r++)
      count += import->records[i].record.basis == BASIS_SERVING &&
               import->records[i].record.rungs[r].window_s < SHORT_WINDOW_S;
  if (count)
    answer_warn(answer, "%zu rung%s under %d s: too short for a steady state", count,
                count > 1 ? "s are" : " is", SHORT_WINDOW_S);
}

static void warn_of_chunks(const struct import *import, struct answer *answer) {
  for (size_t i = 0; i < import->count; i++)
    for (size_t r = 0; r < import->records[i].record.count; r++) {
      const struct serving_rung *rung = &import->records[i].record.rungs[r];
      const char *doubt = serving_chunk_doubt(rung, answer->arena);
      if (*doubt)
        answer_warn(answer, "%s: %s", load_words(rung, answer->arena), doubt);
    }
}

struct answer import_answer(const struct import *import, struct arena *arena) {
  struct answer answer = answer_new("import", "import", NULL, NULL, arena);
  const struct serving_record *record = &import->records[0].record;
  size_t rungs = 0;
  answer.schema = 1;
  for (size_t i = 0; i < import->count; i++) {
    rungs += import->records[i].record.count;
    add_rungs(&import->records[i], &answer);
  }
  const size_t refused = add_refused(import, &answer);
  add_files(import, &answer);
  answer.sentence = arena_printf(arena, "%zu rung%s imported, %s%s.", rungs - refused,
                                 rungs - refused == 1 ? "" : "s", how(record, arena),
                                 refused ? arena_printf(arena, "; %zu refused", refused) : "");
  add_notes(import, &answer);
  warn_of_short_windows(import, &answer);
  warn_of_chunks(import, &answer);
  for (size_t i = 0; i < import->doubts.count; i++)
    answer_warn(&answer, "%s", import->doubts.list[i]);
  return answer;
}
