#include "probe/serving/counters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum count {
  COUNT_INPUT,
  COUNT_UNCACHED,
  COUNT_CACHED,
  COUNT_OUTPUT,
  COUNT_DRAFTS,
  COUNT_ACCEPTED,
  MEAN_ACCEPTED, // of all replicas, not counted
  COUNTS
};

// vLLM's cache was named the GPU's until 0.9. Its queries are counted in tokens, as its hits are.
// SGLang's input includes cached tokens, llama-server's does not.
static const struct {
  const char *engine, *name;
  enum count count;
} names[] = {
    {"vLLM", "vllm:prompt_tokens_total", COUNT_INPUT},
    {"vLLM", "vllm:generation_tokens_total", COUNT_OUTPUT},
    {"vLLM", "vllm:prefix_cache_hits_total", COUNT_CACHED},
    {"vLLM", "vllm:prefix_cache_hits", COUNT_CACHED},
    {"vLLM", "vllm:gpu_prefix_cache_hits_total", COUNT_CACHED},
    {"vLLM", "vllm:gpu_prefix_cache_hits", COUNT_CACHED},
    {"vLLM", "vllm:spec_decode_num_drafts_total", COUNT_DRAFTS},
    {"vLLM", "vllm:spec_decode_num_accepted_tokens_total", COUNT_ACCEPTED},
    {"SGLang", "sglang:prompt_tokens_total", COUNT_INPUT},
    {"SGLang", "sglang:generation_tokens_total", COUNT_OUTPUT},
    {"SGLang", "sglang:cached_tokens_total", COUNT_CACHED},
    {"SGLang", "sglang:spec_accept_length", MEAN_ACCEPTED},
    {"llama.cpp", "llamacpp:prompt_tokens_total", COUNT_UNCACHED},
    {"llama.cpp", "llamacpp:prompt_tokens_cached_total", COUNT_CACHED},
    {"llama.cpp", "llamacpp:tokens_predicted_total", COUNT_OUTPUT},
};

enum { NAMES = sizeof names / sizeof names[0] };

// ---- a line: name{label="value",...} value [time]

static size_t name_length(const char *line, size_t size) {
  size_t length = 0;
  while (length < size && line[length] != '{' && line[length] != ' ' && line[length] != '\t')
    length++;
  return length;
}

// After the labels, whose values may contain any character.
static size_t labels_length(const char *text, size_t size) {
  if (!size || *text != '{')
    return 0;
  bool quoted = false;
  for (size_t i = 1; i < size; i++) {
    if (quoted && text[i] == '\\')
      i++;
    else if (text[i] == '"')
      quoted = !quoted;
    else if (!quoted && text[i] == '}')
      return i + 1;
  }
  return size;
}

static double value_of(const char *text, size_t size) {
  char number[64], *end;
  while (size && (*text == ' ' || *text == '\t'))
    text++, size--;
  const size_t length = size < sizeof number - 1 ? size : sizeof number - 1;
  memcpy(number, text, length);
  number[length] = '\0';
  const double value = strtod(number, &end);
  return end != number && isfinite(value) && value >= 0 ? value : NAN;
}

// A count is taken under one name: vLLM 0.9 reported its cache's under the old one and the new.
struct tally {
  double counts[COUNTS];
  size_t name[COUNTS];  // where counts are not NAN
  size_t lines[COUNTS]; // that counts are the sum of
};

static void add_line(const char *line, size_t size, struct tally *tally) {
  const size_t length = name_length(line, size);
  for (size_t i = 0; i < NAMES; i++) {
    if (strlen(names[i].name) != length || memcmp(line, names[i].name, length) != 0)
      continue;
    const size_t labels = labels_length(line + length, size - length);
    const double value = value_of(line + length + labels, size - length - labels);
    double *count = &tally->counts[names[i].count];
    if (isnan(value) || (!isnan(*count) && tally->name[names[i].count] != i))
      return;
    *count = isnan(*count) ? value : *count + value;
    tally->name[names[i].count] = i;
    tally->lines[names[i].count]++;
  }
}

struct server_counters counters_read(const char *text, size_t size) {
  struct tally tally = {.counts = {NAN, NAN, NAN, NAN, NAN, NAN, NAN}};
  for (const char *line = text, *end = text + size; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    add_line(line, (size_t)((next ? next : end) - line), &tally);
    line = next ? next + 1 : end;
  }
  const double *counts = tally.counts, cached = counts[COUNT_CACHED];
  return (struct server_counters){
      .engine = isnan(counts[COUNT_OUTPUT]) ? NULL : names[tally.name[COUNT_OUTPUT]].engine,
      .input_tokens = isnan(counts[COUNT_INPUT])
                          ? counts[COUNT_UNCACHED] + (isnan(cached) ? 0 : cached)
                          : counts[COUNT_INPUT],
      .cached_tokens = cached,
      .output_tokens = counts[COUNT_OUTPUT],
      .drafts = counts[COUNT_DRAFTS],
      .accepted_tokens = counts[COUNT_ACCEPTED],
      .accepted_length = counts[MEAN_ACCEPTED] / (double)tally.lines[MEAN_ACCEPTED],
  };
}

// ---- compared with the client's

static bool agree(double server, double client) {
  return fabs(server - client) <= COUNTERS_AGREE * client;
}

const char *counters_compare(const struct server_counters *before,
                             const struct server_counters *after,
                             const struct client_counts *client, struct arena *arena) {
  const double input = after->input_tokens - before->input_tokens;
  const double output = after->output_tokens - before->output_tokens;
  if (isnan(input) || isnan(output))
    return "none: /metrics has no known token counters";
  if (input < 0 || output < 0)
    return "none: the server's counters were reset";
  const char *verdict = agree(input, client->input_tokens) && agree(output, client->output_tokens)
                            ? "agree"
                            : "differ";
  return arena_printf(arena, "%s: %.0f tokens in and %.0f out, %.0f and %.0f by usage", verdict,
                      input, output, client->input_tokens, client->output_tokens);
}

double counters_cached_share(const struct server_counters *before,
                             const struct server_counters *after) {
  const double input = after->input_tokens - before->input_tokens;
  const double cached = after->cached_tokens - before->cached_tokens;
  return input > 0 && cached >= 0 ? cached / input : NAN;
}

double counters_accepted_length(const struct server_counters *before,
                                const struct server_counters *after) {
  const double drafts = after->drafts - before->drafts;
  const double accepted = after->accepted_tokens - before->accepted_tokens;
  const double length = drafts > 0 && accepted >= 0 ? 1 + accepted / drafts : NAN;
  return isnan(length) && after->accepted_length >= 1 ? after->accepted_length : length;
}
