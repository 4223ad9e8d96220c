// Several devices at once, on the tests' three devices that are slower together than alone
// (twins.h).
#include "model/records/measurement_file.h"
#include "tests/stand_ins/fake/load.h"
#include "tests/support/twins.h"

#include "probe/commands/listing.h"
#include "probe/devices/device.h"
#include "probe/measure/together.h"
#include "probe/sessions/recheck.h"
#include "probe/sessions/result_table.h"
#include "probe/sessions/session.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const struct decode_backend *const backends[] = {&twins_backend, NULL};
static const struct measurement_shape tiny = {.id = "tiny",
                                              .layers = 2,
                                              .hidden = 32,
                                              .heads = 4,
                                              .kv_heads = 2,
                                              .head_dim = 8,
                                              .ffn_hidden = 48,
                                              .vocab = 64,
                                              .norm_epsilon = 1e-5,
                                              .rope_theta = 10000};
static volatile sig_atomic_t stop;
static const struct meter_roots no_meters = {"/nowhere", "/nowhere", "/nowhere", "/nowhere",
                                             "/nowhere", "/nowhere", "/nowhere", "/nowhere",
                                             "/nowhere", "/nowhere"};

// Each GPU in the fake libnvidia-ml; heat throttles the second.
static const struct fake_gpu gpus[TWINS] = {
    {.pci = "", .core_mhz = 1980, .memory_mhz = 3201, .core_c = 61, .memory_c = 70},
    {.pci = "",
     .core_mhz = 1410,
     .memory_mhz = 3201,
     .core_c = 84,
     .memory_c = 95,
     .reasons = 0x20},
    {.pci = "",
     .core_mhz = 1935,
     .memory_mhz = 3200,
     .core_c = 66,
     .memory_c = 74,
     .processes = 3}};

struct scene {
  struct fixture fixture;
  struct probe_options options;
  char folder[32];
  struct device *devices;
  size_t count;
  struct session sessions[TWINS];
  struct meter_roots roots;
};

static void start(struct scene *scene, const char *name) {
  *scene = (struct scene){.folder = "/tmp/pertoken-XXXXXX"};
  fixture_start(&scene->fixture);
  twins_reset();
  stop = 0;
  assert_non_null(mkdtemp(scene->folder));
  scene->roots = no_meters;
  scene->options = (struct probe_options){.node = "",
                                          .precisions = {"bf16"},
                                          .precision_count = 1,
                                          .batches = {{2}, 1},
                                          .contexts = {{8}, 1},
                                          .kv = "bf16",
                                          .activations = "bf16",
                                          .time_s = 0.3,
                                          .energy_s = 1,
                                          .wall = {.typed_w = NAN},
                                          .output_directory = scene->folder};
  struct arena *arena = &scene->fixture.arena;
  devices_find(name, backends, &scene->devices, &scene->count, arena, &scene->fixture.diagnostics);
  for (size_t i = 0; i < scene->count; i++)
    scene->sessions[i] = (struct session){.options = &scene->options,
                                          .protocol = {.device = &scene->devices[i],
                                                       .clock = &twins_clock,
                                                       .roots = &scene->roots,
                                                       .time_s = scene->options.time_s,
                                                       .energy_s = scene->options.energy_s,
                                                       .stop = &stop,
                                                       .arena = arena,
                                                       .diagnostics = &scene->fixture.diagnostics}};
}

// With a meter and telemetry for each device, which the library opens by PCI address.
static void start_metered(struct scene *scene, const char *name) {
  start(scene, name);
  for (size_t i = 0; i < scene->count; i++)
    scene->sessions[i].protocol.energy_s = PROTOCOL_ENERGY_S;
  scene->roots.nvml = fake_library("libnvidia-ml.so", &scene->fixture.arena);
  twins.nvml = fake_symbol(scene->roots.nvml, FAKE_NVML);
  *twins.nvml = (struct fake_nvml){.count = TWINS};
  for (int i = 0; i < TWINS; i++) {
    twins.nvml->gpus[i] = gpus[i];
    twins.nvml->gpus[i].pci = twins_pci[i];
  }
  for (size_t i = 0; i < scene->count; i++)
    twins_backend.describe(scene->devices[i].index, &scene->devices[i].described);
}

// The values in gpus[], observed for at least a second.
static void expect_gpu(const struct measurement_telemetry *telemetry, int index) {
  const struct fake_gpu *gpu = &gpus[index];
  assert_string_equal(telemetry->source, "nvml");
  assert_true(telemetry->looks >= 4 && telemetry->window_s >= 1);
  expect_near(telemetry->core_clock_hz.median, 1e6 * gpu->core_mhz, 1e-12, "core clock");
  expect_near(telemetry->memory_clock_hz.min, 1e6 * gpu->memory_mhz, 1e-12, "memory clock");
  expect_near(telemetry->core_temperature_c.max, gpu->core_c, 1e-12, "core");
  expect_near(telemetry->memory_temperature_c.max, gpu->memory_c, 1e-12, "memory");
  assert_int_equal(telemetry->throttle_count, gpu->reasons ? 1 : 0);
  if (gpu->reasons) {
    assert_string_equal(telemetry->throttles[0].reason, "software thermal slowdown");
    expect_near(telemetry->throttles[0].seconds, telemetry->window_s, 1e-9, "all the time");
  }
}

static void measure_alone(struct scene *scene) {
  for (size_t i = 0; i < scene->count; i++) {
    session_run(&scene->sessions[i], &tiny);
    expect_error(&scene->fixture, "alone", "");
  }
}

static void end(struct scene *scene) {
  assert_int_equal(twins.states, 0);
  for (size_t i = 0; i < scene->count; i++)
    if (scene->sessions[i].path)
      unlink(scene->sessions[i].path);
  char *lock = arena_printf(&scene->fixture.arena, "%s/.lock", scene->folder);
  unlink(lock);
  rmdir(scene->folder);
  fixture_end(&scene->fixture);
}

static void test_names(void **state) {
  (void)state;
  static const struct {
    const char *name, *error;
    size_t count;
    int last;
  } cases[] = {
      {"twins", "", 1, 0},
      {"twins:1", "", 1, 1},
      {"twins:all", "", 3, 2},
      {"twins:2,0", "", 2, 0},
      {"twins:0,0", "device 'twins:0' is named twice", 0, 0},
      {"twins:0,3", "no device 'twins:3': twins has 3", 0, 0},
      {"twins:0,", "no device 'twins:'", 0, 0},
      {"twins:", "no device 'twins:'", 0, 0},
      {"twin:all", "twins", 0, 0},
      {"auto", "", 1, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scene scene;
    start(&scene, cases[i].name);
    expect_error(&scene.fixture, cases[i].name, cases[i].error);
    if (!*cases[i].error) {
      assert_int_equal(scene.count, cases[i].count);
      assert_int_equal(scene.devices[scene.count - 1].index, cases[i].last);
    }
    scene.count = 0;
    end(&scene);
  }
}

// Alone, each device computes 1000, 1000 and 667 rows a second; together, each takes half as long
// again.
static void test_together(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:all");
  measure_alone(&scene);
  assert_int_equal(twins.most_running, 1);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  expect_error(&scene.fixture, "together", "");
  assert_int_equal(twins.most_running, TWINS);
  double total = 0;
  for (size_t i = 0; i < scene.count; i++) {
    const struct measurement_record *read =
        measurement_read(scene.sessions[i].path, &scene.fixture.arena, &scene.fixture.diagnostics);
    expect_error(&scene.fixture, "the record", "");
    const struct measurement *result = &read->results[0];
    const double alone = 2 / twins_step_s[i];
    expect_near(result->tokens_per_s, alone, 1e-9, "alone");
    assert_int_equal(result->together.devices, TWINS);
    expect_near(result->together.tokens_per_s, alone / TWINS_SLOWED, 1e-9, "together");
    expect_near(result->together.slowest, 2 / twins_step_s[2] / TWINS_SLOWED, 1e-9, "slowest");
    expect_near(result->together.fastest, 2 / twins_step_s[0] / TWINS_SLOWED, 1e-9, "fastest");
    expect_near(result->together.window_s, 1, 0.1, "window");
    assert_true(isnan(result->together.load_power_w));
    assert_string_equal(result->together.telemetry.source, "none: a device without a PCI address");
    total += result->together.tokens_per_s;
  }
  expect_near(scene.sessions[0].record->results[0].together.total_tokens_per_s, total, 1e-12,
              "the sum");
  end(&scene);
}

// Each device's clocks, temperatures and throttling while all ran are in its own record.
static void test_telemetry(void **state) {
  (void)state;
  struct scene scene;
  start_metered(&scene, "twins:2,0,1");
  measure_alone(&scene);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  expect_error(&scene.fixture, "together", "");
  for (size_t i = 0; i < scene.count; i++) {
    const struct measurement_record *read =
        measurement_read(scene.sessions[i].path, &scene.fixture.arena, &scene.fixture.diagnostics);
    expect_error(&scene.fixture, "the record", "");
    const struct measurement_together *together = &read->results[0].together;
    expect_gpu(&together->telemetry, scene.devices[i].index);
    expect_gpu(&read->results[0].telemetry, scene.devices[i].index);
    expect_near(together->load_power_w, TWINS * TWINS_LOAD_W, 1e-3, "watts of all");
  }
  assert_int_equal(twins.nvml->inits, 0);
  end(&scene);
}

// All are warm before the window: each was soaked alone, and cooled while the others were measured.
static void test_soaked_together(void **state) {
  (void)state;
  for (int soaks = 0; soaks < 2; soaks++) {
    struct scene scene;
    start(&scene, "twins:0,1");
    measure_alone(&scene);
    scene.options.soak_s = soaks ? 30 : 0;
    const double begin_s = clock_now(&twins_clock);
    assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
    assert_int_equal(clock_now(&twins_clock) - begin_s > 30, soaks);
    end(&scene);
  }
}

// The machine's power while all ran: typed, or requested in the middle of the window.
static void test_wall(void **state) {
  (void)state;
  static const double typed_w[] = {2900, NAN};
  const char *path = getenv("PATH");
  for (size_t i = 0; i < sizeof typed_w / sizeof typed_w[0]; i++) {
    struct scene scene;
    start(&scene, "twins:0,1");
    scene.options.wall = (struct wall_options){.typed_w = typed_w[i], .note = ""};
    const char *tool = arena_printf(&scene.fixture.arena, "%s/ipmitool", scene.folder);
    FILE *script = fopen(tool, "w");
    fputs("#!/bin/sh\necho 'Instantaneous power reading:  3100 Watts'\n", script);
    fclose(script);
    chmod(tool, 0755);
    measure_alone(&scene);
    setenv("PATH", arena_printf(&scene.fixture.arena, "%s:%s", scene.folder, path), 1);
    assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
    setenv("PATH", path, 1);
    unlink(tool);
    expect_error(&scene.fixture, "the wall", "");
    for (size_t s = 0; s < scene.count; s++)
      expect_near(scene.sessions[s].record->results[0].together.wall_power_w,
                  isnan(typed_w[i]) ? 3100 : typed_w[i], 1e-12, "the wall's watts");
    end(&scene);
  }
}

// A second run finds everything in the records.
static void test_known(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:0,1");
  measure_alone(&scene);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  twins.most_running = 0;
  measure_alone(&scene);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  assert_int_equal(twins.most_running, 0);
  assert_int_equal(scene.sessions[1].record->results[0].together.devices, 2);
  end(&scene);
}

static void test_lost(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:all");
  measure_alone(&scene);
  twins.lost = 1;
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), -1);
  expect_error(&scene.fixture, "a device is lost",
               "tiny bf16, batch 2, context 8 on 3 devices at once: twins:1: the device failed: it "
               "fell off the bus");
  assert_true(scene.fixture.diagnostics.machine_failed);
  assert_int_equal(scene.sessions[0].record->results[0].together.devices, 0);
  end(&scene);
}

// Two devices hold one model together: one result, for both, that can be measured again.
static void test_ranks(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:1,0");
  struct session *session = &scene.sessions[0];
  session->ranks = scene.devices;
  session->rank_count = scene.count;
  assert_int_equal(session_run(session, &tiny), 0);
  expect_error(&scene.fixture, "ranks", "");
  assert_int_equal(twins.devices_of_ranks, 10);
  const struct measurement_record *read =
      measurement_read(session->path, &scene.fixture.arena, &scene.fixture.diagnostics);
  expect_error(&scene.fixture, "the record", "");
  const struct measurement *result = &read->results[0];
  assert_true(result->whole_model && result->grade == GRADE_MEASURED);
  assert_int_equal(measurement_devices(result), 2);
  assert_string_equal(result->tensor_parallel.members[0].uuid, "twin-1");
  assert_int_equal(result->tensor_parallel.members[1].index, 0);
  assert_string_equal(result->tensor_parallel.library, "strings and cans");
  expect_near(result->tensor_parallel.all_reduce_s, 5e-5, 1e-12, "an all-reduce");
  expect_near(result->tokens_per_s, 2 * 2 / twins_step_s[1], 1e-9, "two share each step");
  const struct probe_options options = {.record = session->path, .tolerance = 0.9};
  char printed[2048] = "";
  FILE *out = fmemopen(printed, sizeof printed - 1, "w");
  twins.devices_of_ranks = 0;
  const enum recheck_outcome outcome = recheck(&session->protocol, &options, backends, out);
  fclose(out);
  expect_error(&scene.fixture, "recheck", "");
  if (outcome != RECHECK_AGREES)
    fail_msg("outcome %d:\n%s", (int)outcome, printed);
  assert_int_equal(twins.devices_of_ranks, 10);
  end(&scene);
}

// One record for both, with each member's own clocks, temperatures and settings.
static void test_ranks_telemetry(void **state) {
  (void)state;
  struct scene scene;
  start_metered(&scene, "twins:1,2");
  struct session *session = &scene.sessions[0];
  session->ranks = scene.devices;
  session->rank_count = scene.count;
  assert_int_equal(session_run(session, &tiny), 0);
  expect_error(&scene.fixture, "ranks", "");
  const struct measurement_record *read =
      measurement_read(session->path, &scene.fixture.arena, &scene.fixture.diagnostics);
  expect_error(&scene.fixture, "the record", "");
  const struct measurement *result = &read->results[0];
  assert_int_equal(result->tensor_parallel.member_count, 2);
  for (int i = 0; i < 2; i++) {
    const struct measurement_member *member = &result->tensor_parallel.members[i];
    expect_gpu(&member->telemetry, i + 1);
    assert_string_equal(member->pci, twins_pci[i + 1]);
    assert_string_equal(member->state.driver, "580.95.05");
    expect_near(member->state.other_processes, i ? 2 : 0, 1e-12, "others on it");
  }
  assert_string_equal(result->telemetry.source, "");
  expect_near(read->environment.device_state.other_processes, 2, 1e-12, "others on both");
  expect_near(result->load_power_w, 2 * TWINS_LOAD_W, 1e-3, "watts of both");
  end(&scene);
}

static void test_exchange(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:2,0");
  char table[4096] = "";
  const struct listing_request request = {.backends = backends,
                                          .devices = scene.devices,
                                          .device_count = scene.count,
                                          .meters = &no_meters,
                                          .calibrate = true};
  FILE *out = fmemopen(table, sizeof table - 1, "w");
  assert_int_equal(listing_print(&request, out, &scene.fixture.arena, &scene.fixture.diagnostics),
                   0);
  fclose(out);
  assert_int_equal(twins.devices_of_ranks, 20);
  if (!strstr(table, "all-reduce among 2 devices: 32 KiB 50 us, 2048 KiB 50 us (strings and cans)"))
    fail_msg("no all-reduce in\n%s", table);
  end(&scene);
}

static void test_indivisible(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:all");
  scene.sessions[0].ranks = scene.devices;
  scene.sessions[0].rank_count = scene.count;
  assert_int_equal(session_run(&scene.sessions[0], &tiny), -1);
  expect_error(&scene.fixture, "three", "tiny has 4 heads, which cannot be divided among 3");
  end(&scene);
}

static void test_ranks_table(void **state) {
  (void)state;
  char text[2048] = "";
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  struct measurement result = {.precision = "fp8",
                               .model.id = "tiny",
                               .batch = 64,
                               .context = 4096,
                               .layers_measured = 80,
                               .whole_model = true,
                               .tokens_per_s = 4000,
                               .ci95_low = 3990,
                               .ci95_high = 4010,
                               .step_seconds = 0.016,
                               .load_power_w = 2000,
                               .energy_meter = "",
                               .grade = GRADE_MEASURED,
                               .tensor_parallel = {4, NULL, 0, "NCCL 2.28.9", 20e-6, 2097152},
                               .step_form = {"", "", "", ""}};
  const struct measurement_record record = {
      .device = {.name = "GPU"}, .results = &result, .count = 1};
  result_table_print(&record, out);
  fclose(out);
  static const char *const lines[] = {
      "  measured: 4 devices\n",
      "fp8          64     4096  all-reduces: 161 a step of 2048 KiB, 20 us each alone, 20 % of it "
      "(NCCL 2.28.9)\n"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    if (!strstr(text, lines[i]))
      fail_msg("expected '%s' in\n%s", lines[i], text);
}

// Long numbers have no exponent and keep a space before them, so that readers find the columns.
static void test_long_numbers(void **state) {
  (void)state;
  char text[2048] = "";
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  const struct measurement_prefill prompt = {8192, 2048, 40960.4, NAN, NAN,         123456.7, 1e12,
                                             1.01, NAN,  NAN,     NAN, "own tiles", NULL,     0};
  struct measurement result = {.precision = "mxfp6-e3m2",
                               .model.id = "tiny",
                               .batch = 16,
                               .context = 131072,
                               .whole_model = true,
                               .tokens_per_s = 1234567,
                               .ci95_low = 1,
                               .ci95_high = 2000001,
                               .layer_seconds = 0.09999996,
                               .read_bandwidth_share = 0.919,
                               .share_ci95_low = 0.8,
                               .share_ci95_high = 1.028,
                               .load_power_w = 12345.6,
                               .joules_per_token = 1234.5,
                               .energy_meter = "",
                               .grade = GRADE_MEASURED,
                               .prefills = &prompt,
                               .prefill_count = 1,
                               .step_form = {"", "", "", ""}};
  const struct measurement_record record = {
      .device = {.name = "CPU"}, .results = &result, .count = 1};
  result_table_print(&record, out);
  fclose(out);
  static const char *const lines[] = {
      "mxfp6-e3m2    16  131072  1234567   81   91.9 11.4   100000  12346    1234  measured\n",
      "mxfp6-e3m2  8192    2048   123457    40960    101.0      -  own tiles\n"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    if (!strstr(text, lines[i]))
      fail_msg("expected '%s' in\n%s", lines[i], text);
}

static void test_table(void **state) {
  (void)state;
  struct measurement_record records[2] = {{.device.name = "GPU"}};
  struct measurement results[2] = {{.tokens_per_s = 1000, .load_power_w = 400},
                                   {.tokens_per_s = 900, .load_power_w = 300}};
  const struct measurement_record *both[] = {&records[0], &records[1]};
  char text[2048] = "";
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  for (size_t i = 0; i < 2; i++) {
    results[i].precision = "fp8";
    results[i].types = (struct measurement_types){"e4m3", "bf16", "bf16", "bf16", "f32", ""};
    results[i].step_form.variant = "";
    results[i].batch = 64;
    results[i].context = 4096;
    results[i].together = (struct measurement_together){.devices = 2,
                                                        .tokens_per_s = 855,
                                                        .slowest = 855,
                                                        .fastest = 950,
                                                        .total_tokens_per_s = 1805,
                                                        .load_power_w = 650,
                                                        .host_load_power_w = NAN,
                                                        .window_s = 5};
    records[i].results = &results[i];
    records[i].count = 1;
  }
  together_table_print(both, 2, out);
  fclose(out);
  static const char *const lines[] = {
      "fp8          64     4096  one by one       1900       900      1000     700    0.368\n",
      "fp8          64     4096  together         1805       855       950     650     0.36\n",
      "together they decode 95.0 % of the sum, the slowest 10.0 % below the fastest\n"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    if (!strstr(text, lines[i]))
      fail_msg("expected '%s' in\n%s", lines[i], text);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_names),           cmocka_unit_test(test_together),
      cmocka_unit_test(test_soaked_together), cmocka_unit_test(test_wall),
      cmocka_unit_test(test_known),           cmocka_unit_test(test_lost),
      cmocka_unit_test(test_table),           cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_indivisible),     cmocka_unit_test(test_ranks_table),
      cmocka_unit_test(test_long_numbers),    cmocka_unit_test(test_exchange),
      cmocka_unit_test(test_telemetry),       cmocka_unit_test(test_ranks_telemetry),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
