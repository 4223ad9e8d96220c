// What a delay costs, by hand; amounts of some 1e6 USD are rounded at 1e-10.
#include "tests/support/fixture.h"

#include "model/simulate/delay_damages.h"

static void test_cost(void **state) {
  (void)state;
  static const struct {
    double unpaid, tokens, on_time, cost;
  } cases[] = {
      {1000, 2000, 0.4, 200},           // 0.5 instead of 0.4 for each of 2,000
      {1000, 2000, 0.5, 0},             // as cheap as on time
      {1000, 2000, 0.6, 0},             // cheaper
      {3e6 * (1 + 2e-16), 3e6, 1, 0},   // no more than rounding
      {3e6 * (1 + 1e-9), 3e6, 1, 3e-3}, // a real difference, however small
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const double cost = delay_cost(cases[i].unpaid, cases[i].tokens, cases[i].on_time);
    if (cases[i].cost == 0)
      assert_true(cost == 0);
    else
      expect_near(cost, cases[i].cost, 1e-6, "a delay's cost");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_cost)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
