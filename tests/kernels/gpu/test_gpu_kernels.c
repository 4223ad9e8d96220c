// The GPU kernels, run by the host emulator, compared with the oracle: shapes that are not
// multiples of a tile, every mix of types, warps of 32 and 64 lanes, and E4M3 in gfx942's form.
// Deep: also the scalar tile, and about three times as many requests.
// Seconds: 17, deep 50
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/plan/plan.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/odd_request.h"

#include <stdlib.h>
#include <string.h>

// By vectors, by vectors with one to spare, by matrix tiles.
static void test_every_mix_of_types(void **unused) {
  static const int batches[] = {1, 3, 5};
  (void)unused;
  for (size_t m = 0; m < ODD_MIXES; m++) {
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
      if (depth_is_full() || b == m % 3) {
        odd_check_next(&odd_shape, &odd_mixes[m], batches[b], 65, odd_one(m / 3 + b));
      }
    }
  }
}

static void test_every_group_of_heads(void **unused) {
  static const int groups[] = {1, 2, 4, 7, 8, 12, 17}, head_dims[] = {32, 64, 80, 96, 128, 2, 256};
  static const int contexts[] = {1, 2, 63, 64, 65, 200};
  (void)unused;
  size_t turn = 0;
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
    for (size_t d = 0; d < sizeof head_dims / sizeof head_dims[0]; d++, turn++) {
      const int kv_heads = 1 + (int)(turn / 2) % 2;
      if (odd_few() && turn % 2) {
        continue; // slow; the other half covers each group and each head size
      }
      const struct decode_shape shape = {.layers = 1,
                                         .hidden = 24,
                                         .heads = kv_heads * groups[g],
                                         .kv_heads = kv_heads,
                                         .head_dim = head_dims[d],
                                         .ffn_hidden = 19,
                                         .vocab = 61,
                                         .norm_epsilon = 1e-5f,
                                         .rope_theta = 1e4f};
      odd_check_next(&shape, &odd_mixes[turn % 2], 1 + (int)(turn % 7 == 6), contexts[turn % 6],
                     odd_widths(turn));
    }
  }
}

static void test_every_edge_of_context(void **unused) {
  static const int contexts[] = {1, 2, 63, 64, 65, 127, 128, 129, 200, 513};
  (void)unused;
  for (size_t c = 0; c < sizeof contexts / sizeof contexts[0]; c++) {
    for (size_t m = 0; m < 2; m++) {
      odd_check_next(&tiny_shape, &odd_mixes[m], 1 + (int)c % 2, contexts[c], odd_widths(c + m));
    }
  }
}

static void test_every_size_of_batch(void **unused) {
  static const int batches[] = {1, 2, 3, 4, 5, 8, 17, 33, 65, 130};
  static const size_t chosen[] = {0, 4, 8}; // of the mixes
  (void)unused;
  for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
    for (size_t m = 0; m < sizeof chosen / sizeof chosen[0]; m++) {
      if ((batches[b] <= 17 && depth_is_full()) ||
          (b % 3 == m && batches[b] <= (odd_few() ? 65 : 130))) {
        odd_check_next(&tiny_shape, &odd_mixes[chosen[m]], batches[b], 3, odd_one(b + m));
      }
    }
  }
}

// Rows longer than one round of a warp's loads, than a chunk, and than one block's share.
static void test_long_rows(void **unused) {
  static const int batches[] = {1, 2, 4, 6};
  const size_t apart = !depth_is_full() ? ODD_MIXES : odd_few() ? 8 : 4;
  struct decode_shape shape = {.layers = 1,
                               .hidden = 40,
                               .heads = 2,
                               .kv_heads = 1,
                               .head_dim = 16,
                               .ffn_hidden = 4230,
                               .vocab = 67,
                               .norm_epsilon = 1e-5f,
                               .rope_theta = 1e4f};
  (void)unused;
  for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
    for (size_t m = depth_is_full() ? 0 : b % 2 * 8; m < ODD_MIXES; m += apart) {
      odd_check_next(&shape, &odd_mixes[m], batches[b], 5, odd_one(m + b));
    }
  }
  shape.hidden = 700;
  shape.ffn_hidden = 301;
  odd_check_next(&shape, &odd_mixes[0], 9, 5, odd_widths(0));
  odd_check_next(&shape, &odd_mixes[9], 9, 5, odd_widths(1));
}

// Angles scaled for a context longer than the model was trained on: Llama 3.1's and YaRN's.
static void test_scaled_angles(void **unused) {
  static const struct decode_rope ropes[] = {
      {ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .original_context = 64},
      {ROPE_YARN, 32, .low = 1, .high = 32, .magnitude = 1.3466f, .original_context = 512},
  };
  struct decode_shape shape = odd_shape;
  (void)unused;
  for (size_t i = 0; i < sizeof ropes / sizeof ropes[0]; i++) {
    shape.rope = ropes[i];
    odd_check_next(&shape, &odd_mixes[i], 2, 130, odd_one(i));
  }
}

// Devices of other sizes: grids, splits and slices differ, the result does not.
static void test_every_size_of_device(void **unused) {
  static const int units[] = {1, 5, 24};
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.ffn_hidden = 1100;
  for (size_t u = odd_few(); u < sizeof units / sizeof units[0]; u++) {
    emulated_set("EMULATOR_UNITS", units[u]);
    if (depth_is_full() || u == 1) {
      odd_check_next(&shape, &odd_mixes[3 * u], 2, 300, odd_one(u));
    }
    if (depth_is_full() || u == 2) {
      odd_check_next(&shape, &odd_mixes[3 * u + 1], 6, 130, odd_one(u + depth_is_full()));
    }
  }
  unsetenv("EMULATOR_UNITS");
  emulated_set("EMULATOR_SHARED", 30000); // too little for the vectors of the second
  odd_check_next(&odd_shape, &odd_mixes[0], 4, 66, odd_widths(0) & ~odd_wgmma());
  shape.ffn_hidden = 4230;
  odd_check_next(&shape, &odd_mixes[0], 4, 66, odd_widths(1) & ~odd_wgmma());
  odd_check_next(&tiny_shape, &odd_mixes[8], 70, 3, odd_widths(2) & ~odd_wgmma());
  emulated_set("EMULATOR_SHARED", 80000); // the same beside the weights, or for all columns
  odd_check_next(&odd_shape, &odd_mixes[0], 4, 66, odd_wgmma());
  shape.ffn_hidden = 11000;
  odd_check_next(&shape, &odd_mixes[0], 4, 66, odd_wgmma());
  odd_check_next(&tiny_shape, &odd_mixes[8], 70, 3, odd_wgmma());
  unsetenv("EMULATOR_SHARED");
}

static void test_schedules_agree(void **unused) {
  static const int batches[] = {1, 4, 6};
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.layers = 1;
  shape.ffn_hidden = 600;
  emulated_set("EMULATOR_UNITS", 8);
  for (size_t i = 0; i < EMULATED * 2; i++) {
    const struct decode_request r =
        odd_request(&shape, &odd_mixes[3 * (i % 3)], batches[i % 3], 200);
    odd_schedules_agree(&emulated[i % EMULATED], &r);
  }
  unsetenv("EMULATOR_UNITS");
}

// A row of the batch gives the same logits regardless of its neighbors.
static void test_rows_are_independent(void **unused) {
  static float alone[ODD_LOGITS], among[ODD_LOGITS];
  static const int batches[] = {4, 6}, first[] = {1, 2, 3, 4, 5, 6};
  static const int other[] = {100, 101, 3, 103, 104, 105}; // but for row 2
  const size_t row = (size_t)odd_shape.vocab;
  (void)unused;
  for (size_t i = 0; i < EMULATED * 2; i++) {
    const struct emulated *plugin = &emulated[i / 2];
    const struct decode_request r = odd_request(&odd_shape, &odd_mixes[8], batches[i % 2], 37);
    struct decode_state *state = odd_state(plugin, &r);
    odd_step(plugin, &r, state, first, alone);
    odd_step(plugin, &r, state, other, among);
    assert_memory_equal(alone + 2 * row, among + 2 * row, row * sizeof *alone);
    assert_memory_not_equal(alone, among, row * sizeof *alone);
    plugin->backend->destroy(state);
  }
}

static unsigned char *region_at(const struct plan *plan, void *memory, enum plan_region region) {
  return (unsigned char *)memory + plan->region[region].offset;
}

// Everything that a step must write before it reads it becomes NaN: what passes between its stages,
// the new position's key and value, and all keys and values beyond the context (finite values:
// arguments/product.h promises zeros to the kernel there, which only zero weights can hide).
static void poison(const struct plan *plan, void *memory) {
  static const enum plan_region written[] = {
      REGION_X,           REGION_QKV_OUT,           REGION_ATTENDED, REGION_FFN_OUT, REGION_LOGITS,
      REGION_ACTIVATIONS, REGION_ACTIVATION_SCALES, REGION_PARTIALS, REGION_SCALED,  REGION_SQUARES,
      REGION_BEST,        REGION_BEST_INDEX};
  const struct decode_request *r = &plan->request;
  for (size_t i = 0; i < sizeof written / sizeof written[0]; i++) {
    memset(region_at(plan, memory, written[i]), 0xFF, plan->region[written[i]].layer_bytes);
  }
  const size_t element = r->types.kv == ELEMENT_BF16 ? 2 : 1;
  const size_t line = (size_t)plan->head_stride * element;
  const size_t per_layer = (size_t)r->batch * (size_t)r->shape.kv_heads;
  const size_t heads = per_layer * (size_t)r->shape.layers;
  for (size_t head = 0; head < heads; head++) {
    unsigned char *keys = region_at(plan, memory, REGION_KEYS) +
                          head / per_layer * plan->region[REGION_KEYS].layer_bytes +
                          head % per_layer * (size_t)plan->context_padded * line;
    memset(keys + (size_t)r->context * line, 0xFF,
           (size_t)(plan->context_padded - r->context) * line);
    memset(keys + (size_t)(r->context - 1) * line, 0xFF, (size_t)r->shape.head_dim * element);
    unsigned char *values =
        region_at(plan, memory, REGION_VALUES) +
        head / per_layer * plan->region[REGION_VALUES].layer_bytes +
        head % per_layer * (size_t)(plan->context_padded * r->shape.head_dim) * element;
    for (int position = r->context - 1; position < plan->context_padded; position++) {
      for (int d = 0; d < r->shape.head_dim; d++) {
        const int block = position / VALUE_BLOCK * r->shape.head_dim + d;
        memset(values + (size_t)(block * VALUE_BLOCK + position % VALUE_BLOCK) * element,
               position == r->context - 1 ? 0xFF : 0x44, element);
      }
    }
  }
}

static void check_poisoned(const struct emulated *plugin, const struct decode_request *r) {
  static float clean[ODD_LOGITS], poisoned[ODD_LOGITS];
  const size_t bytes = (size_t)r->batch * (size_t)r->shape.vocab * sizeof *clean;
  const struct plan plan = emulated_plan(plugin, r);
  int tokens[256];
  struct decode_state *state = odd_state(plugin, r);
  odd_ok(plugin, r, plugin->backend->tokens(state, tokens));
  odd_step(plugin, r, state, NULL, clean);
  poison(&plan, emulated_memory(plugin));
  odd_step(plugin, r, state, tokens, poisoned);
  if (memcmp(clean, poisoned, bytes) != 0) {
    fail_msg("%s: poison shows at batch %d, context %d", plugin->name, r->batch, r->context);
  }
  plugin->backend->destroy(state);
}

static void test_what_a_step_has_not_written_does_not_matter(void **unused) {
  static const int batches[] = {1, 3, 6}, contexts[] = {1, 70, 190};
  (void)unused;
  for (size_t i = 0; i < 6; i++) {
    const struct decode_request r = odd_request(&odd_shape, &odd_mixes[i % 2 ? 9 : 0],
                                                batches[i % 3], contexts[(i + i / 3) % 3]);
    check_poisoned(&emulated[(i + i / 2) % EMULATED], &r);
  }
}

// Where all vectors between products are whole, they are rounded to BF16 where they are made, by
// vector kernels, by matrix kernels and, in another order, by wgmma; what is beyond the batch is
// not written.
static void test_rounded_where_they_are_made(void **unused) {
  static const struct decode_shape shape = {.layers = 2,
                                            .hidden = 72,
                                            .heads = 4,
                                            .kv_heads = 2,
                                            .head_dim = 32,
                                            .ffn_hidden = 384,
                                            .vocab = 67,
                                            .norm_epsilon = 1e-5f,
                                            .rope_theta = 1e4f};
  static const int batches[] = {1, 3, 6, 17};
  (void)unused;
  emulated_set("EMULATOR_SHARED", 232448);
  for (size_t i = 0; i < 8; i++) {
    const int batch = batches[i / 2];
    const struct decode_types *types = &odd_mixes[i % 2 ? 2 : 0];
    const struct decode_request r = odd_request(&shape, types, batch, 70);
    odd_check_next(&shape, types, batch, 70, odd_one(i + i / 2));
    check_poisoned(&emulated[(i + i / 2) % EMULATED], &r);
    if (batch == 6) {
      setenv("PERTOKEN_GPU_TUNING", CLUSTERS_OF_TWO, 1);
      odd_check_next(&shape, types, batch, 70, odd_wgmma());
      unsetenv("PERTOKEN_GPU_TUNING");
    }
  }
  unsetenv("EMULATOR_SHARED");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_mix_of_types),
      cmocka_unit_test(test_every_group_of_heads),
      cmocka_unit_test(test_every_edge_of_context),
      cmocka_unit_test(test_every_size_of_batch),
      cmocka_unit_test(test_long_rows),
      cmocka_unit_test(test_scaled_angles),
      cmocka_unit_test(test_every_size_of_device),
      cmocka_unit_test(test_schedules_agree),
      cmocka_unit_test(test_rows_are_independent),
      cmocka_unit_test(test_what_a_step_has_not_written_does_not_matter),
      cmocka_unit_test(test_rounded_where_they_are_made),
  };
  return cmocka_run_group_tests(tests, emulated_load_sources, emulated_unload);
}
