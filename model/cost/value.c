#include "model/cost/value.h"

#include "base/arena.h"
#include "base/vector.h"
#include "model/cost/arithmetic.h"
#include "model/cost/formula.h"
#include "model/cost/operation.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

enum { FIRST_CAPACITY = 1024, MAX_PRODUCT_POWER = 64 };

static uint64_t mix(uint64_t hash, uint64_t word) {
  // FNV-1a's multiplier, over words.
  return (hash ^ word ^ (word >> 29)) * 0x100000001b3;
}

static int *bucket_of(const struct value_table *values, const struct value *value) {
  uint64_t hash = mix(0xcbf29ce484222325, (uint64_t)value->operation);
  for (int i = 0; i < VALUE_OPERANDS; i++)
    hash = mix(hash, (uint64_t)value->operands[i]);
  hash = mix(hash, vector_to_bits(value->k));
  return &values->buckets[(hash ^ (hash >> 31)) % (uint64_t)values->capacity];
}

// Doubles the room for values and the number of buckets, and puts the values into the new buckets.
static void grow(struct value_table *values) {
  const int capacity = values->capacity ? 2 * values->capacity : FIRST_CAPACITY;
  values->list = arena_grow(values->arena, values->list, (size_t)values->count, (size_t)capacity,
                            sizeof *values->list);
  values->buckets = arena_array(values->arena, (size_t)capacity, sizeof *values->buckets);
  memset(values->buckets, -1, (size_t)capacity * sizeof *values->buckets);
  values->capacity = capacity;
  for (int i = 0; i < values->count; i++) {
    int *bucket = bucket_of(values, &values->list[i]);
    values->list[i].next = *bucket;
    *bucket = i;
  }
}

struct value_table *values_new(bool products, struct arena *arena) {
  struct value_table *values = arena_alloc(arena, sizeof *values);
  *values = (struct value_table){.arena = arena, .products = products};
  grow(values);
  return values;
}

static bool same_value(const struct value *a, const struct value *b) {
  return a->operation == b->operation && !memcmp(a->operands, b->operands, sizeof a->operands) &&
         vector_to_bits(a->k) == vector_to_bits(b->k);
}

// Whether what the value is computed from, if that is all numbers, makes it a number.
static bool gives_number(const struct value *value) {
  switch (value->operation) {
  case OPERATION_CONSTANT: return isfinite(value->k);
  case OPERATION_DIVIDE_BY: return value->k != 0;
  case OPERATION_DIVIDE:
  case OPERATION_INVERT:
  case OPERATION_POWER: return false;
  default: return true;
  }
}

static bool is_number(const struct value_table *values, const struct value *value) {
  bool number = gives_number(value);
  for (int i = 0; i < operation_operands(value->operation); i++)
    number &= values->list[value->operands[i]].number;
  return number;
}

static int intern(struct value_table *values, const struct value *wanted) {
  int *bucket = bucket_of(values, wanted);
  for (int i = *bucket; i >= 0; i = values->list[i].next)
    if (same_value(&values->list[i], wanted))
      return i;
  if (values->count == values->capacity) {
    grow(values);
    bucket = bucket_of(values, wanted);
  }
  values->list[values->count] = *wanted;
  values->list[values->count].next = *bucket;
  values->list[values->count].number = is_number(values, wanted);
  return *bucket = values->count++;
}

int value_constant(struct value_table *values, double constant) {
  return intern(values, &(struct value){OPERATION_CONSTANT, {-1, -1, -1}, constant, -1, false});
}

int value_variable(struct value_table *values, int number) {
  return intern(values, &(struct value){OPERATION_VARIABLE, {number, -1, -1}, 0, -1, false});
}

static bool is_constant(const struct value_table *values, int value) {
  return values->list[value].operation == OPERATION_CONSTANT;
}

static bool equals(const struct value_table *values, int value, double constant) {
  return is_constant(values, value) && values->list[value].k == constant;
}

static int operation(struct value_table *values, enum operation operation, int a, int b, int c,
                     double k) {
  const int operands[] = {a, b, c};
  double constants[VALUE_OPERANDS] = {0}, result;
  bool constant = true;
  for (int i = 0; i < operation_operands(operation) && i < VALUE_OPERANDS; i++) {
    constant &= is_constant(values, operands[i]);
    constants[i] = values->list[operands[i]].k;
  }
  if (!constant)
    return intern(values, &(struct value){operation, {a, b, c}, k, -1, false});
  operation_of(operation)(1, &result, &constants[0], &constants[1], &constants[2], k);
  return value_constant(values, result);
}

// An operation whose operands can be swapped: they are put in order, so that both orders are one
// value.
static int commuting(struct value_table *values, enum operation kind, int a, int b) {
  return operation(values, kind, a < b ? a : b, a < b ? b : a, -1, 0);
}

static int add(struct value_table *values, int a, int b) {
  if (is_constant(values, a) == is_constant(values, b))
    return commuting(values, OPERATION_ADD, a, b);
  const int varying = is_constant(values, a) ? b : a;
  const double constant = values->list[varying == a ? b : a].k;
  return constant == 0 ? varying
                       : operation(values, OPERATION_ADD_CONSTANT, varying, -1, -1, constant);
}

static int subtract(struct value_table *values, int a, int b) {
  if (is_constant(values, a) == is_constant(values, b))
    return operation(values, OPERATION_SUBTRACT, a, b, -1, 0);
  if (is_constant(values, a))
    return operation(values, OPERATION_SUBTRACT_FROM, b, -1, -1, values->list[a].k);
  const double constant = values->list[b].k;
  return constant == 0 ? a : operation(values, OPERATION_ADD_CONSTANT, a, -1, -1, -constant);
}

static int multiply(struct value_table *values, int a, int b) {
  if (is_constant(values, a) == is_constant(values, b))
    return commuting(values, OPERATION_MULTIPLY, a, b);
  const int varying = is_constant(values, a) ? b : a;
  const double constant = values->list[varying == a ? b : a].k;
  if (constant == 0 && (values->products || values->list[varying].number))
    return value_constant(values, 0);
  return constant == 1 ? varying
                       : operation(values, OPERATION_MULTIPLY_BY, varying, -1, -1, constant);
}

static int divide(struct value_table *values, int a, int b) {
  if (is_constant(values, a) == is_constant(values, b))
    return operation(values, OPERATION_DIVIDE, a, b, -1, 0);
  if (is_constant(values, a))
    return operation(values, OPERATION_INVERT, b, -1, -1, values->list[a].k);
  return equals(values, b, 1)
             ? a
             : operation(values, OPERATION_DIVIDE_BY, a, -1, -1, values->list[b].k);
}

static int power(struct value_table *values, int base, int exponent) {
  const double n = values->list[exponent].k;
  if (!values->products || is_constant(values, base) || !is_constant(values, exponent) || n == 0 ||
      n != trunc(n) || fabs(n) > MAX_PRODUCT_POWER)
    return operation(values, OPERATION_POWER, base, exponent, -1, 0);
  int product = value_constant(values, 1);
  for (int i = 0; i < (int)fabs(n); i++)
    product = multiply(values, product, base);
  return n < 0 ? divide(values, value_constant(values, 1), product) : product;
}

int value_of(struct value_table *values, enum operation kind, int a, int b, int c) {
  switch (kind) {
  case OPERATION_ADD: return add(values, a, b);
  case OPERATION_SUBTRACT: return subtract(values, a, b);
  case OPERATION_MULTIPLY: return multiply(values, a, b);
  case OPERATION_DIVIDE: return divide(values, a, b);
  case OPERATION_POWER: return power(values, a, b);
  case OPERATION_IF:
    if (is_constant(values, a))
      return isnan(values->list[a].k) ? a : values->list[a].k != 0 ? b : c;
    return b == c && values->list[a].number ? b : operation(values, kind, a, b, c, 0);
  case OPERATION_MIN:
  case OPERATION_MAX: return a == b ? a : operation(values, kind, a, b, -1, 0);
  default: return operation(values, kind, a, b, c, 0);
  }
}

int value_round(struct value_table *values, int a, int digits) {
  if (!is_constant(values, digits) || isnan(values->list[digits].k))
    return operation(values, OPERATION_ROUND_TO, a, digits, -1, 0);
  return operation(values, OPERATION_ROUND, a, -1, -1, arithmetic_scale(values->list[digits].k));
}

int value_ceil(struct value_table *values, int a) {
  return operation(values, OPERATION_CEIL, a, -1, -1, arithmetic_scale(CEIL_DECIMALS));
}

int value_floor(struct value_table *values, int a) {
  return operation(values, OPERATION_FLOOR, a, -1, -1, arithmetic_scale(CEIL_DECIMALS));
}
