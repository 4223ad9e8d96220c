#include "base/short_text.h"

#include "base/source.h"

#include <stdint.h>
#include <string.h>
#include <unistr.h>
#include <unitypes.h>

// The number of characters in valid UTF-8.
static size_t characters(const char *text) {
  return u8_mbsnlen((const uint8_t *)text, strlen(text));
}

size_t text_within(const char *text, size_t most_bytes) {
  size_t bytes = strnlen(text, most_bytes);
  while (bytes && ((unsigned char)text[bytes] & 0xc0) == 0x80)
    bytes--;
  return bytes;
}

// The byte at which the text's character of that number begins.
static size_t beginning(const char *text, size_t character) {
  size_t bytes = 0;
  while (character--)
    bytes += (size_t)u8_mblen((const uint8_t *)text + bytes, strlen(text + bytes));
  return bytes;
}

const char *text_abridged(const char *text, size_t most_characters, struct arena *arena) {
  const size_t count = characters(text), tail = most_characters / 3;
  if (count <= most_characters)
    return text;
  return arena_printf(arena, "%.*s\u2026%s", (int)beginning(text, most_characters - 1 - tail), text,
                      text + beginning(text, count - tail));
}

bool text_is_short(const char *text) {
  return strlen(text) <= MAX_SHORT_TEXT || characters(text) <= MAX_SHORT_TEXT;
}

static bool is_readable(ucs4_t code) {
  return code >= 0x20 && (code < 0x7F || code > 0x9F) && code != 0xFFFE && code != 0xFFFF;
}

const char *text_readable(const char *text, struct arena *arena) {
  enum { LONGEST = 3 }; // bytes of U+FFFD, which may replace one byte of the text
  const size_t size = strlen(text);
  uint8_t *out = arena_alloc(arena, LONGEST * size + 1), *next = out;
  for (size_t used = 0; used < size;) {
    ucs4_t code;
    used += (size_t)u8_mbtouc(&code, (const uint8_t *)text + used, size - used);
    next += u8_uctomb(next, is_readable(code) ? code : 0xFFFD, out + LONGEST * size - next);
  }
  *next = 0;
  return (const char *)out;
}

int short_text_check(const char *what, const char *text, struct place place,
                     struct diagnostics *diagnostics) {
  if (text_is_short(text))
    return 0;
  diagnostics_error(diagnostics, place, "%s may have at most %d characters, this one has %zu", what,
                    MAX_SHORT_TEXT, characters(text));
  return -1;
}
