#include "kernels/gpu/plan/vectors.h"

#include "kernels/decode.h"
#include "kernels/gpu/plan/experts.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

void vectors_of(const struct decode_shape *shape, struct plan_vector out[PLAN_VECTORS]) {
  const int q = shape->heads * shape->head_dim, kv = shape->kv_heads * shape->head_dim;
  const int hidden = shape->hidden, centred = shape->norm == NORM_LAYER ? hidden : 0;
  const int head = shape->qk_norm ? shape->head_dim : 0;
  const int layers = shape->layers, dense = experts_dense_layers(shape);
  const bool has_qkv = shape->biases & BIAS_QKV, has_mlp = shape->biases & BIAS_MLP && dense > 0;
  const struct decode_latent *latent = &shape->latent;
  const int ffn = has_mlp ? shape->ffn_hidden : 0;
  const struct plan_vector all[] = {
      {REGION_ATTENTION_NORM, TENSOR_ATTENTION_NORM, 0, hidden, layers},
      {REGION_ATTENTION_NORM_BIAS, TENSOR_ATTENTION_NORM_BIAS, 0, centred, layers},
      {REGION_FFN_NORM, TENSOR_FFN_NORM, 0, hidden, layers},
      {REGION_FFN_NORM_BIAS, TENSOR_FFN_NORM_BIAS, 0, centred, layers},
      {REGION_QKV_BIAS, TENSOR_Q_BIAS, 0, has_qkv ? q : 0, layers},
      {REGION_QKV_BIAS, TENSOR_K_BIAS, q, has_qkv ? kv : 0, layers},
      {REGION_QKV_BIAS, TENSOR_V_BIAS, q + kv, has_qkv ? kv : 0, layers},
      {REGION_WO_BIAS, TENSOR_O_BIAS, 0, shape->biases & BIAS_OUTPUT ? hidden : 0, layers},
      {REGION_GATE_BIAS, TENSOR_GATE_BIAS, 0, shape->mlp == MLP_GELU ? 0 : ffn, dense},
      {REGION_UP_BIAS, TENSOR_UP_BIAS, 0, ffn, dense},
      {REGION_DOWN_BIAS, TENSOR_DOWN_BIAS, 0, has_mlp ? hidden : 0, dense},
      {REGION_Q_NORM, TENSOR_Q_NORM, 0, head, layers},
      {REGION_K_NORM, TENSOR_K_NORM, 0, head, layers},
      {REGION_SINKS, TENSOR_SINKS, 0, shape->sinks ? shape->heads : 0, layers},
      {REGION_Q_A_NORM, TENSOR_Q_A_NORM, 0, latent->rank > 0 ? latent->query_rank : 0, layers},
      {REGION_KV_A_NORM, TENSOR_KV_A_NORM, 0, latent->rank, layers},
      {REGION_FINAL_NORM, TENSOR_FINAL_NORM, 0, hidden, 0},
      {REGION_FINAL_NORM_BIAS, TENSOR_FINAL_NORM_BIAS, 0, centred, 0},
  };
  _Static_assert(sizeof all == PLAN_VECTORS * sizeof *all, "as many as the header says");
  memcpy(out, all, sizeof all);
}

int vectors_region(const struct decode_shape *shape, enum plan_region region) {
  struct plan_vector vectors[PLAN_VECTORS];
  int floats = 0;
  vectors_of(shape, vectors);
  for (int v = 0; v < PLAN_VECTORS; v++)
    floats += vectors[v].region == region ? vectors[v].count : 0;
  return floats;
}

uint64_t vectors_all(const struct decode_shape *shape) {
  struct plan_vector vectors[PLAN_VECTORS];
  uint64_t floats = 0;
  vectors_of(shape, vectors);
  for (int v = 0; v < PLAN_VECTORS; v++)
    floats +=
        (vectors[v].layers > 0 ? (uint64_t)vectors[v].layers : 1) * (uint64_t)vectors[v].count;
  return floats;
}
