// import: several files of results, and what their user says of them, as records.
//
// Files of one curve agree on accelerator, count, model, precision and lengths, and become one
// record; lengths that each of the files has become a record each. What the files do not say is asked
// for, all of it at once; what they say otherwise than their user, or than each other, is refused.
#ifndef PERTOKEN_MODEL_IMPORTS_IMPORT_H
#define PERTOKEN_MODEL_IMPORTS_IMPORT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/evidence/serving.h"
#include "model/imports/imported.h"

#include <stddef.h>

// What is asked for where files do not say it, in the order of the options' names.
enum import_fact {
  FACT_ACCELERATOR,
  FACT_ACCELERATORS,
  FACT_PRECISION,
  FACT_MODEL,
  FACT_DATE,
  IMPORT_FACTS
};

struct import_statement {
  const char *facts[IMPORT_FACTS]; // as typed; NULL: not said
  const char *published;           // "TITLE, URL"; NULL: one's own run
};

// "--accelerator", ...
extern const char *const import_fact_options[IMPORT_FACTS];

// Where a rung comes from.
struct import_origin {
  const struct imported *file;
  const struct imported_place *place;
};

struct import_record {
  struct serving_record record;
  struct import_origin *origins; // [record.count], for each rung
};

struct import {
  struct import_record *records; // [count]
  size_t count;
  struct texts notes;  // how names were read
  struct texts unsaid; // what the files do not say, and no option can
  struct texts doubts; // what to be warned of
};

// Errors, each naming the files: a fact that nobody says or that is none; two that contradict each
// other; tools, lengths or bases that differ; two rungs of one load; a published title without URL;
// one's own run whose file says too little to be called measured. Returns 0 or -1.
int import_join(const struct imported *files, size_t count,
                const struct import_statement *statement, struct catalog *catalog,
                struct import *import, struct arena *arena, struct diagnostics *diagnostics);

// What a user typed of a fact as the catalogue has it, with a note of how it was read, or NULL. Errors:
// none typed, or no such name. Returns 0 or -1.
int import_fact_named(const struct import_statement *statement, enum import_fact fact,
                      struct catalog *catalog, const char **word, const char **note,
                      struct arena *arena, struct diagnostics *diagnostics);

// "llama-3.1-8b-h200-sxm-141-1a2b3c4d.json": by what the record is of and made from.
const char *import_file_name(const struct serving_record *record, struct arena *arena);

#endif
