// e4m3_bits: converts E4M3 to BF16 by moving bits, for platforms whose conversions run on a slower
// unit than other instructions. Included by platforms' files after bf16_pair_times and
// E4M3_BF16_SCALE.
//
// Moved to the place of a BF16's exponent and fraction, a code has 2^-120 of its value (biases 7
// and 127), subnormals too; one multiplication, which is exact, corrects that. NaN becomes 480,
// which does not occur: no weight is NaN, and rounding numbers to E4M3 makes none.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_E4M3_BITS_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_E4M3_BITS_H

#include <stdint.h>

// Each half of `extended` is a code with its sign in all bits above it.
DEVICE uint32_t e4m3_bits_bf16(uint32_t extended) {
  const uint32_t worth = (bits_of(0x1p120f / E4M3_BF16_SCALE) >> 16) * 0x10001u; // twice
  return bf16_pair_times(extended << 4 & 0x87F087F0u, worth);
}

#endif
