// range: [range] and [correlate] of a scenario: what is believed of its inputs beside their values.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_RANGE_H
#define PERTOKEN_MODEL_SCENARIO_READING_RANGE_H

#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/scenario.h"

#include <stddef.h>

// What is believed of an input beside its value, by a key of [range]. Without an option it is of
// the common value, and holds for every option that takes that: none of its own, no rent. An
// option's own range goes before the common one. In the selected case, and after --set, a value
// given there for the same input and level is certain: the range does not apply.
struct range {
  const char *key; // "electricity_price", "mi325x.discount"
  struct place place;
  int declaration, option; // option: -1 for the common value
  struct distribution distribution;
};

// A rank correlation (Spearman's) by a key of [correlate].
struct correlation {
  size_t a, b; // ranges; a < b
  double rank; // within [-1, 1]
  struct place place;
};

// Reads the sections before the options are resolved, so that all of a file's errors come in one
// run, and checks them afterwards: which options have the inputs, what a record gives, whether the
// correlations go together.
void ranges_read(struct reading *reading);
void ranges_check(struct reading *reading);

// After the options are resolved: `evidence_spread = yes` makes what a published throughput was
// chosen from, every submitter's best row, a range of that option's throughput, each row as likely
// as the others. An error where there is a range of it already; one row makes none.
void ranges_of_evidence(struct reading *reading);

// The range that an option's input has in the selected case, or -1.
int option_range(const struct scenario *scenario, const struct option *option, int declaration);

// Is the input the scale, which nobody states and no common range moves, of a list by year that the
// option says for itself?
bool option_scales_own(const struct scenario *scenario, const struct option *option,
                       size_t which_case, int declaration);

// The Gaussian copula's correlation that gives a rank correlation (Pearson, Drapers' Company
// Research Memoirs, Biometric Series IV, 1907; Kruskal, JASA 53, 1958).
double correlation_of_normals(double rank);

// Correlations of normals are taken this much smaller, so that exact ones (1 and -1) leave their
// matrix positive definite.
#define CORRELATION_SHRINK (1 - 1e-9)

#endif
