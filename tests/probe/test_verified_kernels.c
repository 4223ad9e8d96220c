// A GPU is verified with the kernels that are timed: for every row of data/models.csv, the plan for
// verification launches the kernels of the plan for measurement.
// Deep: all types, and every batch.
#include "tests/support/fixture.h"
#include "tests/support/tables.h"

#include "kernels/decode.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/planner.h"
#include "probe/devices/model_shape.h"
#include "probe/measure/verify.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/planned.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_KERNELS = 64, CONTEXT = 4096 };

struct kernels {
  char name[MAX_KERNELS][sizeof(((struct gpu_launch *)0)->kernel)];
  size_t count;
};

static bool has(const struct kernels *kernels, const char *name) {
  for (size_t i = 0; i < kernels->count; i++)
    if (!strcmp(kernels->name[i], name))
      return true;
  return false;
}

static void kernels_of(const struct plan *plan, struct kernels *out) {
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_step(plan, planned_base, &count, NULL);
  assert_non_null(launches);
  out->count = 0;
  for (size_t i = 0; i < count; i++) {
    if (has(out, launches[i].kernel))
      continue;
    assert_in_range(out->count, 0, MAX_KERNELS - 1);
    strcpy(out->name[out->count++], launches[i].kernel);
  }
  free(launches);
}

static void expect_all(const char *what, const struct kernels *these, const struct kernels *those,
                       const char *id, int batch, const struct gpu_device *device) {
  for (size_t i = 0; i < these->count; i++)
    if (!has(those, these->name[i]))
      fail_msg("%s, batch %d, %s: %s is %s", id, batch, device->described.name, these->name[i],
               what);
}

static void compare(const char *id, const struct decode_request *request,
                    const struct gpu_device *device, size_t *compared) {
  struct plan timed, verified;
  struct kernels timed_kernels, verified_kernels;
  const char *why = NULL;
  if (gpu_plan_make(request, 0, device, &timed, &why) != DECODE_OK)
    return;
  const struct verify_plan plan = verify_plan(request);
  if (gpu_plan_make(&plan.request, 0, device, &verified, &why) != DECODE_OK)
    fail_msg("%s, batch %d, %s: %s", id, request->batch, device->described.name, why);
  kernels_of(&timed, &timed_kernels);
  kernels_of(&verified, &verified_kernels);
  assert_int_equal(timed.streaming, verified.streaming);
  assert_int_equal(timed.vector, verified.vector);
  expect_all("timed and not verified", &timed_kernels, &verified_kernels, id, request->batch,
             device);
  expect_all("verified and not timed", &verified_kernels, &timed_kernels, id, request->batch,
             device);
  ++*compared;
}

static void compare_model(const char *id, const struct measurement_shape *shape, size_t *compared) {
  static const int batches[] = {1, 64, 2, 3, 4, 5, 8, 16, 24, 32, 33, 128, 256};
  const size_t batch_count = depth_is_full() ? sizeof batches / sizeof batches[0] : 2;
  for (size_t t = 0; t < PLANNED_TYPES; t += depth_is_full() ? 1 : 3)
    for (size_t b = 0; b < batch_count; b++)
      for (size_t d = 0; d < PLANNED_DEVICES; d++) {
        const int depth = model_shape_depth(shape, 4);
        const struct decode_shape slice =
            model_shape_of(shape, depth < shape->layers ? depth : shape->layers);
        const struct decode_request request =
            planned_request(&slice, &planned_types[t], batches[b], CONTEXT);
        compare(id, &request, planned_devices[d], compared);
      }
}

static void test_verified_kernels_are_the_timed(void **state) {
  (void)state;
  struct tables tables;
  size_t compared = 0;
  tables_open(&tables, "data");
  const struct table *models = tables_load(&tables, CATALOG_MODELS);
  for (size_t row = 0; row < models->rows; row++) {
    struct measurement_shape shape;
    struct model_notes notes;
    const char *id = table_cell(models, row, "id");
    assert_int_equal(model_shape_find(&tables.catalog, id, &shape, &notes), 0);
    compare_model(id, &shape, &compared);
  }
  assert_true(compared >= 8 * models->rows);
  arena_free(&tables.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_verified_kernels_are_the_timed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
