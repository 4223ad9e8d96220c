#include "kernels/cpu/plan.h"

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/threads.h"
#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/family.h"
#include "kernels/integers.h"
#include "kernels/routing.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// The part of a prompt's weights that a thread converts to the library's layout before multiplying:
// sized to stay in its cache.
enum { UNPACKED_BYTES = 1 << 20 };

static void set_sizes(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  plan->layers = (size_t)shape->layers;
  plan->hidden = (size_t)shape->hidden;
  plan->heads = (size_t)shape->heads;
  plan->head_dim = (size_t)shape->head_dim;
  plan->latent = shape->latent.rank > 0;
  plan->kv_heads = plan->latent ? 1 : (size_t)shape->kv_heads;
  plan->key_width = plan->value_width = plan->head_dim;
  plan->attended_width = plan->heads * plan->head_dim;
  if (plan->latent) {
    plan->value_width = (size_t)shape->latent.rank;
    plan->key_width = plan->value_width + (size_t)shape->latent.rope_dim;
    plan->attended_width = plan->heads * (size_t)shape->latent.value_dim;
  }
  plan->group = plan->heads / plan->kv_heads;
  plan->query_width = plan->heads * plan->head_dim;
  plan->kv_width = plan->kv_heads * plan->key_width;
  plan->ffn = (size_t)shape->ffn_hidden;
  plan->vocab = (size_t)shape->vocab;
  plan->batch = (size_t)plan->request.batch;
  plan->context = (size_t)plan->request.context;
  plan->experts = (size_t)shape->experts.count;
  plan->chosen = (size_t)shape->experts.chosen;
  plan->vectors = plan->batch + (size_t)plan->request.chunk;
  plan->pairs = plan->vectors * plan->chosen;
  while (plan->dense_layers < plan->layers && !family_layer(shape, (int)plan->dense_layers).experts)
    plan->dense_layers++;
  plan->one_stream = cpu_reads_one_stream();
}

// All tensors of a matrix have the same element.
static enum element wanted_element(const struct decode_types *types, enum matrix_name name) {
  static const enum tensor tensors[MATRICES] = {
      [MATRIX_QKV] = TENSOR_WQ,
      [MATRIX_QUERY] = TENSOR_Q_B,
      [MATRIX_KEY_B] = TENSOR_K_B,
      [MATRIX_VALUE_B] = TENSOR_V_B,
      [MATRIX_OUTPUT] = TENSOR_WO,
      [MATRIX_GATE_UP] = TENSOR_UP,
      [MATRIX_DOWN] = TENSOR_DOWN,
      [MATRIX_ROUTER] = TENSOR_ROUTER,
      [MATRIX_SHARED_GATE_UP] = TENSOR_SHARED_UP,
      [MATRIX_SHARED_DOWN] = TENSOR_SHARED_DOWN,
      [MATRIX_EXPERT_GATE_UP] = TENSOR_EXPERT_UP,
      [MATRIX_EXPERT_DOWN] = TENSOR_EXPERT_DOWN,
      [MATRIX_HEAD] = TENSOR_HEAD,
  };
  return weights_element(types, tensors[name]);
}

// A BF16 head takes no narrower activations; router, k_b and v_b never do: decode.h.
static enum element wanted_input(const struct decode_types *types, enum matrix_name name) {
  const bool wide = (name == MATRIX_HEAD && types->head == ELEMENT_BF16) || name == MATRIX_ROUTER ||
                    name == MATRIX_KEY_B || name == MATRIX_VALUE_B;
  return wide && types->activations != ELEMENT_F32 ? ELEMENT_BF16 : types->activations;
}

static size_t panels_of(size_t rows) {
  return round_up(rows, PANEL_ROWS) / PANEL_ROWS;
}

// `panels` hold `rows` rows of `columns` columns.
static void set_matrix(struct plan *plan, enum matrix_name name, enum input_name source,
                       size_t rows, size_t panels, size_t columns) {
  const struct decode_types *types = &plan->request.types;
  struct matrix *matrix = &plan->matrix[name];
  matrix->element = wanted_element(types, name);
  matrix->rounded = wanted_input(types, name);
  matrix->input = matrix->rounded == ELEMENT_E4M3 ? ELEMENT_BF16 : matrix->rounded;
  matrix->kind = product_kind_of(matrix->element, matrix->input);
  if (!plan->kernels->product[matrix->kind]) {
    matrix->input = ELEMENT_F32;
    matrix->kind = product_kind_of(matrix->element, ELEMENT_F32);
  }
  matrix->source = source;
  matrix->copies = 1;
  matrix->rows = rows;
  matrix->panels = panels;
  matrix->grain = 1;
  matrix->columns = columns;
  matrix->padded = round_up(columns, PANEL_COLUMNS);
  matrix->header_bytes = blocks_header_bytes(matrix->element, matrix->rounded);
  matrix->panel_bytes = matrix->header_bytes + blocks_panel_bytes(matrix->element, matrix->padded);
}

// gate and up, or up alone, and down of an MLP.
static void set_mlp(struct plan *plan, enum matrix_name gate_up, enum input_name source,
                    enum matrix_name down, enum input_name gated, size_t width) {
  const size_t tensors = plan->request.shape.mlp == MLP_GELU ? 1 : 2;
  if (width == 0)
    return;
  set_matrix(plan, gate_up, source, tensors * width, tensors * panels_of(width), plan->hidden);
  plan->matrix[gate_up].grain = tensors;
  set_matrix(plan, down, gated, plan->hidden, panels_of(plan->hidden), width);
}

static void set_experts(struct plan *plan) {
  const struct decode_experts *experts = &plan->request.shape.experts;
  set_matrix(plan, MATRIX_ROUTER, INPUT_ROUTER, plan->experts, panels_of(plan->experts),
             plan->hidden);
  set_mlp(plan, MATRIX_SHARED_GATE_UP, INPUT_SHARED, MATRIX_SHARED_DOWN, INPUT_GATED,
          (size_t)experts->shared_hidden);
  set_mlp(plan, MATRIX_EXPERT_GATE_UP, INPUT_MLP, MATRIX_EXPERT_DOWN, INPUT_PAIRS,
          (size_t)experts->hidden);
  plan->matrix[MATRIX_EXPERT_GATE_UP].copies = plan->experts;
  plan->matrix[MATRIX_EXPERT_DOWN].copies = plan->experts;
}

// A matrix with this many panels for each head.
static void set_head_matrix(struct plan *plan, enum matrix_name name, enum input_name source,
                            size_t rows, size_t columns) {
  const size_t panels = panels_of(rows);
  set_matrix(plan, name, source, plan->heads * rows, plan->heads * panels, columns);
  plan->matrix[name].head_panels = panels;
}

static void set_latent(struct plan *plan) {
  const struct decode_latent *latent = &plan->request.shape.latent;
  const size_t low = (size_t)latent->query_rank, query = low > 0 ? low : plan->query_width;
  set_matrix(plan, MATRIX_QKV, INPUT_ATTENTION, query + plan->key_width,
             panels_of(query) + panels_of(plan->key_width), plan->hidden);
  if (low > 0)
    set_matrix(plan, MATRIX_QUERY, INPUT_QUERY, plan->query_width, panels_of(plan->query_width),
               low);
  set_head_matrix(plan, MATRIX_KEY_B, INPUT_HEAD_KEYS, plan->value_width,
                  plan->head_dim - (size_t)latent->rope_dim);
  set_head_matrix(plan, MATRIX_VALUE_B, INPUT_HEAD_SUMS, (size_t)latent->value_dim,
                  plan->value_width);
  plan->k_at = panels_of(query) * PANEL_ROWS;
}

static void set_heads(struct plan *plan) {
  size_t q = panels_of(plan->query_width), kv = panels_of(plan->kv_width);
  set_matrix(plan, MATRIX_QKV, INPUT_ATTENTION, plan->query_width + 2 * plan->kv_width, q + 2 * kv,
             plan->hidden);
  plan->k_at = q * PANEL_ROWS;
  plan->v_at = plan->k_at + kv * PANEL_ROWS;
}

static void set_matrices(struct plan *plan) {
  (plan->latent ? set_latent : set_heads)(plan);
  set_matrix(plan, MATRIX_OUTPUT, INPUT_ATTENTION, plan->hidden, panels_of(plan->hidden),
             plan->attended_width);
  if (plan->dense_layers > 0)
    set_mlp(plan, MATRIX_GATE_UP, INPUT_MLP, MATRIX_DOWN, INPUT_GATED, plan->ffn);
  if (plan->dense_layers < plan->layers)
    set_experts(plan);
  set_matrix(plan, MATRIX_HEAD, INPUT_ATTENTION, plan->vocab, panels_of(plan->vocab), plan->hidden);
}

bool plan_has(const struct plan *plan, enum layer_kind kind, enum matrix_name name) {
  const bool is_dense = name == MATRIX_GATE_UP || name == MATRIX_DOWN;
  return (name < MATRIX_GATE_UP || is_dense == (kind == LAYER_DENSE)) &&
         plan->matrix[name].copies > 0;
}

// Vectors of their own count of floats, and the biases of products in the order of their panels.
static void set_vectors(struct plan *plan) {
  const struct decode_shape *shape = &plan->request.shape;
  const size_t centred = shape->norm == NORM_LAYER ? plan->hidden : 0;
  const size_t head = shape->qk_norm ? plan->head_dim : 0;
  const bool choice = shape->biases & BIAS_ROUTER && shape->experts.router == ROUTER_SIGMOID;
  const size_t counts[VECTORS] = {
      [VECTOR_ATTENTION_NORM] = plan->hidden,
      [VECTOR_ATTENTION_NORM_BIAS] = centred,
      [VECTOR_FFN_NORM] = plan->hidden,
      [VECTOR_FFN_NORM_BIAS] = centred,
      [VECTOR_Q_NORM] = head,
      [VECTOR_K_NORM] = head,
      [VECTOR_Q_A_NORM] = plan->latent ? (size_t)shape->latent.query_rank : 0,
      [VECTOR_KV_A_NORM] = plan->latent ? plan->value_width : 0,
      [VECTOR_SINKS] = shape->sinks ? plan->heads : 0,
      [VECTOR_CHOICE_BIAS] = choice ? plan->experts : 0,
      [VECTOR_FINAL_NORM] = plan->hidden,
      [VECTOR_FINAL_NORM_BIAS] = centred,
  };
  static const unsigned biases[MATRICES] = {
      [MATRIX_QKV] = BIAS_QKV,         [MATRIX_OUTPUT] = BIAS_OUTPUT,
      [MATRIX_GATE_UP] = BIAS_MLP,     [MATRIX_DOWN] = BIAS_MLP,
      [MATRIX_ROUTER] = BIAS_ROUTER,   [MATRIX_EXPERT_GATE_UP] = BIAS_MLP,
      [MATRIX_EXPERT_DOWN] = BIAS_MLP,
  };
  size_t at = 0;
  for (int v = 0; v < VECTORS; v++) {
    plan->vector[v] = (struct vector){v < VECTOR_FINAL_NORM ? at : 0, counts[v]};
    at += v < VECTOR_FINAL_NORM ? round_up(counts[v], PANEL_ROWS) : 0;
  }
  for (int m = 0; m < MATRICES; m++) {
    struct matrix *matrix = &plan->matrix[m];
    matrix->biased =
        matrix->copies > 0 && shape->biases & biases[m] && !(m == MATRIX_ROUTER && choice);
    matrix->bias_at = at;
    at += matrix->biased ? matrix->copies * matrix->panels * PANEL_ROWS : 0;
  }
  plan->vector_stride = at;
  plan->vector[VECTOR_FINAL_NORM].at = plan->layers * at;
  plan->vector[VECTOR_FINAL_NORM_BIAS].at = plan->layers * at + round_up(plan->hidden, PANEL_ROWS);
}

static size_t common_divisor(size_t a, size_t b) {
  return b == 0 ? a : common_divisor(b, a % b);
}

// Few items are split so that every thread gets the same number of pieces; many are even enough
// unsplit.
static void split_context(struct plan *plan) {
  size_t threads = (size_t)plan->threads, chunks = round_up(plan->context, CHUNK) / CHUNK;
  plan->items = plan->batch * plan->kv_heads;
  size_t parts = 1;
  if (plan->items < 8 * threads)
    parts = larger(1, threads / common_divisor(plan->items, threads));
  size_t part_chunks = larger(1, round_up(chunks, parts) / parts);
  plan->parts = larger(1, round_up(chunks, part_chunks) / part_chunks);
}

// Tiles take queries and softmax weights as bf16, and vector units multiply them in one
// instruction; decode.h allows it with activations that are no more precise.
static void set_attention(struct plan *plan) {
  bool bf16 = plan->kernels->isa >= CPU_AVX512_BF16 &&
              plan->request.types.activations != ELEMENT_F32 && plan->group >= MIN_AMX_BATCH;
  plan->attention_input = bf16 ? ELEMENT_BF16 : ELEMENT_F32;
  plan->attention_kind = product_kind_of(plan->request.types.kv, plan->attention_input);
  plan->block_positions = smaller((size_t)plan->request.chunk, PROMPT_QUERIES / plan->group);
  plan->block_positions = larger(1, plan->block_positions);
}

static void set_cache(struct plan *plan) {
  enum element kv = plan->request.types.kv;
  set_attention(plan);
  size_t columns = plan->attention_input == ELEMENT_BF16 ? TILE_COLUMNS : 4;
  plan->key_columns = round_up(plan->key_width, columns);
  plan->value_rows = round_up(plan->value_width, PANEL_ROWS);
  plan->positions = round_up(plan->context, TILE_COLUMNS);
  plan->key_panel_bytes = panel_bytes(kv, plan->key_columns);
  // With latent attention a chunk's entries, transposed, are its values.
  plan->value_panel_bytes = panel_bytes(kv, plan->latent ? CHUNK : plan->positions);
  plan->key_bytes = plan->positions / PANEL_ROWS * plan->key_panel_bytes;
  plan->item_bytes = plan->key_bytes;
  if (plan->latent)
    plan->turned_floats = panels_of(plan->value_width) * plan->value_panel_bytes / sizeof(float);
  else
    plan->item_bytes += panels_of(plan->value_width) * plan->value_panel_bytes;
}

// An odd number of lines, so that rows do not compete for the same cache sets.
static size_t odd_lines(size_t bytes) {
  size_t lines = round_up(bytes, LINE_BYTES) / LINE_BYTES;
  return (lines | 1) * LINE_BYTES;
}

// Each input is as wide as the widest matrix that takes it.
static void set_inputs(struct plan *plan) {
  for (int m = 0; m < MATRICES; m++) {
    const struct matrix *matrix = &plan->matrix[m];
    if (matrix->copies == 0)
      continue;
    struct input *input = &plan->input[matrix->source];
    input->vectors = matrix->source == INPUT_PAIRS ? plan->pairs
                     : matrix->head_panels > 0     ? plan->vectors * plan->heads
                                                   : plan->vectors;
    size_t bytes = element_bytes(matrix->input);
    if (plan->request.chunk > 0) // as bf16 for the library
      bytes = larger(bytes, element_bytes(ELEMENT_BF16));
    input->stride = larger(
        input->stride, odd_lines(matrix->padded * bytes +
                                 blocks_sum_bytes(matrix->element, matrix->input, matrix->padded)));
  }
  size_t at = 0;
  for (int i = 0; i < INPUTS; i++) {
    plan->input[i].at = at;
    plan->input[i].first = plan->notes;
    at += plan->input[i].vectors * plan->input[i].stride;
    plan->notes += plan->input[i].vectors;
  }
  plan->block_bytes[BLOCK_INPUT] = at;
}

// Scratch space of a thread: a vector; the input of a product in its kernel's arrangement, or the
// vectors that chose one expert; then results of panels, or what attention needs.
static void set_room(struct plan *plan) {
  size_t widest = larger(plan->hidden, larger(plan->attended_width, plan->experts)), stride = 0;
  for (int m = 0; m < MATRICES; m++)
    widest = larger(widest, plan->matrix[m].padded);
  for (int i = 0; i < INPUTS; i++)
    stride = larger(stride, plan->input[i].stride);
  plan->row_floats = round_up(widest, PANEL_ROWS);
  if (plan->kernels->takes_arranged && plan->vectors >= MIN_ARRANGED_BATCH)
    plan->arranged_words = round_up(smaller(plan->vectors, MAX_ARRANGED_BATCH), ARRANGED_ROWS) *
                           stride / sizeof(int32_t);
  if (plan->pairs > plan->chosen)
    plan->gathered_bytes =
        plan->vectors * larger(plan->input[INPUT_MLP].stride,
                               plan->request.chunk > 0 ? plan->input[INPUT_PAIRS].stride : 0);
  size_t attention = plan->group * plan->block_positions *
                     (round_up(plan->key_columns, PANEL_ROWS) + 2 * CHUNK + plan->value_rows +
                      plan->partial_stride);
  plan->room_stride = plan->row_floats + plan->arranged_words +
                      plan->gathered_bytes / sizeof(float) + plan->turned_floats +
                      larger(plan->vectors * 4 * PANEL_ROWS, attention);
}

static void set_strides(struct plan *plan) {
  const struct decode_experts *experts = &plan->request.shape.experts;
  size_t gated = plan->dense_layers > 0 ? plan->ffn : 0;
  if (plan->dense_layers < plan->layers)
    gated = larger(gated, (size_t)experts->shared_hidden);
  plan->x_stride = round_up(plan->hidden, PANEL_ROWS);
  plan->qkv_stride = plan->matrix[MATRIX_QKV].panels * PANEL_ROWS;
  plan->attended_stride = round_up(plan->attended_width, PANEL_ROWS);
  plan->absorbed_stride = plan->sums_stride = plan->value_rows;
  plan->gated_stride = round_up(gated, PANEL_ROWS);
  plan->routed_stride = plan->matrix[MATRIX_ROUTER].panels * PANEL_ROWS;
  plan->groups_stride = round_up((plan->experts + 1 + 2 * plan->pairs) * sizeof(size_t) +
                                     plan->vectors * (sizeof(float) + sizeof(int32_t)),
                                 LINE_BYTES);
  plan->pair_stride = round_up(plan->matrix[MATRIX_EXPERT_DOWN].columns, PANEL_ROWS);
  plan->logits_stride = round_up(plan->vocab, PANEL_ROWS);
  plan->partial_stride = PANEL_ROWS + plan->value_rows; // largest and sum, then the values
}

size_t plan_embedding_row(const struct plan *plan) {
  const enum element head = plan->request.types.head;
  return element_has_blocks(head) ? element_row_bytes(head, plan->hidden)
                                  : plan->hidden * element_bytes(head);
}

// A prompt converts as many panels at a time as fit in UNPACKED_BYTES, in whole blocks of four.
static void set_prompt(struct plan *plan) {
  size_t widest = 0;
  if (plan->request.chunk == 0)
    return;
  for (int m = 0; m < MATRICES; m++)
    widest = larger(widest, plan->matrix[m].padded);
  size_t block_bytes = 4 * panel_bytes(ELEMENT_BF16, widest);
  plan->result_panels = 4 * larger(1, UNPACKED_BYTES / block_bytes);
  plan->unpacked_bytes = plan->result_panels / 4 * block_bytes;
  plan->result_floats = plan->vectors * plan->result_panels * PANEL_ROWS;
}

static void set_blocks(struct plan *plan) {
  const struct decode_types *types = &plan->request.types;
  size_t *bytes = plan->block_bytes, threads = (size_t)plan->threads;
  bytes[BLOCK_CACHE] = plan->layers * plan->items * plan->item_bytes;
  bytes[BLOCK_EMBEDDING] = plan->vocab * plan_embedding_row(plan);
  bytes[BLOCK_EMBEDDING_SCALES] = (is_scaled(types->head) ? plan->vocab : 1) * sizeof(float);
  bytes[BLOCK_VECTORS] =
      (plan->layers * plan->vector_stride + 2 * round_up(plan->hidden, PANEL_ROWS)) * sizeof(float);
  bytes[BLOCK_TURNS] = plan->vectors * plan->head_dim * sizeof(float);
  bytes[BLOCK_X] = plan->vectors * plan->x_stride * sizeof(float);
  bytes[BLOCK_QKV] = plan->vectors * plan->qkv_stride * sizeof(float);
  bytes[BLOCK_QUERY] =
      plan->vectors * plan->matrix[MATRIX_QUERY].panels * PANEL_ROWS * sizeof(float);
  if (plan->latent) {
    bytes[BLOCK_ABSORBED] = plan->vectors * plan->heads * plan->absorbed_stride * sizeof(float);
    bytes[BLOCK_SUMS] = plan->vectors * plan->heads * plan->sums_stride * sizeof(float);
  }
  bytes[BLOCK_ATTENDED] = plan->vectors * plan->attended_stride * sizeof(float);
  bytes[BLOCK_PARTIAL] =
      plan->items * plan->parts * plan->group * plan->partial_stride * sizeof(float);
  bytes[BLOCK_GATED] = plan->vectors * plan->gated_stride * sizeof(float);
  bytes[BLOCK_ROUTED] = plan->vectors * plan->routed_stride * sizeof(float);
  bytes[BLOCK_CHOSEN] = plan->layers * plan->pairs * sizeof(int);
  bytes[BLOCK_CHOSEN_WEIGHTS] = plan->pairs * sizeof(float);
  bytes[BLOCK_ROUTING] = routing_entries(&plan->request) * sizeof(uint16_t);
  bytes[BLOCK_GROUPS] = plan->pairs > 0 ? threads * plan->groups_stride : 0;
  bytes[BLOCK_PAIRS_GATED] = plan->pairs * plan->pair_stride * sizeof(float);
  bytes[BLOCK_INPUT_NOTES] = plan->notes * (sizeof(float) + sizeof(int32_t));
  bytes[BLOCK_LOGITS] = plan->batch * plan->logits_stride * sizeof(float);
  bytes[BLOCK_BEST] = threads * plan->batch * sizeof(int);
  bytes[BLOCK_ROOM] = threads * plan->room_stride * sizeof(float);
  bytes[BLOCK_UNPACKED] = threads * plan->unpacked_bytes;
  bytes[BLOCK_RESULTS] = threads * plan->result_floats * sizeof(float);
}

enum decode_status plan_make(const struct decode_request *request,
                             const struct cpu_kernels *kernels, struct plan *plan) {
  char words[LIMITS_WORDS];
  if (limits_fault(request, words))
    return DECODE_UNSUPPORTED;
  memset(plan, 0, sizeof *plan);
  plan->request = *request;
  plan->kernels = kernels;
  plan->threads = request->threads > 0 ? request->threads : threads_default();
  set_sizes(plan);
  set_matrices(plan);
  set_vectors(plan);
  set_inputs(plan);
  split_context(plan);
  set_cache(plan);
  set_strides(plan);
  set_room(plan);
  set_prompt(plan);
  set_blocks(plan);
  return DECODE_OK;
}

struct panel_share plan_share(const struct plan *plan, enum matrix_name name, int thread) {
  const struct matrix *matrix = &plan->matrix[name];
  if (matrix->copies == 0)
    return (struct panel_share){0, 0};
  size_t units = matrix->panels / matrix->grain, threads = (size_t)plan->threads;
  size_t first = units * (size_t)thread / threads * matrix->grain;
  size_t last = units * ((size_t)thread + 1) / threads * matrix->grain;
  return (struct panel_share){first, last - first};
}

struct panel_share plan_part(const struct plan *plan, enum matrix_name name,
                             struct panel_share *rest) {
  const size_t of_head = plan->matrix[name].head_panels;
  const size_t left = of_head ? of_head - rest->first % of_head : rest->count;
  const struct panel_share part = {rest->first, smaller(rest->count, left)};
  rest->first += part.count;
  rest->count -= part.count;
  return part;
}

size_t plan_share_bytes(const struct plan *plan, enum matrix_name name, int thread) {
  const struct matrix *matrix = &plan->matrix[name];
  return matrix->copies * plan_share(plan, name, thread).count * matrix->panel_bytes;
}

static size_t layer_bytes(const struct plan *plan, enum layer_kind kind, int thread) {
  size_t bytes = 0;
  for (int m = 0; m < MATRIX_HEAD; m++)
    if (plan_has(plan, kind, (enum matrix_name)m))
      bytes += plan_share_bytes(plan, (enum matrix_name)m, thread);
  return bytes;
}

size_t plan_weight_bytes(const struct plan *plan, int thread) {
  return plan->dense_layers * layer_bytes(plan, LAYER_DENSE, thread) +
         (plan->layers - plan->dense_layers) * layer_bytes(plan, LAYER_EXPERTS, thread) +
         plan_share_bytes(plan, MATRIX_HEAD, thread);
}

// One copy of the matrix, with its biases.
static uint64_t matrix_bytes(const struct matrix *matrix) {
  return element_tensor_bytes(matrix->element, matrix->rows, matrix->columns) +
         (matrix->biased ? matrix->rows * sizeof(float) : 0);
}

// Adds what layers of a kind cost: the bytes of their matrices except the routed experts', and two
// operations for each weight that a batch row is multiplied with.
static void add_layers(const struct plan *plan, enum layer_kind kind, size_t layers,
                       struct decode_cost *cost) {
  for (int m = 0; m < MATRIX_HEAD; m++) {
    const struct matrix *matrix = &plan->matrix[m];
    const bool routed = matrix_is_routed((enum matrix_name)m);
    if (!plan_has(plan, kind, (enum matrix_name)m))
      continue;
    if (!routed)
      cost->weight_bytes += layers * matrix->copies * matrix_bytes(matrix);
    cost->operations += 2 * layers * plan->batch * (routed ? plan->chosen : matrix->copies) *
                        matrix->rows * matrix->columns;
  }
}

static void add_experts(const struct plan *plan, struct decode_cost *cost) {
  if (plan->dense_layers == plan->layers)
    return;
  cost->expert_bytes = matrix_bytes(&plan->matrix[MATRIX_EXPERT_GATE_UP]) +
                       matrix_bytes(&plan->matrix[MATRIX_EXPERT_DOWN]);
  cost->expected_experts = routing_expected(&plan->request.shape, plan->request.batch);
}

// For each query head and position: two operations per element of a key, for the score, and of a
// value, for the sum.
static void add_attention(const struct plan *plan, struct decode_cost *cost) {
  const struct decode_types *types = &plan->request.types;
  const size_t entry = plan->latent ? plan->kv_width : 2 * plan->kv_width;
  for (size_t layer = 0; layer < plan->layers; layer++) {
    const size_t window = (size_t)family_layer(&plan->request.shape, (int)layer).window;
    const size_t positions = window > 0 && window < plan->context ? window : plan->context;
    cost->kv_bytes += plan->batch * (positions + 1) * entry * element_bytes(types->kv);
    cost->operations +=
        plan->batch * plan->heads * positions * 2 * (plan->key_width + plan->value_width);
  }
}

// Float vectors of the layers and the final norm. The bias for choosing experts is read if there
// are any.
static uint64_t vector_bytes(const struct plan *plan) {
  uint64_t floats = 0;
  for (int v = 0; v < VECTORS; v++) {
    const size_t times = v == VECTOR_CHOICE_BIAS ? plan->layers - plan->dense_layers
                         : v < VECTOR_FINAL_NORM ? plan->layers
                                                 : 1;
    floats += times * plan->vector[v].count;
  }
  return floats * sizeof(float);
}

// Bytes: every weight, scale, bias and norm once, except those of routed experts; the batch's rows
// of the embedding; the cache of all positions in the window, read, and one position, written.
// Operations: two for each weight of a product and row of the batch.
struct decode_cost plan_cost(const struct plan *plan) {
  struct decode_cost cost = {
      .weight_bytes = vector_bytes(plan) + matrix_bytes(&plan->matrix[MATRIX_HEAD]) +
                      element_tensor_bytes(plan->request.types.head, plan->batch, plan->hidden),
      .operations = 2 * plan->batch * plan->vocab * plan->hidden,
  };
  add_layers(plan, LAYER_DENSE, plan->dense_layers, &cost);
  add_layers(plan, LAYER_EXPERTS, plan->layers - plan->dense_layers, &cost);
  add_experts(plan, &cost);
  add_attention(plan, &cost);
  for (int b = 0; b < BLOCKS; b++)
    cost.resident_bytes += plan->block_bytes[b];
  for (int t = 0; t < plan->threads; t++)
    cost.resident_bytes += plan_weight_bytes(plan, t);
  return cost;
}
