#include "tests/stand_ins/engine/reply.h"

#include <stdlib.h>
#include <string.h>

static const struct {
  int status;
  const char *words;
} statuses[] = {{200, "OK"},           {307, "Temporary Redirect"}, {400, "Bad Request"},
                {401, "Unauthorized"}, {404, "Not Found"},          {429, "Too Many Requests"},
                {500, "Server Error"}, {503, "Service Unavailable"}};

static const char *words_of(int status) {
  for (size_t i = 0; i < sizeof statuses / sizeof statuses[0]; i++)
    if (statuses[i].status == status)
      return statuses[i].words;
  return "Whatever";
}

void reply_whole(struct bytes *out, int status, const char *type, const char *more_headers,
                 const char *body) {
  bytes_print(out, "HTTP/1.1 %d %s\r\nServer: stand-in\r\nContent-Type: %s\r\n%s", status,
              words_of(status), type, more_headers);
  bytes_print(out, "Content-Length: %zu\r\n\r\n", strlen(body));
  bytes_add(out, body, strlen(body));
}

void reply_error(struct bytes *out, int status, const char *message) {
  struct bytes body = {0};
  bytes_print(&body, "{\"error\":{\"message\":\"%s\",\"type\":\"error\",\"code\":%d}}", message,
              status);
  reply_whole(out, status, "application/json", "", body.text);
  free(body.text);
}

// ---- questions

static void models(struct bytes *body, const struct request *request, const struct counters *c) {
  (void)c;
  bytes_print(body,
              "{\"object\":\"list\",\"data\":[{\"id\":\"%s\",\"object\":\"model\","
              "\"owned_by\":\"%s\",\"max_model_len\":%.0f}]}",
              request->script.model, request->script.engine,
              request->script.context > 0 ? request->script.context : 131072);
}

static void version(struct bytes *body, const struct request *request, const struct counters *c) {
  (void)request, (void)c;
  bytes_print(body, "{\"version\":\"0.10.1\"}");
}

static void props(struct bytes *body, const struct request *request, const struct counters *c) {
  (void)request, (void)c;
  bytes_print(body, "{\"total_slots\":4,\"build_info\":\"b5882-stand-in\"}");
}

static void server_info(struct bytes *body, const struct request *request,
                        const struct counters *c) {
  (void)c;
  bytes_print(body, "{\"version\":\"%s\",\"max_running_requests\":64,\"speculative_algorithm\":%s}",
              request->script.old > 0 ? "0.4.6" : "0.5.18",
              request->script.speculates > 0 ? "\"EAGLE3\"" : "null");
}

static void metrics(struct bytes *body, const struct request *request, const struct counters *c) {
  const char *model = request->script.model;
  const double factor = request->script.counters;
  const struct {
    const char *name, *type;
    double value;
  } all[] = {{"prompt_tokens_total", "counter", factor * c->prompt_tokens},
             {"generation_tokens_total", "counter", factor * c->generated_tokens},
             {"prefix_cache_queries_total", "counter", c->prompt_tokens},
             {"prefix_cache_hits_total", "counter", c->cached_tokens},
             {"num_requests_running", "gauge", c->running},
             {"num_requests_waiting", "gauge", c->waiting},
             {"spec_decode_num_drafts_total", "counter", c->chunks},
             {"spec_decode_num_accepted_tokens_total", "counter", c->generated_tokens - c->chunks}};
  const size_t count = sizeof all / sizeof all[0] - (request->script.speculates > 0 ? 0 : 2);
  for (size_t i = 0; i < count; i++)
    bytes_print(
        body,
        "# HELP vllm:%s Of the stand-in.\n# TYPE vllm:%s %s\nvllm:%s{model_name=\"%s\"} %.1f\n",
        all[i].name, all[i].name, all[i].type, all[i].name, model, all[i].value);
}

static const struct {
  const char *path, *engine, *type;
  void (*print)(struct bytes *, const struct request *, const struct counters *);
  bool is_old;
} questions[] = {{"/v1/models", NULL, "application/json", models, false},
                 {"/version", "vllm", "application/json", version, false},
                 {"/props", "llama", "application/json", props, false},
                 {"/server_info", "sglang", "application/json", server_info, false},
                 {"/get_server_info", "sglang", "application/json", server_info, true},
                 {"/metrics", NULL, "text/plain; version=0.0.4", metrics, false}};

void reply_get(struct bytes *out, const struct request *request, const struct counters *counters) {
  for (size_t i = 0; i < sizeof questions / sizeof questions[0]; i++) {
    const char *engine = questions[i].engine;
    if (strcmp(request->path, questions[i].path) != 0 ||
        (engine && (strcmp(engine, request->script.engine) != 0 ||
                    questions[i].is_old != (request->script.old > 0))))
      continue;
    struct bytes body = {0};
    questions[i].print(&body, request, counters);
    reply_whole(out, 200, questions[i].type, "", body.text);
    free(body.text);
    return;
  }
  reply_whole(out, 404, "application/json", "", "{\"detail\":\"Not Found\"}");
}

// ---- streams

static void add_chunk(struct bytes *out, struct reply *reply, const char *text, size_t size) {
  unsigned char packed[4096];
  if (reply->deflate) {
    reply->deflate->next_in = (unsigned char *)text;
    reply->deflate->avail_in = (unsigned)size;
    reply->deflate->next_out = packed;
    reply->deflate->avail_out = sizeof packed;
    deflate(reply->deflate, Z_SYNC_FLUSH);
    text = (const char *)packed;
    size = sizeof packed - reply->deflate->avail_out;
  }
  const bool is_chunked = !(reply->request->script.wrong_length > 0);
  if (is_chunked)
    bytes_print(out, "%zx\r\n", size);
  bytes_add(out, text, size);
  if (is_chunked)
    bytes_add(out, "\r\n", 2);
}

void reply_head(struct bytes *out, struct reply *reply) {
  const struct script *script = &reply->request->script;
  bytes_print(out, "HTTP/1.1 200 OK\r\nServer: stand-in\r\n"
                   "Content-Type: text/event-stream; charset=utf-8\r\n");
  if (script->wrong_length > 0)
    bytes_print(out, "Content-Length: 1000000\r\n\r\n");
  else
    bytes_print(out, "%sTransfer-Encoding: chunked\r\n\r\n",
                script->gzip > 0 ? "Content-Encoding: gzip\r\n" : "");
  if (script->gzip > 0) {
    reply->deflate = calloc(1, sizeof *reply->deflate);
    deflateInit2(reply->deflate, Z_DEFAULT_COMPRESSION, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  }
}

static void print_usage(struct bytes *text, const struct reply *reply) {
  const struct script *script = &reply->request->script;
  const long prompt = script->prompt > 0 ? (long)script->prompt : reply->request->prompt_tokens;
  if (strcmp(script->usage, "wrong") == 0) {
    bytes_print(text, ",\"usage\":{\"prompt_tokens\":\"many\",\"completion_tokens\":-1}");
    return;
  }
  bytes_print(text,
              ",\"usage\":{\"prompt_tokens\":%ld,\"completion_tokens\":%ld,\"total_tokens\":%ld",
              prompt, reply->sent, prompt + reply->sent);
  if (script->cached >= 0)
    bytes_print(text, ",\"prompt_tokens_details\":{\"cached_tokens\":%.0f}", script->cached);
  bytes_print(text, "}");
}

static void begin_event(struct bytes *text, const struct reply *reply) {
  bytes_print(text,
              "data: {\"id\":\"cmpl-7\",\"object\":\"%s\",\"created\":1700000000,\"model\":\"%s\",",
              reply->request->is_chat ? "chat.completion.chunk" : "text_completion",
              reply->request->script.model);
}

// A token is a word that contains a two-byte character.
static void print_tokens(struct bytes *text, const struct reply *reply, long tokens, bool is_last) {
  const bool is_chat = reply->request->is_chat;
  begin_event(text, reply);
  bytes_print(text, "\"choices\":[{\"index\":0,%s",
              is_chat ? "\"delta\":{\"content\":\"" : "\"text\":\"");
  for (long i = 0; i < tokens && !(reply->request->script.no_text > 0); i++)
    bytes_print(text, " \xc3\xa9t");
  bytes_print(text, "\"%s,\"logprobs\":null,\"finish_reason\":%s}]", is_chat ? "}" : "",
              is_last ? "\"length\"" : "null");
}

static void print_last(struct bytes *text, const struct reply *reply) {
  const char *usage = reply->request->script.usage;
  if (strcmp(usage, "own") == 0 && reply->request->wants_usage) {
    begin_event(text, reply);
    bytes_print(text, "\"choices\":[]");
    print_usage(text, reply);
    bytes_print(text, "}\n\n");
  }
  if (!(reply->request->script.undone > 0))
    bytes_print(text, "data: [DONE]\n\n");
}

void reply_role(struct bytes *out, struct reply *reply) {
  struct bytes text = {0};
  begin_event(&text, reply);
  bytes_print(&text,
              "\"choices\":[{\"index\":0,\"delta\":{\"role\":\"assistant\",\"content\":\"\"},"
              "\"finish_reason\":null}]}\n\n");
  add_chunk(out, reply, text.text, text.size);
  free(text.text);
}

void reply_chunk(struct bytes *out, struct reply *reply) {
  const struct script *script = &reply->request->script;
  const long left = reply->total - reply->sent, most = (long)script->per_chunk;
  const long tokens = script->endless > 0 || left > most ? most : left;
  const bool is_end = tokens == left && !(script->endless > 0);
  const bool is_last = is_end && (script->finish <= 0 || tokens == 0);
  struct bytes text = {0};
  reply->sent += tokens;
  print_tokens(&text, reply, tokens, is_last);
  if (strcmp(script->usage, "each") == 0 ||
      (is_last && reply->request->wants_usage &&
       (strcmp(script->usage, "last") == 0 || strcmp(script->usage, "wrong") == 0)))
    print_usage(&text, reply);
  bytes_print(&text, "}\n\n");
  if (is_last)
    print_last(&text, reply);
  add_chunk(out, reply, text.text, text.size);
  if (is_last && !(script->open_end > 0))
    bytes_print(out, "0\r\n\r\n");
  free(text.text);
}

void reply_complaint(struct bytes *out, struct reply *reply) {
  static const char text[] =
      "data: {\"error\":{\"message\":\"the engine is out of memory\",\"code\":500}}\n\n"
      "data: [DONE]\n\n";
  add_chunk(out, reply, text, sizeof text - 1);
  bytes_print(out, "0\r\n\r\n");
}
