#include "kernels/gpu/device/machine/ring.h"
#include "tests/stand_ins/emulator/copies.h"

extern "C" {
#include "kernels/weights.h"
#include "tests/stand_ins/emulator/check_kernels.h"
}

#include <stdlib.h>

enum {
  THREADS = 4 * WARP,
  BLOCKS = 7,
  COOPERATIVE_BLOCKS = 3,
  CLUSTER = 2,
  CLUSTER_BLOCKS = 3 * CLUSTER,
  ROUNDS = 3,
  ROUND_SUM = 1 + 2 + 3,
  SHARED_BYTES = THREADS * 4,
  COPY_ROW = 128,
  COPY_ALIGNMENT = 1024,
  COPY_SHARED = 3 * COPY_ALIGNMENT + 64,
  RING_SLOTS = THREADS / WARP * 2,
  RING_SHARED = RING_SLOTS * (STREAM_SLOT + 8)
};

struct check_arguments {
  const float *input; // [BLOCKS * THREADS]
  float *partial;     // [BLOCKS]
  float *output;      // [BLOCKS * THREADS]
  unsigned *counter;  // [1]
  const void *unaligned;
};

// Every thread gets the sum over its block, ROUNDS times with growing values. Of its four barriers,
// two are between writing and reading, two between reading and writing again; REMOVED is the one to
// leave out, 0 leaves out none.
template <int REMOVED> DEVICE void sum_block(const struct check_arguments &a) {
  SHARED(float, values);
  const int t = thread_index(), mirrored = block_threads() - 1 - t;
  const int place = block_index(0) * block_threads() + t;
  let_next_start();
  wait_for_previous();
  float total = 0;
  for (int round = 1; round <= ROUNDS; round++) {
    values[t] = load_published_float(a.input + place) * (float)round;
    if (REMOVED != 1) {
      block_wait();
    }
    const float sum = warp_sum(values[mirrored]);
    if (REMOVED != 2) {
      block_wait();
    }
    if (lane_index() == 0) {
      values[warp_index()] = sum;
    }
    if (REMOVED != 3) {
      block_wait();
    }
    for (int warp = 0; warp < block_threads() / WARP; warp++) {
      total += values[warp];
    }
    if (REMOVED != 4) {
      block_wait();
    }
  }
  publish(a.output + place, total);
}
KERNEL_BOUNDS(sum, check_arguments, THREADS, 2) {
  sum_block<0>(a);
}
KERNEL_BOUNDS(sum_without_barrier_1, check_arguments, THREADS, 2) {
  sum_block<1>(a);
}
KERNEL_BOUNDS(sum_without_barrier_2, check_arguments, THREADS, 2) {
  sum_block<2>(a);
}
KERNEL_BOUNDS(sum_without_barrier_3, check_arguments, THREADS, 2) {
  sum_block<3>(a);
}
KERNEL_BOUNDS(sum_without_barrier_4, check_arguments, THREADS, 2) {
  sum_block<4>(a);
}

// The same through shared memory between the lanes of a warp.
template <bool WAITS> DEVICE void sum_warps(const struct check_arguments &a) {
  SHARED(float, values);
  const int t = thread_index(), place = block_index(0) * block_threads() + t;
  wait_for_previous();
  values[t] = load_published_float(a.input + place);
  if (WAITS) {
    warp_wait();
  }
  float total = 0;
  for (int lane = 0; lane < WARP; lane++) {
    total += values[warp_index() * WARP + lane];
  }
  block_wait();
  values[t] = total;
  block_wait();
  total = 0;
  for (int warp = 0; warp < block_threads() / WARP; warp++) {
    total += values[warp * WARP];
  }
  publish(a.output + place, total * (float)ROUND_SUM);
}
KERNEL(sum_by_warps, check_arguments) {
  sum_warps<true>(a);
}
KERNEL(sum_without_warp_wait, check_arguments) {
  sum_warps<false>(a);
}

// The same through copies: each round copies the block's input into one of two stages. The first
// thread starts the copies, the first two at once; all take part. REMOVED 1 does not wait until a
// stage is full, 2 not until it is empty, 3 creates no barriers.
template <int REMOVED> DEVICE void sum_copies(const struct check_arguments &a, EMULATOR_HERE) {
  SHARED(char, shared);
  const int place = block_index(0) * block_threads() + thread_index();
  const int box_rows = block_threads() * 4 / COPY_ROW;
  char *ring = shared + (COPY_ALIGNMENT - (uintptr_t)shared % COPY_ALIGNMENT) % COPY_ALIGNMENT;
  uint64_t *full = reinterpret_cast<uint64_t *>(ring + 2 * COPY_ALIGNMENT), *empty = full + 2;
  const struct copies_box box = {reinterpret_cast<const unsigned char *>(a.input),
                                 COPY_ROW,
                                 BLOCKS * box_rows,
                                 box_rows,
                                 0,
                                 block_index(0) * box_rows};
  for (int stage = 0; stage < 2 && thread_index() == 0 && REMOVED != 3; stage++) {
    copies_barrier_make(full + stage, 1);
    copies_barrier_make(empty + stage, THREADS / WARP);
  }
  block_wait();
  wait_for_previous();
  float total = 0;
  for (int round = -2; round < ROUNDS; round++) {
    const int next = round < 0 ? round + 2 : round + 1; // to be copied
    if (thread_index() == 0 && next < ROUNDS && round != 0) {
      if (round > 0 && REMOVED != 2) {
        copies_wait_phase(empty + next % 2, 0, {"barrier_wait", file, line});
      }
      copies_arrive(full + next % 2, box_rows * COPY_ROW);
      copies_begin(ring + next % 2 * COPY_ALIGNMENT, &box, full + next % 2);
    }
    if (round < 0) {
      continue;
    }
    if (REMOVED != 1) {
      copies_wait_phase(full + round % 2, round / 2, {"barrier_wait", file, line});
    }
    for (int i = 0; i < THREADS; i++) { // rows of eight 16-byte pieces, exchanged
      const int row = i * 4 / COPY_ROW, byte = (i * 4 % COPY_ROW) ^ row % 8 * 16;
      float value;
      memcpy(&value, ring + round % 2 * COPY_ALIGNMENT + row * COPY_ROW + byte, sizeof value);
      total += value * (float)(round + 1);
    }
    warp_wait();
    if (lane_index() == 0) {
      copies_arrive(empty + round % 2, 0);
    }
    warp_wait();
  }
  publish(a.output + place, total);
}
KERNEL(sum_by_copies, check_arguments) {
  sum_copies<0>(a);
}
KERNEL(copies_without_full, check_arguments) {
  sum_copies<1>(a);
}
KERNEL(copies_without_empty, check_arguments) {
  sum_copies<2>(a);
}
KERNEL(copies_without_barriers, check_arguments) {
  sum_copies<3>(a);
}

DEVICE float warp_sum_of(const struct words4 &words) {
  float sum = 0;
  for (uint32_t word : words.word) {
    sum += float_of(word);
  }
  return warp_sum(sum);
}

// The same through each warp's ring of two slots, whose second rows are used in odd rounds. REMOVED
// 1 does not wait for a unit, 2 refills a slot before all lanes have read it, 3 waits for a unit
// that nobody requested.
template <int REMOVED> DEVICE void sum_ring(const struct check_arguments &a, EMULATOR_HERE) {
  SHARED(unsigned char, shared);
  const int own = block_index(0) * block_threads(), bytes = block_threads() * 4;
  uint64_t *barriers = reinterpret_cast<uint64_t *>(shared + RING_SLOTS * STREAM_SLOT);
  const struct ring ring = {shared + warp_index() * 2 * STREAM_SLOT, NULL,
                            barriers + warp_index() * 2, 2, 0};
  struct stream_place unit = {};
  unit.row[0] = unit.row[1] = reinterpret_cast<const unsigned char *>(a.input + own);
  unit.codes = bytes;
  ring_make(ring);
  warp_wait();
  wait_for_previous();
  for (int slot = 0; slot < 2; slot++) {
    unit.both = slot;
    if (ring_brings()) {
      ring_bring(ring, slot, unit, false);
    }
  }
  float total = 0;
  for (int round = 0; round < ROUNDS; round++) {
    if (REMOVED != 1) {
      ring_wait(ring, round % 2, round / 2, true, file, line);
    }
    const struct words4 words =
        load_shared(ring_slot(ring, round % 2) + round % 2 * STREAM_BYTES + lane_index() * 16);
    if (REMOVED != 2) {
      warp_wait();
    }
    unit.both = 0;
    if (round == 0 && ring_brings()) {
      ring_bring(ring, 0, unit, false);
    }
    total += warp_sum_of(words) * (float)(round + 1);
  }
  if (REMOVED == 3) {
    ring_wait(ring, 1, 1, true, file, line);
  }
  publish(a.output + own + thread_index(), total);
}
KERNEL(sum_by_ring, check_arguments) {
  sum_ring<0>(a);
}
KERNEL(ring_without_wait, check_arguments) {
  sum_ring<1>(a);
}
KERNEL(ring_refilled_early, check_arguments) {
  sum_ring<2>(a);
}
KERNEL(ring_waits_too_often, check_arguments) {
  sum_ring<3>(a);
}

// The same through two slots of each lane. REMOVED 1 does not wait for a group, 2 refills a slot
// before it has been read, 3 waits for one group less.
template <int REMOVED> DEVICE void sum_lane_ring(const struct check_arguments &a) {
  SHARED(unsigned char, shared);
  const int own = block_index(0) * block_threads();
  const float *from = a.input + own + lane_index() * 4;
  unsigned char *slots = shared + thread_index() * 32;
  wait_for_previous();
  for (int slot = 0; slot < 2; slot++) {
    copies_begin_lane(slots + slot * 16, from);
    copies_end_group();
  }
  float total = 0;
  for (int round = 0; round < ROUNDS; round++) {
    unsigned char *slot = slots + round % 2 * 16;
    if (REMOVED != 1) {
      copies_wait_groups(REMOVED == 3 ? 2 : 1);
    }
    if (REMOVED == 2 && round == 0) {
      copies_begin_lane(slot, from);
    }
    const struct words4 words = load_shared(slot);
    if (REMOVED != 2 && round == 0) {
      copies_begin_lane(slot, from);
    }
    copies_end_group();
    total += warp_sum_of(words) * (float)(round + 1);
  }
  publish(a.output + own + thread_index(), total);
}
KERNEL(sum_by_lane_ring, check_arguments) {
  sum_lane_ring<0>(a);
}
KERNEL(lane_ring_without_wait, check_arguments) {
  sum_lane_ring<1>(a);
}
KERNEL(lane_ring_refilled_early, check_arguments) {
  sum_lane_ring<2>(a);
}
KERNEL(lane_ring_waits_too_little, check_arguments) {
  sum_lane_ring<3>(a);
}

// The input of the block that is `round` clusters further.
DEVICE int cluster_input(int block, int round) {
  return (block + round * CLUSTER) % CLUSTER_BLOCKS;
}

// Both blocks of a cluster add up the inputs of both; each brings one of them to both, in every
// round another. REMOVED 1 does not wait until the other has made its barriers, 2 not until it has
// used the last round's, 3 not for its end, 4 brings it to itself only.
template <int REMOVED> DEVICE void sum_clusters(const struct check_arguments &a, EMULATOR_HERE) {
  SHARED(char, shared);
  const int rank = emulator_cluster_rank(), box_rows = THREADS * 4 / COPY_ROW;
  char *ring = shared + (COPY_ALIGNMENT - (uintptr_t)shared % COPY_ALIGNMENT) % COPY_ALIGNMENT;
  uint64_t *full = reinterpret_cast<uint64_t *>(ring + CLUSTER * COPY_ALIGNMENT), *empty = full + 1;
  if (thread_index() == 0) {
    copies_barrier_make(full, 1);
    copies_barrier_make(empty, THREADS / WARP * (REMOVED == 2 ? 1 : CLUSTER));
  }
  block_wait();
  emulator_cluster_arrive();
  wait_for_previous();
  if (REMOVED != 1) {
    emulator_cluster_wait({"cluster_wait", file, line});
  }
  float total = 0;
  for (int round = 0; round < ROUNDS; round++) {
    const struct copies_box box = {
        reinterpret_cast<const unsigned char *>(a.input), COPY_ROW, BLOCKS * box_rows, box_rows, 0,
        cluster_input(block_index(0), round) * box_rows};
    if (thread_index() == 0) {
      if (round > 0) {
        copies_wait_phase(empty, round - 1, {"barrier_wait", file, line});
      }
      copies_arrive(full, CLUSTER * box_rows * COPY_ROW);
      copies_begin_in(REMOVED == 4 ? 1 << rank : (1 << CLUSTER) - 1, ring + rank * COPY_ALIGNMENT,
                      &box, full);
    }
    copies_wait_phase(full, round, {"barrier_wait", file, line});
    for (int i = 0; i < CLUSTER * COPY_ALIGNMENT / 4; i++) { // the order of a box does not matter
      float value;
      memcpy(&value, ring + i * 4, sizeof value);
      total += i * 4 % COPY_ALIGNMENT < box_rows * COPY_ROW ? value * (float)(round + 1) : 0;
    }
    warp_wait();
    if (lane_index() < CLUSTER && (REMOVED != 2 || lane_index() == rank)) {
      copies_arrive_at(empty, lane_index());
    }
    warp_wait();
  }
  if (REMOVED == 1) {
    emulator_cluster_wait({"cluster_wait", file, line});
  }
  if (REMOVED != 3) {
    emulator_cluster_arrive();
    emulator_cluster_wait({"cluster_wait", file, line});
  }
  publish(a.output + block_index(0) * block_threads() + thread_index(), total);
}
KERNEL(cluster_sum, check_arguments) {
  sum_clusters<0>(a);
}
KERNEL(cluster_without_begin, check_arguments) {
  sum_clusters<1>(a);
}
KERNEL(cluster_without_empty, check_arguments) {
  sum_clusters<2>(a);
}
KERNEL(cluster_without_end, check_arguments) {
  sum_clusters<3>(a);
}
KERNEL(cluster_without_half, check_arguments) {
  sum_clusters<4>(a);
}
// Each thread of a block adds what the same thread of the cluster's other block has put into that
// one's shared memory. REMOVED 1 does not wait until it is there, 2 not until its own has been
// read, 3 reads its own twice.
template <int REMOVED> DEVICE void read_clusters(const struct check_arguments &a, EMULATOR_HERE) {
  SHARED(char, shared);
  const int rank = emulator_cluster_rank(), other = REMOVED == 3 ? rank : 1 - rank;
  uint64_t *there = reinterpret_cast<uint64_t *>(shared + THREADS * 16), *taken = there + 1;
  if (thread_index() == 0) {
    copies_barrier_make(there, CLUSTER * THREADS / WARP);
    copies_barrier_make(taken, CLUSTER * THREADS / WARP);
  }
  block_wait();
  emulator_cluster_arrive();
  wait_for_previous();
  emulator_cluster_wait({"cluster_wait", file, line});
  const int place = block_index(0) * block_threads() + thread_index();
  float *own = reinterpret_cast<float *>(shared + thread_index() * 16), value;
  *own = a.input[place];
  warp_wait();
  if (lane_index() < CLUSTER) {
    copies_arrive_at(there, lane_index());
  }
  if (REMOVED != 1) {
    copies_wait_phase(there, 0, {"barrier_wait", file, line});
  }
  memcpy(&value, copies_in_block(own, other, 16), sizeof value);
  publish(a.output + place, *own + value);
  warp_wait();
  if (lane_index() < CLUSTER) {
    copies_arrive_at(taken, lane_index());
  }
  if (REMOVED != 2) {
    copies_wait_phase(taken, 0, {"barrier_wait", file, line});
  }
}
KERNEL(read_cluster, check_arguments) {
  read_clusters<0>(a);
}
KERNEL(read_cluster_early, check_arguments) {
  read_clusters<1>(a);
}
KERNEL(read_cluster_without_end, check_arguments) {
  read_clusters<2>(a);
}
KERNEL(read_cluster_own, check_arguments) {
  read_clusters<3>(a);
}
KERNEL(read_cluster_unaligned, check_arguments) {
  SHARED(char, shared);
  (void)a;
  wait_for_previous();
  copies_in_block(shared + 8, 0, 16);
}
KERNEL(cluster_arrives_twice, check_arguments) {
  (void)a;
  wait_for_previous();
  emulator_cluster_arrive();
  emulator_cluster_arrive();
}

// The last block adds up what the others have published; or a block that wrongly takes itself for
// the last.
DEVICE float first_warps_sum(const struct check_arguments &a) {
  wait_for_previous();
  return warp_sum(
      load_published_float(a.input + block_index(0) * block_threads() + thread_index()));
}
DEVICE void publish_sum(const struct check_arguments &a) {
  const float sum = first_warps_sum(a);
  if (thread_index() == 0) {
    publish(a.partial + block_index(0), sum);
  }
}
DEVICE void add_partials(const struct check_arguments &a, int first) {
  float total = 0;
  for (int block = 0; block < grid_blocks(0); block++) {
    total += load_published_float(a.partial + block);
  }
  publish(a.output + first + thread_index(), total);
}
KERNEL(last_arriver, check_arguments) {
  publish_sum(a);
  if (arrive_last(a.counter, (unsigned)grid_blocks(0))) {
    add_partials(a, 0);
  }
}
KERNEL(last_by_number, check_arguments) {
  publish_sum(a);
  block_wait();
  if (block_index(0) == grid_blocks(0) - 1) {
    add_partials(a, 0);
  }
}
KERNEL(last_of_too_few, check_arguments) {
  publish_sum(a);
  if (arrive_last(a.counter, 2) && thread_index() == 0) {
    ++*a.counter; // as an abandoned launch would leave it
    ++*a.counter;
  }
}

// Every block adds up what all blocks of a cooperative launch have published.
template <int WANTED> DEVICE void add_across_grid(const struct check_arguments &a) {
  publish_sum(a);
  grid_arrive(a.counter);
  grid_wait(a.counter, WANTED);
  add_partials(a, block_index(0) * block_threads());
  grid_arrive(a.counter);
  if (block_index(0) == 0) {
    grid_wait(a.counter, 2 * COOPERATIVE_BLOCKS);
    if (thread_index() == 0) {
      *a.counter = 0;
    }
  }
}
KERNEL(grid_sum, check_arguments) {
  add_across_grid<COOPERATIVE_BLOCKS>(a);
}
KERNEL(grid_sum_of_too_few, check_arguments) {
  add_across_grid<1>(a);
}
KERNEL(grid_sum_of_too_many, check_arguments) {
  add_across_grid<COOPERATIVE_BLOCKS + 1>(a);
}

// The same, each block by what it finds of the others, which is NaN before.
enum found { FOUND_LATEST, FOUND_PLAIN, FOUND_AT_ONCE };
template <enum found HOW> DEVICE void add_as_found(const struct check_arguments &a) {
  const float own = first_warps_sum(a);
  if (thread_index() == 0) {
    publish_at_once(a.partial + block_index(0), own);
  }
  float total = 0;
  for (int block = 0; block < grid_blocks(0); block++) {
    const float *from = a.partial + block;
    float found = load_latest_float(from);
    while (HOW != FOUND_AT_ONCE && found != found) {
      stand_by(from);
      found = load_latest_float(from);
    }
    total += HOW == FOUND_PLAIN ? load_published_float(from) : found;
  }
  publish(a.output + block_index(0) * block_threads() + thread_index(), total);
}
KERNEL(grid_sum_as_found, check_arguments) {
  add_as_found<FOUND_LATEST>(a);
}
KERNEL(grid_sum_without_standing_by, check_arguments) {
  add_as_found<FOUND_AT_ONCE>(a);
}
KERNEL(grid_sum_by_plain_loads, check_arguments) {
  add_as_found<FOUND_PLAIN>(a);
}
KERNEL(grid_stands_by_forever, check_arguments) {
  stand_by(a.partial);
}

KERNEL(grid_arrives_twice, check_arguments) {
  publish_sum(a);
  grid_arrive(a.counter);
  grid_arrive(a.counter);
}
KERNEL(grid_read_too_early, check_arguments) {
  publish_sum(a);
  grid_arrive(a.counter);
  add_partials(a, 0);
}

KERNEL(barrier_for_some, check_arguments) {
  wait_for_previous();
  if (thread_index() < 2 * WARP) {
    block_wait();
  }
  (void)a;
}
KERNEL(barrier_for_some_lanes, check_arguments) {
  wait_for_previous();
  if (lane_index() < 3) {
    warp_wait();
  } else {
    block_wait();
  }
}
KERNEL(barriers_apart, check_arguments) {
  wait_for_previous();
  if (warp_index() == 1) {
    block_wait();
  } else {
    block_wait();
  }
}
KERNEL(shuffle_for_some, check_arguments) {
  wait_for_previous();
  if (lane_index() < WARP / 2) {
    publish(a.output + thread_index(), shuffle_xor(1, 1));
  }
}
KERNEL(shuffles_apart, check_arguments) {
  wait_for_previous();
  float v = 0;
  if (lane_index() % 2) {
    v += shuffle_xor(1, 2);
  } else {
    v += shuffle_xor(2, 2);
  }
  publish(a.output + thread_index(), v);
}

KERNEL(read_too_early, check_arguments) {
  const float v = load_published_float(a.input);
  wait_for_previous();
  publish(a.output, v);
}
KERNEL(never_waits, check_arguments) {}
KERNEL(unaligned_words, check_arguments) {
  wait_for_previous();
  publish(a.output, (float)load_weights(a.unaligned).word[0]);
}

KERNEL(shared_overrun, check_arguments) {
  SHARED(float, values);
  wait_for_previous();
  if (thread_index() == 5) {
    values[SHARED_BYTES / 4] = 1;
  }
}
KERNEL(shared_overrun_reading, check_arguments) {
  SHARED(float, values);
  wait_for_previous();
  if (thread_index() == 5) {
    publish(a.output, values[SHARED_BYTES / 4]);
  }
}
KERNEL(shared_overrun_copying, check_arguments) {
  SHARED(float, values);
  wait_for_previous();
  if (thread_index() == 5) {
    memset(values + SHARED_BYTES / 4, 0, sizeof *values * (size_t)(1 + block_index(1)));
  }
}
KERNEL(shared_words_overrun, check_arguments) {
  SHARED(float, values);
  wait_for_previous();
  if (thread_index() == 5) {
    store_shared(values + SHARED_BYTES / 4, {{1, 2, 3, 4}});
  }
}

namespace {

bool same(float a, float b) {
  return a == b || (a != a && b != b);
}

// Each code in each position of a word, as the bits of its value; NaN may be 480 instead, and
// where there is no negative zero, it is the positive one.
bool e4m3_in_bf16_is_right(unsigned code) {
  const uint32_t held = e4m3_held((uint8_t)code), other = e4m3_held(0xB9);
  const float value = float_from_e4m3((uint8_t)code), rest = float_from_e4m3(0xB9);
  const bool is_number = value == value, has_negative_zero = e4m3_held(0x80) == 0x80;
  for (int place = 0; place < 4; place++) {
    const uint32_t word = other * 0x01010101u ^ (other ^ held) << 8 * place;
    for (int half = 0; half < 2; half++) {
      const uint32_t pair = e4m3_pair_bf16(word, half);
      const float found[2] = {bf16_low(pair) * E4M3_BF16_SCALE, bf16_high(pair) * E4M3_BF16_SCALE};
      for (int i = 0; i < 2; i++) {
        const bool is_here = 2 * half + i == place;
        const float expected = !is_here ? rest : has_negative_zero ? value : value + 0.0f;
        if ((!is_here || is_number) && bits_of(found[i]) != bits_of(expected)) {
          return false;
        }
        if (is_here && !is_number && fabsf(found[i]) != 480 && found[i] == found[i]) {
          return false;
        }
      }
    }
  }
  return true;
}

bool e4m3_is_right(void) {
  for (unsigned code = 0; code < 256; code++) {
    const unsigned held = e4m3_held((uint8_t)code);
    const float value = float_from_e4m3((uint8_t)code);
    float low, high, held_low, held_high;
    e4m3_pair(held | held << 8, &low, &high);
    e4m3_pair_held(held << 16 | held << 24, &held_low, &held_high, 1);
    if (!same(low, value) || !same(high, value) || !same(held_low * E4M3_HELD_SCALE, value) ||
        !same(held_high * E4M3_HELD_SCALE, value) || !e4m3_in_bf16_is_right(code)) {
      return false;
    }
  }
  // Steps small enough to hit every tie between two codes.
  for (uint32_t bits = 0; bits < 0x44000000; bits += 0x4000) {
    const float value = float_of(bits);
    if (e4m3_from(value) != e4m3_held(e4m3_from_float(value)) ||
        e4m3_from(-value) != e4m3_held(e4m3_from_float(-value))) {
      return false;
    }
  }
  return true;
}

bool bf16_is_right(void) {
  for (uint64_t bits = 0; bits < UINT64_C(0x100000000); bits += 0x1FFF) {
    const float low = float_of((uint32_t)bits), high = -low;
    const uint32_t pair = bf16_pair(low, high);
    const float back_low = float_from_bf16(bf16_from_float(low));
    if (!same(bf16_low(pair), back_low) || !same(bf16_high(pair), -back_low)) {
      return false;
    }
  }
  return true;
}

// Input 0, 1, 2...: the expected result of each thread of `block`.
float expected(int block) {
  const int first = block * THREADS;
  const int sum = THREADS * first + THREADS * (THREADS - 1) / 2;
  return (float)(sum * ROUND_SUM);
}

// Sums over the first warp of each block.
float expected_last(int blocks) {
  float total = 0;
  for (int block = 0; block < blocks; block++) {
    total += (float)(WARP * block * THREADS + WARP * (WARP - 1) / 2);
  }
  return total;
}

float expected_of_cluster(int block) {
  float total = 0;
  for (int round = 0; round < ROUNDS; round++) {
    for (int rank = 0; rank < CLUSTER; rank++) {
      const int from = cluster_input(block / CLUSTER * CLUSTER + rank, round);
      total += expected(from) / ROUND_SUM * (float)(round + 1);
    }
  }
  return total;
}

bool cluster_output_is_right(const float *output) {
  bool right = true;
  for (int i = 0; i < CLUSTER_BLOCKS * THREADS; i++) {
    right &= output[i] == expected_of_cluster(i / THREADS);
  }
  return right;
}

bool read_output_is_right(const float *output) {
  bool right = true;
  for (int i = 0; i < CLUSTER_BLOCKS * THREADS; i++) {
    const int other = (i / THREADS ^ 1) * THREADS + i % THREADS;
    right &= output[i] == (float)(i + other);
  }
  return right;
}

bool output_is_right(const char *kernel, const float *output) {
  if (!strncmp(kernel, "read_cluster", 12)) {
    return read_output_is_right(output);
  }
  if (!strncmp(kernel, "cluster", 7)) {
    return cluster_output_is_right(output);
  }
  if (!strncmp(kernel, "last", 4)) {
    return output[0] == expected_last(BLOCKS);
  }
  if (!strncmp(kernel, "grid", 4)) {
    bool right = true;
    for (int i = 0; i < COOPERATIVE_BLOCKS * THREADS; i++) {
      right &= output[i] == expected_last(COOPERATIVE_BLOCKS);
    }
    return right;
  }
  for (int i = 0; i < BLOCKS * THREADS; i++) {
    if (output[i] != expected(i / THREADS)) {
      return false;
    }
  }
  return true;
}

struct emulator_launch launch_of(const char *kernel, const struct check_arguments *arguments,
                                 uint64_t seed) {
  struct emulator_launch l = {
      kernel, {BLOCKS, 1, 1}, THREADS, SHARED_BYTES, arguments, sizeof *arguments, seed,
      false,  nullptr,        0};
  if (!strncmp(kernel, "grid", 4)) {
    l.grid[0] = COOPERATIVE_BLOCKS;
    l.cooperative = true;
  }
  if (strstr(kernel, "cluster")) {
    l.grid[0] = CLUSTER_BLOCKS;
    l.cluster = CLUSTER;
  }
  if (!strncmp(kernel, "read_cluster", 12)) {
    l.shared_bytes = THREADS * 16 + 16;
  } else if (strstr(kernel, "copies") || l.cluster > 0) {
    l.shared_bytes = COPY_SHARED;
  } else if (strstr(kernel, "ring")) {
    l.shared_bytes = RING_SHARED;
  }
  if (!strcmp(kernel, CHECK_ARGUMENTS)) {
    l.kernel = "sum";
    l.argument_bytes -= 8;
  } else if (!strcmp(kernel, CHECK_BLOCK)) {
    l.kernel = "sum";
    l.block = WARP + WARP / 2;
  } else if (!strcmp(kernel, CHECK_GRID)) {
    l.kernel = "sum";
    l.grid[1] = 0;
  } else if (!strcmp(kernel, CHECK_RESIDENT)) {
    l.kernel = "sum";
    l.cooperative = true;
  } else if (!strcmp(kernel, CHECK_CLUSTER)) {
    l.kernel = "cluster_sum";
    l.grid[0] = CLUSTER_BLOCKS + 1;
  } else if (!strcmp(kernel, CHECK_ALONE)) {
    l.kernel = "grid_sum";
  }
  return l;
}

} // namespace

EMULATOR_EXPORT struct check_outcome emulator_check(const char *kernel, uint64_t seed) {
  static float input[BLOCKS * THREADS], partial[BLOCKS], output[BLOCKS * THREADS];
  alignas(16) static const uint32_t words[8] = {};
  unsigned counter = 0;
  if (!strcmp(kernel, CHECK_CONVERSIONS)) {
    return {nullptr, e4m3_is_right() && bf16_is_right()};
  }
  for (int i = 0; i < BLOCKS * THREADS; i++) {
    input[i] = (float)i;
    output[i] = NAN;
  }
  for (float &p : partial) {
    p = NAN;
  }
  const struct check_arguments arguments = {input, partial, output, &counter, words + 1};
  const struct emulator_launch launch = launch_of(kernel, &arguments, seed);
  const char *error = emulator_launch_kernel(&launch);
  return {error, !error && counter == 0 && output_is_right(kernel, output)};
}
