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

// A way for accelerators to share a model, and what that takes. Bytes.
struct layout {
  enum fit_split split;
  double ranks;       // that hold requests of their own, whole ones
  double weights;     // on all accelerators together, copies included
  double per_request; // on its rank
  double row;         // activations of one token in a step, on a rank
};

// The layout of tensor parallelism within each node; the weights are divided over the nodes.
static struct layout tensor_layout(const struct memory_model *model, const char *precision, int on,
                                   int nodes, const struct fit_terms *terms) {
  const double kv = memory_kv(model, terms->context, memory_bits(terms->kv));
  return (struct layout){
      .split = SPLIT_TENSOR,
      .ranks = nodes,
      .weights = memory_weights(model, precision),
      .per_request = on * (kv * memory_kv_share(model, on) + memory_per_sequence(model, on)),
      .row = on * memory_per_token(model, on)};
}

// The layout of attention data parallelism: each accelerator has its own requests and everything
// except the experts, which are divided.
static struct layout attention_layout(const struct memory_model *model, const char *precision,
                                      int on, const struct fit_terms *terms) {
  const double experts = memory_expert_weights(model, precision);
  const double copy = memory_weights(model, precision) - experts;
  return (struct layout){.split = SPLIT_ATTENTION,
                         .ranks = on,
                         .weights =
                             on * (copy + experts * ceil(model->experts / on) / model->experts),
                         .per_request = memory_kv(model, terms->context, memory_bits(terms->kv)) +
                                        memory_per_sequence(model, 1),
                         .row = memory_per_token(model, 1)};
}

// Experts are divided evenly, or over whole nodes or domains, where some are held twice.
static bool divides_experts(const struct memory_model *model, const struct fit_device *device,
                            int on) {
  const int experts = (int)model->experts;
  return on > 1 && on <= experts && (experts % on == 0 || on % device->most == 0);
}

// Requests at once on all accelerators, which have `memory` bytes to fill.
static double concurrency_in(const struct memory_model *model, const struct layout *layout,
                             double memory, const struct fit_terms *terms) {
  const double room = (memory - layout->weights) / layout->ranks;
  if (room < 0)
    return 0;
  if (!model->has_shape)
    return NAN;
  const double requests = (room - layout->row * terms->chunk) / layout->per_request;
  // More requests than a chunk has tokens: each one adds a row to the step.
  const double whole = requests <= terms->chunk ? fmax(floor(requests), 0)
                                                : floor(room / (layout->per_request + layout->row));
  return layout->ranks * whole;
}

// The requests at once on `on` accelerators of each node, in the layout that holds more of them.
static double concurrency_over(const struct memory_model *model, const char *precision,
                               const struct fit_device *device, int on, int nodes,
                               const struct fit_terms *terms, struct layout *layout) {
  const double memory = (double)nodes * on * device->memory * terms->memory_share;
  *layout = tensor_layout(model, precision, on, nodes, terms);
  const double tensor =
      memory_divides(model, on) ? concurrency_in(model, layout, memory, terms) : 0;
  if (!divides_experts(model, device, nodes * on))
    return tensor;
  const struct layout other = attention_layout(model, precision, nodes * on, terms);
  const double attention = concurrency_in(model, &other, memory, terms);
  if (attention <= tensor)
    return tensor;
  *layout = other;
  return attention;
}

double fit_concurrency(const struct memory_model *model, const char *precision,
                       const struct fit_device *device, int accelerators,
                       const struct fit_terms *terms) {
  struct layout layout;
  return concurrency_over(model, precision, device, accelerators, 1, terms, &layout);
}

static bool holds(double concurrency) {
  return isnan(concurrency) || concurrency >= 1;
}

// Finds the most requests at once over all numbers of accelerators that may share the model, with
// as many replicas as find room beside each other.
static void find_most(const struct memory_model *model, const char *precision,
                      const struct fit_device *device, const struct fit_terms *terms,
                      struct fit *fit) {
  for (int n = 1; n <= device->most; n++) {
    const int replicas = device->most / n;
    const double concurrency = replicas * fit_concurrency(model, precision, device, n, terms);
    if (!(concurrency >= 1) || concurrency < fit->concurrency_most)
      continue;
    fit->concurrency_most = concurrency;
    fit->most = replicas * n;
    fit->replica_most = n;
  }
  if (!model->has_shape)
    fit->concurrency_most = NAN;
}

static int fewest(const struct memory_model *model, const char *precision,
                  const struct fit_device *device, const struct fit_terms *terms) {
  const int wanted = terms->accelerators;
  for (int n = wanted ? wanted : 1; n <= (wanted ? wanted : device->most); n++)
    if (holds(fit_concurrency(model, precision, device, n, terms)))
      return n;
  return 0;
}

static bool spans(const struct memory_model *model, const char *precision,
                  const struct fit_device *device, int nodes, const struct fit_terms *terms) {
  struct layout layout;
  return holds(concurrency_over(model, precision, device, device->most, nodes, terms, &layout));
}

// Nodes of a replica: the requested number, or the fewest that hold it; 1 if one node is enough.
static int span_of(const struct memory_model *model, const char *precision,
                   const struct fit_device *device, const struct fit_terms *terms, bool fits_one) {
  if (terms->accelerators || terms->nodes == 0 || (terms->nodes == SPAN_ANY && fits_one))
    return 1;
  if (terms->nodes > 0)
    return terms->nodes;
  for (int nodes = 2; nodes <= MAX_SPAN; nodes++)
    if (spans(model, precision, device, nodes, terms))
      return nodes;
  return 1;
}

struct fit fit_find(const struct memory_model *model, const char *precision,
                    const struct fit_device *device, const struct fit_terms *terms) {
  const int found = fewest(model, precision, device, terms);
  const int nodes = span_of(model, precision, device, terms, found > 0);
  const int alone = terms->accelerators ? terms->accelerators : 1;
  const int counted = nodes > 1 ? device->most : found ? found : alone;
  struct layout layout;
  const double concurrency =
      concurrency_over(model, precision, device, counted, nodes, terms, &layout);
  struct fit fit = {.nodes = nodes,
                    .split = layout.split,
                    .ranks = layout.ranks,
                    .weights = layout.weights,
                    .per_request = layout.per_request,
                    .activations = layout.ranks * layout.row * terms->chunk,
                    .left = (double)nodes * counted * device->memory - layout.weights};
  find_most(model, precision, device, terms, &fit);
  if (holds(concurrency)) {
    fit.accelerators = nodes * counted;
    fit.concurrency = concurrency;
  }
  if (nodes > 1) {
    fit.most = fit.replica_most = fit.accelerators;
    fit.concurrency_most = concurrency;
  }
  return fit;
}
