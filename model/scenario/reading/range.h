// range: [range] and [correlate] of a scenario: how uncertain its inputs are.
#ifndef PERTOKEN_MODEL_SCENARIO_READING_RANGE_H
#define PERTOKEN_MODEL_SCENARIO_READING_RANGE_H

#include "base/source.h"
#include "model/chance/distribution.h"
#include "model/scenario/option.h"
#include "model/scenario/reading/reading.h"
#include "model/scenario/scenario.h"

#include <stdbool.h>
#include <stddef.h>

// The uncertainty of an input, by a key of [range]. Without an option it applies to the common
// value, and to every option that uses that: one without a value of its own, and not rented. An
// option's own range has priority over the common one. A value that the option takes from the
// selected case or from --set is certain: no range then applies.
//
// Ranges of one quantity are drawn once, for all of their options: `drawn_as` is the first of them.
struct range {
  const char *key; // "electricity_price", "mi325x.discount"
  struct place place;
  int declaration, option; // option: -1 for the common value
  struct distribution distribution;
  bool of_rows;    // of the rows of a published throughput, by `evidence_spread = yes`
  size_t drawn_as; // the range whose draws it has: itself, or an earlier one
};

// A rank correlation (Spearman's), by a key of [correlate].
struct correlation {
  size_t a, b; // ranges; a < b
  double rank; // within [-1, 1]
  struct place place;
};

// ranges_read reads the sections before the options are resolved, so that one run shows all errors
// of a file; ranges_check checks them afterwards: which options have the inputs, what a record
// gives, which of them are one quantity, whether the correlations are consistent.
void ranges_read(struct reading *reading);
void ranges_check(struct reading *reading);

// Completes the ranges of the rows of a published throughput (source_spread.h), after the options
// are resolved. An error if there are no rows; a single submitter's row gives no range.
void ranges_of_evidence(struct reading *reading);

// Whether the input has a range, the option's own or one for all. For use before options are
// resolved.
bool ranges_name(const struct scenario *scenario, size_t option, int declaration);

// The range that is stated for an option's input, in the selected case, and the one as which it is
// drawn; or -1.
int option_stated_range(const struct scenario *scenario, const struct option *option,
                        int declaration);
int option_range(const struct scenario *scenario, const struct option *option, int declaration);

// Whether the input is the scale of a list by year that the option states itself, while the scale
// is neither stated nor moved by a common range. False beside a list for all options: a common
// statement about the scale then reaches both lists.
bool option_scales_own(const struct scenario *scenario, const struct option *option,
                       size_t which_case, int declaration);

// The Gaussian copula's correlation for a rank correlation (Pearson, Drapers' Company Research
// Memoirs, Biometric Series IV, 1907; Kruskal, JASA 53, 1958).
double correlation_of_normals(double rank);

// Correlations of normals are scaled down by this factor, so that exact ones (1 and -1) leave their
// matrix positive definite.
#define CORRELATION_SHRINK (1 - 1e-9)

#endif
