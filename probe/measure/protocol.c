#include "probe/measure/protocol.h"

#include "kernels/share.h"
#include "probe/devices/model_shape.h"
#include "probe/devices/precision.h"
#include "probe/measure/energy_load.h"
#include "probe/measure/energy_watch.h"
#include "probe/measure/environment.h"
#include "probe/measure/sampling.h"
#include "probe/measure/verify.h"

#include <math.h>
#include <string.h>

enum { ALL_REDUCES = 200 }; // timed in turn

static const double noisy_share = 0.005;
static const double drift_share = 0.01;
static const double void_share = 1.02;
static const uint64_t least_room = UINT64_C(64) << 20;   // for calibration beside the model
static const uint64_t most_margin = UINT64_C(512) << 20; // left to others
static const struct place nowhere = {0};

// What one depth gave.
struct depth {
  struct decode_cost cost;
  struct sampling sampling;
  struct calibration calibration;
  double bandwidth_after;
  struct energy_load load;
  struct decode_all_reduce all_reduce; // of several devices
  struct decode_step_form form;
};

const char *workload_text(const struct workload *workload, struct arena *arena) {
  const int ranks = workload->shard.of;
  return arena_printf(arena, "%s %s, batch %d, context %d%s", workload->model.id,
                      workload->precision, workload->batch, workload->context,
                      ranks > 1 ? arena_printf(arena, ", a share of 1/%d", ranks)
                      : workload->rank_count > 1
                          ? arena_printf(arena, ", on %d devices", workload->rank_count)
                          : "");
}

struct decode_request workload_request(const struct workload *workload, int layers) {
  return (struct decode_request){
      .shape = share_of(model_shape_of(&workload->model, layers), workload->shard.of),
      .types = workload->types,
      .batch = workload->batch,
      .context = workload->context,
      .seed = workload->seed,
      .threads = workload->threads,
      .ranks = workload->rank_count,
      .devices = workload->rank_indices,
  };
}

static enum protocol_outcome fail(const struct protocol *protocol, const struct workload *workload,
                                  const char *what, enum decode_status status) {
  struct diagnostics *diagnostics = protocol->diagnostics;
  diagnostics->machine_failed = diagnostics->machine_failed || status != DECODE_UNSUPPORTED;
  diagnostics_error(diagnostics, nowhere, "%s: %s: %s", workload_text(workload, diagnostics->arena),
                    what, device_failure(protocol->device->backend, status, diagnostics->arena));
  return PROTOCOL_FAILED;
}

// ---- does it fit

static int deepest(const struct workload *workload) {
  return workload->layers[workload->layer_count - 1];
}

// Memory that is free now; before, if the device does not say.
static uint64_t free_on(const struct device *device) {
  struct decode_device now;
  if (device->backend->describe(device->index, &now) == DECODE_OK)
    return now.memory_free_bytes;
  return device->described.memory_free_bytes;
}

// Of several devices that with the least.
static uint64_t free_bytes(const struct protocol *protocol, const struct workload *workload) {
  uint64_t least = free_on(protocol->device);
  for (int i = 0; i < workload->rank_count; i++) {
    const uint64_t one = free_on(&workload->ranks[i]);
    least = one < least ? one : least;
  }
  return least;
}

static uint64_t margin_of(uint64_t available) {
  const uint64_t share = available / 20;
  return least_room + (share < most_margin ? share : most_margin);
}

// "; --layers 4,8,12 measures slices of it", as deep as they fit, or "".
static const char *suggest_layers(const struct protocol *protocol, const struct workload *workload,
                                  uint64_t available) {
  struct decode_cost cost;
  int fitting = 0;
  for (int layers = 1; layers < deepest(workload); layers++) {
    const struct decode_request request = workload_request(workload, layers);
    if (protocol->device->backend->cost(&request, &cost) != DECODE_OK ||
        cost.resident_bytes + margin_of(available) > available)
      break;
    fitting = layers;
  }
  if (fitting < 2)
    return "";
  const int third = fitting / 3;
  const char *depths =
      third ? arena_printf(protocol->arena, "%d,%d,%d", third, 2 * third, 3 * third) : "1,2";
  return arena_printf(protocol->arena, "; --layers %s measures slices of it and extrapolates",
                      depths);
}

int protocol_fits(const struct protocol *protocol, const struct workload *workload) {
  const struct decode_request request = workload_request(workload, deepest(workload));
  struct decode_cost cost;
  const enum decode_status status = protocol->device->backend->cost(&request, &cost);
  if (status != DECODE_OK) {
    fail(protocol, workload, "cannot be run", status);
    return -1;
  }
  const uint64_t available = free_bytes(protocol, workload);
  if (cost.resident_bytes + margin_of(available) <= available)
    return 0;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s needs %.2f GB (%llu bytes) and %.2f GB (%llu bytes) are free%s",
                    workload_text(workload, protocol->arena), 1e-9 * (double)cost.resident_bytes,
                    (unsigned long long)cost.resident_bytes, 1e-9 * (double)available,
                    (unsigned long long)available, suggest_layers(protocol, workload, available));
  return -1;
}

// ---- one depth

static void say(const struct protocol *protocol, const char *label, const char *what) {
  if (protocol->progress)
    protocol->progress(arena_printf(protocol->arena, "%s: %s", label, what));
}

// Of a model that lives in the cache no ceiling is claimed, so a buffer that defeats the caches
// will do.
static enum decode_status calibrate_for(const struct protocol *protocol,
                                        const struct workload *workload, struct depth *depth) {
  const struct device *device = protocol->device;
  const uint64_t available = free_bytes(protocol, workload);
  const uint64_t taken = depth->cost.resident_bytes + margin_of(available);
  const uint64_t room = available > taken ? available - taken + least_room : least_room;
  const uint64_t footprint = depth->cost.weight_bytes + depth->cost.kv_bytes;
  const uint64_t caches = PROTOCOL_CACHES * device->described.cache_bytes;
  const bool cached = footprint < caches;
  const uint64_t wanted = cached && caches < room ? caches : room;
  return calibrate(device->backend, device->index, workload->threads, cached ? 0 : footprint,
                   wanted, protocol->stop, &depth->calibration);
}

static enum decode_status time_all_reduce(const struct protocol *protocol, struct depth *depth) {
  const struct decode_backend *backend = protocol->device->backend;
  return backend->all_reduce(depth->sampling.state, ALL_REDUCES, &depth->all_reduce);
}

static enum decode_status measure_state(const struct protocol *protocol,
                                        const struct workload *workload, struct depth *depth,
                                        bool metered) {
  struct sampling *sampling = &depth->sampling;
  const uint64_t bytes = depth->cost.weight_bytes + depth->cost.kv_bytes;
  enum decode_status status = sampling_warm_up(sampling);
  if (status == DECODE_OK)
    status = sampling_run(sampling, bytes);
  if (status == DECODE_OK && !*protocol->stop)
    status = calibration_repeat(&depth->calibration, &depth->bandwidth_after);
  if (status == DECODE_OK && !*protocol->stop && workload->rank_count > 1)
    status = time_all_reduce(protocol, depth);
  if (status == DECODE_OK && !*protocol->stop && metered)
    status = energy_load_run(protocol, sampling->state, sampling->summary.median, sampling->label,
                             &depth->load);
  return status;
}

static enum protocol_outcome measure_depth(const struct protocol *protocol,
                                           const struct workload *workload, int layers,
                                           struct depth *depth) {
  const struct decode_backend *backend = protocol->device->backend;
  const struct decode_request request = workload_request(workload, layers);
  const char *label = workload_text(workload, protocol->arena);
  if (layers < workload->model.layers)
    label = arena_printf(protocol->arena, "%s, %d layers", label, layers);
  *depth = (struct depth){.load = energy_load_unknown()};
  depth->sampling = (struct sampling){.protocol = protocol,
                                      .calibration = &depth->calibration,
                                      .label = label,
                                      .batch = workload->batch};
  enum decode_status status = backend->cost(&request, &depth->cost);
  say(protocol, label, "reading memory");
  if (status == DECODE_OK)
    status = calibrate_for(protocol, workload, depth);
  say(protocol, label, "filling the model");
  if (status == DECODE_OK && !*protocol->stop)
    depth->sampling.state = backend->create(protocol->device->index, &request, &status);
  say(protocol, label, "warming up");
  if (depth->sampling.state && backend->step_form)
    backend->step_form(depth->sampling.state, &depth->form);
  if (depth->sampling.state)
    status = measure_state(protocol, workload, depth, layers == deepest(workload));
  if (depth->sampling.state)
    backend->destroy(depth->sampling.state);
  backend->calibration_end();
  if (status != DECODE_OK)
    return fail(protocol, workload, "cannot be measured", status);
  return *protocol->stop ? PROTOCOL_STOPPED : PROTOCOL_DONE;
}

// ---- what is said of it

static double half_width(const struct summary *summary) {
  return (summary->high - summary->low) / 2;
}

static void tell_speed(struct measurement *out, double step_s, double low_s, double high_s) {
  out->step_seconds = step_s;
  out->tokens_per_s = out->batch / step_s;
  out->ci95_low = out->batch / high_s;
  out->ci95_high = out->batch / low_s;
}

static void tell_whole(const struct depth *depth, struct measurement *out) {
  const struct sampling *sampling = &depth->sampling;
  const struct summary shares = summarise(sampling->shares, sampling->count, sampling->sorted);
  tell_speed(out, sampling->summary.median, sampling->summary.low, sampling->summary.high);
  out->p5_s = sampling->summary.p5;
  out->p95_s = sampling->summary.p95;
  out->layer_seconds = out->step_seconds / out->layers_measured;
  out->samples = sampling->samples;
  out->sample_count = sampling->count;
  out->read_bandwidth_share = shares.median;
  out->share_p5 = shares.p5;
  out->share_p95 = shares.p95;
  out->slice_error_s = NAN;
}

static void tell_slice(const struct depth *depth, int layers, struct measurement_slice *slice) {
  *slice = (struct measurement_slice){
      .layers = layers,
      .step_seconds = depth->sampling.summary.median,
      .ci95_low_s = depth->sampling.summary.low,
      .ci95_high_s = depth->sampling.summary.high,
      .samples = depth->sampling.samples,
      .sample_count = depth->sampling.count,
  };
}

// t = a + b L, at the model's layers. The interval carries each depth's own interval through the
// line, and with three depths the line's own error.
static void tell_extrapolation(const struct depth *depths, struct measurement *out) {
  double x[PROTOCOL_DEPTHS], t[PROTOCOL_DEPTHS], squares = 0;
  for (size_t i = 0; i < out->slice_count; i++) {
    x[i] = out->slices[i].layers;
    t[i] = out->slices[i].step_seconds;
  }
  const struct fitted_line line = fit_line(x, t, out->slice_count);
  const double whole = out->model.layers, step_s = line_at(&line, whole);
  for (size_t i = 0; i < out->slice_count; i++)
    squares += pow(line_weight(&line, whole, x[i]) * half_width(&depths[i].sampling.summary), 2);
  out->slice_error_s = line_error_at(&line, whole);
  if (!isnan(out->slice_error_s))
    squares += pow(1.96 * out->slice_error_s, 2);
  const double half = fmin(sqrt(squares), 0.999 * step_s);
  tell_speed(out, step_s, step_s - half, step_s + half);
  out->p5_s = step_s - half;
  out->p95_s = step_s + half;
  out->layer_seconds = line.b;
  out->read_bandwidth_share = (double)out->bytes_per_step / step_s / out->read_bandwidth;
  out->share_p5 = out->share_p95 = NAN;
}

static const char *tell_meter(const struct protocol *protocol, const struct meter *meter) {
  if (!meter)
    return "";
  if (!meter->kind || !*meter->why)
    return meter->name;
  diagnostics_warning(protocol->diagnostics, nowhere, "no power from here on: %s", meter->why);
  return arena_printf(protocol->arena, "lost: %s", meter->why);
}

// Of one device; unknown where none was looked at.
static struct measurement_telemetry telemetry_of(const struct protocol *protocol,
                                                 const struct energy_load *load, size_t i) {
  return load->telemetry && i < protocol->telemetry_count ? load->telemetry[i]
                                                          : measurement_telemetry_unknown;
}

static void tell_beside(const struct protocol *protocol, const struct energy_load *load,
                        struct measurement *out) {
  out->telemetry = protocol->telemetry_count == 1 ? telemetry_of(protocol, load, 0)
                                                  : measurement_telemetry_unknown;
  out->beside = measurement_beside_unknown;
  out->beside.soak_s = load->soak_s;
  out->beside.module_power_w = load->use.module_power_w;
  out->beside.host_meter = tell_meter(protocol, protocol->host);
  if (protocol->host)
    out->beside.host_idle_power_w = protocol->host_idle_power_w;
  out->beside.host_load_power_w = load->host_use.power_w;
  out->beside.wall_meter = load->wall.meter;
  out->beside.wall_power_w = load->wall.watts;
}

static int ranks_of(const struct measurement *result) {
  return result->shard.of > 1 ? result->shard.of : 1;
}

static void tell_energy(const struct protocol *protocol, const struct depth *depth,
                        struct measurement *out) {
  const struct energy_use *use = &depth->load.use;
  out->energy_meter = tell_meter(protocol, protocol->meter);
  out->idle_power_w = protocol->idle_power_w;
  out->readings = (struct measurement_readings){protocol->idle_readings, use->readings};
  out->load_power_w = use->power_w;
  out->sampled_power_w = use->sampled_power_w;
  out->joules_per_token = ranks_of(out) * use->power_w / out->tokens_per_s;
  out->energy_j = use->joules;
  out->energy_window_s = use->seconds;
  out->power_slope_w_per_s = use->slope_w_per_s;
  out->flags.sampling_inconsistent = use->inconsistent;
  out->flags.thermal_unsettled = use->unsettled;
  tell_beside(protocol, &depth->load, out);
}

static void tell_flags(const struct protocol *protocol, const struct depth *depths, size_t count,
                       struct measurement *out) {
  for (size_t i = 0; i < count; i++) {
    const struct depth *depth = &depths[i];
    const struct sampling *sampling = &depth->sampling;
    const double ratio = depth->bandwidth_after / depth->calibration.buffer_bytes_per_s;
    const uint64_t bytes = depth->cost.weight_bytes + depth->cost.kv_bytes;
    out->flags.noisy = out->flags.noisy ||
                       is_noisy(sampling->samples, sampling->count, noisy_share, sampling->sorted);
    out->flags.unconverged = out->flags.unconverged || !sampling->settled;
    out->flags.drift = out->flags.drift || fabs(ratio - 1) > drift_share;
    out->flags.cache_resident = out->flags.cache_resident ||
                                bytes < PROTOCOL_CACHES * protocol->device->described.cache_bytes;
  }
  out->flags.bandwidth_void = out->read_bandwidth_share > void_share;
  if (out->flags.bandwidth_void)
    out->read_bandwidth = out->read_bandwidth_after = out->read_bandwidth_share = out->share_p5 =
        out->share_p95 = NAN;
  const bool whole =
      out->whole_model && count == 1 && !out->flags.cache_resident && out->shard.of < 2;
  out->grade = whole ? GRADE_MEASURED : GRADE_PROJECTED;
}

// Of the deepest, or of one that fell back.
static void tell_step_form(const struct protocol *protocol, const struct workload *workload,
                           const struct depth *depths, struct measurement *out) {
  const struct decode_step_form *form = &depths[workload->layer_count - 1].form;
  for (size_t i = 0; i < workload->layer_count && !*form->fallback; i++)
    form = *depths[i].form.fallback ? &depths[i].form : form;
  out->step_form.form = arena_copy(protocol->arena, form->form);
  out->step_form.fallback = arena_copy(protocol->arena, form->fallback);
  if (*form->fallback)
    diagnostics_warning(protocol->diagnostics, nowhere, "%s: %s, slower than need be: %s",
                        workload_text(workload, protocol->arena), form->form, form->fallback);
}

// The ranks' exchanges come on top of the share's own time: two a layer, one for the tokens.
static void tell_exchanges(struct measurement *out) {
  const double shift_s = (2 * out->model.layers + 1) * out->shard.all_reduce_s;
  if (out->shard.of < 2)
    return;
  out->shard.step_seconds = out->step_seconds;
  if (isnan(shift_s))
    return;
  tell_speed(out, out->step_seconds + shift_s, out->batch / out->ci95_high + shift_s,
             out->batch / out->ci95_low + shift_s);
  out->p5_s += shift_s;
  out->p95_s += shift_s;
}

static struct measurement_member tell_member(const struct protocol *protocol,
                                             const struct workload *workload,
                                             const struct energy_load *load, size_t i) {
  const struct measurement_device device = device_record(&workload->ranks[i], protocol->arena);
  return (struct measurement_member){
      .index = device.index,
      .name = device.name,
      .uuid = device.uuid,
      .pci = device.pci,
      .state = i < protocol->telemetry_count ? protocol->telemetry[i].state
                                             : measurement_device_state_unknown,
      .telemetry = telemetry_of(protocol, load, i),
  };
}

static struct measurement_tensor_parallel tell_ranks(const struct protocol *protocol,
                                                     const struct workload *workload,
                                                     const struct depth *depth) {
  const size_t count = workload->rank_count > 1 ? (size_t)workload->rank_count : 0;
  if (count == 0)
    return measurement_one_device;
  const struct decode_all_reduce *all_reduce = &depth->all_reduce;
  struct measurement_member *members = arena_array(protocol->arena, count, sizeof *members);
  for (size_t i = 0; i < count; i++)
    members[i] = tell_member(protocol, workload, &depth->load, i);
  return (struct measurement_tensor_parallel){
      .devices = workload->rank_count,
      .members = members,
      .member_count = count,
      .library = arena_copy(protocol->arena, all_reduce->library),
      .all_reduce_s = all_reduce->seconds,
      .all_reduce_bytes = all_reduce->bytes,
  };
}

static void tell(const struct protocol *protocol, const struct workload *workload,
                 const struct depth *depths, struct measurement *out) {
  const size_t count = workload->layer_count;
  const struct depth *last = &depths[count - 1];
  out->read_bandwidth = last->calibration.bytes_per_s;
  out->read_bandwidth_after = last->bandwidth_after;
  if (count == 1) {
    tell_whole(last, out);
  } else {
    struct measurement_slice *slices = arena_array(protocol->arena, count, sizeof *slices);
    for (size_t i = 0; i < count; i++)
      tell_slice(&depths[i], workload->layers[i], &slices[i]);
    out->slices = slices;
    out->slice_count = count;
    tell_extrapolation(depths, out);
  }
  tell_exchanges(out);
  out->tensor_parallel = tell_ranks(protocol, workload, last);
  tell_energy(protocol, last, out);
  tell_flags(protocol, depths, count, out);
  tell_step_form(protocol, workload, depths, out);
}

// ---- the whole

static enum protocol_outcome verify_workload(const struct protocol *protocol,
                                             const struct workload *workload,
                                             struct measurement *out) {
  const struct decode_request request = workload_request(workload, deepest(workload));
  bool passed;
  say(protocol, workload_text(workload, protocol->arena), "verifying");
  const enum decode_status status =
      verify(protocol->device->backend, protocol->device->index, &request, protocol->stop,
             protocol->arena, &out->verification, &passed);
  if (status != DECODE_OK)
    return fail(protocol, workload, "cannot be verified", status);
  if (*protocol->stop)
    return PROTOCOL_STOPPED;
  if (passed)
    return PROTOCOL_DONE;
  protocol->diagnostics->machine_failed = true;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s: the device computes something else than the oracle: error %.3g, tolerance "
                    "%g (%s)",
                    workload_text(workload, protocol->arena), out->verification.max_error,
                    out->verification.tolerance, out->verification.what);
  return PROTOCOL_FAILED;
}

static struct measurement begin(const struct protocol *protocol, const struct workload *workload) {
  const struct decode_request whole = workload_request(
      workload, workload->layer_count > 1 ? workload->model.layers : deepest(workload));
  struct decode_cost cost = {0};
  protocol->device->backend->cost(&whole, &cost);
  return (struct measurement){
      .model = workload->model,
      .precision = workload->precision,
      .types = precision_texts(&workload->types),
      .batch = workload->batch,
      .context = workload->context,
      .whole_model = (workload->layer_count > 1 || deepest(workload) == workload->model.layers) &&
                     (workload->shard.of < 2 || !isnan(workload->shard.all_reduce_s)),
      .shard = workload->shard.of > 1 ? workload->shard : measurement_whole_model,
      .layers_measured = deepest(workload),
      .bytes_per_step = cost.weight_bytes + cost.kv_bytes,
      .operations_per_step = cost.operations,
      .resident_bytes = cost.resident_bytes,
      .cost_formula = "counted from the shapes: every weight and scale once per step, the "
                      "embedding rows of the batch, keys and values of all positions read, one "
                      "written",
      .step_form = {"", ""},
      .together = measurement_together_unknown,
      .seed = workload->seed,
      .started = environment_time(protocol->arena),
  };
}

enum protocol_outcome protocol_measure(const struct protocol *protocol,
                                       const struct workload *workload, struct measurement *out) {
  struct depth depths[PROTOCOL_DEPTHS];
  memset(depths, 0, sizeof depths);
  *out = begin(protocol, workload);
  enum protocol_outcome outcome = verify_workload(protocol, workload, out);
  for (size_t i = 0; i < workload->layer_count && outcome == PROTOCOL_DONE; i++)
    outcome = measure_depth(protocol, workload, workload->layers[i], &depths[i]);
  if (outcome != PROTOCOL_DONE)
    return outcome;
  tell(protocol, workload, depths, out);
  out->finished = environment_time(protocol->arena);
  if (out->step_seconds > 0)
    return PROTOCOL_DONE;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s: the slices' times do not grow with their depth: nothing can be "
                    "extrapolated from them; measure deeper ones",
                    workload_text(workload, protocol->arena));
  protocol->diagnostics->machine_failed = true;
  return PROTOCOL_FAILED;
}

void protocol_idle(struct protocol *protocol) {
  struct energy_watch watch = {
      .clock = protocol->clock,
      .meter = protocol->meter,
      .host = protocol->host,
      .seconds = PROTOCOL_ENERGY_S,
      .arena = protocol->arena,
  };
  const bool has_host = protocol->host && protocol->host->kind;
  protocol->idle_power_w = protocol->host_idle_power_w = NAN;
  protocol->idle_readings = (struct measurement_window){0};
  if (!protocol->meter->kind && !has_host)
    return;
  if (protocol->progress)
    protocol->progress("idle power");
  if (energy_watch_start(&watch))
    return;
  do {
    clock_sleep(protocol->clock, 0.1);
  } while (!energy_watch_is_over(&watch) && !*protocol->stop);
  energy_watch_stop(&watch);
  protocol->idle_power_w = watch.use.power_w;
  protocol->idle_readings = watch.use.readings;
  protocol->host_idle_power_w = watch.host_use.power_w;
}
