#include "reports/print/verdict.h"
#include "model/cost/graph.h"
#include "reports/print/number.h"

#include <math.h>

static const char *cost_text(const struct scenario *scenario, size_t option, struct arena *arena) {
  const int item = model_find(scenario->model, "cost_per_mtok");
  const double cost = option_value(scenario, &scenario->options[option], item, 0);
  const struct scale scale =
      number_scale(&scenario->model->declarations[item].unit, &cost, 1, arena);
  return arena_printf(arena, "%s %s", number_scaled(cost, scale, arena), scale.unit);
}

// ", 14.3 % less than h200"; "" for the baseline itself and where nothing is compared with it.
static const char *saving_text(const struct scenario *scenario, const struct ranking *ranking,
                               struct arena *arena) {
  const double saving = ranking->options[ranking->cheapest].saving;
  if (!isfinite(saving))
    return "";
  return arena_printf(arena, ", %s %% less than %s", number_fixed(100 * saving, 1, arena),
                      scenario->options[scenario->baseline].id);
}

// "a, b and c"
static const char *cheapest_names(const struct scenario *scenario, const struct ranking *ranking,
                                  struct arena *arena) {
  const char *names = "";
  size_t named = 0;
  for (size_t o = 0; o < ranking->option_count; o++) {
    if (!ranking->options[o].cheapest)
      continue;
    const char *before = !named ? "" : named + 1 < ranking->cheapest_count ? ", " : " and ";
    names = arena_printf(arena, "%s%s%s", names, before, scenario->options[o].id);
    named++;
  }
  return names;
}

const char *verdict_sentence(const struct scenario *scenario, const struct ranking *ranking,
                             struct arena *arena) {
  if (scenario->option_count == 1)
    return arena_printf(arena, "%s: %s of output tokens.", scenario->options[0].id,
                        cost_text(scenario, 0, arena));
  if (ranking->cheapest < 0)
    return arena_printf(arena, "No option is called the cheapest: %s.", ranking->why_none);
  return arena_printf(
      arena, "%s %s: %s of output tokens%s.", cheapest_names(scenario, ranking, arena),
      ranking->cheapest_count > 1 ? "are equally cheap, and the cheapest" : "is the cheapest",
      cost_text(scenario, (size_t)ranking->cheapest, arena),
      ranking->cheapest_count > 1 ? "" : saving_text(scenario, ranking, arena));
}

const char *verdict_mark(const struct ranking *ranking) {
  if (!ranking->cheapest_count)
    return NULL;
  return ranking->cheapest_count > 1 ? "lowest cost per million output tokens: a tie"
                                     : "lowest cost per million output tokens";
}
