// The text of measurement records: damaged, with invalid content, of older schemas.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/records/measurement_file.h"
#include "tests/support/example_record.h"
#include "tests/support/fixture.h"
#include "tests/support/place_of_work.h"

#include "base/record_digest.h"
#include "model/records/measurement.h"

#include <jansson.h>
#include <math.h>
#include <string.h>

static void refuse(struct place_of_work *work, const char *text, const char *error) {
  place_of_work_write(work, text);
  assert_null(measurement_read(work->path, &work->fixture.arena, &work->fixture.diagnostics));
  expect_error(&work->fixture, text, error);
}

// ---- texts that are not a complete record

static void test_damaged(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct measurement_record *record = example_record(arena, 1);
  measurement_write(record, work.path, arena, &work.fixture.diagnostics);
  char *text = example_text(work.path, arena);
  const size_t length = strlen(text);
  for (size_t keep = 1; keep < length - 1; keep += 37)
    refuse(&work, arena_copy_n(arena, text, keep),
           "expected a complete measurement record in JSON");
  refuse(&work, "", "expected a complete measurement record in JSON");
  refuse(&work, "hello", "expected a complete measurement record in JSON");
  refuse(&work, "[1, 2]", "found no \"schema\" number: 'pertoken import' makes a record of ");
  refuse(&work, "{\"schema\": \"1\"}", "found no \"schema\" number");
  refuse(&work, "{\"schema\": 20}", "a record of schema 20, this version reads 1 to 19");
  refuse(&work, "{\"schema\": 0}", "a record of schema 0, this version reads 1 to 19");
  refuse(&work, "{\"schema\": 1}", "the record has no digest");
  refuse(&work, "{\"schema\": 19}", "the record has no digest");
  refuse(&work, "{\"schema\": 1, \"schema\": 1}", "duplicate object key");
  refuse(&work, arena_printf(arena, "%s x", text), "end of file expected");
  char *digit = strstr(text, "\"batch\": 4");
  digit[strlen("\"batch\": ")] = '5';
  refuse(&work, text, "its digest does not match its content");
  place_of_work_end(&work);
}

static void test_cannot_be_opened(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct fixture *fixture = &work.fixture;
  assert_null(measurement_read("/nonexistent/a.json", &fixture->arena, &fixture->diagnostics));
  expect_error(fixture, "missing", "No such file");
  place_of_work_end(&work);
}

// ---- records with a correct digest and invalid content

static const char *edited(struct place_of_work *work, const char *name, const char *value) {
  struct arena *arena = &work->fixture.arena;
  measurement_write(example_record(arena, 1), work->path, arena, &work->fixture.diagnostics);
  return place_of_work_edited(work, json_load_file(work->path, 0, NULL), "results", 0, name, value);
}

static const struct {
  const char *name, *value, *error;
} bad[] = {
    {"batch", NULL, "results[0].batch: this field is missing"},
    {"batch", "0", "results[0].batch: expected a number of at least 1, found 0"},
    {"batch", "1.5", "results[0].batch: expected a whole number, found a number"},
    {"batch", "\"4\"", "results[0].batch: expected a whole number, found a text"},
    {"batch", "3000000000",
     "results[0].batch: expected a number from 1 to 2147483647, found 3000000000"},
    {"context", "-512", "results[0].context: expected a number of at least 1, found -512"},
    {"tokens_per_s", "-40.0", "results[0].tokens_per_s: expected a number of at least 0"},
    {"tokens_per_s", "null", "results[0].tokens_per_s: expected a number, found null"},
    {"tokens_per_s", "80.0", "tokens_per_s is not batch / the mean step"},
    {"step_seconds", "0", "must be above 0"},
    {"ci95_low", "41.0", "tokens_per_s lies outside its own interval"},
    {"load_power_w", "-3", "results[0].load_power_w: expected a number of at least 0"},
    {"load_power_w", "\"many\"", "results[0].load_power_w: expected a number, found a text"},
    {"samples", "3", "results[0].samples: expected a list, found a number"},
    {"samples", "[0.1, -0.1]", "results[0].samples[1]: expected a number of at least 0"},
    {"samples", "[0.1, null]", "results[0].samples[1]: expected a number, found null"},
    {"shares", NULL, "results[0].shares: this field is missing"},
    {"shares", "[0.9, -0.1]", "results[0].shares[1]: expected a number of at least 0"},
    {"shares", "[0.9]", "shares and samples differ in number"},
    {"slices", "[{}]", "results[0].slices[0].layers: this field is missing"},
    {"prefills",
     "[{\"positions\": 513, \"chunk\": 256, \"seconds\": 4.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.25, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"window_tokens_per_s\": null, "
     "\"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt is longer than the context"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 513, \"seconds\": 4.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"window_tokens_per_s\": null, "
     "\"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt is longer than the context, or a chunk longer than its prompt"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 256, \"seconds\": 4.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 129.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"window_tokens_per_s\": null, "
     "\"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt's tokens_per_s is not positions / seconds"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 256, \"seconds\": 0.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"window_tokens_per_s\": null, "
     "\"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt's tokens_per_s is not positions / seconds"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 256, \"seconds\": 4.0, \"ci95_low_s\": 4.05, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"window_tokens_per_s\": null, "
     "\"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt's seconds lie outside their own interval"},
    {"mixed",
     "[{\"rows\": 3, \"chunk\": 128, \"steps_s\": 1.0, \"chunk_s\": 1.0, \"mixed_s\": 1.0, "
     "\"sum_error\": 0.5}]",
     "sum_error is not that of its times"},
    {"flags.noisy", "1", "results[0].flags.noisy: expected true or false, found a number"},
    {"flags.cache_resident", "true", "are never graded measured"},
    {"whole_model", "false", "are never graded measured"},
    {"layers_measured", "21", "some layers without slices are not a whole model"},
    {"grade", "\"benchmark\"", "results[0].grade: expected \"measured\" or \"projected\""},
    {"verification.max_error", "0.5", "the kernels did not pass their verification"},
    {"telemetry", NULL, "results[0].telemetry: this field is missing"},
    {"telemetry.looks", "-1", "results[0].telemetry.looks: expected a number of at least 0"},
    {"telemetry.core_clock_hz.min", "\"fast\"",
     "core_clock_hz.min: expected a number, found a text"},
    {"telemetry.throttles", "[{}]", "telemetry.throttles[0].reason: this field is missing"},
    {"beside.wall_power_w", "-1", "results[0].beside.wall_power_w: expected a number of at least"},
    {"/environment.device_state", NULL, "environment.device_state: this field is missing"},
    {"/environment.device_state.extra", "1", "device_state.extra: records have no such field"},
    {"readings", NULL, "results[0].readings: this field is missing"},
    {"readings.load.sensed", "1", "readings.load.sensed: expected true or false"},
    {"readings.load.power_w", "7", "readings.load.power_w: expected a list, found a number"},
    {"readings.load.power_w", "[null, \"x\"]", "power_w[1]: expected a number, found a text"},
    {"readings.load.power_w", "[-1]", "power_w[0]: expected a number of at least 0"},
    {"readings.idle.end_s", "[null]", "readings.idle.end_s[0]: expected a number, found null"},
    {"tensor_parallel", NULL, "results[0].tensor_parallel: this field is missing"},
    {"tensor_parallel.devices", "3", "members and tensor_parallel.devices differ in number"},
    {"tensor_parallel.members", "[{}]", "tensor_parallel.members[0].index: this field is missing"},
    {"types", "[]", "results[0].types: expected an object, found a list"},
    {"extra", "1", "results[0].extra: records have no such field"},
    {"/extra", "1", "extra: records have no such field"},
    {"/device", NULL, "device: this field is missing"},
    {"/device.units", "0", "device.units: expected a number of at least 1"},
    {"/results", "{}", "results: expected a list, found an object"},
    {"/results", "[7]", "results[0]: expected an object, found a number"},
    {"/basis", "\"serving\"", "basis: expected \"decode\""},
    {"/schema", "99", "a record of schema 99"},
};

static void test_bad_content(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(&work, edited(&work, bad[i].name, bad[i].value), bad[i].error);
  place_of_work_end(&work);
}

// ---- records as earlier versions wrote them

// Removes from a record what schema 12 added.
static void take_out_12(json_t *record) {
  static const char *const parts[] = {"layer", "rope", "latent", "experts"};
  for (size_t i = 0; i < json_array_size(json_object_get(record, "results")); i++) {
    json_t *result = json_array_get(json_object_get(record, "results"), i);
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++)
      json_object_del(json_object_get(result, "model"), parts[k]);
    json_object_del(json_object_get(result, "types"), "experts");
    json_object_del(result, "routing");
  }
}

// What schema 15 added.
static void take_out_links(json_t *result) {
  json_t *members = json_object_get(json_object_get(result, "tensor_parallel"), "members");
  json_object_del(json_object_get(result, "together"), "wall_power_w");
  json_object_del(json_object_get(result, "telemetry"), "links");
  json_object_del(json_object_get(json_object_get(result, "together"), "telemetry"), "links");
  for (size_t m = 0; m < json_array_size(members); m++)
    json_object_del(json_object_get(json_array_get(members, m), "telemetry"), "links");
}

// What was added after schema 7.
static void take_out_8(json_t *record) {
  take_out_12(record);
  json_object_del(json_object_get(record, "environment"), "node");
  json_object_del(json_object_get(record, "device"), "reported_cache_bytes");
  for (size_t i = 0; i < json_array_size(json_object_get(record, "results")); i++) {
    json_t *result = json_array_get(json_object_get(record, "results"), i);
    json_object_del(result, "prefills");
    json_object_del(result, "mixed");
    take_out_links(result);
    json_object_del(json_object_get(result, "step_form"), "arithmetic");
    json_object_del(json_object_get(result, "step_form"), "variant");
    json_object_del(result, "variants");
    json_object_del(result, "window_tokens_per_s");
    json_object_del(json_object_get(result, "flags"), "window_differs");
    json_object_del(result, "share_ci95_low");
    json_object_del(result, "share_ci95_high");
    json_object_del(result, "shares");
  }
}

// Before schema 6, members and devices run together had no telemetry of their own.
static void test_members_of_old(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  measurement_write(example_record(arena, 1), work.path, arena, &work.fixture.diagnostics);
  struct measurement_record *read = measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "members", "");
  const struct measurement_member *kept = &read->results[0].tensor_parallel.members[0];
  assert_string_equal(kept->state.driver, "580.95.05");
  expect_near(kept->telemetry.core_clock_hz.median, 1.9e9, 1e-12, "a member's clock");
  assert_int_equal(kept->telemetry.throttle_count, 2);
  expect_near(kept[1].state.power_limit_w, 650, 1e-12, "another's limit");
  expect_near(read->results[0].together.telemetry.core_clock_hz.min, 1.7e9, 1e-12, "together");
  json_t *record = json_load_file(work.path, 0, NULL);
  json_t *result = json_array_get(json_object_get(record, "results"), 0);
  json_t *tensor_parallel = json_object_get(result, "tensor_parallel");
  json_object_set_new(record, "schema", json_integer(5));
  take_out_8(record);
  for (size_t i = 0; i < 2; i++) {
    json_t *old = json_array_get(json_object_get(tensor_parallel, "members"), i);
    json_object_del(old, "state");
    json_object_del(old, "telemetry");
  }
  json_object_del(json_object_get(result, "together"), "telemetry");
  json_object_del(result, "step_form");
  json_object_set_new(record, "digest", json_string(record_digest(record, arena)));
  json_dump_file(record, work.path, 0);
  json_decref(record);
  read = measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "schema 5", "");
  kept = &read->results[0].tensor_parallel.members[0];
  assert_string_equal(kept[1].uuid, "GPU-3");
  assert_string_equal(kept->telemetry.source, "");
  assert_true(isnan(kept->telemetry.window_s) && isnan(kept->state.power_limit_w));
  assert_true(isnan(read->results[0].together.telemetry.core_clock_hz.median));
  place_of_work_end(&work);
}

// A record as written by the first version: without later additions.
static void test_old_schema(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  measurement_write(example_record(arena, 1), work.path, arena, &work.fixture.diagnostics);
  json_t *record = json_load_file(work.path, 0, NULL);
  json_t *result = json_array_get(json_object_get(record, "results"), 0);
  json_object_set_new(record, "schema", json_integer(1));
  take_out_8(record);
  json_object_del(json_object_get(record, "environment"), "device_state");
  json_object_del(result, "readings");
  json_object_del(result, "beside");
  json_object_del(result, "together");
  json_object_del(result, "shard");
  json_object_del(result, "tensor_parallel");
  json_object_del(result, "step_form");
  json_object_set_new(record, "digest", json_string(record_digest(record, arena)));
  json_dump_file(record, work.path, 0);
  assert_null(measurement_read(work.path, arena, &work.fixture.diagnostics));
  expect_error(&work.fixture, "old", "results[0].telemetry: records have no such field");
  json_object_del(result, "telemetry");
  json_object_set_new(record, "digest", json_string(record_digest(record, arena)));
  json_dump_file(record, work.path, 0);
  json_decref(record);
  work.fixture.diagnostics = (struct diagnostics){.arena = arena};
  struct measurement_record *read = measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "old", "");
  const struct measurement *old = &read->results[0];
  assert_string_equal(read->environment.device_state.driver, "");
  assert_true(isnan(read->environment.device_state.power_limit_w));
  assert_string_equal(old->beside.wall_meter, "");
  assert_true(isnan(old->beside.host_load_power_w) && isnan(old->telemetry.window_s));
  assert_string_equal(old->telemetry.source, "");
  assert_string_equal(old->telemetry.links, "");
  assert_true(isnan(old->telemetry.core_clock_hz.median));
  assert_int_equal(old->telemetry.throttle_count, 0);
  assert_int_equal(old->readings.load.count, 0);
  assert_int_equal(old->together.devices, 0);
  assert_int_equal(measurement_devices(old), 1);
  assert_string_equal(old->tensor_parallel.library, "");
  assert_string_equal(old->step_form.form, "");
  assert_string_equal(old->step_form.fallback, "");
  assert_string_equal(old->step_form.arithmetic, "");
  assert_string_equal(old->step_form.variant, "");
  assert_int_equal(old->variant_count, 0);
  assert_true(isnan(old->window_tokens_per_s) && !old->flags.window_differs);
  assert_true(isnan(old->together.total_tokens_per_s) && isnan(old->together.wall_power_w));
  // When it is resumed, it is written in the newest schema.
  assert_int_equal(measurement_write(read, work.path, arena, &work.fixture.diagnostics), 0);
  assert_non_null(measurement_read(work.path, arena, &work.fixture.diagnostics));
  assert_non_null(strstr(example_text(work.path, arena), "\"schema\": 19"));
  place_of_work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_damaged),     cmocka_unit_test(test_cannot_be_opened),
      cmocka_unit_test(test_bad_content), cmocka_unit_test(test_members_of_old),
      cmocka_unit_test(test_old_schema),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
