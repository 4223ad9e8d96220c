#include "probe/serving/rehearsal.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/records/serving.h"
#include "probe/serving/load.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct stage {
  const struct server *server;
  struct prompt *prompt;
  double limit_s;
  const volatile sig_atomic_t *stop;
  size_t sent;
  struct texts refusals; // a form each
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// One request. Each has its own prompt, which no cache has seen. Returns 0 or -1.
static int ask(struct stage *stage, struct load_sample *sample) {
  struct load_result result;
  struct prompt prompt = *stage->prompt;
  prompt.seed += stage->sent++;
  const struct load load = {.server = stage->server,
                            .path = prompt_path(prompt.form),
                            .body = prompt_body,
                            .body_context = &prompt,
                            .kind = LOAD_CLOSED,
                            .concurrency = 1,
                            .window_requests = 1,
                            .limit_s = stage->limit_s,
                            .silence_s = stage->limit_s,
                            .request_s = stage->limit_s,
                            .most_requests = 1,
                            .stop = stage->stop};
  if (load_run(&load, &result, stage->arena, stage->diagnostics) || !result.count ||
      (stage->stop && *stage->stop))
    return -1;
  *sample = result.samples[0];
  if (isnan(sample->end_s) && !sample->failure)
    sample->failure = result.unfinished;
  return 0;
}

// ---- what the server takes

// Whether the request itself failed, so that another kind of request may succeed.
static bool is_of_request(const char *failure) {
  static const int statuses[] = {400, 404, 405, 415, 422, 500, 501};
  int status;
  if (sscanf(failure, "HTTP %d", &status) != 1)
    return !strcmp(failure, "the answer is not a stream of events");
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (status == statuses[i])
      return true;
  return false;
}

// Leaves out the field that the failure names, or else all except usage, and then that. False: none
// is left.
static bool drop_field(struct prompt *prompt, const char *failure) {
  for (unsigned field = 1; field < FIELD_ALL; field <<= 1)
    if (prompt->fields & field && strstr(failure, prompt_field_name(field))) {
      prompt->fields &= ~field;
      return true;
    }
  if (!prompt->fields)
    return false;
  prompt->fields &= prompt->fields == FIELD_USAGE ? 0 : FIELD_USAGE;
  return true;
}

// Returns 0 if it takes the form, 1 if it does not, -1 if nothing helps.
static int try_form(struct stage *stage, struct load_sample *sample) {
  const char *first = NULL;
  stage->prompt->fields = FIELD_ALL;
  do {
    if (ask(stage, sample))
      return -1;
    if (!sample->failure)
      return 0;
    first = first ? first : sample->failure;
    if (!is_of_request(sample->failure)) {
      diagnostics_error(stage->diagnostics, nowhere, "the first request failed: %s%s",
                        sample->failure,
                        strncmp(sample->failure, "HTTP 401", 8) != 0
                            ? ""
                            : ": the key is taken from PERTOKEN_API_KEY");
      return -1;
    }
  } while (drop_field(stage->prompt, sample->failure));
  texts_add(&stage->refusals, stage->arena, "%s: %s", prompt_form_name(stage->prompt->form), first);
  return 1;
}

static int refuse_all(struct stage *stage) {
  const struct texts *refusals = &stage->refusals;
  bool is_one = true;
  for (size_t i = 1; i < refusals->count; i++)
    is_one &= !strcmp(strstr(refusals->list[i], ": "), strstr(refusals->list[0], ": "));
  diagnostics_error(stage->diagnostics, nowhere, "the server accepts no requests%s%s",
                    is_one ? strstr(refusals->list[0], ": ") : ": ",
                    is_one ? "" : texts_joined(refusals, stage->arena));
  return -1;
}

// ---- words

// Tokens of a prompt of that many words; -1 after errors.
static long tokens_of(struct stage *stage, long words, struct load_sample *sample) {
  stage->prompt->words = words;
  if (ask(stage, sample))
    return -1;
  if (!sample->failure && sample->usage.prompt_tokens > 0)
    return sample->usage.prompt_tokens;
  diagnostics_error(stage->diagnostics, nowhere, "prompts of words cannot be counted: %s",
                    sample->failure ? sample->failure : "the server reports no usage");
  return -1;
}

// Tokens are fitted by a line over words: a chat's template adds some to any prompt.
static int calibrate(struct stage *stage, struct load_sample *sample) {
  struct prompt *prompt = stage->prompt;
  const long few = prompt->words / 2 > 0 ? prompt->words / 2 : 1, many = 2 * few;
  const long of_few = tokens_of(stage, few, sample);
  const long of_many = of_few < 0 ? -1 : tokens_of(stage, many, sample);
  if (of_many < 0)
    return -1;
  const double each = (double)(of_many - of_few) / (double)(many - few);
  const double words = ((double)prompt->input_tokens - (double)of_few) / each + (double)few;
  if (!(each > 0) || !(words >= 1)) {
    diagnostics_error(
        stage->diagnostics, nowhere,
        "a prompt of %ld tokens cannot be built: %ld words have %ld, and %ld have %ld",
        prompt->input_tokens, few, of_few, many, of_many);
    return -1;
  }
  prompt->words = lround(words);
  return 0;
}

// ---- the whole

static double time_of(const struct load_sample *sample) {
  return sample->failure ? INFINITY : sample->end_s - sample->sent_s;
}

static const char *rejected_fields(const struct prompt *prompt, struct arena *arena) {
  struct texts names = {0};
  for (unsigned field = 1; field < FIELD_ALL; field <<= 1)
    if (!(prompt->fields & field))
      texts_add(&names, arena, "%s", prompt_field_name(field));
  return names.count ? texts_joined(&names, arena) : "";
}

int rehearse(const struct server *server, struct prompt *prompt, double limit_s,
             const volatile sig_atomic_t *stop, struct rehearsal *rehearsal, struct arena *arena,
             struct diagnostics *diagnostics) {
  struct stage stage = {server, prompt, limit_s, stop, 0, {0}, arena, diagnostics};
  struct load_sample first, second;
  int taken = 1;
  prompt->words = prompt->input_tokens / 2 > 0 ? prompt->input_tokens / 2 : 1;
  for (int form = PROMPT_IDS; taken == 1 && form < PROMPT_FORMS; form++) {
    prompt->form = (enum prompt_form)form;
    taken = try_form(&stage, &first);
  }
  if (taken)
    return taken < 0 ? -1 : refuse_all(&stage);
  if (prompt->form != PROMPT_IDS && calibrate(&stage, &first))
    return -1;
  if (ask(&stage, &second))
    return -1;
  rehearsal->request_s = fmin(time_of(&first), time_of(&second));
  rehearsal->rejected = rejected_fields(prompt, arena);
  return 0;
}
