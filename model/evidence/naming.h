// naming: the word that people mean by what they type: "MI355X", "Llama 3 70B", "FP4".
//
// Case is ignored, and a blank or an underscore counts as a hyphen. A name in the table of aliases
// is replaced by what it stands for; any other unknown name is refused, with the candidates. No
// part of a number stands for it: H20 is not H200.
#ifndef PERTOKEN_MODEL_EVIDENCE_NAMING_H
#define PERTOKEN_MODEL_EVIDENCE_NAMING_H

#include "base/arena.h"
#include "model/catalog/columns.h"
#include "model/evidence/catalog.h"

#include <stdbool.h>
#include <stddef.h>

struct vocabulary {
  const char *what;   // "accelerator", in messages
  const char *column; // of the table of aliases; NULL: it has no aliases for these words
  const char *const *words;
  size_t count;
  const char *see; // where all words are listed; NULL: the message lists them
  bool numbered;   // another number is another thing, and no slip: MI308X is not MI300X
};

struct naming {
  const char *word; // one of the vocabulary's, or NULL
  const char *note; // what a reader must know about the choice, or NULL: "'H100' is read as ..."
  const char *why;  // if word is NULL: "unknown accelerator 'MI355'; did you mean ...?"; NULL
                    // if the table itself could not be read, which has been reported
};

struct naming naming_find(struct catalog *catalog, const struct vocabulary *vocabulary,
                          const char *typed, struct arena *arena);

// The same for the ids of accelerators or models; *row is -1 if word is NULL.
struct naming naming_find_row(struct catalog *catalog, enum catalog_table which, const char *typed,
                              long *row, struct arena *arena);

// The same for the precisions of weights.
enum { NAMING_PRECISIONS = 10 };
extern const char *const naming_precisions[NAMING_PRECISIONS];
struct naming naming_find_precision(struct catalog *catalog, const char *typed,
                                    struct arena *arena);

#endif
