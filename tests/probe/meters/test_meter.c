// Meters and energy windows, with a fake powercap tree and a fake clock.
#include "base/clock.h"
#include "probe/meters/kinds.h"
#include "tests/support/fixture.h"

#include "probe/measure/energy.h"
#include "probe/meters/address.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// A machine whose packages draw a constant power; time passes only when something sleeps.
struct machine {
  struct fixture fixture;
  char root[64];
  struct clock clock;
  double now_s, power_w, used_j;
  double slope_w_per_s; // of the power
  double vanish_s;      // when the first package's counter disappears, else infinity
};

static const char *in_tree(struct machine *machine, const char *zone, const char *file) {
  return arena_printf(&machine->fixture.arena, "%s/%s/%s", machine->root, zone, file);
}

static void put(struct machine *machine, const char *zone, const char *file, const char *text) {
  FILE *stream = fopen(in_tree(machine, zone, file), "w");
  assert_non_null(stream);
  fputs(text, stream);
  fclose(stream);
}

static void add_zone(struct machine *machine, const char *zone, const char *name, double range_uj,
                     double energy_uj) {
  struct arena *arena = &machine->fixture.arena;
  mkdir(in_tree(machine, zone, ""), 0777);
  put(machine, zone, "name", arena_printf(arena, "%s\n", name));
  put(machine, zone, "max_energy_range_uj", arena_printf(arena, "%.0f\n", range_uj));
  put(machine, zone, "energy_uj", arena_printf(arena, "%.0f\n", energy_uj));
}

static double fake_now(void *context) {
  return ((struct machine *)context)->now_s;
}

// Package 0 counts its energy in whole millijoules; its range is 1 kJ, once a test has created the
// zone.
static void fake_sleep(void *context, double seconds) {
  struct machine *machine = context;
  machine->used_j += machine->power_w * seconds;
  machine->power_w += machine->slope_w_per_s * seconds;
  machine->now_s += seconds;
  const double joules = fmod(machine->used_j, 1000);
  if (machine->now_s >= machine->vanish_s)
    put(machine, "intel-rapl:0", "energy_uj", "");
  else
    put(machine, "intel-rapl:0", "energy_uj",
        arena_printf(&machine->fixture.arena, "%.0f\n", 1e6 * joules));
}

static void start(struct machine *machine) {
  *machine = (struct machine){.power_w = 100, .vanish_s = INFINITY};
  fixture_start(&machine->fixture);
  strcpy(machine->root, "/tmp/pertoken-meter-XXXXXX");
  assert_non_null(mkdtemp(machine->root));
  machine->clock = (struct clock){fake_now, fake_sleep, machine};
}

static void end(struct machine *machine) {
  const char *command = arena_printf(&machine->fixture.arena, "rm -rf '%s'", machine->root);
  assert_int_equal(system(command), 0);
  fixture_end(&machine->fixture);
}

static enum meter_status open_powercap(struct machine *machine, struct meter *meter) {
  const struct meter_roots roots = {.powercap = machine->root, .events = machine->root};
  return meter_open_kind(meter, &meter_powercap, &roots, &machine->clock, &machine->fixture.arena);
}

static void test_packages_are_summed(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e9, 5e6);
  add_zone(&machine, "intel-rapl:2", "package-2", 1e9, 7e6);    // there is no 1: a gap
  add_zone(&machine, "intel-rapl:0:0", "core", 1e9, 0);         // counted in package 0
  add_zone(&machine, "intel-rapl:1", "psys", 1e9, 0);           // covers the packages
  add_zone(&machine, "intel-rapl-mmio:0", "package-0", 1e9, 0); // package 0 again
  assert_int_equal(open_powercap(&machine, &meter), METER_OK);
  assert_string_equal(meter.name, "rapl-powercap, 2 CPU packages");
  put(&machine, "intel-rapl:0", "energy_uj", "6000000\n");
  put(&machine, "intel-rapl:2", "energy_uj", "9500000\n");
  put(&machine, "intel-rapl:0:0", "energy_uj", "990000000\n");
  put(&machine, "intel-rapl:1", "energy_uj", "990000000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 3.5, 1e-12, "both packages");
  meter_close(&meter);
  end(&machine);
}

static void test_wrap(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e9, 999e6);
  assert_int_equal(open_powercap(&machine, &meter), METER_OK);
  put(&machine, "intel-rapl:0", "energy_uj", "2000000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 3, 1e-9, "1 J to the end and 2 J after");
  put(&machine, "intel-rapl:0", "energy_uj", "1000000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 1002, 1e-9, "a whole turn but 1 J more");
  meter_close(&meter);
  end(&machine);
}

// The machine's watts are those of the sockets: rails are within them, and a module has a GPU, too.
static void add_sensor(struct machine *machine, const char *hwmon, const char *label,
                       const char *microwatts) {
  const char *device = arena_printf(&machine->fixture.arena, "%s/device", hwmon);
  mkdir(in_tree(machine, hwmon, ""), 0777);
  mkdir(in_tree(machine, device, ""), 0777);
  put(machine, device, "power1_oem_info", label);
  put(machine, device, "power1_average", microwatts);
}

static void test_grace(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  const struct meter_roots roots = {.hwmon = machine.root};
  struct arena *arena = &machine.fixture.arena;
  add_sensor(&machine, "hwmon0", "CPU Power Socket 0\n", "60000000\n");
  add_sensor(&machine, "hwmon1", "Module Power Socket 0\n", "900000000\n");
  assert_int_equal(meter_open_kind(&meter, &meter_grace, &roots, &machine.clock, arena),
                   METER_ABSENT);
  expect_fragment(meter.why, "grace-hwmon: no Grace socket under ");
  add_sensor(&machine, "hwmon2", "Grace Power Socket 0\n", "100000000\n");
  add_sensor(&machine, "hwmon3", "Grace Power Socket 1\n", "150000000\n");
  assert_int_equal(meter_open_kind(&meter, &meter_grace, &roots, &machine.clock, arena), METER_OK);
  assert_string_equal(meter.name, "grace-hwmon, 2 sockets: average power integrated");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.watts, 250, 1e-9, "both sockets");
  assert_true(isnan(reading.module_watts));
  machine.now_s += 2;
  put(&machine, "hwmon3/device", "power1_average", "250000000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 600, 1e-9, "from 250 W to 350 W in 2 s");
  put(&machine, "hwmon3/device", "power1_average", "");
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "has no watts");
  meter_close(&meter);
  end(&machine);
}

// A counter that was reset has not wrapped: no package draws 262 kJ in a tenth of a second.
static void test_reset(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 262143328850, 1000e6);
  assert_int_equal(open_powercap(&machine, &meter), METER_OK);
  machine.now_s += 0.1;
  put(&machine, "intel-rapl:0", "energy_uj", "1040000000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 40, 1e-9, "joules");
  machine.now_s += 0.1;
  put(&machine, "intel-rapl:0", "energy_uj", "20000000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "energy_uj was reset");
  meter_close(&meter);
  end(&machine);
}

// A package drawing its maximum fills 1 kJ in a second.
static void test_unread_for_too_long(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e9, 0);
  assert_int_equal(open_powercap(&machine, &meter), METER_OK);
  machine.now_s += 1.5;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "may have wrapped unnoticed");
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  meter_close(&meter);
  end(&machine);
}

// Windows are metered whatever the counter did between them: while a GPU is soaked for minutes, it
// may wrap more than once.
static void test_unread_between_windows(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct energy_window window;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e9, 0);
  assert_int_equal(open_powercap(&machine, &meter), METER_OK);
  for (int i = 0; i < 2; i++) {
    fake_sleep(&machine, 100); // ten times around
    assert_int_equal(energy_start(&window, &meter, &machine.fixture.arena), METER_OK);
    for (int tenth = 0; tenth < 60; tenth++) {
      fake_sleep(&machine, 0.1);
      assert_int_equal(energy_sample(&window), METER_OK);
    }
    expect_near(energy_stop(&window).power_w, 100, 1e-6, "power");
  }
  meter_close(&meter);
  end(&machine);
}

static void test_absent(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  assert_int_equal(open_powercap(&machine, &meter), METER_ABSENT);
  expect_fragment(meter.why, "no package under");
  assert_null(meter.kind);
  const struct meter_roots nothing = {.powercap = "/nonexistent", .events = "/nonexistent"};
  assert_int_equal(meter_open(&meter, &nothing, &machine.clock, &machine.fixture.arena),
                   METER_ABSENT);
  expect_fragment(meter.name, "none: rapl-powercap: /nonexistent: No such file");
  expect_fragment(meter.name, "rapl-perf");
  struct meter_reading reading;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  meter_close(&meter);
  end(&machine);
}

static void test_forbidden(void **state) {
  (void)state;
  if (geteuid() == 0 && seteuid(65534))
    skip();
  struct machine machine;
  struct meter meter;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e9, 0);
  chmod(in_tree(&machine, "intel-rapl:0", "energy_uj"), 0);
  const enum meter_status status = open_powercap(&machine, &meter);
  if (getuid() == 0)
    assert_int_equal(seteuid(0), 0);
  assert_int_equal(status, METER_FORBIDDEN);
  expect_fragment(meter.name, "Permission denied");
  end(&machine);
}

static void test_damaged(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 0, 0);
  assert_int_equal(open_powercap(&machine, &meter), METER_ABSENT);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e9, 0);
  put(&machine, "intel-rapl:0", "energy_uj", "many\n");
  assert_int_equal(open_powercap(&machine, &meter), METER_ABSENT);
  end(&machine);
}

// An event source whose files hold values that perf cannot use.
static void test_perf_tree(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  const struct meter_roots roots = {.powercap = machine.root, .events = machine.root};
  struct arena *arena = &machine.fixture.arena;
  mkdir(in_tree(&machine, "power", ""), 0777);
  mkdir(in_tree(&machine, "power", "events"), 0777);
  const struct {
    const char *file, *text, *why;
  } steps[] = {
      {"type", "nine\n", "type holds 'nine'"},
      {"type", "9\n", "events/energy-pkg: No such file"},
      {"events/energy-pkg", "config=2\n", "holds 'config=2'"},
      {"events/energy-pkg", "event=0x02\n", "is missing"},
      {"events/energy-pkg.scale", "2.3283064365386962890625e-10\n", "is missing"},
      {"cpumask", "zero\n", "cpumask cannot be read"},
      {"cpumask", "3-1\n", "cpumask cannot be read"},
  };
  for (size_t i = 0; i < sizeof steps / sizeof steps[0]; i++) {
    put(&machine, "power", steps[i].file, steps[i].text);
    assert_int_equal(meter_open_kind(&meter, &meter_perf, &roots, &machine.clock, arena),
                     METER_ABSENT);
    expect_fragment(meter.why, steps[i].why);
  }
  end(&machine);
}

// ---- energy windows

static struct energy_use measure(struct machine *machine, double seconds) {
  struct meter meter;
  struct energy_window window;
  add_zone(machine, "intel-rapl:0", "package-0", 1e9, 0);
  assert_int_equal(open_powercap(machine, &meter), METER_OK);
  struct energy_use use = energy_unknown;
  if (energy_start(&window, &meter, &machine->fixture.arena) == METER_OK) {
    for (double at = 0; at < seconds; at += 0.1) {
      fake_sleep(machine, 0.1);
      if (energy_sample(&window) != METER_OK)
        break;
    }
    use = energy_stop(&window);
  }
  meter_close(&meter);
  return use;
}

// In 60 s at 100 W the counter wraps around six times.
static void test_constant_power(void **state) {
  (void)state;
  struct machine machine;
  start(&machine);
  const struct energy_use use = measure(&machine, 60);
  expect_near(use.power_w, 100, 1e-6, "power");
  expect_near(use.sampled_power_w, 100, 1e-6, "trapezoid");
  expect_near(use.joules, 100 * use.seconds, 1e-6, "energy");
  assert_true(fabs(use.slope_w_per_s) < 1e-3);
  assert_false(use.inconsistent);
  assert_false(use.unsettled);
  end(&machine);
}

static void test_short_window(void **state) {
  (void)state;
  struct machine machine;
  start(&machine);
  const struct energy_use use = measure(&machine, 4.5);
  assert_true(isnan(use.power_w) && isnan(use.joules));
  end(&machine);
}

static void test_rising_power(void **state) {
  (void)state;
  struct machine machine;
  start(&machine);
  machine.slope_w_per_s = 1;
  const struct energy_use use = measure(&machine, 10);
  expect_near(use.power_w, 105, 0.01, "mean power");
  expect_near(use.slope_w_per_s, 1, 0.02, "slope");
  assert_true(use.unsettled);
  end(&machine);
}

static void test_vanishing(void **state) {
  (void)state;
  struct machine machine;
  start(&machine);
  machine.vanish_s = 3;
  const struct energy_use use = measure(&machine, 10);
  assert_true(isnan(use.power_w));
  end(&machine);
}

static void test_standing_still(void **state) {
  (void)state;
  struct machine machine;
  start(&machine);
  machine.power_w = 0;
  const struct energy_use use = measure(&machine, 10);
  assert_true(isnan(use.power_w));
  end(&machine);
}

// Nearly all of the energy flows between two readings far apart, so the trapezoid, which has the
// power only in the middle between readings, is far off.
static void test_inconsistent(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct energy_window window;
  start(&machine);
  add_zone(&machine, "intel-rapl:0", "package-0", 1e10, 0);
  assert_int_equal(open_powercap(&machine, &meter), METER_OK);
  assert_int_equal(energy_start(&window, &meter, &machine.fixture.arena), METER_OK);
  static const double powers_w[] = {100, 10, 10, 10};
  static const double seconds[] = {4, 0.5, 0.5, 0.5};
  for (size_t i = 0; i < 4; i++) {
    machine.power_w = powers_w[i];
    fake_sleep(&machine, seconds[i]);
    assert_int_equal(energy_sample(&window), METER_OK);
  }
  const struct energy_use use = energy_stop(&window);
  expect_near(use.power_w, 415 / 5.5, 0.01, "power");
  assert_true(use.sampled_power_w < 0.9 * use.power_w);
  assert_true(use.inconsistent);
  meter_close(&meter);
  end(&machine);
}

// ---- a meter of the test's own, whose momentary power and counter can be set separately

static struct {
  double now_s, watts, joules, module_w;
  double momentary_share; // of the true watts
  double stands_from_s, stands_to_s;
  double reading_w; // of one of the readings kept
  bool has_counter, has_momentary;
} sensor;

static double sensor_now(void *context) {
  (void)context;
  return sensor.now_s;
}

// A counter that stands still for a while loses the energy of that time.
static void sensor_sleep(void *context, double seconds) {
  (void)context;
  sensor.now_s += seconds;
  if (sensor.now_s < sensor.stands_from_s || sensor.now_s > sensor.stands_to_s)
    sensor.joules += sensor.watts * seconds;
}

static enum meter_status sensor_open(struct meter *meter, const struct meter_roots *roots) {
  (void)roots;
  meter->name = "a sensor";
  return METER_OK;
}

static enum meter_status sensor_read(struct meter *meter, struct meter_reading *reading) {
  (void)meter;
  if (sensor.has_counter)
    reading->joules = sensor.joules;
  if (sensor.has_momentary)
    reading->watts = sensor.momentary_share * sensor.watts;
  if (sensor.module_w > 0)
    reading->module_watts = sensor.module_w;
  return METER_OK;
}

static void sensor_close(struct meter *meter) {
  (void)meter;
}

static const struct meter_kind sensor_kind = {
    .name = "sensor", .open = sensor_open, .read = sensor_read, .close = sensor_close};

static struct energy_use sense(double seconds) {
  struct arena arena = {NULL};
  const struct clock clock = {sensor_now, sensor_sleep, NULL};
  struct meter meter;
  struct energy_window window;
  assert_int_equal(meter_open_kind(&meter, &sensor_kind, &machine_meters, &clock, &arena),
                   METER_OK);
  assert_int_equal(energy_start(&window, &meter, &arena), METER_OK);
  const double end_s = sensor.now_s + seconds;
  while (sensor.now_s < end_s) {
    clock_sleep(&clock, 0.1);
    assert_int_equal(energy_sample(&window), METER_OK);
  }
  const struct energy_use use = energy_stop(&window);
  sensor.reading_w = use.readings.power_w[use.readings.count / 2];
  meter_close(&meter);
  arena_free(&arena);
  return use;
}

static void start_sensor(void) {
  memset(&sensor, 0, sizeof sensor);
  sensor.watts = 400;
  sensor.momentary_share = 1;
  sensor.stands_from_s = sensor.stands_to_s = INFINITY;
  sensor.has_counter = sensor.has_momentary = true;
}

static void test_momentary_power(void **state) {
  (void)state;
  start_sensor();
  const struct energy_use use = sense(6);
  expect_near(use.power_w, 400, 1e-9, "counter");
  expect_near(use.sampled_power_w, 400, 1e-9, "integral");
  assert_true(isnan(use.module_power_w));
  assert_false(use.inconsistent);
}

// The limit is 5 %: 4 % passes, 10 % in either direction does not.
static void test_counter_against_integral(void **state) {
  (void)state;
  static const struct {
    double share;
    bool inconsistent;
  } cases[] = {{1.04, false}, {0.96, false}, {1.10, true}, {0.90, true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    start_sensor();
    sensor.momentary_share = cases[i].share;
    const struct energy_use use = sense(6);
    expect_near(use.power_w, 400, 1e-9, "counter");
    expect_near(use.sampled_power_w, 400 * cases[i].share, 1e-9, "integral");
    assert_true(use.readings.sensed);
    expect_near(sensor.reading_w, 400 * cases[i].share, 1e-9, "a reading");
    assert_int_equal(use.inconsistent, cases[i].inconsistent);
  }
}

// For 2 of 6 s the counter stands still and loses that energy.
static void test_counter_gap(void **state) {
  (void)state;
  start_sensor();
  sensor.stands_from_s = 2;
  sensor.stands_to_s = 4;
  const struct energy_use use = sense(6);
  expect_near(use.power_w, 400 * 4 / 6., 0.02, "counter");
  expect_near(use.sampled_power_w, 400, 1e-9, "integral");
  assert_true(use.inconsistent);
}

// Without a counter, power is integrated, and there is nothing to compare it with.
static void test_power_without_counter(void **state) {
  (void)state;
  start_sensor();
  sensor.has_counter = false;
  const struct energy_use use = sense(6);
  expect_near(use.power_w, 400, 1e-9, "integrated");
  assert_true(isnan(use.sampled_power_w));
  assert_false(use.readings.sensed);
  expect_near(sensor.reading_w, 400, 1e-9, "a reading");
  assert_false(use.inconsistent);
}

static void test_module_power(void **state) {
  (void)state;
  start_sensor();
  sensor.module_w = 650;
  const struct energy_use use = sense(6);
  expect_near(use.power_w, 400, 1e-9, "the device's own");
  expect_near(use.module_power_w, 650, 1e-9, "its module's");
}

static void test_addresses(void **state) {
  (void)state;
  struct meter_address a, b;
  struct arena arena = {NULL};
  assert_true(meter_address_parse("0000:c1:00.0", &a));
  assert_true(meter_address_parse("00000000:C1:00.1", &b));
  assert_true(meter_address_shares_socket(&a, &b));
  assert_true(meter_address_compare(&a, &b) < 0);
  assert_string_equal(meter_address_text(&b, &arena), "0000:c1:00.1");
  assert_true(meter_address_parse("c1:00.0", &b));
  assert_int_equal(meter_address_compare(&a, &b), 0);
  assert_true(meter_address_parse("10001:c1:1f.7", &b));
  assert_false(meter_address_shares_socket(&a, &b));
  static const char *const wrong[] = {"", "0", "0000:c1:00", "0000:c1:00.0x", "card0", "c1:00.0 "};
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
    assert_false(meter_address_parse(wrong[i], &a));
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_packages_are_summed),
      cmocka_unit_test(test_grace),
      cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_reset),
      cmocka_unit_test(test_unread_for_too_long),
      cmocka_unit_test(test_unread_between_windows),
      cmocka_unit_test(test_absent),
      cmocka_unit_test(test_forbidden),
      cmocka_unit_test(test_damaged),
      cmocka_unit_test(test_perf_tree),
      cmocka_unit_test(test_constant_power),
      cmocka_unit_test(test_short_window),
      cmocka_unit_test(test_rising_power),
      cmocka_unit_test(test_vanishing),
      cmocka_unit_test(test_standing_still),
      cmocka_unit_test(test_inconsistent),
      cmocka_unit_test(test_momentary_power),
      cmocka_unit_test(test_counter_against_integral),
      cmocka_unit_test(test_counter_gap),
      cmocka_unit_test(test_power_without_counter),
      cmocka_unit_test(test_module_power),
      cmocka_unit_test(test_addresses),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
