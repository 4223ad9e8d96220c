// A whole step in one launch, compared with the oracle on the host emulators: rows of one and of
// several units of weights, blocks with more warps than units, devices on which some blocks have
// nothing to do, whole and split contexts, room for two to eight units; weights in 4 to 8 bits,
// whose rows end within a tile, within a unit and with it. Mixtures of experts: each router, layers
// without, a shared expert, blocks with one item and with several, and choices that are forced.
// Scales that differ from row to row.
// Deep: every mix of types, on all emulators and as nvcc's PTX.
// Seconds: 67, deep 600
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/units.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/library.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Activations and head are in BF16.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
};
#define MIXES (sizeof mixes / sizeof mixes[0])

static const struct decode_shape shape = {.layers = 2,
                                          .hidden = 72,
                                          .heads = 3,
                                          .kv_heads = 1,
                                          .head_dim = 80,
                                          .ffn_hidden = 101,
                                          .vocab = 203,
                                          .norm_epsilon = 1e-5f,
                                          .rope_theta = 1e4f};

static const struct way {
  const char *name;
  int hidden, ffn_hidden, batch, context;
  const char *units, *shared; // multiprocessors, and bytes of shared memory, of the device
  int head_dim, splits;       // 0: the shape's; the plan's own
} ways[] = {
    {"rows of one unit", 72, 101, 1, 200, "4", "232448", 0, 0},
    {"rows of several units, two slots, heads of 64", 1096, 300, 1, 65, "2", "98304", 64, 0},
    {"fewer units than warps", 1096, 7, 2, 129, "3", "166912", 0, 0},
    {"long sums, eight slots", 520, 2100, 4, 1, "1", "330000", 0, 0},
    {"three rows, short heads, splits", 300, 101, 3, 200, "4", "200000", 42, 2},
    {"heads of no whole quads, more splits than blocks", 72, 101, 2, 200, "3", "232448", 78, 4},
};
#define WAYS (sizeof ways / sizeof ways[0])

// For weights of fewer bits, 128 of which are a unit of units.h and 1024 or 2048 one of stream.h.
static const enum element formats[] = {ELEMENT_MXFP4,     ELEMENT_INT4_GROUP, ELEMENT_NVFP4,
                                       ELEMENT_INT8,      ELEMENT_MXFP6_E2M3, ELEMENT_INT8_GROUP,
                                       ELEMENT_MXFP6_E3M2};
#define FORMATS (sizeof formats / sizeof formats[0])

static const struct way format_ways[] = {
    {"one unit and two, four rows", 72, 137, 4, 200, "4", "232448", 0, 0},
    {"nine units, two slots or three", 72, 1096, 1, 65, "2", "150000", 0, 0},
    {"fewer units than warps, three rows", 520, 7, 3, 66, "3", "232448", 0, 0},
    {"a unit more than the stream's, eight slots", 44, 2100, 1, 1, "1", "330000", 0, 0},
    {"whole tiles, two rows", 128, 1024, 2, 66, "2", "232448", 0, 0},
};
#define FORMAT_WAYS (sizeof format_ways / sizeof format_ways[0])

static bool lacks(const struct emulated *plugin, enum element weights) {
  return plugin->warp == 64 && lies_in_units(weights) && !units_are_held(weights);
}

static void check_way(const struct emulated *plugin, const struct way *way,
                      const struct decode_types *types, int steps) {
  struct decode_request request = {
      .shape = shape, .types = *types, .batch = way->batch, .context = way->context, .seed = 20};
  char what[128], tuning[64];
  snprintf(what, sizeof what, "%s, %s", plugin->name, way->name);
  snprintf(tuning, sizeof tuning, "step=streaming attention_splits=%d", way->splits);
  setenv("PERTOKEN_GPU_TUNING", way->splits > 0 ? tuning : "step=streaming", 1);
  if (way->head_dim > 0)
    request.shape.head_dim = way->head_dim;
  request.shape.hidden = way->hidden;
  request.shape.ffn_hidden = way->ffn_hidden;
  setenv("EMULATOR_UNITS", way->units, 1);
  setenv("EMULATOR_SHARED", way->shared, 1);
  compared_steps(plugin->backend, &request, &request, what, steps);
}

static void test_every_way(void **unused) {
  (void)unused;
  for (size_t w = 0; w < WAYS; w++)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t p = 0; p < EMULATED; p++) {
        const bool is_turn = (w < 3 || w + 1 == WAYS) && m == w % 2 && p < 2;
        if (is_turn || (depth_is_full() && (w + m + p) % 2 == 0))
          check_way(&emulated[p], &ways[w], &mixes[m], 2);
      }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

// With one head, 24 rows of qkv and few of gate and up or down, fewer than the warps of all blocks:
// a block that had none would miss a mark.
static void test_each_block_has_rows(void **unused) {
  (void)unused;
  static const int widths[] = {200, 24, 16};
  for (int seed = 1; seed <= (depth_is_full() ? 4 : 1); seed++)
    for (size_t w = 0; w < sizeof widths / sizeof widths[0]; w++)
      for (size_t p = 0; p < (depth_is_full() ? EMULATED : 2); p++) {
        struct decode_request request = {
            .shape = shape, .types = mixes[0], .batch = 1, .context = 1, .seed = 20};
        char what[64], number[16];
        request.shape.layers = 4;
        request.shape.hidden = 24;
        request.shape.heads = request.shape.kv_heads = 1;
        request.shape.head_dim = 8;
        request.shape.ffn_hidden = widths[w];
        snprintf(number, sizeof number, "%d", seed);
        snprintf(what, sizeof what, "%s, %d of the MLP, seed %d", emulated[p].name, widths[w],
                 seed);
        setenv("EMULATOR_SEED", number, 1);
        setenv("EMULATOR_UNITS", "4", 1);
        setenv("EMULATOR_SHARED", "232448", 1);
        setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
        compared_steps(emulated[p].backend, &request, &request, what, 2);
      }
  unsetenv("EMULATOR_SEED");
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

// What a second step adds, the marks and the cache of the one before, test_every_way holds.
static void test_every_format(void **unused) {
  (void)unused;
  for (size_t w = 0; w < FORMAT_WAYS; w++)
    for (size_t f = 0; f < FORMATS; f++)
      for (size_t p = 0; p < EMULATED; p++) {
        const enum element kv = f % 2 ? ELEMENT_E4M3 : ELEMENT_BF16;
        const struct decode_types types = {formats[f],   ELEMENT_BF16, kv,
                                           ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};
        if (lacks(&emulated[p], formats[f]))
          continue;
        const bool is_turn = p < 2 && w == f % FORMAT_WAYS;
        if (is_turn || (depth_is_full() && (w + f + p) % 2 == 0))
          check_way(&emulated[p], &format_ways[w], &types, depth_is_full() ? 2 : 1);
      }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

// ---- mixtures of experts

static const struct mixture {
  const char *name;
  struct decode_experts experts;
  unsigned biases;
  struct way way;
} mixtures[] = {
    {"two of five",
     {.count = 5, .chosen = 2, .hidden = 100},
     0,
     {"", 72, 0, 1, 70, "4", "232448", 0, 0}},
    {"three of seven, a dense layer first, a router's bias",
     {.count = 7, .chosen = 3, .hidden = 137, .router = ROUTER_SOFTMAX_ALL, .dense_layers = 1},
     BIAS_ROUTER,
     {"", 136, 101, 2, 5, "3", "200000", 0, 0}},
    {"groups, a shared expert",
     {.count = 8,
      .chosen = 3,
      .hidden = 40,
      .shared_hidden = 88,
      .router = ROUTER_SIGMOID,
      .groups = 4,
      .kept_groups = 2,
      .scale = 2.5f},
     BIAS_ROUTER,
     {"", 264, 0, 4, 9, "2", "330000", 0, 0}},
    {"one of one, fewer units than warps",
     {.count = 1, .chosen = 1, .hidden = 7},
     0,
     {"", 300, 0, 3, 66, "4", "232448", 0, 0}},
    {"two of three, two slots or three",
     {.count = 3, .chosen = 2, .hidden = 1096},
     0,
     {"", 72, 0, 1, 200, "2", "150000", 0, 0}},
};
#define MIXTURES (sizeof mixtures / sizeof mixtures[0])

static struct decode_request mixture_request(const struct mixture *mixture, size_t mix,
                                             enum element experts) {
  struct decode_request request = {.shape = shape,
                                   .types = mixes[mix],
                                   .batch = mixture->way.batch,
                                   .context = mixture->way.context,
                                   .seed = 20};
  request.shape.hidden = mixture->way.hidden;
  request.shape.ffn_hidden = mixture->way.ffn_hidden;
  request.shape.experts = mixture->experts;
  request.shape.biases = mixture->biases;
  request.types.experts = experts;
  setenv("EMULATOR_UNITS", mixture->way.units, 1);
  setenv("EMULATOR_SHARED", mixture->way.shared, 1);
  return request;
}

static void is_one_launch(const struct emulated *plugin, const struct decode_request *request) {
  struct decode_step_form form;
  struct decode_state *state = compared_state(plugin->backend, request, "one launch");
  plugin->backend->step_form(state, &form);
  assert_string_equal(form.fallback, "");
  plugin->backend->destroy(state);
}

static void check_mixture(const struct emulated *plugin, const struct decode_request *request,
                          const char *name) {
  char what[128];
  snprintf(what, sizeof what, "%s, %s", plugin->name, name);
  compared_steps(plugin->backend, request, request, what, 2);
}

// Whether a mixture's experts in a format, counted from 1, or in the model's type are for one of
// all runs. In deep runs a wave of 64, which has few formats, has each of them in each mixture.
static bool is_turn_of(size_t mixture, size_t format, size_t emulator) {
  return (emulator == 0 && format == (mixture % 2 ? mixture : 0)) ||
         (emulator == 1 && format == mixture % 3);
}
static bool is_deep_turn_of(size_t mixture, size_t format, size_t emulator) {
  return depth_is_full() &&
         (emulated[emulator].warp == 64 || (mixture + format + emulator) % 5 == 0);
}

// In the model's type, and in every format.
static void test_every_mixture(void **unused) {
  (void)unused;
  for (size_t x = 0; x < MIXTURES; x++)
    for (size_t f = 0; f <= FORMATS; f++)
      for (size_t p = 0; p < EMULATED; p++) {
        const size_t mix = (x + f + p / 2) % MIXES;
        const enum element experts = f > 0 ? formats[f - 1] : mixes[mix].weights;
        const bool is_turn = is_turn_of(x, f, p);
        if ((!is_turn && !is_deep_turn_of(x, f, p)) || lacks(&emulated[p], experts))
          continue;
        const struct decode_request request = mixture_request(&mixtures[x], mix, experts);
        if (is_turn)
          is_one_launch(&emulated[p], &request);
        check_mixture(&emulated[p], &request, mixtures[x].name);
      }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

// Of several rows that choose mostly the same experts, some of the items are not there.
static void test_forced_choices(void **unused) {
  (void)unused;
  for (size_t x = 0; x < MIXTURES; x++)
    for (size_t p = 0; p < 2; p++) {
      struct decode_request request = mixture_request(&mixtures[x], x % MIXES, ELEMENT_MXFP4);
      request.types.weights = p == 0 ? request.types.weights : ELEMENT_MXFP4;
      request.routing = x % 2 ? ROUTING_SKEWED : ROUTING_UNIFORM;
      request.skew = 3;
      if (x == 1 || depth_is_full()) {
        check_mixture(&emulated[p], &request, "forced choices");
        compared_forced(emulated[p].backend, &request, 3);
      }
    }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

// Experts with biases are left to a graph, which says so.
static void test_mixtures_fall_back(void **unused) {
  (void)unused;
  for (size_t p = 0; p < 2; p++) {
    const struct decode_backend *backend = emulated[p].backend;
    struct decode_request request = mixture_request(&mixtures[0], 0, ELEMENT_BF16);
    struct decode_step_form form;
    request.shape.biases = BIAS_MLP;
    struct decode_state *state = compared_state(backend, &request, "falls back");
    backend->step_form(state, &form);
    assert_non_null(strstr(form.fallback, "supports only attention and products as in a Llama"));
    assert_int_equal(backend->run(state, 1), DECODE_OK);
    backend->destroy(state);
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

// ---- scales of rows, which are all the same in a matrix of weights.h

static size_t end_of(const struct plan *plan, enum plan_region region) {
  size_t end = plan->bytes;
  for (int r = 0; r < REGIONS; r++) {
    const size_t other = plan->region[r].offset;
    end = other > plan->region[region].offset && other < end ? other : end;
  }
  return end;
}

// Each row's becomes another than its neighbors' and than the same row's of the next expert, by
// powers of two: in the cases below no expert's matrix has a multiple of 7 rows.
static void change_scales(const struct plan *plan, char *memory) {
  for (int r = 0; r < REGIONS; r++) {
    const struct plan_extent *extent = &plan->region[r];
    if (extent->scales == 0)
      continue;
    const size_t end = end_of(plan, (enum plan_region)r);
    for (size_t at = extent->offset; at + extent->layer_bytes <= end; at += extent->layer_bytes) {
      float *scales = (float *)(void *)(memory + at + extent->scales);
      for (size_t i = 0; i < (extent->layer_bytes - extent->scales) / sizeof *scales; i++)
        scales[i] = ldexpf(scales[i], (int)(i % 7) - 3);
    }
  }
}

static void step_with_changed_scales(const struct emulated *plugin,
                                     const struct decode_request *request, const char *tuning,
                                     float *logits) {
  setenv("PERTOKEN_GPU_TUNING", tuning, 1);
  const struct plan plan = emulated_plan(plugin, request);
  struct decode_state *state = compared_state(plugin->backend, request, tuning);
  assert_int_equal(plan.streaming, *tuning != 0);
  change_scales(&plan, emulated_memory(plugin));
  assert_int_equal(plugin->backend->run(state, 1), DECODE_OK);
  assert_int_equal(plugin->backend->logits(state, logits), DECODE_OK);
  plugin->backend->destroy(state);
}

// The products of launches, whose rows' scales other suites check, say what is right.
static void test_each_row_has_its_scale(void **unused) {
  static const struct {
    size_t emulator, mixture; // MIXTURES: a dense model
    enum element weights;
  } cases[] = {{0, 0, ELEMENT_E4M3}, {0, 2, ELEMENT_E4M3},        {0, 1, ELEMENT_INT8},
               {0, 4, ELEMENT_INT8}, {0, MIXTURES, ELEMENT_E4M3}, {0, MIXTURES, ELEMENT_INT8},
               {1, 0, ELEMENT_E4M3}, {1, 2, ELEMENT_E4M3},        {1, MIXTURES, ELEMENT_E4M3}};
  static float launches[4 * 203], streaming[4 * 203];
  (void)unused;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const struct emulated *plugin = &emulated[cases[c].emulator];
    const bool is_dense = cases[c].mixture == MIXTURES;
    const struct mixture *mixture = &mixtures[is_dense ? 0 : cases[c].mixture];
    struct decode_request request = mixture_request(mixture, 3, cases[c].weights);
    request.types.weights = cases[c].weights;
    if (is_dense) {
      request.shape.experts = (struct decode_experts){0};
      request.shape.ffn_hidden = 101;
    }
    step_with_changed_scales(plugin, &request, "", launches);
    step_with_changed_scales(plugin, &request, "step=streaming", streaming);
    float largest = 0, apart = 0;
    for (int i = 0; i < request.batch * request.shape.vocab; i++) {
      largest = fmaxf(largest, fabsf(launches[i]));
      apart = fmaxf(apart, fabsf(launches[i] - streaming[i]));
    }
    if (!(largest > 0 && apart <= largest / 100))
      fail_msg("%s, %s: %g apart of %g", plugin->name, is_dense ? "dense" : mixture->name,
               (double)apart, (double)largest);
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
  setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
}

// How many copies a copy meets under way, on average, when a warp may have so many.
static double copies_met(const char *tuning) {
  const struct decode_request request = {
      .shape = shape, .types = mixes[0], .batch = 1, .context = 65, .seed = 20};
  double (*met)(void);
  *(void **)&met = library_symbol(emulated[0].library, "emulator_copies_met");
  setenv("PERTOKEN_GPU_TUNING", tuning, 1);
  met();
  compared_steps(emulated[0].backend, &request, &request, tuning, 1);
  return met();
}

// Fewer copies are under way if fewer may be, though the slots are the same. By nature these land
// soon, so there are not many in any case.
static void test_few_copies_are_under_way(void **unused) {
  (void)unused;
  setenv("EMULATOR_UNITS", "1", 1);
  setenv("EMULATOR_SHARED", "330000", 1);
  const double few = copies_met("step=streaming stream_flying=1");
  const double own = copies_met("step=streaming");
  const double all = copies_met("step=streaming stream_flying=8");
  if (!(few < own && own < all / 3))
    fail_msg("copies met under way: %.1f, %.1f, %.1f", few, own, all);
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
  setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
}

static void test_refused_in_words(void **unused) {
  static const struct {
    int batch;
    const char *shared, *words;
  } cases[] = {{5, "232448", "step=streaming needs one device, batch 1"},
               {1, "90000", "no room for weights on their way"}};
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request = {
        .shape = shape, .types = mixes[0], .batch = cases[i].batch, .context = 65, .seed = 20};
    enum decode_status status = DECODE_OK;
    setenv("EMULATOR_SHARED", cases[i].shared, 1);
    assert_null(emulated[0].backend->create(0, &request, &status));
    assert_int_equal(status, DECODE_UNSUPPORTED);
    assert_non_null(strstr(emulated[0].backend->error(), cases[i].words));
  }
  unsetenv("EMULATOR_SHARED");
}

static int load(void **unused) {
  setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
  return emulated_load(unused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_way),
      cmocka_unit_test(test_each_block_has_rows),
      cmocka_unit_test(test_every_format),
      cmocka_unit_test(test_every_mixture),
      cmocka_unit_test(test_forced_choices),
      cmocka_unit_test(test_mixtures_fall_back),
      cmocka_unit_test(test_each_row_has_its_scale),
      cmocka_unit_test(test_few_copies_are_under_way),
      cmocka_unit_test(test_refused_in_words),
  };
  return cmocka_run_group_tests(tests, load, emulated_unload);
}
