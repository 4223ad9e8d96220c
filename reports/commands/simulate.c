#include "model/simulate/simulate.h"
#include "base/output.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/part_file.h"
#include "model/simulate/simulation.h"
#include "reports/answers/simulation.h"
#include "reports/commands/commands.h"
#include "reports/commands/draw_options.h"
#include "reports/commands/run.h"
#include "reports/ranks/ranks.h"

#include <stddef.h>

static int print_part(struct run *run, const struct simulation_part *part) {
  struct output output;
  if (run_open_output(run, &output))
    return -1;
  simulation_part_print(part, output.stream);
  return output_close(&output, run->diagnostics);
}

static int print_simulation(struct run *run, const struct simulation_part *part) {
  const struct simulation *simulation = simulation_result(part, run->arena, run->diagnostics);
  return simulation ? run_print_answer(run, NULL, simulation_answer(simulation, run->arena)) : -1;
}

// One process's share of the draws, or all of them. NULL after errors.
static struct simulation_part *simulate_share(struct run *run, const struct ranks *ranks,
                                              struct simulate_request *request,
                                              const struct scenario **scenario) {
  if (draw_options_read(run, USUAL_DRAWS, request))
    return NULL;
  *scenario = request->scenario = run_read_scenario(run, 0);
  if (!*scenario || (!run->options.shard && run_check_output_name(run)) || run_try_output(run))
    return NULL;
  if (ranks->plugin)
    ranks_share(ranks, request);
  return simulate(request, run->arena, run->diagnostics);
}

// Simulates with all processes; only one of them shows errors and results.
static int simulate_together(struct run *run, const struct ranks *ranks) {
  struct simulate_request request;
  const struct scenario *scenario = NULL;
  struct simulation_part *part = simulate_share(run, ranks, &request, &scenario);
  const int failed = ranks_first_failure(ranks, !part);
  if (!part || failed < ranks->size) {
    run->silent = failed != ranks->rank;
    return run->silent ? 0 : -1; // one failed exit is enough for mpirun, which ends the others
  }
  run->silent = ranks->rank != 0;
  if (ranks_merge(ranks, part, run->arena, run->diagnostics))
    return run->silent ? 0 : -1;
  if (run->silent)
    return 0;
  run_print_warnings(run, scenario);
  return run->options.shard ? print_part(run, part) : print_simulation(run, part);
}

int command_simulate(struct run *run) {
  struct ranks ranks = {.size = 1};
  // Shards are independent parts, however many processes were started together.
  if (!run->options.shard && ranks_join(&ranks, run->arena, run->diagnostics))
    return -1;
  const int failed = simulate_together(run, &ranks);
  ranks_leave(&ranks);
  return failed;
}

int command_merge(struct run *run) {
  const struct options *options = &run->options;
  struct simulation_part *merged =
      simulation_part_read(options->arguments[0], run->arena, run->diagnostics);
  for (int i = 1; merged && i < options->argument_count; i++) {
    const struct simulation_part *part =
        simulation_part_read(options->arguments[i], run->arena, run->diagnostics);
    run->diagnostics->about = options->arguments[i];
    if (!part || simulation_merge(merged, part, run->diagnostics))
      return -1;
    run->diagnostics->about = NULL;
  }
  return merged ? print_simulation(run, merged) : -1;
}
