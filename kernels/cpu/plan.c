#include "kernels/cpu/plan.h"

#include "kernels/cpu/dispatch.h"
#include "kernels/cpu/panel.h"
#include "kernels/cpu/rows.h"
#include "kernels/cpu/threads.h"
#include "kernels/decode.h"
#include "kernels/family.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// Sums of int8 products stay below 2^31, and sizes far below 2^63.
#define MAX_COLUMNS 65536
#define MAX_BATCH   4096
#define MAX_CONTEXT (1 << 24)
#define MAX_VOCAB   (1 << 24)
#define MAX_LAYERS  4096
#define MAX_THREADS 1024

static bool between(int value, int least, int most) {
  return value >= least && value <= most;
}

static bool shape_known(const struct decode_shape *shape) {
  if (!between(shape->layers, 1, MAX_LAYERS) || !between(shape->hidden, 1, MAX_COLUMNS) ||
      !between(shape->ffn_hidden, 1, MAX_COLUMNS) || !between(shape->vocab, 1, MAX_VOCAB) ||
      !between(shape->head_dim, 2, MAX_HEAD_DIM) || !between(shape->heads, 1, MAX_COLUMNS) ||
      !between(shape->kv_heads, 1, shape->heads))
    return false;
  return shape->heads % shape->kv_heads == 0 && shape->head_dim % 2 == 0 &&
         shape->heads * shape->head_dim <= MAX_COLUMNS && shape->norm_epsilon >= 0 &&
         shape->rope_theta > 0 && family_pieces(shape) == 0 && !family_fault(shape);
}

static bool types_known(const struct decode_types *types) {
  bool wide = types->activations == ELEMENT_F32 || types->activations == ELEMENT_BF16;
  bool weights = types->weights == ELEMENT_INT8
                     ? types->activations == ELEMENT_INT8
                     : wide && (types->weights == ELEMENT_BF16 || types->weights == ELEMENT_E4M3);
  return weights && types->experts == ELEMENT_F32 &&
         (types->kv == ELEMENT_BF16 || types->kv == ELEMENT_E4M3) &&
         (types->head == ELEMENT_BF16 || types->head == types->weights) &&
         types->accumulation == ELEMENT_F32;
}

static bool request_known(const struct decode_request *request) {
  return shape_known(&request->shape) && types_known(&request->types) &&
         between(request->batch, 1, MAX_BATCH) && between(request->context, 1, MAX_CONTEXT) &&
         between(request->threads, 0, MAX_THREADS) && between(request->chunk, 0, request->context);
}

static void set_sizes(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  plan->layers = (size_t)shape->layers;
  plan->hidden = (size_t)shape->hidden;
  plan->heads = (size_t)shape->heads;
  plan->kv_heads = (size_t)shape->kv_heads;
  plan->head_dim = (size_t)shape->head_dim;
  plan->group = plan->heads / plan->kv_heads;
  plan->query_width = plan->heads * plan->head_dim;
  plan->kv_width = plan->kv_heads * plan->head_dim;
  plan->ffn = (size_t)shape->ffn_hidden;
  plan->vocab = (size_t)shape->vocab;
  plan->batch = (size_t)plan->request.batch;
  plan->context = (size_t)plan->request.context;
  plan->vectors = plan->batch + (size_t)plan->request.chunk;
  plan->one_stream = cpu_reads_one_stream();
}

// A head in BF16 takes no narrower activations: decode.h.
static enum element wanted_input(const struct decode_types *types, enum matrix_name name) {
  if (name == MATRIX_HEAD && types->head == ELEMENT_BF16 && types->activations == ELEMENT_INT8)
    return ELEMENT_BF16;
  return types->activations;
}

static enum product_kind kind_of(enum element weights, enum element input) {
  if (weights == ELEMENT_INT8)
    return INT8_INT8;
  if (weights == ELEMENT_E4M3)
    return input == ELEMENT_F32 ? E4M3_F32 : E4M3_BF16;
  return input == ELEMENT_F32 ? BF16_F32 : BF16_BF16;
}

static void set_matrix(struct plan *plan, enum matrix_name name, size_t panels, size_t columns) {
  const struct decode_types *types = &plan->request.types;
  struct matrix *matrix = &plan->matrix[name];
  matrix->element = name == MATRIX_HEAD ? types->head : types->weights;
  matrix->input = wanted_input(types, name);
  matrix->kind = kind_of(matrix->element, matrix->input);
  if (!plan->kernels->product[matrix->kind]) {
    matrix->rounds_to_bf16 = true;
    matrix->input = ELEMENT_F32;
    matrix->kind = kind_of(matrix->element, ELEMENT_F32);
  }
  matrix->panels = panels;
  matrix->grain = name == MATRIX_GATE_UP ? 2 : 1;
  matrix->columns = columns;
  matrix->padded = round_up(columns, PANEL_COLUMNS);
  matrix->header_bytes = is_scaled(matrix->element) ? PANEL_ROWS * sizeof(float) : 0;
  matrix->panel_bytes = matrix->header_bytes + panel_bytes(matrix->element, matrix->padded);
}

static size_t panels_of(size_t rows) {
  return round_up(rows, PANEL_ROWS) / PANEL_ROWS;
}

static void set_matrices(struct plan *plan) {
  size_t q = panels_of(plan->query_width), kv = panels_of(plan->kv_width);
  set_matrix(plan, MATRIX_QKV, q + 2 * kv, plan->hidden);
  set_matrix(plan, MATRIX_OUTPUT, panels_of(plan->hidden), plan->query_width);
  set_matrix(plan, MATRIX_GATE_UP, 2 * panels_of(plan->ffn), plan->hidden);
  set_matrix(plan, MATRIX_DOWN, panels_of(plan->hidden), plan->ffn);
  set_matrix(plan, MATRIX_HEAD, panels_of(plan->vocab), plan->hidden);
  plan->k_at = q * PANEL_ROWS;
  plan->v_at = plan->k_at + kv * PANEL_ROWS;
}

static size_t larger(size_t a, size_t b) {
  return a > b ? a : b;
}

static size_t smaller(size_t a, size_t b) {
  return a < b ? a : b;
}

static size_t common_divisor(size_t a, size_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

// Few items are split so that every thread gets as many pieces; many are even enough as they are.
static void split_context(struct plan *plan) {
  size_t threads = (size_t)plan->threads, chunks = round_up(plan->context, CHUNK) / CHUNK;
  plan->items = plan->batch * plan->kv_heads;
  size_t parts = 1;
  if (plan->items < 8 * threads)
    parts = larger(1, threads / common_divisor(plan->items, threads));
  size_t part_chunks = larger(1, round_up(chunks, parts) / parts);
  plan->parts = larger(1, round_up(chunks, part_chunks) / part_chunks);
  plan->part_positions = part_chunks * CHUNK;
}

// Queries and softmax weights as bf16 are what tiles take and what vectors multiply in one
// instruction; decode.h allows it beside activations that are no more precise.
static void set_attention(struct plan *plan) {
  bool bf16 = plan->kernels->isa >= CPU_AVX512_BF16 &&
              plan->request.types.activations != ELEMENT_F32 && plan->group >= MIN_AMX_BATCH;
  plan->attention_input = bf16 ? ELEMENT_BF16 : ELEMENT_F32;
  plan->attention_kind = kind_of(plan->request.types.kv, plan->attention_input);
  plan->block_positions = smaller((size_t)plan->request.chunk, PROMPT_QUERIES / plan->group);
  plan->block_positions = larger(1, plan->block_positions);
}

static void set_cache(struct plan *plan) {
  enum element kv = plan->request.types.kv;
  set_attention(plan);
  size_t columns = plan->attention_input == ELEMENT_BF16 ? TILE_COLUMNS : 4;
  plan->key_columns = round_up(plan->head_dim, columns);
  plan->value_rows = round_up(plan->head_dim, PANEL_ROWS);
  plan->positions = round_up(plan->context, TILE_COLUMNS);
  plan->key_panel_bytes = panel_bytes(kv, plan->key_columns);
  plan->value_panel_bytes = panel_bytes(kv, plan->positions);
  plan->key_bytes = panels_of(plan->context) * plan->key_panel_bytes;
  plan->item_bytes = plan->key_bytes + panels_of(plan->head_dim) * plan->value_panel_bytes;
}

// An odd number of lines, so that rows do not compete for the same sets of a cache.
static size_t odd_lines(size_t bytes) {
  size_t lines = round_up(bytes, LINE_BYTES) / LINE_BYTES;
  return (lines | 1) * LINE_BYTES;
}

static void set_strides(struct plan *plan) {
  size_t widest = larger(plan->hidden, larger(plan->query_width, plan->ffn));
  plan->x_stride = round_up(plan->hidden, PANEL_ROWS);
  plan->qkv_stride = plan->matrix[MATRIX_QKV].panels * PANEL_ROWS;
  plan->attended_stride = round_up(plan->query_width, PANEL_ROWS);
  plan->gated_stride = round_up(plan->ffn, PANEL_ROWS);
  plan->logits_stride = round_up(plan->vocab, PANEL_ROWS);
  plan->partial_stride = PANEL_ROWS + plan->value_rows; // largest and sum, then the values
  size_t input = 1;
  for (int m = 0; m < MATRICES; m++)
    input = larger(input, element_bytes(plan->matrix[m].input));
  plan->input_stride = odd_lines(round_up(widest, PANEL_COLUMNS) * input);
  plan->row_floats = round_up(widest, PANEL_ROWS);
  if (plan->kernels->takes_arranged && plan->vectors >= MIN_ARRANGED_BATCH)
    plan->arranged_words = round_up(smaller(plan->vectors, MAX_ARRANGED_BATCH), ARRANGED_ROWS) *
                           plan->input_stride / sizeof(int32_t);
  size_t attention = plan->group * plan->block_positions *
                     (round_up(plan->key_columns, PANEL_ROWS) + 2 * CHUNK + plan->value_rows +
                      plan->partial_stride);
  plan->room_stride =
      plan->row_floats + plan->arranged_words + larger(plan->vectors * 4 * PANEL_ROWS, attention);
}

static void set_blocks(struct plan *plan) {
  const struct decode_types *types = &plan->request.types;
  size_t *bytes = plan->block_bytes, threads = (size_t)plan->threads;
  bytes[BLOCK_CACHE] = plan->layers * plan->items * plan->item_bytes;
  bytes[BLOCK_EMBEDDING] = plan->vocab * plan->hidden * element_bytes(types->head);
  bytes[BLOCK_EMBEDDING_SCALES] = is_scaled(types->head) ? plan->vocab * sizeof(float) : 1;
  bytes[BLOCK_NORMS] = (2 * plan->layers + 1) * plan->x_stride * sizeof(float);
  bytes[BLOCK_TURNS] = plan->vectors * plan->head_dim * sizeof(float);
  bytes[BLOCK_X] = plan->vectors * plan->x_stride * sizeof(float);
  bytes[BLOCK_QKV] = plan->vectors * plan->qkv_stride * sizeof(float);
  bytes[BLOCK_ATTENDED] = plan->vectors * plan->attended_stride * sizeof(float);
  bytes[BLOCK_PARTIAL] =
      plan->items * plan->parts * plan->group * plan->partial_stride * sizeof(float);
  bytes[BLOCK_GATED] = plan->vectors * plan->gated_stride * sizeof(float);
  bytes[BLOCK_INPUT] = plan->vectors * plan->input_stride;
  bytes[BLOCK_INPUT_NOTES] = plan->vectors * (sizeof(float) + sizeof(int32_t));
  bytes[BLOCK_LOGITS] = plan->batch * plan->logits_stride * sizeof(float);
  bytes[BLOCK_BEST] = threads * plan->batch * sizeof(int);
  bytes[BLOCK_ROOM] = threads * plan->room_stride * sizeof(float);
}

enum decode_status plan_make(const struct decode_request *request,
                             const struct cpu_kernels *kernels, struct plan *plan) {
  if (!request_known(request))
    return DECODE_UNSUPPORTED;
  memset(plan, 0, sizeof *plan);
  plan->request = *request;
  plan->kernels = kernels;
  plan->threads = request->threads > 0 ? request->threads : threads_default();
  set_sizes(plan);
  set_matrices(plan);
  split_context(plan);
  set_cache(plan);
  set_strides(plan);
  set_blocks(plan);
  return DECODE_OK;
}

struct panel_share plan_share(const struct plan *plan, enum matrix_name name, int thread) {
  const struct matrix *matrix = &plan->matrix[name];
  size_t units = matrix->panels / matrix->grain, threads = (size_t)plan->threads;
  size_t first = units * (size_t)thread / threads * matrix->grain;
  size_t last = units * ((size_t)thread + 1) / threads * matrix->grain;
  return (struct panel_share){first, last - first};
}

static size_t share_bytes(const struct plan *plan, enum matrix_name name, int thread) {
  return plan_share(plan, name, thread).count * plan->matrix[name].panel_bytes;
}

size_t plan_layer_bytes(const struct plan *plan, int thread) {
  size_t bytes = 0;
  for (int m = 0; m < MATRIX_HEAD; m++)
    bytes += share_bytes(plan, (enum matrix_name)m, thread);
  return bytes;
}

size_t plan_head_bytes(const struct plan *plan, int thread) {
  return share_bytes(plan, MATRIX_HEAD, thread);
}

// Rows times columns, and a float per row where rows have scales.
static uint64_t tensor_bytes(enum element element, uint64_t rows, uint64_t columns) {
  return rows * (columns * element_bytes(element) + (is_scaled(element) ? sizeof(float) : 0));
}

// Bytes: every weight, scale and norm once, the batch's rows of the embedding, the cache of all
// positions read and one position written. Operations: two for each weight of a product and row of
// the batch, and for each query head and position 2 * head_dim for the score and as many for the
// sum of values.
struct decode_cost plan_cost(const struct plan *plan) {
  const struct decode_types *types = &plan->request.types;
  uint64_t h = plan->hidden, q = plan->query_width, k = plan->kv_width, f = plan->ffn;
  uint64_t layer = tensor_bytes(types->weights, q + 2 * k, h) + tensor_bytes(types->weights, h, q) +
                   tensor_bytes(types->weights, 2 * f, h) + tensor_bytes(types->weights, h, f);
  uint64_t weights = plan->layers * (q * h * 2 + k * h * 2 + 3 * f * h) + plan->vocab * h;
  uint64_t positions = plan->layers * plan->batch * plan->heads * plan->context;
  struct decode_cost cost = {
      .weight_bytes = plan->layers * layer + (2 * plan->layers + 1) * h * sizeof(float) +
                      tensor_bytes(types->head, plan->vocab + plan->batch, h),
      .kv_bytes =
          plan->layers * plan->batch * (plan->context + 1) * 2 * k * element_bytes(types->kv),
      .operations = 2 * weights * plan->batch + positions * 4 * plan->head_dim,
  };
  for (int b = 0; b < BLOCKS; b++)
    cost.resident_bytes += plan->block_bytes[b];
  for (int t = 0; t < plan->threads; t++)
    cost.resident_bytes += plan->layers * plan_layer_bytes(plan, t) + plan_head_bytes(plan, t);
  return cost;
}
