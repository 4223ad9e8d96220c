#include "base/text_option.h"

bool text_option_keep(const struct text_option *table, size_t count, int key, const char *text,
                      void *options) {
  for (size_t i = 0; i < count; i++)
    if (table[i].key == key) {
      *(const char **)((char *)options + table[i].offset) = text;
      return true;
    }
  return false;
}
