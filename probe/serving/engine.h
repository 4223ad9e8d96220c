// engine: which program serves, under which names, and its stated limits.
#ifndef PERTOKEN_PROBE_SERVING_ENGINE_H
#define PERTOKEN_PROBE_SERVING_ENGINE_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "probe/serving/server.h"

#include <stddef.h>

// What a server says about a model that it serves. 0: not stated.
struct served_model {
  const char *name;
  long vocabulary; // token ids below this
  long context;    // tokens of a request, prompt and answer
};

struct engine {
  const char *name, *version;  // "vLLM", "0.10.1"; "" unknown
  struct served_model *models; // [count], as it lists them
  size_t count;
  long places;             // requests that it runs at once, while others wait; 0: not stated
  const char *speculation; // its method; "": none, or not stated
};

enum { ANSWERS_S = 30 }; // how long a server may take to answer a question

// Asks /v1/models and, depending on what is served there, /version, /props or /server_info, which
// SGLang called /get_server_info. It is an error if nothing that speaks HTTP answers, if another
// key is required, or if no models are listed; the last only if `named`, the model to ask for, is
// NULL. Returns 0 or -1.
int engine_ask(const struct server *server, const char *named, struct engine *engine,
               struct arena *arena, struct diagnostics *diagnostics);

// Reads an answer [size bytes of JSON]: the parts of engine_ask. Anything else changes nothing.
void engine_read_models(struct engine *engine, const char *text, size_t size, struct arena *arena);
void engine_read_state(struct engine *engine, const char *text, size_t size, struct arena *arena);

// Sets name and version from "vLLM 0.10.1" or "vLLM". It is an error if the server says that it is
// a different one. Returns 0 or -1.
int engine_state(struct engine *engine, const char *typed, struct arena *arena,
                 struct diagnostics *diagnostics);

// The model to ask for: `named`, in the server's words or as a record names it (serving_told_name),
// or the only one there is. It is an error if the server does not list it, or lists several and
// none is named. NULL after errors.
const struct served_model *engine_model(const struct engine *engine, const char *named,
                                        struct arena *arena, struct diagnostics *diagnostics);

#endif
