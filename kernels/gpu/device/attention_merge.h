// attention_merge: what attention does last: adds up the results of its block's warps, and of a
// row's splits, those of latent attention too. In a step of one row nothing else happens meanwhile,
// so the loads are many at a time. Four elements of a column are merged by one lane or, where there
// are lanes enough, by several, each of which adds up every so-many-th split, in order; their sums
// are then added in pairs of lanes, first of neighbors.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_MERGE_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_MERGE_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/attention_share.h"
#include "kernels/gpu/device/machine/matrix_tile.h"
#include "kernels/gpu/device/products/round.h"

template <class KIND>
DEVICE void attention_output(const struct attention_arguments &a, const struct attention_share &s,
                             int column, int i, float v) {
  const struct attention_column of = attention_column_of<KIND>(a, s, column);
  if constexpr (TILE_PAIRS) {
    const int width = a.heads * a.head_dim;
    pass_on(a.passed, a.output, (size_t)of.row * (size_t)width, of.head * a.head_dim + i, v);
  } else { // a row's heads are adjacent, and this takes fewer registers
    const size_t head = (size_t)(of.row * a.heads + of.head) * (size_t)a.head_dim;
    pass_on<false>(a.passed, a.output, head, i, v);
  }
}

// The part of a head's softmax that goes to no position.
struct attention_sink {
  float score;
};
template <class KIND>
DEVICE struct attention_sink attention_sink_of(const struct attention_arguments &a,
                                               const struct attention_share &s, int column) {
  if constexpr (KIND::FAMILY) {
    if (a.sinks) {
      return {load_published_float(a.sinks + attention_column_of<KIND>(a, s, column).head)};
    }
  }
  return {ATTENTION_NONE};
}
template <class KIND> DEVICE float attention_sink_total(struct attention_sink sink, float largest) {
  return KIND::FAMILY ? exponential(sink.score - largest) : 0;
}

// Merges the warps' partials of a round, into the output or into this split's partials.
template <class KIND, int ROUND>
DEVICE void attention_merge_warps(const struct attention_arguments &a,
                                  const struct attention_share &s, const float *partials,
                                  float *out) {
  const int before = ROUND * KIND::MERGED, rest = a.head_dim - before;
  const int width = KIND::ROUNDS == 1 || rest < KIND::MERGED ? rest : KIND::MERGED;
  for (int at = thread_index(); at < s.heads * width; at += block_threads()) {
    const int column = at / width, i = at % width;
    const float *first = partials + column * KIND::HELD;
    const struct attention_sink sink = attention_splits<KIND>(a) == 1
                                           ? attention_sink_of<KIND>(a, s, column)
                                           : attention_sink{ATTENTION_NONE};
    float largest = sink.score, sum = 0;
    for (int warp = 0; warp < ATTENTION_WARPS; warp++) {
      const float v = first[warp * TILE_COLUMNS * KIND::HELD];
      largest = v > largest ? v : largest;
    }
    float total = attention_splits<KIND>(a) == 1 ? attention_sink_total<KIND>(sink, largest) : 0;
    for (int warp = 0; warp < ATTENTION_WARPS; warp++) {
      const float *from = first + warp * TILE_COLUMNS * KIND::HELD;
      const float factor = exponential(from[0] - largest);
      total += factor * from[1];
      sum += factor * from[2 + i];
    }
    if (attention_splits<KIND>(a) == 1) {
      attention_output<KIND>(a, s, column, before + i, sum / total);
      continue;
    }
    pass(out + column * KIND::PARTIAL + ATTENTION_PARTIAL + before + i, sum);
    if (before + i == 0) {
      pass(out + column * KIND::PARTIAL, largest);
      pass(out + column * KIND::PARTIAL + 1, total);
    }
  }
}

// ---- the splits

struct attention_merged {
  int parts, part;     // lanes that share the elements, and which of them this is
  const float *sums;   // of split 0
  size_t split_floats; // from one split's sums to the next's
  int column, element; // the first of four
  bool writes;
};

// The largest power of two of lanes for each of `items`.
DEVICE int attention_merge_parts(int items) {
  int parts = 1;
  while (parts < WARP && items * parts * 2 <= block_threads()) {
    parts *= 2;
  }
  return parts;
}

// Lanes beyond the last item help with it, and write nothing.
template <class KIND>
DEVICE struct attention_merged attention_merged_of(const struct attention_arguments &a, int items,
                                                   int parts, int turn, const float *partials) {
  const int quads = (a.head_dim + 3) / 4, at = (turn * block_threads() + thread_index()) / parts;
  const int item = at < items ? at : items - 1;
  struct attention_merged m;
  m.parts = parts;
  m.part = thread_index() % parts;
  m.column = item / quads;
  m.element = item % quads * 4;
  m.split_floats = KIND::COLUMNS * KIND::PARTIAL;
  m.sums = partials + m.column * KIND::PARTIAL + ATTENTION_PARTIAL + m.element;
  m.writes = at < items && m.part == 0;
  return m;
}

// Loads the sums of this lane's splits from `first` on, and zeros after the last split.
template <int COUNT>
DEVICE void attention_load_sums(const struct attention_merged &m, int head_dim, int first,
                                int splits, struct words4 (&to)[COUNT]) {
  struct passing passing;
  do {
    passing = passing_begins();
#pragma unroll
    for (int n = 0; n < COUNT; n++) {
      const int split = first + n * m.parts;
      to[n] = {};
      if (split < splits) {
        to[n] =
            load_passed(m.sums + (size_t)split * m.split_floats, head_dim - m.element, &passing);
      }
    }
  } while (passed_again(passing));
}

template <int COUNT>
DEVICE void attention_add_sums(const struct attention_merged &m, int first, int splits,
                               const float *factors, const struct words4 (&from)[COUNT],
                               float (&sum)[4]) {
#pragma unroll
  for (int n = 0; n < COUNT; n++) {
    const int split = first + n * m.parts;
    const float factor = split < splits ? factors[split] : 0;
#pragma unroll
    for (int i = 0; i < 4; i++) {
      sum[i] += factor * float_of(from[n].word[i]);
    }
  }
}

// Leaves each column's factors of the splits' sums at factors[column][ATTENTION_SPLITS], and its
// total at totals[column]; a warp takes a column, a lane its splits.
template <class KIND>
DEVICE void attention_merge_factors(const struct attention_arguments &a,
                                    const struct attention_share &s, const float *partials,
                                    float *factors, float *totals) {
  constexpr int TURNS = ATTENTION_SPLITS / WARP;
  for (int column = warp_index(); column < s.heads; column += block_threads() / WARP) {
    const struct attention_sink sink = attention_sink_of<KIND>(a, s, column);
    struct words4 split[TURNS];
    struct passing passing;
    float largest = sink.score, total = 0;
    do {
      passing = passing_begins();
#pragma unroll
      for (int turn = 0; turn < TURNS; turn++) {
        const int k = turn * WARP + lane_index();
        split[turn] = {{bits_of(ATTENTION_NONE), 0, 0, 0}};
        if (k < a.splits) {
          split[turn] =
              load_passed(partials + (k * KIND::COLUMNS + column) * KIND::PARTIAL, 2, &passing);
        }
      }
    } while (passed_again(passing));
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const float v = float_of(split[turn].word[0]);
      largest = v > largest ? v : largest;
    }
    largest = warp_largest(largest);
#pragma unroll
    for (int turn = 0; turn < TURNS; turn++) {
      const float factor = exponential(float_of(split[turn].word[0]) - largest);
      total += factor * float_of(split[turn].word[1]);
      factors[column * ATTENTION_SPLITS + turn * WARP + lane_index()] = factor;
    }
    total = warp_sum(total) + attention_sink_total<KIND>(sink, largest);
    if (lane_index() == 0) {
      totals[column] = total;
    }
  }
}

// Merges the splits' partials into the output; `held` is room for
// [COLUMNS][ATTENTION_SPLITS + 1].
template <class KIND>
DEVICE void attention_merge_splits(const struct attention_arguments &a,
                                   const struct attention_share &s, const float *partials,
                                   float *held) {
  const int items = s.heads * ((a.head_dim + 3) / 4), parts = attention_merge_parts(items);
  float *totals = held + KIND::COLUMNS * ATTENTION_SPLITS;
  for (int turn = 0; turn * block_threads() < items * parts; turn++) {
    const struct attention_merged m = attention_merged_of<KIND>(a, items, parts, turn, partials);
    const float *factors = held + m.column * ATTENTION_SPLITS;
    struct words4 loaded[KIND::AT_ONCE];
    float sum[4] = {};
#pragma unroll 1
    for (int first = 0; first < a.splits; first += KIND::AT_ONCE * parts) {
      attention_load_sums(m, a.head_dim, first + m.part, a.splits, loaded);
      if (turn == 0 && first == 0) { // while the first sums are on their way
        attention_merge_factors<KIND>(a, s, partials, held, totals);
        block_wait();
      }
      attention_add_sums(m, first + m.part, a.splits, factors, loaded, sum);
    }
#pragma unroll
    for (int i = 0; i < 4; i++) {
      for (int mask = 1; mask < parts; mask *= 2) {
        sum[i] += shuffle_xor(sum[i], mask);
      }
      if (m.writes && m.element + i < a.head_dim) {
        attention_output<KIND>(a, s, m.column, m.element + i, sum[i] / totals[m.column]);
      }
    }
  }
}

#endif
