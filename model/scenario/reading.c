#include "model/scenario/assignment.h"
#include "model/scenario/cost_model.h"
#include "model/scenario/free_range.h"
#include "model/scenario/grading.h"
#include "model/scenario/head.h"
#include "model/scenario/range.h"
#include "model/scenario/resolution.h"
#include "model/scenario/sections.h"

#include <math.h>

enum { MIN_YEARS = 7 };

static void digest(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  const char *all =
      arena_printf(reading->arena, "%s%s", scenario->model->source->text, reading->text->all_text);
  for (size_t i = 0; i < scenario->setting_count; i++)
    all = arena_printf(reading->arena, "%s--set %s\n", all, scenario->settings[i]);
  scenario->digest = source_sha256(source_from_text("digest", all, reading->arena), reading->arena);
}

static void find_periods(struct scenario *scenario) {
  double longest = MIN_YEARS * conversion_table[CONVERT_HOURS_PER_YEAR].value;
  int horizon = model_find(scenario->model, "horizon");
  for (size_t o = 0; o < scenario->option_count; o++)
    for (size_t c = 0; c < scenario->case_count; c++)
      longest = fmax(longest, option_figure(scenario, &scenario->options[o], c, horizon)->value);
  scenario->periods = scenario_columns(scenario, longest);
}

static void evaluate_option(struct reading *reading, struct option *option) {
  const struct scenario *scenario = reading->scenario;
  option->evaluation =
      evaluation_new(option->graph, scenario->periods, scenario->case_count, reading->arena);
  for (int d = 0; d < scenario->model->count; d++)
    for (size_t c = 0; c < scenario->case_count && option->graph->state[d] == GRAPH_INPUT; c++)
      evaluation_at(option->evaluation, d, 0)[c] = option_figure(scenario, option, c, d)->value;
  evaluate(option->evaluation);
  for (size_t c = 0; c < scenario->case_count; c++) {
    const char *what = arena_printf(reading->arena, c ? "option '%s' in case '%s'" : "option '%s'",
                                    option->id, scenario->cases[c]);
    if (evaluation_check(option->evaluation, c, what, reading->diagnostics))
      return;
  }
}

// What the sections say, before anything is looked up.
static void read_sections(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  sections_read(reading);
  head_read(reading);
  reading->inputs =
      inputs_new(scenario->model, scenario->option_count, scenario->case_count, reading->arena);
  assign_all(reading);
  inputs_check_attributes(reading->inputs, reading->diagnostics);
  inputs_check_reach(reading->inputs, scenario, reading->diagnostics);
  ranges_read(reading);
  frees_read(reading);
}

static bool failed(const struct reading *reading) {
  return reading->diagnostics->errors != reading->errors_before;
}

static int resolve(struct reading *reading) {
  struct scenario *scenario = reading->scenario;
  resolve_options(reading);
  if (failed(reading))
    return -1;
  find_periods(scenario);
  for (size_t o = 0; o < scenario->option_count; o++)
    evaluate_option(reading, &scenario->options[o]);
  ranges_check(reading);
  return failed(reading) ? -1 : 0;
}

static const struct scenario_request *request_copy(const struct scenario_request *request,
                                                   struct arena *arena) {
  struct scenario_request *copy = arena_alloc(arena, sizeof *copy);
  *copy = *request;
  return copy;
}

// Everything beside the scenario file itself that it is resolved with.
static int open_data(struct reading *reading) {
  const struct scenario_request *request = reading->request;
  struct records *records = reading->records;
  if (catalog_open(reading->catalog, request->data_directory, reading->arena, reading->diagnostics))
    return -1;
  if (request->measurements_directory &&
      measurement_read_directory(request->measurements_directory, &records->list, &records->count,
                                 reading->arena, reading->diagnostics))
    return -1;
  if (records->count)
    records->accelerators = catalog_table(reading->catalog, CATALOG_ACCELERATORS);
  return 0;
}

struct scenario *scenario_read(const struct scenario_request *request, struct arena *arena,
                               struct diagnostics *diagnostics) {
  struct scenario *scenario = arena_alloc(arena, sizeof *scenario);
  struct reading reading = {.request = request,
                            .scenario = scenario,
                            .catalog = arena_alloc(arena, sizeof *reading.catalog),
                            .records = arena_alloc(arena, sizeof *reading.records),
                            .errors_before = diagnostics->errors,
                            .arena = arena,
                            .diagnostics = diagnostics};
  *reading.records = (struct records){0};
  reading.text = scenario_text_read(request->path, arena, diagnostics);
  if (!reading.text || open_data(&reading))
    return NULL;
  *scenario = (struct scenario){.source = reading.text->source,
                                .path = request->path,
                                .request = request_copy(request, arena),
                                .catalog = reading.catalog,
                                .records = reading.records,
                                .settings = request->settings,
                                .setting_count = request->setting_count};
  if (scenario_model_read(&reading))
    return NULL;
  bool model_is_good = !failed(&reading);
  read_sections(&reading);
  if (!model_is_good || !scenario->option_count || resolve(&reading))
    return NULL;
  digest(&reading);
  assess(&reading);
  return failed(&reading) ? NULL : scenario;
}
