// arithmetic: instructions that only use registers (PTX ISA, "Integer Arithmetic Instructions",
// "Floating Point Instructions", "Comparison and Selection Instructions", "Logic and Shift
// Instructions", "Data Movement and Conversion Instructions").
#include "tests/stand_ins/ptx/machine.h"

#include <math.h>

namespace {

// In an operation: destination d or D and sources a, b, c or A, B, C, of 32 or 64 bits; l is the
// lane.
#define OPERATION(name, body)                                                                      \
  void name(struct warp *w, const struct instruction *in, uint32_t mask) {                         \
    union lanes32 *const d = words(w, in, 0);                                                      \
    const union lanes32 *const a = words(w, in, 1), *const b = words(w, in, 2),                    \
                               *const c = words(w, in, 3);                                         \
    union lanes64 *const D = doubles(w, in, 0);                                                    \
    const union lanes64 *const A = doubles(w, in, 1), *const B = doubles(w, in, 2),                \
                               *const C = doubles(w, in, 3);                                       \
    (void)d, (void)a, (void)b, (void)c, (void)D, (void)A, (void)B, (void)C;                        \
    each_lane(mask, [=](int l) { body; });                                                         \
  }

// ---- integers

OPERATION(add_32, d->u[l] = a->u[l] + b->u[l])
OPERATION(add_64, D->u[l] = A->u[l] + B->u[l])
OPERATION(sub_32, d->u[l] = a->u[l] - b->u[l])
OPERATION(sub_64, D->u[l] = A->u[l] - B->u[l])
OPERATION(add_16, d->u[l] = (a->u[l] + b->u[l]) & 0xFFFF)
OPERATION(sub_16, d->u[l] = (a->u[l] - b->u[l]) & 0xFFFF)
OPERATION(neg_32, d->u[l] = 0 - a->u[l])
OPERATION(neg_64, D->u[l] = 0 - A->u[l])
OPERATION(mul_lo_32, d->u[l] = a->u[l] * b->u[l])
OPERATION(mul_lo_64, D->u[l] = A->u[l] * B->u[l])
OPERATION(mul_wide_s32, D->s[l] = (int64_t)a->s[l] * b->s[l])
OPERATION(mul_wide_u32, D->u[l] = (uint64_t)a->u[l] * b->u[l])
OPERATION(mul_wide_u16, d->u[l] = a->u[l] * b->u[l])
OPERATION(mul_wide_s16, d->s[l] = (int16_t)a->u[l] * (int16_t)b->u[l])
OPERATION(mad_lo_16, d->u[l] = (a->u[l] * b->u[l] + c->u[l]) & 0xFFFF)
OPERATION(mad_lo_32, d->u[l] = a->u[l] * b->u[l] + c->u[l])
OPERATION(mad_lo_64, D->u[l] = A->u[l] * B->u[l] + C->u[l])
OPERATION(min_s32, d->s[l] = a->s[l] < b->s[l] ? a->s[l] : b->s[l])
OPERATION(min_u32, d->u[l] = a->u[l] < b->u[l] ? a->u[l] : b->u[l])
OPERATION(max_s32, d->s[l] = a->s[l] > b->s[l] ? a->s[l] : b->s[l])
OPERATION(max_u32, d->u[l] = a->u[l] > b->u[l] ? a->u[l] : b->u[l])
OPERATION(max_u64, D->u[l] = A->u[l] > B->u[l] ? A->u[l] : B->u[l])

// Division by zero is undefined, and so is a result that does not fit.
#define DIVISION(name, divisor, impossible, body)                                                  \
  void name(struct warp *w, const struct instruction *in, uint32_t mask) {                         \
    union lanes32 *const d = words(w, in, 0);                                                      \
    const union lanes32 *const a = words(w, in, 1), *const b = words(w, in, 2);                    \
    union lanes64 *const D = doubles(w, in, 0);                                                    \
    const union lanes64 *const A = doubles(w, in, 1), *const B = doubles(w, in, 2);                \
    (void)d, (void)a, (void)b, (void)D, (void)A, (void)B;                                          \
    each_lane(mask, [=](int l) {                                                                   \
      if ((divisor) == 0 || (impossible)) {                                                        \
        fail(w, in, l, "a division that is undefined");                                            \
      } else {                                                                                     \
        body;                                                                                      \
      }                                                                                            \
    });                                                                                            \
  }
DIVISION(div_s32, b->s[l], b->s[l] == -1 && a->s[l] == INT32_MIN, d->s[l] = a->s[l] / b->s[l])
DIVISION(rem_s32, b->s[l], b->s[l] == -1 && a->s[l] == INT32_MIN, d->s[l] = a->s[l] % b->s[l])
DIVISION(div_u32, b->u[l], false, d->u[l] = a->u[l] / b->u[l])
DIVISION(rem_u32, b->u[l], false, d->u[l] = a->u[l] % b->u[l])
DIVISION(div_u16, b->u[l], false, d->u[l] = a->u[l] / b->u[l])
DIVISION(div_s64, B->s[l], B->s[l] == -1 && A->s[l] == INT64_MIN, D->s[l] = A->s[l] / B->s[l])
DIVISION(div_u64, B->u[l], false, D->u[l] = A->u[l] / B->u[l])

// ---- logic and shifts; shifts by more than the width count as by the width

OPERATION(and_32, d->u[l] = a->u[l] & b->u[l])
OPERATION(and_64, D->u[l] = A->u[l] & B->u[l])
OPERATION(or_32, d->u[l] = a->u[l] | b->u[l])
OPERATION(or_64, D->u[l] = A->u[l] | B->u[l])
OPERATION(xor_32, d->u[l] = a->u[l] ^ b->u[l])
OPERATION(xor_64, D->u[l] = A->u[l] ^ B->u[l])
OPERATION(not_32, d->u[l] = ~a->u[l])
OPERATION(popc_32, d->u[l] = (uint32_t)__builtin_popcount(a->u[l]))
OPERATION(shl_32, d->u[l] = b->u[l] > 31 ? 0 : a->u[l] << (b->u[l] & 31))
OPERATION(shl_16, d->u[l] = b->u[l] > 15 ? 0 : a->u[l] << (b->u[l] & 15) & 0xFFFF)
OPERATION(shl_64, D->u[l] = b->u[l] > 63 ? 0 : A->u[l] << (b->u[l] & 63))
OPERATION(shr_u32, d->u[l] = b->u[l] > 31 ? 0 : a->u[l] >> (b->u[l] & 31))
OPERATION(shr_u64, D->u[l] = b->u[l] > 63 ? 0 : A->u[l] >> (b->u[l] & 63))
OPERATION(shr_s32, d->s[l] = a->s[l] >> (b->u[l] > 31 ? 31 : b->u[l]))
OPERATION(shr_s16, d->u[l] = ((int16_t)a->u[l] >> (b->u[l] > 15 ? 15 : b->u[l])) & 0xFFFF)
OPERATION(shr_u16, d->u[l] = b->u[l] > 15 ? 0 : (a->u[l] & 0xFFFF) >> (b->u[l] & 15))

// bfi f, a, b, c, d: inserts the d low bits of a into b from bit c on.
void bfi_32(struct warp *w, const struct instruction *in, uint32_t mask) {
  union lanes32 *const d = words(w, in, 0);
  const union lanes32 *const a = words(w, in, 1), *const b = words(w, in, 2),
                             *const from = words(w, in, 3), *const count = words(w, in, 4);
  each_lane(mask, [=](int l) {
    const uint32_t at = from->u[l] & 0xFF, bits = count->u[l] & 0xFF;
    const uint64_t field = at > 31 ? 0 : ((UINT64_C(1) << (bits > 32 ? 32 : bits)) - 1) << at;
    d->u[l] = (uint32_t)((b->u[l] & ~field) | ((uint64_t)a->u[l] << (at & 31) & field));
  });
}

// prmt: each of the low four digits of c chooses a byte of b:a, or with 8 added its sign.
uint32_t permuted(uint32_t a, uint32_t b, uint32_t c) {
  const uint64_t all = (uint64_t)b << 32 | a;
  uint32_t out = 0;
  for (int i = 0; i < 4; i++) {
    const uint32_t digit = c >> 4 * i & 15;
    const uint32_t byte = all >> 8 * (digit & 7) & 0xFF;
    out |= (digit & 8 ? (byte & 0x80 ? 0xFFu : 0) : byte) << 8 * i;
  }
  return out;
}
OPERATION(prmt_32, d->u[l] = permuted(a->u[l], b->u[l], c->u[l]))

// ---- predicates

#define ON_PREDICATES(name, expression)                                                            \
  void name(struct warp *w, const struct instruction *in, uint32_t mask) {                         \
    const uint32_t a = words(w, in, 1)->u[0], b = words(w, in, 2)->u[0];                           \
    uint32_t *const d = words(w, in, 0)->u;                                                        \
    (void)a, (void)b;                                                                              \
    *d = (*d & ~mask) | ((expression)&mask);                                                       \
  }
ON_PREDICATES(and_pred, a &b)
ON_PREDICATES(or_pred, a | b)
ON_PREDICATES(xor_pred, a ^ b)
ON_PREDICATES(not_pred, ~a)

// From a predicate or, from a number: false for 0 (PTX ISA, mov: immediates for .pred).
void mov_pred(struct warp *w, const struct instruction *in, uint32_t mask) {
  uint32_t *const d = words(w, in, 0)->u;
  *d = (*d & ~mask) | (words(w, in, 1)->u[0] & mask);
}
void mov_pred_number(struct warp *w, const struct instruction *in, uint32_t mask) {
  uint32_t *const d = words(w, in, 0)->u;
  *d = (*d & ~mask) | (words(w, in, 1)->u[0] ? mask : 0);
}

#define COMPARISON(name, expression)                                                               \
  void name(struct warp *w, const struct instruction *in, uint32_t mask) {                         \
    const union lanes32 *const a = words(w, in, 1), *const b = words(w, in, 2);                    \
    const union lanes64 *const A = doubles(w, in, 1), *const B = doubles(w, in, 2);                \
    (void)a, (void)b, (void)A, (void)B;                                                            \
    uint32_t bits = 0, *const d = words(w, in, 0)->u;                                              \
    for (int l = 0; l < LANES; l++) {                                                              \
      bits |= (uint32_t)(expression) << l;                                                         \
    }                                                                                              \
    *d = (*d & ~mask) | (bits & mask);                                                             \
  }
COMPARISON(eq_32, a->u[l] == b->u[l])
COMPARISON(ne_32, a->u[l] != b->u[l])
COMPARISON(lt_s32, a->s[l] < b->s[l])
COMPARISON(le_s32, a->s[l] <= b->s[l])
COMPARISON(gt_s32, a->s[l] > b->s[l])
COMPARISON(ge_s32, a->s[l] >= b->s[l])
COMPARISON(lt_u32, a->u[l] < b->u[l])
COMPARISON(gt_u32, a->u[l] > b->u[l])
COMPARISON(ge_u32, a->u[l] >= b->u[l])
COMPARISON(le_u32, a->u[l] <= b->u[l])
COMPARISON(eq_16, (a->u[l] & 0xFFFF) == (b->u[l] & 0xFFFF))
COMPARISON(ne_16, (a->u[l] & 0xFFFF) != (b->u[l] & 0xFFFF))
COMPARISON(gt_u16, (a->u[l] & 0xFFFF) > (b->u[l] & 0xFFFF))
COMPARISON(gt_s16, (int16_t)a->u[l] > (int16_t)b->u[l])
COMPARISON(lt_u16, (a->u[l] & 0xFFFF) < (b->u[l] & 0xFFFF))
COMPARISON(lt_s16, (int16_t)a->u[l] < (int16_t)b->u[l])
COMPARISON(eq_64, A->u[l] == B->u[l])
COMPARISON(ne_64, A->u[l] != B->u[l])
COMPARISON(lt_s64, A->s[l] < B->s[l])
COMPARISON(lt_u64, A->u[l] < B->u[l])
COMPARISON(le_u64, A->u[l] <= B->u[l])
COMPARISON(gt_u64, A->u[l] > B->u[l])
COMPARISON(ge_u64, A->u[l] >= B->u[l])
COMPARISON(eq_f32, a->f[l] == b->f[l])
COMPARISON(neu_f32, !(a->f[l] == b->f[l]))
COMPARISON(lt_f32, a->f[l] < b->f[l])
COMPARISON(leu_f32, !(a->f[l] > b->f[l]))
COMPARISON(gt_f32, a->f[l] > b->f[l])
COMPARISON(ge_f32, a->f[l] >= b->f[l])
COMPARISON(num_f32, !isnan(a->f[l]) && !isnan(b->f[l]))

// selp d, a, b, p
OPERATION(selp_32, d->u[l] = c->u[0] >> l & 1 ? a->u[l] : b->u[l])
OPERATION(selp_64, D->u[l] = c->u[0] >> l & 1 ? A->u[l] : B->u[l])

// ---- floats: to nearest even, subnormal numbers kept

OPERATION(add_f32, d->f[l] = a->f[l] + b->f[l])
OPERATION(sub_f32, d->f[l] = a->f[l] - b->f[l])
OPERATION(mul_f32, d->f[l] = a->f[l] * b->f[l])
OPERATION(div_f32, d->f[l] = a->f[l] / b->f[l])
OPERATION(rcp_f32, d->f[l] = 1.0f / a->f[l])
OPERATION(sqrt_f32, d->f[l] = sqrtf(a->f[l]))
OPERATION(neg_f32, d->u[l] = a->u[l] ^ 0x80000000u)
OPERATION(abs_f32, d->u[l] = a->u[l] & 0x7FFFFFFFu)
// For a number and NaN, the number.
OPERATION(min_f32, d->f[l] = fminf(a->f[l], b->f[l]))
OPERATION(max_f32, d->f[l] = fmaxf(a->f[l], b->f[l]))

// a b + c as a double with its last bit set if it is not exact, which rounds to float as the exact
// value does (Boldo and Melquiond, "When double rounding is odd", 2005); the error by Knuth's
// two-sum.
double sum_to_odd(float a, float b, float c) {
  const double product = (double)a * b, sum = product + c, part = sum - product;
  const double error = (product - (sum - part)) + (c - part);
  union {
    double value;
    uint64_t bits;
  } odd = {sum};
  if (error != 0 && error == error && !(odd.bits & 1)) {
    odd.bits += (error > 0) == (sum > 0) ? 1 : UINT64_MAX;
  }
  return odd.value;
}
float rounded_down(double exact) {
  const float nearest = (float)exact;
  return (double)nearest > exact ? nextafterf(nearest, -INFINITY) : nearest;
}
OPERATION(fma_rn, d->f[l] = (float)sum_to_odd(a->f[l], b->f[l], c->f[l]))
OPERATION(fma_rm, d->f[l] = rounded_down(sum_to_odd(a->f[l], b->f[l], c->f[l])))

float flushed(float v) {
  return fabsf(v) < 0x1p-126f ? copysignf(0, v) : v;
}
OPERATION(ex2_ftz, d->f[l] = flushed(exp2f(flushed(a->f[l]))))

// ---- conversions

OPERATION(mov_32, d->u[l] = a->u[l])
OPERATION(mov_64, D->u[l] = A->u[l])
OPERATION(s64_s32, D->s[l] = a->s[l])
OPERATION(s64_low_s32, D->s[l] = (int32_t)A->u[l])
OPERATION(s64_s16, D->s[l] = (int16_t)a->u[l])
OPERATION(u64_u32, D->u[l] = a->u[l])
OPERATION(u32_u64, d->u[l] = (uint32_t)A->u[l])
OPERATION(u32_u16, d->u[l] = a->u[l] & 0xFFFF)
OPERATION(u16_u32, d->u[l] = a->u[l] & 0xFFFF)
OPERATION(s8_s32, d->u[l] = (uint32_t)(int8_t)a->u[l] & 0xFFFF)
OPERATION(s32_s16, d->s[l] = (int16_t)a->u[l])
OPERATION(s32_s8, d->s[l] = (int8_t)a->u[l])
OPERATION(s16_s8, d->u[l] = (uint32_t)(int8_t)a->u[l] & 0xFFFF)
OPERATION(f32_s32, d->f[l] = (float)a->s[l])
OPERATION(f32_u32, d->f[l] = (float)a->u[l])
OPERATION(f32_s16, d->f[l] = (float)(int16_t)a->u[l])
// NaN becomes 0 (PTX ISA, cvt).
OPERATION(sat_f32, d->f[l] = a->f[l] >= 1 ? 1 : a->f[l] > 0 ? a->f[l] : 0)
OPERATION(pack_32, D->u[l] = (uint64_t)b->u[l] << 32 | a->u[l])
OPERATION(pack_16, d->u[l] = (a->u[l] & 0xFFFF) | b->u[l] << 16)

void unpack_16(struct warp *w, const struct instruction *in, uint32_t mask) {
  union lanes32 *const low = words(w, in, 0), *const high = words(w, in, 1);
  const union lanes32 *const a = words(w, in, 2);
  each_lane(mask, [=](int l) {
    low->u[l] = a->u[l] & 0xFFFF;
    high->u[l] = a->u[l] >> 16;
  });
}

void unpack_32(struct warp *w, const struct instruction *in, uint32_t mask) {
  union lanes32 *const low = words(w, in, 0), *const high = words(w, in, 1);
  const union lanes64 *const a = doubles(w, in, 2);
  each_lane(mask, [=](int l) {
    const uint64_t value = a->u[l]; // which the two may overwrite
    low->u[l] = (uint32_t)value;
    high->u[l] = (uint32_t)(value >> 32);
  });
}

uint32_t bf16_bits(float v) {
  const uint32_t u = float_bits(v);
  return v != v ? 0x7FFF : (u + 0x7FFF + (u >> 16 & 1)) >> 16;
}
// cvt d, a, b: a in the upper half, b in the lower.
OPERATION(bf16x2, d->u[l] = bf16_bits(a->f[l]) << 16 | bf16_bits(b->f[l]))

float bf16_value(uint32_t bits) {
  return bits_float(bits << 16);
}
// Rounded to float in between: that never affects a result that BF16 can represent, and the
// emulator of the kernels' source ensures that they need no others.
uint32_t bf16_fma(uint32_t a, uint32_t b, uint32_t c) {
  return bf16_bits(fmaf(bf16_value(a), bf16_value(b), bf16_value(c)));
}
OPERATION(fma_bf16x2, d->u[l] = bf16_fma(a->u[l] & 0xFFFF, b->u[l] & 0xFFFF, c->u[l] & 0xFFFF) |
                                bf16_fma(a->u[l] >> 16, b->u[l] >> 16, c->u[l] >> 16) << 16)

// E4M3: 4 bits of exponent, bias 7, 3 of fraction; no infinity, 0x7F is NaN; at most 448.
uint32_t e4m3_code(float v) {
  const uint32_t sign = float_bits(v) >> 31 << 7;
  const float size = fabsf(v);
  int exponent = 0;
  if (v != v) {
    return 0x7F;
  }
  if (size >= 448) {
    return sign | 0x7E;
  }
  frexpf(size, &exponent); // size = fraction 2^exponent, fraction in [0.5, 1)
  const int least = exponent < -5 || size == 0 ? -6 : exponent - 1;
  const uint32_t steps = (uint32_t)nearbyintf(ldexpf(size, 3 - least)); // 8 to 16 for normal ones
  return sign | (steps + (uint32_t)(least + 6) * 8);
}
OPERATION(e4m3x2, d->u[l] = e4m3_code(a->f[l]) << 8 | e4m3_code(b->f[l]))
OPERATION(f16x2_e4m3x2, d->u[l] = half_bits(e4m3_value(a->u[l] & 0xFF)) |
                                  half_bits(e4m3_value(a->u[l] >> 8 & 0xFF)) << 16)
OPERATION(f32_f16, d->f[l] = half_value(a->u[l] & 0xFFFF))
OPERATION(mul_f16x2,
          d->u[l] = half_bits(half_value(a->u[l] & 0xFFFF) * half_value(b->u[l] & 0xFFFF)) |
                    half_bits(half_value(a->u[l] >> 16) * half_value(b->u[l] >> 16)) << 16)

// ---- shuffles: shfl.sync d|p, a, b, c, mask. With c = 31: no segments, nobody out of range.

template <class SOURCE>
void shuffle(struct warp *w, const struct instruction *in, uint32_t mask, SOURCE source) {
  const union lanes32 from = *words(w, in, 2);
  union lanes32 *const d = words(w, in, 0);
  const union lanes32 *const b = words(w, in, 3), *const c = words(w, in, 4);
  uint32_t *const p = words(w, in, 1)->u;
  each_lane(mask, [=](int l) {
    const int other = source(l, (int)(b->u[l] & 31));
    if (c->u[l] != 31 || !(mask >> other & 1)) {
      fail(w, in, l, "a shuffle in segments, or from a lane that is not there");
    }
    d->u[l] = from.u[other];
  });
  *p |= mask;
}
void shfl_bfly(struct warp *w, const struct instruction *in, uint32_t mask) {
  shuffle(w, in, mask, [](int lane, int b) { return lane ^ b; });
}
void shfl_idx(struct warp *w, const struct instruction *in, uint32_t mask) {
  shuffle(w, in, mask, [](int, int b) { return b; });
}

// Which lane is elected, PTX leaves open, as long as it is always the same: not the first.
void elect(struct warp *w, const struct instruction *in, uint32_t mask) {
  const int leader = 31 - __builtin_clz(mask);
  uint32_t *const p = words(w, in, 1)->u;
  union lanes32 *const d = words(w, in, 0);
  each_lane(mask, [=](int l) { d->u[l] = (uint32_t)leader; });
  *p = (*p & ~mask) | UINT32_C(1) << leader;
}

void nothing(struct warp *, const struct instruction *, uint32_t) {}

} // namespace

float half_value(uint32_t bits) {
  const uint32_t sign = bits >> 15 << 31, rest = bits & 0x7FFF;
  if (rest >= 0x7C00) {
    return bits_float(sign | 0x7F800000u | (rest & 0x3FF) << 13);
  }
  return bits_float(float_bits(bits_float(rest << 13) * 0x1p112f) | sign); // biases 15, 127
}

uint32_t half_bits(float v) {
  const uint32_t sign = float_bits(v) >> 31 << 15, u = float_bits(fabsf(v));
  if (v != v) {
    return 0x7FFF;
  }
  if (fabsf(v) >= 65520) {
    return sign | 0x7C00;
  }
  if (fabsf(v) < 0x1p-14f) { // steps of 2^-24: the last place of floats near 1/2
    return sign | (float_bits(fabsf(v) + 0.5f) - float_bits(0.5f));
  }
  return sign | (((u + 0xFFF + (u >> 13 & 1)) >> 13) - (112u << 10));
}

float e4m3_value(uint32_t code) {
  const int exponent = (int)(code >> 3 & 15), fraction = (int)(code & 7);
  if ((code & 0x7F) == 0x7F) {
    return NAN;
  }
  const float size =
      exponent ? ldexpf((float)(8 + fraction), exponent - 10) : ldexpf((float)fraction, -9);
  return code & 0x80 ? -size : size;
}

const struct operation_entry arithmetic_operations[] = {
    {"add.s32", "r=rr", add_32, PLAIN},
    {"add.s64", "d=dd", add_64, PLAIN},
    {"sub.s32", "r=rr", sub_32, PLAIN},
    {"sub.s64", "d=dd", sub_64, PLAIN},
    {"add.s16", "h=hh", add_16, PLAIN},
    {"sub.s16", "h=hh", sub_16, PLAIN},
    {"neg.s32", "r=r", neg_32, PLAIN},
    {"neg.s64", "d=d", neg_64, PLAIN},
    {"mul.lo.s32", "r=rr", mul_lo_32, PLAIN},
    {"mul.lo.s64", "d=dd", mul_lo_64, PLAIN},
    {"mul.wide.s32", "d=rr", mul_wide_s32, PLAIN},
    {"mul.wide.u32", "d=rr", mul_wide_u32, PLAIN},
    {"mul.wide.u16", "r=hh", mul_wide_u16, PLAIN},
    {"mul.wide.s16", "r=hh", mul_wide_s16, PLAIN},
    {"mad.lo.s16", "h=hhh", mad_lo_16, PLAIN},
    {"mad.lo.s32", "r=rrr", mad_lo_32, PLAIN},
    {"mad.lo.s64", "d=ddd", mad_lo_64, PLAIN},
    {"min.s32", "r=rr", min_s32, PLAIN},
    {"min.u32", "r=rr", min_u32, PLAIN},
    {"max.s32", "r=rr", max_s32, PLAIN},
    {"max.u32", "r=rr", max_u32, PLAIN},
    {"max.u64", "d=dd", max_u64, PLAIN},
    {"div.s32", "r=rr", div_s32, PLAIN},
    {"rem.s32", "r=rr", rem_s32, PLAIN},
    {"div.u32", "r=rr", div_u32, PLAIN},
    {"rem.u32", "r=rr", rem_u32, PLAIN},
    {"div.u16", "h=hh", div_u16, PLAIN},
    {"div.s64", "d=dd", div_s64, PLAIN},
    {"div.u64", "d=dd", div_u64, PLAIN},
    {"and.b16", "h=hh", and_32, PLAIN},
    {"and.b32", "r=rr", and_32, PLAIN},
    {"and.b64", "d=dd", and_64, PLAIN},
    {"or.b16", "h=hh", or_32, PLAIN},
    {"or.b32", "r=rr", or_32, PLAIN},
    {"or.b64", "d=dd", or_64, PLAIN},
    {"xor.b32", "r=rr", xor_32, PLAIN},
    {"xor.b64", "d=dd", xor_64, PLAIN},
    {"not.b32", "r=r", not_32, PLAIN},
    {"popc.b32", "r=r", popc_32, PLAIN},
    {"shl.b16", "h=hr", shl_16, PLAIN},
    {"shl.b32", "r=rr", shl_32, PLAIN},
    {"shl.b64", "d=dr", shl_64, PLAIN},
    {"shr.u16", "h=hr", shr_u16, PLAIN},
    {"shr.s16", "h=hr", shr_s16, PLAIN},
    {"shr.u32", "r=rr", shr_u32, PLAIN},
    {"shr.u64", "d=dr", shr_u64, PLAIN},
    {"shr.s32", "r=rr", shr_s32, PLAIN},
    {"bfi.b32", "r=rrrr", bfi_32, PLAIN},
    {"prmt.b32", "r=rrr", prmt_32, PLAIN},
    {"and.pred", "p=pp", and_pred, PLAIN},
    {"or.pred", "p=pp", or_pred, PLAIN},
    {"xor.pred", "p=pp", xor_pred, PLAIN},
    {"not.pred", "p=p", not_pred, PLAIN},
    {"mov.pred", "p=i", mov_pred_number, PLAIN},
    {"mov.pred", "p=p", mov_pred, PLAIN},
    {"setp.eq.b32", "p=rr", eq_32, PLAIN},
    {"setp.ne.b32", "p=rr", ne_32, PLAIN},
    {"setp.eq.s32", "p=rr", eq_32, PLAIN},
    {"setp.ne.s32", "p=rr", ne_32, PLAIN},
    {"setp.ne.u32", "p=rr", ne_32, PLAIN},
    {"setp.lt.s32", "p=rr", lt_s32, PLAIN},
    {"setp.le.s32", "p=rr", le_s32, PLAIN},
    {"setp.gt.s32", "p=rr", gt_s32, PLAIN},
    {"setp.ge.s32", "p=rr", ge_s32, PLAIN},
    {"setp.lt.u32", "p=rr", lt_u32, PLAIN},
    {"setp.le.u32", "p=rr", le_u32, PLAIN},
    {"setp.gt.u32", "p=rr", gt_u32, PLAIN},
    {"setp.ge.u32", "p=rr", ge_u32, PLAIN},
    {"setp.eq.b16", "p=hh", eq_16, PLAIN},
    {"setp.eq.s16", "p=hh", eq_16, PLAIN},
    {"setp.ne.s16", "p=hh", ne_16, PLAIN},
    {"setp.gt.u16", "p=hh", gt_u16, PLAIN},
    {"setp.gt.s16", "p=hh", gt_s16, PLAIN},
    {"setp.lt.u16", "p=hh", lt_u16, PLAIN},
    {"setp.lt.s16", "p=hh", lt_s16, PLAIN},
    {"setp.eq.s64", "p=dd", eq_64, PLAIN},
    {"setp.eq.b64", "p=dd", eq_64, PLAIN},
    {"setp.ne.s64", "p=dd", ne_64, PLAIN},
    {"setp.lt.s64", "p=dd", lt_s64, PLAIN},
    {"setp.lt.u64", "p=dd", lt_u64, PLAIN},
    {"setp.le.u64", "p=dd", le_u64, PLAIN},
    {"setp.gt.u64", "p=dd", gt_u64, PLAIN},
    {"setp.ge.u64", "p=dd", ge_u64, PLAIN},
    {"setp.eq.f32", "p=rr", eq_f32, PLAIN},
    {"setp.neu.f32", "p=rr", neu_f32, PLAIN},
    {"setp.lt.f32", "p=rr", lt_f32, PLAIN},
    {"setp.leu.f32", "p=rr", leu_f32, PLAIN},
    {"setp.gt.f32", "p=rr", gt_f32, PLAIN},
    {"setp.ge.f32", "p=rr", ge_f32, PLAIN},
    {"setp.num.f32", "p=rr", num_f32, PLAIN},
    {"selp.b32", "r=rrp", selp_32, PLAIN},
    {"selp.u32", "r=rrp", selp_32, PLAIN},
    {"selp.s32", "r=rrp", selp_32, PLAIN},
    {"selp.f32", "r=rrp", selp_32, PLAIN},
    {"selp.b16", "h=hhp", selp_32, PLAIN},
    {"selp.b64", "d=ddp", selp_64, PLAIN},
    {"add.f32", "r=rr", add_f32, PLAIN},
    {"sub.f32", "r=rr", sub_f32, PLAIN},
    {"mul.f32", "r=rr", mul_f32, PLAIN},
    {"div.rn.f32", "r=rr", div_f32, PLAIN},
    {"rcp.rn.f32", "r=r", rcp_f32, PLAIN},
    {"sqrt.approx.f32", "r=r", sqrt_f32, PLAIN},
    {"neg.f32", "r=r", neg_f32, PLAIN},
    {"abs.f32", "r=r", abs_f32, PLAIN},
    {"min.f32", "r=rr", min_f32, PLAIN},
    {"max.f32", "r=rr", max_f32, PLAIN},
    {"fma.rn.f32", "r=rrr", fma_rn, PLAIN},
    {"fma.rm.f32", "r=rrr", fma_rm, PLAIN},
    {"ex2.approx.ftz.f32", "r=r", ex2_ftz, PLAIN},
    {"mov.b16", "h=h", mov_32, PLAIN},
    {"mov.u16", "h=h", mov_32, PLAIN},
    {"mov.u32", "r=r", mov_32, PLAIN},
    {"mov.b32", "r=r", mov_32, PLAIN},
    {"mov.f32", "r=r", mov_32, PLAIN},
    {"mov.u64", "d=d", mov_64, PLAIN},
    {"mov.b64", "d=d", mov_64, PLAIN},
    {"mov.b64", "d={r2}", pack_32, PLAIN},
    {"mov.b64", "{r2}=d", unpack_32, PLAIN},
    {"mov.b32", "{h2}=r", unpack_16, PLAIN},
    {"mov.b32", "r={h2}", pack_16, PLAIN},
    {"cvt.s64.s32", "d=r", s64_s32, PLAIN},
    {"cvt.s64.s32", "d=d", s64_low_s32, PLAIN},
    {"cvt.s64.s16", "d=h", s64_s16, PLAIN},
    {"cvt.u64.u32", "d=r", u64_u32, PLAIN},
    {"cvt.u32.u64", "r=d", u32_u64, PLAIN},
    {"cvt.u32.u16", "r=h", u32_u16, PLAIN},
    {"cvt.u16.u32", "h=r", u16_u32, PLAIN},
    {"cvt.s8.s32", "h=r", s8_s32, PLAIN},
    {"cvt.s32.s16", "r=h", s32_s16, PLAIN},
    {"cvt.s32.s16", "r=r", s32_s16, PLAIN},
    {"cvt.s32.s8", "r=r", s32_s8, PLAIN},
    {"cvt.s16.s8", "h=h", s16_s8, PLAIN},
    {"cvt.rn.f32.s32", "r=r", f32_s32, PLAIN},
    {"cvt.rn.f32.u32", "r=r", f32_u32, PLAIN},
    {"cvt.rn.f32.s16", "r=h", f32_s16, PLAIN},
    {"cvt.sat.f32.f32", "r=r", sat_f32, PLAIN},
    {"cvt.rn.bf16x2.f32", "r=rr", bf16x2, PLAIN},
    {"cvt.rn.satfinite.e4m3x2.f32", "h=rr", e4m3x2, PLAIN},
    {"cvt.rn.f16x2.e4m3x2", "r=h", f16x2_e4m3x2, PLAIN},
    {"cvt.f32.f16", "r=h", f32_f16, PLAIN},
    {"mul.rn.f16x2", "r=rr", mul_f16x2, PLAIN},
    {"fma.rn.bf16x2", "r=rrr", fma_bf16x2, PLAIN},
    // Arguments are at their generic address, and global memory at the host's.
    {"cvta.to.global.u64", "d=d", mov_64, PLAIN},
    {"cvta.param.u64", "d=d", mov_64, PLAIN},
    {"shfl.sync.bfly.b32", "rp=rrrr", shfl_bfly, MASK_TOGETHER},
    {"shfl.sync.idx.b32", "rp=rrrr", shfl_idx, MASK_TOGETHER},
    {"bra", "=L", nothing, BRANCH},
    {"bra.uni", "=L", nothing, BRANCH},
    {"ret", "=", nothing, RETURN},
    {"call.uni", "=L", nothing, CALL},
    {"bar.sync", "=i", nothing, BLOCK_WAIT},
    {"bar.red.or.pred", "p=ip", nothing, BLOCK_WAIT},
    {"elect.sync", "rp=r", elect, MASK_TOGETHER},
    {"bar.warp.sync", "=r", nothing, MASK_TOGETHER},
    {}};
