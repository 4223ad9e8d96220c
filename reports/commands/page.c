#include "reports/page/page.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/source.h"
#include "model/scenario/ranking.h"
#include "model/scenario/reading/resolution.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/page/data.h"
#include "reports/print/interval.h"
#include "reports/print/verdict.h"

#include <string.h>

// A scenario's grades and warnings are those of one case.
static const struct scenario *const *all_cases(struct run *run, const struct scenario *scenario) {
  const struct scenario **cases =
      arena_array(run->arena, scenario->case_count, sizeof(struct scenario *));
  for (size_t c = 0; c < scenario->case_count; c++) {
    cases[c] = c == scenario->selected
                   ? scenario
                   : scenario_in_case(scenario, c, run->arena, run->diagnostics);
    if (!cases[c])
      return NULL;
  }
  return cases;
}

// What whoever reads an export must say as well.
static const char *reading_arguments(const struct run *run) {
  const struct options *options = &run->options;
  const struct {
    const char *name, *value;
  } named[] = {{"--model", options->model_path},
               {"--data", options->data_directory},
               {"--measurements", options->measurements_directory}};
  const char *text = options->mixed ? " --mixed" : "";
  for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
    if (named[i].value)
      text = arena_printf(run->arena, "%s %s %s", text, named[i].name, named[i].value);
  return text;
}

int command_page(struct run *run) {
  if (!page_has_charts()) {
    run->diagnostics->machine_failed = true;
    diagnostics_error(run->diagnostics, (struct place){0},
                      "this program was built without the charts of the page: 'make setup && make' "
                      "fetches them, where npm can reach its registry");
    return -1;
  }
  struct output output;
  struct page page = {.arguments = reading_arguments(run)};
  const struct scenario *scenario = run_read_scenario(run, 0);
  const struct simulation *simulation;
  if (!scenario || interval_simulate(scenario, &simulation, run->arena, run->diagnostics))
    return -1;
  page.start = scenario->selected;
  page.cases = all_cases(run, scenario);
  page.ranges =
      verdict_over_ranges(scenario, ranking_of(scenario, run->arena), simulation, run->arena);
  if (!page.cases || run_open_output(run, &output))
    return -1;
  run_print_warnings(run, scenario);
  if (page_print(&page, output.stream, run->arena, run->diagnostics)) {
    output_discard(&output);
    return -1;
  }
  return output_close(&output, run->diagnostics);
}
