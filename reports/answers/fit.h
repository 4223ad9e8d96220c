// fit: which models fit on which accelerators, as answers: for the catalogue, or for a scenario's
// options.
#ifndef PERTOKEN_REPORTS_ANSWERS_FIT_H
#define PERTOKEN_REPORTS_ANSWERS_FIT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/scenario/scenario.h"
#include "reports/faces/answer.h"

#include <stddef.h>

struct fit_question {
  struct catalog *catalog;
  struct fit_terms terms;
  double parameters;         // of a model that is not in the catalogue; 0: models of the catalogue
  const char *const *wheres; // on model, accelerator, precision, vendor, fits
  size_t where_count;
};

// Every model on every accelerator in bf16, fp8 and fp4, or in the precision that a condition
// names. The answer is no if nothing fits. Error: a condition that no row can meet.
int answer_fit_catalogue(const struct fit_question *question, struct answers *answers,
                         struct arena *arena, struct diagnostics *diagnostics);

// Whether the scenario has a [fit] section or asks for an interactivity.
bool fit_asked(const struct scenario *scenario);

// Answers for any scenario; there is one, "options". [fit] may state context (tokens of input and
// output per request), kv (the cache's precision), accelerators (that share a model), memory_share
// and prefill_chunk.
answer_function answer_fit;

#endif
