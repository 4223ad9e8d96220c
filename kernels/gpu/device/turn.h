// turn: the kernels turn_*: write a prompt's positions to the cache, and apply rope to their
// queries.
#ifndef PERTOKEN_KERNELS_GPU_DEVICE_TURN_H
#define PERTOKEN_KERNELS_GPU_DEVICE_TURN_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/device/attention.h"
#include "kernels/gpu/device/machine/platform.h"

// Where element 0 of a kv head's key is, and element i of its value.
DEVICE size_t turn_key(const struct turn_arguments &a, int kv_head, int position) {
  return ((size_t)kv_head * (size_t)a.context_padded + (size_t)position) * (size_t)a.head_stride;
}
DEVICE size_t turn_value(const struct turn_arguments &a, int kv_head, int position, int i) {
  const size_t block =
      (size_t)kv_head * (size_t)(a.context_padded / VALUE_BLOCK) + (size_t)(position / VALUE_BLOCK);
  return (block * (size_t)a.head_dim + (size_t)i) * VALUE_BLOCK + (size_t)(position % VALUE_BLOCK);
}

// 1 / the root mean square of the head, for all lanes; 1 without a norm.
DEVICE float turn_factor(const struct turn_arguments &a, const float *head, const float *norm) {
  float squares = 0;
  for (int i = lane_index(); norm && i < a.head_dim; i += WARP) {
    const float x = load_published_float(head + i);
    squares += x * x;
  }
  squares = warp_sum(squares);
  return norm ? 1 / square_root(squares / (float)a.head_dim + a.epsilon) : 1;
}

// A query in place, or a key to the cache; `kv_head` is below 0 for a query. A pair belongs to one
// lane, which reads it before it writes it.
template <class KIND>
DEVICE void turn_head(const struct turn_arguments &a, float *head, int kv_head) {
  const float *norm = kv_head < 0 ? a.q_norm : a.k_norm;
  const int row = block_index(0), half = a.head_dim / 2;
  const float factor = turn_factor(a, head, norm);
  const float *angles = a.angles + (size_t)row * (size_t)a.head_dim;
  char *keys = static_cast<char *>(a.keys);
  const size_t key = kv_head < 0 ? 0 : turn_key(a, kv_head, a.first + row);
  for (int pair = lane_index(); pair < half; pair += WARP) {
    const int low = a.interleaved ? 2 * pair : pair, high = a.interleaved ? low + 1 : pair + half;
    const float cosine = load_published_float(angles + 2 * pair);
    const float sine = load_published_float(angles + 2 * pair + 1);
    float x = load_published_float(head + low), y = load_published_float(head + high);
    if (norm) {
      x = x * factor * load_published_float(norm + low);
      y = y * factor * load_published_float(norm + high);
    }
    if (kv_head < 0) {
      publish(head + low, x * cosine - y * sine);
      publish(head + high, x * sine + y * cosine);
    } else {
      attention_publish<KIND>(keys, key + (size_t)low, x * cosine - y * sine);
      attention_publish<KIND>(keys, key + (size_t)high, x * sine + y * cosine);
    }
  }
}

// The body of turn_*; KIND matters only for the elements of the cache.
template <class KIND> DEVICE void turn(const struct turn_arguments &a) {
  let_next_start();
  wait_for_previous();
  const int all = a.heads + 2 * a.kv_heads, row = block_index(0);
  const int head = block_index(1) * (SMALL_THREADS / WARP) + warp_index();
  float *from = a.qkv + ((size_t)row * (size_t)all + (size_t)head) * (size_t)a.head_dim;
  if (head >= all) {
    return;
  }
  if (head < a.heads + a.kv_heads) {
    turn_head<KIND>(a, from, head < a.heads ? -1 : head - a.heads);
    return;
  }
  for (int i = lane_index(); i < a.head_dim; i += WARP) {
    attention_publish<KIND>(static_cast<char *>(a.values),
                            turn_value(a, head - a.heads - a.kv_heads, a.first + row, i),
                            load_published_float(from + i));
  }
}

#endif
