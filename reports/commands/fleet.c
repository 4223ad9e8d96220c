#include "model/delivery/fleet.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/delivery/fleet_spread.h"
#include "reports/answers/fleet.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"

#include <stddef.h>

int command_fleet(struct run *run) {
  const struct options *options = &run->options;
  double margin = FLEET_MARGIN;
  if (options->margin && run_read_share(run, "--margin", options->margin, &margin))
    return -1;
  if (!(margin > 0)) {
    diagnostics_error(run->diagnostics, (struct place){0}, "--margin must be above 0 %%, not %s",
                      options->margin);
    return -1;
  }
  const struct fleet *fleet = fleet_read(options->arguments, (size_t)options->argument_count,
                                         options->expect, run->arena, run->diagnostics);
  return fleet ? run_print_answer(run, NULL, fleet_answer(fleet, margin, run->arena)) : -1;
}
