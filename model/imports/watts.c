#include "model/imports/watts.h"

#include "base/csv.h"
#include "base/source.h"
#include "model/imports/imported.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_formats.h"
#include "model/telemetry/power_join.h"
#include "model/telemetry/power_read.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"

#include <math.h>
#include <stddef.h>
#include <string.h>

struct joining_watts {
  const struct power_series *series;
  struct imported_window mlperf;
  double clock_offset_s; // NAN: not stated
  struct arena *arena;
};

// ---- what is typed

static int read_offsets(const struct watts_statement *statement, double *utc_offset_s,
                        double *clock_offset_s, struct diagnostics *diagnostics) {
  *utc_offset_s = *clock_offset_s = NAN;
  if (statement->utc_offset && !utc_offset_parse(statement->utc_offset, utc_offset_s)) {
    diagnostics_error(diagnostics, nowhere, "--utc-offset: expected +02:00 or the like, not '%s'",
                      statement->utc_offset);
    return -1;
  }
  if (!statement->clock_offset ||
      (csv_number(statement->clock_offset, clock_offset_s) && *clock_offset_s >= 0))
    return 0;
  diagnostics_error(diagnostics, nowhere, "--clock-offset: expected seconds from 0, not '%s'",
                    statement->clock_offset);
  return -1;
}

// ---- windows

static bool is_known(const struct imported_window *window) {
  return !isnan(window->start_s) && !isnan(window->end_s);
}

static struct imported_window mlperf_window(const struct imported *list, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (is_known(&list[i].power_window))
      return list[i].power_window;
  return (struct imported_window){NAN, NAN};
}

// The span from the first rung's start to the last one's end, to resolve ambiguous dates.
static struct imported_window span_of(const struct import *import, struct imported_window span) {
  for (size_t i = 0; i < import->count; i++)
    for (size_t r = 0; r < import->records[i].record.count; r++) {
      const struct imported_window *window = import->records[i].origins[r].window;
      span.start_s = fmin(span.start_s, window->start_s);
      span.end_s = fmax(span.end_s, window->end_s);
    }
  return span;
}

// Why the rung's times cannot be the window of its rates, or NULL. *window: those times.
static const char *window_of(const struct joining_watts *joining, const struct serving_rung *rung,
                             const struct imported_window *stated, struct imported_window *window) {
  *window = *stated;
  if (isnan(window->end_s))
    window->end_s = window->start_s + rung->window_s;
  if (isnan(window->start_s))
    *window = joining->mlperf;
  if (!is_known(window))
    return "the file of rates does not state in UTC when they were measured";
  const double seconds = window->end_s - window->start_s;
  if (is_known(stated) && fabs(seconds - rung->window_s) > 1 + 0.02 * rung->window_s)
    return arena_printf(joining->arena,
                        "the file's times are %.6g s apart, but its rates cover %.6g s", seconds,
                        rung->window_s);
  return NULL;
}

static struct serving_power watts_of(const struct joining_watts *joining,
                                     const struct serving_record *record,
                                     const struct serving_rung *rung,
                                     const struct imported_window *stated) {
  struct imported_window window;
  const char *why = window_of(joining, rung, stated, &window);
  if (why)
    return power_join_none(why, joining->arena);
  const bool is_mlperf = isnan(stated->start_s) && isnan(joining->clock_offset_s);
  const struct power_join join = {.series = joining->series,
                                  .start_s = window.start_s,
                                  .end_s = window.end_s,
                                  .idle_start_s = NAN,
                                  .idle_end_s = NAN,
                                  .accelerators = record->accelerators,
                                  .stated_offset_s =
                                      is_mlperf ? MLPERF_CLOCK_S : joining->clock_offset_s,
                                  .clock = clock_state_unknown,
                                  .clock_after = clock_state_unknown};
  return power_join(&join, joining->arena);
}

// ---- all rungs

// Notes for the user which devices were meant by their numbers, and how many there are.
static void note_devices(const struct power_series *series, struct texts *notes,
                         struct arena *arena) {
  struct texts devices = {0};
  for (size_t i = 0; i < series->count; i++) {
    const struct power_track *track = &series->tracks[i];
    if (*track->index && strcmp(track->index, track->name) != 0)
      texts_add(&devices, arena, "%s (%s)", track->index, track->name);
    else
      texts_add(&devices, arena, "%s", track->name);
  }
  if (series->covers != COVERS_NODE)
    texts_add(notes, arena, "watts of %zu device%s: %s", series->count,
              series->count == 1 ? "" : "s", texts_joined(&devices, arena));
}

static size_t join_record(const struct joining_watts *joining, struct import_record *made,
                          struct texts *doubts) {
  size_t found = 0;
  for (size_t i = 0; i < made->record.count; i++) {
    struct serving_rung *rung = &made->record.rungs[i];
    rung->power = watts_of(joining, &made->record, rung, made->origins[i].window);
    if (!isnan(rung->power.load_power_w))
      found++;
    else
      texts_add(doubts, joining->arena, "%s: no watts for its rung of %.6g output tokens/s: %s",
                made->origins[i].imported->name, rung->output_tokens_per_s,
                rung->power.source + sizeof "none: " - 1);
  }
  return found;
}

static const struct power_series *read_series(const struct import *import,
                                              const struct joining_watts *joining,
                                              const struct watts_statement *statement,
                                              double utc_offset_s,
                                              struct diagnostics *diagnostics) {
  const struct imported_window span = span_of(import, joining->mlperf);
  const struct power_read_options options = {
      .utc_offset_s = utc_offset_s, .window_start_s = span.start_s, .window_end_s = span.end_s};
  struct power_series *series = power_read(statement->path, &options, joining->arena, diagnostics);
  struct power_series *selected = arena_alloc(joining->arena, sizeof *selected);
  if (!series || !statement->devices)
    return series;
  const char *why = power_series_select(series, statement->devices, selected, joining->arena);
  if (!why)
    return selected;
  diagnostics_error(diagnostics, (struct place){series->source, 0, 0}, "--devices: %s", why);
  return NULL;
}

int watts_join(struct import *import, const struct imported *list, size_t count,
               const struct watts_statement *statement, struct texts *doubts, struct arena *arena,
               struct diagnostics *diagnostics) {
  struct joining_watts joining = {.mlperf = mlperf_window(list, count), .arena = arena};
  double utc_offset_s;
  size_t found = 0;
  if (read_offsets(statement, &utc_offset_s, &joining.clock_offset_s, diagnostics))
    return -1;
  joining.series = read_series(import, &joining, statement, utc_offset_s, diagnostics);
  if (!joining.series)
    return -1;
  for (size_t i = 0; i < import->count; i++)
    found += join_record(&joining, &import->records[i], doubts);
  if (found) {
    note_devices(joining.series, &import->notes, arena);
    return 0;
  }
  diagnostics_error(diagnostics, (struct place){joining.series->source, 0, 0},
                    "no watts for any rung: %s",
                    doubts->count ? doubts->list[0] : "none is usable");
  return -1;
}
