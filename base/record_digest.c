#include "base/record_digest.h"

#include <jansson.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

const char *record_digest(const json_t *object, struct arena *arena) {
  json_t *bare = json_copy((json_t *)object);
  json_object_del(bare, "digest");
  char *text = json_dumps(bare, JSON_COMPACT | JSON_SORT_KEYS | JSON_REAL_PRECISION(17));
  const char *digest = text ? source_sha256(source_from_text("record", text, arena), arena) : NULL;
  free(text);
  json_decref(bare);
  return digest;
}

// ---- of the text

struct span {
  const char *start, *end;
};

struct member {
  struct span key, value; // the key with its quotes
};

static const char *behind_blanks(const char *at) {
  return at + strspn(at, " \t\r\n");
}

static const char *behind_string(const char *at) {
  for (at++; *at && *at != '"'; at++)
    at += *at == '\\' && at[1];
  return at + (*at == '"');
}

static const char *behind_value(const char *at) {
  int depth = 0;
  while (*at) {
    if (*at == '"')
      at = behind_string(at);
    else if (*at == '{' || *at == '[')
      depth++, at++;
    else if (*at == '}' || *at == ']')
      depth--, at++;
    else
      at += depth ? strcspn(at, "\"{}[]") : strcspn(at, ",}] \t\r\n");
    if (depth <= 0)
      break;
  }
  return at;
}

static int by_key(const void *a, const void *b) {
  const struct span left = ((const struct member *)a)->key, right = ((const struct member *)b)->key;
  const size_t length = (size_t)(left.end - left.start), other = (size_t)(right.end - right.start);
  return strncmp(left.start, right.start, length < other ? length : other);
}

// Writes the canonical form. The members of the objects that it is in are a stack.
struct writer {
  char *out;
  struct member *members;
  size_t count, room;
  struct arena *arena;
};

static void push(struct writer *writer, struct member member) {
  if (writer->count == writer->room) {
    writer->room = 2 * writer->room + 32;
    writer->members =
        arena_grow(writer->arena, writer->members, writer->count, writer->room, sizeof member);
  }
  writer->members[writer->count++] = member;
}

static void push_members(struct writer *writer, const char *object) {
  const char *at = behind_blanks(object + 1);
  while (*at == '"') {
    struct member member = {.key = {at, behind_string(at)}};
    at = behind_blanks(member.key.end);
    member.value.start = behind_blanks(at + (*at == ':'));
    member.value.end = behind_value(member.value.start);
    push(writer, member);
    at = behind_blanks(member.value.end);
    at = behind_blanks(at + (*at == ','));
  }
}

static void put(struct writer *writer, struct span span) {
  memcpy(writer->out, span.start, (size_t)(span.end - span.start));
  writer->out += span.end - span.start;
}

static void put_value(struct writer *writer, struct span value, int depth);

static void put_object(struct writer *writer, const char *object, int depth) {
  static const char digest[] = "\"digest\"";
  const size_t first = writer->count;
  const char *const start = writer->out + 1;
  push_members(writer, object);
  if (writer->count > first)
    qsort(writer->members + first, writer->count - first, sizeof *writer->members, by_key);
  *writer->out++ = '{';
  for (size_t i = first, end = writer->count; i < end; i++) {
    const struct member member = writer->members[i];
    if (depth == 0 && !strncmp(member.key.start, digest, sizeof digest - 1))
      continue;
    if (writer->out > start)
      *writer->out++ = ',';
    put(writer, member.key);
    *writer->out++ = ':';
    put_value(writer, member.value, depth + 1);
  }
  *writer->out++ = '}';
  writer->count = first;
}

static void put_array(struct writer *writer, struct span array, int depth) {
  *writer->out++ = '[';
  for (const char *at = behind_blanks(array.start + 1); at + 1 < array.end;) {
    const struct span element = {at, behind_value(at)};
    put_value(writer, element, depth + 1);
    at = behind_blanks(element.end);
    if (*at == ',') {
      *writer->out++ = ',';
      at = behind_blanks(at + 1);
    }
  }
  *writer->out++ = ']';
}

// Writes a value in the digest's form, which is never longer than the value is in the text. A value
// is scanned once for each level above it, so what lies deeper than any record goes is copied as it
// is.
static void put_value(struct writer *writer, struct span value, int depth) {
  enum { MAX_DEPTH = 16 };
  if (*value.start == '{' && depth < MAX_DEPTH)
    put_object(writer, value.start, depth);
  else if (*value.start == '[' && depth < MAX_DEPTH)
    put_array(writer, value, depth);
  else
    put(writer, value);
}

const char *record_digest_of_text(const struct source *text, struct arena *arena) {
  char *const canonical = arena_alloc(arena, text->size + 1);
  struct writer writer = {.out = canonical, .arena = arena};
  const char *start = behind_blanks(text->text);
  put_value(&writer, (struct span){start, behind_value(start)}, 0);
  *writer.out = '\0';
  const struct source source = {text->name, canonical, (size_t)(writer.out - canonical)};
  return source_sha256(&source, arena);
}
