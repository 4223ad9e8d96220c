// A meter's readings as stored in a record: merged without losing energy, and never across a gap.
#include "tests/support/fixture.h"

#include "probe/measure/power_readings.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 1000 };

// The readings, every `every_s`, of a meter of 100 W that falls to 40 W, from an arbitrary time on.
static size_t readings_every(double every_s, size_t count, struct meter_reading *out) {
  double joules = 7;
  for (size_t i = 0; i < count; i++) {
    const double watts = 100 - 60 * (double)i / (double)count;
    out[i] = (struct meter_reading){1000.3 + every_s * (double)i, joules, watts + 1, NAN};
    joules += every_s * watts;
  }
  return count;
}

static double seconds_of(const struct meter_reading *readings, size_t count) {
  return readings[count - 1].time_s - readings[0].time_s;
}

// The shortest of the means except the first, which may have begun at any reading.
static double shortest(const struct measurement_window *window) {
  double least = INFINITY;
  for (size_t i = 1; i < window->count; i++)
    least = fmin(least, window->end_s[i] - window->end_s[i - 1]);
  return least;
}

static const struct {
  const char *what;
  double every_s;
  size_t count, kept; // kept: how many means they become
} cases[] = {
    {"a usual window: nothing is joined", 0.1, 56, 55},
    {"a minute: by threes", 0.1, 601, 200},
    {"faster than the meter is read: by fives", 0.0101, 501, 100},
    {"a minute of a slow meter", 0.4, 151, 150},
    {"two readings", 0.3, 2, 1},
    {"one", 0.3, 1, 0},
    {"none", 0.3, 0, 0},
};

static void test_joined(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    struct meter_reading readings[MOST];
    fixture_start(&fixture);
    const size_t count = readings_every(cases[i].every_s, cases[i].count, readings);
    const struct measurement_window window = power_readings(readings, count, false, &fixture.arena);
    if (window.count != cases[i].kept)
      fail_msg("%s: %zu means, expected %zu", cases[i].what, window.count, cases[i].kept);
    assert_int_equal(window.power_count, window.count);
    assert_true(window.count <= MEASUREMENT_READINGS);
    assert_false(window.sensed || measurement_has_gap(&window));
    if (window.count) {
      const double seconds = seconds_of(readings, count);
      const double joules = readings[count - 1].joules - readings[0].joules;
      expect_near(window.end_s[window.count - 1], seconds, 1e-9, cases[i].what);
      expect_near(measurement_window_seconds(&window), seconds, 1e-9, cases[i].what);
      expect_near(measurement_window_joules(&window), joules, 1e-9, cases[i].what);
      assert_true(shortest(&window) >= MEASUREMENT_READING_S);
      assert_true(shortest(&window) >= seconds / MEASUREMENT_READINGS);
      assert_true(window.count < 3 || window.power_w[0] > window.power_w[window.count - 1] + 50);
    }
    fixture_end(&fixture);
  }
}

// The sensors read one watt more than the counter counts.
static void test_sensed(void **state) {
  (void)state;
  struct fixture fixture;
  struct meter_reading readings[MOST];
  fixture_start(&fixture);
  const size_t count = readings_every(0.1, 601, readings);
  const struct measurement_window window = power_readings(readings, count, true, &fixture.arena);
  double joules = 0;
  for (size_t i = 1; i < count; i++)
    joules += (readings[i].time_s - readings[i - 1].time_s) *
              (readings[i].watts + readings[i - 1].watts) / 2;
  assert_true(window.sensed);
  assert_int_equal(window.count, 200);
  expect_near(measurement_window_joules(&window), joules, 1e-9, "the trapezoid's energy");
  fixture_end(&fixture);
}

// The counter's last edge follows shortly after a look: its time is merged with the previous one.
static void test_short_end(void **state) {
  (void)state;
  struct fixture fixture;
  struct meter_reading readings[MOST];
  fixture_start(&fixture);
  const size_t count = readings_every(0.1, 56, readings);
  readings[count] = (struct meter_reading){readings[count - 1].time_s + 0.002,
                                           readings[count - 1].joules + 0.3, NAN, NAN};
  const struct measurement_window window =
      power_readings(readings, count + 1, false, &fixture.arena);
  assert_int_equal(window.count, 55);
  expect_near(window.end_s[54], 5.502, 1e-9, "the end");
  expect_near(measurement_window_joules(&window), readings[count].joules - readings[0].joules, 1e-9,
              "energy");
  fixture_end(&fixture);
}

// Nothing read the meter for two seconds: there is a gap, and everything else is as usual. The
// counter went on, but when it counted what is unknown.
static void test_gap(void **state) {
  (void)state;
  struct fixture fixture;
  struct meter_reading readings[MOST];
  fixture_start(&fixture);
  const size_t count = readings_every(0.1, 56, readings);
  for (size_t i = 20; i < count; i++) {
    readings[i].time_s += 2;
    readings[i].joules += 5000;
  }
  const struct measurement_window window = power_readings(readings, count, false, &fixture.arena);
  const double joules =
      readings[19].joules - readings[0].joules + readings[count - 1].joules - readings[20].joules;
  assert_true(measurement_has_gap(&window));
  assert_int_equal(window.count, 55);
  assert_true(isnan(window.power_w[19]));
  expect_near(window.end_s[18], 1.9, 1e-9, "before the gap");
  expect_near(window.end_s[19], 4.0, 1e-9, "the gap's end");
  expect_near(measurement_window_joules(&window), joules, 1e-9, "energy beside the gap");
  expect_near(measurement_window_seconds(&window), 5.4, 1e-9, "time beside the gap");
  for (size_t i = 0; i < window.count; i++)
    assert_true(isnan(window.power_w[i]) || window.power_w[i] <= 100 + 1e-9);
  fixture_end(&fixture);
}

// Just before a gap, a short time stays separate if there is nothing to merge it with.
static void test_gaps_one_after_the_other(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct meter_reading readings[] = {{10, 0, NAN, NAN},
                                           {11, 100, NAN, NAN},
                                           {11.01, 102, NAN, NAN},
                                           {12.01, 200, NAN, NAN},
                                           {12.41, 240, NAN, NAN}};
  const struct measurement_window window = power_readings(readings, 5, false, &fixture.arena);
  static const double expected_s[] = {1, 1.01, 2.01, 2.41}, expected_w[] = {NAN, 200, NAN, 100};
  assert_int_equal(window.count, 4);
  for (size_t i = 0; i < 4; i++) {
    expect_near(window.end_s[i], expected_s[i], 1e-9, "end");
    if (isnan(expected_w[i]))
      assert_true(isnan(window.power_w[i]));
    else
      expect_near(window.power_w[i], expected_w[i], 1e-9, "watts");
  }
  fixture_end(&fixture);
}

// Whatever the intervals are, some of them gaps: every joule outside the gaps is in a mean, and no
// second is lost or counted twice.
static void test_any_readings(void **state) {
  (void)state;
  srandom(3);
  for (int draw = 0; draw < 2000; draw++) {
    struct fixture fixture;
    struct meter_reading readings[MOST] = {{1e5, 7, NAN, NAN}};
    double joules = 0, seconds = 0;
    fixture_start(&fixture);
    const size_t count = 2 + (size_t)random() % 400;
    for (size_t i = 1; i < count; i++) {
      const bool is_gap = random() % 40 == 0;
      const double step_s = is_gap ? 1.2 : 1e-3 * (double)(1 + random() % 200);
      const double used_j = step_s * (double)(random() % 700);
      readings[i] = (struct meter_reading){readings[i - 1].time_s + step_s,
                                           readings[i - 1].joules + used_j, NAN, NAN};
      joules += is_gap ? 0 : used_j;
      seconds += is_gap ? 0 : step_s;
    }
    const struct measurement_window window = power_readings(readings, count, false, &fixture.arena);
    expect_near(window.end_s[window.count - 1], seconds_of(readings, count), 1e-9, "the end");
    expect_near(1 + measurement_window_joules(&window), 1 + joules, 1e-9, "energy");
    expect_near(1 + measurement_window_seconds(&window), 1 + seconds, 1e-9, "time");
    assert_true(window.end_s[0] > 0 && (window.count < 2 || shortest(&window) > 0));
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_joined),
      cmocka_unit_test(test_sensed),
      cmocka_unit_test(test_short_end),
      cmocka_unit_test(test_gap),
      cmocka_unit_test(test_gaps_one_after_the_other),
      cmocka_unit_test(test_any_readings),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
