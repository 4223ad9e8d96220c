// The protocol on a fake backend whose speed is known and whose time is the test's own: it computes
// with the oracle, so that it passes its verification, unless it is told to compute wrong.
#include "tests/support/fixture.h"

#include "probe/calibration.h"
#include "probe/environment.h"
#include "probe/precision.h"
#include "probe/protocol.h"
#include "probe/recheck.h"
#include "probe/verification.h"
#include "probe/verify.h"
#include "tests/support/oracle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// The machine: what the test sets, and what the backend has done.
static struct {
  double now_s;
  double step_s, layer_s; // of a step: fixed part, and for each layer
  double bytes_per_s;     // of reads
  double jitter;          // share that every second sample takes longer
  double drift;           // share that each call takes longer than the one before
  double read_drift;      // same of reads
  double large_gain;      // share that reads of more than CALIBRATION_BYTES are faster by
  uint64_t memory_bytes, cache_bytes;
  bool wrong, fails;
  int states, buffers, runs; // alive; alive; so far
  int reads;                 // so far
  int stop_after;            // runs, 0: never
  int stop_after_reads;
} machine;

static volatile sig_atomic_t stop;

struct decode_state {
  struct decode_request request;
  struct reference *reference;
};

static double fake_now(void *context) {
  (void)context;
  return machine.now_s;
}

static void fake_sleep(void *context, double seconds) {
  (void)context;
  machine.now_s += seconds;
}

static const struct clock fake_clock = {fake_now, fake_sleep, NULL};

static int fake_count(void) {
  return 1;
}

static enum decode_status fake_describe(int device, struct decode_device *out) {
  if (device != 0)
    return DECODE_NO_DEVICE;
  *out = (struct decode_device){.name = "fake",
                                .runtime = "test",
                                .memory_bytes = machine.memory_bytes,
                                .memory_free_bytes = machine.memory_bytes,
                                .cache_bytes = machine.cache_bytes,
                                .units = 1};
  return DECODE_OK;
}

// A gigabyte a layer, whatever the shape.
static enum decode_status fake_cost(const struct decode_request *request, struct decode_cost *out) {
  if (request->types.weights == ELEMENT_E4M3)
    return DECODE_UNSUPPORTED;
  const uint64_t bytes = UINT64_C(1000000000) * (uint64_t)request->shape.layers;
  *out = (struct decode_cost){bytes, 1000, 2 * bytes, bytes};
  return DECODE_OK;
}

static struct decode_state *fake_create(int device, const struct decode_request *request,
                                        enum decode_status *status) {
  (void)device;
  struct decode_state *state = calloc(1, sizeof *state);
  state->request = *request;
  state->reference = reference_create(request, status);
  machine.states++;
  return state;
}

static void fake_destroy(struct decode_state *state) {
  reference_destroy(state->reference);
  free(state);
  machine.states--;
}

static enum decode_status fake_run(struct decode_state *state, int steps) {
  oracle_step(state->reference);
  machine.runs++;
  const double slower = 1 + machine.jitter * (machine.runs % 2) + machine.drift * machine.runs;
  machine.now_s +=
      steps * slower * (machine.step_s + machine.layer_s * state->request.shape.layers);
  if (machine.stop_after && machine.runs >= machine.stop_after)
    stop = SIGINT;
  return machine.fails ? DECODE_FAILED : DECODE_OK;
}

static enum decode_status fake_tokens(struct decode_state *state, int *out) {
  oracle_tokens(state->reference, &state->request, out);
  return DECODE_OK;
}

static enum decode_status fake_logits(struct decode_state *state, float *out) {
  oracle_logits(state->reference, &state->request, machine.wrong ? 1.1f : 1, out);
  return DECODE_OK;
}

static enum decode_status fake_set_tokens(struct decode_state *state, const int *in) {
  return reference_set_tokens(state->reference, in) ? DECODE_FAILED : DECODE_OK;
}

// Three read kernels, the second the best.
static enum decode_status fake_read(int device, uint64_t bytes, int threads, int variant,
                                    double *seconds) {
  static const double speeds[] = {0.8, 1, 0.9};
  (void)device, (void)threads;
  if (variant >= 3)
    return DECODE_UNSUPPORTED;
  machine.buffers = 1;
  machine.reads++;
  if (machine.reads == machine.stop_after_reads)
    stop = SIGINT;
  *seconds = (double)bytes / machine.bytes_per_s / speeds[variant] *
             (1 + machine.read_drift * machine.now_s) /
             (1 + (bytes > CALIBRATION_BYTES ? machine.large_gain : 0));
  machine.now_s += *seconds;
  return DECODE_OK;
}

static enum decode_status fake_rate(int device, const struct decode_types *types, int threads,
                                    double *rate) {
  (void)device, (void)types, (void)threads, (void)rate;
  return DECODE_UNSUPPORTED;
}

static void fake_calibration_end(void) {
  machine.buffers = 0;
}

static const char *fake_error(void) {
  return machine.fails ? "the fan fell off" : "";
}

static const struct decode_backend fake_backend = {
    .abi = DECODE_ABI,
    .name = "fake",
    .build = "test",
    .device_count = fake_count,
    .describe = fake_describe,
    .cost = fake_cost,
    .create = fake_create,
    .destroy = fake_destroy,
    .run = fake_run,
    .tokens = fake_tokens,
    .logits = fake_logits,
    .set_tokens = fake_set_tokens,
    .read_memory = fake_read,
    .matrix_rate = fake_rate,
    .calibration_end = fake_calibration_end,
    .error = fake_error,
};

struct scene {
  struct fixture fixture;
  struct device device;
  struct meter meter, host;
  struct protocol protocol;
  struct workload workload;
};

// 10 ms a step for a model of 8 layers, 8 GB of weights at 1 TB/s: 80 % of the read bandwidth.
static void start(struct scene *scene) {
  memset(&machine, 0, sizeof machine);
  machine.step_s = 0.002;
  machine.layer_s = 0.001;
  machine.bytes_per_s = 1e12;
  machine.memory_bytes = UINT64_C(64) << 30;
  machine.cache_bytes = 100000000;
  stop = 0;
  *scene = (struct scene){.meter = {.name = "none: a test", .why = ""}};
  fixture_start(&scene->fixture);
  assert_int_equal(device_find("fake", (const struct decode_backend *[]){&fake_backend, NULL},
                               &scene->device, &scene->fixture.diagnostics),
                   0);
  scene->protocol = (struct protocol){
      .device = &scene->device,
      .clock = &fake_clock,
      .meter = &scene->meter,
      .idle_power_w = NAN,
      .time_s = 5,
      .energy_s = PROTOCOL_ENERGY_S,
      .stop = &stop,
      .arena = &scene->fixture.arena,
      .diagnostics = &scene->fixture.diagnostics,
  };
  scene->workload = (struct workload){
      .model = {"tiny", 8, 32, 4, 2, 8, 48, 64, 1e-5, 10000},
      .precision = "bf16",
      .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32},
      .batch = 3,
      .context = 12,
      .seed = 7,
      .layers = {8},
      .layer_count = 1,
  };
}

static void end(struct scene *scene) {
  assert_int_equal(machine.states, 0);
  assert_int_equal(machine.buffers, 0);
  fixture_end(&scene->fixture);
}

static struct measurement measured(struct scene *scene) {
  struct measurement result;
  const enum protocol_outcome outcome =
      protocol_measure(&scene->protocol, &scene->workload, &result);
  expect_error(&scene->fixture, "measuring", "");
  assert_int_equal(outcome, PROTOCOL_DONE);
  return result;
}

static void test_steady(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  const struct measurement result = measured(&scene);
  expect_near(result.step_seconds, 0.010, 1e-9, "step");
  expect_near(result.tokens_per_s, 300, 1e-9, "three rows");
  expect_near(result.ci95_low, 300, 1e-9, "interval");
  expect_near(result.layer_seconds, 0.010 / 8, 1e-9, "layer");
  expect_near(result.read_bandwidth, 1e12, 1e-9, "the best read kernel");
  expect_near(result.read_bandwidth_share, 0.8, 1e-6, "share");
  assert_int_equal(result.sample_count, 10);
  assert_int_equal(result.bytes_per_step, 8000001000);
  assert_int_equal(result.grade, GRADE_MEASURED);
  assert_true(result.whole_model);
  assert_true(isnan(result.load_power_w) && isnan(result.joules_per_token));
  assert_int_equal(result.readings.idle.count + result.readings.load.count, 0);
  assert_string_equal(result.energy_meter, "none: a test");
  const struct measurement_flags none = {0};
  assert_memory_equal(&result.flags, &none, sizeof none);
  assert_true(result.verification.max_error < 1e-6);
  assert_int_equal(strlen(result.verification.token_checksum), 64);
  end(&scene);
}

// A share of a quarter is a step of its own; exchanges come on top, two a layer and one more.
static void test_shard(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  scene.workload.model = (struct measurement_shape){"tiny", 8, 32, 8, 2, 8, 48, 64, 1e-5, 10000};
  scene.workload.shard = (struct measurement_shard){4, NAN, NAN, ""};
  const struct decode_shape share = workload_request(&scene.workload, 8).shape;
  assert_int_equal(share.heads, 2);
  assert_int_equal(share.kv_heads, 1); // two, each held by two ranks
  assert_int_equal(share.head_dim, 8);
  assert_int_equal(share.hidden, 32);
  assert_int_equal(share.ffn_hidden, 12);
  assert_int_equal(share.vocab, 16);
  const struct measurement bare = measured(&scene);
  assert_false(bare.whole_model);
  assert_int_equal(bare.grade, GRADE_PROJECTED);
  expect_near(bare.shard.step_seconds, 0.010, 1e-9, "the share's step");
  scene.workload.shard = (struct measurement_shard){4, NAN, 100e-6, "a test"};
  const struct measurement whole = measured(&scene);
  assert_true(whole.whole_model);
  assert_int_equal(whole.grade, GRADE_PROJECTED);
  expect_near(whole.shard.step_seconds, 0.010, 1e-9, "the share's step");
  expect_near(whole.step_seconds, 0.010 + 17 * 100e-6, 1e-9, "with 17 exchanges");
  expect_near(whole.tokens_per_s, 3 / 0.0117, 1e-9, "of all four devices");
  expect_near(whole.ci95_low, 3 / 0.0117, 1e-6, "its interval");
  end(&scene);
}

// Two speeds, 4 % apart: the median's interval never narrows, and time ends it.
static void test_jitter(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  machine.jitter = 0.04;
  const struct measurement result = measured(&scene);
  assert_true(result.flags.unconverged);
  assert_false(result.flags.noisy);
  assert_in_range(result.sample_count, 100, 300);
  expect_near(result.p95_s / result.p5_s, 1.04, 1e-6, "spread");
  end(&scene);
}

static void test_drift(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  machine.drift = 0.002;
  const struct measurement result = measured(&scene);
  assert_true(result.flags.noisy);
  end(&scene);
}

static void test_memory_drift(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  machine.read_drift = 0.1;
  const struct measurement result = measured(&scene);
  assert_true(result.flags.drift);
  end(&scene);
}

// Before and after are compared over as many bytes: reads of the whole footprint are faster or
// slower than those of the buffer, which is no drift.
static void test_footprint_is_no_drift(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  machine.large_gain = 0.05;
  struct calibration calibration;
  double after = 0;
  assert_int_equal(calibrate(&fake_backend, 0, 1, 3 * CALIBRATION_BYTES, 4 * CALIBRATION_BYTES,
                             NULL, &calibration),
                   DECODE_OK);
  assert_int_equal(calibration_repeat(&calibration, &after), DECODE_OK);
  expect_near(calibration.bytes_per_s, 1.05 * machine.bytes_per_s, 1e-9, "the footprint's speed");
  expect_near(calibration.buffer_bytes_per_s, after, 1e-9, "the buffer's speed");
  fake_calibration_end();
  end(&scene);
}

// A step faster than its bytes can be read: the reads were no ceiling.
static void test_void(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  machine.bytes_per_s = 7e11;
  const struct measurement result = measured(&scene);
  assert_true(result.flags.bandwidth_void);
  assert_true(isnan(result.read_bandwidth) && isnan(result.read_bandwidth_share));
  assert_int_equal(result.grade, GRADE_MEASURED);
  end(&scene);
}

static void test_cache_resident(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  scene.device.described.cache_bytes = 1100000000; // 8 GB is less than 8 times that
  const struct measurement result = measured(&scene);
  assert_true(result.flags.cache_resident);
  assert_int_equal(result.grade, GRADE_PROJECTED);
  end(&scene);
}

static void test_slices(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  scene.workload.layers[0] = 2;
  scene.workload.layers[1] = 4;
  scene.workload.layers[2] = 6;
  scene.workload.layer_count = 3;
  const struct measurement result = measured(&scene);
  expect_near(result.step_seconds, 0.010, 1e-9, "extrapolated step");
  expect_near(result.layer_seconds, 0.001, 1e-9, "layer");
  assert_true(result.slice_error_s < 1e-9);
  assert_int_equal(result.slice_count, 3);
  assert_int_equal(result.slices[1].layers, 4);
  expect_near(result.slices[1].step_seconds, 0.006, 1e-9, "second depth");
  assert_int_equal(result.bytes_per_step, 8000001000);
  expect_near(result.read_bandwidth_share, 0.8, 1e-6, "share of the whole");
  assert_int_equal(result.layers_measured, 6);
  assert_true(result.whole_model);
  assert_int_equal(result.grade, GRADE_PROJECTED);
  scene.workload.layer_count = 2;
  const struct measurement two = measured(&scene);
  expect_near(two.tokens_per_s, 300, 1e-9, "from two depths");
  assert_true(isnan(two.slice_error_s));
  end(&scene);
}

static void test_part(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  scene.workload.layers[0] = 3;
  const struct measurement result = measured(&scene);
  assert_false(result.whole_model);
  assert_int_equal(result.grade, GRADE_PROJECTED);
  expect_near(result.step_seconds, 0.005, 1e-9, "three layers");
  end(&scene);
}

// ---- watts

// What a meter shows; the device's first, the host's second.
static struct watts {
  double power_w, last_s, joules, lost_s;
  double settling_w; // above power_w at first, falling by half every 20 s of load
} watts[2];

static struct watts *watts_of(const struct meter *meter) {
  return &watts[strcmp(meter->kind->name, "fake") != 0];
}

static enum meter_status watts_open(struct meter *meter, const struct meter_roots *roots) {
  (void)roots;
  meter->name = arena_printf(meter->arena, "%s meter", meter->kind->name);
  watts_of(meter)->last_s = machine.now_s;
  watts_of(meter)->joules = 0;
  return METER_OK;
}

static enum meter_status watts_read(struct meter *meter, struct meter_reading *reading) {
  struct watts *own = watts_of(meter);
  if (reading->time_s >= own->lost_s) {
    meter->why = "unplugged";
    return METER_LOST;
  }
  const double elapsed_s = reading->time_s - own->last_s;
  own->joules += (own->power_w - own->settling_w) * elapsed_s;
  own->settling_w *= exp2(-elapsed_s / 20);
  own->last_s = reading->time_s;
  reading->joules = own->joules;
  return METER_OK;
}

static void watts_close(struct meter *meter) {
  (void)meter;
}

static const struct meter_kind fake_meter = {
    .name = "fake", .open = watts_open, .read = watts_read, .close = watts_close};
static const struct meter_kind host_meter = {
    .name = "host", .open = watts_open, .read = watts_read, .close = watts_close};

static void open_meter(struct scene *scene, const struct meter_kind *kind, struct meter *meter) {
  assert_int_equal(
      meter_open_kind(meter, kind, &machine_meters, &fake_clock, &scene->fixture.arena), METER_OK);
}

static void start_with_meter(struct scene *scene) {
  start(scene);
  memset(watts, 0, sizeof watts);
  watts[0].lost_s = watts[1].lost_s = INFINITY;
  watts[0].power_w = 40;
  watts[1].power_w = 25;
  open_meter(scene, &fake_meter, &scene->meter);
  open_meter(scene, &host_meter, &scene->host);
}

static void idle_then_load(struct scene *scene) {
  protocol_idle(&scene->protocol);
  watts[0].power_w = 120;
  watts[1].power_w = 30;
}

static void expect_readings(const struct measurement_window *window, double power_w,
                            double seconds) {
  assert_in_range(window->count, 40, 60); // ten a second
  assert_false(window->sensed || measurement_has_gap(window));
  expect_near(measurement_window_seconds(window), seconds, 0.05, "all of the window");
  for (size_t i = 0; i < window->count; i++)
    expect_near(window->power_w[i], power_w, 1e-6, "a reading");
}

// 120 W at 300 token/s.
static void test_power(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  const struct measurement result = measured(&scene);
  expect_near(result.idle_power_w, 40, 1e-6, "idle");
  expect_near(result.load_power_w, 120, 1e-6, "load");
  expect_near(result.sampled_power_w, 120, 1e-6, "trapezoid");
  expect_near(result.joules_per_token, 0.4, 1e-6, "per token");
  assert_true(result.energy_window_s >= 5);
  assert_string_equal(result.energy_meter, "fake meter");
  assert_false(result.flags.sampling_inconsistent || result.flags.thermal_unsettled);
  expect_readings(&result.readings.idle, 40, 5.5);
  expect_readings(&result.readings.load, 120, result.energy_window_s);
  assert_string_equal(result.beside.host_meter, "");
  assert_true(isnan(result.beside.host_load_power_w) && isnan(result.beside.wall_power_w));
  assert_string_equal(result.telemetry.source, "");
  end(&scene);
}

// The host's watts and the wall's stand beside the device's and never in them.
static void test_power_beside(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  const struct wall_options wall = {512, "PDU A3", NULL};
  scene.protocol.host = &scene.host;
  scene.protocol.wall = &wall;
  idle_then_load(&scene);
  const struct measurement result = measured(&scene);
  expect_near(result.idle_power_w, 40, 1e-6, "idle");
  expect_near(result.load_power_w, 120, 1e-6, "the device's own");
  expect_near(result.joules_per_token, 0.4, 1e-6, "of the device's own");
  assert_string_equal(result.beside.host_meter, "host meter");
  expect_near(result.beside.host_idle_power_w, 25, 1e-6, "the host idle");
  expect_near(result.beside.host_load_power_w, 30, 1e-6, "the host under load");
  assert_string_equal(result.beside.wall_meter, "typed: PDU A3");
  expect_near(result.beside.wall_power_w, 512, 0, "the wall");
  assert_true(isnan(result.beside.module_power_w));
  end(&scene);
}

static void test_host_alone(void **state) {
  (void)state;
  struct scene scene;
  struct meter none = {.name = "none: no meter", .why = ""};
  start_with_meter(&scene);
  scene.protocol.meter = &none;
  scene.protocol.host = &scene.host;
  idle_then_load(&scene);
  const struct measurement result = measured(&scene);
  assert_true(isnan(result.load_power_w) && isnan(result.joules_per_token));
  assert_string_equal(result.energy_meter, "none: no meter");
  expect_near(result.beside.host_load_power_w, 30, 1e-6, "never in the device's place");
  end(&scene);
}

// A device that draws 20 W less until it is warm: cold, its power still rises; soaked, it is
// steady.
static void test_soak(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  watts[0].settling_w = 20;
  const struct measurement cold = measured(&scene);
  assert_true(cold.flags.thermal_unsettled);
  assert_true(cold.power_slope_w_per_s > 0.3 && cold.load_power_w < 110);
  expect_near(cold.beside.soak_s, 0, 0, "no soak");
  assert_int_equal(cold.grade, GRADE_MEASURED);
  watts[0].settling_w = 20;
  scene.protocol.soak_s = 240;
  scene.protocol.energy_s = 60;
  const double before_s = machine.now_s;
  const struct measurement soaked = measured(&scene);
  assert_false(soaked.flags.thermal_unsettled);
  expect_near(soaked.load_power_w, 120, 0.001, "settled");
  expect_near(soaked.energy_window_s, 60, 0.01, "the window after the soak");
  expect_near(soaked.beside.soak_s, 240, 0.01, "soaked");
  assert_true(machine.now_s - before_s > 300);
  end(&scene);
}

// Of slices the deepest alone is metered.
static void test_slices_metered_once(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  scene.workload.layers[0] = 2;
  scene.workload.layers[1] = 6;
  scene.workload.layer_count = 2;
  scene.protocol.soak_s = 1000;
  const double before_s = machine.now_s;
  const struct measurement result = measured(&scene);
  expect_near(result.load_power_w, 120, 1e-6, "load");
  assert_true(machine.now_s - before_s < 1100);
  end(&scene);
}

static void test_meter_lost(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  watts[0].lost_s = machine.now_s + 2;
  const struct measurement result = measured(&scene);
  expect_near(result.tokens_per_s, 300, 1e-9, "speed stays");
  assert_true(isnan(result.load_power_w) && isnan(result.joules_per_token));
  assert_string_equal(result.energy_meter, "lost: unplugged");
  assert_int_equal(result.readings.load.count, 0);
  assert_true(result.readings.idle.count > 0);
  end(&scene);
}

// ---- a record checked again

static const char *checked(struct scene *scene, const struct measurement *recorded,
                           enum recheck_outcome expected) {
  static char printed[4096];
  struct arena *arena = &scene->fixture.arena;
  char path[] = "/tmp/pertoken-recheck-XXXXXX";
  const int fd = mkstemp(path);
  assert_true(fd >= 0);
  close(fd);
  struct measurement result = *recorded;
  struct measurement_record record = {
      .device = device_record(&scene->device, arena),
      .environment = environment_read(0, "test", arena),
      .started = "",
      .finished = "",
      .results = &result,
      .count = 1,
  };
  assert_int_equal(measurement_write(&record, path, arena, &scene->fixture.diagnostics), 0);
  const struct probe_options options = {.record = path, .tolerance = 0.04};
  FILE *out = fmemopen(printed, sizeof printed, "w");
  const enum recheck_outcome outcome = recheck(
      &scene->protocol, &options, (const struct decode_backend *[]){&fake_backend, NULL}, out);
  fclose(out);
  unlink(path);
  expect_error(&scene->fixture, "recheck", "");
  if (outcome != expected)
    fail_msg("outcome %d, expected %d:\n%s", outcome, expected, printed);
  return printed;
}

static void expect_text(const char *text, const char *fragment) {
  if (!strstr(text, fragment))
    fail_msg("expected '%s' in '%s'", fragment, text);
}

// Watts are measured again where the record has some, within 5 %.
static void test_recheck_watts(void **state) {
  (void)state;
  static const struct {
    double power_w;
    enum recheck_outcome outcome;
    const char *says;
  } cases[] = {
      {120, RECHECK_AGREES, "within 5 %"},
      {125, RECHECK_AGREES, "+4.17 %  within 5 %"},
      {130, RECHECK_DIFFERS, "+8.33 %  OUT OF 5 %"},
      {110, RECHECK_DIFFERS, "-8.33 %  OUT OF 5 %"},
  };
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  const struct measurement recorded = measured(&scene);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    watts[0].power_w = cases[i].power_w;
    expect_text(checked(&scene, &recorded, cases[i].outcome), cases[i].says);
  }
  watts[0].power_w = 120;
  machine.step_s *= 2; // slower, at the same watts
  expect_text(checked(&scene, &recorded, RECHECK_DIFFERS), "OUT OF TOLERANCE");
  end(&scene);
}

static void test_recheck_without_watts(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  struct measurement recorded = measured(&scene);
  const double runs_s = machine.now_s;
  struct meter none = {.name = "none: a test", .why = ""};
  scene.protocol.meter = &none;
  expect_text(checked(&scene, &recorded, RECHECK_AGREES), "watts were not compared: none: a test");
  scene.protocol.meter = &scene.meter;
  recorded.load_power_w = NAN;
  recorded.readings.load.count = recorded.readings.load.power_count = 0;
  expect_text(checked(&scene, &recorded, RECHECK_AGREES),
              "watts were not compared: the record has none");
  assert_true(machine.now_s - runs_s < 10); // nothing was loaded for watts
  end(&scene);
}

// ---- what must not give a result

static void test_wrong_kernel(void **state) {
  (void)state;
  struct scene scene;
  struct measurement result;
  start(&scene);
  machine.wrong = true;
  assert_int_equal(protocol_measure(&scene.protocol, &scene.workload, &result), PROTOCOL_FAILED);
  expect_error(&scene.fixture, "wrong", "computes something else than the oracle: error 0.1");
  assert_true(scene.fixture.diagnostics.machine_failed);
  assert_true(machine.runs == 1);
  end(&scene);
}

// What --verify-only says: one layer and two of every workload, whatever the first gave.
static const struct {
  bool wrong, fails;
  int stop_after;
  size_t contexts;
  enum verification_outcome outcome;
  const char *says, *error;
} verification_cases[] = {
    {false, false, 0, 1, VERIFICATION_AGREES, "\n2 comparisons within tolerance\n", ""},
    {false, false, 0, 2, VERIFICATION_AGREES, "\n4 comparisons within tolerance\n", ""},
    {true, false, 0, 2, VERIFICATION_DIFFERS, "\n4 of 4 comparisons out of tolerance\n", ""},
    {true, false, 0, 1, VERIFICATION_DIFFERS, "1e-02  WRONG\n", ""},
    {false, false, 3, 2, VERIFICATION_STOPPED, "  ok\n", ""},
    {false, true, 0, 2, VERIFICATION_FAILED, "tolerance\n",
     "tiny bf16, batch 3, context 12: cannot be verified: the device failed: the fan fell off"},
};

static void test_verify_only(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof verification_cases / sizeof verification_cases[0]; i++) {
    struct scene scene;
    char printed[4096] = "";
    start(&scene);
    machine.wrong = verification_cases[i].wrong;
    machine.fails = verification_cases[i].fails;
    machine.stop_after = verification_cases[i].stop_after;
    const struct probe_options options = {.kv = "bf16",
                                          .precisions = {"bf16"},
                                          .precision_count = 1,
                                          .batches = {{3}, 1},
                                          .contexts = {{12, 5}, verification_cases[i].contexts},
                                          .seed = 7};
    const struct session session = {.options = &options, .protocol = scene.protocol};
    FILE *out = fmemopen(printed, sizeof printed, "w");
    const enum verification_outcome outcome =
        verification_run(&session, &scene.workload.model, out);
    fclose(out);
    expect_error(&scene.fixture, "verify only", verification_cases[i].error);
    if (outcome != verification_cases[i].outcome)
      fail_msg("case %zu: outcome %d\n%s", i, outcome, printed);
    expect_text(printed, verification_cases[i].says);
    assert_int_equal(scene.fixture.diagnostics.machine_failed, verification_cases[i].fails);
    assert_true(machine.now_s < 1); // nothing was timed
    end(&scene);
  }
}

static void test_failing_device(void **state) {
  (void)state;
  struct scene scene;
  struct measurement result;
  start(&scene);
  machine.fails = true;
  assert_int_equal(protocol_measure(&scene.protocol, &scene.workload, &result), PROTOCOL_FAILED);
  expect_error(&scene.fixture, "failing", "the device failed: the fan fell off");
  end(&scene);
}

static void test_stop(void **state) {
  (void)state;
  for (int after = 1; after < 30; after += 3) {
    struct scene scene;
    struct measurement result;
    start(&scene);
    machine.jitter = 0.04;
    machine.stop_after = after;
    assert_int_equal(protocol_measure(&scene.protocol, &scene.workload, &result), PROTOCOL_STOPPED);
    expect_error(&scene.fixture, "stopped", "");
    assert_in_range(machine.runs, after, after + 1);
    end(&scene);
  }
}

// Reading gigabytes takes long: it ends after the read that runs.
static void test_stop_reading(void **state) {
  (void)state;
  for (int after = 1; after < 10; after++) {
    struct scene scene;
    struct measurement result;
    start(&scene);
    machine.stop_after_reads = after;
    assert_int_equal(protocol_measure(&scene.protocol, &scene.workload, &result), PROTOCOL_STOPPED);
    expect_error(&scene.fixture, "stopped", "");
    assert_int_equal(machine.reads, after);
    end(&scene);
  }
}

static void test_too_large(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  machine.memory_bytes = UINT64_C(7000000000);
  assert_int_equal(protocol_fits(&scene.protocol, &scene.workload), -1);
  expect_error(&scene.fixture, "too large",
               "needs 8.00 GB (8000000000 bytes) and 7.00 GB (7000000000 bytes) are free; "
               "--layers 2,4,6 measures slices");
  end(&scene);
}

static void test_precisions(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  const struct {
    const char *weights, *kv, *head;
    enum decode_status status;
    struct measurement_types types;
  } cases[] = {
      {"bf16", "bf16", "bf16", DECODE_OK, {"bf16", "bf16", "bf16", "bf16", "f32"}},
      {"int8", "fp8", "weights", DECODE_OK, {"int8", "int8", "e4m3", "int8", "f32"}},
      {"int8", "bf16", "bf16", DECODE_OK, {"int8", "int8", "bf16", "bf16", "f32"}},
      {"fp8", "bf16", "bf16", DECODE_UNSUPPORTED, {"", "", "", "", ""}},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct precision_request wanted = {
        .weights = cases[i].weights, .kv = cases[i].kv, .head = cases[i].head};
    struct decode_request request = workload_request(&scene.workload, 8);
    assert_int_equal(precision_choose(&fake_backend, &wanted, &request), cases[i].status);
    if (cases[i].status != DECODE_OK)
      continue;
    const struct measurement_types types = precision_texts(&request.types);
    assert_string_equal(types.weights, cases[i].types.weights);
    assert_string_equal(types.activations, cases[i].types.activations);
    assert_string_equal(types.kv, cases[i].types.kv);
    assert_string_equal(types.head, cases[i].types.head);
  }
  end(&scene);
}

// What stands in for large models is full width and leaves the oracle seconds of work.
static void test_verify_request(void **state) {
  (void)state;
  const struct {
    struct decode_shape shape;
    int batch, layers, vocab, rows;
  } cases[] = {
      {{22, 2048, 32, 4, 64, 5632, 32000, 1e-5f, 1e4f, 0, 0}, 1, 2, 32000, 1},
      {{32, 4096, 32, 8, 128, 14336, 128256, 1e-5f, 1e4f, 0, 0}, 1, 2, 128256, 1},
      {{32, 4096, 32, 8, 128, 14336, 128256, 1e-5f, 1e4f, 0, 0}, 16, 2, 8192, 16},
      {{80, 8192, 64, 8, 128, 28672, 32000, 1e-5f, 1e4f, 0, 0}, 64, 1, 8192, 4},
      {{1, 2048, 32, 4, 64, 5632, 32000, 1e-5f, 1e4f, 0, 0}, 1, 1, 32000, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request = {
        .shape = cases[i].shape, .batch = cases[i].batch, .context = 4096};
    const struct decode_request small = verify_request(&request);
    assert_int_equal(small.shape.hidden, cases[i].shape.hidden);
    assert_int_equal(small.shape.ffn_hidden, cases[i].shape.ffn_hidden);
    assert_int_equal(small.shape.layers, cases[i].layers);
    assert_int_equal(small.shape.vocab, cases[i].vocab);
    assert_int_equal(small.batch, cases[i].rows);
    assert_int_equal(small.context, 1024);
  }
}

static void test_device_names(void **state) {
  (void)state;
  struct scene scene;
  struct device device;
  start(&scene);
  const struct decode_backend *backends[] = {&fake_backend, NULL};
  struct diagnostics *diagnostics = &scene.fixture.diagnostics;
  assert_int_equal(device_find("fake:0", backends, &device, diagnostics), 0);
  const struct {
    const char *name, *error;
  } wrong[] = {{"fakr", "unknown device 'fakr'; did you mean 'fake'?"},
               {"gpu7", "unknown device 'gpu7', expected one of: fake"},
               {"fake:1", "no device 'fake:1': fake has 1, counted from 0"},
               {"fake:x", "no device 'fake:x'"},
               {"fake:", "no device 'fake:'"},
               {"", "unknown device ''"}};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    assert_int_equal(device_find(wrong[i].name, backends, &device, diagnostics), -1);
    expect_error(&scene.fixture, wrong[i].name, wrong[i].error);
  }
  end(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_steady),
      cmocka_unit_test(test_shard),
      cmocka_unit_test(test_jitter),
      cmocka_unit_test(test_drift),
      cmocka_unit_test(test_footprint_is_no_drift),
      cmocka_unit_test(test_memory_drift),
      cmocka_unit_test(test_void),
      cmocka_unit_test(test_cache_resident),
      cmocka_unit_test(test_slices),
      cmocka_unit_test(test_part),
      cmocka_unit_test(test_wrong_kernel),
      cmocka_unit_test(test_verify_only),
      cmocka_unit_test(test_failing_device),
      cmocka_unit_test(test_stop),
      cmocka_unit_test(test_stop_reading),
      cmocka_unit_test(test_too_large),
      cmocka_unit_test(test_precisions),
      cmocka_unit_test(test_verify_request),
      cmocka_unit_test(test_device_names),
      cmocka_unit_test(test_power),
      cmocka_unit_test(test_meter_lost),
      cmocka_unit_test(test_power_beside),
      cmocka_unit_test(test_host_alone),
      cmocka_unit_test(test_soak),
      cmocka_unit_test(test_slices_metered_once),
      cmocka_unit_test(test_recheck_watts),
      cmocka_unit_test(test_recheck_without_watts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
