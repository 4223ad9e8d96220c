// ring_emulator: the ring of ring.h on the host emulator, with barriers and bulk copies as on sm_90;
// copies arrive when the schedule delivers them (copies.h).
#ifndef PERTOKEN_RING_EMULATOR_H
#define PERTOKEN_RING_EMULATOR_H

#include "tests/stand_ins/emulator/copies.h"

DEVICE void ring_make(const struct ring &ring) {
  for (int slot = 0; slot < ring.count && lane_index() == 0; slot++) {
    copies_barrier_make(ring.barriers + slot, 1);
  }
}

DEVICE void ring_bring(const struct ring &ring, int slot, const void *first, const void *second,
                       int bytes) {
  if (lane_index() != 0) {
    return;
  }
  unsigned char *to = ring_slot(ring, slot);
  copies_arrive(ring.barriers + slot, second ? 2 * bytes : bytes);
  copies_begin_run(to, first, bytes, ring.barriers + slot);
  if (second) {
    copies_begin_run(to + STREAM_BYTES, second, bytes, ring.barriers + slot);
  }
}

DEVICE void ring_wait(const struct ring &ring, int slot, int turn, bool, EMULATOR_HERE) {
  copies_wait_phase(ring.barriers + slot, turn, {"ring_wait", file, line});
}

#endif
