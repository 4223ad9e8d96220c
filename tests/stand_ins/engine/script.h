// script: how the stand-in for an inference engine answers a request, given by its path.
//
// The part before /v1 in a request's path is its script: /ttft=50,tpot=20,usage=none/v1/..., so
// that a client given the URL http://127.0.0.1:PORT/ttft=50,tpot=20 gets such answers. script.c's
// table has the keys.
#ifndef PERTOKEN_TESTS_STAND_INS_ENGINE_SCRIPT_H
#define PERTOKEN_TESTS_STAND_INS_ENGINE_SCRIPT_H

#include <stdbool.h>
#include <stddef.h>

enum { SCRIPT_TEXT = 64 };

// Milliseconds and tokens. Every key is 0 or "" if the path does not give it.
struct script {
  double ttft, tpot; // until the first token, from one to the next
  double finish;     // from the last token to a chunk with only the reason for the end; 0: none
  double tokens;     // sent, whatever was requested
  double per_chunk;  // tokens per chunk; 0: one
  double role;       // for a chat: a chunk without text comes at once
  double cached;     // cached tokens according to usage; -1: it does not say (the default)
  double prompt;     // prompt tokens according to usage
  double stall, stall_at; // length of a pause, and when it begins after the first request
  double slow;            // before the status line
  double every;           // every n-th request fails; 0: all
  double status;          // of the answer
  double reset_after, close_after, error_after; // tokens; the last is an event with an error
  double die_after;                             // requests; then the server ends
  double once;                                  // a kept connection hangs up on its second request
  double slots;                                 // requests served at a time; others wait
  double limit;                                 // requests at a time; others get 503
  double context;                               // tokens of prompt and answer; more is 400
  double counters;                              // factor on the values of /metrics
  double speculates;                            // every chunk is a draft with a token of its own
  double split, endless, gzip, redirect, garbage, json, wrong_length, undone, open_end;
  double old;                // SGLang's paths of 2025
  double no_text;            // no chunk has any
  double no_ids;             // prompts of token ids are 400
  double chat_only;          // /v1/completions is 404
  char usage[SCRIPT_TEXT];   // "last" (the default), "own", "none", "each", "wrong"
  char key[SCRIPT_TEXT];     // others are 401
  char rejects[SCRIPT_TEXT]; // requests with this field are 400
  char model[SCRIPT_TEXT];   // the model's name; others are 404
  char engine[SCRIPT_TEXT];  // "vllm" (the default), "llama", "sglang"
};

// Parses what precedes the first known path in `path`, such as "/v1" or "/metrics". False for an
// unknown key.
bool script_read(struct script *script, const char *path);

#endif
