// Values are found again, however many there are, in about the time that one takes to find.
#include "model/cost/value.h"

#include "base/arena.h"
#include "model/cost/operation.h"
#include "tests/support/fixture.h"

enum { VALUES = 200000, MOST_COMPARED = 2 };

// The greatest of x and 0.5, of that and 1.5, and so on: each is a value, and so is its
// constant.
static void build(struct value_table *values, int *greatest) {
  int last = value_variable(values, 0);
  for (int i = 0; i < VALUES; i++)
    greatest[i] = last = value_of(values, OPERATION_MAX, last, value_constant(values, i + 0.5), -1);
}

static void test_found_again(void **state) {
  (void)state;
  struct arena arena = {NULL};
  struct value_table *values = values_new(false, &arena);
  int *once = arena_array(&arena, VALUES, sizeof *once);
  int *again = arena_array(&arena, VALUES, sizeof *again);
  build(values, once);
  const int count = values->count;
  build(values, again);
  assert_int_equal(count, 2 * VALUES + 1);
  assert_int_equal(values->count, count);
  assert_memory_equal(once, again, VALUES * sizeof *once);
  arena_free(&arena);
}

static void test_few_compared(void **state) {
  (void)state;
  struct arena arena = {NULL};
  struct value_table *values = values_new(false, &arena);
  build(values, arena_array(&arena, VALUES, sizeof(int)));
  double compared = 0;
  for (int i = 0; i < values->count; i++)
    for (int j = i; j >= 0; j = values->list[j].next)
      compared++;
  compared /= values->count;
  if (compared > MOST_COMPARED)
    fail_msg("%.1f values have the same hash as one, on average", compared);
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_found_again),
      cmocka_unit_test(test_few_compared),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
