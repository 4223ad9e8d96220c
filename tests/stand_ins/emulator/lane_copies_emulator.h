// lane_copies_emulator: the copies of lane_ring.h on the host emulator, in groups as cp.async on
// sm_80; they arrive when the schedule delivers them (copies.h).
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_LANE_COPIES_EMULATOR_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_LANE_COPIES_EMULATOR_H

#include "tests/stand_ins/emulator/copies.h"

DEVICE void lane_copy(char *to, const void *from) {
  copies_begin_lane(to, from);
}
DEVICE void lane_ring_end(void) {
  copies_end_group();
}
template <int LEFT> DEVICE void lane_ring_wait(void) {
  copies_wait_groups(LEFT);
}

#endif
