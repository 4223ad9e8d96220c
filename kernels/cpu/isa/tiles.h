// tiles: what the AMX kernels share. For rows_amx.c and blocks_amx.c only.
#ifndef PERTOKEN_KERNELS_CPU_ISA_TILES_H
#define PERTOKEN_KERNELS_CPU_ISA_TILES_H

#include "kernels/cpu/isa/rows_avx512.h"

#include <stdint.h>

#if defined(__x86_64__)

#define AMX_TARGET AVX512_TARGET ",amx-tile,amx-bf16,amx-int8"
#define AMX        __attribute__((target(AMX_TARGET)))

enum { TILE_ROWS = 16, TILE_BYTES = 1024 };

// What _tile_loadconfig takes.
struct tile_config {
  uint8_t palette, start_row, reserved[14];
  uint16_t row_bytes[16];
  uint8_t rows[16];
};

// The intrinsics do not tell the compiler that tiles are read from and written to memory.
#define MEMORY_FENCE() __asm__ volatile("" ::: "memory")

#endif

#endif
