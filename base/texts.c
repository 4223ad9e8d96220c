#include "base/texts.h"

#include <stdarg.h>
#include <string.h>
#include <uniwidth.h>

void texts_add(struct texts *texts, struct arena *arena, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  texts->list = arena_room(arena, texts->list, texts->count, sizeof *texts->list);
  texts->list[texts->count++] = arena_vprintf(arena, format, arguments);
  va_end(arguments);
}

bool texts_have(const struct texts *texts, const char *text) {
  for (size_t i = 0; i < texts->count; i++)
    if (!strcmp(texts->list[i], text))
      return true;
  return false;
}

bool text_ends_in(const char *text, const char *ending) {
  const size_t length = strlen(text), behind = strlen(ending);
  return length > behind && !strcmp(text + length - behind, ending);
}

const char *texts_joined(const struct texts *texts, struct arena *arena) {
  return texts_joined_by(texts, ", ", arena);
}

const char *texts_joined_by(const struct texts *texts, const char *between, struct arena *arena) {
  size_t size = 1;
  for (size_t i = 0; i < texts->count; i++)
    size += strlen(texts->list[i]) + strlen(between);
  char *all = arena_alloc(arena, size), *end = all;
  *end = '\0';
  for (size_t i = 0; i < texts->count; i++)
    end = stpcpy(stpcpy(end, i ? between : ""), texts->list[i]);
  return all;
}

const char *text_counted(size_t count, const char *noun, struct arena *arena) {
  return arena_printf(arena, "%zu %s%s", count, noun, count == 1 ? "" : "s");
}

bool text_turns_direction(ucs4_t code) {
  return (code >= 0x202A && code <= 0x202E) || (code >= 0x2066 && code <= 0x2069);
}

bool text_acts_on_terminal(ucs4_t code) {
  return uc_width(code, "UTF-8") < 0 || text_turns_direction(code);
}
