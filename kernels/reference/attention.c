#include "kernels/reference/attention.h"

#include "kernels/decode.h"
#include "kernels/reference/cache.h"
#include "kernels/reference/latent.h"
#include "kernels/reference/rounding.h"
#include "kernels/reference/stages.h"
#include "kernels/reference/tensors.h"
#include "kernels/weights.h"

#include <stddef.h>

// Every head's own rmsnorm.
static void normalise_heads(struct reference *r, enum tensor norm, int layer, double *heads,
                            size_t count) {
  const struct decode_shape *shape = &r->request.shape;
  const size_t width = (size_t)shape->head_dim;
  reference_read(r, norm, layer, 0, width, r->row);
  for (size_t i = 0; i < count; i++)
    reference_rmsnorm(heads + i * width, r->row, width, (double)shape->norm_epsilon,
                      heads + i * width);
}

static void turn_heads(const struct decode_shape *shape, int position, double *heads,
                       size_t width) {
  for (size_t i = 0; i < width; i += (size_t)shape->head_dim)
    reference_rope(shape, position, heads + i);
}

// queries, and the new keys and values in their slots
static void project(struct reference *r, int layer) {
  const struct decode_shape *shape = &r->request.shape;
  const enum element kv = r->request.types.kv;
  reference_multiply_all(r, TENSOR_WQ, layer, r->input, r->query);
  reference_multiply_all(r, TENSOR_WK, layer, r->input, r->key);
  reference_multiply_all(r, TENSOR_WV, layer, r->input, r->value);
  if (shape->qk_norm) {
    normalise_heads(r, TENSOR_Q_NORM, layer, r->query, r->count * (size_t)shape->heads);
    normalise_heads(r, TENSOR_K_NORM, layer, r->key, r->count * (size_t)shape->kv_heads);
  }
  float *keys = reference_cache_of(r, TENSOR_KEYS, layer);
  float *values = reference_cache_of(r, TENSOR_VALUES, layer);
  for (size_t i = 0; i < r->count; i++) {
    const struct reference_item *item = &r->items[i];
    double *key = r->key + i * r->kv_width, *value = r->value + i * r->kv_width;
    turn_heads(shape, item->position, r->query + i * r->query_width, r->query_width);
    turn_heads(shape, item->position, key, r->kv_width);
    const size_t slot = ((size_t)item->row * r->context + (size_t)item->position) * r->kv_width;
    for (size_t d = 0; d < r->kv_width; d++) {
      keys[slot + d] = reference_kv_round(kv, key[d]);
      values[slot + d] = reference_kv_round(kv, value[d]);
    }
  }
}

static void attend(struct reference *r, int layer) {
  const struct decode_shape *shape = &r->request.shape;
  const float *keys = reference_cache_of(r, TENSOR_KEYS, layer);
  const float *values = reference_cache_of(r, TENSOR_VALUES, layer);
  const double *sinks = NULL;
  if (shape->sinks) {
    reference_read(r, TENSOR_SINKS, layer, 0, (size_t)shape->heads, r->row);
    sinks = r->row;
  }
  for (size_t i = 0; i < r->count; i++) {
    const struct reference_item *item = &r->items[i];
    const struct reference_span span = reference_span_of(r, layer, item);
    const size_t at = ((size_t)item->row * r->context + span.first) * r->kv_width;
    reference_attention(shape, (int)span.count, r->query + i * r->query_width, keys + at,
                        values + at, sinks, r->scores, r->attended + i * r->query_width);
  }
}

void reference_attend(struct reference *r, int layer) {
  reference_normalise(r, TENSOR_ATTENTION_NORM, layer, r->x, r->input);
  reference_round_all(r, r->input, r->hidden);
  if (r->request.shape.latent.rank > 0) {
    reference_latent(r, layer);
  } else {
    project(r, layer);
    attend(r, layer);
  }
  reference_round_parts(r, TENSOR_WO, r->attended, r->count, r->attended_width);
  reference_multiply_all(r, TENSOR_WO, layer, r->attended, r->attention_output);
}
