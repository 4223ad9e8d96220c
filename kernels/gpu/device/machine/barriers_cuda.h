// barriers_cuda: barriers in a block's shared memory (mbarrier, from sm_90 on): phases end when all
// arrivals and all bytes are there.
//   void barrier_make(uint64_t *, int arrivals); barriers_made() by the thread that made them,
//       before a block_wait
//   void barrier_arrive(uint64_t *), barrier_expect(uint64_t *, int bytes): arrives; bytes follow
//   void barrier_wait(uint64_t *, int phase): until the phase of this number, modulo 2, has ended
//   bool barrier_has_ended(uint64_t *, int phase): whether it has
//   void barrier_wait_cluster(uint64_t *, int phase): for arrivals from other blocks, too
//   uint32_t shared_address(const void *): in shared memory's own window, as instructions take it
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_BARRIERS_CUDA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_BARRIERS_CUDA_H

#include "kernels/gpu/device/machine/platform.h"

DEVICE uint32_t shared_address(const void *p) {
  return (uint32_t)__cvta_generic_to_shared(p);
}

DEVICE void barrier_make(uint64_t *barrier, int arrivals) {
  asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
               "r"(arrivals)
               : "memory");
}
// Lets the copy engine, which is a separate proxy, see new barriers.
DEVICE void barriers_made(void) {
  asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
DEVICE void barrier_arrive(uint64_t *barrier) {
  asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
               : "memory");
}
DEVICE void barrier_expect(uint64_t *barrier, int bytes) {
  asm volatile(
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(shared_address(barrier)),
      "r"(bytes)
      : "memory");
}

DEVICE bool barrier_has_ended(uint64_t *barrier, int phase) {
  uint32_t ended;
  asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], %2; "
               "selp.u32 %0, 1, 0, p; }"
               : "=r"(ended)
               : "r"(shared_address(barrier)), "r"(phase & 1)
               : "memory");
  return ended != 0;
}

#define BARRIER_WAIT(name, scope)                                                                  \
  DEVICE void name(uint64_t *barrier, int phase) {                                                 \
    uint32_t ended;                                                                                \
    do {                                                                                           \
      asm volatile("{ .reg .pred p; mbarrier.try_wait.parity" scope ".shared::cta.b64 p, "         \
                   "[%1], %2; selp.u32 %0, 1, 0, p; }"                                             \
                   : "=r"(ended)                                                                   \
                   : "r"(shared_address(barrier)), "r"(phase & 1)                                  \
                   : "memory");                                                                    \
    } while (!ended);                                                                              \
  }
BARRIER_WAIT(barrier_wait, "")
BARRIER_WAIT(barrier_wait_cluster, ".acquire.cluster")
#undef BARRIER_WAIT

#endif
