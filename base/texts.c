#include "base/texts.h"

#include <stdarg.h>

void texts_add(struct texts *texts, struct arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  texts->list = arena_grow(arena, texts->list, texts->count, texts->count + 1, sizeof *texts->list);
  texts->list[texts->count++] = arena_vprintf(arena, format, arguments);
  va_end(arguments);
}
