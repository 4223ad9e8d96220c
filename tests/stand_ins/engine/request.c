#include "tests/stand_ins/engine/request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { CHAT_TEMPLATE_TOKENS = 10, USUAL_MAX_TOKENS = 16 };

// The value of a header, or NULL. `head` ends with an empty line.
static const char *header(const char *head, const char *name) {
  const size_t size = strlen(name);
  for (const char *line = strstr(head, "\r\n"); line; line = strstr(line + 2, "\r\n"))
    if (strncasecmp(line + 2, name, size) == 0 && line[2 + size] == ':')
      return line + 2 + size + 1 + strspn(line + 2 + size + 1, " ");
  return NULL;
}

static void copy_until(char *to, size_t room, const char *from, const char *ends) {
  const size_t size = from ? strcspn(from, ends) : 0;
  snprintf(to, room, "%.*s", (int)(size < room ? size : room - 1), from ? from : "");
}

// What follows "key": in a JSON text that contains it once; NULL if it does not.
static const char *member(const char *json, const char *key) {
  char quoted[64];
  snprintf(quoted, sizeof quoted, "\"%s\"", key);
  const char *found = strstr(json, quoted);
  return found ? found + strlen(quoted) + strspn(found + strlen(quoted), " :\n") : NULL;
}

static bool is_true(const char *json, const char *key) {
  const char *value = member(json, key);
  return value && strncmp(value, "true", 4) == 0;
}

static long count_of(const char *text, size_t size, char of) {
  long count = 0;
  for (size_t i = 0; i < size; i++)
    count += text[i] == of;
  return count;
}

static long prompt_tokens(const struct request *request, const char *prompt) {
  if (!prompt)
    return 0;
  if (request->has_ids)
    return count_of(prompt, strcspn(prompt, "]"), ',') + 1;
  const char *text = prompt + (*prompt == '"');
  return count_of(text, strcspn(text, "\""), ' ') + 1 +
         (request->is_chat ? CHAT_TEMPLATE_TOKENS : 0);
}

static void read_body(struct request *request, const char *json) {
  const char *prompt = member(json, request->is_chat ? "content" : "prompt");
  const char *most = member(json, "max_tokens");
  most = most ? most : member(json, "max_completion_tokens");
  request->is_rejected = *request->script.rejects && member(json, request->script.rejects);
  request->has_ids = prompt && *prompt == '[';
  request->prompt_tokens = prompt_tokens(request, prompt);
  request->max_tokens = most ? strtol(most, NULL, 10) : USUAL_MAX_TOKENS;
  request->is_stream = is_true(json, "stream");
  request->wants_usage = is_true(json, "include_usage");
  const char *model = member(json, "model");
  copy_until(request->model, sizeof request->model, model ? model + 1 : NULL, "\"");
}

static void read_path(struct request *request, const char *target) {
  char whole[1024];
  copy_until(whole, sizeof whole, target, " \r\n?");
  request->is_known = script_read(&request->script, whole);
  const size_t size = strlen(whole);
  static const char *const known[] = {
      "/v1/chat/completions", "/v1/completions",  "/v1/models", "/metrics", "/version", "/props",
      "/server_info",         "/get_server_info", "/lateness"};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const size_t end = strlen(known[i]);
    if (size >= end && strcmp(whole + size - end, known[i]) == 0)
      strcpy(request->path, known[i]);
  }
  request->is_chat = strcmp(request->path, "/v1/chat/completions") == 0;
}

int request_take(struct request *request, struct bytes *received) {
  const char *head = received->text;
  char *end = head ? strstr(head, "\r\n\r\n") : NULL;
  const char *target = head ? strchr(head, ' ') : NULL;
  if (head && strncmp(head, "GET ", 4) != 0 && strncmp(head, "POST ", 5) != 0 &&
      received->size >= 5)
    return -1;
  if (!end || !target)
    return 0;
  const char *length = header(head, "Content-Length");
  const size_t body = length && length < end ? strtoul(length, NULL, 10) : 0;
  const size_t whole = (size_t)(end + 4 - head) + body;
  if (received->size < whole)
    return 0;
  *request = (struct request){.is_post = *head == 'P'};
  read_path(request, target + 1);
  end[2] = '\0';
  const char *key = header(head, "Authorization");
  copy_until(request->authorization, sizeof request->authorization, key, "\r\n");
  char *text = strndup(end + 4, body);
  read_body(request, text);
  free(text);
  bytes_drop(received, whole);
  return 1;
}
