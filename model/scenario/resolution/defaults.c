#include "model/scenario/resolution/defaults.h"

#include "model/cost/model.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/resolving.h"

#include <stdbool.h>
#include <string.h>

bool defaults_stated_somewhere(const struct resolving *resolving, int declaration) {
  const struct declaration *input = &resolving->scenario->model->declarations[declaration];
  const bool may_be = input->has_default || input->year_of >= 0 || input->scale_of >= 0;
  for (size_t c = 0; c < (may_be ? resolving->scenario->case_count : 0); c++)
    if (figure_is_stated(resolving_figures(resolving, c)[declaration]))
      return true;
  return false;
}

static bool may_apply(const struct resolving *resolving, const struct declaration *input,
                      const struct figure **figures) {
  return (input->only_with < 0 || figure_is_given(figures[input->only_with]) ||
          defaults_stated_somewhere(resolving, input->only_with)) &&
         (input->absent_with < 0 || !figure_is_given(figures[input->absent_with]));
}

// Reuses the previous option's figure if it is equal: with thousands of options, most defaults are.
static const struct figure *keep_default(const struct resolving *resolving, int declaration,
                                         struct figure figure) {
  const size_t before = resolving->number ? resolving->number - 1 : 0;
  const struct figure **figures = resolving->scenario->options[before].figures;
  const struct figure *its = figures ? figures[declaration] : NULL;
  const bool same = its && its->origin == figure.origin && its->source == figure.source &&
                    its->value == figure.value;
  return same ? its : resolving_keep(resolving, figure);
}

void defaults_apply(const struct resolving *resolving, const struct figure **figures) {
  const struct model *model = resolving->scenario->model;
  for (int d = 0; d < model->count; d++) {
    const struct declaration *input = &model->declarations[d];
    const bool neutral = resolving->option->rented && input->has_rent_default;
    if (figure_exists(figures[d]) || !may_apply(resolving, input, figures) ||
        (!input->has_default && !neutral))
      continue;
    figures[d] =
        keep_default(resolving, d,
                     (struct figure){.origin = neutral ? ORIGIN_RENT : ORIGIN_DEFAULT,
                                     .value = neutral ? input->rent_default : input->default_value,
                                     .grade = GRADE_ASSUMED,
                                     .source = neutral ? "included in the rent" : "default",
                                     .date = ""});
  }
}
