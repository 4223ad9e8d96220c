#include "tests/stand_ins/emulator/races.h"

#include "tests/stand_ins/emulator/emulator.h"

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
