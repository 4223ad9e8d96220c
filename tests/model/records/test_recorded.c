// Records as evidence: exact, interpolated, refused.
#include "base/arena.h"
#include "model/catalog/columns.h"
#include "model/evidence/catalog.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/measurement.h"
#include "model/records/record_device.h"
#include "model/records/recorded.h"
#include "model/records/records.h"
#include "model/scenario/sources/recorded_prefill.h"
#include "tests/support/fixture.h"

#include <cmocka.h>
#include <math.h>
#include <stdint.h>
#include <string.h>

// tokens/s measured at each batch (rows) and context (columns); 0: not measured.
static const int batches[] = {1, 4, 16, 64}, contexts[] = {512, 4096};
static const double tokens_per_s[][2] = {{10, 8}, {36, 28}, {120, 80}, {300, 0}};

static struct measurement_record *record_of(struct fixture *fixture) {
  struct measurement_record *record = arena_alloc(&fixture->arena, sizeof *record);
  record->path = "records/machine.json";
  record->device = (struct measurement_device){.backend = "cpu", .name = "A processor"};
  record->finished = "2026-11-01T10:00:00Z";
  record->results = arena_array(&fixture->arena, 8, sizeof *record->results);
  for (size_t b = 0; b < 4; b++)
    for (size_t c = 0; c < 2; c++) {
      if (tokens_per_s[b][c] == 0)
        continue;
      struct measurement *result = &record->results[record->count++];
      *result = (struct measurement){.record = record,
                                     .precision = "bf16",
                                     .batch = batches[b],
                                     .context = contexts[c],
                                     .whole_model = true,
                                     .tokens_per_s = tokens_per_s[b][c],
                                     .load_power_w = 100 + batches[b],
                                     .idle_power_w = NAN,
                                     .energy_meter = "a meter",
                                     .grade = GRADE_MEASURED,
                                     .finished = record->finished};
      result->model.id = "llama-3.1-8b";
      result->types = (struct measurement_types){"bf16", "bf16", "bf16", "bf16", "f32", ""};
    }
  return record;
}

static const struct {
  const char *file, *accelerator, *model, *precision, *batch, *context;
  double low, high; // tokens/s; 0: refused
  enum grade grade;
  const char *error;
} cases[] = {
    {"", "cpu", "llama-3.1-8b", "bf16", "4", "512", 36, 36, GRADE_MEASURED, ""},
    {"machine.json", "h200-sxm-141", "llama-3.1-8b", "bf16", "1", "4096", 8, 8, GRADE_MEASURED, ""},
    // Between batch 4 and 16, a monotone curve stays between their values.
    {"", "cpu", "llama-3.1-8b", "bf16", "8", "512", 36, 120, GRADE_PROJECTED, ""},
    {"", "cpu", "llama-3.1-8b", "bf16", "8", "4096", 28, 80, GRADE_PROJECTED, ""},
    // Two contexts make a straight line: halfway, it has the mean.
    {"", "cpu", "llama-3.1-8b", "bf16", "4", "2304", 32, 32, GRADE_PROJECTED, ""},
    {"", "cpu", "llama-3.1-8b", "bf16", "128", "512", 0, 0, 0, "records measured batch 1, 1, 4, 4"},
    {"", "cpu", "llama-3.1-8b", "bf16", "64", "4096", 0, 0, 0, "records measured batch"},
    {"", "cpu", "llama-3.1-8b", "bf16", "8", "1024", 0, 0, 0, "records measured batch"},
    {"", "cpu", "llama-3.1-8b", "bf16", "4", "256", 0, 0, 0, "records measured batch"},
    {"", "cpu", "llama-3.1-8b", "bf16", "", "512", 0, 0, 0, "records measured batch"},
    {"", "cpu", "llama-3.1-8b", "int8", "4", "512", 0, 0, 0,
     "no record has a whole-model result of llama-3.1-8b in int8"},
    {"", "cpu", "llama-2-70b", "bf16", "4", "512", 0, 0, 0, "no record has a whole-model result"},
    {"", "cuda", "llama-3.1-8b", "bf16", "4", "512", 0, 0, 0, "no record of cuda"},
    {"other.json", "cpu", "llama-3.1-8b", "bf16", "4", "512", 0, 0, 0, "named other.json"},
};

static void test_choose(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *list[] = {record_of(&fixture)};
    struct records records = {.list = list, .count = 1};
    struct workload workload = {.values = {[WORKLOAD_MODEL] = cases[i].model,
                                           [WORKLOAD_PRECISION] = cases[i].precision,
                                           [WORKLOAD_ACTIVATIONS] = "",
                                           [WORKLOAD_KV] = "",
                                           [WORKLOAD_HEAD] = "",
                                           [WORKLOAD_SPARSITY] = "",
                                           [WORKLOAD_SPECULATION] = "",
                                           [WORKLOAD_INTERACTIVITY] = "",
                                           [WORKLOAD_BASIS] = "",
                                           [WORKLOAD_SCENARIO] = "",
                                           [WORKLOAD_TOKENS] = "",
                                           [WORKLOAD_BATCH] = cases[i].batch,
                                           [WORKLOAD_CONTEXT] = cases[i].context}};
    struct recorded recorded = {0};
    const char *why = recorded_choose(&records, cases[i].file, cases[i].accelerator, &workload,
                                      &recorded, &fixture.arena);
    expect_why(cases[i].batch, why, cases[i].error);
    if (!why) {
      double tokens = recorded.tokens_per_s;
      bool exact = cases[i].low == cases[i].high;
      if (exact)
        expect_near(tokens, cases[i].low, 1e-12, cases[i].batch);
      else
        assert_true(tokens > cases[i].low && tokens < cases[i].high);
      assert_int_equal(recorded.grade, cases[i].grade);
      assert_true(recorded.load_power_w > 100 && isnan(recorded.idle_power_w));
      assert_string_equal(recorded.date, "2026-11-01");
    }
    fixture_end(&fixture);
  }
}

// Of two records of one workload the newer counts, and slices never represent a model.
static void test_newest_whole_model(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct measurement_record *list[] = {record_of(&fixture), record_of(&fixture),
                                       record_of(&fixture)};
  list[1]->finished = "2026-11-02T10:00:00Z";
  for (size_t k = 0; k < list[1]->count; k++) {
    list[1]->results[k].finished = list[1]->finished;
    list[1]->results[k].tokens_per_s *= 2;
    list[2]->results[k].finished = "2026-11-03T10:00:00Z";
    list[2]->results[k].whole_model = false;
  }
  struct records records = {.list = list, .count = 3};
  assert_ptr_equal(records_of_backend(&records, "cpu"), list[1]);
  assert_null(records_of_backend(&records, "hip"));
  struct workload workload = {
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "4", "512"}};
  struct recorded recorded;
  assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
  expect_near(recorded.tokens_per_s, 72, 1e-12, "the newer record");
  fixture_end(&fixture);
}

// Batch 1, 4, 16 and 64 at context 512, each with its rate; two ranks share a batch, and a user
// gets what both produce.
static void test_curve(void **state) {
  (void)state;
  static const struct {
    const char *kv, *context;
    int ranks;
    size_t points; // 0: refused
    double per_user;
    const char *error;
  } wanted[] = {
      {"", "512", 0, 4, 36. / 4, ""},
      {"bf16", "512", 2, 4, 36. / 4, ""},
      {"fp8", "512", 0, 0, 0, "no record has a whole-model result of llama-3.1-8b in bf16, kv fp8"},
      {"", "1024", 0, 0, 0,
       "records of several batches are needed for interactivity, at one context; there"},
  };
  for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *list[] = {record_of(&fixture)};
    for (size_t k = 0; k < list[0]->count; k++)
      list[0]->results[k].shard.of = wanted[i].ranks;
    const struct records records = {.list = list, .count = 1};
    const struct workload workload = {.values = {"llama-3.1-8b", "bf16", "", wanted[i].kv, "", "",
                                                 "", "", "", "", "9 token/s", "", "", "",
                                                 wanted[i].context}};
    struct curve curve;
    struct recorded nearest;
    const char *why =
        recorded_curve(&records, "", "cpu", &workload, &curve, &nearest, &fixture.arena);
    expect_why("curve", why, wanted[i].error);
    assert_int_equal(why != NULL, wanted[i].points == 0);
    if (!why) {
      assert_int_equal(curve.count, wanted[i].points);
      assert_true(curve.batch[1] == 4);
      expect_near(curve_interactivity(&curve, 1), wanted[i].per_user, 1e-12, "per user");
    }
    fixture_end(&fixture);
  }
}

// Tokens and watts of two devices that hold the model together are both divided by two; this
// measurement takes precedence over that of one device's share.
static void test_tensor_parallel(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct measurement_record *list[] = {record_of(&fixture), record_of(&fixture)};
  for (size_t k = 0; k < list[0]->count; k++) {
    list[0]->results[k].tensor_parallel =
        (struct measurement_tensor_parallel){.devices = 2, .library = "NCCL 2.28.9"};
    list[1]->results[k].shard = (struct measurement_shard){2, NAN, 12e-6, "a paper"};
    list[1]->results[k].finished = "2026-11-02T10:00:00Z";
    list[0]->results[k].idle_power_w = 30;
  }
  const struct records records = {.list = list, .count = 2};
  const struct workload workload = {
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "4", "512"}};
  const struct measurement *two = NULL;
  for (size_t k = 0; k < list[0]->count; k++)
    if (list[0]->results[k].batch == 4 && list[0]->results[k].context == 512)
      two = &list[0]->results[k];
  struct recorded recorded;
  assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
  assert_ptr_equal(recorded.nearest, two);
  expect_near(recorded.tokens_per_s, two->tokens_per_s / 2, 1e-12, "of one device");
  expect_near(recorded.load_power_w, two->load_power_w / 2, 1e-12, "watts of one device");
  expect_near(recorded.idle_power_w, 15, 1e-12, "idle watts of one device");
  assert_non_null(strstr(recorded.source, "; on 2 devices together, through NCCL 2.28.9"));
  assert_non_null(strstr(recorded.load_source, ", the mean of 2 devices"));
  fixture_end(&fixture);
}

// A share of a model counts for its part of the ranks; a whole model takes precedence; and what
// several devices do together is stated with the figure.
static void test_ranks(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct measurement_record *list[] = {record_of(&fixture), record_of(&fixture)};
  for (size_t k = 0; k < list[1]->count; k++) {
    list[1]->results[k].finished = "2026-11-02T10:00:00Z";
    list[1]->results[k].shard = (struct measurement_shard){2, NAN, 12e-6, "a paper"};
  }
  list[1]->results[0].together.devices = 8;
  list[1]->results[0].together.tokens_per_s = 9.72;
  const struct {
    struct records records;
    double tokens_per_s;
    const char *source;
  } expected[] = {
      {{.list = list, .count = 2}, 36, "record machine.json: A processor, decode only, 95 %"},
      {{.list = list + 1, .count = 1},
       18,
       "; one of 2 ranks, an all-reduce taking 12 us (a paper)"},
  };
  const struct workload workload = {
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "4", "512"}};
  for (size_t i = 0; i < 2; i++) {
    struct recorded recorded;
    assert_null(
        recorded_choose(&expected[i].records, "", "cpu", &workload, &recorded, &fixture.arena));
    expect_near(recorded.tokens_per_s, expected[i].tokens_per_s, 1e-12, "of one device");
    if (!strstr(recorded.source, expected[i].source))
      fail_msg("expected '%s' in '%s'", expected[i].source, recorded.source);
  }
  const struct workload first = {
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "1", "512"}};
  struct recorded recorded;
  recorded_choose(&expected[1].records, "", "cpu", &first, &recorded, &fixture.arena);
  assert_non_null(strstr(recorded.source, "; with 8 devices at once 97.2 % of that"));
  fixture_end(&fixture);
}

// What the watts are based on: the meter and its readings.
static void test_source_of_watts(void **state) {
  (void)state;
  static const double end_s[] = {2, 3, 5.5}, power_w[] = {98, NAN, 109};
  static const struct {
    size_t readings;
    const char *batch, *source;
  } expected[] = {
      {0, "4", "record machine.json: A processor, a meter"},
      {1, "4", "record machine.json: A processor, a meter; 1 reading from 98 to 98 W over 2 s"},
      {3, "4",
       "record machine.json: A processor, a meter; 2 readings from 98 to 109 W over 5.5 s, with "
       "gaps"},
      {3, "5",
       "record machine.json: A processor, a meter; 2 readings from 98 to 109 W over 5.5 s, with "
       "gaps; interpolated to batch 5"},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *list[] = {record_of(&fixture)};
    for (size_t k = 0; k < list[0]->count; k++)
      list[0]->results[k].readings.load = (struct measurement_window){
          false, end_s, power_w, expected[i].readings, expected[i].readings};
    const struct records records = {.list = list, .count = 1};
    const struct workload workload = {.values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "",
                                                 "", "", "", "", expected[i].batch, "512"}};
    struct recorded recorded;
    assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
    assert_string_equal(recorded.load_source, expected[i].source);
    assert_string_equal(recorded.idle_source, "");
    fixture_end(&fixture);
  }
}

#define GB 1000000000ULL

// Which record of a directory counts for an accelerator, or why none does.
static const struct {
  const char *device;
  uint64_t memory_bytes;
  const char *file, *accelerator, *error;
} devices[] = {
    {"NVIDIA H200", 150 * GB, "", "h200-sxm-141", ""},
    {"NVIDIA H200", 150 * GB, "machine.json", "h200-sxm-141", ""},
    {"NVIDIA H200", 150 * GB, "", "cuda", ""},
    {"NVIDIA H200", 150 * GB, "machine.json", "cuda", ""},
    {"AMD Instinct MI325X", 270 * GB, "", "mi325x-256", ""},
    {"NVIDIA H200", 150 * GB, "", "h100-sxm5-80", "no record of h100-sxm5-80: see"},
    {"NVIDIA H200", 150 * GB, "machine.json", "h100-sxm5-80",
     "record 'machine.json' is for 'h200-sxm-141' (NVIDIA H200), not 'h100-sxm5-80'"},
    // A name that is not in the table counts only if the file is named.
    {"NVIDIA H300", 300 * GB, "", "h200-sxm-141",
     "data/ does not identify the accelerator 'NVIDIA H300': name its file with record = FILE"},
    {"NVIDIA H300", 300 * GB, "machine.json", "h200-sxm-141", ""},
    // One of eight partitions has the name of the whole device.
    {"AMD Instinct MI325X", 34 * GB, "", "mi325x-256",
     "identify the accelerator 'AMD Instinct MI325X'"},
};

static void test_devices(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
    struct fixture fixture;
    struct catalog catalog;
    fixture_start(&fixture);
    assert_int_equal(catalog_open(&catalog, "data", &fixture.arena, &fixture.diagnostics), 0);
    struct measurement_record *list[] = {record_of(&fixture)};
    list[0]->device = (struct measurement_device){
        .backend = "cuda", .name = devices[i].device, .memory_bytes = devices[i].memory_bytes};
    struct records records = {
        .list = list, .count = 1, .accelerators = catalog_table(&catalog, CATALOG_ACCELERATORS)};
    struct workload workload = {
        .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "4", "512"}};
    struct recorded recorded;
    const char *why = recorded_choose(&records, devices[i].file, devices[i].accelerator, &workload,
                                      &recorded, &fixture.arena);
    expect_why(devices[i].device, why, devices[i].error);
    if (!*devices[i].file)
      assert_int_equal(!records_of_accelerator(&records, devices[i].accelerator),
                       *devices[i].error != '\0');
    fixture_end(&fixture);
  }
}

// Batch 4 and 16 with KV cache and head in bf16; 16 and 64 with one of the two in fp8, twice as
// fast and newer.
static void test_precisions(void **state) {
  (void)state;
  enum { OF_KV, OF_HEAD };
  static const struct {
    int of;
    const char *batch, *precision;
    double tokens_per_s;
    enum grade grade;
    const char *remark;
  } expected[] = {
      {OF_KV, "16", "", 240, GRADE_MEASURED,
       "kv fp8, head bf16 (new.json) is used, not llama-3.1-8b in bf16, activations bf16, kv bf16, "
       "head bf16 (machine"},
      {OF_KV, "16", "bf16", 120, GRADE_MEASURED, ""},
      {OF_KV, "4", "", 36, GRADE_MEASURED, ""},
      {OF_KV, "10", "", 78, GRADE_PROJECTED, ""}, // on a straight line between the two in bf16
      {OF_KV, "16", "fp8", 240, GRADE_MEASURED, ""},
      {OF_HEAD, "16", "", 240, GRADE_MEASURED, "head fp8 (new.json) is used, not"},
      {OF_HEAD, "16", "bf16", 120, GRADE_MEASURED, ""},
      {OF_HEAD, "10", "", 78, GRADE_PROJECTED, ""},
      {OF_HEAD, "16", "fp8", 240, GRADE_MEASURED, ""},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *list[] = {record_of(&fixture), record_of(&fixture)};
    list[1]->path = "records/new.json";
    for (size_t k = 0; k < list[1]->count; k++) {
      list[0]->results[k].whole_model =
          list[0]->results[k].batch == 4 || list[0]->results[k].batch == 16;
      list[1]->results[k].whole_model = list[1]->results[k].batch >= 16;
      *(expected[i].of == OF_KV ? &list[1]->results[k].types.kv : &list[1]->results[k].types.head) =
          "e4m3";
      list[1]->results[k].tokens_per_s *= 2;
      list[1]->results[k].finished = "2026-11-02T10:00:00Z";
    }
    const struct records records = {.list = list, .count = 2};
    struct workload workload = {.values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "",
                                           "", "", "", expected[i].batch, "512"}};
    workload.values[expected[i].of == OF_KV ? WORKLOAD_KV : WORKLOAD_HEAD] = expected[i].precision;
    struct recorded recorded;
    assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
    expect_near(recorded.tokens_per_s, expected[i].tokens_per_s, 1e-12, expected[i].batch);
    assert_int_equal(recorded.grade, expected[i].grade);
    const char *remark = recorded_remark(&recorded, &fixture.arena);
    if (*expected[i].remark)
      expect_fragment(remark, expected[i].remark);
    else
      assert_string_equal(remark, "");
    struct workload open = workload;
    open.values[WORKLOAD_BATCH] = "";
    struct curve curve;
    assert_null(recorded_curve(&records, "", "cpu", &open, &curve, &recorded, &fixture.arena));
    assert_int_equal(curve.count, 2); // of one precision
    assert_true(curve.batch[0] == (!strcmp(expected[i].precision, "bf16") ? 4 : 16));
    fixture_end(&fixture);
  }
}

// Of records alike the best grade counts before the date, and a choice at one power limit is told.
static void test_several_records(void **state) {
  (void)state;
  static const struct {
    enum grade grade; // of the newer record, twice as fast
    double limit_w;   // its power limit; the older one's is 300 W
    double tokens_per_s;
    const char *remark;
  } expected[] = {
      {GRADE_MEASURED, 300, 240, "of 2 matching decoding records, new.json is used"},
      {GRADE_PROJECTED, 300, 120, "of 2 matching decoding records, machine.json is used"},
      {GRADE_MEASURED, 200, 120, ""},
      {GRADE_PROJECTED, 400, 240, ""},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *list[] = {record_of(&fixture), record_of(&fixture)};
    list[1]->path = "records/new.json";
    list[0]->environment.device_state.power_limit_w = 300;
    list[1]->environment.device_state.power_limit_w = expected[i].limit_w;
    for (size_t k = 0; k < list[1]->count; k++) {
      list[1]->results[k].tokens_per_s *= 2;
      list[1]->results[k].grade = expected[i].grade;
      list[1]->results[k].finished = "2026-11-02T10:00:00Z";
    }
    const struct records records = {.list = list, .count = 2};
    const struct workload workload = {.values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "",
                                                 "", "", "", "", "16", "512"}};
    struct recorded recorded;
    assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
    expect_near(recorded.tokens_per_s, expected[i].tokens_per_s, 1e-12, "chosen");
    const char *remark = recorded_remark(&recorded, &fixture.arena);
    if (*expected[i].remark)
      expect_fragment(remark, expected[i].remark);
    else
      assert_string_equal(remark, "");
    fixture_end(&fixture);
  }
}

// Watts are interpolated between the results that have any, and from their meter; at a result
// without any too, with a grade of their own, but not beyond them.
static void test_watts_of_some(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct measurement_record *list[] = {record_of(&fixture)};
  for (size_t k = 0; k < list[0]->count; k++)
    if (list[0]->results[k].batch == 4 || list[0]->results[k].batch == 64) {
      list[0]->results[k].load_power_w = NAN;
      list[0]->results[k].energy_meter = "none";
    }
  const struct records records = {.list = list, .count = 1};
  const struct workload workload = {
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "6", "512"}};
  static const struct {
    const char *batch;
    double watts; // 0: none
    enum grade grade, power_grade;
    const char *source;
  } expected[] = {
      {"6", 106, GRADE_PROJECTED, GRADE_PROJECTED, "a meter; interpolated to batch 6"},
      {"4", 104, GRADE_MEASURED, GRADE_PROJECTED, "a meter; interpolated to batch 4"},
      {"16", 116, GRADE_MEASURED, GRADE_MEASURED, "a meter"},
      {"64", 0, GRADE_MEASURED, GRADE_MEASURED, ""},
  };
  struct recorded recorded;
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct workload at = workload;
    at.values[WORKLOAD_BATCH] = expected[i].batch;
    assert_null(recorded_choose(&records, "", "cpu", &at, &recorded, &fixture.arena));
    assert_int_equal(recorded.grade, expected[i].grade);
    assert_int_equal(recorded.power_grade, expected[i].power_grade);
    if (expected[i].watts > 0)
      expect_near(recorded.load_power_w, expected[i].watts, 1e-12, expected[i].source);
    else
      assert_true(isnan(recorded.load_power_w));
    expect_fragment(recorded.load_source, expected[i].source);
  }
  struct workload open = workload;
  open.values[WORKLOAD_BATCH] = "";
  struct curve curve;
  assert_null(recorded_curve(&records, "", "cpu", &open, &curve, &recorded, &fixture.arena));
  expect_fragment(recorded.load_source, "a meter");
  fixture_end(&fixture);
}

// However many batches were measured, all are on the curve.
static void test_many_batches(void **state) {
  (void)state;
  enum { MANY = 70 };
  struct fixture fixture;
  fixture_start(&fixture);
  struct measurement_record *list[] = {record_of(&fixture)};
  const struct measurement one = list[0]->results[0];
  list[0]->results = arena_array(&fixture.arena, MANY, sizeof one);
  list[0]->count = MANY;
  for (int i = 0; i < MANY; i++) {
    list[0]->results[i] = one;
    list[0]->results[i].batch = 2 * (i + 1);
    list[0]->results[i].tokens_per_s = 10 * (i + 1);
  }
  const struct records records = {.list = list, .count = 1};
  struct workload workload = {
      .values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "", "", "", "", "", "139", "512"}};
  struct recorded recorded;
  struct curve curve;
  assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
  expect_near(recorded.tokens_per_s, 695, 1e-12, "between the last two");
  assert_int_equal(recorded.nearest->batch, 138); // of two equally near
  workload.values[WORKLOAD_BATCH] = "";
  assert_null(recorded_curve(&records, "", "cpu", &workload, &curve, &recorded, &fixture.arena));
  assert_int_equal(curve.count, MANY);
  assert_int_equal(recorded.nearest->batch, 2 * MANY);
  fixture_end(&fixture);
}

// And of prompts however many lengths.
static void test_many_prompts(void **state) {
  (void)state;
  enum { MANY = 70 };
  struct fixture fixture;
  fixture_start(&fixture);
  struct measurement_record *list[] = {record_of(&fixture)};
  struct measurement *result = &list[0]->results[0];
  struct measurement_prefill prompts[MANY];
  for (int i = 0; i < MANY; i++)
    prompts[i] = (struct measurement_prefill){
        .positions = 100 * (MANY - i), .tokens_per_s = 1000, .load_power_w = NAN, .library = ""};
  result->prefills = prompts;
  result->prefill_count = MANY;
  struct prompt_rate rate;
  assert_null(recorded_prefill_at(result, 100 * MANY - 50, &rate, &fixture.arena));
  expect_near(rate.tokens_per_s, 1000, 1e-12, "between the longest two");
  expect_fragment(rate.source, "interpolated between those of 100 to 7000");
  fixture_end(&fixture);
}

// Watts and tokens per second are of the same seconds, so that their quotient is the record's
// joules per token; a record that does not count tokens under its meter has the samples' rate.
static void test_rate_of_the_watts(void **state) {
  (void)state;
  static const struct {
    const char *batch;
    double window, rate;
    const char *source;
  } expected[] = {
      {"4", 27, 27,
       "decode only, in the seconds of its watts; its samples: 95 % within 35 and 37 "},
      {"4", NAN, 36, "decode only, 95 % within 35 and 37 token/s"},
      {"", 27, 27, ""}, // on the curve over the batch
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *list[] = {record_of(&fixture)};
    for (size_t k = 0; k < list[0]->count; k++) {
      list[0]->results[k].window_tokens_per_s =
          list[0]->results[k].tokens_per_s * expected[i].window / 36;
      list[0]->results[k].ci95_low = 35;
      list[0]->results[k].ci95_high = 37;
    }
    const struct records records = {.list = list, .count = 1};
    const struct workload workload = {.values = {"llama-3.1-8b", "bf16", "", "", "", "", "", "", "",
                                                 "", "", "", "", expected[i].batch, "512"}};
    struct recorded recorded;
    struct curve curve = {0};
    if (*expected[i].batch)
      assert_null(recorded_choose(&records, "", "cpu", &workload, &recorded, &fixture.arena));
    else
      assert_null(
          recorded_curve(&records, "", "cpu", &workload, &curve, &recorded, &fixture.arena));
    expect_near(*expected[i].batch ? recorded.tokens_per_s : curve.tokens_per_s[1],
                expected[i].rate, 1e-12, expected[i].batch);
    expect_fragment(recorded.source, expected[i].source);
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_choose),
      cmocka_unit_test(test_newest_whole_model),
      cmocka_unit_test(test_curve),
      cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_tensor_parallel),
      cmocka_unit_test(test_devices),
      cmocka_unit_test(test_source_of_watts),
      cmocka_unit_test(test_precisions),
      cmocka_unit_test(test_several_records),
      cmocka_unit_test(test_watts_of_some),
      cmocka_unit_test(test_many_batches),
      cmocka_unit_test(test_many_prompts),
      cmocka_unit_test(test_rate_of_the_watts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
