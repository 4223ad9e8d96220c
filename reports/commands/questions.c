#include "reports/answers/questions.h"
#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/ini.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/records/records.h"
#include "model/scenario/scenario.h"
#include "reports/answers/served.h"
#include "reports/commands/commands.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"
#include "reports/plans/answer.h"
#include "reports/print/output_name.h"
#include "reports/results/plan_book.h"

#include <stddef.h>
#include <string.h>

// Only a plan has a workbook of its own; report's workbook has the answers of every question.
static bool writes_workbook(const struct run *run) {
  return output_name_is_workbook(run->options.output_path) && !strcmp(run->options.command, "plan");
}

static int check_output(struct run *run) {
  return (!writes_workbook(run) && run_check_output_name(run)) || run_try_output(run) ? -1 : 0;
}

static int print(struct run *run, const struct scenario *scenario, const struct answers *answers) {
  const struct answer *answer = &answers->list[0];
  if (!writes_workbook(run))
    return run_print_answers(run, scenario, answers);
  if (plan_book_write(answer, run->options.output_path, run->arena, run->diagnostics))
    return -1;
  run->no = answer->no;
  if (!run->options.quiet)
    run_print_note(run, "wrote ", run->options.output_path);
  return 0;
}

static int ask(struct run *run, const struct scenario *scenario) {
  const struct question *question = question_find(run->options.command);
  if (question->asked(scenario)) {
    struct answers answers = {0};
    if (check_output(run) ||
        question->answer(scenario, run->options.input, &answers, run->arena, run->diagnostics))
      return -1;
    run_print_warnings(run, scenario);
    return print(run, scenario, &answers);
  }
  const char *why_not = question->why_not ? question->why_not(scenario, run->arena) : "";
  diagnostics_error(run->diagnostics, (struct place){.source = scenario->source},
                    "nothing to answer%s%s: add %s", *why_not ? ", as " : "", why_not,
                    question->how_to_ask);
  return -1;
}

int command_question(struct run *run) {
  const struct scenario *scenario = run_read_scenario(run, 0);
  return scenario ? ask(run, scenario) : -1;
}

// ---- plan: its --time overrides the file's

static void take_time(struct scenario *scenario, const char *text, struct arena *arena) {
  const struct place typed = {source_from_text("--time", text, arena), 1, 1};
  struct ini_section *sections = arena_array(arena, scenario->question_count + 1, sizeof *sections);
  for (size_t i = 0; i < scenario->question_count; i++) {
    struct ini_section *section = &sections[i];
    *section = scenario->questions[i];
    if (strcmp(section->kind, "plan") != 0)
      continue;
    section->keys = arena_array(arena, scenario->questions[i].key_count + 1, sizeof *section->keys);
    section->key_count = 0;
    for (size_t k = 0; k < scenario->questions[i].key_count; k++)
      if (strcmp(scenario->questions[i].keys[k].name, "time") != 0)
        section->keys[section->key_count++] = scenario->questions[i].keys[k];
    section->keys[section->key_count++] = (struct ini_key){"time", text, typed, typed};
  }
  scenario->questions = sections;
}

static int explain_plan(struct run *run, const struct scenario *scenario) {
  if (!plan_asked(scenario))
    return ask(run, scenario);
  if (refuse_explained_workbook(run) || check_output(run))
    return -1;
  const struct answer *answer =
      plan_explained(scenario, run->options.explained, run->arena, run->diagnostics);
  if (!answer)
    return -1;
  run_print_warnings(run, scenario);
  run->no = answer->no;
  return run_explain_answer(run, scenario, answer);
}

int command_plan(struct run *run) {
  struct scenario *scenario = run_read_scenario(run, 0);
  if (scenario && run->options.time)
    take_time(scenario, run->options.time, run->arena);
  if (!scenario || !run->options.explain)
    return scenario ? ask(run, scenario) : -1;
  return explain_plan(run, scenario);
}

// ---- served: of records, without a scenario

static int show_records(struct run *run) {
  struct records records = {0};
  const struct options *options = &run->options;
  const struct stray strays[] = {{"--data", options->data_directory},
                                 {"--data-extra", options->data_extra_count > 0}};
  if (run_refuse_without_scenario(run) ||
      run_refuse_strays(run, strays, sizeof strays / sizeof strays[0], "a scenario") ||
      records_of_files(options->arguments, (size_t)options->argument_count, &records, run->arena,
                       run->diagnostics))
    return -1;
  const struct answer answer = served_records_answer(&records, run->arena);
  if (*answer.sentence)
    return run_print_answer(run, NULL, answer);
  diagnostics_error(run->diagnostics, nowhere,
                    "no serving record among them: 'pertoken probe serving' measures one, and "
                    "'pertoken import' reads one in");
  return -1;
}

int command_served(struct run *run) {
  if (text_ends_in(run->options.arguments[0], ".json"))
    return show_records(run);
  if (run->options.argument_count == 1)
    return command_question(run);
  diagnostics_error(run->diagnostics, nowhere,
                    "one scenario at a time, or records (.json) alone: '%s' is one too many",
                    run->options.arguments[1]);
  return -1;
}
