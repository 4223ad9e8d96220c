#include "model/scenario/scenario.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/delivery/offer.h"
#include "model/evidence/catalog.h"
#include "model/simulate/part.h"
#include "model/simulate/sampler.h"
#include "model/simulate/simulate.h"
#include "model/simulate/simulation.h"
#include "reports/answers/cases.h"
#include "reports/answers/compare.h"
#include "reports/answers/diff.h"
#include "reports/answers/explain.h"
#include "reports/answers/finance.h"
#include "reports/answers/offers.h"
#include "reports/answers/questions.h"
#include "reports/commands/commands.h"
#include "reports/commands/draw_options.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"
#include "reports/print/format.h"
#include "reports/print/interval.h"
#include "reports/print/output_name.h"
#include "reports/workbook/workbook.h"

#include <string.h>
#include <unistd.h>

// The scenario's name with another extension, in the current folder.
static const char *workbook_path(const struct run *run) {
  const char *path = run->options.arguments[0], *slash = strrchr(path, '/');
  const char *name = slash ? slash + 1 : path, *point = strrchr(name, '.');
  const size_t length = point && point != name ? (size_t)(point - name) : strlen(name);
  return arena_printf(run->arena, "%.*s.xlsx", (int)length, name);
}

// The simulation of a scenario with ranges. If no input has a range in the selected case, it makes
// no draws: a workbook has the same sheets in every case. Returns 0, with NULL if there are no
// ranges, or -1.
static int simulate_report(struct run *run, const struct scenario *scenario,
                           const struct simulation **out) {
  struct simulate_request request;
  *out = NULL;
  if (!scenario->range_count && !draw_options_given(run))
    return 0;
  if (draw_options_read(run, USUAL_DRAWS, &request))
    return -1;
  if (scenario->range_count && !sampler_draws_any(scenario, NULL)) {
    *out = simulation_certain(scenario, run->arena);
    return 0;
  }
  request.scenario = scenario;
  const struct simulation_part *part = simulate(&request, run->arena, run->diagnostics);
  *out = part ? simulation_result(part, run->arena, run->diagnostics) : NULL;
  const char *few = *out ? simulation_few_draws(*out, run->arena) : "";
  if (*few)
    diagnostics_warning(run->diagnostics, nowhere, "%s", few);
  return *out ? 0 : -1;
}

// Without -o no file is replaced: figures may have been typed into it.
static int expect_free(const struct run *run, const char *path) {
  if (run->options.output_path || access(path, F_OK) != 0)
    return 0;
  diagnostics_error(run->diagnostics, nowhere,
                    "'%s' already exists: to replace it, name it with -o", path);
  return -1;
}

int command_report(struct run *run) {
  const struct simulation *simulation;
  const char *path = run->options.output_path ? run->options.output_path : workbook_path(run);
  if (output_name_expect(run->options.output_path, "a workbook", "xlsx", run->diagnostics) ||
      expect_free(run, path))
    return -1;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario || simulate_report(run, scenario, &simulation))
    return -1;
  run_print_warnings(run, scenario);
  if (workbook_write(scenario, simulation, path, run->arena, run->diagnostics))
    return -1;
  if (!run->options.quiet)
    run_print_note(run, "wrote ", path);
  return 0;
}

// A table on a terminal shows the warnings itself.
static bool shows_warnings(const struct run *run) {
  return run->options.format == FORMAT_TABLE && !run->options.output_path &&
         isatty(STDOUT_FILENO) && isatty(STDERR_FILENO);
}

// --all-cases: every case, so none may be selected.
static int compare_cases(struct run *run) {
  if (run->options.case_name) {
    diagnostics_error(run->diagnostics, nowhere, "--all-cases shows every case: omit --case %s",
                      run->options.case_name);
    return -1;
  }
  const struct scenario *scenario = run_read_scenario(run, 0);
  const struct scenario *const *cases =
      scenario ? cases_read(scenario, run->arena, run->diagnostics) : NULL;
  if (!cases)
    return -1;
  run_print_warnings(run, scenario);
  return run_print_answer(run, scenario, cases_answer(scenario, cases, run->arena));
}

int command_compare(struct run *run) {
  if (run->options.all_cases)
    return compare_cases(run);
  const struct scenario *scenario = run_read_scenario(run, 0);
  const struct simulation *simulation;
  if (!scenario || interval_simulate(scenario, &simulation, run->arena, run->diagnostics))
    return -1;
  if (!shows_warnings(run))
    run_print_warnings(run, scenario);
  return run_print_answer(run, scenario, compare_answer(scenario, simulation, run->arena));
}

int command_finance(struct run *run) {
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  run_print_warnings(run, scenario);
  return run_print_answer(run, scenario, finance_answer(scenario, run->arena));
}

// Amounts in two currencies cannot be subtracted.
static int refuse_currencies(struct run *run, const struct scenario *a, const struct scenario *b) {
  if (!strcmp(a->model->currency, b->model->currency))
    return 0;
  diagnostics_error(run->diagnostics, (struct place){.source = b->source},
                    "its amounts are in %s but those of '%s' are in %s: compare reports in one "
                    "currency ([scenario] currency)",
                    b->model->currency, a->path, a->model->currency);
  return -1;
}

static int diff_offers(struct run *run) {
  struct catalog catalog;
  const char *const *paths = run->options.arguments;
  if (run_open_catalog(run, &catalog))
    return -1;
  const struct offer *a = offer_read(paths[0], &catalog, run->arena, run->diagnostics);
  const struct offer *b = offer_read(paths[1], &catalog, run->arena, run->diagnostics);
  return a && b ? run_print_answer(run, NULL, offers_answer(a, b, run->arena)) : -1;
}

int command_diff(struct run *run) {
  if (offer_is_one(run->options.arguments[0], run->arena) &&
      offer_is_one(run->options.arguments[1], run->arena))
    return diff_offers(run);
  const struct scenario *a = run_read_beside(run, 0, run->options.arguments[1]);
  const struct scenario *b = run_read_beside(run, 1, run->options.arguments[0]);
  if (!a || !b || refuse_currencies(run, a, b))
    return -1;
  run_print_warnings(run, a);
  run_print_warnings(run, b);
  return run_print_answer(run, NULL, diff_answer(a, b, run->arena));
}

// KIND.NAME if KIND is a question that the scenario asks and not one of its options.
static const struct question *explained_question(const struct scenario *scenario,
                                                 const char *wanted, struct arena *arena) {
  const char *dot = strchr(wanted, '.');
  const char *kind = dot ? arena_copy_n(arena, wanted, (size_t)(dot - wanted)) : "";
  if (scenario_option(scenario, kind) >= 0)
    return NULL;
  const struct question *question = question_find(kind);
  return question && question->asked(scenario) ? question : NULL;
}

static int explain_question(struct run *run, const struct scenario *scenario,
                            const struct question *question) {
  const char *name = strchr(run->options.arguments[1], '.') + 1;
  struct answers answers = {0};
  if (question->answer(scenario, NULL, &answers, run->arena, run->diagnostics))
    return -1;
  const struct answer *found = answer_find(&answers, name);
  if (found)
    return run_explain_answer(run, scenario, found);
  const char *names = "";
  for (size_t i = 0; i < answers.count; i++)
    names = arena_printf(run->arena, "%s%s%s", names, i ? ", " : "", answers.list[i].name);
  diagnostics_error(run->diagnostics, nowhere, "no answer '%s' for %s; available: %s", name,
                    question->kind, names);
  return -1;
}

int command_explain(struct run *run) {
  const char *wanted = run->options.arguments[1];
  struct answer answer;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario)
    return -1;
  const struct question *question = explained_question(scenario, wanted, run->arena);
  if (question ? explain_question(run, scenario, question)
               : explain_answer(scenario, wanted, &answer, run->arena, run->diagnostics) ||
                     run_print_answer(run, NULL, answer))
    return -1;
  run_print_warnings(run, scenario);
  return 0;
}
