#include "model/simulate.h"
#include "reports/commands.h"
#include "reports/simulation_view.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

// "3/8": the third of eight.
static int read_shard(const struct run *run, const char *text, struct simulate_request *request) {
  const char *slash = strchr(text, '/');
  uint64_t number = 0, shards = 0;
  const char *first = arena_copy_n(run->arena, text, slash ? (size_t)(slash - text) : 0);
  if (!slash || run_read_count(run, "--shard", first, &number) ||
      run_read_count(run, "--shard", slash + 1, &shards) || number < 1 || number > shards ||
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
  if ((options->draws && run_read_count(run, "--draws", options->draws, &request->draws)) ||
      (options->seed && run_read_count(run, "--seed", options->seed, &request->seed)) ||
      (options->method && read_method(run, options->method, &request->method)) ||
      (options->shard && read_shard(run, options->shard, request)))
    return -1;
  return 0;
}

static int print_part(struct run *run, const struct simulation_part *part) {
  struct output output;
  if (run_open_output(run, &output))
    return -1;
  simulation_part_print(part, output.stream);
  return output_close(&output, run->diagnostics);
}

static int print_simulation(struct run *run, const struct simulation_part *part,
                            const char *title) {
  struct output output;
  const struct simulation *simulation = simulation_result(part, run->arena, run->diagnostics);
  if (!simulation || run_open_output(run, &output))
    return -1;
  simulation_print(simulation, title, run->options.format, output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

int command_simulate(struct run *run) {
  struct simulate_request request = {0};
  if (read_draws(run, &request))
    return -1;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  request.scenario = scenario;
  const struct sigaction action = {.sa_handler = want_stop, .sa_flags = (int)SA_RESETHAND};
  sigaction(SIGINT, &action, NULL);
  const struct simulation_part *part = simulate(&request, run->arena, run->diagnostics);
  if (!part)
    return -1;
  run_print_warnings(run, scenario);
  return run->options.shard ? print_part(run, part) : print_simulation(run, part, scenario->title);
}

int command_merge(struct run *run) {
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
