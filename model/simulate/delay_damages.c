#include "model/simulate/delay_damages.h"

#include "base/arena.h"
#include "base/vector.h"
#include "model/cost/model.h"
#include "model/scenario/scenario.h"
#include "model/simulate/part.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulation.h"
#include "model/whatif/response.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

// A difference of two amounts: what is less than their rounding is none.
double delay_cost(double unpaid, double tokens, double on_time) {
  static const double rounding = 1e-12;
  const double lost = unpaid - tokens * on_time;
  return lost > rounding * unpaid ? lost : 0;
}

bool delay_damages_apply(const struct scenario *scenario, size_t option) {
  const int total = model_find(scenario->model, "damages_total");
  return total >= 0 && option_has(&scenario->options[option], total);
}

// The costs per token of these options, with one more variable instead of every delay.
static const struct response *response_on_time(const struct simulation_run *run, const int *cost) {
  const struct scenario *scenario = run->scenario;
  const struct sampler *sampler = run->sampler;
  const size_t options = scenario->option_count, inputs = (size_t)scenario->model->count;
  const size_t delay = (size_t)model_find(scenario->model, "delivery_delay");
  int *variables = arena_array(run->arena, options * inputs, sizeof *variables);
  bool *wanted = arena_array(run->arena, options, sizeof *wanted);
  memcpy(variables, sampler->variables, options * inputs * sizeof *variables);
  for (size_t o = 0; o < options; o++) {
    variables[o * inputs + delay] = sampler->variable_count;
    wanted[o] = delay_damages_apply(scenario, o);
  }
  const struct response_request request = {.scenario = scenario,
                                           .periods = sampler_periods(scenario),
                                           .variables = variables,
                                           .variable_count = sampler->variable_count + 1,
                                           .items = cost,
                                           .item_count = 1,
                                           .wanted = wanted};
  return response_new(&request, run->arena, run->diagnostics);
}

// Adds a block's draws of an option, to be divided by their number.
static void add_draws(const struct simulation_run *run, const struct worker *worker, size_t option,
                      const double *on_time, size_t count, struct delay_damages *sum) {
  const struct response *response = run->sampler->response;
  const double *cost = response_item(response, worker->workspace, option, RUN_COST);
  const double *tokens = response_item(response, worker->workspace, option, RUN_TOKENS);
  const double *credit = response_item(response, worker->workspace, option, RUN_DAMAGES);
  for (size_t i = 0; i < count; i++) {
    const double paid = -credit[i];
    const double lost = delay_cost(cost[i] * tokens[i] + paid, tokens[i], on_time[i]);
    sum->due += paid > 0;
    sum->cost += lost;
    sum->paid += paid;
    sum->uncovered += fmax(0, lost - paid);
  }
}

static void add_all(const struct simulation_run *run, struct worker *worker,
                    const struct response *on_time, struct delay_damages *sums) {
  const size_t vectors = (size_t)run->sampler->variable_count * VECTOR_BLOCK;
  double *workspace = response_workspace_new(on_time);
  memset(response_variable(workspace, run->sampler->variable_count), 0,
         VECTOR_BLOCK * sizeof(double));
  for (uint64_t block = 0; block < run_pilot_blocks(run); block++) {
    worker_draw(run, worker, block);
    memcpy(response_variable(workspace, 0), response_variable(worker->workspace, 0),
           vectors * sizeof(double));
    response_run(on_time, workspace);
    for (size_t o = 0; o < run->frame.option_count; o++)
      if (!isnan(sums[o].due))
        add_draws(run, worker, o, response_item(on_time, workspace, o, 0), run_draws_in(run, block),
                  &sums[o]);
  }
  response_workspace_free(workspace);
}

int delay_damages_find(struct simulation_run *run, struct worker *worker) {
  const size_t options = run->frame.option_count;
  const int cost = model_cost_item(run->scenario->model);
  struct delay_damages *sums = arena_array(run->arena, options, sizeof *sums);
  const double draws = (double)run_pilot_draws(run);
  bool any = false;
  for (size_t o = 0; o < options; o++) {
    const bool applies = delay_damages_apply(run->scenario, o);
    sums[o].due = applies ? 0 : NAN;
    any |= applies;
  }
  run->frame.damages = sums;
  if (!any)
    return 0;
  const struct response *on_time = response_on_time(run, &cost);
  if (!on_time)
    return -1;
  add_all(run, worker, on_time, sums);
  for (size_t o = 0; o < options; o++)
    sums[o] = (struct delay_damages){sums[o].due / draws, sums[o].cost / draws,
                                     sums[o].paid / draws, sums[o].uncovered / draws};
  return 0;
}
