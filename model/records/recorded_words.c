#include "model/records/recorded_words.h"

#include "base/source.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

// "; unsteady", or "": the option has a warning that explains it.
static const char *unsteadiness(const struct measurement *result) {
  return measurement_is_unsteady(&result->flags) ? "; unsteady" : "";
}

// "; with 8 devices at once 97.2 % of that", or "".
static const char *crowded(const struct measurement *result, struct arena *arena) {
  const struct measurement_together *together = &result->together;
  if (together->devices < 2)
    return "";
  return arena_printf(arena, "; with %d devices at once %.3g %% of that", together->devices,
                      100 * together->tokens_per_s / measurement_rate(result));
}

// "; one of 8 ranks, an all-reduce taking 12 us (NOTE)", "; on 8 devices together", or "".
static const char *sharded(const struct measurement *result, struct arena *arena) {
  const struct measurement_shard *shard = &result->shard;
  const struct measurement_tensor_parallel *ranks = &result->tensor_parallel;
  if (ranks->devices > 1)
    return arena_printf(arena, "; on %d devices together%s%s", ranks->devices,
                        *ranks->library ? ", through " : "", ranks->library);
  if (shard->of < 2)
    return "";
  return arena_printf(arena, "; one of %d ranks, an all-reduce taking %.4g us (%s)", shard->of,
                      1e6 * shard->all_reduce_s, shard->source);
}

// "; 55 readings from 118 to 124 W over 5.6 s", or "".
static const char *readings_text(const struct measurement_window *window, struct arena *arena) {
  double low = INFINITY, high = -INFINITY;
  size_t count = 0;
  for (size_t i = 0; i < window->count; i++) {
    if (isnan(window->power_w[i]))
      continue;
    low = fmin(low, window->power_w[i]);
    high = fmax(high, window->power_w[i]);
    count++;
  }
  if (!count)
    return "";
  return arena_printf(arena, "; %zu reading%s from %.4g to %.4g W over %.3g s%s", count,
                      count == 1 ? "" : "s", low, high, window->end_s[window->count - 1],
                      measurement_has_gap(window) ? ", with gaps" : "");
}

static const char *power_source(const struct measurement *nearest, double power_w,
                                const struct measurement_window *window, struct arena *arena) {
  if (isnan(power_w))
    return "";
  const int devices = measurement_metered_devices(nearest);
  const char *shared = devices > 1 ? arena_printf(arena, ", the mean of %d devices", devices) : "";
  return arena_printf(arena, "record %s: %s, %s%s%s%s", source_file_name(nearest->record->path),
                      nearest->record->device.name, nearest->energy_meter, shared,
                      readings_text(window, arena), unsteadiness(nearest));
}

const char *recorded_load_source(const struct measurement *result, struct arena *arena) {
  return power_source(result, result->load_power_w, &result->readings.load, arena);
}

const char *recorded_interval(double low, double high, bool is_of_window, struct arena *arena) {
  const char *where = is_of_window ? ", in the seconds of its watts" : "";
  if (isnan(low))
    return where;
  return arena_printf(arena, "%s%s 95 %% within %.4g and %.4g token/s", where,
                      is_of_window ? "; its samples:" : ",", low, high);
}

const char *recorded_idle_source(const struct measurement *result, struct arena *arena) {
  return power_source(result, result->idle_power_w, &result->readings.idle, arena);
}

// ", 48.3 % of its read bandwidth", or "".
static const char *reached(const struct measurement *result, struct arena *arena) {
  const double share = measurement_read_share(result);
  return isnan(share) ? "" : arena_printf(arena, ", %.3g %% of its read bandwidth", 100 * share);
}

const char *recorded_source(const struct measurement *result, struct arena *arena) {
  return arena_printf(arena, "record %s: %s, decode only%s%s%s%s%s",
                      source_file_name(result->record->path), result->record->device.name,
                      recorded_interval(result->ci95_low, result->ci95_high,
                                        result->window_tokens_per_s > 0, arena),
                      reached(result, arena), sharded(result, arena), crowded(result, arena),
                      unsteadiness(result));
}

const char *recorded_source_at(const struct measurement *result, enum workload_key along, int at,
                               struct arena *arena) {
  return arena_printf(arena, "record %s: %s, decode only, interpolated to %s %d%s%s",
                      source_file_name(result->record->path), result->record->device.name,
                      workload_key_names[along], at, sharded(result, arena), unsteadiness(result));
}
