#include "model/scenario/resolution/exclusions.h"

#include "base/diagnostics.h"
#include "base/ini.h"
#include "model/cost/model.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/refusal.h"
#include "model/scenario/resolving.h"
#include "model/scenario/scenario.h"
#include "model/scenario/selection.h"

#include <stdbool.h>
#include <string.h>

static void report_both(const struct resolving *resolving, int a, int b,
                        const struct figure **figures) {
  const struct declaration *declarations = resolving->scenario->model->declarations;
  diagnostics_error(resolving->diagnostics, figures[a]->place,
                    "option '%s' has both '%s' and '%s': give only one", resolving->option->id,
                    declarations[a].name, declarations[b].name);
}

static void settle_pair(const struct resolving *resolving, int a, int b,
                        const struct figure **figures) {
  if (!figure_exists(figures[a]) || !figure_exists(figures[b]))
    return;
  if (figure_is_of_option(figures[a]) == figure_is_of_option(figures[b]))
    report_both(resolving, a, b, figures);
  else
    figures[figure_is_of_option(figures[a]) ? b : a] = &figure_none;
}

// Settles pairs that exclude each other: an error, or the option level wins over the common one.
static void settle_pairs(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const int conflicts = input->conflicts;
    if (conflicts >= 0 && figure_exists(figures[d]) && figure_exists(figures[conflicts]) &&
        figure_highest(figures[d]) != 0 && figure_highest(figures[conflicts]) != 0)
      report_both(resolving, d, conflicts, figures);
    const bool together = input->unless >= 0 && figure_exists(figures[input->unless]);
    for (int i = 0; i < input->instead_count && !together; i++)
      settle_pair(resolving, d, input->instead_of[i], figures);
  }
}

// A row of prices counts as the option's own list price when compared with a rent, before its value
// has been looked up.
void exclusions_settle_purchase(const struct resolving *resolving, const struct figure **figures) {
  const int list_price = model_find(resolving->scenario->model, "list_price");
  const struct ini_key *price = selection_of(&resolving->selections, SELECT_PRICE);
  const bool pending = list_price >= 0 && price && !figure_exists(figures[list_price]);
  if (pending)
    figures[list_price] = resolving_keep(
        resolving,
        (struct figure){.origin = ORIGIN_OPTION, .place = price->place, .source = "", .date = ""});
  settle_pairs(resolving, figures);
  if (pending)
    figures[list_price] = &figure_none;
}

// Whether the figure ranks below what is stated at that layer. An offer's does so also at its own
// layer.
static bool ranks_below(const struct scenario *scenario, const struct figure *figure,
                        enum origin origin) {
  return figure->origin < origin ||
         (figure->origin == origin && scenario_offer_of(scenario, figure) != NULL);
}

void exclusions_settle_named(const struct resolving *resolving, const struct figure **figures) {
  const struct selections *selections = &resolving->selections;
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const int key = selection_giving(selections, model->declarations[d].name);
    if (key >= 0 && ranks_below(resolving->scenario, figures[d], selections->origins[key]))
      figures[d] = &figure_none;
  }
  // A row has all prices, whether or not it lists one for cached input.
  for (size_t i = 0; i < SELECTION_API_PRICES; i++) {
    const int d = model_find(model, selection_api_prices[i]);
    if (d >= 0 && selection_of(selections, SELECT_API) && figure_is_of_option(figures[d]) &&
        figures[d]->origin < selections->origins[SELECT_API])
      figures[d] = &figure_none;
  }
}

// Leaves out inputs that a bought option does not use.
static void leave_out_rent(const struct resolving *resolving, const struct figure **figures) {
  static const char *const shares[] = {"reserved_share", "spot_share"};
  for (size_t i = 0; i < sizeof shares / sizeof shares[0]; i++) {
    const int d = model_find(resolving->scenario->model, shares[i]);
    if (d < 0 || !figure_exists(figures[d]))
      continue;
    if (figure_is_of_option(figures[d]))
      diagnostics_error(resolving->diagnostics, figures[d]->place,
                        "'%s' applies to a rent, and option '%s' has none", shares[i],
                        resolving->option->id);
    figures[d] = &figure_none;
  }
}

void exclusions_settle_rent(const struct resolving *resolving, const struct figure **figures) {
  static const struct figure paid = {
      .origin = ORIGIN_RENT, .grade = GRADE_ASSUMED, .source = "included in the rent", .date = ""};
  const struct model *model = resolving->scenario->model;
  const int list_price = model_find(model, "list_price");
  for (int i = 0; list_price >= 0 && i < model->declarations[list_price].instead_count; i++)
    resolving->option->rented |=
        figure_exists(figures[model->declarations[list_price].instead_of[i]]);
  if (!resolving->option->rented) {
    leave_out_rent(resolving, figures);
    return;
  }
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    if (!input->in_rent)
      continue;
    if (figure_is_of_option(figures[d]))
      refuse_rented(resolving->diagnostics, figures[d]->place, input->name, resolving->option->id);
    // Inputs that an option may lack, a rented one lacks.
    figures[d] = input->has_default || input->required ? &paid : &figure_none;
  }
}
