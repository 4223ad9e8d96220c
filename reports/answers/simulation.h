// simulation: the results of a simulation, as an answer.
#ifndef PERTOKEN_REPORTS_ANSWERS_SIMULATION_H
#define PERTOKEN_REPORTS_ANSWERS_SIMULATION_H

#include "base/arena.h"
#include "model/simulate/simulation.h"
#include "reports/faces/answer.h"

// For people: percentiles, mean and standard error of every option's cost and of every saving, how
// often each option is the cheapest, and which inputs the savings' variance comes from.
// Csv: kind,option,unit,statistic,value; kind is cost, saving, cheapest, ranked or influence. For
// influence, the statistic is INPUT first or INPUT total, and the unit says whether of cost or
// saving.
// Json: title, case, sha256, stamp (if there is one), item, unit, draws, done, seed, method,
// partial, baseline, cheapest: {option: share}, ranked: {}, not_ranked: {option: why}, undecided,
// why_none (if there is one), outcomes: [ { kind, option, mean, standard_error, deviation, lowest,
// highest, percentiles: {}, rank_error, histogram: { low, high, below, counts: [] }, influences: {
// INPUT: { first, total } } } ], by_ranks, notes: [].
// The title replaces a scenario's heading, which merged parts do not have.
struct answer simulation_answer(const struct simulation *simulation, const char *title,
                                struct arena *arena);

#endif
