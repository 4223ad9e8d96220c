#include "base/diagnostics.h"
#include "base/source.h"
#include "model/questions/sensitivity.h"
#include "model/questions/solve.h"
#include "model/questions/solve_search.h"
#include "model/questions/solve_spread.h"
#include "model/scenario/scenario.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulate.h"
#include "reports/answers/sensitivity.h"
#include "reports/answers/solve.h"
#include "reports/commands/commands.h"
#include "reports/commands/draw_options.h"
#include "reports/commands/run.h"

#include <stddef.h>

static int print_grid(struct run *run, const struct scenario *scenario) {
  const struct cost_grid *grid =
      cost_grid_ask(scenario, run->options.option, run->options.grid, run->arena, run->diagnostics);
  return grid ? run_print_answer(run, scenario, cost_grid_answer(grid, run->arena)) : -1;
}

static int read_swing(const struct run *run, double *share) {
  const struct options *options = &run->options;
  const struct stray strays[] = {{"--swing", options->swing && options->grid}};
  *share = 0.2;
  if (run_refuse_strays(run, strays, 1, "a tornado: leave out --grid") ||
      (options->swing && run_read_share(run, "--swing", options->swing, share)))
    return -1;
  if (*share > 0 && *share < 1)
    return 0;
  diagnostics_error(run->diagnostics, nowhere, "--swing must be above 0 %% and below 100 %%");
  return -1;
}

static int print_tornado(struct run *run, const struct scenario *scenario, double share) {
  const struct sensitivity *sensitivity =
      sensitivity_ask(scenario, run->options.option, share, run->arena, run->diagnostics);
  return sensitivity ? run_print_answer(run, scenario, sensitivity_answer(sensitivity, run->arena))
                     : -1;
}

int command_sensitivity(struct run *run) {
  double share;
  if (read_swing(run, &share))
    return -1;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  run_print_warnings(run, scenario);
  return run->options.grid ? print_grid(run, scenario) : print_tornado(run, scenario, share);
}

enum { SOLVE_DRAWS = 16384 };

// The solution's spread, if other inputs have ranges or draws are requested. Returns 0 or -1.
static int find_spread(struct run *run, const struct solve_answer *answer,
                       const struct solve_spread **spread) {
  struct simulate_request request;
  if (!sampler_draws_any(answer->scenario, &answer->target) && !draw_options_given(run))
    return 0;
  if (draw_options_read(run, SOLVE_DRAWS, &request))
    return -1;
  *spread = solve_spread_ask(answer, &request, run->arena, run->diagnostics);
  return *spread ? 0 : -1;
}

int command_solve(struct run *run) {
  const struct options *options = &run->options;
  struct solve_question question = {.option = options->option,
                                    .input = options->input,
                                    .match = options->match,
                                    .target = options->target,
                                    .between = options->between};
  if (!question.option || !question.input) {
    diagnostics_error(run->diagnostics, nowhere, "expected --option ID and --for INPUT");
    return -1;
  }
  if (options->saving && run_read_share(run, "--saving", options->saving, &question.saving))
    return -1;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario || run_check_output_name(run) || run_try_output(run))
    return -1;
  const struct solve_answer *answer = solve_ask(scenario, &question, run->arena, run->diagnostics);
  const struct solve_spread *spread = NULL;
  if (!answer || find_spread(run, answer, &spread))
    return -1;
  run_print_warnings(run, scenario);
  return run_print_answer(run, scenario, solution_answer(answer, spread, run->arena));
}
