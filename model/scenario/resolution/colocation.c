#include "model/scenario/resolution/colocation.h"

#include "base/diagnostics.h"
#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

static bool includes_power(const struct resolving *resolving, const struct figure *rate,
                           const struct figure *power, int colo_power) {
  return figure_is_stated(rate) && figure_highest(rate) > 0 && figure_is_stated(power) &&
         power->value == 0 && !ranges_name(resolving->scenario, resolving->number, colo_power);
}

void colocation_apply(struct resolving *resolving) {
  struct scenario *scenario = resolving->scenario;
  const struct model *model = scenario->model;
  const int price = model_find(model, "electricity_price");
  const int rate = model_find(model, "colo_rate"), power = model_find(model, "colo_power");
  bool found = false;
  if (price < 0 || rate < 0 || power < 0 || resolving->option->provider)
    return;
  for (size_t c = 0; c < scenario->case_count; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    if (figures[price]->origin == ORIGIN_NONE &&
        includes_power(resolving, figures[rate], figures[power], power)) {
      struct figure included = *figures[power];
      included.origin = ORIGIN_CATALOGUE;
      included.text = NULL;
      included.source = "included in the colocation rent";
      included.part_of = "colo_power";
      figures[price] = resolving_keep(resolving, included);
      found = true;
    } else if (figures[price]->origin == ORIGIN_NONE && found)
      diagnostics_error(resolving->diagnostics,
                        figure_is_stated(figures[power]) ? figures[power]->place
                                                         : resolving->option->place,
                        "option '%s' pays for its power in case '%s' and so needs '%s' (%s)",
                        resolving->option->id, scenario->cases[c], model->declarations[price].name,
                        model->declarations[price].unit.text);
  }
}
