#include "kernels/cpu/attention.h"

#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/state.h"
#include "kernels/decode.h"
#include "kernels/integers.h"
#include "kernels/rope.h"
#include "kernels/weights.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

// One piece of work: a kv head of one batch row, for all query heads that read it. It covers one
// vector with all or part of its positions, or several neighboring vectors of a prompt. Every key
// and value is read once.
struct attention_piece {
  const struct decode_state *state;
  const struct plan *plan;
  size_t layer, item, part;
  size_t vector, count;    // in the pass: the first vector, and how many
  size_t kv_head, queries; // count * group: vector by vector
  size_t first, last;      // positions
  float *query;            // [queries][query_stride], floats or bf16 in the same memory
  float *scores;           // [queries][CHUNK]
  float *weights;  // [queries][CHUNK], the softmax weights as bf16, or the scores themselves
  float *values;   // [queries][value_rows] of one chunk
  uint8_t *turned; // with latent attention, a chunk's entries as values: [value_rows / 16] panels
  float *partial;  // [queries][partial_stride]: largest score, sum of exponentials, and from
                   // PANEL_ROWS on the sum of values
};

static size_t query_stride(const struct plan *plan) {
  return round_up(plan->key_columns, PANEL_ROWS);
}

static struct attention_piece piece_at(const struct decode_state *state, size_t layer, size_t item,
                                       size_t vector, size_t count, float *room) {
  const struct plan *plan = &state->plan;
  struct attention_piece piece = {
      .state = state,
      .plan = plan,
      .layer = layer,
      .item = item,
      .vector = vector,
      .count = count,
      .kv_head = item % plan->kv_heads,
      .queries = count * plan->group,
      .first = line_begin(window_begin(plan, layer, pass_position(state, vector))),
      .last = pass_position(state, vector + count - 1) + 1,
      .query = room,
  };
  piece.scores = room + piece.queries * query_stride(plan);
  piece.weights = piece.scores;
  if (plan->attention_input == ELEMENT_BF16)
    piece.weights += piece.queries * CHUNK;
  piece.values = piece.scores + 2 * piece.queries * CHUNK;
  piece.partial = piece.values + piece.queries * plan->value_rows;
  piece.turned = (uint8_t *)(piece.partial + piece.queries * plan->partial_stride);
  return piece;
}

// The piece of attention with this index, of a row that makes a step.
static struct attention_piece piece_of_step(const struct decode_state *state, size_t layer,
                                            size_t index, float *room) {
  const struct plan *plan = &state->plan;
  size_t item = index / plan->parts, row = item / plan->kv_heads;
  struct attention_piece piece =
      piece_at(state, layer, item, pass_vector(&state->pass, row), 1, room);
  piece.part = index % plan->parts;
  if (plan->parts != 1)
    piece.partial = block_floats(state, BLOCK_PARTIAL) + index * plan->group * plan->partial_stride;
  const struct attention_span span = attention_span(state, layer);
  piece.first = span.begin + piece.part * span.part_positions;
  if (piece.last > piece.first + span.part_positions)
    piece.last = piece.first + span.part_positions;
  return piece;
}

static void turn(const struct attention_piece *piece, size_t vector, const float *in, float factor,
                 float *out) {
  const struct decode_shape *shape = &piece->plan->request.shape;
  const int width = rope_width(shape);
  const float *cosines = block_floats(piece->state, BLOCK_TURNS) + vector * piece->plan->head_dim;
  const float *sines = cosines + width / 2;
  for (int i = 0; i < width / 2; i++) {
    const struct rope_pair at = rope_pair(&shape->rope, width, i);
    const float x = in[at.a], y = in[at.b];
    out[at.a] = (x * cosines[i] - y * sines[i]) * factor;
    out[at.b] = (x * sines[i] + y * cosines[i]) * factor;
  }
}

// A head of queries or keys, normalized into `room` if the model has the norm, otherwise unchanged.
static const float *normalise_head(const struct attention_piece *piece, enum vector_name norm,
                                   const float *head, float *room) {
  const struct plan *plan = piece->plan;
  const float *weight = layer_vector(piece->state, norm, piece->layer);
  if (!weight)
    return head;
  plan->kernels->elementwise->normalise(head, weight, plan->head_dim,
                                        plan->request.shape.norm_epsilon, room);
  return room;
}

static const float *qkv_row(const struct attention_piece *piece, size_t vector) {
  return block_floats(piece->state, BLOCK_QKV) + vector * piece->plan->qkv_stride;
}

// Converts a vector to the type that attention multiplies.
static void store(const struct plan *plan, const float *from, size_t count, float *to) {
  if (plan->attention_input == ELEMENT_BF16)
    plan->kernels->elementwise->to_bf16(from, count, (uint16_t *)(void *)to);
  else if (to != from)
    memcpy(to, from, count * sizeof *to);
}

// A head's query, ready to be multiplied with the keys: the factor is applied. `room` is scratch.
static void make_query(const struct attention_piece *piece, size_t vector, size_t head,
                       float factor, float *room, float *out) {
  const struct plan *plan = piece->plan;
  if (!plan->latent) {
    const float *query = qkv_row(piece, vector) + head * plan->head_dim;
    turn(piece, vector, normalise_head(piece, VECTOR_Q_NORM, query, room), factor, out);
    return;
  }
  const float *absorbed = block_floats(piece->state, BLOCK_ABSORBED) +
                          (vector * plan->heads + head) * plan->absorbed_stride;
  const size_t still = plan->head_dim - (size_t)rope_width(&plan->request.shape);
  for (size_t d = 0; d < plan->value_width; d++)
    out[d] = absorbed[d] * factor;
  turn(piece, vector, latent_query(piece->state, vector, head) + still, factor,
       out + plan->value_width);
}

// Scores need q.k / sqrt(head_dim) and the shape's scale: both factors are applied to the queries.
static void take_queries(const struct attention_piece *piece) {
  const struct plan *plan = piece->plan;
  const float scale = plan->request.shape.score_scale;
  float factor = (scale != 0 ? scale : 1) / sqrtf((float)plan->head_dim);
  float *made = piece->scores, *room = piece->values; // both unused until later
  for (size_t d = plan->key_width; d < plan->key_columns; d++)
    made[d] = 0;
  for (size_t q = 0; q < piece->queries; q++) {
    size_t vector = piece->vector + q / plan->group;
    size_t head = piece->kv_head * plan->group + q % plan->group;
    make_query(piece, vector, head, factor, room, made);
    store(plan, made, plan->key_columns, piece->query + q * query_stride(plan));
  }
}

static void put(enum element element, uint8_t *at, float value) {
  if (element == ELEMENT_E4M3) {
    *at = e4m3_from_float(value);
    return;
  }
  uint16_t bits = bf16_from_float(value);
  memcpy(at, &bits, sizeof bits);
}

// The key of the piece's first vector; with latent attention the whole entry. `room` is scratch.
static void make_key(const struct attention_piece *piece, float *room, float *out) {
  const struct plan *plan = piece->plan;
  const float *from = qkv_row(piece, piece->vector) + plan->k_at + piece->kv_head * plan->key_width;
  if (!plan->latent) {
    turn(piece, piece->vector, normalise_head(piece, VECTOR_K_NORM, from, room), 1, out);
    return;
  }
  const float *weight = layer_vector(piece->state, VECTOR_KV_A_NORM, piece->layer);
  plan->kernels->elementwise->normalise(from, weight, plan->value_width,
                                        plan->request.shape.norm_epsilon, out);
  turn(piece, piece->vector, from + plan->value_width, 1, out + plan->value_width);
}

// Writes the key and value of the piece's first vector to its position.
static void store_slot(const struct attention_piece *piece) {
  const struct plan *plan = piece->plan;
  enum element kv = plan->request.types.kv;
  size_t position = pass_position(piece->state, piece->vector);
  const float *value =
      qkv_row(piece, piece->vector) + plan->v_at + piece->kv_head * plan->value_width;
  float *key = piece->query, *room = piece->values; // unused until later, and one after the other
  uint8_t *keys = cache_keys(piece->state, piece->layer, piece->item) +
                  position / PANEL_ROWS * plan->key_panel_bytes;
  uint8_t *values = cache_values(piece->state, piece->layer, piece->item);
  make_key(piece, room, key);
  for (size_t d = 0; d < plan->key_width; d++)
    put(kv, keys + panel_offset(kv, position % PANEL_ROWS, d), key[d]);
  for (size_t d = 0; !plan->latent && d < plan->value_width; d++)
    put(kv,
        values + d / PANEL_ROWS * plan->value_panel_bytes +
            panel_offset(kv, d % PANEL_ROWS, position),
        value[d]);
}

static void score(const struct attention_piece *piece, size_t first, size_t last) {
  const struct plan *plan = piece->plan;
  struct product product = {
      .panels = cache_keys(piece->state, piece->layer, piece->item) +
                first / PANEL_ROWS * plan->key_panel_bytes,
      .panel_stride = plan->key_panel_bytes,
      .panel_count = round_up(last - first, PANEL_ROWS) / PANEL_ROWS,
      .columns = plan->key_columns,
      .in = piece->query,
      .in_stride = query_stride(plan) * sizeof(float),
      .batch = piece->queries,
      .one_stream = plan->one_stream,
      .out = piece->scores,
      .out_stride = CHUNK,
  };
  plan->kernels->product[plan->attention_kind](&product);
}

// Turns positions first..last of the keys' panels into panels of values: positions side by side.
static void turn_entries(const struct attention_piece *piece, size_t first, size_t last) {
  const struct plan *plan = piece->plan;
  const enum element kv = plan->request.types.kv;
  const uint8_t *keys = cache_keys(piece->state, piece->layer, piece->item);
  const size_t size = element_bytes(kv);
  for (size_t position = first; position < round_up(last, TILE_COLUMNS); position++) {
    const uint8_t *from = keys + position / PANEL_ROWS * plan->key_panel_bytes;
    const size_t row = position % PANEL_ROWS, column = position - first;
    for (size_t d = 0; d < plan->value_width; d++)
      memcpy(piece->turned + d / PANEL_ROWS * plan->value_panel_bytes +
                 panel_offset(kv, d % PANEL_ROWS, column),
             from + panel_offset(kv, row, d), size);
  }
}

static void weigh_values(const struct attention_piece *piece, size_t first, size_t last) {
  const struct plan *plan = piece->plan;
  enum element kv = plan->request.types.kv;
  const uint8_t *values = piece->turned;
  if (plan->latent)
    turn_entries(piece, first, last);
  else
    values = cache_values(piece->state, piece->layer, piece->item) + panel_bytes(kv, first);
  struct product product = {
      .panels = values,
      .panel_stride = plan->value_panel_bytes,
      .panel_count = plan->value_rows / PANEL_ROWS,
      .columns = round_up(last - first, TILE_COLUMNS),
      .in = piece->weights,
      .in_stride = CHUNK * sizeof(float),
      .batch = piece->queries,
      .one_stream = plan->one_stream,
      .out = piece->values,
      .out_stride = plan->value_rows,
  };
  plan->kernels->product[plan->attention_kind](&product);
}

// Prefetches part `part` of `parts` of a run of lines. Without the empty statement the compiler
// would take the function for one without effect.
static void prefetch(const uint8_t *from, size_t bytes, size_t part, size_t parts) {
  size_t lines = bytes / LINE_BYTES, last = lines * (part + 1) / parts;
  for (size_t i = lines * part / parts; i < last; i++) {
    __builtin_prefetch(from + i * LINE_BYTES, 0, 2);
    __asm__ volatile("");
  }
}

// The pieces that a kernel reads in one go are too short for its own prefetching, so this chunk's
// values and the next keys are prefetched while each head's softmax is computed.
static void prefetch_next(const struct attention_piece *piece, size_t first, size_t last,
                          size_t query) {
  const struct plan *plan = piece->plan;
  enum element kv = plan->request.types.kv;
  const uint8_t *keys = cache_keys(piece->state, piece->layer, piece->item);
  const uint8_t *values = keys + plan->key_bytes;
  for (size_t p = 0; !plan->latent && p < plan->value_rows / PANEL_ROWS; p++)
    prefetch(values + p * plan->value_panel_bytes + panel_bytes(kv, first),
             panel_bytes(kv, last - first), query, piece->queries);
  size_t next = last / PANEL_ROWS * plan->key_panel_bytes;
  if (last >= piece->last) // where the next item's keys begin
    next = plan->item_bytes + piece->first / PANEL_ROWS * plan->key_panel_bytes;
  prefetch(keys + next, CHUNK / PANEL_ROWS * plan->key_panel_bytes, query, piece->queries);
}

// Which of positions first..last a query sees, counted from first: those up to its own position, as
// far back as the layer's window reaches.
struct sight {
  size_t begin, end;
};

static struct sight sight_of(const struct attention_piece *piece, size_t query, size_t first,
                             size_t last) {
  const size_t position = pass_position(piece->state, piece->vector + query / piece->plan->group);
  const size_t begin = window_begin(piece->plan, piece->layer, position), end = position + 1;
  if (end <= first || begin >= last)
    return (struct sight){0, 0};
  return (struct sight){begin > first ? begin - first : 0, (end < last ? end : last) - first};
}

// Turns a chunk's scores into weights relative to the largest score so far; those that the query
// does not see become 0. The factor left in partial[2] rescales what was summed before.
static void soften(const struct attention_piece *piece, size_t first, size_t last) {
  const struct plan *plan = piece->plan;
  const struct elementwise *elementwise = plan->kernels->elementwise;
  for (size_t q = 0; q < piece->queries; q++) {
    float *scores = piece->scores + q * CHUNK, *partial = piece->partial + q * plan->partial_stride;
    const struct sight sight = sight_of(piece, q, first, last);
    size_t count = sight.end - sight.begin, padded = round_up(last - first, TILE_COLUMNS);
    prefetch_next(piece, first, last, q);
    float before = partial[0], most = elementwise->largest(scores + sight.begin, count);
    partial[0] = most > before ? most : before;
    partial[2] = count ? expf(before - partial[0]) : 1;
    partial[1] = partial[1] * partial[2] +
                 elementwise->exponentials(scores + sight.begin, count, partial[0]);
    memset(scores, 0, sight.begin * sizeof *scores);
    memset(scores + sight.end, 0, (padded - sight.end) * sizeof *scores);
    store(plan, scores, padded, piece->weights + q * CHUNK);
  }
}

static void attend_chunk(const struct attention_piece *piece, size_t first, size_t last) {
  const struct plan *plan = piece->plan;
  score(piece, first, last);
  soften(piece, first, last);
  weigh_values(piece, first, last);
  for (size_t q = 0; q < piece->queries; q++) {
    float *partial = piece->partial + q * plan->partial_stride;
    plan->kernels->elementwise->scale_add(partial + PANEL_ROWS, partial[2],
                                          piece->values + q * plan->value_rows, plan->value_rows);
  }
}

// Where a head's sum of values goes.
static float *sum_at(const struct decode_state *state, size_t vector, size_t head) {
  const struct plan *plan = &state->plan;
  if (plan->latent)
    return block_floats(state, BLOCK_SUMS) + (vector * plan->heads + head) * plan->sums_stride;
  return block_floats(state, BLOCK_ATTENDED) + vector * plan->attended_stride +
         head * plan->head_dim;
}

// Nothing is summed yet. A sink is a score without a value; only the first part counts it.
static void begin_partials(const struct attention_piece *piece) {
  const struct plan *plan = piece->plan;
  const float *sinks = layer_vector(piece->state, VECTOR_SINKS, piece->layer);
  memset(piece->partial, 0, piece->queries * plan->partial_stride * sizeof(float));
  for (size_t q = 0; q < piece->queries; q++) {
    float *partial = piece->partial + q * plan->partial_stride;
    const bool sink = sinks && piece->part == 0;
    partial[0] = sink ? sinks[piece->kv_head * plan->group + q % plan->group] : -INFINITY;
    partial[1] = sink ? 1 : 0;
  }
}

static void attend_piece(const struct attention_piece *piece) {
  begin_partials(piece);
  if (piece->first >= piece->last)
    return;
  take_queries(piece);
  for (size_t first = piece->first; first < piece->last; first += CHUNK)
    attend_chunk(piece, first, first + CHUNK < piece->last ? first + CHUNK : piece->last);
}

static void divide(const struct attention_piece *piece) {
  const struct plan *plan = piece->plan;
  for (size_t q = 0; q < piece->queries; q++) {
    const float *partial = piece->partial + q * plan->partial_stride;
    float *out = sum_at(piece->state, piece->vector + q / plan->group,
                        piece->kv_head * plan->group + q % plan->group);
    for (size_t d = 0; d < plan->value_width; d++)
      out[d] = partial[PANEL_ROWS + d] / partial[1];
  }
}

static void attend_steps(const struct decode_state *state, size_t layer, int thread, float *room) {
  const struct plan *plan = &state->plan;
  const struct pass *pass = &state->pass;
  struct panel_share pieces = attention_share(plan, thread);
  for (size_t i = pieces.first; i < pieces.first + pieces.count; i++) {
    if (pass->prompt_count && i / plan->parts / plan->kv_heads == pass->prompt_row)
      continue;
    struct attention_piece piece = piece_of_step(state, layer, i, room);
    if (piece.first <= state->position && piece.last > state->position)
      store_slot(&piece);
    attend_piece(&piece);
    if (plan->parts == 1)
      divide(&piece);
  }
}

// Later positions see more, so a thread takes blocks from all over the prompt.
static void attend_prompt(const struct decode_state *state, size_t layer, int thread, float *room) {
  const struct plan *plan = &state->plan;
  const struct pass *pass = &state->pass;
  size_t turn_of = 0, item = pass->prompt_row * plan->kv_heads;
  for (size_t first = 0; first < pass->prompt_count; first += plan->block_positions)
    for (size_t head = 0; head < plan->kv_heads; head++) {
      if (turn_of++ % (size_t)plan->threads != (size_t)thread)
        continue;
      size_t left = pass->prompt_count - first;
      size_t count = left < plan->block_positions ? left : plan->block_positions;
      struct attention_piece piece = piece_at(state, layer, item + head, first, count, room);
      attend_piece(&piece);
      divide(&piece);
    }
}

void cpu_store_prompt(const struct decode_state *state, size_t layer, int thread, float *room) {
  const struct plan *plan = &state->plan;
  const struct pass *pass = &state->pass;
  size_t threads = (size_t)plan->threads, item = pass->prompt_row * plan->kv_heads;
  for (size_t vector = (size_t)thread; vector < pass->prompt_count; vector += threads)
    for (size_t head = 0; head < plan->kv_heads; head++) {
      struct attention_piece piece = piece_at(state, layer, item + head, vector, 1, room);
      store_slot(&piece);
    }
}

void cpu_attend(const struct decode_state *state, size_t layer, int thread, float *room) {
  const struct pass *pass = &state->pass;
  if (pass->vectors > pass->prompt_count)
    attend_steps(state, layer, thread, room);
  if (pass->prompt_count)
    attend_prompt(state, layer, thread, room);
}

static void join_head(const struct plan *plan, const float *partials, float *out) {
  size_t stride = plan->group * plan->partial_stride;
  float most = -INFINITY, sum = 0;
  for (size_t part = 0; part < plan->parts; part++)
    most = fmaxf(most, partials[part * stride]);
  for (size_t d = 0; d < plan->value_width; d++)
    out[d] = 0;
  for (size_t part = 0; part < plan->parts; part++) {
    const float *partial = partials + part * stride;
    float factor = expf(partial[0] - most);
    sum += partial[1] * factor;
    for (size_t d = 0; d < plan->value_width; d++)
      out[d] += partial[PANEL_ROWS + d] * factor;
  }
  for (size_t d = 0; d < plan->value_width; d++)
    out[d] /= sum;
}

void cpu_attend_join(const struct decode_state *state, size_t vector, size_t head) {
  const struct plan *plan = &state->plan;
  if (plan->parts == 1 || vector < state->pass.prompt_count)
    return;
  size_t item = pass_row(&state->pass, vector) * plan->kv_heads + head / plan->group;
  const float *partials =
      block_floats(state, BLOCK_PARTIAL) +
      (item * plan->parts * plan->group + head % plan->group) * plan->partial_stride;
  join_head(plan, partials, sum_at(state, vector, head));
}
