// serving: records of what an inference engine delivers and draws under load, as JSON files.
//
// A record is one file (base/record.h): accelerators, a model in a precision, the engine that
// serves it, and one rung for each load that was put on it. `pertoken-probe serving` measures one;
// `pertoken import` makes one from another program's results.
//
// Serving includes prefill: `output_tokens_per_s` is what a whole server sends while prompts
// arrive. A static batch of one length, as llama-bench runs it, is decoding: its basis is decode,
// and its rates are never used as a server's.
#ifndef PERTOKEN_MODEL_RECORDS_SERVING_H
#define PERTOKEN_MODEL_RECORDS_SERVING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/record.h"
#include "base/source.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t; // of jansson

// The schema numbers share one sequence with MEASUREMENT_SCHEMA, so that a version that does not
// know serving reports that it is too old. The member "record" distinguishes the two kinds. 10 adds
// the device's name, 11 the node's, 12 the precisions in which the server computes and holds its KV
// cache, 13 the number of requests that have a time per output token.
#define SERVING_SCHEMA 13
#define SERVING_OLDEST 9
#define SERVING_RECORD "engine run"

enum serving_load {
  LOAD_CLOSED,   // a number of requests in flight, each followed by the next
  LOAD_POISSON,  // arrivals at a rate, whether or not earlier ones are answered
  LOAD_CONSTANT, // the same at even intervals
  LOAD_BURST,    // all requests at once
  LOAD_STATIC,   // one batch that starts and ends together
  LOAD_UNKNOWN
};

// "closed loop", "Poisson arrivals", ...: as shown to people and stored in the record.
extern const char *const serving_load_names[];

enum serving_basis { BASIS_SERVING, BASIS_DECODE };

// The latency of a rung's answered requests, in seconds. NAN if not reported, or if there were too
// few: see serving_samples.
struct serving_latency {
  double mean_s, p50_s, p90_s, p95_s, p99_s, std_s;
};

// The statistics by which a latency is stated.
enum serving_statistic {
  LATENCY_MEAN,
  LATENCY_P50,
  LATENCY_P90,
  LATENCY_P95,
  LATENCY_P99,
  LATENCY_STATISTICS
};

extern const char *const serving_statistic_names[LATENCY_STATISTICS]; // "mean", "P50", ...

// The hardware that a meter covers. A node's watts include its host, a module's its processor.
enum serving_coverage { COVERS_NOTHING, COVERS_ACCELERATORS, COVERS_MODULES, COVERS_NODE };

// The names of the coverages as stored in a record.
extern const char *const serving_coverage_names[];

// The watts of a rung. NAN if not measured.
struct serving_power {
  const char *source; // "nvml, 8 devices", "MLPerf spl.txt"; "none: WHY"
  enum serving_coverage covers;
  int devices;         // accelerators that the watts cover; 0: unknown
  const char *which;   // their UUIDs, separated by commas; "" unknown
  double load_power_w; // of everything that it covers, mean over the rung's window
  double idle_power_w; // the same before the load
  double energy_j, window_s;
  double power_limit_w;  // of one accelerator
  double clock_offset_s; // bound on the difference of two clocks; 0: one clock
  const char *remark;    // "" or a note on it, such as the clocks' state
};

struct serving_rung {
  enum serving_load load;
  double concurrency;      // requests in flight, as set; for a static batch its size; else NAN
  double mean_concurrency; // measured over the window; NAN unknown
  double request_rate;     // 1/s, as set, for Poisson and constant arrivals; else NAN
  // Tokens per request, the mean as counted by the server; NAN if not stated. For a static batch,
  // tokens in the cache before the first step, and steps.
  double input_tokens, output_tokens;
  double asked_input_tokens, asked_output_tokens; // NAN unknown
  double cached_share;                            // of the input tokens; NAN unknown
  double window_s;                                // NAN unknown
  double completed, failed;                       // requests; NAN unknown
  // The rates of the whole server, over the window. NAN: for a refused rung; for a static batch,
  // output if only prompts were read, and input if only output was written.
  double output_tokens_per_s, input_tokens_per_s;
  struct serving_latency ttft, tpot, end_to_end, chunk_gap;
  double tpot_requests;          // of the completed ones, those with a TPOT; NAN unknown
  double slo_ttft_s, slo_tpot_s; // NAN: not stated
  double goodput_per_s;          // requests that met both, per second; NAN unknown
  double accepted_length;        // of speculative decoding, tokens per step; NAN
  struct serving_power power;
  double client_cpu_share;        // of one core; NAN unknown
  const char *server_counters;    // from the server: "agree within 0.1 %", "none: WHY"
  const char *refused;            // "" or why the rung is not used
  uint64_t seed;                  // of the prompts; 0 unknown
  const char *started, *finished; // 2026-11-21T09:30:00Z; "" unknown
};

// A file that a record was made from.
struct serving_file {
  const char *name, *sha256;
};

extern const struct field serving_file_fields[];

// Texts are never NULL.
struct serving_record {
  const struct source *source; // NULL until written
  const char *path;
  enum serving_basis basis;
  const char *tool, *tool_version;     // "pertoken-probe", "vLLM bench serve"; version "" unknown
  const char *engine, *engine_version; // "vLLM", "0.10.1"; "" unknown
  const char *accelerator;             // id of data/accelerators.csv, or "cpu"
  const char *device;                  // its name according to its driver or the system; "" unknown
  const char *node;                    // the serving node, by its name in a fleet; "" not stated
  int accelerators;                    // that the rates refer to
  const char *precision;               // of the weights
  const char *activations, *kv;        // the precision of each; "" not stated
  const char *model;                   // id of data/models.csv
  const char *served_model, *url;      // the server's name for it, and the server; "" unknown
  const char *prompts;     // how requests were made: "token ids, completions"; "" unknown
  const char *speculation; // "" none stated
  int input_accelerators, output_accelerators; // for disaggregated serving; 0: not disaggregated
  const char *published_title, *published_url; // "" for one's own run
  const char *remarks;                         // "" for nothing
  const struct serving_file *files;            // [file_count]
  size_t file_count;
  const char *started, *finished; // "" unknown
  const char *date;               // 2026-11-21
  enum grade grade;               // measured, benchmark or published; projected: from short windows
  const char *digest;             // 64 hexadecimal digits; set by reading and writing
  struct serving_rung *rungs;     // [count]
  size_t count;
};

// Everything unknown, for code that fills in what is available.
struct serving_rung serving_rung_unknown(void);
struct serving_record serving_record_unknown(void);

// Whether any rung was not refused.
bool serving_record_has_rungs(const struct serving_record *record);

// Whether any rung has its load's watts.
bool serving_record_has_watts(const struct serving_record *record);

// A statistic of a latency; NAN if it was not reported.
double serving_latency_at(const struct serving_latency *latency, enum serving_statistic statistic);

// The percentile 90, 95 or 99 of a latency; NAN for any other.
double serving_percentile(const struct serving_latency *latency, int percentile);

// The fewest requests with which a statistic may be reported; 1 for the mean.
int serving_statistic_samples(enum serving_statistic statistic);

// The fewest samples with which a percentile (50, 90, 95, 99) may be reported: the smallest number
// such that, with 99 % confidence, no more than one lies beyond it (early stopping of MLPerf's
// LoadGen).
int serving_samples(int percentile);

// A time per output token of fewer requests than this share of a rung's says nothing about it.
#define SERVING_TOLD 0.5

// "12 of 40 requests have no time per output token, ...", or "" if all have one, or it is unknown.
const char *serving_untold(const struct serving_rung *rung, struct arena *arena);

// Whether the server's own counters contradict what the client counted: another client used it.
bool serving_counters_differ(const struct serving_rung *rung);

// The tokens per chunk above which an engine must be speculating, or waiting before it sends.
#define SERVING_CHUNK_TOKENS 1.2

// TPOT is from the first chunk to the last over all tokens but one (vLLM, SGLang, AIPerf and
// guidellm define it so), although the first chunk may hold more. How that makes it too low, in
// words, or "" if it is by less than this share, or unknown.
#define SERVING_CHUNK_SHARE 0.02
const char *serving_chunk_doubt(const struct serving_rung *rung, struct arena *arena);

// Why a record on that basis cannot have such a rung, NULL if it can: a figure out of range;
// inconsistencies, as of one that counts without a rate or without its load's figures, or that has
// percentiles from too few samples; watts without a meter.
const char *serving_wrong_rung(const struct serving_rung *rung, enum serving_basis basis,
                               struct arena *arena);

// Refused, with an error each: rungs that it cannot have; watts of more accelerators than it has; a
// grade without its source. Returns 0 or -1.
int serving_check(const struct serving_record *record, struct diagnostics *diagnostics);

// The part of a server's name for its model that a record discloses: of a file path only the file's
// name, because a record is passed on and its owner's folders should not be. A name with an owner,
// such as "meta-llama/Llama-3.1-8B", is not a path. Points into `name`.
const char *serving_told_name(const char *name);

// serving_check, then record_write with the served model's name as serving_told_name discloses it.
// Sets that name, path and digest. Returns 0 or -1.
int serving_write(struct serving_record *record, const char *path, struct arena *arena,
                  struct diagnostics *diagnostics);

// Refused, with an error each: what source_read, record_of_json and serving_check refuse. NULL
// after errors.
struct serving_record *serving_read(const char *path, struct arena *arena,
                                    struct diagnostics *diagnostics);

// The same for a file's object, which the caller keeps.
struct serving_record *serving_of_json(const struct json_t *object, const struct source *source,
                                       struct arena *arena, struct diagnostics *diagnostics);

// Whether an object states that it is a serving record, whatever else is wrong with it.
bool serving_is_one(const struct json_t *object);

#endif
