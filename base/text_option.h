// text_option: a table of the command-line options whose text is stored unchanged.
#ifndef PERTOKEN_BASE_TEXT_OPTION_H
#define PERTOKEN_BASE_TEXT_OPTION_H

#include <stdbool.h>
#include <stddef.h>

struct text_option {
  int key;
  size_t offset; // of a `const char *` in the struct of options
};

// Sets the member of the struct `options` that belongs to the key; the text is not copied. False
// for a key that is not in the table [count].
bool text_option_keep(const struct text_option *table, size_t count, int key, const char *text,
                      void *options);

#endif
