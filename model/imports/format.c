#include "model/imports/format.h"

#include "base/texts.h"
#include "model/imports/document.h"
#include "model/imports/readers.h"
#include "model/imports/repeats.h"
#include "model/telemetry/power_read.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The more specific ones come first: several share keys.
static const struct format formats[] = {
    {.tool = "InferenceX agentic aggregate",
     .keys = {"scenario_type", "users", "output_tput_per_gpu"},
     .refused = "multi-turn conversations served from a cache: their rates have no stated lengths"},
    {.tool = "InferenceX agentic aggregate",
     .keys = {"scenario_type", "conc", "request_metrics"},
     .refused = "multi-turn conversations served from a cache: their rates have no stated lengths"},
    {.tool = "InferenceX aggregate",
     .keys = {"hw", "conc", "tput_per_gpu", "output_tput_per_gpu"},
     .read = read_inferencex,
     .is_whole_run = true},
    {.tool = "SGLang bench_serving",
     .keys = {"output_throughput", "total_output_tokens", "mean_e2e_latency_ms"},
     .read = read_sglang,
     .is_whole_run = true},
    {.tool = "vLLM bench serve",
     .keys = {"output_throughput", "total_output_tokens", "total_token_throughput", "completed"},
     .read = read_vllm,
     .run_number = "run_number",
     .is_whole_run = true},
    {.tool = "vLLM bench sweep's table",
     .begins = ",date,",
     .refused = "its rows may be of servers with unlike settings: import the files summary.json of "
                "one server's loads, in the folders next to it"},
    {.tool = "vLLM bench throughput",
     .keys = {"elapsed_time", "num_requests", "tokens_per_second"},
     .refused = "its tokens per second include input tokens, in an unstated number; 'vllm bench "
                "serve' reports output tokens"},
    {.tool = "trtllm-bench",
     .keys = {"performance/system_output_throughput_tok_s", "request_info"},
     .read = read_trtllm,
     .is_whole_run = true},
    {.tool = "GenAI-Perf",
     .keys = {"output_token_throughput", "request_throughput", "input_config/perf_analyzer"},
     .read = read_genai_perf,
     .is_whole_run = true},
    {.tool = "GenAI-Perf",
     .keys = {"output_token_throughput", "request_throughput", "input_config/stability_percentage"},
     .read = read_genai_perf,
     .is_whole_run = true},
    {.tool = "AIPerf",
     .keys = {"output_token_throughput", "request_throughput", "input_config"},
     .read = read_aiperf,
     .version = "schema_version",
     .newest = "1.3",
     .is_whole_run = true},
    {.tool = "AIPerf",
     .keys = {"output_token_throughput", "request_throughput", "benchmark_duration"},
     .read = read_aiperf,
     .version = "schema_version",
     .newest = "1.3",
     .is_whole_run = true},
    {.tool = "GenAI-Perf",
     .keys = {"output_token_throughput", "request_throughput"},
     .read = read_genai_perf,
     .is_whole_run = true},
    {.tool = "Perf Analyzer's requests",
     .keys = {"experiments", "service_kind"},
     .refused = "single requests, without their tokens: import profile_export_genai_perf.json, "
                "which GenAI-Perf writes next to it"},
    {.tool = "AIPerf's requests",
     .keys = {"metadata/request_start_ns", "metrics"},
     .refused = "single requests: import profile_export_aiperf.json, which AIPerf writes next to "
                "it"},
    {.tool = "guidellm",
     .keys = {"metadata/guidellm_version", "benchmarks"},
     .read = read_guidellm,
     .version = "metadata/version",
     .newest = "2"},
    {.tool = "guidellm of an earlier report version",
     .keys = {"benchmarks/0/metrics/output_tokens_per_second"},
     .refused = "only version 2 of the report (guidellm 0.7 and later) can be read"},
    {.tool = "llm-d benchmark report",
     .keys = {"version", "scenario/load", "results/request_performance"},
     .read = read_llm_d_2,
     .version = "version",
     .newest = "0.2.1"},
    {.tool = "llm-d benchmark report",
     .keys = {"version", "scenario", "metrics/throughput"},
     .read = read_llm_d_1,
     .version = "version",
     .newest = "0.1"},
    {.tool = "inference-perf",
     .keys = {"load_summary", "successes/throughput"},
     .read = read_inference_perf},
    {.tool = "llama-bench",
     .keys = {"build_commit", "n_prompt", "n_gen", "avg_ts"},
     .read = read_llama_bench},
    {.tool = "llama-batched-bench",
     .keys = {"pp", "tg", "pl", "speed_tg"},
     .read = read_batched_bench},
    {.tool = "MLPerf LoadGen",
     .keys = {"line 2", "Scenario", "Result is"},
     .read = read_mlperf,
     .is_benchmark = true},
    {.tool = "MLPerf Endpoints",
     .keys = {"n_samples_completed", "output_sequence_lengths", "duration_ns"},
     .read = read_mlperf_endpoints,
     .is_whole_run = true},
    {.tool = "MLPerf system description",
     .keys = {"accelerator_model_name", "accelerators_per_node"},
     .read = read_mlperf_system,
     .is_beside = true},
    {.tool = "MLPerf system description of several kinds of nodes",
     .keys = {"node_types", "system_name"},
     .refused = "it does not state which of them produced the rates: give --accelerator and "
                "--accelerators instead"},
    {.tool = "MLPerf LoadGen's detailed log",
     .begins = ":::MLLOG",
     .read = read_mlperf_window,
     .is_beside = true},
    {.tool = "llama-bench table",
     .begins = "| model ",
     .refused =
         "a table for people, with rounded numbers: run llama-bench with -o json, jsonl or csv"},
    {.tool = "llama-batched-bench table",
     .begins = "|    PP |",
     .refused = "a table for people: run llama-batched-bench with --output-format jsonl"},
};

enum { FORMATS = sizeof formats / sizeof formats[0] };

static bool fits(const struct format *format, const struct document *document) {
  if (format->begins)
    return !document->count &&
           !strncmp(document->source->text, format->begins, strlen(format->begins));
  for (size_t i = 0; i < MAX_FORMAT_KEYS && format->keys[i]; i++)
    if (!document->count || !json_below(document->parts[0].json, format->keys[i]))
      return false;
  return true;
}

// The format of a document; NULL if it is unknown.
static const struct format *format_of(const struct document *document) {
  for (size_t i = 0; i < FORMATS; i++)
    if (fits(&formats[i], document))
      return &formats[i];
  return NULL;
}

// "vLLM bench serve, SGLang bench_serving, ...": the supported ones, each once.
static const char *format_names(struct arena *arena) {
  struct texts names = {0};
  for (size_t i = 0; i < FORMATS; i++) {
    bool is_new = formats[i].read;
    for (size_t n = 0; n < names.count; n++)
      is_new = is_new && strcmp(formats[i].tool, names.list[n]) != 0;
    if (is_new)
      texts_add(&names, arena, "%s", formats[i].tool);
  }
  return texts_joined(&names, arena);
}

// "a.json", or of one value of several "a.jsonl:2" and "a.json, result 2". A text without values
// has no part.
static const char *name_of(const struct document *document, const struct document_part *part,
                           struct arena *arena) {
  const char *file = document->source->name;
  if (!part || document->count < 2)
    return file;
  return part->number ? arena_printf(arena, "%s, result %d", file, part->number)
                      : arena_printf(arena, "%s:%d", file, part->line);
}

static struct imported *add_blank(const struct import_reading *reading, const struct format *format,
                                  struct imported_list *all) {
  all->list = arena_room(reading->arena, all->list, all->count, sizeof *all->list);
  struct imported *imported = &all->list[all->count++];
  *imported = (struct imported){.source = reading->document->source,
                                .name = name_of(reading->document, reading->part, reading->arena),
                                .format = format,
                                .tool_version = "",
                                .engine = "",
                                .engine_version = "",
                                .hardware = "",
                                .precision = "",
                                .model = "",
                                .prompts = "",
                                .speculation = "",
                                .date = "",
                                .power_window = {NAN, NAN}};
  return imported;
}

// ---- versions

enum { VERSION_PARTS = 3 };

static bool parse_version(const char *text, long parts[VERSION_PARTS]) {
  char *end;
  for (size_t i = 0; i < VERSION_PARTS; i++) {
    parts[i] = i && !*text ? 0 : strtol(text, &end, 10);
    if (i && !*text)
      continue;
    if (end == text || (*end && *end != '.'))
      return false;
    text = end + (*end == '.');
  }
  return true;
}

static bool is_readable(const long stated[VERSION_PARTS], const long newest[VERSION_PARTS]) {
  return stated[0] == newest[0] && (newest[0] > 0 || stated[1] == newest[1]);
}

static bool is_newer(const long stated[VERSION_PARTS], const long newest[VERSION_PARTS]) {
  for (size_t i = 0; i < VERSION_PARTS; i++)
    if (stated[i] != newest[i])
      return stated[i] > newest[i];
  return false;
}

// Whoever changes a format says so in its version; what then has changed is not known here.
static int check_version(const struct import_reading *reading, const struct format *format) {
  long stated[VERSION_PARTS], newest[VERSION_PARTS];
  const char *text = format->version && reading->part
                         ? text_below(reading, reading->part->json, format->version)
                         : "";
  if (!*text)
    return 0;
  parse_version(format->newest, newest);
  if (!parse_version(text, stated) || !is_readable(stated, newest))
    return reading_error(reading, "%s, version %s of its format: up to %s can be read",
                         format->tool, text, format->newest);
  if (is_newer(stated, newest))
    texts_add(&reading->imported->doubts, reading->arena,
              "%s has version %s of its format, newer than %s, the newest that is known",
              reading->imported->name, text, format->newest);
  return 0;
}

static int read_part(struct import_reading *reading, const struct format *format,
                     struct imported_list *all) {
  for (size_t i = 0; reading->part && i < MAX_FORMAT_KEYS && format->keys[i]; i++)
    if (!json_below(reading->part->json, format->keys[i]))
      return reading_error(reading, "expected more of %s here, but '%s' is missing", format->tool,
                           format->keys[i]);
  reading->imported = add_blank(reading, format, all);
  return check_version(reading, format) ? -1 : format->read(reading);
}

static bool is_of_repeats(const struct document *document, const struct format *format) {
  for (size_t i = 0; i < document->count; i++)
    if (!format->run_number || !json_below(document->parts[i].json, format->run_number))
      return false;
  return true;
}

static int read_parts(struct import_reading *reading, const struct format *format,
                      struct imported_list *all) {
  const struct document *document = reading->document;
  const size_t first = all->count;
  size_t rungs = 0;
  if (!document->count)
    return read_part(reading, format, all);
  for (size_t i = 0; i < document->count; i++) {
    reading->part = &document->parts[i];
    if (read_part(reading, format, all))
      return -1;
    rungs += reading->imported->count;
  }
  reading->part = NULL;
  if (is_of_repeats(document, format))
    repeats_settle(all, first, reading->arena);
  return rungs || format->is_beside ? 0
                                    : reading_error(reading, "%s without a result", format->tool);
}

static int read_document(struct import_reading *reading, struct imported_list *all) {
  const struct document *document = reading->document;
  const struct format *format = format_of(document);
  if (!format && power_read_knows(document->source))
    return reading_error(reading,
                         "watts without rates: give it with --power, along with a file of rates");
  if (!format)
    return reading_error(reading, "%s in no known format; tried: %s", document->written_in,
                         format_names(reading->arena));
  if (!format->read)
    return reading_error(reading, "%s: %s", format->tool, format->refused);
  const size_t errors = reading->diagnostics->errors;
  return read_parts(reading, format, all) || reading->diagnostics->errors > errors ? -1 : 0;
}

int format_read(const char *path, struct imported_list *all, struct arena *arena,
                struct diagnostics *diagnostics) {
  struct document document;
  struct import_reading reading = {&document, NULL, NULL, {NAN, NAN}, NAN, NAN, arena, diagnostics};
  const size_t before = all->count;
  int result = document_read(path, &document, arena, diagnostics);
  if (!result)
    result = read_document(&reading, all);
  if (result)
    all->count = before;
  document_close(&document);
  return result;
}
