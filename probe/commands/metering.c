#include "probe/commands/metering.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/source.h"
#include "base/version.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_record.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"
#include "probe/commands/commands.h"
#include "probe/commands/invocation.h"
#include "probe/commands/progress.h"
#include "probe/measure/power_log.h"
#include "probe/options/values.h"

#include <argp.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

static const double most_readings = 50000; // per device, so that a day fits into a file
static const double tell_every_s = 1;

// ---- options

static const struct argp_option known_options[] = {
    {"seconds", 's', "N", 0, "Duration of the reading, such as '90', '90 s', '30min'", 0},
    {"output", 'o', "FILE", 0, "Write the readings to this file", 0},
    {"device", 'd', "LIST", 0,
     "Devices to read: all, cpu, or accelerators by number, PCI address or UUID: 0,1 (default: all "
     "accelerators, or the CPU packages if there are none)",
     0},
    {"quiet", 'q', NULL, 0, "No warnings and no progress on standard error", 1},
    {0},
};

static error_t parse_one(int key, char *text, struct argp_state *state) {
  struct metering *metering = state->input;
  switch (key) {
  case 's': metering->seconds = value_seconds(text, "seconds", 1, state); break;
  case 'o': metering->path = text; break;
  case 'd': metering->devices = text; break;
  case 'q': metering->quiet = true; break;
  case ARGP_KEY_ARG: argp_error(state, "one argument too many: '%s'", text); break;
  case ARGP_KEY_END:
    if (isnan(metering->seconds) || !metering->path)
      argp_error(state, "expected %s", metering->path ? "--seconds N" : "-o FILE");
    break;
  default: return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

static struct metering parse(int argc, char **argv, struct arena *arena) {
  static const struct argp argp = {
      .options = known_options,
      .parser = parse_one,
      .doc =
          "Record the watts of this host's accelerators while another host measures what they "
          "serve, with UTC timestamps and the state of this host's clock.\vExample, on the "
          "server's host:\n  pertoken probe meter --seconds 30min -o watts.json\nand then, where "
          "the load comes from:\n  pertoken probe serving http://HOST:8000 ... --power watts.json"};
  struct metering metering = {.seconds = NAN, .devices = "all"};
  argv[0] = arena_printf(arena, "pertoken probe %s", argv[0]);
  argp_err_exit_status = 2;
  argp_parse(&argp, argc, argv, 0, NULL, &metering);
  return metering;
}

// ---- the run

static int fail(struct diagnostics *diagnostics, const char *why) {
  diagnostics_error(diagnostics, nowhere, "%s", why);
  return -1;
}

static void tell(const struct metering *metering, struct power_log *log, double elapsed_s,
                 struct arena *arena) {
  if (metering->progress)
    metering->progress(arena_printf(arena, "%.0f of %.0f s: %.0f W", elapsed_s, metering->seconds,
                                    power_log_watts(log)));
}

// Returns for how long.
static double wait(const struct metering *metering, struct power_log *log, struct arena *arena) {
  const double begun_s = clock_now(metering->clock);
  double elapsed_s = 0, told_s = 0;
  while (elapsed_s < metering->seconds && !*metering->stop) {
    clock_sleep(metering->clock, fmin(POWER_LOG_EVERY_S, metering->seconds - elapsed_s));
    elapsed_s = clock_now(metering->clock) - begun_s;
    if (elapsed_s - told_s < tell_every_s)
      continue;
    told_s = elapsed_s;
    tell(metering, log, elapsed_s, arena);
  }
  return elapsed_s;
}

static void span(const struct power_series *series, double *first_s, double *last_s) {
  *first_s = INFINITY;
  *last_s = -INFINITY;
  for (size_t i = 0; i < series->count; i++) {
    const struct power_track *track = &series->tracks[i];
    *first_s = fmin(*first_s, track->time_s[0]);
    *last_s = fmax(*last_s, track->time_s[track->count - 1]);
  }
}

static const char *clock_words(const struct power_series *series, struct arena *arena) {
  const double bound_s = clock_state_bound(&series->clock, &series->clock_after);
  return isnan(bound_s)
             ? "this clock is not synchronized by NTP: state the maximum clock difference when you "
               "join the files"
             : arena_printf(arena, "this clock is within %.3g ms of UTC according to NTP",
                            1e3 * bound_s);
}

static int write_down(const struct metering *metering, struct power_log *log, bool early, FILE *out,
                      struct arena *arena, struct diagnostics *diagnostics) {
  const char *trouble = power_log_trouble(log, arena);
  double first_s, last_s;
  struct power_record record = {.series = power_log_series(log, arena),
                                .tool_version = PERTOKEN_VERSION,
                                .meters = power_log_meters(log),
                                .remarks = early ? "stopped early" : ""};
  if (*trouble)
    diagnostics_warning(diagnostics, nowhere, "%s", trouble);
  if (!record.series.count)
    return fail(diagnostics, "nothing was read");
  if (*trouble)
    record.remarks = trouble;
  span(&record.series, &first_s, &last_s);
  record.started = utc_text(first_s, arena);
  record.finished = utc_text(last_s, arena);
  if (power_record_write(&record, metering->path, arena, diagnostics))
    return -1;
  fprintf(out, "%s: %zu device%s, %.0f s from %s\n%s\n%s\n", metering->path, record.series.count,
          record.series.count == 1 ? "" : "s", last_s - first_s, record.started, record.meters,
          clock_words(&record.series, arena));
  return 0;
}

int metering_run(const struct metering *metering, FILE *out, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const struct power_log_request request = {
      .devices = metering->devices,
      .every_s = fmax(POWER_LOG_EVERY_S, metering->seconds / most_readings),
      .roots = metering->roots,
      .clock = metering->clock};
  struct power_log *log;
  if (output_try(metering->path, arena, diagnostics))
    return -1;
  const char *why = power_log_start(&request, &log, arena);
  if (why)
    return fail(diagnostics, why);
  const double elapsed_s = wait(metering, log, arena);
  const int result =
      write_down(metering, log, elapsed_s < metering->seconds, out, arena, diagnostics);
  power_log_stop(log);
  return result;
}

int probe_meter(struct invocation *invocation, int argc, char **argv) {
  struct metering metering = parse(argc, argv, invocation->arena);
  invocation_begin(invocation, metering.quiet);
  metering.roots = &machine_meters;
  metering.clock = &machine_clock;
  metering.stop = invocation->stop;
  metering.progress = invocation_progress(invocation);
  const int result = metering_run(&metering, stdout, invocation->arena, invocation->diagnostics);
  progress_clear();
  return result;
}
