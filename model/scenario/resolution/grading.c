#include "model/scenario/resolution/grading.h"

#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/reading/currency.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

const struct graded_input graded_inputs[GRADED_INPUTS] = {
    {"throughput", SHOWN_THROUGHPUT},
    {"decode_throughput", SHOWN_THROUGHPUT},
    {"prefill_throughput", SHOWN_THROUGHPUT},
    {"load_power", SHOWN_POWER},
    {"prefill_power", SHOWN_POWER},
    {"list_price", SHOWN_PRICE},
    {"rental_rate", SHOWN_PRICE},
    {"on_demand_rate", SHOWN_PRICE},
    {"spot_rate", SHOWN_PRICE},
    {"output_price", SHOWN_PRICE},
    {"input_price", SHOWN_PRICE},
    {"cached_input_price", SHOWN_PRICE},
    {"burst_price", SHOWN_PRICE},
    {"burst_rate", SHOWN_PRICE},
};

enum grade grading_strongest(const struct scenario *scenario, const struct option *option,
                             int declaration) {
  static const char *const rates[] = {"decode_throughput", "prefill_throughput"};
  static const char *const watts[] = {"load_power", "prefill_power"};
  const struct model *model = scenario->model;
  const int prefill_power = model_find(model, watts[1]);
  const bool weighted = prefill_power >= 0 && option_has(option, prefill_power);
  for (size_t i = 0; i < 2 && option->serving_estimate; i++)
    if (declaration == model_find(model, rates[i]) ||
        (weighted && declaration == model_find(model, watts[i])))
      return GRADE_PROJECTED;
  return GRADE_MEASURED;
}

enum grade grading_counted(const struct scenario *scenario, const struct option *option,
                           int declaration) {
  const int list = scenario->model->declarations[declaration].scale_of;
  const struct figure *figure =
      option_figure(scenario, option, scenario->selected, list < 0 ? declaration : list);
  return grade_weaker(figure->grade, grading_strongest(scenario, option, declaration));
}

bool grading_is_price(const struct scenario *scenario, const struct option *option,
                      int declaration) {
  for (size_t g = 0; g < GRADED_INPUTS; g++)
    if (graded_inputs[g].shown == SHOWN_PRICE &&
        declaration == option_moved(option, model_find(scenario->model, graded_inputs[g].input)))
      return true;
  return false;
}

double grading_raised(const struct scenario *scenario, const struct option *option, int declaration,
                      double value) {
  return value == 0 && grading_is_price(scenario, option, declaration)
             ? unit_cell_factor(&scenario->model->declarations[declaration].unit)
             : value * (1 + GRADE_SWING);
}

double grading_matters(const struct scenario *scenario, const struct option *option,
                       int declaration, double value) {
  return value == 0 && grading_is_price(scenario, option, declaration) ? 0 : GRADE_MATTERS;
}

double grading_influence(double cost, double lowered, double raised) {
  if (cost == 0)
    return lowered != 0 || raised != 0;
  const double low = isfinite(lowered) ? lowered : 0, high = isfinite(raised) ? raised : 0;
  return fmax(fabs(low / cost - 1), fabs(high / cost - 1));
}

// The relative change of the cost per token if each of some inputs alone falls and rises: computed
// as a block of cases, of which case 0 is the unchanged option. -1 is not an input, and moves
// nothing.
static void find_influences(const struct scenario *scenario, const struct option *option,
                            const int *inputs, size_t count, double *influences) {
  const struct model *model = scenario->model;
  const size_t width = 1 + 2 * count;
  struct arena scratch = {NULL};
  struct evaluation *block = evaluation_like(option->evaluation, width, &scratch);
  for (int d = 0; d < model->count; d++)
    for (size_t i = 0; i < width && option->graph->state[d] == GRAPH_INPUT; i++)
      evaluation_at(block, d, 0)[i] = evaluation_at(option->evaluation, d, 0)[scenario->selected];
  for (size_t i = 0; i < count; i++) {
    if (inputs[i] < 0)
      continue;
    double *values = evaluation_at(block, inputs[i], 0);
    values[1 + 2 * i] *= 1 - GRADE_SWING;
    values[2 + 2 * i] = grading_raised(scenario, option, inputs[i], values[0]);
  }
  evaluate(block);
  const double *costs = evaluation_at(block, model_cost_item(model), 0);
  for (size_t i = 0; i < count; i++)
    influences[i] = grading_influence(costs[0], costs[1 + 2 * i], costs[2 + 2 * i]);
  arena_free(&scratch);
}

// The inputs that may count for the headline: those of the table (-1 for one that the option
// computes), then every number in the user's items.
struct weighing {
  int *inputs;
  double *influences;
  size_t count;
};

static struct weighing weigh(const struct scenario *scenario, const struct option *option,
                             struct arena *arena) {
  enum { BLOCK = 32 };
  const struct model *model = scenario->model;
  const size_t most = GRADED_INPUTS + (size_t)model->count;
  struct weighing weighing = {arena_array(arena, most, sizeof(int)),
                              arena_array(arena, most, sizeof(double)), GRADED_INPUTS};
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const int d = option_moved(option, model_find(model, graded_inputs[g].input));
    weighing.inputs[g] = d >= 0 && option->graph->state[d] == GRAPH_INPUT ? d : -1;
  }
  for (int d = 0; d < model->count; d++)
    if (model->declarations[d].literal && option->graph->state[d] == GRAPH_INPUT)
      weighing.inputs[weighing.count++] = d;
  for (size_t i = 0; i < weighing.count; i += BLOCK)
    find_influences(scenario, option, weighing.inputs + i,
                    weighing.count - i < BLOCK ? weighing.count - i : BLOCK,
                    weighing.influences + i);
  return weighing;
}

static size_t heaviest(const struct weighing *weighing) {
  size_t found = weighing->count;
  for (size_t i = GRADED_INPUTS; i < weighing->count; i++)
    if (weighing->inputs[i] >= 0 &&
        (found == weighing->count || weighing->influences[i] > weighing->influences[found]))
      found = i;
  return found;
}

static void list_graded(struct option *option, struct weighing *weighing, struct arena *arena) {
  int *graded = arena_array(arena, MAX_GRADED, sizeof *graded);
  option->graded = graded;
  option->graded_count = 0;
  for (size_t g = 0; g < GRADED_INPUTS; g++)
    if (weighing->inputs[g] >= 0)
      graded[option->graded_count++] = weighing->inputs[g];
  for (size_t i = heaviest(weighing); i < weighing->count && option->graded_count < MAX_GRADED;
       i = heaviest(weighing)) {
    graded[option->graded_count++] = weighing->inputs[i];
    weighing->inputs[i] = -1;
  }
}

static void grade_shown(const struct scenario *scenario, struct option *option) {
  enum grade shown[SHOWN_GRADES];
  bool seen[SHOWN_GRADES] = {false};
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const enum shown_grade which = graded_inputs[g].shown;
    const int d = option_stated(option, model_find(scenario->model, graded_inputs[g].input));
    if (d < 0 || option_figure(scenario, option, scenario->selected, d)->origin <= ORIGIN_RENT)
      continue;
    const enum grade grade = grading_counted(scenario, option, d);
    shown[which] = seen[which] ? grade_weaker(shown[which], grade) : grade;
    seen[which] = true;
  }
  for (int which = 0; which < SHOWN_GRADES; which++)
    if (!seen[which])
      shown[which] = option->provider ? shown[SHOWN_PRICE] : GRADE_ASSUMED;
  option->throughput_grade = shown[SHOWN_THROUGHPUT];
  option->power_grade = shown[SHOWN_POWER];
  option->price_grade = shown[SHOWN_PRICE];
}

void option_grade(const struct scenario *scenario, struct option *option, struct arena *arena) {
  struct arena scratch = {NULL};
  struct weighing weighing = weigh(scenario, option, &scratch);
  grade_shown(scenario, option);
  int of_all = -1, of_those_that_matter = -1; // no grade
  for (size_t i = 0; i < weighing.count; i++) {
    const int d = weighing.inputs[i];
    if (d < 0 || !figure_is_stated(option_figure(scenario, option, scenario->selected, d)))
      continue;
    const int grade = (int)grading_counted(scenario, option, d);
    of_all = grade > of_all ? grade : of_all;
    if (grade > of_those_that_matter &&
        weighing.influences[i] >
            grading_matters(scenario, option, d, option_value(scenario, option, d, 0)))
      of_those_that_matter = grade;
  }
  option->headline_grade = of_those_that_matter >= 0 ? (enum grade)of_those_that_matter
                           : of_all >= 0             ? (enum grade)of_all
                                                     : GRADE_ASSUMED;
  list_graded(option, &weighing, arena);
  arena_free(&scratch);
}
