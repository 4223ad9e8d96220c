#include "model/records/measurement_fields.h"

#include "base/record_fields.h"
#include "model/records/measurement.h"

#include <stddef.h>

static const char *const bases[] = {MEASUREMENT_BASIS, NULL};

// A result is measured or projected, in the order of enum grade.
static const char *const grades[] = {"measured", "", "", "", "projected", NULL};

static const struct field device_fields[] = {
    TEXT(measurement_device, backend),
    INT(measurement_device, index, 0),
    TEXT(measurement_device, name),
    TEXT(measurement_device, uuid),
    TEXT(measurement_device, pci),
    TEXT(measurement_device, runtime),
    COUNT(measurement_device, memory_bytes),
    COUNT(measurement_device, cache_bytes),
    COUNT_SINCE(measurement_device, reported_cache_bytes, 8),
    INT(measurement_device, units, 1),
    END};

static const struct field device_state_fields[] = {
    TEXT(measurement_device_state, driver),
    TEXT(measurement_device_state, vbios),
    TEXT(measurement_device_state, ecc),
    TEXT(measurement_device_state, partition),
    MAYBE(measurement_device_state, power_limit_w, 0),
    MAYBE(measurement_device_state, default_power_limit_w, 0),
    MAYBE(measurement_device_state, other_processes, 0),
    END};

static const struct field environment_fields[] = {
    TEXT_SINCE(measurement_environment, node, 11),
    TEXT(measurement_environment, kernel),
    TEXT(measurement_environment, cpu_flags),
    TEXT(measurement_environment, governor),
    MAYBE(measurement_environment, load_average, 0),
    INT(measurement_environment, threads, 0),
    TEXT(measurement_environment, tool_version),
    TEXT(measurement_environment, kernels_build),
    TEXT(measurement_environment, remarks),
    OBJECT_SINCE(measurement_environment, device_state, device_state_fields, 2),
    END};

static const char *const norms[] = {"rms", "layer", NULL};
static const char *const mlps[] = {"swiglu", "clamped_swiglu", "gelu", NULL};
static const char *const scalings[] = {"plain", "llama3", "yarn", NULL};
static const char *const routers[] = {"softmax_chosen", "softmax_all", "sigmoid", NULL};

static const struct field layer_fields[] = {NAME(measurement_layer, norm, norms),
                                            NAME(measurement_layer, mlp, mlps),
                                            BOOL(measurement_layer, parallel),
                                            BOOL(measurement_layer, qk_norm),
                                            BOOL(measurement_layer, sinks),
                                            BOOL(measurement_layer, bias_qkv),
                                            BOOL(measurement_layer, bias_output),
                                            BOOL(measurement_layer, bias_mlp),
                                            BOOL(measurement_layer, bias_router),
                                            INT(measurement_layer, window, 0),
                                            INT(measurement_layer, full_every, 0),
                                            MAYBE(measurement_layer, score_scale, 0),
                                            END};

static const struct field rope_fields[] = {NAME(measurement_rope, scaling, scalings),
                                           MAYBE(measurement_rope, factor, 0),
                                           MAYBE(measurement_rope, low, 0),
                                           MAYBE(measurement_rope, high, 0),
                                           MAYBE(measurement_rope, magnitude, 0),
                                           INT(measurement_rope, original_context, 0),
                                           BOOL(measurement_rope, whole),
                                           BOOL(measurement_rope, interleaved),
                                           END};

static const struct field latent_fields[] = {
    INT(measurement_latent, rank, 0), INT(measurement_latent, query_rank, 0),
    INT(measurement_latent, rope_dim, 0), INT(measurement_latent, value_dim, 0), END};

static const struct field experts_fields[] = {
    INT(measurement_experts, count, 0),        INT(measurement_experts, chosen, 0),
    INT(measurement_experts, hidden, 0),       INT(measurement_experts, shared_hidden, 0),
    INT(measurement_experts, dense_layers, 0), NAME(measurement_experts, router, routers),
    INT(measurement_experts, groups, 0),       INT(measurement_experts, kept_groups, 0),
    MAYBE(measurement_experts, scale, 0),      END};

static const struct field shape_fields[] = {
    TEXT(measurement_shape, id),
    INT(measurement_shape, layers, 1),
    INT(measurement_shape, hidden, 1),
    INT(measurement_shape, heads, 1),
    INT(measurement_shape, kv_heads, 1),
    INT(measurement_shape, head_dim, 1),
    INT(measurement_shape, ffn_hidden, 1),
    INT(measurement_shape, vocab, 1),
    REAL(measurement_shape, norm_epsilon, 0),
    REAL(measurement_shape, rope_theta, 0),
    OBJECT_SINCE(measurement_shape, layer, layer_fields, 12),
    OBJECT_SINCE(measurement_shape, rope, rope_fields, 12),
    OBJECT_SINCE(measurement_shape, latent, latent_fields, 12),
    OBJECT_SINCE(measurement_shape, experts, experts_fields, 12),
    END};

static const struct field types_fields[] = {TEXT(measurement_types, weights),
                                            TEXT(measurement_types, activations),
                                            TEXT(measurement_types, kv),
                                            TEXT(measurement_types, head),
                                            TEXT(measurement_types, accumulation),
                                            TEXT_SINCE(measurement_types, experts, 12),
                                            END};

static const struct field routing_fields[] = {
    TEXT(measurement_routing, policy),        MAYBE(measurement_routing, skew, 0),
    MAYBE(measurement_routing, touched, 0),   MAYBE(measurement_routing, expected, 0),
    COUNT(measurement_routing, expert_bytes), END};

static const struct field slice_fields[] = {INT(measurement_slice, layers, 1),
                                            REAL(measurement_slice, step_seconds, 0),
                                            MAYBE(measurement_slice, ci95_low_s, 0),
                                            MAYBE(measurement_slice, ci95_high_s, 0),
                                            REALS(measurement_slice, samples, sample_count),
                                            END};

static const struct field step_form_fields[] = {
    TEXT(measurement_step_form, form), TEXT(measurement_step_form, fallback),
    TEXT_SINCE(measurement_step_form, arithmetic, 14),
    TEXT_SINCE(measurement_step_form, variant, 16), END};

static const struct field variant_fields[] = {TEXT(measurement_variant, variant),
                                              MAYBE(measurement_variant, step_seconds, 0),
                                              TEXT(measurement_variant, refused), END};

static const struct field flags_fields[] = {BOOL(measurement_flags, cache_resident),
                                            BOOL(measurement_flags, noisy),
                                            BOOL(measurement_flags, unconverged),
                                            BOOL(measurement_flags, drift),
                                            BOOL(measurement_flags, bandwidth_void),
                                            BOOL(measurement_flags, sampling_inconsistent),
                                            BOOL(measurement_flags, thermal_unsettled),
                                            BOOL_SINCE(measurement_flags, window_differs, 17),
                                            END};

static const struct field range_fields[] = {MAYBE(measurement_range, min, -ENDLESS),
                                            MAYBE(measurement_range, median, -ENDLESS),
                                            MAYBE(measurement_range, max, -ENDLESS), END};

static const struct field throttle_fields[] = {TEXT(measurement_throttle, reason),
                                               REAL(measurement_throttle, seconds, 0), END};

static const struct field telemetry_fields[] = {
    TEXT(measurement_telemetry, source),
    INT(measurement_telemetry, looks, 0),
    MAYBE(measurement_telemetry, window_s, 0),
    OBJECT(measurement_telemetry, core_clock_hz, range_fields),
    OBJECT(measurement_telemetry, memory_clock_hz, range_fields),
    OBJECT(measurement_telemetry, core_temperature_c, range_fields),
    OBJECT(measurement_telemetry, memory_temperature_c, range_fields),
    LIST(measurement_telemetry, throttles, throttle_count, measurement_throttle, throttle_fields),
    TEXT_SINCE(measurement_telemetry, links, 15),
    END};

static const struct field beside_fields[] = {MAYBE(measurement_beside, soak_s, 0),
                                             MAYBE(measurement_beside, module_power_w, 0),
                                             TEXT(measurement_beside, host_meter),
                                             MAYBE(measurement_beside, host_idle_power_w, 0),
                                             MAYBE(measurement_beside, host_load_power_w, 0),
                                             TEXT(measurement_beside, wall_meter),
                                             MAYBE(measurement_beside, wall_power_w, 0),
                                             END};

static const struct field window_fields[] = {BOOL(measurement_window, sensed),
                                             REALS(measurement_window, end_s, count),
                                             MAYBES(measurement_window, power_w, power_count), END};

static const struct field readings_fields[] = {OBJECT(measurement_readings, idle, window_fields),
                                               OBJECT(measurement_readings, load, window_fields),
                                               END};

static const struct field together_fields[] = {
    INT(measurement_together, devices, 0),
    MAYBE(measurement_together, tokens_per_s, 0),
    MAYBE(measurement_together, slowest, 0),
    MAYBE(measurement_together, fastest, 0),
    MAYBE(measurement_together, total_tokens_per_s, 0),
    MAYBE(measurement_together, load_power_w, 0),
    MAYBE(measurement_together, host_load_power_w, 0),
    MAYBE(measurement_together, window_s, 0),
    OBJECT_SINCE(measurement_together, telemetry, telemetry_fields, 6),
    MAYBE_SINCE(measurement_together, wall_power_w, 0, 15),
    END};

static const struct field shard_fields[] = {
    INT(measurement_shard, of, 0), MAYBE(measurement_shard, step_seconds, 0),
    MAYBE(measurement_shard, all_reduce_s, 0), TEXT(measurement_shard, source), END};

static const struct field member_fields[] = {
    INT(measurement_member, index, 0),
    TEXT(measurement_member, name),
    TEXT(measurement_member, uuid),
    TEXT(measurement_member, pci),
    OBJECT_SINCE(measurement_member, state, device_state_fields, 6),
    OBJECT_SINCE(measurement_member, telemetry, telemetry_fields, 6),
    END};

static const struct field tensor_parallel_fields[] = {
    INT(measurement_tensor_parallel, devices, 0),
    LIST(measurement_tensor_parallel, members, member_count, measurement_member, member_fields),
    TEXT(measurement_tensor_parallel, library),
    MAYBE(measurement_tensor_parallel, all_reduce_s, 0),
    COUNT(measurement_tensor_parallel, all_reduce_bytes),
    END};

static const struct field verification_fields[] = {
    TEXT(measurement_verification, what), REAL(measurement_verification, max_error, 0),
    REAL(measurement_verification, tolerance, 0), TEXT(measurement_verification, token_checksum),
    END};

static const struct field prefill_fields[] = {
    INT(measurement_prefill, positions, 1),
    INT(measurement_prefill, chunk, 1),
    REAL(measurement_prefill, seconds, 0),
    MAYBE(measurement_prefill, ci95_low_s, 0),
    MAYBE(measurement_prefill, ci95_high_s, 0),
    REAL(measurement_prefill, tokens_per_s, 0),
    MAYBE(measurement_prefill, matrix_rate, 0),
    MAYBE(measurement_prefill, matrix_share, 0),
    MAYBE(measurement_prefill, load_power_w, 0),
    MAYBE(measurement_prefill, joules_per_token, 0),
    MAYBE_SINCE(measurement_prefill, window_tokens_per_s, 0, 18),
    TEXT(measurement_prefill, library),
    REALS(measurement_prefill, samples, sample_count),
    END};

static const struct field mixed_fields[] = {INT(measurement_mixed, rows, 1),
                                            INT(measurement_mixed, chunk, 1),
                                            REAL(measurement_mixed, steps_s, 0),
                                            REAL(measurement_mixed, chunk_s, 0),
                                            REAL(measurement_mixed, mixed_s, 0),
                                            REAL(measurement_mixed, sum_error, -ENDLESS),
                                            END};

static const struct field result_fields[] = {
    OBJECT(measurement, model, shape_fields),
    TEXT(measurement, precision),
    OBJECT(measurement, types, types_fields),
    INT(measurement, batch, 1),
    INT(measurement, context, 1),
    BOOL(measurement, whole_model),
    INT(measurement, layers_measured, 1),
    NAME(measurement, grade, grades),
    OBJECT_SINCE(measurement, step_form, step_form_fields, 7),
    LIST_SINCE(measurement, variants, variant_count, measurement_variant, variant_fields, 16),
    OBJECT(measurement, flags, flags_fields),
    REAL(measurement, tokens_per_s, 0),
    MAYBE(measurement, ci95_low, 0),
    MAYBE(measurement, ci95_high, 0),
    REAL(measurement, step_seconds, 0),
    MAYBE(measurement, p5_s, 0),
    MAYBE(measurement, p95_s, 0),
    REAL(measurement, layer_seconds, 0),
    OBJECT_SINCE(measurement, routing, routing_fields, 12),
    COUNT(measurement, bytes_per_step),
    COUNT(measurement, operations_per_step),
    COUNT(measurement, resident_bytes),
    TEXT(measurement, cost_formula),
    MAYBE(measurement, read_bandwidth, 0),
    MAYBE(measurement, read_bandwidth_after, 0),
    MAYBE(measurement, read_bandwidth_share, 0),
    MAYBE(measurement, share_p5, 0),
    MAYBE(measurement, share_p95, 0),
    MAYBE_SINCE(measurement, share_ci95_low, 0, 8),
    MAYBE_SINCE(measurement, share_ci95_high, 0, 8),
    TEXT(measurement, energy_meter),
    MAYBE(measurement, idle_power_w, 0),
    MAYBE(measurement, load_power_w, 0),
    MAYBE(measurement, sampled_power_w, 0),
    MAYBE(measurement, joules_per_token, 0),
    MAYBE(measurement, energy_j, 0),
    MAYBE(measurement, energy_window_s, 0),
    MAYBE_SINCE(measurement, window_tokens_per_s, 0, 17),
    MAYBE(measurement, power_slope_w_per_s, -ENDLESS),
    OBJECT_SINCE(measurement, readings, readings_fields, 4),
    OBJECT_SINCE(measurement, beside, beside_fields, 2),
    OBJECT_SINCE(measurement, telemetry, telemetry_fields, 2),
    OBJECT_SINCE(measurement, together, together_fields, 3),
    OBJECT_SINCE(measurement, shard, shard_fields, 3),
    OBJECT_SINCE(measurement, tensor_parallel, tensor_parallel_fields, 5),
    OBJECT(measurement, verification, verification_fields),
    COUNT(measurement, seed),
    TEXT(measurement, started),
    TEXT(measurement, finished),
    MAYBE(measurement, slice_error_s, 0),
    LIST(measurement, slices, slice_count, measurement_slice, slice_fields),
    REALS(measurement, samples, sample_count),
    REALS_SINCE(measurement, shares, share_count, 19),
    LIST_SINCE(measurement, prefills, prefill_count, measurement_prefill, prefill_fields, 13),
    LIST_SINCE(measurement, mixed, mixed_count, measurement_mixed, mixed_fields, 13),
    END};

static const struct field record_fields[] = {
    CONSTANT("basis", bases),
    OBJECT(measurement_record, device, device_fields),
    OBJECT(measurement_record, environment, environment_fields),
    TEXT(measurement_record, started),
    TEXT(measurement_record, finished),
    LIST(measurement_record, results, count, measurement, result_fields),
    END};

const struct record_form measurement_form = {"measurement record", 1, MEASUREMENT_SCHEMA,
                                             record_fields};

struct measurement measurement_unknown(void) {
  struct measurement result = {.batch = 0};
  record_leave_unknown(result_fields, &result);
  return result;
}

struct measurement_device_state measurement_device_state_unknown(void) {
  struct measurement_device_state state = {.driver = ""};
  record_leave_unknown(device_state_fields, &state);
  return state;
}
