// gpu_fences: what it takes to order memory, or to look into L2, behind copies that are under way.
//
//   gpu_fences
//
// On each multiprocessor of the first GPU a thread requests so many KB of memory in bulk, as a
// product's ring does, and right after that does one of the things below; the median of their
// durations, over all multiprocessors and rounds, in microseconds. docs/gpu-model.md has such
// numbers of an H200. For sm_90 and later.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <vector>

#include <cuda_runtime.h>

namespace {

enum { COPY = 2048, MOST_COPIES = 96, ROUNDS = 256, SPAN = 1 << 30 };

enum thing { NOTHING, LOAD, COUNT, ACQUIRE_RELEASE, SEQUENTIAL, FENCE_OF_COPIES, THINGS };
const char *const names[THINGS] = {
    "nothing (reading the clock)",        "ld.relaxed.gpu of what is in L2",
    "atom.acq_rel.gpu (a merge's count)", "fence.acq_rel.gpu",
    "fence.sc.gpu (__threadfence)",       "fence.proxy.async.global"};

template <int THING> __device__ void do_it(unsigned *word, unsigned *shared) {
  unsigned found = 0;
  switch (THING) {
  case LOAD:
    asm volatile("ld.relaxed.gpu.global.u32 %0, [%1];" : "=r"(found) : "l"(word) : "memory");
    break;
  case COUNT:
    asm volatile("atom.acq_rel.gpu.global.inc.u32 %0, [%1], 7;"
                 : "=r"(found)
                 : "l"(word)
                 : "memory");
    break;
  case ACQUIRE_RELEASE: asm volatile("fence.acq_rel.gpu;" ::: "memory"); break;
  case SEQUENTIAL: asm volatile("fence.sc.gpu;" ::: "memory"); break;
  case FENCE_OF_COPIES: asm volatile("fence.proxy.async.global;" ::: "memory"); break;
  default: break;
  }
  *(volatile unsigned *)shared = found; // which waits until it is there
}

// `words`: 32 apart, one for each block; `cycles` [blocks][ROUNDS].
template <int THING>
__global__ void measure(const unsigned char *memory, unsigned *words, int copies,
                        unsigned *cycles) {
  extern __shared__ __align__(128) unsigned char ring[];
  __shared__ uint64_t barrier;
  __shared__ unsigned seen;
  const uint32_t to = (uint32_t)__cvta_generic_to_shared(ring),
                 arrives = (uint32_t)__cvta_generic_to_shared(&barrier);
  unsigned *word = words + blockIdx.x * 32;
  size_t at = (size_t)blockIdx.x * MOST_COPIES * COPY;
  asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(arrives) : "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  for (int round = 0; round < ROUNDS; round++) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(arrives),
                 "r"(copies * COPY)
                 : "memory");
    for (int i = 0; i < copies; i++) {
      asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], "
                   "%2, [%3];" ::"r"(to + i * COPY),
                   "l"(memory + at + (size_t)i * COPY), "r"((int)COPY), "r"(arrives)
                   : "memory");
    }
    *(volatile unsigned *)(word + 1) = (unsigned)round; // something to be ordered
    const long long begin = clock64();
    do_it<THING>(word, &seen);
    const long long end = clock64();
    cycles[blockIdx.x * ROUNDS + round] = (unsigned)(end - begin);
    for (uint32_t ended = 0; !ended;) {
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; "
                   "selp.u32 %0, 1, 0, p; }"
                   : "=r"(ended)
                   : "r"(arrives), "r"(round & 1)
                   : "memory");
    }
    at = (at + (size_t)gridDim.x * MOST_COPIES * COPY) % (SPAN - MOST_COPIES * COPY) / COPY * COPY;
  }
}

typedef void kernel(const unsigned char *, unsigned *, int, unsigned *);
kernel *const kernels[THINGS] = {measure<NOTHING>,    measure<LOAD>,
                                 measure<COUNT>,      measure<ACQUIRE_RELEASE>,
                                 measure<SEQUENTIAL>, measure<FENCE_OF_COPIES>};

struct device {
  int blocks, kilohertz;
  unsigned char *memory;
  unsigned *words, *cycles;
};

bool is_ok(cudaError_t error) {
  if (error != cudaSuccess) {
    fprintf(stderr, "%s\n", cudaGetErrorString(error));
  }
  return error == cudaSuccess;
}

bool prepare(struct device *d) {
  return is_ok(cudaDeviceGetAttribute(&d->blocks, cudaDevAttrMultiProcessorCount, 0)) &&
         is_ok(cudaDeviceGetAttribute(&d->kilohertz, cudaDevAttrClockRate, 0)) &&
         is_ok(cudaMalloc(&d->memory, SPAN)) && is_ok(cudaMemset(d->memory, 0, SPAN)) &&
         is_ok(cudaMalloc(&d->words, (size_t)d->blocks * 128)) &&
         is_ok(cudaMemset(d->words, 0, (size_t)d->blocks * 128)) &&
         is_ok(cudaMalloc(&d->cycles, (size_t)d->blocks * ROUNDS * sizeof(unsigned)));
}

// Microseconds, at the clock that the device has at most; the first rounds do not count.
bool time_it(const struct device *d, int thing, int copies, double *us) {
  const int shared = MOST_COPIES * COPY; // one block on each multiprocessor
  const void *function = (const void *)kernels[thing];
  std::vector<unsigned> cycles((size_t)d->blocks * ROUNDS), counted;
  if (!is_ok(cudaFuncSetAttribute(function, cudaFuncAttributeMaxDynamicSharedMemorySize, shared))) {
    return false;
  }
  kernels[thing]<<<d->blocks, 1, shared>>>(d->memory, d->words, copies, d->cycles);
  if (!is_ok(cudaGetLastError()) ||
      !is_ok(cudaMemcpy(cycles.data(), d->cycles, cycles.size() * sizeof(unsigned),
                        cudaMemcpyDeviceToHost))) {
    return false;
  }
  for (size_t i = 0; i < cycles.size(); i++) {
    if (i % ROUNDS >= ROUNDS / 8) {
      counted.push_back(cycles[i]);
    }
  }
  std::nth_element(counted.begin(), counted.begin() + (long)counted.size() / 2, counted.end());
  *us = 1e3 * counted[counted.size() / 2] / d->kilohertz;
  return true;
}

} // namespace

int main(void) {
  struct device d = {};
  if (!prepare(&d)) {
    return 1;
  }
  printf("microseconds behind copies to each of %d multiprocessors, at %d MHz\n%-36s %9s %9s %9s\n",
         d.blocks, d.kilohertz / 1000, "", "nothing", "48 KB", "192 KB");
  for (int thing = 0; thing < THINGS; thing++) {
    double us[3];
    for (int i = 0; i < 3; i++) {
      static const int copies[] = {0, 24, MOST_COPIES};
      if (!time_it(&d, thing, copies[i], &us[i])) {
        return 1;
      }
    }
    printf("%-36s %9.2f %9.2f %9.2f\n", names[thing], us[0], us[1], us[2]);
  }
  return 0;
}
