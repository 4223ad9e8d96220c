// platform_hip: the names of platform.h for clang -x hip, without anything from ROCm: clang's
// builtins only (LLVM's "User Guide for AMDGPU Backend"; the ISA documents of CDNA and RDNA).
// gfx90a, gfx942, gfx950, gfx11, gfx12.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PLATFORM_HIP_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_PLATFORM_HIP_H

#include "kernels/gpu/arguments/hip.h"

#include <stdint.h>

// The data that must be in flight to a compute unit at all times, by Little's law: bandwidth x
// latency / units. Bandwidths and units are from AMD's datasheets; the latency is taken as a
// microsecond, because pointer chases only measure that of an idle memory (Tee and others, "The
// MALL is Open: Exploring Shared Caches and Latency in AMD CDNA 3 GPUs", SC25):
//   gfx90a  a die of MI250X   1.6 TB/s over 110   15 KB
//   gfx942  MI300X, MI325X    5.3, 6.0 over 304   17, 20 KB
//   gfx950  MI355X            8.0 over 256        31 KB
// What is in flight, minimum and maximum, at 1 KiB per load of a wave of 64:
//   vector     8 waves x 8 loads: 48 to 64 KiB; with swiglu, whose two rows clang awaits together,
//              16 to 64 KiB
//   matrix     8 waves x 2 row tiles x 4 steps: 48 to 64 KiB; of 16 columns 2 blocks x 2 steps: 32
//              to 64 KiB. Fetching the next activations drains it once a chunk.
//   attention  2 blocks x 4 waves x 4 to 8 loads of the current one of two batches, plus those of
//              the other: 32 to 128 KiB; heads of 256 drain it once a unit
//   latent     a block's next unit, 32 positions of 576 elements: 36 KiB in BF16, 18 in E4M3; on
//              gfx950 two blocks'
//   units      8 waves x 2 row tiles x 2 steps of 4 or 6 bits: 16 to 32 KiB, of 16 columns 2
//              blocks: 32 to 64 KiB. Of 8 bits both steps are one unit, which is used before the
//              next is requested: only the other waves' loads are in flight meanwhile.
// check_machine_code.py counts them in the disassembly, except those of units, whose conversions
// are between loads and waits. gfx11 and gfx12 (960 GB/s over 96) need little, and have 64 KiB of
// shared memory.
#if defined(__GFX9__)
enum { WARP = 64, LOADS_IN_FLIGHT = 8, COUNTED_LOADS = 1, SCALAR_LOADS = 1 };
#define IF_LARGE_SHARED(declaration) declaration
#else
enum { WARP = 32, LOADS_IN_FLIGHT = 4, COUNTED_LOADS = 1, SCALAR_LOADS = 1 };
#define IF_LARGE_SHARED(declaration)
#endif

// Four SIMDs per compute unit on gfx9, two since then, with at most 8 and 16 waves each; the number
// of waves wanted on a SIMD decides how many registers each may use.
enum { HIP_SIMDS = WARP == 64 ? 4 : 2, MAX_HIP_WAVES = WARP == 64 ? 8 : 16 };
constexpr int hip_waves(int threads, int blocks) {
  return threads * blocks >= MAX_HIP_WAVES * HIP_SIMDS * WARP
             ? MAX_HIP_WAVES
             : (threads * blocks + HIP_SIMDS * WARP - 1) / (HIP_SIMDS * WARP);
}

#define DEVICE static inline __attribute__((device, always_inline))
#define KERNEL(name, T)                                                                            \
  static_assert(alignof(struct T) <= sizeof(struct hip_grid), "directly behind it");               \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, 1024))) void name(              \
      const struct hip_grid, const struct T a)
#define KERNEL_BOUNDS(name, T, threads, blocks)                                                    \
  static_assert(alignof(struct T) <= sizeof(struct hip_grid), "directly behind it");               \
  extern "C" __attribute__((global, amdgpu_flat_work_group_size(1, threads),                       \
                            amdgpu_waves_per_eu(hip_waves(threads, blocks)))) void                 \
  name(const struct hip_grid, const struct T a)
#define SHARED(type, name)                                                                         \
  extern __attribute__((shared)) struct words4 hip_shared[];                                       \
  type *const name = reinterpret_cast<type *>(hip_shared)

typedef uint32_t hip_words4 __attribute__((ext_vector_type(4)));
typedef float hip_pair __attribute__((ext_vector_type(2)));

DEVICE void settle(float &v) {
  asm volatile("" : "+v"(v));
}
DEVICE int thread_index(void) {
  return (int)__builtin_amdgcn_workitem_id_x();
}
DEVICE int thread_index_anew(void) {
  int index = thread_index();
  asm volatile("" : "+v"(index));
  return index;
}
// The first of the kernel's arguments, which are read together. The packet of the launch has this,
// too, but lies in the host's memory: reading it took 10 us of a launch's 21 on an MI300A
// (AMDGPU.jl, pull request 1058). clang's own hidden arguments have names that HIP does not know
// before 6.1 (and then it passes no arguments at all).
typedef __attribute__((address_space(4))) const struct hip_grid hip_launch; // constant memory
DEVICE hip_launch *hip_launched(void) {
  return (hip_launch *)__builtin_amdgcn_kernarg_segment_ptr();
}
DEVICE int block_threads(void) {
  return (int)hip_launched()->threads;
}
DEVICE int block_index(int axis) {
  return (int)(axis == 0   ? __builtin_amdgcn_workgroup_id_x()
               : axis == 1 ? __builtin_amdgcn_workgroup_id_y()
                           : __builtin_amdgcn_workgroup_id_z());
}
DEVICE int grid_blocks(int axis) {
  return (int)hip_launched()->blocks[axis];
}
DEVICE int lane_index(void) {
  return (int)(__builtin_amdgcn_workitem_id_x() % WARP);
}
// Declared uniform over the warp, so that everything derived from it stays in scalar registers.
DEVICE int warp_index(void) {
  return __builtin_amdgcn_readfirstlane((int)(__builtin_amdgcn_workitem_id_x() / WARP));
}

DEVICE uint32_t bits_of(float value) {
  return __builtin_bit_cast(uint32_t, value);
}
DEVICE float float_of(uint32_t bits) {
  return __builtin_bit_cast(float, bits);
}

DEVICE uint32_t hip_from_lane(uint32_t v, int lane) {
  return (uint32_t)__builtin_amdgcn_ds_bpermute(lane << 2, (int)v);
}
DEVICE uint32_t shuffle_xor_bits(uint32_t v, int mask) {
  return hip_from_lane(v, lane_index() ^ mask);
}
DEVICE float shuffle_xor(float v, int mask) {
  return float_of(shuffle_xor_bits(bits_of(v), mask));
}
DEVICE float shuffle(float v, int lane) {
  return float_of(hip_from_lane(bits_of(v), lane));
}
DEVICE void block_wait(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "workgroup");
  __builtin_amdgcn_s_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "workgroup");
}
DEVICE void warp_wait(void) {
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
  __builtin_amdgcn_wave_barrier();
  __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}

DEVICE struct words4 hip_words(hip_words4 v) {
  return {{v.x, v.y, v.z, v.w}};
}
DEVICE hip_words4 hip_vector(struct words4 v) {
  return hip_words4{v.word[0], v.word[1], v.word[2], v.word[3]};
}
// In the address space of global memory, because a pointer that was itself read from memory may
// point to any: an access that could be to shared memory waits for everything in flight.
#define HIP_GLOBAL(type, p) ((__attribute__((address_space(1))) type *)(p))
DEVICE struct words4 load_weights(const void *p) {
  return hip_words(__builtin_nontemporal_load(HIP_GLOBAL(const hip_words4, p)));
}

DEVICE uint32_t load_weights_word(const void *p) {
  return *HIP_GLOBAL(const uint32_t, p);
}

// What it would be for comes by scalar loads.
DEVICE void load_ahead(const void *) {}

// Plain accesses. Kernels are ordered by the end of one and the start of the next; within a kernel,
// by the fences of arrive_last, which the compiler moves no load across.
DEVICE struct words4 load_published(const void *p) {
  return hip_words(*HIP_GLOBAL(const hip_words4, p));
}
DEVICE float load_published_float(const float *p) {
  return *HIP_GLOBAL(const float, p);
}
DEVICE int load_published_int(const int *p) {
  return *HIP_GLOBAL(const int, p);
}
// Atomics of agent scope, which bypass what a die or a compute unit keeps for itself, as LLVM's
// memory model for gfx942 says.
DEVICE struct words4 load_latest(const void *p) {
  struct words4 v;
  for (int i = 0; i < 2; i++) {
    const uint64_t pair = __scoped_atomic_load_n(HIP_GLOBAL(const uint64_t, p) + i,
                                                 __ATOMIC_RELAXED, __MEMORY_SCOPE_DEVICE);
    v.word[2 * i] = (uint32_t)pair;
    v.word[2 * i + 1] = (uint32_t)(pair >> 32);
  }
  return v;
}
DEVICE float load_latest_float(const float *p) {
  return float_of(__scoped_atomic_load_n(HIP_GLOBAL(const uint32_t, p), __ATOMIC_RELAXED,
                                         __MEMORY_SCOPE_DEVICE));
}
DEVICE void publish_at_once(float *p, float v) {
  __scoped_atomic_store_n(HIP_GLOBAL(uint32_t, p), bits_of(v), __ATOMIC_RELAXED,
                          __MEMORY_SCOPE_DEVICE);
}
DEVICE void stand_by(const void *) {
  __builtin_amdgcn_s_sleep(1);
}

DEVICE void publish(float *p, float v) {
  *HIP_GLOBAL(float, p) = v;
}
DEVICE void publish_int(int *p, int v) {
  *HIP_GLOBAL(int, p) = v;
}
DEVICE void publish_words(void *p, struct words4 v) {
  *HIP_GLOBAL(hip_words4, p) = hip_vector(v);
}
DEVICE void publish_bits16(uint16_t *p, uint16_t v) {
  *HIP_GLOBAL(uint16_t, p) = v;
}
DEVICE void publish_bits8(uint8_t *p, uint8_t v) {
  *HIP_GLOBAL(uint8_t, p) = v;
}
DEVICE struct words4 load_shared(const void *p) {
  return hip_words(*static_cast<const hip_words4 *>(p));
}
DEVICE void store_shared(void *p, struct words4 v) {
  *static_cast<hip_words4 *>(p) = hip_vector(v);
}

// The dies of an MI300 have an L2 each, and these are not coherent for ordinary memory. In LLVM's
// memory model for gfx942, fences of agent scope make them coherent: releasing writes the die's L2
// back (buffer_wbl2 sc1), and acquiring drops what it holds of others' data (buffer_inv sc1), so
// that the plain loads of load_published fetch again. A die of gfx90a has one L2: there the same
// fences wait for stores and drop the L1. One fence of each kind is enough for a block, whose waves
// share both caches, and more would cost: each takes microseconds on gfx942 and gfx950, which is
// why rocPRIM's look-back scan does without them there.

// Only a wave itself can wait for its stores: neither a barrier nor another wave's release does
// (llvm-project, pull request 161638). Then they are in the die's L2.
DEVICE void hip_stores_wait(void) {
#if defined(__GFX9__)
  asm volatile("s_waitcnt vmcnt(0)" ::: "memory");
#else
  __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
#endif
}
// After this the first wave may tell others of what the block has stored.
DEVICE bool hip_first_releases(void) {
  hip_stores_wait();
  block_wait();
  const bool first = warp_index() == 0;
  if (first) {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "agent");
  }
  return first && thread_index() == 0;
}

// The counter is an atomic of agent scope, performed where all dies see it. It wraps to 0 at
// blocks - 1.
DEVICE bool arrive_last(unsigned *counter, unsigned blocks) {
  __attribute__((shared)) static unsigned arrived;
  if (hip_first_releases()) {
    const unsigned before =
        __builtin_amdgcn_atomic_inc32(counter, blocks - 1, __ATOMIC_RELAXED, "agent");
    if (before == blocks - 1) {
      __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
    }
    arrived = before;
  }
  block_wait();
  return arrived == blocks - 1;
}

// A call would make the wave keep registers in memory.
#define APART DEVICE
#define SHARED_STATIC(type, name)                                                                  \
  __attribute__((shared)) static type name##_of_block;                                             \
  type *const name = &name##_of_block
#define STREAMING_WEIGHTS "kernels/gpu/device/products/streaming_registers.h"
enum { STREAMING_TILES = 8 };

// In scalar registers, so that everything derived from it is too.
DEVICE int warp_alike(int v) {
  return __builtin_amdgcn_readfirstlane(v);
}

DEVICE int warp_alike_anew(int v) {
  asm volatile("" : "+s"(v));
  return v;
}

// Scalar loads read the constant address space (LLVM, "User Guide for AMDGPU Backend", Address
// Spaces). Their cache is not kept coherent with stores, of which there are none here.
template <class T> DEVICE const T *constant_of_launch(const T *p) {
  typedef const __attribute__((address_space(4))) T *constant;
  const uint64_t bits = (uint64_t)p;
  const uint32_t low = (uint32_t)warp_alike((int)bits),
                 high = (uint32_t)warp_alike((int)(bits >> 32));
  return (const T *)(constant)((uint64_t)high << 32 | low);
}

DEVICE void grid_arrive(unsigned *arrived) {
  if (hip_first_releases()) {
    __scoped_atomic_fetch_add(HIP_GLOBAL(unsigned, arrived), 1u, __ATOMIC_RELAXED,
                              __MEMORY_SCOPE_DEVICE);
  }
}
DEVICE void grid_wait(const unsigned *arrived, unsigned wanted) {
  if (thread_index() == 0) {
    while (__scoped_atomic_load_n(HIP_GLOBAL(const unsigned, arrived), __ATOMIC_RELAXED,
                                  __MEMORY_SCOPE_DEVICE) < wanted) {
      __builtin_amdgcn_s_sleep(1);
    }
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "agent");
  }
  block_wait();
}

DEVICE void stamp_product(float) {}
DEVICE void wait_for_previous(void) {}
DEVICE void let_next_start(void) {}

// e^v = 2^n 2^r with n whole, so that the instruction's own error (1 unit in the last place)
// dominates: v log2(e) is computed in two parts, and its rounding error is added to r.
DEVICE float exponential(float v) {
  const float log2e = 0x1.715476p+0f, log2e_rest = 0x1.4ae0cp-26f;
  v = v > 89 ? 89 : v < -104 ? -104 : v; // infinity and 0 in float; NaN stays
  const float n = __builtin_rintf(v * log2e);
  const float r = __builtin_fmaf(v, log2e_rest, __builtin_fmaf(v, log2e, -n));
  return __builtin_ldexpf(__builtin_amdgcn_exp2f(r), (int)n);
}
DEVICE float square_root(float v) {
  return __builtin_sqrtf(v);
}

// To nearest even; a NaN is made quiet, because rounding could carry it into a number.
DEVICE uint32_t hip_bf16_high(float value) {
  const uint32_t bits = bits_of(value);
  const uint32_t rounded = bits + 0x7FFFu + (bits >> 16 & 1);
  return value == value ? rounded : bits | 0x400000u;
}
DEVICE uint32_t hip_high_halves(uint32_t low, uint32_t high) {
  return __builtin_amdgcn_perm(high, low, 0x07060302);
}
DEVICE uint32_t bf16_pair(float low, float high) {
  return hip_high_halves(hip_bf16_high(low), hip_bf16_high(high));
}
DEVICE float bf16_low(uint32_t pair) {
  return float_of(pair << 16);
}
DEVICE float bf16_high(uint32_t pair) {
  return float_of(pair & 0xFFFF0000u);
}
// In float; truncation does not change what BF16 can hold.
DEVICE uint32_t bf16_pair_times(uint32_t a, uint32_t b) {
  return hip_high_halves(bits_of(bf16_low(a) * bf16_low(b)), bits_of(bf16_high(a) * bf16_high(b)));
}
DEVICE uint32_t bf16_pair_plus(uint32_t a, uint32_t b) {
  return hip_high_halves(bits_of(bf16_low(a) + bf16_low(b)), bits_of(bf16_high(a) + bf16_high(b)));
}

// E4M3 in hardware: FNUZ on gfx942, with codes worth half of OCP's (bias 8), and OCP on gfx950 and
// gfx12; elsewhere OCP, by moving bits.
#if defined(__gfx942__)
#define HIP_E4M3_WORTH 2.0f
#else
#define HIP_E4M3_WORTH 1.0f
#endif
#if defined(__gfx942__) || defined(__gfx950__) || defined(__gfx1200__) || defined(__gfx1201__)
#define HIP_E4M3_CONVERTS
#endif
#define E4M3_HELD_SCALE    HIP_E4M3_WORTH
#define E4M3_BF16_SCALE    HIP_E4M3_WORTH
#define E4M3_PRODUCT_SCALE (HIP_E4M3_WORTH * HIP_E4M3_WORTH)

// FNUZ has no negative zero; its code is the only NaN.
DEVICE uint8_t e4m3_held(uint8_t ocp) {
  if (HIP_E4M3_WORTH == 1) {
    return ocp;
  }
  return (ocp & 0x7F) == 0x7F ? 0x80 : ocp == 0x80 ? 0 : ocp;
}

DEVICE uint8_t e4m3_from(float value) {
#if defined(HIP_E4M3_CONVERTS)
  // The instruction turns what is too large into NaN. Halving for FNUZ is exact.
  const float bounded = value > 448 ? 448 : value < -448 ? -448 : value;
  const float half = bounded * (1 / HIP_E4M3_WORTH);
  return (uint8_t)__builtin_amdgcn_cvt_pk_fp8_f32(half, 0, 0, false);
#else
  const uint32_t bits = bits_of(value), sign = bits >> 24 & 0x80;
  const float magnitude = __builtin_fabsf(value);
  uint32_t code;
  if (magnitude < 0x1p-6f) { // subnormal, steps of 2^-9: the last place of floats near 2^14
    code = bits_of(magnitude + 0x1p14f) & 0xF;
  } else if (magnitude < 448) { // 3 bits of fraction to nearest even, exponent bias 127 to 7
    code = ((bits_of(magnitude) + 0x7FFFFu + (bits >> 20 & 1)) >> 20) - (127 - 7) * 8;
  } else {
    code = value == value ? 0x7E : 0x7F;
  }
  return (uint8_t)(sign | code);
#endif
}

// Without an instruction: moved to the place of a float's exponent and fraction, a code has 2^-120
// of its value (biases 7 and 127); NaN becomes a number, but no weight is NaN. The instruction
// takes either half of a register; clang 19 does not make one of it and a shift.
DEVICE hip_pair hip_e4m3_floats(uint32_t word, int half) {
#if defined(HIP_E4M3_CONVERTS)
  return half ? __builtin_amdgcn_cvt_pk_f32_fp8((int)word, true)
              : __builtin_amdgcn_cvt_pk_f32_fp8((int)word, false);
#else
  const uint32_t w = word >> 16 * half;
  const uint32_t low = (w & 0x80) << 24 | (w & 0x7F) << 20;
  const uint32_t high = (w & 0x8000) << 16 | (w & 0x7F00) << 12;
  return hip_pair{float_of(low), float_of(high)} * 0x1p120f;
#endif
}
DEVICE void e4m3_pair(uint32_t w, float *low, float *high, int half = 0) {
  const hip_pair v = hip_e4m3_floats(w, half) * HIP_E4M3_WORTH;
  *low = v.x;
  *high = v.y;
}
DEVICE void e4m3_pair_held(uint32_t w, float *low, float *high, int half = 0) {
  const hip_pair v = hip_e4m3_floats(w, half);
  *low = v.x;
  *high = v.y;
}
// BF16 holds them all, so truncation is exact.
DEVICE uint32_t e4m3_pair_bf16(uint32_t w, int half = 0) {
  const hip_pair v = hip_e4m3_floats(w, half);
  return hip_high_halves(bits_of(v.x), bits_of(v.y));
}

// Four pieces at a time through registers.
DEVICE void copy_to_shared(char *to, int to_stride, const char *from, size_t from_stride,
                           int count) {
#pragma unroll 1
  for (; count > 0; count -= 4) {
    struct words4 held[4];
#pragma unroll
    for (int i = 0; i < 4; i++) { // the last one again where there are fewer
      held[i] = load_published(from + (size_t)(i < count ? i : count - 1) * from_stride);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      store_shared(to + (i < count ? i : count - 1) * to_stride, held[i]);
    }
    to += 4 * to_stride;
    from += 4 * from_stride;
  }
}
DEVICE void copies_wait(void) {}

#endif
