// The pertoken command: a table of commands.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/process.h"
#include "base/version.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/print/format.h"
#include "reports/print/style.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_status { EXIT_DONE = 0, EXIT_NO = 1, EXIT_BAD_INPUT = 2, EXIT_MACHINE_FAILED = 3 };

#define EVERY_FORMAT (1u << FORMAT_TABLE | 1u << FORMAT_CSV | 1u << FORMAT_JSON)
#define ANSWERS      (OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_OUTPUT)

static const struct command {
  struct syntax syntax;
  int (*run)(struct run *);
} commands[] = {
    {{"report", "SCENARIO.ini", "Write a scenario's cost per token as an Excel workbook",
      "pertoken report examples/mi325x-vs-h200.ini -o tco.xlsx",
      OPTIONS_DATA | OPTIONS_SCENARIO | OPTIONS_OUTPUT | OPTIONS_DRAWS, 0, 1, false},
     command_report},
    {{"compare", "SCENARIO.ini", "Set a scenario's options side by side",
      "pertoken compare examples/mi325x-vs-h200.ini --set mi325x.discount='22 %'",
      ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 1, false},
     command_compare},
    {{"finance", "SCENARIO.ini",
      "Show books, taxes, loan and lease, and what an extra outlay earns",
      "pertoken finance examples/finance-views.ini", ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 1,
      false},
     command_finance},
    {{"diff", "A.ini B.ini", "Show which inputs of two scenarios differ, and what that does",
      "pertoken diff examples/mi325x-vs-h200.ini examples/finance-what-if.ini",
      ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 2, false},
     command_diff},
    {{"explain", "SCENARIO.ini OPTION.ITEM[@PERIOD]",
      "Show where a number comes from, down to its sources",
      "pertoken explain examples/mi325x-vs-h200.ini mi325x.cost_per_mtok",
      ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 2, false},
     command_explain},
    {{"sensitivity", "SCENARIO.ini", "Show which inputs move the result, and how far",
      "pertoken sensitivity examples/mi325x-vs-h200.ini --swing '10 %'",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_SWING, EVERY_FORMAT, 1, false},
     command_sensitivity},
    {{"simulate", "SCENARIO.ini", "Draw the inputs from their ranges: how sure is the result?",
      "pertoken simulate examples/uncertainty.ini --draws 1000000",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_DRAWS | OPTIONS_SHARD, EVERY_FORMAT, 1, false},
     command_simulate},
    {{"merge", "PART...", "Put the shards of a simulation together", "pertoken merge part-*.json",
      OPTIONS_FORMAT | OPTIONS_OUTPUT, EVERY_FORMAT, 1, true},
     command_merge},
    {{"solve", "SCENARIO.ini --option ID --for INPUT",
      "Find the value of an input at which two options cost the same",
      "pertoken solve examples/mi325x-vs-h200.ini --option mi325x --for discount",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_SOLVE | OPTIONS_DRAWS, EVERY_FORMAT, 1,
      false},
     command_solve},
    {{"fit", "[SCENARIO.ini]", "Show which model fits where, on how many, with what concurrency",
      "pertoken fit --where model=llama-3.1-70b --where precision=bf16",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_WHERE | OPTIONS_FIT, EVERY_FORMAT, 0, true},
     command_fit},
    {{"rent", "SCENARIO.ini", "Set owning against renting: which is cheaper, and from when on",
      "pertoken rent examples/rent-or-own.ini", ANSWERS | OPTIONS_SCENARIO | OPTIONS_FOR,
      EVERY_FORMAT, 1, false},
     command_question},
    {{"audit", "CLAIM.ini", "Can a vendor's claims be true together, and what would it take?",
      "pertoken audit examples/claims/scorecard-31-19.ini",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_FOR | OPTIONS_TABLE, EVERY_FORMAT, 0, true},
     command_audit},
    {{"route", "PORTFOLIO.ini", "Find which workload goes to which option at the least cost",
      "pertoken route examples/portfolio.ini", ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 1, false},
     command_question},
    {{"wait", "SCENARIO.ini [--for OPTION]", "Buy now, or order later and rent meanwhile?",
      "pertoken wait examples/wait.ini --for b200", ANSWERS | OPTIONS_SCENARIO | OPTIONS_FOR,
      EVERY_FORMAT, 1, false},
     command_question},
    {{"served", "SCENARIO.ini | RECORD.json...",
      "Show what servers did at every load, beside decode and prefill",
      "pertoken served examples/measured/llama-server.ini --measurements data/measured",
      ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 1, true},
     command_served},
    {{"fleet", "RECORD.json... | DIR...",
      "Is a fleet whole, are its nodes alike, and who stands out?",
      "pertoken fleet records --expect nodes.csv", OPTIONS_FORMAT | OPTIONS_OUTPUT | OPTIONS_FLEET,
      EVERY_FORMAT, 1, true},
     command_fleet},
    {{"page", "SCENARIO.ini", "Write a what-if page for the browser, one file of its own",
      "pertoken page examples/mi325x-vs-h200.ini -o tco.html",
      OPTIONS_DATA | OPTIONS_SCENARIO | OPTIONS_OUTPUT, 0, 1, false},
     command_page},
    {{"catalog", "TABLE", "Look at the shipped data, every row with its source",
      "pertoken catalog prices --where accelerator=h200-sxm-141", ANSWERS | OPTIONS_WHERE,
      EVERY_FORMAT, 1, false},
     command_catalog},
    {{"import", "FILE... -o DIR", "Read other programs' serving results in as records",
      "pertoken import conc-*.json --accelerator h200 --accelerators 8 --precision fp8 -o records",
      OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_IMPORT, EVERY_FORMAT, 1, true},
     command_import},
};

enum { COMMANDS = sizeof commands / sizeof commands[0] };

static void print_commands(FILE *out) {
  fputs("Usage: pertoken COMMAND [OPTION...] ARGUMENT...\n"
        "What does a token cost over three years, on this hardware, at this price?\n\n",
        out);
  for (size_t i = 0; i < COMMANDS; i++)
    fprintf(out, "  %-11s  %s\n", commands[i].syntax.name, commands[i].syntax.summary);
  fputs("  probe        Measure how fast this machine decodes (runs pertoken-probe)\n", out);
  fputs("\n'pertoken COMMAND --help' shows a command's options and an example,\n"
        "'pertoken --version' the version.\n",
        out);
}

// The prober is a program of its own, beside this one, so that an analyst's has no kernels in it.
static int run_probe(char **argv) {
  struct arena arena = {0};
  const char *path = installation_program("pertoken-probe", &arena);
  if (path) {
    argv[0] = arena_copy(&arena, path);
    execv(path, argv);
  }
  fprintf(stderr, "pertoken: cannot run '%s'\n", path ? path : "pertoken-probe");
  arena_free(&arena);
  return EXIT_MACHINE_FAILED;
}

static const struct command *find_command(const char *name) {
  for (size_t i = 0; i < COMMANDS; i++)
    if (!strcmp(commands[i].syntax.name, name))
      return &commands[i];
  return NULL;
}

static int refuse_command(const char *name) {
  const char *names[COMMANDS + 1];
  for (size_t i = 0; i < COMMANDS; i++)
    names[i] = commands[i].syntax.name;
  names[COMMANDS] = "probe";
  const char *nearest = nearest_name(name, names, COMMANDS + 1);
  struct arena arena = {0};
  const struct style style = style_of(stderr, &arena);
  fprintf(stderr, "pertoken: unknown command '%s'", style_text(&style, name));
  if (nearest)
    fprintf(stderr, "; did you mean '%s'?", nearest);
  fputs("\nTry 'pertoken --help'.\n", stderr);
  arena_free(&arena);
  return EXIT_BAD_INPUT;
}

static int run_command(const struct command *command, int argc, char **argv) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  struct run run = {.arena = &arena, .diagnostics = &diagnostics};
  run.options = options_parse(&command->syntax, argc, argv, &arena);
  const int failed = command->run(&run);
  if (!run.silent && (failed || !run.options.quiet))
    diagnostics_print(&diagnostics, stderr, style_of(stderr, &arena).colour);
  arena_free(&arena);
  if (!failed)
    return run.no ? EXIT_NO : EXIT_DONE;
  return diagnostics.machine_failed ? EXIT_MACHINE_FAILED : EXIT_BAD_INPUT;
}

// What argp and the help print may fail as well, and then nobody else notices.
static void check_standard_output(void) {
  if (fflush(stdout) == 0 && !ferror(stdout))
    return;
  fputs("pertoken: cannot write 'standard output'\n", stderr);
  _exit(EXIT_MACHINE_FAILED);
}

// What no command could make sense of.
static int check_start(int argc, char **argv) {
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  process_check_arguments(argc, argv, &diagnostics);
  process_check_epoch(&diagnostics);
  diagnostics_print(&diagnostics, stderr, style_of(stderr, &arena).colour);
  const bool bad = diagnostics.errors > 0;
  arena_free(&arena);
  return bad ? -1 : 0;
}

int main(int argc, char **argv) {
  signal(SIGXFSZ, SIG_IGN); // a file that grows too large is an error like a full disk
  signal(SIGPIPE, SIG_DFL); // a reader that has seen enough is no error
  atexit(check_standard_output);
  if (check_start(argc, argv))
    return EXIT_BAD_INPUT;
  if (argc < 2) {
    print_commands(stderr);
    return EXIT_BAD_INPUT;
  }
  if (!strcmp(argv[1], "--help") || !strcmp(argv[1], "-?") || !strcmp(argv[1], "help")) {
    print_commands(stdout);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], "--version")) {
    puts("pertoken " PERTOKEN_VERSION);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], "probe"))
    return run_probe(argv + 1);
  const struct command *command = find_command(argv[1]);
  return command ? run_command(command, argc - 1, argv + 1) : refuse_command(argv[1]);
}
