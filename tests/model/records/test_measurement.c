// Records: written and read back, what they make one doubt, and directories of them.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/evidence/grade.h"
#include "model/records/measurement_file.h"
#include "tests/support/example_record.h"
#include "tests/support/fixture.h"
#include "tests/support/place_of_work.h"

#include "model/records/measurement.h"
#include "model/records/records.h"

#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static const struct measurement_record *
written_and_read(struct place_of_work *work, struct measurement_record *record, const char *what) {
  struct arena *arena = &work->fixture.arena;
  struct diagnostics *diagnostics = &work->fixture.diagnostics;
  assert_int_equal(measurement_write(record, work->path, arena, diagnostics), 0);
  const struct measurement_record *read = measurement_read(work->path, arena, diagnostics);
  expect_error(&work->fixture, what, "");
  return read;
}

static void test_round_trip(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct measurement_record *written = example_record(arena, 2);
  written->results[1].context = 4096;
  written->results[1].power_slope_w_per_s = -0.5;
  written->results[1].flags.noisy = true;
  const struct measurement_record *read = written_and_read(&work, written, "round trip");
  assert_string_equal(read->digest, written->digest);
  assert_string_equal(read->device.name, written->device.name);
  assert_int_equal(read->device.memory_bytes, written->device.memory_bytes);
  assert_int_equal(read->device.reported_cache_bytes, 320 << 20);
  assert_true(measurement_same_device(&read->device, &written->device));
  assert_int_equal(read->count, 2);
  const struct measurement *result = &read->results[1];
  assert_ptr_equal(result->record, read);
  assert_int_equal(result->context, 4096);
  assert_int_equal(result->operations_per_step, example_measurement.operations_per_step);
  assert_int_equal(result->seed, INT64_MAX);
  assert_int_equal(result->sample_count, example_measurement.sample_count);
  assert_memory_equal(result->samples, example_measurement.samples,
                      result->sample_count * sizeof(double));
  assert_int_equal(result->share_count, result->sample_count);
  assert_memory_equal(result->shares, example_measurement.shares,
                      result->share_count * sizeof(double));
  assert_true(result->tokens_per_s == example_measurement.tokens_per_s);
  assert_true(result->power_slope_w_per_s == -0.5);
  assert_true(isnan(result->load_power_w));
  assert_true(result->share_ci95_low == 0.92 && result->share_ci95_high == 0.94);
  assert_true(result->flags.noisy && !result->flags.drift);
  assert_int_equal(result->grade, GRADE_MEASURED);
  assert_string_equal(result->types.accumulation, "f32");
  assert_string_equal(result->step_form.form, "single launches");
  assert_string_equal(result->step_form.fallback, "recording failed");
  assert_string_equal(result->step_form.arithmetic, "native bf16");
  assert_string_equal(result->step_form.variant, "step=launches");
  assert_int_equal(result->variant_count, 2);
  assert_string_equal(result->variants[1].variant, "step=launches");
  assert_true(result->variants[1].step_seconds == 0.1);
  assert_true(isnan(result->variants[0].step_seconds));
  assert_string_equal(result->variants[0].refused, "no memory");
  place_of_work_end(&work);
}

// A mixture of experts, with the differences between its layers and what a step touched.
static void test_round_trip_of_a_mixture(void **state) {
  (void)state;
  struct place_of_work work;
  place_of_work_start(&work);
  struct arena *arena = &work.fixture.arena;
  struct measurement_record *written = example_record(arena, 1);
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
  const struct measurement_record *read = written_and_read(&work, written, "mixture");
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
  struct measurement_record *written = example_record(arena, 1);
  const struct measurement_record *read = written_and_read(&work, written, "telemetry");
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
  assert_true(prompt->window_tokens_per_s == 125 && prompt->tokens_per_s == 512 / 4.125 &&
              prompt->samples[2] == 4.25);
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
  struct measurement_record *record = example_record(arena, 1);
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
  const struct measurement_record *read = written_and_read(&work, make_metered(arena), "readings");
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
    struct measurement_record *record = example_record(arena, 1);
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

static void test_doubts_in_words(void **state) {
  (void)state;
  struct arena arena = {NULL};
  struct measurement result = example_measurement;
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
  struct measurement result = example_measurement;
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

// The prompt whose two rates differ most is named, if they differ by more than 3 %.
static void test_windows_of_prompts(void **state) {
  (void)state;
  static const struct {
    double short_window, long_window; // token/s under the meter; 100 in the samples
    const char *words;
  } cases[] = {
      {NAN, NAN, ""},
      {97.5, 102.5, ""},
      {95, 104, "a prompt of 16 was 5 % slower in the seconds under the meter than in its samples"},
      {95, 110,
       "a prompt of 32 was 10 % faster in the seconds under the meter than in its samples"},
  };
  struct arena arena = {NULL};
  struct measurement result = example_measurement;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct measurement_prefill prefills[] = {
        {.positions = 16, .tokens_per_s = 100, .window_tokens_per_s = cases[i].short_window},
        {.positions = 32, .tokens_per_s = 100, .window_tokens_per_s = cases[i].long_window}};
    result.prefills = prefills;
    result.prefill_count = 2;
    assert_string_equal(measurement_doubts(&result, &arena), cases[i].words);
  }
  arena_free(&arena);
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
    measurement_write(example_record(arena, 1), arena_printf(arena, "%s/%s", work.folder, names[i]),
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
  struct measurement_record *record = example_record(arena, 1);
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
  struct measurement_record *record = example_record(arena, 1);
  assert_int_equal(measurement_write(record, work.path, arena, diagnostics), 0);
  const char *before = example_text(work.path, arena);
  record->results[0].precision = "\xff"; // not UTF-8
  assert_int_equal(measurement_write(record, work.path, arena, diagnostics), -1);
  assert_string_equal(example_text(work.path, arena), before);
  assert_int_equal(unlink(work.path), 0);
  assert_int_equal(rmdir(work.folder), 0);
  place_of_work_end(&work);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_round_trip),
      cmocka_unit_test(test_directory),
      cmocka_unit_test(test_failing_disk),
      cmocka_unit_test(test_old_record_stays),
      cmocka_unit_test(test_doubts_in_words),
      cmocka_unit_test(test_matrix_shares),
      cmocka_unit_test(test_windows_of_prompts),
      cmocka_unit_test(test_round_trip_of_a_mixture),
      cmocka_unit_test(test_round_trip_of_telemetry),
      cmocka_unit_test(test_round_trip_of_readings),
      cmocka_unit_test(test_readings_that_contradict),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
