#include "reports/print/json_stream.h"

#include "base/digits.h"
#include "base/source.h"
#include "reports/print/json_out.h"

#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void start_line(const struct json_stream *stream) {
  putc('\n', stream->out);
  for (int i = 0; i < 2 * stream->depth; i++)
    putc(' ', stream->out);
}

// What comes before a value or a key.
static void begin(struct json_stream *stream) {
  if (!stream->after_key && stream->has_any)
    putc(',', stream->out);
  if (!stream->after_key && stream->depth)
    start_line(stream);
  stream->after_key = false;
  stream->has_any = true;
}

void json_stream_open(struct json_stream *stream, char bracket) {
  begin(stream);
  putc(bracket, stream->out);
  stream->depth++;
  stream->has_any = false;
}

void json_stream_close(struct json_stream *stream, char bracket) {
  stream->depth--;
  if (stream->has_any)
    start_line(stream);
  putc(bracket, stream->out);
  stream->has_any = true;
}

static void put_control(FILE *out, char c) {
  static const char named[] = "\bb\ff\nn\rr\tt";
  const char *found = strchr(named, c);
  if (found)
    fprintf(out, "\\%c", found[1]);
  else
    fprintf(out, "\\u%04X", (unsigned)c);
}

static void put_text(FILE *out, const char *text) {
  const bool is_utf8 = !source_invalid_utf8(text, strlen(text));
  putc('"', out);
  for (; *text; text++) {
    const unsigned char c = (unsigned char)*text;
    if (c < ' ')
      put_control(out, *text);
    else if (c == '"' || c == '\\')
      fprintf(out, "\\%c", c);
    else
      putc(c > 127 && !is_utf8 ? '?' : c, out);
  }
  putc('"', out);
}

void json_stream_key(struct json_stream *stream, const char *key) {
  begin(stream);
  put_text(stream->out, key);
  fputs(": ", stream->out);
  stream->after_key = true;
}

void json_stream_text(struct json_stream *stream, const char *text) {
  begin(stream);
  put_text(stream->out, text);
}

void json_stream_number(struct json_stream *stream, double value) {
  char digits[DIGITS_ROOM];
  begin(stream);
  if (isfinite(value) && !strchr(digits_shortest(value, digits), 'e')) {
    fputs(digits, stream->out);
    if (!strchr(digits, '.'))
      fputs(".0", stream->out);
    return;
  }
  json_t *number = json_out_number(value); // an exponent as jansson has it, or null
  char *text = json_out_text_of(number, JSON_ENCODE_ANY);
  fputs(text ? text : "", stream->out);
  free(text);
  json_decref(number);
}

void json_stream_integer(struct json_stream *stream, uint64_t value) {
  begin(stream);
  fprintf(stream->out, "%" PRIu64, value);
}

void json_stream_flag(struct json_stream *stream, bool value) {
  begin(stream);
  fputs(value ? "true" : "false", stream->out);
}
