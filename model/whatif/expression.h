// expression: formulas over a few variables as a graph of values in one normal form, so that equal
// things are computed once and constant parts not at all.
//
// A value is a number that depends on the variables. Values are made by the functions below and
// named by an index; asking twice for the same value gives the same index. Constants are folded
// with the evaluator's arithmetic. Sums are kept as constant + sum of factor * value, flat, with
// one term per value; a common factor of a product or quotient moves outside. Rearranged in this
// way a result differs from the formula's own in its last bits, and 0 times anything is 0.
#ifndef PERTOKEN_MODEL_WHATIF_EXPRESSION_H
#define PERTOKEN_MODEL_WHATIF_EXPRESSION_H

#include "base/arena.h"
#include "model/cost/formula.h"

enum value_kind {
  VALUE_CONSTANT,
  VALUE_VARIABLE, // operands[0]: its number
  VALUE_SUM,      // constant + terms
  VALUE_MULTIPLY, // operands, of which operands[0] <= operands[1]
  VALUE_DIVIDE,   // operands; never by a constant
  VALUE_INVERT,   // 1 / operand
  VALUE_POWER,    // operands; small whole exponents are products instead
  VALUE_MIN,      // operands
  VALUE_MAX,      // operands
  VALUE_IF,       // condition, then, else
  VALUE_ROUND,    // operand; constant: 10 to the number of digits
  VALUE_ROUND_BY, // operand, digits
  VALUE_CEIL,     // operand; constant: 10 to the number of digits
  VALUE_EQUAL,    // from here on comparisons in the order of enum node_kind
  VALUE_UNEQUAL,
  VALUE_LESS,
  VALUE_LESS_EQUAL,
  VALUE_GREATER,
  VALUE_GREATER_EQUAL,
  VALUE_KINDS
};

enum { VALUE_OPERANDS = 3 };

struct term {
  double factor;
  int value;
};

struct value {
  enum value_kind kind;
  int operands[VALUE_OPERANDS]; // -1 where there is none
  double constant;
  const struct term *terms; // by value, ascending
  int term_count;
  int next; // of the same hash, or -1
};

struct expressions {
  struct arena *arena;
  struct value *values;
  int count, capacity;
  int *buckets;
};

// How many operands a kind other than VALUE_SUM takes from other values.
int value_operand_count(enum value_kind kind);

struct expressions *expressions_new(struct arena *arena);

int expression_constant(struct expressions *expressions, double constant);
int expression_variable(struct expressions *expressions, int number);

// a + factor * b
int expression_add(struct expressions *expressions, int a, int b, double factor);
int expression_multiply(struct expressions *expressions, int a, int b);
int expression_divide(struct expressions *expressions, int a, int b);
int expression_power(struct expressions *expressions, int base, int exponent);
int expression_min(struct expressions *expressions, int a, int b);
int expression_max(struct expressions *expressions, int a, int b);
int expression_if(struct expressions *expressions, int condition, int then, int otherwise);
int expression_round(struct expressions *expressions, int a, int digits);
int expression_ceil(struct expressions *expressions, int a);

// kind: NODE_EQUAL to NODE_GREATER_EQUAL.
int expression_compare(struct expressions *expressions, enum node_kind kind, int a, int b);

#endif
