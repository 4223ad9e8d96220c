// What a record of one accelerator says about another, and when it says nothing. The record is made
// up: no machine measured it.
#include "tests/support/fixture.h"

#include "model/evidence/catalog.h"
#include "model/records/projection.h"

#include <math.h>
#include <string.h>

#define GB UINT64_C(1000000000)

static struct measurement_record *made_up(struct fixture *fixture) {
  struct measurement_record *record = arena_alloc(&fixture->arena, sizeof *record);
  record->path = "records/made-up.json";
  record->device = (struct measurement_device){
      .backend = "cuda", .name = "NVIDIA H200", .memory_bytes = 150 * GB};
  record->finished = "2026-11-01T10:00:00Z";
  record->results = arena_array(&fixture->arena, 1, sizeof *record->results);
  record->count = 1;
  struct measurement *result = &record->results[0];
  *result = (struct measurement){.record = record,
                                 .precision = "bf16",
                                 .batch = 2,
                                 .context = 512,
                                 .whole_model = true,
                                 .tokens_per_s = 506.25,
                                 .load_power_w = NAN,
                                 .idle_power_w = NAN,
                                 .bytes_per_step = 16 * GB,
                                 .operations_per_step = 32 * GB,
                                 .resident_bytes = 17 * GB,
                                 .read_bandwidth = 4.5e12,
                                 .read_bandwidth_share = 0.9,
                                 .grade = GRADE_MEASURED,
                                 .finished = record->finished};
  result->model.id = "llama-3.1-8b";
  result->types = (struct measurement_types){"bf16", "bf16", "bf16", "bf16", "f32", ""};
  return record;
}

struct world {
  struct fixture fixture;
  struct catalog catalog;
  struct measurement_record *list[1];
  struct records records;
  struct workload workload;
};

static void start(struct world *world) {
  fixture_start(&world->fixture);
  assert_int_equal(
      catalog_open(&world->catalog, "data", &world->fixture.arena, &world->fixture.diagnostics), 0);
  world->list[0] = made_up(&world->fixture);
  world->records =
      (struct records){.list = world->list,
                       .count = 1,
                       .accelerators = catalog_table(&world->catalog, CATALOG_ACCELERATORS)};
  world->workload = (struct workload){
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "2", "512"}};
}

static const char *project(struct world *world, const char *file, const char *accelerator,
                           struct projection *out) {
  return projection_make(&world->records, file, &world->catalog, accelerator, &world->workload, out,
                         &world->fixture.arena);
}

// The datasheet's bandwidth, the best published share of it, and the source: data/*.csv. The
// record's device read at 4.5 of 4.8 TB/s.
static const struct {
  const char *accelerator, *ceiling_id;
  double bandwidth, published;
} targets[] = {
    {"mi300x-192", "mb017", 5.3e12, 0.7882},
    {"mi325x-256", "mb017", 6.0e12, 0.7882}, // nothing is published about it, so its architecture's
    {"mi355x-288", "mb057", 8.0e12, 0.6842},
    {"h100-sxm5-80", "mb010", 3.35e12, 0.9493}, // more than the share of the record's device
};

static void test_rule(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    struct world world;
    struct projection p;
    start(&world);
    assert_null(project(&world, "made-up.json", targets[i].accelerator, &p));
    const double reached = 4.5 / 4.8, published = targets[i].published;
    const double steps = targets[i].bandwidth / 16e9;
    expect_near(p.tokens_per_s, 2 * 0.9 * (reached + published) / 2 * steps, 1e-12, "the middle");
    expect_near(p.tokens_per_s_low, 2 * 0.8 * fmin(reached, published) * steps, 1e-12, "low");
    expect_near(p.tokens_per_s_high, 2 * 1.0 * fmax(reached, published) * steps, 1e-12, "high");
    assert_string_equal(p.ceiling_id, targets[i].ceiling_id);
    assert_string_equal(p.date, "2026-11-01");
    static const char *const words[] = {"projected from record made-up.json, never measured",
                                        "NVIDIA H200 decoded at 0.9 of its read bandwidth", "+-0.1",
                                        "16 GB a step", "token/s"};
    for (size_t w = 0; w < sizeof words / sizeof words[0]; w++)
      if (!strstr(p.source, words[w]))
        fail_msg("expected '%s' in '%s'", words[w], p.source);
    assert_non_null(strstr(p.source, targets[i].ceiling_id));
    fixture_end(&world.fixture);
  }
}

// Never above the ceiling, however good the measured device was.
static void test_not_above_the_ceiling(void **state) {
  (void)state;
  struct world world;
  struct projection p;
  start(&world);
  world.list[0]->results[0].read_bandwidth_share = 0.97;
  assert_null(project(&world, "made-up.json", "mi300x-192", &p));
  expect_near(p.tokens_per_s_high, 2 * 4.5 / 4.8 * 5.3e12 / 16e9, 1e-12, "high");
  fixture_end(&world.fixture);
}

static void expect_refused(struct world *world, const char *file, const char *accelerator,
                           const char *words) {
  struct projection p;
  expect_why(accelerator, project(world, file, accelerator, &p), words);
  fixture_end(&world->fixture);
}

static void test_refused(void **state) {
  (void)state;
  struct world world;
  struct measurement *result;
#define REFUSED(change, words)                                                                     \
  start(&world);                                                                                   \
  result = &world.list[0]->results[0];                                                             \
  change;                                                                                          \
  expect_refused(&world, "made-up.json", "mi300x-192", words)
  REFUSED(result->grade = GRADE_PROJECTED, "this workload was not measured, only part of it");
  REFUSED(result->slice_count = 2, "this workload was not measured, only part of it");
  REFUSED(result->whole_model = false, "no record has a whole-model result");
  REFUSED(result->shard.of = 2, "only one rank's share was measured");
  REFUSED((result->tensor_parallel.devices = 2, result->tensor_parallel.library = "NCCL"),
          "several devices together were measured");
  REFUSED(result->flags.cache_resident = true, "a cache held the model");
  REFUSED(result->flags.bandwidth_void = true, "no valid read bandwidth");
  REFUSED(result->read_bandwidth_share = NAN, "no valid read bandwidth");
  REFUSED(result->read_bandwidth_share = 1.03, "no valid read bandwidth");
  REFUSED(result->resident_bytes = 207 * GB, "the model does not fit 'mi300x-192'");
  REFUSED(result->bytes_per_step = 2 * GB, "a cache could hold much of the model");
  // 16 GB at 0.9375 of 5.3 TB/s are 3.22 ms, at half of 1307.4 TFLOP/s 2.105e12 operations.
  REFUSED(result->operations_per_step = 2106 * GB, "compute-bound on 'mi300x-192'");
  REFUSED(world.list[0]->device.name = "NVIDIA H300", "lacks the device of record");
#undef REFUSED
}

static void test_names_refused(void **state) {
  (void)state;
  struct world world;
  start(&world);
  expect_refused(&world, "other.json", "mi300x-192", "no record named 'other.json'");
  start(&world);
  expect_refused(&world, "made-up.json", "h200-sxm-141", "the accelerator is measured itself");
  start(&world);
  expect_refused(&world, "made-up.json", "mi455x-432", "no bandwidth is published for");
  start(&world);
  world.workload.values[WORKLOAD_BATCH] = "4";
  expect_refused(&world, "made-up.json", "mi300x-192", "the records measured batch 2");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rule),
      cmocka_unit_test(test_not_above_the_ceiling),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_names_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
