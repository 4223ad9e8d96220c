#include "model/cost/number_hint.h"

#include "base/arena.h"

#include <ctype.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS "0123456789"

enum { DIGITS_SHOWN = 15 };

// The length of a number whose thousands and decimals are separated so; 0: it is none. `out` [its
// length] gets it without the first, and with a point for the other. '\0': not separated.
static size_t scan(const char *text, char thousands, char decimals, char *out) {
  const size_t lead = strspn(text, DIGITS);
  const char *at = text + lead;
  memcpy(out, text, lead);
  out += lead;
  if (!lead || (thousands && *at == thousands && (lead > 3 || *text == '0')))
    return 0;
  while (thousands && *at == thousands && strspn(at + 1, DIGITS) == 3) {
    memcpy(out, at + 1, 3);
    out += 3;
    at += 4;
  }
  const size_t places = decimals && *at == decimals ? strspn(at + 1, DIGITS) : 0;
  if (places) {
    *out++ = '.';
    memcpy(out, at + 1, places);
    out += places;
    at += 1 + places;
  }
  *out = '\0';
  return (size_t)(at - text);
}

// Whether the number has ended: `rest` does not go on with digits or separators.
static bool is_whole(const char *rest) {
  const char *next = rest + strspn(rest, " ");
  return !*next || !strchr(DIGITS ",.'_", *next);
}

const char *number_end(const char *text) {
  return text + strspn(text, DIGITS " ,.'");
}

// "2.5" for "2.500", which might be read as thousands again.
static void drop_zeros(char *number) {
  size_t length = strlen(number);
  if (!strchr(number, '.'))
    return;
  while (number[length - 1] == '0')
    number[--length] = '\0';
  if (number[length - 1] == '.')
    number[length - 1] = '\0';
}

static const char *in_unit(const char *number, const struct number_unit *unit,
                           struct arena *arena) {
  return unit->factor == 1 ? arena_printf(arena, "%s%s", number, unit->text)
                           : arena_printf(arena, "%.*g%s", DIGITS_SHOWN,
                                          strtod(number, NULL) * unit->factor, unit->text);
}

static const char *as_number(const char *text, const struct number_unit *unit,
                             struct arena *arena) {
  static const char ways[][2] = {{',', '\0'}, {',', '.'}, {'.', '\0'}, {'.', ','}, {' ', '\0'},
                                 {' ', ','},  {' ', '.'}, {'\'', '.'}, {'\'', ','}};
  char *number = arena_alloc(arena, strlen(text) + 1);
  const char *first = "", *second = "";
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
    const size_t length = scan(text, ways[i][0], ways[i][1], number);
    if (!length || !is_whole(text + length) || !strncmp(number, text, length))
      continue;
    drop_zeros(number);
    const char *meant = in_unit(number, unit, arena);
    if (!*first)
      first = meant;
    else if (strcmp(meant, first) != 0 && !*second)
      second = meant;
  }
  if (unit->is_share && *first && !*second && strtod(first, NULL) <= 1)
    second = arena_printf(arena, "%.*g%s", DIGITS_SHOWN, 100 * strtod(first, NULL), unit->text);
  return !*first    ? ""
         : !*second ? arena_printf(arena, "write '%s'", first)
                    : arena_printf(arena, "write '%s' or '%s'", first, second);
}

const char *number_hint(const char *text, const struct number_unit *unit, struct arena *arena) {
  text += strspn(text, " ");
  if (!isdigit((unsigned char)*text))
    return "";
  const char *meant = as_number(text, unit, arena);
  return *meant || strchr(text, ',')
             ? arena_printf(arena, " (no thousands separators, a point for decimals%s%s)",
                            *meant ? ": " : "", meant)
             : "";
}
