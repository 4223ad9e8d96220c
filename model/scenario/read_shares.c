#include "model/scenario/read_shares.h"

#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/records/measurement.h"
#include "model/records/projection.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"

#include <math.h>
#include <string.h>

// Whether the option decodes at the rate that the probe recorded: not at one that is stated
// instead, that a case has of another record, or that an engine measured.
static bool is_counted(const struct scenario *scenario, const struct option *option) {
  const int decode = model_find(scenario->model, "decode_throughput");
  if (!option->record || option->record->record->accelerator || decode < 0)
    return false;
  const struct figure *figure = option_figure(scenario, option, scenario->selected, decode);
  return figure->origin == ORIGIN_CATALOGUE &&
         figure == option_figure(scenario, option, 0, decode) &&
         option->graph->state[decode] == GRAPH_INPUT;
}

static bool are_alike(const struct measurement_device *a, const struct measurement_device *b) {
  return !strcmp(a->backend, b->backend) && !strcmp(a->name, b->name);
}

static bool are_beside(const struct scenario *scenario, const struct read_shares *shares, size_t a,
                       size_t b) {
  return shares->counted[b] && !are_alike(&scenario->options[a].record->record->device,
                                          &scenario->options[b].record->record->device);
}

static void compare_pairs(const struct scenario *scenario, struct read_shares *shares) {
  for (size_t a = 0; a < scenario->option_count; a++)
    for (size_t b = 0; b < a && shares->counted[a]; b++) {
      if (!are_beside(scenario, shares, a, b))
        continue;
      shares->beside = true;
      shares->apart |= fabs(shares->share[a] - shares->share[b]) > PROJECTION_TUNING;
      shares->unknown |= isnan(shares->share[a]) || isnan(shares->share[b]);
    }
}

// The cost of a token if the option decodes that many times as fast.
static double cost_at(const struct scenario *scenario, const struct option *option, double times) {
  const struct model *model = scenario->model;
  struct arena scratch = {NULL};
  struct evaluation *block = evaluation_like(option->evaluation, 1, &scratch);
  for (int d = 0; d < model->count; d++)
    if (option->graph->state[d] == GRAPH_INPUT)
      *evaluation_at(block, d, 0) = evaluation_at(option->evaluation, d, 0)[scenario->selected];
  *evaluation_input(block, "decode_throughput") *= times;
  evaluate(block);
  const double cost = *evaluation_at(block, model_cost_item(model), 0);
  arena_free(&scratch);
  return cost;
}

struct read_shares read_shares_of(const struct scenario *scenario, struct arena *arena) {
  const size_t count = scenario->option_count;
  bool *counted = arena_array(arena, count, sizeof *counted);
  double *share = arena_array(arena, 2 * count, sizeof *share), *cost = share + count;
  struct read_shares shares = {.counted = counted, .share = share, .equal = NAN, .cost = cost};
  for (size_t o = 0; o < count; o++) {
    const struct option *option = &scenario->options[o];
    counted[o] = is_counted(scenario, option);
    share[o] = counted[o] ? measurement_read_share(option->record) : NAN;
    shares.equal = fmax(shares.equal, share[o]);
    cost[o] = NAN;
  }
  compare_pairs(scenario, &shares);
  for (size_t o = 0; o < count && shares.apart; o++)
    if (!isnan(share[o]))
      cost[o] = cost_at(scenario, &scenario->options[o], shares.equal / share[o]);
  return shares;
}

// "48 %"
static const char *share_text(double share, struct arena *arena) {
  return isnan(share) ? "an unknown share" : arena_printf(arena, "%.3g %%", 100 * share);
}

// "h200 48 %, mi300x 30 %", and "h200 2.11 USD/Mtok, mi300x 0.5861 USD/Mtok".
static void list(const struct scenario *scenario, const struct read_shares *shares,
                 struct texts *reached, struct texts *costs, struct arena *arena) {
  const struct model *model = scenario->model;
  const struct unit *unit = &model->declarations[model_cost_item(model)].unit;
  for (size_t o = 0; o < scenario->option_count; o++) {
    const char *label = scenario->options[o].label;
    if (!shares->counted[o])
      continue;
    texts_add(reached, arena, "%s %s", label, share_text(shares->share[o], arena));
    if (!isnan(shares->cost[o]))
      texts_add(costs, arena, "%s %s", label, quantity_rounded(shares->cost[o], unit, 4, arena));
  }
}

void read_shares_warn(struct scenario *scenario, struct arena *arena) {
  const struct read_shares shares = read_shares_of(scenario, arena);
  const char *between = options_between(scenario);
  struct texts reached = {0}, costs = {0};
  if (!shares.apart && !shares.unknown)
    return;
  list(scenario, &shares, &reached, &costs, arena);
  const char *said =
      arena_printf(arena, "decoding reached these shares of each device's own read bandwidth: %s",
                   texts_joined_by(&reached, between, arena));
  if (shares.apart)
    texts_add(&scenario->warnings, arena,
              "%s; their difference includes how well this probe is tuned for each device; if all "
              "reached %s, the cost per million output tokens would be: %s",
              said, share_text(shares.equal, arena), texts_joined_by(&costs, between, arena));
  else
    texts_add(&scenario->warnings, arena,
              "%s; how much of a difference between devices is this probe's tuning is unknown",
              said);
}
