// What a window reports about requests that are written down here, so that every figure is known.
#include "tests/support/fixture.h"

#include "probe/serving/window.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// A window of 10 s, from 100 s on.
static const double from_s = 100, until_s = 110;

static struct load_sample request(double sent_s, double first_s, double last_s, long prompt,
                                  long completion) {
  return (struct load_sample){.scheduled_s = sent_s,
                              .sent_s = sent_s,
                              .first_s = first_s,
                              .last_s = last_s,
                              .end_s = last_s,
                              .usage = {prompt, completion, -1, false},
                              .chunks = 10,
                              .window_chunks = 10,
                              .receipts = 10};
}

struct trial {
  struct fixture fixture;
  struct load load;
  struct load_result result;
  struct serving_rung rung;
};

static void trial_start(struct trial *trial, struct load_sample *samples, size_t count) {
  fixture_start(&trial->fixture);
  trial->load = (struct load){.kind = LOAD_CLOSED, .concurrency = 2};
  trial->result = (struct load_result){.samples = samples,
                                       .count = count,
                                       .window_from_s = from_s,
                                       .window_until_s = until_s,
                                       .cpu_s = 2.5,
                                       .utc_offset_s = 1700000000};
}

static void trial_judge(struct trial *trial, struct slo slo) {
  assert_true(window_rung(&trial->load, &trial->result, slo, &trial->rung, &trial->fixture.arena));
}

static const struct slo no_slo = {NAN, NAN};

// Of a request that extends over an edge, the window counts the tokens of the chunks within it, and
// the same share of the input.
static void test_edges(void **state) {
  (void)state;
  struct load_sample samples[] = {
      request(96, 98, 104, 800, 50),    // 4 of 10 chunks, in half its time
      request(104, 105, 109, 400, 30),  // all of it
      request(109, 110, 119, 1000, 70), // 1 of 10 chunks
      request(90, 92, 99, 5000, 500),   // nothing
  };
  struct trial trial;
  samples[0].window_chunks = 4;
  samples[2].window_chunks = 1;
  samples[3].window_chunks = 0;
  trial_start(&trial, samples, 4);
  trial_judge(&trial, no_slo);
  expect_near(trial.rung.output_tokens_per_s, (50 * 0.4 + 30 + 70 * 0.1) / 10, 1e-12, "output");
  expect_near(trial.rung.input_tokens_per_s, (800 * 0.4 + 400 + 1000 * 0.1) / 10, 1e-12, "input");
  expect_near(trial.rung.mean_concurrency, (4 + 5 + 1) / 10., 1e-12, "in flight");
  assert_true(trial.rung.completed == 2); // the first two ended in it
  expect_near(trial.rung.ttft.mean_s, (2 + 1) / 2., 1e-12, "TTFT");
  expect_near(trial.rung.tpot.mean_s, (6 / 49. + 4 / 29.) / 2, 1e-12, "TPOT");
  expect_near(trial.rung.end_to_end.mean_s, (8 + 5) / 2., 1e-12, "end to end");
  expect_near(trial.rung.input_tokens, 600, 1e-12, "input of a request");
  expect_near(trial.rung.output_tokens, 40, 1e-12, "output of a request");
  expect_near(trial.rung.client_cpu_share, 0.25, 1e-12, "client");
  assert_true(trial.rung.concurrency == 2 && isnan(trial.rung.request_rate));
  assert_string_equal(trial.rung.started, "2023-11-14T22:15:00Z");
  assert_string_equal(trial.rung.finished, "2023-11-14T22:15:10Z");
  fixture_end(&trial.fixture);
}

// Requests that wait for the whole window, and are answered after it, add no input.
static void test_prompts_that_wait(void **state) {
  (void)state;
  struct load_sample samples[12];
  struct trial trial;
  for (size_t i = 0; i < 12; i++)
    samples[i] = request(100 + 0.5 * (double)i, 107, 109, 640, 320);
  for (size_t i = 4; i < 12; i++) {
    samples[i].first_s = 200 + (double)i;
    samples[i].last_s = samples[i].end_s = 202 + (double)i;
    samples[i].window_chunks = 0;
  }
  trial_start(&trial, samples, 12);
  trial.load.kind = LOAD_POISSON;
  trial.load.rate_per_s = 2;
  trial_judge(&trial, no_slo);
  expect_near(trial.rung.output_tokens_per_s, 4 * 320 / 10., 1e-12, "output");
  expect_near(trial.rung.input_tokens_per_s, 4 * 640 / 10., 1e-12, "input");
  fixture_end(&trial.fixture);
}

// Of one request: when its text began and ended, in how many pieces, and whether that gives a TPOT.
static void test_text_at_once(void **state) {
  (void)state;
  static const struct {
    double first_s, last_s;
    size_t receipts;
    bool has_tpot;
  } cases[] = {{102, 103, 10, true},       {103, 103, 1, false},
               {102, 103, 1, false},       // one piece of text, then tokens without any
               {103, 103.0017, 7, false},  // a finished answer in several pieces: 0.05 ms a token
               {101.02, 101.022, 9, true}, // as fast, but of 22 ms: a fast engine
               {108, 108.01, 9, true}};    // 0.3 ms a token after 7 s of waiting
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct load_sample sample = request(101, cases[i].first_s, cases[i].last_s, 10, 32);
    struct trial trial;
    sample.receipts = cases[i].receipts;
    trial_start(&trial, &sample, 1);
    trial_judge(&trial, (struct slo){NAN, 1});
    assert_true(trial.rung.tpot_requests == cases[i].has_tpot);
    assert_int_equal(!isnan(trial.rung.tpot.mean_s), cases[i].has_tpot);
    assert_int_equal(!isnan(trial.rung.goodput_per_s), cases[i].has_tpot);
    if (cases[i].has_tpot)
      expect_near(trial.rung.tpot.mean_s, (cases[i].last_s - cases[i].first_s) / 31, 1e-9, "TPOT");
    fixture_end(&trial.fixture);
  }
}

// Latency counts from the schedule, and the window includes what was scheduled in it.
static void test_open_loop(void **state) {
  (void)state;
  struct load_sample samples[] = {
      request(101, 102, 103, 10, 11), request(109, 111, 112, 10, 11), // ends after the window
      request(99, 100, 101, 10, 11),                                  // ends in it
  };
  struct trial trial;
  samples[0].sent_s = 101.5;
  trial_start(&trial, samples, 3);
  trial.load.kind = LOAD_POISSON;
  trial.load.rate_per_s = 0.25;
  trial_judge(&trial, no_slo);
  assert_true(trial.rung.completed == 2 && trial.rung.request_rate == 0.25);
  assert_true(isnan(trial.rung.concurrency));
  expect_near(trial.rung.ttft.mean_s, (1 + 2) / 2., 1e-12, "TTFT");
  expect_near(trial.rung.end_to_end.mean_s, (2 + 3) / 2., 1e-12, "end to end");
  fixture_end(&trial.fixture);
}

static void test_goodput(void **state) {
  (void)state;
  struct load_sample samples[] = {
      request(101, 102, 103, 10, 11), // 1 s, 0.1 s
      request(102, 104, 105, 10, 11), // 2 s, 0.1 s
      request(103, 104, 107, 10, 11), // 1 s, 0.3 s
      request(103, 104, 104, 10, 1),  // 1 s, of one token
      request(103, 104, 104, 10, 11), // 1 s, all at once
      request(103, 104, 105, 10, 11), // 1 s, of which the text may be few tokens
  };
  struct trial trial;
  samples[4].receipts = 1;
  samples[5].usage.hides_tokens = true;
  trial_start(&trial, samples, 6);
  const struct {
    struct slo slo;
    double good;
  } cases[] = {{{1, 0.1 + 1e-9}, 2}, {{2, 0.1 + 1e-9}, 3}, {{1, NAN}, 5},
               {{NAN, 0.2}, 3},      {{2, 0.3 + 1e-9}, 4}, {{0.5, NAN}, 0}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    trial_judge(&trial, cases[i].slo);
    expect_near(trial.rung.goodput_per_s, cases[i].good / 10, 1e-12, "goodput");
  }
  trial_judge(&trial, no_slo);
  assert_true(isnan(trial.rung.goodput_per_s));
  fixture_end(&trial.fixture);
}

// Requests of one token have no TPOT: a minority of the others neither gives one nor judges an SLO.
static void test_requests_without_tpot(void **state) {
  (void)state;
  static const struct {
    size_t without; // of 8
    bool speaks;
    const char *words;
  } cases[] = {{0, true, ""},
               {4, true, "4 of 8 requests have no time per output token"},
               {5, false, "no TPOT is given, and no SLO of it is met"},
               {8, false, "8 of 8 requests"}};
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    struct load_sample samples[8];
    struct trial trial;
    for (size_t i = 0; i < 8; i++)
      samples[i] = request(101, 102, 103, 10, i < cases[c].without ? 1 : 11);
    trial_start(&trial, samples, 8);
    trial_judge(&trial, (struct slo){2, 0.2});
    assert_true(trial.rung.tpot_requests == 8 - (double)cases[c].without);
    assert_int_equal(!isnan(trial.rung.tpot.p50_s), cases[c].speaks);
    assert_int_equal(!isnan(trial.rung.goodput_per_s), cases[c].speaks);
    expect_fragment(serving_untold(&trial.rung, &trial.fixture.arena), cases[c].words);
    trial_judge(&trial, (struct slo){2, NAN});
    expect_near(trial.rung.goodput_per_s, 0.8, 1e-12, "an SLO of TTFT alone");
    fixture_end(&trial.fixture);
  }
}

// Requests that failed or reported nothing add nothing, and are counted.
static void test_what_does_not_count(void **state) {
  (void)state;
  struct load_sample samples[] = {
      request(101, 102, 103, 10, 20), request(101, 102, 104, 12, 18),
      request(101, 102, 104, -1, -1), // no usage
      request(101, NAN, NAN, 10, 20), // no text
      request(101, 102, 104, 99, 99), // failed
      request(101, 102, NAN, 99, -1), // truncated
  };
  struct trial trial;
  samples[3].chunks = samples[3].window_chunks = 0;
  samples[3].end_s = 105;
  samples[4].failure = "gone";
  samples[5].end_s = NAN;
  samples[0].usage.cached_tokens = 5;
  trial_start(&trial, samples, 6);
  trial.result.failed = 1;
  trial_judge(&trial, no_slo);
  expect_near(trial.rung.output_tokens_per_s, (20 + 18 + 20) / 10., 1e-12, "output");
  expect_near(trial.rung.cached_share, 5 / 32., 1e-12, "cached");
  assert_true(trial.rung.completed == 4 && trial.rung.failed == 1);
  expect_near(trial.rung.ttft.mean_s, 1, 1e-12, "TTFT");
  const struct window_requests found = window_requests(&trial.load, &trial.result);
  assert_int_equal(found.completed, 4);
  assert_int_equal(found.without_usage, 1);
  assert_int_equal(found.without_text, 1);
  assert_int_equal(found.without_cached, 3);
  assert_int_equal(found.least_output, 18);
  assert_int_equal(found.most_output, 20);
  assert_int_equal(found.least_input, 10);
  assert_int_equal(found.most_input, 12);
  fixture_end(&trial.fixture);
}

// TTFT of 1 to `count` ms.
static void expect_percentiles(size_t count, bool p90, bool p95, bool p99) {
  struct load_sample *samples = calloc(count, sizeof *samples);
  struct trial trial;
  for (size_t i = 0; i < count; i++)
    samples[i] = request(101, 101 + 1e-3 * (double)(count - i), 109, 10, 11);
  trial_start(&trial, samples, count);
  trial_judge(&trial, no_slo);
  const struct serving_latency *ttft = &trial.rung.ttft;
  const double n = (double)count;
  expect_near(ttft->p50_s, 1e-3 * (1 + 0.50 * (n - 1)), 1e-9, "P50");
  assert_true(isnan(ttft->p90_s) != p90 && isnan(ttft->p95_s) != p95 && isnan(ttft->p99_s) != p99);
  if (p99) {
    expect_near(ttft->p90_s, 1e-3 * (1 + 0.90 * (n - 1)), 1e-9, "P90");
    expect_near(ttft->p99_s, 1e-3 * (1 + 0.99 * (n - 1)), 1e-9, "P99");
    expect_near(ttft->std_s, 1e-3 * sqrt(n * (n + 1) / 12), 1e-9, "deviation");
  }
  fixture_end(&trial.fixture);
  free(samples);
}

static void test_percentiles(void **state) {
  (void)state;
  expect_percentiles(63, false, false, false);
  expect_percentiles(64, true, false, false);
  expect_percentiles(130, true, true, false);
  expect_percentiles(661, true, true, false);
  expect_percentiles(662, true, true, true);
}

static void test_no_window(void **state) {
  (void)state;
  struct trial trial;
  struct load_sample sample = request(101, 102, 103, 10, 11);
  trial_start(&trial, &sample, 1);
  trial.result.window_until_s = NAN;
  assert_false(window_rung(&trial.load, &trial.result, no_slo, &trial.rung, &trial.fixture.arena));
  fixture_end(&trial.fixture);
}

// A bin is 1.1 % wide: its middle is within 0.6 %.
static void test_gaps(void **state) {
  (void)state;
  static struct gaps gaps;
  assert_true(isnan(gaps_mean(&gaps)) && isnan(gaps_quantile(&gaps, 0.5)));
  for (int i = 1; i <= 1001; i++)
    gaps_add(&gaps, 1e-4 * i);
  expect_near(gaps_mean(&gaps), 1e-4 * 501, 1e-9, "mean");
  expect_near(gaps_deviation(&gaps), 1e-4 * sqrt((1001. * 1001 - 1) / 12), 1e-6, "deviation");
  expect_near(gaps_quantile(&gaps, 0.5), 1e-4 * 501, 0.0065, "P50");
  expect_near(gaps_quantile(&gaps, 0.99), 1e-4 * 991, 0.0065, "P99");
  expect_near(gaps_quantile(&gaps, 0), 1e-4, 0.0065, "least");
  gaps_add(&gaps, 0);
  gaps_add(&gaps, 1e9); // beyond the bins
  expect_near(gaps_quantile(&gaps, 0.5), 1e-4 * 501, 0.0065, "P50 still");
  assert_true(gaps_quantile(&gaps, 1) > 3600);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_edges),
      cmocka_unit_test(test_prompts_that_wait),
      cmocka_unit_test(test_text_at_once),
      cmocka_unit_test(test_open_loop),
      cmocka_unit_test(test_goodput),
      cmocka_unit_test(test_requests_without_tpot),
      cmocka_unit_test(test_what_does_not_count),
      cmocka_unit_test(test_percentiles),
      cmocka_unit_test(test_no_window),
      cmocka_unit_test(test_gaps),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
