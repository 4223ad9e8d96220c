#include "reports/workbook/inputs_rows.h"

#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/range.h"
#include "model/scenario/scenario.h"

bool input_is_common(const struct book *book, const struct option_sheet *sheet, size_t which_case,
                     int declaration) {
  const struct figure *figure =
      option_figure(book->scenario, sheet->option, which_case, declaration);
  const bool own = option_scales_own(book->scenario, sheet->option, which_case, declaration);
  enum origin origin = own ? ORIGIN_DEFAULT : figure->origin;
  bool per_option = book->scenario->model->declarations[declaration].per_option;
  return !figure->contained && (origin == ORIGIN_COMMON || origin == ORIGIN_CASE ||
                                origin == ORIGIN_SET || (origin == ORIGIN_DEFAULT && !per_option));
}

bool input_is_read(const struct option_sheet *sheet, int declaration) {
  return sheet->option->graph->state[declaration] == GRAPH_INPUT;
}

static bool is_always(const struct book *book, const struct option_sheet *sheet, int declaration,
                      enum origin origin) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (option_figure(book->scenario, sheet->option, c, declaration)->origin != origin)
      return false;
  return true;
}

static bool is_ever_given(const struct book *book, const struct option_sheet *sheet,
                          int declaration) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (input_is_read(sheet, declaration) && amount_in(sheet, declaration, 0, c) != 0)
      return true;
  return false;
}

// Whether something is given that replaces it.
static bool is_replaced(const struct book *book, const struct option_sheet *sheet,
                        int declaration) {
  const struct model *model = book->scenario->model;
  for (int d = 0; d < model->count; d++)
    if (model_excludes(model, d, declaration) && is_ever_given(book, sheet, d))
      return true;
  return false;
}

bool input_does_not_apply(const struct book *book, const struct option_sheet *sheet,
                          int declaration) {
  if (!input_is_read(sheet, declaration) || is_ever_given(book, sheet, declaration))
    return false;
  if (is_always(book, sheet, declaration, ORIGIN_RENT))
    return book->scenario->model->declarations[declaration].in_rent;
  return is_always(book, sheet, declaration, ORIGIN_DEFAULT) &&
         is_replaced(book, sheet, declaration);
}

bool input_has_row(const struct book *book, const struct option_sheet *sheet, int declaration) {
  return input_is_read(sheet, declaration) && !option_is_lent(sheet->option, declaration) &&
         !input_does_not_apply(book, sheet, declaration);
}

bool input_is_shared(const struct book *book, const struct option_sheet *sheet, int declaration) {
  for (size_t c = 0; c < book->scenario->case_count; c++)
    if (!input_is_common(book, sheet, c, declaration))
      return false;
  return input_has_row(book, sheet, declaration);
}
