#include "probe/measure/depth.h"

#include "base/arena.h"
#include "probe/devices/device.h"
#include "probe/measure/fit.h"
#include "probe/measure/prefill.h"

#include <math.h>
#include <stdbool.h>

enum { ALL_REDUCES = 200 }; // timed in turn

uint64_t depth_bytes(const struct depth *depth) {
  const struct decode_cost *cost = &depth->cost;
  return cost->weight_bytes + cost->kv_bytes +
         (uint64_t)llround(depth->experts * (double)cost->expert_bytes);
}

// No ceiling is claimed for a model that fits in the cache, so a buffer that defeats the caches is
// enough.
static enum decode_status calibrate_for(const struct protocol *protocol, const struct trial *trial,
                                        struct depth *depth) {
  const struct device *device = protocol->device;
  const uint64_t room = fit_room(protocol, trial, &depth->cost);
  const uint64_t footprint = depth_bytes(depth);
  const uint64_t caches = PROTOCOL_CACHES * device->described.cache_bytes;
  const bool cached = footprint < caches;
  const uint64_t wanted = cached && caches < room ? caches : room;
  return calibrate(device->backend, device->index, trial->threads, cached ? 0 : footprint, wanted,
                   protocol->stop, &depth->calibration);
}

static enum decode_status time_all_reduce(const struct protocol *protocol, struct depth *depth) {
  const struct decode_backend *backend = protocol->device->backend;
  return backend->all_reduce(depth->sampling.state, ALL_REDUCES, &depth->all_reduce);
}

static enum decode_status measure_state(const struct protocol *protocol, const struct trial *trial,
                                        struct depth *depth, bool metered) {
  struct sampling *sampling = &depth->sampling;
  enum decode_status status = sampling_warm_up(sampling);
  if (status == DECODE_OK && metered)
    status = energy_load_soak(protocol, sampling->state, sampling->step_s, sampling->label,
                              &depth->load);
  if (status == DECODE_OK && !*protocol->stop)
    status = sampling_run(sampling);
  if (sampling->touched.steps)
    depth->experts = (double)sampling->touched.experts / (double)sampling->touched.steps;
  if (status == DECODE_OK && !*protocol->stop)
    status = calibration_repeat(&depth->calibration, &depth->bandwidth_after);
  if (status == DECODE_OK && !*protocol->stop && trial->rank_count > 1)
    status = time_all_reduce(protocol, depth);
  if (status == DECODE_OK && !*protocol->stop && metered)
    status = energy_load_run(protocol, sampling->state, sampling->summary.median, sampling->label,
                             &depth->load);
  return status;
}

enum protocol_outcome depth_measure(const struct protocol *protocol, const struct trial *trial,
                                    int layers, struct depth *depth, struct measurement *prompts) {
  const struct decode_backend *backend = protocol->device->backend;
  const struct decode_request request = trial_request(trial, layers);
  const char *label = trial_text(trial, protocol->arena);
  if (layers < trial->model.layers)
    label = arena_printf(protocol->arena, "%s, %d layers", label, layers);
  *depth = (struct depth){.load = energy_load_unknown()};
  depth->sampling = (struct sampling){.protocol = protocol,
                                      .calibration = &depth->calibration,
                                      .label = label,
                                      .batch = trial->batch,
                                      .cost = &depth->cost};
  enum decode_status status = backend->cost(protocol->device->index, &request, &depth->cost);
  depth->experts = depth->cost.expected_experts;
  protocol_say(protocol, label, "reading memory");
  if (status == DECODE_OK)
    status = calibrate_for(protocol, trial, depth);
  protocol_say(protocol, label, "filling the model");
  if (status == DECODE_OK && !*protocol->stop)
    depth->sampling.state = backend->create(protocol->device->index, &request, &status);
  protocol_say(protocol, label, "warming up");
  if (depth->sampling.state && backend->step_form)
    backend->step_form(depth->sampling.state, &depth->form);
  if (depth->sampling.state)
    status = measure_state(protocol, trial, depth, layers == trial_deepest(trial));
  if (depth->sampling.state && status == DECODE_OK && trial->prefill_count && !*protocol->stop)
    status = prefill_measure(protocol, trial, depth->sampling.state, prompts);
  if (depth->sampling.state)
    backend->destroy(depth->sampling.state);
  backend->calibration_end();
  if (status != DECODE_OK)
    return protocol_fail(protocol, trial, "cannot be measured", status);
  return *protocol->stop ? PROTOCOL_STOPPED : PROTOCOL_DONE;
}
