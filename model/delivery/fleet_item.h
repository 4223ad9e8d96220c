// fleet_item: the parts of one record that count for a fleet: each result of a device, each load on
// a server.
#ifndef PERTOKEN_MODEL_DELIVERY_FLEET_ITEM_H
#define PERTOKEN_MODEL_DELIVERY_FLEET_ITEM_H

#include "base/arena.h"
#include "base/texts.h"
#include "model/records/measurement.h"
#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

// Settings that should be the same on all devices.
enum fleet_setting {
  SETTING_KERNEL,
  SETTING_DRIVER,
  SETTING_RUNTIME,
  SETTING_VBIOS,
  SETTING_ECC,
  SETTING_PARTITION,
  SETTING_POWER_LIMIT,
  SETTING_MEMORY,
  SETTING_GOVERNOR,
  SETTING_LINKS,
  SETTING_THROTTLED, // why the clocks were held down, "" if they were not
  SETTING_KERNELS_BUILD,
  SETTING_TOOL_VERSION,
  SETTING_ENGINE, // of a server
  SETTING_CLIENT, // the program that loaded it
  FLEET_SETTINGS
};

extern const char *const fleet_setting_names[FLEET_SETTINGS];

// Results that can be compared: from one kind of device, with the same model, precisions, batch and
// context, run the same way; for a server, with the same request lengths and load.
struct fleet_workload {
  const char *device; // "NVIDIA H200"; for a server its accelerator's id in the catalogue
  const char *model;
  const char *precision; // in words: "fp8, activations bf16, kv fp8, head bf16"
  const char *weights, *activations, *kv, *head; // "" for a server whose record does not tell
  int batch, context;
  int together;  // devices of the node that ran at once; 1: one by one
  int ranks;     // that held a model together, or served together; 1: each by itself
  bool served;   // the rest is for servers only; 0 if the record does not tell
  bool is_asked; // the lengths are those of the requests, else those that were served
  enum serving_load load;
  double concurrency, request_rate, input_tokens, output_tokens; // the rate in 1/s
  const char *words;
  const char *usual_variant;   // of its runs' variants the most frequent; NULL: all are the same
  size_t first_run, run_count; // of runs
};

// Latencies of a load's requests.
struct fleet_latencies {
  struct serving_latency ttft, tpot;
  double completed; // requests; NAN unknown
};

// A run: one result of one record. NAN if not measured.
struct fleet_run {
  size_t device, workload;
  double tokens_per_s; // per accelerator
  double error;        // standard error within the run, of tokens_per_s
  double power_w;      // under load, per accelerator
  double wall_w;       // of its node at the wall, divided by the accelerators that ran
  double clock_mhz;    // median of the core's clock
  const struct fleet_latencies *latencies; // NULL: not a server
  const char *started, *file, *digest;
  const char *program; // the build of the probe's kernels, or a server's engine
  const char *tool;    // the program that measured: "pertoken-probe"
  const char *tool_version;
  const char *variant; // of the probe's kernels, "" for their own choice; NULL: not a device
  const char *doubts;  // what went wrong during the measurement: measurement_doubts; ""
};

struct fleet_item {
  struct fleet_workload workload; // its runs are not counted yet
  struct fleet_run run;           // its device and workload are not numbered yet
  const char *node, *device, *position;
  bool is_named;                      // its node, by the record; else by the file's name
  const struct serving_file *sources; // [source_count]: what the record was made from, if imported
  size_t source_count;
  const char *const *settings; // [FLEET_SETTINGS]
};

struct fleet_items {
  struct fleet_item *list; // [count]
  size_t count;
  const char *digest;   // of the record
  struct texts refused; // loads that are not used, each with the reason
};

// Everything that they hold is in the arena: the record may be freed. `path` is kept as it is.
struct fleet_items fleet_items_of_measurement(const struct measurement_record *record,
                                              const char *path, struct arena *arena);
struct fleet_items fleet_items_of_serving(const struct serving_record *record, const char *path,
                                          struct arena *arena);

// Gives a server's workload other lengths, in its words too.
void fleet_set_lengths(struct fleet_workload *workload, double input_tokens, double output_tokens,
                       struct arena *arena);

// The workload of a device's result, as in its item.
struct fleet_workload fleet_workload_of(const struct measurement *result, struct arena *arena);

#endif
