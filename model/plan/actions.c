#include "model/plan/actions.h"

#include "base/arena.h"
#include "model/cost/arithmetic.h"
#include "model/plan/fleet.h"
#include "model/plan/quote.h"
#include "model/plan/terms.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <math.h>

// The number of lots that have that many accelerators, or of whole lots that reach as many with
// whole spares.
static double lots_reaching(double from, double each) {
  const double part = from / each, whole = floor(part);
  return arithmetic_ceil(whole * each) >= from ? whole : part;
}

void actions_find_tiers(const struct quoting *quoting, size_t o, struct fleet_option *found) {
  const struct option *option = &quoting->scenario->options[o];
  const double ordered = found->lot * found->accelerators * (1 + found->spares);
  double before = 0;
  found->tier_of_all = quote_input(quoting, option, "tier_discount", 0) > 0;
  for (int k = 1; k <= FLEET_MOST_TIERS && quote_has_tiers(quoting, option); k++) {
    const double from = quote_tier_from(quoting, option, k, before);
    if (from <= before)
      return;
    found->tier_from[found->tier_count++] =
        found->tier_of_all ? lots_reaching(from, ordered) : (from - 1) / ordered;
    before = from;
  }
}

// The number of periods in a rent's whole term.
static int periods_of_term(const struct quoting *quoting, size_t o) {
  const double term_h = quoting->portfolio->term[o], period_h = quoting->terms->period_h;
  return (int)fmax(1, arithmetic_ceil(term_h / period_h));
}

size_t actions_list(const struct quoting *quoting, size_t o, const struct fleet_option *of,
                    struct fleet_action *actions) {
  const struct plan_terms *terms = quoting->terms;
  const struct option *option = &quoting->scenario->options[o];
  const int per_year = (int)round(terms->year_h / terms->period_h);
  const int life = (int)quote_life(quoting, option), term = periods_of_term(quoting, o);
  size_t count = 0;
  for (int f = plan_first_period(terms, quoting->portfolio, o);
       f < terms->periods && !option->provider; f++) {
    const int end = f + life < terms->periods ? f + life : terms->periods;
    for (int l = f; l < end; l++)
      for (int k = 0; k <= of->tier_count; k++)
        if (option->rented ? l + 1 == (f + term < end ? f + term : end)
                           : l + 1 == end || (l + 1 - f) % per_year == 0)
          actions[count++] = (struct fleet_action){.option = o, .first = f, .last = l, .tier = k};
  }
  return count;
}

struct quote *actions_quotes(const struct quoting *quoting, size_t o,
                             const struct fleet_action *actions, size_t count,
                             struct arena *arena) {
  const struct option *option = &quoting->scenario->options[o];
  const bool tiers = quote_has_tiers(quoting, option);
  struct quote *quotes = arena_array(arena, 2 * count + 1, sizeof *quotes);
  quotes[0] = (struct quote){.last = quoting->terms->periods - 1, .discount = tiers ? 0 : NAN};
  for (size_t a = 0; a < count; a++) {
    quotes[a + 1] = (struct quote){
        .first = actions[a].first,
        .last = actions[a].last,
        .discount = tiers ? quote_tier_discount(quoting, option, actions[a].tier) : NAN};
    quotes[a + 1 + count] = quotes[a + 1];
    quotes[a + 1 + count].spares = 1;
  }
  return quotes;
}
