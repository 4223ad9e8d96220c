// fit: what fits where, as answers: of the catalogue, or of a scenario's options.
#ifndef PERTOKEN_REPORTS_ANSWERS_FIT_H
#define PERTOKEN_REPORTS_ANSWERS_FIT_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/catalog.h"
#include "model/evidence/fit.h"
#include "model/scenario/scenario.h"
#include "reports/answers/answer.h"

#include <stddef.h>

struct fit_question {
  struct catalog *catalog;
  struct fit_terms terms;
  double parameters; // of a model that no table has, instead of those in the catalogue; 0: none
  const char *const *wheres; // on model, accelerator, precision, vendor, fits
  size_t where_count;
};

// Every model on every accelerator in bf16, fp8 and fp4, or in the precision that a condition
// names. The answer is no when nothing fits. Errors: a condition that no row can meet.
int answer_fit_catalogue(const struct fit_question *question, struct answers *answers,
                         struct arena *arena, struct diagnostics *diagnostics);

// Whether the scenario has a [fit] section or wants an interactivity.
bool fit_asked(const struct scenario *scenario);

// Answers for any scenario; one, "options". [fit] may say context (tokens of input and
// output that a request holds), kv (the cache's precision), accelerators (that share a model),
// memory_share and prefill_chunk.
answer_function answer_fit;

#endif
