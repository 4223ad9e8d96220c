// import: several files of results, and what their user states about them, as records.
//
// The results of one curve, those in one file too, agree on accelerator, count, model, precision
// and engine, and become one record; so do the files' lengths. If every file has several lengths,
// there is a record for each. What the files do not state is asked for, all at once; contradictions
// with their user or with each other are refused.
// Watts of more accelerators than served are left out, with a remark.
#ifndef PERTOKEN_MODEL_IMPORTS_IMPORT_H
#define PERTOKEN_MODEL_IMPORTS_IMPORT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/texts.h"
#include "model/evidence/catalog.h"
#include "model/imports/fact.h"
#include "model/imports/imported.h"
#include "model/records/serving.h"

#include <stdbool.h>
#include <stddef.h>

struct import_statement {
  const char *facts[IMPORT_FACTS]; // as typed; NULL: not stated
  const char *published;           // "TITLE, URL"; NULL: one's own run
  const char *node;                // the serving machine's name in a fleet; "" not stated
  const char *today;               // 2026-11-21, in UTC: no run is later; NULL: unknown
};

// The source of a rung.
struct import_origin {
  const struct imported *imported;
  const struct imported_window *window;
};

struct import_record {
  struct serving_record record;
  struct import_origin *origins; // [record.count], one per rung
};

struct import {
  struct import_record *records; // [count]
  size_t count;
  struct texts notes;  // how names were read, and which devices the watts are of
  struct texts unsaid; // what the files do not state, and no option can
  struct texts doubts; // warnings
};

// Errors, each naming the results: a fact that is missing or invalid; two that contradict each
// other; different tools, engines or lengths; two rungs with the same load; a published title
// without a URL; one's own run whose result states too little to be called measured. Returns 0 or
// -1.
int import_join(const struct imported *list, size_t count, const struct import_statement *statement,
                struct catalog *catalog, struct import *import, struct arena *arena,
                struct diagnostics *diagnostics);

// Resolves what a user typed for a fact to the catalogue's word. *note: how it was read, or NULL.
// Errors: nothing typed, or no such name. Returns 0 or -1.
int import_fact_named(const struct import_statement *statement, enum import_fact fact,
                      struct catalog *catalog, const char **word, const char **note,
                      struct arena *arena, struct diagnostics *diagnostics);

// "llama-3.1-8b-h200-sxm-141-1a2b3c4d.json": after the record's subject and its sources.
const char *import_file_name(const struct serving_record *record, struct arena *arena);

#endif
