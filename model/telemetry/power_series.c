#include "model/telemetry/power_series.h"

#include "base/arena.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

static const double agreement = 0.05;

// ---- building

struct power_track *power_series_track(const struct power_series *series, const char *name) {
  for (size_t i = 0; i < series->count; i++)
    if (!strcmp(series->tracks[i].name, name))
      return &series->tracks[i];
  return NULL;
}

static struct power_track *add_track(struct power_series *series, const char *name,
                                     struct arena *arena) {
  series->tracks = arena_room(arena, series->tracks, series->count, sizeof *series->tracks);
  struct power_track *track = &series->tracks[series->count++];
  *track = (struct power_track){.name = arena_copy(arena, name), .index = "", .power_limit_w = NAN};
  return track;
}

const char *power_series_add(struct power_series *series, const char *name, double time_s,
                             double power_w, double energy_j, struct arena *arena) {
  struct power_track *track = power_series_track(series, name);
  if (!track && series->count == MAX_POWER_TRACKS)
    return arena_printf(arena, "more than %d devices", MAX_POWER_TRACKS);
  if (!track)
    track = add_track(series, name, arena);
  const size_t n = track->count;
  if (n && time_s == track->time_s[n - 1])
    return NULL;
  if (n && time_s < track->time_s[n - 1])
    return arena_printf(arena, "the time of '%s' goes back by %.3f s", name,
                        track->time_s[n - 1] - time_s);
  track->time_s = arena_room(arena, track->time_s, n, sizeof *track->time_s);
  track->power_w = arena_room(arena, track->power_w, n, sizeof *track->power_w);
  track->energy_j = arena_room(arena, track->energy_j, n, sizeof *track->energy_j);
  track->time_s[n] = time_s;
  track->power_w[n] = power_w;
  track->energy_j[n] = energy_j;
  track->count = track->power_count = track->energy_count = n + 1;
  return NULL;
}

// ---- the energy of a window

struct window {
  double start_s, end_s;
  struct arena *arena;
};

// Neighboring readings of one quantity.
struct step {
  double from_s, to_s, from, to;
};

static double at(const struct step *step, double time_s) {
  return step->from +
         (step->to - step->from) * (time_s - step->from_s) / (step->to_s - step->from_s);
}

// The first reading with a value, from `i` on; the count if there is none.
static size_t next_told(const struct power_track *track, const double *values, size_t i) {
  while (i < track->count && isnan(values[i]))
    i++;
  return i;
}

static double watts_part(const struct step *step, double from_s, double to_s) {
  return (to_s - from_s) * (at(step, from_s) + at(step, to_s)) / 2;
}

static double counted_part(const struct step *step, double from_s, double to_s) {
  return at(step, to_s) - at(step, from_s);
}

static const char *refuse_step(const struct power_track *track, const struct step *step,
                               bool is_counter, struct arena *arena) {
  if (step->to_s - step->from_s > POWER_SERIES_GAP_S)
    return arena_printf(arena,
                        "%s has no reading for %.1f s of the window, and %g s may be missing",
                        track->name, step->to_s - step->from_s, POWER_SERIES_GAP_S);
  if (is_counter && step->to < step->from)
    return arena_printf(arena, "the energy counter of %s went backwards within the window",
                        track->name);
  return NULL;
}

// The scatter of the steps between the readings of the window, and those next to it.
struct scatter {
  double squares; // of the differences
  size_t steps;
};

// The variance of the mean of readings. That of a reading is half the mean square of successive
// differences (von Neumann), which a slow rise of the watts does not add to.
static double scatter_of_mean(const struct scatter *scatter) {
  const double steps = (double)scatter->steps;
  return scatter->squares / 2 / steps / (steps + 1);
}

// Adds up the readings within the window. *joules NAN: no reading has a value.
static const char *sum(const struct power_track *track, const struct window *window,
                       bool is_counter, double *joules, struct scatter *scatter) {
  const double *values = is_counter ? track->energy_j : track->power_w;
  size_t i = next_told(track, values, 0);
  *joules = NAN;
  if (i == track->count)
    return NULL;
  *joules = 0;
  if (track->time_s[i] > window->start_s)
    return arena_printf(window->arena, "the readings of %s begin %.1f s after the window",
                        track->name, track->time_s[i] - window->start_s);
  double end_s = track->time_s[i];
  for (size_t j = next_told(track, values, i + 1); j < track->count && end_s < window->end_s;
       i = j, j = next_told(track, values, j + 1)) {
    const struct step step = {track->time_s[i], track->time_s[j], values[i], values[j]};
    end_s = step.to_s;
    if (step.to_s <= window->start_s)
      continue;
    const char *why = refuse_step(track, &step, is_counter, window->arena);
    if (why)
      return why;
    scatter->squares += (step.to - step.from) * (step.to - step.from);
    scatter->steps++;
    const double from_s = fmax(step.from_s, window->start_s), to_s = fmin(end_s, window->end_s);
    *joules += (is_counter ? counted_part : watts_part)(&step, from_s, to_s);
  }
  if (end_s < window->end_s)
    return arena_printf(window->arena, "the readings of %s end %.1f s before the window does",
                        track->name, window->end_s - end_s);
  return NULL;
}

// Sums over the tracks.
struct totals {
  double joules;
  double both_counted, both_integrated; // of the tracks that have both
  double variance;                      // of the mean watts of the tracks that are integrated
  bool counted, integrated;
};

static const char *add_use(const struct power_track *track, const struct window *window,
                           struct totals *totals, struct power_use *use) {
  double counted, integrated;
  struct scatter watts = {0}, ignored = {0};
  const char *why = sum(track, window, true, &counted, &ignored);
  if (!why)
    why = sum(track, window, false, &integrated, &watts);
  if (why)
    return why;
  if (isnan(counted) && isnan(integrated))
    return arena_printf(window->arena, "%s reports no watts", track->name);
  if (!isnan(counted) && !isnan(integrated)) {
    totals->both_counted += counted;
    totals->both_integrated += integrated;
  }
  const double joules = isnan(counted) ? integrated : counted;
  totals->counted = totals->counted || !isnan(counted);
  totals->integrated = totals->integrated || isnan(counted);
  totals->variance += isnan(counted) ? scatter_of_mean(&watts) : 0;
  totals->joules += joules;
  const double power_w = joules / (window->end_s - window->start_s);
  if (!(power_w >= use->quietest_w)) {
    use->quietest_w = power_w;
    use->quietest = track->name;
  }
  return NULL;
}

const char *power_series_use(const struct power_series *series, double start_s, double end_s,
                             struct power_use *out, struct arena *arena) {
  const struct window window = {start_s, end_s, arena};
  struct totals totals = {0};
  struct power_use use = {.seconds = end_s - start_s, .quietest_w = NAN};
  if (!(end_s > start_s))
    return "the window has no length";
  if (!series->count)
    return "there are no readings";
  for (size_t i = 0; i < series->count; i++) {
    const char *why = add_use(&series->tracks[i], &window, &totals, &use);
    if (why)
      return why;
  }
  const double apart = fabs(totals.both_counted - totals.both_integrated);
  if (apart > agreement * totals.both_counted)
    return arena_printf(
        arena, "the energy counters and the watts disagree: %.4g J and %.4g J; the limit is %g %%",
        totals.both_counted, totals.both_integrated, 100 * agreement);
  use.energy_j = totals.joules;
  use.power_w = totals.joules / use.seconds;
  use.scatter = sqrt(totals.variance) / use.power_w;
  use.method = !totals.counted     ? "watts integrated"
               : totals.integrated ? "energy counters and integrated watts"
                                   : "energy counters";
  *out = use;
  return NULL;
}

// ---- clocks

static void widen(double value, double *low, double *high) {
  *low = fmin(*low, value);
  *high = fmax(*high, value);
}

static bool is_near(double from_s, double to_s, double time_s, double reach_s) {
  return to_s >= time_s - reach_s && from_s <= time_s + reach_s;
}

// The range of one track's watts near both ends: as read, or derived from readings of the counter.
static double range_near(const struct power_track *track, double start_s, double end_s,
                         double reach_s) {
  double low = INFINITY, high = -INFINITY;
  for (size_t i = 1; i < track->count; i++) {
    const double from_s = track->time_s[i - 1], to_s = track->time_s[i];
    if (!is_near(from_s, to_s, start_s, reach_s) && !is_near(from_s, to_s, end_s, reach_s))
      continue;
    if (!isnan(track->power_w[i - 1]))
      widen(track->power_w[i - 1], &low, &high);
    if (!isnan(track->power_w[i]))
      widen(track->power_w[i], &low, &high);
    const double counted = (track->energy_j[i] - track->energy_j[i - 1]) / (to_s - from_s);
    if (isnan(track->power_w[i]) && !isnan(counted))
      widen(counted, &low, &high);
  }
  return high > low ? high - low : 0;
}

double power_series_shift_j(const struct power_series *series, double start_s, double end_s,
                            double shift_s) {
  double range_w = 0;
  for (size_t i = 0; i < series->count; i++)
    range_w += range_near(&series->tracks[i], start_s, end_s, shift_s);
  return shift_s * range_w;
}

// ---- selections

static const char *why_none(const struct power_series *series, const char *name,
                            struct arena *arena) {
  bool has_indices = false;
  for (size_t i = 0; i < series->count; i++)
    has_indices |= *series->tracks[i].index != '\0';
  if (has_indices || !*name || name[strspn(name, "0123456789")] || !series->count)
    return arena_printf(arena, "no device '%s' among the %zu in the readings", name, series->count);
  return arena_printf(arena,
                      "the readings do not state which device is '%s': give its name, such as '%s'",
                      name, series->tracks[0].name);
}

// The track with that index. NULL with *why unset if there is none.
static const struct power_track *with_index(const struct power_series *series, const char *index,
                                            const char **why, struct arena *arena) {
  const struct power_track *found = NULL;
  for (size_t i = 0; *index && i < series->count; i++) {
    const struct power_track *track = &series->tracks[i];
    if (strcmp(track->index, index) != 0)
      continue;
    if (found)
      *why = arena_printf(arena, "device '%s' is %s or %s: give its name", index, found->name,
                          track->name);
    found = found ? found : track;
  }
  return found;
}

static const char *choose(const struct power_series *series, const char *name,
                          const struct power_track **out, struct arena *arena) {
  const char *why = NULL;
  *out = with_index(series, name, &why, arena);
  if (!*out)
    *out = power_series_track(series, name);
  return *out ? why : why_none(series, name, arena);
}

const char *power_series_select(const struct power_series *series, const char *names,
                                struct power_series *out, struct arena *arena) {
  struct power_series chosen = *series;
  chosen.tracks = NULL;
  chosen.count = 0;
  char *rest = arena_copy(arena, names);
  for (const char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
    const struct power_track *track;
    const char *why = choose(series, name, &track, arena);
    if (why)
      return why;
    if (power_series_track(&chosen, track->name))
      return arena_printf(arena, "device '%s' is named twice", name);
    *add_track(&chosen, track->name, arena) = *track;
  }
  *out = chosen;
  return NULL;
}

double power_series_limit_w(const struct power_series *series) {
  for (size_t i = 1; i < series->count; i++)
    if (series->tracks[i].power_limit_w != series->tracks[0].power_limit_w)
      return NAN;
  return series->count ? series->tracks[0].power_limit_w : NAN;
}
