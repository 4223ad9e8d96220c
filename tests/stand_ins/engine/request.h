// request: what a client asked for.
#ifndef PERTOKEN_TESTS_STAND_INS_ENGINE_REQUEST_H
#define PERTOKEN_TESTS_STAND_INS_ENGINE_REQUEST_H

#include "tests/stand_ins/engine/bytes.h"
#include "tests/stand_ins/engine/script.h"

#include <stdbool.h>
#include <stddef.h>

struct request {
  struct script script;
  bool is_known; // the script can be parsed
  char path[64]; // after the script: "/v1/completions"
  bool is_post, is_chat, is_stream, has_ids, has_key, wants_usage, is_rejected;
  char authorization[128];
  char model[SCRIPT_TEXT];
  long prompt_tokens; // ids, or words of a text; for a chat 10 more
  long max_tokens;
};

// Takes one complete request off the front of what was received. Returns 1, 0 if it is not complete
// yet, -1 if it is not a request.
int request_take(struct request *request, struct bytes *received);

#endif
