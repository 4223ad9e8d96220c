#include "reports/print/json_out.h"

#include <math.h>
#include <string.h>

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

void json_out_print(json_t *value, FILE *out) {
  json_dumpf(value, out, JSON_INDENT(2) | JSON_REAL_PRECISION(17));
  putc('\n', out);
  json_decref(value);
}
