// metering: records this host's power over a time, for a measurement that another host runs.
#ifndef PERTOKEN_PROBE_COMMANDS_METERING_H
#define PERTOKEN_PROBE_COMMANDS_METERING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/meters/meter.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <time.h>

struct metering {
  double seconds;
  const char *devices; // of power_log_request
  const char *path;    // of the file to write
  bool quiet;
  const struct meter_roots *roots;
  const struct clock *clock;
  const volatile sig_atomic_t *stop;
  void (*progress)(const char *text); // NULL: nobody is told
};

// Reads for the given time, or until it is stopped, then writes the file and prints a summary to
// `out`. Errors: no meter; nothing read; a file that cannot be written. Returns 0 or -1.
int metering_run(const struct metering *metering, FILE *out, struct arena *arena,
                 struct diagnostics *diagnostics);

#endif
