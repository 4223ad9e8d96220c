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
#ifndef PERTOKEN_WGMMA_INSTRUCTION_H
#define PERTOKEN_WGMMA_INSTRUCTION_H

#include "kernels/gpu/arguments/wgmma.h"
#include "tests/stand_ins/emulator/copies.h"
#include "tests/stand_ins/emulator/matrix_instruction.h"

enum { WGMMA_QUEUE = 16 }; // maximum number of instructions issued and not waited for

struct wgmma_issued {
  enum instruction_element type;
  bool in_registers, adds;
  uint32_t registers[4];
  uint64_t a, b;
  int column_tiles, next; // floats from one column tile's sums to the next
  float *sum;
};

struct wgmma_thread {
  struct wgmma_issued queue[WGMMA_QUEUE];
  int count;
  bool begun;
};

struct wgmma_block {
  const struct emulator_block *block;
  struct wgmma_thread of[WGMMA_THREADS];
};

static struct wgmma_thread *wgmma_threads_of_block(void) {
  static struct wgmma_block blocks[EMULATOR_MOST_TOGETHER];
  for (struct wgmma_block &b : blocks) {
    if (!b.block || b.block == emulator_self->block) {
      b.block = emulator_self->block;
      return b.of;
    }
  }
  emulator_fail("more blocks than wgmma_instruction knows");
}

// Shared memory's own addresses begin where host addresses are a multiple of 1024.
DEVICE uintptr_t wgmma_window(void) {
  return (uintptr_t)emulator_self->block->shared / 1024 * 1024;
}
DEVICE uint32_t shared_address(const void *p) {
  return (uint32_t)((uintptr_t)p - wgmma_window());
}

DEVICE void barrier_make(uint64_t *barrier, int arrivals) {
  copies_barrier_make(barrier, arrivals);
}
// Discards what a failed launch left in the queues.
DEVICE void barriers_made(void) {
  struct wgmma_thread *threads = wgmma_threads_of_block();
  for (int i = 0; i < WGMMA_THREADS && i < block_threads(); i++) {
    threads[i].count = 0;
    threads[i].begun = false;
  }
}
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

// The 16 bytes of a row of a described matrix that contain `byte`.
DEVICE const unsigned char *wgmma_piece(uint64_t matrix, int row, int byte) {
  static const int widths[] = {16, 128, 64, 32}; // of the swizzle modes, in bytes
  const int mode = (int)(matrix >> 62), width = widths[mode];
  const uint32_t begin = (uint32_t)(matrix & 0x3FFF) << 4;
  const int stride = (int)(matrix >> 32 & 0x3FFF) << 4, leading = (int)(matrix >> 16 & 0x3FFF) << 4;
  uint32_t at = begin + (uint32_t)(row / 8 * stride + row % 8 * width);
  at += (uint32_t)(mode == 0 ? byte / 16 * leading : byte / 16 * 16);
  if (matrix >> 49 & 7) {
    emulator_fail("a matrix whose pattern is not aligned");
  }
  at ^= (at >> 7 & (uint32_t)(width / 16 - 1)) << 4;
  const unsigned char *p = reinterpret_cast<const unsigned char *>(wgmma_window()) + at;
  emulator_check_shared(p, "wgmma");
  return p;
}

// `count` elements of a row from `from` on, as real values.
DEVICE void wgmma_row_values(enum instruction_element type, uint64_t matrix, int row, int count,
                             float *out) {
  const int bytes = type == INSTRUCTION_E4M3 ? 1 : 2;
  for (int i = 0; i < count; i += 16 / bytes) {
    uint32_t words[4];
    memcpy(words, wgmma_piece(matrix, row, i * bytes), sizeof words);
    for (int j = 0; j < 16 / bytes; j++) {
      out[i + j] = instruction_value(type, words, j);
    }
  }
}

// Row `row` of the warp's 16, from the registers of the four lanes that hold it.
DEVICE void wgmma_register_values(const struct wgmma_thread *warp, int issued, int row,
                                  float *out) {
  for (int k = 0; k < 16; k++) {
    const int t = k % 8 / 2, word = row / 8 + k / 8 * 2;
    out[k] = instruction_value(INSTRUCTION_BF16,
                               &warp[row % 8 * 4 + t].queue[issued].registers[word], k % 2);
  }
}

DEVICE float wgmma_dot(enum instruction_element type, const float *a, const float *b, int count,
                       float sum) {
  double total = 0, largest = fabs((double)sum);
  if (type != INSTRUCTION_E4M3) {
    total = (double)sum;
    for (int k = 0; k < count; k++) {
      total += (double)a[k] * (double)b[k];
    }
    return (float)total;
  }
  for (int k = 0; k < count; k++) {
    largest = fmax(largest, fabs((double)a[k] * (double)b[k]));
  }
  if (!(largest > 0)) {
    return largest == 0 ? 0 : NAN;
  }
  const int shift = 13 - ilogb(largest);
  total = trunc(ldexp((double)sum, shift));
  for (int k = 0; k < count; k++) {
    total += trunc(ldexp((double)a[k] * (double)b[k], shift));
  }
  return (float)ldexp(total, -shift);
}

DEVICE void wgmma_execute(const struct wgmma_thread *warp, int issued) {
  const struct wgmma_issued *it = &warp[lane_index()].queue[issued];
  const int count = it->type == INSTRUCTION_E4M3 ? 32 : 16, lane = lane_index();
  float a[2][32], b[32];
  for (int half = 0; half < 2; half++) {
    const int row = lane / 4 + half * 8;
    if (it->in_registers) {
      wgmma_register_values(warp, issued, row, a[half]);
    } else {
      wgmma_row_values(it->type, it->a, warp_index() % 4 * 16 + row, count, a[half]);
    }
  }
  for (int tile = 0; tile < it->column_tiles; tile++) {
    for (int odd = 0; odd < 2; odd++) {
      wgmma_row_values(it->type, it->b, tile * 8 + lane % 4 * 2 + odd, count, b);
      for (int half = 0; half < 2; half++) {
        float *sum = it->sum + tile * it->next + half * 2 + odd;
        *sum = wgmma_dot(it->type, a[half], b, count, it->adds ? *sum : 0);
      }
    }
  }
}

template <int A, int B> DEVICE void wgmma_begin(float (&)[A][B][4]) {
  wgmma_threads_of_block()[thread_index()].begun = true;
}
DEVICE void wgmma_registers_set(void) {}
DEVICE void wgmma_take_registers(void) {}
DEVICE void wgmma_leave_registers(void) {}
template <int A, int B> DEVICE void wgmma_wait(float (&)[A][B][4]) {
  struct wgmma_thread *warp = wgmma_threads_of_block() + thread_index() - lane_index();
  struct wgmma_thread *mine = &warp[lane_index()];
  warp_wait();
  for (int i = 0; i < mine->count; i++) {
    wgmma_execute(warp, i);
  }
  warp_wait(); // before a lane supplies the next registers
  mine->count = 0;
  mine->begun = false;
}

DEVICE void wgmma_issue(const struct wgmma_issued &it) {
  struct wgmma_thread *mine = &wgmma_threads_of_block()[thread_index()];
  if (!mine->begun || mine->count == WGMMA_QUEUE) {
    emulator_fail("wgmma without wgmma_begin, or more of them than the emulator keeps");
  }
  mine->queue[mine->count++] = it;
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
