#include "model/questions/claim_concurrency.h"

#include "base/csv.h"
#include "model/catalog/columns.h"
#include "model/cost/model.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/evidence/memory.h"
#include "model/evidence/workload.h"
#include "model/scenario/option.h"

const char *const claim_room_names[ROOM_KINDS] = {"concurrency", "node_concurrency", "memory_left"};

static int refuse(const struct option *option, struct place place, const char *what,
                  struct diagnostics *diagnostics) {
  diagnostics_error(diagnostics, place, "the concurrency of option '%s' needs %s", option->id,
                    what);
  return -1;
}

int claim_concurrency(const struct scenario *scenario, size_t which, enum claim_room room,
                      struct place place, double *value, struct diagnostics *diagnostics) {
  const struct option *option = &scenario->options[which];
  const char *const *workload = option->workload.values;
  const struct table *accelerators = catalog_table(scenario->catalog, CATALOG_ACCELERATORS);
  const struct table *models = catalog_table(scenario->catalog, CATALOG_MODELS);
  const long row = accelerators ? catalog_find(accelerators, option->accelerator) : -1;
  const long model_row = models ? catalog_find(models, workload[WORKLOAD_MODEL]) : -1;
  const int nodes = model_find(scenario->model, "accelerators_per_node");
  struct fit_device device;
  struct fit_terms terms = {.kv = *workload[WORKLOAD_KV] ? workload[WORKLOAD_KV] : MEMORY_KV,
                            .memory_share = MEMORY_SHARE,
                            .chunk = MEMORY_CHUNK};
  if (row < 0 || !fit_device_of(accelerators, (size_t)row, &device))
    return refuse(option, place, "an accelerator of the catalogue with its memory", diagnostics);
  if (model_row < 0)
    return refuse(option, place, "[workload] model", diagnostics);
  if (memory_bits(workload[WORKLOAD_PRECISION]) <= 0)
    return refuse(option, place, "[workload] precision", diagnostics);
  const struct memory_model model = memory_model_of(models, (size_t)model_row);
  if (room == ROOM_MEMORY_LEFT) {
    *value = device.memory - memory_weights(&model, workload[WORKLOAD_PRECISION]);
    return 0;
  }
  if (!csv_number(workload[WORKLOAD_CONTEXT], &terms.context) || terms.context <= 0)
    return refuse(option, place, "[workload] context, the tokens that a request holds",
                  diagnostics);
  const int share = room == ROOM_NODE_CONCURRENCY && nodes >= 0
                        ? (int)option_value(scenario, option, nodes, 0)
                        : 1;
  *value = fit_concurrency(&model, workload[WORKLOAD_PRECISION], &device, share, &terms);
  return 0;
}
