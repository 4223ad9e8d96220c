// option_row: a command-line option as a row of a table: what argp is told of it, which commands
// take it, and where its value is stored if it is kept as it is.
#ifndef PERTOKEN_BASE_OPTION_ROW_H
#define PERTOKEN_BASE_OPTION_ROW_H

#include "base/arena.h"

#include <argp.h>
#include <stdbool.h>
#include <stddef.h>

enum { OPTION_ACTS = 256 }; // the first key for an option that does more than keep its value

struct option_row {
  const char *name;
  const char *argument; // NULL: takes none; in brackets, "[SECONDS]": may be left out
  const char *doc;      // NULL: the caller's to fill in
  unsigned commands;    // as bits; 0: every command, and last in the help
  int key;              // its letter, or from OPTION_ACTS on; 0: neither
  enum { OPTION_IS_READ, OPTION_IS_TEXT, OPTION_IS_FLAG } value;
  size_t member; // of a `const char *` or a `bool` in the struct of options
};

// The end of a row: an option that the caller reads, one whose text is stored, not copied, or one
// that sets a bool.
#define OPTION_READ(key)                  key, OPTION_IS_READ, 0
#define OPTION_TEXT(letter, type, member) letter, OPTION_IS_TEXT, offsetof(type, member)
#define OPTION_FLAG(letter, type, member) letter, OPTION_IS_FLAG, offsetof(type, member)

// The table's rows [count] that one of the commands takes, as argp wants them.
struct argp_option *option_rows_of(const struct option_row *table, size_t count, unsigned commands,
                                   struct arena *arena);

// Stores the value of the option with this key of argp's in the struct `options`. False if the key
// belongs to none whose value is kept.
bool option_row_keep(const struct option_row *table, size_t count, int key, const char *text,
                     void *options);

#endif
