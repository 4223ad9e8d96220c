// matrix_wgmma: the full matrix unit of sm_90a, and the copy engine that feeds it. A warpgroup, 4
// warps, multiplies 64 rows of A by COLUMNS columns of B, both in shared memory, or A in registers;
// sums are float, in registers; everything runs asynchronously until it is waited for.
//
// Matrices are in shared memory as the copy engine leaves them with its 128-byte swizzle: rows (of
// A; columns of B) of WGMMA_STEP_BYTES one after another, groups of 8 rows beginning at multiples
// of 1024 bytes, and the 16-byte pieces of a row permuted: piece p of row r is at p ^ r % 8. So the
// same piece of different rows is in different banks. Tensor maps were chosen over bulk copies of
// row pieces because only they permute the pieces on the way (and fill what is beyond a matrix with
// zeros), and because one instruction of one thread copies 64 rows.
//
//   uint64_t wgmma_matrix(const void *)  describes a matrix by its start address; 32 bytes further
//       along the rows is WGMMA_NEXT more (PTX ISA 8.7, 9.7.15.5.1.2.2, "Matrix Descriptor
//       Format", bits 0-13: address / 16; 16-29: leading dimension, not used with a swizzle, 1;
//       32-45: from 8 rows to the next 8, / 16; 49-51: 0 for an aligned pattern; 62-63: 1, 128-byte
//       swizzle)
//   int wgmma_place(int row, int byte)  where a byte of a row is, from the matrix's start
//   wgmma_row(i), wgmma_column(i)  where accumulator i of four in 8 columns is ("Matrix Fragments
//       for wgmma.mma_async.m64nNk16", 9.7.15.5.1.1.1): float sum[COLUMNS / 8][tiles][4]
//   void wgmma_begin(sum), wgmma_wait(sum)  before the first instruction, and before the sums or
//       A's registers are touched again
//   void wgmma_registers_set()  after A's registers were set, while other instructions go on
//   void wgmma_take_registers(), wgmma_leave_registers()  in a block of WGMMA_THREADS: by all
//       threads of the warpgroups that multiply, and by all others, which then have few; each waits
//       until there are enough
//   wgmma_instruction<COLUMNS>::bf16<TILE>(sum, a, b): sum[..][TILE][..] += a b, 16 elements, a and
//       b described; ::bf16_registers<TILE>(sum, a, b): a[0], a[1]: rows g and g + 8 of the warp's
//       16 with g = lane / 4, elements 2t and 2t + 1 with t = lane % 4; a[2], a[3]: 8 elements on
//   ::e4m3<TILE, ADDS>(sum, a, b): 32 elements; without ADDS the sum is replaced
//
// Copies, which arrive at the barriers of barriers_cuda.h:
//   void box_bring(void *to, const struct tensor_map *, int byte, int row, uint64_t *barrier):
//       copies the box whose first byte and row these are; `to` at a multiple of 1024
//   void map_ahead(const struct tensor_map *): soon there will be copies by it
//   void published_for_copies(): after wait_for_previous, by the thread that copies what other
//       kernels wrote
//
// The blocks of a cluster are resident together. What one has in its shared memory, others have at
// the same place of theirs. A launch without clusters is of clusters of one block.
//   int cluster_rank(): of the block in its cluster
//   void barrier_arrive_at(uint64_t *, int rank): at the barrier of the block of this rank
//   void box_bring_to(..., int blocks): box_bring to all whose ranks are bits of `blocks`, each of
//       which counts the bytes at its own barrier
//   void cluster_arrive(), cluster_wait(): by all threads of the cluster, one after the other;
//       after the wait they see the barriers that were made before
//   struct words4 load_from_block(const void *, int rank): what the block of this rank has at the
//       place of this one's own; 16 bytes at a multiple of 16
//
// Two warps of different blocks meet at a counter in device memory, zero before and after. Each
// first asks whether the other has arrived, and if not, publishes and arrives:
//   bool warp_arrived(unsigned *counter), warp_arrives(unsigned *counter): called by all lanes;
//       true in the one that is second, which then sees what the other published
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_WGMMA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_MATRIX_WGMMA_H

#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/device/machine/platform.h"

enum { WGMMA_NEXT = 32 >> 4, WGMMA_TILE_BYTES = WGMMA_ROWS * WGMMA_STEP_BYTES };

#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/wgmma_instruction.h"
#else
#include "kernels/gpu/device/machine/barriers_cuda.h"

DEVICE void box_bring(void *to, const struct tensor_map *map, int byte, int row,
                      uint64_t *barrier) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes "
               "[%0], [%1, {%2, %3}], [%4];" ::"r"(shared_address(to)),
               "l"(map), "r"(byte), "r"(row), "r"(shared_address(barrier))
               : "memory");
}
DEVICE void map_ahead(const struct tensor_map *map) {
  asm volatile("prefetch.tensormap [%0];" ::"l"(map) : "memory");
}
DEVICE int cluster_rank(void) {
  int rank;
  asm("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
  return rank;
}
DEVICE void barrier_arrive_at(uint64_t *barrier, int rank) {
  asm volatile("{ .reg .b32 at; mapa.shared::cluster.u32 at, %0, %1; "
               "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [at]; }" ::"r"(
                   shared_address(barrier)),
               "r"(rank)
               : "memory");
}
DEVICE void box_bring_to(void *to, const struct tensor_map *map, int byte, int row,
                         uint64_t *barrier, int blocks) {
  asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
               ".multicast::cluster [%0], [%1, {%2, %3}], [%4], %5;" ::"r"(shared_address(to)),
               "l"(map), "r"(byte), "r"(row), "r"(shared_address(barrier)), "h"((uint16_t)blocks)
               : "memory");
}
DEVICE struct words4 load_from_block(const void *p, int rank) {
  struct words4 v;
  asm volatile("{ .reg .b32 at; mapa.shared::cluster.u32 at, %4, %5; "
               "ld.shared::cluster.v4.u32 {%0, %1, %2, %3}, [at]; }"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "r"(shared_address(p)), "r"(rank)
               : "memory");
  return v;
}
DEVICE void cluster_arrive(void) {
  asm volatile("barrier.cluster.arrive.relaxed;" ::: "memory");
}
DEVICE void cluster_wait(void) {
  asm volatile("barrier.cluster.wait.acquire;" ::: "memory");
}
DEVICE void published_for_copies(void) {
  asm volatile("fence.proxy.async.global;" ::: "memory");
}

// Share out registers anew: of the 65536 of a multiprocessor, 384 threads have 168 each at first.
// PTX ISA, setmaxnreg.
DEVICE void wgmma_take_registers(void) {
  asm volatile("setmaxnreg.inc.sync.aligned.u32 232;");
}
DEVICE void wgmma_leave_registers(void) {
  asm volatile("setmaxnreg.dec.sync.aligned.u32 40;");
}

// Keeps the compiler from moving uses of the sums across.
template <int A, int B> DEVICE void wgmma_hold(float (&sum)[A][B][4]) {
#pragma unroll
  for (int i = 0; i < A * B * 4; i++) {
    asm volatile("" : "+f"(sum[i / 4 / B][i / 4 % B][i % 4])::"memory");
  }
}
template <int A, int B> DEVICE void wgmma_begin(float (&sum)[A][B][4]) {
  wgmma_hold(sum);
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
DEVICE void wgmma_registers_set(void) {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}
template <int A, int B> DEVICE void wgmma_wait(float (&sum)[A][B][4]) {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  wgmma_hold(sum);
}

// As arrive_last: __syncwarp passes the lanes' writes to the first lane and, the other way, what it
// has acquired to the lanes. The counter wraps to 0.
DEVICE bool warp_arrives(unsigned *counter) {
  unsigned before = 0;
  __syncwarp();
  if (lane_index() == 0) {
    before = cuda_count(counter, 1);
  }
  before = __shfl_sync(0xFFFFFFFFu, before, 0);
  __syncwarp();
  return before == 1;
}
DEVICE bool warp_arrived(unsigned *counter) {
  unsigned found = 0;
  if (lane_index() == 0) {
    asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(counter) : "memory");
    if (found) {
      *counter = 0;
    }
  }
  found = __shfl_sync(0xFFFFFFFFu, found, 0);
  __syncwarp();
  return found != 0;
}

#define WGMMA_SUM_8(t)                                                                             \
  "+f"(sum[t][TILE][0]), "+f"(sum[t][TILE][1]), "+f"(sum[t][TILE][2]), "+f"(sum[t][TILE][3])
#define WGMMA_SUM_16(t)  WGMMA_SUM_8(t), WGMMA_SUM_8(t + 1)
#define WGMMA_SUM_32(t)  WGMMA_SUM_16(t), WGMMA_SUM_16(t + 2)
#define WGMMA_SUM_64(t)  WGMMA_SUM_32(t), WGMMA_SUM_32(t + 4)
#define WGMMA_SUM_128(t) WGMMA_SUM_64(t), WGMMA_SUM_64(t + 8)
#define WGMMA_NAMES_16   "%0, %1, %2, %3, %4, %5, %6, %7"
#define WGMMA_NAMES_32   WGMMA_NAMES_16 ", %8, %9, %10, %11, %12, %13, %14, %15"
#define WGMMA_NAMES_64                                                                             \
  WGMMA_NAMES_32 ", %16, %17, %18, %19, %20, %21, %22, %23, %24, %25, %26, %27, %28, %29, %30, "   \
                 "%31"
#define WGMMA_NAMES_128                                                                            \
  WGMMA_NAMES_64                                                                                   \
  ", %32, %33, %34, %35, %36, %37, %38, %39, %40, %41, %42, %43, %44, %45, %46, "                  \
  "%47, %48, %49, %50, %51, %52, %53, %54, %55, %56, %57, %58, %59, %60, %61, %62, "               \
  "%63"

template <int COLUMNS> struct wgmma_instruction;

// p0 to p4 name the operands after the sums.
#define WGMMA_INSTRUCTION(columns, p0, p1, p2, p3, p4)                                             \
  template <> struct wgmma_instruction<columns> {                                                  \
    template <int TILE, int TILES>                                                                 \
    DEVICE void bf16(float (&sum)[columns / 8][TILES][4], uint64_t a, uint64_t b) {                \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; "                                         \
                   "wgmma.mma_async.sync.aligned.m64n" #columns                                    \
                   "k16.f32.bf16.bf16 {" WGMMA_NAMES_##columns "}, " p0 ", " p1                    \
                                                               ", p, 1, 1, 0, 0; }"                \
                   : WGMMA_SUM_##columns(0)                                                        \
                   : "l"(a), "l"(b)                                                                \
                   : "memory");                                                                    \
    }                                                                                              \
    template <int TILE, int TILES>                                                                 \
    DEVICE void bf16_registers(float (&sum)[columns / 8][TILES][4], const uint32_t (&a)[4],        \
                               uint64_t b) {                                                       \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, 1, 0; "                                         \
                   "wgmma.mma_async.sync.aligned.m64n" #columns                                    \
                   "k16.f32.bf16.bf16 {" WGMMA_NAMES_##columns "}, {" p0 ", " p1 ", " p2 ", " p3   \
                                                               "}, " p4 ", p, 1, 1, 0; }"          \
                   : WGMMA_SUM_##columns(0)                                                        \
                   : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b)                            \
                   : "memory");                                                                    \
    }                                                                                              \
    template <int TILE, bool ADDS, int TILES>                                                      \
    DEVICE void e4m3(float (&sum)[columns / 8][TILES][4], uint64_t a, uint64_t b) {                \
      asm volatile("{ .reg .pred p; setp.ne.b32 p, " p2 ", 0; "                                    \
                   "wgmma.mma_async.sync.aligned.m64n" #columns                                    \
                   "k32.f32.e4m3.e4m3 {" WGMMA_NAMES_##columns "}, " p0 ", " p1 ", p, 1, 1; }"     \
                   : WGMMA_SUM_##columns(0)                                                        \
                   : "l"(a), "l"(b), "n"((int)ADDS)                                                \
                   : "memory");                                                                    \
    }                                                                                              \
  };
WGMMA_INSTRUCTION(16, "%8", "%9", "%10", "%11", "%12")
WGMMA_INSTRUCTION(32, "%16", "%17", "%18", "%19", "%20")
WGMMA_INSTRUCTION(64, "%32", "%33", "%34", "%35", "%36")
WGMMA_INSTRUCTION(128, "%64", "%65", "%66", "%67", "%68")

#endif

DEVICE uint64_t wgmma_matrix(const void *begin) {
  const uint64_t from_8_to_8 = 8 * WGMMA_STEP_BYTES >> 4;
  return (uint64_t)1 << 62 | from_8_to_8 << 32 | (uint64_t)1 << 16 |
         (uint64_t)(shared_address(begin) & 0x3FFFF) >> 4;
}
DEVICE int wgmma_place(int row, int byte) {
  return row * WGMMA_STEP_BYTES + (byte ^ row % 8 * 16);
}
DEVICE int wgmma_row(int i) {
  return warp_index() % 4 * 16 + lane_index() / 4 + i / 2 * 8;
}
DEVICE int wgmma_column(int i) {
  return lane_index() % 4 * 2 + i % 2;
}

#endif
