// route: the kernels `route` and `combine`: from the router's outputs r, which experts each batch
// row goes to and with what weight; from all rows' choices, which experts are used, with which
// slots; and the weighted sum over a row's experts.
//
// A block takes a row. Nothing is sorted: an expert's place is the number of those before it, which
// every thread counts for its own experts. The last block to arrive counts the pairs of a row and
// an expert in the same way, so that the order of slots depends only on the choices.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ROUTE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ROUTE_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/device/machine/platform.h"
#include "kernels/routing.h"

enum { ROUTE_DROPPED = 0 }; // the key of an expert whose group is not kept

// Ordered like the numbers, with both zeros equal; NaN has some place, so that all places differ.
DEVICE uint32_t route_key(float value) {
  const uint32_t bits = value == 0 ? 0 : bits_of(value);
  return bits >> 31 ? ~bits : bits | 0x80000000;
}
DEVICE float route_value(uint32_t key) {
  return float_of(key >> 31 ? key & 0x7FFFFFFF : ~key);
}

DEVICE float route_sigmoid(float r) {
  return 1 / (1 + exponential(-r));
}

// How many keys come before the i-th: larger ones, and of equal ones the earlier.
DEVICE int route_place(const uint32_t *keys, int count, int i) {
  const uint32_t mine = keys[i];
  int place = 0;
  for (int j = 0; j < count; j++) {
    place += keys[j] > mine || (keys[j] == mine && j < i);
  }
  return place;
}

// A row's shared memory; route_shared_bytes (arguments/experts.h) has room for everything.
struct route_room {
  float *r;         // [count]
  uint32_t *keys;   // [count], the values that decide the choice
  uint32_t *groups; // [count], keys too
  int *taken;       // [chosen], unordered
  int *order;       // [chosen], largest r first
};

DEVICE struct route_room route_room_of(const struct route_arguments &a, char *shared) {
  struct route_room room;
  room.r = reinterpret_cast<float *>(shared);
  room.keys = reinterpret_cast<uint32_t *>(room.r + a.count);
  room.groups = room.keys + a.count;
  room.taken = reinterpret_cast<int *>(room.groups + a.count);
  room.order = room.taken + a.chosen;
  return room;
}

DEVICE void route_load(const struct route_arguments &a, int row, const struct route_room &room) {
  const bool sigmoid = a.router == ROUTER_SIGMOID;
  for (int e = thread_index(); e < a.count; e += block_threads()) {
    const float bias = a.bias ? load_published_float(a.bias + e) : 0;
    const float r = load_published_float(a.r + (size_t)row * (size_t)a.count + e);
    room.r[e] = sigmoid ? r : r + bias;
    room.keys[e] = route_key(sigmoid ? route_sigmoid(r) + bias : r + bias);
  }
  block_wait();
}

// The sum of a group's two best experts.
DEVICE uint32_t route_group_key(const uint32_t *keys, int size) {
  uint32_t first = 0, second = 0;
  for (int i = 0; i < size; i++) {
    const uint32_t key = keys[i];
    second = key > first ? first : key > second ? key : second;
    first = key > first ? key : first;
  }
  return size > 1 ? route_key(route_value(first) + route_value(second)) : first;
}

DEVICE void route_drop_groups(const struct route_arguments &a, const struct route_room &room) {
  const int size = a.count / a.groups;
  for (int g = thread_index(); g < a.groups; g += block_threads()) {
    room.groups[g] = route_group_key(room.keys + g * size, size);
  }
  block_wait();
  for (int e = thread_index(); e < a.count; e += block_threads()) {
    if (route_place(room.groups, a.groups, e / size) >= a.kept_groups) {
      room.keys[e] = ROUTE_DROPPED;
    }
  }
  block_wait();
}

// The table is read by words: the platform has no narrower read. A position of a prompt uses the
// choice of the step with its number.
DEVICE void route_look_up(const struct route_arguments &a, int row, const struct route_room &room) {
  const int place = row - a.before; // among the positions
  const bool prompt = place >= 0 && place < a.positions;
  const int step = (prompt ? a.first + place : load_published_int(a.step)) % ROUTING_STEPS;
  const int of_table = prompt ? a.prompt : place < 0 ? row : row - a.positions + 1;
  const size_t line = ((size_t)step * (size_t)a.layers + (size_t)a.layer) * (size_t)a.table_batch;
  const size_t first = (line + (size_t)of_table) * (size_t)a.chosen;
  for (int k = thread_index(); k < a.chosen; k += block_threads()) {
    const size_t at = first + (size_t)k;
    const int word = load_published_int(reinterpret_cast<const int *>(a.table) + at / 2);
    room.taken[k] = (int)((uint32_t)word >> at % 2 * 16 & 0xFFFF);
  }
}

DEVICE void route_choose(const struct route_arguments &a, const struct route_room &room) {
  if (a.groups > 0) {
    route_drop_groups(a, room);
  }
  for (int e = thread_index(); e < a.count; e += block_threads()) {
    const int place = route_place(room.keys, a.count, e);
    if (place < a.chosen) {
      room.taken[place] = e;
    }
  }
}

// Orders the chosen experts by weight, the largest first, and of equals the lower expert.
DEVICE void route_order(const struct route_arguments &a, const struct route_room &room) {
  for (int k = thread_index(); k < a.chosen; k += block_threads()) {
    const int expert = room.taken[k];
    const uint32_t mine = route_key(room.r[expert]);
    int place = 0;
    for (int j = 0; j < a.chosen; j++) {
      const uint32_t key = route_key(room.r[room.taken[j]]);
      place += key > mine || (key == mine && room.taken[j] < expert);
    }
    room.order[place] = expert;
  }
  block_wait();
}

DEVICE float route_term(const struct route_arguments &a, float r, float largest) {
  return a.router == ROUTER_SIGMOID ? route_sigmoid(r) : exponential(r - largest);
}

// On one warp: the sum is over all experts or over those chosen.
DEVICE void route_weigh(const struct route_arguments &a, int row, const struct route_room &room) {
  const bool all = a.router == ROUTER_SOFTMAX_ALL;
  const int count = all ? a.count : a.chosen;
  float largest = float_of(0xFF800000), sum = 0;
  for (int i = lane_index(); i < count; i += WARP) {
    const float r = room.r[all ? i : room.order[i]];
    largest = r > largest ? r : largest;
  }
  largest = warp_largest(largest);
  for (int i = lane_index(); i < count; i += WARP) {
    sum += route_term(a, room.r[all ? i : room.order[i]], largest);
  }
  sum = warp_sum(sum);
  for (int k = lane_index(); k < a.chosen; k += WARP) {
    const size_t at = (size_t)row * (size_t)a.chosen + (size_t)k;
    publish_int(a.experts + at, room.order[k]);
    publish(a.weights + at, route_term(a, room.r[room.order[k]], largest) / sum * a.scale);
  }
}

// ---- all rows together

// For each expert how many pairs it has, and in the high half how many items they make.
struct route_tally {
  uint16_t *pairs; // [batch * chosen], the expert of each
  uint32_t *count; // [count]
};

DEVICE struct route_tally route_tally_of(const struct route_arguments &a, char *shared) {
  struct route_tally tally;
  tally.count = reinterpret_cast<uint32_t *>(shared);
  tally.pairs = reinterpret_cast<uint16_t *>(tally.count + a.count);
  const int pairs = a.batch * a.chosen;
  block_wait(); // wait for whoever still reads the row's
  for (int p = thread_index(); p < pairs; p += block_threads()) {
    tally.pairs[p] = (uint16_t)load_published_int(a.experts + p);
  }
  block_wait();
  for (int e = thread_index(); e < a.count; e += block_threads()) {
    uint32_t n = 0;
    for (int p = 0; p < pairs; p++) {
      n += tally.pairs[p] == e;
    }
    const uint32_t columns = a.columns > 0 ? (uint32_t)a.columns : (uint32_t)a.batch;
    tally.count[e] = n | (n + columns - 1) / columns << 16;
  }
  block_wait();
  return tally;
}

DEVICE void route_put_item(const struct route_arguments &a, int item, int expert, int first,
                           int count) {
  publish_words(a.items + item, {{(uint32_t)expert, (uint32_t)first, (uint32_t)count, 0}});
}

// An expert's pairs and items; `before` is the tally of the experts before it.
DEVICE void route_place_expert(const struct route_arguments &a, const struct route_tally &tally,
                               int expert, uint32_t before) {
  const int count = (int)(tally.count[expert] & 0xFFFF), item = (int)(before >> 16);
  const bool dense = a.columns == 0; // all rows of the batch
  const int first = dense ? item * a.batch : (int)(before & 0xFFFF);
  int slot = first;
  for (int p = 0; p < a.batch * a.chosen; p++) {
    if (tally.pairs[p] != expert) {
      continue;
    }
    const int row = p / a.chosen;
    publish_int(a.slots + p, dense ? first + row : slot);
    if (!dense) {
      publish_int(a.rows + slot++, row);
    }
  }
  if (dense) {
    route_put_item(a, item, expert, first, a.batch);
  }
  for (int i = 0; !dense && i * a.columns < count; i++) {
    const int left = count - i * a.columns;
    route_put_item(a, item + i, expert, first + i * a.columns, left < a.columns ? left : a.columns);
  }
}

DEVICE void route_count(const struct route_arguments &a, const struct route_tally &tally,
                        bool counts) {
  uint32_t items = 0, touched = 0;
  for (int e = 0; e < a.count; e++) {
    items += tally.count[e] >> 16;
    touched += tally.count[e] > 0;
  }
  publish_int(a.item_count, (int)items);
  if (!counts) {
    return;
  }
  publish_int(a.touched, load_published_int(a.touched) + (int)touched);
  if (a.last) {
    publish_int(a.steps, load_published_int(a.steps) + 1);
  }
}

// `counts`: whether this block counts the experts touched.
DEVICE void route_group_pairs(const struct route_arguments &a, char *shared, bool counts) {
  const struct route_tally tally = route_tally_of(a, shared);
  for (int e = thread_index(); e < a.count; e += block_threads()) {
    uint32_t before = 0;
    for (int j = 0; j < e; j++) {
      before += tally.count[j];
    }
    if (tally.count[e] > 0) {
      route_place_expert(a, tally, e, before);
    }
  }
  if (thread_index() == 0) {
    route_count(a, tally, counts);
  }
}

DEVICE void route_row(const struct route_arguments &a, int row, char *shared) {
  const struct route_room room = route_room_of(a, shared);
  route_load(a, row, room);
  if (a.table) {
    route_look_up(a, row, room);
  } else {
    route_choose(a, room);
  }
  block_wait();
  route_order(a, room);
  if (warp_index() == 0) {
    route_weigh(a, row, room);
  }
}

// The body of route.
DEVICE void route_rows(const struct route_arguments &a) {
  SHARED(char, shared);
  let_next_start();
  wait_for_previous();
  route_row(a, block_index(0), shared);
  if (arrive_last(a.counters, (unsigned)a.batch)) {
    route_group_pairs(a, shared, true);
  }
}

// Routes in each block of a step in one launch for itself, so that it need not wait for another:
// they publish the same.
DEVICE void route_alone(const struct route_arguments &a) {
  SHARED(char, shared);
  wait_for_previous();
#pragma unroll 1
  for (int row = 0; row < a.batch; row++) {
    block_wait(); // for whoever still reads the row before
    route_row(a, row, shared);
  }
  route_group_pairs(a, shared, block_index(0) == 0);
  block_wait();
}

// The body of combine.
DEVICE void combine_row(const struct combine_arguments &a) {
  let_next_start();
  wait_for_previous();
  const int row = block_index(1), at = block_index(0) * block_threads() + thread_index();
  if (at >= a.hidden) {
    return;
  }
  const size_t first = (size_t)row * (size_t)a.chosen;
  float *x = a.x + (size_t)row * (size_t)a.hidden + (size_t)at;
  float sum = a.without_residual ? 0 : load_published_float(x);
  for (int k = 0; k < a.chosen; k++) {
    const size_t slot = (size_t)load_published_int(a.slots + first + (size_t)k);
    const float weight = load_published_float(a.weights + first + (size_t)k);
    sum += weight * load_published_float(a.sums + slot * (size_t)a.hidden + (size_t)at);
  }
  pass(x, sum);
}

#endif
