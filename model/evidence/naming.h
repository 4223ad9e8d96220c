// naming: the word that people mean by what they type: "MI355X", "Llama 3 70B", "FP4".
//
// Letters' case does not count, and a blank or an underscore is a hyphen. What the table of aliases
// has is taken for what it stands for there; everything else is asked back, with the candidates.
#ifndef PERTOKEN_MODEL_EVIDENCE_NAMING_H
#define PERTOKEN_MODEL_EVIDENCE_NAMING_H

#include "base/arena.h"
#include "model/evidence/catalog.h"

#include <stddef.h>

struct vocabulary {
  const char *what;   // "accelerator", in messages
  const char *column; // of the table of aliases; NULL: it has none of these words
  const char *const *words;
  size_t count;
  const char *see; // where all words are listed; NULL: the message lists them
};

struct naming {
  const char *word; // one of the vocabulary's, or NULL
  const char *note; // what a reader must know of the choice, or NULL: "'H100' is read as ..."
  const char *why;  // where word is NULL: "unknown accelerator 'H10'; did you mean ...?"; NULL
                    // where the table itself could not be read, which has been reported
};

struct naming naming_find(struct catalog *catalog, const struct vocabulary *vocabulary,
                          const char *typed, struct arena *arena);

// The same among the ids of accelerators or models; *row is -1 where word is NULL.
struct naming naming_find_row(struct catalog *catalog, enum catalog_table which, const char *typed,
                              long *row, struct arena *arena);

// The same among the precisions that weights come in.
enum { NAMING_PRECISIONS = 10 };
extern const char *const naming_precisions[NAMING_PRECISIONS];
struct naming naming_find_precision(struct catalog *catalog, const char *typed,
                                    struct arena *arena);

#endif
