// Whole numbers: decimal digits alone, within limits, and what follows them.
#include "base/digits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const struct {
  const char *text;
  uint64_t low, high;
  const char *rest; // NULL: none is read
  uint64_t value;
} cases[] = {
    {"8", 0, 10, "", 8},
    {"007", 0, 10, "", 7},
    {"10,20", 1, 10, ",20", 10},
    {"6 months", 0, 10, " months", 6},
    {"1.5", 0, 10, ".5", 1},
    {"0x1E", 0, 10, "x1E", 0},
    {"18446744073709551615", 0, UINT64_MAX, "", UINT64_MAX},
    {"18446744073709551616", 0, UINT64_MAX, NULL, 0},
    {"11", 0, 10, NULL, 0},
    {"0", 1, 10, NULL, 0},
    {"", 0, 10, NULL, 0},
    {"-1", 0, UINT64_MAX, NULL, 0},
    {"+1", 0, 10, NULL, 0},
    {" 1", 0, 10, NULL, 0},
    {"x", 0, 10, NULL, 0},
};

static void test_whole_numbers(void **state) {
  (void)state;
  enum { UNCHANGED = 99 };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    uint64_t value = UNCHANGED;
    const char *rest = whole_number(cases[i].text, cases[i].low, cases[i].high, &value);
    assert_int_equal(rest != NULL, cases[i].rest != NULL);
    assert_true(value == (rest ? cases[i].value : UNCHANGED));
    if (rest)
      assert_string_equal(rest, cases[i].rest);
    value = UNCHANGED;
    const bool is_all = is_whole_number(cases[i].text, cases[i].low, cases[i].high, &value);
    assert_int_equal(is_all, rest && !*rest);
    assert_true(value == (is_all ? cases[i].value : UNCHANGED));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_whole_numbers)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
