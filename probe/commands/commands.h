// commands: what each of pertoken-probe's commands does with its command line.
//
// argv[0] is the command's name. argp prints help and reports errors in a command line, and then
// exits with status 0 or 2. All return 0, or -1 after errors, which are in the invocation's
// diagnostics. Their summaries are in main.c's table.
#ifndef PERTOKEN_PROBE_COMMANDS_COMMANDS_H
#define PERTOKEN_PROBE_COMMANDS_COMMANDS_H

#include "probe/commands/invocation.h"

// listing.c
int probe_list(struct invocation *invocation, int argc, char **argv);

// run.c
int probe_run(struct invocation *invocation, int argc, char **argv);

// fleet.c
int probe_fleet(struct invocation *invocation, int argc, char **argv);

// serving.c
int probe_serving(struct invocation *invocation, int argc, char **argv);

// metering.c
int probe_meter(struct invocation *invocation, int argc, char **argv);

// check.c
int probe_check(struct invocation *invocation, int argc, char **argv);

#endif
