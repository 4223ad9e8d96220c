#include "model/scenario/resolution/times.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/cost/arithmetic.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <string.h>

// A life shorter than a period cannot be modeled.
static void check_life(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int life = model_find(scenario->model, "life");
  for (size_t c = 0; life >= 0 && c < scenario->case_count; c++) {
    const struct figure *figure = resolving_figures(resolving, c)[life];
    const struct unit *unit = &scenario->model->declarations[life].unit;
    if (!figure_is_given(figure) || figure->value <= 0 ||
        arithmetic_reaches(figure->value, scenario->period_h))
      continue;
    diagnostics_error(resolving->diagnostics, figure->place,
                      "option '%s' has a 'life' of %s, which is shorter than a period of %s: give "
                      "[scenario] a shorter 'period'",
                      resolving->option->id, quantity_text(figure->value, unit, resolving->arena),
                      quantity_text(scenario->period_h, unit, resolving->arena));
    return;
  }
}

// Checks that hardware that is renewed can be ordered within its life.
static void check_lead_time(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int life = model_find(scenario->model, "life");
  const int lead_time = model_find(scenario->model, "lead_time");
  for (size_t c = 0; life >= 0 && lead_time >= 0 && c < scenario->case_count; c++) {
    const struct figure *const *figures = resolving_figures(resolving, c);
    if (!figure_is_given(figures[life]) || !figure_is_given(figures[lead_time]) ||
        figures[lead_time]->value <= figures[life]->value)
      continue;
    diagnostics_error(resolving->diagnostics, figures[lead_time]->place,
                      "option '%s' has a life shorter than its lead time: it would be retired "
                      "before it arrives",
                      resolving->option->id);
    return;
  }
}

// "40 month"
static const char *figure_words(const struct resolving *resolving, size_t which, int input) {
  return quantity_text(resolving_figures(resolving, which)[input]->value,
                       &resolving->scenario->model->declarations[input].unit, resolving->arena);
}

static void refuse_delay(const struct resolving *resolving, const struct figure *delay,
                         const char *why) {
  diagnostics_error(resolving->diagnostics, delay->place, "option '%s' has a 'delivery_delay' %s",
                    resolving->option->id, why);
}

// Whether hardware is retired before a time: after the last whole period of its life.
static bool retires_before(const struct resolving *resolving, const struct figure *const *figures,
                           double time) {
  const struct scenario *scenario = resolving->scenario;
  const int life = model_find(scenario->model, "life");
  if (life < 0 || !figure_is_given(figures[life]))
    return false;
  const double periods = arithmetic_floor(figures[life]->value / scenario->period_h);
  return arithmetic_reaches(time, periods * scenario->period_h);
}

// Checks that late hardware arrives within the horizon, and before it is retired.
static void check_delivery_delay(const struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const int delay = model_find(scenario->model, "delivery_delay");
  const int horizon = model_find(scenario->model, "horizon");
  for (size_t c = 0; delay >= 0 && horizon >= 0 && c < scenario->case_count; c++) {
    const struct figure *const *figures = resolving_figures(resolving, c);
    if (!figure_is_given(figures[delay]))
      continue;
    if (figures[delay]->value > 0 && retires_before(resolving, figures, figures[delay]->value)) {
      refuse_delay(resolving, figures[delay],
                   arena_printf(resolving->arena,
                                "of %s: what is late would be retired before it arrives",
                                figure_words(resolving, c, delay)));
      return;
    }
    if (arithmetic_reaches(figures[delay]->value, figures[horizon]->value)) {
      refuse_delay(resolving, figures[delay],
                   arena_printf(resolving->arena, "of %s: what is late never arrives within %s",
                                figure_words(resolving, c, delay),
                                figure_words(resolving, c, horizon)));
      return;
    }
  }
}

void times_check(const struct resolving *resolving) {
  check_life(resolving);
  check_lead_time(resolving);
  check_delivery_delay(resolving);
}
