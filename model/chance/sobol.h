// sobol: Sobol's low-discrepancy sequence, with each point computed directly.
//
// Primitive polynomials and initial direction numbers by S. Joe and F. Y. Kuo, "Constructing Sobol
// sequences with better two-dimensional projections", SIAM J. Sci. Comput. 30, 2008: the first
// dimensions of their file new-joe-kuo-6.21201.
#ifndef PERTOKEN_MODEL_CHANCE_SOBOL_H
#define PERTOKEN_MODEL_CHANCE_SOBOL_H

#include <stdint.h>

enum { SOBOL_DIMENSIONS = 128, SOBOL_BITS = 32, SOBOL_MAX_DEGREE = 10 };

struct sobol_polynomial {
  uint8_t degree;                     // of the primitive polynomial
  uint8_t coefficients;               // without the first and the last, which are 1
  uint16_t initial[SOBOL_MAX_DEGREE]; // m_1, m_2, ...
};

// The polynomials of dimensions 1, 2, ...; dimension 0 is van der Corput's sequence.
extern const struct sobol_polynomial sobol_polynomials[SOBOL_DIMENSIONS - 1];

// The direction numbers of a dimension, as binary fractions with their bits reversed: bit 0 is the
// first after the point. Point n of the sequence is the exclusive or of directions[k] over the bits
// k that are set in n.
void sobol_directions(int dimension, uint32_t directions[SOBOL_BITS]);

#endif
