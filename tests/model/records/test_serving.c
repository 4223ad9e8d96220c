// Serving records: written, read back, and everything that must be refused.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/serving.h"
#include "tests/support/fixture.h"
#include "tests/support/place_of_work.h"

#include "base/record_digest.h"
#include "model/records/recorded.h"
#include "model/records/records.h"
#include "model/records/served_choice.h"

#include <cmocka.h>
#include <gsl/gsl_cdf.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct serving_file files[] = {{"result.json", "00ff"}};

static struct serving_rung rung_of(double concurrency, double tokens_per_s) {
  struct serving_rung rung = serving_rung_unknown();
  rung.load = LOAD_CLOSED;
  rung.concurrency = concurrency;
  rung.mean_concurrency = concurrency - 0.25;
  rung.input_tokens = 1024;
  rung.output_tokens = 255.5;
  rung.window_s = 60;
  rung.completed = 700;
  rung.failed = 0;
  rung.output_tokens_per_s = tokens_per_s;
  rung.input_tokens_per_s = 4 * tokens_per_s;
  rung.ttft = (struct serving_latency){0.5, 0.25, 1, 1.5, 2, 0.125};
  rung.power.source = "nvml, 8 devices";
  rung.power.covers = COVERS_ACCELERATORS;
  rung.power.devices = 8;
  rung.power.load_power_w = 4000;
  rung.power.clock_offset_s = 0.01;
  rung.seed = 42;
  return rung;
}

static struct serving_record *make_record(struct arena *arena) {
  struct serving_record *record = arena_alloc(arena, sizeof *record);
  *record = serving_record_unknown();
  record->tool = "pertoken-probe";
  record->engine = "vLLM";
  record->engine_version = "0.10.1";
  record->accelerator = "nvidia-h200-sxm";
  record->node = "node-03";
  record->accelerators = 8;
  record->precision = "fp8";
  record->model = "llama-3.1-70b";
  record->served_model = "m\xc3\xbc";
  record->files = files;
  record->file_count = 1;
  record->date = "2026-11-21";
  record->rungs = arena_array(arena, 3, sizeof *record->rungs);
  record->count = 3;
  record->rungs[0] = rung_of(1, 100);
  record->rungs[1] = rung_of(2, 190.125);
  record->rungs[2] = serving_rung_unknown();
  record->rungs[2].refused = "3 of 12 requests failed";
  return record;
}

static void test_round_trip(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct serving_record *written = make_record(arena);
  assert_int_equal(serving_write(written, work.path, arena, &work.fixture.diagnostics), 0);
  const struct serving_record *read = serving_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "round trip", "");
  assert_string_equal(read->digest, written->digest);
  assert_string_equal(read->path, work.path);
  assert_string_equal(read->served_model, "m\xc3\xbc");
  assert_string_equal(read->files[0].sha256, "00ff");
  assert_int_equal(read->accelerators, 8);
  assert_int_equal(read->grade, GRADE_MEASURED);
  assert_int_equal(read->basis, BASIS_SERVING);
  assert_int_equal(read->count, 3);
  const struct serving_rung *rung = &read->rungs[1];
  assert_int_equal(rung->load, LOAD_CLOSED);
  assert_true(rung->output_tokens_per_s == 190.125 && rung->output_tokens == 255.5);
  assert_memory_equal(&rung->ttft, &written->rungs[1].ttft, sizeof rung->ttft);
  assert_true(isnan(rung->tpot.mean_s) && isnan(rung->request_rate));
  assert_int_equal(rung->power.covers, COVERS_ACCELERATORS);
  assert_true(rung->power.load_power_w == 4000 && rung->power.devices == 8);
  assert_int_equal(rung->seed, 42);
  assert_string_equal(read->rungs[2].refused, "3 of 12 requests failed");
  assert_int_equal(read->rungs[2].load, LOAD_UNKNOWN);
  place_of_work_end(&work);
}

// A record is passed on: it does not reveal in which folder the server has its model.
static void test_no_folder_is_told(void **state) {
  (void)state;
  static const struct {
    const char *name, *told;
  } cases[] = {
      {"/home/ada/models/m-q8_0.gguf", "m-q8_0.gguf"},
      {"./m.gguf", "m.gguf"},
      {"../../m.gguf", "m.gguf"},
      {"~/m.gguf", "m.gguf"},
      {"/srv/models/llama/", "llama/"},
      {"C:\\Users\\ada\\m.gguf", "m.gguf"},
      {"meta-llama/Llama-3.1-8B", "meta-llama/Llama-3.1-8B"},
      {"llama-3.1-8b", "llama-3.1-8b"},
      {"/", "/"},
      {"", ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_string_equal(serving_told_name(cases[i].name), cases[i].told);
  struct place_of_work work;
  place_of_work_start(&work);
  struct serving_record *record = make_record(&work.fixture.arena);
  record->served_model = cases[0].name;
  assert_int_equal(serving_write(record, work.path, &work.fixture.arena, &work.fixture.diagnostics),
                   0);
  assert_string_equal(record->served_model, cases[0].told);
  const struct serving_record *read =
      serving_read(work.path, &work.fixture.arena, &work.fixture.diagnostics);
  assert_string_equal(read->served_model, cases[0].told);
  place_of_work_end(&work);
}

// ---- files that are not records, or have been changed

static void refuse(struct place_of_work *work, const char *text, const char *error) {
  place_of_work_write(work, text);
  assert_null(serving_read(work->path, &work->fixture.arena, &work->fixture.diagnostics));
  expect_error(&work->fixture, text, error);
}

static json_t *written(struct place_of_work *work) {
  struct serving_record *record = make_record(&work->fixture.arena);
  work->fixture.diagnostics = (struct diagnostics){.arena = &work->fixture.arena};
  assert_int_equal(
      serving_write(record, work->path, &work->fixture.arena, &work->fixture.diagnostics), 0);
  return json_load_file(work->path, 0, NULL);
}

static void drop_field(json_t *record, const char *field) {
  json_t *rung;
  size_t i;
  json_object_del(record, field);
  json_array_foreach(json_object_get(record, "rungs"), i, rung) {
    json_object_del(rung, field);
  }
}

// Schema 9 did not record the device, 10 not the node, 11 not the types that a server computes in,
// 12 not how many requests have a time per output token.
static void test_old_schemas(void **state) {
  (void)state;
  static const char *const added[][2] = {
      {"tpot_requests"}, {"activations", "kv"}, {"node"}, {"device"}};
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  json_t *old = written(&work);
  for (int schema = SERVING_SCHEMA - 1; schema >= SERVING_OLDEST; schema--) {
    const char *const *fields = added[SERVING_SCHEMA - 1 - schema];
    json_object_set_new(old, "schema", json_integer(schema));
    json_object_set_new(old, "digest", json_string(record_digest(old, arena)));
    refuse(&work, place_of_work_text(&work, json_deep_copy(old)),
           arena_printf(arena, "%s: records have no such field", fields[0]));
    for (int f = 0; f < 2 && fields[f]; f++)
      drop_field(old, fields[f]);
    json_object_set_new(old, "digest", json_string(record_digest(old, arena)));
    work.fixture.diagnostics = (struct diagnostics){.arena = arena};
    place_of_work_write(&work, place_of_work_text(&work, json_deep_copy(old)));
    const struct serving_record *read = serving_read(work.path, arena, &work.fixture.diagnostics);
    expect_error(&work.fixture, fields[0], "");
    assert_true(isnan(read->rungs[0].tpot_requests));
    assert_string_equal(read->kv, "");
    assert_string_equal(read->activations, "");
    assert_string_equal(read->node, schema < 11 ? "" : "node-03");
    assert_string_equal(read->device, "");
  }
  json_decref(old);
  place_of_work_end(&work);
}

static void test_damaged(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  const char *text = place_of_work_text(&work, written(&work));
  for (size_t keep = 1; keep < strlen(text) - 1; keep += 37)
    refuse(&work, arena_copy_n(&work.fixture.arena, text, keep),
           "expected a complete serving record in JSON");
  json_t *edited = written(&work);
  json_object_set_new(edited, "accelerators", json_integer(4));
  refuse(&work, place_of_work_text(&work, edited), "the record was changed after it was written");
  refuse(&work, "{\"schema\": 9}", "the record has no digest");
  refuse(&work, "{\"schema\": 14}", "a record of schema 14, this version reads 9 to 13:");
  refuse(&work, "{}", "expected a serving record, found no \"schema\" number");
  assert_null(serving_read("/nonexistent/a.json", &work.fixture.arena, &work.fixture.diagnostics));
  place_of_work_end(&work);
}

// ---- contents that cannot have been measured

static const char *edited(struct place_of_work *work, const char *name, const char *value) {
  return place_of_work_edited(work, written(work), "rungs", 1, name, value);
}

static const struct {
  const char *name, *value, *error;
} bad[] = {
    {"/record", "\"run\"", "record: expected \"engine run\""},
    {"/basis", "\"offline\"", "basis: expected \"serving\" or \"decode\", found a text"},
    {"/basis", "\"decode\"",
     "rungs[1]: a static batch must be decoding, and only a static batch can be"},
    {"/grade", "\"claim\"", "\"measured\" or \"benchmark\" or \"published\" or \"projected\""},
    {"/grade", "\"\"", "grade: expected"},
    {"/grade", "\"published\"", "a published run has a title and a URL"},
    {"/published_title", "\"A study\"", "one's own run has none"},
    {"/model", "\"\"", "accelerator, model, precision and tool must be stated"},
    {"/date", "\"2026-11\"", "date: expected a day such as 2026-11-21"},
    {"/date", "\"2026-02-30\"", "date: expected a day such as 2026-11-21"},
    {"/accelerators", "0", "accelerators: expected a number of at least 1, found 0"},
    {"/input_accelerators", "3", "do not add up"},
    {"/rungs", "[]", "a record needs a rung"},
    {"/extra", "1", "extra: records have no such field"},
    {"load", "\"poisson\"", "rungs[1].load: expected \"closed loop\" or"},
    {"load", "\"static batch\"",
     "rungs[1]: a static batch must be decoding, and only a static batch can be"},
    {"load", "\"Poisson arrivals\"",
     "rungs[1]: a request rate applies only to Poisson and constant"},
    {"request_rate", "2.5", "rungs[1]: a request rate applies only to Poisson and constant"},
    {"concurrency", "null", "rungs[1]: its concurrency is missing"},
    {"concurrency", "0.5", "rungs[1].concurrency: expected a number of at least 1"},
    {"output_tokens_per_s", "null", "rungs[1]: output_tokens_per_s must be above 0"},
    {"output_tokens_per_s", "\"190 tok/s\"",
     "output_tokens_per_s: expected a number, found a text"},
    {"completed", "0", "rungs[1]: no request was completed"},
    {"completed", "661", "rungs[1]: a percentile with too few requests"},
    {"ttft.p90_s", "0.2", "rungs[1]: a latency's percentiles do not ascend"},
    {"power.load_power_w", NULL, "rungs[1].power.load_power_w: this field is missing"},
    {"power.source", "\"none: no meter\"", "rungs[1]: watts need a meter and its scope"},
    {"power.covers", "\"nothing\"", "rungs[1]: watts need a meter and its scope"},
    {"power.devices", "9", "rungs[1]: the watts cover more accelerators than the rates"},
};

static void test_bad_content(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(&work, edited(&work, bad[i].name, bad[i].value), bad[i].error);
  place_of_work_end(&work);
}

// What could not be read back is not written, either.
static void test_bad_record_is_not_written(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct serving_rung good = make_record(arena)->rungs[0], few = good, early = good,
                      negative = good;
  few.completed = 63;
  early.ttft.mean_s = -0.005;
  negative.power.load_power_w = -1;
  const struct {
    struct serving_rung rung;
    const char *error;
  } cases[] = {
      {few, "rungs[0]: a percentile with too few requests"},
      {early, "rungs[0]: ttft.mean_s: expected a number of at least 0, found -0.005"},
      {negative, "rungs[0]: power.load_power_w: expected a number of at least 0, found -1"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct serving_record *record = make_record(arena);
    record->rungs[0] = cases[i].rung;
    assert_int_equal(serving_write(record, work.path, arena, &work.fixture.diagnostics), -1);
    expect_error(&work.fixture, cases[i].error, cases[i].error);
    assert_null(fopen(work.path, "r"));
  }
  place_of_work_end(&work);
}

// It counts among the measurements of decoding, and never for a server.
static void expect_decoding(struct place_of_work *work) {
  struct arena *arena = &work->fixture.arena;
  struct records records;
  struct recorded recorded;
  struct workload workload;
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    workload.values[k] = "";
  workload.values[WORKLOAD_MODEL] = "llama-3.1-70b";
  workload.values[WORKLOAD_BATCH] = "2";
  workload.values[WORKLOAD_CONTEXT] = "1024";
  records.accelerators = NULL;
  assert_int_equal(records_read(work->folder, &records, arena, &work->fixture.diagnostics), 0);
  assert_int_equal(records.count, 1);
  assert_null(recorded_choose(&records, "", "nvidia-h200-sxm", &workload, &recorded, arena));
  expect_near(recorded.tokens_per_s, 190.125 / 8, 1e-12, "of one of eight");
  expect_near(recorded.load_power_w, 4000.0 / 8, 1e-12, "watts of one");
  assert_string_equal(recorded.source,
                      "record a.json: nvidia-h200-sxm, decode only; on 8 devices together");
  const struct served_request request = {&records, "", "nvidia-h200-sxm", &workload, 0, 0, 0};
  assert_false(served_is_there(&request));
  assert_null(served_named(&records, "a.json"));
}

// A batch that only read prompts, and one that only decoded.
static void test_static_batches(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct serving_record *record = make_record(arena);
  record->basis = BASIS_DECODE;
  for (size_t i = 0; i < record->count; i++)
    record->rungs[i].load = LOAD_STATIC;
  record->rungs[0].output_tokens_per_s = NAN;
  record->rungs[1].input_tokens_per_s = NAN;
  record->rungs[2].concurrency = 4;
  assert_int_equal(serving_write(record, work.path, arena, &work.fixture.diagnostics), 0);
  assert_non_null(serving_read(work.path, arena, &work.fixture.diagnostics));
  expect_decoding(&work);
  record->rungs[0].input_tokens_per_s = NAN;
  assert_int_equal(serving_write(record, work.path, arena, &work.fixture.diagnostics), -1);
  expect_error(&work.fixture, "no rate", "rungs[0]: output_tokens_per_s must be above 0");
  place_of_work_end(&work);
}

// LoadGen's early stopping: at most one of that many beyond a percentile, with 99 % confidence.
static void test_samples(void **state) {
  (void)state;
  static const int percentiles[] = {90, 95, 99};
  for (size_t i = 0; i < sizeof percentiles / sizeof percentiles[0]; i++) {
    const unsigned samples = (unsigned)serving_samples(percentiles[i]);
    const double beyond = 1 - percentiles[i] / 100.0;
    assert_true(gsl_cdf_binomial_P(1, beyond, samples) <= 0.01);
    assert_true(gsl_cdf_binomial_P(1, beyond, samples - 1) > 0.01);
  }
  assert_int_equal(serving_samples(50), 1);
}

static void test_ahead_of_today(void **state) {
  (void)state;
  static const struct {
    const char *date, *finished, *warning;
  } cases[] = {
      {"2026-11-21", "", NULL},
      {"2199-01-01", "", "the record is dated 2199-01-01, after today"},
      {"2026-11-21", "2199-06-01T10:00:00Z", "the record is dated 2199-06-01, after today"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct place_of_work work;
    struct records records;
    place_of_work_start(&work);
    struct diagnostics *diagnostics = &work.fixture.diagnostics;
    struct serving_record *record = make_record(&work.fixture.arena);
    record->date = cases[i].date;
    record->finished = cases[i].finished;
    assert_int_equal(serving_write(record, work.path, &work.fixture.arena, diagnostics), 0);
    assert_int_equal(records_read(work.folder, &records, &work.fixture.arena, diagnostics), 0);
    assert_int_equal(records.serving_count, 1);
    assert_int_equal(diagnostics->count, cases[i].warning ? 1 : 0);
    if (cases[i].warning)
      expect_fragment(diagnostics->list[0].message, cases[i].warning);
    place_of_work_end(&work);
  }
}

static void test_both_kinds_in_a_folder(void **state) {
  (void)state;
  struct place_of_work work;
  struct records records;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  assert_int_equal(serving_write(make_record(arena), work.path, arena, &work.fixture.diagnostics),
                   0);
  assert_int_equal(records_read(work.folder, &records, arena, &work.fixture.diagnostics), 0);
  assert_int_equal(records.count, 0);
  assert_int_equal(records.serving_count, 1);
  assert_string_equal(records.servings[0]->model, "llama-3.1-70b");
  fixture_write(&work.fixture, work.folder, "b.json", "{\"schema\": 8}");
  assert_int_equal(records_read(work.folder, &records, arena, &work.fixture.diagnostics), -1);
  expect_error(&work.fixture, "a measurement without digest", "the record has no digest");
  assert_int_equal(records.serving_count, 1);
  place_of_work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_no_folder_is_told),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_old_schemas),
      cmocka_unit_test(test_bad_content),
      cmocka_unit_test(test_bad_record_is_not_written),
      cmocka_unit_test(test_static_batches),
      cmocka_unit_test(test_samples),
      cmocka_unit_test(test_both_kinds_in_a_folder),
      cmocka_unit_test(test_ahead_of_today),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
