// integers: the arithmetic that dividing work, and aligning what it reads, needs again and again.
#ifndef PERTOKEN_KERNELS_INTEGERS_H
#define PERTOKEN_KERNELS_INTEGERS_H

#include <stddef.h>

static inline int ceiling(int value, int divisor) {
  return (value + divisor - 1) / divisor;
}

static inline size_t round_up(size_t value, size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

static inline int least(int a, int b) {
  return a < b ? a : b;
}

static inline size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

static inline size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

#endif
