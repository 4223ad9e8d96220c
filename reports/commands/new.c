#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/output.h"
#include "base/process.h"
#include "base/source.h"
#include "model/draft/draft.h"
#include "model/draft/request.h"
#include "model/draft/template.h"
#include "model/evidence/catalog.h"
#include "model/scenario/option.h"
#include "model/scenario/resolution/read.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/answers/compare.h"
#include "reports/commands/asking.h"
#include "reports/commands/commands.h"
#include "reports/commands/prompt.h"
#include "reports/commands/run.h"
#include "reports/print/interval.h"

#include <string.h>

static int refuse(const struct run *run, const char *why) {
  diagnostics_error(run->diagnostics, nowhere, "%s", why);
  return -1;
}

static int read_question(const struct run *run, enum draft_question *question) {
  const char *name = run->options.template;
  *question = DRAFT_TWO_VENDORS;
  for (int q = 0; name && q < DRAFT_QUESTIONS; q++)
    if (!strcmp(draft_question_names[q], name)) {
      *question = (enum draft_question)q;
      return 0;
    }
  if (!name)
    return 0;
  return refuse(run,
                arena_printf(run->arena, "unknown template '%s'%s", name,
                             name_hint(name, draft_question_names, DRAFT_QUESTIONS, run->arena)));
}

// The arguments of the command; if a required one is missing, the message asks for it.
static int read_arguments(const struct run *run, struct draft_request *request) {
  const struct options *options = &run->options;
  const bool needs_demand = draft_needs_demand(request->question);
  request->accelerators = options->arguments;
  request->accelerator_count = (size_t)options->argument_count;
  request->model = options->model;
  request->count = options->count;
  request->demand = options->demand;
  if (!options->model)
    return refuse(run, "name a model with --model ID; see 'pertoken catalog models'");
  if (options->count && options->demand)
    return refuse(
        run, "both --count and --demand are given: a demand sizes every option, so give only one");
  if (needs_demand && !options->demand)
    return refuse(
        run, arena_printf(run->arena,
                          "the template %s needs a demand, for example --demand '60000000 Mtok/yr'",
                          draft_question_names[request->question]));
  if (!options->count && !options->demand)
    return refuse(run, "give the number of accelerators with --count N, or the demand with "
                       "--demand '60000000 Mtok/yr'");
  return 0;
}

// The draft's request, from the command line or by asking; *path: where to write it, or NULL.
static int read_request(struct run *run, struct catalog *catalog, struct draft_request *request,
                        const char **path) {
  *path = run->options.output_path;
  run->options.output_path = NULL; // the path of the scenario, not of the answer
  if (*path && !strcmp(*path, "-"))
    return refuse(run,
                  "expected -o FILE, the scenario to write: the answer goes to standard output");
  if (read_question(run, &request->question))
    return -1;
  request->date = process_today(run->arena);
  request->settings = run->options.settings;
  request->setting_count = run->options.setting_count;
  if (run->options.argument_count)
    return read_arguments(run, request);
  if (prompt_is_possible())
    return ask_draft(run, catalog, request, path);
  return refuse(run, "no accelerator is named, and there is no terminal to prompt on; for example: "
                     "pertoken new mi355x b200 --model llama-3.1-405b --count 640");
}

// The command that answers the question, where that is not compare.
static const struct {
  const char *command, *does;
} next_commands[DRAFT_QUESTIONS] = {[DRAFT_RENT_OR_OWN] = {"rent", "compares owning with renting"},
                                    [DRAFT_PROPOSALS] = {"plan", "says what to buy, and when"}};

static void print_doubts(const struct run *run, const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++) {
    const struct option *option = &scenario->options[o];
    const char *doubt = option_doubt(scenario, option);
    if (*doubt)
      run_print_note(
          run, "doubtful: ", arena_printf(run->arena, "%s: its throughput: %s", option->id, doubt));
  }
}

static void print_notes(const struct run *run, const struct draft *draft,
                        const struct scenario *scenario, enum draft_question question,
                        const char *path) {
  if (run->options.quiet)
    return;
  for (size_t i = 0; i < draft->notes.count; i++)
    run_print_note(run, "", draft->notes.list[i]);
  for (size_t i = 0; i < draft->missing.count; i++)
    run_print_note(run, "missing: ", draft->missing.list[i]);
  if (draft->missing.count)
    run_print_note(
        run, "",
        draft->missing.count == 1
            ? "its stand-in is a guess that the comparison depends on: replace it before you decide"
            : "their stand-ins are guesses that the comparison depends on: replace them before you "
              "decide");
  print_doubts(run, scenario);
  run_print_note(run, "wrote ", path);
  if (next_commands[question].command)
    run_print_note(run, "",
                   arena_printf(run->arena, "next: 'pertoken %s %s' %s",
                                next_commands[question].command, path,
                                next_commands[question].does));
}

// Reads the draft before it is written, so that an invalid --set is reported and no file is left.
static const struct scenario *read_draft(struct run *run, const struct draft *draft,
                                         const char *path, const char *data) {
  const struct scenario_request request = {.path = path,
                                           .text = draft->text,
                                           .data_directory = data,
                                           .data_extras = run->options.data_extras,
                                           .data_extra_count = run->options.data_extra_count,
                                           .mixed = run->options.mixed};
  const struct scenario *scenario = scenario_read(&request, run->arena, run->diagnostics);
  if (!scenario) // the errors follow
    run_print_note(
        run, "",
        arena_printf(run->arena, "%s is not written; these lines are of its draft:", path));
  return scenario;
}

int command_new(struct run *run) {
  struct catalog catalog;
  struct draft_request request = {0};
  struct draft draft;
  const struct simulation *simulation;
  const char *path;
  if (run_open_catalog(run, &catalog) || read_request(run, &catalog, &request, &path) ||
      draft_make(&request, &catalog, &draft, run->arena, run->diagnostics))
    return -1;
  path = path ? path : draft.name;
  const struct scenario *scenario = read_draft(run, &draft, path, catalog.directory);
  if (!scenario || interval_simulate(scenario, &simulation, run->arena, run->diagnostics) ||
      output_write_new(path, draft.text, run->diagnostics))
    return -1;
  print_notes(run, &draft, scenario, request.question, path);
  return run_print_answer(run, scenario, compare_answer(scenario, simulation, run->arena));
}
