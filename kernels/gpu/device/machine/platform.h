// platform: what the kernels need of a GPU, under one set of names, so that one source serves CUDA
// (platform_cuda.h), HIP without a ROCm package (platform_hip.h) and the host emulator of the tests
// (tests/stand_ins/emulator/platform_emulator.h). Each of the three defines all of this, and
// nothing else:
//
// WARP: lanes that run together, 32 or 64; LOADS_IN_FLIGHT: loads of 16 bytes that a lane of a
// vector kernel has in flight; COUNTED_LOADS: loads are waited for in order, by count, so that a
// load issued on only some paths makes all of them wait: a redundant load is better than a skipped
// one; SCALAR_LOADS: what all lanes of a warp read alike is best read from memory
// (constant_of_launch), otherwise from shared memory; STREAMING_TILES: tiles of keys or values
// that attention fetches together in a block of VECTOR_THREADS. All are compile-time constants.
// STREAMING_WEIGHTS: the header by which a step in one launch has its weights, of two.
//
// DEVICE precedes a function: inlined device code; APART: not inlined where calls are cheap.
// KERNEL(name, struct T) begins a kernel of one argument `a` of type const struct T:
//   KERNEL(embed_bf16, embed_arguments) { ... a.hidden ... }
// KERNEL_BOUNDS(name, T, threads, blocks): the same with the largest block, and how many of them
//   should fit a multiprocessor (512 threads of a warp of 32 count as 512).
// SHARED(type, name) declares `name`, a pointer to the block's dynamic shared memory, aligned to
//   16 bytes.
// IF_LARGE_SHARED(declaration): a kernel for devices with more than 64 KiB of shared memory.
//
// void settle(float &v): everything computed into v before this is computed before any later load;
// needed where the compiler would otherwise use up many loads before it issues more.
//
// Where a thread is:
//   int thread_index(void), block_threads(void), block_index(int axis), grid_blocks(int axis)
//   int lane_index(void), warp_index(void): within the warp; of the warp within the block
//   int warp_alike(int v): v, which is the same in all lanes of the warp
//   int warp_alike_anew(int v): the same, but the compiler does not know that it is always v
//   int thread_index_anew(void): the compiler does not know that it is always the same, so that
//     nothing derived from it is kept in registers
//
// For a warp, with all lanes taking part, and for a block:
//   float shuffle_xor(float v, int mask): the v of lane ^ mask
//   uint32_t shuffle_xor_bits(uint32_t v, int mask)
//   float shuffle(float v, int lane)
//   void warp_wait(void), block_wait(void): what the lanes of the warp, or the threads of the
//     block, wrote before is visible afterwards, in shared and global memory
//
// struct words4 { uint32_t word[4]; } is aligned to 16. Memory:
//   struct words4 load_weights(const void *): 16 bytes that no kernel of the step writes; read
//     once, kept out of the nearest cache, and nothing beside them brought into L2: on an H200
//     reads that bring 256 bytes there reach 4.26 instead of 4.62 TB/s
//   uint32_t load_weights_word(const void *): 4 such bytes; lanes close in time or place read
//     adjacent ones, so the nearest cache should keep them
//   void load_ahead(const void *): soon load_weights will load there, what nothing in the launch
//     writes; brings at least 16 bytes into the cache of all blocks, if it does anything
//   const T *constant_of_launch(const T *p): p, the same in all lanes of the warp, pointing to what
//     nothing in the launch writes
//   struct words4 load_published(const void *): 16 bytes that another kernel, or this block, wrote
//   float load_published_float(const float *), int load_published_int(const int *)
//   void publish(float *, float), publish_int(int *, int), publish_words(void *, struct words4)
//   void publish_bits16(uint16_t *, uint16_t), publish_bits8(uint8_t *, uint8_t)
//     Data between stages goes only through these: a plain read of a const pointer may be compiled
//     to a cached constant load, which can be stale.
//   struct words4 load_shared(const void *), void store_shared(void *, struct words4)
//   void copy_to_shared(char *to, int to_stride, const char *from, size_t from_stride, int count):
//     `count` pieces of 16 bytes that another kernel, or this block, wrote; they may be in flight
//     until void copies_wait(void)
//
// Between blocks and kernels:
//   bool arrive_last(unsigned *counter, unsigned blocks): called by all threads of a block after
//     publishing: true in the block that is the last of `blocks` to call, which then sees what the
//     others published and finds the counter reset to 0
//   SHARED_STATIC(type, name) declares `name`, a pointer to memory of the block apart from its
//     dynamic shared memory
//   void grid_arrive(unsigned *arrived): called by all threads of a block of a cooperative launch:
//     the block has published
//   void grid_wait(const unsigned *arrived, unsigned wanted): likewise; waits until `wanted` blocks
//     have arrived, and then sees their data
//   void publish_at_once(float *, float), struct words4 load_latest(const void *), float
//     load_latest_float(const float *): with no wait in between: a load finds, word by word, what
//     was published at once last, or before that; never, in later loads, what was before
//   void stand_by(const void *word): in a cooperative launch, before it is loaded again; returns at
//     any time, at the latest once something has been published there at once
//   void wait_for_previous(void), let_next_start(void): programmatic dependent launch on sm_90 and
//     later; nothing elsewhere
//
// void stamp_product(float v): v, of the block's first product of weights and activations, is
//   there: in a build that stamps (stamp.h) records the time, otherwise does nothing
//
// Numbers:
//   float exponential(float), square_root(float): to float's precision or nearly
//   uint32_t bits_of(float), float float_of(uint32_t)
//   uint32_t bf16_pair(float low, float high): to nearest even, low in the low half
//   float bf16_low(uint32_t), bf16_high(uint32_t)
//   uint32_t bf16_pair_times(uint32_t a, uint32_t b), bf16_pair_plus(uint32_t a, uint32_t b): of
//     each half, where BF16 holds the result; subnormal numbers are numbers
//   uint8_t e4m3_from(float): nearest even, saturating at +-448, as stored
//   void e4m3_pair(uint32_t w, float *low, float *high, int half = 0): the two stored codes in w's
//     low 16 bits, or with half 1 in its high ones, as real values
//   void e4m3_pair_held(uint32_t w, float *low, float *high, int half = 0): the same, times
//     1 / E4M3_HELD_SCALE
//   uint32_t e4m3_pair_bf16(uint32_t w, int half = 0): the same as a pair of bf16, times
//     1 / E4M3_BF16_SCALE; NaN may become a number
//   uint8_t e4m3_held(uint8_t ocp): an OCP code as this device stores it: itself, or on gfx942,
//     whose format is FNUZ (bias 8, 0x80 is NaN), the code of half the value
//   E4M3_HELD_SCALE, E4M3_BF16_SCALE, E4M3_PRODUCT_SCALE: powers of two that a sum of products is
//     multiplied by: for each e4m3_pair_held in them; with e4m3_pair_bf16; with two e4m3 in the
//     matrix unit
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PLATFORM_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PLATFORM_H

#include <stdint.h>

struct alignas(16) words4 {
  uint32_t word[4];
};

#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/platform_emulator.h"
#elif defined(__HIP__)
#include "kernels/gpu/device/machine/platform_hip.h"
#else
#include "kernels/gpu/device/machine/platform_cuda.h"
#endif

// The sum and the largest over a warp, the same in every lane.
DEVICE float warp_sum(float v) {
#pragma unroll
  for (int mask = WARP / 2; mask; mask >>= 1)
    v += shuffle_xor(v, mask);
  return v;
}

DEVICE float warp_largest(float v) {
#pragma unroll
  for (int mask = WARP / 2; mask; mask >>= 1) {
    const float other = shuffle_xor(v, mask);
    v = other > v ? other : v;
  }
  return v;
}

#endif
