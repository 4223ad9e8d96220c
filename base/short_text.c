#include "base/short_text.h"

#include "base/source.h"

#include <stdint.h>
#include <string.h>
#include <unistr.h>

size_t text_characters(const char *text) {
  return u8_mbsnlen((const uint8_t *)text, strlen(text));
}

bool text_is_short(const char *text) {
  return strlen(text) <= MAX_SHORT_TEXT || text_characters(text) <= MAX_SHORT_TEXT;
}

int short_text_check(const char *what, const char *text, struct place place,
                     struct diagnostics *diagnostics) {
  if (text_is_short(text))
    return 0;
  diagnostics_error(diagnostics, place, "%s may have at most %d characters, this one has %zu", what,
                    MAX_SHORT_TEXT, text_characters(text));
  return -1;
}
