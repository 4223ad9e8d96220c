// Several devices at once, on a backend whose devices take as long as the test says and share a
// power supply: three alone decode faster than together.
#include "tests/support/fixture.h"

#include "probe/device.h"
#include "probe/listing.h"
#include "probe/recheck.h"
#include "probe/result_table.h"
#include "probe/session.h"
#include "probe/together.h"
#include "tests/support/oracle.h"

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { DEVICES = 3, STEP_NS = 2000000 };

// Nanoseconds of a step on each device alone; what one more running device adds to all.
static const long step_ns[DEVICES] = {STEP_NS, STEP_NS, STEP_NS + STEP_NS / 2};
static const double slowed_by_each = 0.25;

static struct {
  atomic_int running, most_running, states;
  int devices_of_ranks; // 20: devices 2 and 0
  int lost;             // the device that fails once others run beside it, -1: none
} machine;

struct decode_state {
  int device, ranks;
  struct decode_request request;
  struct reference *reference;
};

static int count(void) {
  return DEVICES;
}

static enum decode_status describe(int device, struct decode_device *out) {
  *out = (struct decode_device){.name = "a twin",
                                .runtime = "test",
                                .memory_bytes = 1 << 30,
                                .memory_free_bytes = 1 << 30,
                                .units = 1};
  snprintf(out->uuid, sizeof out->uuid, "twin-%d", device);
  return device >= 0 && device < DEVICES ? DECODE_OK : DECODE_NO_DEVICE;
}

static enum decode_status cost(const struct decode_request *request, struct decode_cost *out) {
  (void)request;
  *out = (struct decode_cost){1000000, 1000, 2000000, 1000000};
  return request->types.weights == ELEMENT_BF16 ? DECODE_OK : DECODE_UNSUPPORTED;
}

static struct decode_state *create(int device, const struct decode_request *request,
                                   enum decode_status *status) {
  struct decode_state *state = calloc(1, sizeof *state);
  const int ranks = request->ranks > 1 ? request->ranks : 1;
  *state = (struct decode_state){device, ranks, *request, reference_create(request, status)};
  machine.devices_of_ranks = 0;
  for (int i = 0; ranks > 1 && i < ranks; i++)
    machine.devices_of_ranks = 10 * machine.devices_of_ranks + request->devices[i];
  atomic_fetch_add(&machine.states, 1);
  return state;
}

static void destroy(struct decode_state *state) {
  reference_destroy(state->reference);
  free(state);
  atomic_fetch_sub(&machine.states, 1);
}

static enum decode_status run(struct decode_state *state, int steps) {
  const int running = atomic_fetch_add(&machine.running, 1) + 1;
  if (running > atomic_load(&machine.most_running))
    atomic_store(&machine.most_running, running);
  oracle_step(state->reference);
  const bool crowded = atomic_load(&machine.states) == DEVICES;
  const double slower = crowded ? 1 + slowed_by_each * (DEVICES - 1) : 1;
  const double wait_ns = steps * slower * (double)step_ns[state->device] / state->ranks;
  const struct timespec wait = {(time_t)(wait_ns / 1e9), (long)fmod(wait_ns, 1e9)};
  nanosleep(&wait, NULL);
  atomic_fetch_sub(&machine.running, 1);
  return crowded && state->device == machine.lost ? DECODE_FAILED : DECODE_OK;
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  oracle_tokens(state->reference, &state->request, out);
  return DECODE_OK;
}

static enum decode_status logits(struct decode_state *state, float *out) {
  oracle_logits(state->reference, &state->request, 1, out);
  return DECODE_OK;
}

static enum decode_status set_tokens(struct decode_state *state, const int *in) {
  return reference_set_tokens(state->reference, in) ? DECODE_FAILED : DECODE_OK;
}

static enum decode_status all_reduce(struct decode_state *state, int repeats,
                                     struct decode_all_reduce *out) {
  *out = (struct decode_all_reduce){.bytes = (uint64_t)state->request.batch *
                                             (uint64_t)state->request.shape.hidden * 4,
                                    .seconds = 5e-5,
                                    .library = "strings and cans"};
  return repeats > 0 && state->ranks > 1 ? DECODE_OK : DECODE_UNSUPPORTED;
}

static enum decode_status read_memory(int device, uint64_t bytes, int threads, int variant,
                                      double *seconds) {
  (void)device, (void)threads;
  *seconds = (double)bytes / 1e12;
  return variant ? DECODE_UNSUPPORTED : DECODE_OK;
}

static enum decode_status matrix_rate(int device, const struct decode_types *types, int threads,
                                      double *rate) {
  (void)device, (void)types, (void)threads, (void)rate;
  return DECODE_UNSUPPORTED;
}

static void calibration_end(void) {}

static const char *error(void) {
  return machine.lost >= 0 ? "it fell off the bus" : "";
}

static const struct decode_backend backend = {
    DECODE_ABI, "twins",     "test",      count,           describe, cost,
    create,     destroy,     run,         tokens,          logits,   set_tokens,
    all_reduce, read_memory, matrix_rate, calibration_end, error};

static const struct decode_backend *const backends[] = {&backend, NULL};
static const struct measurement_shape tiny = {"tiny", 2, 32, 4, 2, 8, 48, 64, 1e-5, 10000};
static volatile sig_atomic_t stop;
static const struct meter_roots nowhere = {"/nowhere", "/nowhere", "/nowhere", "/nowhere",
                                           "/nowhere", "/nowhere", "/nowhere", "/nowhere",
                                           "/nowhere", "/nowhere"};

struct scene {
  struct fixture fixture;
  struct probe_options options;
  char folder[32];
  struct device *devices;
  size_t count;
  struct session sessions[DEVICES];
};

static void start(struct scene *scene, const char *name) {
  *scene = (struct scene){.folder = "/tmp/pertoken-XXXXXX"};
  fixture_start(&scene->fixture);
  memset(&machine, 0, sizeof machine);
  machine.lost = -1;
  stop = 0;
  assert_non_null(mkdtemp(scene->folder));
  scene->options = (struct probe_options){.precisions = {"bf16"},
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
                                                       .clock = &machine_clock,
                                                       .roots = &nowhere,
                                                       .time_s = scene->options.time_s,
                                                       .energy_s = scene->options.energy_s,
                                                       .stop = &stop,
                                                       .arena = arena,
                                                       .diagnostics = &scene->fixture.diagnostics}};
}

static void measure_alone(struct scene *scene) {
  for (size_t i = 0; i < scene->count; i++) {
    session_run(&scene->sessions[i], &tiny);
    expect_error(&scene->fixture, "alone", "");
  }
}

static void end(struct scene *scene) {
  assert_int_equal(machine.states, 0);
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

// Alone 1000, 1000 and 667 rows a second and device; together each takes half as long again. A
// sleep is never shorter than asked for, on a busy machine longer.
static void test_together(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:all");
  measure_alone(&scene);
  assert_int_equal(machine.most_running, 1);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  expect_error(&scene.fixture, "together", "");
  assert_int_equal(machine.most_running, DEVICES);
  double total = 0, slowest = INFINITY;
  for (size_t i = 0; i < scene.count; i++) {
    const struct measurement_record *read =
        measurement_read(scene.sessions[i].path, &scene.fixture.arena, &scene.fixture.diagnostics);
    expect_error(&scene.fixture, "the record", "");
    const struct measurement *result = &read->results[0];
    const double most = 2e9 / (double)step_ns[i] / 1.5;
    assert_int_equal(result->together.devices, DEVICES);
    assert_true(result->together.tokens_per_s < 1.01 * most);
    assert_true(result->together.tokens_per_s > 0.5 * most);
    assert_true(result->together.tokens_per_s < 0.9 * result->tokens_per_s);
    assert_true(result->together.window_s >= 1);
    assert_true(isnan(result->together.load_power_w));
    total += result->together.tokens_per_s;
    slowest = fmin(slowest, result->together.tokens_per_s);
    expect_near(result->together.slowest, result->together.devices ? slowest : 0,
                i + 1 == scene.count ? 1e-12 : 1, "slowest");
  }
  expect_near(scene.sessions[0].record->results[0].together.total_tokens_per_s, total, 1e-12,
              "the sum");
  end(&scene);
}

// A second run finds everything in the records.
static void test_known(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:0,1");
  measure_alone(&scene);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  atomic_store(&machine.most_running, 0);
  measure_alone(&scene);
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), 0);
  assert_int_equal(machine.most_running, 0);
  assert_int_equal(scene.sessions[1].record->results[0].together.devices, 2);
  end(&scene);
}

static void test_lost(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:all");
  measure_alone(&scene);
  machine.lost = 1;
  assert_int_equal(session_run_together(scene.sessions, scene.count, &tiny), -1);
  expect_error(&scene.fixture, "a device is lost",
               "tiny bf16, batch 2, context 8 on 3 devices at once: twins:1: the device failed: it "
               "fell off the bus");
  assert_true(scene.fixture.diagnostics.machine_failed);
  assert_int_equal(scene.sessions[0].record->results[0].together.devices, 0);
  end(&scene);
}

// Two devices hold one model together: one result, of both, that can be measured again.
static void test_ranks(void **state) {
  (void)state;
  struct scene scene;
  start(&scene, "twins:1,0");
  struct session *session = &scene.sessions[0];
  session->ranks = scene.devices;
  session->rank_count = scene.count;
  assert_int_equal(session_run(session, &tiny), 0);
  expect_error(&scene.fixture, "ranks", "");
  assert_int_equal(machine.devices_of_ranks, 10);
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
  assert_true(result->tokens_per_s < 1.01 * 2 * 2e9 / STEP_NS);
  const struct probe_options options = {.record = session->path, .tolerance = 0.9};
  char printed[2048] = "";
  FILE *out = fmemopen(printed, sizeof printed - 1, "w");
  machine.devices_of_ranks = 0;
  const enum recheck_outcome outcome = recheck(&session->protocol, &options, backends, out);
  fclose(out);
  expect_error(&scene.fixture, "recheck", "");
  if (outcome != RECHECK_AGREES)
    fail_msg("outcome %d:\n%s", (int)outcome, printed);
  assert_int_equal(machine.devices_of_ranks, 10);
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
                                          .meters = &nowhere,
                                          .calibrate = true};
  FILE *out = fmemopen(table, sizeof table - 1, "w");
  assert_int_equal(listing_print(&request, out, &scene.fixture.arena, &scene.fixture.diagnostics),
                   0);
  fclose(out);
  assert_int_equal(machine.devices_of_ranks, 20);
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
                               .tensor_parallel = {4, NULL, 0, "NCCL 2.28.9", 20e-6, 2097152}};
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

static void test_table(void **state) {
  (void)state;
  struct measurement_record records[2] = {0};
  struct measurement results[2] = {
      {.precision = "fp8", .batch = 64, .context = 4096, .tokens_per_s = 1000, .load_power_w = 400},
      {.precision = "fp8", .batch = 64, .context = 4096, .tokens_per_s = 900, .load_power_w = 300}};
  const struct measurement_record *both[] = {&records[0], &records[1]};
  char text[2048] = "";
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  for (size_t i = 0; i < 2; i++) {
    results[i].together = (struct measurement_together){2, 855, 855, 950, 1805, 650, NAN, 5};
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
      cmocka_unit_test(test_names),       cmocka_unit_test(test_together),
      cmocka_unit_test(test_known),       cmocka_unit_test(test_lost),
      cmocka_unit_test(test_table),       cmocka_unit_test(test_ranks),
      cmocka_unit_test(test_indivisible), cmocka_unit_test(test_ranks_table),
      cmocka_unit_test(test_exchange),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
