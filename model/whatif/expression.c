#include "model/whatif/expression.h"

#include "model/cost/arithmetic.h"

#include <stdint.h>
#include <string.h>

enum { BUCKETS = 4096, MAX_PRODUCT_POWER = 64 };

int value_operand_count(enum value_kind kind) {
  static const signed char counts[VALUE_KINDS] = {
      [VALUE_MULTIPLY] = 2, [VALUE_DIVIDE] = 2,     [VALUE_INVERT] = 1,  [VALUE_POWER] = 2,
      [VALUE_MIN] = 2,      [VALUE_MAX] = 2,        [VALUE_IF] = 3,      [VALUE_ROUND] = 1,
      [VALUE_ROUND_BY] = 2, [VALUE_CEIL] = 1,       [VALUE_EQUAL] = 2,   [VALUE_UNEQUAL] = 2,
      [VALUE_LESS] = 2,     [VALUE_LESS_EQUAL] = 2, [VALUE_GREATER] = 2, [VALUE_GREATER_EQUAL] = 2,
  };
  return counts[kind];
}

struct expressions *expressions_new(struct arena *arena) {
  struct expressions *expressions = arena_alloc(arena, sizeof *expressions);
  expressions->arena = arena;
  expressions->buckets = arena_array(arena, BUCKETS, sizeof *expressions->buckets);
  for (int i = 0; i < BUCKETS; i++)
    expressions->buckets[i] = -1;
  return expressions;
}

static uint64_t mix(uint64_t hash, uint64_t word) {
  // FNV-1a's multiplier, over words.
  return (hash ^ word ^ (word >> 29)) * 0x100000001b3;
}

static uint64_t bits_of(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

static uint64_t hash_of(const struct value *value) {
  uint64_t hash = mix(0xcbf29ce484222325, (uint64_t)value->kind);
  for (int i = 0; i < VALUE_OPERANDS; i++)
    hash = mix(hash, (uint64_t)value->operands[i]);
  hash = mix(hash, bits_of(value->constant));
  for (int i = 0; i < value->term_count; i++)
    hash = mix(mix(hash, bits_of(value->terms[i].factor)), (uint64_t)value->terms[i].value);
  return hash ^ (hash >> 31);
}

static bool same_value(const struct value *a, const struct value *b) {
  if (a->kind != b->kind || memcmp(a->operands, b->operands, sizeof a->operands) != 0 ||
      bits_of(a->constant) != bits_of(b->constant) || a->term_count != b->term_count)
    return false;
  for (int i = 0; i < a->term_count; i++)
    if (a->terms[i].value != b->terms[i].value ||
        bits_of(a->terms[i].factor) != bits_of(b->terms[i].factor))
      return false;
  return true;
}

static int intern(struct expressions *expressions, const struct value *wanted) {
  int *bucket = &expressions->buckets[hash_of(wanted) % BUCKETS];
  for (int i = *bucket; i >= 0; i = expressions->values[i].next)
    if (same_value(&expressions->values[i], wanted))
      return i;
  if (expressions->count == expressions->capacity) {
    int capacity = expressions->capacity ? 2 * expressions->capacity : 256;
    expressions->values =
        arena_grow(expressions->arena, expressions->values, (size_t)expressions->count,
                   (size_t)capacity, sizeof *expressions->values);
    expressions->capacity = capacity;
  }
  int index = expressions->count++;
  expressions->values[index] = *wanted;
  expressions->values[index].next = *bucket;
  *bucket = index;
  return index;
}

static int operation(struct expressions *expressions, enum value_kind kind, int a, int b, int c,
                     double constant) {
  struct value value = {.kind = kind, .operands = {a, b, c}, .constant = constant};
  return intern(expressions, &value);
}

int expression_constant(struct expressions *expressions, double constant) {
  return operation(expressions, VALUE_CONSTANT, -1, -1, -1, constant == 0 ? 0 : constant);
}

int expression_variable(struct expressions *expressions, int number) {
  return operation(expressions, VALUE_VARIABLE, number, -1, -1, 0);
}

static bool is_constant(const struct expressions *expressions, int value) {
  return expressions->values[value].kind == VALUE_CONSTANT;
}

static double constant_of(const struct expressions *expressions, int value) {
  return expressions->values[value].constant;
}

// Any value as a sum. `own` holds the term of a value that is no sum itself.
struct linear {
  double constant;
  const struct term *terms;
  int count;
};

static struct linear linear_of(const struct expressions *expressions, int value, struct term *own) {
  const struct value *v = &expressions->values[value];
  if (v->kind == VALUE_CONSTANT)
    return (struct linear){v->constant, NULL, 0};
  if (v->kind == VALUE_SUM)
    return (struct linear){v->constant, v->terms, v->term_count};
  *own = (struct term){1, value};
  return (struct linear){0, own, 1};
}

static int sum_of(struct expressions *expressions, double constant, const struct term *terms,
                  int count) {
  if (count == 0)
    return expression_constant(expressions, constant);
  if (count == 1 && constant == 0 && terms[0].factor == 1)
    return terms[0].value;
  struct value value = {.kind = VALUE_SUM,
                        .operands = {-1, -1, -1},
                        .constant = constant,
                        .terms = terms,
                        .term_count = count};
  return intern(expressions, &value);
}

int expression_add(struct expressions *expressions, int a, int b, double factor) {
  struct term own_a, own_b;
  struct linear left = linear_of(expressions, a, &own_a);
  struct linear right = linear_of(expressions, b, &own_b);
  struct term *terms =
      arena_array(expressions->arena, (size_t)(left.count + right.count) + 1, sizeof *terms);
  int count = 0, i = 0, j = 0;
  while (i < left.count || j < right.count) {
    bool take_left =
        j == right.count || (i < left.count && left.terms[i].value <= right.terms[j].value);
    bool take_right =
        i == left.count || (j < right.count && right.terms[j].value <= left.terms[i].value);
    struct term term = {0, take_left ? left.terms[i].value : right.terms[j].value};
    if (take_left)
      term.factor += left.terms[i++].factor;
    if (take_right)
      term.factor += factor * right.terms[j++].factor;
    if (term.factor != 0)
      terms[count++] = term;
  }
  return sum_of(expressions, left.constant + factor * right.constant, terms, count);
}

static int scale(struct expressions *expressions, int value, double factor) {
  if (factor == 1)
    return value;
  return expression_add(expressions, expression_constant(expressions, 0), value, factor);
}

// Takes the factor out of factor * value.
static double take_factor(const struct expressions *expressions, int *value) {
  const struct value *v = &expressions->values[*value];
  if (v->kind != VALUE_SUM || v->term_count != 1 || v->constant != 0)
    return 1;
  *value = v->terms[0].value;
  return v->terms[0].factor;
}

int expression_multiply(struct expressions *expressions, int a, int b) {
  if (is_constant(expressions, a))
    return scale(expressions, b, constant_of(expressions, a));
  if (is_constant(expressions, b))
    return scale(expressions, a, constant_of(expressions, b));
  double factor = take_factor(expressions, &a);
  factor *= take_factor(expressions, &b);
  int product = operation(expressions, VALUE_MULTIPLY, a < b ? a : b, a < b ? b : a, -1, 0);
  return scale(expressions, product, factor);
}

int expression_divide(struct expressions *expressions, int a, int b) {
  bool constant_a = is_constant(expressions, a), constant_b = is_constant(expressions, b);
  double left = constant_of(expressions, a), right = constant_of(expressions, b);
  if (constant_b && constant_a)
    return expression_constant(expressions, left / right);
  if (constant_b)
    return scale(expressions, a, 1 / right);
  double divisor = take_factor(expressions, &b);
  if (constant_a) {
    int inverse = operation(expressions, VALUE_INVERT, b, -1, -1, 0);
    return scale(expressions, inverse, left / divisor);
  }
  double factor = take_factor(expressions, &a);
  int quotient = operation(expressions, VALUE_DIVIDE, a, b, -1, 0);
  return scale(expressions, quotient, factor / divisor);
}

int expression_power(struct expressions *expressions, int base, int exponent) {
  double n = constant_of(expressions, exponent);
  if (!is_constant(expressions, exponent))
    return operation(expressions, VALUE_POWER, base, exponent, -1, 0);
  if (is_constant(expressions, base))
    return expression_constant(expressions, pow(constant_of(expressions, base), n));
  if (n != trunc(n) || fabs(n) > MAX_PRODUCT_POWER)
    return operation(expressions, VALUE_POWER, base, exponent, -1, 0);
  int product = expression_constant(expressions, 1);
  for (int i = 0; i < (int)fabs(n); i++)
    product = expression_multiply(expressions, product, base);
  return n < 0 ? expression_divide(expressions, expression_constant(expressions, 1), product)
               : product;
}

int expression_min(struct expressions *expressions, int a, int b) {
  if (is_constant(expressions, a) && is_constant(expressions, b))
    return expression_constant(expressions,
                               fmin(constant_of(expressions, a), constant_of(expressions, b)));
  return a == b ? a : operation(expressions, VALUE_MIN, a, b, -1, 0);
}

int expression_max(struct expressions *expressions, int a, int b) {
  if (is_constant(expressions, a) && is_constant(expressions, b))
    return expression_constant(expressions,
                               fmax(constant_of(expressions, a), constant_of(expressions, b)));
  return a == b ? a : operation(expressions, VALUE_MAX, a, b, -1, 0);
}

int expression_if(struct expressions *expressions, int condition, int then, int otherwise) {
  if (is_constant(expressions, condition))
    return constant_of(expressions, condition) != 0 ? then : otherwise;
  return then == otherwise ? then : operation(expressions, VALUE_IF, condition, then, otherwise, 0);
}

int expression_round(struct expressions *expressions, int a, int digits) {
  if (!is_constant(expressions, digits))
    return operation(expressions, VALUE_ROUND_BY, a, digits, -1, 0);
  double power = arithmetic_scale(constant_of(expressions, digits));
  if (is_constant(expressions, a))
    return expression_constant(expressions,
                               arithmetic_round_scaled(constant_of(expressions, a), power));
  return operation(expressions, VALUE_ROUND, a, -1, -1, power);
}

int expression_ceil(struct expressions *expressions, int a) {
  if (is_constant(expressions, a))
    return expression_constant(expressions, arithmetic_ceil(constant_of(expressions, a)));
  return operation(expressions, VALUE_CEIL, a, -1, -1, arithmetic_scale(CEIL_DECIMALS));
}

static double compared(enum node_kind kind, double a, double b) {
  double difference = arithmetic_compare(a, b);
  switch (kind) {
  case NODE_EQUAL: return difference == 0;
  case NODE_UNEQUAL: return difference != 0;
  case NODE_LESS: return difference < 0;
  case NODE_LESS_EQUAL: return difference <= 0;
  case NODE_GREATER: return difference > 0;
  default: return difference >= 0;
  }
}

int expression_compare(struct expressions *expressions, enum node_kind kind, int a, int b) {
  if (is_constant(expressions, a) && is_constant(expressions, b))
    return expression_constant(
        expressions, compared(kind, constant_of(expressions, a), constant_of(expressions, b)));
  enum value_kind value = VALUE_EQUAL + (kind - NODE_EQUAL);
  return operation(expressions, value, a, b, -1, 0);
}
