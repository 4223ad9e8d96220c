#include "kernels/cpu/fill.h"

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/quantised.h"
#include "kernels/rope.h"
#include "kernels/routing.h"
#include "kernels/weights.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// How each entry of weights_bell is stored.
struct values {
  uint64_t key;
  void (*hashes)(uint64_t key, uint64_t first, size_t count, uint8_t *out);
  enum element element;
  float scale; // in a panel's header
  uint16_t bits[256];
  const struct quantised *quantised; // for elements with blocks
};

static uint16_t bits_of(enum element element, float q, float scale) {
  switch (element) {
  case ELEMENT_BF16: return bf16_from_float(q * scale);
  case ELEMENT_E4M3: return e4m3_from_float(q);
  case ELEMENT_INT8: return (uint8_t)(int8_t)q;
  default: break;
  }
  return 0;
}

// `quantised` is filled in for elements with blocks. One serves all tensors of a matrix, since they
// share the scale.
static struct values weight_values(const struct plan *plan, enum element element,
                                   enum tensor tensor, size_t layer, struct quantised *quantised) {
  struct values values = {
      .element = element,
      .key = weights_key(plan->request.seed, tensor, (int)layer),
      .scale = weights_scale(&plan->request.shape, tensor),
      .hashes = plan->kernels->elementwise->hashes,
  };
  if (element_has_blocks(element)) {
    quantise(element, values.scale, quantised);
    values.scale = quantised->scale;
    values.quantised = quantised;
  }
  for (int i = 0; i < 256; i++)
    values.bits[i] = bits_of(element, (float)weights_bell[i], values.scale);
  return values;
}

// The cache has no scale: it holds the value itself.
static struct values cache_values_of(const struct plan *plan, enum tensor tensor, size_t layer) {
  enum element kv = plan->request.types.kv;
  struct values values = weight_values(plan, kv, tensor, layer, NULL);
  for (int i = 0; i < 256; i++) {
    float value = (float)weights_bell[i] * values.scale;
    values.bits[i] = kv == ELEMENT_E4M3 ? e4m3_from_float(value) : bf16_from_float(value);
  }
  return values;
}

static inline __attribute__((always_inline)) void put(enum element element, uint8_t *at,
                                                      uint16_t bits) {
  if (element == ELEMENT_BF16)
    memcpy(at, &bits, sizeof bits);
  else
    *at = (uint8_t)bits;
}

enum { AT_ONCE = 256 }; // entries whose hashes are computed together

// Writes entries index.. of a tensor to one row of a panel; the element is a compile-time constant.
static inline __attribute__((always_inline)) void fill_row_of(enum element element,
                                                              const struct values *values,
                                                              uint64_t index, size_t count,
                                                              uint8_t *panel, size_t row) {
  uint8_t hashes[AT_ONCE];
  for (size_t first = 0; first < count; first += AT_ONCE) {
    size_t left = count - first, now = left < AT_ONCE ? left : AT_ONCE;
    values->hashes(values->key, index + first, now, hashes);
    for (size_t c = 0; c < now; c++)
      put(element, panel + panel_offset(element, row, first + c), values->bits[hashes[c]]);
  }
}

// One block of a row: its scale, and its codes unit by unit, with zeros after the row's last.
static void fill_block(const struct values *values, uint64_t index, size_t first, size_t count,
                       uint8_t *panel, size_t row) {
  const enum element element = values->element;
  const struct block_layout layout = block_layout(element);
  uint8_t hashes[MAX_BLOCK], codes[MAX_BLOCK] = {0};
  values->hashes(values->key, index + first, count, hashes);
  const int largest = quantised_largest(hashes, count);
  for (size_t i = 0; i < count; i++)
    codes[i] = values->quantised->codes[largest][hashes[i]];
  memcpy(panel + blocks_scale_at(element, row, first / layout.block),
         &values->quantised->scales[largest], layout.scale_bytes);
  for (size_t i = 0; i < count; i += layout.unit_columns)
    blocks_pack(element, codes + i, row, panel + blocks_unit_at(element, first + i));
}

static void fill_blocks(const struct values *values, uint64_t index, size_t count, uint8_t *panel,
                        size_t row) {
  const size_t block = block_layout(values->element).block;
  for (size_t first = 0; first < count; first += block)
    fill_block(values, index, first, count - first < block ? count - first : block, panel, row);
}

static void fill_row(const struct values *values, uint64_t index, size_t count, uint8_t *panel,
                     size_t row) {
  switch (values->element) {
  case ELEMENT_BF16: fill_row_of(ELEMENT_BF16, values, index, count, panel, row); break;
  case ELEMENT_E4M3: fill_row_of(ELEMENT_E4M3, values, index, count, panel, row); break;
  case ELEMENT_INT8: fill_row_of(ELEMENT_INT8, values, index, count, panel, row); break;
  default: fill_blocks(values, index, count, panel, row); break;
  }
}

// Fills rows first.. of a tensor, up to its `rows` rows; `before` rows of the tensor come before
// it.
static void fill_panel(const struct matrix *matrix, const struct values *values, size_t before,
                       size_t first, size_t rows, uint8_t *panel) {
  for (size_t r = 0; r < PANEL_ROWS && first + r < rows; r++) {
    if (matrix->header_bytes)
      memcpy(panel + r * sizeof(float), &values->scale, sizeof(float));
    fill_row(values, (uint64_t)(before + first + r) * matrix->columns, matrix->columns,
             panel + matrix->header_bytes, r);
  }
}

// Rows first.. of k_b^T of a head: row r, column n is k_b's entry (n, r). k_b is always bf16.
static void fill_transposed(const struct matrix *matrix, const struct values *values, size_t first,
                            size_t rows, size_t rank, uint8_t *panel) {
  const size_t head = first / rank, row = first % rank;
  uint8_t hashes[PANEL_ROWS];
  for (size_t n = 0; n < matrix->columns; n++) {
    values->hashes(values->key, (head * matrix->columns + n) * rank + row, PANEL_ROWS, hashes);
    for (size_t r = 0; r < PANEL_ROWS && first + r < rows; r++)
      put(values->element, panel + panel_offset(values->element, r, n), values->bits[hashes[r]]);
  }
}

// Which tensor a panel of a copy belongs to, and its place there.
struct tensor_rows {
  enum tensor tensor;
  size_t first, rows;
};

// Panels of gate and up alternate, if there is a gate.
static struct tensor_rows gate_or_up(const struct matrix *matrix, size_t panel, enum tensor gate,
                                     enum tensor up) {
  return (struct tensor_rows){matrix->grain == 1 || panel % 2 ? up : gate,
                              panel / matrix->grain * PANEL_ROWS, matrix->rows / matrix->grain};
}

// q_a (or wq) and kv_a.
static struct tensor_rows latent_rows(const struct plan *plan, size_t row) {
  const size_t low = plan->vector[VECTOR_Q_A_NORM].count;
  if (row >= plan->k_at)
    return (struct tensor_rows){TENSOR_KV_A, row - plan->k_at, plan->key_width};
  return low > 0 ? (struct tensor_rows){TENSOR_Q_A, row, low}
                 : (struct tensor_rows){TENSOR_WQ, row, plan->query_width};
}

// One head's panels after another's, each head padded by itself.
static struct tensor_rows head_rows(const struct plan *plan, const struct matrix *matrix,
                                    size_t panel, enum tensor tensor) {
  const size_t head = panel / matrix->head_panels, rows = matrix->rows / plan->heads;
  return (struct tensor_rows){tensor, head * rows + panel % matrix->head_panels * PANEL_ROWS,
                              (head + 1) * rows};
}

static struct tensor_rows origin_of(const struct plan *plan, enum matrix_name name, size_t panel) {
  static const enum tensor whole[MATRICES] = {
      [MATRIX_OUTPUT] = TENSOR_WO,
      [MATRIX_QUERY] = TENSOR_Q_B,
      [MATRIX_DOWN] = TENSOR_DOWN,
      [MATRIX_ROUTER] = TENSOR_ROUTER,
      [MATRIX_SHARED_DOWN] = TENSOR_SHARED_DOWN,
      [MATRIX_HEAD] = TENSOR_HEAD,
      [MATRIX_EXPERT_DOWN] = TENSOR_EXPERT_DOWN,
  };
  const struct matrix *matrix = &plan->matrix[name];
  size_t row = panel * PANEL_ROWS;
  switch (name) {
  case MATRIX_QKV:
    if (plan->latent)
      return latent_rows(plan, row);
    if (row < plan->k_at)
      return (struct tensor_rows){TENSOR_WQ, row, plan->query_width};
    if (row < plan->v_at)
      return (struct tensor_rows){TENSOR_WK, row - plan->k_at, plan->kv_width};
    return (struct tensor_rows){TENSOR_WV, row - plan->v_at, plan->kv_width};
  case MATRIX_KEY_B: return head_rows(plan, matrix, panel, TENSOR_K_B);
  case MATRIX_VALUE_B: return head_rows(plan, matrix, panel, TENSOR_V_B);
  case MATRIX_GATE_UP: return gate_or_up(matrix, panel, TENSOR_GATE, TENSOR_UP);
  case MATRIX_SHARED_GATE_UP:
    return gate_or_up(matrix, panel, TENSOR_SHARED_GATE, TENSOR_SHARED_UP);
  case MATRIX_EXPERT_GATE_UP:
    return gate_or_up(matrix, panel, TENSOR_EXPERT_GATE, TENSOR_EXPERT_UP);
  default: break;
  }
  return (struct tensor_rows){whole[name], row, matrix->rows};
}

static void fill_share(struct decode_state *state, int thread, enum matrix_name name,
                       size_t layer) {
  const struct plan *plan = &state->plan;
  const struct matrix *matrix = &plan->matrix[name];
  struct panel_share share = state->streams[thread].share[name];
  uint8_t *at = stream_at(state, thread, name, layer);
  struct values values[TENSORS];
  struct quantised quantised;
  bool ready[TENSORS] = {false};
  for (size_t p = 0; p < matrix->copies * share.count; p++, at += matrix->panel_bytes) {
    struct tensor_rows origin = origin_of(plan, name, share.first + p % share.count);
    if (!ready[origin.tensor])
      values[origin.tensor] =
          weight_values(plan, matrix->element, origin.tensor, layer, &quantised);
    ready[origin.tensor] = true;
    if (name == MATRIX_KEY_B)
      fill_transposed(matrix, &values[origin.tensor], origin.first, origin.rows, plan->value_width,
                      at);
    else
      fill_panel(matrix, &values[origin.tensor], p / share.count * origin.rows, origin.first,
                 origin.rows, at);
  }
}

static void fill_plain(const struct values *values, uint64_t index, size_t count, uint8_t *out) {
  uint8_t hashes[AT_ONCE];
  size_t size = element_bytes(values->element);
  for (size_t first = 0; first < count; first += AT_ONCE) {
    size_t left = count - first, now = left < AT_ONCE ? left : AT_ONCE;
    values->hashes(values->key, index + first, now, hashes);
    for (size_t i = 0; i < now; i++)
      put(values->element, out + (first + i) * size, values->bits[hashes[i]]);
  }
}

// A row in plain order, in the layout of element.h.
static void fill_packed(const struct values *values, uint64_t index, size_t count, uint8_t *row) {
  const enum element element = values->element;
  const size_t block = block_layout(element).block;
  uint8_t hashes[MAX_BLOCK];
  for (size_t first = 0; first < count; first += block) {
    const size_t left = count - first, now = left < block ? left : block;
    values->hashes(values->key, index + first, now, hashes);
    const int largest = quantised_largest(hashes, now);
    element_row_put_scale(element, row, count, first / block, values->quantised->scales[largest]);
    for (size_t i = 0; i < now; i++)
      element_row_put(element, row, first + i, values->quantised->codes[largest][hashes[i]]);
  }
}

static void fill_embedding(struct decode_state *state, int thread) {
  const struct plan *plan = &state->plan;
  enum element element = plan->request.types.head;
  struct quantised quantised;
  struct values values = weight_values(plan, element, TENSOR_EMBEDDING, 0, &quantised);
  size_t threads = (size_t)plan->threads, size = plan_embedding_row(plan);
  size_t first = plan->vocab * (size_t)thread / threads;
  size_t last = plan->vocab * ((size_t)thread + 1) / threads;
  uint8_t *rows = state->block[BLOCK_EMBEDDING];
  for (size_t row = first; row < last; row++)
    if (element_has_blocks(element))
      fill_packed(&values, row * plan->hidden, plan->hidden, rows + row * size);
    else
      fill_plain(&values, row * plan->hidden, plan->hidden, rows + row * size);
  if (element_has_blocks(element) && thread == 0)
    block_floats(state, BLOCK_EMBEDDING_SCALES)[0] = values.scale;
  if (is_scaled(element))
    for (size_t row = first; row < last; row++)
      block_floats(state, BLOCK_EMBEDDING_SCALES)[row] = values.scale;
}

// A norm's weight is 1 + q * scale; a bias or a sink is q * scale.
static void fill_vector(const struct decode_state *state, enum tensor tensor, size_t layer,
                        size_t first, size_t count, float *out) {
  const struct plan *plan = &state->plan;
  const uint64_t key = weights_key(plan->request.seed, tensor, (int)layer);
  const float scale = weights_scale(&plan->request.shape, tensor);
  const float offset = weights_is_norm(tensor) ? 1 : 0;
  for (size_t i = 0; i < count; i++)
    out[i] = offset + (float)weights_q(key, first + i) * scale;
}

// Fills a matrix's biases, in the order of its panels.
static void fill_bias(const struct decode_state *state, enum matrix_name name, size_t layer) {
  static const enum tensor biases[TENSORS] = {
      [TENSOR_WQ] = TENSOR_Q_BIAS,
      [TENSOR_WK] = TENSOR_K_BIAS,
      [TENSOR_WV] = TENSOR_V_BIAS,
      [TENSOR_WO] = TENSOR_O_BIAS,
      [TENSOR_GATE] = TENSOR_GATE_BIAS,
      [TENSOR_UP] = TENSOR_UP_BIAS,
      [TENSOR_DOWN] = TENSOR_DOWN_BIAS,
      [TENSOR_ROUTER] = TENSOR_ROUTER_BIAS,
      [TENSOR_EXPERT_GATE] = TENSOR_EXPERT_GATE_BIAS,
      [TENSOR_EXPERT_UP] = TENSOR_EXPERT_UP_BIAS,
      [TENSOR_EXPERT_DOWN] = TENSOR_EXPERT_DOWN_BIAS,
  };
  const struct matrix *matrix = &state->plan.matrix[name];
  for (size_t copy = 0; matrix->biased && copy < matrix->copies; copy++)
    for (size_t panel = 0; panel < matrix->panels; panel++) {
      const struct tensor_rows origin = origin_of(&state->plan, name, panel);
      const size_t left = origin.rows - origin.first;
      fill_vector(state, biases[origin.tensor], layer, copy * origin.rows + origin.first,
                  left < PANEL_ROWS ? left : PANEL_ROWS,
                  matrix_bias(state, name, layer, copy) + panel * PANEL_ROWS);
    }
}

static void fill_vectors(const struct decode_state *state) {
  static const enum tensor tensors[VECTORS] = {
      [VECTOR_ATTENTION_NORM] = TENSOR_ATTENTION_NORM,
      [VECTOR_ATTENTION_NORM_BIAS] = TENSOR_ATTENTION_NORM_BIAS,
      [VECTOR_FFN_NORM] = TENSOR_FFN_NORM,
      [VECTOR_FFN_NORM_BIAS] = TENSOR_FFN_NORM_BIAS,
      [VECTOR_Q_NORM] = TENSOR_Q_NORM,
      [VECTOR_K_NORM] = TENSOR_K_NORM,
      [VECTOR_Q_A_NORM] = TENSOR_Q_A_NORM,
      [VECTOR_KV_A_NORM] = TENSOR_KV_A_NORM,
      [VECTOR_SINKS] = TENSOR_SINKS,
      [VECTOR_CHOICE_BIAS] = TENSOR_ROUTER_BIAS,
      [VECTOR_FINAL_NORM] = TENSOR_FINAL_NORM,
      [VECTOR_FINAL_NORM_BIAS] = TENSOR_FINAL_NORM_BIAS,
  };
  const struct plan *plan = &state->plan;
  for (int v = 0; v < VECTORS; v++)
    for (size_t layer = 0; layer < (v < VECTOR_FINAL_NORM ? plan->layers : 1); layer++)
      if (plan->vector[v].count > 0)
        fill_vector(state, tensors[v], layer, 0, plan->vector[v].count,
                    layer_vector(state, (enum vector_name)v, layer));
  for (size_t layer = 0; layer < plan->layers; layer++)
    for (int m = 0; m < MATRIX_HEAD; m++)
      if (plan_has(plan, plan_layer_kind(plan, layer), (enum matrix_name)m))
        fill_bias(state, (enum matrix_name)m, layer);
}

void cpu_fill_turns(struct decode_state *state, size_t vector, size_t position) {
  const struct plan *plan = &state->plan;
  const int half = rope_width(&plan->request.shape) / 2;
  double cosines[MAX_HEAD_DIM / 2], sines[MAX_HEAD_DIM / 2];
  float *turns = block_floats(state, BLOCK_TURNS) + vector * plan->head_dim;
  rope_turns(&plan->request.shape, (int)position, cosines, sines);
  for (int i = 0; i < half; i++) {
    turns[i] = (float)cosines[i];
    turns[half + i] = (float)sines[i];
  }
}

// Positions are rows of the keys' panels and columns of the values' panels.
static void fill_position(const struct decode_state *state, size_t layer, size_t item,
                          size_t position, const struct values *keys, const struct values *values) {
  const struct plan *plan = &state->plan;
  size_t row = item / plan->kv_heads, head = item % plan->kv_heads;
  uint64_t index = (row * plan->context + position) * plan->kv_width + head * plan->key_width;
  uint8_t *key = cache_keys(state, layer, item) + position / PANEL_ROWS * plan->key_panel_bytes;
  fill_row(keys, index, plan->key_width, key, position % PANEL_ROWS);
  if (plan->latent)
    return;
  uint8_t *panels = cache_values(state, layer, item), hashes[MAX_HEAD_DIM];
  values->hashes(values->key, index, plan->head_dim, hashes);
  for (size_t d = 0; d < plan->head_dim; d++)
    put(values->element,
        panels + d / PANEL_ROWS * plan->value_panel_bytes +
            panel_offset(values->element, d % PANEL_ROWS, position),
        values->bits[hashes[d]]);
}

static void fill_cache(struct decode_state *state, size_t layer, int thread) {
  const struct plan *plan = &state->plan;
  struct values keys = cache_values_of(plan, plan->latent ? TENSOR_LATENTS : TENSOR_KEYS, layer);
  struct values values = cache_values_of(plan, TENSOR_VALUES, layer);
  const struct attention_span span = attention_span(state, layer);
  struct panel_share pieces = attention_share(plan, thread);
  for (size_t i = pieces.first; i < pieces.first + pieces.count; i++) {
    const size_t part = i % plan->parts, begin = span.begin + part * span.part_positions;
    const size_t last = begin + span.part_positions;
    for (size_t position = part == 0 ? 0 : begin; position < last && position < span.end;
         position++)
      fill_position(state, layer, i / plan->parts, position, &keys, &values);
  }
}

void cpu_fill(struct decode_state *state, int thread) {
  const struct plan *plan = &state->plan;
  for (size_t layer = 0; layer < plan->layers; layer++) {
    for (int m = 0; m < MATRIX_HEAD; m++)
      if (plan_has(plan, plan_layer_kind(plan, layer), (enum matrix_name)m))
        fill_share(state, thread, (enum matrix_name)m, layer);
    fill_cache(state, layer, thread);
  }
  fill_share(state, thread, MATRIX_HEAD, 0);
  fill_embedding(state, thread);
  if (thread == 0) {
    fill_vectors(state);
    if (plan->request.routing != ROUTING_MODEL)
      routing_fill(&plan->request, state->block[BLOCK_ROUTING]);
  }
}
