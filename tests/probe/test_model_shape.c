// What the probe decodes, and what the model counts, from the same rows of data/models.csv.
#include "tests/support/fixture.h"
#include "tests/support/tables.h"

#include "kernels/cpu/backend.h"
#include "kernels/decode.h"
#include "model/evidence/memory.h"
#include "probe/devices/model_shape.h"

static struct memory_model model_named(struct tables *tables, const char *id) {
  const struct table *models = tables_load(tables, CATALOG_MODELS);
  const long row = catalog_find(models, id);
  assert_true(row >= 0);
  return memory_model_of(models, (size_t)row);
}

// The kernels count the same bytes from the same shapes: weights, of which they keep norms
// in 32 bits and read one embedding a row; the cache, into which they write one slot a row.
static void test_both_count_alike(void **state) {
  (void)state;
  static const char *const models[] = {"tinyllama-1.1b", "llama-3.1-8b", "llama-2-70b"};
  const double batch = 3, context = 100;
  struct tables tables;
  tables_open(&tables, "data");
  for (size_t i = 0; i < sizeof models / sizeof models[0]; i++) {
    const struct memory_model model = model_named(&tables, models[i]);
    struct measurement_shape shape;
    struct decode_cost cost;
    assert_int_equal(model_shape_find(&tables.catalog, models[i], &shape), 0);
    const struct decode_request request = {
        .shape = model_shape_of(&shape, shape.layers),
        .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
        .batch = (int)batch,
        .context = (int)context,
        .threads = 1};
    assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_OK);
    const double norms = (2 * model.layers + 1) * model.hidden;
    assert_true((double)cost.weight_bytes == memory_weights(&model, "bf16") + 2 * norms -
                                                 2 * (model.vocab - batch) * model.hidden);
    assert_true((double)cost.kv_bytes == batch * memory_kv(&model, context + 1, 16));
  }
  arena_free(&tables.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_both_count_alike)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
