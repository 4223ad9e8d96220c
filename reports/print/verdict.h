// verdict: what the judge (model/scenario/ranking.h) says, in words: the same on every face.
#ifndef PERTOKEN_REPORTS_PRINT_VERDICT_H
#define PERTOKEN_REPORTS_PRINT_VERDICT_H

#include "base/arena.h"
#include "model/scenario/ranking.h"
#include "model/scenario/scenario.h"

// "mi325x is the cheapest: 0.1498 USD/Mtok, 14.3 % less than h200."; of a single option what it
// costs; why nobody is the cheapest.
const char *verdict_sentence(const struct scenario *scenario, const struct ranking *ranking,
                             struct arena *arena);

// What the mark beside the cheapest cost means; NULL where nobody has one.
const char *verdict_mark(const struct ranking *ranking);

#endif
