#include "model/questions/lateness.h"

#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/simulate/delay_damages.h"
#include "model/whatif/variation.h"

#include <math.h>

const struct lateness_words lateness_words[LATENESS_AMOUNTS] = {
    [LATENESS_ON_TIME] = {"on_time_cost_per_mtok", "Cost per million output tokens, if on time",
                          "USD/Mtok", 0},
    [LATENESS_INCREASE] = {"late_increase", "Added by the delay", "%", 0},
    [LATENESS_DAMAGES] = {"late_damages", "Damages that would offset it", "USD", 0},
    [LATENESS_RATE] = {"late_damages_per_week", "Damages per week of delay", "USD/week", 0},
    [LATENESS_SHARE] = {"late_damages_share", "Damages, share of the price of late hardware",
                        "%/week", 3},
    [LATENESS_PAID] = {"late_damages_paid", "Contract's damages for this delay", "USD", 0},
    [LATENESS_UNCOVERED] = {"late_damages_uncovered", "Left uncovered", "USD", 0},
};

static double value_of(const struct scenario *scenario, size_t option, const char *name) {
  const int d = model_find(scenario->model, name);
  return d >= 0 && option_has(&scenario->options[option], d)
             ? option_value(scenario, &scenario->options[option], d, 0)
             : NAN;
}

static double cost_on_time(const struct scenario *scenario, size_t option, struct arena *arena) {
  struct diagnostics quiet = {.arena = arena};
  struct target delay;
  if (target_of_option(scenario, option, "delivery_delay", nowhere, &delay, &quiet))
    return NAN;
  struct variation *variation = variation_new(scenario, 1, arena);
  variation_set(variation, delay, 0, 0);
  variation_evaluate(variation);
  return variation_item(variation, option, model_cost_item(scenario->model), 0);
}

bool lateness_of(const struct scenario *scenario, size_t option, struct lateness *lateness,
                 struct arena *arena) {
  const double delay = value_of(scenario, option, "delivery_delay");
  const double cost = value_of(scenario, option, "cost_per_mtok");
  const double late_price = value_of(scenario, option, "late_price");
  const double paid = -value_of(scenario, option, "damages_total");
  const double tco = value_of(scenario, option, "tco"), unpaid = isnan(paid) ? tco : tco + paid;
  const double on_time = cost_on_time(scenario, option, arena);
  const double damages = delay_cost(unpaid, tco / cost, on_time);
  const double rate = delay > 0 ? damages / delay : 0;
  *lateness = (struct lateness){{
      [LATENESS_ON_TIME] = on_time,
      [LATENESS_INCREASE] = cost * (unpaid / tco) / on_time - 1,
      [LATENESS_DAMAGES] = damages,
      [LATENESS_RATE] = rate,
      [LATENESS_SHARE] = late_price > 0 ? rate / late_price : NAN,
      [LATENESS_PAID] = paid,
      [LATENESS_UNCOVERED] = isnan(paid) ? NAN : fmax(0, damages - paid),
  }};
  return delay > 0 && cost > 0 && isfinite(cost) && on_time > 0 && isfinite(on_time);
}
