#include "base/digits.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

const char *digits_shortest(double value, char text[DIGITS_ROOM]) {
  for (int digits = 15; digits <= 17; digits++) {
    snprintf(text, DIGITS_ROOM, "%.*g", digits, value + 0.0);
    if (digits < 17 && strtod(text, NULL) == value)
      break;
  }
  return text;
}

const char *whole_number(const char *text, uint64_t low, uint64_t high, uint64_t *out) {
  char *end;
  errno = 0;
  const unsigned long long value = strtoull(text, &end, 10);
  if (*text < '0' || *text > '9' || errno || value < low || value > high)
    return NULL;
  *out = value;
  return end;
}

bool is_whole_number(const char *text, uint64_t low, uint64_t high, uint64_t *out) {
  uint64_t value;
  const char *end = whole_number(text, low, high, &value);
  if (!end || *end)
    return false;
  *out = value;
  return true;
}
