#include "probe/options/options.h"

#include "base/diagnostics.h"
#include "base/option_row.h"
#include "base/source.h"
#include "kernels/decode.h"
#include "model/cost/quantity.h"
#include "model/cost/units.h"
#include "model/records/measurement.h"
#include "model/records/measurement_fields.h"
#include "probe/devices/precision.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"
#include "probe/options/values.h"

#include <argp.h>
#include <ctype.h>
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// The highest values that the options accept.
enum {
  MAX_BATCH = 65536,
  MAX_CONTEXT = 1 << 24,
  MAX_LAYERS = 10000,
  MAX_THREADS = 1024,
  MAX_RANKS = 1024,
  MAX_SKEW = 10,
  MAX_POWER_LIMIT = 10000, // watts
};

static const double usual_wait_s = 900; // for other nodes

const char usual_fleet_devices[] = "auto:all";

enum key {
  KEY_PRECISION = OPTION_ACTS,
  KEY_BATCH,
  KEY_CONTEXT,
  KEY_PREFILL,
  KEY_CHUNK,
  KEY_KV,
  KEY_ACTIVATIONS,
  KEY_HEAD,
  KEY_LAYERS,
  KEY_TIME,
  KEY_SOAK,
  KEY_WALL_POWER,
  KEY_REDFISH,
  KEY_POWER_LIMIT,
  KEY_TENSOR_PARALLEL,
  KEY_SHARD,
  KEY_ALL_REDUCE,
  KEY_ROUTING,
  KEY_VARIANT,
  KEY_THREADS,
  KEY_WAIT,
  KEY_SEED,
  KEY_TOLERANCE,
  KEY_FORMAT,
};

#define TEXT(member) OPTION_TEXT(0, struct probe_options, member)
#define FLAG(member) OPTION_FLAG(0, struct probe_options, member)

static const struct option_row known_options[] = {
    {"device", "NAME",
     "Measure this device: cpu, cuda, hip, cuda:1 or auto; cuda:0,2, cuda:all or auto:all (every "
     "GPU) measures several, one by one and then those of each kind at once (default: cpu)",
     COMMAND_RUN, TEXT(device)},
    {"device", "NAME",
     "Measure these devices, one by one and then those of each kind at once: cuda:all, cuda:0,2, "
     "cuda:1, cpu (default: auto:all, which is every GPU, or the CPU where there is none)",
     COMMAND_FLEET, TEXT(device)},
    {"device", "NAME",
     "Show only this device: cpu, cuda:0, hip:1, or several: cuda:0,2, cuda:all (default: all)",
     COMMAND_LIST, TEXT(device)},
    {"model", "ID", "A model in the catalogue; 'pertoken catalog models' lists them",
     COMMAND_RUN | COMMAND_FLEET, TEXT(model)},
    {"offer", "FILE",
     "Measure the decoding that this offer guarantees, instead of --model and --precision; other "
     "options set what it leaves open",
     COMMAND_FLEET, TEXT(fleet.offer)},
    {"for", "NAME", "Measure only this guarantee of the offer", COMMAND_FLEET,
     TEXT(fleet.guarantee)},
    {"precision", "LIST",
     "Precision of the weights: bf16, int8, fp8, mxfp4, fp4, mxfp6, mxfp6-e3m2, int4, int8-g128 "
     "(default: bf16)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_PRECISION)},
    {"batch", "LIST", "Rows decoded together: 1,4,16 (default: 1)", COMMAND_RUN | COMMAND_FLEET,
     OPTION_READ(KEY_BATCH)},
    {"context", "LIST", "Positions attended to: 512,4096 (default: 512)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_CONTEXT)},
    {"prefill", "LIST",
     "Also measure prompts with these numbers of tokens, no longer than the context: 512,2048 "
     "(default: none)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_PREFILL)},
    {"chunk", "N", "Tokens of a prompt computed at once (default: 2048)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_CHUNK)},
    {"kv", "TYPE", "Type of the KV cache: bf16 or fp8 (default: bf16)", COMMAND_RUN | COMMAND_FLEET,
     OPTION_READ(KEY_KV)},
    {"activations", "TYPE",
     "Type of the activations: bf16, fp8, int8, or weights: same as the weights (default: the best "
     "the device supports)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_ACTIVATIONS)},
    {"head", "TYPE",
     "Type of embedding and head: bf16, or weights: same as the weights (default: weights for "
     "int8, otherwise bf16)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_HEAD)},
    {"layers", "LIST",
     "Measure only the first layers; two or three depths (4,8,12) are extrapolated to the whole "
     "model",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_LAYERS)},
    {"time", "SECONDS", "Maximum sampling time per result (default: 10 s)",
     COMMAND_RUN | COMMAND_FLEET | COMMAND_CHECK, OPTION_READ(KEY_TIME)},
    {"soak", "[SECONDS]",
     "Hold the load this long (default: 300 s). The meter covers the last half, at most 60 s; "
     "samples are taken just before it. Without --soak the meter covers 5.5 s.",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_SOAK)},
    {"no-power", NULL,
     "Measure only token/s, on one device; skips the idle and the load window (5.5 s each)",
     COMMAND_RUN, FLAG(no_power)},
    {"wall-power", "WATTS",
     "Wall power of the whole machine under this load, read from a PDU: '512 W' (default: "
     "ipmitool, if installed)",
     COMMAND_RUN, OPTION_READ(KEY_WALL_POWER)},
    {"wall-power", "TABLE",
     "Wall power of each node under this load, read from a PDU: a CSV table with the columns "
     "'node' and 'wall_power', such as 5.2 kW; for a single node, just '5.2 kW' (default: "
     "ipmitool, if installed)",
     COMMAND_FLEET, OPTION_READ(KEY_WALL_POWER)},
    {"wall-note", "TEXT", "Where --wall-power was measured", COMMAND_RUN | COMMAND_FLEET,
     TEXT(wall.note)},
    {"redfish", "URL",
     "Ask the board's management controller for the whole machine's watts: "
     "https://HOST/redfish/v1/Chassis/1/Power",
     COMMAND_RUN, OPTION_READ(KEY_REDFISH)},
    {"redfish", "URL",
     "Ask each board's management controller for its machine's watts; {node} stands for the node's "
     "name: https://{node}-bmc/redfish/v1/Chassis/1/Power",
     COMMAND_FLEET, OPTION_READ(KEY_REDFISH)},
    {"power-limit", "LIST",
     "Measure a GPU at each of these power limits, in watts, the highest first: 350,450,700; needs "
     "root, and always restores the limit",
     COMMAND_RUN, OPTION_READ(KEY_POWER_LIMIT)},
    {"tensor-parallel", "N",
     "Measure one model that the N devices of --device hold together, through NCCL or RCCL",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_TENSOR_PARALLEL)},
    {"shard", "1/N",
     "Measure one rank's share of a model that N devices would hold together (tensor parallel)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_SHARD)},
    {"all-reduce", "TIME",
     "How long one all-reduce among the ranks takes: '12 us'; without it a share has no token/s",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_ALL_REDUCE)},
    {"all-reduce-note", "TEXT", "Source of the --all-reduce time", COMMAND_RUN | COMMAND_FLEET,
     TEXT(shard.source)},
    {"routing", "POLICY",
     "How rows are routed to a mixture's experts: model: as its router chooses; uniform: equally "
     "likely; skewed:1.2: with probability falling as rank^-1.2 (default: model)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_ROUTING)},
    {"variant", "WHICH",
     "Which variant of a GPU's kernels: own: their own choice; fastest: each that may be faster is "
     "tried on the device, and the fastest measured; or one: step=streaming (default: fastest)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_VARIANT)},
    {"threads", "N", "Threads on a CPU; 0: the backend chooses (default: 0)",
     COMMAND_RUN | COMMAND_FLEET, OPTION_READ(KEY_THREADS)},
    {"node", "NAME", "Name of this machine in a fleet, for 'pertoken fleet': \"$(hostname)\"",
     COMMAND_RUN, TEXT(node)},
    {"node", "NAME", "Name of this machine (default: its Slurm name, otherwise its host name)",
     COMMAND_FLEET, TEXT(node)},
    {"expect", "NODES",
     "The expected nodes: a plain list, a CSV table with a column 'node', or names such as n[1-16]",
     COMMAND_FLEET, TEXT(fleet.expect)},
    {"one-by-one", NULL, "Load one node after another, the rest idle (default: all at once)",
     COMMAND_FLEET, FLAG(fleet.one_by_one)},
    {"wait", "TIME",
     "Continue without nodes that have been silent for this long, which must exceed the time for a "
     "result (default: 15 min)",
     COMMAND_FLEET, OPTION_READ(KEY_WAIT)},
    {"send", NULL, "The nodes share no folder: each sends its records to process 0, over TCP",
     COMMAND_FLEET, FLAG(fleet.send)},
    {"first", "HOST[:PORT]",
     "Address of process 0, for --send (default: from Slurm or Open MPI; a port from 63001 to "
     "65534)",
     COMMAND_FLEET, TEXT(fleet.first)},
    {"seed", "N", "Seed of weights and cache (default: 1)", COMMAND_RUN | COMMAND_FLEET,
     OPTION_READ(KEY_SEED)},
    {"data", "DIR", "Use the catalogue in this directory", COMMAND_RUN | COMMAND_FLEET,
     TEXT(data_directory)},
    {"data-extra", "FILE", "Also load rows from this file", COMMAND_RUN | COMMAND_FLEET,
     TEXT(data_extra)},
    {"output", "DIR",
     "Write the record to this directory; the same command resumes it (default: the current one)",
     COMMAND_RUN, OPTION_TEXT('o', struct probe_options, output_directory)},
    {"output", "DIR",
     "A folder that all nodes share or, with --send, that each has: each node's records go to a "
     "folder of its name there; the same command resumes them",
     COMMAND_FLEET, OPTION_TEXT('o', struct probe_options, output_directory)},
    {"verify-only", NULL,
     "Only compare the kernels with the oracle, with one layer and with two, and each variant that "
     "would be tried: exit status 1 if any is out of tolerance, 4 if there was no time for all "
     "variants; no record is written",
     COMMAND_RUN, FLAG(verify_only)},
    {"tolerance", "SHARE", "Tolerance for token/s (default: 4 %)", COMMAND_CHECK,
     OPTION_READ(KEY_TOLERANCE)},
    {"format", "FORMAT", "Print as table, csv or json", COMMAND_LIST, OPTION_READ(KEY_FORMAT)},
    {"calibrate", NULL, "Measure how fast each device reads and multiplies", COMMAND_LIST,
     FLAG(calibrate)},
    {"quiet", NULL, "No warnings and no progress on standard error", 0,
     OPTION_FLAG('q', struct probe_options, quiet)},
};

enum { KNOWN_OPTIONS = sizeof known_options / sizeof known_options[0] };

static const struct syntax {
  enum probe_command command;
  const char *name, *arguments;
  const char *summary; // sentences
  const char *example; // a command line, and what comes after it
} syntaxes[] = {
    {COMMAND_LIST, "list", "", "Show the devices, their memory, and which energy meters work.",
     "pertoken probe list --calibrate"},
    {COMMAND_RUN, "run", "",
     "Measure how fast a model decodes on this machine, and how much power it takes.",
     "pertoken probe run --model tinyllama-1.1b --precision bf16,int8 --batch 1,16 -o records"},
    {COMMAND_FLEET, "fleet", "",
     "Measure every node of a fleet: started once on each, by Slurm or Open MPI.",
     "srun --ntasks-per-node=1 pertoken probe fleet --model llama-2-70b --precision fp8 "
     "--soak -o fleet\n"
     "and then 'pertoken fleet fleet/*'."},
    {COMMAND_CHECK, "check", "RECORD",
     "Measure a record's results again: exit status 1 if any is out of tolerance.",
     "pertoken probe check records/tinyllama-1.1b-cpu-1a2b3c4d.json --tolerance '4 %'"},
};

struct parsing {
  const struct syntax *syntax;
  struct arena *arena;
  struct probe_options *options;
};

static void read_layers(const char *text, struct argp_state *state, struct number_list *out) {
  value_list(text, MAX_LAYERS, "layers", state, out);
  if (out->count > MAX_DEPTHS)
    argp_error(state, "--layers takes one depth, or two or three to extrapolate from");
  for (size_t i = 1; i < out->count; i++)
    if (out->values[i] <= out->values[i - 1])
      argp_error(state, "expected --layers in ascending order, found '%s'", text);
}

static void read_precisions(char *text, const struct parsing *parsing, struct argp_state *state) {
  struct probe_options *options = parsing->options;
  struct diagnostics diagnostics = {.arena = parsing->arena};
  options->precision_count = 0;
  char *rest = arena_copy(parsing->arena, text);
  for (char *name = strsep(&rest, ","); name; name = strsep(&rest, ",")) {
    const char *known = precision_find(name, &diagnostics);
    if (!known) {
      argp_error(state, "%s", diagnostics.list[0].message);
      return;
    }
    for (size_t i = 0; i < options->precision_count; i++)
      if (!strcmp(options->precisions[i], known))
        argp_error(state, "--precision names %s twice", known);
    options->precisions[options->precision_count++] = known;
  }
}

static const char *one_of(const char *text, const char *a, const char *b, const char *option,
                          struct argp_state *state) {
  if (strcmp(text, a) != 0 && strcmp(text, b) != 0)
    argp_error(state, "expected --%s %s or %s, not '%s'", option, a, b, text);
  return text;
}

static void read_activations(const char *text, struct argp_state *state,
                             struct probe_options *options) {
  static const char *const known[] = {"bf16", "fp8", "int8", "weights"};
  size_t i = 0;
  while (i < sizeof known / sizeof known[0] && strcmp(text, known[i]) != 0)
    i++;
  if (i == sizeof known / sizeof known[0])
    argp_error(state, "expected --activations bf16, fp8, int8 or weights, not '%s'", text);
  options->activations = text;
}

// "model", "uniform", "skewed:1.2"
static void read_routing(const char *text, struct argp_state *state,
                         struct probe_options *options) {
  static const char skewed[] = "skewed:";
  double skew = 0;
  options->routing = !strcmp(text, "uniform") ? ROUTING_UNIFORM : ROUTING_MODEL;
  if (options->routing == ROUTING_UNIFORM || !strcmp(text, "model"))
    return;
  const char *number = text + strlen(skewed);
  if (strncmp(text, skewed, strlen(skewed)) != 0 || number_prefix(number, &skew) == 0 ||
      number[number_prefix(number, &skew)] || !(skew >= 0) || skew > MAX_SKEW)
    argp_error(state, "expected --routing model, uniform or skewed:N with N from 0 to %d, not '%s'",
               MAX_SKEW, text);
  options->routing = ROUTING_SKEWED;
  options->skew = (float)skew;
}

// "own", "fastest", or as the backend names it, which refuses those that it does not know.
static void read_variant(const char *text, struct argp_state *state,
                         struct probe_options *options) {
  if (!strchr(text, '=') && strcmp(text, "own") != 0 && strcmp(text, "fastest") != 0)
    argp_error(state, "expected --variant own, fastest or such as step=streaming, not '%s'", text);
  options->fastest = !strcmp(text, "fastest");
  options->variant = strchr(text, '=') ? text : NULL;
}

// A number with a unit: "4 %", "1.2 kW".
static double read_quantity(const char *text, const char *unit_text, const char *option,
                            const struct parsing *parsing, struct argp_state *state) {
  struct diagnostics diagnostics = {.arena = parsing->arena};
  struct unit unit;
  double value = -1;
  if (unit_parse(unit_text, nowhere, &unit, parsing->arena, &diagnostics) ||
      quantity_parse(text, nowhere, &unit, &value, &diagnostics))
    argp_error(state, "--%s: %s", option, diagnostics.list[0].message);
  return value;
}

static double read_tolerance(const char *text, const struct parsing *parsing,
                             struct argp_state *state) {
  const double value = read_quantity(text, "%", "tolerance", parsing, state);
  if (!(value >= 0) || value >= 1)
    argp_error(state, "expected --tolerance from '0 %%' to below '100 %%', found '%s'", text);
  return value;
}

static double read_watts(const char *text, const struct parsing *parsing,
                         struct argp_state *state) {
  const double value = read_quantity(text, "W", "wall-power", parsing, state);
  if (!(value > 0) || value > 1e6)
    argp_error(state, "expected --wall-power above '0 W' and up to '1 MW', found '%s'", text);
  return value;
}

// Rather than a number with a unit: "watts", "./watts.csv", "2026-watts.csv".
static bool is_file_name(const char *text) {
  const char *point = strrchr(text, '.');
  return !strchr("+-.0123456789", *text) || strchr(text, '/') ||
         (point && isalpha((unsigned char)point[1]));
}

// Reads watts; in a fleet, where each node has its own, the name of a file that lists them.
static void read_wall(const char *text, const struct parsing *parsing, struct argp_state *state) {
  if (parsing->syntax->command == COMMAND_FLEET && is_file_name(text))
    parsing->options->fleet.wall_table = text;
  else
    parsing->options->wall.typed_w = read_watts(text, parsing, state);
}

// A user name and password would be visible to everyone in the list of processes.
static const char *read_address(const char *text, struct argp_state *state) {
  const bool web = !strncmp(text, "https://", 8) || !strncmp(text, "http://", 7);
  if (!web || strchr(text, '@') || strpbrk(text, " \t\n"))
    argp_error(state,
               "expected --redfish https://HOST/redfish/v1/Chassis/1/Power, name and password in "
               "~/.netrc, found '%s'",
               text);
  return text;
}

// The metering window is the last half of it, but at most a minute.
static void read_soak(const char *text, struct argp_state *state, struct probe_options *options) {
  const double soak_s =
      text ? value_seconds(text, "soak", PROTOCOL_ENERGY_S, state) : PROTOCOL_SOAK_S;
  options->energy_s = fmin(PROTOCOL_WINDOW_S, fmax(PROTOCOL_ENERGY_S, soak_s / 2));
  options->soak_s = soak_s - options->energy_s;
}

static int descending(const void *a, const void *b) {
  return *(const int *)b - *(const int *)a;
}

// The highest first: by default that counts, so its fastest kernels are measured at all of them.
static void read_power_limits(const char *text, struct argp_state *state,
                              struct probe_options *options) {
  struct number_list *limits = &options->power_limits;
  value_list(text, MAX_POWER_LIMIT, "power-limit", state, limits);
  qsort(limits->values, limits->count, sizeof *limits->values, descending);
}

static int read_shard(const char *text, struct argp_state *state) {
  int ranks;
  if (strncmp(text, "1/", 2) != 0)
    argp_error(state, "expected --shard 1/N, such as 1/8, found '%s'", text);
  value_int(text + 2, "", 2, MAX_RANKS, "shard", state, &ranks);
  return ranks;
}

// "12 us", "0.1 ms"
static double read_short_time(const char *text, const char *option, struct argp_state *state) {
  static const struct {
    const char *name;
    double seconds;
  } units[] = {{"us", 1e-6}, {"ms", 1e-3}, {"s", 1}};
  double value = 0;
  const size_t length = number_prefix(text, &value);
  const char *unit = text + length + strspn(text + length, " ");
  for (size_t i = 0; length && i < sizeof units / sizeof units[0]; i++)
    if (!strcmp(unit, units[i].name) && value > 0 && value * units[i].seconds <= 1)
      return value * units[i].seconds;
  argp_error(state, "expected --%s above 0 and up to '1 s', such as '12 us', found '%s'", option,
             text);
  return NAN;
}

// A process in the middle of a result must not be taken for lost.
static void settle_wait(struct probe_options *options, struct argp_state *state) {
  const double result_s = options->time_s + options->soak_s + options->energy_s;
  if (isnan(options->fleet.wait_s))
    options->fleet.wait_s = fmax(usual_wait_s, 2 * result_s);
  else if (options->fleet.wait_s < result_s)
    argp_error(state, "--wait must be longer than a result takes: here at least %g s", result_s);
}

// Options that do not go together; the first that applies is reported.
struct conflict {
  bool is_there;
  const char *words;
};

static void refuse(const struct conflict *conflicts, size_t count, struct argp_state *state) {
  for (size_t i = 0; i < count; i++)
    if (conflicts[i].is_there)
      argp_error(state, "%s", conflicts[i].words);
}

static void refuse_fleet(const struct probe_options *options, struct argp_state *state) {
  const bool has_offer = options->fleet.offer != NULL;
  const struct conflict conflicts[] = {
      {!options->output_directory, "expected -o DIR, a folder that all nodes share"},
      {options->fleet.first && !options->fleet.send, "--first needs --send"},
      {options->fleet.guarantee && !has_offer, "--for needs --offer"},
      {!has_offer && !options->model, "expected --model ID, or --offer FILE"},
      {has_offer && (options->model || options->precision_count),
       "--offer sets the model and its precision: leave out --model and --precision"},
  };
  refuse(conflicts, sizeof conflicts / sizeof conflicts[0], state);
}

static void refuse_conflicts(const struct probe_options *options, struct argp_state *state) {
  const struct measurement_shard *shard = &options->shard;
  const bool has_limits = options->power_limits.count, has_time = !isnan(shard->all_reduce_s);
  const bool is_typed = !isnan(options->wall.typed_w) || options->fleet.wall_table;
  const struct conflict conflicts[] = {
      {options->chunk && !options->prefills.count, "--chunk needs --prefill"},
      {options->prefills.count && options->layers.count > 1,
       "--prefill measures one depth, --layers asks for several: choose one"},
      {options->tensor_parallel && shard->of,
       "--shard measures one device's share, --tensor-parallel all of them: choose one"},
      {has_limits && options->verify_only,
       "--power-limit measures one device: leave --verify-only out"},
      {has_limits && options->tensor_parallel,
       "--power-limit measures one device: leave --tensor-parallel out"},
      {has_time && !shard->of, "--all-reduce needs --shard"},
      {has_time != (*shard->source != '\0'),
       "--all-reduce and --all-reduce-note go together: a time needs its source"},
      {options->wall.redfish && is_typed,
       "--redfish and --wall-power both supply wall power: choose one"},
      {*options->wall.note && !is_typed, "--wall-note needs --wall-power"},
      {options->no_power &&
           (has_limits || options->soak_s > 0 || is_typed || options->wall.redfish != NULL),
       "--no-power measures no watts: leave out --power-limit, --soak, --wall-power and --redfish"},
  };
  refuse(conflicts, sizeof conflicts / sizeof conflicts[0], state);
}

static void finish(const struct parsing *parsing, struct argp_state *state) {
  struct probe_options *options = parsing->options;
  const enum probe_command command = parsing->syntax->command;
  if (command == COMMAND_CHECK && !options->record)
    argp_error(state, "expected RECORD");
  if (command == COMMAND_RUN && !options->model)
    argp_error(state, "expected --model ID");
  if (command == COMMAND_FLEET) {
    refuse_fleet(options, state);
    settle_wait(options, state);
  }
  if (!options->precision_count)
    options->precisions[options->precision_count++] = "bf16";
  refuse_conflicts(options, state);
  if (options->no_power)
    options->energy_s = 0;
}

static void add_argument(const struct parsing *parsing, const char *text,
                         struct argp_state *state) {
  if (parsing->options->soak_s > 0) // '--soak 300' is a soak of the usual length, and an argument
    argp_error(state, "one argument too many: '%s'; a soak of that length is --soak=%s", text,
               text);
  if (parsing->syntax->command != COMMAND_CHECK || parsing->options->record)
    argp_error(state, "one argument too many: '%s'", text);
  parsing->options->record = text;
}

static error_t parse_one(int key, char *text, struct argp_state *state) {
  struct parsing *parsing = state->input;
  struct probe_options *options = parsing->options;
  if (option_row_keep(known_options, KNOWN_OPTIONS, key, text, options))
    return 0;
  switch (key) {
  case KEY_PRECISION: read_precisions(text, parsing, state); break;
  case KEY_BATCH: value_list(text, MAX_BATCH, "batch", state, &options->batches); break;
  case KEY_CONTEXT: value_list(text, MAX_CONTEXT, "context", state, &options->contexts); break;
  case KEY_PREFILL: value_list(text, MAX_CONTEXT, "prefill", state, &options->prefills); break;
  case KEY_CHUNK: value_int(text, "", 1, MAX_CONTEXT, "chunk", state, &options->chunk); break;
  case KEY_KV: options->kv = one_of(text, "bf16", "fp8", "kv", state); break;
  case KEY_ACTIVATIONS: read_activations(text, state, options); break;
  case KEY_ROUTING: read_routing(text, state, options); break;
  case KEY_VARIANT: read_variant(text, state, options); break;
  case KEY_HEAD: options->head = one_of(text, "bf16", "weights", "head", state); break;
  case KEY_LAYERS: read_layers(text, state, &options->layers); break;
  case KEY_TIME: options->time_s = value_seconds(text, "time", 0.1, state); break;
  case KEY_SOAK: read_soak(text, state, options); break;
  case KEY_WALL_POWER: read_wall(text, parsing, state); break;
  case KEY_REDFISH: options->wall.redfish = read_address(text, state); break;
  case KEY_POWER_LIMIT: read_power_limits(text, state, options); break;
  case KEY_TENSOR_PARALLEL:
    value_int(text, "", 2, MAX_DECODE_RANKS, "tensor-parallel", state, &options->tensor_parallel);
    break;
  case KEY_SHARD: options->shard.of = read_shard(text, state); break;
  case KEY_ALL_REDUCE:
    options->shard.all_reduce_s = read_short_time(text, "all-reduce", state);
    break;
  case KEY_THREADS: value_int(text, "", 0, MAX_THREADS, "threads", state, &options->threads); break;
  case KEY_WAIT: options->fleet.wait_s = value_seconds(text, "wait", 1, state); break;
  case KEY_SEED: options->seed = value_seed(text, state); break;
  case KEY_FORMAT:
    options->json = !strcmp(text, "json");
    options->csv = !strcmp(text, "csv");
    if (!options->json && !options->csv && strcmp(text, "table") != 0)
      argp_error(state, "expected --format table, csv or json, not '%s'", text);
    break;
  case KEY_TOLERANCE: options->tolerance = read_tolerance(text, parsing, state); break;
  case ARGP_KEY_ARG: add_argument(parsing, text, state); break;
  case ARGP_KEY_END: finish(parsing, state); break;
  default: return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

struct probe_options probe_options_parse(enum probe_command command, int argc, char **argv,
                                         struct arena *arena) {
  const struct syntax *syntax = syntaxes;
  while (syntax->command != command)
    syntax++;
  struct probe_options options = {
      .device = command == COMMAND_RUN     ? "cpu"
                : command == COMMAND_FLEET ? usual_fleet_devices
                                           : NULL,
      .kv = "bf16",
      .batches = {{1}, 1},
      .contexts = {{512}, 1},
      .fastest = true,
      .time_s = PROTOCOL_TIME_S,
      .energy_s = PROTOCOL_ENERGY_S,
      .wall = {.typed_w = NAN, .note = ""},
      .node = "",
      .shard = measurement_unknown().shard,
      .tolerance = 0.04,
      .seed = 1,
      .output_directory = command == COMMAND_FLEET ? NULL : ".",
      .fleet = {.wait_s = NAN},
  };
  struct parsing parsing = {.syntax = syntax, .arena = arena, .options = &options};
  const struct argp argp = {
      .options = option_rows_of(known_options, KNOWN_OPTIONS, command, arena),
      .parser = parse_one,
      .args_doc = syntax->arguments,
      .doc = arena_printf(arena, "%s\vExample:\n  %s", syntax->summary, syntax->example)};
  argv[0] = arena_printf(arena, "pertoken probe %s", syntax->name);
  argp_err_exit_status = 2;
  argp_parse(&argp, argc, argv, 0, NULL, &parsing);
  return options;
}
