// simulation: the results of a simulation, as an answer.
#ifndef PERTOKEN_REPORTS_ANSWERS_SIMULATION_H
#define PERTOKEN_REPORTS_ANSWERS_SIMULATION_H

#include "base/arena.h"
#include "model/simulate/simulation.h"
#include "reports/faces/answer.h"

#include <stddef.h>

// The answer of a simulation. People read percentiles, mean and standard error of every option's
// cost and of every saving, how often each option is the cheapest, and which inputs the savings'
// variance comes from.
// Csv: kind,option,unit,statistic,value; kind is draws, cost, saving, cheapest, ranked,
// damages_due, delay_cost, damages_paid, uncovered or influence. For draws, the statistic is draws,
// done, seed, method or partial. For influence, it is INPUT first or INPUT total, and the unit says
// whether of cost or saving.
// Json: title, case, sha256, stamp (if there is one), item, unit, draws, done, seed, method,
// partial, baseline, cheapest: {option: share}, ranked: {}, not_ranked: {option: why}, undecided,
// why_none (if there is one), damages: {option: {due, delay_cost, paid, uncovered}} (of those with
// such a clause), outcomes: [ { kind, option, mean, standard_error, deviation, lowest,
// highest, percentiles: {}, rank_error, histogram: { low, high, below, counts: [] }, influences: {
// INPUT: { first, total } } } ], by_ranks, notes: [].
struct answer simulation_answer(const struct simulation *simulation, struct arena *arena);

// "H200: damages are due in 93.5 % of the first 4,096 draws; on average the delay costs 138,756
// USD, of which they cover 71.4 %"; "" if its contract pays none.
const char *simulation_damages_text(const struct simulation *simulation, size_t option,
                                    struct arena *arena);

// "the saving of MI325X does not vary: no ranged input affects it", of a constant outcome.
const char *simulation_constant_text(const struct simulation *simulation,
                                     const struct outcome *outcome, struct arena *arena);

#endif
