#include "model/evidence/fit.h"

#include "base/csv.h"
#include "model/evidence/device_memory.h"

#include <math.h>
#include <stdbool.h>
#include <stddef.h>

bool fit_device_of(const struct table *accelerators, size_t row, struct fit_device *out) {
  struct device_memory memory;
  double most = 0;
  *out = (struct fit_device){.id = table_cell(accelerators, row, "id"),
                             .name = table_cell(accelerators, row, "name"),
                             .vendor = table_cell(accelerators, row, "vendor")};
  if (!device_memory_find(accelerators, row, &memory))
    return false;
  if (!table_number(accelerators, row, "scale_up_domain", &most) &&
      !table_number(accelerators, row, "gpus_per_node", &most))
    most = MAX_SHARING;
  out->memory = memory.bytes;
  out->memory_is_lower_bound = memory.is_lower_bound;
  out->most = (int)most;
  return true;
}

// Memory of one request, on all accelerators together.
static double per_request(const struct memory_model *model, int accelerators,
                          const struct fit_terms *terms) {
  const double kv = memory_kv(model, terms->context, memory_bits(terms->kv));
  return accelerators *
         (kv * memory_kv_share(model, accelerators) + memory_per_sequence(model, accelerators));
}

// Memory of a step with `rows` rows, on all accelerators together.
static double activations(const struct memory_model *model, int accelerators, double rows) {
  return accelerators * rows * memory_per_token(model, accelerators);
}

// Requests at once on accelerators that hold `weights` bytes of weights.
static double concurrency_beside(const struct memory_model *model, double weights,
                                 const struct fit_device *device, int accelerators,
                                 const struct fit_terms *terms) {
  const double room = accelerators * device->memory * terms->memory_share - weights;
  if (room < 0 || !memory_divides(model, accelerators))
    return 0;
  if (!model->has_shape)
    return NAN;
  const double each = per_request(model, accelerators, terms);
  const double requests = (room - activations(model, accelerators, terms->chunk)) / each;
  if (requests <= terms->chunk)
    return fmax(floor(requests), 0);
  // More requests than a chunk has tokens: each one adds a row to the step.
  return floor(room / (each + activations(model, accelerators, 1)));
}

double fit_concurrency(const struct memory_model *model, const char *precision,
                       const struct fit_device *device, int accelerators,
                       const struct fit_terms *terms) {
  return concurrency_beside(model, memory_weights(model, precision), device, accelerators, terms);
}

static bool holds(double concurrency) {
  return isnan(concurrency) || concurrency >= 1;
}

static double most_concurrency(const struct memory_model *model, const char *precision,
                               const struct fit_device *device, const struct fit_terms *terms,
                               int *accelerators) {
  double best = 0;
  *accelerators = 0;
  for (int n = 1; n <= device->most; n++) {
    const double concurrency = fit_concurrency(model, precision, device, n, terms);
    if (!(concurrency >= 1) || concurrency < best)
      continue;
    best = concurrency;
    *accelerators = n;
  }
  return model->has_shape ? best : NAN;
}

static int fewest(const struct memory_model *model, const char *precision,
                  const struct fit_device *device, const struct fit_terms *terms) {
  const int wanted = terms->accelerators;
  for (int n = wanted ? wanted : 1; n <= (wanted ? wanted : device->most); n++)
    if (holds(fit_concurrency(model, precision, device, n, terms)))
      return n;
  return 0;
}

// Each node holds its part of the weights, and its own requests.
static double concurrency_over(const struct memory_model *model, const char *precision,
                               const struct fit_device *device, int nodes,
                               const struct fit_terms *terms) {
  return nodes * concurrency_beside(model, memory_weights(model, precision) / nodes, device,
                                    device->most, terms);
}

// Nodes of a replica: the requested number, or the fewest that hold it; 1 if one node is enough.
static int span_of(const struct memory_model *model, const char *precision,
                   const struct fit_device *device, const struct fit_terms *terms, bool fits_one) {
  if (terms->accelerators || terms->nodes == 0 || (terms->nodes == SPAN_ANY && fits_one))
    return 1;
  if (terms->nodes > 0)
    return terms->nodes;
  for (int nodes = 2; nodes <= MAX_SPAN; nodes++)
    if (holds(concurrency_over(model, precision, device, nodes, terms)))
      return nodes;
  return 1;
}

static void spread(const struct memory_model *model, const char *precision,
                   const struct fit_device *device, const struct fit_terms *terms,
                   struct fit *fit) {
  fit->concurrency = fit->concurrency_most =
      concurrency_over(model, precision, device, fit->nodes, terms);
  fit->accelerators = fit->most = holds(fit->concurrency) ? fit->nodes * device->most : 0;
  fit->per_request = per_request(model, device->most, terms);
  fit->activations = fit->nodes * activations(model, device->most, terms->chunk);
  fit->left = fit->nodes * device->most * device->memory - fit->weights;
}

struct fit fit_find(const struct memory_model *model, const char *precision,
                    const struct fit_device *device, const struct fit_terms *terms) {
  const int found = fewest(model, precision, device, terms);
  const int counted = found ? found : (terms->accelerators ? terms->accelerators : 1);
  struct fit fit = {.accelerators = found,
                    .nodes = span_of(model, precision, device, terms, found > 0),
                    .weights = memory_weights(model, precision),
                    .per_request = per_request(model, counted, terms),
                    .activations = activations(model, counted, terms->chunk)};
  fit.left = counted * device->memory - fit.weights;
  fit.concurrency = found ? fit_concurrency(model, precision, device, found, terms) : 0;
  fit.concurrency_most = most_concurrency(model, precision, device, terms, &fit.most);
  if (fit.nodes > 1)
    spread(model, precision, device, terms, &fit);
  return fit;
}
