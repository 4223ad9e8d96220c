// platform_cuda: the names of platform.h for nvcc, sm_80 and later. Instructions are named as in
// the PTX ISA.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PLATFORM_CUDA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PLATFORM_CUDA_H

// With 8 loads a block of 512 threads has 64 KiB in flight, enough for an H200 (4.8 TB/s for about
// a microsecond, over 132 multiprocessors, is 36 KiB) with one block per multiprocessor; with two,
// which one vector leaves registers for, it is faster (product_vector.h).
enum { WARP = 32, LOADS_IN_FLIGHT = 8, COUNTED_LOADS = 0, SCALAR_LOADS = 0 };

// With 4, keys in BF16 spill 20 of the 128 registers that a block with that many threads leaves
// (ptxas 13.0, sm_80 and sm_90a).
#define STREAMING_WEIGHTS "kernels/gpu/device/products/product_stream.h"
enum { STREAMING_TILES = 2 };

#define IF_LARGE_SHARED(declaration) declaration

#define DEVICE static __device__ __forceinline__
#if defined(GPU_STAMPS)
#include "kernels/gpu/device/machine/stamp_cuda.h"
#else
#define KERNEL(name, T) extern "C" __global__ void name(const __grid_constant__ struct T a)
#define KERNEL_BOUNDS(name, T, threads, blocks)                                                    \
  extern "C" __global__ void __launch_bounds__(threads, blocks)                                    \
      name(const __grid_constant__ struct T a)
DEVICE void stamp_released(void) {}
DEVICE void stamp_product(float) {}
#endif
#define SHARED(type, name)                                                                         \
  extern __shared__ struct words4 cuda_shared[];                                                   \
  type *const name = reinterpret_cast<type *>(cuda_shared)

DEVICE void settle(float &) {}
DEVICE int thread_index(void) {
  return (int)threadIdx.x;
}
DEVICE int thread_index_anew(void) {
  int index;
  asm volatile("mov.u32 %0, %%tid.x;" : "=r"(index));
  return index;
}
DEVICE int block_threads(void) {
  return (int)blockDim.x;
}
DEVICE int block_index(int axis) {
  return (int)(axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z);
}
DEVICE int grid_blocks(int axis) {
  return (int)(axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z);
}
DEVICE int lane_index(void) {
  return (int)(threadIdx.x % WARP);
}
DEVICE int warp_index(void) {
  return (int)(threadIdx.x / WARP);
}

DEVICE float shuffle_xor(float v, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, v, mask);
}
DEVICE uint32_t shuffle_xor_bits(uint32_t v, int mask) {
  return __shfl_xor_sync(0xFFFFFFFFu, v, mask);
}
DEVICE float shuffle(float v, int lane) {
  return __shfl_sync(0xFFFFFFFFu, v, lane);
}
DEVICE void block_wait(void) {
  __syncthreads();
}
DEVICE void warp_wait(void) {
  __syncwarp();
}

// Volatile, so that what is fetched before wait_for_previous stays before it.
DEVICE struct words4 load_weights(const void *p) {
  struct words4 v;
  asm volatile("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(p));
  return v;
}

DEVICE uint32_t load_weights_word(const void *p) {
  uint32_t v;
  asm volatile("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(p));
  return v;
}

DEVICE void load_ahead(const void *p) {
  asm volatile("prefetch.global.L2 [%0];" ::"l"(p) : "memory");
}

// In assembly, so that no compiler turns it into a non-coherent load.
DEVICE struct words4 load_published(const void *p) {
  struct words4 v;
  asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(p)
               : "memory");
  return v;
}
DEVICE float load_published_float(const float *p) {
  float v;
  asm volatile("ld.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
DEVICE int load_published_int(const int *p) {
  int v;
  asm volatile("ld.global.s32 %0, [%1];" : "=r"(v) : "l"(p) : "memory");
  return v;
}

// Strong accesses of the device's scope: each word is one, also in a vector, and none is found in a
// multiprocessor's own cache (PTX ISA, memory consistency model).
DEVICE struct words4 load_latest(const void *p) {
  struct words4 v;
  asm volatile("ld.relaxed.gpu.global.v4.u32 {%0, %1, %2, %3}, [%4];"
               : "=r"(v.word[0]), "=r"(v.word[1]), "=r"(v.word[2]), "=r"(v.word[3])
               : "l"(p)
               : "memory");
  return v;
}
DEVICE float load_latest_float(const float *p) {
  float v;
  asm volatile("ld.relaxed.gpu.global.f32 %0, [%1];" : "=f"(v) : "l"(p) : "memory");
  return v;
}
DEVICE void publish_at_once(float *p, float v) {
  asm volatile("st.relaxed.gpu.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
DEVICE void stand_by(const void *) {}

DEVICE void publish(float *p, float v) {
  asm volatile("st.global.f32 [%0], %1;" ::"l"(p), "f"(v) : "memory");
}
DEVICE void publish_int(int *p, int v) {
  asm volatile("st.global.s32 [%0], %1;" ::"l"(p), "r"(v) : "memory");
}
DEVICE void publish_words(void *p, struct words4 v) {
  asm volatile("st.global.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(p), "r"(v.word[0]), "r"(v.word[1]),
               "r"(v.word[2]), "r"(v.word[3])
               : "memory");
}
DEVICE void publish_bits16(uint16_t *p, uint16_t v) {
  asm volatile("st.global.u16 [%0], %1;" ::"l"(p), "h"(v) : "memory");
}
DEVICE void publish_bits8(uint8_t *p, uint8_t v) {
  asm volatile("st.global.u8 [%0], %1;" ::"l"(p), "r"((uint32_t)v) : "memory");
}

// CUDA's own vector type, because only that is sure to become one 16-byte access.
DEVICE struct words4 load_shared(const void *p) {
  const uint4 v = *static_cast<const uint4 *>(p);
  return {{v.x, v.y, v.z, v.w}};
}
DEVICE void store_shared(void *p, struct words4 v) {
  *static_cast<uint4 *>(p) = make_uint4(v.word[0], v.word[1], v.word[2], v.word[3]);
}

// How many have counted before; at `last` it wraps to 0. Releases and acquires: whatever precedes
// this, precedes what follows a later count, in any threads that program order and synchronization
// lead through (PTX ISA, memory consistency model, base causality order; formally Lustig et al.,
// ASPLOS 2019). Fences (__threadfence), one before and one after it, would also be sequentially
// consistent, which nothing needs: two who count are ordered by the counter itself.
DEVICE unsigned cuda_count(unsigned *counter, unsigned last) {
  unsigned before;
  asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], %2;"
               : "=r"(before)
               : "l"(counter), "r"(last)
               : "memory");
  return before;
}

// The barrier before passes the block's writes to thread 0, which releases them; the barrier after
// passes the other blocks' writes, which it acquires, to all threads.
DEVICE bool arrive_last(unsigned *counter, unsigned blocks) {
  __syncthreads();
  const int last = threadIdx.x == 0 && cuda_count(counter, blocks - 1) == blocks - 1;
  return __syncthreads_or(last) != 0;
}

#define APART static __device__ __noinline__
DEVICE int warp_alike(int v) {
  return v;
}
DEVICE int warp_alike_anew(int v) {
  asm volatile("" : "+r"(v));
  return v;
}
template <class T> DEVICE const T *constant_of_launch(const T *p) {
  return p;
}
#define SHARED_STATIC(type, name)                                                                  \
  static __shared__ type name##_of_block;                                                          \
  type *const name = &name##_of_block

// As arrive_last, with a release here and an acquire there; the acquire also drops other blocks'
// data from the multiprocessor's cache.
DEVICE void grid_arrive(unsigned *arrived) {
  __syncthreads();
  if (threadIdx.x == 0) {
    asm volatile("red.release.gpu.global.add.u32 [%0], 1;" ::"l"(arrived) : "memory");
  }
}
DEVICE void grid_wait(const unsigned *arrived, unsigned wanted) {
  if (threadIdx.x == 0) {
    unsigned found;
    do {
      asm volatile("ld.acquire.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(arrived) : "memory");
    } while (found < wanted);
  }
  __syncthreads();
}

DEVICE void wait_for_previous(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
  stamp_released();
}
DEVICE void let_next_start(void) {
#if __CUDA_ARCH__ >= 900
  asm volatile("griddepcontrol.launch_dependents;" ::: "memory");
#endif
}

DEVICE float exponential(float v) {
  return expf(v);
}
DEVICE float square_root(float v) {
  float root;
  asm("sqrt.approx.f32 %0, %1;" : "=f"(root) : "f"(v)); // within 2^-23
  return root;
}
DEVICE uint32_t bits_of(float value) {
  return __float_as_uint(value);
}
DEVICE float float_of(uint32_t bits) {
  return __uint_as_float(bits);
}

DEVICE uint32_t bf16_pair(float low, float high) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
  return pair;
}
DEVICE float bf16_low(uint32_t pair) {
  return __uint_as_float(pair << 16);
}
DEVICE float bf16_high(uint32_t pair) {
  return __uint_as_float(pair & 0xFFFF0000u);
}
// mul and add of bf16x2 need sm_90; fma with -0 or 1 gives the same.
DEVICE uint32_t bf16_pair_times(uint32_t a, uint32_t b) {
  uint32_t pair;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(a), "r"(b), "r"(0x80008000u));
  return pair;
}
DEVICE uint32_t bf16_pair_plus(uint32_t a, uint32_t b) {
  uint32_t pair;
  asm("fma.rn.bf16x2 %0, %1, %2, %3;" : "=r"(pair) : "r"(a), "r"(0x3F803F80u), "r"(b));
  return pair;
}

// All of these are exact real values.
#define E4M3_HELD_SCALE    1.0f
#define E4M3_BF16_SCALE    1.0f
#define E4M3_PRODUCT_SCALE 1.0f

DEVICE uint8_t e4m3_held(uint8_t ocp) {
  return ocp;
}

DEVICE uint8_t e4m3_from(float value) {
#if __CUDA_ARCH__ >= 890
  uint16_t pair;
  asm("cvt.rn.satfinite.e4m3x2.f32 %0, %1, %2;" : "=h"(pair) : "f"(0.0f), "f"(value));
  return (uint8_t)pair;
#else
  const uint32_t bits = __float_as_uint(value), sign = bits >> 24 & 0x80;
  const float magnitude = fabsf(value);
  uint32_t code;
  if (magnitude < 0x1p-6f) { // subnormal, steps of 2^-9: the last place of floats near 2^14
    code = __float_as_uint(magnitude + 0x1p14f) & 0xF;
  } else if (magnitude < 448) { // 3 bits of fraction to nearest even, exponent bias 127 to 7
    code = ((__float_as_uint(magnitude) + 0x7FFFFu + (bits >> 20 & 1)) >> 20) - (127 - 7) * 8;
  } else {
    code = value == value ? 0x7E : 0x7F;
  }
  return (uint8_t)(sign | code);
#endif
}

#include "kernels/gpu/device/machine/e4m3_bits.h"

// Two E4M3 as two halves, which hold every E4M3. Without an instruction: moved to the place of a
// half's exponent and fraction, they have 2^-8 of their value (biases 7 and 15); NaN becomes a
// number there, but no weight is NaN. The instruction takes either half of a register; a shift
// beforehand would be one instruction more.
DEVICE uint32_t cuda_e4m3_halves(uint32_t w, int half) {
  uint32_t halves;
#if __CUDA_ARCH__ >= 890
  if (half) {
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.rn.f16x2.e4m3x2 %0, h; }"
        : "=r"(halves)
        : "r"(w));
  } else {
    asm("{ .reg .b16 l, h; mov.b32 {l, h}, %1; cvt.rn.f16x2.e4m3x2 %0, l; }"
        : "=r"(halves)
        : "r"(w));
  }
#else // each code in the upper byte of its half
  const uint32_t spread = half ? __byte_perm(w, 0, 0x3424) : __byte_perm(w, 0, 0x1404);
  const uint32_t moved = (spread & 0x80008000u) | (spread & 0x7F007F00u) >> 1;
  asm("mul.rn.f16x2 %0, %1, %2;" : "=r"(halves) : "r"(moved), "r"(0x5C005C00u)); // 2^8, twice
#endif
  return halves;
}
DEVICE void e4m3_pair(uint32_t w, float *low, float *high, int half = 0) {
  asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
      : "=f"(*low), "=f"(*high)
      : "r"(cuda_e4m3_halves(w, half)));
}
DEVICE void e4m3_pair_held(uint32_t w, float *low, float *high, int half = 0) {
  e4m3_pair(w, low, high, half);
}
// prmt replicates the sign of a code's byte eight times (PTX ISA, prmt, msb).
DEVICE uint32_t e4m3_pair_bf16(uint32_t w, int half = 0) {
  uint32_t extended;
  asm("prmt.b32 %0, %1, 0, %2;" : "=r"(extended) : "r"(w), "r"(half ? 0xB3A2 : 0x9180));
  return e4m3_bits_bf16(extended);
}

// cp.async, through L2 only.
DEVICE void copy_to_shared(char *to, int to_stride, const char *from, size_t from_stride,
                           int count) {
#pragma unroll 1
  for (; count > 0; count--) {
    asm volatile(
        "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
        "l"(from)
        : "memory");
    to += to_stride;
    from += from_stride;
  }
}
DEVICE void copies_wait(void) {
  asm volatile("cp.async.wait_all;" ::: "memory");
}

#endif
