// rows: the kernels of each instruction set, each defined in the rows_*.c of its name, and what
// they have in common: rows of weights, sixteen to a panel, times the vectors of a batch.
#ifndef PERTOKEN_KERNELS_CPU_ISA_ROWS_H
#define PERTOKEN_KERNELS_CPU_ISA_ROWS_H

#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum cpu_isa {
  CPU_PORTABLE,    // plain C, any machine
  CPU_AVX2,        // with FMA
  CPU_AVX512,      // with BF16, VNNI and VBMI: Zen 4, Sapphire Rapids and later; multiplies floats
  CPU_AVX512_BF16, // the same, but multiplies bf16 if the activations are bf16
  CPU_AMX,         // tiles of bf16 and int8; AVX512_BF16 for small batches
  CPU_ISAS
};

// out[b][16 * p + r] = sum over c of panel[p][r][c] * in[b][c], without scales.
struct product {
  const uint8_t *panels; // lines of the first panel
  size_t panel_stride;   // bytes from one panel to the next
  size_t panel_count;
  size_t columns;         // a multiple of 4; of TILE_COLUMNS when in is BF16, of PANEL_COLUMNS when
                          // it is INT8
  const void *in;         // [batch][columns], zero where the panels are padded
  size_t in_stride;       // bytes
  const int32_t *in_sums; // [batch], the sum of each vector; INT8_INT8 only
  size_t batch;
  const int32_t *arranged; // `in` after cpu_arrange (dispatch.h), or NULL; not for blocks
  size_t in_words;         // 4-byte words of a vector in `arranged`
  bool one_stream;         // cpu_reads_one_stream (dispatch.h)
  float *out;              // 64-byte aligned
  size_t out_stride;       // floats, a multiple of 16
};

// Tiles of bf16 take this many columns at once; from this batch on they beat vector instructions.
enum { TILE_COLUMNS = 32, MIN_AMX_BATCH = 4 };

// Larger batches may be arranged in groups of this many vectors, padded with zeros:
// [group][word][vector of the group]. A word is a float, two bf16 or four int8. The group's words
// for one line of a panel are then contiguous.
enum {
  ARRANGED_ROWS = 16,
  MIN_ARRANGED_BATCH = 5,
  MAX_ARRANGED_BATCH = 256 // keeps the copy, one per thread, small
};

// Named by the types of panels and in.
enum product_kind {
  BF16_F32,
  E4M3_F32,
  BF16_BF16,
  E4M3_BF16,
  INT8_INT8,
  MXFP4_F32, // from here on those of kernels/cpu/isa/blocks.h
  NVFP4_F32,
  MXFP6_E2M3_F32,
  MXFP6_E3M2_F32,
  INT8_GROUP_F32,
  INT4_GROUP_F32,
  MXFP4_BF16,
  NVFP4_BF16,
  MXFP6_E2M3_BF16,
  MXFP6_E3M2_BF16,
  INT8_GROUP_BF16,
  INT4_GROUP_BF16,
  INT8_GROUP_INT8,
  INT4_GROUP_INT8,
  PRODUCT_KINDS
};

struct cpu_kernels {
  enum cpu_isa isa;
  const char *name;
  void (*product[PRODUCT_KINDS])(const struct product *); // NULL: round to bf16, then pass F32
  bool takes_arranged;
  const struct elementwise *elementwise;
  // Reads `bytes`, a multiple of 1 KB, once, in 1, 2 or 4 streams; the result depends on all of it.
  // Prefetches `ahead` bytes ahead, 0 for none.
  uint32_t (*read)(const uint8_t *from, size_t bytes, int streams, size_t ahead);
};

extern const struct cpu_kernels cpu_kernels_portable;
#if defined(__x86_64__)
extern const struct cpu_kernels cpu_kernels_avx2, cpu_kernels_avx512, cpu_kernels_avx512_bf16,
    cpu_kernels_amx;
#endif

// How far ahead of its reads a kernel prefetches, in each of up to 4 panels that it reads side by
// side. Past a panel's end the prefetch continues in the panel that comes next in its place.
enum { AHEAD_BYTES = 4096, AHEAD_LINES = AHEAD_BYTES / LINE_BYTES };

// How many bytes ahead to prefetch while the lines up to `last` are read, of `lines` in each of
// `side_by_side` panels.
static inline size_t prefetch_distance(const struct product *product, size_t side_by_side,
                                       size_t last, size_t lines) {
  if (last + AHEAD_LINES <= lines)
    return AHEAD_BYTES;
  return AHEAD_BYTES + side_by_side * product->panel_stride - lines * LINE_BYTES;
}

static inline size_t product_lines(const struct product *product, enum product_kind kind) {
  return product->columns / (kind == BF16_F32 || kind == BF16_BF16 ? 2 : 4);
}

#endif
