#include "model/telemetry/power_join.h"

#include "base/arena.h"

#include <math.h>
#include <stddef.h>

struct serving_power power_join_none(const char *why, struct arena *arena) {
  struct serving_power none = serving_rung_unknown().power;
  none.source = arena_printf(arena, "none: %s", why);
  return none;
}

// ---- clocks

static const char *state_in_words(const char *whose, const struct clock_state *before,
                                  const struct clock_state *after, struct arena *arena) {
  const double bound_s = clock_state_bound(before, after);
  if (isnan(bound_s))
    return arena_printf(arena, "%s: %s", whose,
                        isnan(before->max_error_s) || isnan(after->max_error_s)
                            ? "the state of its clock is unknown"
                            : "its clock was not synchronized");
  return arena_printf(arena, "%s within %.3g ms of UTC according to NTP", whose, 1e3 * bound_s);
}

// The bound, NAN without one, and its basis.
static double offset_of(const struct power_join *join, const char **words, struct arena *arena) {
  const struct power_series *series = join->series;
  *words = "";
  if (join->one_clock)
    return 0;
  if (!isnan(join->stated_offset_s)) {
    *words = "the clocks' largest difference as stated";
    return join->stated_offset_s;
  }
  const char *whose = *series->host ? arena_printf(arena, "'%s'", series->host) : "the watts' host";
  *words = arena_printf(arena, "%s; %s",
                        state_in_words("the rates' host", &join->clock, &join->clock_after, arena),
                        state_in_words(whose, &series->clock, &series->clock_after, arena));
  return clock_state_bound(&series->clock, &series->clock_after) +
         clock_state_bound(&join->clock, &join->clock_after);
}

// ---- the window

static const char *check_devices(const struct power_join *join, struct arena *arena) {
  const struct power_series *series = join->series;
  if (series->covers == COVERS_NODE || (int)series->count == join->accelerators)
    return NULL;
  return arena_printf(arena,
                      "the watts cover %zu device%s and the tokens/s %d accelerator%s: name the "
                      "devices that served",
                      series->count, series->count == 1 ? "" : "s", join->accelerators,
                      join->accelerators == 1 ? "" : "s");
}

static const char *check_watts(const struct power_use *use, struct arena *arena) {
  if (use->quietest_w > POWER_JOIN_PLAUSIBLE_W)
    return NULL;
  return arena_printf(arena, "%s reportedly draws %.2g W, too little for an accelerator under load",
                      use->quietest, use->quietest_w);
}

// The share of the energy that the clocks' difference could change.
static const char *check_clocks(const struct power_join *join, double offset_s, double energy_j,
                                double *share, struct arena *arena) {
  *share = power_series_shift_j(join->series, join->start_s, join->end_s, offset_s) / energy_j;
  if (*share <= POWER_JOIN_CLOCK_SHARE)
    return NULL;
  return arena_printf(arena,
                      "the clocks may differ by %.3g s, which could change the energy by %.1f %%; "
                      "the limit is %g %%",
                      offset_s, 100 * *share, 100 * POWER_JOIN_CLOCK_SHARE);
}

static double idle_power(const struct power_join *join, struct arena *arena) {
  struct power_use idle;
  const bool is_known =
      join->idle_end_s - join->idle_start_s >= POWER_JOIN_WINDOW_S &&
      !power_series_use(join->series, join->idle_start_s, join->idle_end_s, &idle, arena);
  return is_known ? idle.power_w : NAN;
}

static const char *names_of(const struct power_series *series, struct arena *arena) {
  const char *names = "";
  for (size_t i = 0; i < series->count; i++)
    names = arena_printf(arena, "%s%s%s", names, i ? ", " : "", series->tracks[i].name);
  return names;
}

static const char *source_of(const struct power_series *series, const struct power_use *use,
                             struct arena *arena) {
  const char *file = series->source ? arena_printf(arena, " '%s'", series->source->name) : "";
  return arena_printf(arena, "%s%s, %zu %s%s: %s", series->tool, file, series->count,
                      series->covers == COVERS_NODE ? "node" : "device",
                      series->count == 1 ? "" : "s", use->method);
}

static const char *clocks_in_words(double offset_s, double share, const char *clocks,
                                   struct arena *arena) {
  if (offset_s == 0 || !*clocks)
    return clocks;
  return arena_printf(arena, "clocks within %.3g ms of each other (%s): %.2g %% of the energy",
                      1e3 * offset_s, clocks, 100 * share);
}

// A remark on how much the readings scatter: few momentary readings may miss what was drawn between
// them.
static const char *scatter_in_words(const struct power_use *use, struct arena *arena) {
  if (use->scatter <= POWER_JOIN_SCATTER)
    return "";
  return arena_printf(arena,
                      "the readings scatter: the standard error of their mean is %.2g %% of it, "
                      "unless each is the mean of the time since the last",
                      100 * use->scatter);
}

static const char *remark_of(const char *clocks, const char *scatter, struct arena *arena) {
  return arena_printf(arena, "%s%s%s", clocks, *clocks && *scatter ? "; " : "", scatter);
}

struct serving_power power_join(const struct power_join *join, struct arena *arena) {
  struct power_use use = {0}, widened;
  double share = 0;
  const char *clocks;
  const struct power_series *series = join->series;
  const double offset_s = offset_of(join, &clocks, arena);
  const char *why = check_devices(join, arena);
  if (!why && join->end_s - join->start_s < POWER_JOIN_WINDOW_S)
    why = arena_printf(arena, "a window of %.1f s is too short: at least %g s",
                       join->end_s - join->start_s, POWER_JOIN_WINDOW_S);
  if (!why && isnan(offset_s))
    why = arena_printf(arena, "the difference between the two clocks is unknown (%s)", clocks);
  if (!why)
    why = power_series_use(series, join->start_s, join->end_s, &use, arena);
  if (!why)
    why =
        power_series_use(series, join->start_s - offset_s, join->end_s + offset_s, &widened, arena);
  if (!why)
    why = check_watts(&use, arena);
  if (!why)
    why = check_clocks(join, offset_s, use.energy_j, &share, arena);
  if (why)
    return power_join_none(why, arena);
  return (struct serving_power){
      .source = source_of(series, &use, arena),
      .covers = series->covers,
      .devices = series->covers == COVERS_NODE ? 0 : (int)series->count,
      .which = names_of(series, arena),
      .load_power_w = use.power_w,
      .idle_power_w = idle_power(join, arena),
      .energy_j = use.energy_j,
      .window_s = use.seconds,
      .power_limit_w = power_series_limit_w(series),
      .clock_offset_s = offset_s,
      .remark = remark_of(clocks_in_words(offset_s, share, clocks, arena),
                          scatter_in_words(&use, arena), arena),
  };
}
