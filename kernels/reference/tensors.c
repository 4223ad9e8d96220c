#include "kernels/reference/tensors.h"

#include "kernels/quantised.h"
#include "kernels/reference/stages.h"

#include <stdbool.h>
#include <string.h>

struct tensor_size reference_tensor_size(const struct decode_shape *shape, enum tensor tensor) {
  const struct decode_latent *latent = &shape->latent;
  const struct decode_experts *experts = &shape->experts;
  const size_t hidden = (size_t)shape->hidden, vocab = (size_t)shape->vocab;
  const size_t heads = (size_t)shape->heads, width = (size_t)shape->head_dim;
  const size_t queries = heads * width, keys = (size_t)shape->kv_heads * width;
  const size_t ffn = (size_t)shape->ffn_hidden, shared = (size_t)experts->shared_hidden;
  const size_t count = (size_t)experts->count, expert = count * (size_t)experts->hidden;
  const size_t rank = (size_t)latent->rank, low = (size_t)latent->query_rank;
  const size_t turned = (size_t)latent->rope_dim, still = heads * (width - turned);
  const size_t out = heads * (size_t)latent->value_dim;
  const struct tensor_size sizes[TENSORS] = {
      [TENSOR_EMBEDDING] = {vocab, hidden},
      [TENSOR_HEAD] = {vocab, hidden},
      [TENSOR_ATTENTION_NORM] = {1, hidden},
      [TENSOR_ATTENTION_NORM_BIAS] = {1, hidden},
      [TENSOR_FFN_NORM] = {1, hidden},
      [TENSOR_FFN_NORM_BIAS] = {1, hidden},
      [TENSOR_FINAL_NORM] = {1, hidden},
      [TENSOR_FINAL_NORM_BIAS] = {1, hidden},
      [TENSOR_WQ] = {queries, hidden},
      [TENSOR_WK] = {keys, hidden},
      [TENSOR_WV] = {keys, hidden},
      [TENSOR_WO] = {hidden, rank ? out : queries},
      [TENSOR_Q_BIAS] = {1, queries},
      [TENSOR_K_BIAS] = {1, keys},
      [TENSOR_V_BIAS] = {1, keys},
      [TENSOR_O_BIAS] = {1, hidden},
      [TENSOR_Q_NORM] = {1, width},
      [TENSOR_K_NORM] = {1, width},
      [TENSOR_SINKS] = {1, heads},
      [TENSOR_GATE] = {ffn, hidden},
      [TENSOR_UP] = {ffn, hidden},
      [TENSOR_DOWN] = {hidden, ffn},
      [TENSOR_GATE_BIAS] = {1, ffn},
      [TENSOR_UP_BIAS] = {1, ffn},
      [TENSOR_DOWN_BIAS] = {1, hidden},
      [TENSOR_ROUTER] = {count, hidden},
      [TENSOR_ROUTER_BIAS] = {1, count},
      [TENSOR_EXPERT_GATE] = {expert, hidden},
      [TENSOR_EXPERT_UP] = {expert, hidden},
      [TENSOR_EXPERT_DOWN] = {count * hidden, (size_t)experts->hidden},
      [TENSOR_EXPERT_GATE_BIAS] = {1, expert},
      [TENSOR_EXPERT_UP_BIAS] = {1, expert},
      [TENSOR_EXPERT_DOWN_BIAS] = {1, count * hidden},
      [TENSOR_SHARED_GATE] = {shared, hidden},
      [TENSOR_SHARED_UP] = {shared, hidden},
      [TENSOR_SHARED_DOWN] = {hidden, shared},
      [TENSOR_Q_A] = {low, hidden},
      [TENSOR_Q_A_NORM] = {1, low},
      [TENSOR_Q_B] = {queries, low},
      [TENSOR_KV_A] = {rank + turned, hidden},
      [TENSOR_KV_A_NORM] = {1, rank},
      [TENSOR_K_B] = {still, rank},
      [TENSOR_V_B] = {out, rank},
  };
  return sizes[tensor];
}

struct tensor_source reference_source(const struct reference *r, enum tensor tensor, int layer) {
  const struct decode_request *request = &r->request;
  return (struct tensor_source){
      .held = r->held[(size_t)layer * TENSORS + tensor],
      .columns = reference_tensor_size(&request->shape, tensor).columns,
      .key = weights_key(request->seed, tensor, layer),
      .base = weights_is_norm(tensor) ? 1 : 0,
      .scale = weights_scale(&request->shape, tensor),
      .quantised = r->quantised[tensor],
  };
}

// `count` values from an index of the tensor on (for weights, at most a row, starting at its first
// column).
static void read_source(const struct tensor_source *source, size_t first, size_t count,
                        double *out) {
  if (source->held) {
    memcpy(out, source->held + first, count * sizeof *out);
    return;
  }
  if (source->quantised) {
    quantised_row(source->quantised, source->key, first, count, out);
    return;
  }
  for (size_t i = 0; i < count; i++)
    out[i] = source->base + (double)((float)weights_q(source->key, first + i) * source->scale);
}

void reference_source_row(const struct tensor_source *source, size_t row, double *out) {
  read_source(source, row * source->columns, source->columns, out);
}

void reference_read(const struct reference *r, enum tensor tensor, int layer, size_t first,
                    size_t count, double *out) {
  const struct tensor_source source = reference_source(r, tensor, layer);
  read_source(&source, first, count, out);
}

// A sigmoid router's bias affects only the choice.
static bool bias_of(const struct decode_shape *shape, enum tensor product, enum tensor *bias) {
  static const struct {
    unsigned kind;
    enum tensor bias;
  } biases[TENSORS] = {
      [TENSOR_WQ] = {BIAS_QKV, TENSOR_Q_BIAS},
      [TENSOR_WK] = {BIAS_QKV, TENSOR_K_BIAS},
      [TENSOR_WV] = {BIAS_QKV, TENSOR_V_BIAS},
      [TENSOR_WO] = {BIAS_OUTPUT, TENSOR_O_BIAS},
      [TENSOR_GATE] = {BIAS_MLP, TENSOR_GATE_BIAS},
      [TENSOR_UP] = {BIAS_MLP, TENSOR_UP_BIAS},
      [TENSOR_DOWN] = {BIAS_MLP, TENSOR_DOWN_BIAS},
      [TENSOR_EXPERT_GATE] = {BIAS_MLP, TENSOR_EXPERT_GATE_BIAS},
      [TENSOR_EXPERT_UP] = {BIAS_MLP, TENSOR_EXPERT_UP_BIAS},
      [TENSOR_EXPERT_DOWN] = {BIAS_MLP, TENSOR_EXPERT_DOWN_BIAS},
      [TENSOR_ROUTER] = {BIAS_ROUTER, TENSOR_ROUTER_BIAS},
  };
  *bias = biases[product].bias;
  return shape->biases & biases[product].kind &&
         !(product == TENSOR_ROUTER && shape->experts.router == ROUTER_SIGMOID);
}

static void add_bias(struct reference *r, const struct reference_product *p, enum tensor bias) {
  reference_read(r, bias, p->layer, p->first, p->rows, r->row);
  for (size_t i = 0; i < p->count; i++)
    for (size_t row = 0; row < p->rows; row++)
      p->out[i * p->out_stride + row] += r->row[row];
}

void reference_multiply(struct reference *r, const struct reference_product *p) {
  const struct tensor_source source = reference_source(r, p->tensor, p->layer);
  for (size_t row = 0; row < p->rows; row++) {
    reference_source_row(&source, p->first + row, r->row);
    for (size_t i = 0; i < p->count; i++)
      p->out[i * p->out_stride + row] =
          reference_dot(r->row, p->in + i * p->in_stride, source.columns);
  }
  enum tensor bias;
  if (bias_of(&r->request.shape, p->tensor, &bias))
    add_bias(r, p, bias);
}

void reference_multiply_all(struct reference *r, enum tensor tensor, int layer, const double *in,
                            double *out) {
  const struct tensor_size size = reference_tensor_size(&r->request.shape, tensor);
  reference_multiply(r, &(struct reference_product){.tensor = tensor,
                                                    .layer = layer,
                                                    .rows = size.rows,
                                                    .in = in,
                                                    .out = out,
                                                    .in_stride = size.columns,
                                                    .out_stride = size.rows,
                                                    .count = r->count});
}

void reference_normalise(struct reference *r, enum tensor norm, int layer, const double *x,
                         double *out) {
  static const enum tensor biases[TENSORS] = {
      [TENSOR_ATTENTION_NORM] = TENSOR_ATTENTION_NORM_BIAS,
      [TENSOR_FFN_NORM] = TENSOR_FFN_NORM_BIAS,
      [TENSOR_FINAL_NORM] = TENSOR_FINAL_NORM_BIAS,
  };
  const struct decode_shape *shape = &r->request.shape;
  const double epsilon = (double)shape->norm_epsilon;
  const size_t n = r->hidden;
  double *weight = r->row, *bias = r->row + n;
  reference_read(r, norm, layer, 0, n, weight);
  reference_read(r, biases[norm], layer, 0, n, bias);
  for (size_t i = 0; i < r->count; i++)
    if (shape->norm == NORM_LAYER)
      reference_layernorm(x + i * n, weight, bias, n, epsilon, out + i * n);
    else
      reference_rmsnorm(x + i * n, weight, n, epsilon, out + i * n);
}
