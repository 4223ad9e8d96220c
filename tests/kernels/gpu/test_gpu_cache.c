// The kernels that fill the GPU's memory, and attention over the resulting cache, run separately by
// the host emulator: weights and cache are bit-identical to the host's, outputs match the oracle's.
// Deep: on all emulators, and as nvcc's PTX.
#include "kernels/integers.h"
#include "tests/support/kernels/emulated.h"

#include <math.h>
#include <string.h>

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/reference/reference.h"
#include "kernels/reference/stages.h"

static int8_t *make_bell(void) {
  int8_t *bell = emulated_take(sizeof weights_bell);
  memcpy(bell, weights_bell, sizeof weights_bell);
  return bell;
}

// `offset` and `behind` are of floats: the value added, and the distance in bytes of a 16-byte
// piece from the first.
static void check_fill(const struct emulated *plugin, enum element type, int rows, int columns,
                       float offset, size_t behind) {
  const float scale = type == ELEMENT_F32 ? 1.0f / 1024 : 0.3f; // 1 + q / 1024 is exact: weights.h
  const uint64_t key = weights_key(99, TENSOR_WQ, 3);
  const int stride = type == ELEMENT_F32 ? columns : (int)round_up((size_t)columns, ROW_ALIGNMENT);
  char *memory = emulated_take(size(rows * stride) * element_bytes(type) + behind);
  struct fill_arguments a = {.destination = memory + behind,
                             .layout = FILL_MATRIX,
                             .rows = rows,
                             .columns = columns,
                             .stride = stride,
                             .key = key,
                             .scale = scale,
                             .base = offset,
                             .bell = make_bell()};
  char kernel[32];
  snprintf(kernel, sizeof kernel, "fill_%s", element_names[type]);
  emulated_run(plugin, kernel, 2, 1, 1, SMALL_THREADS, 0, &a, sizeof a);
  for (int i = 0; i < rows * stride; i++) {
    const float q = (float)weights_q(key, size(i / stride * columns + i % stride));
    const float value = type == ELEMENT_F32    ? offset + q * scale
                        : type == ELEMENT_E4M3 ? q
                                               : q * scale;
    uint32_t expected = 0, got = 0;
    element_put(plugin, type, &expected, 0, i % stride < columns ? value : 0);
    memcpy(&got, (char *)a.destination + (size_t)i * element_bytes(type), element_bytes(type));
    if (got != expected) {
      fail_msg("%s, %s, %d x %d: element %d is %#x, not %#x", plugin->name, kernel, rows, columns,
               i, got, expected);
    }
  }
  emulated_give_back();
}

static const struct cache {
  int batch, kv_heads, head_dim, context;
} caches[] = {{1, 1, 2, 1}, {2, 3, 40, 63}, {1, 2, 64, 64}, {2, 1, 80, 65}, {1, 2, 128, 200}};
#define CACHES (sizeof caches / sizeof caches[0])

static int padded_context(const struct cache *c) {
  return (int)round_up((size_t)c->context, VALUE_BLOCK);
}
static int head_stride(const struct cache *c) {
  return (int)round_up((size_t)c->head_dim, ROW_ALIGNMENT);
}
static size_t key_count(const struct cache *c) {
  return size(c->batch * c->kv_heads * padded_context(c) * head_stride(c));
}
static size_t value_count(const struct cache *c) {
  return size(c->batch * c->kv_heads * padded_context(c) * c->head_dim);
}
static size_t key_place(const struct cache *c, int b, int head, int position, int d) {
  return size(((b * c->kv_heads + head) * padded_context(c) + position) * head_stride(c) + d);
}
static size_t value_place(const struct cache *c, int b, int head, int position, int d) {
  const int blocks = padded_context(c) / VALUE_BLOCK;
  const int block = (b * c->kv_heads + head) * blocks + position / VALUE_BLOCK;
  return size((block * c->head_dim + d) * VALUE_BLOCK + position % VALUE_BLOCK);
}

static void check_fill_cache(const struct emulated *plugin, enum element type,
                             const struct cache *c, enum fill_layout layout) {
  const uint64_t key = weights_key(5, TENSOR_KEYS, 1);
  const bool keys = layout == FILL_KEYS;
  const size_t count = keys ? key_count(c) : value_count(c);
  const int columns = c->kv_heads * c->head_dim, width = keys ? head_stride(c) : c->head_dim;
  const struct fill_arguments a = {.destination = emulated_take(count * element_bytes(type)),
                                   .layout = (int)layout,
                                   .rows = c->batch * c->context,
                                   .columns = columns,
                                   .stride = head_stride(c),
                                   .context = c->context,
                                   .context_padded = padded_context(c),
                                   .kv_heads = c->kv_heads,
                                   .head_dim = c->head_dim,
                                   .key = key,
                                   .scale = 1 / BELL_SIGMA,
                                   .bell = make_bell()};
  emulated_run(plugin, type == ELEMENT_BF16 ? "fill_bf16" : "fill_e4m3", 3, 1, 1, SMALL_THREADS, 0,
               &a, sizeof a);
  for (int b = 0; b < c->batch; b++) {
    for (int head = 0; head < c->kv_heads; head++) {
      for (int i = 0; i < padded_context(c) * width; i++) {
        const int position = i / width, d = i % width;
        const uint64_t index = size((b * c->context + position) * columns + head * c->head_dim + d);
        const bool inside = position < c->context && d < c->head_dim;
        const float value = inside ? (float)weights_q(key, index) / BELL_SIGMA : 0;
        uint16_t expected = 0, got = 0;
        element_put(plugin, type, &expected, 0, value);
        const size_t place =
            keys ? key_place(c, b, head, position, d) : value_place(c, b, head, position, d);
        memcpy(&got, (char *)a.destination + place * element_bytes(type), element_bytes(type));
        if (got != expected) {
          fail_msg("%s, %s of %s: batch %d, head %d, position %d, element %d: %#x, not %#x",
                   plugin->name, keys ? "keys" : "values", element_names[type], b, head, position,
                   d, got, expected);
        }
      }
    }
  }
  emulated_give_back();
}

static void test_filling_is_the_hosts(void **unused) {
  static const int shapes[][2] = {{1, 1}, {3, 64}, {5, 65}, {7, 200}, {1, 4099}};
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
      check_fill(&emulated[p], ELEMENT_BF16, shapes[s][0], shapes[s][1], 0, 0);
      check_fill(&emulated[p], ELEMENT_E4M3, shapes[s][0], shapes[s][1], 0, 0);
      check_fill(&emulated[p], ELEMENT_F32, 1, shapes[s][1], 1, 0);
      check_fill(&emulated[p], ELEMENT_F32, 1, shapes[s][1], 0, 8);
    }
    for (size_t c = 0; c < CACHES; c++) {
      for (int e4m3 = 0; e4m3 < 2; e4m3++) {
        const enum element type = e4m3 ? ELEMENT_E4M3 : ELEMENT_BF16;
        check_fill_cache(&emulated[p], type, &caches[c], FILL_KEYS);
        check_fill_cache(&emulated[p], type, &caches[c], FILL_VALUES);
      }
    }
  }
}

// ---- attention

struct attended {
  const struct emulated *plugin;
  enum element type;
  struct cache cache;
  int group; // query heads to a KV head
  int splits;
};

static float cache_value(int which, int b, int head, int position, int d) {
  const uint64_t index = size(((b * 8 + head) * 1024 + position) * 256 + d);
  return (float)weights_q((uint64_t)which, index) / BELL_SIGMA;
}

static float qkv_value(int b, int i) {
  return (float)weights_q(3, size(b * 65536 + i)) / BELL_SIGMA * 1.37f;
}

static void make_cache(const struct attended *t, void *keys, void *values) {
  const struct cache *c = &t->cache;
  memset(keys, 0, key_count(c) * element_bytes(t->type));
  memset(values, 0, value_count(c) * element_bytes(t->type));
  for (int b = 0; b < c->batch; b++) {
    for (int head = 0; head < c->kv_heads; head++) {
      for (int position = 0; position < c->context; position++) {
        for (int d = 0; d < c->head_dim; d++) {
          const bool held = position < c->context - 1; // the kernel writes the new position
          element_put(t->plugin, t->type, keys, key_place(c, b, head, position, d),
                      held ? cache_value(1, b, head, position, d) : NAN);
          element_put(t->plugin, t->type, values, value_place(c, b, head, position, d),
                      held ? cache_value(2, b, head, position, d) : NAN);
        }
      }
    }
  }
}

// The new position's key and value are those of qkv, rotated and rounded; the key's sums may fall
// on the other side of a rounding boundary. Then the outputs, from the resulting cache.
static double check_attended(const struct attended *t, const struct attention_arguments *a,
                             double theta) {
  const struct cache *c = &t->cache;
  const int heads = c->kv_heads * t->group, width = c->kv_heads * c->head_dim;
  const int q_width = heads * c->head_dim, last = c->context - 1;
  const struct decode_shape shape = {
      .heads = heads, .kv_heads = c->kv_heads, .head_dim = c->head_dim, .rope_theta = (float)theta};
  double *query = emulated_take((size_t)q_width * sizeof *query),
         *out = emulated_take((size_t)q_width * sizeof *out);
  double *scores = emulated_take((size_t)c->context * sizeof *scores);
  double *key = emulated_take((size_t)c->head_dim * sizeof *key), difference = 0, norm = 0;
  float *keys = emulated_take(size(c->context * width) * sizeof *keys);
  float *values = emulated_take(size(c->context * width) * sizeof *values);
  for (int b = 0; b < c->batch; b++) {
    for (int head = 0; head < c->kv_heads; head++) {
      for (int d = 0; d < c->head_dim; d++) {
        key[d] = (double)qkv_value(b, q_width + head * c->head_dim + d);
      }
      reference_rope(&shape, last, key);
      for (int d = 0; d < c->head_dim; d++) {
        float value = 0;
        element_put(t->plugin, t->type, &value, 0,
                    qkv_value(b, q_width + width + head * c->head_dim + d));
        assert_true(element_get(t->plugin, t->type, a->values, value_place(c, b, head, last, d)) ==
                    element_get(t->plugin, t->type, &value, 0));
        const double got =
            (double)element_get(t->plugin, t->type, a->keys, key_place(c, b, head, last, d));
        const double step = t->type == ELEMENT_BF16 ? 0x1p-8 : 0x1p-4;
        assert_true(fabs(got - key[d]) <= fmax(step * fabs(key[d]) * 1.001, 0x1p-9));
      }
      for (int i = 0; i < c->context * c->head_dim; i++) {
        const int position = i / c->head_dim, d = i % c->head_dim;
        const int to = position * width + head * c->head_dim + d;
        keys[to] = element_get(t->plugin, t->type, a->keys, key_place(c, b, head, position, d));
        values[to] =
            element_get(t->plugin, t->type, a->values, value_place(c, b, head, position, d));
      }
    }
    for (int i = 0; i < q_width; i++) {
      query[i] = (double)qkv_value(b, i);
    }
    for (int head = 0; head < heads; head++) {
      reference_rope(&shape, last, query + head * c->head_dim);
    }
    reference_attention(&shape, c->context, query, keys, values, NULL, scores, out);
    for (int i = 0; i < q_width; i++) {
      const double got = (double)a->output[b * q_width + i];
      difference += (got - out[i]) * (got - out[i]);
      norm += out[i] * out[i];
    }
  }
  return sqrt(difference / norm);
}

static void check_attention(const struct attended *t) {
  const struct cache *c = &t->cache;
  const double theta = 1e4;
  const int heads = c->kv_heads * t->group, tile_columns = t->plugin->warp / 4;
  const int padded = c->head_dim <= 64 ? 64 : c->head_dim <= 128 ? 128 : 256;
  const int head_groups = (t->group + tile_columns - 1) / tile_columns;
  const int width = (heads + 2 * c->kv_heads) * c->head_dim;
  const size_t counters = size(c->batch * c->kv_heads * head_groups);
  float *qkv = emulated_take(size(c->batch * width) * sizeof *qkv);
  float *angles = emulated_take((size_t)c->head_dim * sizeof *angles);
  for (int i = 0; i < c->batch * width; i++) {
    qkv[i] = qkv_value(i / width, i % width);
  }
  for (int i = 0; i < c->head_dim / 2; i++) {
    const double angle = (c->context - 1) / pow(theta, 2.0 * i / c->head_dim);
    angles[2 * i] = (float)cos(angle);
    angles[2 * i + 1] = (float)sin(angle);
  }
  const struct attention_arguments a = {
      .qkv = qkv,
      .angles = angles,
      .keys = emulated_take(key_count(c) * element_bytes(t->type)),
      .values = emulated_take(value_count(c) * element_bytes(t->type)),
      .batch = c->batch,
      .heads = heads,
      .kv_heads = c->kv_heads,
      .head_groups = head_groups,
      .head_dim = c->head_dim,
      .head_stride = head_stride(c),
      .context = c->context,
      .context_padded = padded_context(c),
      .splits = t->splits,
      .partials = emulated_take(
          counters * size(t->splits * tile_columns * (padded + ATTENTION_PARTIAL)) * sizeof(float)),
      .counters = emulated_take(counters * sizeof(unsigned)),
      .output = emulated_take(size(c->batch * heads * c->head_dim) * sizeof(float)),
  };
  memset(a.counters, 0, counters * sizeof(unsigned));
  make_cache(t, a.keys, a.values);
  char kernel[32];
  snprintf(kernel, sizeof kernel, "attention_%s_%d", element_names[t->type], padded);
  emulated_run(t->plugin, kernel, (unsigned)t->splits, (unsigned)(c->kv_heads * head_groups),
               (unsigned)c->batch, ATTENTION_WARPS * t->plugin->warp,
               attention_shared_bytes(padded, !t->plugin->any_chunk), &a, sizeof a);
  const double error = check_attended(t, &a, theta);
  if (!(error < 4e-3)) { // queries and softmax weights in bf16 alone account for 2e-3
    fail_msg("%s, %s, batch %d, kv heads %d x %d of %d, context %d, splits %d: error %g",
             t->plugin->name, kernel, c->batch, c->kv_heads, t->group, c->head_dim, c->context,
             t->splits, error);
  }
  for (size_t i = 0; i < counters; i++) {
    assert_int_equal(a.counters[i], 0);
  }
  emulated_give_back();
}

static void test_attention_is_the_oracles(void **unused) {
  static const int groups[] = {1, 7, 12}, splits[] = {1, 2, 3, 5};
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    for (size_t i = 0; i < CACHES * 2; i++) {
      for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
        struct attended t = {.plugin = &emulated[p],
                             .type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16,
                             .cache = caches[i / 2],
                             .group = groups[g]};
        const int blocks = padded_context(&t.cache) / VALUE_BLOCK, wanted = splits[(i + g) % 4];
        t.splits = wanted < blocks ? wanted : blocks;
        check_attention(&t);
      }
    }
    // More splits than a lane has in flight at a time, and columns than there are lanes for.
    const struct attended many = {.plugin = &emulated[p],
                                  .type = ELEMENT_BF16,
                                  .cache = {1, 1, 128, 2240},
                                  .group = 8,
                                  .splits = 35};
    check_attention(&many);
    // More positions than a block's warps handle at a time; as many blocks as a head has groups.
    for (int i = 0; i < 4; i++) {
      const struct attended t = {.plugin = &emulated[p],
                                 .type = i % 2 ? ELEMENT_E4M3 : ELEMENT_BF16,
                                 .cache = {1, 1, i < 2 ? 256 : 48, 601},
                                 .group = i < 2 ? 17 : 3,
                                 .splits = i < 2 ? 5 : 1};
      check_attention(&t);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_filling_is_the_hosts),
      cmocka_unit_test(test_attention_is_the_oracles),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
