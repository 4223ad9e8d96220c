// ring_emulator: the ring of ring.h on the host emulator, with barriers and bulk copies as on
// sm_90; copies arrive when the schedule delivers them (copies.h).
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_RING_EMULATOR_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_RING_EMULATOR_H

#include "tests/stand_ins/emulator/copies.h"

enum { RING_TELLS = 1 };

DEVICE int ring_own(void) {
  return lane_index() * 16;
}

DEVICE void ring_make(const struct ring &ring) {
  for (int slot = 0; slot < ring.count && lane_index() == 0; slot++) {
    copies_barrier_make(ring.barriers + slot, 1);
  }
}

DEVICE bool ring_brings(void) {
  return lane_index() == 0;
}

DEVICE void ring_bring(const struct ring &ring, int slot, const struct stream_place &place,
                       bool whole) {
  const int bytes = whole ? STREAM_BYTES : stream_bytes(&place);
  const int beside = whole ? place.beside : stream_beside_bytes(&place);
  const int rows = whole || stream_has_second(&place) ? 2 : 1;
  uint64_t *barrier = ring.barriers + slot;
  copies_arrive(barrier, rows * (bytes + beside));
  for (int row = 0; row < rows; row++) {
    copies_begin_run(ring_slot(ring, slot) + row * STREAM_BYTES, place.row[row] + place.at, bytes,
                     barrier);
    if (beside > 0) {
      copies_begin_run(ring_beside(ring, slot) + row * ring.beside,
                       place.row[row] + stream_beside_at(&place), beside, barrier);
    }
  }
}

DEVICE bool ring_landed(const struct ring &ring, int slot, int turn) {
  return copies_has_ended(ring.barriers + slot, turn);
}

DEVICE void ring_wait(const struct ring &ring, int slot, int turn, bool, EMULATOR_HERE) {
  copies_wait_phase(ring.barriers + slot, turn, {"ring_wait", file, line});
}

#endif
