// memory: loads, stores, atomics, asynchronous copies and their barriers (PTX ISA, "Data Movement
// and Conversion Instructions", "Parallel Synchronization and Communication Instructions").
#include "tests/stand_ins/ptx/machine.h"

#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/wgmma.h"
#include "tests/stand_ins/emulator/launch.h"

namespace {

enum space { GLOBAL, WEIGHTS, SHARED, ARGUMENTS }; // weights: global memory, at any time

enum : uint64_t { MIN_ADDRESS = 1 << 16 }; // no memory of a process is below that

const char *misaligned = "address 0x%llx is not aligned to %u bytes";

// `bytes` at the address of this lane, or NULL and a failure.
template <int SPACE>
unsigned char *memory_at(struct warp *w, const struct instruction *in, int lane, int operand,
                         uint32_t bytes) {
  const struct run *run = w->block->run;
  if (SPACE == SHARED) {
    const uint32_t address = words(w, in, operand)->u[lane] + (uint32_t)in->offset;
    return shared_bytes_at(w, in, lane, address, bytes);
  }
  const uint64_t address = doubles(w, in, operand)->u[lane] + (uint64_t)in->offset;
  if (address % bytes) {
    fail(w, in, lane, misaligned, (unsigned long long)address, bytes);
    return nullptr;
  }
  if (SPACE == ARGUMENTS) {
    const uint64_t at = address - (uint64_t)(uintptr_t)run->parameters;
    if (at > run->kernel->parameter_bytes || bytes > run->kernel->parameter_bytes - at) {
      fail(w, in, lane, "byte %lld is outside of the arguments", (long long)at);
      return nullptr;
    }
  } else if (address < MIN_ADDRESS) {
    fail(w, in, lane, "address 0x%llx is in no memory", (unsigned long long)address);
    return nullptr;
  } else if (SPACE == GLOBAL && run->kernel->depends && !(w->waited >> lane & 1)) {
    fail(w, in, lane, "global memory before griddepcontrol.wait");
    return nullptr;
  }
  return reinterpret_cast<unsigned char *>((uintptr_t)address);
}

// What was asked for ahead is loaded, or asked for again.
void forget(struct run *run, uintptr_t address) {
  for (int i = 0; i < run->asked_count; i++) {
    if (run->asked[i] == address / GRANULE) {
      run->asked[i] = run->asked[--run->asked_count];
      return;
    }
  }
}

// COUNT registers of REGISTER_BYTES, each from BYTES: sign-extended if they are wider.
template <int SPACE, int BYTES, int COUNT, int REGISTER_BYTES>
void load(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const unsigned char *from = memory_at<SPACE>(w, in, l, COUNT, BYTES * COUNT);
    if (SPACE == WEIGHTS) {
      forget(w->block->run, (uintptr_t)from);
    }
    for (int i = 0; from && i < COUNT; i++) {
      if (REGISTER_BYTES == BYTES && BYTES == 8) {
        memcpy(&doubles(w, in, i)->u[l], from + i * BYTES, BYTES);
      } else if (REGISTER_BYTES == 8) {
        int32_t value;
        memcpy(&value, from + i * BYTES, sizeof value);
        doubles(w, in, i)->s[l] = value;
      } else {
        uint32_t value = 0;
        memcpy(&value, from + i * BYTES, BYTES);
        words(w, in, i)->u[l] = value;
      }
    }
  });
}

// A number of fewer bytes, with its sign.
template <class NUMBER>
void load_shared_signed(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const unsigned char *from = memory_at<SHARED>(w, in, l, 1, sizeof(NUMBER));
    NUMBER value = 0;
    if (from) {
      memcpy(&value, from, sizeof value);
      words(w, in, 0)->s[l] = value;
    }
  });
}

template <int SPACE, int BYTES, int COUNT>
void store(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    unsigned char *to = memory_at<SPACE>(w, in, l, 0, BYTES * COUNT);
    for (int i = 0; to && i < COUNT; i++) {
      if (BYTES == 8) {
        memcpy(to + i * BYTES, &doubles(w, in, 1 + i)->u[l], BYTES);
      } else {
        memcpy(to + i * BYTES, &words(w, in, 1 + i)->u[l], BYTES);
      }
    }
  });
}

// atom.inc d, [a], b: d = old; *a = old >= b ? 0 : old + 1
void atom_inc(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    uint32_t *at = reinterpret_cast<uint32_t *>(memory_at<GLOBAL>(w, in, l, 1, 4));
    if (at) {
      const uint32_t old = *at;
      *at = old >= words(w, in, 2)->u[l] ? 0 : old + 1;
      words(w, in, 0)->u[l] = old;
    }
  });
}

// prefetch.global.L2 [a]: of what will be loaded as constant, or it would only take room in L2
void load_ahead(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    struct run *run = w->block->run;
    const uintptr_t at = (uintptr_t)memory_at<WEIGHTS>(w, in, l, 0, GRANULE);
    forget(run, at);
    if (run->asked_count == MAX_ASKED) {
      fail(w, in, l, "more is asked for than there is room for");
      return;
    }
    run->asked[run->asked_count++] = at / GRANULE;
  });
}

// What blocks await of each other: a thread that does not find it lets others run, and loads again.
template <int COUNT>
void load_awaited(struct warp *w, const struct instruction *in, uint32_t mask) {
  load<GLOBAL, 4, COUNT, 4>(w, in, mask);
  w->yields = true;
  w->block->run->idle++;
}

void store_relaxed(struct warp *w, const struct instruction *in, uint32_t mask) {
  store<GLOBAL, 4, 1>(w, in, mask);
  w->block->run->idle = 0;
}

void red_add(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    uint32_t *at = reinterpret_cast<uint32_t *>(memory_at<GLOBAL>(w, in, l, 0, 4));
    if (at) {
      *at += words(w, in, 1)->u[l];
      w->block->run->idle = 0;
    }
  });
}

// There is a single memory, and warps run in turn: nothing has to be done for ordering. The
// emulator of the kernels' source checks the ordering that they need; and counters that do not
// release or acquire are instructions that are not known here.
void order(struct warp *, const struct instruction *, uint32_t) {}

// Before that, only weights may be read: by ld.global.nc.
void wait_for_grid(struct warp *w, const struct instruction *, uint32_t mask) {
  w->waited |= mask;
}

// ---- copies into shared memory that are in flight

void mark(struct block *block, uint32_t offset, uint32_t bytes, uint8_t under_way) {
  memset(block->under_way + offset / GRANULE, under_way, bytes / GRANULE);
}

// cp.async.cg.shared.global [a], [b], 16
void copy_async(struct warp *w, const struct instruction *in, uint32_t mask) {
  if (words(w, in, 2)->u[0] != 16) {
    fail(w, in, -1, "a copy of other than 16 bytes");
    return;
  }
  each_lane(mask, [=](int l) {
    const unsigned char *from = nullptr;
    unsigned char *to = memory_at<SHARED>(w, in, l, 0, 16);
    const uint64_t address = doubles(w, in, 1)->u[l];
    if (address % 16 || address < MIN_ADDRESS || w->copy_count == MAX_COPIES) {
      fail(w, in, l, "a copy from 0x%llx", (unsigned long long)address);
      return;
    }
    from = reinterpret_cast<const unsigned char *>((uintptr_t)address);
    if (to) {
      const uint32_t offset = (uint32_t)(to - w->block->shared);
      memset(to, 0xFF, 16);
      mark(w->block, offset, 16, 1);
      w->copies[w->copy_count++] = {UINT32_C(1) << l, offset, from, w->groups[l]};
    }
  });
}

// Of the lanes' copies those arrive that belong to a group before the last `left` that the lane has
// committed; with less than none, all of them.
void copies_arrive(struct warp *w, uint32_t mask, int left) {
  int kept = 0;
  for (int i = 0; i < w->copy_count; i++) {
    const struct pending_copy *c = &w->copies[i];
    const uint32_t committed = w->groups[__builtin_ctz(c->lane_bit)];
    if (c->lane_bit & mask && (left < 0 || c->group + (uint32_t)left < committed)) {
      mark(w->block, c->to, 16, 0);
      memcpy(w->block->shared + c->to, c->from, 16);
    } else {
      w->copies[kept++] = *c;
    }
  }
  w->copy_count = kept;
}

void copies_wait_all(struct warp *w, const struct instruction *, uint32_t mask) {
  copies_arrive(w, mask, -1);
}

void copies_commit(struct warp *w, const struct instruction *, uint32_t mask) {
  each_lane(mask, [=](int l) { w->groups[l]++; });
}

// cp.async.wait_group left
void copies_wait_group(struct warp *w, const struct instruction *in, uint32_t mask) {
  copies_arrive(w, mask, (int)words(w, in, 0)->u[0]);
}

// `bytes` of a block's shared memory at an address, or NULL and a failure of this lane.
unsigned char *bytes_in(struct block *block, struct warp *w, const struct instruction *in, int lane,
                        uint32_t address, uint32_t bytes) {
  const struct run *run = block->run;
  const uint32_t offset = address - run->first_begin;
  const uint32_t most = bytes < 16 ? bytes : 16;
  if (address % most) {
    fail(w, in, lane, misaligned, (unsigned long long)address, most);
    return nullptr;
  }
  if (offset > run->shared_bytes || bytes > run->shared_bytes - offset) {
    fail(w, in, lane, "%u bytes at byte %d of %u of shared memory", bytes, (int)offset,
         run->shared_bytes);
    return nullptr;
  }
  for (uint32_t g = offset / GRANULE; g <= (offset + bytes - 1) / GRANULE; g++) {
    if (block->under_way[g]) {
      fail(w, in, lane, "byte %u of shared memory is touched, into which a copy is under way",
           g * GRANULE);
      return nullptr;
    }
  }
  return block->shared + offset;
}

// ---- mbarrier: 64 bits whose content is internal to the device (PTX ISA, "mbarrier").

enum { MAX_ARRIVALS = 0x7FFF }; // PTX allows more; shared memory begins with all bits set

struct barrier {
  uint16_t expected, missing; // arrivals of each phase, and of this one
  int32_t bytes_and_phase;    // twice the bytes that are missing, and the phase's number modulo 2
};
static_assert(sizeof(struct barrier) == 8, "");

struct barrier *barrier_in(struct block *block, struct warp *w, const struct instruction *in,
                           int lane, uint32_t address) {
  struct barrier *b =
      reinterpret_cast<struct barrier *>(bytes_in(block, w, in, lane, address, sizeof *b));
  if (b && (!b->expected || b->expected > MAX_ARRIVALS || b->missing > b->expected)) {
    fail(w, in, lane, "this is no barrier");
    return nullptr;
  }
  return b;
}

struct barrier *barrier_at(struct warp *w, const struct instruction *in, int lane,
                           uint32_t address) {
  return barrier_in(w->block, w, in, lane, address);
}

void end_phase(struct barrier *b) {
  if (!b->missing && !(b->bytes_and_phase & ~1)) {
    b->missing = b->expected;
    b->bytes_and_phase ^= 1;
  }
}

void barrier_init(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const uint32_t count = words(w, in, 1)->u[l];
    struct barrier *b = reinterpret_cast<struct barrier *>(memory_at<SHARED>(w, in, l, 0, 8));
    if (!count || count > MAX_ARRIVALS) {
      fail(w, in, l, "a barrier of %u arrivals", count);
    } else if (b) {
      b->expected = b->missing = (uint16_t)count;
      b->bytes_and_phase = 0;
    }
  });
}

void arrive_in(struct block *block, struct warp *w, const struct instruction *in, int l,
               uint32_t address, uint32_t bytes) {
  struct barrier *b = barrier_in(block, w, in, l, address);
  if (!b) {
    return;
  }
  if (!b->missing || (b->bytes_and_phase >> 1) + (int64_t)bytes >= 1 << 20) {
    fail(w, in, l, "more arrivals or bytes than the barrier takes");
    return;
  }
  b->bytes_and_phase += 2 * (int32_t)bytes;
  b->missing--;
  w->block->run->idle = 0;
  end_phase(b);
}

void arrive(struct warp *w, const struct instruction *in, int l, uint32_t bytes) {
  arrive_in(w->block, w, in, l, words(w, in, 1)->u[l] + (uint32_t)in->offset, bytes);
}

void barrier_arrive(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) { arrive(w, in, l, 0); });
}
void barrier_expect(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) { arrive(w, in, l, words(w, in, 2)->u[l]); });
}

// ---- clusters. An address in the window of all their blocks' shared memory (PTX ISA,
// ".shared::cluster") is that of the block's own window, and above it one more than its rank; the
// block's own addresses are in that window, too.

enum { RANK_SHIFT = 24 };

// mapa.shared::cluster d, a, b: where the block of rank b has what this one has at a.
void map_to_rank(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const uint32_t address = words(w, in, 1)->u[l], rank = words(w, in, 2)->u[l];
    if (address >> RANK_SHIFT || rank >= w->block->run->cluster) {
      fail(w, in, l, "address 0x%x in block %u of %u", address, rank, w->block->run->cluster);
      return;
    }
    words(w, in, 0)->u[l] = address | (rank + 1) << RANK_SHIFT;
  });
}

void barrier_arrive_at(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const uint32_t address = words(w, in, 1)->u[l] + (uint32_t)in->offset;
    const uint32_t rank = address >> RANK_SHIFT;
    struct block *block = rank ? block_of_cluster(w, in, l, rank - 1) : w->block;
    if (block) {
      arrive_in(block, w, in, l, address & ((UINT32_C(1) << RANK_SHIFT) - 1), 0);
    }
  });
}

// ld.shared::cluster.v4.u32: of any block of the cluster that has not ended.
void load_from_block(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const uint32_t address = words(w, in, 4)->u[l] + (uint32_t)in->offset;
    const uint32_t rank = address >> RANK_SHIFT, at = address & ((UINT32_C(1) << RANK_SHIFT) - 1);
    struct block *block = rank ? block_of_cluster(w, in, l, rank - 1) : w->block;
    const unsigned char *from = block ? bytes_in(block, w, in, l, at, 16) : nullptr;
    for (int i = 0; from && i < 4; i++) {
      memcpy(&words(w, in, i)->u[l], from + i * 4, 4);
    }
  });
}

void cluster_arrive(struct warp *w, const struct instruction *in, uint32_t mask) {
  struct block *first = w->block->first;
  each_lane(mask, [=](int l) {
    if (w->of_cluster >> l & 1) {
      fail(w, in, l, "arrives at the cluster's barrier again without having waited");
    }
    w->of_cluster |= UINT32_C(1) << l;
    w->cluster_round[l] = first->cluster_round;
    if (++first->cluster_arrived == w->block->run->threads * w->block->run->cluster) {
      first->cluster_arrived = 0;
      first->cluster_round++;
      w->block->run->idle = 0;
    }
  });
}

// true once the phase of this parity has ended: while the next one, of the other parity, is
// current. Of one lane; false after a failure, too.
bool barrier_has_ended(struct warp *w, const struct instruction *in, int l) {
  uint32_t *const p = words(w, in, 0)->u;
  const struct barrier *b = barrier_at(w, in, l, words(w, in, 1)->u[l] + (uint32_t)in->offset);
  const uint32_t parity = words(w, in, 2)->u[l];
  if (!b || parity > 1) {
    fail(w, in, l, "a wait for the phase of parity %u", parity);
    return false;
  }
  const bool ended = (b->bytes_and_phase & 1) != (int)parity;
  *p = (*p & ~(UINT32_C(1) << l)) | (uint32_t)ended << l;
  return ended;
}

void barrier_try(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    if (barrier_has_ended(w, in, l)) {
      w->block->run->idle = 0;
    } else {
      w->yields = true;
      w->block->run->idle++;
    }
  });
}

// Who tests has something else to do.
void barrier_test(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) { barrier_has_ended(w, in, l); });
}

// ---- cp.async.bulk: copies of the block as a whole, which arrive at a barrier

// Whether `bytes` can be under way to an address of a block's shared memory; marks them if so.
bool begin_bulk(struct block *block, struct warp *w, const struct instruction *in, int l,
                uint32_t to, uint32_t bytes, uint32_t alignment) {
  const uint32_t offset = to - block->run->first_begin;
  if (to % alignment || offset > block->run->shared_bytes ||
      bytes > block->run->shared_bytes - offset || block->box_count == MAX_BOXES) {
    fail(w, in, l, "%u bytes are brought to 0x%x of shared memory", bytes, to);
    return false;
  }
  for (uint32_t i = 0; i < bytes / GRANULE; i++) {
    if (block->under_way[offset / GRANULE + i]) {
      fail(w, in, l, "two copies into the same shared memory");
      return false;
    }
  }
  memset(block->shared + offset, 0xFF, bytes);
  mark(block, offset, bytes, 1);
  return true;
}

// cp.async.bulk.shared::cluster.global [to], [from], bytes, [barrier]: all multiples of 16
void bulk_bring(struct warp *w, const struct instruction *in, uint32_t mask) {
  struct block *block = w->block;
  each_lane(mask, [=](int l) {
    const uint32_t to = words(w, in, 0)->u[l], bytes = words(w, in, 2)->u[l];
    const uint64_t from = doubles(w, in, 1)->u[l];
    const uint32_t barrier = words(w, in, 3)->u[l];
    if (from % GRANULE || from < MIN_ADDRESS || !bytes || bytes % GRANULE) {
      fail(w, in, l, "%u bytes are brought from 0x%llx", bytes, (unsigned long long)from);
    } else if (barrier_at(w, in, l, barrier) && begin_bulk(block, w, in, l, to, bytes, GRANULE)) {
      block->boxes[block->box_count++] = {
          nullptr, 0, 0, to, barrier, reinterpret_cast<const unsigned char *>((uintptr_t)from),
          bytes};
    }
  });
}

// ---- cp.async.bulk.tensor.2d: a box of bytes of a matrix, with the 128-byte swizzle: of an
// address, bits 4 to 6 are exchanged by those of bits 7 to 9 (PTX ISA, "Swizzling Modes"). What the
// driver makes of the matrix is its own affair; here it is what launches.c says
// (arguments/wgmma.h).

enum { BOX_ALIGNMENT = 128 };

const struct tensor_map *map_at(struct warp *w, const struct instruction *in, int l, int operand) {
  const uint64_t address = doubles(w, in, operand)->u[l];
  const struct tensor_map *map = reinterpret_cast<const struct tensor_map *>((uintptr_t)address);
  if (address % 64 || address < MIN_ADDRESS) {
    fail(w, in, l, misaligned, (unsigned long long)address, 64u);
    return nullptr;
  }
  if (map->encoded[15] != EMULATOR_TENSOR_MAP) {
    fail(w, in, l, "a tensor map that the driver has not made");
    return nullptr;
  }
  return map;
}

// prefetch.tensormap [map]: no matrix is read, so also before griddepcontrol.wait
void map_ahead(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) { map_at(w, in, l, 0); });
}

// [to], [map, {byte, row}], [barrier]
void box_bring_in(struct block *block, struct warp *w, const struct instruction *in, int l) {
  const struct tensor_map *map = map_at(w, in, l, 1);
  const uint32_t to = words(w, in, 0)->u[l], barrier = words(w, in, 4)->u[l];
  const uint32_t bytes = map ? map->matrix.box_rows * WGMMA_STEP_BYTES : 0;
  if (!map || !barrier_in(block, w, in, l, barrier)) {
    return;
  }
  if (doubles(w, in, 1)->u[l] == (uint64_t)(uintptr_t)block->run->parameters +
                                     offsetof(struct wgmma_arguments, activations) &&
      !(w->waited >> l & 1)) {
    fail(w, in, l, "activations before griddepcontrol.wait");
    return;
  }
  if (begin_bulk(block, w, in, l, to, bytes, BOX_ALIGNMENT)) {
    block->boxes[block->box_count++] = {
        map, words(w, in, 2)->s[l], words(w, in, 3)->s[l], to, barrier, nullptr, bytes};
  }
}

void box_bring(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) { box_bring_in(w->block, w, in, l); });
}

// And the ranks of the blocks that get it, as bits: each at the same place, at its own time.
void box_bring_to(struct warp *w, const struct instruction *in, uint32_t mask) {
  each_lane(mask, [=](int l) {
    const uint32_t blocks = words(w, in, 5)->u[l] & 0xFFFF;
    for (uint32_t rank = 0; blocks >> rank && !w->block->run->failed; rank++) {
      struct block *block = blocks >> rank & 1 ? block_of_cluster(w, in, l, rank) : nullptr;
      if (block) {
        box_bring_in(block, w, in, l);
      }
    }
  });
}

void bring_row(struct block *block, const struct pending_box *box, uint32_t row) {
  const struct tensor_map *map = static_cast<const struct tensor_map *>(box->map);
  const int64_t from_row = (int64_t)box->row + row;
  for (uint32_t byte = 0; byte < WGMMA_STEP_BYTES; byte++) {
    uint32_t address = box->to + row * WGMMA_STEP_BYTES + byte;
    address ^= (address >> 7 & 7) << 4;
    const int64_t from_byte = (int64_t)box->byte + byte;
    const bool inside = from_row >= 0 && from_row < map->matrix.rows && from_byte >= 0 &&
                        from_byte < (int64_t)map->matrix.row_bytes;
    block->shared[address - block->run->first_begin] =
        inside ? static_cast<const unsigned char *>(
                     map->matrix.from)[from_row * (int64_t)map->matrix.row_bytes + from_byte]
               : 0;
  }
}

} // namespace

bool box_arrives(struct block *block) {
  if (!block->box_count) {
    return false;
  }
  struct pending_box *chosen = &block->boxes[draw(block->run, (uint32_t)block->box_count)];
  const struct pending_box box = *chosen;
  *chosen = block->boxes[--block->box_count];
  const uint32_t offset = box.to - block->run->first_begin;
  mark(block, offset, box.bytes, 0);
  for (uint32_t row = 0; box.map && row < box.bytes / WGMMA_STEP_BYTES; row++) {
    bring_row(block, &box, row);
  }
  if (box.from) {
    memcpy(block->shared + offset, box.from, box.bytes);
  }
  struct barrier *b =
      reinterpret_cast<struct barrier *>(block->shared + (box.barrier - block->run->first_begin));
  b->bytes_and_phase -= 2 * (int32_t)box.bytes;
  end_phase(b);
  block->run->idle = 0;
  return true;
}

unsigned char *shared_bytes_at(struct warp *w, const struct instruction *in, int lane,
                               uint32_t address, uint32_t bytes) {
  return bytes_in(w->block, w, in, lane, address, bytes);
}

// If operands are wider than what is stored or loaded, their low part counts (PTX ISA, "Operand
// Size Exceeding Instruction-Type Size").
const struct operation_entry memory_operations[] = {
    {"ld.param.u32", "r=[d]", load<ARGUMENTS, 4, 1, 4>, PLAIN},
    {"ld.param.f32", "r=[d]", load<ARGUMENTS, 4, 1, 4>, PLAIN},
    {"ld.param.s32", "d=[d]", load<ARGUMENTS, 4, 1, 8>, PLAIN},
    {"ld.param.u64", "d=[d]", load<ARGUMENTS, 8, 1, 8>, PLAIN},
    {"ld.param.v2.u32", "{r2}=[d]", load<ARGUMENTS, 4, 2, 4>, PLAIN},
    {"ld.param.v2.f32", "{r2}=[d]", load<ARGUMENTS, 4, 2, 4>, PLAIN},
    {"ld.param.v4.u32", "{r4}=[d]", load<ARGUMENTS, 4, 4, 4>, PLAIN},
    {"ld.param.v2.u8", "{h2}=[d]", load<ARGUMENTS, 1, 2, 4>, PLAIN},
    {"ld.param.v4.u8", "{h4}=[d]", load<ARGUMENTS, 1, 4, 4>, PLAIN},
    {"ld.param.v4.u16", "{h4}=[d]", load<ARGUMENTS, 2, 4, 4>, PLAIN},
    {"ld.param.v2.u64", "{d2}=[d]", load<ARGUMENTS, 8, 2, 8>, PLAIN},
    {"ld.global.f32", "r=[d]", load<GLOBAL, 4, 1, 4>, PLAIN},
    {"ld.global.s32", "r=[d]", load<GLOBAL, 4, 1, 4>, PLAIN},
    {"ld.global.u32", "r=[d]", load<GLOBAL, 4, 1, 4>, PLAIN},
    {"ld.global.u64", "d=[d]", load<GLOBAL, 8, 1, 8>, PLAIN},
    {"ld.global.v4.u32", "{r4}=[d]", load<GLOBAL, 4, 4, 4>, PLAIN},
    {"ld.global.nc.L1::no_allocate.v4.u32", "{r4}=[d]", load<WEIGHTS, 4, 4, 4>, PLAIN},
    {"ld.global.nc.u32", "r=[d]", load<WEIGHTS, 4, 1, 4>, PLAIN},
    {"prefetch.global.L2", "=[d]", load_ahead, PLAIN},
    {"ld.acquire.gpu.global.u32", "r=[d]", load_awaited<1>, PLAIN},
    {"ld.relaxed.gpu.global.f32", "r=[d]", load_awaited<1>, PLAIN},
    {"ld.relaxed.gpu.global.v4.u32", "{r4}=[d]", load_awaited<4>, PLAIN},
    // Generic addresses: none refers to shared memory.
    {"ld.f32", "r=[d]", load<GLOBAL, 4, 1, 4>, PLAIN},
    {"red.release.gpu.global.add.u32", "=[d]r", red_add, PLAIN},
    {"ld.shared.f32", "r=[r]", load<SHARED, 4, 1, 4>, PLAIN},
    {"ld.shared.u32", "r=[r]", load<SHARED, 4, 1, 4>, PLAIN},
    {"ld.shared.s32", "d=[r]", load<SHARED, 4, 1, 8>, PLAIN},
    {"ld.shared.s8", "r=[r]", load_shared_signed<int8_t>, PLAIN},
    {"ld.shared.s16", "r=[r]", load_shared_signed<int16_t>, PLAIN},
    {"ld.shared.u8", "h=[r]", load<SHARED, 1, 1, 4>, PLAIN},
    {"ld.shared.u16", "r=[r]", load<SHARED, 2, 1, 4>, PLAIN},
    {"ld.shared.u16", "h=[r]", load<SHARED, 2, 1, 4>, PLAIN},
    {"ld.shared.v4.u16", "{h4}=[r]", load<SHARED, 2, 4, 4>, PLAIN},
    {"ld.shared.v2.u16", "{h2}=[r]", load<SHARED, 2, 2, 4>, PLAIN},
    {"ld.shared.u64", "d=[r]", load<SHARED, 8, 1, 8>, PLAIN},
    {"ld.shared.v2.u64", "{d2}=[r]", load<SHARED, 8, 2, 8>, PLAIN},
    {"ld.shared.v2.f32", "{r2}=[r]", load<SHARED, 4, 2, 4>, PLAIN},
    {"ld.shared.v2.u32", "{r2}=[r]", load<SHARED, 4, 2, 4>, PLAIN},
    {"ld.shared.v4.f32", "{r4}=[r]", load<SHARED, 4, 4, 4>, PLAIN},
    {"ld.shared.v4.u32", "{r4}=[r]", load<SHARED, 4, 4, 4>, PLAIN},
    {"st.global.f32", "=[d]r", store<GLOBAL, 4, 1>, PLAIN},
    {"st.relaxed.gpu.global.f32", "=[d]r", store_relaxed, PLAIN},
    {"st.global.s32", "=[d]r", store<GLOBAL, 4, 1>, PLAIN},
    {"st.global.u32", "=[d]r", store<GLOBAL, 4, 1>, PLAIN},
    {"st.global.u64", "=[d]d", store<GLOBAL, 8, 1>, PLAIN},
    {"st.global.u16", "=[d]h", store<GLOBAL, 2, 1>, PLAIN},
    {"st.global.u8", "=[d]r", store<GLOBAL, 1, 1>, PLAIN},
    {"st.global.v4.u32", "=[d]{r4}", store<GLOBAL, 4, 4>, PLAIN},
    {"st.shared.f32", "=[r]r", store<SHARED, 4, 1>, PLAIN},
    {"st.shared.u32", "=[r]r", store<SHARED, 4, 1>, PLAIN},
    {"st.shared.u16", "=[r]h", store<SHARED, 2, 1>, PLAIN},
    {"st.shared.u16", "=[r]r", store<SHARED, 2, 1>, PLAIN},
    {"st.shared.u64", "=[r]d", store<SHARED, 8, 1>, PLAIN},
    {"st.shared.v2.u64", "=[r]{d2}", store<SHARED, 8, 2>, PLAIN},
    {"st.shared.v2.u16", "=[r]{h2}", store<SHARED, 2, 2>, PLAIN},
    {"st.shared.v2.u8", "=[r]{h2}", store<SHARED, 1, 2>, PLAIN},
    {"st.shared.v4.u8", "=[r]{h4}", store<SHARED, 1, 4>, PLAIN},
    {"st.shared.v2.f32", "=[r]{r2}", store<SHARED, 4, 2>, PLAIN},
    {"st.shared.v2.u32", "=[r]{r2}", store<SHARED, 4, 2>, PLAIN},
    {"st.shared.v4.f32", "=[r]{r4}", store<SHARED, 4, 4>, PLAIN},
    {"st.shared.v4.u32", "=[r]{r4}", store<SHARED, 4, 4>, PLAIN},
    {"st.shared.v4.b32", "=[r]{r4}", store<SHARED, 4, 4>, PLAIN},
    {"atom.acq_rel.gpu.global.inc.u32", "r=[d]r", atom_inc, PLAIN},
    {"griddepcontrol.wait", "=", wait_for_grid, PLAIN},
    {"griddepcontrol.launch_dependents", "=", order, PLAIN},
    {"fence.proxy.async.global", "=", order, PLAIN},
    {"fence.proxy.async.shared::cta", "=", order, PLAIN},
    {"fence.mbarrier_init.release.cluster", "=", order, PLAIN},
    {"cp.async.cg.shared.global", "=[r][d]i", copy_async, PLAIN},
    {"cp.async.wait_all", "=", copies_wait_all, PLAIN},
    {"cp.async.commit_group", "=", copies_commit, PLAIN},
    {"cp.async.wait_group", "=i", copies_wait_group, PLAIN},
    {"cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes", "=[r][d]r[r]", bulk_bring,
     PLAIN},
    {"mbarrier.init.shared::cta.b64", "=[r]r", barrier_init, PLAIN},
    {"mbarrier.arrive.shared::cta.b64", "_=[r]", barrier_arrive, PLAIN},
    {"mbarrier.arrive.expect_tx.shared::cta.b64", "_=[r]r", barrier_expect, PLAIN},
    {"mbarrier.try_wait.parity.shared::cta.b64", "p=[r]r", barrier_try, PLAIN},
    {"mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64", "p=[r]r", barrier_try, PLAIN},
    {"mbarrier.test_wait.parity.shared::cta.b64", "p=[r]r", barrier_test, PLAIN},
    {"mbarrier.arrive.release.cluster.shared::cluster.b64", "_=[r]", barrier_arrive_at, PLAIN},
    {"mapa.shared::cluster.u32", "r=rr", map_to_rank, PLAIN},
    {"ld.shared::cluster.v4.u32", "{r4}=[r]", load_from_block, PLAIN},
    {"barrier.cluster.arrive.relaxed", "=", cluster_arrive, PLAIN},
    {"barrier.cluster.wait.acquire", "=", nullptr, CLUSTER_WAIT},
    {"prefetch.tensormap", "=[d]", map_ahead, PLAIN},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes",
     "=[r][d{r2}][r]", box_bring, PLAIN},
    {"cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes"
     ".multicast::cluster",
     "=[r][d{r2}][r]h", box_bring_to, PLAIN},
    {}};
