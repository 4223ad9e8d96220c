#include "reports/spreadsheet/names.h"

#include <string.h>
#include <strings.h>

// The text's position, or where it would be inserted.
static size_t position_of(const struct names *names, const char *text) {
  size_t low = 0, high = names->count;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (strcasecmp(names->sorted[middle]->text, text) < 0)
      low = middle + 1;
    else
      high = middle;
  }
  return low;
}

static bool stands_at(const struct names *names, size_t at, const char *text) {
  return at < names->count && !strcasecmp(names->sorted[at]->text, text);
}

struct name *names_find(const struct names *names, const char *text) {
  size_t at = position_of(names, text);
  return stands_at(names, at, text) ? names->sorted[at] : NULL;
}

struct name *names_add(struct names *names, const char *text, const char *meaning) {
  size_t at = position_of(names, text);
  if (stands_at(names, at, text))
    return names->sorted[at];
  if (names->count == names->capacity) {
    size_t capacity = names->capacity ? 2 * names->capacity : 256;
    names->sorted =
        arena_grow(names->arena, names->sorted, names->count, capacity, sizeof(struct name *));
    names->capacity = capacity;
  }
  memmove(names->sorted + at + 1, names->sorted + at, (names->count - at) * sizeof(struct name *));
  struct name *name = arena_alloc(names->arena, sizeof *name);
  *name = (struct name){.text = text, .meaning = meaning};
  names->sorted[at] = name;
  names->count++;
  return name;
}

struct name *names_add_numbered(struct names *names, const char *stem, const char *meaning) {
  for (int number = 1;; number++) {
    const char *text = arena_printf(names->arena, "%s_%d", stem, number);
    if (!names_find(names, text))
      return names_add(names, text, meaning);
  }
}

const char *name_use(struct name *name) {
  name->used = true;
  return name->text;
}

void name_place(struct name *name, const char *sheet, int row, int column) {
  name->sheet = sheet;
  name->row = row;
  name->column = column;
}
