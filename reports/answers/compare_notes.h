// compare_notes: the notes below a comparison for people: how reliable its figures are, and what
// they leave out.
#ifndef PERTOKEN_REPORTS_ANSWERS_COMPARE_NOTES_H
#define PERTOKEN_REPORTS_ANSWERS_COMPARE_NOTES_H

#include "base/arena.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"
#include "model/simulate/simulation.h"
#include "reports/faces/answer.h"

#include <stddef.h>

// Adds to the answer's notes: what the star means, which options are not ranked, what the intervals
// are (`simulation` NULL: there are none), what is not included, the grades' meanings, the options'
// warnings.
void compare_notes(struct answer *answer, const struct scenario *scenario,
                   const struct ranking *ranking, const struct simulation *simulation,
                   struct arena *arena);

// Adds, for an answer about one option's cost: which of it, the baseline and another option that it
// is compared with are not ranked, and why.
void standing_notes(struct answer *answer, const struct scenario *scenario, size_t option,
                    size_t against, struct arena *arena);

#endif
