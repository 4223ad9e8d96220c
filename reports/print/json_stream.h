// json_stream: JSON written value by value, indented by two, so that no document is held in memory.
#ifndef PERTOKEN_REPORTS_PRINT_JSON_STREAM_H
#define PERTOKEN_REPORTS_PRINT_JSON_STREAM_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

// Zeroed except for the file.
struct json_stream {
  FILE *out;
  int depth;
  bool has_any;   // in the innermost object or list, a value before the next one
  bool after_key; // the next value is a key's
};

// An object or a list: { or [, and its counterpart.
void json_stream_open(struct json_stream *stream, char bracket);
void json_stream_close(struct json_stream *stream, char bracket);

// The key of the next value, in an object.
void json_stream_key(struct json_stream *stream, const char *key);

// These write like json_out_number and json_out_text.
void json_stream_number(struct json_stream *stream, double value);
void json_stream_text(struct json_stream *stream, const char *text);

void json_stream_integer(struct json_stream *stream, uint64_t value);
void json_stream_flag(struct json_stream *stream, bool value);

#endif
