#include "tests/stand_ins/emulator/emulator.h"

#include <pthread.h>
#include <sanitizer/asan_interface.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stand_ins/emulator/copies.h"
#include "tests/stand_ins/emulator/fiber.h"
#include "tests/stand_ins/emulator/races.h"

enum {
  WARP = EMULATOR_WARP,
  MAX_WARPS = EMULATOR_MOST_THREADS / WARP,
  SHARED_PATTERN = 1024, // bytes
#if defined(__SANITIZE_ADDRESS__)
  GUARD_BYTES = 0, // on both sides of shared memory
#else
  GUARD_BYTES = 64,
#endif
};

struct emulator_thread *emulator_self;

namespace {

enum state { RUNNABLE, AT_WARP, AT_BLOCK, PARKED, GONE };

// What each wait needs comes first, and is in one line of the processor's cache.
struct alignas(64) thread {
  struct emulator_thread known; // first: emulator_self points here
  enum state state;
  const struct emulator_site *site; // of the wait that it is in, on its stack
  struct fiber fiber;
  const void *parked_on;
  uint8_t waits;          // number of warp_waits so far, modulo 2^8
  bool of_cluster;        // has arrived at the cluster's barrier, not waited
  unsigned cluster_round; // in which it arrived
};

// Lanes are bits.
struct warp {
  uint64_t runnable, arrived;
  uint32_t brought[2][WARP]; // a fast lane may supply the next before a slow one took the last
  int turn;                  // which of the two is being supplied
  const struct emulator_site *site; // of the first lane that waits
};

struct block {
  struct emulator_block known; // first: emulator_thread points here
  struct warp warp[MAX_WARPS];
  struct thread thread[EMULATOR_MOST_THREADS];
  uint32_t runnable; // warps with a runnable lane
  int arrived, left; // threads at block_wait, threads that have not ended
  bool waited, last, live;
  unsigned grid_arrivals;           // of this block
  unsigned grid_awaited;            // of all blocks, by its last wait
  int current;                      // the warp that ran last
  const struct emulator_site *site; // of the first thread at block_wait
  unsigned char *allocated;
  unsigned char *memory;   // shared memory and its guards
  struct race_cell *cells; // [most_cells], of shared memory
  size_t most_cells;
  uint32_t stamp;                          // of the stretch since the last block_wait
  unsigned cluster_arrived, cluster_round; // in a cluster's first block: its barrier
};

constexpr uint64_t ALL_LANES = ~UINT64_C(0) >> (64 - WARP);

enum order { FORWARD, BACKWARD, ANY, ORDERS };

// How this launch chooses, drawn from its seed.
struct schedule {
  enum order lanes, warps, blocks;
  int resident;
  bool stay;      // with a warp as far as it gets
  bool stay_long; // with a block as far as it gets
  int starved;    // a warp that runs only if no other of its block can; -1 for none
  uint64_t random;
};

// A word that a block published at once when it had arrived so many times at the grid's wait.
struct at_once {
  const void *word;
  const struct block *block;
  unsigned arrivals;
};
enum { AT_ONCE = 1 << 16 }; // of those with one hash, the last is remembered

struct machine {
  const struct emulator_launch *launch;
  const struct emulator_kernel *kernel;
  struct schedule schedule;
  struct block block[EMULATOR_MOST_TOGETHER];
  int current; // the block that ran last
  int cluster; // blocks of one; its first has a place that is a multiple of that
  unsigned long next, blocks;
  uint32_t stamps;           // given out
  bool at_once;              // has anything been published so, in this launch?
  bool standing_by[AT_ONCE]; // for a word of that hash
  struct at_once published[AT_ONCE];
  struct fiber host;
  char failure[512];
};

// Created once: stacks are expensive.
struct machine *the_machine;
pthread_mutex_t machine_mutex = PTHREAD_MUTEX_INITIALIZER;

struct emulator_kernel *kernels; // filled before main, or while a plugin is loaded

uint64_t draw(struct schedule *s) {
  s->random ^= s->random << 13;
  s->random ^= s->random >> 7;
  s->random ^= s->random << 17;
  return s->random >> 16;
}

struct schedule schedule_of(uint64_t seed) {
  struct schedule s = {};
  s.random = (seed + 1) * UINT64_C(0x9E3779B97F4A7C15);
  for (int i = 0; i < 8; i++) {
    draw(&s);
  }
  s.lanes = static_cast<enum order>(draw(&s) % ORDERS);
  s.warps = static_cast<enum order>(draw(&s) % ORDERS);
  s.blocks = static_cast<enum order>(draw(&s) % ORDERS);
  s.resident = 1 + static_cast<int>(draw(&s) % EMULATOR_MOST_RESIDENT);
  s.stay = draw(&s) % 4 != 0;
  s.stay_long = draw(&s) % 2 != 0;
  s.starved = draw(&s) % 2 ? static_cast<int>(draw(&s) % 8) : -1;
  return s;
}

int choose_bit(uint64_t bits, enum order order, struct schedule *s) {
  if (order == FORWARD) {
    return __builtin_ctzll(bits);
  }
  if (order == BACKWARD) {
    return 63 - __builtin_clzll(bits);
  }
  const uint64_t above = bits & ~UINT64_C(0) << draw(s) % 64;
  return __builtin_ctzll(above ? above : bits);
}

struct block *choose_block(struct machine *m) {
  struct block *same = &m->block[m->current];
  const bool may_stay = m->schedule.stay_long || draw(&m->schedule) % 16;
  if (same->runnable && may_stay) {
    return same;
  }
  const int first = static_cast<int>(draw(&m->schedule) % EMULATOR_MOST_TOGETHER);
  for (int i = 0; i < EMULATOR_MOST_TOGETHER; i++) {
    const int b = (first + i) % EMULATOR_MOST_TOGETHER;
    if (m->block[b].runnable) {
      m->current = b;
      return &m->block[b];
    }
  }
  return nullptr;
}

// The next thread to run, no longer runnable from then on; NULL if all wait or have ended.
struct thread *choose(struct machine *m) {
  struct schedule *s = &m->schedule;
  struct block *block = choose_block(m);
  if (!block) {
    return nullptr;
  }
  if (!s->stay || !block->warp[block->current].runnable) {
    const uint32_t starved = s->starved >= 0 ? UINT32_C(1) << s->starved : 0;
    const uint32_t others = block->runnable & ~starved;
    block->current = choose_bit(others ? others : block->runnable, s->warps, s);
  }
  struct warp *warp = &block->warp[block->current];
  const int lane = choose_bit(warp->runnable, s->lanes, s);
  warp->runnable &= ~(UINT64_C(1) << lane);
  if (!warp->runnable) {
    block->runnable &= ~(UINT32_C(1) << block->current);
  }
  return &block->thread[block->current * WARP + lane];
}

// The next thread to run, after delivering copies for as long as nothing else can continue.
struct thread *choose_or_deliver(struct machine *m) {
  struct thread *next = choose(m);
  while (!next && copies_deliver_one()) {
    next = choose(m);
  }
  return next;
}

struct thread *self(void) {
  return reinterpret_cast<struct thread *>(emulator_self);
}
struct block *block_of(const struct thread *t) {
  return reinterpret_cast<struct block *>(t->known.block);
}
struct block *first_of_cluster(const struct block *block) {
  struct machine *m = the_machine;
  return &m->block[(block - m->block) / m->cluster * m->cluster];
}

size_t describe_place(const struct thread *t, char *text, size_t size) {
  const struct emulator_block *b = t->known.block;
  int length;
  if (b->grid[1] == 1 && b->grid[2] == 1) {
    length = snprintf(text, size, "block %d, thread %d: ", b->index[0], t->known.index);
  } else {
    length = snprintf(text, size, "block %d,%d,%d, thread %d: ", b->index[0], b->index[1],
                      b->index[2], t->known.index);
  }
  return static_cast<size_t>(length);
}

// Records what went wrong at a thread.
__attribute__((format(printf, 2, 0))) void note_list(const struct thread *where, const char *format,
                                                     va_list arguments) {
  struct machine *m = the_machine;
  char *text = m->failure;
  size_t used =
      static_cast<size_t>(snprintf(text, sizeof m->failure, "kernel %.64s, ", m->launch->kernel));
  used += describe_place(where, text + used, sizeof m->failure - used);
  vsnprintf(text + used, sizeof m->failure - used - 48, format, arguments);
  used = strlen(text);
  snprintf(text + used, sizeof m->failure - used, " (schedule seed %llu)",
           static_cast<unsigned long long>(m->launch->seed));
}

__attribute__((format(printf, 2, 3))) void note(const struct thread *where, const char *format,
                                                ...) {
  va_list arguments;
  va_start(arguments, format);
  note_list(where, format, arguments);
  va_end(arguments);
}

// Returns to the host, from the running thread, which will not run again.
[[noreturn]] void back_to_host(void) {
  struct thread *running = self();
  emulator_self = nullptr;
  fiber_switch(&running->fiber, &the_machine->host, true);
  abort();
}

const char *base_name(const char *file) {
  const char *slash = strrchr(file, '/');
  return slash ? slash + 1 : file;
}

// What a thread is doing, for messages.
const char *doing(const struct thread *t, char *text, size_t size) {
  if (t->state == GONE) {
    snprintf(text, size, "has left the kernel");
  } else if (t->state == RUNNABLE) {
    snprintf(text, size, "runs");
  } else {
    snprintf(text, size, "is at %s (%s:%d)", t->site->operation, base_name(t->site->file),
             t->site->line);
  }
  return text;
}

void note_pair(const struct thread *waits, const struct thread *other, const char *whole) {
  char text[128];
  note(waits, "%s (%s:%d) is for the whole %s, but thread %d %s", waits->site->operation,
       base_name(waits->site->file), waits->site->line, whole, other->known.index,
       doing(other, text, sizeof text));
}

// The first thread of the block that is in this state while another of its warp (or block) is not.
bool note_partial(const struct block *block, enum state state, int group, const char *whole) {
  for (int i = 0; i < block->known.threads; i++) {
    const struct thread *t = &block->thread[i], *first = &block->thread[i / group * group];
    for (int k = 0; t->state == state && k < group; k++) {
      if (first[k].state != state) {
        note_pair(t, &first[k], whole);
        return true;
      }
    }
  }
  return false;
}

// A thread that is parked forever, or else any.
void note_stuck(const struct block *block) {
  char text[128];
  const struct thread *t = &block->thread[0];
  for (int i = 0; i < block->known.threads; i++) {
    if (block->thread[i].state == PARKED) {
      t = &block->thread[i];
    }
  }
  note(t, "deadlock: the thread %s", doing(t, text, sizeof text));
}

// Nothing can run: true if all have ended, else records the wait that cannot end.
bool finished(const struct machine *m) {
  const struct block *stuck = nullptr;
  for (int b = 0; b < EMULATOR_MOST_TOGETHER; b++) {
    const struct block *block = &m->block[b];
    if (!block->live) {
      continue;
    }
    stuck = block;
    if (note_partial(block, AT_WARP, WARP, "warp") ||
        note_partial(block, AT_BLOCK, block->known.threads, "block")) {
      return false;
    }
  }
  if (stuck) {
    note_stuck(stuck);
  }
  return !stuck;
}

// Yields to whatever runs next.
void give_way(struct thread *t, bool over) {
  struct machine *m = the_machine;
  struct thread *next = choose_or_deliver(m);
  if (!next) {
    finished(m);
    back_to_host();
  }
  if (next != t) {
    emulator_self = &next->known;
    fiber_switch(&t->fiber, &next->fiber, over);
  }
  t->state = RUNNABLE;
}

inline bool same_site(const struct emulator_site *a, const struct emulator_site *b) {
  return a->line == b->line && (a->file == b->file || !strcmp(a->file, b->file)) &&
         (a->operation == b->operation || !strcmp(a->operation, b->operation));
}

// A wait of a warp or block: `first` is where the first of its threads waits.
void check_site(struct thread *t, const struct emulator_site *first, const char *whole) {
  if (!same_site(t->site, first)) {
    note(t, "%s (%s:%d) while others of its %s are at %s (%s:%d)", t->site->operation,
         base_name(t->site->file), t->site->line, whole, first->operation, base_name(first->file),
         first->line);
    back_to_host();
  }
}

void check_guards(const struct block *block) {
  const unsigned char *end = block->known.shared + block->known.shared_bytes;
  for (int i = 0; i < GUARD_BYTES; i++) {
    const bool below = block->memory[i] != 0xFF;
    if (below || end[i] != 0xFF) {
      note(self(), "its block has written %d bytes %s of shared memory",
           below ? GUARD_BYTES - i : i + 1, below ? "before the start" : "past the end");
      back_to_host();
    }
  }
}

// The end of a thread; after the last one of a block the host takes over, to start another.
[[noreturn]] void leave(void) {
  struct thread *t = self();
  struct block *block = block_of(t);
  t->state = GONE;
  block->waited |= t->known.waited;
  if (--block->left) {
    give_way(t, true);
    abort();
  }
  check_guards(block);
  if (copies_under_way(&block->known)) {
    note(t, "its block ends with copies to its shared memory under way");
    back_to_host();
  }
  if (!block->waited) {
    note(t, "its block has not called wait_for_previous");
    back_to_host();
  }
  block->live = false;
  back_to_host();
}

__attribute__((no_sanitize("address"))) void enter(void) {
  fiber_entered(&self()->fiber);
  the_machine->kernel->entry(the_machine->launch->arguments);
  leave();
}

// The order in which blocks, or clusters of them, are started.
unsigned long place_in_order(enum order order, unsigned long n, unsigned long i) {
  if (order == FORWARD) {
    return i;
  }
  if (order == BACKWARD) {
    return n - 1 - i;
  }
  return (i & 1) ? n - 1 - i / 2 : i / 2;
}

unsigned long block_number(const struct machine *m, unsigned long i) {
  const unsigned long size = static_cast<unsigned long>(m->cluster);
  return place_in_order(m->schedule.blocks, m->blocks / size, i / size) * size + i % size;
}

void bring_in(struct machine *m, struct block *block) {
  const struct emulator_launch *l = m->launch;
  const unsigned long number = block_number(m, m->next++);
  const int threads = static_cast<int>(l->block);
  struct emulator_block *known = &block->known;
  known->index[0] = static_cast<int>(number % l->grid[0]);
  known->index[1] = static_cast<int>(number / l->grid[0] % l->grid[1]);
  known->index[2] = static_cast<int>(number / l->grid[0] / l->grid[1]);
  memset(block->memory, 0xFF, known->shared_bytes + 2 * GUARD_BYTES);
  block->live = true;
  block->waited = l->cooperative;
  block->last = false;
  block->grid_arrivals = block->grid_awaited = 0;
  block->arrived = block->current = 0;
  block->cluster_arrived = block->cluster_round = 0;
  block->left = threads;
  block->runnable = 0;
  block->stamp = ++m->stamps;
  for (int w = 0; w < threads / WARP; w++) {
    block->warp[w].runnable = ALL_LANES;
    block->warp[w].arrived = 0;
    block->warp[w].turn = 0;
    block->runnable |= UINT32_C(1) << w;
  }
  for (int i = 0; i < threads; i++) {
    struct thread *t = &block->thread[i];
    t->known = {i, l->cooperative, known};
    t->state = RUNNABLE;
    t->waits = 0;
    t->of_cluster = false;
    fiber_begin(&t->fiber, enter);
  }
}

// If none of a cluster is left, the next one.
void bring_in_cluster(struct machine *m, struct block *first) {
  for (int i = 0; i < m->cluster; i++) {
    if (first[i].live) {
      return;
    }
  }
  for (int i = 0; i < m->cluster; i++) {
    bring_in(m, &first[i]);
  }
}

void run_to_end(struct machine *m) {
  do {
    for (int b = 0; b < m->schedule.resident && m->next < m->blocks; b += m->cluster) {
      bring_in_cluster(m, &m->block[b]);
    }
    struct thread *next = choose_or_deliver(m);
    if (!next) {
      finished(m);
      return;
    }
    emulator_self = &next->known;
    fiber_switch(&m->host, &next->fiber, false);
  } while (!m->failure[0]);
}

// Old cells have stamps of blocks that have ended, which is equivalent to empty.
bool grow_cells(struct block *block, size_t count) {
  if (count > block->most_cells) {
    free(block->cells);
    block->cells = static_cast<struct race_cell *>(calloc(count, sizeof *block->cells));
    block->most_cells = block->cells ? count : 0;
  }
  return count <= block->most_cells;
}

// At the same place modulo 1024 in all blocks, another in each launch. False if memory runs out.
bool take_shared(struct block *block, const struct emulator_launch *l) {
  const size_t place = l->seed % (SHARED_PATTERN / 16) * 16, bytes = l->shared_bytes;
  void *allocated;
  if (posix_memalign(&allocated, SHARED_PATTERN, place + bytes + 2 * GUARD_BYTES)) {
    return false;
  }
  ASAN_POISON_MEMORY_REGION(allocated, place);
  block->allocated = static_cast<unsigned char *>(allocated);
  block->memory = block->allocated + place;
  block->known.shared_bytes = bytes;
  block->known.shared = block->memory + GUARD_BYTES;
  block->known.near = (uintptr_t)block->memory;
  block->known.near_bytes = bytes + 2 * GUARD_BYTES;
  return true;
}

// Shared memory and fibers for the blocks that will be resident. False if memory runs out.
bool prepare(struct machine *m) {
  const struct emulator_launch *l = m->launch;
  for (int b = 0; b < EMULATOR_MOST_TOGETHER; b++) {
    struct block *block = &m->block[b];
    block->live = false;
    block->runnable = 0;
    if (b >= m->schedule.resident) {
      continue;
    }
    block->known.threads = static_cast<int>(l->block);
    block->known.place = b;
    for (int axis = 0; axis < 3; axis++) {
      block->known.grid[axis] = static_cast<int>(l->grid[axis]);
    }
    if (!take_shared(block, l)) {
      return false;
    }
    if (!grow_cells(block, l->shared_bytes / RACE_WORD + 1)) {
      return false;
    }
    for (unsigned i = 0; i < l->block; i++) {
      if (!block->thread[i].fiber.stack && !fiber_make(&block->thread[i].fiber)) {
        return false;
      }
    }
  }
  return true;
}

struct machine *make_machine(void) {
  if (!the_machine) {
    the_machine = static_cast<struct machine *>(calloc(1, sizeof *the_machine));
  }
  return the_machine;
}

__attribute__((destructor)) void free_machine(void) {
  struct machine *m = the_machine;
  for (int b = 0; m && b < EMULATOR_MOST_TOGETHER; b++) {
    free(m->block[b].cells);
    for (struct thread &t : m->block[b].thread) {
      fiber_free(&t.fiber);
    }
  }
  free(m);
  the_machine = nullptr;
}

const struct emulator_kernel *find(const char *name) {
  const struct emulator_kernel *k = kernels;
  while (k && strcmp(k->name, name) != 0) {
    k = k->next;
  }
  return k;
}

// What a GPU's runtime would refuse.
const char *refused(const struct emulator_launch *l, const struct emulator_kernel *k) {
  const unsigned most = k && k->most_threads ? static_cast<unsigned>(k->most_threads)
                                             : static_cast<unsigned>(EMULATOR_MOST_THREADS);
  if (!k) {
    return "there is no such kernel";
  }
  if (k->argument_bytes != l->argument_bytes) {
    return "its arguments are of another size";
  }
  if (!l->block || l->block > most || l->block % WARP) {
    return "the block is empty, larger than the kernel allows, or no multiple of the warp";
  }
  if (!l->grid[0] || !l->grid[1] || !l->grid[2] || l->grid[0] > 0x7FFFFFFF || l->grid[1] > 0xFFFF ||
      l->grid[2] > 0xFFFF) {
    return "the grid is empty or too large";
  }
  if (l->cluster > EMULATOR_MOST_TOGETHER || (l->cluster > 1 && l->grid[0] % l->cluster)) {
    return "the cluster is too large, or the grid no multiple of it";
  }
  return nullptr;
}

void run(struct machine *m, const struct emulator_launch *launch) {
  const struct emulator_kernel *kernel = find(launch->kernel);
  const char *why = refused(launch, kernel);
  m->failure[0] = '\0';
  copies_forget();
  if (why) {
    snprintf(m->failure, sizeof m->failure, "kernel %.64s: %s", launch->kernel, why);
    return;
  }
  m->launch = launch;
  m->kernel = kernel;
  m->schedule = schedule_of(launch->seed);
  if (m->at_once) {
    memset(m->published, 0, sizeof m->published);
    memset(m->standing_by, 0, sizeof m->standing_by);
    m->at_once = false;
  }
  m->current = 0;
  m->next = 0;
  m->blocks = static_cast<unsigned long>(launch->grid[0]) * launch->grid[1] * launch->grid[2];
  m->cluster = launch->cluster ? static_cast<int>(launch->cluster) : 1;
  m->schedule.resident = (m->schedule.resident + m->cluster - 1) / m->cluster * m->cluster;
  if (launch->cooperative) {
    m->schedule.resident = static_cast<int>(m->blocks);
  }
  if (launch->cooperative && m->blocks > EMULATOR_MOST_RESIDENT) {
    snprintf(m->failure, sizeof m->failure, "kernel %.64s: more blocks than are resident at a time",
             launch->kernel);
  } else if (prepare(m)) {
    run_to_end(m);
  } else {
    snprintf(m->failure, sizeof m->failure, "kernel %.64s: out of memory", launch->kernel);
  }
  for (int b = 0; b < EMULATOR_MOST_TOGETHER; b++) {
    struct block *block = &m->block[b];
    if (block->allocated) {
      ASAN_UNPOISON_MEMORY_REGION(block->allocated, (size_t)(block->memory - block->allocated));
    }
    free(block->allocated);
    block->allocated = block->memory = nullptr;
  }
}

} // namespace

emulator_kernel::emulator_kernel(const char *name_, void (*entry_)(const void *), size_t bytes_,
                                 int threads_)
    : name(name_), entry(entry_), argument_bytes(bytes_), most_threads(threads_), next(kernels) {
  kernels = this;
}

void emulator_fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  note_list(self(), format, arguments);
  va_end(arguments);
  back_to_host();
}

int emulator_thread_index(void) {
  return emulator_self->index;
}
int emulator_block_threads(void) {
  return emulator_self->block->threads;
}
int emulator_block_index(int axis) {
  return emulator_self->block->index[axis];
}
int emulator_grid_blocks(int axis) {
  return emulator_self->block->grid[axis];
}
unsigned char *emulator_shared(void) {
  return emulator_self->block->shared;
}
unsigned char *emulator_fixed(void) {
  return emulator_self->block->fixed;
}

uint32_t emulator_exchange(uint32_t bits, int source, struct emulator_site site) {
  struct thread *t = self();
  struct block *block = block_of(t);
  const int number = t->known.index / WARP, lane = t->known.index % WARP;
  struct warp *warp = &block->warp[number];
  const int turn = warp->turn;
  t->state = AT_WARP;
  t->site = &site;
  if (!warp->arrived) {
    warp->site = &site;
  }
  check_site(t, warp->site, "warp");
  warp->brought[turn][lane] = bits;
  warp->arrived |= UINT64_C(1) << lane;
  if (warp->arrived == ALL_LANES) {
    warp->arrived = 0;
    warp->turn ^= 1;
    warp->runnable = ALL_LANES;
    block->runnable |= UINT32_C(1) << number;
  }
  give_way(t, false);
  return warp->brought[turn][source & (WARP - 1)];
}

void emulator_block_wait(struct emulator_site site) {
  struct thread *t = self();
  struct block *block = block_of(t);
  t->state = AT_BLOCK;
  t->site = &site;
  if (!block->arrived) {
    block->site = &site;
  }
  check_site(t, block->site, "block");
  if (++block->arrived == block->known.threads) {
    block->arrived = 0;
    block->stamp = ++the_machine->stamps;
    for (int w = 0; w < block->known.threads / WARP; w++) {
      block->warp[w].runnable = ALL_LANES;
      block->runnable |= UINT32_C(1) << w;
    }
  }
  give_way(t, false);
}

void emulator_warp_wait(struct emulator_site site) {
  emulator_exchange(0, 0, site);
  self()->waits++;
}

int emulator_warp_turn(void) {
  const struct thread *t = self();
  return block_of(t)->warp[t->known.index / WARP].turn;
}

void emulator_park(const void *on, struct emulator_site site) {
  struct thread *t = self();
  t->state = PARKED;
  t->site = &site;
  t->parked_on = on;
  give_way(t, false);
}

void emulator_wake(const struct emulator_block *known, const void *on) {
  struct block *block =
      reinterpret_cast<struct block *>(const_cast<struct emulator_block *>(known));
  for (int i = 0; i < known->threads; i++) {
    struct thread *t = &block->thread[i];
    if (t->state == PARKED && t->parked_on == on) {
      t->state = RUNNABLE;
      block->warp[i / WARP].runnable |= UINT64_C(1) << i % WARP;
      block->runnable |= UINT32_C(1) << i / WARP;
    }
  }
}

uint64_t emulator_draw(void) {
  return draw(&the_machine->schedule);
}

void emulator_access_near(const void *p, size_t bytes, bool write) {
  const struct thread *t = self();
  const struct block *block = block_of(t);
  const size_t offset = (uintptr_t)p - (uintptr_t)block->known.shared;
  if (offset >= block->known.shared_bytes || bytes > block->known.shared_bytes - offset) {
    emulator_fail("%s %zu bytes at byte %td of %zu of shared memory", write ? "writes" : "reads",
                  bytes, (ptrdiff_t)offset, block->known.shared_bytes);
  }
  for (size_t at = offset, next; at < offset + bytes; at = next) {
    next = at / RACE_WORD * RACE_WORD + RACE_WORD;
    const size_t end = next < offset + bytes ? next : offset + bytes;
    const unsigned mask = ((1u << (end - at)) - 1) << at % RACE_WORD;
    const struct race_access now = {block->stamp, static_cast<uint16_t>(t->known.index), t->waits,
                                    static_cast<uint8_t>(mask)};
    struct race_cell *cell = &block->cells[at / RACE_WORD];
    const struct race_access *before = race_note(cell, write, WARP, now);
    if (before) {
      emulator_fail("%s byte %zu of shared memory that thread %d has %s, with no wait in between",
                    write ? "writes" : "reads", at, before->thread,
                    before < cell->read ? "written" : "read");
    }
  }
}

bool emulator_arrive_last(unsigned *counter, unsigned blocks, struct emulator_site site) {
  struct block *block = block_of(self());
  emulator_block_wait(site);
  if (emulator_self->index == 0) {
    if (*counter >= blocks) {
      emulator_fail("arrive_last finds %u at a counter of %u blocks", *counter, blocks);
    }
    block->last = ++*counter == blocks;
    if (block->last) {
      *counter = 0;
    }
  }
  emulator_block_wait(site);
  return block->last;
}

int emulator_cluster_rank(void) {
  const struct block *block = block_of(self());
  return static_cast<int>(block - first_of_cluster(block));
}

struct emulator_block *emulator_cluster_block(int rank) {
  if (rank < 0 || rank >= the_machine->cluster) {
    emulator_fail("there is no block %d in a cluster of %d", rank, the_machine->cluster);
  }
  struct block *block = first_of_cluster(block_of(self())) + rank;
  if (!block->live) {
    emulator_fail("block %d of its cluster has ended", rank);
  }
  return &block->known;
}

void emulator_cluster_arrive(void) {
  struct thread *t = self();
  struct block *first = first_of_cluster(block_of(t));
  if (t->of_cluster) {
    emulator_fail("cluster_arrive with no cluster_wait since the last");
  }
  t->of_cluster = true;
  t->cluster_round = first->cluster_round;
  if (++first->cluster_arrived < the_machine->launch->block * the_machine->cluster) {
    return;
  }
  first->cluster_arrived = 0;
  first->cluster_round++;
  for (int i = 0; i < the_machine->cluster; i++) {
    emulator_wake(&first[i].known, first);
  }
}

void emulator_cluster_wait(struct emulator_site site) {
  struct thread *t = self();
  const struct block *first = first_of_cluster(block_of(t));
  if (!t->of_cluster) {
    emulator_fail("cluster_wait without cluster_arrive");
  }
  while (first->cluster_round == t->cluster_round) {
    emulator_park(first, site);
  }
  t->of_cluster = false;
}

void emulator_grid_arrive(unsigned *arrived, struct emulator_site site) {
  if (!emulator_self->waited) {
    emulator_fail("grid_arrive with no wait since the last: it would count for what others do");
  }
  emulator_block_wait(site);
  emulator_self->waited = false;
  if (emulator_self->index != 0) {
    return;
  }
  block_of(self())->grid_arrivals++;
  ++*arrived;
  for (const struct block &block : the_machine->block) {
    if (block.live) {
      emulator_wake(&block.known, arrived);
    }
  }
}

void emulator_grid_wait(const unsigned *arrived, unsigned wanted, struct emulator_site site) {
  struct thread *t = self();
  if (!the_machine->launch->cooperative) {
    emulator_fail("grid_wait in a launch that is not cooperative");
  }
  while (t->known.index == 0 && *arrived < wanted) {
    emulator_park(arrived, site);
  }
  emulator_block_wait(site);
  t->known.waited = true;
  block_of(t)->waited = true;
  block_of(t)->grid_awaited = wanted;
}

// ---- what is published at once

static unsigned at_once_hash(const void *word) {
  return (uintptr_t)word / 4 % AT_ONCE;
}

void emulator_stand_by(const void *word, struct emulator_site site) {
  if (!the_machine->launch->cooperative) {
    emulator_fail("stand_by in a launch that is not cooperative");
  }
  the_machine->standing_by[at_once_hash(word)] = true;
  emulator_park(word, site);
}

void emulator_published(const void *word) {
  struct machine *m = the_machine;
  const struct block *own = block_of(self());
  const unsigned hash = at_once_hash(word);
  m->published[hash] = {word, own, own->grid_arrivals};
  m->at_once = true;
  for (int b = 0; m->standing_by[hash] && b < EMULATOR_MOST_TOGETHER; b++) {
    if (m->block[b].live) {
      emulator_wake(&m->block[b].known, word);
    }
  }
}

void emulator_plain(const void *p, size_t bytes) {
  const struct block *own = the_machine->at_once ? block_of(self()) : nullptr;
  for (size_t at = 0; own && at < bytes; at += 4) {
    const void *word = static_cast<const char *>(p) + at;
    const struct at_once *found = &the_machine->published[at_once_hash(word)];
    if (found->word == word && found->block != own &&
        own->grid_awaited <= found->arrivals * the_machine->blocks) {
      emulator_fail(
          "a plain load of what another block has published at once, with no wait for it");
    }
  }
}

EMULATOR_EXPORT const char *emulator_launch_kernel(const struct emulator_launch *launch) {
  static thread_local char failure[sizeof the_machine->failure];
  failure[0] = '\0';
  pthread_mutex_lock(&machine_mutex);
  struct machine *m = make_machine();
  if (m) {
    run(m, launch);
    memcpy(failure, m->failure, sizeof failure);
  } else {
    snprintf(failure, sizeof failure, "out of memory");
  }
  pthread_mutex_unlock(&machine_mutex);
  return failure[0] ? failure : nullptr;
}
