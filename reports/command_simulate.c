#include "reports/commands.h"
#include "reports/draw_options.h"
#include "reports/simulation_view.h"

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
  struct simulate_request request;
  if (draw_options_read(run, USUAL_DRAWS, &request))
    return -1;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  request.scenario = scenario;
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
