// emulator: runs GPU kernels on the host, so that their logic is tested without a GPU. Each GPU
// thread is a fiber; a few blocks are resident at a time and run side by side; which fiber runs
// next is drawn from a seed, from orders that are unfavorable on purpose (one warp as far as it
// gets, one warp last of all, lanes backwards), so that a missing barrier shows as a wrong result.
//
// A launch fails with a message, instead of computing, if
//   - a warp operation is reached by only some lanes of a warp, or by lanes at different places
//   - block_wait is reached by only some threads, or at different places
//   - two threads access a byte of shared memory, at least one of them writing, with no wait in
//     between (races.h; not with the address sanitizer)
//   - data of other kernels is touched before wait_for_previous, or a block never calls it, unless
//     the launch is cooperative; or after grid_arrive before grid_wait
//   - what another block has published at once is loaded in another way than the latest, with no
//     wait for the grid since
//   - a block arrives at a grid's wait a second time with no wait in between, or a thread at its
//     cluster's; or something is done in a block of a cluster that has ended
//   - 16 bytes are moved at an address that is not a multiple of 16
//   - an access is outside of shared memory: every block has its own, of exactly the requested
//     size, initially filled with 0xFF (NaN in every type). With the address sanitizer any access
//     beyond it ends the program; without it, writes shortly beyond it and 16-byte accesses are
//     detected.
// The fibers of a failed launch are abandoned, and their stacks reused.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_EMULATOR_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_EMULATOR_H

#include <stddef.h>
#include <stdint.h>

#include "tests/stand_ins/emulator/launch.h"

#define EMULATOR_EXPORT extern "C" __attribute__((visibility("default")))

enum {
  EMULATOR_MOST_THREADS = 1024, // of a block
  EMULATOR_MOST_RESIDENT = 4,   // blocks at a time; the seed determines how many
  EMULATOR_MOST_TOGETHER = 8,   // of a cluster, which are resident even so
};

// ---- what runs kernels: the driver and tests ----

extern "C" emulator_launch_function emulator_launch_kernel;

// ---- what platform_emulator.h is built on ----

struct emulator_block {
  int index[3], grid[3], threads;
  int place; // of the EMULATOR_MOST_TOGETHER
  unsigned char *shared;
  size_t shared_bytes;
  alignas(16) unsigned char fixed[512]; // additional to it
  uintptr_t near;                       // shared memory and its guards
  size_t near_bytes;
};

struct emulator_thread {
  int index;   // within the block
  bool waited; // for the previous kernel
  struct emulator_block *block;
};

// The running thread, NULL outside of a launch. Each plugin has one emulator, and one launch runs
// at a time; a second one waits.
extern struct emulator_thread *emulator_self;

// The same for kernels, for each of whose threads these never change.
__attribute__((const)) int emulator_thread_index(void);
__attribute__((const)) int emulator_block_threads(void);
__attribute__((const)) int emulator_block_index(int axis);
__attribute__((const)) int emulator_grid_blocks(int axis);
__attribute__((const)) unsigned char *emulator_shared(void);
__attribute__((const)) unsigned char *emulator_fixed(void);

// The place of a wait in the source; two waits belong together if these are equal.
struct emulator_site {
  const char *operation, *file;
  int line;
};

void emulator_block_wait(struct emulator_site site);
// Waits for all lanes of the warp, and returns the value of lane `source` (modulo the warp).
uint32_t emulator_exchange(uint32_t bits, int source, struct emulator_site site);
void emulator_warp_wait(struct emulator_site site);
// 0 or 1, by turns: changed by each exchange or wait of the warp.
int emulator_warp_turn(void);
// About to read or write, anywhere (races.h); accesses near shared memory are checked.
void emulator_access_near(const void *p, size_t bytes, bool write);
static inline void emulator_access(const void *p, size_t bytes, bool write) {
  if (emulator_self &&
      (uintptr_t)p - emulator_self->block->near < emulator_self->block->near_bytes) {
    emulator_access_near(p, bytes, write);
  }
}
void emulator_grid_arrive(unsigned *arrived, struct emulator_site site);
// After an arrival, nothing of other kernels or stages may be touched until the next wait.
void emulator_grid_wait(const unsigned *arrived, unsigned wanted, struct emulator_site site);
// Blocks of a cluster are resident together, at addresses that are the same modulo 1024. A block by
// its rank in the running thread's cluster; and the cluster's barrier, for all of its threads.
int emulator_cluster_rank(void);
struct emulator_block *emulator_cluster_block(int rank);
void emulator_cluster_arrive(void);
void emulator_cluster_wait(struct emulator_site site);
// Waits until emulator_published of the word, in any block.
void emulator_stand_by(const void *word, struct emulator_site site);
void emulator_published(const void *word);
// About to load with the nearest cache, which may still have what was there before.
void emulator_plain(const void *p, size_t bytes);
bool emulator_arrive_last(unsigned *counter, unsigned blocks, struct emulator_site site);
// Waits until emulator_wake(on) in the same block. If nothing else can run, a copy in flight is
// delivered (copies.h).
void emulator_park(const void *on, struct emulator_site site);
void emulator_wake(const struct emulator_block *block, const void *on);
uint64_t emulator_draw(void); // from the schedule's seed
[[noreturn]] void emulator_fail(const char *format, ...) __attribute__((format(printf, 1, 2)));

// A kernel, found by name. `most_threads` per block, 0 for no limit of its own.
struct emulator_kernel {
  const char *name;
  void (*entry)(const void *arguments);
  size_t argument_bytes;
  int most_threads;
  struct emulator_kernel *next;

  emulator_kernel(const char *name_, void (*entry_)(const void *), size_t bytes_, int threads_);
};

#endif
