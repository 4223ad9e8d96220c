// rank_regression: how far an outcome's ranks follow those of several inputs.
#ifndef PERTOKEN_MODEL_CHANCE_RANK_REGRESSION_H
#define PERTOKEN_MODEL_CHANCE_RANK_REGRESSION_H

#include <stddef.h>

// Least squares on standardized ranks; equal values get their mean rank (Iman and Conover,
// Technometrics 21, 1979). shares[v]: the coefficient of input v times its correlation with the
// outcome (Pratt, "Dividing the indivisible", 1987); these add up to R squared. All are NAN if
// there are too few observations. inputs: [variables][n]. An input or outcome that does not vary
// has no share.
void rank_regression(const double *inputs, size_t variables, const double *outcome, size_t n,
                     double *shares);

#endif
