// blocks: the panel layout of weights with a scale per block, and the products that take them.
//
// A panel is cut into chunks of columns. A chunk is a line of scales, [block of the chunk][16
// rows], and then its codes in units of a few columns, each of one line or three:
//   4 bits  8 columns in a line of 32 words of 16 bits, two to a row: word [row][half] has the
//           codes of columns half, half + 2, half + 4 and half + 6 from its lowest bits on
//   6 bits  16 columns in three lines of such words a, b, c: columns half + 2k lie for k = 0..5 in
//           the lowest twelve bits of a, b and c, two each; a's and b's highest four bits are the
//           lowest four of k = 6 and 7, whose highest two are c's: first those of 6
//   8 bits  4 columns in a line, [16 rows][4 columns]
// The halves of a row, decoded, form a pair of columns in the order that bf16 instructions take.
// A panel's header holds a factor for each whole row: NVFP4's tensor scale, and ones with INT8 and
// E4M3 activations, whose vectors have a scale.
#ifndef PERTOKEN_KERNELS_CPU_ISA_BLOCKS_H
#define PERTOKEN_KERNELS_CPU_ISA_BLOCKS_H

#include "kernels/cpu/isa/panel.h"
#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

struct block_layout {
  size_t block; // columns that share a scale
  size_t chunk; // columns, a power of two
  size_t unit_columns, unit_bytes;
  size_t scale_bytes;
};

// Written so that the compiler knows the layout if it knows the element.
static inline __attribute__((always_inline)) struct block_layout
block_layout(enum element element) {
  switch (element) {
  case ELEMENT_MXFP4: return (struct block_layout){32, 128, 8, LINE_BYTES, 1};
  case ELEMENT_NVFP4: return (struct block_layout){16, 64, 8, LINE_BYTES, 1};
  case ELEMENT_MXFP6_E2M3:
  case ELEMENT_MXFP6_E3M2: return (struct block_layout){32, 128, 16, 3 * LINE_BYTES, 1};
  case ELEMENT_INT8_GROUP: return (struct block_layout){128, 256, 4, LINE_BYTES, 2};
  default: return (struct block_layout){128, 256, 8, LINE_BYTES, 2}; // INT4_GROUP
  }
}

enum { MAX_UNIT_COLUMNS = 16 };

// How many bytes ahead a kernel prefetches that decodes blocks. Decoding outruns the hardware
// prefetcher, even where that is best left alone otherwise (one_stream): a Zen 5 core multiplies
// MXFP4 with bf16 at 0.82 of its read speed when nothing is prefetched, at 0.90 with 4 KB ahead and
// at full speed with 8 KB; 16 KB gain nothing more.
enum { DECODE_AHEAD = 8192 };

// Bytes of a panel of `columns` columns, a multiple of PANEL_COLUMNS, without the header; any
// element.
size_t blocks_panel_bytes(enum element element, size_t columns);

// Bytes of the header: sixteen floats, or none. `rounded`: the type that the vectors are rounded
// to.
size_t blocks_header_bytes(enum element weights, enum element rounded);

// Where in a panel a unit begins, and where the scale of a row's block is.
size_t blocks_unit_at(enum element element, size_t column);
size_t blocks_scale_at(enum element element, size_t row, size_t block);

// Puts one row's codes into a unit, and takes them out again.
void blocks_pack(enum element element, const uint8_t *codes, size_t row, uint8_t *unit);
void blocks_unpack(enum element element, const uint8_t *unit, size_t row, uint8_t *codes);

// The values of codes of 4 and 6 bits in bf16, which holds them exactly. The table for 4 bits is
// repeated four times, so that an index may include bits of the next code.
extern const uint16_t e2m1_values[64], int4_values[64], e2m3_values[64], e3m2_values[64];

static inline const uint16_t *block_values(enum element element) {
  switch (element) {
  case ELEMENT_MXFP6_E2M3: return e2m3_values;
  case ELEMENT_MXFP6_E3M2: return e3m2_values;
  case ELEMENT_INT4_GROUP: return int4_values;
  default: return e2m1_values;
  }
}

// An INT8 vector of `padded` columns as products with groups read it: the sums of its groups of 128
// follow it, and with INT4_GROUP each eight of its values are in the order 0 4 1 5 2 6 3 7, the
// order in which the codes come out of their words.
// The bytes that follow such a vector; none follow any other.
size_t blocks_sum_bytes(enum element weights, enum element input, size_t padded);
// Rearranges a vector like that: [padded], with room for its sums.
void blocks_finish_int8(enum element weights, int8_t *vector, size_t padded);

static inline const int32_t *blocks_sums(const void *vector, size_t padded) {
  return (const int32_t *)(const void *)((const uint8_t *)vector + padded);
}

// X(instruction set, name, product_kind, weights, input) for every product with blocks; those with
// BF16 need the instruction set's dot product.
#define BLOCK_PRODUCTS(X, isa) BLOCK_PRODUCTS_F32(X, isa) BLOCK_PRODUCTS_INT8(X, isa)
#define BLOCK_PRODUCTS_F32(X, isa)                                                                 \
  X(isa, mxfp4_f32, MXFP4_F32, ELEMENT_MXFP4, ELEMENT_F32)                                         \
  X(isa, nvfp4_f32, NVFP4_F32, ELEMENT_NVFP4, ELEMENT_F32)                                         \
  X(isa, mxfp6_e2m3_f32, MXFP6_E2M3_F32, ELEMENT_MXFP6_E2M3, ELEMENT_F32)                          \
  X(isa, mxfp6_e3m2_f32, MXFP6_E3M2_F32, ELEMENT_MXFP6_E3M2, ELEMENT_F32)                          \
  X(isa, int8_group_f32, INT8_GROUP_F32, ELEMENT_INT8_GROUP, ELEMENT_F32)                          \
  X(isa, int4_group_f32, INT4_GROUP_F32, ELEMENT_INT4_GROUP, ELEMENT_F32)
#define BLOCK_PRODUCTS_INT8(X, isa)                                                                \
  X(isa, int8_group_int8, INT8_GROUP_INT8, ELEMENT_INT8_GROUP, ELEMENT_INT8)                       \
  X(isa, int4_group_int8, INT4_GROUP_INT8, ELEMENT_INT4_GROUP, ELEMENT_INT8)
#define BLOCK_PRODUCTS_BF16(X, isa)                                                                \
  X(isa, mxfp4_bf16, MXFP4_BF16, ELEMENT_MXFP4, ELEMENT_BF16)                                      \
  X(isa, nvfp4_bf16, NVFP4_BF16, ELEMENT_NVFP4, ELEMENT_BF16)                                      \
  X(isa, mxfp6_e2m3_bf16, MXFP6_E2M3_BF16, ELEMENT_MXFP6_E2M3, ELEMENT_BF16)                       \
  X(isa, mxfp6_e3m2_bf16, MXFP6_E3M2_BF16, ELEMENT_MXFP6_E3M2, ELEMENT_BF16)                       \
  X(isa, int4_group_bf16, INT4_GROUP_BF16, ELEMENT_INT4_GROUP, ELEMENT_BF16)

#define ALL_BLOCK_PRODUCTS(X, isa) BLOCK_PRODUCTS(X, isa) BLOCK_PRODUCTS_BF16(X, isa)

// The products that tiles multiply: all except those with floats, which vector units do.
#define BLOCK_PRODUCTS_TILES(X, isa) BLOCK_PRODUCTS_BF16(X, isa) BLOCK_PRODUCTS_INT8(X, isa)

// A product as an entry of a table indexed by product_kind.
#define BLOCK_PRODUCT_ENTRY(isa, name, kind, weights, input) [kind] = isa##_##name,

struct product;
#define DECLARE_BLOCK_PRODUCT(isa, name, kind, weights, input)                                     \
  void isa##_##name(const struct product *product);
BLOCK_PRODUCTS(DECLARE_BLOCK_PRODUCT, portable)
#if defined(__x86_64__)
BLOCK_PRODUCTS(DECLARE_BLOCK_PRODUCT, avx2)
BLOCK_PRODUCTS(DECLARE_BLOCK_PRODUCT, avx512)
BLOCK_PRODUCTS_BF16(DECLARE_BLOCK_PRODUCT, avx512)
BLOCK_PRODUCTS_TILES(DECLARE_BLOCK_PRODUCT, amx)
#endif

#endif
