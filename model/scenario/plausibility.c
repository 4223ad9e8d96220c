#include "model/scenario/plausibility.h"

#include "base/arena.h"
#include "base/csv.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/catalog.h"
#include "model/scenario/currency.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/published_bounds.h"

#include <stdbool.h>
#include <stddef.h>

// Throughput is as low as one likes at a small batch, and so is the overhead of cooling.
static const struct looked_at {
  const char *input;
  enum catalog_table table;
  bool low_as_well;
} looked_at[] = {
    {"throughput", CATALOG_THROUGHPUT, false},
    {"list_price", CATALOG_PRICES, true},
    {"electricity_price", CATALOG_POWER, true},
    {"pue", CATALOG_POWER, false},
};

// Typed, and neither taken from the catalogue nor left at a default.
static const struct figure *typed_figure(const struct scenario *scenario, size_t option,
                                         const char *input, int *declaration) {
  const struct option *of = &scenario->options[option];
  *declaration = option_stated(of, model_find(scenario->model, input));
  if (*declaration < 0)
    return NULL;
  const struct figure *figure = option_figure(scenario, of, scenario->selected, *declaration);
  return figure->origin >= ORIGIN_COMMON ? figure : NULL;
}

// "207 times", "1/843 of"
static const char *ratio_text(double ratio, struct arena *arena) {
  if (ratio < 1)
    return arena_printf(arena, "1/%.0f of", 1 / ratio);
  return arena_printf(arena, ratio < 10 ? "%.1f times" : "%.0f times", ratio);
}

static void warn(const struct scenario *scenario, size_t option, int declaration, double value,
                 double beside, const char *what, const char *from, struct arena *arena) {
  const struct declaration *input = &scenario->model->declarations[declaration];
  texts_add(&scenario->options[option].warnings, arena,
            "%s, %s, is %s the %s, %s (%s): is its unit right?", input->name,
            quantity_text(value, &input->unit, arena), ratio_text(value / beside, arena), what,
            quantity_text(beside, &input->unit, arena), from);
}

static void look_at(const struct scenario *scenario, size_t option, const struct looked_at *input,
                    struct arena *arena) {
  int d;
  struct published published;
  const struct figure *figure = typed_figure(scenario, option, input->input, &d);
  if (!figure || figure->value <= 0 || !catalog_glance(scenario->catalog, input->table) ||
      !published_input(scenario, option, d, &published))
    return;
  if (figure->value > PLAUSIBILITY_TIMES * published.high)
    warn(scenario, option, d, figure->value, published.high, "highest published", published.high_id,
         arena);
  else if (input->low_as_well && PLAUSIBILITY_TIMES * figure->value < published.low)
    warn(scenario, option, d, figure->value, published.low, "lowest published", published.low_id,
         arena);
}

static void look_at_power(const struct scenario *scenario, size_t option, struct arena *arena) {
  int d;
  double tdp_w;
  const char *accelerator = scenario->options[option].accelerator;
  const struct figure *figure = typed_figure(scenario, option, "load_power", &d);
  const struct table *table = catalog_glance(scenario->catalog, CATALOG_ACCELERATORS);
  const long row = table ? catalog_find(table, accelerator) : -1;
  if (!figure || row < 0 || !table_number(table, (size_t)row, "tdp_w", &tdp_w))
    return;
  if (figure->value > PLAUSIBILITY_TDP_HIGH * tdp_w || figure->value < PLAUSIBILITY_TDP_LOW * tdp_w)
    warn(scenario, option, d, figure->value, tdp_w, "TDP", accelerator, arena);
}

void plausibility_warn(const struct scenario *scenario, size_t option, struct arena *arena) {
  for (size_t i = 0; i < sizeof looked_at / sizeof looked_at[0]; i++)
    look_at(scenario, option, &looked_at[i], arena);
  look_at_power(scenario, option, arena);
}
