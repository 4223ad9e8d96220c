#include "reports/commands/run.h"
#include "base/csv.h"
#include "base/digits.h"
#include "base/installation.h"
#include "base/source.h"
#include "base/texts.h"
#include "model/cost/graph.h"
#include "model/cost/model.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/evidence/grade.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"
#include "model/scenario/resolution/read.h"
#include "reports/faces/faces.h"
#include "reports/print/format.h"
#include "reports/print/output_name.h"
#include "reports/print/style.h"

#include <ctype.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void run_print_note(const struct run *run, const char *kind, const char *text) {
  const struct style style = style_of(stderr, run->arena);
  fprintf(stderr, "pertoken: %s%s\n", kind, style_text(&style, text));
}

void run_print_warnings(const struct run *run, const struct scenario *scenario) {
  if (run->options.quiet)
    return;
  const struct texts warnings = scenario_all_warnings(scenario, run->arena);
  for (size_t i = 0; i < warnings.count; i++)
    run_print_note(run, "warning: ", warnings.list[i]);
}

// Which figures were found in the catalogue instead of given.
static void print_findings(const struct run *run, const struct scenario *scenario,
                           const struct option *option) {
  for (int d = 0; d < scenario->model->count; d++) {
    const struct declaration *input = &scenario->model->declarations[d];
    const struct figure *figure = option_figure(scenario, option, scenario->selected, d);
    if (option->graph->state[d] != GRAPH_INPUT || option_is_lent(option, d) ||
        figure->origin != ORIGIN_CATALOGUE)
      continue;
    run_print_note(run, "",
                   arena_printf(run->arena, "%s: %s = %s, %s (%s:%d)", option->id, input->name,
                                quantity_text(figure->value, &input->unit, run->arena),
                                grade_name(figure->grade),
                                figure->place.source ? figure->place.source->name : "",
                                figure->place.line));
  }
}

static void print_details(const struct run *run, const struct scenario *scenario,
                          const char *directory) {
  if (!run->options.verbose)
    return;
  run_print_note(run, "data: ", directory);
  run_print_note(run, "cost model: ", scenario->model->source->name);
  run_print_note(run, "digest: ", scenario->digest);
  for (size_t i = 0; i < scenario->option_count; i++)
    print_findings(run, scenario, &scenario->options[i]);
}

int run_open_catalog(const struct run *run, struct catalog *catalog) {
  const struct options *options = &run->options;
  const char *directory = installation_data(options->data_directory, run->arena, run->diagnostics);
  return directory && !catalog_open(catalog, directory, run->arena, run->diagnostics) &&
                 !catalog_add_files(catalog, options->data_extras, options->data_extra_count)
             ? 0
             : -1;
}

struct scenario *run_read_scenario(struct run *run, int argument) {
  return run_read_beside(run, argument, NULL);
}

struct scenario *run_read_beside(struct run *run, int argument, const char *beside) {
  return run_read_file(run, run->options.arguments[argument], beside);
}

// Whether --for or an axis of --grid is the horizon, for all options or for one.
static bool varies_horizon(const struct options *options) {
  const char *point = options->input ? strrchr(options->input, '.') : NULL;
  return (options->input && !strcmp(point ? point + 1 : options->input, "horizon")) ||
         (options->grid && strstr(options->grid, "horizon="));
}

struct scenario *run_read_file(struct run *run, const char *path, const char *beside) {
  const char *directory =
      installation_data(run->options.data_directory, run->arena, run->diagnostics);
  if (!directory)
    return NULL;
  const struct scenario_request request = {
      .path = path,
      .beside = beside,
      .model_path = run->options.model_path,
      .data_directory = directory,
      .data_extras = run->options.data_extras,
      .data_extra_count = run->options.data_extra_count,
      .measurements_directory = run->options.measurements_directory,
      .case_name = run->options.case_name,
      .settings = run->options.settings,
      .setting_count = run->options.setting_count,
      .mixed = run->options.mixed,
      .varies_horizon = varies_horizon(&run->options),
  };
  struct scenario *scenario = scenario_read(&request, run->arena, run->diagnostics);
  if (scenario)
    print_details(run, scenario, directory);
  return scenario;
}

int run_open_output(struct run *run, struct output *output) {
  return output_open(output, run->options.output_path, run->arena, run->diagnostics);
}

static enum output_format format_of(const struct options *options) {
  return options->format_given ? options->format : output_name_format(options->output_path);
}

static int refuse_other_format(struct run *run) {
  const struct options *options = &run->options;
  const enum output_format named = output_name_format(options->output_path);
  if (!options->format_given || named == FORMAT_TABLE || named == options->format)
    return 0;
  diagnostics_error(run->diagnostics, nowhere,
                    "'%s' is named as another format than --format says: leave out one",
                    options->output_path);
  return -1;
}

// Refuses a workbook's or page's name: no answer that comes this far is written as one.
static int refuse_other(struct run *run) {
  const struct options *options = &run->options;
  const struct output_kind *other = output_name_other(options->output_path);
  if (!other)
    return 0;
  diagnostics_error(run->diagnostics, nowhere,
                    "'%s' writes no %s, '%s' does: write a file other than '%s', such as x.csv",
                    options->command, other->what, other->command, options->output_path);
  return -1;
}

int run_check_output_name(struct run *run) {
  return refuse_other(run) || refuse_other_format(run) ? -1 : 0;
}

// A device or a pipe is not opened: whoever reads from it would find its end.
int run_try_output(struct run *run) {
  const char *path = run->options.output_path;
  struct stat there;
  struct output output;
  if (path && !stat(path, &there) && !S_ISREG(there.st_mode) && !S_ISDIR(there.st_mode))
    return 0;
  if (run_open_output(run, &output))
    return -1;
  output_discard(&output);
  return 0;
}

int run_print_answers(struct run *run, const struct scenario *scenario,
                      const struct answers *answers) {
  struct output output;
  if (run_check_output_name(run) || run_open_output(run, &output))
    return -1;
  answers_print(scenario, answers, format_of(&run->options), output.stream, run->arena);
  for (size_t i = 0; i < answers->count; i++) {
    run->no |= answers->list[i].no;
    run->undecided |= answers->list[i].undecided;
  }
  return output_close(&output, run->diagnostics);
}

int run_print_answer(struct run *run, const struct scenario *scenario, struct answer answer) {
  const struct answers alone = {&answer, 1};
  return run_print_answers(run, scenario, &alone);
}

int run_explain_answer(struct run *run, const struct scenario *scenario,
                       const struct answer *answer) {
  struct output output;
  if (refuse_other(run) || run_open_output(run, &output))
    return -1;
  answer_explain(scenario, answer, format_of(&run->options), output.stream, run->arena);
  return output_close(&output, run->diagnostics);
}

int run_refuse_strays(const struct run *run, const struct stray *strays, size_t count,
                      const char *need) {
  struct texts given = {0};
  for (size_t i = 0; i < count; i++)
    if (strays[i].given)
      texts_add(&given, run->arena, "%s", strays[i].name);
  if (!given.count)
    return 0;
  diagnostics_error(run->diagnostics, nowhere, "%s need%s %s", texts_joined(&given, run->arena),
                    given.count > 1 ? "" : "s", need);
  return -1;
}

int run_refuse_without_scenario(const struct run *run) {
  const struct options *options = &run->options;
  const struct stray strays[] = {{"--set", options->setting_count > 0},
                                 {"--case", options->case_name},
                                 {"--mixed", options->mixed},
                                 {"--model", options->model_path},
                                 {"--measurements", options->measurements_directory}};
  return run_refuse_strays(run, strays, sizeof strays / sizeof strays[0], "a scenario");
}

int run_read_share(const struct run *run, const char *name, const char *text, double *share) {
  const struct place place = source_text_start(name, text, run->arena);
  struct unit percent;
  if (unit_parse("%", place, &percent, run->arena, run->diagnostics) ||
      quantity_parse(text, place, &percent, share, run->diagnostics))
    return -1;
  if (*share > -1 && *share <= 1)
    return 0;
  diagnostics_error(run->diagnostics, place, "%s must lie within 100 %%, not %s", name, text);
  return -1;
}

int run_read_count(const struct run *run, const char *name, const char *text, uint64_t *value) {
  const double exact = 9007199254740992; // 2^53: above it, not every whole number is a double
  double real;
  if (is_whole_number(text, 0, UINT64_MAX, value))
    return 0;
  if (isdigit((unsigned char)*text) && csv_number(text, &real) && real <= exact &&
      real == floor(real)) { // "1e7"
    *value = (uint64_t)real;
    return 0;
  }
  diagnostics_error(run->diagnostics, nowhere, "%s: expected a whole number, not '%s'", name, text);
  return -1;
}
