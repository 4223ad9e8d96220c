// delivery_slip: by how many months deliveries came later than announced, from the dated claims of
// the catalogue.
//
// A row of data/claims.csv counts if its topic is roadmap, its unit is date, its claim is about
// something that ships or is produced in volume, and both the claimed date and the one on public
// record (reference_value) are a year, month, quarter or half-year, the latter past by the
// scenario's date. The slip is the time between the middles of both spans, at least zero; all rows
// have equal weight. They are few, and come from claims that somebody thought worth recording.
#ifndef PERTOKEN_MODEL_QUESTIONS_DELIVERY_SLIP_H
#define PERTOKEN_MODEL_QUESTIONS_DELIVERY_SLIP_H

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/scenario/scenario.h"

// The middle and the end of a span such as 2024-Q4, "H2 2026", 2023-10, mid-2025 or 2025, in months
// since the year 0. False for anything else.
bool slip_span(const char *text, double *middle, double *end);

// The discrete distribution, in base units, and a description of its source. An error at `place` if
// no row counts. Returns 0 or -1.
int slip_from_data(const struct scenario *scenario, struct place place,
                   struct distribution *distribution, const char **words, struct arena *arena,
                   struct diagnostics *diagnostics);

#endif
