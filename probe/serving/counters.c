#include "probe/serving/counters.h"

#include "base/arena.h"
#include "model/telemetry/engine_counters.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

// ---- a line: name{label="value",...} value [time]

static size_t name_length(const char *line, size_t size) {
  size_t length = 0;
  while (length < size && line[length] != '{' && line[length] != ' ' && line[length] != '\t')
    length++;
  return length;
}

// The length of the labels in braces, whose values may contain any character; 0 without any.
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

// A quantity is taken under one name: vLLM 0.9 reported its cache's under the old one and the new.
struct tally {
  const struct engine_counters *engine; // of the output
  double sums[ENGINE_QUANTITIES];       // NAN: not counted
  const char *names[ENGINE_QUANTITIES];
  size_t lines[ENGINE_QUANTITIES]; // that sums are of
};

static void add_line(const char *line, size_t size, struct tally *tally) {
  const size_t length = name_length(line, size);
  const struct engine_counters *engine;
  enum engine_quantity what;
  const char *name = engine_counter_find(line, length, &engine, &what);
  if (!name || (tally->names[what] && tally->names[what] != name))
    return;
  const size_t labels = labels_length(line + length, size - length);
  const double value = value_of(line + length + labels, size - length - labels);
  const bool is_idle = what == ENGINE_ACCEPTED_LENGTH && value < 1;
  if (isnan(value) || is_idle)
    return;
  tally->sums[what] = tally->lines[what] ? tally->sums[what] + value : value;
  tally->names[what] = name;
  tally->lines[what]++;
  if (what == ENGINE_OUTPUT)
    tally->engine = engine;
}

struct server_counters counters_read(const char *text, size_t size) {
  struct tally tally = {0};
  const double *sums = tally.sums;
  for (int what = 0; what < ENGINE_QUANTITIES; what++)
    tally.sums[what] = NAN;
  for (const char *line = text, *end = text + size; line < end;) {
    const char *next = memchr(line, '\n', (size_t)(end - line));
    add_line(line, (size_t)((next ? next : end) - line), &tally);
    line = next ? next + 1 : end;
  }
  const bool add_hits = tally.engine && tally.engine->input_lacks_hits && !isnan(sums[ENGINE_HITS]);
  return (struct server_counters){
      .engine = tally.engine ? tally.engine->engine : NULL,
      .input_tokens = sums[ENGINE_INPUT] + (add_hits ? sums[ENGINE_HITS] : 0),
      .cached_tokens = sums[ENGINE_HITS],
      .output_tokens = sums[ENGINE_OUTPUT],
      .drafts = sums[ENGINE_DRAFTS],
      .accepted_tokens = sums[ENGINE_ACCEPTED],
      .accepted_length = sums[ENGINE_ACCEPTED_LENGTH] / (double)tally.lines[ENGINE_ACCEPTED_LENGTH],
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
