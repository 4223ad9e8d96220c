#include "model/scenario/sources/quoted_sums.h"

#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/inputs.h"
#include "model/scenario/option.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

static const struct {
  const char *share, *sum;
} pairs[] = {{"support", "support_sum"},
             {"installation", "installation_sum"},
             {"purchase_tax", "purchase_tax_sum"}};

enum { PAIRS = sizeof pairs / sizeof pairs[0] };

static bool outranks(const struct scenario *scenario, const struct figure *a,
                     const struct figure *b) {
  if (a->origin != b->origin)
    return a->origin > b->origin;
  return !scenario_offer_of(scenario, a) && scenario_offer_of(scenario, b);
}

// The 0 of what another statement replaces, with that one's provenance.
static struct figure nothing_of(const struct figure *statement) {
  struct figure nothing = *statement;
  nothing.value = 0;
  nothing.text = NULL;
  nothing.in_usd = false;
  return nothing;
}

// That of a share. Its source says that the cost is not forgotten.
static struct figure no_share(const struct figure *sum) {
  struct figure nothing = nothing_of(sum);
  if (!nothing.source || !*nothing.source)
    nothing.source = "stated as a fixed sum";
  return nothing;
}

// A share and the sum that may be paid beside it.
struct pair {
  const struct figure *share, *sum;
};

static struct pair stronger_of(const struct resolving *resolving, struct pair pair) {
  const struct scenario *scenario = resolving->scenario;
  const bool both = figure_exists(pair.share) && figure_exists(pair.sum);
  if (both && outranks(scenario, pair.share, pair.sum))
    pair.sum = resolving_keep(resolving, nothing_of(pair.share));
  else if (pair.sum->value > 0 && (!both || outranks(scenario, pair.sum, pair.share)))
    pair.share = resolving_keep(resolving, no_share(pair.sum));
  return pair;
}

// The figure, or what it is without the change that it is.
static const struct figure *unchanged(const struct resolving *resolving, size_t which,
                                      const struct figure *figure, int declaration) {
  return inputs_is_change(resolving->scenario, figure)
             ? inputs_unchanged(resolving->scenario, resolving->number, which, declaration)
             : figure;
}

// A change is of one input, as in a cell: the other stays what it is without the change.
static void settle_pair(const struct resolving *resolving, size_t which, int share, int sum) {
  const struct figure **figures = resolving_figures(resolving, which);
  const struct pair stated = {figures[share], figures[sum]};
  const struct pair settled =
      stronger_of(resolving, (struct pair){unchanged(resolving, which, stated.share, share),
                                           unchanged(resolving, which, stated.sum, sum)});
  if (!inputs_is_change(resolving->scenario, stated.share))
    figures[share] = settled.share;
  if (!inputs_is_change(resolving->scenario, stated.sum))
    figures[sum] = settled.sum;
}

// A statement of a sum in any case, or NULL.
static const struct figure *any_sum(const struct resolving *resolving) {
  for (size_t c = 0; c < resolving->scenario->case_count; c++)
    for (size_t p = 0; p < PAIRS; p++) {
      const struct figure *sum = resolving_figure(resolving, c, pairs[p].sum);
      if (figure_exists(sum))
        return sum;
    }
  return NULL;
}

void quoted_sums_settle(const struct resolving *resolving) {
  const struct model *model = resolving->scenario->model;
  const struct option *option = resolving->option;
  const struct figure *any = option->rented || option->provider ? NULL : any_sum(resolving);
  const int first = model_find(model, pairs[0].sum);
  for (size_t c = 0; any && c < resolving->scenario->case_count; c++) {
    const struct figure **figures = resolving_figures(resolving, c);
    for (size_t p = 0; p < PAIRS; p++)
      settle_pair(resolving, c, model_find(model, pairs[p].share), model_find(model, pairs[p].sum));
    const struct figure *share = figures[model_find(model, pairs[0].share)];
    if (!figure_exists(figures[first]))
      figures[first] = resolving_keep(resolving, nothing_of(figure_exists(share) ? share : any));
  }
}

bool quoted_sums_is_sum(const struct model *model, int declaration) {
  for (size_t p = 0; p < PAIRS; p++)
    if (!strcmp(pairs[p].sum, model->declarations[declaration].name))
      return true;
  return false;
}

int quoted_sums_beside(const struct model *model, int share) {
  for (size_t p = 0; p < PAIRS; p++)
    if (!strcmp(pairs[p].share, model->declarations[share].name))
      return model_find(model, pairs[p].sum);
  return -1;
}

int quoted_sums_added(const struct scenario *scenario, const struct option *option, int pair,
                      const char **share, const char **sum) {
  for (; pair < PAIRS; pair++) {
    const struct figure *figures[2];
    *share = pairs[pair].share;
    *sum = pairs[pair].sum;
    for (size_t i = 0; i < 2; i++)
      figures[i] = option_figure(scenario, option, scenario->selected,
                                 model_find(scenario->model, i ? *sum : *share));
    const bool changed =
        inputs_is_change(scenario, figures[0]) || inputs_is_change(scenario, figures[1]);
    if (changed && figures[0]->value > 0 && figures[1]->value > 0)
      return pair;
  }
  return -1;
}
