// Any text as a user's cost model, `--model FILE`, with one of the examples' options.
#include "fuzz.h"

#include "model/scenario/resolution/read.h"
#include "model/scenario/scenario.h"

#include <assert.h>
#include <math.h>

static const char scenario_text[] = "[scenario]\n"
                                    "title = Two options\n"
                                    "date = 2026-11-01\n"
                                    "[common]\n"
                                    "accelerators = 800\n"
                                    "utilization = 70 %\n"
                                    "pue = 1.25\n"
                                    "electricity_price = 0.08 USD/kWh\n"
                                    "[option one]\n"
                                    "accelerator = h200-sxm-141\n"
                                    "list_price = 30000 USD\n"
                                    "throughput = 4000 token/s\n";

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  struct fuzz_file model = fuzz_file_of(data, size, &fuzz.arena);
  struct fuzz_file file = fuzz_file_of(scenario_text, sizeof scenario_text - 1, &fuzz.arena);
  const struct scenario_request request = {
      .path = file.path, .model_path = model.path, .data_directory = "build/fuzz/data"};
  const struct scenario *scenario = scenario_read(&request, &fuzz.arena, &fuzz.diagnostics);
  assert((scenario != NULL) == (fuzz.diagnostics.errors == 0));
  for (int d = 0; scenario && d < scenario->model->count; d++)
    if (option_has(scenario->options, d))
      assert(isfinite(option_value(scenario, scenario->options, d, 0)));
  fuzz_file_close(&file);
  fuzz_file_close(&model);
  fuzz_end(&fuzz);
  return 0;
}
