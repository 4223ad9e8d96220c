// A whole step in one launch, compared with the oracle on the host emulators: rows of one and of
// several units of weights, blocks with more warps than units, devices on which some blocks have
// nothing to do, whole and split contexts, room for two to eight units; weights in 4 to 8 bits,
// whose rows end within a tile, within a unit and with it.
// Deep: every mix of types, on all emulators and as nvcc's PTX.
// Seconds: 4, deep 50
#include "kernels/gpu/units.h"
#include "tests/support/compared.h"
#include "tests/support/depth.h"
#include "tests/support/emulated.h"

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
} ways[] = {
    {"rows of one unit", 72, 101, 1, 200, "4", "232448"},
    {"rows of several units, two slots", 1096, 300, 1, 65, "2", "98304"},
    {"fewer units than warps", 1096, 7, 2, 129, "3", "166912"},
    {"long sums, eight slots", 520, 2100, 4, 1, "1", "330000"},
    {"three rows", 300, 101, 3, 66, "4", "200000"},
};
#define WAYS (sizeof ways / sizeof ways[0])

// For weights of fewer bits, 128 of which are a unit of units.h and 1024 or 2048 one of stream.h.
static const enum element formats[] = {ELEMENT_MXFP4,     ELEMENT_INT4_GROUP, ELEMENT_NVFP4,
                                       ELEMENT_INT8,      ELEMENT_MXFP6_E2M3, ELEMENT_INT8_GROUP,
                                       ELEMENT_MXFP6_E3M2};
#define FORMATS (sizeof formats / sizeof formats[0])

static const struct way format_ways[] = {
    {"one unit and two, four rows", 72, 137, 4, 200, "4", "232448"},
    {"nine units, two slots or three", 72, 1096, 1, 65, "2", "150000"},
    {"fewer units than warps, three rows", 520, 7, 3, 66, "3", "232448"},
    {"a unit more than the stream's, eight slots", 44, 2100, 1, 1, "1", "330000"},
    {"whole tiles, two rows", 128, 1024, 2, 66, "2", "232448"},
};
#define FORMAT_WAYS (sizeof format_ways / sizeof format_ways[0])

static void check_way(const struct emulated *plugin, const struct way *way,
                      const struct decode_types *types) {
  struct decode_request request = {
      .shape = shape, .types = *types, .batch = way->batch, .context = way->context, .seed = 20};
  char what[128];
  snprintf(what, sizeof what, "%s, %s", plugin->name, way->name);
  request.shape.hidden = way->hidden;
  request.shape.ffn_hidden = way->ffn_hidden;
  setenv("EMULATOR_UNITS", way->units, 1);
  setenv("EMULATOR_SHARED", way->shared, 1);
  compared_steps(plugin->backend, &request, &request, what, 2);
}

static void every_way(void **unused) {
  (void)unused;
  for (size_t w = 0; w < WAYS; w++)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t p = 0; p < EMULATED; p++) {
        const bool is_turn = w < 3 && m == w % 2 && p < 2;
        if (is_turn || (depth_is_full() && (w + m + p) % 2 == 0))
          check_way(&emulated[p], &ways[w], &mixes[m]);
      }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

static void every_format(void **unused) {
  (void)unused;
  for (size_t w = 0; w < FORMAT_WAYS; w++)
    for (size_t f = 0; f < FORMATS; f++)
      for (size_t p = 0; p < EMULATED; p++) {
        const enum element kv = f % 2 ? ELEMENT_E4M3 : ELEMENT_BF16;
        const struct decode_types types = {formats[f],   ELEMENT_BF16, kv,
                                           ELEMENT_BF16, ELEMENT_F32,  ELEMENT_F32};
        if (emulated[p].warp == 64 && !units_are_held(formats[f]))
          continue;
        const bool is_turn = p < 2 && w == f % FORMAT_WAYS;
        if (is_turn || (depth_is_full() && (w + f + p) % 2 == 0))
          check_way(&emulated[p], &format_ways[w], &types);
      }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
}

static void refused_in_words(void **unused) {
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
      cmocka_unit_test(every_way),
      cmocka_unit_test(every_format),
      cmocka_unit_test(refused_in_words),
  };
  return cmocka_run_group_tests(tests, load, emulated_unload);
}
