// ring: slots of shared memory that belong to one warp, which copies units of weights into them
// (stream.h) and goes on while they are on their way. Nobody else takes part, so nobody has to be
// waited for but memory.
//
//   struct ring: see below; its slots are filled in turns
//   void ring_make(const struct ring &): by all lanes, before a warp_wait and all else
//   bool ring_brings(void): by all lanes: whether this one takes part in copying. Always the same
//       lanes do
//   void ring_bring(const struct ring &, int slot, const struct stream_place &, bool whole): begins
//       to copy that unit to the slot, STREAM_BYTES of two rows if it is `whole`. By these lanes;
//       all have read what was there (warp_wait)
//   void ring_wait(const struct ring &, int slot, int turn, bool all): until the unit brought first
//       of those not waited for is there; `slot` is its slot, turn how often that was waited for
//       before, modulo 2, and `all` whether units are under way or there in all the other slots.
//       Of codes a lane may then read 16 bytes from multiples of 16 * WARP, plus 16 times its
//       index; everything else after a warp_wait.
//   int ring_own(void): 16 times the lane's index, which the compiler cannot find anew
//   RING_TELLS: whether it can be told what is there without waiting; then
//   bool ring_landed(const struct ring &, int slot, int turn): whether the unit in that slot is
//       there, for which it would be waited the turn-th time
//
// sm_90 and later copy in bulk, one instruction of one lane for each row; the bytes arrive at the
// slot's barrier. sm_80 copies 16 bytes a lane, in groups that are waited for by count.
//
// Only NVIDIA's steps use it. gfx9 has 64 KiB of shared memory, which activations fill, but
// eight times that in registers, and waits for loads by count. There a product's first window of
// loads (product_vector) is as much, and on its way before the stage waits. Copies into shared
// memory bring 4 bytes a lane there, 16 only from gfx950 on (clang's global_load_lds): a ring would
// take four times the instructions.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_RING_H
#define PERTOKEN_KERNELS_GPU_DEVICE_MACHINE_RING_H

#include "kernels/gpu/device/machine/platform.h"
#include "kernels/gpu/stream.h"

struct ring {
  unsigned char *slots;   // [count][STREAM_SLOT], codes
  unsigned char *besides; // [count][2][beside], what belongs to each row's codes
  uint64_t *barriers;     // [count]
  int count, beside;
};

DEVICE unsigned char *ring_slot(const struct ring &ring, int slot) {
  return ring.slots + slot * STREAM_SLOT;
}
DEVICE unsigned char *ring_beside(const struct ring &ring, int slot) {
  return ring.besides + slot * 2 * ring.beside;
}

#if defined(PERTOKEN_EMULATOR)
#include "tests/stand_ins/emulator/ring_emulator.h"
#else
#include "kernels/gpu/device/machine/ring_cuda.h"
#endif

#endif
