// reference: a figure from the catalogues, or from a table of claims, named in a claim's formula.
//
//   [ACCELERATOR.COLUMN]         a cell of accelerators; for `launch` the day, in years
//   [row ID.COLUMN]              a cell of throughput
//   [best ACCELERATOR MODEL SCENARIO PRECISION ROUND]
//                                the highest MLPerf output tokens per second and accelerator in the
//                                rows of that round without doubt
//   [lowest ...]                 the lowest of them
//   [total ...]                  the highest of a whole system
//   [partners ROUND]             the number of submitters on AMD's accelerators other than AMD
//   [rent ACCELERATOR PROVIDER]  the lowest price on demand, per accelerator and hour
//   [purchase ACCELERATOR]       the median purchase price, without claims
//   [model ID]                   a model's parameters as published, in billions
//   [concurrency ACCELERATOR MODEL PRECISION CONTEXT N]
//                                the requests of that many tokens that N of them hold beside the
//                                model (fit.h)
//   [claim N]                    the first number that another claim of the table states
//   [claim N as_of]              that claim's day, in years
#ifndef PERTOKEN_MODEL_EVIDENCE_REFERENCE_H
#define PERTOKEN_MODEL_EVIDENCE_REFERENCE_H

#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/evidence/catalog.h"

#include <stdbool.h>

// The tables in which references look up their figures.
struct references {
  const struct table *claims; // columns id, value and as_of
  struct catalog *catalog;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// The figure that "[...]" stands for, in the unit of its column; NAN if the catalogues lack the row
// or its cell is blank. A reference of an unknown form, a column that its table lacks and a claim
// that does not exist are errors at `place`; the result is then also NAN.
double reference_value(const struct references *references, const char *text, struct place place);

// The cell of accelerators that "[ACCELERATOR.COLUMN]" names, as text; NULL if there is no such
// row. Any other text, or a column that does not exist, is an error at `place`.
const char *reference_cell(const struct references *references, const char *text,
                           struct place place);

// The first number in a text such as "$2.3B" or ">90", NAN without one; returns the text after it.
const char *first_number(const char *text, double *value);

// A day in years, from a date as in the catalogue ("2026-04-30", "mid-2026"); NAN for any other
// text.
double years_of(const char *text);

#endif
