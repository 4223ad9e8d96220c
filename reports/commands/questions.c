#include "reports/answers/questions.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/records.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"
#include "reports/answers/served.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"

#include <stddef.h>
#include <string.h>

int command_question(struct run *run) {
  const struct question *question = question_find(run->options.command);
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  if (question->asked(scenario)) {
    struct answers answers = {0};
    if (question->answer(scenario, run->options.input, &answers, run->arena, run->diagnostics))
      return -1;
    run_print_warnings(run, scenario);
    return run_print_answers(run, scenario, &answers);
  }
  diagnostics_error(run->diagnostics, (struct place){.source = scenario->source},
                    "this scenario does not ask: %s", question->how_to_ask);
  return -1;
}

// ---- served: of records, without a scenario

static bool is_record(const char *path) {
  const size_t length = strlen(path), ending = strlen(".json");
  return length > ending && !strcmp(path + length - ending, ".json");
}

static int show_records(struct run *run) {
  struct records records = {0};
  const struct options *options = &run->options;
  if (records_of_files(options->arguments, (size_t)options->argument_count, &records, run->arena,
                       run->diagnostics))
    return -1;
  const struct answer answer = served_records(&records, run->arena);
  if (*answer.sentence)
    return run_print_answer(run, NULL, answer);
  diagnostics_error(run->diagnostics, (struct place){0},
                    "no serving record among them: 'pertoken probe serving' measures one, and "
                    "'pertoken import' reads one in");
  return -1;
}

int command_served(struct run *run) {
  if (is_record(run->options.arguments[0]))
    return show_records(run);
  if (run->options.argument_count == 1)
    return command_question(run);
  diagnostics_error(run->diagnostics, (struct place){0},
                    "one scenario at a time, or records (.json) alone: '%s' is one too many",
                    run->options.arguments[1]);
  return -1;
}
