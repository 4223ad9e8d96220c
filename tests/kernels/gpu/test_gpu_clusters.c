// Whole steps by wgmma and in clusters of blocks, on the host emulator, compared with the oracle;
// and clusters that a device refuses, or does not hold.
// Deep: some requests by two steps.
// Seconds: 4
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/odd_request.h"

#include <stdlib.h>
#include <string.h>

// On sm_90's matrix unit: warpgroups side by side in rows and in columns. With 16 columns each, and
// with the maximum. Each multiprocessor, or cluster of two, has several tiles or a part of one; or
// clusters of eight add up the parts of theirs; or tiles have two strips.
static void test_every_batch_by_wgmma(void **unused) {
  static const struct {
    int batch, units;
    size_t mix;
    const char *tuning;
  } cases[] = {{5, 2, 0, "matrix=wgmma"},  {6, 7, 2, CLUSTERS_OF_TWO},  {33, 1, 9, CLUSTERS_OF_TWO},
               {34, 3, 5, "matrix=wgmma"}, {65, 2, 1, CLUSTERS_OF_TWO}, {7, 8, 2, PARTS_OF_TILES},
               {40, 3, 0, STRIPS},         {64, 1, 5, STRIPS},          {33, 7, 9, STRIPS}};
  struct decode_shape shape = odd_shape;
  (void)unused;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    shape.ffn_hidden = c % 2 ? 101 : 1100;
    setenv("PERTOKEN_GPU_TUNING", cases[c].tuning, 1);
    emulated_set("EMULATOR_UNITS", cases[c].units);
    odd_check_next(cases[c].batch > 32 ? &tiny_shape : &shape, &odd_mixes[cases[c].mix],
                   cases[c].batch, 3, odd_wgmma());
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("PERTOKEN_GPU_TUNING");
}

// Norms between two products, whose first passes on its vectors, whole but no multiple of a tile:
// from sums that are all a block's, merged, or added up in a cluster, of batches that do not fill
// their columns, in one layer with a norm of its own kind at each end and in several.
static void test_norms_between_products(void **unused) {
  static const struct {
    int batch, units;
    size_t mix;
    int layers, hidden;
    const char *tuning;
  } cases[] = {{16, 3, 0, 1, 192, "matrix=wgmma"},   {13, 7, 2, 3, 384, "matrix=wgmma"},
               {9, 8, 0, 2, 320, CLUSTERS_OF_TWO},   {7, 8, 2, 2, 384, PARTS_OF_TILES},
               {6, 2, 0, 3, 64, "matrix=wgmma"},     {64, 4, 1, 2, 192, "matrix=wgmma"},
               {61, 3, 3, 2, 128, "matrix=wgmma"},   {35, 16, 0, 2, 448, PARTS_OF_TILES},
               {6, 16, 2, 2, 640, "matrix_splits=3"}};
  struct decode_shape shape = odd_shape;
  (void)unused;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    shape.layers = cases[c].layers;
    shape.hidden = cases[c].hidden;
    shape.vocab = cases[c].batch > 32 ? 33 : 67;
    setenv("PERTOKEN_GPU_TUNING", cases[c].tuning, 1);
    emulated_set("EMULATOR_UNITS", cases[c].units);
    odd_check_next(&shape, &odd_mixes[cases[c].mix], cases[c].batch, 3, odd_wgmma());
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("PERTOKEN_GPU_TUNING");
}

static const char *fallback_of(const struct emulated *plugin, const struct decode_request *r) {
  static struct decode_step_form form;
  struct decode_state *state = odd_state(plugin, r);
  plugin->backend->step_form(state, &form);
  plugin->backend->destroy(state);
  return form.fallback;
}

// Clusters that the device refuses, or does not hold as many of as the plan has, are left out; the
// step's form says so. Those of two are four, as gate and up have four tiles. Clusters of eight, on
// a device of which no part holds so many blocks, become smaller.
static void test_clusters_are_refused(void **unused) {
  enum { UNITS = 8, ENOUGH = UNITS / 2 };
  static const struct {
    const char *tuning, *limit;
    int value, ffn_hidden;
    bool is_refused;
  } cases[] = {{CLUSTERS_OF_TWO, "EMULATOR_CLUSTERS", 0, 1000, true},
               {CLUSTERS_OF_TWO, "EMULATOR_CLUSTERS", ENOUGH - 1, 1000, true},
               {CLUSTERS_OF_TWO, "EMULATOR_CLUSTERS", ENOUGH, 1000, false},
               {PARTS_OF_TILES, "EMULATOR_PART", 4, 1100, false}};
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.layers = 1;
  emulated_set("EMULATOR_UNITS", UNITS);
  for (size_t i = 0; i < EMULATED * sizeof cases / sizeof cases[0]; i++) {
    const size_t p = i % EMULATED, c = i / EMULATED;
    if (!emulated[p].wgmma) {
      continue;
    }
    shape.ffn_hidden = cases[c].ffn_hidden;
    setenv("PERTOKEN_GPU_TUNING", cases[c].tuning, 1);
    emulated_set(cases[c].limit, cases[c].value);
    const struct decode_request r = odd_request(&shape, &odd_mixes[0], 6, 3);
    const char *fallback = fallback_of(&emulated[p], &r);
    if (cases[c].is_refused) {
      expect_fragment(fallback, "the device does not run clusters");
    } else {
      assert_string_equal(fallback, "");
    }
    odd_check(&r, odd_one(p), 1);
    unsetenv(cases[c].limit);
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("PERTOKEN_GPU_TUNING");
}

static void test_schedules_agree(void **unused) {
  static const char *const tunings[] = {CLUSTERS_OF_TWO, PARTS_OF_TILES, STRIPS};
  enum { TUNINGS = sizeof tunings / sizeof tunings[0] };
  struct decode_shape shape = odd_shape;
  (void)unused;
  shape.layers = 1;
  shape.ffn_hidden = 1000;
  emulated_set("EMULATOR_UNITS", 8);
  for (size_t i = 0; i < EMULATED * TUNINGS; i++) {
    const bool strips = i % TUNINGS == 2; // of 64 columns
    const struct decode_request r =
        odd_request(strips ? &tiny_shape : &shape, &odd_mixes[0], strips ? 33 : 6, 3);
    setenv("PERTOKEN_GPU_TUNING", tunings[i % TUNINGS], 1);
    if (emulated[i / TUNINGS].wgmma) {
      odd_schedules_agree(&emulated[i / TUNINGS], &r);
    }
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("PERTOKEN_GPU_TUNING");
}

static int load(void **unused) {
  emulated_set("EMULATOR_SHARED", 232448); // of sm_90
  return emulated_load_sources(unused);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_batch_by_wgmma),
      cmocka_unit_test(test_norms_between_products),
      cmocka_unit_test(test_clusters_are_refused),
      cmocka_unit_test(test_schedules_agree),
  };
  return cmocka_run_group_tests(tests, load, emulated_unload);
}
