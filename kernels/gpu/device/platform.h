// platform: what the kernels need of a GPU, under one set of names, so that one source serves CUDA
// (platform_cuda.h), HIP without a ROCm package (platform_hip.h) and the host emulator of the tests
// (tests/stand_ins/emulator/platform_emulator.h). Each of the three defines all of this, and nothing
// else:
//
// WARP: lanes that run together, 32 or 64; LOADS_IN_FLIGHT: of 16 bytes, that a lane of a vector
// kernel has under way; COUNTED_LOADS: loads are waited for by their number in order, so that one
// which only some paths begin makes all of them wait, and is better made twice than left out;
// SCALAR_LOADS: what all lanes of a warp read alike is best read from memory (constant_of_launch),
// else from shared memory; PERSISTENT_TILES: of keys or values, that attention fetches together in
// a block of VECTOR_THREADS. All are constants of the compilation.
//
// DEVICE stands before a function: inlined device code; APART: not inlined, where calls are cheap.
// KERNEL(name, struct T) begins a kernel of one argument `a` of type const struct T:
//   KERNEL(embed_bf16, embed_arguments) { ... a.hidden ... }
// KERNEL_BOUNDS(name, T, threads, blocks): the same with the largest block, and how many of them
//   should fit a multiprocessor (512 threads of a warp of 32 count as 512).
// SHARED(type, name) declares `name`, a pointer to the block's dynamic shared memory, aligned to
//   16 bytes.
// IF_LARGE_SHARED(declaration): a kernel for devices with more than 64 KiB of shared memory.
//
// void settle(float &v): what comes before it in v is computed before whatever is loaded after it;
//   where nothing else tells the compiler so, and it would use up many loads before it begins more.
//
// Where a thread is:
//   int thread_index(void), block_threads(void), block_index(int axis), grid_blocks(int axis)
//   int lane_index(void), warp_index(void): within the warp; of the warp within the block
//   int warp_alike(int v): v, which is the same in all lanes of the warp
//   int thread_index_anew(void): of which the compiler does not know that it is always the same,
//     so that nothing that follows from it is kept in registers
//
// Of a warp, with all lanes taking part, and of a block:
//   float shuffle_xor(float v, int mask): the v of lane ^ mask
//   uint32_t shuffle_xor_bits(uint32_t v, int mask)
//   float shuffle(float v, int lane)
//   void warp_wait(void), block_wait(void): what the lanes of the warp, the threads of the block
//     wrote before is seen after, in shared and global memory alike
//
// struct words4 { uint32_t word[4]; } is aligned to 16. Memory:
//   struct words4 load_weights(const void *): 16 bytes that no kernel of the step writes; read
//     once, kept out of the nearest cache
//   void ask_for_weights(const void *, int bytes): so many, a multiple of 16, of what load_weights
//     will read, to come as near as L2 meanwhile; nothing where there is no such instruction
//   const T *constant_of_launch(const T *p): p, the same in all lanes of the warp, to what nothing
//     in the launch writes
//   struct words4 load_published(const void *): 16 bytes that another kernel, or this block, wrote
//   float load_published_float(const float *), int load_published_int(const int *)
//   void publish(float *, float), publish_int(int *, int), publish_words(void *, struct words4)
//   void publish_bits16(uint16_t *, uint16_t), publish_bits8(uint8_t *, uint8_t)
//     Data between stages go through these alone: a plain read of a const pointer may be compiled
//     to a cached constant load, which can be stale.
//   struct words4 load_shared(const void *), void store_shared(void *, struct words4)
//   void copy_to_shared(char *to, int to_stride, const char *from, size_t from_stride, int count):
//     `count` pieces of 16 bytes that another kernel, or this block, wrote; they may be under way
//     until void copies_wait(void)
//
// Between blocks and kernels:
//   bool arrive_last(unsigned *counter, unsigned blocks): called by all threads of a block after
//     publishing: true in the block that is the last of `blocks` to call, which then sees what the
//     others published and finds the counter reset to 0
//   SHARED_STATIC(type, name) declares `name`, a pointer to memory of the block beside its dynamic
//     shared memory
//   void grid_arrive(unsigned *arrived): called by all threads of a block of a cooperative launch:
//     the block has published
//   void grid_wait(const unsigned *arrived, unsigned wanted): so too: waits until `wanted` blocks
//     have arrived, whose data is then seen
//   void wait_for_previous(void), let_next_start(void): programmatic dependent launch on sm_90 and
//     later; nothing elsewhere
//
// Numbers:
//   float exponential(float), square_root(float): to float's precision or nearly
//   uint32_t bits_of(float), float float_of(uint32_t)
//   uint32_t bf16_pair(float low, float high): to nearest even, low in the low half
//   float bf16_low(uint32_t), bf16_high(uint32_t)
//   uint8_t e4m3_from(float): nearest even, saturating at +-448, as held
//   void e4m3_pair(uint32_t w, float *low, float *high, int half = 0): the two held codes in w's
//   low
//     16 bits, or with half 1 its high ones, as real values
//   uint32_t e4m3_pair_bf16(uint32_t w, int half = 0): the same as a pair of bf16, times
//     1 / E4M3_BF16_SCALE
//   uint8_t e4m3_held(uint8_t ocp): an OCP code as this device holds it: itself, or on gfx942,
//     whose format is FNUZ (bias 8, 0x80 is NaN), the code of half the value
//   E4M3_BF16_SCALE, E4M3_PRODUCT_SCALE: powers of two that a sum of products is multiplied by: of
//     e4m3_pair_bf16; of two e4m3 by the matrix unit
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_PLATFORM_H
#define PERTOKEN_KERNELS_GPU_DEVICE_PLATFORM_H

#include <stdint.h>

struct alignas(16) words4 {
  uint32_t word[4];
};

#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/platform_emulator.h"
#elif defined(__HIP__)
#include "kernels/gpu/device/platform_hip.h"
#else
#include "kernels/gpu/device/platform_cuda.h"
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
