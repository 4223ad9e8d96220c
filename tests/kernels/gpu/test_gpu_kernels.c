// The GPU kernels, run by the host emulator, compared with the oracle: shapes that are not
// multiples of a tile, every mix of types, warps of 32 and 64 lanes, and E4M3 in gfx942's form.
// Deep: also the scalar tile, and about three times as many requests.
// Seconds: 20, deep 60
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments.h"
#include "kernels/gpu/host/stage_times.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "tests/stand_ins/emulator/launch.h"
#include "tests/support/depth.h"
#include "tests/support/library.h"

#define MAX_LOGITS (130 * 256)

static struct plugin {
  const char *name;
  bool wide; // a warp of 64
  bool deep; // only for depth_is_full
  void *library;
  const struct decode_backend *backend;
  const struct gpu_driver *driver;
  emulator_memory_function *memory;
  enum decode_status (*make_plan)(const struct decode_request *, int, const struct gpu_device *,
                                  struct plan *, const char **);
  gpu_stage_times_function *stage_times;
} plugins[] = {
#if !SANITIZED
    {.name = "emulator32", .deep = true},
    {.name = "emulator64", .wide = true, .deep = true},
#endif
    {.name = "emulatormma"},
    {.name = "emulator64fnuz", .wide = true},
};
#define MAX_PLUGINS (sizeof plugins / sizeof plugins[0])
static size_t plugin_count; // that are used, from the first on
#define PLUGINS plugin_count
static bool fewer, fewest; // requests: with sanitizers; unless the run is full

static const char *const element_names[] = {"f32", "bf16", "e4m3", "int8"};

// Weights, activations, KV, head, accumulation: all combinations that the GPU kernels support.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
};
#define MIXES (sizeof mixes / sizeof mixes[0])

// Layers, hidden, heads, KV heads, head_dim, FFN, vocabulary: nothing is a multiple of a tile;
// three query heads read one KV head. Sampling uses 64 blocks for each row of the batch, which is
// most of the time of a small step here.
static const struct decode_shape odd_shape = {.layers = 2,
                                              .hidden = 72,
                                              .heads = 6,
                                              .kv_heads = 2,
                                              .head_dim = 40,
                                              .ffn_hidden = 101,
                                              .vocab = 203,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f};
static const struct decode_shape tiny_shape = {.layers = 1,
                                               .hidden = 44,
                                               .heads = 2,
                                               .kv_heads = 1,
                                               .head_dim = 12,
                                               .ffn_hidden = 37,
                                               .vocab = 33,
                                               .norm_epsilon = 1e-5f,
                                               .rope_theta = 1e4f};

static int load(void **unused) {
  (void)unused;
  fewest = !depth_is_full();
  fewer = SANITIZED || fewest;
  for (size_t i = 0; i < MAX_PLUGINS; i++) {
    if (!plugins[i].deep || depth_is_full()) {
      plugins[plugin_count++] = plugins[i];
    }
  }
  for (struct plugin *p = plugins; p < plugins + PLUGINS; p++) {
    p->library = library_open(p->name);
    p->backend = library_backend(p->library);
    p->driver = library_symbol(p->library, "gpu_driver");
    *(void **)&p->memory = library_symbol(p->library, "emulator_memory");
    *(void **)&p->make_plan = library_symbol(p->library, "gpu_plan_make");
    *(void **)&p->stage_times = library_symbol(p->library, GPU_STAGE_TIMES);
    if (!p->backend || !p->driver || !p->memory || !p->make_plan || !p->stage_times) {
      return -1;
    }
  }
  return 0;
}

static int unload(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    dlclose(plugins[p].library);
  }
  return 0;
}

static void set_number(const char *name, long long value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", value);
  setenv(name, text, 1);
}

static struct decode_request request_of(const struct decode_shape *shape,
                                        const struct decode_types *types, int batch, int context) {
  return (struct decode_request){
      .shape = *shape, .types = *types, .batch = batch, .context = context, .seed = 20};
}

static const char *describe(const struct decode_request *r) {
  static char text[320];
  const struct decode_shape *s = &r->shape;
  snprintf(text, sizeof text,
           "weights %s, activations %s, kv %s, head %s; batch %d, context %d; layers %d, hidden "
           "%d, heads %d of %d, kv heads %d, ffn %d, vocab %d; EMULATOR_SEED=%s",
           element_names[r->types.weights], element_names[r->types.activations],
           element_names[r->types.kv], element_names[r->types.head], r->batch, r->context,
           s->layers, s->hidden, s->heads, s->head_dim, s->kv_heads, s->ffn_hidden, s->vocab,
           getenv("EMULATOR_SEED"));
  return text;
}

static struct decode_state *make(const struct plugin *plugin, const struct decode_request *r) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  struct decode_state *state = plugin->backend->create(0, r, &status);
  if (!state) {
    fail_msg("%s: create: status %d, %s (%s)", plugin->name, status, plugin->backend->error(),
             describe(r));
  }
  return state;
}

static void expect_ok(const struct plugin *plugin, const struct decode_request *r,
                      enum decode_status status) {
  if (status != DECODE_OK) {
    fail_msg("%s: status %d, %s (%s)", plugin->name, status, plugin->backend->error(), describe(r));
  }
}

// One step from `tokens`, compared with the reference's, which has already run.
static void check_step(const struct plugin *plugin, struct decode_state *state,
                       const struct reference *reference, const struct decode_request *r,
                       const int *tokens) {
  static float logits[MAX_LOGITS];
  int chosen[256];
  assert_true((size_t)r->batch * (size_t)r->shape.vocab <= MAX_LOGITS);
  memset(logits, 0xFF, sizeof logits);
  expect_ok(plugin, r, plugin->backend->set_tokens(state, tokens));
  expect_ok(plugin, r, plugin->backend->run(state, 1));
  expect_ok(plugin, r, plugin->backend->logits(state, logits));
  expect_ok(plugin, r, plugin->backend->tokens(state, chosen));
  const struct reference_verdict verdict =
      reference_check(reference, logits, chosen, reference_tolerance(&r->types));
  if (!verdict.pass) {
    fail_msg("%s: error %g, shortfall %g%s (%s)", plugin->name, verdict.error, verdict.shortfall,
             verdict.greedy ? "" : ", not the largest", describe(r));
  }
}

// All steps start from the reference's tokens, the first ones being those of decode.h. `which`: a
// bit for each plugin to check.
static void check_request(const struct decode_request *r, unsigned which, int steps) {
  enum decode_status status;
  struct reference *reference = reference_create(r, &status);
  struct decode_state *states[MAX_PLUGINS] = {NULL};
  int tokens[256];
  assert_non_null(reference);
  for (size_t p = 0; p < PLUGINS; p++) {
    if (!(which >> p & 1)) {
      continue;
    }
    states[p] = make(&plugins[p], r);
    expect_ok(&plugins[p], r, plugins[p].backend->tokens(states[p], tokens));
    for (int row = 0; row < r->batch; row++) {
      assert_int_equal(tokens[row], (int)((r->seed + (uint64_t)row) % (uint64_t)r->shape.vocab));
    }
  }
  for (int step = 0; step < steps; step++) {
    reference_step(reference);
    for (size_t p = 0; p < PLUGINS; p++) {
      if (states[p]) {
        check_step(&plugins[p], states[p], reference, r, tokens);
      }
    }
    memcpy(tokens, reference_tokens(reference), (size_t)r->batch * sizeof *tokens);
  }
  for (size_t p = 0; p < PLUGINS; p++) {
    plugins[p].backend->destroy(states[p]);
  }
  reference_destroy(reference);
}

// A different schedule for every request, and two steps for some.
static void check_next(const struct decode_shape *shape, const struct decode_types *types,
                       int batch, int context, unsigned which) {
  static int seed;
  const struct decode_request request = request_of(shape, types, batch, context);
  set_number("EMULATOR_SEED", ++seed);
  check_request(&request, which, seed % 3 == 0 && batch <= 8 && !fewer ? 2 : 1);
}

// The plugins for the `turn`-th of many requests: one at a time, or one of each width at a time.
static unsigned one(size_t turn) {
  return 1u << turn % PLUGINS;
}
static unsigned both_widths(size_t turn) {
  unsigned which = fewer ? one(turn) : 0;
  for (int wide = 0; wide < 2 && !fewer; wide++) {
    for (size_t p = turn; p < turn + PLUGINS; p++) {
      if (plugins[p % PLUGINS].wide == wide) {
        which |= one(p);
        break;
      }
    }
  }
  return which;
}

// By vectors, by vectors with one to spare, by matrix tiles.
static void every_mix_of_types(void **unused) {
  static const int batches[] = {1, 3, 5};
  (void)unused;
  for (size_t m = 0; m < MIXES; m++) {
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
      if (!fewest || b == m % 3) {
        check_next(&odd_shape, &mixes[m], batches[b], 65, one(m / 3 + b));
      }
    }
  }
}

static void every_group_of_heads(void **unused) {
  static const int groups[] = {1, 2, 4, 7, 8, 12, 17}, head_dims[] = {32, 64, 80, 96, 128, 2, 256};
  static const int contexts[] = {1, 2, 63, 64, 65, 200};
  (void)unused;
  size_t turn = 0;
  for (size_t g = 0; g < sizeof groups / sizeof groups[0]; g++) {
    for (size_t d = 0; d < sizeof head_dims / sizeof head_dims[0]; d++, turn++) {
      const int kv_heads = 1 + (int)(turn / 2) % 2;
      if (fewer && turn % 2) {
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
      check_next(&shape, &mixes[turn % 2], 1 + (int)(turn % 7 == 6), contexts[turn % 6],
                 both_widths(turn));
    }
  }
}

static void every_edge_of_context(void **unused) {
  static const int contexts[] = {1, 2, 63, 64, 65, 127, 128, 129, 200, 513};
  (void)unused;
  for (size_t c = 0; c < sizeof contexts / sizeof contexts[0]; c++) {
    for (size_t m = 0; m < 2; m++) {
      check_next(&tiny_shape, &mixes[m], 1 + (int)c % 2, contexts[c], both_widths(c + m));
    }
  }
}

static void every_size_of_batch(void **unused) {
  static const int batches[] = {1, 2, 3, 4, 5, 8, 17, 33, 65, 130};
  static const size_t chosen[] = {0, 4, 8}; // of the mixes
  (void)unused;
  for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
    for (size_t m = 0; m < sizeof chosen / sizeof chosen[0]; m++) {
      if ((batches[b] <= 17 && !fewest) || (b % 3 == m && batches[b] <= (fewer ? 65 : 130))) {
        check_next(&tiny_shape, &mixes[chosen[m]], batches[b], 3, one(b + m));
      }
    }
  }
}

// Rows longer than one round of a warp's loads, than a chunk, and than one block's share.
static void long_rows(void **unused) {
  static const int batches[] = {1, 2, 4, 6};
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
    for (size_t m = fewest ? b % 2 * 8 : 0; m < MIXES; m += fewest ? MIXES : fewer ? 8 : 4) {
      check_next(&shape, &mixes[m], batches[b], 5, one(m + b));
    }
  }
  shape.hidden = 700;
  shape.ffn_hidden = 301;
  check_next(&shape, &mixes[0], 9, 5, both_widths(0));
  check_next(&shape, &mixes[9], 9, 5, both_widths(1));
}

// Angles scaled for a context longer than the model was trained on: Llama 3.1's and YaRN's.
static void scaled_angles(void **unused) {
  static const struct decode_rope ropes[] = {
      {ROPE_LLAMA3, .factor = 8, .low = 1, .high = 4, .original_context = 64},
      {ROPE_YARN, 32, .low = 1, .high = 32, .magnitude = 1.3466f, .original_context = 512},
  };
  struct decode_shape shape = odd_shape;
  (void)unused;
  for (size_t i = 0; i < sizeof ropes / sizeof ropes[0]; i++) {
    shape.rope = ropes[i];
    check_next(&shape, &mixes[i], 2, 130, one(i));
  }
}

// The plugins that have kernels for wgmma, and copy weights into shared memory.
static unsigned with_wgmma(void) {
  unsigned which = 0;
  for (size_t p = 0; p < PLUGINS; p++) {
    which |= strcmp(plugins[p].name, "emulatormma") == 0 ? one(p) : 0;
  }
  return which;
}

// Devices of other sizes: grids, splits and slices differ, the result does not.
static void every_size_of_device(void **unused) {
  static const int units[] = {1, 5, 24};
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.ffn_hidden = 1100;
  for (size_t u = fewer; u < sizeof units / sizeof units[0]; u++) {
    set_number("EMULATOR_UNITS", units[u]);
    if (!fewest || u == 1) {
      check_next(&shape, &mixes[3 * u], 2, 300, one(u));
    }
    if (!fewest || u == 2) {
      check_next(&shape, &mixes[3 * u + 1], 6, 130, one(u + !fewest));
    }
  }
  unsetenv("EMULATOR_UNITS");
  set_number("EMULATOR_SHARED", 30000); // too little for the vectors of the second
  check_next(&odd_shape, &mixes[0], 4, 66, both_widths(0));
  shape.ffn_hidden = 4230;
  check_next(&shape, &mixes[0], 4, 66, both_widths(1) & ~with_wgmma());
  check_next(&tiny_shape, &mixes[8], 70, 3, both_widths(2) & ~with_wgmma());
  set_number("EMULATOR_SHARED", 80000); // the same beside the weights, or for all columns
  shape.ffn_hidden = 11000;
  check_next(&shape, &mixes[0], 4, 66, with_wgmma());
  check_next(&tiny_shape, &mixes[8], 70, 3, with_wgmma());
  unsetenv("EMULATOR_SHARED");
}

#define CLUSTERS_OF_TWO "matrix=wgmma wgmma_beside=2 wgmma_parts=1"
#define PARTS_OF_TILES  "matrix=wgmma wgmma_beside=2 wgmma_parts=4"

// On sm_90's matrix unit: warpgroups side by side in rows and in columns. With 16 columns each, and
// with the maximum: the emulator has no others. Each multiprocessor, or cluster of two, has several
// tiles or a part of one; or clusters of eight add up the parts of theirs.
static void every_batch_by_wgmma(void **unused) {
  static const struct {
    int batch, units;
    size_t mix;
    const char *tuning;
  } cases[] = {{5, 2, 0, "matrix=wgmma"},  {6, 7, 2, CLUSTERS_OF_TWO},  {33, 1, 9, CLUSTERS_OF_TWO},
               {34, 3, 5, "matrix=wgmma"}, {65, 2, 1, CLUSTERS_OF_TWO}, {7, 8, 2, PARTS_OF_TILES}};
  struct decode_shape shape = odd_shape;
  (void)unused;
  set_number("EMULATOR_SHARED", 232448);
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    shape.ffn_hidden = c % 2 ? 101 : 1100;
    setenv("PERTOKEN_GPU_TUNING", cases[c].tuning, 1);
    set_number("EMULATOR_UNITS", cases[c].units);
    check_next(cases[c].batch > 32 ? &tiny_shape : &shape, &mixes[cases[c].mix], cases[c].batch, 3,
               with_wgmma());
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
  unsetenv("PERTOKEN_GPU_TUNING");
}

// Clusters that the device refuses, or does not hold as many of as the plan has, are left out; the
// step's form says so.
static void clusters_are_refused(void **unused) {
  enum { UNITS = 8, ENOUGH = UNITS / 2 };
  static const int held[] = {0, ENOUGH - 1, ENOUGH};
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.layers = 1;
  shape.ffn_hidden = 600;
  setenv("PERTOKEN_GPU_TUNING", CLUSTERS_OF_TWO, 1);
  set_number("EMULATOR_SHARED", 232448);
  set_number("EMULATOR_UNITS", UNITS);
  const struct decode_request r = request_of(&shape, &mixes[0], 6, 3);
  for (size_t p = 0; p < PLUGINS; p++) {
    for (size_t h = 0; with_wgmma() & one(p) && h < sizeof held / sizeof held[0]; h++) {
      struct decode_step_form form;
      set_number("EMULATOR_CLUSTERS", held[h]);
      struct decode_state *state = make(&plugins[p], &r);
      plugins[p].backend->step_form(state, &form);
      plugins[p].backend->destroy(state);
      if (held[h] < ENOUGH) {
        assert_non_null(strstr(form.fallback, "the device does not run clusters"));
      } else {
        assert_string_equal(form.fallback, "");
      }
      check_request(&r, one(p), 1);
    }
  }
  unsetenv("EMULATOR_CLUSTERS");
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
  unsetenv("PERTOKEN_GPU_TUNING");
}

// Clusters of eight, on a device of which no part holds so many blocks, become smaller.
static void large_clusters_are_refused(void **unused) {
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.layers = 1;
  shape.ffn_hidden = 1100;
  setenv("PERTOKEN_GPU_TUNING", PARTS_OF_TILES, 1);
  set_number("EMULATOR_SHARED", 232448);
  set_number("EMULATOR_UNITS", 8);
  set_number("EMULATOR_PART", 4);
  const struct decode_request r = request_of(&shape, &mixes[0], 6, 3);
  for (size_t p = 0; p < PLUGINS; p++) {
    if (with_wgmma() & one(p)) {
      struct decode_step_form form;
      struct decode_state *state = make(&plugins[p], &r);
      plugins[p].backend->step_form(state, &form);
      plugins[p].backend->destroy(state);
      assert_string_equal(form.fallback, "");
      check_request(&r, one(p), 1);
    }
  }
  unsetenv("EMULATOR_PART");
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
  unsetenv("PERTOKEN_GPU_TUNING");
}

static void run_logits(const struct plugin *plugin, const struct decode_request *r, int seed,
                       float *logits) {
  set_number("EMULATOR_SEED", seed);
  struct decode_state *state = make(plugin, r);
  expect_ok(plugin, r, plugin->backend->run(state, 1));
  expect_ok(plugin, r, plugin->backend->logits(state, logits));
  plugin->backend->destroy(state);
}

// Bit-identical: no sum depends on which block or warp came first.
static void schedules_agree_on(const struct plugin *plugin, const struct decode_request *r) {
  static float first[MAX_LOGITS], other[MAX_LOGITS];
  const size_t bytes = (size_t)r->batch * (size_t)r->shape.vocab * sizeof *first;
  run_logits(plugin, r, 1, first);
  for (int seed = 2; seed < 4; seed++) {
    run_logits(plugin, r, seed, other);
    if (memcmp(first, other, bytes) != 0) {
      fail_msg("%s: differs from EMULATOR_SEED=1 (%s)", plugin->name, describe(r));
    }
  }
}

static void schedules_agree(void **unused) {
  static const int batches[] = {1, 4, 6};
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.layers = 1;
  shape.ffn_hidden = 600;
  set_number("EMULATOR_UNITS", 8);
  for (size_t i = 0; i < PLUGINS * 2; i++) {
    const struct decode_request r = request_of(&shape, &mixes[3 * (i % 3)], batches[i % 3], 200);
    schedules_agree_on(&plugins[i % PLUGINS], &r);
  }
  set_number("EMULATOR_SHARED", 232448);
  for (size_t i = 0; i < PLUGINS * 2; i++) {
    const struct decode_request r = request_of(&shape, &mixes[0], 6, 3);
    setenv("PERTOKEN_GPU_TUNING", i % 2 ? PARTS_OF_TILES : CLUSTERS_OF_TWO, 1);
    if (with_wgmma() & one(i / 2)) {
      schedules_agree_on(&plugins[i / 2], &r);
    }
  }
  unsetenv("EMULATOR_SHARED");
  unsetenv("PERTOKEN_GPU_TUNING");
  unsetenv("EMULATOR_UNITS");
}

// A row of the batch gives the same logits regardless of its neighbors.
static void rows_are_independent(void **unused) {
  static float alone[MAX_LOGITS], among[MAX_LOGITS];
  static const int batches[] = {4, 6};
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    for (size_t b = 0; b < sizeof batches / sizeof batches[0]; b++) {
      const struct decode_backend *backend = plugins[p].backend;
      const struct decode_request r = request_of(&odd_shape, &mixes[8], batches[b], 37);
      struct decode_state *state = make(&plugins[p], &r);
      int tokens[6] = {1, 2, 3, 4, 5, 6};
      expect_ok(&plugins[p], &r, backend->set_tokens(state, tokens));
      expect_ok(&plugins[p], &r, backend->run(state, 1));
      expect_ok(&plugins[p], &r, backend->logits(state, alone));
      for (int row = 0; row < 6; row++) {
        tokens[row] = row == 2 ? 3 : 100 + row;
      }
      expect_ok(&plugins[p], &r, backend->set_tokens(state, tokens));
      expect_ok(&plugins[p], &r, backend->run(state, 1));
      expect_ok(&plugins[p], &r, backend->logits(state, among));
      const size_t row = (size_t)odd_shape.vocab;
      assert_memory_equal(alone + 2 * row, among + 2 * row, row * sizeof *alone);
      assert_memory_not_equal(alone, among, row * sizeof *alone);
      backend->destroy(state);
    }
  }
}

static unsigned char *region_at(const struct plan *plan, void *memory, enum plan_region region) {
  return (unsigned char *)memory + plan->region[region].offset;
}

// Everything that a step must write before it reads it becomes NaN: what passes between its stages,
// the new position's key and value, and all keys and values beyond the context (finite values:
// arguments.h promises zeros to the kernel there, which only zero weights can hide).
static void poison(const struct plan *plan, void *memory) {
  static const enum plan_region written[] = {
      REGION_X,      REGION_QKV_OUT,     REGION_ATTENDED,          REGION_FFN_OUT,
      REGION_LOGITS, REGION_ACTIVATIONS, REGION_ACTIVATION_SCALES, REGION_PARTIALS,
      REGION_BEST,   REGION_BEST_INDEX};
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

static void check_poisoned(const struct plugin *plugin, const struct decode_request *r) {
  static float clean[MAX_LOGITS], poisoned[MAX_LOGITS];
  const struct decode_backend *backend = plugin->backend;
  const size_t bytes = (size_t)r->batch * (size_t)r->shape.vocab * sizeof *clean;
  struct gpu_device device;
  struct plan plan;
  const char *why;
  int tokens[256];
  assert_int_equal(plugin->driver->describe(0, &device), DECODE_OK);
  assert_int_equal(plugin->make_plan(r, 0, &device, &plan, &why), DECODE_OK);
  struct decode_state *state = make(plugin, r);
  expect_ok(plugin, r, backend->tokens(state, tokens));
  expect_ok(plugin, r, backend->run(state, 1));
  expect_ok(plugin, r, backend->logits(state, clean));
  poison(&plan, plugin->memory());
  expect_ok(plugin, r, backend->set_tokens(state, tokens));
  expect_ok(plugin, r, backend->run(state, 1));
  expect_ok(plugin, r, backend->logits(state, poisoned));
  if (memcmp(clean, poisoned, bytes) != 0) {
    fail_msg("%s: poison shows (%s)", plugin->name, describe(r));
  }
  backend->destroy(state);
}

static void what_a_step_has_not_written_does_not_matter(void **unused) {
  static const int batches[] = {1, 3, 6}, contexts[] = {1, 70, 190};
  (void)unused;
  for (size_t i = 0; i < 6; i++) {
    const struct decode_request r =
        request_of(&odd_shape, &mixes[i % 2 ? 9 : 0], batches[i % 3], contexts[(i + i / 3) % 3]);
    check_poisoned(&plugins[(i + i / 2) % PLUGINS], &r);
  }
}

// Where all vectors between products are whole, they are rounded to BF16 where they are made, by
// vector kernels, by matrix kernels and, in another order, by wgmma; what is beyond the batch is not
// written.
static void rounded_where_they_are_made(void **unused) {
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
  set_number("EMULATOR_SHARED", 232448);
  for (size_t i = 0; i < 8; i++) {
    const int batch = batches[i / 2];
    const struct decode_types *types = &mixes[i % 2 ? 2 : 0];
    const struct decode_request r = request_of(&shape, types, batch, 70);
    check_next(&shape, types, batch, 70, one(i + i / 2));
    check_poisoned(&plugins[(i + i / 2) % PLUGINS], &r);
    if (batch == 6) { // of whose columns the emulator has kernels
      setenv("PERTOKEN_GPU_TUNING", CLUSTERS_OF_TWO, 1);
      check_next(&shape, types, batch, 70, with_wgmma());
      unsetenv("PERTOKEN_GPU_TUNING");
    }
  }
  unsetenv("EMULATOR_SHARED");
}

// A request leaves nothing behind for the next one, and two steps in one call equal two calls.
static void tokens_are_fed_back(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    const struct decode_backend *backend = plugins[p].backend;
    const struct decode_request r = request_of(&tiny_shape, &mixes[0], 3, 4);
    int at_once[3], in_turn[3];
    struct decode_state *state = make(&plugins[p], &r), *other = make(&plugins[p], &r);
    expect_ok(&plugins[p], &r, backend->run(state, 3));
    for (int step = 0; step < 3; step++) {
      expect_ok(&plugins[p], &r, backend->run(other, 1));
    }
    expect_ok(&plugins[p], &r, backend->tokens(state, at_once));
    expect_ok(&plugins[p], &r, backend->tokens(other, in_turn));
    assert_memory_equal(at_once, in_turn, sizeof at_once);
    in_turn[1] = tiny_shape.vocab;
    assert_int_equal(backend->set_tokens(other, in_turn), DECODE_FAILED);
    assert_non_null(strstr(backend->error(), "token"));
    backend->destroy(other);
    backend->destroy(state);
  }
}

// Timing the stages shows each once, by vectors and by matrix tiles, and has no effect afterwards;
// neither has repeating them, for which one emulator is enough.
static void stages_are_timed(void **unused) {
  static const char *const names[] = {"embed",       "qkv",  "attention", "wo",
                                      "gate and up", "down", "head",      "sample"};
  static float before[MAX_LOGITS], after[MAX_LOGITS];
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    const struct decode_backend *backend = plugins[p].backend;
    const struct decode_shape *shape = fewer ? &tiny_shape : &odd_shape;
    const struct decode_request r = request_of(shape, &mixes[0], p % 2 ? 5 : 1, 4);
    const int tokens[5] = {5, 4, 3, 2, 1};
    struct gpu_stage_time stages[MAX_GPU_STAGES];
    size_t count = 0;
    struct decode_state *state = make(&plugins[p], &r);
    for (int turn = 0; turn < 2; turn++) {
      const bool repeated = turn == 1 && p == 0 && !SANITIZED;
      expect_ok(&plugins[p], &r, backend->set_tokens(state, tokens));
      expect_ok(&plugins[p], &r, backend->run(state, 1));
      expect_ok(&plugins[p], &r, backend->logits(state, turn ? after : before));
      expect_ok(&plugins[p], &r,
                plugins[p].stage_times(state, repeated ? 1e-9 : 0, stages, &count));
    }
    assert_memory_equal(before, after, (size_t)r.batch * (size_t)r.shape.vocab * sizeof *before);
    assert_int_equal(count, sizeof names / sizeof names[0]);
    for (size_t i = 0; i < count; i++) {
      const bool once = i == 0 || i + 2 >= count;
      assert_string_equal(stages[i].name, names[i]);
      assert_int_equal(stages[i].launches, once ? 1 : shape->layers);
      assert_true(stages[i].seconds > 0);
    }
    backend->destroy(state);
  }
}

// A valid request except for one number.
static const struct {
  const char *words;
  size_t offset;
  int value;
} refusals[] = {
#define REFUSAL(field, value, words)                                                               \
  { words, offsetof(struct decode_request, field), value }
    REFUSAL(types.weights, ELEMENT_F32, "weights"),
    REFUSAL(types.activations, ELEMENT_F32, "activations"),
    REFUSAL(types.activations, ELEMENT_E4M3, "activations"), // beside BF16 weights
    REFUSAL(types.kv, ELEMENT_INT8, "KV cache"),
    REFUSAL(types.head, ELEMENT_E4M3, "head"),
    REFUSAL(types.accumulation, ELEMENT_BF16, "accumulate"),
    REFUSAL(shape.experts.count, 8, "no expert per token"),
    REFUSAL(shape.latent.rank, 8, "latent attention"),
    REFUSAL(shape.head_dim, 33, "even head_dim"),
    REFUSAL(shape.head_dim, 258, "at most 256"),
    REFUSAL(shape.heads, 3, "multiple of the KV heads"),
    REFUSAL(shape.hidden, 1 << 20, "wider"),
    REFUSAL(batch, 257, "batches"),
    REFUSAL(batch, 0, "batches"),
    REFUSAL(context, 0, "context"),
};

static void refused_in_words(void **unused) {
  static const struct decode_shape shape = {.layers = 1,
                                            .hidden = 64,
                                            .heads = 2,
                                            .kv_heads = 2,
                                            .head_dim = 32,
                                            .ffn_hidden = 64,
                                            .vocab = 64,
                                            .norm_epsilon = 1e-5f,
                                            .rope_theta = 1e4f};
  const struct decode_backend *backend = plugins[0].backend;
  struct decode_cost cost;
  (void)unused;
  const struct decode_request known = request_of(&shape, &mixes[0], 1, 1);
  assert_int_equal(backend->cost(&known, &cost), DECODE_OK);
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct decode_request r = known;
    enum decode_status status = DECODE_OK;
    memcpy((char *)&r + refusals[i].offset, &refusals[i].value, sizeof refusals[i].value);
    assert_null(backend->create(0, &r, &status));
    assert_int_equal(status, DECODE_UNSUPPORTED);
    assert_int_equal(backend->cost(&r, &cost), DECODE_UNSUPPORTED);
    if (!strstr(backend->error(), refusals[i].words)) {
      fail_msg("\"%s\" lacks \"%s\"", backend->error(), refusals[i].words);
    }
  }
}

static void expect_no_state(const struct decode_backend *backend, int device,
                            enum decode_status expected, const char *words) {
  const struct decode_request r = request_of(&tiny_shape, &mixes[0], 1, 4);
  enum decode_status status = DECODE_OK;
  assert_null(backend->create(device, &r, &status));
  assert_int_equal(status, expected);
  if (!strstr(backend->error(), words)) {
    fail_msg("\"%s\" lacks \"%s\"", backend->error(), words);
  }
}

static void no_device_and_no_memory(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    const struct decode_backend *backend = plugins[p].backend;
    struct decode_device device;
    expect_no_state(backend, 1, DECODE_NO_DEVICE, "no device 1");
    expect_no_state(backend, -1, DECODE_NO_DEVICE, "no device -1");
    assert_int_equal(backend->describe(1, &device), DECODE_NO_DEVICE);
    set_number("EMULATOR_DEVICES", 0);
    assert_int_equal(backend->device_count(), 0);
    expect_no_state(backend, 0, DECODE_NO_DEVICE, "told to have no device");
    unsetenv("EMULATOR_DEVICES");
    for (int bytes = 0; bytes < 8192; bytes += 2500) {
      set_number("EMULATOR_MEMORY", bytes);
      expect_no_state(backend, 0, DECODE_NO_MEMORY, "");
      assert_true(strlen(backend->error()) > 0);
    }
    unsetenv("EMULATOR_MEMORY");
    set_number("EMULATOR_SHARED", 16384);
    expect_no_state(backend, 0, DECODE_UNSUPPORTED, "shared memory");
    unsetenv("EMULATOR_SHARED");
  }
}

// The device is lost at each launch in turn: while the state is created, then during a step, after
// which nothing works any more.
static void a_device_is_lost(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    const struct decode_backend *backend = plugins[p].backend;
    const struct decode_request r = request_of(&tiny_shape, &mixes[2], 1, 4);
    int in_create = 0, in_run = 0;
    for (int launch = 1;; launch++) {
      enum decode_status status = DECODE_OK;
      float logits[64];
      int token;
      set_number("EMULATOR_FAIL_LAUNCH", launch);
      struct decode_state *state = backend->create(0, &r, &status);
      if (!state) {
        assert_int_equal(status, DECODE_FAILED);
        assert_string_equal(backend->error(), "the device is lost");
        in_create++;
        continue;
      }
      if (backend->run(state, 1) == DECODE_OK) {
        backend->destroy(state);
        break;
      }
      assert_string_equal(backend->error(), "the device is lost");
      assert_int_equal(backend->run(state, 1), DECODE_FAILED);
      assert_int_equal(backend->logits(state, logits), DECODE_FAILED);
      assert_int_equal(backend->tokens(state, &token), DECODE_FAILED);
      assert_string_equal(backend->error(), "the device is lost");
      backend->destroy(state);
      in_run++;
    }
    assert_true(in_create > 10 && in_run > 5);
    unsetenv("EMULATOR_FAIL_LAUNCH");
  }
}

static void devices_are_calibrated(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++) {
    const struct decode_backend *backend = plugins[p].backend;
    const uint64_t bytes = 5 * 65536 + 100;
    double seconds = 0, rate = 0;
    int variant = 0;
    while (backend->read_memory(0, bytes, 0, variant, &seconds) == DECODE_OK) {
      assert_true(seconds > 0);
      variant++;
    }
    assert_true(variant >= 1);
    assert_int_equal(backend->read_memory(0, bytes, 0, variant, &seconds), DECODE_UNSUPPORTED);
    backend->calibration_end();
    for (size_t m = 0; m < MIXES; m += fewest ? 4 : 2) {
      if (backend->matrix_rate(0, &mixes[m], 0, &rate) != DECODE_OK) {
        fail_msg("%s: %s", plugins[p].name, backend->error());
      }
      assert_true(rate > 0);
    }
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(every_mix_of_types),
      cmocka_unit_test(every_group_of_heads),
      cmocka_unit_test(every_edge_of_context),
      cmocka_unit_test(every_size_of_batch),
      cmocka_unit_test(long_rows),
      cmocka_unit_test(scaled_angles),
      cmocka_unit_test(every_size_of_device),
      cmocka_unit_test(every_batch_by_wgmma),
      cmocka_unit_test(clusters_are_refused),
      cmocka_unit_test(large_clusters_are_refused),
      cmocka_unit_test(schedules_agree),
      cmocka_unit_test(rows_are_independent),
      cmocka_unit_test(what_a_step_has_not_written_does_not_matter),
      cmocka_unit_test(rounded_where_they_are_made),
      cmocka_unit_test(tokens_are_fed_back),
      cmocka_unit_test(stages_are_timed),
      cmocka_unit_test(refused_in_words),
      cmocka_unit_test(no_device_and_no_memory),
      cmocka_unit_test(a_device_is_lost),
      cmocka_unit_test(devices_are_calibrated),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
