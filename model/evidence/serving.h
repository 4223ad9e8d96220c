// serving: records of what an inference engine delivers and draws under load, as JSON files.
//
// A record is one file (base/record.h): accelerators, a model in a precision, the engine that serves
// it, and one rung for each load that was put on it. `pertoken-probe serving` measures one;
// `pertoken import` makes one of another program's results.
//
// Serving counts prefill: `output_tokens_per_s` is what a whole server sends while prompts come in.
// A static batch of one length, as llama-bench runs it, is decoding: its basis is decode, and its
// rates never stand for a server's.
#ifndef PERTOKEN_MODEL_EVIDENCE_SERVING_H
#define PERTOKEN_MODEL_EVIDENCE_SERVING_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/grade.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct json_t; // of jansson

// One sequence with MEASUREMENT_SCHEMA, so that a version that knows no serving says that it is too
// old. The member "record" tells the two kinds apart. 10 adds the device's name.
#define SERVING_SCHEMA 10
#define SERVING_OLDEST 9
#define SERVING_RECORD "engine run"

enum serving_load {
  LOAD_CLOSED,   // so many requests in flight, each followed by the next
  LOAD_POISSON,  // arrivals at a rate, whether those before are answered or not
  LOAD_CONSTANT, // the same at even intervals
  LOAD_BURST,    // all requests at once
  LOAD_STATIC,   // one batch that starts and ends together
  LOAD_UNKNOWN
};

// "closed loop", "Poisson arrivals", ...: as people say it and the record holds it.
extern const char *const serving_load_names[];

enum serving_basis { BASIS_SERVING, BASIS_DECODE };

// Of a rung's requests that were answered, in seconds. NAN where not told, or where there were too
// few: see serving_samples.
struct serving_latency {
  double mean_s, p50_s, p90_s, p95_s, p99_s, std_s;
};

// What the meter covers. A node's watts have its host in them, a module's its processor.
enum serving_coverage { COVERS_NOTHING, COVERS_ACCELERATORS, COVERS_MODULES, COVERS_NODE };

// NAN where not measured.
struct serving_power {
  const char *source; // "nvml, 8 devices", "MLPerf spl.txt"; "none: WHY"
  enum serving_coverage covers;
  int devices;         // accelerators that the watts are of; 0: unknown
  const char *which;   // their UUIDs, with commas between; "" unknown
  double load_power_w; // of all that it covers, mean over the rung's window
  double idle_power_w; // the same before the load
  double energy_j, window_s;
  double power_limit_w;  // of one accelerator
  double clock_offset_s; // bound of what two clocks differ by; 0: one clock
  const char *remark;    // "" or what is to be known of it, the clocks' state for one
};

struct serving_rung {
  enum serving_load load;
  double concurrency;      // requests in flight, as set; of a static batch its size; else NAN
  double mean_concurrency; // as it was over the window; NAN unknown
  double request_rate;     // 1/s, as set, of Poisson and constant arrivals; else NAN
  // Tokens of a request, the mean as the server counted them; NAN where nobody says. Of a static
  // batch, tokens in the cache before the first step, and steps.
  double input_tokens, output_tokens;
  double asked_input_tokens, asked_output_tokens; // NAN unknown
  double cached_share;                            // of the input tokens; NAN unknown
  double window_s;                                // NAN unknown
  double completed, failed;                       // requests; NAN unknown
  // Of the whole server, over the window. NAN: of a rung that was refused; of a static batch, output
  // where only prompts were read, and input where only output was written.
  double output_tokens_per_s, input_tokens_per_s;
  struct serving_latency ttft, tpot, end_to_end, chunk_gap;
  double slo_ttft_s, slo_tpot_s; // NAN: none stated
  double goodput_per_s;          // requests that kept both, per second; NAN unknown
  double accepted_length;        // of speculative decoding, tokens a step; NAN
  struct serving_power power;
  double client_cpu_share;        // of one core; NAN unknown
  const char *server_counters;    // what the server's own say: "agree within 0.1 %", "none: WHY"
  const char *refused;            // "" or why the rung counts for nothing
  uint64_t seed;                  // of the prompts; 0 unknown
  const char *started, *finished; // 2026-11-21T09:30:00Z; "" unknown
};

// A file that a record was made from.
struct serving_file {
  const char *name, *sha256;
};

// Text is never NULL.
struct serving_record {
  const struct source *source; // NULL until written
  const char *path;
  enum serving_basis basis;
  const char *tool, *tool_version;     // "pertoken-probe", "vLLM bench serve"; version "" unknown
  const char *engine, *engine_version; // "vLLM", "0.10.1"; "" unknown
  const char *accelerator;             // id of data/accelerators.csv, or "cpu"
  const char *device;                  // its name by its driver or the system; "" unknown
  int accelerators;                    // that the rates are of
  const char *precision;               // of the weights
  const char *model;                   // id of data/models.csv
  const char *served_model, *url;      // the server's name of it, and the server; "" unknown
  const char *prompts;     // how requests were made: "token ids, completions"; "" unknown
  const char *speculation; // "" none stated
  int input_accelerators, output_accelerators; // of disaggregated ones; 0: not disaggregated
  const char *published_title, *published_url; // "" of one's own run
  const char *remarks;                         // "" for nothing
  const struct serving_file *files;            // [file_count]
  size_t file_count;
  const char *started, *finished; // "" unknown
  const char *date;               // 2026-11-21
  enum grade grade;               // measured, benchmark or published; projected: of short windows
  const char *digest;             // 64 hexadecimal digits; set by reading and writing
  struct serving_rung *rungs;     // [count]
  size_t count;
};

// All unknown, for whoever fills in what there is.
extern const struct serving_rung serving_rung_unknown;
extern const struct serving_record serving_record_unknown;

// Samples from which on a percentile (50, 90, 95, 99) may be told: the fewest of which, with a
// confidence of 99 %, no more than one lies beyond it (early stopping of MLPerf's LoadGen).
int serving_samples(int percentile);

// Refused, with an error each: what does not hold together. A rung that counts without a rate, without
// an idea of its load or percentiles of too few samples; a grade without its source; a basis that is
// not the load's; watts without a meter. Returns 0 or -1.
int serving_check(const struct serving_record *record, struct diagnostics *diagnostics);

// What a record tells of the name that a server has for its model: of a file's path the file's name, as
// a record is passed on and its owner's folders are not. A name with an owner, as "meta-llama/Llama-3.1-8B",
// is no path. Points into `name`.
const char *serving_told_name(const char *name);

// serving_check, and record_write with the served model's name as it may be told. Sets that, path and
// digest. Returns 0 or -1.
int serving_write(struct serving_record *record, const char *path, struct arena *arena,
                  struct diagnostics *diagnostics);

// Refused, with an error each: what source_read, record_of_json and serving_check refuse. NULL after
// errors.
struct serving_record *serving_read(const char *path, struct arena *arena,
                                    struct diagnostics *diagnostics);

// The same of a file's object. The caller keeps the object.
struct serving_record *serving_of_json(const struct json_t *object, const struct source *source,
                                       struct arena *arena, struct diagnostics *diagnostics);

// Whether an object says of itself that it is one of these, whatever else is wrong with it.
bool serving_is_one(const struct json_t *object);

#endif
