// ring_cuda: the ring of ring.h for nvcc. Instructions are named as in the PTX ISA.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_RING_CUDA_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_RING_CUDA_H

#include "kernels/gpu/device/machine/barriers_cuda.h"

// It would, for each unit.
DEVICE int ring_own(void) {
  int own = lane_index() * 16;
  asm volatile("" : "+r"(own));
  return own;
}

#if __CUDA_ARCH__ >= 900

enum { RING_TELLS = 1 };

DEVICE void ring_make(const struct ring &ring) {
  if (lane_index() == 0) {
#pragma unroll 1
    for (int slot = 0; slot < ring.count; slot++) {
      barrier_make(ring.barriers + slot, 1);
    }
    barriers_made();
  }
}

DEVICE void ring_copy(void *to, const void *from, int bytes, uint64_t *barrier) {
  asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, "
               "[%3];" ::"r"(shared_address(to)),
               "l"(from), "r"(bytes), "r"(shared_address(barrier))
               : "memory");
}

// Always true in the same one lane of the warp. Where a lane is chosen otherwise, ptxas expects
// several, and goes through the copies' addresses one by one.
DEVICE bool ring_brings(void) {
  uint32_t elected;
  asm volatile("{ .reg .b32 lane; .reg .pred p; elect.sync lane|p, 0xFFFFFFFF; "
               "selp.u32 %0, 1, 0, p; }"
               : "=r"(elected)::"memory");
  return elected != 0;
}

DEVICE void ring_bring(const struct ring &ring, int slot, const struct stream_place &place,
                       bool whole) {
  const int bytes = whole ? STREAM_BYTES : stream_bytes(&place);
  const int beside = whole ? place.beside : stream_beside_bytes(&place);
  const bool second = whole || stream_has_second(&place);
  unsigned char *to = ring_slot(ring, slot);
  uint64_t *barrier = ring.barriers + slot;
  barrier_expect(barrier, second ? 2 * (bytes + beside) : bytes + beside);
  ring_copy(to, place.row[0] + (unsigned)place.at, bytes, barrier);
  if (second) {
    ring_copy(to + STREAM_BYTES, place.row[1] + (unsigned)place.at, bytes, barrier);
  }
  if (beside == 0) {
    return;
  }
  ring_copy(ring_beside(ring, slot), place.row[0] + stream_beside_at(&place), beside, barrier);
  if (second) {
    ring_copy(ring_beside(ring, slot) + ring.beside, place.row[1] + stream_beside_at(&place),
              beside, barrier);
  }
}

DEVICE void ring_wait(const struct ring &ring, int slot, int turn, bool) {
  barrier_wait(ring.barriers + slot, turn);
}

DEVICE bool ring_landed(const struct ring &ring, int slot, int turn) {
  return barrier_has_ended(ring.barriers + slot, turn);
}

#else

enum { RING_TELLS = 0 };

DEVICE void ring_make(const struct ring &) {}

DEVICE void ring_copy(uint32_t to, const void *from) {
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(to), "l"(from) : "memory");
}

DEVICE bool ring_brings(void) {
  return true;
}

// Requests a unit. A lane copies the codes that it reads itself, and so needs to wait for nobody
// else.
DEVICE void ring_bring(const struct ring &ring, int slot, const struct stream_place &place,
                       bool whole) {
  const int bytes = whole ? STREAM_BYTES : stream_bytes(&place);
  const int beside = whole ? place.beside : stream_beside_bytes(&place);
  const bool second = whole || stream_has_second(&place);
  const uint32_t to = shared_address(ring_slot(ring, slot));
  const uint32_t to_beside = shared_address(ring_beside(ring, slot));
#pragma unroll
  for (int at = lane_index() * 16; at < STREAM_BYTES; at += WARP * 16) {
    if (at < bytes) {
      ring_copy(to + (uint32_t)at, place.row[0] + place.at + at);
    }
    if (at < bytes && second) {
      ring_copy(to + STREAM_BYTES + (uint32_t)at, place.row[1] + place.at + at);
    }
  }
#pragma unroll 1
  for (int at = lane_index() * 16; at < beside; at += WARP * 16) {
    ring_copy(to_beside + (uint32_t)at, place.row[0] + stream_beside_at(&place) + at);
    if (second) {
      ring_copy(to_beside + (uint32_t)(ring.beside + at),
                place.row[1] + stream_beside_at(&place) + at);
    }
  }
  asm volatile("cp.async.commit_group;" ::: "memory");
}

DEVICE bool ring_landed(const struct ring &, int, int) {
  return false;
}

template <int LEFT> DEVICE void ring_wait_until(void) {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}

DEVICE void ring_wait(const struct ring &ring, int, int, bool all) {
  switch (all ? ring.count : 1) {
  case 2: return ring_wait_until<1>();
  case 3: return ring_wait_until<2>();
  case 4: return ring_wait_until<3>();
  case 5: return ring_wait_until<4>();
  case 6: return ring_wait_until<5>();
  case 7: return ring_wait_until<6>();
  case 8: return ring_wait_until<7>();
  default: return ring_wait_until<0>();
  }
}

#endif

#endif
