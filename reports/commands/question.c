#include "reports/answers/questions.h"
#include "reports/commands/commands.h"

static int answer(struct run *run, const struct scenario *scenario,
                  const struct question *question) {
  struct answers answers = {0};
  struct output output;
  if (question->answer(scenario, run->options.input, &answers, run->arena, run->diagnostics) ||
      run_open_output(run, &output))
    return -1;
  run_print_warnings(run, scenario);
  answers_print(scenario, &answers, run->options.format, output.stream, run->arena);
  for (size_t i = 0; i < answers.count; i++)
    run->no |= answers.list[i].no;
  return output_close(&output, run->diagnostics);
}

int command_question(struct run *run) {
  const struct question *question = question_find(run->options.command);
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  if (question->asked(scenario))
    return answer(run, scenario, question);
  diagnostics_error(run->diagnostics, (struct place){.source = scenario->source},
                    "this scenario does not ask: %s", question->how_to_ask);
  return -1;
}
