#include "model/scenario/grading.h"

#include "base/texts.h"
#include "model/cost/evaluate.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement.h"
#include "model/evidence/workload.h"
#include "model/scenario/currency.h"
#include "model/scenario/figure.h"
#include "model/scenario/plausibility.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

// What a step grades or warns of.
struct subject {
  struct scenario *scenario;
  struct option *option;
  struct arena *arena;
};

static const struct figure *figure_of(const struct scenario *scenario, const struct option *option,
                                      const char *name) {
  static const struct figure none = {.origin = ORIGIN_NONE, .source = "", .date = ""};
  int d = option_stated(option, model_find(scenario->model, name));
  return d < 0 ? &none : option_figure(scenario, option, scenario->selected, d);
}

static bool is_there(const struct figure *figure) {
  return figure->origin != ORIGIN_NONE;
}

static enum grade weaker(enum grade a, enum grade b) {
  return a > b ? a : b;
}

const struct graded_input graded_inputs[GRADED_INPUTS] = {
    {"throughput", SHOWN_THROUGHPUT},
    {"decode_throughput", SHOWN_THROUGHPUT},
    {"prefill_throughput", SHOWN_THROUGHPUT},
    {"load_power", SHOWN_POWER},
    {"list_price", SHOWN_PRICE},
    {"rental_rate", SHOWN_PRICE},
};

// The relative change of the cost per token when each graded input alone falls and rises by a
// swing: one block of cases, in which case 0 is the option as it stands.
static void find_influences(const struct scenario *scenario, const struct option *option,
                            double influences[GRADED_INPUTS]) {
  const struct model *model = scenario->model;
  const size_t width = 1 + 2 * GRADED_INPUTS;
  struct arena scratch = {NULL};
  struct evaluation *block = evaluation_like(option->evaluation, width, &scratch);
  for (int d = 0; d < model->count; d++)
    for (size_t i = 0; i < width && option->graph->state[d] == GRAPH_INPUT; i++)
      evaluation_at(block, d, 0)[i] = evaluation_at(option->evaluation, d, 0)[scenario->selected];
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    int d = option_stated(option, model_find(model, graded_inputs[g].input));
    if (d < 0 || option->graph->state[d] != GRAPH_INPUT)
      continue;
    evaluation_at(block, d, 0)[1 + 2 * g] *= 1 - GRADE_SWING;
    evaluation_at(block, d, 0)[2 + 2 * g] *= 1 + GRADE_SWING;
  }
  evaluate(block);
  const double *costs = evaluation_at(block, model_find(model, "cost_per_mtok"), 0);
  for (size_t g = 0; g < GRADED_INPUTS; g++)
    influences[g] =
        fmax(fabs(costs[1 + 2 * g] / costs[0] - 1), fabs(costs[2 + 2 * g] / costs[0] - 1));
  arena_free(&scratch);
}

static void grade_option(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  struct option *option = subject->option;
  enum grade shown[SHOWN_GRADES];
  bool seen[SHOWN_GRADES] = {false};
  double influences[GRADED_INPUTS];
  find_influences(scenario, option, influences);
  option->headline_grade = GRADE_MEASURED;
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const struct figure *figure = figure_of(scenario, option, graded_inputs[g].input);
    if (figure->origin <= ORIGIN_RENT)
      continue;
    enum shown_grade which = graded_inputs[g].shown;
    shown[which] = seen[which] ? weaker(shown[which], figure->grade) : figure->grade;
    seen[which] = true;
    if (influences[g] > GRADE_MATTERS)
      option->headline_grade = weaker(option->headline_grade, figure->grade);
  }
  for (int which = 0; which < SHOWN_GRADES; which++)
    if (!seen[which])
      shown[which] = GRADE_ASSUMED;
  option->throughput_grade = shown[SHOWN_THROUGHPUT];
  option->power_grade = shown[SHOWN_POWER];
  option->price_grade = shown[SHOWN_PRICE];
}

static double amount(const struct scenario *scenario, const struct option *option,
                     const char *name) {
  int d = model_find(scenario->model, name);
  bool there = d >= 0 && option_has(option, d);
  return there ? option_value(scenario, option, d, 0) : 0;
}

static void list_not_included(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  struct option *option = subject->option;
  const struct model *model = scenario->model;
  option->not_included = "";
  for (int d = 0; d < model->count && !option->rented; d++) {
    const struct declaration *input = &model->declarations[d];
    const struct figure *figure = option_figure(scenario, option, scenario->selected, d);
    bool zero = option->graph->state[d] == GRAPH_INPUT && figure->origin != ORIGIN_CATALOGUE &&
                option_value(scenario, option, d, 0) == 0;
    if (input->notice && zero)
      option->not_included = arena_printf(subject->arena, "%s%s%s", option->not_included,
                                          *option->not_included ? ", " : "", input->notice);
  }
  if (*option->not_included)
    texts_add(&option->warnings, subject->arena, "not included, because at zero: %s",
              option->not_included);
}

static void warn_of_power(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  struct option *option = subject->option;
  const struct figure *load = figure_of(scenario, option, "load_power");
  const bool measured = option->record && load->place.source == option->record->place.source;
  if (load->origin == ORIGIN_CATALOGUE && !measured && !option->rented)
    texts_add(&option->warnings, subject->arena,
              "power under load is the TDP, %s, as none was measured; decoding draws less",
              quantity_text(
                  load->value,
                  &scenario->model->declarations[model_find(scenario->model, "load_power")].unit,
                  subject->arena));
  if (load->origin == ORIGIN_RENT)
    texts_add(&option->warnings, subject->arena,
              "its power is unknown, and so is its energy per token");
  if (amount(scenario, option, "idle_power") > amount(scenario, option, "load_power"))
    texts_add(&option->warnings, subject->arena, "idle power is above the power under load");
}

static void warn_of_overlaps(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  struct option *option = subject->option;
  int covers = (amount(scenario, option, "spares") > 0) +
               (amount(scenario, option, "support") > 0) +
               (amount(scenario, option, "repair_cost") > 0);
  if (amount(scenario, option, "failure_rate") > 0 && covers >= 2 && !option->rented)
    texts_add(
        &option->warnings, subject->arena,
        "failures may be paid for twice: at most one of spares, support and repair_cost should "
        "cover them");
  if (amount(scenario, option, "demand_charge") > 0)
    texts_add(
        &option->warnings, subject->arena,
        "average electricity prices often include the demand charge: make sure this one does not");
  if (amount(scenario, option, "build_price") > 0)
    texts_add(
        &option->warnings, subject->arena,
        "a facility of your own outlives the horizon: facility_residual credits %.0f %% of it",
        100 * amount(scenario, option, "facility_residual"));
}

static void warn_of_age(const struct subject *subject) {
  const struct scenario *scenario = subject->scenario;
  struct option *option = subject->option;
  struct date today, of;
  if (!date_parse(scenario->date, &today))
    return;
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const struct figure *figure = figure_of(scenario, option, graded_inputs[g].input);
    if (graded_inputs[g].shown == SHOWN_PRICE && is_there(figure) &&
        date_parse(figure->date, &of) && date_is_stale(of, today))
      texts_add(&option->warnings, subject->arena,
                "the price is stale: %s dates from %s, over 12 months before %s",
                graded_inputs[g].input, figure->date, scenario->date);
  }
  const struct figure *rate = figure_of(scenario, option, "exchange_rate");
  if (is_there(rate) && date_parse(rate->date, &of) && date_is_stale(of, today))
    texts_add(&option->warnings, subject->arena,
              "the exchange rate is stale: it dates from %s, over 12 months before %s", rate->date,
              scenario->date);
}

// What went wrong while measuring goes with the figure.
static void warn_of_record(const struct subject *subject) {
  struct option *option = subject->option;
  if (!option->record)
    return;
  const char *list = measurement_flags_text(&option->record->flags, subject->arena);
  if (*list)
    texts_add(&option->warnings, subject->arena, "the measurement was not steady: %s", list);
  const struct measurement_step_form *form = &option->record->step_form;
  if (*form->fallback)
    texts_add(&option->warnings, subject->arena,
              "the measurement took longer than necessary: %s, because %s", form->form,
              form->fallback);
}

static void warn_of_throughput(const struct subject *subject) {
  struct option *option = subject->option;
  if (option->throughput_doubt && *option->throughput_doubt)
    texts_add(&option->warnings, subject->arena, "the published throughput is doubtful: %s",
              option->throughput_doubt);
  if (option->decode_only)
    texts_add(&option->warnings, subject->arena,
              "upper bound, decode only: the throughput leaves out prefill, so serving costs more");
  if (!strcmp(option->workload.values[WORKLOAD_TOKENS], "total"))
    texts_add(
        &option->warnings, subject->arena,
        "the throughput counts input and output tokens together, and so does the cost per token");
}

// Idle power measured in one option and taken as the load power in another tilts a comparison.
static void warn_of_idle_power(struct scenario *scenario, struct arena *arena) {
  bool given = false, missing = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    bool has = is_there(figure_of(scenario, &scenario->options[o], "idle_power"));
    given |= has;
    missing |= !has;
  }
  if (given && missing)
    texts_add(&scenario->warnings, arena,
              "idle power is given for only some options; the others idle at their "
              "power under load");
}

static void warn_of_no_records(struct scenario *scenario, struct arena *arena) {
  const char *directory = scenario->measurements_directory;
  if (directory && !scenario->records->count)
    texts_add(&scenario->warnings, arena, "there are no records in '%s'", directory);
}

static void warn_of_horizons(struct scenario *scenario, struct arena *arena) {
  for (size_t o = 1; o < scenario->option_count; o++)
    if (amount(scenario, &scenario->options[o], "horizon") !=
        amount(scenario, &scenario->options[0], "horizon")) {
      texts_add(&scenario->warnings, arena, "the options have different horizons");
      return;
    }
}

static void refuse_unlike(struct scenario *scenario, struct arena *arena,
                          struct diagnostics *diagnostics) {
  const struct option *baseline = &scenario->options[scenario->baseline];
  scenario->mixed = false;
  scenario->mixed_reason = "";
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *difference = workload_difference(&baseline->workload, &option->workload, arena);
    if (!difference)
      continue;
    if (scenario->may_mix) {
      scenario->mixed = true;
      scenario->mixed_reason =
          arena_printf(arena, "%s%s%s and %s differ in %s", scenario->mixed_reason,
                       *scenario->mixed_reason ? "; " : "", baseline->id, option->id, difference);
      continue;
    }
    option_refuse_unlike(baseline, option, difference, diagnostics);
  }
}

void option_refuse_unlike(const struct option *baseline, const struct option *option,
                          const char *difference, struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, option->place,
                    "the throughputs of '%s' and '%s' are not comparable, %s (--mixed compares "
                    "them anyway, stamped as mixed)",
                    baseline->id, option->id, difference);
}

void option_assess(struct scenario *scenario, size_t number, struct arena *arena) {
  static void (*const steps[])(const struct subject *) = {
      grade_option, list_not_included,  warn_of_power,  warn_of_overlaps,
      warn_of_age,  warn_of_throughput, warn_of_record,
  };
  const struct subject subject = {scenario, &scenario->options[number], arena};
  subject.option->warnings = (struct texts){0};
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++)
    steps[i](&subject);
  plausibility_warn(scenario, number, arena);
}

void scenario_assess(struct scenario *scenario, struct arena *arena,
                     struct diagnostics *diagnostics) {
  refuse_unlike(scenario, arena, diagnostics);
  for (size_t o = 0; o < scenario->option_count; o++)
    option_assess(scenario, o, arena);
  warn_of_idle_power(scenario, arena);
  warn_of_horizons(scenario, arena);
  warn_of_no_records(scenario, arena);
}
