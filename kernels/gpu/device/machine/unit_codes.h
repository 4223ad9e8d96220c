// unit_codes: weights stored in units (kernels/gpu/units.h), as BF16, an octet at a time.
//
// Every code times its block's power of two, or its E4M3 scale, is exact in BF16. With groups,
// whose scale is BF16, only the codes are exact, so each unit is summed separately.
//
// A small float's bits, moved to the place of BF16's exponent and fraction, have 2^-126 of their
// value (2^-124 with three exponent bits), subnormals too. The scale that they are multiplied by
// corrects for that except for UNIT_WORTH, so that neither overflows: with e8m0 scales from 2^-97
// to 2^33 everything is exact. The instruction of sm_100a for e2m1 would not help: it gives F16,
// which would have to become BF16, and takes no scale (PTX ISA 8.6, cvt). Those of gfx950 for e2m1,
// e2m3 and e3m2 give BF16 and take a scale, but for neighbors in a byte or in 192 bits ("AMD
// Instinct CDNA4 Instruction Set Architecture", V_CVT_SCALEF32_PK). They are not used: the pairs of
// units.h are 16 bits apart, and clang has those instructions only since version 20.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_UNIT_CODES_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_UNIT_CODES_H

#include "kernels/gpu/device/machine/platform.h"
#include "kernels/gpu/units.h"

#define UNIT_WORTH 0x1p32f

enum { UNIT_STEP_BYTES = 64 }; // a step of the matrix tile

// Compile-time parameters of an element's units.
template <enum element TYPE> struct unit_bytes;
#define UNIT_BYTES(name, ELEMENT, code, beside)                                                    \
  template <> struct unit_bytes<ELEMENT_##ELEMENT> {                                               \
    enum { CODES = code, BESIDE = beside };                                                        \
  };
GPU_UNIT_ELEMENTS(UNIT_BYTES)
#undef UNIT_BYTES

template <enum element TYPE> struct unit_kind : unit_bytes<TYPE> {
  static constexpr int STEPS = unit_bytes<TYPE>::CODES / UNIT_STEP_BYTES;
  static constexpr bool IS_SIX = TYPE == ELEMENT_MXFP6_E2M3 || TYPE == ELEMENT_MXFP6_E3M2;
  static constexpr bool IS_GROUP = TYPE == ELEMENT_INT8_GROUP || TYPE == ELEMENT_INT4_GROUP;
  static constexpr bool IS_WHOLE = IS_GROUP || TYPE == ELEMENT_INT8; // numbers
  static constexpr bool HAS_ROW_SCALES = TYPE == ELEMENT_INT8 || TYPE == ELEMENT_NVFP4;
  static constexpr float WORTH = IS_WHOLE ? 1 : UNIT_WORTH; // what an octet's values lack
};

template <enum element TYPE> DEVICE size_t unit_row_size(int units) {
  typedef unit_bytes<TYPE> bytes;
  return (size_t)units * bytes::CODES + (size_t)((units * bytes::BESIDE + 15) / 16 * 16);
}

// Piece p of a unit of one row.
template <enum element TYPE> struct unit_piece {
  struct words4 codes[unit_kind<TYPE>::STEPS];
  uint32_t high[2]; // of 6 bits
  uint32_t scales;  // for groups two, of this unit and its neighbor
};

// Where units are: 16 bytes of them, and a word.
struct unit_in_memory {
  DEVICE struct words4 load(const unsigned char *from) {
    return load_weights(from);
  }
  DEVICE uint32_t word(const unsigned char *from) {
    return load_weights_word(from);
  }
};
struct unit_in_shared {
  DEVICE struct words4 load(const unsigned char *from) {
    return load_shared(from);
  }
  DEVICE uint32_t word(const unsigned char *from) {
    return *reinterpret_cast<const uint32_t *>(from);
  }
};

// Piece `piece` of the unit-th of several units: `codes` are the first one's, and `beside` is what
// belongs to them.
template <enum element TYPE, class PLACE>
DEVICE struct unit_piece<TYPE> unit_piece_of(const unsigned char *codes,
                                             const unsigned char *beside, int unit, int piece) {
  typedef unit_kind<TYPE> kind;
  struct unit_piece<TYPE> out = {};
  codes += (size_t)unit * kind::CODES + (size_t)(piece * 16);
#pragma unroll
  for (int step = 0; step < kind::STEPS; step++) {
    out.codes[step] = PLACE::load(codes + step * UNIT_STEP_BYTES);
  }
  if (kind::IS_GROUP) {
    out.scales = PLACE::word(beside + unit / 2 * 4);
    return out;
  }
  beside += unit * kind::BESIDE;
  if (kind::IS_SIX) {
    out.high[0] = PLACE::word(beside + piece * 8);
    out.high[1] = PLACE::word(beside + piece * 8 + 4);
    out.scales = PLACE::word(beside + 32);
  } else if (kind::BESIDE > 0) {
    out.scales = PLACE::word(beside + (TYPE == ELEMENT_NVFP4 ? piece / 2 * 4 : 0));
  }
  return out;
}

template <enum element TYPE>
DEVICE struct unit_piece<TYPE> unit_load(const unsigned char *row, int units, int unit, int piece) {
  return unit_piece_of<TYPE, unit_in_memory>(row, row + (size_t)units * unit_kind<TYPE>::CODES,
                                             unit, piece);
}

// ---- a unit's codes as BF16

// w << left, or to the right if negative.
DEVICE uint32_t
unit_moved(uint32_t w, int left) {
  return left >= 0 ? w << left : w >> -left;
}

DEVICE uint32_t unit_both_halves(uint32_t bits) {
  return bits * 0x10001u;
}

// The scale of octet j, the same BF16 twice, times the factor missing from the octet's bits.
template <enum element TYPE>
DEVICE uint32_t unit_scale(const struct unit_piece<TYPE> &piece, int j) {
  if (TYPE == ELEMENT_NVFP4) {
    float low, high;
    e4m3_pair(piece.scales, &low, &high, j / 2);
    return unit_both_halves(bits_of((j % 2 ? high : low) * (0x1p126f / UNIT_WORTH)) >> 16);
  }
  const uint32_t exponent = TYPE == ELEMENT_MXFP6_E3M2 ? 124 - 32 : 126 - 32;
  return unit_both_halves(((piece.scales >> 8 * j & 0xFF) + exponent) << 7);
}

// Pair i of a word of an octet of 4 bits; of 6 bits with `high` of octet j.
template <enum element TYPE>
DEVICE uint32_t unit_pair(uint32_t word, uint32_t high, uint32_t scale, int i, int j) {
  if (TYPE == ELEMENT_INT4_GROUP) { // 128 + code, less 136
    return bf16_pair_plus((unit_moved(word, -4 * i) & 0x000F000Fu) | 0x43004300u, 0xC308C308u);
  }
  if (TYPE == ELEMENT_MXFP4 || TYPE == ELEMENT_NVFP4) {
    const uint32_t sign = unit_moved(word, 12 - 4 * i) & 0x80008000u;
    return bf16_pair_times(sign | (unit_moved(word, 6 - 4 * i) & 0x01C001C0u), scale);
  }
  const int at = 2 * i + j % 2 * 8;
  const uint32_t sign = unit_moved(high, 14 - at) & 0x80008000u;
  const uint32_t magnitude =
      TYPE == ELEMENT_MXFP6_E2M3
          ? (unit_moved(high, 8 - at) & 0x01000100u) | (unit_moved(word, 4 - 4 * i) & 0x00F000F0u)
          : (unit_moved(high, 9 - at) & 0x02000200u) | (unit_moved(word, 5 - 4 * i) & 0x01E001E0u);
  return bf16_pair_times(sign | magnitude, scale);
}

// Byte i of four of INT8, each raised by 128, as a float: 2^23 + the byte, less 2^23 + 128.
DEVICE float unit_int8(uint32_t offset_word, int i) {
  return float_of(0x4B000000u | (offset_word >> 8 * i & 0xFF)) - (0x1p23f + 128);
}

// Octet j of the piece: 8 of BF16.
template <enum element TYPE>
DEVICE struct words4 unit_octet(const struct unit_piece<TYPE> &piece, int j) {
  struct words4 out;
  if (unit_kind<TYPE>::STEPS == 2) {
    const struct words4 &codes = piece.codes[(unit_kind<TYPE>::STEPS - 1) * (j / 2)];
#pragma unroll
    for (int i = 0; i < 4; i++) {
      const uint32_t offset = codes.word[j % 2 * 2 + i / 2] ^ 0x80808080u;
      out.word[i] = bf16_pair(unit_int8(offset, i % 2 * 2), unit_int8(offset, i % 2 * 2 + 1));
    }
    return out;
  }
  const uint32_t scale = unit_kind<TYPE>::IS_WHOLE ? 0 : unit_scale<TYPE>(piece, j);
#pragma unroll
  for (int i = 0; i < 4; i++) {
    out.word[i] = unit_pair<TYPE>(piece.codes[0].word[j], piece.high[j / 2], scale, i, j);
  }
  return out;
}

// The factor for a group's sum.
template <enum element TYPE>
DEVICE float unit_group_scale(const struct unit_piece<TYPE> &piece, int unit) {
  return unit % 2 ? bf16_high(piece.scales) : bf16_low(piece.scales);
}

#endif
