#include "kernels/reference.h"

#include "kernels/element.h"
#include "kernels/family.h"
#include "kernels/quantised.h"
#include "kernels/share.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

// Memory of one reference, given back as a whole.
struct reference_block {
  struct reference_block *next;
  double data[];
};

struct reference {
  struct decode_request request;
  size_t layers, hidden, query_width, kv_width, ffn, vocab, batch, context;
  struct reference_block *blocks;
  bool out_of_memory;

  int *tokens;   // [batch]
  float *cache;  // [layers][keys, values][batch][context][kv_width]
  double **held; // [layers][TENSORS], NULL where a tensor comes from the seed

  // The vectors of a step, [batch][their width].
  double *x, *input, *output, *query, *key, *value, *attended, *gate, *up, *logits;
  double *row;    // one row of weights
  double *scores; // [context]
};

static size_t times(size_t a, size_t b) {
  return a && b > SIZE_MAX / a ? SIZE_MAX : a * b;
}

static void *take(struct reference *r, size_t count, size_t size) {
  size_t bytes = times(count, size);
  struct reference_block *block = NULL;
  if (bytes <= SIZE_MAX / 2)
    block = calloc(1, sizeof *block + bytes);
  if (!block) {
    r->out_of_memory = true;
    return NULL;
  }
  block->next = r->blocks;
  r->blocks = block;
  return block->data;
}

static double *take_vectors(struct reference *r, size_t width) {
  return take(r, times(r->batch, width), sizeof(double));
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

// The largest tensors of doubles and the cache first: what will not fit fails before much is taken.
static void take_all(struct reference *r) {
  size_t entries = times(times(r->batch, r->context), r->kv_width);
  r->cache = take(r, times(entries, 2 * r->layers), sizeof *r->cache);
  if (r->out_of_memory)
    return;
  r->tokens = take(r, r->batch, sizeof *r->tokens);
  r->held = take(r, r->layers * TENSORS, sizeof *r->held);
  r->x = take_vectors(r, r->hidden);
  r->input = take_vectors(r, r->hidden);
  r->output = take_vectors(r, r->hidden);
  r->query = take_vectors(r, r->query_width);
  r->key = take_vectors(r, r->kv_width);
  r->value = take_vectors(r, r->kv_width);
  r->attended = take_vectors(r, r->query_width);
  r->gate = take_vectors(r, r->ffn);
  r->up = take_vectors(r, r->ffn);
  r->logits = take_vectors(r, r->vocab);
  r->row = take(r, larger(r->hidden, larger(r->query_width, r->ffn)), sizeof(double));
  r->scores = take(r, r->context, sizeof(double));
}

// The shape of a tensor of weights, or a norm, of one layer.
static void tensor_shape(const struct reference *r, enum tensor tensor, size_t *rows,
                         size_t *columns) {
  const size_t shapes[TENSORS][2] = {
      [TENSOR_EMBEDDING] = {r->vocab, r->hidden}, [TENSOR_ATTENTION_NORM] = {1, r->hidden},
      [TENSOR_WQ] = {r->query_width, r->hidden},  [TENSOR_WK] = {r->kv_width, r->hidden},
      [TENSOR_WV] = {r->kv_width, r->hidden},     [TENSOR_WO] = {r->hidden, r->query_width},
      [TENSOR_FFN_NORM] = {1, r->hidden},         [TENSOR_GATE] = {r->ffn, r->hidden},
      [TENSOR_UP] = {r->ffn, r->hidden},          [TENSOR_DOWN] = {r->hidden, r->ffn},
      [TENSOR_FINAL_NORM] = {1, r->hidden},       [TENSOR_HEAD] = {r->vocab, r->hidden},
  };
  *rows = shapes[tensor][0];
  *columns = shapes[tensor][1];
}

static bool is_norm(enum tensor tensor) {
  return tensor == TENSOR_ATTENTION_NORM || tensor == TENSOR_FFN_NORM ||
         tensor == TENSOR_FINAL_NORM;
}

static enum element element_of(const struct decode_types *types, enum tensor tensor) {
  return tensor == TENSOR_EMBEDDING || tensor == TENSOR_HEAD ? types->head : types->weights;
}

// Where a tensor's values come from: a copy, or the seed.
struct tensor_source {
  const double *held;
  size_t columns;
  uint64_t key;
  bool is_norm;
  float scale;
  struct quantised quantised; // of weights
};

static struct tensor_source source_of(const struct reference *r, enum tensor tensor, int layer) {
  const struct decode_request *request = &r->request;
  struct tensor_source source = {.held = r->held[(size_t)layer * TENSORS + tensor],
                                 .key = weights_key(request->seed, tensor, layer)};
  size_t rows;
  tensor_shape(r, tensor, &rows, &source.columns);
  source.is_norm = is_norm(tensor);
  source.scale = weights_scale(&request->shape, tensor);
  if (!source.is_norm && !source.held)
    quantise(element_of(&request->types, tensor), source.scale, &source.quantised);
  return source;
}

static void source_row(const struct tensor_source *source, size_t row, double *out) {
  uint64_t first = (uint64_t)row * source->columns;
  if (source->held) {
    memcpy(out, source->held + first, source->columns * sizeof *out);
    return;
  }
  if (!source->is_norm) {
    quantised_row(&source->quantised, source->key, first, source->columns, out);
    return;
  }
  for (size_t i = 0; i < source->columns; i++)
    out[i] = 1 + (double)weights_q(source->key, first + i) * (double)source->scale;
}

// Four sums, so that an addition need not wait for the one before it.
static double dot(const double *a, const double *b, size_t count) {
  double sums[4] = {0};
  size_t i = 0;
  for (; i + 4 <= count; i += 4)
    for (size_t j = 0; j < 4; j++)
      sums[j] += a[i + j] * b[i + j];
  for (; i < count; i++)
    sums[0] += a[i] * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

// out[batch][rows] = in[batch][columns] times the tensor, transposed; each row is made once.
static void matvec(struct reference *r, enum tensor tensor, int layer, const double *in,
                   double *out) {
  struct tensor_source source = source_of(r, tensor, layer);
  size_t rows, columns;
  tensor_shape(r, tensor, &rows, &columns);
  for (size_t row = 0; row < rows; row++) {
    source_row(&source, row, r->row);
    for (size_t b = 0; b < r->batch; b++)
      out[b * rows + row] = dot(r->row, in + b * columns, columns);
  }
}

void reference_rmsnorm(const double *x, const double *weight, size_t count, double epsilon,
                       double *out) {
  double root = sqrt(dot(x, x, count) / (double)count + epsilon);
  for (size_t i = 0; i < count; i++)
    out[i] = x[i] / root * weight[i];
}

void reference_rope(double *head, int head_dim, int position, double theta) {
  int half = head_dim / 2;
  for (int i = 0; i < half; i++) {
    double angle = position / pow(theta, 2.0 * i / head_dim);
    double a = head[i], b = head[i + half];
    head[i] = a * cos(angle) - b * sin(angle);
    head[i + half] = a * sin(angle) + b * cos(angle);
  }
}

// Scores to weights that sum to 1; the largest is taken off first so that no exponential overflows.
static void softmax(double *scores, size_t count) {
  double most = -INFINITY, sum = 0;
  for (size_t i = 0; i < count; i++)
    most = fmax(most, scores[i]);
  for (size_t i = 0; i < count; i++)
    sum += scores[i] = exp(scores[i] - most);
  for (size_t i = 0; i < count; i++)
    scores[i] /= sum;
}

// One head; keys and values point at its kv head in the first position, positions `stride` apart.
static void attend_head(const double *query, const float *keys, const float *values, size_t width,
                        size_t stride, size_t context, double *scores, double *out) {
  for (size_t t = 0; t < context; t++) {
    double sum = 0;
    for (size_t i = 0; i < width; i++)
      sum += query[i] * (double)keys[t * stride + i];
    scores[t] = sum / sqrt((double)width);
  }
  softmax(scores, context);
  memset(out, 0, width * sizeof *out);
  for (size_t t = 0; t < context; t++)
    for (size_t i = 0; i < width; i++)
      out[i] += scores[t] * (double)values[t * stride + i];
}

void reference_attention(const struct decode_shape *shape, int context, const double *query,
                         const float *keys, const float *values, double *scores, double *out) {
  size_t width = (size_t)shape->head_dim;
  size_t stride = (size_t)shape->kv_heads * width;
  int group = shape->heads / shape->kv_heads;
  for (int h = 0; h < shape->heads; h++) {
    size_t at = (size_t)h * width, kv_at = (size_t)(h / group) * width;
    attend_head(query + at, keys + kv_at, values + kv_at, width, stride, (size_t)context, scores,
                out + at);
  }
}

// gate = silu(gate) * up
static void swiglu(double *gate, const double *up, size_t count) {
  for (size_t i = 0; i < count; i++)
    gate[i] = gate[i] / (1 + exp(-gate[i])) * up[i];
}

static float magnitude_of(const double *x, size_t count) {
  float most = 0;
  for (size_t i = 0; i < count; i++)
    most = fmaxf(most, fabsf((float)x[i]));
  return most;
}

static double round_scaled(enum element type, float x, float scale) {
  if (type == ELEMENT_E4M3)
    return (double)float_from_e4m3(e4m3_from_float(x / scale)) * (double)scale;
  float nearest = nearbyintf(x / scale);
  return (double)fmaxf(-127, fminf(nearest, 127)) * (double)scale;
}

void reference_round(enum element type, double *x, size_t count) {
  if (type == ELEMENT_F32)
    return;
  if (type == ELEMENT_BF16) {
    for (size_t i = 0; i < count; i++)
      x[i] = (double)float_from_bf16(bf16_from_float((float)x[i]));
    return;
  }
  float scale = magnitude_of(x, count) / (type == ELEMENT_INT8 ? 127.0f : 448.0f);
  for (size_t i = 0; i < count; i++)
    x[i] = scale > 0 ? round_scaled(type, (float)x[i], scale) : 0;
}

// Rounds the vectors of the batch for a product with weights.
static void round_vectors(const struct reference *r, enum element type, double *x, size_t width) {
  for (size_t b = 0; b < r->batch; b++)
    reference_round(type, x + b * width, width);
}

// The same where each rank has a part of the vectors: decode.h.
static void round_parts(const struct reference *r, enum element type, double *x, size_t width) {
  const size_t ranks = r->request.ranks > 1 ? (size_t)r->request.ranks : 1;
  for (size_t part = 0; part < r->batch * ranks; part++)
    reference_round(type, x + part * (width / ranks), width / ranks);
}

// input = rmsnorm(x) * the norm's weight
static void normalise(struct reference *r, enum tensor tensor, int layer) {
  struct tensor_source weight = source_of(r, tensor, layer);
  source_row(&weight, 0, r->row);
  for (size_t b = 0; b < r->batch; b++)
    reference_rmsnorm(r->x + b * r->hidden, r->row, r->hidden,
                      (double)r->request.shape.norm_epsilon, r->input + b * r->hidden);
}

static float kv_round(enum element type, double value) {
  if (type == ELEMENT_E4M3)
    return float_from_e4m3(e4m3_from_float((float)value));
  return float_from_bf16(bf16_from_float((float)value));
}

static void rope_heads(const struct decode_request *request, double *heads, int count) {
  int width = request->shape.head_dim;
  for (int h = 0; h < count; h++)
    reference_rope(heads + (size_t)h * (size_t)width, width, request->context - 1,
                   (double)request->shape.rope_theta);
}

// One row of the batch: puts its key and value in their slot and attends over all.
static void attend(struct reference *r, int layer, size_t b) {
  const struct decode_shape *shape = &r->request.shape;
  double *query = r->query + b * r->query_width;
  double *key = r->key + b * r->kv_width, *value = r->value + b * r->kv_width;
  rope_heads(&r->request, query, shape->heads);
  rope_heads(&r->request, key, shape->kv_heads);

  float *keys = reference_cache(r, TENSOR_KEYS, layer) + b * r->context * r->kv_width;
  float *values = reference_cache(r, TENSOR_VALUES, layer) + b * r->context * r->kv_width;
  size_t slot = (r->context - 1) * r->kv_width;
  for (size_t i = 0; i < r->kv_width; i++) {
    keys[slot + i] = kv_round(r->request.types.kv, key[i]);
    values[slot + i] = kv_round(r->request.types.kv, value[i]);
  }
  reference_attention(shape, r->request.context, query, keys, values, r->scores,
                      r->attended + b * r->query_width);
}

static void add_output(struct reference *r) {
  for (size_t i = 0; i < r->batch * r->hidden; i++)
    r->x[i] += r->output[i];
}

static void attention_block(struct reference *r, int layer) {
  enum element activations = r->request.types.activations;
  normalise(r, TENSOR_ATTENTION_NORM, layer);
  round_vectors(r, activations, r->input, r->hidden);
  matvec(r, TENSOR_WQ, layer, r->input, r->query);
  matvec(r, TENSOR_WK, layer, r->input, r->key);
  matvec(r, TENSOR_WV, layer, r->input, r->value);
  for (size_t b = 0; b < r->batch; b++)
    attend(r, layer, b);
  round_parts(r, activations, r->attended, r->query_width);
  matvec(r, TENSOR_WO, layer, r->attended, r->output);
  add_output(r);
}

static void ffn_block(struct reference *r, int layer) {
  enum element activations = r->request.types.activations;
  normalise(r, TENSOR_FFN_NORM, layer);
  round_vectors(r, activations, r->input, r->hidden);
  matvec(r, TENSOR_GATE, layer, r->input, r->gate);
  matvec(r, TENSOR_UP, layer, r->input, r->up);
  swiglu(r->gate, r->up, r->batch * r->ffn);
  round_parts(r, activations, r->gate, r->ffn);
  matvec(r, TENSOR_DOWN, layer, r->gate, r->output);
  add_output(r);
}

static void embed(struct reference *r) {
  struct tensor_source embedding = source_of(r, TENSOR_EMBEDDING, 0);
  for (size_t b = 0; b < r->batch; b++)
    source_row(&embedding, (size_t)r->tokens[b], r->x + b * r->hidden);
}

// A head in BF16 takes no narrower activations: decode.h.
static enum element head_activations(const struct decode_types *types) {
  bool narrow = types->activations == ELEMENT_INT8 || types->activations == ELEMENT_E4M3;
  return narrow && types->head == ELEMENT_BF16 ? ELEMENT_BF16 : types->activations;
}

static void classify(struct reference *r) {
  normalise(r, TENSOR_FINAL_NORM, 0);
  round_vectors(r, head_activations(&r->request.types), r->input, r->hidden);
  matvec(r, TENSOR_HEAD, 0, r->input, r->logits);
}

// The first of the largest.
static int choose(const double *logits, size_t count) {
  size_t best = 0;
  for (size_t i = 1; i < count; i++)
    if (logits[i] > logits[best])
      best = i;
  return (int)best;
}

void reference_step(struct reference *r) {
  embed(r);
  for (int layer = 0; layer < r->request.shape.layers; layer++) {
    attention_block(r, layer);
    ffn_block(r, layer);
  }
  classify(r);
  for (size_t b = 0; b < r->batch; b++)
    r->tokens[b] = choose(r->logits + b * r->vocab, r->vocab);
}

static bool shape_known(const struct decode_shape *shape) {
  const int sizes[] = {shape->layers,   shape->hidden,     shape->heads, shape->kv_heads,
                       shape->head_dim, shape->ffn_hidden, shape->vocab};
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    if (sizes[i] < 1)
      return false;
  return shape->heads % shape->kv_heads == 0 && shape->head_dim % 2 == 0 &&
         shape->norm_epsilon >= 0 && shape->rope_theta > 0 && !family_fault(shape) &&
         family_pieces(shape) == 0;
}

// decode.h: what may enter a product with such weights.
static bool activations_known(enum element weights, enum element activations) {
  switch (activations) {
  case ELEMENT_F32:
  case ELEMENT_BF16: return true;
  case ELEMENT_INT8:
    return weights == ELEMENT_INT8 || weights == ELEMENT_INT8_GROUP ||
           weights == ELEMENT_INT4_GROUP;
  case ELEMENT_E4M3:
    return weights == ELEMENT_E4M3 || weights == ELEMENT_MXFP4 || weights == ELEMENT_NVFP4 ||
           weights == ELEMENT_MXFP6_E2M3 || weights == ELEMENT_MXFP6_E3M2;
  default: return false;
  }
}

static bool types_known(const struct decode_types *types) {
  return types->weights > ELEMENT_F32 && types->weights < ELEMENTS &&
         types->experts == ELEMENT_F32 && activations_known(types->weights, types->activations) &&
         (types->kv == ELEMENT_BF16 || types->kv == ELEMENT_E4M3) &&
         (types->head == ELEMENT_BF16 || types->head == types->weights) &&
         types->accumulation == ELEMENT_F32;
}

static void fill_cache(struct reference *r, enum tensor tensor, int layer) {
  uint64_t key = weights_key(r->request.seed, tensor, layer);
  float scale = weights_scale(&r->request.shape, tensor);
  float *cache = reference_cache(r, tensor, layer);
  for (size_t i = 0; i < r->batch * r->context * r->kv_width; i++)
    cache[i] = kv_round(r->request.types.kv, (double)((float)weights_q(key, i) * scale));
}

static void fill(struct reference *r) {
  for (int layer = 0; layer < r->request.shape.layers; layer++) {
    fill_cache(r, TENSOR_KEYS, layer);
    fill_cache(r, TENSOR_VALUES, layer);
  }
  for (size_t b = 0; b < r->batch; b++)
    r->tokens[b] = (int)((r->request.seed + b) % r->vocab);
}

static void set_sizes(struct reference *r) {
  const struct decode_shape *shape = &r->request.shape;
  r->layers = (size_t)shape->layers;
  r->hidden = (size_t)shape->hidden;
  r->query_width = (size_t)shape->heads * (size_t)shape->head_dim;
  r->kv_width = (size_t)shape->kv_heads * (size_t)shape->head_dim;
  r->ffn = (size_t)shape->ffn_hidden;
  r->vocab = (size_t)shape->vocab;
  r->batch = (size_t)r->request.batch;
  r->context = (size_t)r->request.context;
}

struct reference *reference_create(const struct decode_request *request,
                                   enum decode_status *status) {
  *status = DECODE_UNSUPPORTED;
  int size;
  const char *what;
  if (!shape_known(&request->shape) || !types_known(&request->types) || request->batch < 1 ||
      request->context < 1 ||
      (request->ranks > 1 && !share_divides(&request->shape, request->ranks, &size, &what)))
    return NULL;

  *status = DECODE_NO_MEMORY;
  struct reference *r = calloc(1, sizeof *r);
  if (!r)
    return NULL;
  r->request = *request;
  set_sizes(r);
  take_all(r);
  if (r->out_of_memory)
    goto fail;
  fill(r);
  *status = DECODE_OK;
  return r;

fail:
  reference_destroy(r);
  return NULL;
}

void reference_destroy(struct reference *r) {
  if (!r)
    return;
  for (struct reference_block *block = r->blocks, *next; block; block = next) {
    next = block->next;
    free(block);
  }
  free(r);
}

int reference_set_tokens(struct reference *r, const int *tokens) {
  for (size_t b = 0; b < r->batch; b++)
    if (tokens[b] < 0 || tokens[b] >= r->request.shape.vocab)
      return -1;
  memcpy(r->tokens, tokens, r->batch * sizeof *tokens);
  return 0;
}

const double *reference_logits(const struct reference *r) {
  return r->logits;
}

const int *reference_tokens(const struct reference *r) {
  return r->tokens;
}

static double *copy_of(struct reference *r, enum tensor tensor, int layer) {
  struct tensor_source source = source_of(r, tensor, layer);
  size_t rows, columns;
  tensor_shape(r, tensor, &rows, &columns);
  double *copy = take(r, times(rows, columns), sizeof *copy);
  for (size_t row = 0; copy && row < rows; row++)
    source_row(&source, row, copy + row * columns);
  return copy;
}

double *reference_tensor(struct reference *r, enum tensor tensor, int layer) {
  double **held = &r->held[(size_t)layer * TENSORS + tensor];
  if (!*held)
    *held = copy_of(r, tensor, layer);
  return *held;
}

float *reference_cache(struct reference *r, enum tensor tensor, int layer) {
  size_t index = 2 * (size_t)layer + (tensor == TENSOR_VALUES);
  return r->cache + index * r->batch * r->context * r->kv_width;
}

double reference_tolerance(const struct decode_types *types) {
  if (types->activations == ELEMENT_E4M3 && types->head == ELEMENT_E4M3)
    return 8e-2;
  static const double tolerances[] = {
      [ELEMENT_F32] = 1e-3,
      [ELEMENT_BF16] = 1e-2,
      [ELEMENT_E4M3] = 5e-2,
      [ELEMENT_INT8] = 2e-2,
  };
  return tolerances[types->activations];
}

// norm(logits - oracle) / norm(oracle); infinite when a logit is not finite.
static double relative_error(const float *logits, const double *oracle, size_t count) {
  double difference = 0, norm = dot(oracle, oracle, count);
  for (size_t i = 0; i < count; i++) {
    double off = (double)logits[i] - oracle[i];
    difference += off * off;
  }
  if (difference == 0)
    return 0;
  return isfinite(difference) && norm > 0 ? sqrt(difference / norm) : INFINITY;
}

static double token_shortfall(const double *oracle, size_t count, int token) {
  if (token < 0 || (size_t)token >= count)
    return INFINITY;
  double missed = oracle[choose(oracle, count)] - oracle[token];
  return missed > 0 ? missed / magnitude_of(oracle, count) : 0;
}

static bool is_greedy(const float *logits, size_t count, int token) {
  if (token < 0 || (size_t)token >= count)
    return false;
  size_t chosen = (size_t)token;
  for (size_t i = 0; i < count; i++)
    if (i < chosen ? logits[i] >= logits[chosen] : logits[i] > logits[chosen])
      return false;
  return true;
}

struct reference_verdict reference_check(const struct reference *r, const float *logits,
                                         const int *tokens, double tolerance) {
  struct reference_verdict verdict = {.greedy = true};
  for (size_t b = 0; b < r->batch; b++) {
    const double *oracle = r->logits + b * r->vocab;
    const float *row = logits + b * r->vocab;
    verdict.error = fmax(verdict.error, relative_error(row, oracle, r->vocab));
    verdict.shortfall = fmax(verdict.shortfall, token_shortfall(oracle, r->vocab, tokens[b]));
    verdict.greedy = verdict.greedy && is_greedy(row, r->vocab, tokens[b]);
  }
  verdict.pass = verdict.error <= tolerance && verdict.shortfall <= tolerance && verdict.greedy;
  return verdict;
}
