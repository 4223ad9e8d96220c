// operation: what formulas compute, on vectors of numbers, one number per case.
//
// A result depends only on its own case's operands, never on the processor or on the number of
// cases: nothing is fused or reordered.
//
// What divides by zero is NAN, and so is what is computed from NAN or infinity, a comparison too:
// like a spreadsheet's errors, they reach every result that depends on them.
#ifndef PERTOKEN_MODEL_COST_OPERATION_H
#define PERTOKEN_MODEL_COST_OPERATION_H

#include <stddef.h>

enum operation {
  OPERATION_VARIABLE, // nothing: a given vector
  OPERATION_CONSTANT, // k
  OPERATION_ADD,      // a + b
  OPERATION_SUBTRACT,
  OPERATION_MULTIPLY,
  OPERATION_DIVIDE,
  OPERATION_ADD_CONSTANT,  // a + k
  OPERATION_SUBTRACT_FROM, // k - a
  OPERATION_MULTIPLY_BY,   // a * k
  OPERATION_DIVIDE_BY,     // a / k
  OPERATION_INVERT,        // k / a
  OPERATION_POWER,         // a ^ b; 0 ^ 0 is 1
  OPERATION_MIN,
  OPERATION_MAX,
  OPERATION_IF,       // a ? b : c, whatever the other one is
  OPERATION_ROUND,    // a to the decimals that k is 10 to the power of: model/cost/arithmetic.h
  OPERATION_ROUND_TO, // a to b decimals
  OPERATION_CEIL,     // k as for OPERATION_ROUND
  OPERATION_FLOOR,
  OPERATION_EQUAL, // 1 or 0; from here on in the order of enum node_kind
  OPERATION_UNEQUAL,
  OPERATION_LESS,
  OPERATION_LESS_EQUAL,
  OPERATION_GREATER,
  OPERATION_GREATER_EQUAL,
  OPERATIONS
};

// How many of the operands a, b and c an operation takes.
int operation_operands(enum operation operation);

// out, a, b and c are vectors of `width`; out may be one of the operands. Operands that the
// operation does not take are ignored.
typedef void operation_kernel(size_t width, double *out, const double *a, const double *b,
                              const double *c, double k);

// The kernel of an operation; NULL for OPERATION_VARIABLE.
operation_kernel *operation_of(enum operation operation);

#endif
