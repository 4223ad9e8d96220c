// machine: runs a launch. Warps execute instruction by instruction, all lanes at once; if lanes
// diverge, those at the lowest place go first, so that they meet again where paths join.
#include "tests/stand_ins/ptx/ptx.h"

#include <malloc.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/stand_ins/ptx/machine.h"

namespace {

enum {
  MAX_TURN = 4096,       // instructions before another warp's turn
  MAX_STEPS = 1 << 27,   // of a warp: many times those of any kernel of ours on a test's shapes
  MAX_IDLE = 100000,     // waits that found nothing, in total
  MAX_SHARED_SHIFT = 64, // times 16 bytes, by which shared memory begins later
  ARGUMENT_ALIGNMENT = 64,
  MAX_RESIDENT = 64, // blocks of a cooperative launch
};

// ---- the lanes of a warp at their places

void remove_fragment(struct warp *w, int i) {
  w->fragment[i] = w->fragment[--w->fragments];
}

// Joins fragments at the same place; a newcomer wakes those that wait.
void join_fragments(struct warp *w, int i) {
  for (int j = 0; j < w->fragments; j++) {
    if (j != i && w->fragment[j].pc == w->fragment[i].pc) {
      w->fragment[i].mask |= w->fragment[j].mask;
      w->fragment[i].waits = false;
      remove_fragment(w, j);
      return;
    }
  }
}

// -1: all wait.
int lowest_fragment(const struct warp *w) {
  int found = -1;
  for (int i = 0; i < w->fragments; i++) {
    if (!w->fragment[i].waits && (found < 0 || w->fragment[i].pc < w->fragment[found].pc)) {
      found = i;
    }
  }
  return found;
}

// Joins all that can be joined.
void settle_fragments(struct warp *w) {
  for (int i = 0; i < w->fragments; i++) {
    const int before = w->fragments;
    join_fragments(w, i);
    if (w->fragments != before) {
      i = -1;
    }
  }
}

uint32_t guarded(const struct warp *w, const struct instruction *in, uint32_t mask) {
  if (in->guard < 0) {
    return mask;
  }
  const uint32_t p = w->file[in->guard].u[0];
  return mask & (in->guard_not ? ~p : p);
}

// The lanes that an instruction is for, all of which have to reach it; 0: those that do.
uint32_t wanted(const struct warp *w, const struct instruction *in, uint32_t mask) {
  if (in->what->manner == PLAIN || in->what->manner == BRANCH || in->what->manner == RETURN ||
      in->what->manner == CLUSTER_WAIT) {
    return 0; // PTX allows diverged calls; here there is one place to return to
  }
  if (in->what->manner != MASK_TOGETHER) {
    return ALL_LANES;
  }
  const union lanes32 *named = w->file + in->at[in->count - 1];
  return named->u[__builtin_ctz(mask)];
}

bool come_together(struct warp *w, const struct instruction *in, struct fragment *f) {
  const uint32_t all = wanted(w, in, f->mask);
  if (!all) {
    return true;
  }
  if (f->mask == all && (guarded(w, in, f->mask) == f->mask)) {
    return true;
  }
  if ((f->mask | w->live) != w->live || (all & ~w->live)) {
    fail(w, in, -1, "lanes 0x%08x have ended, which have to come here too", all & ~w->live);
  } else if (f->mask & ~all) {
    fail(w, in, -1, "lanes 0x%08x come to what is not for them", f->mask & ~all);
  } else if (f->mask == all) {
    fail(w, in, -1, "not all lanes' condition is the same");
  }
  f->waits = true;
  return false;
}

void branch(struct warp *w, const struct instruction *in, int i) {
  struct fragment *f = &w->fragment[i];
  const uint32_t taken = guarded(w, in, f->mask), rest = f->mask & ~taken;
  f->pc++;
  if (taken && rest) {
    if (strcmp(in->what->name, "bra.uni") == 0) {
      fail(w, in, -1, "a branch that is to be the same for all lanes is not");
    }
    w->fragment[w->fragments++] = {in->target, taken, false};
    f->mask = rest;
  } else if (taken) {
    f->pc = in->target;
  }
}

void return_lanes(struct warp *w, const struct instruction *in, int i) {
  struct fragment *f = &w->fragment[i];
  const uint32_t ended = guarded(w, in, f->mask);
  if (in->target && ended != f->mask) {
    fail(w, in, -1, "some lanes return from a function");
  } else if (in->target) {
    f->pc = w->return_to;
    return;
  }
  f->pc++;
  f->mask &= ~ended;
  w->live &= ~ended;
  if (!f->mask) {
    remove_fragment(w, i);
  }
  if (!w->live && w->wgmma_count) {
    fail(w, in, -1, "a warp ends with wgmma under way");
  }
}

void wait_for_block(struct warp *w, const struct instruction *in, struct fragment *f) {
  const bool reduces = in->outs == 1;
  if (w->file[in->at[in->outs]].u[0] != 0) {
    fail(w, in, -1, "a barrier other than 0");
  }
  f->pc++;
  w->at_barrier = true;
  w->barrier = in;
  w->brought = reduces && w->file[in->at[2]].u[0] != 0;
}

// ---- the barrier of a cluster, at which each thread arrives and waits by itself

void wait_for_cluster(struct warp *w, const struct instruction *in, struct fragment *f) {
  bool ended = true;
  if (in->guard >= 0) {
    fail(w, in, -1, "a wait for the cluster with a condition");
  }
  each_lane(f->mask, [&](int l) {
    if (!(w->of_cluster >> l & 1)) {
      fail(w, in, l, "a wait for the cluster without having arrived");
    }
    ended = ended && w->cluster_round[l] != w->block->first->cluster_round;
  });
  if (ended) {
    w->of_cluster &= ~f->mask;
    f->pc++;
  } else {
    f->waits = true;
  }
}

bool at_cluster_wait(const struct warp *w, int i) {
  const struct kernel *k = w->block->run->kernel;
  const int pc = w->fragment[i].pc;
  return pc < k->code_count && k->code[pc].what->manner == CLUSTER_WAIT;
}

// Of a warp's lanes, are those that cannot continue at the cluster's barrier? Then others run.
bool rests_at_cluster(struct warp *w) {
  bool any = false;
  for (int i = 0; i < w->fragments; i++) {
    if (!w->fragment[i].waits) {
      return false;
    }
    any = any || at_cluster_wait(w, i);
  }
  if (any) {
    w->yields = true;
    w->block->run->idle++;
  }
  return any;
}

void look_at_cluster_again(struct warp *w) {
  for (int i = 0; i < w->fragments; i++) {
    w->fragment[i].waits = w->fragment[i].waits && !at_cluster_wait(w, i);
  }
}

// Until the warp waits, ends, fails, or its turn is over. Returns whether anything was done.
void run_turn(struct warp *w, uint32_t turn) {
  const struct kernel *k = w->block->run->kernel;
  w->yields = false;
  look_at_cluster_again(w);
  for (; turn && w->live && !w->at_barrier && !w->yields && !w->block->run->failed; turn--) {
    int i = 0;
    if (rests_at_cluster(w)) {
      return;
    }
    if (w->fragments > 1) {
      settle_fragments(w);
      i = lowest_fragment(w);
      if (i < 0) {
        fail(w, &k->code[w->fragment[0].pc], -1,
             "not all lanes come here, or to where the others wait");
        return;
      }
    }
    struct fragment *f = &w->fragment[i];
    if (++w->steps > MAX_STEPS) {
      fail(w, &k->code[f->pc < k->code_count ? f->pc : 0], -1, "a warp that never ends");
      return;
    }
    if (f->pc >= k->code_count) {
      fail(w, &k->code[k->code_count - 1], -1, "the kernel's end without ret");
      return;
    }
    const struct instruction *in = &k->code[f->pc];
    if (!come_together(w, in, f)) {
      continue;
    }
    if (k->has_wgmma && in->what->manner != WGMMA_TOGETHER) {
      wgmma_watch(w, in);
    }
    switch (in->what->manner) {
    case BRANCH: branch(w, in, i); break;
    case RETURN: return_lanes(w, in, i); break;
    case CALL:
      w->return_to = f->pc + 1;
      f->pc = in->target;
      break;
    case BLOCK_WAIT: wait_for_block(w, in, f); break;
    case CLUSTER_WAIT: wait_for_cluster(w, in, f); break;
    default:
      w->again = false;
      in->what->run(w, in, guarded(w, in, f->mask));
      f->pc += !w->again;
    }
  }
}

// ---- a block

void open_barrier(struct block *b) {
  const struct instruction *first = b->warp[0].barrier;
  bool any = false;
  for (int i = 0; i < b->warps; i++) {
    any = any || b->warp[i].brought;
    if (b->warp[i].barrier->outs != first->outs) {
      fail(&b->warp[i], b->warp[i].barrier, -1, "bar.sync and bar.red meet");
    }
  }
  for (int i = 0; i < b->warps; i++) {
    struct warp *w = &b->warp[i];
    if (first->outs) {
      w->file[w->barrier->at[0]].u[0] = any ? 0xFFFFFFFF : 0;
    }
    w->at_barrier = false;
  }
}

// One turn of a warp that can continue, chosen at random.
void take_turn(struct block *b) {
  int able[MAX_WARPS], count = 0, waiting = 0, live = 0;
  for (int i = 0; i < b->warps; i++) {
    live += b->warp[i].live != 0;
    waiting += b->warp[i].at_barrier;
    if (b->warp[i].live && !b->warp[i].at_barrier) {
      able[count++] = i;
    }
  }
  b->live = live != 0;
  if (live && waiting == b->warps) {
    open_barrier(b);
  } else if (live && !count) {
    int i = 0;
    while (!b->warp[i].at_barrier) {
      i++;
    }
    fail(&b->warp[i], b->warp[i].barrier, -1, "other warps have ended and do not come here");
  } else if (live) {
    if (draw(b->run, 2)) {
      box_arrives(b);
    }
    struct warp *w = &b->warp[able[draw(b->run, (uint32_t)count)]];
    run_turn(w, 1 + draw(b->run, MAX_TURN));
    if (b->run->idle > MAX_IDLE) {
      const struct instruction *code = b->run->kernel->code;
      fail(w, w->fragments ? &code[w->fragment[0].pc] : nullptr, -1,
           "all wait, and nothing is under way");
    }
  } else if (b->box_count) {
    fail(&b->warp[0], nullptr, -1, "the block ends with copies under way");
  }
}

void set_constant(struct warp *w, const struct constant *c) {
  const struct block *b = w->block;
  const struct run *run = b->run;
  uint64_t value = c->value;
  switch (c->kind) {
  case NUMBER: break;
  case SHARED_BEGIN: value = run->shared_begin; break;
  case STATIC_BEGIN: value = run->static_begin; break;
  case PARAMETER_BEGIN: value = (uint64_t)(uintptr_t)run->parameters; break;
  case THREAD_X: value = (uint64_t)w->number * LANES; break;
  case BLOCK_SIZE_X: value = run->threads; break;
  case BLOCK_AXIS: value = b->index[c->value]; break;
  case GRID_AXIS: value = run->grid[c->value]; break;
  case CLUSTER_RANK: value = (uint64_t)(b - b->first); break;
  }
  for (int l = 0; l < LANES; l++) {
    if (c->width == BITS64) {
      reinterpret_cast<union lanes64 *>(w->file + c->at)->u[l] = value;
    } else {
      w->file[c->at].u[l] = (uint32_t)value + (c->kind == THREAD_X ? (uint32_t)l : 0);
    }
  }
}

void begin_warp(struct block *b, int number) {
  struct warp *w = &b->warp[number];
  const struct kernel *k = b->run->kernel;
  union lanes32 *file = w->file;
  struct pending_copy *copies = w->copies;
  uint8_t *flying = w->flying;
  uint32_t *touched = w->touched;
  memset(w, 0, sizeof *w);
  w->block = b;
  w->number = number;
  w->file = file;
  w->copies = copies;
  w->flying = flying;
  w->touched = touched;
  w->live = ALL_LANES;
  w->registers = k->registers;
  w->fragments = 1;
  w->fragment[0] = {0, ALL_LANES, false};
  w->fence = 1;
  for (int i = 0; i < k->constant_count; i++) {
    set_constant(w, &k->constants[i]);
  }
  for (uint32_t i = 0; k->has_wgmma && i < k->file_size; i++) {
    w->flying[i] = 0;
    w->touched[i] = w->fence;
  }
}

void begin_block(struct block *b, uint64_t number) {
  const struct run *run = b->run;
  b->index[0] = (unsigned)(number % run->grid[0]);
  b->index[1] = (unsigned)(number / run->grid[0] % run->grid[1]);
  b->index[2] = (unsigned)(number / run->grid[0] / run->grid[1]);
  memset(b->shared, 0xFF, run->shared_bytes);
  memset(b->under_way, 0, run->shared_bytes / GRANULE + 1);
  memset(b->group_issued, 0, sizeof b->group_issued);
  b->box_count = 0;
  b->spare_registers = 0;
  b->cluster_arrived = b->cluster_round = 0;
  b->live = true;
  for (int i = 0; i < b->warps; i++) {
    begin_warp(b, i);
  }
}

// ---- a launch

// Shared memory: the static variable, with no better alignment than it requests, then the dynamic
// part.
void place_shared(struct run *run, uint32_t dynamic_bytes) {
  const struct module *m = run->module;
  uint32_t begin = draw(run, MAX_SHARED_SHIFT) * GRANULE;
  run->first_begin = begin;
  if (m->static_name[0]) {
    begin += m->static_alignment < GRANULE ? m->static_alignment : 0;
    run->static_begin = begin;
    begin = (begin + m->static_bytes + GRANULE - 1) / GRANULE * GRANULE;
  }
  run->shared_begin = begin;
  run->shared_bytes = begin - run->first_begin + dynamic_bytes;
}

// Registers hold NaN until they are written, in the launch's first blocks: those that take their
// places find what these left. Registers are megabytes, and the code is the same.
bool prepare_block(struct block *b, struct run *run) {
  const size_t file = run->kernel->file_size;
  void *memory = nullptr;
  b->run = run;
  b->warps = (int)run->threads / LANES;
  b->shared = static_cast<unsigned char *>(malloc(run->shared_bytes + 1));
  b->under_way = static_cast<uint8_t *>(malloc(run->shared_bytes / GRANULE + 2));
  bool ok = b->shared && b->under_way;
  for (int i = 0; i < b->warps; i++) {
    struct warp *w = &b->warp[i];
    ok = posix_memalign(&memory, 64, file * sizeof *w->file) == 0 && ok;
    w->file = static_cast<union lanes32 *>(memory);
    if (ok) {
      memset(w->file, 0xFF, file * sizeof *w->file);
    }
    w->copies = static_cast<struct pending_copy *>(malloc(MAX_COPIES * sizeof *w->copies));
    w->flying = static_cast<uint8_t *>(malloc(file));
    w->touched = static_cast<uint32_t *>(malloc(file * sizeof *w->touched));
    ok = ok && w->copies && w->flying && w->touched;
  }
  return ok;
}

void clear_block(struct block *b) {
  for (int i = 0; i < b->warps; i++) {
    free(b->warp[i].file);
    free(b->warp[i].copies);
    free(b->warp[i].flying);
    free(b->warp[i].touched);
  }
  free(b->shared);
  free(b->under_way);
}

// What a GPU's runtime would refuse.
const char *refused(const struct emulator_launch *l, const struct kernel *k) {
  if (k->parameter_bytes != l->argument_bytes) {
    return "its arguments are of another size";
  }
  if (!l->block || l->block > k->most_threads || l->block % LANES) {
    return "the block is empty, larger than the kernel allows, or no multiple of the warp";
  }
  if (!l->grid[0] || !l->grid[1] || !l->grid[2]) {
    return "the grid is empty";
  }
  if (l->cooperative && (uint64_t)l->grid[0] * l->grid[1] * l->grid[2] > MAX_RESIDENT) {
    return "more blocks than are resident at a time";
  }
  if (l->cluster > 1 && l->grid[0] % l->cluster) {
    return "the grid is no multiple of the cluster";
  }
  return nullptr;
}

int live_blocks(const struct block *blocks, unsigned count) {
  int live = 0;
  for (unsigned b = 0; b < count; b++) {
    live += blocks[b].live;
  }
  return live;
}

void begin_cluster(struct run *run, struct block *first, uint64_t number) {
  for (unsigned rank = 0; rank < run->cluster; rank++) {
    first[rank].first = first;
    begin_block(&first[rank], number * run->cluster + rank);
  }
}

// Blocks take turns at random; when those of a cluster have ended, the next begins in its place.
void run_blocks(struct run *run, struct block *blocks, unsigned resident) {
  const uint64_t count = (uint64_t)run->grid[0] * run->grid[1] * run->grid[2] / run->cluster;
  const bool backwards = draw(run, 2);
  uint64_t begun = 0;
  while (!run->failed) {
    const unsigned i = draw(run, resident);
    struct block *first = &blocks[i / run->cluster * run->cluster];
    if (blocks[i].live) {
      take_turn(&blocks[i]);
    } else if (begun < count && !live_blocks(first, run->cluster)) {
      begin_cluster(run, first, backwards ? count - 1 - begun : begun);
      begun++;
    } else if (begun == count && !live_blocks(blocks, resident)) {
      if (run->asked_count) {
        fail(&blocks[0].warp[0], nullptr, -1, "0x%llx is asked for ahead, and then not loaded",
             (unsigned long long)run->asked[0] * GRANULE);
      }
      return;
    }
  }
}

void run_launch(struct run *run, const struct emulator_launch *l) {
  const uint64_t count = (uint64_t)run->grid[0] * run->grid[1] * run->grid[2];
  const int clusters = count > run->cluster ? 2 : 1;
  const int resident = l->cooperative ? (int)count : clusters * (int)run->cluster;
  void *parameters = nullptr;
  struct block *blocks = static_cast<struct block *>(calloc((size_t)resident, sizeof *blocks));
  place_shared(run, (uint32_t)l->shared_bytes);
  bool ok = blocks && posix_memalign(&parameters, ARGUMENT_ALIGNMENT, l->argument_bytes) == 0;
  for (int i = 0; ok && i < resident; i++) {
    ok = prepare_block(&blocks[i], run);
  }
  if (ok) {
    run->parameters = static_cast<unsigned char *>(parameters);
    memcpy(run->parameters, l->arguments, l->argument_bytes);
    run_blocks(run, blocks, (unsigned)resident);
  } else {
    snprintf(run->failure, sizeof run->failure, "out of memory");
  }
  for (int i = 0; blocks && i < resident; i++) {
    clear_block(&blocks[i]);
  }
  free(parameters);
  free(blocks);
}

// The files read last, for the stages and for whole steps.
struct held {
  char path[512];
  struct module *module;
} held[2];
pthread_mutex_t the_mutex = PTHREAD_MUTEX_INITIALIZER;

// Each launch needs its megabytes again, and the system is slow to take and give them.
__attribute__((constructor)) void keep_memory(void) {
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  mallopt(M_TRIM_THRESHOLD, 256 << 20);
}

__attribute__((destructor)) void let_go(void) {
  for (struct held &h : held) {
    module_free(h.module);
    h.module = nullptr;
  }
}

struct module *hold(const char *kernel, const char **why) {
  const bool whole = strncmp(kernel, "streaming_", strlen("streaming_")) == 0;
  const char *chosen = getenv(whole ? "PTX_STREAMING_FILE" : "PTX_FILE");
  struct held *h = &held[whole];
  char path[sizeof h->path];
  if (whole) {
    snprintf(path, sizeof path, "build/gpu/streaming_%s.ptx", ptx_streaming_architecture);
  } else {
    snprintf(path, sizeof path, "build/gpu/cuda_%s.ptx", ptx_architecture);
  }
  if (chosen) {
    snprintf(path, sizeof path, "%s", chosen);
  }
  if (!h->module || strcmp(path, h->path) != 0) {
    module_free(h->module);
    h->module = module_read(path, why);
    memcpy(h->path, path, sizeof path);
  }
  return h->module;
}

const char *find_kernel(const char *name, struct run *run, char *why, size_t size) {
  const char *words = "there is no such kernel";
  struct module *m = hold(name, &words);
  for (int i = 0; m && i < m->kernel_count; i++) {
    struct kernel *k = &m->kernels[i];
    if (strcmp(k->name, name) == 0) {
      run->module = m;
      run->kernel = k;
      return k->parsed || kernel_parse(m, k, why, size) ? nullptr : why;
    }
  }
  return words;
}

void launch_kernel(const struct emulator_launch *l, char *failure, size_t size) {
  char why[400];
  struct run run = {};
  const char *words = find_kernel(l->kernel, &run, why, sizeof why);
  words = words ? words : refused(l, run.kernel);
  if (words) {
    snprintf(failure, size, "kernel %.64s: %s", l->kernel, words);
    return;
  }
  memcpy(run.grid, l->grid, sizeof run.grid);
  run.cluster = l->cluster ? l->cluster : 1;
  run.threads = l->block;
  run.random = l->seed * 2 + 1;
  run_launch(&run, l);
  snprintf(failure, size, "%s", run.failure);
}

void log_kernel(const char *kernel) {
  const char *path = getenv("KERNELS_LOG");
  FILE *file = path ? fopen(path, "a") : nullptr;
  if (file) {
    fprintf(file, "%s\n", kernel);
    fclose(file);
  }
}

} // namespace

uint32_t draw(struct run *run, uint32_t below) {
  run->random = run->random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
  return (uint32_t)((run->random >> 32) * below >> 32);
}

struct block *block_of_cluster(struct warp *w, const struct instruction *in, int lane,
                               uint32_t rank) {
  struct block *first = w->block->first;
  if (rank >= w->block->run->cluster) {
    fail(w, in, lane, "there is no block %u in its cluster", rank);
    return nullptr;
  }
  if (!first[rank].live) {
    fail(w, in, lane, "block %u of its cluster has ended", rank);
    return nullptr;
  }
  return &first[rank];
}

void fail(struct warp *w, const struct instruction *in, int lane, const char *format, ...) {
  const struct block *b = w->block;
  struct run *run = b->run;
  if (run->failed) {
    return;
  }
  run->failed = true;
  char what[256];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(what, sizeof what, format, arguments);
  va_end(arguments);
  snprintf(run->failure, sizeof run->failure,
           "kernel %s, block %u %u %u, thread %d, %s:%d (%.60s): %s", run->kernel->name,
           b->index[0], b->index[1], b->index[2], w->number * LANES + (lane < 0 ? 0 : lane),
           run->module->file, in ? in->line : 0, in ? in->what->name : "", what);
}

extern "C" __attribute__((visibility("default"))) const char *
emulator_launch_kernel(const struct emulator_launch *launch) {
  static thread_local char failure[1024];
  failure[0] = '\0';
  pthread_mutex_lock(&the_mutex);
  launch_kernel(launch, failure, sizeof failure);
  if (!failure[0]) {
    log_kernel(launch->kernel);
  }
  pthread_mutex_unlock(&the_mutex);
  return failure[0] ? failure : nullptr;
}
