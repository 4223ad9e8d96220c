#include "reports/print/json_out.h"

#include "base/digits.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NUMBER "+-.0123456789eE"

json_t *json_out_number(double value) {
  return isfinite(value) ? json_real(value + 0.0) : json_null();
}

json_t *json_out_text(const char *text) {
  json_t *value = json_string(text);
  if (value)
    return value;
  char ascii[strlen(text) + 1];
  for (size_t i = 0; i < sizeof ascii; i++)
    ascii[i] = (unsigned char)text[i] > 127 ? '?' : text[i];
  return json_string(ascii);
}

json_t *json_out_texts(const char *const *texts, size_t count) {
  json_t *list = json_array();
  for (size_t i = 0; i < count; i++)
    json_array_append_new(list, json_out_text(texts[i]));
  return list;
}

static size_t string_length(const char *text) {
  size_t at = 1;
  while (text[at] != '"')
    at += text[at] == '\\' ? 2 : 1;
  return at + 1;
}

// A shorter form of the number that begins here, if it is a real number and has one; a real number
// keeps its point.
static const char *shortest(const char *from, size_t length, char text[DIGITS_ROOM]) {
  if (!memchr(from, '.', length) && !memchr(from, 'e', length))
    return NULL;
  digits_shortest(strtod(from, NULL), text);
  if (!strpbrk(text, ".e"))
    memcpy(text + strlen(text), ".0", sizeof ".0");
  return strlen(text) < length ? text : NULL;
}

char *json_out_text_of(json_t *value, size_t flags) {
  char *all = json_dumps(value, flags | JSON_REAL_PRECISION(17)), *to = all;
  size_t length;
  for (const char *from = all; from && *from; from += length) {
    char digits[DIGITS_ROOM];
    const size_t number = *from == '-' || isdigit((unsigned char)*from) ? strspn(from, NUMBER) : 0;
    const char *shorter = number ? shortest(from, number, digits) : NULL;
    length = number ? number : *from == '"' ? string_length(from) : 1;
    const size_t kept = shorter ? strlen(shorter) : length;
    memmove(to, shorter ? shorter : from, kept);
    to += kept;
  }
  if (to)
    *to = 0;
  return all;
}
