// simulation: what a simulation found, as a table, CSV or JSON.
#ifndef PERTOKEN_REPORTS_ANSWERS_SIMULATION_H
#define PERTOKEN_REPORTS_ANSWERS_SIMULATION_H

#include "model/simulate/simulate.h"
#include "reports/print/format.h"

#include <stdio.h>

// Table: percentiles, mean and standard error of every option's cost and of every saving, how often
// each option is the cheapest or why it never is, and which inputs the savings' variance comes from.
// `title` stands above it.
// Csv: kind,option,unit,statistic,value; kind is cost, saving, cheapest (blank where the option is
// never ranked), ranked or influence, where the statistic is INPUT first or INPUT total.
// Json: { schema 1, title, case, sha256, stamp (where there is one), item, unit, draws, done, seed,
// method, partial, baseline, cheapest: {} (null: never ranked), ranked: {}, not_ranked: {} (why, of
// options that never are), undecided, why_none (where all draws are undecided), outcomes: [ { kind, option, mean, standard_error,
// deviation, lowest, highest, percentiles: {}, rank_error, histogram: { low, high, below,
// counts: [] }, influences: {} } ], by_ranks, notes: [] }.
void simulation_print(const struct simulation *simulation, const char *title,
                      enum output_format format, FILE *out, struct arena *arena);

#endif
