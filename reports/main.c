// The pertoken command: a table of commands, and what they have in common.
#include "model/catalog.h"
#include "model/installation.h"
#include "model/scenario.h"
#include "model/sensitivity.h"
#include "model/simulate.h"
#include "model/solve.h"
#include "model/version.h"
#include "reports/catalog_view.h"
#include "reports/compare.h"
#include "reports/diff.h"
#include "reports/explain.h"
#include "reports/options.h"
#include "reports/output.h"
#include "reports/sensitivity_view.h"
#include "reports/simulation_view.h"
#include "reports/solve_view.h"
#include "reports/style.h"
#include "reports/workbook.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum exit_status { EXIT_DONE = 0, EXIT_NO = 1, EXIT_BAD_INPUT = 2, EXIT_MACHINE_FAILED = 3 };

// One run of one command. Everything in it lives in the arena.
struct run {
  struct options options;
  struct arena *arena;
  struct diagnostics *diagnostics;
  bool no; // the answer is no: exit 1
};

static void print_note(const struct run *run, const char *kind, const char *text) {
  const struct style style = style_of(stderr, run->arena);
  fprintf(stderr, "pertoken: %s%s\n", kind, style_text(&style, text));
}

static void print_warnings(const struct run *run, const struct scenario *scenario) {
  if (run->options.quiet)
    return;
  for (size_t i = 0; i < scenario->warning_count; i++)
    print_note(run, "warning: ", scenario->warnings[i]);
  for (size_t i = 0; i < scenario->option_count; i++) {
    const struct option *option = &scenario->options[i];
    for (size_t k = 0; k < option->warning_count; k++)
      print_note(run,
                 "warning: ", arena_printf(run->arena, "%s: %s", option->id, option->warnings[k]));
  }
}

// Which figures were found in the catalogue rather than given.
static void print_findings(const struct run *run, const struct scenario *scenario,
                           const struct option *option) {
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    const struct figure *figure = option_figure(scenario, option, scenario->selected, d);
    if (option->graph->state[d] != GRAPH_INPUT || figure->origin != ORIGIN_CATALOGUE)
      continue;
    print_note(run, "",
               arena_printf(run->arena, "%s: %s = %s, %s (%s:%d)", option->id, input->name,
                            quantity_text(figure->value, &input->unit, run->arena),
                            grade_name(figure->grade),
                            figure->place.source ? figure->place.source->name : "",
                            figure->place.line));
  }
}

static void print_details(const struct run *run, const struct scenario *scenario,
                          const char *directory) {
  if (!run->options.verbose)
    return;
  print_note(run, "data: ", directory);
  print_note(run, "cost model: ", scenario->model->source->name);
  print_note(run, "digest: ", scenario->digest);
  for (size_t i = 0; i < scenario->option_count; i++)
    print_findings(run, scenario, &scenario->options[i]);
}

// Reads the scenario of an argument and says what there is to say about it.
static struct scenario *read_scenario(struct run *run, int argument) {
  const char *directory =
      installation_data(run->options.data_directory, run->arena, run->diagnostics);
  if (!directory)
    return NULL;
  const struct scenario_request request = {
      .path = run->options.arguments[argument],
      .model_path = run->options.model_path,
      .data_directory = directory,
      .measurements_directory = run->options.measurements_directory,
      .case_name = run->options.case_name,
      .settings = run->options.settings,
      .setting_count = run->options.setting_count,
      .mixed = run->options.mixed,
  };
  struct scenario *scenario = scenario_read(&request, run->arena, run->diagnostics);
  if (scenario)
    print_details(run, scenario, directory);
  return scenario;
}

static int open_output(struct run *run, struct output *output) {
  return output_open(output, run->options.output_path, run->arena, run->diagnostics);
}

// The scenario's name with another ending, in the current folder.
static const char *workbook_path(const struct run *run) {
  const char *path = run->options.arguments[0], *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path, *point = strrchr(name, '.');
  const size_t length = point && point != name ? (size_t)(point - name) : strlen(name);
  return arena_printf(run->arena, "%.*s.xlsx", (int)length, name);
}

static int run_report(struct run *run) {
  const struct scenario *scenario = read_scenario(run, 0);
  if (!scenario)
    return -1;
  print_warnings(run, scenario);
  const char *path = run->options.output_path ? run->options.output_path : workbook_path(run);
  if (workbook_write(scenario, path, run->arena, run->diagnostics))
    return -1;
  if (!run->options.quiet)
    print_note(run, "wrote ", path);
  return 0;
}

// A table on the terminal shows the warnings itself.
static bool shows_warnings(const struct run *run) {
  return run->options.format == FORMAT_TABLE && !run->options.output_path &&
         isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

static int run_compare(struct run *run) {
  struct output output;
  const struct scenario *scenario = read_scenario(run, 0);
  if (!scenario || open_output(run, &output))
    return -1;
  if (!shows_warnings(run))
    print_warnings(run, scenario);
  compare_print(scenario, run->options.format, output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

static int run_diff(struct run *run) {
  struct output output;
  const struct scenario *a = read_scenario(run, 0), *b = read_scenario(run, 1);
  if (!a || !b || open_output(run, &output))
    return -1;
  print_warnings(run, a);
  print_warnings(run, b);
  diff_print(a, b, run->options.format, output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

static int run_explain(struct run *run) {
  struct output output;
  const struct scenario *scenario = read_scenario(run, 0);
  if (!scenario || open_output(run, &output))
    return -1;
  if (explain_print(scenario, run->options.arguments[1], run->options.format, output.stream,
                    run->arena, run->diagnostics)) {
    output_discard(&output);
    return -1;
  }
  print_warnings(run, scenario);
  return output_close(&output, run->diagnostics);
}

// "20 %": a share typed on the command line.
static int read_share(const struct run *run, const char *name, const char *text, double *share) {
  struct unit percent;
  if (unit_parse("%", (struct place){0}, &percent, run->arena, run->diagnostics) ||
      quantity_parse(text, (struct place){0}, &percent, share, run->diagnostics))
    return -1;
  if (*share > -1 && *share <= 1)
    return 0;
  diagnostics_error(run->diagnostics, (struct place){0}, "%s must lie within 100 %%, not %s", name,
                    text);
  return -1;
}

static int print_grid(struct run *run, const struct scenario *scenario) {
  struct output output;
  const struct cost_grid *grid =
      cost_grid_of(scenario, run->options.option, run->options.grid, run->arena, run->diagnostics);
  if (!grid || open_output(run, &output))
    return -1;
  cost_grid_print(grid, run->options.format, output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

static int print_tornado(struct run *run, const struct scenario *scenario) {
  struct output output;
  double share = 0.2;
  if (run->options.swing && read_share(run, "--swing", run->options.swing, &share))
    return -1;
  if (share <= 0) {
    diagnostics_error(run->diagnostics, (struct place){0}, "--swing must be above 0 %%");
    return -1;
  }
  const struct sensitivity *sensitivity =
      sensitivity_of(scenario, run->options.option, share, run->arena, run->diagnostics);
  if (!sensitivity || open_output(run, &output))
    return -1;
  sensitivity_print(sensitivity, run->options.format, output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

static int run_sensitivity(struct run *run) {
  const struct scenario *scenario = read_scenario(run, 0);
  if (!scenario)
    return -1;
  print_warnings(run, scenario);
  return run->options.grid ? print_grid(run, scenario) : print_tornado(run, scenario);
}

static int run_solve(struct run *run) {
  struct output output;
  const struct options *options = &run->options;
  struct solve_question question = {.option = options->option,
                                    .input = options->input,
                                    .match = options->match,
                                    .target = options->target,
                                    .between = options->between};
  if (!question.option || !question.input) {
    diagnostics_error(run->diagnostics, (struct place){0}, "expected --option ID and --for INPUT");
    return -1;
  }
  if (options->saving && read_share(run, "--saving", options->saving, &question.saving))
    return -1;
  const struct scenario *scenario = read_scenario(run, 0);
  if (!scenario)
    return -1;
  const struct solve_answer *answer = solve(scenario, &question, run->arena, run->diagnostics);
  if (!answer || open_output(run, &output))
    return -1;
  print_warnings(run, scenario);
  solve_print(answer, options->format, output.stream, run->arena);
  run->no = !answer->count;
  return output_close(&output, run->diagnostics);
}

// A whole number without sign. Returns 0 or -1.
static int read_count(const struct run *run, const char *name, const char *text, uint64_t *value) {
  char *end;
  errno = 0;
  const unsigned long long number = strtoull(text, &end, 10);
  if (*text >= '0' && *text <= '9' && !*end && !errno) {
    *value = number;
    return 0;
  }
  diagnostics_error(run->diagnostics, (struct place){0}, "%s: expected a whole number, not '%s'",
                    name, text);
  return -1;
}

// "3/8": the third of eight.
static int read_shard(const struct run *run, const char *text, struct simulate_request *request) {
  const char *slash = strchr(text, '/');
  uint64_t number = 0, shards = 0;
  const char *first = arena_copy_n(run->arena, text, slash ? (size_t)(slash - text) : 0);
  if (!slash || read_count(run, "--shard", first, &number) ||
      read_count(run, "--shard", slash + 1, &shards) || number < 1 || number > shards ||
      shards > SIMULATE_MOST_SHARDS) {
    diagnostics_error(run->diagnostics, (struct place){0},
                      "--shard: expected I/N with I from 1 to N and N at most %d, not '%s'",
                      SIMULATE_MOST_SHARDS, text);
    return -1;
  }
  request->shard = (unsigned)number - 1;
  request->shards = (unsigned)shards;
  return 0;
}

static int read_method(const struct run *run, const char *text, enum draw_method *method) {
  static const char *const names[] = {[DRAW_SOBOL] = "sobol", [DRAW_RANDOM] = "random"};
  for (size_t i = 0; i < 2; i++)
    if (!strcmp(names[i], text)) {
      *method = (enum draw_method)i;
      return 0;
    }
  diagnostics_error(run->diagnostics, (struct place){0},
                    "--method: expected sobol or random, not '%s'", text);
  return -1;
}

// Set by Ctrl-C: what was drawn until then is shown.
static volatile sig_atomic_t stop_wanted;

static void want_stop(int number) {
  (void)number;
  stop_wanted = 1;
}

static void show_progress(void *data, uint64_t done, uint64_t all) {
  (void)data;
  fprintf(stderr, "\r%3.0f %%", 100 * (double)done / (double)all);
  if (done == all)
    fputs("\r     \r", stderr);
  fflush(stderr);
}

enum { USUAL_DRAWS = 65536, USUAL_SEED = 1 };

static int read_draws(const struct run *run, struct simulate_request *request) {
  const struct options *options = &run->options;
  request->draws = USUAL_DRAWS;
  request->seed = USUAL_SEED;
  request->stop = &stop_wanted;
  if (isatty(STDERR_FILENO) && !options->quiet)
    request->progress = show_progress;
  if ((options->draws && read_count(run, "--draws", options->draws, &request->draws)) ||
      (options->seed && read_count(run, "--seed", options->seed, &request->seed)) ||
      (options->method && read_method(run, options->method, &request->method)) ||
      (options->shard && read_shard(run, options->shard, request)))
    return -1;
  return 0;
}

static int print_part(struct run *run, const struct simulation_part *part) {
  struct output output;
  if (open_output(run, &output))
    return -1;
  simulation_part_print(part, output.stream);
  return output_close(&output, run->diagnostics);
}

static int print_simulation(struct run *run, const struct simulation_part *part,
                            const char *title) {
  struct output output;
  const struct simulation *simulation = simulation_result(part, run->arena, run->diagnostics);
  if (!simulation || open_output(run, &output))
    return -1;
  simulation_print(simulation, title, run->options.format, output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

static int run_simulate(struct run *run) {
  struct simulate_request request = {0};
  if (read_draws(run, &request))
    return -1;
  const struct scenario *scenario = read_scenario(run, 0);
  if (!scenario)
    return -1;
  request.scenario = scenario;
  const struct sigaction action = {.sa_handler = want_stop, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  const struct simulation_part *part = simulate(&request, run->arena, run->diagnostics);
  if (!part)
    return -1;
  print_warnings(run, scenario);
  return run->options.shard ? print_part(run, part) : print_simulation(run, part, scenario->title);
}

static int run_merge(struct run *run) {
  const struct options *options = &run->options;
  struct simulation_part *merged =
      simulation_part_read(options->arguments[0], run->arena, run->diagnostics);
  for (int i = 1; merged && i < options->argument_count; i++) {
    const struct simulation_part *part =
        simulation_part_read(options->arguments[i], run->arena, run->diagnostics);
    if (!part || simulation_merge(merged, part, run->diagnostics))
      return -1;
  }
  if (!merged)
    return -1;
  return print_simulation(
      run, merged, arena_printf(run->arena, "A simulation in %d parts", options->argument_count));
}

static int unknown_table(struct run *run, const char *name) {
  const char *nearest = nearest_name(name, catalog_table_names, CATALOG_TABLES), *all = "";
  for (int i = 0; i < CATALOG_TABLES; i++)
    all = arena_printf(run->arena, "%s%s%s", all, i ? ", " : "", catalog_table_names[i]);
  if (nearest)
    diagnostics_error(run->diagnostics, (struct place){0}, "unknown table '%s'; did you mean '%s'?",
                      name, nearest);
  else
    diagnostics_error(run->diagnostics, (struct place){0}, "unknown table '%s', expected one of %s",
                      name, all);
  return -1;
}

static int run_catalog(struct run *run) {
  const char *name = run->options.arguments[0],
             *directory =
                 installation_data(run->options.data_directory, run->arena, run->diagnostics);
  const enum catalog_table which = catalog_table_named(name);
  if (which == CATALOG_TABLES)
    return unknown_table(run, name);
  struct catalog catalog;
  struct output output;
  if (!directory || catalog_open(&catalog, directory, run->arena, run->diagnostics))
    return -1;
  const struct table *table = catalog_table(&catalog, which);
  if (!table || open_output(run, &output))
    return -1;
  if (catalog_view_print(table, run->options.wheres, run->options.where_count, run->options.format,
                         output.stream, run->diagnostics)) {
    output_discard(&output);
    return -1;
  }
  return output_close(&output, run->diagnostics);
}

#define EVERY_FORMAT (1u << FORMAT_TABLE | 1u << FORMAT_CSV | 1u << FORMAT_JSON)
#define ANSWERS      (OPTIONS_DATA | OPTIONS_FORMAT | OPTIONS_OUTPUT)

static const struct command {
  struct syntax syntax;
  int (*run)(struct run *);
} commands[] = {
    {{"report", "SCENARIO.ini", "Write a scenario's cost per token as an Excel workbook",
      "pertoken report examples/mi325x-vs-h200.ini -o tco.xlsx",
      OPTIONS_DATA | OPTIONS_SCENARIO | OPTIONS_OUTPUT, 0, 1, false},
     run_report},
    {{"compare", "SCENARIO.ini", "Set a scenario's options side by side",
      "pertoken compare examples/mi325x-vs-h200.ini --set mi325x.discount='22 %'",
      ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 1, false},
     run_compare},
    {{"diff", "A.ini B.ini", "Show which inputs of two scenarios differ, and what that does",
      "pertoken diff examples/mi325x-vs-h200.ini examples/finance-what-if.ini",
      ANSWERS | OPTIONS_SCENARIO, EVERY_FORMAT, 2, false},
     run_diff},
    {{"explain", "SCENARIO.ini OPTION.ITEM[@PERIOD]",
      "Show where a number comes from, down to its sources",
      "pertoken explain examples/mi325x-vs-h200.ini mi325x.cost_per_mtok",
      ANSWERS | OPTIONS_SCENARIO, 1u << FORMAT_TABLE | 1u << FORMAT_JSON, 2, false},
     run_explain},
    {{"sensitivity", "SCENARIO.ini", "Show which inputs move the result, and how far",
      "pertoken sensitivity examples/mi325x-vs-h200.ini --swing '10 %'",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_SWING, EVERY_FORMAT, 1, false},
     run_sensitivity},
    {{"simulate", "SCENARIO.ini", "Draw the inputs from their ranges: how sure is the result?",
      "pertoken simulate examples/uncertainty.ini --draws 1000000",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_DRAWS, EVERY_FORMAT, 1, false},
     run_simulate},
    {{"merge", "PART...", "Put the shards of a simulation together", "pertoken merge part-*.json",
      OPTIONS_FORMAT | OPTIONS_OUTPUT, EVERY_FORMAT, 1, true},
     run_merge},
    {{"solve", "SCENARIO.ini --option ID --for INPUT",
      "Find the value of an input at which two options cost the same",
      "pertoken solve examples/mi325x-vs-h200.ini --option mi325x --for discount",
      ANSWERS | OPTIONS_SCENARIO | OPTIONS_OPTION | OPTIONS_SOLVE, EVERY_FORMAT, 1, false},
     run_solve},
    {{"catalog", "TABLE", "Look at the shipped data, every row with its source",
      "pertoken catalog prices --where accelerator=h200-sxm-141", ANSWERS | OPTIONS_WHERE,
      EVERY_FORMAT, 1, false},
     run_catalog},
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
  argv[0] = arena_copy(&arena, installation_program("pertoken-probe", &arena));
  execv(argv[0], argv);
  fprintf(stderr, "pertoken: cannot run '%s'\n", argv[0]);
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
  if (failed || !run.options.quiet)
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

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, "");
  signal(SIGPIPE, SIG_DFL); // a reader that has seen enough is no error
  atexit(check_standard_output);
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
