#include "kernels/share.h"

#include "kernels/decode.h"

#include <stddef.h>
#include <stdint.h>

struct decode_shape share_of(struct decode_shape shape, int ranks) {
  if (ranks < 2)
    return shape;
  shape.heads /= ranks;
  shape.kv_heads = shape.kv_heads > ranks ? shape.kv_heads / ranks : 1;
  shape.ffn_hidden /= ranks;
  shape.vocab /= ranks;
  return shape;
}

bool share_divides(const struct decode_shape *shape, int ranks, int *size, const char **what) {
  const int kv_heads = shape->kv_heads;
  const struct {
    int size;
    bool divides;
    const char *name;
  } parts[] = {
      {shape->heads, shape->heads % ranks == 0, "heads"},
      {kv_heads, kv_heads % ranks == 0 || ranks % kv_heads == 0, "KV heads"},
      {shape->ffn_hidden, shape->ffn_hidden % ranks == 0, "rows of the MLP"},
      {shape->vocab, shape->vocab % ranks == 0, "entries of the vocabulary"},
  };
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    if (parts[i].divides)
      continue;
    *size = parts[i].size;
    *what = parts[i].name;
    return false;
  }
  return true;
}

// The rank's part of `size` rows of so many columns each.
static struct share_part rows_of(int size, int rank, int ranks, uint64_t columns) {
  return (struct share_part){(uint64_t)((int64_t)size * rank / ranks) * columns, 0};
}

// The rank's part of `size` columns, of which it has `own`.
static struct share_part columns_of(int size, int own, int width, int rank, int ranks) {
  return (struct share_part){(uint64_t)((int64_t)size * rank / ranks) * (uint64_t)width,
                             (uint64_t)(size - own) * (uint64_t)width};
}

struct share_part share_part_of(const struct decode_shape *whole, enum tensor tensor, int rank,
                                int ranks) {
  const struct decode_shape own = share_of(*whole, ranks);
  const uint64_t hidden = (uint64_t)whole->hidden, head_row = (uint64_t)whole->head_dim * hidden;
  if (ranks < 2)
    return (struct share_part){0, 0};
  switch (tensor) {
  case TENSOR_WQ: return rows_of(whole->heads, rank, ranks, head_row);
  case TENSOR_WK:
  case TENSOR_WV: return rows_of(whole->kv_heads, rank, ranks, head_row);
  case TENSOR_GATE:
  case TENSOR_UP: return rows_of(whole->ffn_hidden, rank, ranks, hidden);
  case TENSOR_HEAD: return rows_of(whole->vocab, rank, ranks, hidden);
  case TENSOR_WO: return columns_of(whole->heads, own.heads, whole->head_dim, rank, ranks);
  case TENSOR_DOWN: return columns_of(whole->ffn_hidden, own.ffn_hidden, 1, rank, ranks);
  case TENSOR_KEYS:
  case TENSOR_VALUES:
    return columns_of(whole->kv_heads, own.kv_heads, whole->head_dim, rank, ranks);
  case TENSOR_EMBEDDING:
  case TENSOR_ATTENTION_NORM:
  case TENSOR_FFN_NORM:
  case TENSOR_FINAL_NORM:
  default: break;
  }
  return (struct share_part){0, 0};
}
