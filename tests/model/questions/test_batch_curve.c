// The throughputs at other batches in a record, per device. Run in the repository's root.
#include "tests/support/scenario_fixture.h"

#include "model/questions/batch_curve.h"

static const char machine[] =
    "[scenario]\ntitle = T\ndate = 2026-11-22\n"
    "[workload]\nmodel = tinyllama-1.1b\nprecision = bf16\nscenario = decode\ncontext = 512\n"
    "batch = 4\nutilization = 50 %\n"
    "[option machine]\naccelerator = cpu\naccelerators = 1\naccelerators_per_node = 1\n"
    "rental_rate = 0.1 USD/gpu/h\n";

// As if each result had been measured on that many devices together.
static void share(const struct measurement_record *record, int devices) {
  for (size_t i = 0; i < record->count; i++)
    record->results[i].shard.of = devices;
}

static void test_devices(void **state) {
  (void)state;
  struct scenario_fixture f;
  scenario_fixture_request(&f, machine,
                           (struct scenario_request){.measurements_directory = "data/measured"});
  expect_error(&f.fixture, machine, "");
  const struct option *option = &f.scenario->options[0];
  struct batch_curve alone, shared, mixed;
  assert_true(batch_curve_of(f.scenario, option, &alone, &f.fixture.arena));

  share(option->record->record, 2);
  assert_true(batch_curve_of(f.scenario, option, &shared, &f.fixture.arena));
  assert_int_equal(shared.count, alone.count);
  for (size_t i = 0; i < alone.count; i++)
    expect_near(shared.points[i].throughput, alone.points[i].throughput / 2, 1e-12, "a device's");

  // One more device than the option's own result: not a batch of the same curve.
  for (size_t i = 0; i < option->record->record->count; i++)
    if (&option->record->record->results[i] != option->record)
      option->record->record->results[i].shard.of = 3;
  assert_false(batch_curve_of(f.scenario, option, &mixed, &f.fixture.arena));
  scenario_fixture_end(&f);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_devices)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
