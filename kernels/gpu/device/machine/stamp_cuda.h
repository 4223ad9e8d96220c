// stamp_cuda: KERNEL and KERNEL_BOUNDS of platform_cuda.h in a build that stamps (stamp.h). A
// kernel takes a second argument, room for a stamp of each of its blocks, or NULL. Such a build
// adds a barrier at the kernel's beginning, and for each stamp some clock reads and a store or two.
//
// The first lane of each warp stamps. If several do, the first one's stamp counts; those near in
// time may both write, and the later one stays.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_STAMP_CUDA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_STAMP_CUDA_H

#include "kernels/gpu/stamp.h"

struct stamp_held {
  struct gpu_stamp *stamp; // NULL: none
  uint32_t released, multiplied;
};
static_assert(sizeof(struct stamp_held) == STAMP_SHARED_BYTES, "as the plan is told");

static __device__ __forceinline__ struct stamp_held *stamp_held_by_block(void) {
  static __shared__ struct stamp_held held;
  return &held;
}

static __device__ __forceinline__ uint64_t stamp_now(void) {
  uint64_t ns;
  asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(ns)::"memory");
  return ns;
}

// The clock once v is computed: the value is always a number, but the compiler cannot know that.
static __device__ __forceinline__ uint64_t stamp_after(float v) {
  uint64_t ns = 0;
  asm volatile("{ .reg .pred p; setp.num.f32 p, %1, %1; @p mov.u64 %0, %%globaltimer; }"
               : "+l"(ns)
               : "f"(v)
               : "memory");
  return ns;
}

static __device__ __forceinline__ void stamp_entry(struct gpu_stamp *stamps) {
  struct stamp_held *held = stamp_held_by_block();
  if (threadIdx.x == 0) {
    const size_t block =
        ((size_t)blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
    uint32_t multiprocessor;
    asm volatile("mov.u32 %0, %%smid;" : "=r"(multiprocessor));
    *held = {stamps ? stamps + block : nullptr, 0, 0};
    if (stamps) {
      held->stamp->entry = stamp_now();
      held->stamp->multiprocessor = multiprocessor;
    }
  }
  __syncthreads();
}

static __device__ __forceinline__ void stamp_released(void) {
  struct stamp_held *held = stamp_held_by_block();
  if (threadIdx.x % 32 == 0 && held->stamp && !held->released) {
    held->released = 1;
    held->stamp->released = stamp_now();
  }
}

static __device__ __forceinline__ void stamp_product(float v) {
  struct stamp_held *held = stamp_held_by_block();
  if (threadIdx.x % 32 == 0 && held->stamp && !held->multiplied) {
    held->multiplied = 1;
    held->stamp->multiplied = stamp_after(v);
  }
}

// Stamps the end of a block. Of all launches of a graph, the last one's time stays: it is the
// largest.
static __device__ __forceinline__ void stamp_exit(struct gpu_stamp *stamps) {
  if (stamps && threadIdx.x % 32 == 0) {
    atomicMax(reinterpret_cast<unsigned long long *>(&stamp_held_by_block()->stamp->exit),
              (unsigned long long)stamp_now());
  }
}

#define STAMPED(bounds, name, T)                                                                   \
  static __device__ __forceinline__ void name##_unstamped(const struct T &a);                      \
  extern "C" __global__ void bounds name(const __grid_constant__ struct T a,                       \
                                         struct gpu_stamp *stamps) {                               \
    stamp_entry(stamps);                                                                           \
    name##_unstamped(a);                                                                           \
    stamp_exit(stamps);                                                                            \
  }                                                                                                \
  static __device__ __forceinline__ void name##_unstamped(const struct T &a)
#define KERNEL(name, T) STAMPED(, name, T)
#define KERNEL_BOUNDS(name, T, threads, blocks)                                                    \
  STAMPED(__launch_bounds__(threads, blocks), name, T)

#endif
