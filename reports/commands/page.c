#include "reports/page/page.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/source.h"
#include "model/scenario/scenario.h"
#include "reports/answers/cases.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/page/data.h"
#include "reports/print/output_name.h"

#include <string.h>

// Options that a reader of an export must give as well.
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
  for (size_t i = 0; i < options->data_extra_count; i++)
    text = arena_printf(run->arena, "%s --data-extra %s", text, options->data_extras[i]);
  return text;
}

int command_page(struct run *run) {
  if (output_name_expect(run->options.output_path, "a page", "html", run->diagnostics))
    return -1;
  if (!page_has_charts()) {
    run->diagnostics->machine_failed = true;
    diagnostics_error(run->diagnostics, nowhere,
                      "this program was built without the page's charts: 'make setup && make' "
                      "fetches them if npm can reach its registry");
    return -1;
  }
  struct output output;
  struct page page = {.arguments = reading_arguments(run)};
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  page.start = scenario->selected;
  page.cases = cases_read(scenario, run->arena, run->diagnostics);
  if (!page.cases || run_open_output(run, &output))
    return -1;
  run_print_warnings(run, scenario);
  if (page_print(&page, output.stream, run->arena, run->diagnostics)) {
    output_discard(&output);
    return -1;
  }
  return output_close(&output, run->diagnostics);
}
