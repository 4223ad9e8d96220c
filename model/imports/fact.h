// fact: what a run is of, as its files state it in words of their own: its accelerator and how
// many, the model and its precision, the day.
#ifndef PERTOKEN_MODEL_IMPORTS_FACT_H
#define PERTOKEN_MODEL_IMPORTS_FACT_H

#include "base/arena.h"
#include "model/evidence/catalog.h"
#include "model/evidence/naming.h"
#include "model/imports/imported.h"

#include <stdbool.h>

// Facts that are asked for if files do not state them, in the order of the options' names.
enum import_fact {
  FACT_ACCELERATOR,
  FACT_ACCELERATORS,
  FACT_PRECISION,
  FACT_MODEL,
  FACT_DATE,
  IMPORT_FACTS
};

extern const char *const fact_options[IMPORT_FACTS]; // "--accelerator", ...

// The fact as the file states it; "" if it does not.
const char *fact_said_by(const struct imported *imported, enum import_fact fact,
                         struct arena *arena);

// The fact as in the catalogue: an id, a precision, digits, a day.
struct naming fact_named(enum import_fact fact, const char *text, struct catalog *catalog,
                         struct arena *arena);

// Whether a name that the catalogue lacks cannot mean what was typed, `word`.
bool fact_is_another(enum import_fact fact, const char *text, const char *word,
                     struct catalog *catalog);

// Whether what a file calls its model cannot mean this one of the catalogue.
bool fact_is_other_model(const char *text, const char *model, struct catalog *catalog,
                         struct arena *arena);

#endif
