#include "reports/records/production.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/units.h"
#include "model/evidence/day.h"
#include "model/records/production.h"
#include "reports/faces/answer.h"
#include "reports/faces/parts.h"

#include <stddef.h>

static void add_summary(const struct production *production, struct answer *answer) {
  struct answer_table *table = ANSWER_TABLE(
      answer, "production", "What was served", {"engine", "Engine", NULL},
      {"hours", "Covered", "h"}, {"input_tokens_per_s", "Input", "token/s"},
      {"output_tokens_per_s", "Output", "token/s"}, {"peak_over_mean", "Peak over mean", "-"},
      {"cache_hit", "Cache hits", "%"}, {"running", "Running", "request"});
  ANSWER_ROW(table, cell_words(production->engine),
             cell_value(hours_from_seconds(production->covered_s)),
             cell_value(rate_per_hour(production->input_tokens / production->covered_s)),
             cell_value(rate_per_hour(production->output_tokens_per_s)),
             cell_value(production->peak_over_mean), cell_value(production->cache_hit),
             cell_value(production->running));
  table->note = "Output is the mean over the time covered; the peak is the busiest whole hour.";
}

static void add_profile(const struct production *production, struct answer *answer) {
  if (!production->day_profile_count)
    return;
  struct answer_table *table = ANSWER_TABLE(answer, "day_profile", "Daily profile",
                                            {"hour", "Hour", NULL}, {"share", "Share", "%"});
  for (int hour = 0; hour < HOURS_OF_DAY; hour++)
    ANSWER_ROW(table, cell_words(arena_printf(answer->arena, "%02d:00", hour)),
               cell_value(production->day_profile[hour]));
  table->note =
      arena_printf(answer->arena, "Shares of a day's output tokens, in hours of UTC%+03d:%02d.",
                   production->utc_offset_min / 60,
                   production->utc_offset_min % 60 < 0 ? -(production->utc_offset_min % 60)
                                                       : production->utc_offset_min % 60);
}

static void add_hours(const struct production *production, struct answer *answer) {
  struct answer_table *table =
      ANSWER_TABLE(answer, "hours", NULL, {"start", "Hour", NULL}, {"covered", "Covered", "h"},
                   {"input_tokens", "Input", "token"}, {"output_tokens", "Output", "token"});
  table->faces = FACE_CSV | FACE_JSON;
  for (size_t h = 0; h < production->hour_count; h++) {
    const struct production_hour *hour = &production->hours[h];
    ANSWER_ROW(table, cell_words(hour->start), cell_value(hours_from_seconds(hour->covered_s)),
               cell_value(hour->input_tokens), cell_value(hour->output_tokens));
  }
}

struct answer production_answer(const struct production *production, const struct texts *notes,
                                struct arena *arena) {
  struct answer answer = answer_new("import", "production", NULL, NULL, arena);
  answer.schema = 1;
  answer.sentence =
      arena_printf(arena, "%.6g output tokens per second over %.3g days, by %s's own counters.",
                   production->output_tokens_per_s, production->covered_s / PRODUCTION_DAY_S,
                   production->engine);
  add_summary(production, &answer);
  add_profile(production, &answer);
  add_hours(production, &answer);
  answer_note(&answer, "Record: ", "%s", production->path);
  for (size_t i = 0; i < notes->count; i++)
    answer_note(&answer, "", "%s", notes->list[i]);
  if (production->resets)
    answer_note(
        &answer, "Resets: ",
        "counters were reset %d times; counts since the last reading before each reset are lost",
        production->resets);
  if (production->covered_s < PRODUCTION_DAY_S)
    answer_warn(&answer, "%.1f hours are less than a day: no evidence of utilization",
                hours_from_seconds(production->covered_s));
  return answer;
}
