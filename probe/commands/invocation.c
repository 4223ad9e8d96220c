#include "probe/commands/invocation.h"

#include "base/clock.h"
#include "base/installation.h"
#include "probe/commands/interruption.h"
#include "probe/commands/progress.h"
#include "probe/devices/device.h"
#include "probe/meters/meter.h"
#include "probe/sessions/print.h"

#include <math.h>
#include <stddef.h>
#include <stdio.h>

const char invocation_all_known[] =
    "measured before, and not again unless you move this record away: ";

void invocation_begin(struct invocation *invocation, bool quiet) {
  invocation->quiet = quiet;
  interruption_catch(quiet);
}

void (*invocation_progress(const struct invocation *invocation))(const char *text) {
  return progress_is_seen() && !invocation->quiet ? progress_print : NULL;
}

void invocation_note(const struct invocation *invocation, const char *kind, const char *text) {
  if (invocation->quiet)
    return;
  fprintf(stderr, "pertoken-probe: %s", kind);
  print_safely(text, stderr);
  putc('\n', stderr);
}

const struct decode_backend *const *invocation_backends(const struct invocation *invocation) {
  return device_backends(installation_plugins(invocation->arena), invocation->arena,
                         invocation->diagnostics);
}

int invocation_open_catalog(const struct invocation *invocation,
                            const struct probe_options *options, struct catalog *catalog) {
  const char *directory =
      installation_data(options->data_directory, invocation->arena, invocation->diagnostics);
  return !directory ||
                 catalog_open(catalog, directory, invocation->arena, invocation->diagnostics) ||
                 catalog_add_files(catalog, &options->data_extra, options->data_extra != NULL)
             ? -1
             : 0;
}

struct protocol invocation_protocol(const struct invocation *invocation,
                                    const struct probe_options *options) {
  return (struct protocol){
      .clock = &machine_clock,
      .roots = &machine_meters,
      .users = &invocation->users,
      .program = "/proc/self/exe",
      .on_thread = true,
      .idle_power_w = NAN,
      .time_s = options->time_s,
      .energy_s = options->energy_s,
      .stop = invocation->stop,
      .progress = invocation_progress(invocation),
      .arena = invocation->arena,
      .diagnostics = invocation->diagnostics,
  };
}

static void announce(void *context, const char *text) {
  invocation_note(context, "", text);
}

struct serving_session invocation_serving(struct invocation *invocation,
                                          const struct serving_options *options) {
  return (struct serving_session){
      .options = options,
      .stop = invocation->stop,
      .progress = invocation_progress(invocation),
      .announce = announce,
      .announce_context = invocation,
      .arena = invocation->arena,
      .diagnostics = invocation->diagnostics,
  };
}
