#include "model/scenario/resolving.h"

#include "base/csv.h"
#include "base/texts.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/scenario/option.h"

static void select_all(struct resolving *resolving) {
  const struct scenario *scenario = resolving->scenario;
  const struct amendment *amendment = resolving->amendment;
  const struct {
    const struct selections *said;
    bool amended;
  } layers[] = {{scenario->selections, false}, // the workload's
                {amendment ? &amendment->workload : NULL, true},
                {&scenario->selections[1 + resolving->number], false},
                {amendment ? &amendment->option : NULL, true}};
  for (size_t l = 0; l < sizeof layers / sizeof layers[0]; l++)
    for (int key = 0; key < SELECTION_KEYS && layers[l].said; key++)
      if (layers[l].said->keys[key].name) {
        resolving->selections.keys[key] = layers[l].said->keys[key];
        resolving->selections.notes[key] = layers[l].said->notes[key];
        resolving->selections.origins[key] = layers[l].said->origins[key];
        resolving->amended[key] = layers[l].amended;
      }
}

struct resolving resolving_new(struct scenario *scenario, size_t number,
                               const struct amendment *amendment, struct arena *arena,
                               struct diagnostics *diagnostics) {
  struct resolving resolving = {.scenario = scenario,
                                .number = number,
                                .option = &scenario->options[number],
                                .amendment = amendment,
                                .arena = arena,
                                .diagnostics = diagnostics};
  *resolving.option = (struct option){.id = resolving.option->id,
                                      .label = resolving.option->label,
                                      .place = resolving.option->place,
                                      .lacks_offer = resolving.option->lacks_offer,
                                      .accelerator = "",
                                      .accelerator_name = "",
                                      .record_remark = "",
                                      .power_doubt = "",
                                      .prefill_lack = "",
                                      .not_included = ""};
  resolving.option->figures = arena_array(
      arena, (size_t)scenario->model->count * scenario->case_count, sizeof(const struct figure *));
  select_all(&resolving);
  for (int key = 0; key < SELECTION_KEYS; key++)
    if (resolving.selections.notes[key])
      texts_add(&resolving.option->readings, arena, "%s", resolving.selections.notes[key]);
  return resolving;
}

const struct figure **resolving_figures(const struct resolving *resolving, size_t which_case) {
  return resolving->option->figures + which_case * (size_t)resolving->scenario->model->count;
}

const struct figure *resolving_figure(const struct resolving *resolving, size_t which_case,
                                      const char *input) {
  return option_figure(resolving->scenario, resolving->option, which_case,
                       model_find(resolving->scenario->model, input));
}

const struct figure *resolving_keep(const struct resolving *resolving, struct figure figure) {
  struct figure *kept = arena_alloc(resolving->arena, sizeof *kept);
  *kept = figure;
  return kept;
}

void resolving_fill_over(struct resolving *resolving, int declaration, enum origin over,
                         struct figure figure) {
  const struct figure *kept = resolving_keep(resolving, figure);
  for (size_t c = 0; c < resolving->scenario->case_count && declaration >= 0; c++) {
    const struct figure **at = &resolving_figures(resolving, c)[declaration];
    if ((*at)->origin == ORIGIN_NONE || (*at)->origin == over)
      *at = kept;
  }
}

void resolving_fill(struct resolving *resolving, int declaration, struct figure figure) {
  resolving_fill_over(resolving, declaration, ORIGIN_NONE, figure);
}

void resolving_pretend(struct resolving *resolving, const char *input) {
  resolving_fill(resolving, model_find(resolving->scenario->model, input),
                 (struct figure){.origin = ORIGIN_CATALOGUE, .value = 1, .source = "", .date = ""});
}

bool resolving_has(const struct resolving *resolving, int declaration) {
  return declaration >= 0 && resolving->option->figures[declaration]->origin != ORIGIN_NONE;
}

bool resolving_cell(const struct table *table, size_t row, const char *column,
                    struct figure *figure) {
  double value;
  if (!table_number(table, row, column, &value))
    return false;
  *figure = figure_found(value, table_place(table, row, column), catalog_grade(table, row),
                         table_cell(table, row, "source_title"), table_cell(table, row, "as_of"));
  return true;
}
