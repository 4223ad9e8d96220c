#include "model/questions/fitting.h"

#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/records/record_device.h"
#include "model/records/served.h"

#include "base/csv.h"
#include "base/ini.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/evidence.h"
#include "model/evidence/workload.h"
#include "model/questions/question.h"
#include "model/records/measurement.h"
#include "model/scenario/figure.h"
#include "model/scenario/option.h"

#include <math.h>

static const char *value_of(const struct option *option, enum workload_key key) {
  return option->workload.values[key];
}

static int find_device(const struct scenario *scenario, struct option_fit *fit,
                       struct diagnostics *diagnostics) {
  const struct option *option = fit->option;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_ACCELERATORS);
  const struct measurement_record *record =
      records_of_backend(scenario->records, option->accelerator);
  const long row = table ? catalog_find(table, option->accelerator) : -1;
  if (record) {
    fit->device = (struct fit_device){.id = option->accelerator,
                                      .name = option->accelerator_name,
                                      .vendor = "",
                                      .memory = (double)record->device.memory_bytes,
                                      .most = 1};
    return 0;
  }
  if (row >= 0 && fit_device_of(table, (size_t)row, &fit->device))
    return 0;
  diagnostics_error(diagnostics, option->place, "the memory of '%s' is unknown",
                    option->accelerator);
  return -1;
}

static int find_model(const struct scenario *scenario, struct option_fit *fit,
                      struct diagnostics *diagnostics) {
  const struct option *option = fit->option;
  const struct table *table = catalog_table(scenario->catalog, CATALOG_MODELS);
  const char *model = value_of(option, WORKLOAD_MODEL);
  const long row = table && *model ? catalog_find(table, model) : -1;
  if (row >= 0 && memory_bits(fit->precision) > 0) {
    fit->model = memory_model_of(table, (size_t)row);
    return 0;
  }
  if (row < 0)
    diagnostics_error(diagnostics, option->place,
                      "option '%s' does not name its model: state [workload] model", option->id);
  else
    diagnostics_error(diagnostics, option->place,
                      "option '%s' runs in precision '%s', whose size in bytes is unknown: state "
                      "[workload] precision",
                      option->id, fit->precision);
  return -1;
}

// The tokens that a request holds.
static int find_context(const struct scenario *scenario, struct option_fit *fit,
                        struct diagnostics *diagnostics) {
  const struct option *option = fit->option;
  const int input = model_find(scenario->model, "input_tokens"),
            output = model_find(scenario->model, "output_tokens");
  double *context = &fit->terms.context;
  if (*context > 0)
    return 0;
  if (option->served)
    *context = fmax(0, option->served->rungs->input_tokens + option->served->rungs->output_tokens);
  else if (input >= 0 && output >= 0 && option_has(option, input) && option_has(option, output))
    *context = option_value(scenario, option, input, 0) + option_value(scenario, option, output, 0);
  else if (*value_of(option, WORKLOAD_CONTEXT))
    csv_number(value_of(option, WORKLOAD_CONTEXT), context);
  if (*context > 0)
    return 0;
  diagnostics_error(diagnostics, option->place,
                    "option '%s' has no context length: state [fit] context, or [workload] context",
                    option->id);
  return -1;
}

static int read_terms(const struct ini_section *section, struct fit_terms *terms,
                      struct diagnostics *diagnostics) {
  const size_t errors = diagnostics->errors;
  const struct ini_key *kv = section ? ini_find(section, "kv") : NULL;
  double accelerators = 0, nodes = SPAN_ANY;
  *terms = (struct fit_terms){.kv = "", .memory_share = MEMORY_SHARE, .chunk = MEMORY_CHUNK};
  question_count(section, "context", &terms->context, diagnostics);
  question_count(section, "accelerators", &accelerators, diagnostics);
  question_count(section, "nodes_per_replica", &nodes, diagnostics);
  question_count(section, "prefill_chunk", &terms->chunk, diagnostics);
  question_quantity(section, "memory_share", &terms->memory_share, diagnostics);
  if (kv)
    terms->kv = question_precision(kv, diagnostics);
  terms->accelerators = (int)fmin(accelerators, 1e6);
  terms->nodes = (int)fmin(nodes, 1e4);
  if (terms->memory_share > 1)
    diagnostics_error(diagnostics, ini_find(section, "memory_share")->value_place,
                      "memory_share is at most 100 %%");
  return diagnostics->errors == errors ? 0 : -1;
}

const char *fitting_rate_doubt(const struct scenario *scenario, const struct option *option,
                               const struct fit *fit, struct arena *arena) {
  const int efficiency = model_find(scenario->model, "scaling_efficiency");
  const struct evidence *evidence = option_published(scenario, option);
  const struct served *served = option_served(scenario, option);
  double measured = served ? served->rungs->record->accelerators : 1;
  if (evidence)
    table_number(evidence->table, evidence->row, "num_gpus", &measured);
  if (fit->nodes <= 1 || efficiency < 0 ||
      ((evidence || served) && measured >= fit->accelerators) ||
      option_figure(scenario, option, scenario->selected, efficiency)->origin > ORIGIN_DEFAULT)
    return NULL;
  return arena_printf(arena,
                      "a replica spans %d nodes, %d accelerators, and its rate per accelerator is "
                      "%s: give scaling_efficiency, or evidence at that span",
                      fit->nodes, fit->accelerators,
                      evidence ? arena_printf(arena, "of %g (%s)", measured, evidence->id)
                      : served
                          ? arena_printf(arena, "of %g (%s)", measured, served->rungs->record->path)
                          : "used as stated");
}

bool fitting_is_asked(const struct scenario *scenario) {
  for (size_t o = 0; o < scenario->option_count; o++)
    if (scenario->options[o].curve)
      return true;
  return question_section(scenario, "fit", NULL) != NULL;
}

struct option_fit *fitting_of(const struct scenario *scenario, size_t *count, struct arena *arena,
                              struct diagnostics *diagnostics) {
  struct option_fit *fits = arena_array(arena, scenario->option_count, sizeof *fits);
  struct fit_terms common;
  *count = 0;
  if (read_terms(question_section(scenario, "fit", NULL), &common, diagnostics))
    return NULL;
  for (size_t o = 0; o < scenario->option_count; o++) {
    struct option_fit *fit = &fits[*count];
    const struct option *option = &scenario->options[o];
    if (option->provider)
      continue;
    *fit = (struct option_fit){
        .option = option, .precision = value_of(option, WORKLOAD_PRECISION), .terms = common};
    if (!*common.kv)
      fit->terms.kv = *value_of(option, WORKLOAD_KV) ? value_of(option, WORKLOAD_KV) : "bf16";
    if (find_device(scenario, fit, diagnostics) | find_model(scenario, fit, diagnostics) |
        find_context(scenario, fit, diagnostics))
      return NULL;
    fit->fit = fit_find(&fit->model, fit->precision, &fit->device, &fit->terms);
    ++*count;
  }
  if (*count)
    return fits;
  diagnostics_error(diagnostics, (struct place){.source = scenario->source},
                    "a token API has no memory to fit a model in, and there are no other options");
  return NULL;
}
