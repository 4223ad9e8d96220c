#include "model/scenario/ranking.h"

#include "model/cost/arithmetic.h"
#include "model/cost/graph.h"
#include "model/evidence/workload.h"

#include <math.h>

bool ranking_compares(const struct option *a, const struct option *b) {
  return a->decode_only == b->decode_only;
}

bool ranking_is_lowest(double cost, double lowest) {
  return arithmetic_compare(cost, lowest) <= 0;
}

int ranking_lowest(const double *cost, size_t stride, const bool *ranked, size_t count) {
  size_t in_all = 0, best = count;
  for (size_t i = 0; i < count; i++) {
    if (!ranked[i])
      continue;
    in_all++;
    if (best == count || cost[i * stride] < cost[best * stride])
      best = i;
  }
  if (in_all < 2)
    return -1;
  for (size_t i = 0; i < best; i++)
    if (ranked[i] && ranking_is_lowest(cost[i * stride], cost[best * stride]))
      return (int)i;
  return (int)best;
}

static const struct option *baseline_of(const struct scenario *scenario) {
  return &scenario->options[scenario->baseline];
}

enum rank_bar ranking_fixed_bar(const struct scenario *scenario, const struct option *option,
                                const char **why, struct arena *arena) {
  const struct option *baseline = baseline_of(scenario);
  const char *ignored;
  why = why ? why : &ignored;
  *why = "";
  if (!ranking_compares(option, baseline)) {
    *why = option->decode_only ? "its throughput is of decoding alone, an upper bound"
                               : "the baseline's throughput is of decoding alone, an upper bound";
    return RANK_UPPER_BOUND;
  }
  const char *difference = workload_difference(&baseline->workload, &option->workload, arena);
  if (!difference)
    return RANK_FREE;
  *why = arena_printf(arena, "another workload than the baseline's: %s", difference);
  return RANK_UNLIKE;
}

static bool meets_demand(const struct scenario *scenario, const struct option *option,
                         const char **why, struct arena *arena) {
  const int coverage = model_find(scenario->model, "coverage");
  if (coverage < 0 || !option_has(option, coverage))
    return true;
  const double share = option_value(scenario, option, coverage, 0);
  if (share >= RANKING_MET)
    return true;
  *why = arena_printf(arena, "it serves %.1f %% of the demand", round(1000 * share) / 10);
  return false;
}

static struct standing standing_of(const struct scenario *scenario, const struct option *option,
                                   struct arena *arena) {
  struct standing standing = {.saving = NAN, .saving_levelised = NAN};
  standing.bar = ranking_fixed_bar(scenario, option, &standing.why_not, arena);
  standing.compared = standing.bar != RANK_UPPER_BOUND;
  if (standing.bar == RANK_FREE && !meets_demand(scenario, option, &standing.why_not, arena))
    standing.bar = RANK_UNMET;
  standing.ranked = standing.bar == RANK_FREE;
  if (standing.compared && option != baseline_of(scenario)) {
    standing.saving = option_saving(scenario, option, "cost_per_mtok");
    standing.saving_levelised = option_saving(scenario, option, "levelised_cost_per_mtok");
  }
  return standing;
}

bool ranking_is_eligible(const struct standing *standing) {
  return standing->bar == RANK_FREE || standing->bar == RANK_UNMET;
}

bool ranking_may_rank(const struct ranking *ranking) {
  size_t eligible = 0;
  for (size_t o = 0; o < ranking->option_count; o++)
    eligible += ranking_is_eligible(&ranking->options[o]);
  return eligible > 1;
}

const char *ranking_why_nobody(const struct ranking *ranking) {
  if (ranking->option_count == 1)
    return "there is one option only";
  for (size_t o = 0; o < ranking->option_count; o++)
    if (!ranking_is_eligible(&ranking->options[o]))
      return "the throughputs are of unlike kinds";
  return "fewer than two options serve the demand";
}

// Marks all of the cheapest; returns their number.
static size_t mark_cheapest(struct standing *options, const double *costs, size_t count,
                            double lowest) {
  size_t marked = 0;
  for (size_t o = 0; o < count; o++) {
    options[o].cheapest = options[o].ranked && ranking_is_lowest(costs[o], lowest);
    marked += options[o].cheapest;
  }
  return marked;
}

const struct ranking *ranking_of(const struct scenario *scenario, struct arena *arena) {
  const size_t count = scenario->option_count;
  const int cost = model_find(scenario->model, "cost_per_mtok");
  struct standing *options = arena_array(arena, count, sizeof *options);
  double *costs = arena_array(arena, count, sizeof *costs);
  bool *ranked = arena_array(arena, count, sizeof *ranked);
  for (size_t o = 0; o < count; o++) {
    options[o] = standing_of(scenario, &scenario->options[o], arena);
    costs[o] = option_value(scenario, &scenario->options[o], cost, 0);
    ranked[o] = options[o].ranked;
  }
  struct ranking *ranking = arena_alloc(arena, sizeof *ranking);
  *ranking = (struct ranking){.options = options, .option_count = count, .why_none = ""};
  ranking->cheapest = ranking_lowest(costs, 1, ranked, count);
  if (ranking->cheapest >= 0)
    ranking->cheapest_count = mark_cheapest(options, costs, count, costs[ranking->cheapest]);
  else
    ranking->why_none = ranking_why_nobody(ranking);
  return ranking;
}
