#include "base/source.h"

#include <assert.h>
#include <gcrypt.h>
#include <stdio.h>
#include <string.h>
#include <unistr.h>

// The length of the plain ASCII at the start, checked eight bytes at a time: most files are all
// ASCII.
static size_t ascii_prefix(const char *text, size_t size) {
  size_t at = 0;
  for (uint64_t word; at + sizeof word <= size; at += sizeof word) {
    memcpy(&word, text + at, sizeof word);
    if (word & UINT64_C(0x8080808080808080))
      break;
  }
  return at;
}

const uint8_t *source_invalid_utf8(const char *text, size_t size) {
  const size_t ascii = ascii_prefix(text, size);
  return u8_check((const uint8_t *)text + ascii, size - ascii);
}

const struct source *source_from_text(const char *name, const char *text, struct arena *arena) {
  const size_t size = strlen(text);
  assert(!source_invalid_utf8(text, size));
  struct source *source = arena_alloc(arena, sizeof *source);
  *source = (struct source){arena_copy(arena, name), arena_copy_n(arena, text, size), size};
  return source;
}

struct place source_text_start(const char *name, const char *text, struct arena *arena) {
  return (struct place){source_from_text(name, text, arena), 1, 1};
}

bool source_next_line(const struct source *source, const char **next, const char **start,
                      size_t *length) {
  const char *const end = source->text + source->size;
  if (*next == end)
    return false;
  *start = *next;
  const char *newline = memchr(*start, '\n', (size_t)(end - *start));
  const char *stop = newline ? newline : end;
  *next = newline ? newline + 1 : end;
  if (newline && stop > *start && stop[-1] == '\r')
    stop--;
  *length = (size_t)(stop - *start);
  return true;
}

bool source_line(const struct source *source, int line, const char **start, size_t *length) {
  const char *p = source->text, *end = source->text + source->size;
  for (int i = 1; i < line && p < end; i++) {
    const char *newline = memchr(p, '\n', (size_t)(end - p));
    p = newline ? newline + 1 : end;
  }
  return line >= 1 && source_next_line(source, &p, start, length);
}

struct place source_place(const struct source *source, size_t offset) {
  struct place place = {source, 1, 1};
  for (size_t i = 0; i < offset; i++) {
    if (source->text[i] == '\n') {
      place.line++;
      place.column = 1;
    } else if (source->text[i] != '\r' || source->text[i + 1] != '\n') {
      place.column++;
    }
  }
  return place;
}

static void start_gcrypt(void) {
  if (gcry_control(GCRYCTL_INITIALIZATION_FINISHED_P))
    return;
  gcry_check_version(NULL);
  gcry_control(GCRYCTL_DISABLE_SECMEM, 0);
  gcry_control(GCRYCTL_INITIALIZATION_FINISHED, 0);
}

char *source_sha256(const struct source *source, struct arena *arena) {
  unsigned char digest[32];
  start_gcrypt();
  gcry_md_hash_buffer(GCRY_MD_SHA256, digest, source->text, source->size);

  char *hex = arena_alloc(arena, 2 * sizeof digest + 1);
  for (size_t i = 0; i < sizeof digest; i++)
    snprintf(hex + 2 * i, 3, "%02x", digest[i]);
  return hex;
}

const char *source_file_name(const char *path) {
  const char *slash = strrchr(path, '/');
  return slash ? slash + 1 : path;
}

const char *source_beside(const char *path, const char *name, struct arena *arena) {
  const char *slash = strrchr(path, '/');
  if (*name == '/' || !slash)
    return name;
  return arena_printf(arena, "%.*s/%s", (int)(slash - path), path, name);
}
