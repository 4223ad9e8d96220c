// text_option: options of a command line whose text is kept as it is, as a table.
#ifndef PERTOKEN_BASE_TEXT_OPTION_H
#define PERTOKEN_BASE_TEXT_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct text_option {
  int key;
  size_t offset; // of a `const char *` in the struct of options
};

// Puts the text into the key's member. False for a key that the table has not.
bool text_option_keep(const struct text_option *table, size_t count, int key, const char *text,
                      void *options);

#endif
