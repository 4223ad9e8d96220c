#include "kernels/share.h"

#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/weights.h"

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

static int block_of(const struct decode_types *types, enum tensor tensor) {
  const int block = element_format(weights_element(types, tensor))->block;
  return block > 0 ? block : 1;
}

static int blocks_in(int size, int block) {
  return (size + block - 1) / block;
}

// The first of `size` columns that ranks from `rank` on have.
static int first_column(int size, int block, int rank, int ranks) {
  const int blocks = blocks_in(size, block), more = blocks % ranks;
  const int first = (blocks / ranks * rank + (rank < more ? rank : more)) * block;
  return first < size ? first : size;
}

struct share_range share_columns(const struct decode_types *types, enum tensor down, int size,
                                 int rank, int ranks) {
  const int block = block_of(types, down);
  const int first = first_column(size, block, rank, ranks);
  return (struct share_range){first, first_column(size, block, rank + 1, ranks) - first};
}

static struct share_range part_of(const struct share *share, enum tensor down, int size) {
  return share_columns(share->types, down, size, share->rank, share->ranks);
}

static bool is_latent(const struct decode_shape *shape) {
  return shape->latent.rank > 0;
}

struct decode_shape share_shape(const struct share *share) {
  struct decode_shape shape = *share->whole;
  const int ranks = share->ranks;
  if (ranks < 2)
    return shape;
  struct decode_experts *experts = &shape.experts;
  shape.heads /= ranks;
  if (!is_latent(&shape))
    shape.kv_heads = shape.kv_heads > ranks ? shape.kv_heads / ranks : 1;
  shape.vocab /= ranks;
  shape.ffn_hidden = part_of(share, TENSOR_DOWN, shape.ffn_hidden).count;
  experts->hidden = part_of(share, TENSOR_EXPERT_DOWN, experts->hidden).count;
  experts->shared_hidden = part_of(share, TENSOR_SHARED_DOWN, experts->shared_hidden).count;
  return shape;
}

// The rows of the dense MLP, 0 if no layer has one.
static int dense_rows(const struct decode_shape *shape) {
  return shape->experts.count == 0 || shape->experts.dense_layers > 0 ? shape->ffn_hidden : 0;
}

bool share_divides(const struct decode_shape *shape, int ranks, int *size, const char **what) {
  const int kv_heads = is_latent(shape) ? 1 : shape->kv_heads;
  const int ffn = dense_rows(shape);
  const int expert = shape->experts.hidden, shared = shape->experts.shared_hidden;
  const struct {
    int size;
    bool divides;
    const char *name;
  } parts[] = {
      {shape->heads, shape->heads % ranks == 0, "heads"},
      {kv_heads, kv_heads % ranks == 0 || ranks % kv_heads == 0, "KV heads"},
      {ffn, ffn == 0 || ffn >= ranks, "rows of the MLP"},
      {expert, expert == 0 || expert >= ranks, "rows of each expert"},
      {shared, shared == 0 || shared >= ranks, "rows of the shared expert"},
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

// The width of what a head attends to.
static int head_width(const struct decode_shape *shape) {
  return is_latent(shape) ? shape->latent.value_dim : shape->head_dim;
}

const char *share_cut(const struct decode_shape *whole, const struct decode_types *types, int ranks,
                      char words[SHARE_WORDS]) {
  const struct {
    enum tensor tensor;
    int columns;
    const char *of;
  } parts[] = {{TENSOR_DOWN, dense_rows(whole), "the MLP"},
               {TENSOR_EXPERT_DOWN, whole->experts.hidden, "each expert"},
               {TENSOR_SHARED_DOWN, whole->experts.shared_hidden, "the shared expert"}};
  const int attended = whole->heads / ranks * head_width(whole), of_wo = block_of(types, TENSOR_WO);
  if (attended % of_wo != 0) {
    snprintf(words, SHARE_WORDS,
             "%d devices would each have %d columns of the heads, which are not whole blocks of "
             "%d weights with one scale",
             ranks, attended, of_wo);
    return words;
  }
  for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
    const int block = block_of(types, parts[i].tensor);
    if (parts[i].columns == 0 || blocks_in(parts[i].columns, block) >= ranks)
      continue;
    snprintf(words, SHARE_WORDS,
             "the %d columns of %s are fewer blocks of %d weights with one scale than %d devices",
             parts[i].columns, parts[i].of, block, ranks);
    return words;
  }
  return NULL;
}

// The rank's part of `size` rows of that many columns each.
static struct share_part rows_of(const struct share *share, int size, uint64_t columns) {
  return (struct share_part){.first =
                                 (uint64_t)((int64_t)size * share->rank / share->ranks) * columns};
}

// The rank's part of `size` columns, of which it has `own`.
static struct share_part columns_of(const struct share *share, int size, int own, int width) {
  struct share_part part = rows_of(share, size, (uint64_t)width);
  part.beside = (uint64_t)(size - own) * (uint64_t)width;
  return part;
}

// The rank's part of an MLP's columns.
static struct share_part mlp_columns(const struct share *share, enum tensor down, int size) {
  const struct share_range own = part_of(share, down, size);
  return (struct share_part){.first = (uint64_t)own.first, .beside = (uint64_t)(size - own.count)};
}

// The matching rows; if each expert has them, the next expert's rows are `expert` further.
static struct share_part mlp_rows(const struct share *share, enum tensor down, int size,
                                  uint64_t columns) {
  const uint64_t each = down == TENSOR_EXPERT_DOWN ? (uint64_t)size * columns : 0;
  return (struct share_part){.first = (uint64_t)part_of(share, down, size).first * columns,
                             .expert = each};
}

struct share_part share_part_of(const struct share *share, enum tensor tensor) {
  const struct decode_shape *whole = share->whole, own = share_shape(share);
  const struct decode_latent *latent = &whole->latent;
  const int heads = whole->heads, kv_heads = whole->kv_heads, ffn = whole->ffn_hidden;
  const int expert = whole->experts.hidden, shared = whole->experts.shared_hidden;
  const int still = whole->head_dim - latent->rope_dim;
  const uint64_t hidden = (uint64_t)whole->hidden, width = (uint64_t)whole->head_dim;
  const uint64_t rank = (uint64_t)latent->rank;
  if (share->ranks < 2)
    return (struct share_part){0};
  switch (tensor) {
  case TENSOR_WQ: return rows_of(share, heads, width * hidden);
  case TENSOR_WK:
  case TENSOR_WV: return rows_of(share, kv_heads, width * hidden);
  case TENSOR_Q_BIAS: return rows_of(share, heads, width);
  case TENSOR_K_BIAS:
  case TENSOR_V_BIAS: return rows_of(share, kv_heads, width);
  case TENSOR_SINKS: return rows_of(share, heads, 1);
  case TENSOR_HEAD: return rows_of(share, whole->vocab, hidden);
  case TENSOR_WO: return columns_of(share, heads, own.heads, head_width(whole));
  case TENSOR_KEYS:
  case TENSOR_VALUES: return columns_of(share, kv_heads, own.kv_heads, whole->head_dim);
  case TENSOR_Q_B: return rows_of(share, heads, width * (uint64_t)latent->query_rank);
  case TENSOR_K_B: return rows_of(share, heads, (uint64_t)still * rank);
  case TENSOR_V_B: return rows_of(share, heads, (uint64_t)latent->value_dim * rank);
  case TENSOR_GATE_BIAS:
  case TENSOR_UP_BIAS: return mlp_rows(share, TENSOR_DOWN, ffn, 1);
  case TENSOR_GATE:
  case TENSOR_UP: return mlp_rows(share, TENSOR_DOWN, ffn, hidden);
  case TENSOR_DOWN: return mlp_columns(share, TENSOR_DOWN, ffn);
  case TENSOR_EXPERT_GATE:
  case TENSOR_EXPERT_UP: return mlp_rows(share, TENSOR_EXPERT_DOWN, expert, hidden);
  case TENSOR_EXPERT_GATE_BIAS:
  case TENSOR_EXPERT_UP_BIAS: // an expert's rows as columns, a row for each expert
  case TENSOR_EXPERT_DOWN: return mlp_columns(share, TENSOR_EXPERT_DOWN, expert);
  case TENSOR_SHARED_GATE:
  case TENSOR_SHARED_UP: return mlp_rows(share, TENSOR_SHARED_DOWN, shared, hidden);
  case TENSOR_SHARED_DOWN: return mlp_columns(share, TENSOR_SHARED_DOWN, shared);
  default: break;
  }
  return (struct share_part){0};
}
