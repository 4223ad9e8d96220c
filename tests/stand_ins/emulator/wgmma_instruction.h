// wgmma_instruction: the primitives of matrix_wgmma.h on the host emulator. Barriers and copies are
// those of copies.h. A matrix instruction does nothing until it is waited for, and only then reads
// shared memory; each thread computes the sums that it has to hold, from matrices found through
// their descriptors. The places of the elements are written down here independently, from the PTX
// ISA 8.7:
//   "Matrix Fragments for wgmma.mma_async.m64nNk16" (9.7.15.5.1.1.1), with g = lane / 4,
//   t = lane % 4:
//     A in registers: words 0, 1: rows g, g + 8 of the warp's 16 at k = 2t, 2t + 1; words 2, 3: 8
//     more. D: 4 to 8 columns: row g at columns 2t, 2t + 1, then row g + 8
//   "Matrix Descriptor Format" (9.7.15.5.1.2.2) and the canonical K-major layouts before it:
//     rows of the swizzle's width, 8 of them together, the next 8 a stride further; the address
//     bits 4 to 6 are exchanged by bits 7 to 9; without a swizzle, pieces of 8 rows by 16 bytes
// Products of E4M3 are summed with 14 bits: anything below 2^-13 of an instruction's largest
// product is cut off (DeepSeek-V3 technical report, arXiv 2412.19437, 3.5.2). It cannot show how
// the unit rounds BF16 sums within an instruction.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_WGMMA_INSTRUCTION_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_WGMMA_INSTRUCTION_H

#include "kernels/gpu/arguments/wgmma.h"
#include "tests/stand_ins/emulator/copies.h"
#include "tests/stand_ins/emulator/matrix_instruction.h"

struct wgmma_issued {
  enum instruction_element type;
  bool in_registers, adds;
  uint32_t registers[4];
  uint64_t a, b;
  int column_tiles, next; // floats from one column tile's sums to the next
  float *sum;
};

// Shared memory's own addresses begin where host addresses are a multiple of 1024.
DEVICE uintptr_t wgmma_window(void) {
  return (uintptr_t)emulator_shared() / 1024 * 1024;
}
DEVICE uint32_t shared_address(const void *p) {
  return (uint32_t)((uintptr_t)p - wgmma_window());
}

DEVICE void barrier_make(uint64_t *barrier, int arrivals) {
  copies_barrier_make(barrier, arrivals);
}
void barriers_made(void); // discards what a failed launch left in the queues
DEVICE void barrier_arrive(uint64_t *barrier) {
  copies_arrive(barrier, 0);
}
DEVICE void barrier_expect(uint64_t *barrier, int bytes) {
  copies_arrive(barrier, bytes);
}
DEVICE void barrier_wait(uint64_t *barrier, int phase, EMULATOR_HERE) {
  copies_wait_phase(barrier, phase, {"barrier_wait", file, line});
}
DEVICE int cluster_rank(void) {
  return emulator_cluster_rank();
}
DEVICE void barrier_arrive_at(uint64_t *barrier, int rank) {
  copies_arrive_at(barrier, rank);
}
DEVICE void barrier_wait_cluster(uint64_t *barrier, int phase, EMULATOR_HERE) {
  copies_wait_phase(barrier, phase, {"barrier_wait_cluster", file, line});
}
DEVICE struct words4 load_from_block(const void *p, int rank) {
  struct words4 words;
  memcpy(&words, copies_in_block(p, rank, sizeof words), sizeof words);
  return words;
}
DEVICE void cluster_arrive(void) {
  emulator_cluster_arrive();
}
DEVICE void cluster_wait(EMULATOR_HERE) {
  emulator_cluster_wait({"cluster_wait", file, line});
}
DEVICE void published_for_copies(void) {
  emulator_touch("published_for_copies");
}
DEVICE bool warp_arrives(unsigned *counter, EMULATOR_HERE) {
  uint32_t before = 0;
  warp_wait(file, line);
  if (lane_index() == 0) {
    before = *counter;
    if (before > 1) {
      emulator_fail("warp_arrives finds %u at a counter of two", before);
    }
    *counter = before ? 0 : 1;
  }
  return emulator_exchange(before, 0, {"warp_arrives", file, line}) != 0;
}
DEVICE bool warp_arrived(unsigned *counter, EMULATOR_HERE) {
  uint32_t found = 0;
  if (lane_index() == 0) {
    found = *counter;
    if (found > 1) {
      emulator_fail("warp_arrived finds %u at a counter of two", found);
    }
    *counter = 0;
  }
  return emulator_exchange(found, 0, {"warp_arrived", file, line}) != 0;
}
DEVICE struct copies_box wgmma_box(const struct tensor_map *map, int byte, int row) {
  if (map->encoded[15] != EMULATOR_TENSOR_MAP) {
    emulator_fail("a tensor map that the driver has not made");
  }
  return {static_cast<const unsigned char *>(map->matrix.from),
          map->matrix.row_bytes,
          (int)map->matrix.rows,
          (int)map->matrix.box_rows,
          byte,
          row};
}
DEVICE void map_ahead(const struct tensor_map *map) {
  wgmma_box(map, 0, 0);
}
DEVICE void box_bring(void *to, const struct tensor_map *map, int byte, int row,
                      uint64_t *barrier) {
  const struct copies_box box = wgmma_box(map, byte, row);
  copies_begin(to, &box, barrier);
}
DEVICE void box_bring_to(void *to, const struct tensor_map *map, int byte, int row,
                         uint64_t *barrier, int blocks) {
  const struct copies_box box = wgmma_box(map, byte, row);
  copies_begin_in(blocks, to, &box, barrier);
}

void wgmma_begin(void);
void wgmma_issue(const struct wgmma_issued &it);
void wgmma_complete(EMULATOR_HERE);

template <int A, int B> DEVICE void wgmma_begin(float (&)[A][B][4]) {
  wgmma_begin();
}
DEVICE void wgmma_registers_set(void) {}
DEVICE void wgmma_take_registers(void) {}
DEVICE void wgmma_leave_registers(void) {}
template <int A, int B> DEVICE void wgmma_wait(float (&)[A][B][4]) {
  wgmma_complete();
}

template <int COLUMNS> struct wgmma_instruction {
  template <int TILE, int TILES>
  DEVICE void bf16(float (&sum)[COLUMNS / 8][TILES][4], uint64_t a, uint64_t b) {
    wgmma_issue({INSTRUCTION_BF16, false, true, {}, a, b, COLUMNS / 8, TILES * 4, sum[0][TILE]});
  }
  template <int TILE, int TILES>
  DEVICE void bf16_registers(float (&sum)[COLUMNS / 8][TILES][4], const uint32_t (&a)[4],
                             uint64_t b) {
    wgmma_issue({INSTRUCTION_BF16,
                 true,
                 true,
                 {a[0], a[1], a[2], a[3]},
                 0,
                 b,
                 COLUMNS / 8,
                 TILES * 4,
                 sum[0][TILE]});
  }
  template <int TILE, bool ADDS, int TILES>
  DEVICE void e4m3(float (&sum)[COLUMNS / 8][TILES][4], uint64_t a, uint64_t b) {
    wgmma_issue({INSTRUCTION_E4M3, false, ADDS, {}, a, b, COLUMNS / 8, TILES * 4, sum[0][TILE]});
  }
};

#endif
