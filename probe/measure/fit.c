#include "probe/measure/fit.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/records/measurement.h"
#include "probe/devices/device.h"
#include "probe/devices/model_shape.h"

static const uint64_t min_room = UINT64_C(64) << 20;    // for calibration
static const uint64_t max_margin = UINT64_C(512) << 20; // left to others
// What NCCL or RCCL takes on each of several devices, after the model: buffers of every channel.
static const uint64_t joined_room = UINT64_C(1) << 30;
// Memory that is free now, or was when the device was found if it can no longer be read.
static uint64_t free_on(const struct device *device) {
  struct decode_device now;
  if (device->backend->describe(device->index, &now) == DECODE_OK)
    return now.memory_free_bytes;
  return device->described.memory_free_bytes;
}

// Free memory of the device; with several ranks, of the one that has the least.
static uint64_t free_bytes(const struct protocol *protocol, const struct trial *trial) {
  uint64_t least = free_on(protocol->device);
  for (int i = 0; i < trial->rank_count; i++) {
    const uint64_t one = free_on(&trial->ranks[i]);
    least = one < least ? one : least;
  }
  return least;
}

static uint64_t margin_of(const struct trial *trial, uint64_t available) {
  const uint64_t share = available / 20;
  const uint64_t most = max_margin + (trial->rank_count > 1 ? joined_room : 0);
  return min_room + (share < most ? share : most);
}

static bool fits(const struct protocol *protocol, const struct trial *trial, int layers,
                 uint64_t available) {
  const struct decode_request request = trial_request(trial, layers);
  struct decode_cost cost;
  return protocol->device->backend->cost(protocol->device->index, &request, &cost) == DECODE_OK &&
         cost.resident_bytes + margin_of(trial, available) <= available;
}

// "; --layers 4,8,12 measures slices of it", as deep as fits and cut between repetitions of its
// layers' pattern, or "". Prompts are measured at one depth.
static const char *suggest_layers(const struct protocol *protocol, const struct trial *trial,
                                  uint64_t available) {
  const struct measurement_shape *model = &trial->model;
  int fitting = 0, last = 0, count = 0;
  const char *list = "";
  for (int layers = model_shape_depth(model, 1);
       layers < trial_deepest(trial) && fits(protocol, trial, layers, available);
       layers = model_shape_depth(model, layers + 1))
    fitting = layers;
  for (int part = trial->prefill_count ? MAX_DEPTHS : 1; fitting && part <= MAX_DEPTHS; part++) {
    const int depth = model_shape_depth(model, fitting * part / MAX_DEPTHS);
    if (depth <= last)
      continue;
    list = arena_printf(protocol->arena, "%s%s%d", list, count++ ? "," : "", depth);
    last = depth;
  }
  if (count == 0)
    return "";
  return arena_printf(protocol->arena, "; --layers %s measures %s", list,
                      count == 1 ? "a slice of it" : "slices of it and extrapolates");
}

int fit_check(const struct protocol *protocol, const struct trial *trial) {
  const struct decode_request request = trial_request(trial, trial_deepest(trial));
  struct decode_cost cost;
  const enum decode_status status =
      protocol->device->backend->cost(protocol->device->index, &request, &cost);
  if (status != DECODE_OK) {
    protocol_fail(protocol, trial, "cannot be run", status);
    return -1;
  }
  const uint64_t available = free_bytes(protocol, trial);
  if (cost.resident_bytes + margin_of(trial, available) <= available)
    return 0;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s needs %.2f GB (%llu bytes), but only %.2f GB (%llu bytes) is free%s",
                    trial_text(trial, protocol->arena), 1e-9 * (double)cost.resident_bytes,
                    (unsigned long long)cost.resident_bytes, 1e-9 * (double)available,
                    (unsigned long long)available, suggest_layers(protocol, trial, available));
  return -1;
}

uint64_t fit_room(const struct protocol *protocol, const struct trial *trial,
                  const struct decode_cost *cost) {
  const uint64_t available = free_bytes(protocol, trial);
  const uint64_t taken = cost->resident_bytes + margin_of(trial, available);
  return available > taken ? available - taken + min_room : min_room;
}
