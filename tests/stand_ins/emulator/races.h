// races: finds accesses to shared memory by two threads, one of them writing, with no wait in
// between, whichever of them came first in this schedule. Kernels are compiled for the thread
// sanitizer, whose calls before each access end up here instead of in its library; that excludes
// the address sanitizer, with which schedules alone find a missing wait.
//
// Two accesses are in order when a block_wait of their block, or for lanes of one warp a warp_wait,
// came between. A shuffle orders nothing: no GPU promises it.
#ifndef PERTOKEN_RACES_H
#define PERTOKEN_RACES_H

#include <stddef.h>
#include <stdint.h>

enum { RACE_WORD = 4 }; // bytes to a cell

struct race_access {
  uint32_t stamp;  // of the stretch between two waits of one block; unlike any other block's
  uint16_t thread; // within the block
  uint8_t waits;   // of the thread's warp so far, modulo 2^8
  uint8_t bytes;   // of the word, as bits
};

// What has happened to one word: the first and the latest thread that wrote in a stretch, and that
// read. A third makes it forget one, which may hide a race and never invents one.
struct race_cell {
  struct race_access write[2], read[2];
};

// Notes an access to some bytes of a word. NULL, or the earlier access that it is not in order
// with.
const struct race_access *race_note(struct race_cell *cell, bool write, int warp,
                                    struct race_access now);

#endif
