#include "model/telemetry/power_record.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/record.h"
#include "base/record_fields.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"

#include <jansson.h>
#include <stddef.h>
#include <string.h>

static const char *const kinds[] = {"power series", NULL};

static const struct field clock_fields[] = {
    BOOL(clock_state, synchronised),
    MAYBE(clock_state, max_error_s, 0),
    MAYBE(clock_state, est_error_s, 0),
    MAYBE(clock_state, utc_minus_monotonic_s, -ENDLESS),
    END,
};

static const struct field track_fields[] = {
    TEXT(power_track, name),
    TEXT_SINCE(power_track, index, 2),
    MAYBE(power_track, power_limit_w, 0),
    REALS(power_track, time_s, count),
    MAYBES(power_track, power_w, power_count),
    MAYBES(power_track, energy_j, energy_count),
    END,
};

static const struct field series_fields[] = {
    TEXT(power_series, tool),
    NAME(power_series, covers, serving_coverage_names),
    TEXT(power_series, host),
    OBJECT(power_series, clock, clock_fields),
    OBJECT(power_series, clock_after, clock_fields),
    LIST(power_series, tracks, count, power_track, track_fields),
    END,
};

static const struct field record_fields[] = {
    CONSTANT("record", kinds),
    TEXT(power_record, tool_version),
    TEXT(power_record, meters),
    TEXT(power_record, started),
    TEXT(power_record, finished),
    TEXT(power_record, remarks),
    OBJECT(power_record, series, series_fields),
    END,
};

static const struct record_form form = {
    .noun = "power series",
    .oldest = POWER_RECORD_OLDEST,
    .newest = POWER_RECORD_SCHEMA,
    .fields = record_fields,
};

int power_record_write(const struct power_record *record, const char *path, struct arena *arena,
                       struct diagnostics *diagnostics) {
  const char *digest;
  return record_write(&form, record, &digest, path, arena, diagnostics);
}

static const char *check_track(const struct power_track *track, struct arena *arena) {
  if (track->power_count != track->count || track->energy_count != track->count)
    return arena_printf(arena, "the lists of '%s' differ in length", track->name);
  for (size_t i = 1; i < track->count; i++)
    if (!(track->time_s[i] > track->time_s[i - 1]))
      return arena_printf(arena, "the times of '%s' are not ascending", track->name);
  return NULL;
}

static int check(const struct power_record *record, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const struct power_series *series = &record->series;
  for (size_t i = 0; i < series->count; i++) {
    const char *why = check_track(&series->tracks[i], arena);
    if (!why)
      continue;
    diagnostics_error(diagnostics, (struct place){series->source, 0, 0}, "%s", why);
    return -1;
  }
  return 0;
}

struct power_record *power_record_of_json(const json_t *object, const struct source *source,
                                          struct arena *arena, struct diagnostics *diagnostics) {
  struct power_record *record = arena_alloc(arena, sizeof *record);
  const char *digest;
  if (record_of_json(&form, object, source, record, &digest, arena, diagnostics))
    return NULL;
  record->series.source = source;
  return check(record, arena, diagnostics) ? NULL : record;
}

bool power_record_is_one(const json_t *object) {
  return record_is(&form, object);
}
