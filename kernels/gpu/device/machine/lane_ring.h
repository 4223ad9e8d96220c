// lane_ring: a few steps of weights on their way to a lane of a matrix product. A lane brings what
// it multiplies itself, so it waits for nobody but memory, and for each step separately.
//
// Where the matrix unit is mma.sync (NVIDIA), the steps are in shared memory, and copies to there
// are counted in groups. ptxas would make each step of a loop wait for all of its loads into
// registers, the last ones too, because it raises one scoreboard for all of them. Elsewhere they
// are in registers: gfx9 waits for its loads in order, by count.
//
//   LANE_RING_COPIES: whether they are in shared memory
//   struct lane_ring<DEPTH, PIECES>: DEPTH slots of PIECES times 16 bytes
//   size_t lane_ring_bytes(int depth, int pieces): of shared memory, for a warp
//   struct lane_ring<...> lane_ring_make<...>(char *slots): in the warp's shared memory
//   void lane_ring_bring(ring, int slot, int piece, const void *from): 16 bytes that no kernel of
//       the step writes, to a place whose contents the lane has taken
//   void lane_ring_end(void): ends a group of copies, of copy_to_shared too; it may be empty
//   void lane_ring_wait<LEFT>(void): until all of the lane's groups but the last LEFT are there
//   struct words4 lane_ring_take(ring, int slot, int piece)
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_LANE_RING_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_LANE_RING_H

#include "kernels/gpu/device/machine/matrix_tile.h"

#if defined(TILE_MMA)

enum { LANE_RING_COPIES = 1 };

#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/lane_copies_emulator.h"
#else

// As load_weights: past the nearest cache, and nothing else into L2.
DEVICE void lane_copy(char *to, const void *from) {
  asm volatile(
      "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"((uint32_t)__cvta_generic_to_shared(to)),
      "l"(from)
      : "memory");
}
DEVICE void lane_ring_end(void) {
  asm volatile("cp.async.commit_group;" ::: "memory");
}
template <int LEFT> DEVICE void lane_ring_wait(void) {
  asm volatile("cp.async.wait_group %0;" ::"n"(LEFT) : "memory");
}
#endif

template <int DEPTH, int PIECES> struct lane_ring {
  char *own; // this lane's first piece; neighbors in the warp are neighbors
};

template <int DEPTH, int PIECES>
DEVICE struct lane_ring<DEPTH, PIECES> lane_ring_make(char *slots) {
  return {slots + lane_index() * 16};
}

template <int DEPTH, int PIECES>
DEVICE char *lane_ring_at(const struct lane_ring<DEPTH, PIECES> &ring, int slot, int piece) {
  return ring.own + (slot * PIECES + piece) * WARP * 16;
}

template <int DEPTH, int PIECES>
DEVICE void lane_ring_bring(struct lane_ring<DEPTH, PIECES> &ring, int slot, int piece,
                            const void *from) {
  lane_copy(lane_ring_at(ring, slot, piece), from);
}

template <int DEPTH, int PIECES>
DEVICE struct words4 lane_ring_take(const struct lane_ring<DEPTH, PIECES> &ring, int slot,
                                    int piece) {
  return load_shared(lane_ring_at(ring, slot, piece));
}

#else

enum { LANE_RING_COPIES = 0 };

template <int DEPTH, int PIECES> struct lane_ring { struct words4 held[DEPTH][PIECES]; };

template <int DEPTH, int PIECES> DEVICE struct lane_ring<DEPTH, PIECES> lane_ring_make(char *) {
  struct lane_ring<DEPTH, PIECES> ring;
  return ring;
}

template <int DEPTH, int PIECES>
DEVICE void lane_ring_bring(struct lane_ring<DEPTH, PIECES> &ring, int slot, int piece,
                            const void *from) {
  ring.held[slot][piece] = load_weights(from);
}

template <int DEPTH, int PIECES>
DEVICE struct words4 lane_ring_take(const struct lane_ring<DEPTH, PIECES> &ring, int slot,
                                    int piece) {
  return ring.held[slot][piece];
}

DEVICE void lane_ring_end(void) {}
template <int LEFT> DEVICE void lane_ring_wait(void) {}

#endif

DEVICE constexpr int lane_ring_bytes(int depth, int pieces) {
  return LANE_RING_COPIES * depth * pieces * WARP * 16;
}

#endif
