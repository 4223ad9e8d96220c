// What is particular to latent attention on GPUs, kernel by kernel, run by the host emulator: the
// transposed k_b, products with a matrix for each head (exact for integers), and attention over
// latents, of steps and of prompts, compared with the oracle's.
// Deep: on all emulators, and as nvcc's PTX.
// Seconds: 3
#include "kernels/integers.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/emulated.h"

#include <math.h>
#include <string.h>

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/reference/stages.h"
#include "kernels/weights.h"

static void test_filling_turns_about(void **unused) {
  enum { HEADS = 3, COLUMNS = 20, WIDTH = 72, STRIDE = 64 };
  const uint64_t key = weights_key(7, TENSOR_K_B, 1);
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    int8_t *bell = emulated_take(sizeof weights_bell);
    memcpy(bell, weights_bell, sizeof weights_bell);
    const struct fill_arguments a = {.destination = emulated_take(HEADS * WIDTH * STRIDE * 2),
                                     .layout = FILL_TURNED,
                                     .rows = HEADS * WIDTH,
                                     .columns = COLUMNS,
                                     .stride = STRIDE,
                                     .head_dim = WIDTH,
                                     .key = key,
                                     .scale = 0.3f,
                                     .bell = bell};
    emulated_run(&emulated[p], "fill_bf16", 2, 1, 1, SMALL_THREADS, 0, &a, sizeof a);
    for (int i = 0; i < HEADS * WIDTH * STRIDE; i++) {
      const int head = i / STRIDE / WIDTH, d = i / STRIDE % WIDTH, n = i % STRIDE;
      const float q = (float)weights_q(key, size((head * COLUMNS + n) * WIDTH + d));
      const uint16_t expected = bf16_from_float(n < COLUMNS ? q * 0.3f : 0);
      assert_int_equal(((const uint16_t *)a.destination)[i], expected);
    }
    emulated_give_back();
  }
}

// ---- products by heads

struct heads {
  int heads, rows, columns, batch;
  int tile; // columns of a warp of the matrix tile; 0: by vectors
};

static int weight_at(int head, int row, int column) {
  return (row * 7 + column * 5 + row * column + head * 3) % 7 - 3;
}
static int input_at(int head, int vector, int column) {
  return (vector * 11 + column * 3 + vector * column + head * 5) % 15 - 7;
}

static void put(uint16_t *to, int value) {
  *to = bf16_from_float((float)value);
}

// Each head's own weights, its vectors, and these in the order in which the matrix tile reads them.
static void put_heads(const struct heads *t, const struct heads_arguments *a, uint16_t *weights,
                      uint16_t *activations, float *input) {
  const int stride = a->product.stride, row = a->product.input_stride;
  const int padded = a->product.batch_padded, apart = (int)a->input_step;
  for (int h = 0; h < t->heads; h++) {
    for (int i = 0; i < t->rows * stride; i++) {
      put(weights + h * t->rows * stride + i,
          i % stride < t->columns ? weight_at(h, i / stride, i % stride) : 0);
    }
    for (int i = 0; i < padded * stride; i++) {
      const bool is_inside = i / stride < t->batch && i % stride < t->columns;
      put(activations + h * padded * stride + i,
          is_inside ? input_at(h, i / stride, i % stride) : 0);
    }
    for (int i = 0; i < t->batch * t->columns; i++) {
      input[i / t->columns * row + h * apart + i % t->columns] =
          (float)input_at(h, i / t->columns, i % t->columns);
    }
  }
}

static void check_sums(const struct emulated *plugin, const char *kernel, const struct heads *t,
                       const float *output) {
  const int out = t->heads * t->rows;
  for (int i = 0; i < t->batch * out; i++) {
    const int b = i / out, h = i % out / t->rows, r = i % t->rows;
    int sum = 0;
    for (int c = 0; c < t->columns; c++) {
      sum += weight_at(h, r, c) * input_at(h, b, c);
    }
    if ((double)output[i] != sum) {
      fail_msg("%s, %s, vector %d, head %d, row %d: %g, not %d", plugin->name, kernel, b, h, r,
               (double)output[i], sum);
    }
  }
}

static void check_heads(const struct emulated *plugin, const struct heads *t) {
  const int stride = (int)round_up((size_t)t->columns, ROW_ALIGNMENT);
  const int apart = t->columns + 8, row = t->heads * apart; // in floats of the input
  int padded = t->tile;
  while (t->tile && padded < t->batch) {
    padded *= 2;
  }
  uint16_t *weights = emulated_take(size(t->heads * t->rows * stride) * sizeof *weights);
  uint16_t *activations = emulated_take(size(t->heads * padded * stride) * sizeof *activations);
  float *input = emulated_take(size(t->batch * row) * sizeof *input);
  const int out = t->heads * t->rows;
  struct heads_arguments a = {
      .product = {.weights = weights,
                  .rows = t->rows,
                  .columns = t->columns,
                  .stride = stride,
                  .batch = t->batch,
                  .input = input,
                  .activations = activations,
                  .batch_padded = padded,
                  .splits = 1,
                  .output = emulated_take(size(t->batch * out) * sizeof(float)),
                  .output_stride = out,
                  .input_stride = row},
      .input_step = apart,
      .output_step = t->rows,
      .activations_step = (uint64_t)(padded * stride) * 2};
  put_heads(t, &a, weights, activations, input);
  char kernel[64];
  const int vectors = t->batch > 2 ? VECTOR_BATCH : t->batch;
  const int groups = t->tile ? padded / t->tile : 1;
  const int block_rows = MATRIX_ROWS * MATRIX_WARPS / groups;
  if (t->tile) {
    const size_t shared =
        emulated_matrix_shared(plugin, ELEMENT_BF16, ELEMENT_BF16, MATRIX_CHUNK, &a.product);
    snprintf(kernel, sizeof kernel, "heads_matrix_bf16_bf16_store_%d", t->tile);
    emulated_run(plugin, kernel, (unsigned)((t->rows + block_rows - 1) / block_rows), 1,
                 (unsigned)t->heads, MATRIX_WARPS * plugin->warp, shared, &a, sizeof a);
  } else {
    snprintf(kernel, sizeof kernel, "heads_vector_bf16_bf16_round_store_%d", vectors);
    emulated_run(plugin, kernel, 2, 1, (unsigned)t->heads, VECTOR_THREADS,
                 vector_shared_bytes(stride, vectors, 2), &a, sizeof a);
  }
  check_sums(plugin, kernel, t, a.product.output);
  emulated_give_back();
}

static void test_products_by_heads_are_exact(void **unused) {
  static const struct heads shapes[] = {{3, 37, 20, 1, 0},    {1, 5, 600, 2, 0},
                                        {5, 3, 72, 3, 0},     {3, 72, 20, 7, 16},
                                        {2, 300, 72, 40, 16}, {3, 33, 300, 50, 64}};
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      check_heads(&emulated[p], &shapes[s]);
    }
  }
}

// ---- attention

struct latent {
  int batch, heads, head_dim, rank, rope_dim, context;
  int splits; // 0: a prompt's last `batch` positions of one row
  bool interleaved;
};

static int row_of(const struct latent *t, int b) {
  return t->splits ? b : 0;
}
static int position_of(const struct latent *t, int b) {
  return t->context - 1 - (t->splits ? 0 : t->batch - 1 - b);
}

static float value_at(int which, int b, int i) {
  return (float)weights_q((uint64_t)which, size(b * 1048576 + i)) / BELL_SIGMA * 1.37f;
}

static int stride_of(const struct latent *t) {
  return (int)round_up(size(t->rank + t->rope_dim), ROW_ALIGNMENT);
}

enum { ABSORBED = 1, QUERY, ENTRY, NORM, CACHE };

static float *take_values(int which, int batch, int count) {
  float *values = emulated_take(size(batch * count) * sizeof *values);
  for (int i = 0; i < batch * count; i++) {
    values[i] = value_at(which, i / count, i % count);
  }
  return values;
}

// What the kernels write is not a number beforehand; what lies beyond must not matter.
static void *take_latents(const struct emulated *plugin, enum element type, const struct latent *t,
                          int padded) {
  const int stride = stride_of(t), width = t->rank + t->rope_dim,
            rows = row_of(t, t->batch - 1) + 1;
  void *latents = emulated_take(size(rows * padded * stride) * element_bytes(type));
  memset(latents, 0, size(rows * padded * stride) * element_bytes(type));
  for (int i = 0; i < rows * padded * width; i++) {
    const int row = i / width / padded, position = i / width % padded, d = i % width;
    const bool is_new = position >= position_of(t, 0) && position < t->context;
    element_put(plugin, type, latents, size((row * padded + position) * stride + d),
                is_new ? NAN : value_at(CACHE, row, position * width + d) / 1.37f);
  }
  return latents;
}

// Rotates the rotary part of a query or of the entry.
static void turn(const struct latent *t, int position, const float *from, double *to) {
  const struct decode_shape shape = {.head_dim = t->head_dim,
                                     .rope_theta = 1e4f,
                                     .rope = {.interleaved = t->interleaved},
                                     .latent = {.rank = t->rank, .rope_dim = t->rope_dim}};
  for (int d = 0; d < t->rope_dim; d++) {
    to[d] = (double)from[d];
  }
  reference_rope(&shape, position, to);
}

// A stored new entry; its sums may fall on the other side of a rounding boundary.
static void check_entry(const struct emulated *plugin, enum element type, const struct latent *t,
                        const struct latent_arguments *a, int b) {
  const float *entry = a->entries + b * a->entry_stride;
  const double step = type == ELEMENT_BF16 ? 0x1p-8 : 0x1p-4;
  double expected[LATENT_STRIDE], squares = 0;
  for (int d = 0; d < t->rank; d++) {
    squares += (double)entry[d] * (double)entry[d];
  }
  for (int d = 0; d < t->rank; d++) {
    expected[d] =
        (double)entry[d] / sqrt(squares / t->rank + (double)a->epsilon) * (double)a->norm[d];
  }
  turn(t, position_of(t, b), entry + t->rank, expected + t->rank);
  const int first = (row_of(t, b) * a->context_padded + position_of(t, b)) * a->stride;
  for (int d = 0; d < t->rank + t->rope_dim; d++) {
    const double got = (double)element_get(plugin, type, a->latents, size(first + d));
    if (!(fabs(got - expected[d]) <= fmax(step * fabs(expected[d]) * 1.001, 0x1p-9))) {
      fail_msg("%s: element %d of new entry %d: %g, not %g", plugin->name, d, b, got, expected[d]);
    }
  }
}

// One head's output, from the current cache.
static void attend(const struct emulated *plugin, enum element type, const struct latent *t,
                   const struct latent_arguments *a, int b, int head, double *out) {
  static double scores[1024];
  const float *query = a->queries + b * a->query_stride + (head + 1) * t->head_dim - t->rope_dim;
  const float *absorbed = a->absorbed + (b * t->heads + head) * t->rank;
  const int last = position_of(t, b), before = row_of(t, b) * a->context_padded;
  double whole[LATENT_STRIDE];
  for (int d = 0; d < t->rank; d++) {
    whole[d] = (double)absorbed[d];
    out[d] = 0;
  }
  turn(t, last, query, whole + t->rank);
  for (int position = 0; position <= last; position++) {
    const size_t first = size((before + position) * a->stride);
    scores[position] = 0;
    for (int d = 0; d < t->rank + t->rope_dim; d++) {
      scores[position] += whole[d] * (double)element_get(plugin, type, a->latents, first + size(d));
    }
    scores[position] *= (double)a->score_scale / sqrt(t->head_dim);
  }
  reference_softmax(scores, size(last + 1));
  for (int position = 0; position <= last; position++) {
    const size_t first = size((before + position) * a->stride);
    for (int d = 0; d < t->rank; d++) {
      out[d] += scores[position] * (double)element_get(plugin, type, a->latents, first + size(d));
    }
  }
}

static double error_of(const struct emulated *plugin, enum element type, const struct latent *t,
                       const struct latent_arguments *a) {
  double difference = 0, norm = 0, out[LATENT_RANK];
  for (int b = 0; b < t->batch; b++) {
    check_entry(plugin, type, t, a, b);
    for (int head = 0; head < t->heads; head++) {
      attend(plugin, type, t, a, b, head, out);
      for (int d = 0; d < t->rank; d++) {
        const double got = (double)a->output[(b * t->heads + head) * t->rank + d];
        difference += (got - out[d]) * (got - out[d]);
        norm += out[d] * out[d];
      }
    }
  }
  return sqrt(difference / norm);
}

// [positions][head_dim], of those that are new.
static float *take_angles(const struct latent *t) {
  const int positions = t->splits ? 1 : t->batch;
  float *angles = emulated_take(size(positions * t->head_dim) * sizeof *angles);
  for (int i = 0; i < positions * t->rope_dim / 2; i++) {
    const int at = i / (t->rope_dim / 2), pair = i % (t->rope_dim / 2);
    const double angle = position_of(t, at) / pow(1e4, 2.0 * pair / t->rope_dim);
    angles[at * t->head_dim + 2 * pair] = (float)cos(angle);
    angles[at * t->head_dim + 2 * pair + 1] = (float)sin(angle);
  }
  return angles;
}

static void run_latent(const struct emulated *plugin, enum element type, const struct latent *t,
                       const struct latent_arguments *a, char (*kernel)[32]) {
  const int threads = LATENT_WARPS * plugin->warp;
  const unsigned blocks = (unsigned)((t->batch * t->heads + LATENT_HEADS - 1) / LATENT_HEADS);
  const size_t shared = latent_shared_bytes(a->stride, a->rank);
  if (t->splits) {
    snprintf(*kernel, sizeof *kernel, "latent_%s", element_names[type]);
    emulated_run(plugin, *kernel, (unsigned)t->splits, (unsigned)a->head_groups, (unsigned)t->batch,
                 threads, shared, a, sizeof *a);
    return;
  }
  snprintf(*kernel, sizeof *kernel, "latent_%s_entries", element_names[type]);
  emulated_run(plugin, *kernel, (unsigned)t->batch, 1, 1, SMALL_THREADS, 0, a, sizeof *a);
  snprintf(*kernel, sizeof *kernel, "latent_%s_prompt", element_names[type]);
  emulated_run(plugin, *kernel, blocks, 1, 1, threads, shared, a, sizeof *a);
}

static void check_latent(const struct emulated *plugin, enum element type, const struct latent *t) {
  const int padded = (int)round_up((size_t)t->context, VALUE_BLOCK), stride = stride_of(t);
  const int groups = (t->heads + LATENT_HEADS - 1) / LATENT_HEADS, items = t->batch * groups;
  const int query = t->heads * t->head_dim + 4, entry = t->rank + t->rope_dim + 8;
  const int partials = items * t->splits * LATENT_HEADS * (LATENT_RANK + ATTENTION_PARTIAL);
  const struct latent_arguments a = {
      .queries = take_values(QUERY, t->batch, query),
      .absorbed = take_values(ABSORBED, t->batch, t->heads * t->rank),
      .entries = take_values(ENTRY, t->batch, entry),
      .norm = take_values(NORM, 1, t->rank),
      .angles = take_angles(t),
      .latents = take_latents(plugin, type, t, padded),
      .query_stride = query,
      .entry_stride = entry,
      .heads = t->heads,
      .head_groups = groups,
      .head_dim = t->head_dim,
      .rank = t->rank,
      .rope_dim = t->rope_dim,
      .stride = stride,
      .context = t->context,
      .context_padded = padded,
      .splits = t->splits,
      .interleaved = t->interleaved,
      .epsilon = 1e-5f,
      .score_scale = 0.7f,
      .partials = emulated_take(size(partials + 1) * sizeof(float)),
      .counters = emulated_take(size(items) * sizeof(unsigned)),
      .output = emulated_take(size(t->batch * t->heads * t->rank) * sizeof(float)),
      .batch = t->batch,
      .first = position_of(t, 0)};
  memset(a.counters, 0, size(items) * sizeof(unsigned));
  char kernel[32];
  run_latent(plugin, type, t, &a, &kernel);
  const double error = error_of(plugin, type, t, &a);
  if (!(error < 4e-3)) { // as for attention: queries and softmax weights in bf16 alone
    fail_msg("%s, %s, batch %d, heads %d of %d, rank %d and %d, context %d, splits %d: error %g",
             plugin->name, kernel, t->batch, t->heads, t->head_dim, t->rank, t->rope_dim,
             t->context, t->splits, error);
  }
  for (int i = 0; i < items; i++) {
    assert_int_equal(a.counters[i], 0);
  }
  emulated_give_back();
}

// Heads of one group, of fewer and of more; ranks that do not fill a tile; contexts that end
// anywhere in a unit or a block; the largest supported size.
static const struct latent steps[] = {
    {1, 1, 8, 4, 4, 1, 1, false},      {2, 16, 44, 56, 12, 65, 2, true},
    {1, 17, 20, 72, 8, 200, 3, false}, {1, 33, 24, 100, 24, 32, 1, true},
    {1, 5, 12, 128, 8, 601, 5, false}, {1, 3, 72, 512, 64, 97, 2, true}};

// Prompts from the first position on or later, across units and blocks; columns of one position, of
// several, and of parts of two.
static const struct latent prompts[] = {
    {1, 1, 8, 4, 4, 1, 0, false},       {37, 3, 44, 56, 12, 37, 0, true},
    {5, 17, 20, 72, 8, 68, 0, false},   {3, 32, 24, 100, 24, 33, 0, true},
    {35, 1, 12, 128, 8, 200, 0, false}, {3, 5, 72, 512, 64, 66, 0, true}};

enum { SHAPES = sizeof steps / sizeof steps[0] };
_Static_assert(sizeof prompts == sizeof steps, "as many of each");

static void check_shapes(const struct latent shapes[SHAPES]) {
  for (size_t p = 0; p < EMULATED; p++) {
    for (size_t s = 0; s < SHAPES; s++) {
      check_latent(&emulated[p], s % 2 ? ELEMENT_E4M3 : ELEMENT_BF16, &shapes[s]);
      if (depth_is_full()) {
        check_latent(&emulated[p], s % 2 ? ELEMENT_BF16 : ELEMENT_E4M3, &shapes[s]);
      }
    }
  }
}

static void test_attention_is_the_oracles(void **unused) {
  (void)unused;
  check_shapes(steps);
}

static void test_prompts_are_the_oracles(void **unused) {
  (void)unused;
  check_shapes(prompts);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_filling_turns_about),
      cmocka_unit_test(test_products_by_heads_are_exact),
      cmocka_unit_test(test_attention_is_the_oracles),
      cmocka_unit_test(test_prompts_are_the_oracles),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
