// Other programs' power files: each recognized by its content, and each pitfall of its format.
#include "base/arena.h"
#include "model/telemetry/power_formats.h"
#include "tests/support/fixture.h"

#include "base/source.h"
#include "model/records/serving.h"
#include "model/telemetry/power_read.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"

#include <cmocka.h>
#include <math.h>
#include <stdbool.h>
#include <string.h>
#include <unistd.h>

static struct power_series *read_with(struct fixture *fixture, const char *text,
                                      const struct power_read_options *options) {
  const struct source *source = source_from_text("power", text, &fixture->arena);
  return power_read_source(source, options, &fixture->arena, &fixture->diagnostics);
}

static struct power_series *read_text(struct fixture *fixture, const char *text) {
  const struct power_read_options utc = {0, NAN, NAN};
  return read_with(fixture, text, &utc);
}

static double utc(const char *text) {
  double time_s = NAN;
  assert_true(utc_parse(text, &time_s));
  return time_s;
}

// ---- nvidia-smi

static const char nvidia[] = "timestamp, index, power.draw [W], power.limit [W]\n"
                             "2026/09/11 04:19:41.982, 0, 187.80 W, 700.00 W\n"
                             "2026/09/11 04:19:41.986, 1, 190.96 W, 700.00 W\n"
                             "2026/09/11 04:19:42.990, 0, 912.10 W, 700.00 W\n"
                             "2026/09/11 04:19:42.994, 1, [N/A], 700.00 W\n"
                             "timestamp, index, power.draw [W], power.limit [W]\n"
                             "2026/09/11 04:19:43.990, 0, 930.00 W, 700.00 W\n"
                             "2026/09/11 04:19:43.994, 1, 900 W, 700.00 W\n";

static void test_nvidia_smi(void **state) {
  struct fixture *fixture = *state;
  const struct power_read_options berlin = {7200, NAN, NAN};
  const struct power_series *series = read_with(fixture, nvidia, &berlin);
  expect_error(fixture, "nvidia-smi", "");
  assert_int_equal(series->count, 2);
  assert_int_equal(series->covers, COVERS_ACCELERATORS);
  expect_near(series->tracks[0].time_s[0], utc("2026-09-11T02:19:41.982Z"), 1e-13, "a zone");
  assert_true(series->tracks[0].power_w[1] == 912.1 && isnan(series->tracks[1].power_w[1]));
  assert_int_equal(series->tracks[1].count, 3); // the header between them is not a reading
  assert_true(power_series_limit_w(series) == 700);
}

static void test_nvidia_smi_refused(void **state) {
  struct fixture *fixture = *state;
  const struct {
    const char *text, *fragment;
  } cases[] = {
      {"timestamp, power.draw [W]\n2026/09/11 04:19:41.982, 1 W\n", "identifies the devices"},
      {"index, power.draw [W]\n0, 1 W\n", "no column 'timestamp'"},
      {"timestamp, index, power.draw [W]\n2026/09/11 04:19:41.982, 0, 1870 mW\n",
       "expected watts such as '187.80 W', found '1870 mW'"},
      {"timestamp, index, power.draw [W]\n11.09.2026 04:19, 0, 187 W\n", "expected a time"},
      {"timestamp, index, power.draw [W]\n2026/09/11 04:19:41.982, 0, 187 W\n"
       "2026/09/11 04:19:40.982, 0, 187 W\n",
       "the time of '0' goes back by 1.000 s"},
      {"timestamp, index, power.draw [W]\n2026/09/11 04:19:41.982, 0\n", "expected 3 cells"},
      {"timestamp, index, power.draw [W]\n", "no reading of watts"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_null(read_text(fixture, cases[i].text));
    expect_error(fixture, cases[i].text, cases[i].fragment);
  }
  assert_null(read_with(fixture, nvidia, &power_read_nothing_said));
  expect_error(fixture, nvidia, "the times have no time zone");
}

// The rows are in the order of the UUIDs. The index of GPU-c changes, so that it has none.
static void test_a_uuid_keeps_its_index(void **state) {
  struct fixture *fixture = *state;
  const struct power_series *series = read_text(fixture, "timestamp, index, uuid, power.draw [W]\n"
                                                         "2026/09/11 04:19:41, 1, GPU-a, 100 W\n"
                                                         "2026/09/11 04:19:41, 0, GPU-b, 700 W\n"
                                                         "2026/09/11 04:19:41, 2, GPU-c, 90 W\n"
                                                         "2026/09/11 04:19:42, 1, GPU-a, 100 W\n"
                                                         "2026/09/11 04:19:42, 3, GPU-c, 90 W\n");
  struct power_series chosen;
  assert_null(power_series_select(series, "0,1", &chosen, &fixture->arena));
  assert_string_equal(chosen.tracks[0].name, "GPU-b");
  assert_string_equal(chosen.tracks[1].name, "GPU-a");
  assert_string_equal(series->tracks[2].index, "");
}

// A mean over a second leaves nothing out between readings a second apart; momentary watts are
// taken where there is nothing else.
static void test_means_go_before_momentary_watts(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    const char *head, *row;
    double power_w;
  } cases[] = {
      {"power.draw [W], power.draw.instant [W]", "100 W, 140 W", 100},
      {"power.draw.instant [W], power.draw.average [W]", "690.00 W, 525.00 W", 525},
      {"power.draw [W], power.draw.average [W]", "690.00 W, 525.00 W", 525},
      {"power.draw.instant [W]", "690.00 W", 690},
      {"power.draw.average [W], power.draw [W]", "[N/A], 187.80 W", 187.8},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct power_series *series =
        read_text(fixture, arena_printf(&fixture->arena,
                                        "timestamp, uuid, %s\n2026/09/11 04:19:41.982, GPU-1, %s\n",
                                        cases[i].head, cases[i].row));
    expect_near(series->tracks[0].power_w[0], cases[i].power_w, 0, cases[i].head);
    assert_string_equal(series->tracks[0].name, "GPU-1");
  }
}

// ---- amd-smi

static void test_amd_smi(void **state) {
  struct fixture *fixture = *state;
  const struct power_series *series = read_with(fixture,
                                                "timestamp,gpu,gfx_activity,socket_power\n"
                                                "1789515524,0,0,288\n1789515524,1,0,290 W\n"
                                                "1789515525,0,95,1180\n1789515525,1,95,N/A\n",
                                                &power_read_nothing_said);
  expect_error(fixture, "amd-smi", "");
  assert_int_equal(series->count, 2);
  assert_true(series->tracks[0].power_w[1] == 1180 && isnan(series->tracks[1].power_w[1]));
  assert_true(series->tracks[1].power_w[0] == 290);
  assert_string_equal(series->tracks[1].index, "1");
  assert_null(read_text(fixture, "gpu,socket_power\n0,288\n"));
  expect_error(fixture, "no times", "no column 'timestamp'");
}

// A GPU in two partitions, and one that is whole.
static void test_amd_smi_monitor(void **state) {
  struct fixture *fixture = *state;
  const struct power_series *series = read_with(fixture,
                                                "timestamp,gpu,xcp,power_usage,gfx_clk\n"
                                                "1789515524,0,0,650,2100\n1789515524,0,1,N/A,2100\n"
                                                "1789515524,1,0,288,120\n"
                                                "1789515525,0,0,660,2100\n1789515525,0,1,N/A,2100\n"
                                                "1789515525,1,0,290,120\n",
                                                &power_read_nothing_said);
  expect_error(fixture, "amd-smi monitor", "");
  assert_int_equal(series->count, 2);
  assert_int_equal(series->tracks[0].count, 2);
  assert_true(series->tracks[0].power_w[1] == 660 && series->tracks[1].power_w[1] == 290);
}

// ---- MLPerf

static const char spl[] = "Time,03-04-2024 10:21:51.496,Watts,23.43,Volts,228.37\r\n"
                          "\n"
                          "Time,03-04-2024 10:21:52.505,Watts,-1.0,Volts,228.40\n"
                          "Time,03-04-2024 10:21:53.514,Watts,41.33,Volts,228.37,Mark,x\n";

static void test_spl_is_decided_by_the_window(void **state) {
  struct fixture *fixture = *state;
  const double march = utc("2024-03-04T10:21:51Z"), april = utc("2024-04-03T10:21:51Z");
  const struct power_read_options in_march = {NAN, march, march + 2},
                                  in_april = {NAN, april, april + 2},
                                  in_may = {NAN, 1.715e9, 1.715e9 + 60};
  const struct power_series *series = read_with(fixture, spl, &in_march);
  expect_error(fixture, spl, "");
  assert_int_equal(series->covers, COVERS_NODE);
  expect_near(series->tracks[0].time_s[0], march + 0.496, 1e-13, "month first");
  assert_true(isnan(series->tracks[0].power_w[1]) && series->tracks[0].power_w[2] == 41.33);
  series = read_with(fixture, spl, &in_april);
  expect_near(series->tracks[0].time_s[0], april + 0.496, 1e-13, "day first");
  assert_null(read_with(fixture, spl, &in_may));
  expect_error(fixture, spl, "month-day or day-month");
}

static void test_spl_whose_dates_decide(void **state) {
  struct fixture *fixture = *state;
  const struct power_series *series =
      read_text(fixture, "Time,23-12-2020 10:21:51.496,Watts,23.43,Volts,228.37\n");
  expect_near(series->tracks[0].time_s[0], utc("2020-12-23T10:21:51.496Z"), 1e-13, "day first");
  assert_non_null(read_text(fixture, "Time,04-04-2024 10:21:51.496,Watts,23.43,Volts,1\n"));
  assert_null(
      read_text(fixture, "Time,12-23-2020 10:21:51.496,Watts,1,Volts,1\nTime,12-23-2020 10"));
  expect_error(fixture, "a cut line", "expected 'Time,MM-DD-YYYY");
}

static void test_the_window_of_a_log(void **state) {
  struct fixture *fixture = *state;
  double start_s, end_s;
  const struct source *log = source_from_text(
      "mlperf_log_detail.txt",
      ":::MLLOG {\"key\": \"power_begin\", \"value\": \"12-23-2020 10:21:53.000\", \"x\": 1}\n"
      ":::MLLOG {\"key\": \"power_end\", \"value\": \"12-23-2020 10:23:59.500\", \"x\": 2}\n",
      &fixture->arena);
  assert_true(mlperf_power_window(log, &start_s, &end_s));
  expect_near(start_s, utc("2020-12-23T10:21:53Z"), 1e-13, "begin");
  expect_near(end_s - start_s, 126.5, 1e-9, "length");
  assert_false(
      mlperf_power_window(source_from_text("x", "power_begin", &fixture->arena), &start_s, &end_s));
}

// ---- dcgm-exporter

static const char *range(struct fixture *fixture, const char *results) {
  return arena_printf(&fixture->arena,
                      "{\"status\": \"success\", \"data\": {\"resultType\": \"matrix\", "
                      "\"result\": [%s]}}",
                      results);
}

static const char *result(struct fixture *fixture, const char *name, const char *labels,
                          const char *values) {
  return arena_printf(&fixture->arena, "{\"metric\": {\"__name__\": \"%s\", %s}, \"values\": [%s]}",
                      name, labels, values);
}

// Without a UUID a device is a host's number; the exporter's label for the host has had two names.
static void test_dcgm_numbers_of_two_hosts(void **state) {
  struct fixture *fixture = *state;
  static const char *const names[] = {"Hostname", "hostname"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const char *results = "";
    for (int host = 1; host <= 2; host++)
      results = arena_printf(
          &fixture->arena, "%s%s%s", results, host > 1 ? ", " : "",
          result(fixture, "DCGM_FI_DEV_POWER_USAGE",
                 arena_printf(&fixture->arena, "\"gpu\": \"0\", \"%s\": \"n%d\"", names[i], host),
                 "[100, \"300\"], [101, \"301\"]"));
    const struct power_series *series = read_text(fixture, range(fixture, results));
    expect_error(fixture, names[i], "");
    assert_int_equal(series->count, 2);
  }
}

static void test_dcgm_watts_and_millijoules(void **state) {
  struct fixture *fixture = *state;
  const char *labels = "\"UUID\": \"GPU-1\", \"gpu\": \"0\", \"Hostname\": \"n1\"";
  const char *text = range(
      fixture, arena_printf(&fixture->arena, "%s, %s",
                            result(fixture, "DCGM_FI_DEV_POWER_USAGE", labels,
                                   "[100, \"300.1\"], [101, \"301.2\"], [102, \"302.3\"]"),
                            result(fixture, "DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", labels,
                                   "[100, \"5000000\"], [101, \"5300000\"], [102, \"5600000\"]")));
  const struct power_series *series = read_text(fixture, text);
  struct power_use use;
  expect_error(fixture, text, "");
  assert_int_equal(series->count, 1);
  assert_string_equal(series->host, "n1");
  assert_null(power_series_use(series, 100, 102, &use, &fixture->arena));
  expect_near(use.energy_j, 600, 1e-9, "joules");
  assert_string_equal(use.method, "energy counters");
}

// Prometheus sorts the series by their labels, so the UUIDs decide. Each of two hosts has a GPU 0.
static void test_dcgm_takes_the_label_for_the_index(void **state) {
  struct fixture *fixture = *state;
  static const struct {
    const char *labels, *watts;
  } made[] = {{"\"UUID\": \"GPU-a\", \"gpu\": \"3\", \"Hostname\": \"n1\"", "[100, \"100\"]"},
              {"\"UUID\": \"GPU-b\", \"gpu\": \"0\", \"Hostname\": \"n1\"", "[100, \"700\"]"},
              {"\"UUID\": \"GPU-c\", \"gpu\": \"0\", \"Hostname\": \"n2\"", "[100, \"90\"]"},
              {"\"UUID\": \"GPU-d\", \"gpu\": \"1\", \"Hostname\": \"n2\"", "[100, \"90\"]"},
              {"\"UUID\": \"GPU-d\", \"gpu\": \"2\", \"Hostname\": \"n2\"", "[101, \"90\"]"}};
  const char *results = "";
  for (size_t i = 0; i < sizeof made / sizeof made[0]; i++)
    results =
        arena_printf(&fixture->arena, "%s%s%s", results, i ? ", " : "",
                     result(fixture, "DCGM_FI_DEV_POWER_USAGE", made[i].labels, made[i].watts));
  const struct power_series *series = read_text(fixture, range(fixture, results));
  struct power_series chosen;
  assert_null(power_series_select(series, "3", &chosen, &fixture->arena));
  assert_string_equal(chosen.tracks[0].name, "GPU-a");
  expect_why("two hosts", power_series_select(series, "0", &chosen, &fixture->arena),
             "device '0' is GPU-b or GPU-c");
  expect_why("changed", power_series_select(series, "1", &chosen, &fixture->arena),
             "no device '1'");
}

// Integers, 64-bit floating-point values, and their forms in JSON: all are blank.
static void test_dcgm_blanks(void **state) {
  struct fixture *fixture = *state;
  const char *text = range(
      fixture, result(fixture, "DCGM_FI_DEV_POWER_USAGE", "\"gpu\": \"0\"",
                      "[100, \"300.1\"], [101, \"9223372036854775794\"], [102, "
                      "\"140737488355328\"], [103, \"9.223372036854776e+18\"], [104, \"NaN\"], "
                      "[105, \"301\"]"));
  const struct power_series *series = read_text(fixture, text);
  expect_error(fixture, text, "");
  assert_int_equal(series->tracks[0].count, 2);
  struct power_use use;
  expect_why(text, power_series_use(series, 100, 105, &use, &fixture->arena), "for 5.0 s");
}

// Seven instances of a board, and a board whose pod's name changed.
static void test_dcgm_counts_a_board_once(void **state) {
  struct fixture *fixture = *state;
  const char *results = "";
  for (int i = 0; i < 7; i++)
    results = arena_printf(
        &fixture->arena, "%s%s", results,
        result(fixture, "DCGM_FI_DEV_POWER_USAGE",
               arena_printf(&fixture->arena,
                            "\"UUID\": \"GPU-1\", \"gpu\": \"0\", \"GPU_I_ID\": \"%d\"", i),
               "[100, \"300\"], [101, \"310\"]"));
  results =
      arena_printf(&fixture->arena, "%s, %s, %s", results,
                   result(fixture, "DCGM_FI_DEV_POWER_USAGE", "\"UUID\": \"GPU-2\", \"pod\": \"b\"",
                          "[102, \"120\"]"),
                   result(fixture, "DCGM_FI_DEV_POWER_USAGE", "\"UUID\": \"GPU-2\", \"pod\": \"a\"",
                          "[100, \"100\"], [101, \"110\"]"));
  char *commas = arena_copy(&fixture->arena, results);
  const char *joined = "";
  for (char *at = strstr(commas, "}{"); at; at = strstr(commas, "}{")) {
    *at = '\0';
    joined = arena_printf(&fixture->arena, "%s%s}, ", joined, commas);
    commas = at + 1;
  }
  const struct power_series *series =
      read_text(fixture, range(fixture, arena_printf(&fixture->arena, "%s%s", joined, commas)));
  expect_error(fixture, joined, "");
  assert_int_equal(series->count, 2);
  assert_int_equal(series->tracks[0].count, 2);
  assert_int_equal(series->tracks[1].count, 3);
  assert_true(series->tracks[1].power_w[2] == 120);
}

// Prometheus repeats the last scrape at every step: that is not one reading per second.
static void test_a_step_finer_than_the_scraping(void **state) {
  struct fixture *fixture = *state;
  const char *values = "";
  for (int i = 0; i < 60; i++)
    values = arena_printf(&fixture->arena, "%s%s[%d, \"%d\"]", values, i ? ", " : "", 100 + i,
                          300 + i / 15);
  const struct power_series *series = read_text(
      fixture,
      range(fixture, result(fixture, "DCGM_FI_DEV_POWER_USAGE", "\"gpu\": \"0\"", values)));
  struct power_use use;
  assert_int_equal(series->tracks[0].count, 4);
  expect_why(values, power_series_use(series, 110, 140, &use, &fixture->arena), "for 15.0 s");
}

static void test_prometheus_refused(void **state) {
  struct fixture *fixture = *state;
  const struct {
    const char *text, *fragment;
  } cases[] = {
      {"{\"status\": \"error\", \"errorType\": \"bad_data\", \"error\": "
       "\"DCGM_FI_DEV_POWER_USAGE\"}",
       "answered with an error"},
      {"{\"status\": \"success\", \"data\": {\"resultType\": \"vector\", \"result\": "
       "[\"DCGM_FI_DEV_POWER_USAGE\"]}}",
       "found \"vector\""},
      {range(fixture, "{\"metric\": {\"__name__\": \"DCGM_FI_DEV_POWER_USAGE\"}, \"values\": []}"),
       "without the labels 'UUID' or 'gpu'"},
      {range(fixture, result(fixture, "DCGM_FI_DEV_POWER_USAGE", "\"gpu\": \"0\"",
                             "[101, \"1\"], [100, \"1\"]")),
       "are not ascending at value 2"},
      {range(fixture, result(fixture, "DCGM_FI_DEV_POWER_USAGE", "\"gpu\": \"0\"", "[101, 1]")),
       "is not [seconds, \"number\"]"},
      {"{\"status\": 1}", "not a known power file format: tried pertoken-probe meter, MLPerf"},
      {"hello\n", "not a known power file format"},
      {"", "not a known power file format"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    assert_null(read_text(fixture, cases[i].text));
    expect_error(fixture, cases[i].text, cases[i].fragment);
  }
}

static void test_dcgm_text(void **state) {
  struct fixture *fixture = *state;
  const char *text = "# HELP DCGM_FI_DEV_POWER_USAGE Power draw (in W).\n"
                     "# TYPE DCGM_FI_DEV_POWER_USAGE gauge\n"
                     "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-1\",model=\"an \\\"H100\\\", "
                     "{x}\"} 71.9 100000\n"
                     "DCGM_FI_DEV_GPU_TEMP{gpu=\"0\",UUID=\"GPU-1\"} 33 100000\n"
                     "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\",UUID=\"GPU-1\",model=\"an \\\"H100\\\", "
                     "{x}\"} 72.9 101000\n";
  const struct power_series *series = read_text(fixture, text);
  expect_error(fixture, text, "");
  assert_int_equal(series->count, 1);
  assert_true(series->tracks[0].time_s[1] == 101 && series->tracks[0].power_w[1] == 72.9);
  assert_null(read_text(fixture, "DCGM_FI_DEV_POWER_USAGE{gpu=\"0\"} 71.9\n"));
  expect_error(fixture, "one scrape", "a scrape without timestamps covers one moment only");
}

// ---- real files, if there are any

static struct power_series *read_sample(struct fixture *fixture, const char *path,
                                        const struct power_read_options *options) {
  if (access(path, R_OK) != 0) {
    print_message("[  SKIPPED ] no %s here\n", path);
    skip();
  }
  struct power_series *series = power_read(path, options, &fixture->arena, &fixture->diagnostics);
  expect_error(fixture, path, "");
  assert_non_null(series);
  return series;
}

// The mean of the samples within the window, as MLPerf's submission checker computes it, compared
// with ours.
static void test_mlperf_sample(void **state) {
  struct fixture *fixture = *state;
  const struct power_series *series =
      read_sample(fixture, "../shared/samples/mlperf_power/spl.txt", &power_read_nothing_said);
  const struct power_track *track = &series->tracks[0];
  const double start_s = utc("2020-12-23T10:21:55Z"), end_s = utc("2020-12-23T10:23:55Z");
  double sum = 0, count = 0;
  for (size_t i = 0; i < track->count; i++)
    if (track->time_s[i] > start_s && track->time_s[i] < end_s) {
      sum += track->power_w[i];
      count++;
    }
  struct power_use use;
  assert_null(power_series_use(series, start_s, end_s, &use, &fixture->arena));
  expect_near(use.power_w, sum / count, 1e-3, "the mean of MLPerf's checker");
  assert_true(use.power_w > 35 && use.power_w < 50);
}

static void test_smi_samples(void **state) {
  struct fixture *fixture = *state;
  const struct power_read_options options = {0, NAN, NAN};
  const struct power_series *series =
      read_sample(fixture, "../shared/samples/smi/nvidia-smi_query-gpu_inferencex.csv", &options);
  assert_true(series->count == 2 && series->tracks[0].count == 3);
  assert_true(series->tracks[0].power_w[2] == 930);
  series = read_sample(fixture, "../shared/samples/smi/amd-smi_metric_watch_inferencex.csv",
                       &power_read_nothing_said);
  assert_true(series->count == 2 && series->tracks[0].power_w[1] == 1180);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_nvidia_smi),
      FIXTURE_TEST(test_nvidia_smi_refused),
      FIXTURE_TEST(test_a_uuid_keeps_its_index),
      FIXTURE_TEST(test_means_go_before_momentary_watts),
      FIXTURE_TEST(test_amd_smi),
      FIXTURE_TEST(test_amd_smi_monitor),
      FIXTURE_TEST(test_spl_is_decided_by_the_window),
      FIXTURE_TEST(test_spl_whose_dates_decide),
      FIXTURE_TEST(test_the_window_of_a_log),
      FIXTURE_TEST(test_dcgm_numbers_of_two_hosts),
      FIXTURE_TEST(test_dcgm_watts_and_millijoules),
      FIXTURE_TEST(test_dcgm_takes_the_label_for_the_index),
      FIXTURE_TEST(test_dcgm_blanks),
      FIXTURE_TEST(test_dcgm_counts_a_board_once),
      FIXTURE_TEST(test_a_step_finer_than_the_scraping),
      FIXTURE_TEST(test_prometheus_refused),
      FIXTURE_TEST(test_dcgm_text),
      FIXTURE_TEST(test_mlperf_sample),
      FIXTURE_TEST(test_smi_samples),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
