#include "model/whatif/price_terms.h"

#include "model/cost/model.h"
#include "model/cost/units.h"

#include <math.h>
#include <stdbool.h>

// Far above the rounding of a sum, far below any cost that is worth a word.
#define MOVES 1e-9

static const struct {
  const char *item, *words;
} terms[] = {{"installation_cost", "installation"},
             {"tax_cost", "tax and freight"},
             {"support_total", "support"},
             {"repair_total", "repair"},
             {"residual_total", "residual value"},
             {"remedy_total", "remedy"},
             {"damages_total", "damages for the delay"}};

static bool moves(const struct variation *variation, size_t option, const char *item) {
  const int d = model_find(variation->scenario->model, item);
  const double a = d < 0 ? NAN : variation_item(variation, option, d, 0);
  const double b = d < 0 ? NAN : variation_item(variation, option, d, 1);
  return fabs(a - b) > MOVES * fmax(fabs(a), fabs(b));
}

struct texts price_terms(const struct scenario *scenario, struct target target, size_t option,
                         struct arena *arena) {
  struct texts moved = {0};
  struct variation *variation = variation_new(scenario, 2, arena);
  const double value = target_value(scenario, target);
  const double unit = unit_factor(&target_input(scenario, target)->unit);
  variation_set(variation, target, 1, value != 0 ? 0.99 * value : unit);
  variation_evaluate(variation);
  if (!moves(variation, option, "hardware_cost") || moves(variation, option, "accelerators_bought"))
    return moved;
  for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
    if (moves(variation, option, terms[t].item))
      texts_add(&moved, arena, "%s", terms[t].words);
  return moved;
}
