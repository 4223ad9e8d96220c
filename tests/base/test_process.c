// How many files this process may open: as many as its hard limit, whatever the soft one was.
#include "base/process.h"
#include "tests/support/fixture.h"

#include <sys/resource.h>

enum { SOFT = 64, WANTED = 200, HARD = 400 };

static void test_open_files(void **state) {
  struct rlimit limit = {SOFT, HARD};
  size_t most;
  (void)state;
  assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
  assert_true(process_may_open(WANTED, &most));
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  assert_in_range(limit.rlim_cur, WANTED, HARD);
  assert_int_equal(limit.rlim_max, HARD);
  assert_true(process_may_open(SOFT, &most));
  assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
  assert_in_range(limit.rlim_cur, WANTED, HARD); // what is there is not taken away
  assert_true(process_may_open(HARD, &most));
  assert_false(process_may_open(HARD + 1, &most));
  assert_int_equal(most, HARD);
}

int main(void) {
  const struct CMUnitTest tests[] = {cmocka_unit_test(test_open_files)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
