#include "model/questions/claim_concurrency.h"

#include "base/csv.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"
#include "model/evidence/workload.h"
#include "model/scenario/option.h"

// A server that keeps its KV cache as wide as `pertoken fit` does where nobody says otherwise.
static const char usual_kv[] = "bf16";

static int refuse(const struct option *option, struct place place, const char *what,
                  struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, place, "the concurrency of option '%s' needs %s", option->id,
                    what);
  return -1;
}

int claim_concurrency(const struct scenario *scenario, size_t which, bool of_node,
                      struct place place, double *requests, struct diagnostics *diagnostics) {
  const struct option *option = &scenario->options[which];
  const char *const *workload = option->workload.values;
  const struct table *accelerators = catalog_table(scenario->catalog, CATALOG_ACCELERATORS);
  const struct table *models = catalog_table(scenario->catalog, CATALOG_MODELS);
  const long row = accelerators ? catalog_find(accelerators, option->accelerator) : -1;
  const long model_row = models ? catalog_find(models, workload[WORKLOAD_MODEL]) : -1;
  const int nodes = model_find(scenario->model, "accelerators_per_node");
  struct fit_device device;
  struct fit_terms terms = {.kv = *workload[WORKLOAD_KV] ? workload[WORKLOAD_KV] : usual_kv,
                            .memory_share = MEMORY_SHARE,
                            .chunk = MEMORY_CHUNK};
  if (row < 0 || !fit_device_of(accelerators, (size_t)row, &device))
    return refuse(option, place, "an accelerator of the catalogue with its memory", diagnostics);
  if (model_row < 0)
    return refuse(option, place, "[workload] model", diagnostics);
  if (memory_bits(workload[WORKLOAD_PRECISION]) <= 0)
    return refuse(option, place, "[workload] precision", diagnostics);
  if (!csv_number(workload[WORKLOAD_CONTEXT], &terms.context) || terms.context <= 0)
    return refuse(option, place, "[workload] context, the tokens that a request holds",
                  diagnostics);
  const struct memory_model model = memory_model_of(models, (size_t)model_row);
  const int share = of_node && nodes >= 0 ? (int)option_value(scenario, option, nodes, 0) : 1;
  *requests = fit_concurrency(&model, workload[WORKLOAD_PRECISION], &device, share, &terms);
  return 0;
}
