// races: finds accesses to shared memory by two threads, at least one of them writing, with no wait
// in between, whichever came first in this schedule. Kernels are compiled for the thread sanitizer,
// whose calls before each access go here instead of to its library; that excludes the address
// sanitizer, with which only schedules find a missing wait.
//
// Two accesses are ordered if a block_wait of their block or, for lanes of one warp, a warp_wait
// came between. A shuffle orders nothing: no GPU promises that.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_RACES_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_RACES_H

#include <stddef.h>
#include <stdint.h>

enum { RACE_WORD = 4 }; // bytes per cell

struct race_access {
  uint32_t stamp;  // of the stretch between two waits of a block; unlike any other block's
  uint16_t thread; // within the block
  uint8_t waits;   // of the thread's warp so far, modulo 2^8
  uint8_t bytes;   // of the word, as bits
};

// The history of one word: the first and the latest thread that wrote in a stretch, and that read.
// A third thread displaces one of them, which may hide a race and never invents one.
struct race_cell {
  struct race_access write[2], read[2];
};

static inline bool race_in_order(const struct race_access *before, const struct race_access *now,
                                 int warp) {
  return before->stamp != now->stamp || before->thread == now->thread ||
         !(before->bytes & now->bytes) ||
         (before->waits != now->waits && before->thread / warp == now->thread / warp);
}

static inline void race_remember(struct race_access (&latest)[2], const struct race_access *now) {
  const bool first = latest[0].stamp != now->stamp || latest[0].thread == now->thread;
  const uint8_t bytes = first && latest[0].stamp == now->stamp ? latest[0].bytes : 0;
  struct race_access *to = &latest[first ? 0 : 1];
  *to = *now;
  to->bytes |= bytes;
}

// Records an access to some bytes of a word. Returns NULL, or the earlier access with which it is
// not ordered.
static inline const struct race_access *race_note(struct race_cell *cell, bool write, int warp,
                                                  struct race_access now) {
  for (int i = 0; i < 2; i++) {
    if (!race_in_order(&cell->write[i], &now, warp)) {
      return &cell->write[i];
    }
    if (write && !race_in_order(&cell->read[i], &now, warp)) {
      return &cell->read[i];
    }
  }
  race_remember(write ? cell->write : cell->read, &now);
  return nullptr;
}

#endif
