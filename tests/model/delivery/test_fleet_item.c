// What a record says of a device in a fleet.
#include "model/delivery/fleet_item.h"
#include "model/records/measurement_fields.h"
#include "tests/support/example_record.h"
#include "tests/support/fixture.h"

#include <math.h>

// Watts and tokens per second are of the same seconds: under the meter where the record has both,
// with all devices at once where they ran so. The error stays the same share of the rate.
static void test_rate_of_the_watts(void **state) {
  (void)state;
  static const struct {
    double window, together; // token/s; 40 in the samples; NAN: not measured
    double rate;
  } cases[] = {{NAN, NAN, 40}, {32, NAN, 32}, {32, 30, 30}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct measurement_record *record = example_record(&fixture.arena, 1);
    struct measurement *result = &record->results[0];
    result->record = record;
    result->tensor_parallel = measurement_unknown().tensor_parallel;
    result->tokens_per_s = 40;
    result->window_tokens_per_s = cases[i].window;
    result->together.tokens_per_s = cases[i].together;
    record->digest = "";
    const struct fleet_items items = fleet_items_of_measurement(record, "a.json", &fixture.arena);
    assert_int_equal(items.count, 1);
    const double error = (result->ci95_high - result->ci95_low) / 2 / 1.959963984540054 / 40;
    expect_near(items.list[0].run.tokens_per_s, cases[i].rate, 1e-12, "token/s");
    expect_near(items.list[0].run.error, error * cases[i].rate, 1e-12, "its error");
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_rate_of_the_watts)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
