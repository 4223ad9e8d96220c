// Any text as a power file and as a server's counters: any window's energy can be computed from the
// former, and a record made from the latter is consistent.
#include "fuzz.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "base/source_file.h"
#include "model/evidence/day.h"
#include "model/records/production.h"
#include "model/telemetry/power_formats.h"
#include "model/telemetry/power_read.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/production_read.h"

#include <assert.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>

static void check_series(struct fuzz *fuzz, const struct power_series *series) {
  assert(series->count > 0);
  for (size_t i = 0; i < series->count; i++) {
    const struct power_track *track = &series->tracks[i];
    assert(track->name && track->index);
    for (size_t k = 1; k < track->count; k++)
      assert(track->time_s[k] > track->time_s[k - 1]);
  }
  struct power_series chosen;
  assert(power_series_select(series, "0,1", &chosen, &fuzz->arena) || chosen.count == 2);
  const struct power_track *first = &series->tracks[0];
  if (!first->count)
    return;
  const double start_s = first->time_s[0], end_s = first->time_s[first->count - 1];
  struct power_use use;
  if (power_series_use(series, start_s, end_s, &use, &fuzz->arena))
    return;
  assert(use.seconds > 0 && !isnan(use.energy_j));
  assert(!(power_series_shift_j(series, start_s, end_s, 0.5) < 0));
}

static void check_production(struct fuzz *fuzz, const struct source *source) {
  struct diagnostics told = {.arena = &fuzz->arena};
  struct production production;
  if (!production_read_knows(source) ||
      production_read(&source, 1, 120, &production, &fuzz->arena, &told))
    return;
  assert(production.covered_s > 0 && production.hour_count > 0);
  assert(!(production.cache_hit < 0) && !(production.cache_hit > 1));
  assert(!production.day_profile_count || production.day_profile_count == HOURS_OF_DAY);
}

static void read_telemetry(struct fuzz *fuzz, const char *path) {
  const struct power_read_options options = {0, 1.7e9, 1.7e9 + 60};
  const struct source *source = source_read(path, &fuzz->arena, &fuzz->diagnostics);
  if (!source)
    return;
  const struct power_series *series =
      power_read_source(source, &options, &fuzz->arena, &fuzz->diagnostics);
  assert((series != NULL) == (fuzz->diagnostics.errors == 0));
  if (series)
    check_series(fuzz, series);
  check_production(fuzz, source);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, read_telemetry);
}
