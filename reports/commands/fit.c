#include "model/evidence/fit.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/catalog.h"
#include "model/evidence/memory.h"
#include "model/scenario/scenario.h"
#include "reports/answers/fit.h"
#include "reports/commands/commands.h"
#include "reports/commands/options.h"
#include "reports/commands/run.h"
#include "reports/faces/answer.h"

#include <stddef.h>
#include <stdint.h>

// Fewer parameters are a mistake, such as 70 for 70 billion: no language model is that small.
#define MIN_PARAMETERS 1e6

static int refuse_with_scenario(struct run *run) {
  const struct options *options = &run->options;
  if (!options->where_count && !options->context && !options->kv && !options->parameters &&
      !options->accelerators)
    return 0;
  diagnostics_error(run->diagnostics, nowhere,
                    "--where, --context, --kv, --accelerators and --parameters apply to the "
                    "catalogue; a scenario states them in [fit]");
  return -1;
}

static int fit_scenario(struct run *run) {
  struct answers answers = {0};
  if (refuse_with_scenario(run))
    return -1;
  const struct scenario *scenario = run_read_scenario(run, 0);
  if (!scenario || answer_fit(scenario, NULL, &answers, run->arena, run->diagnostics))
    return -1;
  run_print_warnings(run, scenario);
  return run_print_answers(run, scenario, &answers);
}

static int read_whole(struct run *run, const char *name, const char *text, double *out) {
  uint64_t value;
  if (!text)
    return 0;
  if (run_read_count(run, name, text, &value))
    return -1;
  *out = (double)value;
  if (*out >= 1 && *out <= 1e9)
    return 0;
  diagnostics_error(run->diagnostics, nowhere, "%s must be within 1 and 1e9", name);
  return -1;
}

static int read_parameters(struct run *run, double *out) {
  const char *text = run->options.parameters;
  if (!text || (csv_number(text, out) && *out >= MIN_PARAMETERS && *out <= 1e15))
    return 0;
  diagnostics_error(run->diagnostics, nowhere,
                    "--parameters takes a number such as 70e9 for 70 billion, not '%s'", text);
  return -1;
}

static int refuse_with_parameters(struct run *run) {
  const struct options *options = &run->options;
  if (!options->parameters || (!options->context && !options->kv))
    return 0;
  diagnostics_error(run->diagnostics, nowhere,
                    "%s has no effect with --parameters, which counts weights alone: a request's "
                    "memory follows from layers and KV heads",
                    options->context ? "--context" : "--kv");
  return -1;
}

static int read_question(struct run *run, struct fit_question *question) {
  const struct options *options = &run->options;
  double accelerators = 0;
  question->terms = (struct fit_terms){.context = MEMORY_CONTEXT,
                                       .kv = options->kv ? options->kv : "bf16",
                                       .memory_share = MEMORY_SHARE,
                                       .chunk = MEMORY_CHUNK};
  if (refuse_with_parameters(run) ||
      read_whole(run, "--context", options->context, &question->terms.context) ||
      read_whole(run, "--accelerators", options->accelerators, &accelerators) ||
      read_parameters(run, &question->parameters))
    return -1;
  question->terms.accelerators = (int)accelerators;
  if (memory_bits(question->terms.kv) > 0)
    return 0;
  diagnostics_error(run->diagnostics, nowhere, "unknown precision '%s' after --kv",
                    question->terms.kv);
  return -1;
}

static int fit_catalogue(struct run *run) {
  struct catalog catalog;
  struct answers answers = {0};
  struct fit_question question = {
      .catalog = &catalog, .wheres = run->options.wheres, .where_count = run->options.where_count};
  if (run_open_catalog(run, &catalog) || read_question(run, &question) ||
      answer_fit_catalogue(&question, &answers, run->arena, run->diagnostics))
    return -1;
  return run_print_answers(run, NULL, &answers);
}

int command_fit(struct run *run) {
  if (!run->options.argument_count && run_refuse_without_scenario(run))
    return -1;
  if (run->options.argument_count > 1) {
    diagnostics_error(run->diagnostics, nowhere, "expected at most one scenario");
    return -1;
  }
  return run->options.argument_count ? fit_scenario(run) : fit_catalogue(run);
}
