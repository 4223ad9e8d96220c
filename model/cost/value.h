// value: expressions over some variables, each distinct one once.
//
// A value is identified by its index. Asking twice for the same gives the same index. A value with
// only constant operands is a constant, computed by the operation itself as a vector of one.
// Nothing is rearranged, so results are those of the formulas to the last bit, except that with
// `products` powers up to the 64th are products. 0 times what is a number whatever the variables is
// 0; with `products`, 0 times anything is.
#ifndef PERTOKEN_MODEL_COST_VALUE_H
#define PERTOKEN_MODEL_COST_VALUE_H

#include "base/arena.h"
#include "model/cost/operation.h"

#include <stdbool.h>

enum { VALUE_OPERANDS = 3 };

struct value {
  enum operation operation;
  int operands[VALUE_OPERANDS]; // values, or the number of a variable; -1 if there is none
  double k;                     // the operation's constant
  int next;                     // the next with the same hash, or -1
  bool number;                  // whatever finite numbers the variables are
};

struct value_table {
  struct arena *arena;
  bool products;
  struct value *list;
  int count, capacity;
  int *buckets; // [capacity] the first value with a hash, or -1
};

struct value_table *values_new(bool products, struct arena *arena);

int value_constant(struct value_table *values, double constant);
int value_variable(struct value_table *values, int number);

// OPERATION_ADD to OPERATION_DIVIDE and OPERATION_POWER to OPERATION_GREATER_EQUAL, except
// rounding. Operands that the operation does not take are -1.
int value_of(struct value_table *values, enum operation operation, int a, int b, int c);

int value_round(struct value_table *values, int a, int digits);
int value_ceil(struct value_table *values, int a);
int value_floor(struct value_table *values, int a);

#endif
