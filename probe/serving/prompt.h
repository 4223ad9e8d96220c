// prompt: requests with prompts of a given number of tokens, without a common prefix, so that none
// is in a cache, and with answers of a given number of tokens, whatever the model would do.
#ifndef PERTOKEN_PROBE_SERVING_PROMPT_H
#define PERTOKEN_PROBE_SERVING_PROMPT_H

#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>

// Best first: ids are counted before they are sent; words have to be calibrated; a chat's template
// adds tokens of its own.
enum prompt_form { PROMPT_IDS, PROMPT_WORDS, PROMPT_CHAT, PROMPT_FORMS };

// Fields beyond OpenAI's first version, which a server may reject.
enum prompt_field {
  FIELD_USAGE = 1,      // stream_options.include_usage
  FIELD_MIN_TOKENS = 2, // min_tokens = max_tokens
  FIELD_IGNORE_EOS = 4,
  FIELD_ALL = 7
};

struct prompt {
  enum prompt_form form;
  unsigned fields;   // of enum prompt_field
  const char *model; // the server's name for it
  long input_tokens, output_tokens;
  long first_id, ids; // drawn from first_id to first_id + ids - 1
  long words;         // of a prompt, for the other forms
  uint64_t seed;
  char *text; // of the last body made
  size_t room;
  struct arena *arena;
};

// "/v1/completions", "/v1/chat/completions"; "token ids, completions", "words, chat".
const char *prompt_path(enum prompt_form form);
const char *prompt_form_name(enum prompt_form form);

// "min_tokens": how messages, including the server's, name a field.
const char *prompt_field_name(enum prompt_field field);

// Ids, of a vocabulary of that many, that stand for text: most control tokens are at either end.
void prompt_set_ids(struct prompt *prompt, long vocabulary);

// The body of request `number` (a load's callback: the context is a struct prompt), the same for
// the same seed and number. Valid until the next call.
const char *prompt_body(void *context, size_t number);

#endif
