#include "model/chance/rank_regression.h"

#include <gsl/gsl_errno.h>
#include <gsl/gsl_linalg.h>
#include <gsl/gsl_matrix_double.h>
#include <gsl/gsl_sort.h>
#include <gsl/gsl_sort_double.h>
#include <gsl/gsl_vector_double.h>
#include <math.h>
#include <stdlib.h>

// Ranks with mean 0 and sum of squares 1; all 0 if nothing varies.
static int standardise(const double *values, size_t n, double *ranks, size_t *order) {
  gsl_sort_index(order, values, 1, n);
  double squares = 0, mean = ((double)n - 1) / 2;
  for (size_t i = 0, end; i < n; i = end) {
    end = i + 1;
    while (end < n && values[order[end]] == values[order[i]])
      end++;
    double rank = (double)(i + end - 1) / 2 - mean;
    for (size_t k = i; k < end; k++)
      ranks[order[k]] = rank;
    squares += (double)(end - i) * rank * rank;
  }
  for (size_t i = 0; i < n; i++)
    ranks[i] = squares > 0 ? ranks[i] / sqrt(squares) : 0;
  return squares > 0;
}

static double product(const double *a, const double *b, size_t n) {
  double sum = 0;
  for (size_t i = 0; i < n; i++)
    sum += a[i] * b[i];
  return sum;
}

// Solves for the coefficients; false if the inputs are too strongly correlated to separate.
static int solve(const double *ranks, size_t variables, const double *correlations, size_t n,
                 double *coefficients) {
  gsl_matrix *matrix = gsl_matrix_alloc(variables, variables);
  gsl_vector_const_view right = gsl_vector_const_view_array(correlations, variables);
  gsl_vector_view out = gsl_vector_view_array(coefficients, variables);
  for (size_t i = 0; i < variables; i++)
    for (size_t j = 0; j < variables; j++) {
      double r = product(ranks + i * n, ranks + j * n, n);
      gsl_matrix_set(matrix, i, j, i == j && r == 0 ? 1 : r);
    }
  int bad = gsl_linalg_cholesky_decomp1(matrix) ||
            gsl_linalg_cholesky_solve(matrix, &right.vector, &out.vector);
  gsl_matrix_free(matrix);
  return !bad;
}

void rank_regression(const double *inputs, size_t variables, const double *outcome, size_t n,
                     double *shares) {
  gsl_set_error_handler_off();
  double *ranks = malloc((variables + 1) * n * sizeof *ranks);
  double *correlations = malloc(2 * variables * sizeof *correlations);
  size_t *order = malloc(n * sizeof *order);
  int solved = 0;
  if (ranks && correlations && order && n > variables + 1) {
    double *outcome_ranks = ranks + variables * n, *coefficients = correlations + variables;
    standardise(outcome, n, outcome_ranks, order);
    for (size_t v = 0; v < variables; v++) {
      standardise(inputs + v * n, n, ranks + v * n, order);
      correlations[v] = product(ranks + v * n, outcome_ranks, n);
    }
    solved = solve(ranks, variables, correlations, n, coefficients);
    for (size_t v = 0; v < variables && solved; v++)
      shares[v] = coefficients[v] * correlations[v];
  }
  for (size_t v = 0; v < variables && !solved; v++)
    shares[v] = NAN;
  free(ranks);
  free(correlations);
  free(order);
}
