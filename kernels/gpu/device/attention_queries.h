// attention_queries: what attention does first: brings its block's queries into shared memory, and
// the new key and value into the cache, after their norms and rope. In a step of one row nothing
// else happens meanwhile, so a thread takes four rope pairs of a head at a time, and all its loads
// are in flight together.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_QUERIES_H
#define PERTOKEN_KERNELS_GPU_DEVICE_ATTENTION_QUERIES_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/attention_share.h"
#include "kernels/gpu/device/products/family.h"

// Pairs `first` to first + 3: elements half a head apart or, if adjacent, next to each other.
struct attention_pairs {
  float low[4], high[4];
};

// Where pair i's elements are. Beyond the head's pairs, where the elements are zero, they are
// adjacent in any case, so that the pairs of a padded head cover its padding.
struct attention_pair_place {
  int low, high;
};
DEVICE struct attention_pair_place attention_pair_at(int head_dim, bool adjacent, int i) {
  const int half = head_dim / 2;
  return adjacent || i >= half ? attention_pair_place{2 * i, 2 * i + 1}
                               : attention_pair_place{i, i + half};
}

// Four floats from `at` on, zeros from `end` on: one load if ALIGNED. Passed by the stage before,
// or else `passing` is NULL.
template <bool ALIGNED>
DEVICE struct quad attention_four(const float *from, int at, int end, struct passing *passing) {
  struct quad out = {{0, 0, 0, 0}};
  if (ALIGNED && at < end) {
    const struct words4 words =
        passing ? load_passed(from + at, 4, passing) : load_published(from + at);
    return {{float_of(words.word[0]), float_of(words.word[1]), float_of(words.word[2]),
             float_of(words.word[3])}};
  }
#pragma unroll
  for (int i = 0; i < 4 && !ALIGNED; i++) {
    if (at + i < end) {
      out.v[i] =
          passing ? load_passed_float(from + at + i, passing) : load_published_float(from + at + i);
    }
  }
  return out;
}

template <bool ALIGNED>
DEVICE struct attention_pairs attention_load_pairs(const float *head, int head_dim, bool adjacent,
                                                   int first, struct passing *passing) {
  const int half = head_dim / 2;
  const float *second = adjacent ? head + 4 : head + half;
  const int at = adjacent ? 2 * first : first, end = adjacent ? head_dim : half;
  const struct quad a = attention_four<ALIGNED>(head, at, end, passing);
  const struct quad b =
      attention_four<ALIGNED>(second, at, adjacent ? head_dim - 4 : half, passing);
  struct attention_pairs pairs;
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const struct quad &both = j < 2 ? a : b;
    pairs.low[j] = adjacent ? both.v[2 * j % 4] : a.v[j];
    pairs.high[j] = adjacent ? both.v[2 * j % 4 + 1] : b.v[j];
  }
  return pairs;
}

// x * factor * norm
DEVICE void attention_norm_pairs(struct attention_pairs &x, float factor,
                                 const struct attention_pairs &norm) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    x.low[j] = x.low[j] * factor * norm.low[j];
    x.high[j] = x.high[j] * factor * norm.high[j];
  }
}

// Applies rope; `angles` holds the pairs' cosines and sines.
DEVICE void attention_turn_pairs(struct attention_pairs &x, const struct quad (&angles)[2]) {
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const float cosine = angles[j / 2].v[j % 2 * 2], sine = angles[j / 2].v[j % 2 * 2 + 1];
    const float low = x.low[j], high = x.high[j];
    x.low[j] = low * cosine - high * sine;
    x.high[j] = low * sine + high * cosine;
  }
}

// What a thread enters: of a query, and in some threads of the new key or value.
struct attention_entering {
  struct attention_pairs query, norm, beside;
  struct quad angles[2];
};

// The head of a column's query. A prompt's already have rope applied.
template <class KIND>
DEVICE const float *attention_query(const struct attention_arguments &a,
                                    const struct attention_share &s, int column) {
  if (!KIND::PROMPT) {
    return s.query + column * a.head_dim;
  }
  const struct attention_column of = attention_column_of<KIND>(a, s, column);
  const size_t row = (size_t)of.row * (size_t)((a.heads + 2 * a.kv_heads) * a.head_dim);
  return a.qkv + row + of.head * a.head_dim;
}

template <class KIND> DEVICE bool attention_is_adjacent(const struct attention_arguments &a) {
  return KIND::PROMPT || (KIND::FAMILY && a.interleaved);
}

// With `newest` the threads of column 0 also have the new key, those of column 1 the new value.
template <class KIND, bool ALIGNED>
DEVICE struct attention_entering attention_load_entering(const struct attention_arguments &a,
                                                         const struct attention_share &s,
                                                         int column, int first, bool newest) {
  const bool adjacent = attention_is_adjacent<KIND>(a), has_norm = KIND::FAMILY && a.q_norm;
  struct attention_entering e = {};
  struct passing passing;
  do {
    passing = passing_begins();
    if (column < s.heads) {
      e.query = attention_load_pairs<ALIGNED>(attention_query<KIND>(a, s, column), a.head_dim,
                                              adjacent, first, &passing);
    }
    if (!KIND::PROMPT && newest && column < 2) {
      e.beside = attention_load_pairs<ALIGNED>(column == 0 ? s.key : s.value, a.head_dim, adjacent,
                                               first, &passing);
    }
  } while (passed_again(passing));
  if constexpr (KIND::PROMPT) {
    return e;
  }
  e.angles[0] = attention_four<ALIGNED>(a.angles, 2 * first, a.head_dim, NULL);
  e.angles[1] = attention_four<ALIGNED>(a.angles, 2 * first + 4, a.head_dim, NULL);
  if (has_norm) {
    e.norm = attention_load_pairs<ALIGNED>(a.q_norm, a.head_dim, adjacent, first, NULL);
  }
  return e;
}

template <class KIND> DEVICE void attention_publish(char *cache, size_t index, float v) {
  if (KIND::BYTES == 2) {
    publish_bits16(reinterpret_cast<uint16_t *>(cache) + index, (uint16_t)bf16_pair(v, 0));
  } else {
    publish_bits8(reinterpret_cast<uint8_t *>(cache) + index, e4m3_from(v));
  }
}

// Writes the pairs to the new position's slot: of column 0 the key, of column 1 the value.
template <class KIND>
DEVICE void attention_store(const struct attention_arguments &a, const struct attention_share &s,
                            int column, int first, const struct attention_pairs &pairs) {
  const int slot = a.context - 1, block = slot / VALUE_BLOCK;
  char *to = const_cast<char *>(column == 0 ? s.keys : s.values);
  const size_t from =
      column == 0 ? (size_t)slot * (size_t)a.head_stride
                  : (size_t)(block * a.head_dim) * VALUE_BLOCK + (size_t)(slot % VALUE_BLOCK);
  const size_t step = column == 0 ? 1 : VALUE_BLOCK;
#pragma unroll
  for (int j = 0; j < 4 && first + j < a.head_dim / 2; j++) {
    const struct attention_pair_place at =
        attention_pair_at(a.head_dim, attention_is_adjacent<KIND>(a), first + j);
    attention_publish<KIND>(to, from + (size_t)at.low * step, pairs.low[j]);
    attention_publish<KIND>(to, from + (size_t)at.high * step, pairs.high[j]);
  }
}

// Writes a thread's pairs of a query to shared memory, as used in the scores.
template <class KIND>
DEVICE void attention_enter(const struct attention_arguments &a,
                            const struct attention_pairs &query, int first, char *column) {
  const float scale = (KIND::FAMILY ? a.score_scale : 1) / square_root((float)a.head_dim);
#pragma unroll
  for (int j = 0; j < 4; j++) {
    const struct attention_pair_place at =
        attention_pair_at(a.head_dim, attention_is_adjacent<KIND>(a), first + j);
    const uint32_t pair = bf16_pair(query.low[j] * scale, query.high[j] * scale);
    reinterpret_cast<uint16_t *>(column)[at.low] = (uint16_t)pair;
    reinterpret_cast<uint16_t *>(column)[at.high] = (uint16_t)(pair >> 16);
  }
}

// Brings the block's queries into shared memory, with zeros beyond its heads and their elements;
// with `newest` also the new key and value into the cache. `factors` are those of the norms.
template <class KIND>
DEVICE void attention_queries(const struct attention_arguments &a, const struct attention_share &s,
                              const float *factors, char *queries, bool newest) {
  constexpr int THREADS = KIND::HEADDIM / 8; // of a column
  for (int at = thread_index(); at < TILE_COLUMNS * THREADS; at += block_threads()) {
    const int column = at / THREADS, first = at % THREADS * 4;
    struct attention_entering e =
        a.head_dim % 8 == 0 ? attention_load_entering<KIND, true>(a, s, column, first, newest)
                            : attention_load_entering<KIND, false>(a, s, column, first, newest);
    const bool has_norm = KIND::FAMILY && !KIND::PROMPT && a.q_norm;
    if (has_norm && column < s.heads) {
      attention_norm_pairs(e.query, factors[column], e.norm);
    }
    if (!KIND::PROMPT) {
      attention_turn_pairs(e.query, e.angles);
    }
    attention_enter<KIND>(a, e.query, first, queries + column * KIND::QUERY_BYTES);
    if (newest && column == 0) {
      if (has_norm) {
        attention_norm_pairs(e.beside, factors[TILE_COLUMNS],
                             attention_load_pairs<false>(a.k_norm, a.head_dim,
                                                         attention_is_adjacent<KIND>(a), first,
                                                         NULL));
      }
      attention_turn_pairs(e.beside, e.angles);
    }
    if (newest && column < 2) {
      attention_store<KIND>(a, s, column, first, e.beside);
    }
  }
}

#endif
