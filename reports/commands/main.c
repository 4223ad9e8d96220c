// The pertoken command: a table of commands.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/memory.h"
#include "base/process.h"
#include "base/version.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/print/format.h"
#include "reports/print/style.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_status {
  EXIT_DONE = 0,
  EXIT_NO = 1,
  EXIT_BAD_INPUT = 2,
  EXIT_MACHINE_FAILED = PROCESS_OUTPUT_FAILED,
  EXIT_UNDECIDED = 4
};

#define EVERY_FORMAT (1u << FORMAT_TABLE | 1u << FORMAT_CSV | 1u << FORMAT_JSON)
#define ANSWERS      (OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_OUTPUT)

static const struct command {
  struct syntax syntax;
  int (*run)(struct run *);
} commands[] = {
    {{"new", "[ACCELERATOR...]", "Draft a scenario from the catalogue's evidence, and compare",
      "pertoken new mi355x b200 --model llama-3.1-405b --count 640",
      OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_NEW, .formats = EVERY_FORMAT, .more = true},
     command_new},
    {{"report", "SCENARIO.ini", "Write a scenario's cost per token as an Excel workbook",
      "pertoken report examples/mi325x-vs-h200.ini -o tco.xlsx",
      OPTIONS_DATA | OPTIONS_SCENARIO | OPTIONS_OUTPUT | OPTIONS_DRAWS, .argument_count = 1},
     command_report},
    {{"compare", "SCENARIO.ini", "Compare a scenario's options side by side",
      "pertoken compare examples/mi325x-vs-h200.ini --set mi325x.discount='22 %'",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_CASES, .formats = EVERY_FORMAT, .argument_count = 1},
     command_compare},
    {{"finance", "SCENARIO.ini", "Show book, tax, loan and lease views, and extra outlays' return",
      "pertoken finance examples/finance-views.ini", ANSWERS | OPTIONS_SCENARIO,
      .formats = EVERY_FORMAT, .argument_count = 1},
     command_finance},
    {{"diff", "A.ini B.ini", "Show which inputs of two scenarios differ, and the effect",
      "pertoken diff examples/mi325x-vs-h200.ini examples/finance-what-if.ini",
      ANSWERS | OPTIONS_SCENARIO, .formats = EVERY_FORMAT, .argument_count = 2},
     command_diff},
    {{"explain", "SCENARIO.ini OPTION.ITEM[@PERIOD]",
      "Show where a number comes from, down to its sources",
      "pertoken explain examples/mi325x-vs-h200.ini mi325x.cost_per_mtok",
      ANSWERS | OPTIONS_SCENARIO, .formats = EVERY_FORMAT, .argument_count = 2},
     command_explain},
    {{"sensitivity", "SCENARIO.ini", "Show which inputs move the result, and by how much",
      "pertoken sensitivity examples/mi325x-vs-h200.ini --swing '10 %'",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_SWING, .formats = EVERY_FORMAT,
      .argument_count = 1},
     command_sensitivity},
    {{"simulate", "SCENARIO.ini", "Draw the inputs from their ranges to see how sure the result is",
      "pertoken simulate examples/uncertainty.ini --draws 1000000",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_DRAWS | OPTIONS_SHARD, .formats = EVERY_FORMAT,
      .argument_count = 1},
     command_simulate},
    {{"merge", "PART...", "Merge the shards of a simulation", "pertoken merge part-*.json",
      OPTIONS_FORMAT | OPTIONS_OUTPUT, .formats = EVERY_FORMAT, .argument_count = 1, .more = true},
     command_merge},
    {{"solve", "SCENARIO.ini --option ID --for INPUT",
      "Find the value of an input at which two options cost the same",
      "pertoken solve examples/mi325x-vs-h200.ini --option mi325x --for discount",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_SOLVE | OPTIONS_DRAWS,
      .formats = EVERY_FORMAT, .argument_count = 1},
     command_solve},
    {{"fit", "[SCENARIO.ini]", "Show which models fit where, on how many, with what concurrency",
      "pertoken fit --where model=llama-3.1-70b --where precision=bf16",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_WHERE | OPTIONS_FIT, .formats = EVERY_FORMAT,
      .more = true},
     command_fit},
    {{"rent", "SCENARIO.ini", "Compare owning with renting: which is cheaper, and from when",
      "pertoken rent examples/rent-or-own.ini", ANSWERS | OPTIONS_SCENARIO | OPTIONS_FOR,
      .formats = EVERY_FORMAT, .argument_count = 1},
     command_question},
    {{"audit", "CLAIM.ini", "Test whether claims can all be true, or what that would take",
      "pertoken audit examples/claims/scorecard-31-19.ini",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_FOR | OPTIONS_TABLE, .formats = EVERY_FORMAT,
      .more = true},
     command_audit},
    {{"route", "PORTFOLIO.ini", "Allocate workloads to options at the lowest cost",
      "pertoken route examples/portfolio.ini", ANSWERS | OPTIONS_SCENARIO, .formats = EVERY_FORMAT,
      .argument_count = 1},
     command_question},
    {{"plan", "PORTFOLIO.ini", "Find what to buy, rent and retire, from which vendor, and when",
      "pertoken plan examples/plan/twelve-quarters.ini", ANSWERS | OPTIONS_SCENARIO | OPTIONS_PLAN,
      .formats = EVERY_FORMAT, .argument_count = 1},
     command_plan},
    {{"wait", "SCENARIO.ini [--for OPTION]",
      "Decide whether to buy now, or to order later and rent meanwhile",
      "pertoken wait examples/wait.ini --for b200", ANSWERS | OPTIONS_SCENARIO | OPTIONS_FOR,
      .formats = EVERY_FORMAT, .argument_count = 1},
     command_question},
    {{"served", "SCENARIO.ini | RECORD.json...",
      "Show what servers do at every load, against decode and prefill",
      "pertoken served examples/measured/llama-server.ini --measurements data/measured",
      ANSWERS | OPTIONS_SCENARIO, .formats = EVERY_FORMAT, .argument_count = 1, .more = true},
     command_served},
    {{"fleet", "RECORD.json... | DIR...",
      "Check that a fleet is complete and uniform, and find outliers",
      "pertoken fleet records --expect nodes.csv", OPTIONS_FORMAT | OPTIONS_OUTPUT | OPTIONS_FLEET,
      .formats = EVERY_FORMAT, .argument_count = 1, .more = true},
     command_fleet},
    {{"accept", "OFFER.ini [RECORDS...]", "Check whether a delivery meets its quote on every node",
      "pertoken accept offer.ini records --expect nodes.csv",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_ACCEPT, .formats = EVERY_FORMAT,
      .argument_count = 1, .more = true},
     command_accept},
    {{"evidence", "pack -o FILE SCENARIO.ini|RECORD.json|RESULT|DIR... | verify FILE",
      "Pack the evidence behind a figure, or verify such a pack",
      "pertoken evidence pack -o evidence.tar examples/mi325x-vs-h200.ini",
      OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_OUTPUT | OPTIONS_EVIDENCE, .formats = EVERY_FORMAT,
      .argument_count = 2, .more = true},
     command_evidence},
    {{"page", "SCENARIO.ini", "Write a what-if page for the browser, in a single file",
      "pertoken page examples/mi325x-vs-h200.ini -o tco.html",
      OPTIONS_DATA | OPTIONS_SCENARIO | OPTIONS_OUTPUT, .argument_count = 1},
     command_page},
    {{"catalog", "[TABLE] | add TABLE COLUMN=VALUE... -o FILE",
      "Browse the shipped data, or add your own row",
      "pertoken catalog prices --where accelerator=h200 --latest",
      ANSWERS | OPTIONS_WHERE | OPTIONS_ROWS, .formats = EVERY_FORMAT, .more = true},
     command_catalog},
    {{"import", "FILE... -o DIR", "Import other programs' serving results as records",
      "pertoken import conc-*.json --accelerator h200 --accelerators 8 --precision fp8 -o records",
      OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_IMPORT, .formats = EVERY_FORMAT, .argument_count = 1,
      .more = true},
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

// The prober is a separate program beside this one, so that an analyst's program has no kernels in
// it.
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
    diagnostics_print(&diagnostics, stderr, process_shows_colour(stderr));
  arena_free(&arena);
  if (!failed)
    return run.no ? EXIT_NO : run.undecided ? EXIT_UNDECIDED : EXIT_DONE;
  return diagnostics.machine_failed ? EXIT_MACHINE_FAILED : EXIT_BAD_INPUT;
}

int main(int argc, char **argv) {
  memory_keep();
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
    puts("pertoken " PERTOKEN_VERSION);
    return EXIT_DONE;
  }
  if (!strcmp(argv[1], "probe"))
    return run_probe(argv + 1);
  const struct command *command = find_command(argv[1]);
  return command ? run_command(command, argc - 1, argv + 1) : refuse_command(argv[1]);
}
