// Any text as a scenario file that asks something: [claim], [fit], [demand], [wait], [rent].
#include "fuzz.h"

#include "model/scenario/read.h"
#include "reports/answers/questions.h"

#include <assert.h>
#include <math.h>

// A cell is words, a number or nothing.
static void check_table(const struct decision_table *table) {
  assert(table->column_count > 0);
  for (size_t i = 0; i < table->row_count * table->column_count; i++)
    assert(table->cells[i].text || !isinf(table->cells[i].value));
}

static void check_decisions(const struct decisions *decisions) {
  for (size_t i = 0; i < decisions->count; i++) {
    const struct decision *decision = &decisions->list[i];
    assert(*decision->kind && *decision->title && *decision->answer);
    for (size_t t = 0; t < decision->table_count; t++)
      check_table(&decision->tables[t]);
  }
}

static void decide(struct fuzz *fuzz, const char *path) {
  const struct scenario_request request = {.path = path, .data_directory = "build/fuzz/data"};
  const struct scenario *scenario = scenario_read(&request, &fuzz->arena, &fuzz->diagnostics);
  if (!scenario)
    return;
  struct decisions decisions = {0};
  const int failed = decisions_of(scenario, &decisions, &fuzz->arena, &fuzz->diagnostics);
  assert((failed != 0) == (fuzz->diagnostics.errors > 0));
  if (failed)
    return;
  check_decisions(&decisions);
  struct fuzz_file file = fuzz_file(&fuzz->arena);
  for (enum output_format format = FORMAT_TABLE; format <= FORMAT_JSON; format++)
    decisions_print(scenario, &decisions, format, file.stream, &fuzz->arena);
  fuzz_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, decide);
}
