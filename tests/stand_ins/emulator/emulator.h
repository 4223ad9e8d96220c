// emulator: runs GPU kernels on the host, so that their logic is tested without a GPU. Each GPU
// thread is a fiber; a few blocks are resident at a time and run side by side; which fiber runs
// next is drawn from a seed, from orders that are unkind on purpose (one warp as far as it gets,
// one warp last of all, lanes backwards), so that a missing barrier shows as a wrong result.
//
// A launch fails, with words, instead of computing, when
//   - a warp operation is reached by some lanes of a warp only, or by lanes at different places
//   - block_wait is reached by some threads only, or at different places
//   - two threads get at a byte of shared memory, one of them writing, with no wait in between
//     (races.h; not with the address sanitizer)
//   - data of other kernels are touched before wait_for_previous, or a block never calls it; or
//     after grid_arrive before grid_wait
//   - a block arrives at a grid's wait a second time with no wait in between
//   - 16 bytes are moved at an address that is no multiple of 16
//   - shared memory is left: every block has its own, of exactly the size asked for, filled with
//     0xFF (NaN in every type) at the start. With the address sanitizer any access beyond it ends
//     the program; without it, writes shortly beyond it and 16-byte accesses are noticed.
// The fibers of a failed launch are abandoned, their stacks used again.
#ifndef PERTOKEN_EMULATOR_H
#define PERTOKEN_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#include "tests/stand_ins/emulator/launch.h"

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default")))

enum {
  EMULATOR_MOST_THREADS = 1024, // of a block
  EMULATOR_MOST_RESIDENT = 4,   // blocks at a time; how many of them is drawn from the seed
};

// ---- what runs kernels: the driver and tests ----

extern "C" emulator_launch_function emulator_launch_kernel;

// ---- what platform_emulator.h is made of ----

struct emulator_block {
  int index[3], grid[3], threads;
  unsigned char *shared;
  size_t shared_bytes;
  alignas(16) unsigned char fixed[512]; // beside it
  uintptr_t near;                       // shared memory and its guards
  size_t near_bytes;
};

struct emulator_thread {
  int index;   // within the block
  bool waited; // for the previous kernel
  struct emulator_block *block;
};

// The thread that is running, NULL outside of a launch. There is one emulator to a plugin, and one
// launch at a time; a second waits.
extern struct emulator_thread *emulator_self;

// Where a wait stands in the source; two waits belong together when these are equal.
struct emulator_site {
  const char *operation, *file;
  int line;
};

void emulator_block_wait(struct emulator_site site);
// Waits for all lanes of the warp, and returns what lane `source` (modulo the warp) brought.
uint32_t emulator_exchange(uint32_t bits, int source, struct emulator_site site);
void emulator_warp_wait(struct emulator_site site);
// About to read or write, anywhere (races.h); what is near shared memory is looked at.
void emulator_access_near(const void *p, size_t bytes, bool write);
static inline void emulator_access(const void *p, size_t bytes, bool write) {
  if (emulator_self &&
      (uintptr_t)p - emulator_self->block->near < emulator_self->block->near_bytes) {
    emulator_access_near(p, bytes, write);
  }
}
void emulator_grid_arrive(unsigned *arrived, struct emulator_site site);
// From an arrival on nothing of other kernels or stages may be touched until the next wait.
void emulator_grid_wait(const unsigned *arrived, unsigned wanted, struct emulator_site site);
bool emulator_arrive_last(unsigned *counter, unsigned blocks, struct emulator_site site);
// Waits until emulator_wake(on) in the same block. When nothing else can run, a copy under way is
// delivered (copies.h).
void emulator_park(const void *on, struct emulator_site site);
void emulator_wake(const struct emulator_block *block, const void *on);
uint64_t emulator_draw(void); // from the schedule's seed
[[noreturn]] void emulator_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A kernel, found by its name. `most_threads` of a block, 0 for no limit of its own.
struct emulator_kernel {
  const char *name;
  void (*entry)(const void *arguments);
  size_t argument_bytes;
  int most_threads;
  struct emulator_kernel *next;

  emulator_kernel(const char *name_, void (*entry_)(const void *), size_t bytes_, int threads_);
};

#endif
