// The watch on its own thread, in real time: six seconds.
// Seconds: 6
#include "base/clock.h"
#include "tests/support/fixture.h"

#include "probe/measure/energy_watch.h"
#include "probe/measure/pace.h"

#include <math.h>
#include <stdlib.h>

// A meter whose draw is set by the load, from the moment that it is opened.
static struct {
  atomic_int watts;
  double lost_s;
} draw;

// What it shows changes ten times a second.
struct counter {
  double last_s, joules, shown, tick;
};

static enum meter_status draw_open(struct meter *meter, const struct meter_roots *roots) {
  (void)roots;
  struct counter *counter = arena_alloc(meter->arena, sizeof *counter);
  counter->last_s = clock_now(meter->clock);
  meter->state = counter;
  meter->name = "source";
  return METER_OK;
}

static enum meter_status draw_read(struct meter *meter, struct meter_reading *reading) {
  struct counter *counter = meter->state;
  if (reading->time_s >= draw.lost_s) {
    meter->why = "unplugged";
    return METER_LOST;
  }
  reading->watts = atomic_load(&draw.watts);
  counter->joules += reading->watts * (reading->time_s - counter->last_s);
  counter->last_s = reading->time_s;
  const double tick = floor(reading->time_s / 0.1);
  if (tick != counter->tick)
    counter->shown = counter->joules;
  counter->tick = tick;
  reading->joules = counter->shown;
  return METER_OK;
}

static void draw_close(struct meter *meter) {
  (void)meter;
}

static const struct meter_kind draw_kind = {
    .name = "source", .open = draw_open, .read = draw_read, .close = draw_close};

static enum meter_status one_look(struct telemetry *telemetry, struct telemetry_look *look) {
  (void)telemetry;
  look->core_clock_hz = 1e9;
  return METER_OK;
}

static const char *const no_reasons[] = {NULL};
static const struct telemetry_kind look_kind = {
    .name = "looks", .reasons = no_reasons, .look = one_look};

static struct energy_watch make_watch(struct fixture *fixture, struct meter *meter,
                                      struct telemetry *telemetry, double seconds) {
  *telemetry = (struct telemetry){.kind = &look_kind,
                                  .name = "looks",
                                  .why = "",
                                  .arena = &fixture->arena,
                                  .clock = &machine_clock};
  draw.lost_s = INFINITY;
  atomic_store(&draw.watts, 50);
  assert_int_equal(
      meter_open_kind(meter, &draw_kind, &machine_meters, &machine_clock, &fixture->arena),
      METER_OK);
  return (struct energy_watch){.clock = &machine_clock,
                               .meter = meter,
                               .telemetry = telemetry,
                               .telemetry_count = 1,
                               .seconds = seconds,
                               .on_thread = true,
                               .arena = &fixture->arena};
}

// The load draws 250 W until the watch is over, and 50 W once it ends: power after the load is not
// in the figure.
static void test_all_of_it_under_load(void **state) {
  (void)state;
  struct fixture fixture;
  struct meter meter;
  struct telemetry telemetry;
  fixture_start(&fixture);
  struct energy_watch watch = make_watch(&fixture, &meter, &telemetry, 5.5);
  atomic_store(&draw.watts, 250);
  assert_int_equal(energy_watch_start(&watch), 0);
  while (!energy_watch_is_over(&watch))
    clock_sleep(&machine_clock, 0.01);
  atomic_store(&draw.watts, 50);
  clock_sleep(&machine_clock, 0.3);
  energy_watch_stop(&watch);
  expect_near(watch.use.power_w, 250, 0.001, "power");
  expect_near(watch.use.sampled_power_w, 250, 0.001, "momentary");
  assert_true(watch.use.seconds >= 5);
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  assert_in_range(sum.looks, 8, 24); // four a second, fewer if other processes use the processors
  expect_near(sum.core_clock_hz.median, 1e9, 0, "clock");
  fixture_end(&fixture);
}

static void test_lost_meter_ends_it(void **state) {
  (void)state;
  struct fixture fixture;
  struct meter meter;
  struct telemetry telemetry;
  fixture_start(&fixture);
  struct energy_watch watch = make_watch(&fixture, &meter, &telemetry, 60);
  const double begin_s = clock_now(&machine_clock);
  draw.lost_s = begin_s + 0.3;
  assert_int_equal(energy_watch_start(&watch), 0);
  while (!energy_watch_is_over(&watch))
    clock_sleep(&machine_clock, 0.01);
  energy_watch_stop(&watch);
  assert_true(clock_now(&machine_clock) - begin_s < 5);
  assert_true(isnan(watch.use.power_w));
  fixture_end(&fixture);
}

// Ctrl-C: the load ends, and so does the watch.
static void test_stopped(void **state) {
  (void)state;
  struct fixture fixture;
  struct meter meter;
  struct telemetry telemetry;
  fixture_start(&fixture);
  struct energy_watch watch = make_watch(&fixture, &meter, &telemetry, 60);
  const double begin_s = clock_now(&machine_clock);
  assert_int_equal(energy_watch_start(&watch), 0);
  clock_sleep(&machine_clock, 0.2);
  energy_watch_stop(&watch);
  assert_true(clock_now(&machine_clock) - begin_s < 5);
  assert_true(isnan(watch.use.power_w));
  fixture_end(&fixture);
}

// Chunks of work one after the other, with pauses: each counts once, wherever a window is cut.
static void test_pace(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  srandom(3);
  for (int draw = 0; draw < 500; draw++) {
    struct pace pace = {.units = 1 + (double)(random() % 50), .arena = &fixture.arena};
    double now_s = 1e6;
    const int count = 1 + (int)(random() % 40);
    for (int i = 0; i < count; i++) {
      const double end_s = now_s + 1e-3 * (double)(1 + random() % 300);
      pace_keep(&pace, now_s, end_s);
      now_s = end_s + 1e-4 * (double)(random() % 100);
    }
    const double begin_s = 1e6 - 0.5, cut_s = 1e6 + 1e-3 * (double)(random() % 3000), over_s = 2e6;
    const double all = (over_s - begin_s) * pace_in(&pace, begin_s, over_s);
    const double parts = (cut_s - begin_s) * pace_in(&pace, begin_s, cut_s) +
                         (over_s - cut_s) * pace_in(&pace, cut_s, over_s);
    expect_near(all, count * pace.units, 1e-6, "all of it");
    expect_near(parts, all, 1e-6, "in two parts");
    assert_true(isnan(pace_in(&pace, cut_s, cut_s)) && isnan(pace_in(&pace, NAN, NAN)));
  }
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_all_of_it_under_load),
      cmocka_unit_test(test_lost_meter_ends_it),
      cmocka_unit_test(test_stopped),
      cmocka_unit_test(test_pace),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
