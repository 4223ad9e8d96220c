// Telemetry of CPUs from a fake sysfs, and wall power from a fake ipmitool.
#include "base/clock.h"
#include "tests/support/fixture.h"

#include "probe/meters/telemetry.h"
#include "probe/meters/wall.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

struct machine {
  struct fixture fixture;
  struct clock clock;
  struct meter_roots roots;
  char tree[64];
  double now_s;
};

static double fake_now(void *context) {
  return ((struct machine *)context)->now_s;
}

static void fake_sleep(void *context, double seconds) {
  ((struct machine *)context)->now_s += seconds;
}

static void put(struct machine *machine, const char *file, const char *text) {
  fixture_write(&machine->fixture, machine->tree, file, text);
}

static void start(struct machine *machine) {
  *machine = (struct machine){.now_s = 0};
  fixture_start(&machine->fixture);
  strcpy(machine->tree, "/tmp/pertoken-cpu-XXXXXX");
  assert_non_null(mkdtemp(machine->tree));
  machine->clock = (struct clock){fake_now, fake_sleep, machine};
  struct arena *arena = &machine->fixture.arena;
  machine->roots =
      (struct meter_roots){.cpu = arena_printf(arena, "%s/cpu", machine->tree),
                           .hwmon = arena_printf(arena, "%s/hwmon", machine->tree),
                           .thermal = arena_printf(arena, "%s/thermal", machine->tree)};
}

static void end(struct machine *machine) {
  assert_int_equal(system(arena_printf(&machine->fixture.arena, "rm -rf '%s'", machine->tree)), 0);
  fixture_end(&machine->fixture);
}

static void open_cpu(struct machine *machine, struct telemetry *telemetry) {
  telemetry_open(telemetry, "", &machine->roots, &machine->clock, &machine->fixture.arena);
}

static void test_nothing(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  open_cpu(&machine, &telemetry);
  telemetry_look(&telemetry);
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  assert_string_equal(sum.source,
                      "none: the kernel exposes neither cpufreq nor temperature sensors");
  assert_int_equal(sum.looks, 0);
  assert_true(isnan(sum.core_clock_hz.median) && isnan(sum.window_s));
  assert_string_equal(telemetry.state.driver, "");
  telemetry_close(&telemetry);
  end(&machine);
}

static void make_cpus(struct machine *machine) {
  struct arena *arena = &machine->fixture.arena;
  for (int i = 0; i < 4; i++) {
    put(machine, arena_printf(arena, "cpu/cpu%d/cpufreq/scaling_cur_freq", i),
        arena_printf(arena, "%d\n", 3000000 + 100000 * i));
    put(machine, arena_printf(arena, "cpu/cpu%d/topology/physical_package_id", i),
        i < 2 ? "0\n" : "1\n");
    put(machine,
        arena_printf(arena, "cpu/cpu%d/thermal_throttle/package_throttle_total_time_ms", i),
        "1000\n");
  }
  put(machine, "cpu/cpufreq/boost", "1\n"); // not a CPU
  put(machine, "hwmon/hwmon0/name", "nvme\n");
  put(machine, "hwmon/hwmon0/temp1_input", "99000\n"); // not a CPU's
  put(machine, "hwmon/hwmon1/name", "coretemp\n");
  put(machine, "hwmon/hwmon1/temp1_input", "71000\n");
  put(machine, "hwmon/hwmon2/name", "coretemp\n");
  put(machine, "hwmon/hwmon2/temp1_input", "74000\n");
}

static void test_cpus(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  make_cpus(&machine);
  open_cpu(&machine, &telemetry);
  assert_string_equal(telemetry.name, "sysfs: clocks of 4 CPUs, 2 temperature sensors");
  telemetry_look(&telemetry);
  put(&machine, "cpu/cpu3/cpufreq/scaling_cur_freq", "2900000\n");
  put(&machine, "hwmon/hwmon2/temp1_input", "80000\n");
  // Both CPUs of a package report the same time.
  put(&machine, "cpu/cpu2/thermal_throttle/package_throttle_total_time_ms", "1400\n");
  put(&machine, "cpu/cpu3/thermal_throttle/package_throttle_total_time_ms", "1400\n");
  fake_sleep(&machine, 3);
  telemetry_look(&telemetry);
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  expect_near(sum.core_clock_hz.max, 3150e6, 1e-12, "mean of four");
  expect_near(sum.core_clock_hz.min, 3050e6, 1e-12, "the last slower");
  expect_near(sum.core_temperature_c.min, 74, 1e-12, "the hotter package");
  expect_near(sum.core_temperature_c.max, 80, 1e-12, "later");
  expect_near(sum.window_s, 3, 1e-12, "window");
  assert_int_equal(sum.throttle_count, 1);
  expect_near(sum.throttles[0].seconds, 0.4, 1e-9, "the second package's, once");
  telemetry_restart(&telemetry);
  assert_int_equal(telemetry_sum(&telemetry).looks, 0);
  telemetry_close(&telemetry);
  end(&machine);
}

static void test_thermal_zone(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  put(&machine, "thermal/thermal_zone0/type", "acpitz\n");
  put(&machine, "thermal/thermal_zone0/temp", "20000\n");
  put(&machine, "thermal/thermal_zone1/type", "x86_pkg_temp\n");
  put(&machine, "thermal/thermal_zone1/temp", "55000\n");
  open_cpu(&machine, &telemetry);
  telemetry_look(&telemetry);
  expect_near(telemetry_sum(&telemetry).core_temperature_c.max, 55, 1e-12, "the package's zone");
  telemetry_close(&telemetry);
  end(&machine);
}

// ---- the wall

static const char answer[] =
    "\n    Instantaneous power reading:                   812 Watts\n"
    "    Minimum during sampling period:                 98 Watts\n"
    "    Maximum during sampling period:               1012 Watts\n"
    "    Average power reading over sample period:      406 Watts\n"
    "    IPMI timestamp:                           Sat Nov 21 10:12:05 2026\n"
    "    Sampling period:                          00000001 Seconds.\n"
    "    Power reading state is:                   activated\n";

static void test_wall_parse(void **state) {
  (void)state;
  expect_near(wall_parse(answer), 812, 0, "the momentary one");
  static const char *const wrong[] = {"",
                                      "Instantaneous power reading:",
                                      "Instantaneous power reading: many Watts",
                                      "Instantaneous power reading: 0 Watts",
                                      "Instantaneous power reading: inf Watts",
                                      "Instantaneous power reading: 812 mW",
                                      "DCMI request failed because: Invalid command (c1)"};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_true(isnan(wall_parse(wrong[i])));
}

static void test_wall_parse_redfish(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double watts;
  } cases[] = {
      {"{\"PowerControl\": [{\"PowerConsumedWatts\": 344}, {\"PowerConsumedWatts\": 12}]}", 344},
      {"{\"PowerWatts\": {\"Reading\": 374.5, \"SensingInterval\": \"PT1S\"}}", 374.5},
      {"{\"PowerControl\": [{\"PowerConsumedWatts\": null}]}", NAN},
      {"{\"PowerControl\": []}", NAN},
      {"{\"PowerControl\": [{\"PowerConsumedWatts\": 0}]}", NAN},
      {"{\"error\": {\"code\": \"Base.1.8.GeneralError\"}}", NAN},
      {"<html>", NAN},
      {"", NAN},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double watts = wall_parse_redfish(cases[i].text);
    assert_true(isnan(cases[i].watts) ? isnan(watts) : watts == cases[i].watts);
  }
}

// The PATH leads to a script instead of the program; NULL: to nothing.
static struct wall_reading ask(struct machine *machine, const char *program, const char *script,
                               double limit_s) {
  struct wall wall;
  const char *path = arena_printf(&machine->fixture.arena, "%s/%s", machine->tree, program);
  const struct wall_options options = {
      .typed_w = NAN, .note = "", .redfish = !strcmp(program, "curl") ? "https://bmc/power" : NULL};
  const char *before = arena_copy(&machine->fixture.arena, getenv("PATH"));
  if (script) {
    put(machine, program, script);
    chmod(path, 0755);
  } else {
    remove(path);
  }
  setenv("PATH", machine->tree, 1);
  assert_int_equal(wall_can_be_asked(&options), script || options.redfish);
  wall_ask(&wall, &options);
  const struct wall_reading reading = wall_answer(&wall, limit_s, &machine->fixture.arena);
  setenv("PATH", before, 1);
  return reading;
}

static void test_wall_asked(void **state) {
  (void)state;
  struct machine machine;
  start(&machine);
  struct arena *arena = &machine.fixture.arena;
  const char *works = arena_printf(
      arena, "#!/bin/sh\n[ \"$*\" = 'dcmi power reading' ] || exit 9\necho '%s'\n", answer);
  static const char service[] =
      "#!/bin/sh\nfor last; do :; done\n[ \"$last\" = https://bmc/power ] || exit 9\n"
      "echo '{\"PowerControl\": [{\"PowerConsumedWatts\": 344}]}'\n";
  const struct {
    const char *program, *script;
    double watts;
    const char *meter;
  } cases[] = {
      {"ipmitool", works, 812, "ipmitool dcmi, once under load"},
      {"ipmitool", "#!/bin/sh\necho no device >&2\nexit 1\n", NAN,
       "none: ipmitool failed: it needs root and a management controller"},
      {"ipmitool", "#!/bin/sh\necho hello\n", NAN, "none: ipmitool reported no watts"},
      {"ipmitool", "#!/bin/sh\nexec /bin/sleep 9\n", NAN,
       "none: ipmitool did not answer within 0.3 s"},
      {"ipmitool", NULL, NAN, "none: ipmitool is not installed"},
      {"curl", service, 344, "redfish, once under load"},
      {"curl", "#!/bin/sh\nexit 22\n", NAN,
       "none: curl got no answer from the Redfish service: try the address with curl -n"},
      {"curl", "#!/bin/sh\necho '{}'\n", NAN, "none: curl reported no watts"},
      {"curl", NULL, NAN, "none: curl is not installed"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double begin_s = clock_now(&machine_clock);
    const struct wall_reading reading =
        ask(&machine, cases[i].program, cases[i].script, i == 3 ? 0.3 : 20);
    if (i == 3) // nothing waits for it
      assert_true(clock_now(&machine_clock) - begin_s < 8);
    assert_string_equal(reading.meter, cases[i].meter);
    assert_true(isnan(cases[i].watts) ? isnan(reading.watts) : reading.watts == cases[i].watts);
  }
  end(&machine);
}

static void test_wall_typed(void **state) {
  (void)state;
  struct arena arena = {NULL};
  const struct wall_options noted = {512, "PDU A3, outlet 7", NULL}, bare = {512, "", NULL};
  assert_string_equal(wall_typed(&noted, &arena).meter, "typed: PDU A3, outlet 7");
  assert_string_equal(wall_typed(&bare, &arena).meter, "typed");
  expect_near(wall_typed(&bare, &arena).watts, 512, 0, "watts");
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_nothing),
      cmocka_unit_test(test_cpus),
      cmocka_unit_test(test_thermal_zone),
      cmocka_unit_test(test_wall_parse),
      cmocka_unit_test(test_wall_parse_redfish),
      cmocka_unit_test(test_wall_asked),
      cmocka_unit_test(test_wall_typed),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
