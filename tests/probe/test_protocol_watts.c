// The protocol with a meter, on a device whose power is known: idle, load, soak, the host's and the
// wall's power, and records that are measured again.
#include "model/records/measurement_file.h"
#include "tests/support/stand_in.h"

#include "probe/measure/environment.h"
#include "probe/sessions/recheck.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

// What a meter shows; the first is the device's, the second the host's.
static struct watts {
  double power_w, last_s, joules, lost_s;
  double settling_w; // above power_w at first, halved by every 20 s of load
  // There are momentary watts, and the counter shows how it stood at the last multiple; 0: neither.
  double refresh_s;
} watts[2];

static struct watts *watts_of(const struct meter *meter) {
  return &watts[strcmp(meter->kind->name, "fake") != 0];
}

static enum meter_status watts_open(struct meter *meter, const struct meter_roots *roots) {
  (void)roots;
  meter->name = arena_printf(meter->arena, "%s meter", meter->kind->name);
  watts_of(meter)->last_s = stand_in.now_s;
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
  if (own->refresh_s > 0) {
    reading->watts = own->power_w - own->settling_w;
    reading->joules -= reading->watts * fmod(reading->time_s, own->refresh_s);
    reading->joules = round(1e6 * reading->joules) / 1e6; // the same until the next
  }
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
      meter_open_kind(meter, kind, &machine_meters, &stand_in_clock, &scene->fixture.arena),
      METER_OK);
}

static void start_with_meter(struct scene *scene) {
  scene_start(scene);
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
  const struct measurement result = scene_measured(&scene);
  expect_near(result.idle_power_w, 40, 1e-6, "idle");
  expect_near(result.load_power_w, 120, 1e-6, "load");
  expect_near(result.sampled_power_w, 120, 1e-6, "trapezoid");
  expect_near(result.joules_per_token, 0.4, 1e-4, "per token");
  assert_true(result.energy_window_s >= 5);
  assert_string_equal(result.energy_meter, "fake meter");
  assert_false(result.flags.sampling_inconsistent || result.flags.thermal_unsettled);
  expect_readings(&result.readings.idle, 40, 5.5);
  expect_readings(&result.readings.load, 120, result.energy_window_s);
  assert_string_equal(result.beside.host_meter, "");
  assert_true(isnan(result.beside.host_load_power_w) && isnan(result.beside.wall_power_w));
  assert_string_equal(result.telemetry.source, "");
  scene_end(&scene);
}

// Nobody asks for watts: there is a meter, but no load for it.
static void test_no_power(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  scene.protocol.energy_s = 0;
  const double start_s = stand_in.now_s;
  const struct measurement without = scene_measured(&scene);
  const double without_s = stand_in.now_s - start_s;
  assert_true(isnan(without.load_power_w) && isnan(without.energy_window_s));
  scene.protocol.energy_s = PROTOCOL_ENERGY_S;
  const double again_s = stand_in.now_s;
  scene_measured(&scene);
  assert_true(stand_in.now_s - again_s > without_s + 5);
  scene_end(&scene);
}

// The host's and the wall's watts are recorded beside the device's and never included in them.
static void test_power_beside(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  const struct wall_options wall = {512, "PDU A3", NULL};
  scene.protocol.host = &scene.host;
  scene.protocol.wall = &wall;
  idle_then_load(&scene);
  const struct measurement result = scene_measured(&scene);
  expect_near(result.idle_power_w, 40, 1e-6, "idle");
  expect_near(result.load_power_w, 120, 1e-6, "the device's own");
  expect_near(result.joules_per_token, 0.4, 1e-4, "of the device's own");
  assert_string_equal(result.beside.host_meter, "host meter");
  expect_near(result.beside.host_idle_power_w, 25, 1e-6, "the host idle");
  expect_near(result.beside.host_load_power_w, 30, 1e-6, "the host under load");
  assert_string_equal(result.beside.wall_meter, "typed: PDU A3");
  expect_near(result.beside.wall_power_w, 512, 0, "the wall");
  assert_true(isnan(result.beside.module_power_w));
  scene_end(&scene);
}

static void test_host_alone(void **state) {
  (void)state;
  struct scene scene;
  struct meter none = {.name = "none: no meter", .why = ""};
  start_with_meter(&scene);
  scene.protocol.meter = &none;
  scene.protocol.host = &scene.host;
  idle_then_load(&scene);
  const struct measurement result = scene_measured(&scene);
  assert_true(isnan(result.load_power_w) && isnan(result.joules_per_token));
  assert_string_equal(result.energy_meter, "none: no meter");
  expect_near(result.beside.host_load_power_w, 30, 1e-6, "never in the device's place");
  scene_end(&scene);
}

// A device that draws 20 W less until it is warm: when cold, its power still rises; after the soak
// it is steady.
static void test_soak(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  watts[0].settling_w = 20;
  const struct measurement cold = scene_measured(&scene);
  assert_true(cold.flags.thermal_unsettled);
  assert_true(cold.power_slope_w_per_s > 0.3 && cold.load_power_w < 110);
  expect_near(cold.beside.soak_s, 0, 0, "no soak");
  assert_int_equal(cold.grade, GRADE_MEASURED);
  watts[0].settling_w = 20;
  scene.protocol.soak_s = 240;
  scene.protocol.energy_s = 60;
  const double before_s = stand_in.now_s;
  const struct measurement soaked = scene_measured(&scene);
  assert_false(soaked.flags.thermal_unsettled);
  expect_near(soaked.load_power_w, 120, 0.001, "settled");
  expect_near(soaked.energy_window_s, 60, 0.01, "the window after the soak");
  expect_near(soaked.beside.soak_s, 240, 0.01, "soaked");
  assert_true(stand_in.now_s - before_s > 300);
  scene_end(&scene);
}

// Between the edges the counter is up to a period old, as an H200's: the momentary watts tell
// whether the power has settled, at whatever distance the readings come.
static void test_slow_counter(void **state) {
  (void)state;
  static const double steps_s[] = {0.01, 0.0101, 0.01045, 0.0113, 0.0137};
  for (size_t i = 0; i < sizeof steps_s / sizeof steps_s[0]; i++) {
    struct scene scene;
    start_with_meter(&scene);
    idle_then_load(&scene);
    watts[0].refresh_s = 0.1;
    stand_in.step_s = steps_s[i];
    const struct measurement result = scene_measured(&scene);
    expect_near(result.load_power_w, 120, 1e-3, "load");
    assert_true(fabs(result.power_slope_w_per_s) < 1e-9);
    assert_false(result.flags.thermal_unsettled);
    scene_end(&scene);
  }
}

// A device that slows down by 0.01 % with every call: tokens are counted where the watts are, and
// samples are taken after the soak.
static void test_slower_when_warm(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  stand_in.drift = 1e-3;
  const struct measurement cold = scene_measured(&scene);
  assert_true(cold.flags.window_differs);
  assert_true(cold.window_tokens_per_s < 0.97 * cold.tokens_per_s);
  expect_near(cold.joules_per_token, cold.load_power_w / cold.window_tokens_per_s, 1e-12,
              "per token of the window");
  expect_fragment(measurement_doubts(&cold, &scene.fixture.arena),
                  "slower in the seconds under the meter than in its samples: measure with --soak");
  stand_in.drift = 1e-4;
  scene.protocol.soak_s = 240;
  const struct measurement soaked = scene_measured(&scene);
  assert_true(soaked.tokens_per_s < 0.9 * 300);
  assert_false(soaked.flags.window_differs);
  scene_end(&scene);
}

// Of the slices, only the deepest is metered.
static void test_slices_metered_once(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  scene.trial.layers[0] = 2;
  scene.trial.layers[1] = 6;
  scene.trial.layer_count = 2;
  scene.protocol.soak_s = 1000;
  const double before_s = stand_in.now_s;
  const struct measurement result = scene_measured(&scene);
  expect_near(result.load_power_w, 120, 1e-6, "load");
  assert_true(stand_in.now_s - before_s < 1100);
  scene_end(&scene);
}

static void test_meter_lost(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  watts[0].lost_s = stand_in.now_s + 2;
  const struct measurement result = scene_measured(&scene);
  expect_near(result.tokens_per_s, 300, 1e-9, "speed stays");
  assert_true(isnan(result.load_power_w) && isnan(result.joules_per_token));
  assert_string_equal(result.energy_meter, "lost: unplugged");
  assert_int_equal(result.readings.load.count, 0);
  assert_true(result.readings.idle.count > 0);
  scene_end(&scene);
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
      &scene->protocol, &options, (const struct decode_backend *[]){&stand_in_backend, NULL}, out);
  fclose(out);
  unlink(path);
  expect_error(&scene->fixture, "recheck", "");
  if (outcome != expected)
    fail_msg("outcome %d, expected %d:\n%s", outcome, expected, printed);
  return printed;
}

// Power is measured again if the record has some; the limit is 5 %.
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
  const struct measurement recorded = scene_measured(&scene);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    watts[0].power_w = cases[i].power_w;
    expect_fragment(checked(&scene, &recorded, cases[i].outcome), cases[i].says);
  }
  watts[0].power_w = 120;
  stand_in.step_s *= 2; // slower, at the same watts
  expect_fragment(checked(&scene, &recorded, RECHECK_DIFFERS), "OUT OF TOLERANCE");
  scene_end(&scene);
}

// A step that is launched in another form, or multiplies other types, is reported whether or not
// the speed agrees.
static void test_recheck_step_form(void **state) {
  (void)state;
  struct scene scene;
  scene_start(&scene);
  struct measurement recorded = scene_measured(&scene);
  assert_null(strstr(checked(&scene, &recorded, RECHECK_AGREES), ", now"));
  stand_in.fallback = "it cannot";
  expect_fragment(checked(&scene, &recorded, RECHECK_AGREES),
                  "steps were launched as recorded graph, now as single launches");
  recorded.step_form.arithmetic = "converted bf16 to f32";
  expect_fragment(checked(&scene, &recorded, RECHECK_AGREES),
                  "products were converted bf16 to f32, now native bf16");
  recorded.step_form.form = recorded.step_form.arithmetic = ""; // as in an old record
  assert_null(strstr(checked(&scene, &recorded, RECHECK_AGREES), ", now"));
  scene_end(&scene);
}

static void test_recheck_without_watts(void **state) {
  (void)state;
  struct scene scene;
  start_with_meter(&scene);
  idle_then_load(&scene);
  struct measurement recorded = scene_measured(&scene);
  const double runs_s = stand_in.now_s;
  struct meter none = {.name = "none: a test", .why = ""};
  scene.protocol.meter = &none;
  expect_fragment(checked(&scene, &recorded, RECHECK_AGREES),
                  "watts were not compared: none: a test");
  scene.protocol.meter = &scene.meter;
  recorded.load_power_w = NAN;
  recorded.readings.load.count = recorded.readings.load.power_count = 0;
  expect_fragment(checked(&scene, &recorded, RECHECK_AGREES),
                  "watts were not compared: the record has none");
  assert_true(stand_in.now_s - runs_s < 10); // no load ran for power
  scene_end(&scene);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_power),
      cmocka_unit_test(test_no_power),
      cmocka_unit_test(test_meter_lost),
      cmocka_unit_test(test_power_beside),
      cmocka_unit_test(test_host_alone),
      cmocka_unit_test(test_soak),
      cmocka_unit_test(test_slow_counter),
      cmocka_unit_test(test_slower_when_warm),
      cmocka_unit_test(test_slices_metered_once),
      cmocka_unit_test(test_recheck_watts),
      cmocka_unit_test(test_recheck_step_form),
      cmocka_unit_test(test_recheck_without_watts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
