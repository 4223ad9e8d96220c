#include "model/records/measurement.h"

#include "base/arena.h"
#include "base/statistics.h"

#include <math.h>
#include <string.h>

int measurement_metered_devices(const struct measurement *result) {
  return result->tensor_parallel.devices > 1 ? result->tensor_parallel.devices : 1;
}

int measurement_devices(const struct measurement *result) {
  return result->shard.of > 1 ? result->shard.of : measurement_metered_devices(result);
}

double measurement_rate(const struct measurement *result) {
  return result->window_tokens_per_s > 0 ? result->window_tokens_per_s : result->tokens_per_s;
}

double measurement_prompt_rate(const struct measurement_prefill *prompt) {
  return prompt->window_tokens_per_s > 0 ? prompt->window_tokens_per_s : prompt->tokens_per_s;
}

double measurement_window_seconds(const struct measurement_window *window) {
  double seconds = 0;
  for (size_t i = 0; i < window->count; i++)
    if (!isnan(window->power_w[i]))
      seconds += window->end_s[i] - (i ? window->end_s[i - 1] : 0);
  return seconds;
}

double measurement_window_joules(const struct measurement_window *window) {
  double joules = 0;
  for (size_t i = 0; i < window->count; i++)
    if (!isnan(window->power_w[i]))
      joules += window->power_w[i] * (window->end_s[i] - (i ? window->end_s[i - 1] : 0));
  return joules;
}

double measurement_window_slope(const struct measurement_window *window, struct arena *arena) {
  double *middle_s = arena_array(arena, window->count, sizeof *middle_s);
  double *power_w = arena_array(arena, window->count, sizeof *power_w);
  size_t count = 0;
  for (size_t i = 0; i < window->count; i++) {
    if (isnan(window->power_w[i]))
      continue;
    middle_s[count] = (window->end_s[i] + (i ? window->end_s[i - 1] : 0)) / 2;
    power_w[count++] = window->power_w[i];
  }
  if (count < 2)
    return NAN;
  const size_t first = !window->sensed && count > 4;
  return fit_line(middle_s + first, power_w + first, count - 2 * first).b;
}

bool measurement_has_gap(const struct measurement_window *window) {
  for (size_t i = 0; i < window->count; i++)
    if (isnan(window->power_w[i]))
      return true;
  return false;
}

bool measurement_window_differs(const struct measurement *result) {
  return fabs(result->window_tokens_per_s / result->tokens_per_s - 1) > MAX_WINDOW_DIFFERENCE;
}

bool measurement_is_unsteady(const struct measurement_flags *flags) {
  return flags->noisy || flags->unconverged || flags->drift;
}

double measurement_read_share(const struct measurement *result) {
  const double share = result->read_bandwidth_share;
  return result->flags.bandwidth_void || share > MAX_READ_SHARE ? NAN : share;
}

double measurement_matrix_share(const struct measurement_prefill *prefill) {
  return prefill->matrix_share > MAX_MATRIX_SHARE ? NAN : prefill->matrix_share;
}

static bool has_void_matrix_rate(const struct measurement *result) {
  bool is_void = false;
  for (size_t i = 0; i < result->prefill_count; i++)
    is_void |= result->prefills[i].matrix_share > MAX_MATRIX_SHARE;
  return is_void;
}

// "unsteady, +-12 %: 66 % (60-72) of the read bandwidth", "unsteady, with too few independent
// samples for an interval"
static const char *unsteadiness(const struct measurement *result, struct arena *arena) {
  const double half = (result->ci95_high - result->ci95_low) / 2 / result->tokens_per_s;
  const char *text = isnan(half) ? "unsteady, with too few independent samples for an interval"
                                 : arena_printf(arena, "unsteady, +-%.2g %%", 100 * half);
  const double share = measurement_read_share(result);
  if (isnan(share))
    return text;
  const char *interval = isnan(result->share_ci95_low)
                             ? ""
                             : arena_printf(arena, " (%.0f-%.0f)", 100 * result->share_ci95_low,
                                            100 * result->share_ci95_high);
  return arena_printf(arena, "%s: %.0f %%%s of the read bandwidth", text, 100 * share, interval);
}

// "6.2 % slower in the seconds under the meter than in its samples"
static const char *difference_of_window(double share, struct arena *arena) {
  return arena_printf(arena, "%.2g %% %s in the seconds under the meter than in its samples",
                      100 * fabs(share), share < 0 ? "slower" : "faster");
}

static const char *difference_of_steps(const struct measurement *result, struct arena *arena) {
  const double share = result->window_tokens_per_s / result->tokens_per_s - 1;
  return arena_printf(arena, "%s%s", difference_of_window(share, arena),
                      result->beside.soak_s > 0 ? "" : ": measure with --soak");
}

// The difference between the two rates of the prompt in which they differ most; "" if none differ
// much.
static const char *difference_of_prompts(const struct measurement *result, struct arena *arena) {
  const struct measurement_prefill *most = NULL;
  double share = 0;
  for (size_t i = 0; i < result->prefill_count; i++) {
    const struct measurement_prefill *prompt = &result->prefills[i];
    const double differs = measurement_prompt_rate(prompt) / prompt->tokens_per_s - 1;
    if (fabs(differs) > fmax(fabs(share), MAX_WINDOW_DIFFERENCE)) {
      most = prompt;
      share = differs;
    }
  }
  return most ? arena_printf(arena, "a prompt of %d was %s", most->positions,
                             difference_of_window(share, arena))
              : "";
}

const char *measurement_doubts(const struct measurement *result, struct arena *arena) {
  const struct measurement_flags *flags = &result->flags;
  const char *prompts = difference_of_prompts(result, arena);
  const struct {
    bool set;
    const char *words;
  } seen[] = {
      {measurement_is_unsteady(flags), unsteadiness(result, arena)},
      {flags->cache_resident, "the model was held in the cache"},
      {flags->bandwidth_void || result->read_bandwidth_share > MAX_READ_SHARE,
       "faster than the memory was read, so the share of the read bandwidth is not usable: measure "
       "again on a quiet machine"},
      {has_void_matrix_rate(result), "a prompt's products were faster than the matrix rate, so the "
                                     "share of it is not usable: measure again on a quiet machine"},
      {flags->sampling_inconsistent, "energy and sampled power disagree"},
      {flags->thermal_unsettled, "the power had not settled"},
      {flags->window_differs, difference_of_steps(result, arena)},
      {*prompts, prompts},
  };
  const char *list = "";
  for (size_t i = 0; i < sizeof seen / sizeof seen[0]; i++)
    if (seen[i].set)
      list = arena_printf(arena, "%s%s%s", list, *list ? ", " : "", seen[i].words);
  return list;
}

bool measurement_same_device(const struct measurement_device *a,
                             const struct measurement_device *b) {
  return !strcmp(a->backend, b->backend) && !strcmp(a->name, b->name) &&
         !strcmp(a->uuid, b->uuid) && !strcmp(a->pci, b->pci) && a->units == b->units;
}
