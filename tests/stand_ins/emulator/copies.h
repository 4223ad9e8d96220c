// copies: sm_90's barriers in shared memory and the copies that complete on them, and sm_80's
// copies that are waited for by count, according to the PTX ISA ("mbarrier", 9.7.13.15 in version
// 8.7; "cp.async.bulk", 9.7.9.25; its tensors, 9.7.9.27).
// A copy is in flight until the schedule delivers it: at once, much later, in any order. Until then
// a thread that does not wait for it, or still reads what was there before, finds NaN in every
// type.
//
// A launch fails, with a message, if a barrier is used that was not created, or is arrived at more
// often than its phase allows, if a copy does not fit its barrier or shared memory, and if a block
// ends with copies in flight.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_COPIES_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_COPIES_H

#include <stddef.h>
#include <stdint.h>

#include "tests/stand_ins/emulator/emulator.h"

// All are for the running thread's block.
void copies_barrier_make(uint64_t *barrier, int arrivals);
void copies_arrive(uint64_t *barrier, int bytes);   // additional bytes that are expected
void copies_arrive_at(uint64_t *barrier, int rank); // at that of another block of the cluster
void copies_wait_phase(uint64_t *barrier, int phase, struct emulator_site site);
bool copies_has_ended(uint64_t *barrier, int phase); // without waiting
// What a block of the cluster has at the place of this one's own, `bytes` long: to be read.
const void *copies_in_block(const void *own, int rank, int bytes);

// A box of a matrix in memory, row by row with the 128-byte swizzle: boxes of `box_rows` rows by
// 128 bytes; anything outside of rows x row_bytes is zero. `to` is a multiple of 1024.
struct copies_box {
  const unsigned char *from;
  uint64_t row_bytes;
  int rows, box_rows, byte, row;
};
void copies_begin(void *to, const struct copies_box *box, uint64_t *barrier);
// To the same place in all blocks of the cluster whose ranks are bits of `blocks`, to each at its
// own time.
void copies_begin_in(int blocks, void *to, const struct copies_box *box, uint64_t *barrier);

// `bytes` as they are, from and to multiples of 16; and how many such copies were under way, on
// average, when one of them began, since the last call.
void copies_begin_run(void *to, const void *from, int bytes, uint64_t *barrier);
EMULATOR_EXPORT double emulator_copies_met(void);

// 16 bytes for the running thread alone, which waits for its own copies in groups: "cp.async",
// 9.7.9.25. They may arrive before they are waited for.
void copies_begin_lane(void *to, const void *from);
void copies_end_group(void);
void copies_wait_groups(int left); // until no more than the last that many are in flight

// For the scheduler. False if nothing is in flight.
bool copies_deliver_one(void);
bool copies_under_way(const struct emulator_block *block);
void copies_forget(void); // what a failed launch left behind

#endif
