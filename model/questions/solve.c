#include "model/questions/solve.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/scenario/scenario.h"
#include "model/whatif/variation.h"

#include <stdlib.h>
#include <string.h>

// The wanted cost of the option: another option's cost, or an amount of money.
static int read_wanted(struct solve_answer *answer, const struct solve_question *question,
                       struct diagnostics *diagnostics) {
  const struct scenario *scenario = answer->scenario;
  const int in_usd = model_find(scenario->model, "cost_per_mtok_usd");
  if (question->target && in_usd >= 0 && text_has_currency(question->target, "USD"))
    answer->item = in_usd;
  const struct unit *unit = &scenario->model->declarations[answer->item].unit;
  if (question->target && question->match) {
    diagnostics_error(diagnostics, nowhere, "--match and --target exclude each other");
    return -1;
  }
  if (question->target) {
    const struct place place = source_text_start("--target", question->target, diagnostics->arena);
    if (quantity_parse(question->target, place, unit, &answer->wanted_cost, diagnostics))
      return -1;
    if (answer->wanted_cost > 0)
      return 0;
    diagnostics_error(diagnostics, place, "a target must be above zero, not %s", question->target);
    return -1;
  }
  answer->matches = true;
  answer->match = scenario->baseline;
  if (question->match &&
      option_named(scenario, question->match, nowhere, &answer->match, diagnostics))
    return -1;
  if (answer->match != answer->option)
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "option '%s' cannot be matched with itself: name another with --match, or a "
                    "cost with --target",
                    scenario->options[answer->option].id);
  return -1;
}

static int read_between(struct solve_answer *answer, const char *text,
                        struct diagnostics *diagnostics) {
  const struct declaration *input = target_input(answer->scenario, answer->target);
  const struct limits limits = target_answered(answer->scenario, answer->target);
  const struct place place = source_text_start("--between", text, diagnostics->arena);
  double ends[2];
  const int failed = quantity_parse_series(text, ":", place, &input->unit, ends, 2, diagnostics);
  if (failed < 0)
    return -1;
  if (failed || ends[0] >= ends[1]) {
    diagnostics_error(diagnostics, place, "expected LOW:HIGH in ascending order, as in '1:2 %s'",
                      input->unit.text);
    return -1;
  }
  answer->low = ends[0];
  answer->high = ends[1];
  if (answer->low >= limits.low && answer->high <= limits.high)
    return 0;
  diagnostics_error(diagnostics, place, "'%s' is outside the allowed range of '%s'", text,
                    input->name);
  return -1;
}

const struct solve_answer *solve_ask(const struct scenario *scenario,
                                     const struct solve_question *question, struct arena *arena,
                                     struct diagnostics *diagnostics) {
  struct solve_answer *answer = arena_alloc(arena, sizeof *answer);
  *answer = (struct solve_answer){.scenario = scenario, .saving = question->saving};
  answer->item = model_require(scenario->model, "cost_per_mtok", diagnostics);
  if (answer->item < 0 ||
      option_named(scenario, question->option, nowhere, &answer->option, diagnostics) ||
      target_of_option(scenario, answer->option, question->input, nowhere, &answer->target,
                       diagnostics) ||
      read_wanted(answer, question, diagnostics))
    return NULL;
  answer->name = target_name(scenario, answer->target, arena);
  answer->base = target_value(scenario, answer->target);
  answer->integer = target_input(scenario, answer->target)->integer;
  if (question->between && read_between(answer, question->between, diagnostics))
    return NULL;
  solve_search(answer, question->between != NULL, arena);
  return answer;
}
