#include "model/scenario/resolution/left_out.h"

#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/schedule.h"
#include "model/delivery/offer.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/currency.h"
#include "model/scenario/sources/quoted_sums.h"

#include <string.h>

static bool is_input(const struct option *option, int declaration) {
  return option->graph->state[declaration] == GRAPH_INPUT;
}

// The input itself, or the years of its list.
static int stated_inputs(const struct option *option, int declaration, int *inputs) {
  const struct declaration *list = &option->graph->model->declarations[declaration];
  int count = 0;
  if (is_input(option, declaration)) {
    inputs[0] = declaration;
    return 1;
  }
  for (int i = 0; i < list->year_count; i++) {
    const int year = option_stated(option, list->years[i]);
    if (is_input(option, year))
      inputs[count++] = year;
  }
  return count;
}

const char *left_out_notice(const struct scenario *scenario, int declaration) {
  const struct declaration *cost = &scenario->model->declarations[declaration];
  if (cost->notice || !scenario->offer_count)
    return cost->notice;
  for (int line = OFFER_SERVERS; line < OFFER_LINES; line++)
    if (!strcmp(offer_lines[line].input, cost->name))
      return offer_lines[line].key;
  return NULL;
}

int left_out_priced(const struct option *option, int declaration, int *inputs) {
  const int priced = option->graph->model->declarations[declaration].needed_with;
  return priced < 0 ? 0 : stated_inputs(option, option_stated(option, priced), inputs);
}

int left_out_sum(const struct option *option, int declaration) {
  const int sum = quoted_sums_beside(option->graph->model, declaration);
  return sum >= 0 && is_input(option, sum) ? sum : -1;
}

static bool has_priced(const struct scenario *scenario, const struct option *option,
                       size_t which_case, int declaration) {
  int inputs[MAX_LIST];
  const int count = left_out_priced(option, declaration, inputs);
  for (int i = 0; i < count; i++)
    if (option_figure(scenario, option, which_case, inputs[i])->value != 0)
      return true;
  return count == 0;
}

// A rent includes what it is not opted out of, but never engineers.
static bool may_lack(const struct option *option, const struct declaration *cost) {
  return !option->rented || cost->only_with >= 0 || cost->needed_with >= 0;
}

int left_out_inputs(const struct scenario *scenario, const struct option *option, int declaration,
                    int *inputs) {
  const struct declaration *cost = &scenario->model->declarations[declaration];
  if (!left_out_notice(scenario, declaration) || !may_lack(option, cost))
    return 0;
  return stated_inputs(option, declaration, inputs);
}

int left_out_scale(const struct option *option, int declaration) {
  const int scale = option->graph->model->declarations[declaration].scale;
  const bool is_list = !is_input(option, declaration);
  return is_list && scale >= 0 && is_input(option, scale) ? scale : -1;
}

bool left_out(const struct scenario *scenario, const struct option *option, size_t which_case,
              int declaration) {
  int inputs[MAX_LIST];
  const int count = left_out_inputs(scenario, option, declaration, inputs);
  const int scale = left_out_scale(option, declaration);
  bool sourced = true;
  const int sum = left_out_sum(option, declaration);
  if (!count || !has_priced(scenario, option, which_case, declaration) ||
      (sum >= 0 && option_figure(scenario, option, which_case, sum)->value != 0))
    return false;
  if (scale >= 0 && option_figure(scenario, option, which_case, scale)->value == 0)
    return !figure_has_source(option_figure(scenario, option, which_case, scale));
  for (int i = 0; i < count; i++) {
    const struct figure *figure = option_figure(scenario, option, which_case, inputs[i]);
    if (figure->value != 0)
      return false;
    sourced &= figure_has_source(figure);
  }
  return !sourced;
}

int left_out_within(const struct scenario *scenario, const struct option *option, size_t which_case,
                    int declaration) {
  const char *whole = option_figure(scenario, option, which_case, declaration)->part_of;
  return whole ? option_moved(option, model_find(scenario->model, whole)) : -1;
}

int left_out_rent(const struct scenario *scenario, const struct option *option, size_t which_case,
                  int declaration, int *inputs) {
  const int whole = left_out_within(scenario, option, which_case, declaration);
  const int rent = whole < 0 ? -1 : scenario->model->declarations[whole].only_with;
  return rent < 0 ? 0 : stated_inputs(option, option_stated(option, rent), inputs);
}
