#include "kernels/reference/latent.h"

#include "kernels/decode.h"
#include "kernels/reference/cache.h"
#include "kernels/reference/rounding.h"
#include "kernels/reference/stages.h"
#include "kernels/reference/tensors.h"
#include "kernels/weights.h"

#include <string.h>

// The sizes of decode.h: heads of N + P values, entries of R + P, outputs of D.
struct sizes {
  size_t heads, still, turned, rank, out, entry;
};

static struct sizes sizes_of(const struct reference *r) {
  const struct decode_shape *shape = &r->request.shape;
  const struct decode_latent *latent = &shape->latent;
  return (struct sizes){.heads = (size_t)shape->heads,
                        .still = (size_t)(shape->head_dim - latent->rope_dim),
                        .turned = (size_t)latent->rope_dim,
                        .rank = (size_t)latent->rank,
                        .out = (size_t)latent->value_dim,
                        .entry = (size_t)(latent->rank + latent->rope_dim)};
}

// The first `count` of vectors `stride` apart.
static void normalise_first(struct reference *r, enum tensor norm, int layer, double *vectors,
                            size_t count, size_t stride) {
  reference_read(r, norm, layer, 0, count, r->row);
  for (size_t i = 0; i < r->count; i++)
    reference_rmsnorm(vectors + i * stride, r->row, count, (double)r->request.shape.norm_epsilon,
                      vectors + i * stride);
}

static void make_queries(struct reference *r, int layer) {
  const size_t low = (size_t)r->request.shape.latent.query_rank;
  if (low == 0) {
    reference_multiply_all(r, TENSOR_WQ, layer, r->input, r->query);
    return;
  }
  reference_multiply_all(r, TENSOR_Q_A, layer, r->input, r->query_low);
  normalise_first(r, TENSOR_Q_A_NORM, layer, r->query_low, low, low);
  reference_round_all(r, r->query_low, low);
  reference_multiply_all(r, TENSOR_Q_B, layer, r->query_low, r->query);
}

static void make_entries(struct reference *r, int layer, const struct sizes *s) {
  float *cache = reference_cache_of(r, TENSOR_LATENTS, layer);
  reference_multiply_all(r, TENSOR_KV_A, layer, r->input, r->key);
  normalise_first(r, TENSOR_KV_A_NORM, layer, r->key, s->rank, s->entry);
  for (size_t i = 0; i < r->count; i++) {
    const struct reference_item *item = &r->items[i];
    double *entry = r->key + i * s->entry;
    reference_rope(&r->request.shape, item->position, entry + s->rank);
    float *slot = cache + ((size_t)item->row * r->context + (size_t)item->position) * s->entry;
    for (size_t d = 0; d < s->entry; d++)
      slot[d] = reference_kv_round(r->request.types.kv, entry[d]);
  }
}

// absorbed[count][heads][R + P]: k_b^T of the part without rope, then the part with rope.
static void absorb_queries(struct reference *r, int layer, const struct sizes *s) {
  const size_t width = s->still + s->turned, all = s->heads * s->entry;
  for (size_t i = 0; i < r->count; i++)
    for (size_t h = 0; h < s->heads; h++) {
      double *query = r->query + i * r->query_width + h * width;
      double *absorbed = r->absorbed + i * all + h * s->entry;
      reference_round(reference_fine(r), query, s->still);
      reference_rope(&r->request.shape, r->items[i].position, query + s->still);
      memset(absorbed, 0, s->rank * sizeof *absorbed);
      memcpy(absorbed + s->rank, query + s->still, s->turned * sizeof *absorbed);
    }
  const struct tensor_source source = reference_source(r, TENSOR_K_B, layer);
  for (size_t row = 0; row < s->heads * s->still; row++) {
    const size_t h = row / s->still, n = row % s->still;
    reference_source_row(&source, row, r->row);
    for (size_t i = 0; i < r->count; i++)
      for (size_t d = 0; d < s->rank; d++)
        r->absorbed[i * all + h * s->entry + d] +=
            r->query[i * r->query_width + h * width + n] * r->row[d];
  }
}

// Replaces a head's first R elements by the weighted sum of the entries' first R.
static void attend_head(struct reference *r, const struct sizes *s, const float *entries,
                        size_t count, double *head) {
  for (size_t t = 0; t < count; t++) {
    double sum = 0;
    for (size_t d = 0; d < s->entry; d++)
      sum += head[d] * (double)entries[t * s->entry + d];
    r->scores[t] = sum * reference_score_factor(&r->request.shape);
  }
  reference_softmax(r->scores, count);
  memset(head, 0, s->rank * sizeof *head);
  for (size_t t = 0; t < count; t++)
    for (size_t d = 0; d < s->rank; d++)
      head[d] += r->scores[t] * (double)entries[t * s->entry + d];
  reference_round(reference_fine(r), head, s->rank);
}

static void attend(struct reference *r, int layer, const struct sizes *s) {
  const float *cache = reference_cache_of(r, TENSOR_LATENTS, layer);
  for (size_t i = 0; i < r->count; i++) {
    const struct reference_item *item = &r->items[i];
    const struct reference_span span = reference_span_of(r, layer, item);
    const float *entries = cache + ((size_t)item->row * r->context + span.first) * s->entry;
    for (size_t h = 0; h < s->heads; h++)
      attend_head(r, s, entries, span.count, r->absorbed + (i * s->heads + h) * s->entry);
  }
}

void reference_latent(struct reference *r, int layer) {
  const struct sizes s = sizes_of(r);
  make_queries(r, layer);
  make_entries(r, layer, &s);
  absorb_queries(r, layer, &s);
  attend(r, layer, &s);
  for (size_t h = 0; h < s.heads; h++)
    reference_multiply(r, &(struct reference_product){.tensor = TENSOR_V_B,
                                                      .layer = layer,
                                                      .first = h * s.out,
                                                      .rows = s.out,
                                                      .in = r->absorbed + h * s.entry,
                                                      .out = r->attended + h * s.out,
                                                      .in_stride = s.heads * s.entry,
                                                      .out_stride = r->attended_width,
                                                      .count = r->count});
}
