// prompt: requests whose prompts have so many tokens, and no prefix in common, so that no cache knows
// any of them, and whose answers have so many tokens, whatever the model makes of them.
#ifndef PERTOKEN_PROBE_SERVING_PROMPT_H
#define PERTOKEN_PROBE_SERVING_PROMPT_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

// From the best: ids are counted before they are sent; words have to be calibrated; a chat's template
// adds tokens of its own.
enum prompt_form { PROMPT_IDS, PROMPT_WORDS, PROMPT_CHAT, PROMPT_FORMS };

// What a request asks for beyond OpenAI's first version, which a server may reject.
enum prompt_field {
  FIELD_USAGE = 1,      // stream_options.include_usage
  FIELD_MIN_TOKENS = 2, // min_tokens = max_tokens
  FIELD_IGNORE_EOS = 4,
  FIELD_ALL = 7
};

struct prompt {
  enum prompt_form form;
  unsigned fields;   // of enum prompt_field
  const char *model; // the server's name of it
  long input_tokens, output_tokens;
  long first_id, ids; // drawn from first_id to first_id + ids - 1
  long words;         // of a prompt, for the other forms
  uint64_t seed;
  char *text; // of the body made last
  size_t room;
  struct arena *arena;
};

// "/v1/completions", "/v1/chat/completions"; "token ids, completions", "words, chat".
const char *prompt_path(enum prompt_form form);
const char *prompt_form_name(enum prompt_form form);

// "min_tokens": how messages, the server's among them, name a field.
const char *prompt_field_name(enum prompt_field field);

// Ids of a vocabulary of so many that stand for text: most control tokens stand at either end.
void prompt_set_ids(struct prompt *prompt, long vocabulary);

// The body of request `number` (a load's callback: the context is a struct prompt), the same for the
// same seed and number. Valid until the next call.
const char *prompt_body(void *context, size_t number);

#endif
