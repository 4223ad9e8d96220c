#include "base/digits.h"

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
