// vector: what the loops over a block of draws share: the length of a block, the processors that
// they are compiled for, and elementary functions without branches or calls, so that loops over
// them are vectorised. Nothing here depends on the processor's vector width: sums and products are
// never fused or reordered, so every clone gives the same bits.
#ifndef PERTOKEN_BASE_VECTOR_H
#define PERTOKEN_BASE_VECTOR_H

#include <stdint.h>
#include <string.h>

// Draws that are computed together: a vector of them is 2 KiB, so that the vectors in use stay in
// the first-level cache.
enum { VECTOR_BLOCK = 256, VECTOR_ALIGNMENT = 64 };

// The sanitizers are incompatible with the clones' resolvers, which run before anything else.
#if defined(__x86_64__) && defined(__gnu_linux__) && !defined(__clang__) &&                        \
    !defined(__SANITIZE_ADDRESS__)
#if __GNUC__ >= 12
#define VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v4", "avx2", "default")))
#else // Ubuntu 22.04's gcc 11 cannot clone for a level of the architecture
#define VECTOR_CLONES __attribute__((target_clones("avx512f", "avx2", "default")))
#endif
#else
#define VECTOR_CLONES
#endif

static inline double vector_from_bits(uint64_t bits) {
  double x;
  memcpy(&x, &bits, sizeof x);
  return x;
}

static inline uint64_t vector_to_bits(double x) {
  uint64_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

// A small whole number as a double: added to 1.5 * 2^52, it occupies the last bits.
static inline double vector_from_small(uint64_t n) {
  return vector_from_bits(n + 0x4338000000000000) - 0x1.8p52;
}

// Natural logarithm of a positive normal number. x = 2^k m, m within [sqrt(1/2), sqrt(2)), and log
// m = 2 atanh(s), s = (m - 1) / (m + 1), as the series in s^2 up to s^21: remainder below 1e-18.
static inline double vector_log(double x) {
  const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  uint64_t root = 0x3fe6a09e667f3bcd; // sqrt(1/2)
  uint64_t k = ((vector_to_bits(x) - root + 0x4000000000000000) >> 52) - 0x400;
  double m = vector_from_bits(vector_to_bits(x) - (k << 52));
  double s = (m - 1) / (m + 1), z = s * s;
  double series =
      1. / 3 +
      z * (1. / 5 +
           z * (1. / 7 +
                z * (1. / 9 + z * (1. / 11 +
                                   z * (1. / 13 +
                                        z * (1. / 15 + z * (1. / 17 + z * (1. / 19 + z / 21))))))));
  double exponent = vector_from_small(k);
  return exponent * ln2_high + (2 * s + (2 * s * z * series + exponent * ln2_low));
}

// e^x for x within [-708, 709]; beyond, the nearest end is used: x = n ln 2 + r, and the Taylor
// series of e^r up to r^13, with a remainder below 5e-18.
static inline double vector_exp(double x) {
  const double ln2_high = 0x1.62e42fefa38p-1, ln2_low = 0x1.ef35793c7673p-45;
  x = x < -708 ? -708 : x > 709 ? 709 : x;
  double shifted = x * 0x1.71547652b82fep0 + 0x1.8p52;
  double n = shifted - 0x1.8p52;
  double r = (x - n * ln2_high) - n * ln2_low;
  double series = 1 + r / 13;
  for (int i = 12; i > 0; i--)
    series = 1 + r * (1. / i) * series;
  uint64_t power = (vector_to_bits(shifted) - 0x4338000000000000 + 1023) << 52;
  return series * vector_from_bits(power);
}

#endif
