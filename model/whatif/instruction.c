#include "model/whatif/instruction.h"

#include "model/cost/arithmetic.h"

typedef void kernel(double *workspace, const struct instruction *instruction);

static double *vector_at(double *workspace, int number) {
  double *vector = workspace + (size_t)number * VECTOR_BLOCK;
  return __builtin_assume_aligned(vector, VECTOR_ALIGNMENT);
}

// Elements are independent of one another, also where `out` is an operand.
#define KERNEL(name, expression)                                                                   \
  VECTOR_CLONES static void name(double *workspace, const struct instruction *instruction) {       \
    double *out = vector_at(workspace, instruction->out);                                          \
    const double *a = vector_at(workspace, instruction->operands[0]);                              \
    const double *b = vector_at(workspace, instruction->operands[1]);                              \
    const double *c = vector_at(workspace, instruction->operands[2]);                              \
    double k = instruction->constants[0];                                                          \
    (void)a, (void)b, (void)c, (void)k;                                                            \
    _Pragma("omp simd") for (int i = 0; i < VECTOR_BLOCK; i++) out[i] = (expression);              \
  }

KERNEL(run_constant, k)
KERNEL(run_multiply, a[i] * b[i])
KERNEL(run_divide, a[i] / b[i])
KERNEL(run_invert, 1 / a[i])
KERNEL(run_power, pow(a[i], b[i]))
// As fmin and fmax: a number rather than what is none.
KERNEL(run_min, b[i] < a[i] || a[i] != a[i] ? b[i] : a[i])
KERNEL(run_max, b[i] > a[i] || a[i] != a[i] ? b[i] : a[i])
KERNEL(run_if, a[i] != 0 ? b[i] : c[i])
KERNEL(run_round, arithmetic_round_scaled(a[i], k))
KERNEL(run_round_by, arithmetic_round(a[i], b[i]))
KERNEL(run_ceil, arithmetic_ceil_scaled(a[i], k))
KERNEL(run_equal, arithmetic_compare(a[i], b[i]) == 0)
KERNEL(run_unequal, arithmetic_compare(a[i], b[i]) != 0)
KERNEL(run_less, arithmetic_compare(a[i], b[i]) < 0)
KERNEL(run_less_equal, arithmetic_compare(a[i], b[i]) <= 0)
KERNEL(run_greater, arithmetic_compare(a[i], b[i]) > 0)
KERNEL(run_greater_equal, arithmetic_compare(a[i], b[i]) >= 0)

#define PRODUCT(p)   (k[1 + (p)] * (x[2 * (p)][i] * x[2 * (p) + 1][i]))
#define SCALED(p, v) (k[1 + (p) + (v)] * x[2 * (p) + (v)][i])
#define PRODUCTS_0   (k[0])
#define PRODUCTS_1   (PRODUCTS_0 + PRODUCT(0))
#define PRODUCTS_2   (PRODUCTS_1 + PRODUCT(1))
#define PRODUCTS_3   (PRODUCTS_2 + PRODUCT(2))
#define VECTORS_0(p) (PRODUCTS_##p)
#define VECTORS_1(p) (VECTORS_0(p) + SCALED(p, 0))
#define VECTORS_2(p) (VECTORS_1(p) + SCALED(p, 1))
#define VECTORS_3(p) (VECTORS_2(p) + SCALED(p, 2))

#define SUM_KERNEL(p, v)                                                                           \
  VECTOR_CLONES static void run_sum_##p##_##v(double *workspace,                                   \
                                              const struct instruction *instruction) {             \
    double *out = vector_at(workspace, instruction->out);                                          \
    double k[1 + SUM_PRODUCTS + SUM_VECTORS];                                                      \
    const double *x[INSTRUCTION_OPERANDS];                                                         \
    memcpy(k, instruction->constants, sizeof k);                                                   \
    for (int o = 0; o < INSTRUCTION_OPERANDS; o++)                                                 \
      x[o] = vector_at(workspace, instruction->operands[o]);                                       \
    _Pragma("omp simd") for (int i = 0; i < VECTOR_BLOCK; i++) out[i] = VECTORS_##v(p);            \
  }

SUM_KERNEL(0, 1)
SUM_KERNEL(0, 2)
SUM_KERNEL(0, 3)
SUM_KERNEL(1, 0)
SUM_KERNEL(1, 1)
SUM_KERNEL(1, 2)
SUM_KERNEL(1, 3)
SUM_KERNEL(2, 0)
SUM_KERNEL(2, 1)
SUM_KERNEL(2, 2)
SUM_KERNEL(2, 3)
SUM_KERNEL(3, 0)
SUM_KERNEL(3, 1)
SUM_KERNEL(3, 2)
SUM_KERNEL(3, 3)

kernel *instruction_sum(int products, int vectors) {
  static kernel *const table[SUM_PRODUCTS + 1][SUM_VECTORS + 1] = {
      {run_constant, run_sum_0_1, run_sum_0_2, run_sum_0_3},
      {run_sum_1_0, run_sum_1_1, run_sum_1_2, run_sum_1_3},
      {run_sum_2_0, run_sum_2_1, run_sum_2_2, run_sum_2_3},
      {run_sum_3_0, run_sum_3_1, run_sum_3_2, run_sum_3_3},
  };
  return table[products][vectors];
}

kernel *instruction_of(enum value_kind kind) {
  static kernel *const table[VALUE_KINDS] = {
      [VALUE_CONSTANT] = run_constant,
      [VALUE_MULTIPLY] = run_multiply,
      [VALUE_DIVIDE] = run_divide,
      [VALUE_INVERT] = run_invert,
      [VALUE_POWER] = run_power,
      [VALUE_MIN] = run_min,
      [VALUE_MAX] = run_max,
      [VALUE_IF] = run_if,
      [VALUE_ROUND] = run_round,
      [VALUE_ROUND_BY] = run_round_by,
      [VALUE_CEIL] = run_ceil,
      [VALUE_EQUAL] = run_equal,
      [VALUE_UNEQUAL] = run_unequal,
      [VALUE_LESS] = run_less,
      [VALUE_LESS_EQUAL] = run_less_equal,
      [VALUE_GREATER] = run_greater,
      [VALUE_GREATER_EQUAL] = run_greater_equal,
  };
  return table[kind];
}
