#include "reports/page/markup.h"

#include <string.h>

const char *markup_text(const char *text, struct arena *arena) {
  char *escaped = arena_alloc(arena, 5 * strlen(text) + 1), *at = escaped;
  for (; *text; text++) {
    const char *entity = *text == '<'   ? "&lt;"
                         : *text == '>' ? "&gt;"
                         : *text == '&' ? "&amp;"
                                        : NULL;
    if (entity)
      at = stpcpy(at, entity);
    else
      *at++ = *text;
  }
  *at = 0;
  return escaped;
}
