// Power over time: the energy of a window, reasons to refuse one, clocks, and the record.
#include "base/arena.h"
#include "tests/support/fixture.h"

#include "base/json_in.h"
#include "base/record_digest.h"
#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_join.h"
#include "model/telemetry/power_record.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

static const double t0 = 1.7e9;

// ---- series for the tests: readings once a second from t0 on

struct made {
  const char *name;
  double power_w, slope_w_per_s; // NAN: none
  double counted_w;              // the power by the counter; NAN: no counter
};

static void add(struct power_series *series, const struct made *made, int from, int to,
                struct arena *arena) {
  for (int i = from; i <= to; i++)
    assert_null(power_series_add(series, made->name, t0 + i,
                                 made->power_w + made->slope_w_per_s * i, 7 + made->counted_w * i,
                                 arena));
}

static struct power_series empty(void) {
  return (struct power_series){.tool = "test",
                               .covers = COVERS_ACCELERATORS,
                               .host = "gpu-7",
                               .clock = clock_state_unknown,
                               .clock_after = clock_state_unknown};
}

static const char *why_of(const struct power_series *series, double start_s, double end_s,
                          struct fixture *fixture) {
  struct power_use use;
  return power_series_use(series, t0 + start_s, t0 + end_s, &use, &fixture->arena);
}

// ---- the energy of a window

// Power that rises linearly: the trapezoid is exact, between readings as well.
static void test_watts_are_integrated(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  const struct made made = {"a", 100, 2, NAN};
  struct power_use use;
  add(&series, &made, 0, 100, &fixture->arena);
  assert_null(power_series_use(&series, t0 + 10.25, t0 + 70.5, &use, &fixture->arena));
  expect_near(use.power_w, 100 + 2 * (10.25 + 70.5) / 2, 1e-9, "watts");
  expect_near(use.energy_j, use.power_w * 60.25, 1e-9, "joules");
  assert_string_equal(use.method, "watts integrated");
}

static void test_counters_of_all_devices_are_added(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  const struct made a = {"a", 303, 0, 300}, b = {"b", 96, 0, 100};
  struct power_use use;
  add(&series, &a, 0, 100, &fixture->arena);
  add(&series, &b, 0, 100, &fixture->arena);
  assert_null(power_series_use(&series, t0 + 10.5, t0 + 70.5, &use, &fixture->arena));
  expect_near(use.power_w, 400, 1e-9, "watts");
  expect_near(use.quietest_w, 100, 1e-9, "the quietest");
  assert_string_equal(use.quietest, "b");
  assert_string_equal(use.method, "energy counters");
}

static void test_counters_and_watts_must_agree(void **state) {
  struct fixture *fixture = *state;
  const struct {
    double power_w;
    const char *fragment;
  } cases[] = {{104.9, NULL}, {105.1, "disagree"}, {94.9, "disagree"}, {95.1, NULL}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct power_series series = empty();
    const struct made made = {"a", cases[i].power_w, 0, 100};
    add(&series, &made, 0, 100, &fixture->arena);
    const char *why = why_of(&series, 10, 70, fixture);
    if (cases[i].fragment)
      expect_why("watts beside a counter", why, cases[i].fragment);
    else
      assert_null(why);
  }
}

static void test_a_window_is_bracketed(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  const struct made made = {"a", 100, 0, NAN};
  add(&series, &made, 0, 100, &fixture->arena);
  assert_null(why_of(&series, 0, 100, fixture));
  expect_why("early", why_of(&series, -12.5, 60, fixture), "begin 12.5 s after the window");
  expect_why("late", why_of(&series, 10, 104.2, fixture), "end 4.2 s before the window does");
  expect_why("after", why_of(&series, 200, 260, fixture), "end 160.0 s before");
  expect_why("before", why_of(&series, -200, -100, fixture), "begin 200.0 s after");
  expect_why("nothing", why_of(&series, 10, 10, fixture), "no length");
}

// A gap within the window, at its beginning, and outside of it.
static void test_gaps(void **state) {
  struct fixture *fixture = *state;
  struct power_series three = empty(), four = empty();
  const struct made made = {"a", 100, 0, NAN};
  add(&three, &made, 0, 20, &fixture->arena);
  add(&three, &made, 23, 100, &fixture->arena);
  assert_null(why_of(&three, 10, 70, fixture));
  add(&four, &made, 0, 20, &fixture->arena);
  add(&four, &made, 24, 100, &fixture->arena);
  expect_why("within", why_of(&four, 10, 70, fixture), "no reading for 4.0 s");
  expect_why("at the edge", why_of(&four, 22, 70, fixture), "no reading for 4.0 s");
  assert_null(why_of(&four, 24, 70, fixture));
}

// A missing value in a reading leaves a gap, like a missing reading.
static void test_blank_readings_are_gaps(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  const struct made made = {"a", 100, 0, NAN}, blank = {"a", NAN, 0, NAN};
  add(&series, &made, 0, 20, &fixture->arena);
  add(&series, &blank, 21, 22, &fixture->arena);
  add(&series, &made, 23, 40, &fixture->arena);
  add(&series, &blank, 41, 43, &fixture->arena);
  add(&series, &made, 44, 100, &fixture->arena);
  assert_null(why_of(&series, 10, 38, fixture));
  expect_why("blanks", why_of(&series, 10, 70, fixture), "no reading for 4.0 s");
}

static void test_a_counter_that_goes_back(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  const struct made made = {"a", NAN, 0, 100};
  add(&series, &made, 0, 20, &fixture->arena);
  power_series_add(&series, "a", t0 + 21, NAN, 1, &fixture->arena);
  expect_why("reset", why_of(&series, 10, 21, fixture), "went backwards");
  assert_null(why_of(&series, 10, 20, fixture));
}

static void test_times_ascend(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  assert_null(power_series_add(&series, "a", t0, 1, NAN, &fixture->arena));
  assert_null(power_series_add(&series, "a", t0, 2, NAN, &fixture->arena));
  assert_int_equal(series.tracks[0].count, 1);
  expect_why("back", power_series_add(&series, "a", t0 - 1.5, 1, NAN, &fixture->arena),
             "goes back by 1.500 s");
}

// GPU-a and GPU-b are on one host, GPU-c and GPU-d on another; d's index is unknown.
static void test_devices_are_selected(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty(), chosen;
  static const char *const names[] = {"GPU-a", "GPU-b", "GPU-c", "GPU-d"}, *const indices[] = {
                                                                               "1", "0", "1", ""};
  for (size_t i = 0; i < 4; i++) {
    const struct made made = {names[i], 100, 0, NAN};
    add(&series, &made, 0, 9, &fixture->arena);
    power_series_track(&series, names[i])->index = indices[i];
  }
  assert_null(power_series_select(&series, "0,GPU-d", &chosen, &fixture->arena));
  assert_int_equal(chosen.count, 2);
  assert_string_equal(chosen.tracks[0].name, "GPU-b");
  static const struct {
    const char *names, *why;
  } refused[] = {{"1", "device '1' is GPU-a or GPU-c: give its name"},
                 {"2", "no device '2' among the 4"},
                 {"", "no device ''"},
                 {"00", "no device '00'"},
                 {"GPU", "no device 'GPU'"},
                 {"0,GPU-b", "device 'GPU-b' is named twice"}};
  for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
    expect_why(refused[i].names,
               power_series_select(&series, refused[i].names, &chosen, &fixture->arena),
               refused[i].why);
}

// Their order in the file is not that of their indices.
static void test_devices_without_an_index(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty(), chosen;
  const struct made a = {"GPU-a", 100, 0, NAN}, b = {"GPU-b", 200, 0, NAN};
  add(&series, &a, 0, 9, &fixture->arena);
  add(&series, &b, 0, 9, &fixture->arena);
  assert_null(power_series_select(&series, "GPU-b", &chosen, &fixture->arena));
  assert_string_equal(chosen.tracks[0].name, "GPU-b");
  expect_why("0", power_series_select(&series, "0", &chosen, &fixture->arena),
             "do not state which device is '0': give its name, such as 'GPU-a'");
  expect_why("b", power_series_select(&series, "b", &chosen, &fixture->arena), "no device 'b'");
}

// ---- joined to a rung

static struct power_join join_of(const struct power_series *series) {
  return (struct power_join){.series = series,
                             .start_s = t0 + 20,
                             .end_s = t0 + 80,
                             .idle_start_s = t0 + 1,
                             .idle_end_s = t0 + 11,
                             .accelerators = 1,
                             .one_clock = true,
                             .stated_offset_s = NAN,
                             .clock = clock_state_unknown,
                             .clock_after = clock_state_unknown};
}

// 70 W before second 15, 400 W from 16 to 84, 70 W from 85 on.
static struct power_series busy(struct fixture *fixture) {
  struct power_series series = empty();
  const struct made idle = {"a", 70, 0, NAN}, load = {"a", 400, 0, NAN};
  add(&series, &idle, 0, 15, &fixture->arena);
  add(&series, &load, 16, 84, &fixture->arena);
  add(&series, &idle, 85, 100, &fixture->arena);
  return series;
}

static void test_a_rung_gets_its_watts(void **state) {
  struct fixture *fixture = *state;
  const struct power_series series = busy(fixture);
  const struct power_join join = join_of(&series);
  const struct serving_power power = power_join(&join, &fixture->arena);
  assert_string_equal(power.source, "test, 1 device: watts integrated");
  expect_near(power.load_power_w, 400, 1e-9, "load");
  expect_near(power.idle_power_w, 70, 1e-9, "idle");
  expect_near(power.energy_j, 24000, 1e-9, "energy");
  assert_true(power.clock_offset_s == 0 && power.devices == 1);
  assert_int_equal(power.covers, COVERS_ACCELERATORS);
}

// Momentary readings of a load that alternates between 200 and 600 W: s = 400 / sqrt(2) by their
// successive differences, so the mean of 6 is uncertain by s / sqrt(6) = 115 W, of 61 by 36 W.
static void test_a_scatter_is_told(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    double seconds;
    double swing_w; // from one reading to the next
    double counted_w;
    const char *remark;
  } cases[] = {
      {5, 400, NAN, "the standard error of their mean is 29 % of it"},
      {60, 400, NAN, "the standard error of their mean is 9.1 % of it"},
      {5, 400, 400, ""}, // a counter misses nothing
      {60, 20, NAN, ""},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct power_series series = empty();
    for (int k = 0; k <= 100; k++)
      assert_null(power_series_add(&series, "a", t0 + k,
                                   400 + (k % 2 ? -0.5 : 0.5) * cases[i].swing_w,
                                   cases[i].counted_w * k, &fixture->arena));
    struct power_join join = join_of(&series);
    join.end_s = join.start_s + cases[i].seconds;
    const struct serving_power power = power_join(&join, &fixture->arena);
    expect_near(power.load_power_w, 400, 1e-9, "the mean");
    if (*cases[i].remark)
      expect_fragment(power.remark, cases[i].remark);
    else
      assert_string_equal(power.remark, "");
  }
}

static void expect_none(const struct power_join *join, const char *fragment,
                        struct fixture *fixture) {
  const struct serving_power power = power_join(join, &fixture->arena);
  assert_memory_equal(power.source, "none: ", 6);
  expect_fragment(power.source, fragment);
  assert_true(isnan(power.load_power_w) && isnan(power.energy_j));
  assert_int_equal(power.covers, COVERS_NOTHING);
}

static void test_what_gives_no_watts(void **state) {
  struct fixture *fixture = *state;
  const struct power_series series = busy(fixture);
  struct power_join join = join_of(&series);
  join.accelerators = 8;
  expect_none(&join, "cover 1 device and the tokens/s 8 accelerators", fixture);
  join = join_of(&series);
  join.end_s = join.start_s + 4;
  expect_none(&join, "4.0 s is too short", fixture);
  join = join_of(&series);
  join.end_s = t0 + 130;
  expect_none(&join, "end 30.0 s before", fixture);
  struct power_series dead = empty();
  const struct made made = {"GPU 3", 1.2, 0, NAN};
  add(&dead, &made, 0, 100, &fixture->arena);
  join = join_of(&dead);
  expect_none(&join, "GPU 3 reportedly draws 1.2 W", fixture);
}

static struct clock_state synchronised(double max_error_s) {
  return (struct clock_state){true, max_error_s, max_error_s / 2, 1e9};
}

// The bounds of both hosts add up. Near the ends of the window, power is constant within 4 s, so
// that only a larger offset changes the energy.
static void test_two_clocks(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = busy(fixture);
  struct power_join join = join_of(&series);
  join.one_clock = false;
  expect_none(&join, "the difference between the two clocks is unknown", fixture);
  join.clock = join.clock_after = synchronised(0.005);
  expect_none(&join, "'gpu-7': the state of its clock is unknown", fixture);
  series.clock = series.clock_after = synchronised(0.02);
  struct serving_power power = power_join(&join, &fixture->arena);
  expect_near(power.clock_offset_s, 0.025, 1e-9, "the bound");
  expect_fragment(power.remark, "'gpu-7' within 20 ms of UTC according to NTP");
  series.clock_after.synchronised = false;
  expect_none(&join, "'gpu-7': its clock was not synchronized", fixture);
  series.clock_after = synchronised(0.02);
  series.clock_after.utc_minus_monotonic_s += 5; // stepped
  expect_none(&join, "the clocks may differ by 5.0", fixture);
  join.stated_offset_s = 0.1;
  assert_true(power_join(&join, &fixture->arena).clock_offset_s == 0.1);
}

// The window ends while power falls: 1 s changes 330 J of 24,000.
static void test_an_offset_that_moves_the_energy(void **state) {
  struct fixture *fixture = *state;
  const struct power_series series = busy(fixture);
  struct power_join join = join_of(&series);
  join.one_clock = false;
  join.end_s = t0 + 84;
  join.stated_offset_s = 0.7;
  assert_true(power_join(&join, &fixture->arena).load_power_w > 0);
  join.stated_offset_s = 0.8;
  expect_none(&join, "could change the energy by 1.0 %", fixture);
}

// For any offset up to the bound, the energy stays within the reported limits.
static void test_the_shift_is_a_bound(void **state) {
  struct fixture *fixture = *state;
  struct power_series series = empty();
  for (int i = 0; i <= 200; i++)
    power_series_add(&series, "a", t0 + i, 300 + 100 * sin(0.7 * i) + 80 * cos(2.1 * i), NAN,
                     &fixture->arena);
  for (int i = 1; i <= 40; i++) {
    struct power_use use, moved;
    const double shift_s = 0.2 * i, start_s = t0 + 20 + i, end_s = start_s + 60;
    assert_null(power_series_use(&series, start_s, end_s, &use, &fixture->arena));
    const double most_j = power_series_shift_j(&series, start_s, end_s, shift_s);
    for (int k = -10; k <= 10; k++) {
      const double by = shift_s * k / 10;
      assert_null(power_series_use(&series, start_s + by, end_s + by, &moved, &fixture->arena));
      assert_true(fabs(moved.energy_j - use.energy_j) <= most_j);
    }
  }
}

// ---- times

static void test_times_as_they_are_written(void **state) {
  (void)state;
  double a, b;
  assert_true(utc_parse("2026-11-22T18:52:29Z", &a));
  assert_true(a == 1795373549);
  assert_true(utc_parse("2026-11-22T20:52:29.25+02:00", &b));
  expect_near(b - a, 0.25, 1e-5, "a zone");
  assert_false(utc_parse("2026-11-22T18:52:29", &b));
  assert_false(utc_parse("2026-02-29T18:52:29Z", &b));
  assert_true(utc_parse_local("2026/11/22 18:52:29.000", &b) && a == b);
  assert_false(utc_parse_local("2026/11/22 18:52:29 CET", &b));
  assert_true(utc_parse_american("11-22-2026 18:52:29.000", false, &b) && a == b);
  assert_true(utc_parse_american("22-11-2026 18:52:29.000", true, &b) && a == b);
  assert_false(utc_parse_american("22-11-2026 18:52:29.000", false, &b));
  assert_true(utc_offset_parse("-03:30", &b) && b == -12600);
  assert_false(utc_offset_parse("2", &b) || utc_offset_parse("", &b) ||
               utc_offset_parse("+25:00", &b));
}

// ---- the record

static void test_a_record_comes_back(void **state) {
  struct fixture *fixture = *state;
  struct power_record record = {.series = busy(fixture),
                                .tool_version = "1",
                                .meters = "a meter",
                                .started = "",
                                .finished = "",
                                .remarks = ""};
  record.series.clock = synchronised(0.01);
  record.series.tracks[0].index = "3";
  const char *path = "build/test_power_series.json";
  assert_int_equal(power_record_write(&record, path, &fixture->arena, &fixture->diagnostics), 0);
  const struct source *source;
  json_t *object = json_in_read(path, "not JSON", &source, &fixture->arena, &fixture->diagnostics);
  unlink(path);
  assert_true(power_record_is_one(object));
  const struct power_record *again =
      power_record_of_json(object, source, &fixture->arena, &fixture->diagnostics);
  expect_error(fixture, path, "");
  assert_non_null(again);
  assert_int_equal(again->series.tracks[0].count, 101);
  assert_string_equal(again->series.tracks[0].index, "3");
  assert_true(again->series.clock.synchronised && !again->series.clock_after.synchronised);
  struct power_join join = join_of(&again->series);
  expect_near(power_join(&join, &fixture->arena).load_power_w, 400, 1e-9, "watts");
  json_object_set_new(object, "remarks", json_string("edited"));
  source = fixture_source(fixture, path, object);
  assert_null(power_record_of_json(object, source, &fixture->arena, &fixture->diagnostics));
  expect_error(fixture, path, "digest does not match");
  json_decref(object);
}

// As an earlier version wrote it, without indices.
static void test_a_record_of_schema_1(void **state) {
  struct fixture *fixture = *state;
  json_t *object =
      json_pack("{s:i, s:s, s:s, s:s, s:s, s:s, s:s, s:{s:s, s:s, s:s, s:{s:b, s:n, s:n, s:n}, "
                "s:{s:b, s:n, s:n, s:n}, s:[{s:s, s:n, s:[f], s:[f], s:[n]}]}}",
                "schema", 1, "record", "power series", "tool_version", "1", "meters", "", "started",
                "", "finished", "", "remarks", "", "series", "tool", "pertoken-probe meter",
                "covers", "accelerators", "host", "gpu-7", "clock", "synchronised", 0,
                "max_error_s", "est_error_s", "utc_minus_monotonic_s", "clock_after",
                "synchronised", 0, "max_error_s", "est_error_s", "utc_minus_monotonic_s", "tracks",
                "name", "GPU-a", "power_limit_w", "time_s", t0, "power_w", 100.0, "energy_j");
  assert_non_null(object);
  json_object_set_new(object, "digest", json_string(record_digest(object, &fixture->arena)));
  const struct source *source = fixture_source(fixture, "schema-1.json", object);
  const struct power_record *record =
      power_record_of_json(object, source, &fixture->arena, &fixture->diagnostics);
  expect_error(fixture, "schema 1", "");
  assert_string_equal(record->series.tracks[0].index, "");
  json_decref(object);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_watts_are_integrated),
      FIXTURE_TEST(test_counters_of_all_devices_are_added),
      FIXTURE_TEST(test_counters_and_watts_must_agree),
      FIXTURE_TEST(test_a_window_is_bracketed),
      FIXTURE_TEST(test_gaps),
      FIXTURE_TEST(test_blank_readings_are_gaps),
      FIXTURE_TEST(test_a_counter_that_goes_back),
      FIXTURE_TEST(test_times_ascend),
      FIXTURE_TEST(test_devices_are_selected),
      FIXTURE_TEST(test_devices_without_an_index),
      FIXTURE_TEST(test_a_rung_gets_its_watts),
      FIXTURE_TEST(test_a_scatter_is_told),
      FIXTURE_TEST(test_what_gives_no_watts),
      FIXTURE_TEST(test_two_clocks),
      FIXTURE_TEST(test_an_offset_that_moves_the_energy),
      FIXTURE_TEST(test_the_shift_is_a_bound),
      FIXTURE_TEST(test_times_as_they_are_written),
      FIXTURE_TEST(test_a_record_comes_back),
      FIXTURE_TEST(test_a_record_of_schema_1),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
