// measurement: records of the probe's runs, written and read as JSON files.
//
// A record is one file (base/record.h): a device, its environment, and one result for each workload
// measured on it.
//
// Decoding is not serving: `tokens_per_s` is what the device decodes when it does nothing else.
#ifndef PERTOKEN_MODEL_RECORDS_MEASUREMENT_H
#define PERTOKEN_MODEL_RECORDS_MEASUREMENT_H

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Schema 2 adds other watts beside the device's own, telemetry and the device's state; 3 the
// device's results while others beside it run the same; 4 the meter's readings over time; 5 several
// devices that hold one model together; 6 telemetry of each of several devices; 7 how a step is
// executed on the device; 8 the cache size that the system reports, and the interval of the share
// of the read bandwidth; 11 the node (9 and 10 are serving records', in one sequence); 12 how a
// model's layers differ from a Llama's, and its experts; 13 prompts; 14 what is multiplied natively
// and what is converted; 15 the device's links, and the wall's watts while all devices of a machine
// run; 16 the ways to compute a step that were tried; 17 the rate while the watts were taken; 18 a
// prompt's as well, and rates are of the mean step, with intervals of the mean, where before they
// were of the median; 19 the share of the read bandwidth of every sample, and no intervals where
// the samples do not tell any. Older records are read, with these unknown: their models are Llamas,
// or were measured as such.
#define MEASUREMENT_SCHEMA 19
#define MEASUREMENT_BASIS  "decode"

// A GPU that is capped, or warms up, decodes more slowly in the seconds under the meter than in
// its samples, of milliseconds between reads of memory. The same share as for a power that has not
// settled.
#define MAX_WINDOW_DIFFERENCE 0.03

// The power has not settled if the line through a window's readings moves by more than this share
// of the power.
#define MAX_POWER_CHANGE 0.03

// Samples are noisy if the medians of their first and last third differ by more than this share.
#define MAX_SAMPLE_CHANGE 0.005

// The device's own speed drifted if its read bandwidths before and after the samples differ by more
// than the first share, or the 5th and 95th percentiles of the reads beside them by the second.
#define MAX_READ_CHANGE 0.01
#define MAX_READ_SPREAD 0.05

// The power by the energy counter and the sampled power disagree if they differ by more than this
// share.
#define MAX_ENERGY_DIFFERENCE 0.05

struct measurement_device {
  const char *backend;           // "cpu"
  int index;                     // of the device within the backend when measured; not its identity
  const char *name, *uuid, *pci; // uuid and pci are "" if there is none
  const char *runtime;           // driver, runtime and instruction set
  uint64_t memory_bytes, cache_bytes; // the last-level cache of the cores in use
  uint64_t reported_cache_bytes;      // as the system reports it, per package on AMD; 0: nothing
  int units;                          // cores or multiprocessors
};

// The setup of the device, according to its management library. "" and NAN where it does not tell.
// In the environment of several devices that hold a model together: the state of the first, and the
// processes on all.
struct measurement_device_state {
  const char *driver, *vbios; // versions
  const char *ecc;            // "enabled", "disabled"
  const char *partition;      // "MIG", "SPX, NPS1"; "whole": a device that could be partitioned
  double power_limit_w, default_power_limit_w;
  double other_processes; // that compute on it, before the run, other than this one
};

struct measurement_environment {
  const char *node;      // the machine's name in a fleet; "" unless stated
  const char *kernel;    // release of the operating system's kernel
  const char *cpu_flags; // "" if they cannot be read
  const char *governor;  // of frequency, "" if it cannot be read
  double load_average;   // of the machine over a minute, before the run; NAN if unknown
  int threads;           // 0: the backend's choice
  const char *tool_version;
  const char *kernels_build; // hash over the kernels' sources
  const char *remarks;       // the basis of the figures, for people; "" for nothing
  struct measurement_device_state device_state;
};

// A layer as described in kernels/decode.h: the enums in its order, so that zeros are a Llama's. 0
// means that the field is not used, but 1 for score_scale and magnitudes.
enum measurement_norm { MEASUREMENT_NORM_RMS, MEASUREMENT_NORM_LAYER };
enum measurement_mlp { MEASUREMENT_MLP_SWIGLU, MEASUREMENT_MLP_CLAMPED, MEASUREMENT_MLP_GELU };
enum measurement_scaling { MEASUREMENT_ROPE_PLAIN, MEASUREMENT_ROPE_LLAMA3, MEASUREMENT_ROPE_YARN };
enum measurement_router {
  MEASUREMENT_ROUTER_CHOSEN,
  MEASUREMENT_ROUTER_ALL,
  MEASUREMENT_ROUTER_SIGMOID
};

struct measurement_layer {
  enum measurement_norm norm;
  enum measurement_mlp mlp;
  bool parallel, qk_norm, sinks;
  bool bias_qkv, bias_output, bias_mlp, bias_router;
  int window, full_every; // positions; in each group of this many layers the last has no window
  double score_scale;
};

struct measurement_rope {
  enum measurement_scaling scaling;
  double factor, low, high, magnitude;
  int original_context;
  bool whole, interleaved;
};

struct measurement_latent {
  int rank; // 0: no latent attention
  int query_rank, rope_dim, value_dim;
};

struct measurement_experts {
  int count; // 0: a dense model
  int chosen, hidden, shared_hidden, dense_layers;
  enum measurement_router router;
  int groups, kept_groups;
  double scale;
};

struct measurement_shape {
  const char *id; // of data/models.csv
  int layers, hidden, heads, kv_heads, head_dim, ffn_hidden, vocab;
  double norm_epsilon, rope_theta;
  struct measurement_layer layer;
  struct measurement_rope rope;
  struct measurement_latent latent;
  struct measurement_experts experts;
};

// "bf16", "e4m3", "int8", "f32": two results are alike if all of these are equal.
struct measurement_types {
  const char *weights, *activations, *kv, *head, *accumulation;
  const char *experts; // of the routed experts; "": the same as the weights
};

// The routing of a batch's rows to experts, and how many experts a step reads, which determines the
// cost of a mixture. Unknown for a dense model.
struct measurement_routing {
  const char *policy;    // "model", "uniform", "skewed"
  double skew;           // of "skewed"
  double touched;        // distinct experts per step, over all layers, counted on the device, mean
  double expected;       // the same for uniform routing, in closed form
  uint64_t expert_bytes; // of one expert, read once per step however many rows use it
};

// A record has no figures if its kernels did not pass.
struct measurement_verification {
  const char *what;           // which shape was compared, and how
  double max_error;           // relative norm of the logits' error, of the worst row
  double tolerance;           // which the error had to stay below
  const char *token_checksum; // SHA-256 over the first tokens sampled
};

// One depth of a model measured as slices.
struct measurement_slice {
  int layers;
  double step_seconds, ci95_low_s, ci95_high_s; // mean and its 95 % interval; NAN: see timing.h
  const double *samples;                        // seconds per step
  size_t sample_count;
};

// The form in which a step is executed on a device, and what is multiplied there: decode_step_form
// of kernels/decode.h. "" if there is only one form, and in old records.
struct measurement_step_form {
  const char *form;       // "recorded graph", "one launch", "single launches"
  const char *fallback;   // why it is not the intended form, and takes longer than necessary
  const char *arithmetic; // "native bf16; converted mxfp4 to bf16"
  const char *variant;    // "step=streaming": not the backend's own choice
};

// A way to compute the steps that was tried before one was measured.
struct measurement_variant {
  const char *variant; // "": the backend's own choice, which comes first
  double step_seconds; // median of a short time; NAN: it was not timed
  const char *refused; // why not; "" if it was
};

struct measurement_flags {
  bool cache_resident; // weights and cache under 8 times the last-level cache
  bool noisy;          // first and last third of the samples, by MAX_SAMPLE_CHANGE
  bool unconverged;    // the interval of the mean was wider than +-TIMING_SETTLED when time ran out
  bool drift;          // of the read bandwidth, by MAX_READ_CHANGE or MAX_READ_SPREAD
  // A ratio above MAX_READ_SHARE: the reads were not a ceiling, and neither they nor the ratio can
  // be used. Old records contain the ratio even where the reads drifted.
  bool bandwidth_void;
  bool sampling_inconsistent; // energy and integrated power, by MAX_ENERGY_DIFFERENCE
  bool thermal_unsettled;     // power was still rising or falling at the end, by MAX_POWER_CHANGE
  bool window_differs; // the rates of the window and of the samples, by MAX_WINDOW_DIFFERENCE
};

// The range of a quantity sampled several times while the load ran. NAN if unknown.
struct measurement_range {
  double min, median, max;
};

// A reason that held the clocks down, and how much of the window it lasted.
struct measurement_throttle {
  const char *reason;
  double seconds;
};

struct measurement_telemetry {
  const char *source; // "nvml", "cpufreq and hwmon", "none: WHY"; "" in old records
  int looks;
  double window_s; // from first to last sample, under load; NAN without
  struct measurement_range core_clock_hz, memory_clock_hz;
  struct measurement_range core_temperature_c, memory_temperature_c;
  const struct measurement_throttle *throttles; // those that lasted for any time
  size_t throttle_count;
  const char
      *links; // "PCIe 5 x16, 18 NVLinks", the widest of the window: links rest; "" where unknown
};

// Watts of other meters in the same window, never part of the device's own. NAN if not measured.
struct measurement_beside {
  double soak_s;          // of the same load before the window
  double module_power_w;  // of the superchip module with the device, its CPU and memory included
  const char *host_meter; // the CPU's, next to an accelerator: "rapl-powercap, ..."; "none: WHY"
  double host_idle_power_w, host_load_power_w;
  const char *wall_meter; // "ipmitool dcmi", "typed: NOTE"; "none: WHY"
  double wall_power_w;    // of the whole machine
};

// A meter's readings over a window, as means over consecutive intervals: the first begins at 0,
// each of the others at the end of the one before. Neighboring readings are joined so that no mean
// covers less than a MEASUREMENT_READINGS-th of the window, or less than MEASUREMENT_READING_S: the
// joined mean carries the energy of its parts, and all means together carry that of the window.
// Readings are not joined across a gap, and nothing is recorded for a gap.
struct measurement_window {
  // Trapezoids of the sensors' own watts, if the meter has them beside its counter; otherwise
  // differences of the counted energy.
  bool sensed;
  const double *end_s;       // seconds since the window's start, ascending
  const double *power_w;     // NAN: a gap, in which the meter was not read
  size_t count, power_count; // of the two lists: equal
};

#define MEASUREMENT_READINGS  240
#define MEASUREMENT_READING_S 0.05

// A meter's readings; none without a meter, and in records of an older schema.
struct measurement_readings {
  struct measurement_window idle, load;
};

// The same workload on several devices of the machine at once, each with its own model. NAN if not
// measured.
struct measurement_together {
  int devices;                            // that ran; 0: only this one was measured
  double tokens_per_s;                    // of this device during that time
  double slowest, fastest;                // tokens per second of a device
  double total_tokens_per_s;              // of all
  double load_power_w;                    // of all devices; power that some share is counted once
  double host_load_power_w;               // beside them, from the CPU's meter
  double window_s;                        // during which all of them ran
  struct measurement_telemetry telemetry; // of this device during that time
  double wall_power_w;                    // of the whole machine, as in measurement_beside
};

// One rank's share of a model that several devices hold together, each with a part of every matrix
// (tensor parallel; Shoeybi et al., Megatron-LM, arXiv 1909.08053): its heads, rows of the MLP and
// of the vocabulary. The ranks add up their results twice per layer and once at the end; the time
// of an all-reduce is not measured on one device, but stated.
struct measurement_shard {
  int of;              // ranks; 0: the device holds the whole model
  double step_seconds; // of the share alone; NAN for the whole model
  double all_reduce_s; // of one; NAN: not stated, and then there is no rate for the whole model
  const char *source;  // of all_reduce_s
};

// One of several devices, by its identity.
struct measurement_member {
  int index; // of the device within the backend when measured
  const char *name, *uuid, *pci;
  struct measurement_device_state state;
  struct measurement_telemetry telemetry; // under the load of all devices
};

// A model that several devices held together, all of them measured, with the exchanges that
// measurement_shard describes. tokens_per_s and everything metered cover all devices; bytes,
// operations, memory, read bandwidth, and a prompt's matrix_rate and matrix_share are those of the
// first; no other reads or computes more. Each device's clocks, temperatures and throttling are in
// its member; the result's own telemetry is unknown.
struct measurement_tensor_parallel {
  int devices;                              // 0: the result is for one device
  const struct measurement_member *members; // [devices]
  size_t member_count;
  const char *library;       // used for the exchange: "NCCL 2.28.9"
  double all_reduce_s;       // of one of a layer, alone, many in sequence; a step has two per layer
  uint64_t all_reduce_bytes; // of each device
};

// A prompt computed in chunks through the whole model into one row's cache, alone on the device.
// The result also has decoding's figures: a request is the sum of the two. The sum leaves out
// waiting, scheduling and other requests, which no probe can measure.
struct measurement_prefill {
  int positions, chunk;
  double seconds;                 // median: the time to the first token
  double ci95_low_s, ci95_high_s; // of the mean; NAN if the samples do not tell it: timing.h
  double tokens_per_s;            // positions / the mean
  double matrix_rate;             // operations/s of the fastest products in cache, NAN: unknown
  double matrix_share; // the share of matrix_rate that the prompt reaches: measurement_matrix_share
  double load_power_w, joules_per_token; // NAN: no meter
  double window_tokens_per_s;            // as tokens_per_s, in the seconds of these watts
  const char *library; // what multiplied: "oneDNN 2.6.3; own tiles: experts", "own tiles: WHY"
  const double *samples;
  size_t sample_count;
};

// A chunk of one row's prompt that passes through the layers together with a step of the other
// rows.
struct measurement_mixed {
  int rows, chunk;                  // in that step; positions
  double steps_s, chunk_s, mixed_s; // medians: a step of the whole batch, the chunk, both in one
  double sum_error;                 // (steps_s + chunk_s) / mixed_s - 1: the error of adding
};

struct measurement_record;

// One workload on one device. Texts are never NULL. Numbers that were not measured are NAN.
struct measurement {
  const struct measurement_record *record;
  struct place place; // the record's file

  struct measurement_shape model;
  const char *precision; // of the weights, by its usual name: bf16, fp8, int8
  struct measurement_types types;
  int batch, context;

  // If false, tokens_per_s is that of the first `layers_measured` layers only, or of a rank's share
  // without its exchanges, and useful only to the probe's user. Such a result is never used as its
  // model's throughput.
  bool whole_model;
  int layers_measured;                    // the model's number of layers, or the deepest slice
  const struct measurement_slice *slices; // two or three depths, or none
  size_t slice_count;
  double slice_error_s; // standard error of the extrapolated step; NAN for two depths

  // The rate of all rows of the batch, over time: batch / mean step. For one device, or for all
  // devices of measurement_devices together.
  double tokens_per_s, ci95_low, ci95_high; // 95 % interval; NAN if unknown: timing.h
  double step_seconds, p5_s, p95_s; // median and quantiles of a step's time; of slices: mean and
                                    // its interval
  double layer_seconds;             // step_seconds / layers
  const double *samples;            // seconds per step, in order; none for slices
  size_t sample_count;
  // The share that each sample reached, in the same order: the bytes that a step read, over its
  // time and the bandwidth of the reads before and after it. None for slices, where the reads were
  // no ceiling, and in records before schema 19.
  const double *shares;
  size_t share_count;

  struct measurement_routing routing;

  uint64_t bytes_per_step; // of a mixture: with the experts touched, not those expected
  uint64_t operations_per_step, resident_bytes;
  const char *cost_formula;               // how they were counted
  double read_bandwidth;                  // B/s, the best of the backend's read kernels
  double read_bandwidth_after;            // the same after the samples
  double read_bandwidth_share;            // the median of the shares
  double share_p5, share_p95;             // of the shares
  double share_ci95_low, share_ci95_high; // 95 % interval of their median; NAN for slices
  const char *energy_meter;               // "rapl powercap, 2 packages", or "none: WHY"
  double idle_power_w, load_power_w;      // of what the meter covers
  double sampled_power_w;                 // trapezoid of sampled power, to check load_power_w
  double energy_j, energy_window_s;       // between two edges of the counter
  double window_tokens_per_s;             // as tokens_per_s, decoded meanwhile
  // The energy of a token: load_power_w of all ranks, over the rate of the tokens that were decoded
  // at those watts; before schema 17 over tokens_per_s.
  double joules_per_token;
  double power_slope_w_per_s; // over the energy window
  struct measurement_readings readings;
  struct measurement_beside beside;
  struct measurement_telemetry telemetry;
  struct measurement_together together;
  struct measurement_shard shard;
  struct measurement_tensor_parallel tensor_parallel;

  const struct measurement_prefill *prefills; // the requested ones
  size_t prefill_count;
  const struct measurement_mixed *mixed; // together with a step of the batch
  size_t mixed_count;

  struct measurement_step_form step_form;
  const struct measurement_variant *variants; // tried; the fastest is step_form.variant
  size_t variant_count;
  struct measurement_flags flags;
  enum grade grade; // measured; or projected: slices, cache-resident, not the whole model
  struct measurement_verification verification;
  uint64_t seed;
  const char *started, *finished; // 2026-11-21T09:30:00Z
};

struct measurement_record {
  const struct source *source; // NULL until written
  const char *path;
  struct measurement_device device;
  struct measurement_environment environment;
  const char *started, *finished; // of the run, over all its results
  const char *digest;             // 64 hexadecimal digits; set by reading and writing
  struct measurement *results;    // [count]
  size_t count;
  const char *accelerator; // id, if it does not follow from the device's name; else NULL
};

// The doubts about the measurement, in a line for users of its figures: "unsteady, +-12 %: 66 %
// (60-72) of the read bandwidth"; "" if all went well. It does not change the grade. In the arena.
const char *measurement_doubts(const struct measurement *result, struct arena *arena);

// Whether window_tokens_per_s is further from tokens_per_s than MAX_WINDOW_DIFFERENCE.
bool measurement_window_differs(const struct measurement *result);

// Whether the machine's own speed changed during the measurement.
bool measurement_is_unsteady(const struct measurement_flags *flags);

// No step can be faster than the reading of its bytes; the error of the reads themselves is 2 %.
#define MAX_READ_SHARE 1.02

// The share of the read bandwidth, or NAN if it is unknown or impossible.
double measurement_read_share(const struct measurement *result);
// The same limit for a prompt's share of the matrix rate, measurement_matrix_share: the rate's own
// error is as large.
#define MAX_MATRIX_SHARE 1.02
double measurement_matrix_share(const struct measurement_prefill *prefill);

// The tokens per second in the seconds of load_power_w, so that joules per token are the quotient;
// the samples' rate if the record does not have these (before schema 17, and 18 for prompts), or no
// watts.
double measurement_rate(const struct measurement *result);
double measurement_prompt_rate(const struct measurement_prefill *prompt);

// The number of devices that hold the model of a result, to which tokens_per_s refers; and of
// those, the number that the meter's watts cover.
int measurement_devices(const struct measurement *result);
int measurement_metered_devices(const struct measurement *result);

// The seconds and joules of the window, excluding gaps.
double measurement_window_seconds(const struct measurement_window *window);
double measurement_window_joules(const struct measurement_window *window);

// The slope in W/s of a straight line through the means, for a counter without the first and the
// last if there are more than 4. Only these begin and end at edges of the counter: the readings
// between are up to a period old, which would tilt the line. NAN with fewer than two means.
double measurement_window_slope(const struct measurement_window *window, struct arena *arena);

bool measurement_has_gap(const struct measurement_window *window);

// Whether backend, name, UUID, PCI address and number of units are equal.
bool measurement_same_device(const struct measurement_device *a,
                             const struct measurement_device *b);

#endif
