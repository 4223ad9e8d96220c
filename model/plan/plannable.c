#include "model/plan/plannable.h"

#include "model/plan/quote.h"
#include "model/questions/portfolio.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

const char *plannable_barrier(const struct quoting *quoting, size_t o) {
  const struct option *option = &quoting->scenario->options[o];
  if (option_has(option, quote_item(quoting, "delivery_delay")))
    return "has a 'delivery_delay': for a plan, give the 'delay' of its [supply OPTION]";
  if (option_has(option, quote_item(quoting, "peak_over_mean")))
    return "has a 'day_profile': a plan's demands are spread evenly over the day";
  if (quote_input(quoting, option, "build_price", 0) > 0)
    return "builds its own facility: a plan does not buy one, it has a 'site_power'";
  if (quote_input(quoting, option, "site_power", 0) > 0)
    return "has its own 'site_power': give that of the whole plan under [plan]";
  if (quote_life(quoting, option) < 1)
    return "has a life shorter than a period";
  return portfolio_barrier(quoting->scenario, option);
}
