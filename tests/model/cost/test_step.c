// The text of a list with a step, and a step in words.
#include "tests/support/fixture.h"

#include "model/cost/list_text.h"
#include "model/cost/model.h"
#include "model/cost/step.h"
#include "model/cost/units.h"

#include <string.h>

static void test_split(void **state) {
  (void)state;
  static const struct {
    const char *text, *values, *step; // step NULL: by year
    int column;                       // of the step, or of the text
  } cases[] = {
      {"512, 1024 gpu every 6 month", "512, 1024 gpu", "6 month", 21},
      {"1, 2 FTE every  1 yr", "1, 2 FTE", "1 yr", 17},
      {"1, 2 FTE", "1, 2 FTE", NULL, 1},
      {"every, 2 FTE", "every, 2 FTE", NULL, 1},
      {"1, 2 every every 3 month", "1, 2 every", "3 month", 18},
  };
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *values;
    const struct place start = source_text_start("test", cases[i].text, &fixture.arena);
    const struct list_value step = step_split(cases[i].text, start, &values, &fixture.arena);
    assert_string_equal(values, cases[i].values);
    assert_int_equal(step.place.column, cases[i].column);
    assert_int_equal(step.text == NULL, cases[i].step == NULL);
    if (cases[i].step)
      assert_string_equal(step.text, cases[i].step);
  }
  fixture_end(&fixture);
}

static void test_words(void **state) {
  (void)state;
  static const struct {
    double hours;
    const char *words;
  } cases[] = {
      {0, "by year"},         {730, "every 1 month"},    {4380, "every 6 month"},
      {8760, "every 1 yr"},   {13140, "every 18 month"}, {17520, "every 2 yr"},
      {1752, "every 73 day"}, {100, "every 100 h"},
  };
  struct fixture fixture;
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
    assert_string_equal(step_words(cases[i].hours, &fixture.arena), cases[i].words);
  fixture_end(&fixture);
}

static void test_time(void **state) {
  (void)state;
  static const struct {
    const char *text;
    double hours; // 0: refused
    const char *error;
  } cases[] = {
      {"6 month", 4380, ""},
      {"26 week", 4368, ""},
      {"30 yr", 262800, ""},
      {"-1 month", 0, "above 0 month and at most 30 yr"},
      {"1e300 yr", 0, "at most 30 yr"},
      {"6", 0, "no unit"},
      {"6 gpu", 0, "wrong unit"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    const struct place start = source_text_start("test", cases[i].text, &fixture.arena);
    const struct list_value step = {cases[i].text, start};
    const double hours = step_time(&step, &fixture.diagnostics);
    expect_near(hours, cases[i].hours, 1e-15, cases[i].text);
    expect_error(&fixture, cases[i].text, cases[i].error);
    fixture_end(&fixture);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_split),
      cmocka_unit_test(test_words),
      cmocka_unit_test(test_time),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
