// Records: written, read back, and everything that must be refused.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/grade.h"
#include "model/evidence/measurement_read.h"
#include "model/evidence/measurement_write.h"
#include "tests/support/fixture.h"
#include "tests/support/place_of_work.h"

#include "base/record_digest.h"
#include "model/evidence/measurement.h"
#include "model/evidence/records.h"

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const double samples[] = {0.1, 0.1 + 1e-17, 1.0 / 3, 0.125};

static const struct measurement_throttle throttles[] = {{"software power cap", 0.4},
                                                        {"hardware slowdown", 5.5}};

#define WATCHED                                                                                    \
  {                                                                                                \
    .source = "nvml", .looks = 22, .window_s = 5.5, .core_clock_hz = {1.7e9, 1.9e9, 1.98e9},       \
    .memory_clock_hz = {NAN, NAN, NAN}, .core_temperature_c = {-3, 61, 64},                        \
    .memory_temperature_c = {70, 70, 70}, .throttles = throttles, .throttle_count = 2,             \
    .links = "PCIe 5 x16, 18 NVLinks"                                                              \
  }

static const struct measurement_member members[] = {
    {0,
     "NVIDIA H200",
     "GPU-0",
     "0000:17:00.0",
     {"580.95.05", "96", "enabled", "whole", 700, 700, 0},
     WATCHED},
    {3, "NVIDIA H200", "GPU-3", "0000:2a:00.0", {"", "", "", "", 650, NAN, NAN}, WATCHED}};

static const double prompt_s[] = {4, 4.125, 4.25};
static const struct measurement_prefill prompts[] = {
    {512, 256, 4.125, NAN, NAN, 512 / 4.125, 2.5e11, 0.75, NAN, NAN, "oneDNN 2.6.3", prompt_s, 3}};
static const struct measurement_mixed mixed[] = {{3, 128, 0.25, 1, 1.125, 1.25 / 1.125 - 1}};

static const struct measurement example = {
    .prefills = prompts,
    .prefill_count = 1,
    .mixed = mixed,
    .mixed_count = 1,
    .model = {.id = "tinyllama-1.1b",
              .layers = 22,
              .hidden = 2048,
              .heads = 32,
              .kv_heads = 4,
              .head_dim = 64,
              .ffn_hidden = 5632,
              .vocab = 32000,
              .norm_epsilon = 1e-5,
              .rope_theta = 10000},
    .precision = "bf16",
    .types = {"bf16", "bf16", "bf16", "bf16", "f32", ""},
    .routing = {"", NAN, NAN, NAN, 0},
    .together = {8, 9.5, 9.25, 10, 78, 3200, NAN, 5.5, WATCHED, 4100},
    .shard = {0, NAN, NAN, ""},
    .tensor_parallel = {2, members, 2, "NCCL 2.28.9", 12.5e-6, 32768},
    .batch = 4,
    .context = 512,
    .whole_model = true,
    .layers_measured = 22,
    .slice_error_s = NAN,
    .tokens_per_s = 4 / 0.1,
    .ci95_low = 39.9,
    .ci95_high = 40.1,
    .step_seconds = 0.1,
    .p5_s = 0.099,
    .p95_s = 0.11,
    .layer_seconds = 0.1 / 22,
    .samples = samples,
    .sample_count = 4,
    .bytes_per_step = 2123456789,
    .operations_per_step = 9007199254740993,
    .resident_bytes = 2200000000,
    .cost_formula = "counted from the shapes",
    .read_bandwidth = 2.5e10,
    .read_bandwidth_after = 2.5e10,
    .read_bandwidth_share = 0.93,
    .share_p5 = 0.9,
    .share_p95 = 0.95,
    .share_ci95_low = 0.92,
    .share_ci95_high = 0.94,
    .energy_meter = "none: absent",
    .idle_power_w = NAN,
    .load_power_w = NAN,
    .sampled_power_w = NAN,
    .joules_per_token = NAN,
    .energy_j = NAN,
    .energy_window_s = NAN,
    .power_slope_w_per_s = NAN,
    .beside = {NAN, NAN, "rapl-powercap, 1 CPU package", 25, 30.5, "typed: PDU A3", 512},
    .telemetry = WATCHED,
    .step_form = {"single launches", "recording failed", "native bf16"},
    .grade = GRADE_MEASURED,
    .verification = {"two layers", 1e-3, 1e-2, "ab"},
    .seed = INT64_MAX,
    .started = "2026-11-21T09:30:00Z",
    .finished = "2026-11-21T09:31:00Z",
};

static struct measurement_record *make_record(struct arena *arena, size_t count) {
  struct measurement_record *record = arena_alloc(arena, sizeof *record);
  record->device = (struct measurement_device){
      "cpu",        0, "Xeon \xc3\xbc \"2\" cores", "", "", "AVX-512", 1ull << 34, 105ull << 20,
      320ull << 20, 2};
  record->environment = (struct measurement_environment){
      "node-17", "Linux 6.1",
      "avx2",    "",
      0.25,      2,
      "0.1.0",   "00ff",
      "",        {"580.95.05", "96.00.A5.00.01", "enabled", "whole", 650, 700, NAN}};
  record->started = record->finished = "2026-11-21T09:30:00Z";
  record->results = arena_array(arena, count, sizeof *record->results);
  record->count = count;
  for (size_t i = 0; i < count; i++)
    record->results[i] = example;
  return record;
}

static void test_round_trip(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct measurement_record *written = make_record(arena, 2);
  written->results[1].context = 4096;
  written->results[1].power_slope_w_per_s = -0.5;
  written->results[1].flags.noisy = true;
  assert_int_equal(measurement_write(written, work.path, arena, &work.fixture.diagnostics), 0);
  const struct measurement_record *read =
      measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "round trip", "");
  assert_string_equal(read->digest, written->digest);
  assert_string_equal(read->device.name, written->device.name);
  assert_int_equal(read->device.memory_bytes, written->device.memory_bytes);
  assert_int_equal(read->device.reported_cache_bytes, 320 << 20);
  assert_true(measurement_same_device(&read->device, &written->device));
  assert_int_equal(read->count, 2);
  const struct measurement *result = &read->results[1];
  assert_ptr_equal(result->record, read);
  assert_int_equal(result->context, 4096);
  assert_int_equal(result->operations_per_step, example.operations_per_step);
  assert_int_equal(result->seed, INT64_MAX);
  assert_memory_equal(result->samples, samples, sizeof samples);
  assert_true(result->tokens_per_s == example.tokens_per_s);
  assert_true(result->power_slope_w_per_s == -0.5);
  assert_true(isnan(result->load_power_w));
  assert_true(result->share_ci95_low == 0.92 && result->share_ci95_high == 0.94);
  assert_true(result->flags.noisy && !result->flags.drift);
  assert_int_equal(result->grade, GRADE_MEASURED);
  assert_string_equal(result->types.accumulation, "f32");
  assert_string_equal(result->step_form.form, "single launches");
  assert_string_equal(result->step_form.fallback, "recording failed");
  assert_string_equal(result->step_form.arithmetic, "native bf16");
  place_of_work_end(&work);
}

// A mixture of experts, with the differences between its layers and what a step touched.
static void test_round_trip_of_a_mixture(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct measurement_record *written = make_record(arena, 1);
  struct measurement *mixture = &written->results[0];
  mixture->model.layer = (struct measurement_layer){.mlp = MEASUREMENT_MLP_CLAMPED,
                                                    .sinks = true,
                                                    .bias_router = true,
                                                    .window = 128,
                                                    .full_every = 2};
  mixture->model.rope = (struct measurement_rope){
      MEASUREMENT_ROPE_YARN, 32, 1, 32, 1.34657359, 4096, .interleaved = true};
  mixture->model.latent = (struct measurement_latent){512, 1536, 64, 128};
  mixture->model.experts = (struct measurement_experts){
      32, 4, 2880, 0, 3, MEASUREMENT_ROUTER_SIGMOID, 8, 4, .scale = 2.5};
  mixture->types.experts = "mxfp4";
  mixture->routing = (struct measurement_routing){"skewed", 1.2, 180.5, 200.25, 13219200};
  assert_int_equal(measurement_write(written, work.path, arena, &work.fixture.diagnostics), 0);
  const struct measurement_record *read =
      measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "mixture", "");
  const struct measurement *result = &read->results[0];
  assert_memory_equal(&result->model.layer, &mixture->model.layer, sizeof result->model.layer);
  assert_memory_equal(&result->model.latent, &mixture->model.latent, sizeof result->model.latent);
  assert_int_equal(result->model.rope.scaling, MEASUREMENT_ROPE_YARN);
  assert_int_equal(result->model.rope.original_context, 4096);
  assert_true(result->model.rope.interleaved && !result->model.rope.whole);
  assert_int_equal(result->model.experts.router, MEASUREMENT_ROUTER_SIGMOID);
  assert_true(result->model.experts.scale == 2.5 && result->model.experts.kept_groups == 4);
  assert_string_equal(result->types.experts, "mxfp4");
  assert_string_equal(result->routing.policy, "skewed");
  assert_true(result->routing.touched == 180.5 && result->routing.expected == 200.25);
  assert_int_equal(result->routing.expert_bytes, 13219200);
  place_of_work_end(&work);
}

static void test_round_trip_of_telemetry(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct measurement_record *written = make_record(arena, 1);
  assert_int_equal(measurement_write(written, work.path, arena, &work.fixture.diagnostics), 0);
  const struct measurement_record *read =
      measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "telemetry", "");
  const struct measurement_device_state *device = &read->environment.device_state;
  assert_string_equal(device->driver, "580.95.05");
  assert_string_equal(device->vbios, "96.00.A5.00.01");
  assert_string_equal(device->ecc, "enabled");
  assert_string_equal(device->partition, "whole");
  assert_true(device->power_limit_w == 650 && device->default_power_limit_w == 700);
  assert_true(isnan(device->other_processes));
  const struct measurement_beside *beside = &read->results[0].beside;
  assert_true(isnan(beside->soak_s) && isnan(beside->module_power_w));
  assert_string_equal(beside->host_meter, "rapl-powercap, 1 CPU package");
  assert_true(beside->host_idle_power_w == 25 && beside->host_load_power_w == 30.5);
  assert_string_equal(beside->wall_meter, "typed: PDU A3");
  assert_true(beside->wall_power_w == 512);
  const struct measurement_telemetry *telemetry = &read->results[0].telemetry;
  assert_string_equal(telemetry->source, "nvml");
  assert_int_equal(telemetry->looks, 22);
  assert_true(telemetry->window_s == 5.5 && telemetry->core_clock_hz.median == 1.9e9);
  assert_true(isnan(telemetry->memory_clock_hz.min) && telemetry->core_temperature_c.min == -3);
  assert_true(telemetry->memory_temperature_c.max == 70);
  const struct measurement_together *together = &read->results[0].together;
  assert_int_equal(together->devices, 8);
  assert_true(together->slowest == 9.25 && together->total_tokens_per_s == 78);
  assert_true(together->wall_power_w == 4100);
  const struct measurement_tensor_parallel *ranks = &read->results[0].tensor_parallel;
  assert_int_equal(measurement_devices(&read->results[0]), 2);
  assert_int_equal(ranks->members[1].index, 3);
  assert_string_equal(ranks->members[1].uuid, "GPU-3");
  assert_string_equal(ranks->library, "NCCL 2.28.9");
  assert_true(ranks->all_reduce_s == 12.5e-6 && ranks->all_reduce_bytes == 32768);
  assert_true(together->load_power_w == 3200 && isnan(together->host_load_power_w));
  const struct measurement_prefill *prompt = &read->results[0].prefills[0];
  assert_int_equal(read->results[0].prefill_count, 1);
  assert_int_equal(prompt->positions, 512);
  assert_true(prompt->tokens_per_s == 512 / 4.125 && prompt->samples[2] == 4.25);
  assert_string_equal(prompt->library, "oneDNN 2.6.3");
  assert_int_equal(read->results[0].mixed_count, 1);
  assert_true(read->results[0].mixed[0].mixed_s == 1.125);
  assert_string_equal(telemetry->links, "PCIe 5 x16, 18 NVLinks");
  assert_int_equal(telemetry->throttle_count, 2);
  assert_string_equal(telemetry->throttles[1].reason, "hardware slowdown");
  assert_true(telemetry->throttles[1].seconds == 5.5);
  place_of_work_end(&work);
}

// Idle with a gap; under load a mean of 90 W for two seconds and 105 W for four.
static const double idle_end_s[] = {2, 3.5, 6}, idle_w[] = {40.25, NAN, 39.5};
static const double load_end_s[] = {2, 6}, load_w[] = {90, 105};

static const struct measurement_readings example_readings = {
    .idle = {false, idle_end_s, idle_w, 3, 3}, .load = {false, load_end_s, load_w, 2, 2}};

static struct measurement_record *make_metered(struct arena *arena) {
  struct measurement_record *record = make_record(arena, 1);
  record->results[0].readings = example_readings;
  record->results[0].idle_power_w = 40;
  record->results[0].load_power_w = record->results[0].sampled_power_w = 100;
  return record;
}

static void test_round_trip_of_readings(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  assert_int_equal(
      measurement_write(make_metered(arena), work.path, arena, &work.fixture.diagnostics), 0);
  const struct measurement_record *read =
      measurement_read(work.path, arena, &work.fixture.diagnostics);
  expect_error(&work.fixture, "readings", "");
  const struct measurement_readings *readings = &read->results[0].readings;
  assert_false(readings->idle.sensed || readings->load.sensed);
  assert_int_equal(readings->load.count, 2);
  assert_memory_equal(readings->load.end_s, load_end_s, sizeof load_end_s);
  assert_memory_equal(readings->load.power_w, load_w, sizeof load_w);
  assert_int_equal(readings->idle.power_count, 3);
  assert_true(isnan(readings->idle.power_w[1]) && readings->idle.power_w[2] == 39.5);
  assert_true(measurement_has_gap(&readings->idle) && !measurement_has_gap(&readings->load));
  expect_near(measurement_window_joules(&readings->load), 600, 1e-12, "energy");
  expect_near(measurement_window_seconds(&readings->idle), 4.5, 1e-12, "without the gap");
  place_of_work_end(&work);
}

// Readings that contradict each other, or the stated watts.
static const struct {
  struct measurement_readings readings;
  double idle_power_w, load_power_w, sampled_power_w;
  const char *error; // "" for none
} readings_cases[] = {
    {{.load = {false, load_end_s, load_w, 2, 2}}, NAN, 100, 100, ""},
    {{.load = {false, load_end_s, load_w, 2, 2}}, NAN, 101, 100, "the mean of the readings is not"},
    {{.load = {true, load_end_s, load_w, 2, 2}}, NAN, 101, 100, ""},
    {{.load = {true, load_end_s, load_w, 2, 2}}, NAN, 100, 101, "the mean of the readings is not"},
    {{.load = {false, load_end_s, load_w, 2, 2}}, NAN, NAN, 100, "watts that were not measured"},
    {{.load = {false, load_end_s, load_w, 2, 1}}, NAN, 100, 100, "a time and watts each"},
    {{.load = {false, load_w + 1, load_w, 1, 2}}, NAN, 100, 100, "a time and watts each"},
    {{.idle = {false, load_end_s, load_w, 2, 2}}, 100, 120, 120, ""},
    {{.idle = {false, load_end_s, load_w, 2, 2}}, 90, 120, 120, "the mean of the readings is not"},
    {{.idle = {false, load_end_s, load_w, 2, 2}}, NAN, 120, 120, "watts that were not measured"},
    {{.idle = {false, idle_end_s, idle_w, 3, 3}}, 50, 120, 120, ""}, // nobody knows the gap's watts
    {{.load = {false, load_w, load_w, 2, 2}}, NAN, 96.4, 100, "the mean of the readings is not"},
    {{.load = {false, (const double[]){2, 2}, load_w, 2, 2}}, NAN, 90, 90, "times ascending"},
    {{.load = {false, (const double[]){0, 2}, load_w, 2, 2}}, NAN, 105, 90, "times ascending"},
};

static void test_readings_that_contradict(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof readings_cases / sizeof readings_cases[0]; i++) {
    struct place_of_work work;
    place_of_work_start(&work);
    struct arena *arena = &work.fixture.arena;
    struct measurement_record *record = make_record(arena, 1);
    struct measurement *result = &record->results[0];
    result->readings = readings_cases[i].readings;
    result->idle_power_w = readings_cases[i].idle_power_w;
    result->load_power_w = readings_cases[i].load_power_w;
    result->sampled_power_w = readings_cases[i].sampled_power_w;
    assert_int_equal(measurement_write(record, work.path, arena, &work.fixture.diagnostics), 0);
    const bool good = !*readings_cases[i].error;
    assert_int_equal(measurement_read(work.path, arena, &work.fixture.diagnostics) != NULL, good);
    expect_error(&work.fixture, arena_printf(arena, "case %zu", i), readings_cases[i].error);
    place_of_work_end(&work);
  }
}

static char *read_text(const char *path, struct arena *arena) {
  char *text = arena_alloc(arena, 1 << 16);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, (1 << 16) - 1, file)] = 0;
  fclose(file);
  return text;
}

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
  struct measurement_record *record = make_record(arena, 1);
  measurement_write(record, work.path, arena, &work.fixture.diagnostics);
  char *text = read_text(work.path, arena);
  const size_t length = strlen(text);
  for (size_t keep = 1; keep < length - 1; keep += 37)
    refuse(&work, arena_copy_n(arena, text, keep),
           "expected a complete measurement record in JSON");
  refuse(&work, "", "expected a complete measurement record in JSON");
  refuse(&work, "hello", "expected a complete measurement record in JSON");
  refuse(&work, "[1, 2]", "found no \"schema\" number");
  refuse(&work, "{\"schema\": \"1\"}", "found no \"schema\" number");
  refuse(&work, "{\"schema\": 16}", "a record of schema 16, this version reads 1 to 15");
  refuse(&work, "{\"schema\": 0}", "a record of schema 0, this version reads 1 to 15");
  refuse(&work, "{\"schema\": 1}", "the record has no digest");
  refuse(&work, "{\"schema\": 15}", "the record has no digest");
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

// Sets (or, without a value, removes) a member of the first result, or of the record if the name
// begins with '/'; then renews the digest.
static const char *edited(struct place_of_work *work, const char *name, const char *value) {
  struct arena *arena = &work->fixture.arena;
  measurement_write(make_record(arena, 1), work->path, arena, &work->fixture.diagnostics);
  json_t *record = json_load_file(work->path, 0, NULL);
  json_t *object = *name == '/' ? record : json_array_get(json_object_get(record, "results"), 0);
  name += *name == '/';
  for (const char *dot; (dot = strchr(name, '.')); name = dot + 1)
    object = json_object_get(object, arena_copy_n(arena, name, (size_t)(dot - name)));
  assert_non_null(object);
  if (value)
    json_object_set_new(object, name, json_loads(value, JSON_DECODE_ANY, NULL));
  else
    json_object_del(object, name);
  json_object_set_new(record, "digest", json_string(record_digest(record, arena)));
  return place_of_work_text(work, record);
}

static const struct {
  const char *name, *value, *error;
} bad[] = {
    {"batch", NULL, "results[0].batch: this field is missing"},
    {"batch", "0", "results[0].batch: expected a number of at least 1, found 0"},
    {"batch", "1.5", "results[0].batch: expected a whole number, found a number"},
    {"batch", "\"4\"", "results[0].batch: expected a whole number, found a text"},
    {"batch", "3000000000", "results[0].batch: expected a number of at least 1"},
    {"context", "-512", "results[0].context: expected a number of at least 1, found -512"},
    {"tokens_per_s", "-40.0", "results[0].tokens_per_s: expected a number of at least 0"},
    {"tokens_per_s", "null", "results[0].tokens_per_s: expected a number, found null"},
    {"tokens_per_s", "80.0", "tokens_per_s is not batch / step_seconds"},
    {"step_seconds", "0", "must be above 0"},
    {"ci95_low", "41.0", "tokens_per_s lies outside its own interval"},
    {"load_power_w", "-3", "results[0].load_power_w: expected a number of at least 0"},
    {"load_power_w", "\"many\"", "results[0].load_power_w: expected a number, found a text"},
    {"samples", "3", "results[0].samples: expected a list, found a number"},
    {"samples", "[0.1, -0.1]", "results[0].samples[1]: expected a number of at least 0"},
    {"samples", "[0.1, null]", "results[0].samples[1]: expected a number, found null"},
    {"slices", "[{}]", "results[0].slices[0].layers: this field is missing"},
    {"prefills",
     "[{\"positions\": 513, \"chunk\": 256, \"seconds\": 4.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.25, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt is longer than the context"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 513, \"seconds\": 4.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt is longer than the context, or a chunk longer than its prompt"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 256, \"seconds\": 4.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 129.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt's tokens_per_s is not positions / seconds"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 256, \"seconds\": 0.0, \"ci95_low_s\": 3.9, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"library\": \"\", \"samples\": "
     "[]}]",
     "a prompt's tokens_per_s is not positions / seconds"},
    {"prefills",
     "[{\"positions\": 512, \"chunk\": 256, \"seconds\": 4.0, \"ci95_low_s\": 4.05, "
     "\"ci95_high_s\": 4.1, \"tokens_per_s\": 128.0, \"matrix_rate\": null, \"matrix_share\": "
     "null, \"load_power_w\": null, \"joules_per_token\": null, \"library\": \"\", \"samples\": "
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
    json_object_del(result, "share_ci95_low");
    json_object_del(result, "share_ci95_high");
  }
}

static void test_doubts_in_words(void **state) {
  (void)state;
  struct arena arena = {NULL};
  struct measurement result = example;
  assert_string_equal(measurement_doubts(&result, &arena), "");
  result.flags.noisy = result.flags.thermal_unsettled = true;
  assert_string_equal(measurement_doubts(&result, &arena),
                      "unsteady, +-0.25 %: 93 % (92-94) of the read bandwidth, the power had not "
                      "settled");
  result.flags = (struct measurement_flags){.drift = true};
  result.share_ci95_low = result.share_ci95_high = NAN; // of slices, and in old records
  assert_string_equal(measurement_doubts(&result, &arena),
                      "unsteady, +-0.25 %: 93 % of the read bandwidth");
  result.read_bandwidth_share = NAN;
  assert_string_equal(measurement_doubts(&result, &arena), "unsteady, +-0.25 %");
  static const char *const impossible =
      "unsteady, +-0.25 %, faster than the memory was read, so the share of the read bandwidth is "
      "not usable: measure again on a quiet machine";
  result.read_bandwidth_share = 1.06;
  assert_string_equal(measurement_doubts(&result, &arena), impossible);
  result.flags.bandwidth_void = true;
  assert_string_equal(measurement_doubts(&result, &arena), impossible);
  for (size_t i = 0; i < sizeof result.flags / sizeof(bool); i++) { // each has its text
    result.flags = (struct measurement_flags){false};
    ((bool *)&result.flags)[i] = true;
    assert_true(*measurement_doubts(&result, &arena));
  }
  arena_free(&arena);
}

// A prompt that is faster than the matrix rate: neither its share nor that rate is usable.
static void test_matrix_shares(void **state) {
  (void)state;
  struct arena arena = {NULL};
  struct measurement result = example;
  struct measurement_prefill prefills[] = {{.matrix_share = 0.8}, {.matrix_share = 1.02}};
  result.prefills = prefills;
  result.prefill_count = 2;
  assert_string_equal(measurement_doubts(&result, &arena), "");
  assert_true(measurement_matrix_share(&prefills[1]) == 1.02);
  prefills[1].matrix_share = 1.03;
  assert_true(isnan(measurement_matrix_share(&prefills[1])));
  assert_true(measurement_matrix_share(&prefills[0]) == 0.8);
  assert_string_equal(measurement_doubts(&result, &arena),
                      "a prompt's products were faster than the matrix rate, so the share of it is "
                      "not usable: measure again on a quiet machine");
  prefills[1].matrix_share = NAN;
  assert_string_equal(measurement_doubts(&result, &arena), "");
  assert_true(isnan(measurement_matrix_share(&prefills[1])));
  arena_free(&arena);
}

// Before schema 6, members and devices run together had no telemetry of their own.
static void test_members_of_old(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  measurement_write(make_record(arena, 1), work.path, arena, &work.fixture.diagnostics);
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
  measurement_write(make_record(arena, 1), work.path, arena, &work.fixture.diagnostics);
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
  assert_true(isnan(old->together.total_tokens_per_s) && isnan(old->together.wall_power_w));
  // When it is resumed, it is written in the newest schema.
  assert_int_equal(measurement_write(read, work.path, arena, &work.fixture.diagnostics), 0);
  assert_non_null(measurement_read(work.path, arena, &work.fixture.diagnostics));
  assert_non_null(strstr(read_text(work.path, arena), "\"schema\": 15"));
  place_of_work_end(&work);
}

static void test_bad_content(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(&work, edited(&work, bad[i].name, bad[i].value), bad[i].error);
  place_of_work_end(&work);
}

// ---- directories

static void test_directory(void **state) {
  (void)state;
  struct place_of_work work;
  struct records records;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct diagnostics *diagnostics = &work.fixture.diagnostics;
  assert_int_equal(records_read(work.folder, &records, arena, diagnostics), 0);
  assert_int_equal(records.count, 0);
  const char *names[] = {"b.json", "a.json", "c.txt", ".hidden.json", "d.json.Xy12ab"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
    measurement_write(make_record(arena, 1), arena_printf(arena, "%s/%s", work.folder, names[i]),
                      arena, diagnostics);
  assert_int_equal(records_read(work.folder, &records, arena, diagnostics), 0);
  assert_int_equal(records.count, 2);
  assert_non_null(strstr(records.list[0]->path, "a.json"));
  assert_non_null(strstr(records.list[1]->path, "b.json"));
  place_of_work_write(&work, "{");
  assert_int_equal(records_read(work.folder, &records, arena, diagnostics), -1);
  assert_int_equal(records.count, 1);
  assert_int_equal(records_read("/nonexistent", &records, arena, diagnostics), -1);
  expect_error(&work.fixture, "/nonexistent", "cannot read the directory '/nonexistent'");
  place_of_work_end(&work);
}

static void test_failing_disk(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct diagnostics *diagnostics = &work.fixture.diagnostics;
  struct measurement_record *record = make_record(arena, 1);
  assert_int_equal(measurement_write(record, "/nonexistent/a.json", arena, diagnostics), -1);
  expect_error(&work.fixture, "missing folder", "cannot write '/nonexistent/a.json'");
  assert_true(diagnostics->machine_failed);
  place_of_work_end(&work);
}

// A record that cannot be replaced is unchanged, and nothing is left beside it.
static void test_old_record_stays(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct diagnostics *diagnostics = &work.fixture.diagnostics;
  struct measurement_record *record = make_record(arena, 1);
  assert_int_equal(measurement_write(record, work.path, arena, diagnostics), 0);
  const char *before = read_text(work.path, arena);
  record->results[0].precision = "\xff"; // not UTF-8
  assert_int_equal(measurement_write(record, work.path, arena, diagnostics), -1);
  assert_string_equal(read_text(work.path, arena), before);
  assert_int_equal(unlink(work.path), 0);
  assert_int_equal(rmdir(work.folder), 0);
  place_of_work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_cannot_be_opened),
      cmocka_unit_test(test_bad_content),
      cmocka_unit_test(test_directory),
      cmocka_unit_test(test_failing_disk),
      cmocka_unit_test(test_old_record_stays),
      cmocka_unit_test(test_members_of_old),
      cmocka_unit_test(test_old_schema),
      cmocka_unit_test(test_doubts_in_words),
      cmocka_unit_test(test_matrix_shares),
      cmocka_unit_test(test_round_trip_of_a_mixture),
      cmocka_unit_test(test_round_trip_of_telemetry),
      cmocka_unit_test(test_round_trip_of_readings),
      cmocka_unit_test(test_readings_that_contradict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
