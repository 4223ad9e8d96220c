#include "probe/commands/commands.h"
#include "probe/commands/invocation.h"
#include "probe/commands/measuring.h"
#include "probe/meters/meter.h"
#include "probe/meters/users.h"
#include "probe/options/options.h"
#include "probe/sessions/power_sweep.h"

#include <stdbool.h>
#include <stddef.h>

int probe_run(struct invocation *invocation, int argc, char **argv) {
  const struct probe_options options =
      probe_options_parse(COMMAND_RUN, argc, argv, invocation->arena);
  const bool sweeps = options.power_limits.count != 0;
  struct power_sweep sweep = {.limits = &options.power_limits,
                              .roots = &machine_meters,
                              .users = &invocation->users,
                              .arena = invocation->arena,
                              .diagnostics = invocation->diagnostics};
  struct measuring measuring = {
      .invocation = invocation, .options = &options, .sweep = sweeps ? &sweep : NULL};
  invocation_begin(invocation, options.quiet);
  if (sweeps && power_sweep_begin(&sweep))
    return -1;
  invocation->users = device_users_find(&machine_meters, invocation->arena);
  const int result = measuring_run(&measuring);
  return (sweeps && power_sweep_end(&sweep)) || result ? -1 : 0;
}
