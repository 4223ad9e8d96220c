#include "model/scenario/grading.h"
#include "model/scenario/plausibility.h"
#include "model/scenario/reading.h"

#include <math.h>
#include <string.h>

static const struct figure *figure_of(const struct reading *reading, const struct option *option,
                                      const char *name) {
  static const struct figure none = {.origin = ORIGIN_NONE, .source = "", .date = ""};
  int d = option_stated(option, model_find(reading->scenario->model, name));
  return d < 0 ? &none : option_figure(reading->scenario, option, reading->scenario->selected, d);
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

static void grade_option(struct reading *reading, struct option *option) {
  enum grade shown[SHOWN_GRADES];
  bool seen[SHOWN_GRADES] = {false};
  double influences[GRADED_INPUTS];
  find_influences(reading->scenario, option, influences);
  option->headline_grade = GRADE_MEASURED;
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const struct figure *figure = figure_of(reading, option, graded_inputs[g].input);
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

static double amount(const struct reading *reading, const struct option *option, const char *name) {
  int d = model_find(reading->scenario->model, name);
  bool there = d >= 0 && option_has(option, d);
  return there ? option_value(reading->scenario, option, d, 0) : 0;
}

static void list_not_included(struct reading *reading, struct option *option) {
  const struct model *model = reading->scenario->model;
  option->not_included = "";
  for (int d = 0; d < model->count && !option->rented; d++) {
    const struct declaration *input = &model->declarations[d];
    const struct figure *figure =
        option_figure(reading->scenario, option, reading->scenario->selected, d);
    bool zero = option->graph->state[d] == GRAPH_INPUT && figure->origin != ORIGIN_CATALOGUE &&
                option_value(reading->scenario, option, d, 0) == 0;
    if (input->notice && zero)
      option->not_included = arena_printf(reading->arena, "%s%s%s", option->not_included,
                                          *option->not_included ? ", " : "", input->notice);
  }
  if (*option->not_included)
    texts_add(&option->warnings, reading->arena, "not included, because at zero: %s",
              option->not_included);
}

static void warn_of_power(struct reading *reading, struct option *option) {
  const struct figure *load = figure_of(reading, option, "load_power");
  const bool measured = option->record && load->place.source == option->record->place.source;
  if (load->origin == ORIGIN_CATALOGUE && !measured && !option->rented)
    texts_add(&option->warnings, reading->arena,
              "power under load is the TDP, %s, for want of a measurement; decoding draws less",
              quantity_text(load->value,
                            &reading->scenario->model
                                 ->declarations[model_find(reading->scenario->model, "load_power")]
                                 .unit,
                            reading->arena));
  if (load->origin == ORIGIN_RENT)
    texts_add(&option->warnings, reading->arena,
              "watts are not known, and so neither is the energy per token");
  if (amount(reading, option, "idle_power") > amount(reading, option, "load_power"))
    texts_add(&option->warnings, reading->arena, "idle power is above the power under load");
}

static void warn_of_overlaps(struct reading *reading, struct option *option) {
  int covers = (amount(reading, option, "spares") > 0) + (amount(reading, option, "support") > 0) +
               (amount(reading, option, "repair_cost") > 0);
  if (amount(reading, option, "failure_rate") > 0 && covers >= 2 && !option->rented)
    texts_add(&option->warnings, reading->arena,
              "failures may be paid twice: at most one of spares, support and repair_cost should "
              "cover them");
  if (amount(reading, option, "demand_charge") > 0)
    texts_add(&option->warnings, reading->arena,
              "average electricity prices often contain the demand charge: make sure that this one "
              "does not");
  if (amount(reading, option, "build_price") > 0)
    texts_add(&option->warnings, reading->arena,
              "an own facility outlives the horizon: facility_residual credits %.0f %% of it",
              100 * amount(reading, option, "facility_residual"));
}

static void warn_of_age(struct reading *reading, struct option *option) {
  struct date today, of;
  if (!date_parse(reading->scenario->date, &today))
    return;
  for (size_t g = 0; g < GRADED_INPUTS; g++) {
    const struct figure *figure = figure_of(reading, option, graded_inputs[g].input);
    if (graded_inputs[g].shown == SHOWN_PRICE && is_there(figure) &&
        date_parse(figure->date, &of) && date_is_stale(of, today))
      texts_add(&option->warnings, reading->arena,
                "the price is stale: %s is of %s, over 12 months before %s", graded_inputs[g].input,
                figure->date, reading->scenario->date);
  }
  const struct figure *rate = figure_of(reading, option, "exchange_rate");
  if (is_there(rate) && date_parse(rate->date, &of) && date_is_stale(of, today))
    texts_add(&option->warnings, reading->arena,
              "the exchange rate is stale: it is of %s, over 12 months before %s", rate->date,
              reading->scenario->date);
}

// What the prober saw amiss goes with the figure.
static void warn_of_record(struct reading *reading, struct option *option) {
  if (!option->record)
    return;
  const char *list = measurement_flags_text(&option->record->flags, reading->arena);
  if (*list)
    texts_add(&option->warnings, reading->arena, "the measurement was not steady: %s", list);
  const struct measurement_step_form *form = &option->record->step_form;
  if (*form->fallback)
    texts_add(&option->warnings, reading->arena,
              "the measurement took longer than need be: %s, as %s", form->form, form->fallback);
}

static void warn_of_throughput(struct reading *reading, struct option *option) {
  if (option->throughput_doubt && *option->throughput_doubt)
    texts_add(&option->warnings, reading->arena, "the published throughput is doubtful: %s",
              option->throughput_doubt);
  if (option->decode_only)
    texts_add(
        &option->warnings, reading->arena,
        "upper bound, decode only: prefill is not in the throughput, so that serving costs more");
  if (!strcmp(option->workload.values[WORKLOAD_TOKENS], "total"))
    texts_add(
        &option->warnings, reading->arena,
        "the throughput counts input and output tokens together, and so does the cost per token");
}

// Idle power measured in one option and taken as the load power in another tilts a comparison.
static void warn_of_idle_power(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  bool given = false, missing = false;
  for (size_t o = 0; o < scenario->option_count; o++) {
    bool has = is_there(figure_of(reading, &scenario->options[o], "idle_power"));
    given |= has;
    missing |= !has;
  }
  if (given && missing)
    texts_add(&reading->scenario->warnings, reading->arena,
              "idle power is given for some options only; the others idle at their "
              "power under load");
}

static void warn_of_no_records(struct reading *reading) {
  const char *directory = reading->request->measurements_directory;
  if (directory && !reading->records->count)
    texts_add(&reading->scenario->warnings, reading->arena, "there is no record in '%s'",
              directory);
}

static void warn_of_horizons(struct reading *reading) {
  const struct scenario *scenario = reading->scenario;
  for (size_t o = 1; o < scenario->option_count; o++)
    if (amount(reading, &scenario->options[o], "horizon") !=
        amount(reading, &scenario->options[0], "horizon")) {
      texts_add(&reading->scenario->warnings, reading->arena,
                "the options have different horizons");
      return;
    }
}

static void refuse_unlike(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const struct option *baseline = &scenario->options[scenario->baseline];
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *difference =
        workload_difference(&baseline->workload, &option->workload, reading->arena);
    if (!difference)
      continue;
    if (reading->request->mixed) {
      scenario->mixed = true;
      scenario->mixed_reason =
          arena_printf(reading->arena, "%s%s%s and %s differ in %s", scenario->mixed_reason,
                       *scenario->mixed_reason ? "; " : "", baseline->id, option->id, difference);
      continue;
    }
    diagnostics_error(reading->diagnostics, option->place,
                      "the throughputs of '%s' and '%s' are not comparable, %s (--mixed compares "
                      "them all the same, stamped as mixed)",
                      baseline->id, option->id, difference);
  }
}

void assess(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  scenario->mixed_reason = "";
  refuse_unlike(reading);
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct option *option = &scenario->options[o];
    grade_option(reading, option);
    list_not_included(reading, option);
    warn_of_power(reading, option);
    warn_of_overlaps(reading, option);
    warn_of_age(reading, option);
    warn_of_throughput(reading, option);
    warn_of_record(reading, option);
    plausibility_warn(scenario, o, reading->arena);
  }
  warn_of_idle_power(reading);
  warn_of_horizons(reading);
  warn_of_no_records(reading);
}
