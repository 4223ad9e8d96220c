#include "kernels/arithmetic.h"

#include "kernels/element.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

// INT8_GROUP counts as INT8: its scale is applied to the sum.
static bool is_as_it_lies(enum element from, const char *as) {
  const enum element code = from == ELEMENT_INT8_GROUP ? ELEMENT_INT8 : from;
  return !strcmp(element_format(code)->name, as);
}

// Does nothing if the list already has the words.
static void list(char *words, size_t size, const char *one) {
  const size_t length = strlen(words), count = strlen(one);
  for (const char *at = words; (at = strstr(at, one)); at++)
    if ((at == words || at[-1] == ' ') && (at[count] == ',' || !at[count]))
      return;
  snprintf(words + length, size - length, "%s%s", length ? ", " : "", one);
}

void arithmetic_add(struct arithmetic *arithmetic, enum element from, const char *as) {
  const char *name = element_format(from)->name;
  char pair[32];
  snprintf(pair, sizeof pair, "%s to %s", name, as);
  if (is_as_it_lies(from, as))
    list(arithmetic->native, sizeof arithmetic->native, name);
  else
    list(arithmetic->converted, sizeof arithmetic->converted, pair);
}

void arithmetic_tell(const struct arithmetic *arithmetic, struct decode_step_form *out) {
  const char *native = arithmetic->native, *converted = arithmetic->converted;
  snprintf(out->arithmetic, sizeof out->arithmetic, "%s%s%s%s%s", *native ? "native " : "", native,
           *native && *converted ? "; " : "", *converted ? "converted " : "", converted);
}
