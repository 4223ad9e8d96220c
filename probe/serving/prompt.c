#include "probe/serving/prompt.h"

#include <jansson.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Short words are one token each in most vocabularies.
static const char *const common_words[] = {
    "the",  "of",   "and",   "to",    "in",    "is",    "that",  "for",  "it",   "as",   "was",
    "with", "be",   "by",    "on",    "not",   "he",    "his",   "but",  "at",   "are",  "this",
    "have", "from", "or",    "had",   "an",    "they",  "which", "one",  "you",  "were", "all",
    "her",  "she",  "there", "would", "their", "we",    "him",   "been", "has",  "when", "who",
    "will", "no",   "more",  "if",    "out",   "so",    "up",    "said", "what", "its",  "about",
    "than", "into", "them",  "can",   "only",  "other", "time",  "new",  "some",
};

enum { WORDS = sizeof common_words / sizeof common_words[0] };

static const struct {
  const char *path, *name;
} forms[PROMPT_FORMS] = {
    {"/v1/completions", "token ids, completions"},
    {"/v1/completions", "words, completions"},
    {"/v1/chat/completions", "words, chat"},
};

static const struct {
  enum prompt_field field;
  const char *name;
} field_names[] = {
    {FIELD_USAGE, "stream_options"},
    {FIELD_MIN_TOKENS, "min_tokens"},
    {FIELD_IGNORE_EOS, "ignore_eos"},
};

const char *prompt_path(enum prompt_form form) {
  return forms[form].path;
}

const char *prompt_form_name(enum prompt_form form) {
  return forms[form].name;
}

const char *prompt_field_name(enum prompt_field field) {
  for (size_t i = 0; i < sizeof field_names / sizeof field_names[0]; i++)
    if (field_names[i].field == field)
      return field_names[i].name;
  return "";
}

void prompt_set_ids(struct prompt *prompt, long vocabulary) {
  prompt->first_id = vocabulary / 16;
  prompt->ids = vocabulary - vocabulary / 4 - prompt->first_id;
}

// ---- draws: SplitMix64 (Steele, Lea and Flood, OOPSLA 2014)

static uint64_t mixed(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
  x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
  return x ^ (x >> 31);
}

static uint64_t draw(uint64_t *state, uint64_t below) {
  *state += 0x9e3779b97f4a7c15;
  return mixed(*state) % below;
}

// ---- the body

struct writer {
  struct prompt *prompt;
  size_t size;
};

static void add(struct writer *writer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct writer *writer, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  const int length = vsnprintf(writer->prompt->text + writer->size,
                               writer->prompt->room - writer->size, format, arguments);
  va_end(arguments);
  writer->size += (size_t)length;
}

static void add_ids(struct writer *writer, uint64_t *state) {
  const struct prompt *prompt = writer->prompt;
  for (long i = 0; i < prompt->input_tokens; i++)
    add(writer, "%c%ld", i ? ',' : '[',
        prompt->first_id + (long)draw(state, (uint64_t)prompt->ids));
  add(writer, "]");
}

static void add_words(struct writer *writer, uint64_t *state) {
  for (long i = 0; i < writer->prompt->words; i++)
    add(writer, "%s%s", i ? " " : "\"", common_words[draw(state, WORDS)]);
  add(writer, "\"");
}

static void add_fields(struct writer *writer) {
  const struct prompt *prompt = writer->prompt;
  add(writer, ",\"max_tokens\":%ld,\"temperature\":0,\"stream\":true", prompt->output_tokens);
  if (prompt->fields & FIELD_USAGE)
    add(writer, ",\"stream_options\":{\"include_usage\":true}");
  if (prompt->fields & FIELD_MIN_TOKENS)
    add(writer, ",\"min_tokens\":%ld", prompt->output_tokens);
  if (prompt->fields & FIELD_IGNORE_EOS)
    add(writer, ",\"ignore_eos\":true");
  add(writer, "}");
}

// Bytes enough for any body of the prompt: an id has at most 19 digits, a word 5 letters.
static size_t room_for(const struct prompt *prompt, size_t name) {
  return name + 512 + 20 * (size_t)(prompt->form == PROMPT_IDS ? prompt->input_tokens : 0) +
         6 * (size_t)(prompt->form == PROMPT_IDS ? 0 : prompt->words);
}

const char *prompt_body(void *context, size_t number) {
  struct prompt *prompt = context;
  struct writer writer = {prompt, 0};
  uint64_t state = mixed(prompt->seed + mixed(number + 1));
  json_t *model = json_string(prompt->model);
  char *name = json_dumps(model, JSON_ENCODE_ANY);
  const size_t room = room_for(prompt, name ? strlen(name) : 0);
  if (prompt->room < room)
    prompt->text = arena_array(prompt->arena, prompt->room = room, 1);
  add(&writer, "{\"model\":%s,", name ? name : "\"\"");
  if (prompt->form == PROMPT_CHAT)
    add(&writer, "\"messages\":[{\"role\":\"user\",\"content\":");
  else
    add(&writer, "\"prompt\":");
  if (prompt->form == PROMPT_IDS)
    add_ids(&writer, &state);
  else
    add_words(&writer, &state);
  if (prompt->form == PROMPT_CHAT)
    add(&writer, "}]");
  add_fields(&writer);
  free(name);
  json_decref(model);
  return prompt->text;
}
