#include "reports/print/verdict.h"

#include "reports/print/number.h"

#include <stddef.h>

// "h200", "h200 and mi325x", "h200, mi300x and mi325x"
static const char *cheapest_ids(const struct scenario *scenario, const struct ranking *ranking,
                                struct arena *arena) {
  const char *ids = "";
  size_t named = 0;
  for (size_t o = 0; o < ranking->option_count; o++) {
    if (!ranking->options[o].cheapest)
      continue;
    const char *before = !named ? "" : named + 1 == ranking->cheapest_count ? " and " : ", ";
    ids = arena_printf(arena, "%s%s%s", ids, before, scenario->options[o].id);
    named++;
  }
  return ids;
}

// Less than what one decimal shows is no tie.
static const char *percent_text(double saving, struct arena *arena) {
  return saving < 0.0005 ? "less than 0.1 %"
                         : arena_printf(arena, "%s %%", number_fixed(100 * saving, 1, arena));
}

const char *verdict_text(const struct scenario *scenario, const struct ranking *ranking,
                         struct arena *arena) {
  if (ranking->option_count == 1)
    return "";
  if (ranking->cheapest < 0)
    return arena_printf(arena, "Not ranked: %s", ranking->why_none);
  const char *ids = cheapest_ids(scenario, ranking, arena);
  if (ranking->against < 0)
    return arena_printf(arena, "%s cost the same per output token", ids);
  return arena_printf(arena, "%s %s per output token, %s less than %s", ids,
                      ranking->cheapest_count > 1 ? "cost least" : "costs least",
                      percent_text(ranking->saving, arena), scenario->options[ranking->against].id);
}

const char *verdict_not_ranked(const struct scenario *scenario, const struct ranking *ranking,
                               size_t option, struct arena *arena) {
  return arena_printf(arena, "%s: %s", scenario->options[option].id,
                      ranking->options[option].why_not);
}
