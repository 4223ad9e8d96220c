#include "tests/stand_ins/emulator/copies.h"

#include <string.h>

namespace {

enum { MAX_COPIES = 2048, BOX_BYTES = 128, PATTERN = 1024, MADE = 0x5A };

// The 8 bytes of a barrier. Only its functions know their meaning.
struct barrier {
  uint8_t arrivals, missing; // in a phase; still missing in this one
  uint8_t odd;               // the number of this phase modulo 2
  uint8_t made;
  int32_t bytes; // expected and not there yet, or vice versa
};
static_assert(sizeof(struct barrier) == sizeof(uint64_t), "a barrier is 8 bytes");

struct copy {
  struct emulator_block *block;
  unsigned char *to;
  struct copies_box box;
  uint64_t *barrier;
  const void *run; // instead of a box
  int run_bytes;
};

struct copy under_way[MAX_COPIES];
size_t count;
double begun,
    met; // copies since emulator_copies_met, and those already under way, over all of them

struct lane_copy {
  unsigned char *to;
  const void *from;
  unsigned group; // of the thread's
};

enum { MAX_LANE_COPIES = 128, MAX_LANES = EMULATOR_MOST_TOGETHER * EMULATOR_MOST_THREADS };

// By thread.
struct lane_copy lane_under_way[MAX_LANES][MAX_LANE_COPIES];
unsigned lane_counts[MAX_LANES], lane_groups[MAX_LANES];

struct barrier read_barrier(const uint64_t *at, bool must_be_made) {
  struct barrier b;
  memcpy(&b, at, sizeof b);
  if (must_be_made && b.made != MADE) {
    emulator_fail("a barrier is used that was not made");
  }
  return b;
}

// A phase ends with its last arrival or byte, whichever is later.
void write_barrier(const struct emulator_block *block, uint64_t *at, struct barrier b) {
  const bool ends = b.missing == 0 && b.bytes == 0;
  if (ends) {
    b.odd ^= 1;
    b.missing = b.arrivals;
  }
  memcpy(at, &b, sizeof b);
  if (ends) {
    emulator_wake(block, at);
  }
}

void copy_box(const struct copy *c) {
  const struct copies_box *box = &c->box;
  for (int i = 0; i < box->box_rows; i++) {
    for (int piece = 0; piece < BOX_BYTES / 16; piece++) {
      const int row = box->row + i, byte = box->byte + piece * 16;
      unsigned char *to = c->to + i * BOX_BYTES + (piece ^ i % 8) * 16;
      const bool inside = row < box->rows && byte >= 0 && (uint64_t)byte < box->row_bytes;
      if (inside) {
        memcpy(to, box->from + (uint64_t)row * box->row_bytes + (uint64_t)byte, 16);
      } else {
        memset(to, 0, 16);
      }
    }
  }
}

void deliver(size_t i) {
  const struct copy c = under_way[i];
  under_way[i] = under_way[--count];
  if (c.run) {
    memcpy(c.to, c.run, (size_t)c.run_bytes);
  } else {
    copy_box(&c);
  }
  struct barrier b = read_barrier(c.barrier, false);
  b.bytes -= c.run ? c.run_bytes : c.box.box_rows * BOX_BYTES;
  write_barrier(c.block, c.barrier, b);
}

int lane_place(const struct emulator_block *block, int thread) {
  return block->place * EMULATOR_MOST_THREADS + thread;
}

void deliver_lane(int lane, unsigned i) {
  const struct lane_copy c = lane_under_way[lane][i];
  lane_under_way[lane][i] = lane_under_way[lane][--lane_counts[lane]];
  memcpy(c.to, c.from, 16);
}

// The same place in another block.
uint64_t *place_in(const struct emulator_block *block, const void *own) {
  const ptrdiff_t offset = static_cast<const unsigned char *>(own) - emulator_self->block->shared;
  return reinterpret_cast<uint64_t *>(block->shared + offset);
}

void arrive(const struct emulator_block *block, uint64_t *at, int bytes) {
  struct barrier b = read_barrier(at, true);
  if (b.missing == 0) {
    emulator_fail("a barrier is arrived at whose phase lacks no arrival");
  }
  b.missing--;
  b.bytes += bytes;
  write_barrier(block, at, b);
}

// Some of the time, so that both early and late arrivals occur.
void deliver_some(void) {
  while (count > 0 && emulator_draw() % 4 == 0) {
    deliver(emulator_draw() % count);
  }
}

void check_room(const struct emulator_block *block, const unsigned char *to, size_t bytes) {
  if (to < block->shared || to + bytes > block->shared + block->shared_bytes) {
    emulator_fail("a copy of %zu bytes to byte %td of %zu of shared memory", bytes,
                  to - block->shared, block->shared_bytes);
  }
  if (count == MAX_COPIES) {
    emulator_fail("more copies under way than the emulator keeps");
  }
}

void begin(struct emulator_block *block, void *to, const struct copies_box *box,
           uint64_t *barrier) {
  unsigned char *first = static_cast<unsigned char *>(to);
  const size_t bytes = (size_t)box->box_rows * BOX_BYTES;
  read_barrier(barrier, true);
  check_room(block, first, bytes);
  if ((uintptr_t)to % PATTERN || box->byte % 16 || box->row < 0) {
    emulator_fail("a copy to an address that is no multiple of 1024, or from no multiple of 16");
  }
  memset(first, 0xFF, bytes);
  under_way[count++] = {block, first, *box, barrier, nullptr, 0};
}

} // namespace

void copies_barrier_make(uint64_t *at, int arrivals) {
  const struct barrier b = {(uint8_t)arrivals, (uint8_t)arrivals, 0, MADE, 0};
  memcpy(at, &b, sizeof b);
}

void copies_arrive(uint64_t *at, int bytes) {
  arrive(emulator_self->block, at, bytes);
  deliver_some();
}

void copies_arrive_at(uint64_t *at, int rank) {
  const struct emulator_block *block = emulator_cluster_block(rank);
  arrive(block, place_in(block, at), 0);
  deliver_some();
}

const void *copies_in_block(const void *own, int rank, int bytes) {
  const struct emulator_block *block = emulator_cluster_block(rank);
  const unsigned char *at = reinterpret_cast<const unsigned char *>(place_in(block, own));
  check_room(block, at, (size_t)bytes);
  if ((uintptr_t)own % (uintptr_t)bytes) {
    emulator_fail("%d bytes of another block at an address that is no multiple of them", bytes);
  }
  return at;
}

void copies_wait_phase(uint64_t *at, int phase, struct emulator_site site) {
  deliver_some();
  while (read_barrier(at, true).odd == (phase & 1)) {
    emulator_park(at, site);
  }
}

bool copies_has_ended(uint64_t *at, int phase) {
  deliver_some();
  return read_barrier(at, true).odd != (phase & 1);
}

void copies_begin_run(void *to, const void *from, int bytes, uint64_t *barrier) {
  unsigned char *first = static_cast<unsigned char *>(to);
  read_barrier(barrier, true);
  check_room(emulator_self->block, first, (size_t)bytes);
  if ((uintptr_t)to % 16 || (uintptr_t)from % 16 || bytes <= 0 || bytes % 16) {
    emulator_fail("a copy of %d bytes, or from or to an address that is no multiple of 16", bytes);
  }
  memset(first, 0xFF, (size_t)bytes);
  begun++;
  met += (double)count;
  under_way[count++] = {emulator_self->block, first, {}, barrier, from, bytes};
  deliver_some();
}

void copies_begin_lane(void *to, const void *from) {
  const int lane = lane_place(emulator_self->block, emulator_self->index);
  unsigned *held = &lane_counts[lane];
  unsigned char *first = static_cast<unsigned char *>(to);
  check_room(emulator_self->block, first, 16);
  if ((uintptr_t)to % 16 || (uintptr_t)from % 16 || *held == MAX_LANE_COPIES) {
    emulator_fail("a copy from or to an address that is no multiple of 16, or one too many");
  }
  emulator_access(to, 16, true);
  memset(first, 0xFF, 16);
  lane_under_way[lane][(*held)++] = {first, from, lane_groups[lane]};
  if (emulator_draw() % 8 == 0) {
    deliver_lane(lane, static_cast<unsigned>(emulator_draw() % *held));
  }
}

void copies_end_group(void) {
  lane_groups[lane_place(emulator_self->block, emulator_self->index)]++;
}

void copies_wait_groups(int left) {
  const int lane = lane_place(emulator_self->block, emulator_self->index);
  for (unsigned i = lane_counts[lane]; i-- > 0;) {
    if (lane_under_way[lane][i].group + (unsigned)left < lane_groups[lane]) {
      deliver_lane(lane, i);
    }
  }
}

void copies_begin_in(int blocks, void *to, const struct copies_box *box, uint64_t *barrier) {
  for (int rank = 0; blocks >> rank; rank++) {
    if (blocks >> rank & 1) {
      struct emulator_block *block = emulator_cluster_block(rank);
      begin(block, place_in(block, to), box, place_in(block, barrier));
    }
  }
  deliver_some();
}

void copies_begin(void *to, const struct copies_box *box, uint64_t *barrier) {
  begin(emulator_self->block, to, box, barrier);
  deliver_some();
}

bool copies_deliver_one(void) {
  if (count == 0) {
    return false;
  }
  deliver(emulator_draw() % count);
  return true;
}

bool copies_under_way(const struct emulator_block *block) {
  for (size_t i = 0; i < count; i++) {
    if (under_way[i].block == block) {
      return true;
    }
  }
  for (int i = 0; i < block->threads; i++) {
    if (lane_counts[lane_place(block, i)] > 0) {
      return true;
    }
  }
  return false;
}

void copies_forget(void) {
  count = 0;
  memset(lane_counts, 0, sizeof lane_counts);
}

double emulator_copies_met(void) {
  const double mean = begun > 0 ? met / begun : 0;
  begun = met = 0;
  return mean;
}
