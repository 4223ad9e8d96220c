#include "probe/serving/stream.h"

#include "base/source.h"

#include <jansson.h>
#include <math.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const struct usage usage_unknown = {
    .prompt_tokens = -1, .completion_tokens = -1, .cached_tokens = -1};

void stream_start(struct stream *stream) {
  *stream = (struct stream){.first_s = NAN,
                            .last_s = NAN,
                            .text_s = NAN,
                            .usage = usage_unknown,
                            .line = stream->line,
                            .line_room = stream->line_room,
                            .data = stream->data,
                            .data_room = stream->data_room,
                            .known = stream->known,
                            .known_room = stream->known_room};
}

void stream_free(struct stream *stream) {
  free(stream->line);
  free(stream->data);
  free(stream->known);
  *stream = (struct stream){0};
}

// ---- errors

// A text that is cut may end within a character.
static void cut_to_utf8(char *text) {
  const uint8_t *invalid = source_invalid_utf8(text, strlen(text));
  if (invalid)
    text[invalid - (const uint8_t *)text] = '\0';
}

__attribute__((format(printf, 2, 3))) static void fail(struct stream *stream, const char *format,
                                                       ...) {
  if (stream->is_wrong)
    return;
  stream->is_wrong = true;
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(stream->complaint, sizeof stream->complaint, format, arguments);
  va_end(arguments);
  cut_to_utf8(stream->complaint);
}

// ---- an event's JSON

// A count of tokens, or `missing` if it is null or absent. No server's context is 10^12 tokens
// long.
static long count_in(struct stream *stream, const json_t *object, const char *key, long missing) {
  const json_t *value = json_object_get(object, key);
  if (!value || json_is_null(value))
    return missing;
  const json_int_t count = json_integer_value(value);
  if (!json_is_integer(value) || count < 0 || count > 1000000000000) {
    fail(stream, "'%s' in usage is not a number of tokens", key);
    return missing;
  }
  return (long)count;
}

// llama-server reports cached tokens among its timings.
static void take_usage(struct stream *stream, const json_t *event) {
  struct usage *usage = &stream->usage;
  const json_t *told = json_object_get(event, "usage");
  usage->prompt_tokens = count_in(stream, told, "prompt_tokens", usage->prompt_tokens);
  usage->completion_tokens = count_in(stream, told, "completion_tokens", usage->completion_tokens);
  usage->cached_tokens =
      count_in(stream, json_object_get(event, "timings"), "cache_n", usage->cached_tokens);
  usage->cached_tokens = count_in(stream, json_object_get(told, "prompt_tokens_details"),
                                  "cached_tokens", usage->cached_tokens);
  long thoughts = count_in(stream, told, "reasoning_tokens", 0);
  thoughts = count_in(stream, json_object_get(told, "completion_tokens_details"),
                      "reasoning_tokens", thoughts);
  if (json_is_object(told))
    usage->hides_tokens = thoughts > 0 && !stream->has_thoughts;
}

// {"error": {"message": "..."}}, {"error": "..."}
static bool take_error(struct stream *stream, const json_t *event) {
  const json_t *error = json_object_get(event, "error");
  if (!error || json_is_null(error))
    return false;
  const json_t *message = json_is_object(error) ? json_object_get(error, "message") : error;
  if (json_is_string(message))
    fail(stream, "the server's error: %s", json_string_value(message));
  else
    fail(stream, "the server's error, without a message");
  return true;
}

// A reasoning model's thoughts are tokens, too.
static bool has_thoughts(const json_t *choice) {
  const json_t *delta = json_object_get(choice, "delta");
  return json_string_length(json_object_get(delta, "reasoning_content")) > 0 ||
         json_string_length(json_object_get(delta, "reasoning")) > 0;
}

static bool has_text(const json_t *choice) {
  const json_t *delta = json_object_get(choice, "delta");
  return json_string_length(json_object_get(choice, "text")) > 0 ||
         json_string_length(json_object_get(delta, "content")) > 0 || has_thoughts(choice);
}

static void take_text(struct stream *stream, double received_s) {
  stream->receipts += stream->chunks == 0 || received_s > stream->text_s;
  stream->chunks++;
  if (isnan(stream->first_s))
    stream->first_s = received_s;
  stream->last_s = stream->text_s = received_s;
}

// A token may have no text, such as the end's that is ignored; a finish alone is no token.
static void take_choice(struct stream *stream, const json_t *choice, double received_s) {
  const bool is_finish = json_is_string(json_object_get(choice, "finish_reason"));
  stream->is_finished |= is_finish;
  stream->has_thoughts |= has_thoughts(choice);
  if (has_text(choice))
    take_text(stream, received_s);
  else if (!is_finish && stream->chunks > 0)
    stream->last_s = received_s;
}

// ---- chunks that differ only in their text

// False if that would be more than an event may have.
static bool append(char **text, size_t *size, size_t *room, const char *bytes, size_t count) {
  if (*size + count > MAX_EVENT)
    return false;
  while (*size + count > *room)
    *text = realloc(*text, *room = *room ? 2 * *room : 1024);
  if (count > 0)
    memcpy(*text + *size, bytes, count);
  *size += count;
  return true;
}

enum { LESSON_CHUNKS = 16 };

// Text unchanged between two quotes, without an escape.
static bool is_plain_text(const char *text, size_t size) {
  for (size_t i = 0; i < size; i++)
    if ((unsigned char)text[i] < ' ' || text[i] == '"' || text[i] == '\\')
      return false;
  return !source_invalid_utf8(text, size);
}

static bool is_known_chunk(const struct stream *stream) {
  const size_t head = stream->text_at, tail = stream->known_size - stream->text_end;
  const size_t size = stream->data_size;
  return stream->text_end > 0 && size > head + tail &&
         memcmp(stream->data, stream->known, head) == 0 &&
         memcmp(stream->data + size - tail, stream->known + stream->text_end, tail) == 0 &&
         is_plain_text(stream->data + head, size - head - tail);
}

// Whether the known event, with another text in its place, is nothing but that text: without any
// text it must be one choice that says nothing.
static bool is_text_alone(const struct stream *stream) {
  struct stream empty = {0};
  const size_t tail = stream->known_size - stream->text_end;
  append(&empty.line, &empty.line_size, &empty.line_room, stream->known, stream->text_at);
  append(&empty.line, &empty.line_size, &empty.line_room, stream->known + stream->text_end, tail);
  json_t *event = json_loadb(empty.line, empty.line_size, JSON_ALLOW_NUL, NULL);
  const json_t *choices = json_object_get(event, "choices"), *choice = json_array_get(choices, 0);
  const bool is_it = json_array_size(choices) == 1 && !has_text(choice) &&
                     !json_is_string(json_object_get(choice, "finish_reason")) &&
                     !json_is_object(json_object_get(event, "usage")) &&
                     !json_is_object(json_object_get(event, "timings"));
  json_decref(event);
  free(empty.line);
  return is_it;
}

// Learns where the text of the chunk just parsed is. The mark searched for is found only in a chunk
// that has the key; is_text_alone says whether it was the text's.
static void learn_chunk(struct stream *stream) {
  static const char *const keys[] = {"\"text\":", "\"content\":", "\"reasoning_content\":"};
  stream->next_lesson = stream->chunks + LESSON_CHUNKS;
  stream->known_size = stream->text_end = 0;
  append(&stream->known, &stream->known_size, &stream->known_room, stream->data, stream->data_size);
  const char *data = stream->known, *end = data + stream->known_size;
  for (size_t i = 0; i < sizeof keys / sizeof keys[0] && stream->text_end == 0; i++) {
    const char *text = memmem(data, stream->known_size, keys[i], strlen(keys[i]));
    for (text = text ? text + strlen(keys[i]) : end; text < end && *text == ' ';)
      text++;
    const char *quote =
        text < end && *text == '"' ? memchr(text + 1, '"', (size_t)(end - text - 1)) : NULL;
    if (!quote || !is_plain_text(text + 1, (size_t)(quote - text - 1)))
      continue;
    stream->text_at = (size_t)(text + 1 - data);
    stream->text_end = (size_t)(quote - data);
    if (quote == text + 1 || !is_text_alone(stream))
      stream->text_end = 0;
  }
}

// ---- an event

static void take_object(struct stream *stream, const json_t *event, double received_s) {
  const json_t *choices = json_object_get(event, "choices");
  const size_t chunks = stream->chunks;
  for (size_t i = 0; i < json_array_size(choices); i++)
    take_choice(stream, json_array_get(choices, i), received_s);
  take_usage(stream, event);
  if (stream->chunks == chunks + 1 && stream->chunks >= stream->next_lesson)
    learn_chunk(stream);
}

static void take_event(struct stream *stream, double received_s) {
  const char *data = stream->data;
  const size_t size = stream->data_size;
  if (is_known_chunk(stream)) {
    take_text(stream, received_s);
    return;
  }
  if (size == strlen("[DONE]") && memcmp(data, "[DONE]", size) == 0) {
    stream->is_done = true;
    return;
  }
  json_error_t error;
  json_t *event = json_loadb(data, size, JSON_ALLOW_NUL, &error);
  if (!json_is_object(event))
    fail(stream, "an event is not a JSON object: %s", event ? "another value" : error.text);
  else if (!take_error(stream, event))
    take_object(stream, event, received_s);
  json_decref(event);
}

// ---- lines

static void dispatch(struct stream *stream, double received_s) {
  if (stream->has_data && !stream->is_done)
    take_event(stream, received_s);
  stream->has_data = false;
  stream->data_size = 0;
}

// "data: VALUE", "data:VALUE"; other fields and comments do not concern tokens.
static void take_line(struct stream *stream, double received_s) {
  const char *line = stream->line;
  size_t size = stream->line_size;
  stream->line_size = 0;
  if (size == 0) {
    dispatch(stream, received_s);
    return;
  }
  const size_t name = strlen("data");
  if (size < name || memcmp(line, "data", name) != 0 || (size > name && line[name] != ':'))
    return;
  size_t start = size > name ? name + 1 : name;
  start += start < size && line[start] == ' ';
  if ((stream->has_data &&
       !append(&stream->data, &stream->data_size, &stream->data_room, "\n", 1)) ||
      !append(&stream->data, &stream->data_size, &stream->data_room, line + start, size - start))
    fail(stream, "an event is over %d bytes long", MAX_EVENT);
  stream->has_data = true;
}

// A byte order mark may come first.
static void skip_mark(struct stream *stream) {
  const bool is_mark =
      stream->line_size >= 3 && memcmp(stream->line, "\xEF\xBB\xBF", 3) == 0 && !stream->is_started;
  stream->is_started = true;
  if (is_mark)
    memmove(stream->line, stream->line + 3, stream->line_size -= 3);
}

static const char *line_end(const char *bytes, const char *end) {
  const char *feed = memchr(bytes, '\n', (size_t)(end - bytes));
  const char *back = memchr(bytes, '\r', (size_t)((feed ? feed : end) - bytes));
  return back ? back : feed;
}

// A line ends with LF, CRLF or CR, and CRLF may be split between two pieces.
void stream_feed(struct stream *stream, const char *bytes, size_t size, double received_s) {
  const char *end = bytes + size;
  while (bytes < end && !stream->is_wrong) {
    if (stream->after_cr && *bytes == '\n')
      bytes++;
    stream->after_cr = false;
    const char *stop = line_end(bytes, end);
    if (!append(&stream->line, &stream->line_size, &stream->line_room, bytes,
                (size_t)((stop ? stop : end) - bytes)))
      fail(stream, "a line is over %d bytes long", MAX_EVENT);
    if (!stop)
      return;
    stream->after_cr = *stop == '\r';
    bytes = stop + 1;
    skip_mark(stream);
    take_line(stream, received_s);
  }
}

void stream_end(struct stream *stream, double received_s) {
  if (stream->is_wrong)
    return;
  take_line(stream, received_s);
  dispatch(stream, received_s);
}
