#include "probe/options/serving_options.h"

#include "base/option_row.h"
#include "model/cost/quantity.h"
#include "probe/options/values.h"
#include "probe/serving/load.h"

#include <argp.h>
#include <math.h>
#include <stddef.h>
#include <string.h>

enum { MAX_ACCELERATORS = 100000, MAX_TOKENS = 1 << 22, MAX_CONCURRENCY = 1024 };
enum { USUAL_INPUT = 1024, USUAL_OUTPUT = 256 }; // tokens

enum key {
  KEY_ACCELERATORS = OPTION_ACTS,
  KEY_INPUT,
  KEY_OUTPUT,
  KEY_CONCURRENCY,
  KEY_RATE,
  KEY_SLO,
  KEY_TIME,
  KEY_LIMIT,
  KEY_CLOCK_OFFSET,
  KEY_SEED,
};

enum { SERVING = 1 }; // the only command with these options

#define TEXT(member) OPTION_TEXT(0, struct serving_options, member)

static const struct option_row known_options[] = {
    {"accelerator", "ID", "Hardware of the server: an accelerator in the catalogue, or cpu",
     SERVING, TEXT(accelerator)},
    {"accelerators", "N", "Number of accelerators behind the URL", SERVING,
     OPTION_READ(KEY_ACCELERATORS)},
    {"precision", "P", "Precision of the weights: bf16, fp8, int8, ...", SERVING, TEXT(precision)},
    {"activations", "P", "Precision of the activations, for a guarantee that names it", SERVING,
     TEXT(activations)},
    {"kv", "P", "Precision of the KV cache, likewise", SERVING, TEXT(kv)},
    {"speculation", "METHOD",
     "Method of speculative decoding: MTP, EAGLE3, ...; or none (default: what the server reports)",
     SERVING, TEXT(speculation)},
    {"model", "ID",
     "The model being served, by its id in the catalogue; 'pertoken catalog models' lists them",
     SERVING, TEXT(model)},
    {"served-model", "NAME", "The server's own name for it (default: the only one it serves)",
     SERVING, TEXT(served_model)},
    {"engine", "NAME", "The serving program, if it does not identify itself: 'vLLM 0.10.1'",
     SERVING, TEXT(engine)},
    {"node", "NAME",
     "Name of the serving machine in a fleet, for 'pertoken accept' (default: this machine's Slurm "
     "name, if the server is here)",
     SERVING, TEXT(node)},
    {"input", "TOKENS", "Tokens in each prompt (default: 1024)", SERVING, OPTION_READ(KEY_INPUT)},
    {"output", "TOKENS", "Tokens in each answer (default: 256)", SERVING, OPTION_READ(KEY_OUTPUT)},
    {"concurrency", "LIST",
     "Requests in flight: 1,2,4,8; or auto: doubled up to 1024 until the gain is below 3 % "
     "(default: auto)",
     SERVING, OPTION_READ(KEY_CONCURRENCY)},
    {"rate", "LIST",
     "Then requests arriving at random (Poisson): per second, '0.5,1,2', or as shares of the best "
     "rate found, '70 %,80 %,90 %'; or none (default: none; with --slo, 70, 80 and 90 %)",
     SERVING, OPTION_READ(KEY_RATE)},
    {"slo", "LIMITS",
     "Service-level objective: 'ttft 2 s, tpot 50 ms', or one of the two; goodput is the highest "
     "rate at which 90 % of requests meet it",
     SERVING, OPTION_READ(KEY_SLO)},
    {"time", "SECONDS",
     "Minimum steady window of each load (default: 60 s); a shorter one is graded projected",
     SERVING, OPTION_READ(KEY_TIME)},
    {"limit", "SECONDS", "Maximum time for each load (default: 30min)", SERVING,
     OPTION_READ(KEY_LIMIT)},
    {"power", "FILE",
     "Power file that 'pertoken probe meter' wrote on the server's host meanwhile; the same "
     "command with this option adds it to loads without watts",
     SERVING, TEXT(power)},
    {"devices", "LIST",
     "Which metered devices serve, here or in --power: 0,1, PCI addresses or UUIDs (default: all)",
     SERVING, TEXT(devices)},
    {"clock-offset", "SECONDS",
     "Maximum difference between this clock and that of --power (default: from both hosts' NTP)",
     SERVING, OPTION_READ(KEY_CLOCK_OFFSET)},
    {"seed", "N",
     "Seed of the prompts (default: random); repeated prompts are found in a server's cache",
     SERVING, OPTION_READ(KEY_SEED)},
    {"data", "DIR", "Use the catalogue in this directory", SERVING, TEXT(data_directory)},
    {"data-extra", "FILE", "Also load rows from this file", SERVING, TEXT(data_extra)},
    {"output-directory", "DIR",
     "Write the record to this directory; the same command resumes it (default: the current one)",
     SERVING, OPTION_TEXT('o', struct serving_options, output_directory)},
    {"quiet", NULL, "No warnings and no progress on standard error", 0,
     OPTION_FLAG('q', struct serving_options, quiet)},
};

enum { KNOWN_OPTIONS = sizeof known_options / sizeof known_options[0] };

// ---- values

static void read_concurrencies(const char *text, struct argp_state *state, struct ladder *ladder) {
  struct number_list list = {{0}, 0};
  if (strcmp(text, "auto") != 0)
    value_list(text, MAX_CONCURRENCY, "concurrency", state, &list);
  ladder->count = list.count;
  memcpy(ladder->concurrencies, list.values, list.count * sizeof *list.values);
}

static void refuse_rates(const char *text, struct argp_state *state) {
  argp_error(state,
             "expected --rate 'none', up to %d numbers per second as '0.5,1,2', or shares as "
             "'70 %%,80 %%', found '%s'",
             MAX_LADDER, text);
}

static void read_rates(const char *text, struct argp_state *state, struct ladder *ladder) {
  ladder->rate_count = 0;
  if (!strcmp(text, "none"))
    return;
  for (const char *at = text; ladder->rate_count < MAX_LADDER; at++) {
    double value;
    at += strspn(at, " ");
    const size_t length = number_prefix(at, &value);
    at += length + strspn(at + length, " ");
    const bool is_share = *at == '%';
    at += is_share ? 1 + strspn(at + 1, " ") : 0;
    if (!length || !(value > 0) || value > 1e6 || (*at && *at != ',') ||
        (ladder->rate_count && is_share != ladder->rates_are_shares))
      break;
    ladder->rates_are_shares = is_share;
    ladder->rates[ladder->rate_count++] = is_share ? value / 100 : value;
    if (!*at)
      return;
  }
  refuse_rates(text, state);
}

// "2 s", "50 ms": returns what follows it, NULL if there is no such time.
static const char *read_time(const char *text, double *seconds) {
  const size_t length = number_prefix(text, seconds);
  const char *unit = text + length + strspn(text + length, " ");
  const bool is_short = !strncmp(unit, "ms", 2);
  if (!length || !(*seconds > 0) || (!is_short && *unit != 's'))
    return NULL;
  *seconds *= is_short ? 1e-3 : 1;
  return unit + (is_short ? 2 : 1);
}

static void read_slo(const char *text, struct argp_state *state, struct slo *slo) {
  *slo = (struct slo){NAN, NAN};
  for (const char *at = text; at; at++) {
    at += strspn(at, " ");
    double *limit = !strncmp(at, "ttft ", 5)   ? &slo->ttft_s
                    : !strncmp(at, "tpot ", 5) ? &slo->tpot_s
                                               : NULL;
    if (!limit || !isnan(*limit) || !(at = read_time(at + 5 + strspn(at + 5, " "), limit)))
      break;
    at += strspn(at, " ");
    if (!*at)
      return;
    if (*at != ',')
      break;
  }
  argp_error(state, "expected --slo 'ttft 2 s, tpot 50 ms', or one of the two, found '%s'", text);
}

// ---- parsing

struct parsing {
  struct serving_options *options;
  bool has_rates;
};

static void finish(const struct parsing *parsing, struct argp_state *state) {
  struct serving_options *options = parsing->options;
  struct ladder *ladder = &options->ladder;
  const struct {
    bool is_missing;
    const char *what;
  } needed[] = {
      {!options->url, "URL: address of the server, such as http://localhost:8000"},
      {!options->accelerator, "--accelerator ID: servers do not report their hardware"},
      {!options->accelerators,
       "--accelerators N: servers do not report their number of accelerators"},
      {!options->precision, "--precision P: precision of the weights"},
      {!options->model, "--model ID: id in the catalogue"},
  };
  for (size_t i = 0; i < sizeof needed / sizeof needed[0]; i++)
    if (needed[i].is_missing)
      argp_error(state, "expected %s", needed[i].what);
  if (parsing->has_rates || (isnan(options->slo.ttft_s) && isnan(options->slo.tpot_s)))
    return;
  memcpy(ladder->rates, (const double[]){0.7, 0.8, 0.9}, 3 * sizeof *ladder->rates);
  ladder->rate_count = 3;
  ladder->rates_are_shares = true;
}

static void add_argument(const char *text, struct argp_state *state,
                         struct serving_options *options) {
  if (options->url)
    argp_error(state, "one argument too many: '%s'", text);
  options->url = text;
}

static error_t parse_one(int key, char *text, struct argp_state *state) {
  struct parsing *parsing = state->input;
  struct serving_options *options = parsing->options;
  if (option_row_keep(known_options, KNOWN_OPTIONS, key, text, options))
    return 0;
  switch (key) {
  case KEY_ACCELERATORS:
    value_int(text, "", 1, MAX_ACCELERATORS, "accelerators", state, &options->accelerators);
    break;
  case KEY_INPUT: value_int(text, "", 1, MAX_TOKENS, "input", state, &options->input_tokens); break;
  case KEY_OUTPUT:
    value_int(text, "", 2, MAX_TOKENS, "output", state, &options->output_tokens);
    break;
  case KEY_CONCURRENCY: read_concurrencies(text, state, &options->ladder); break;
  case KEY_RATE:
    read_rates(text, state, &options->ladder);
    parsing->has_rates = true;
    break;
  case KEY_SLO: read_slo(text, state, &options->slo); break;
  case KEY_TIME: options->window_s = value_seconds(text, "time", 1, state); break;
  case KEY_LIMIT: options->limit_s = value_seconds(text, "limit", 1, state); break;
  case KEY_CLOCK_OFFSET:
    options->clock_offset_s = value_seconds(text, "clock-offset", 0, state);
    break;
  case KEY_SEED: options->seed = value_seed(text, state); break;
  case ARGP_KEY_ARG: add_argument(text, state, options); break;
  case ARGP_KEY_END: finish(parsing, state); break;
  default: return ARGP_ERR_UNKNOWN;
  }
  return 0;
}

struct serving_options serving_options_parse(int argc, char **argv, struct arena *arena) {
  struct serving_options options = {
      .input_tokens = USUAL_INPUT,
      .output_tokens = USUAL_OUTPUT,
      .ladder = {.most = MAX_CONCURRENCY},
      .slo = {NAN, NAN},
      .clock_offset_s = NAN,
      .window_s = STEADY_WINDOW_S,
      .limit_s = USUAL_LIMIT_S,
      .output_directory = ".",
  };
  struct parsing parsing = {.options = &options};
  const struct argp argp = {
      .options = option_rows_of(known_options, KNOWN_OPTIONS, SERVING, arena),
      .parser = parse_one,
      .args_doc = "URL",
      .doc = "Measure what a running inference server delivers at every load: output tokens per "
             "second, latencies, watts. It receives requests in OpenAI's API format, more the "
             "faster it is; the maximum is stated first. The server's API key, if required, is "
             "taken from PERTOKEN_API_KEY.\vExample:\n  pertoken probe serving "
             "http://localhost:8000 --accelerator h200-sxm --accelerators 8 --precision fp8 "
             "--model llama-3.1-70b --slo 'ttft 2 s, tpot 50 ms' -o records"};
  argv[0] = arena_printf(arena, "pertoken probe serving");
  argp_err_exit_status = 2;
  argp_parse(&argp, argc, argv, 0, NULL, &parsing);
  return options;
}
