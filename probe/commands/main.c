// The pertoken-probe command: a table of commands.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/process.h"
#include "base/version.h"
#include "probe/commands/commands.h"
#include "probe/commands/interruption.h"
#include "probe/commands/invocation.h"
#include "probe/measure/tryout.h"
#include "probe/sessions/print.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum exit_status {
  EXIT_DONE = 0,
  EXIT_NO = 1,
  EXIT_BAD_INPUT = 2,
  EXIT_MACHINE_FAILED = PROCESS_OUTPUT_FAILED,
  EXIT_NO_VERDICT = 4 // there is not enough for one
};

static const struct command {
  const char *name, *summary;
  int (*run)(struct invocation *, int argc, char **argv);
} commands[] = {
    {"list", "Show the devices, their memory, and which energy meters work", probe_list},
    {"run", "Measure how fast a model decodes here, and how much power it takes", probe_run},
    {"fleet", "Measure every node of a fleet, started on each by Slurm or Open MPI", probe_fleet},
    {"serving", "Measure what a running inference server delivers at every load", probe_serving},
    {"meter", "Log this host's power, for a server that another host measures", probe_meter},
    {"check", "Measure a record's results again", probe_check},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *out) {
  fputs("Usage: pertoken probe COMMAND [OPTION...]\n"
        "How fast does this machine decode tokens, and how much power does it take?\n\n",
        out);
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(out, "  %-8s %s\n", commands[i].name, commands[i].summary);
  fputs("\nExample:\n"
        "  pertoken probe run --model tinyllama-1.1b --precision bf16,int8 -o records\n\n"
        "'pertoken probe COMMAND --help' shows a command's options and an example,\n"
        "'pertoken-probe --version' the version.\n",
        out);
}

static int refuse_command(const char *name) {
  const char *names[COMMANDS];
  for (size_t i = 0; i < COMMANDS; i++)
    names[i] = commands[i].name;
  const char *nearest = nearest_name(name, names, COMMANDS);
  fputs("pertoken-probe: unknown command '", stderr);
  print_safely(name, stderr);
  fprintf(stderr, "'%s%s%s\nTry 'pertoken probe --help'.\n", nearest ? "; did you mean '" : "",
          nearest ? nearest : "", nearest ? "'?" : "");
  return EXIT_BAD_INPUT;
}

static int exit_status(const struct invocation *invocation, int failed) {
  if (failed)
    return invocation->diagnostics->machine_failed ? EXIT_MACHINE_FAILED : EXIT_BAD_INPUT;
  if (invocation->differs)
    return EXIT_NO;
  return invocation->is_partial ? EXIT_NO_VERDICT : EXIT_DONE;
}

static int run_command(const struct command *command, int argc, char **argv) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  struct invocation invocation = {
      .arena = &arena, .diagnostics = &diagnostics, .stop = interruption_flag()};
  const int failed = command->run(&invocation, argc, argv);
  if (failed || !invocation.quiet)
    diagnostics_print(&diagnostics, stderr, process_shows_colour(stderr));
  const int status = exit_status(&invocation, failed);
  arena_free(&arena);
  return status;
}

// Asked by another process of this program.
static int try_request(void) {
  struct arena arena = {0};
  const int status = tryout_serve(installation_plugins(&arena));
  arena_free(&arena);
  return status;
}

static const struct command *find_command(const char *name) {
  for (size_t i = 0; i < COMMANDS; i++)
    if (!strcmp(commands[i].name, name))
      return &commands[i];
  return NULL;
}

int main(int argc, char **argv) {
  if (process_start(argc, argv))
    return EXIT_BAD_INPUT;
  if (argc < 2) {
    print_commands(stderr);
    return EXIT_BAD_INPUT;
  }
  process_turn_help(argc, argv);
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
    print_commands(stdout);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("pertoken-probe " PERTOKEN_VERSION);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], TRYOUT_COMMAND))
    return try_request();
  const struct command *command = find_command(argv[1]);
  if (!command)
    return refuse_command(argv[1]);
  const int status = run_command(command, argc - 1, argv + 1);
  interruption_pass_on();
  return status;
}
