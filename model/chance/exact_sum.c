#include "model/chance/exact_sum.h"

#include <math.h>
#include <string.h>

enum { LIMB_BITS = 32, LOWEST = -1074 };

static const uint64_t limb_mask = 0xffffffff;

void exact_sum_add(struct exact_sum *sum, double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  int exponent = (int)(bits >> 52 & 0x7ff);
  uint64_t mantissa = bits & 0xfffffffffffff;
  if (exponent)
    mantissa |= 0x10000000000000;
  else
    exponent = 1;
  int position = exponent - 1, limb = position / LIMB_BITS, shift = position % LIMB_BITS;
  int64_t sign = bits >> 63 ? -1 : 1;
  uint64_t low = (mantissa & limb_mask) << shift;
  uint64_t high = (mantissa >> LIMB_BITS << shift) + (low >> LIMB_BITS);
  sum->limbs[limb] += sign * (int64_t)(low & limb_mask);
  sum->limbs[limb + 1] += sign * (int64_t)(high & limb_mask);
  sum->limbs[limb + 2] += sign * (int64_t)(high >> LIMB_BITS);
}

void exact_sum_merge(struct exact_sum *into, const struct exact_sum *from) {
  for (int i = 0; i < EXACT_LIMBS; i++)
    if (from->limbs[i]) // leaves the memory of an empty sum untouched
      into->limbs[i] += from->limbs[i];
}

void exact_sum_normalise(struct exact_sum *sum) {
  for (int i = 0; i + 1 < EXACT_LIMBS; i++) {
    int64_t low = (int64_t)((uint64_t)sum->limbs[i] & limb_mask);
    sum->limbs[i + 1] += (sum->limbs[i] - low) / ((int64_t)1 << LIMB_BITS);
    sum->limbs[i] = low;
  }
}

double exact_sum_value(const struct exact_sum *sum) {
  struct exact_sum copy = *sum;
  exact_sum_normalise(&copy);
  double sign = 1, value = 0;
  if (copy.limbs[EXACT_LIMBS - 1] < 0) {
    for (int i = 0; i < EXACT_LIMBS; i++)
      copy.limbs[i] = -copy.limbs[i];
    exact_sum_normalise(&copy);
    sign = -1;
  }
  for (int i = EXACT_LIMBS - 1; i >= 0; i--)
    value += ldexp((double)copy.limbs[i], LIMB_BITS * i + LOWEST);
  return sign * value;
}
