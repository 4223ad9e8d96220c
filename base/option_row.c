#include "base/option_row.h"

#include <string.h>

enum { FIRST_UNNAMED = 2 * OPTION_ACTS }; // options without a key of their own: this plus the row

static int key_of(const struct option_row *table, size_t row) {
  return table[row].key ? table[row].key : FIRST_UNNAMED + (int)row;
}

struct argp_option *option_rows_of(const struct option_row *table, size_t count, unsigned commands,
                                   struct arena *arena) {
  struct argp_option *list = arena_array(arena, count + 1, sizeof *list);
  struct argp_option *next = list;
  for (size_t i = 0; i < count; i++) {
    const struct option_row *row = &table[i];
    if (row->commands && !(row->commands & commands))
      continue;
    const bool optional = row->argument && *row->argument == '[';
    *next++ = (struct argp_option){
        .name = row->name,
        .key = key_of(table, i),
        .arg = optional ? arena_copy_n(arena, row->argument + 1, strlen(row->argument) - 2)
                        : row->argument,
        .flags = optional ? OPTION_ARG_OPTIONAL : 0,
        .doc = row->doc,
        .group = !row->commands,
    };
  }
  return list;
}

bool option_row_keep(const struct option_row *table, size_t count, int key, const char *text,
                     void *options) {
  for (size_t i = 0; i < count; i++) {
    char *member = (char *)options + table[i].member;
    if (table[i].value == OPTION_IS_READ || key_of(table, i) != key)
      continue;
    if (table[i].value == OPTION_IS_TEXT)
      *(const char **)member = text;
    else
      *(bool *)member = true;
    return true;
  }
  return false;
}
