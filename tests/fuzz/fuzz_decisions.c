// Any text as a scenario file that asks questions: [claim], [fit], [demand], [wait], [rent].
#include "fuzz.h"

#include "model/scenario/resolution/read.h"
#include "reports/answers/questions.h"
#include "reports/faces/faces.h"

#include <assert.h>
#include <math.h>

// A cell holds words, a number or nothing.
static void check_table(const struct answer_table *table) {
  assert(table->column_count > 0);
  for (size_t r = 0; r < table->row_count; r++)
    for (size_t c = 0; c < table->column_count; c++)
      assert(cell_at(table, r, c)->text || !isinf(cell_at(table, r, c)->value));
}

static void check_answers(const struct answers *answers) {
  for (size_t i = 0; i < answers->count; i++) {
    const struct answer *answer = &answers->list[i];
    assert(*answer->kind && *answer->title && *answer->sentence);
    for (size_t t = 0; t < answer->table_count; t++)
      check_table(&answer->tables[t]);
  }
}

static void ask(struct fuzz *fuzz, const char *path) {
  const struct scenario_request request = {.path = path, .data_directory = "build/fuzz/data"};
  const struct scenario *scenario = scenario_read(&request, &fuzz->arena, &fuzz->diagnostics);
  if (!scenario)
    return;
  struct answers answers = {0};
  const int failed = questions_answer(scenario, &answers, &fuzz->arena, &fuzz->diagnostics);
  assert((failed != 0) == (fuzz->diagnostics.errors > 0));
  if (failed)
    return;
  check_answers(&answers);
  struct fuzz_file file = fuzz_file(&fuzz->arena);
  for (enum output_format format = FORMAT_TABLE; format <= FORMAT_JSON; format++)
    answers_print(scenario, &answers, format, file.stream, &fuzz->arena);
  fuzz_file_close(&file);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, ask);
}
