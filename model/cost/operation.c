#include "model/cost/operation.h"

#include "base/vector.h"
#include "model/cost/arithmetic.h"

#include <math.h>
#include <stddef.h>

// Elements are independent of one another, also where `out` is an operand.
#define KERNEL(name, expression)                                                                   \
  VECTOR_CLONES static void name(size_t width, double *out, const double *a, const double *b,      \
                                 const double *c, double k) {                                      \
    (void)a, (void)b, (void)c, (void)k;                                                            \
    _Pragma("omp simd") for (size_t i = 0; i < width; i++) out[i] = (expression);                  \
  }

// Nothing divided by zero is a number.
static inline double divisor(double x) {
  return x != 0 ? x : NAN;
}

// The result if what it comes from is a finite number, else NAN.
static inline double number(double result, double from) {
  return result + (from - from);
}

// Of infinity and NAN, too, pow() makes numbers.
static inline double power(double a, double b) {
  const double result = pow(a, b);
  return number(number(number(result, result), a), b);
}

KERNEL(run_constant, k)
KERNEL(run_add, a[i] + b[i])
KERNEL(run_subtract, a[i] - b[i])
KERNEL(run_multiply, a[i] * b[i])
KERNEL(run_divide, a[i] / divisor(b[i]))
KERNEL(run_add_constant, a[i] + k)
KERNEL(run_subtract_from, k - a[i])
KERNEL(run_multiply_by, a[i] * k)
KERNEL(run_divide_by, a[i] / divisor(k))
KERNEL(run_invert, k / divisor(a[i]))
KERNEL(run_power, power(a[i], b[i]))
KERNEL(run_min, number(number(b[i] < a[i] ? b[i] : a[i], a[i]), b[i]))
KERNEL(run_max, number(number(b[i] > a[i] ? b[i] : a[i], a[i]), b[i]))
KERNEL(run_if, number(a[i] != 0 ? b[i] : c[i], a[i]))
KERNEL(run_round, arithmetic_round_scaled(a[i], k))
KERNEL(run_round_to, arithmetic_round(a[i], b[i]))
KERNEL(run_ceil, arithmetic_ceil_scaled(a[i], k))
KERNEL(run_floor, arithmetic_floor_scaled(a[i], k))
KERNEL(run_equal, number(arithmetic_compare(a[i], b[i]) == 0, a[i] - b[i]))
KERNEL(run_unequal, number(arithmetic_compare(a[i], b[i]) != 0, a[i] - b[i]))
KERNEL(run_less, number(arithmetic_compare(a[i], b[i]) < 0, a[i] - b[i]))
KERNEL(run_less_equal, number(arithmetic_compare(a[i], b[i]) <= 0, a[i] - b[i]))
KERNEL(run_greater, number(arithmetic_compare(a[i], b[i]) > 0, a[i] - b[i]))
KERNEL(run_greater_equal, number(arithmetic_compare(a[i], b[i]) >= 0, a[i] - b[i]))

static const struct {
  int operands;
  operation_kernel *run;
} table[OPERATIONS] = {
    [OPERATION_CONSTANT] = {0, run_constant},
    [OPERATION_ADD] = {2, run_add},
    [OPERATION_SUBTRACT] = {2, run_subtract},
    [OPERATION_MULTIPLY] = {2, run_multiply},
    [OPERATION_DIVIDE] = {2, run_divide},
    [OPERATION_ADD_CONSTANT] = {1, run_add_constant},
    [OPERATION_SUBTRACT_FROM] = {1, run_subtract_from},
    [OPERATION_MULTIPLY_BY] = {1, run_multiply_by},
    [OPERATION_DIVIDE_BY] = {1, run_divide_by},
    [OPERATION_INVERT] = {1, run_invert},
    [OPERATION_POWER] = {2, run_power},
    [OPERATION_MIN] = {2, run_min},
    [OPERATION_MAX] = {2, run_max},
    [OPERATION_IF] = {3, run_if},
    [OPERATION_ROUND] = {1, run_round},
    [OPERATION_ROUND_TO] = {2, run_round_to},
    [OPERATION_CEIL] = {1, run_ceil},
    [OPERATION_FLOOR] = {1, run_floor},
    [OPERATION_EQUAL] = {2, run_equal},
    [OPERATION_UNEQUAL] = {2, run_unequal},
    [OPERATION_LESS] = {2, run_less},
    [OPERATION_LESS_EQUAL] = {2, run_less_equal},
    [OPERATION_GREATER] = {2, run_greater},
    [OPERATION_GREATER_EQUAL] = {2, run_greater_equal},
};

int operation_operands(enum operation operation) {
  return table[operation].operands;
}

operation_kernel *operation_of(enum operation operation) {
  return table[operation].run;
}
