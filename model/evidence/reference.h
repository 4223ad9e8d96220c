// reference: a figure of the catalogues, or of a table of claims, named in a claim's formula.
//
//   [ACCELERATOR.COLUMN]         a cell of accelerators; of `launch` the day, in years
//   [row ID.COLUMN]              a cell of throughput
//   [best ACCELERATOR MODEL SCENARIO PRECISION ROUND]
//                                the most MLPerf output tokens per second and accelerator in the
//                                rows of that round without doubt
//   [lowest ...]                 the least of them
//   [total ...]                  the most of a whole system
//   [partners ROUND]             how many others than AMD submitted on AMD's accelerators
//   [rent ACCELERATOR PROVIDER]  the lowest price on demand, per accelerator and hour
//   [purchase ACCELERATOR]       the median purchase price, claims left out
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

// Where references find their figures.
struct references {
  const struct table *claims; // columns id, value and as_of
  struct catalog *catalog;
  struct arena *arena;
  struct diagnostics *diagnostics;
};

// The figure that "[...]" stands for, in the unit of its column; NAN where the catalogues have no
// such row or leave the cell blank. A reference of no known form, a column that its table lacks and
// a claim that is not there are errors at `place`; the result is then NAN, too.
double reference_value(const struct references *references, const char *text, struct place place);

// The cell of accelerators that "[ACCELERATOR.COLUMN]" names, as its table writes it; NULL where
// there is no such row. Any other text, or a column that is not there, is an error at `place`.
const char *reference_cell(const struct references *references, const char *text,
                           struct place place);

// The first number in a text such as "$2.3B" or ">90", NAN without one; returns what is behind it.
const char *first_number(const char *text, double *value);

// A day in years, by the catalogue's dates ("2026-04-30", "mid-2026"); NAN where it is none.
double years_of(const char *text);

#endif
