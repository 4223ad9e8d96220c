#include "tests/stand_ins/emulator/races.h"

#include "tests/stand_ins/emulator/emulator.h"

namespace {

bool in_order(const struct race_access *before, const struct race_access *now, int warp) {
  return before->stamp != now->stamp || before->thread == now->thread ||
         !(before->bytes & now->bytes) ||
         (before->waits != now->waits && before->thread / warp == now->thread / warp);
}

void remember(struct race_access (&latest)[2], const struct race_access *now) {
  const bool first = latest[0].stamp != now->stamp || latest[0].thread == now->thread;
  const uint8_t bytes = first && latest[0].stamp == now->stamp ? latest[0].bytes : 0;
  struct race_access *to = &latest[first ? 0 : 1];
  *to = *now;
  to->bytes |= bytes;
}

} // namespace

const struct race_access *race_note(struct race_cell *cell, bool write, int warp,
                                    struct race_access now) {
  for (int i = 0; i < 2; i++) {
    if (!in_order(&cell->write[i], &now, warp)) {
      return &cell->write[i];
    }
    if (write && !in_order(&cell->read[i], &now, warp)) {
      return &cell->read[i];
    }
  }
  remember(write ? cell->write : cell->read, &now);
  return nullptr;
}

// gcc calls these before an access when it compiles for the thread sanitizer. Nearly all of them
// concern memory other than the block's shared memory.
#define ACCESS(name, size, write)                                                                  \
  void __tsan_##name(void *p) {                                                                    \
    emulator_access(p, size, write);                                                               \
  }
#define ACCESSES(size)                                                                             \
  ACCESS(read##size, size, false)                                                                  \
  ACCESS(write##size, size, true)                                                                  \
  ACCESS(unaligned_read##size, size, false)                                                        \
  ACCESS(unaligned_write##size, size, true)

extern "C" {
void __tsan_init(void) {}
ACCESSES(1)
ACCESSES(2)
ACCESSES(4)
ACCESSES(8)
ACCESSES(16)
void __tsan_read_range(void *p, size_t size) {
  emulator_access(p, size, false);
}
void __tsan_write_range(void *p, size_t size) {
  emulator_access(p, size, true);
}
}
