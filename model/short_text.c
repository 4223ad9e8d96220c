#include "model/short_text.h"

#include <string.h>
#include <unistr.h>

size_t text_characters(const char *text) {
  return u8_mbsnlen((const uint8_t *)text, strlen(text));
}

int short_text_check(const char *what, const char *text, struct place place,
                     struct diagnostics *diagnostics) {
  const size_t found = text_characters(text);
  if (found <= SHORT_TEXT_MOST)
    return 0;
  diagnostics_error(diagnostics, place, "%s may have %d characters, this one has %zu", what,
                    SHORT_TEXT_MOST, found);
  return -1;
}
