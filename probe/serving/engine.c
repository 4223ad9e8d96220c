#include "probe/serving/engine.h"

#include "base/source.h"
#include "base/texts.h"
#include "model/records/serving.h"

#include <jansson.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

enum { LISTED = 10 }; // names in a message

enum { STATE_PATHS = 2 };

// Recognized by the owner of a served model, or by the header "Server".
static const struct {
  const char *owner, *name;
  const char *state_paths[STATE_PATHS]; // where it reports its version; the second in older ones
} engines[] = {
    {"vllm", "vLLM", {"/version"}},
    {"sglang", "SGLang", {"/server_info", "/get_server_info"}},
    {"llamacpp", "llama.cpp", {"/props"}},
    {"llama.cpp", "llama.cpp", {"/props"}},
    {"tensorrt_llm", "TensorRT-LLM", {"/version"}},
};

enum { ENGINES = sizeof engines / sizeof engines[0] };

static void name_engine(struct engine *engine, const char *owner) {
  for (size_t i = 0; i < ENGINES && owner; i++)
    if (!strcasecmp(owner, engines[i].owner))
      engine->name = engines[i].name;
}

static const char *const *state_paths_of(const struct engine *engine) {
  static const char *const usual[STATE_PATHS] = {"/version"};
  for (size_t i = 0; i < ENGINES; i++)
    if (!strcmp(engine->name, engines[i].name))
      return engines[i].state_paths;
  return usual;
}

// ---- what answers say

static long whole_number(const json_t *object, const char *name) {
  const json_t *value = json_object_get(object, name);
  const json_int_t number = json_is_integer(value) ? json_integer_value(value) : 0;
  return number > 0 && number < 1L << 40 ? (long)number : 0;
}

static const char *text_in(const json_t *object, const char *name, struct arena *arena) {
  const json_t *value = json_object_get(object, name);
  return json_is_string(value) ? arena_copy(arena, json_string_value(value)) : NULL;
}

// vLLM and SGLang say max_model_len; llama.cpp has the rest in "meta".
static struct served_model model_of(const json_t *entry, const char *name) {
  const json_t *meta = json_object_get(entry, "meta");
  const long length = whole_number(entry, "max_model_len");
  return (struct served_model){
      .name = name,
      .vocabulary = whole_number(meta, "n_vocab"),
      .context = length ? length : whole_number(meta, "n_ctx"),
  };
}

void engine_read_models(struct engine *engine, const char *text, size_t size, struct arena *arena) {
  json_t *root = json_loadb(text, size, 0, NULL);
  const json_t *list = json_object_get(root, "data");
  engine->models = arena_array(arena, json_array_size(list) + 1, sizeof *engine->models);
  for (size_t i = 0; i < json_array_size(list); i++) {
    const json_t *entry = json_array_get(list, i);
    const char *name = text_in(entry, "id", arena);
    if (name)
      engine->models[engine->count++] = model_of(entry, name);
    name_engine(engine, text_in(entry, "owned_by", arena));
  }
  json_decref(root);
}

// SGLang's setting for all of its replicas, or, where none was set, what each of them chose.
static long places_of_sglang(const json_t *root) {
  const json_t *states = json_object_get(root, "internal_states");
  const json_t *replica;
  size_t i;
  long places = 0;
  json_array_foreach(states, i, replica) {
    places += whole_number(replica, "effective_max_running_requests_per_dp");
  }
  return places ? places : whole_number(root, "max_running_requests");
}

void engine_read_state(struct engine *engine, const char *text, size_t size, struct arena *arena) {
  json_t *root = json_loadb(text, size, 0, NULL);
  const char *version = text_in(root, "version", arena);
  const char *build = text_in(root, "build_info", arena);
  const long places = whole_number(root, "total_slots");
  if (version || build)
    engine->version = version ? version : build;
  engine->places = places ? places : places_of_sglang(root);
  const char *speculation = text_in(root, "speculative_algorithm", arena);
  engine->speculation = speculation ? speculation : engine->speculation;
  json_decref(root);
}

// ---- asking

static int refuse(const struct server *server, const struct server_answer *answer,
                  struct diagnostics *diagnostics) {
  const char *hint = answer->status == 401 || answer->status == 403
                         ? ": the key is taken from PERTOKEN_API_KEY"
                     : answer->status == 404 ? ": expected the address of an OpenAI-compatible "
                                               "server, up to '/v1'"
                                             : "";
  diagnostics_error(diagnostics, nowhere, "%s/v1/models: %s%s", server->url, answer->failure, hint);
  return -1;
}

static int check_models(const struct server *server, const struct engine *engine,
                        struct diagnostics *diagnostics) {
  if (engine->count)
    return 0;
  diagnostics_error(diagnostics, nowhere,
                    "%s/v1/models lists no models: expected the address of an OpenAI-compatible "
                    "server, up to '/v1'",
                    server->url);
  return -1;
}

static void ask_state(const struct server *server, struct engine *engine, struct arena *arena) {
  const char *const *paths = state_paths_of(engine);
  for (size_t i = 0; i < STATE_PATHS && paths[i]; i++) {
    const struct server_answer state = server_get(server, paths[i], ANSWERS_S, arena);
    if (!state.failure) {
      engine_read_state(engine, state.body, state.size, arena);
      return;
    }
  }
}

int engine_ask(const struct server *server, const char *named, struct engine *engine,
               struct arena *arena, struct diagnostics *diagnostics) {
  const struct server_answer models = server_get(server, "/v1/models", ANSWERS_S, arena);
  *engine = (struct engine){.name = "", .version = "", .speculation = ""};
  if (server_is_stopped(server))
    return -1;
  if (models.failure && !(named && models.status == 404))
    return refuse(server, &models, diagnostics);
  name_engine(engine, models.software);
  engine_read_models(engine, models.body, models.size, arena);
  if (!named && check_models(server, engine, diagnostics))
    return -1;
  ask_state(server, engine, arena);
  return server_is_stopped(server) ? -1 : 0;
}

// ---- names

// The last word is a version if it begins with a digit, or like "b4321" or "v0.10".
static const char *version_in(const char *typed) {
  const char *last = strrchr(typed, ' ');
  if (!last || last == typed)
    return NULL;
  last++;
  const char *digit = *last == 'b' || *last == 'v' ? last + 1 : last;
  return *digit >= '0' && *digit <= '9' ? last : NULL;
}

int engine_state(struct engine *engine, const char *typed, struct arena *arena,
                 struct diagnostics *diagnostics) {
  const char *version = version_in(typed);
  const size_t length = version ? (size_t)(version - typed - 1) : strlen(typed);
  const char *name = arena_copy_n(arena, typed, length);
  const bool other_name = *engine->name && strcasecmp(engine->name, name) != 0;
  const bool other_version = version && *engine->version && strcmp(engine->version, version) != 0;
  if (other_name || other_version) {
    diagnostics_error(diagnostics, nowhere, "--engine states '%s', but the server reports '%s%s%s'",
                      typed, engine->name, *engine->version ? " " : "", engine->version);
    return -1;
  }
  engine->name = *engine->name ? engine->name : name;
  engine->version = version ? version : engine->version;
  return 0;
}

static const char *names_of(const struct engine *engine, struct arena *arena) {
  struct texts names = {0};
  for (size_t i = 0; i < engine->count && i < LISTED; i++)
    texts_add(&names, arena, "'%s'", engine->models[i].name);
  if (engine->count > LISTED)
    texts_add(&names, arena, "and %zu others", engine->count - LISTED);
  return texts_joined(&names, arena);
}

// The model with that name; otherwise the only one that a record would name that way.
static const struct served_model *model_named(const struct engine *engine, const char *named) {
  const struct served_model *told = NULL;
  size_t count = 0;
  for (size_t i = 0; i < engine->count; i++) {
    const struct served_model *model = &engine->models[i];
    if (!strcmp(model->name, named))
      return model;
    if (!strcmp(serving_told_name(model->name), named) && ++count)
      told = model;
  }
  return count == 1 ? told : NULL;
}

const struct served_model *engine_model(const struct engine *engine, const char *named,
                                        struct arena *arena, struct diagnostics *diagnostics) {
  const struct served_model *found = named ? model_named(engine, named) : NULL;
  if (found)
    return found;
  if (!named && engine->count == 1)
    return &engine->models[0];
  if (!engine->count) { // nothing is listed, so it can only be tried
    struct served_model *model = arena_alloc(arena, sizeof *model);
    model->name = named;
    return model;
  }
  if (named)
    diagnostics_error(diagnostics, nowhere, "the server does not serve '%s'; it serves %s", named,
                      names_of(engine, arena));
  else
    diagnostics_error(diagnostics, nowhere,
                      "the server serves %s: choose one with --served-model NAME",
                      names_of(engine, arena));
  return NULL;
}
