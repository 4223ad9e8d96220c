#include "probe/sessions/power_sweep.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "probe/limits/power_guard.h"
#include "probe/limits/power_limit.h"
#include "probe/meters/meter.h"
#include "probe/options/values.h"
#include "probe/sessions/print.h"
#include "probe/sessions/result_table.h"

#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>

static int fail(const struct power_sweep *sweep, const char *words) {
  diagnostics_error(sweep->diagnostics, nowhere, "%s", words);
  return -1;
}

static int fail_on_machine(const struct power_sweep *sweep, const char *words) {
  sweep->diagnostics->machine_failed = true;
  return fail(sweep, words);
}

int power_sweep_begin(struct power_sweep *sweep) {
  sweep->is_open = sweep->is_held = false;
  if (power_guard_start(&sweep->guard, sweep->roots))
    return fail_on_machine(sweep, arena_printf(sweep->arena,
                                               "cannot start the process that would restore "
                                               "the power limit: %s",
                                               strerror(errno)));
  return 0;
}

// ---- refusals

static const char *why_not_of(const struct power_sweep *sweep) {
  const struct power_limit *limit = &sweep->limit;
  struct arena *arena = sweep->arena;
  if (*limit->part)
    return arena_printf(arena,
                        "%s is divided (%s), and its parts share one power limit: --power-limit "
                        "needs a whole device",
                        limit->pci, limit->part);
  if (isnan(limit->other_processes))
    return arena_printf(arena,
                        "cannot tell whether another process uses %s, whose power limit would "
                        "change for it too",
                        limit->pci);
  if (limit->other_processes > 0)
    return arena_printf(arena,
                        "%g other process%s use%s %s, whose power limit would change for %s too "
                        "(in a container it may be this process, by another number)",
                        limit->other_processes, limit->other_processes > 1 ? "es" : "",
                        limit->other_processes > 1 ? "" : "s", limit->pci,
                        limit->other_processes > 1 ? "them" : "it");
  for (size_t i = 0; i < sweep->limits->count; i++)
    if (sweep->limits->values[i] < limit->least_w || sweep->limits->values[i] > limit->most_w)
      return arena_printf(arena, "--power-limit %d: %s can be held at %g to %g W",
                          sweep->limits->values[i], limit->pci, limit->least_w, limit->most_w);
  return NULL;
}

int power_sweep_open(struct power_sweep *sweep, const struct device *device) {
  const char *pci = device->described.pci;
  if (!*pci)
    return fail(sweep, arena_printf(sweep->arena,
                                    "%s has no power limit that can be set: --power-limit needs a "
                                    "GPU with a PCI address",
                                    device->described.name));
  if (power_limit_open(&sweep->limit, pci, sweep->users, sweep->roots, sweep->arena) != METER_OK)
    return fail_on_machine(
        sweep, arena_printf(sweep->arena, "no power limit can be set: %s", sweep->limit.why));
  sweep->is_open = true;
  const char *why = why_not_of(sweep);
  return why ? fail(sweep, why) : 0;
}

// ---- setting and restoring

static const char *why_not_set(const struct power_sweep *sweep, enum meter_status status) {
  return status == METER_FORBIDDEN
             ? arena_printf(sweep->arena, "setting a power limit needs root: %s", sweep->limit.why)
             : sweep->limit.why;
}

int power_sweep_hold(struct power_sweep *sweep, double watts) {
  const struct power_limit *limit = &sweep->limit;
  if (power_guard_tell(&sweep->guard, limit->pci, limit->watts, true))
    return fail_on_machine(sweep, "the process that would restore the power limit is gone");
  sweep->is_held = true;
  const enum meter_status status = power_limit_set(&sweep->limit, watts);
  return status == METER_OK ? 0 : fail_on_machine(sweep, why_not_set(sweep, status));
}

static int set_back(struct power_sweep *sweep) {
  const struct power_limit *limit = &sweep->limit;
  double now_w = NAN;
  const bool is_back =
      limit->kind->read(&sweep->limit, &now_w) == METER_OK && fabs(now_w - limit->watts) < 0.5;
  if (is_back || power_limit_set(&sweep->limit, limit->watts) == METER_OK) {
    power_guard_tell(&sweep->guard, limit->pci, limit->watts, false);
    sweep->is_held = false;
    return 0;
  }
  return fail_on_machine(sweep, arena_printf(sweep->arena,
                                             "the power limit could not be restored to %g W: %s",
                                             limit->watts, limit->why));
}

int power_sweep_end(struct power_sweep *sweep) {
  const int result = sweep->is_held ? set_back(sweep) : 0;
  if (sweep->is_open)
    power_limit_close(&sweep->limit);
  sweep->is_open = false;
  power_guard_stop(&sweep->guard);
  return result;
}

// ---- results

// What a workload took at each limit: [count], NULL where it was not measured.
struct row {
  const struct measurement *at[MAX_LIST_VALUES];
  size_t count;
};

// The limit at which it took the fewest joules per token; -1: none of them has any.
static long least_joules(const struct row *row) {
  long least = -1;
  double fewest = INFINITY;
  for (size_t i = 0; i < row->count; i++) {
    const double joules = row->at[i] ? row->at[i]->joules_per_token : NAN;
    if (!(joules < fewest))
      continue;
    least = (long)i;
    fewest = joules;
  }
  return least;
}

// Whether it ran the same kernels at all limits.
static bool has_one_variant(const struct row *row) {
  const struct measurement *first = NULL;
  for (size_t i = 0; i < row->count; i++) {
    first = first ? first : row->at[i];
    if (row->at[i] && strcmp(row->at[i]->step_form.variant, first->step_form.variant) != 0)
      return false;
  }
  return true;
}

static void print_result(const struct measurement *found, int limit_w, bool is_least,
                         bool says_variant, FILE *out) {
  fprintf(out, "%-10s %6d %8d %8d %10.2f ", found->precision, found->batch, found->context, limit_w,
          measurement_rate(found));
  if (isnan(found->joules_per_token))
    fprintf(out, "%8s %10s", "-", "-");
  else
    fprintf(out, "%8.1f %10.4g%s", found->load_power_w, found->joules_per_token,
            is_least ? "  the fewest joules" : "");
  if (says_variant) {
    fputs("  kernels: ", out);
    print_safely(*found->step_form.variant ? found->step_form.variant : "own choice", out);
  }
  putc('\n', out);
}

static void print_row(const struct power_sweep *sweep, const struct row *row, FILE *out) {
  const long least = least_joules(row);
  const bool says_variant = !has_one_variant(row);
  for (size_t i = 0; i < row->count; i++)
    if (row->at[i])
      print_result(row->at[i], sweep->limits->values[i], least == (long)i, says_variant, out);
  if (says_variant)
    fputs("its kernels were not the same at all limits, which is a part of the difference: "
          "--variant measures with one\n",
          out);
}

void power_sweep_print(const struct power_sweep *sweep,
                       const struct measurement_record *const *records, size_t count, FILE *out) {
  fprintf(out, "\n%-10s %6s %8s %8s %10s %8s %10s\n", "precision", "batch", "context", "limit W",
          "token/s", "load W", "J/token");
  for (size_t r = 0; count && r < records[0]->count; r++) {
    struct row row = {.count = count};
    for (size_t i = 0; i < count; i++)
      row.at[i] = result_like(records[i], &records[0]->results[r]);
    print_row(sweep, &row, out);
  }
}
