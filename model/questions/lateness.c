#include "model/questions/lateness.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/simulate/delay_damages.h"
#include "model/whatif/variation.h"

#include <math.h>

static double value_of(const struct scenario *scenario, size_t option, const char *name) {
  const int d = model_find(scenario->model, name);
  return d >= 0 && option_has(&scenario->options[option], d)
             ? option_value(scenario, &scenario->options[option], d, 0)
             : NAN;
}

static double cost_on_time(const struct scenario *scenario, size_t option, struct arena *arena) {
  struct diagnostics quiet = {.arena = arena};
  struct target delay;
  if (target_of_option(scenario, option, "delivery_delay", (struct place){0}, &delay, &quiet))
    return NAN;
  struct variation *variation = variation_new(scenario, 1, arena);
  variation_set(variation, delay, 0, 0);
  variation_evaluate(variation);
  return variation_item(variation, option, model_find(scenario->model, "cost_per_mtok"), 0);
}

bool lateness_of(const struct scenario *scenario, size_t option, struct lateness *lateness,
                 struct arena *arena) {
  const double delay = value_of(scenario, option, "delivery_delay");
  const double cost = value_of(scenario, option, "cost_per_mtok");
  const double late_price = value_of(scenario, option, "late_price");
  if (!(delay > 0) || !(cost > 0 && isfinite(cost)))
    return false;
  const double paid = -value_of(scenario, option, "damages_total");
  const double tco = value_of(scenario, option, "tco"), unpaid = isnan(paid) ? tco : tco + paid;
  *lateness = (struct lateness){.on_time = cost_on_time(scenario, option, arena), .paid = paid};
  lateness->increase = cost * (unpaid / tco) / lateness->on_time - 1;
  lateness->damages = delay_cost(unpaid, tco / cost, lateness->on_time);
  lateness->uncovered = isnan(paid) ? NAN : fmax(0, lateness->damages - paid);
  lateness->rate = lateness->damages / delay;
  lateness->share = late_price > 0 ? lateness->rate / late_price : NAN;
  return lateness->on_time > 0 && isfinite(lateness->on_time);
}
