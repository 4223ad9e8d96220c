// Any text as a scenario file, with the shipped catalogue, truncated by tests/fuzz/run.
#include "fuzz.h"

#include "model/scenario/resolution/read.h"
#include "model/scenario/scenario.h"

#include <assert.h>
#include <math.h>

// A displayed result must be a number.
static void check_option(const struct scenario *scenario, const struct option *option) {
  const struct model *model = scenario->model;
  for (int d = 0; d < model->count; d++)
    if (option_has(option, d))
      assert(isfinite(option_value(scenario, option, d, 0)));
}

static void check_scenario(const struct scenario *scenario) {
  assert(scenario->option_count > 0 && scenario->baseline < scenario->option_count);
  assert(scenario->case_count > 0 && scenario->selected < scenario->case_count);
  for (size_t i = 0; i < scenario->option_count; i++)
    check_option(scenario, &scenario->options[i]);
}

static void read_scenario(struct fuzz *fuzz, const char *path) {
  const struct scenario_request request = {.path = path, .data_directory = "build/fuzz/data"};
  const struct scenario *scenario = scenario_read(&request, &fuzz->arena, &fuzz->diagnostics);
  assert((scenario != NULL) == (fuzz->diagnostics.errors == 0));
  if (scenario)
    check_scenario(scenario);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, read_scenario);
}
