#include "probe/measure/result.h"

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "base/statistics.h"
#include "kernels/decode.h"
#include "model/evidence/grade.h"
#include "model/records/measurement_fields.h"
#include "model/records/timing.h"
#include "model/telemetry/utc.h"
#include "probe/devices/device.h"
#include "probe/devices/precision.h"
#include "probe/measure/depth.h"
#include "probe/measure/energy.h"
#include "probe/measure/energy_load.h"
#include "probe/measure/prefill.h"
#include "probe/measure/sampling.h"
#include "probe/measure/variants.h"
#include "probe/measure/verify.h"
#include "probe/meters/meter.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// ---- what is reported about it

static void tell_whole(const struct depth *depth, struct measurement *out) {
  const struct sampling *sampling = &depth->sampling;
  const struct summary shares = summarise(sampling->shares, sampling->count, sampling->sorted);
  out->samples = sampling->samples;
  out->sample_count = sampling->count;
  out->shares = sampling->shares;
  out->share_count = sampling->count;
  out->read_bandwidth_share = shares.median;
  out->share_p5 = shares.p5;
  out->share_p95 = shares.p95;
  out->share_ci95_low = isinf(shares.high) ? (double)NAN : shares.low;
  out->share_ci95_high = isinf(shares.high) ? (double)NAN : shares.high;
}

static void tell_slices(const struct protocol *protocol, const struct trial *trial,
                        const struct depth *depths, struct measurement *out) {
  const size_t count = trial->layer_count;
  struct measurement_slice *slices = arena_array(protocol->arena, count, sizeof *slices);
  for (size_t i = 0; i < count; i++)
    slices[i] = (struct measurement_slice){.layers = trial->layers[i],
                                           .samples = depths[i].sampling.samples,
                                           .sample_count = depths[i].sampling.count};
  out->slices = slices;
  out->slice_count = count;
  out->share_p5 = out->share_p95 = out->share_ci95_low = out->share_ci95_high = NAN;
}

static const char *tell_meter(const struct protocol *protocol, const struct meter *meter) {
  if (!meter)
    return "";
  if (!meter->kind || !*meter->why)
    return meter->name;
  diagnostics_warning(protocol->diagnostics, nowhere, "no power from here on: %s", meter->why);
  return arena_printf(protocol->arena, "lost: %s", meter->why);
}

// One device's telemetry; unknown if it was not looked at.
static struct measurement_telemetry telemetry_of(const struct protocol *protocol,
                                                 const struct energy_load *load, size_t i) {
  return load->telemetry && i < protocol->telemetry_count ? load->telemetry[i]
                                                          : measurement_unknown().telemetry;
}

static void tell_beside(const struct protocol *protocol, const struct energy_load *load,
                        struct measurement *out) {
  out->telemetry = protocol->telemetry_count == 1 ? telemetry_of(protocol, load, 0)
                                                  : measurement_unknown().telemetry;
  out->beside = measurement_unknown().beside;
  out->beside.soak_s = load->soak_s;
  out->beside.module_power_w = load->use.module_power_w;
  out->beside.host_meter = tell_meter(protocol, protocol->host);
  if (protocol->host)
    out->beside.host_idle_power_w = protocol->host_idle_power_w;
  out->beside.host_load_power_w = load->host_use.power_w;
  out->beside.wall_meter = load->wall.meter;
  out->beside.wall_power_w = load->wall.watts;
}

// Each layer of experts in a slice touches as many as one of the model's.
static void tell_experts(const struct trial *trial, const struct depth *depth,
                         struct measurement *out) {
  const struct measurement_experts *experts = &out->model.experts;
  const int whole = (trial->layer_count > 1 ? out->model.layers : out->layers_measured);
  if (experts->count == 0)
    return;
  out->routing.touched = depth->experts * (whole - experts->dense_layers) /
                         (out->layers_measured - experts->dense_layers);
  out->bytes_per_step +=
      (uint64_t)llround(out->routing.touched * (double)out->routing.expert_bytes);
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
  out->window_tokens_per_s = out->tokens_per_s * depth->sampling.summary.mean / depth->load.step_s;
  out->joules_per_token = ranks_of(out) * use->power_w / out->window_tokens_per_s;
  out->energy_j = use->joules;
  out->energy_window_s = use->seconds;
  out->power_slope_w_per_s = use->slope_w_per_s;
  out->flags.sampling_inconsistent = use->inconsistent;
  out->flags.thermal_unsettled = use->unsettled;
  out->flags.window_differs = measurement_window_differs(out);
  tell_beside(protocol, &depth->load, out);
}

// How much the reads beside the samples differ: the range from 5 % to 95 % of them, as a share of
// their median. The product of a sample's time and its share is inversely proportional to the speed
// of its reads.
static double spread_of_reads(const struct sampling *sampling, struct arena *arena) {
  double *reads = arena_array(arena, sampling->count, sizeof *reads);
  for (size_t i = 0; i < sampling->count; i++)
    reads[i] = 1 / (sampling->samples[i] * sampling->shares[i]);
  const struct summary summary = summarise(reads, sampling->count, sampling->sorted);
  return (summary.p95 - summary.p5) / summary.median;
}

static bool drifts(const struct depth *depth, struct arena *arena) {
  const double ratio = depth->bandwidth_after / depth->calibration.buffer_bytes_per_s;
  return fabs(ratio - 1) > MAX_READ_CHANGE ||
         spread_of_reads(&depth->sampling, arena) > MAX_READ_SPREAD;
}

// Reads that were no ceiling, and what was compared with them, are left out of the record.
static void refuse_share(const struct protocol *protocol, const struct trial *trial,
                         struct measurement *out) {
  out->flags.bandwidth_void = out->read_bandwidth_share > MAX_READ_SHARE;
  if (!out->flags.bandwidth_void)
    return;
  diagnostics_warning(protocol->diagnostics, nowhere,
                      "%s: the steps came out at %.0f %% of the measured memory speed, which is "
                      "impossible, so no share is given: other programs slowed the reads; measure "
                      "again on a quiet machine, or longer with --time",
                      trial_text(trial, protocol->arena), 100 * out->read_bandwidth_share);
  out->read_bandwidth = out->read_bandwidth_after = NAN;
  out->read_bandwidth_share = out->share_p5 = out->share_p95 = NAN;
  out->share_ci95_low = out->share_ci95_high = NAN;
  out->share_count = 0;
}

static void tell_flags(const struct protocol *protocol, const struct trial *trial,
                       const struct depth *depths, struct measurement *out) {
  const size_t count = trial->layer_count;
  for (size_t i = 0; i < count; i++) {
    const struct depth *depth = &depths[i];
    const struct sampling *sampling = &depth->sampling;
    out->flags.noisy = out->flags.noisy || is_noisy(sampling->samples, sampling->count,
                                                    MAX_SAMPLE_CHANGE, sampling->sorted);
    out->flags.drift = out->flags.drift || drifts(depth, protocol->arena);
    out->flags.cache_resident =
        out->flags.cache_resident ||
        depth_bytes(depth) < PROTOCOL_CACHES * protocol->device->described.cache_bytes;
  }
  refuse_share(protocol, trial, out);
  const bool whole =
      out->whole_model && count == 1 && !out->flags.cache_resident && out->shard.of < 2;
  out->grade = whole ? GRADE_MEASURED : GRADE_PROJECTED;
}

// The form of the deepest, or of one that fell back, and what was chosen for all of them.
static void tell_step_form(const struct protocol *protocol, const struct trial *trial,
                           const struct depth *depths, struct measurement *out) {
  const struct decode_step_form *form = &depths[trial->layer_count - 1].form;
  for (size_t i = 0; i < trial->layer_count && !*form->fallback; i++)
    form = *depths[i].form.fallback ? &depths[i].form : form;
  out->step_form.form = arena_copy(protocol->arena, form->form);
  out->step_form.fallback = arena_copy(protocol->arena, form->fallback);
  out->step_form.arithmetic = arena_copy(protocol->arena, form->arithmetic);
  out->step_form.variant = trial->variant ? trial->variant : "";
  if (*form->fallback)
    diagnostics_warning(protocol->diagnostics, nowhere, "%s: %s, slower than necessary: %s",
                        trial_text(trial, protocol->arena), form->form, form->fallback);
}

static struct measurement_member tell_member(const struct protocol *protocol,
                                             const struct trial *trial,
                                             const struct energy_load *load, size_t i) {
  const struct measurement_device device = device_record(&trial->ranks[i], protocol->arena);
  return (struct measurement_member){
      .index = device.index,
      .name = device.name,
      .uuid = device.uuid,
      .pci = device.pci,
      .state = i < protocol->telemetry_count ? protocol->telemetry[i].state
                                             : measurement_device_state_unknown(),
      .telemetry = telemetry_of(protocol, load, i),
  };
}

static struct measurement_tensor_parallel
tell_ranks(const struct protocol *protocol, const struct trial *trial, const struct depth *depth) {
  const size_t count = trial->rank_count > 1 ? (size_t)trial->rank_count : 0;
  if (count == 0)
    return measurement_unknown().tensor_parallel;
  const struct decode_all_reduce *all_reduce = &depth->all_reduce;
  struct measurement_member *members = arena_array(protocol->arena, count, sizeof *members);
  for (size_t i = 0; i < count; i++)
    members[i] = tell_member(protocol, trial, &depth->load, i);
  return (struct measurement_tensor_parallel){
      .devices = trial->rank_count,
      .members = members,
      .member_count = count,
      .library = arena_copy(protocol->arena, all_reduce->library),
      .all_reduce_s = all_reduce->seconds,
      .all_reduce_bytes = all_reduce->bytes,
  };
}

static void tell(const struct protocol *protocol, const struct trial *trial,
                 const struct depth *depths, struct measurement *out) {
  const size_t count = trial->layer_count;
  const struct depth *last = &depths[count - 1];
  tell_experts(trial, last, out);
  out->read_bandwidth = last->calibration.bytes_per_s;
  out->read_bandwidth_after = last->bandwidth_after;
  if (count == 1)
    tell_whole(last, out);
  else
    tell_slices(protocol, trial, depths, out);
  timing_tell(out, protocol->arena);
  if (count > 1)
    out->read_bandwidth_share =
        (double)out->bytes_per_step / out->step_seconds / out->read_bandwidth;
  out->tensor_parallel = tell_ranks(protocol, trial, last);
  tell_energy(protocol, last, out);
  tell_flags(protocol, trial, depths, out);
  tell_step_form(protocol, trial, depths, out);
}

// ---- the whole

// Measured after the steps themselves.
static enum protocol_outcome verify_prefill(const struct protocol *protocol,
                                            const struct trial *trial) {
  struct prefill_verdict verdict;
  const enum decode_status status = prefill_verify(protocol, trial, &verdict);
  if (status != DECODE_OK)
    return protocol_fail(protocol, trial, "cannot be verified with a prompt", status);
  if (verdict.passed)
    return PROTOCOL_DONE;
  protocol->diagnostics->machine_failed = true;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s: a prompt processed in chunks gives a different result from the same "
                    "prompt decoded: error %.3g",
                    trial_text(trial, protocol->arena), verdict.error);
  return PROTOCOL_FAILED;
}

static enum protocol_outcome verify_trial(const struct protocol *protocol,
                                          const struct trial *trial, struct measurement *out) {
  struct decode_request request = trial_request(trial, trial_deepest(trial));
  request.chunk = 0;
  const struct verify_plan plan = verify_plan(&request);
  bool passed;
  protocol_say(protocol, trial_text(trial, protocol->arena), "verifying");
  const enum decode_status status =
      verify(protocol->device->backend, protocol->device->index, &request, &plan, protocol->stop,
             protocol->arena, &out->verification, &passed);
  if (status != DECODE_OK)
    return protocol_fail(protocol, trial, "cannot be verified", status);
  if (*protocol->stop)
    return PROTOCOL_STOPPED;
  if (passed)
    return trial->prefill_count ? verify_prefill(protocol, trial) : PROTOCOL_DONE;
  protocol->diagnostics->machine_failed = true;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s: the device's results differ from the oracle's: error %.3g, tolerance %g "
                    "(%s)",
                    trial_text(trial, protocol->arena), out->verification.max_error,
                    out->verification.tolerance, out->verification.what);
  return PROTOCOL_FAILED;
}

static struct measurement_routing routing_of(const struct trial *trial,
                                             const struct decode_cost *cost) {
  if (trial->model.experts.count == 0)
    return measurement_unknown().routing;
  return (struct measurement_routing){
      .policy = trial_routings[trial->routing],
      .skew = trial->routing == ROUTING_SKEWED ? (double)trial->skew : (double)NAN,
      .touched = NAN,
      .expected = cost->expected_experts,
      .expert_bytes = cost->expert_bytes,
  };
}

static const char *formula_of(const struct trial *trial, struct arena *arena) {
  const bool has_experts = trial->model.experts.count > 0;
  const bool is_share = trial->shard.of > 1 || trial->rank_count > 1;
  return arena_printf(
      arena,
      "counted from the shapes%s: every weight and scale%s once per step, the embedding rows of "
      "the "
      "batch, keys and values of all positions read, one written%s",
      is_share ? " of the largest share" : "", has_experts ? " but those of routed experts" : "",
      has_experts ? "; and the experts that a step's rows touched, counted on the device" : "");
}

static struct measurement begin(const struct protocol *protocol, const struct trial *trial) {
  const struct decode_request whole =
      trial_request(trial, trial->layer_count > 1 ? trial->model.layers : trial_deepest(trial));
  struct decode_cost cost = {0};
  protocol->device->backend->cost(protocol->device->index, &whole, &cost);
  return (struct measurement){
      .model = trial->model,
      .precision = trial->precision,
      .types = precision_texts(&trial->types),
      .batch = trial->batch,
      .context = trial->context,
      .whole_model = (trial->layer_count > 1 || trial_deepest(trial) == trial->model.layers) &&
                     (trial->shard.of < 2 || !isnan(trial->shard.all_reduce_s)),
      .shard = trial->shard.of > 1 ? trial->shard : measurement_unknown().shard,
      .layers_measured = trial_deepest(trial),
      .bytes_per_step = cost.weight_bytes + cost.kv_bytes,
      .operations_per_step = cost.operations,
      .resident_bytes = cost.resident_bytes,
      .cost_formula = formula_of(trial, protocol->arena),
      .routing = routing_of(trial, &cost),
      .step_form = {"", "", "", ""},
      .together = measurement_unknown().together,
      .seed = trial->seed,
      .started = utc_now(protocol->arena),
  };
}

// If the trial is to have the fastest variant, the own choice is verified first, and then whichever
// it is.
static enum protocol_outcome choose_and_verify(const struct protocol *protocol, struct trial *trial,
                                               struct measurement *out) {
  enum protocol_outcome outcome = verify_trial(protocol, trial, out);
  if (outcome == PROTOCOL_DONE && trial->fastest)
    outcome = variants_choose(protocol, trial, out);
  if (outcome == PROTOCOL_DONE && trial->fastest && trial->variant)
    outcome = verify_trial(protocol, trial, out);
  return outcome;
}

enum protocol_outcome result_measure(const struct protocol *protocol, const struct trial *given,
                                     struct measurement *out) {
  struct depth depths[MAX_DEPTHS];
  struct trial own = *given;
  const struct trial *trial = &own;
  memset(depths, 0, sizeof depths);
  *out = begin(protocol, trial);
  enum protocol_outcome outcome = choose_and_verify(protocol, &own, out);
  for (size_t i = 0; i < trial->layer_count && outcome == PROTOCOL_DONE; i++)
    outcome = depth_measure(protocol, trial, trial->layers[i], &depths[i], out);
  if (outcome != PROTOCOL_DONE)
    return outcome;
  tell(protocol, trial, depths, out);
  out->finished = utc_now(protocol->arena);
  if (out->step_seconds > 0 && out->layer_seconds > 0)
    return PROTOCOL_DONE;
  diagnostics_error(protocol->diagnostics, nowhere,
                    "%s: deeper slices take no longer, so nothing can be extrapolated from them: "
                    "measure deeper ones",
                    trial_text(trial, protocol->arena));
  protocol->diagnostics->machine_failed = true;
  return PROTOCOL_FAILED;
}
