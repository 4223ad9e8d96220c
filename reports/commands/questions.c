#include "reports/answers/questions.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"

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
