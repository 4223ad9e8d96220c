#include "model/whatif/price_terms.h"

#include "base/arena.h"
#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/own_item.h"
#include "model/cost/units.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <string.h>

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

// What consists of others that are named by themselves, and the price of tokens itself.
static const char *const sums[] = {"capex", "other_total", "api_total"};

// The words for what may move along, NULL for anything else: the buyer's own items have a label.
static const char *words_of(const struct model *model, int declaration) {
  const struct declaration *item = &model->declarations[declaration];
  for (size_t t = 0; t < sizeof terms / sizeof terms[0]; t++)
    if (!strcmp(terms[t].item, item->name))
      return terms[t].words;
  for (size_t i = 0; i < sizeof sums / sizeof sums[0]; i++)
    if (!strcmp(sums[i], item->name))
      return NULL;
  if (item->own != OWN_NONE)
    return model->declarations[own_item_of(model, declaration)].label;
  return item->role == ROLE_CATEGORY ? item->label : NULL;
}

static double total(const struct variation *variation, size_t option, int declaration,
                    size_t column) {
  const struct graph *graph = variation->scenario->options[option].graph;
  double sum = variation_item(variation, option, declaration, column);
  for (int t = 1; t < variation->scenario->periods && graph_is_series(graph, declaration); t++)
    sum += evaluation_at(variation->evaluations[option], declaration, t)[column];
  return sum;
}

static bool moves(const struct variation *variation, size_t option, int declaration) {
  if (!option_has(&variation->scenario->options[option], declaration))
    return false;
  const double a = total(variation, option, declaration, 0);
  const double b = total(variation, option, declaration, 1);
  return fabs(a - b) > MOVES * fmax(fabs(a), fabs(b));
}

static bool moves_named(const struct variation *variation, size_t option, const char *item) {
  const int declaration = model_find(variation->scenario->model, item);
  return declaration >= 0 && moves(variation, option, declaration);
}

struct texts price_terms(const struct scenario *scenario, struct target target, size_t option,
                         struct arena *arena) {
  struct texts moved = {0};
  struct variation *variation = variation_new(scenario, 2, arena);
  const double value = target_value(scenario, target);
  const double unit = unit_factor(&target_input(scenario, target)->unit);
  variation_set(variation, target, 1, value != 0 ? 0.99 * value : unit);
  variation_evaluate(variation);
  if ((!moves_named(variation, option, "hardware_cost") &&
       !moves_named(variation, option, "api_total")) ||
      moves_named(variation, option, "accelerators_bought"))
    return moved;
  for (int d = 0; d < scenario->model->count; d++) {
    const char *words = words_of(scenario->model, d);
    if (words && moves(variation, option, d))
      texts_add(&moved, arena, "%s", words);
  }
  return moved;
}
