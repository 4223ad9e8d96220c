#include "model/whatif/exclusion.h"

#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/currency.h"

// The figure as the option gives it: in USD or in the report's currency.
static const struct figure *figure_of(const struct scenario *scenario, const struct option *option,
                                      int declaration) {
  return option_figure(scenario, option, scenario->selected, option_stated(option, declaration));
}

static bool is_rate_of(const struct declaration *rate, int declaration) {
  for (int i = 0; i < rate->rated_count; i++)
    if (rate->rated[i] == declaration)
      return true;
  return false;
}

int exclusion_by(const struct scenario *scenario, const struct option *option, int declaration) {
  const struct model *model = scenario->model;
  const int input = model_named(model, declaration);
  const struct declaration *own = &model->declarations[input];
  const struct figure *figure = figure_of(scenario, option, input);
  const bool given = figure_is_stated(figure), zero = figure_highest(figure) == 0;
  for (int d = 0; d < model->count && (!given || zero); d++) {
    const bool excludes = !given && model_excludes(model, d, input);
    const bool conflicts = own->conflicts == d || model->declarations[d].conflicts == input;
    const bool rates = is_rate_of(own, d);
    if (d == input || !(excludes || (zero && (conflicts || rates))))
      continue;
    const struct figure *other = figure_of(scenario, option, d);
    if (figure_is_stated(other) &&
        (excludes || (rates && other->year_count > 0) || (conflicts && figure_highest(other) != 0)))
      return d;
  }
  return -1;
}

bool exclusion_in_common(const struct scenario *scenario, const struct option *option,
                         int declaration, int by) {
  const bool is_own = figure_is_own(figure_of(scenario, option, by));
  return !is_own || !model_excludes(scenario->model, by, model_named(scenario->model, declaration));
}
