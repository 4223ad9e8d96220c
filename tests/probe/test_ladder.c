// Which load comes next, depending on the results so far.
#include "model/records/serving.h"
#include "tests/support/fixture.h"

#include "probe/serving/ladder.h"

#include <cmocka.h>
#include <math.h>
#include <stddef.h>

static struct serving_rung closed(double concurrency, double tokens_per_s) {
  struct serving_rung rung = serving_rung_unknown();
  rung.load = LOAD_CLOSED;
  rung.concurrency = concurrency;
  rung.output_tokens = 100;
  rung.output_tokens_per_s = tokens_per_s;
  rung.refused = isnan(tokens_per_s) ? "requests failed" : "";
  return rung;
}

// That many of 100 requests in 10 s met the SLO.
static struct serving_rung arrivals(double rate_per_s, double good) {
  struct serving_rung rung = serving_rung_unknown();
  rung.load = LOAD_POISSON;
  rung.request_rate = rate_per_s;
  rung.completed = 100;
  rung.window_s = 10;
  rung.goodput_per_s = good / rung.window_s;
  rung.refused = isnan(good) ? "requests failed" : "";
  return rung;
}

// Climbs, with the rate that `rate` gives for each concurrency; returns the number of rungs.
static size_t climb(const struct ladder *ladder, double (*rate)(size_t concurrency),
                    struct serving_rung *rungs, size_t room) {
  struct ladder_step step;
  size_t count = 0;
  while (count < room && ladder_next(ladder, rungs, count, &step))
    rungs[count++] = step.load == LOAD_CLOSED
                         ? closed((double)step.concurrency, rate(step.concurrency))
                         : arrivals(step.rate_per_s, 100);
  return count;
}

// ---- doubling

static double of_ten_places(size_t concurrency) {
  return fmin((double)concurrency, 10) * 50;
}

static double without_end(size_t concurrency) {
  return (double)concurrency;
}

static double refused_from_four(size_t concurrency) {
  return concurrency < 4 ? (double)concurrency : NAN;
}

static double nearly_enough(size_t concurrency) {
  return 100 * pow(1.0301, log2((double)concurrency));
}

static double not_enough(size_t concurrency) {
  return 100 * pow(1.0299, log2((double)concurrency));
}

static const struct {
  double (*rate)(size_t concurrency);
  int most;
  size_t count; // of rungs: 1, 2, 4, ...
} doublings[] = {
    {of_ten_places, 1024, 6}, // 16 gave a quarter more than 8, 32 no more
    {without_end, 64, 7},       {without_end, 100, 7},  {without_end, 1, 1},
    {refused_from_four, 64, 3}, {nearly_enough, 64, 7}, {not_enough, 64, 2},
};

static void test_doublings(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof doublings / sizeof doublings[0]; i++) {
    struct serving_rung rungs[MAX_LADDER];
    const struct ladder ladder = {.most = doublings[i].most};
    const size_t count = climb(&ladder, doublings[i].rate, rungs, MAX_LADDER);
    assert_int_equal(count, doublings[i].count);
    assert_true(count <= ladder_most_steps(&ladder));
    for (size_t k = 0; k < count; k++)
      assert_true(rungs[k].concurrency == (double)(1 << k));
  }
}

// ---- what is listed

static void test_a_list_in_its_order(void **state) {
  (void)state;
  struct serving_rung rungs[MAX_LADDER];
  const struct ladder ladder = {
      .concurrencies = {8, 1, 3}, .count = 3, .rates = {2, 0.5}, .rate_count = 2};
  assert_int_equal(ladder_most_steps(&ladder), 5);
  assert_int_equal(climb(&ladder, refused_from_four, rungs, MAX_LADDER), 5);
  assert_true(rungs[0].concurrency == 8 && *rungs[0].refused); // and the others follow nevertheless
  assert_true(rungs[1].concurrency == 1 && rungs[2].concurrency == 3);
  assert_true(rungs[3].request_rate == 2 && rungs[4].request_rate == 0.5);
}

// A run that was interrupted has some of them, in any order.
static void test_what_is_there_is_left_out(void **state) {
  (void)state;
  const struct ladder ladder = {.concurrencies = {1, 2, 4}, .count = 3};
  const struct serving_rung rungs[] = {closed(4, 40), closed(1, 10)};
  struct ladder_step step;
  assert_true(ladder_next(&ladder, rungs, 2, &step));
  assert_true(step.load == LOAD_CLOSED && step.concurrency == 2);
}

// ---- rates as shares of the best

static void test_shares(void **state) {
  (void)state;
  struct serving_rung rungs[MAX_LADDER] = {closed(1, 100), closed(2, 333), closed(4, NAN)};
  const struct ladder ladder = {.concurrencies = {1, 2, 4},
                                .count = 3,
                                .rates = {0.7, 0.9},
                                .rate_count = 2,
                                .rates_are_shares = true};
  struct ladder_step step;
  expect_near(ladder_best_rate(rungs, 3), 3.33, 1e-12, "333 token/s of 100 each");
  assert_true(ladder_next(&ladder, rungs, 3, &step) && step.load == LOAD_POISSON);
  assert_true(step.rate_per_s == 2.33); // with three digits
  rungs[3] = arrivals(step.rate_per_s, 100);
  assert_true(ladder_next(&ladder, rungs, 4, &step) && step.rate_per_s == 3.0);
  rungs[4] = arrivals(step.rate_per_s, 100);
  assert_false(ladder_next(&ladder, rungs, 5, &step));
}

static void test_shares_of_nothing(void **state) {
  (void)state;
  const struct serving_rung rungs[] = {closed(1, NAN)};
  const struct ladder ladder = {
      .concurrencies = {1}, .count = 1, .rates = {0.7}, .rate_count = 1, .rates_are_shares = true};
  struct ladder_step step;
  assert_true(isnan(ladder_best_rate(rungs, 1)));
  assert_false(ladder_next(&ladder, rungs, 1, &step));
}

// ---- goodput

static void test_goodput(void **state) {
  (void)state;
  const struct serving_rung rungs[] = {closed(8, 400), arrivals(1, 100), arrivals(2, 90),
                                       arrivals(3, 89.9), arrivals(4, NAN)};
  assert_true(ladder_goodput(rungs, 5) == 2); // nine of ten meet it
  assert_true(isnan(ladder_goodput(rungs, 1)));
  assert_true(isnan(ladder_goodput(rungs + 3, 2)));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_doublings),
      cmocka_unit_test(test_a_list_in_its_order),
      cmocka_unit_test(test_what_is_there_is_left_out),
      cmocka_unit_test(test_shares),
      cmocka_unit_test(test_shares_of_nothing),
      cmocka_unit_test(test_goodput),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
