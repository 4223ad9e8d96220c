// measurement: records of the probe's runs, as JSON files, written and read.
//
// A record is one file (base/record.h): a device, its environment, and one result for each workload
// measured on it.
//
// Decoding is not serving: `tokens_per_s` is what the device decodes when all it does is decode.
#ifndef PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_H
#define PERTOKEN_MODEL_EVIDENCE_MEASUREMENT_H

#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// 2 adds what stands beside the device's own watts, telemetry and the device's state; 3 what the
// device does while others beside it run the same; 4 the meter's readings over time; 5 several
// devices that hold one model together; 6 telemetry of each of several devices; 7 how a step is put
// on the device; 8 what the system says of the cache, and the interval of the share of the read
// bandwidth; 11 the node (9 and 10 are serving records', in one sequence); 12 what sets a model's layers
// apart from a Llama's, and its experts; 13 prompts. Older records are read, with these unknown: their
// models are Llamas, or were measured as such.
#define MEASUREMENT_SCHEMA 13
#define MEASUREMENT_BASIS  "decode"

struct measurement_device {
  const char *backend; // "cpu"
  int index;           // of the device within the backend when it was measured; never its identity
  const char *name, *uuid, *pci;      // uuid and pci are "" where there is none
  const char *runtime;                // driver, runtime and instruction set
  uint64_t memory_bytes, cache_bytes; // the last-level cache of the cores in use
  uint64_t reported_cache_bytes;      // what the system says of it, a package's on AMD; 0: nothing
  int units;                          // cores or multiprocessors
};

// How the device was set up, by its management library. "" and NAN where it does not tell. In the
// environment of several that hold a model together: the first, and the processes on all of them.
struct measurement_device_state {
  const char *driver, *vbios; // versions
  const char *ecc;            // "enabled", "disabled"
  const char *partition;      // "MIG", "SPX, NPS1"; "whole" of a device that could be split
  double power_limit_w, default_power_limit_w;
  double other_processes; // that compute on it, before the run; this one not counted
};

struct measurement_environment {
  const char *node;      // what its machine is called in a fleet; "" unless it was said
  const char *kernel;    // release of the operating system's kernel
  const char *cpu_flags; // "" where they cannot be read
  const char *governor;  // of frequency, "" where it cannot be read
  double load_average;   // of the machine over a minute, before the run; NAN when unknown
  int threads;           // 0: the backend's choice
  const char *tool_version;
  const char *kernels_build; // hash over the kernels' sources
  const char *remarks;       // what the figures rest on, for people; "" for nothing
  struct measurement_device_state device_state;
};

// A layer as kernels/decode.h describes it: the enums in its order, so that zeros are a Llama's. 0
// is what the field is not used for; a score_scale or magnitude of 0 is 1.
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
  int window, full_every; // positions; of so many layers the last has no window
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

// "bf16", "e4m3", "int8", "f32": two results are alike when all of these are.
struct measurement_types {
  const char *weights, *activations, *kv, *head, *accumulation;
  const char *experts; // of the routed experts; "": as the weights
};

// Which experts the rows of a batch go to, and how many a step reads: what a mixture costs. Unknown
// of a dense model.
struct measurement_routing {
  const char *policy; // "model", "uniform", "skewed"
  double skew;        // of "skewed"
  double touched;     // distinct experts a step, over all layers, counted on the device, the mean
  double expected;    // the same as uniform routing would have it, in closed form
  uint64_t expert_bytes; // of one of them, read once a step however many rows go to it
};

// No figure stands in a record whose kernels did not pass.
struct measurement_verification {
  const char *what;           // which shape was compared, and how
  double max_error;           // relative norm of the logits' error, the worst row's
  double tolerance;           // that it had to stay below
  const char *token_checksum; // SHA-256 over the first tokens sampled
};

// One depth of a model measured as slices.
struct measurement_slice {
  int layers;
  double step_seconds, ci95_low_s, ci95_high_s; // median and its 95 % interval
  const double *samples;                        // seconds per step
  size_t sample_count;
};

// How a step is put on a device that is told what to do: decode_step_form of kernels/decode.h. ""
// where there is but one way, and in old records.
struct measurement_step_form {
  const char *form;     // "recorded graph", "one launch", "single launches"
  const char *fallback; // why it is not what it was to be, and takes longer than need be
};

struct measurement_flags {
  bool cache_resident; // weights and cache under 8 times the last-level cache
  bool noisy;          // first and last third of the samples differ by over 0.5 %
  bool unconverged;    // the interval was still wider than +-0.5 % when time was up
  // The read bandwidth before and after differ by over 1 %, or that of the reads beside the samples
  // by over 5 % between 5 % and 95 % of them.
  bool drift;
  // A ratio above 1.02: the read bandwidth was not the ceiling. Where it drifts, the ratio stands all
  // the same; else it is unknown.
  bool bandwidth_void;
  bool sampling_inconsistent; // energy and integrated power differ by over 5 %
  bool thermal_unsettled;     // power still rose or fell at the end
};

// Of what was looked at several times while the load ran. NAN where it is not told.
struct measurement_range {
  double min, median, max;
};

// A reason that held the clocks down, and for how long of the window.
struct measurement_throttle {
  const char *reason;
  double seconds;
};

struct measurement_telemetry {
  const char *source; // "nvml", "cpufreq and hwmon", "none: WHY"; "" in old records
  int looks;
  double window_s; // from first to last look, under load; NAN without
  struct measurement_range core_clock_hz, memory_clock_hz;
  struct measurement_range core_temperature_c, memory_temperature_c;
  const struct measurement_throttle *throttles; // those that held for any time
  size_t throttle_count;
};

// Other watts of the same window, never a part of the device's own. NAN where not measured.
struct measurement_beside {
  double soak_s;          // of the same load before the window
  double module_power_w;  // of the superchip's module that the device sits on, CPU and memory in it
  const char *host_meter; // beside an accelerator, the CPU's: "rapl-powercap, ..."; "none: WHY"
  double host_idle_power_w, host_load_power_w;
  const char *wall_meter; // "ipmitool dcmi", "typed: NOTE"; "none: WHY"
  double wall_power_w;    // of the whole machine
};

// What a meter read over a window, as means of times that follow each other: the first begins at 0,
// each at the end of the one before. Neighbouring readings are joined so that no mean is of less
// than a MEASUREMENT_READINGS-th of the window, nor of less than MEASUREMENT_READING_S: the joined
// mean carries the energy of its parts, and all of them together that of the window. Nothing is
// joined across a gap, nor is anything said of it.
struct measurement_window {
  // Trapezoids of the sensors' own watts, where the meter has them beside its counter; else
  // differences of the energy that it counts.
  bool sensed;
  const double *end_s;       // seconds since the window's start, ascending
  const double *power_w;     // NAN: a gap, in which the meter was not read
  size_t count, power_count; // of the two lists: the same
};

#define MEASUREMENT_READINGS  240
#define MEASUREMENT_READING_S 0.05

// No readings: no meter, or a record of an older schema.
struct measurement_readings {
  struct measurement_window idle, load;
};

// The same workload on several devices of the machine at once, each with a model of its own. NAN
// where not measured.
struct measurement_together {
  int devices;                            // that ran; 0: only this one was measured
  double tokens_per_s;                    // of this device meanwhile
  double slowest, fastest;                // tokens per second of a device
  double total_tokens_per_s;              // of all
  double load_power_w;                    // of all devices; what some share counted once
  double host_load_power_w;               // beside them, of the CPU's meter
  double window_s;                        // of time that all ran in
  struct measurement_telemetry telemetry; // of this device meanwhile
};

// One rank's share of a model that several devices hold together, each a part of every matrix
// (tensor parallel; Shoeybi et al., Megatron-LM, arXiv 1909.08053): its heads, rows of the MLP and
// of the vocabulary. The ranks add up their results twice a layer and once at the end; what an
// all-reduce takes is not measured on one device, but stated.
struct measurement_shard {
  int of;              // ranks; 0: the device holds the whole model
  double step_seconds; // of the share alone; NAN for the whole model
  double all_reduce_s; // of one; NAN: not stated, and then there are no tokens of the whole model
  const char *source;  // of that
};

// One of them, by what it is known again.
struct measurement_member {
  int index; // of the device within the backend when it was measured
  const char *name, *uuid, *pci;
  struct measurement_device_state state;
  struct measurement_telemetry telemetry; // under the load of all
};

// A model that several devices held together, all of them measured, as they exchanged what
// measurement_shard says of shares. tokens_per_s and all that is metered are of all of them; bytes,
// operations, memory and read bandwidth are of the first, and each has as much. Each one's clocks,
// temperatures and throttling stand with the member; the result's own telemetry is unknown.
struct measurement_tensor_parallel {
  int devices;                              // 0: the result is of one device
  const struct measurement_member *members; // [devices]
  size_t member_count;
  const char *library;       // that they exchange through: "NCCL 2.28.9"
  double all_reduce_s;       // of one of a layer, alone, many in turn; a step has two a layer
  uint64_t all_reduce_bytes; // of each device
};

// A prompt computed in chunks through the whole model into one row's cache, alone on the device.
// Decoding's figures stand beside it in the result: a request is the sum of the two, and what that
// leaves out (waiting, scheduling, other requests) is no probe's to measure.
struct measurement_prefill {
  int positions, chunk;
  double seconds;                 // median: the time to the first token
  double ci95_low_s, ci95_high_s; // NAN from fewer than six samples
  double tokens_per_s;            // positions / seconds
  double matrix_rate;             // operations/s of the decode backend's own products, NAN: unknown
  double matrix_share;            // of that, what the prompt's operations reach
  double load_power_w, joules_per_token; // NAN: no meter
  const char *library;                   // what multiplied: "oneDNN 2.6.3", "own tiles: WHY"
  const double *samples;
  size_t sample_count;
};

// A chunk of one row's prompt that goes through the layers together with a step of the other rows.
struct measurement_mixed {
  int rows, chunk;                  // that step; positions
  double steps_s, chunk_s, mixed_s; // medians: a step of the whole batch, the chunk, both in one
  double sum_error;                 // (steps_s + chunk_s) / mixed_s - 1: how far adding is off
};

struct measurement_record;

// One workload on one device. Text is never NULL. Numbers that were not measured are NAN.
struct measurement {
  const struct measurement_record *record;
  struct place place; // the record's file

  struct measurement_shape model;
  const char *precision; // of the weights, as people say it: bf16, fp8, int8
  struct measurement_types types;
  int batch, context;

  // false: tokens_per_s is of the first `layers_measured` layers alone, or of a rank's share
  // without its exchanges, of use to no one but the prober. Such a result never stands for its
  // model.
  bool whole_model;
  int layers_measured;                    // as many as the model has, or the deepest slice
  const struct measurement_slice *slices; // two or three depths, else none
  size_t slice_count;
  double slice_error_s; // standard error of the extrapolated step; NAN from two depths

  // Of all rows of the batch: batch / median step. Per device, or of all devices of
  // measurement_devices.
  double tokens_per_s, ci95_low, ci95_high; // 95 % interval of the median
  double step_seconds, p5_s, p95_s;         // median and quantiles of a step's time
  double layer_seconds;                     // step_seconds / layers
  const double *samples;                    // seconds per step, in order; none for slices
  size_t sample_count;

  struct measurement_routing routing;

  uint64_t bytes_per_step; // of a mixture with the experts touched, not with those expected
  uint64_t operations_per_step, resident_bytes;
  const char *cost_formula;    // how they were counted
  double read_bandwidth;       // B/s, the best of the backend's read kernels
  double read_bandwidth_after; // the same after the samples
  // bytes_per_step / step over the bandwidth of the reads before and after: the median of these pairs
  double read_bandwidth_share;
  double share_p5, share_p95;             // of the pairs
  double share_ci95_low, share_ci95_high; // 95 % interval of their median; NAN for slices
  const char *energy_meter;               // "rapl powercap, 2 packages", or "none: WHY"
  double idle_power_w, load_power_w;      // of what the meter covers
  double sampled_power_w;                 // trapezoid of sampled power, beside load_power_w
  double joules_per_token;                // load_power_w / tokens_per_s, of all ranks
  double energy_j, energy_window_s;       // between two edges of the counter
  double power_slope_w_per_s;             // over the energy window
  struct measurement_readings readings;
  struct measurement_beside beside;
  struct measurement_telemetry telemetry;
  struct measurement_together together;
  struct measurement_shard shard;
  struct measurement_tensor_parallel tensor_parallel;

  const struct measurement_prefill *prefills; // those asked for
  size_t prefill_count;
  const struct measurement_mixed *mixed; // beside them, of a batch
  size_t mixed_count;

  struct measurement_step_form step_form;
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
  const char *accelerator; // id, where it does not follow from the device's name; NULL: it does
};

// All unknown, for whoever fills in what there is.
extern const struct measurement_device_state measurement_device_state_unknown;
extern const struct measurement_beside measurement_beside_unknown;
extern const struct measurement_telemetry measurement_telemetry_unknown;
extern const struct measurement_together measurement_together_unknown;
extern const struct measurement_shard measurement_whole_model;
extern const struct measurement_tensor_parallel measurement_one_device;
extern const struct measurement_routing measurement_no_experts;

// What went wrong while measuring, in a line for whoever uses the figures: "unsteady, +-12 %: 66 %
// (60-72) of the read bandwidth"; "" when all was well. It does not change the grade. In the arena.
const char *measurement_doubts(const struct measurement *result, struct arena *arena);

// Whether the machine's own speed changed while it was measured.
bool measurement_is_unsteady(const struct measurement_flags *flags);

// Devices that hold the model of a result, which tokens_per_s are of; and those of them that the
// meter's watts are of.
int measurement_devices(const struct measurement *result);
int measurement_metered_devices(const struct measurement *result);

// Seconds and joules of the window, gaps left out.
double measurement_window_seconds(const struct measurement_window *window);
double measurement_window_joules(const struct measurement_window *window);

bool measurement_has_gap(const struct measurement_window *window);

// Whether backend, name, UUID, PCI address and number of units are the same.
bool measurement_same_device(const struct measurement_device *a,
                             const struct measurement_device *b);

#endif
