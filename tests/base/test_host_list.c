// Host lists in Slurm's notation, compared with the output of 'scontrol show hostnames'.
#include "tests/support/fixture.h"

#include "base/host_list.h"

#include <string.h>

static const struct {
  const char *text, *names; // NULL: refused
  const char *error;
} cases[] = {
    {"n1", "n1", ""},
    {"n[1-3]", "n1 n2 n3", ""},
    {"n[1-2,7],login", "n1 n2 n7 login", ""},
    {"n[08-11]", "n08 n09 n10 n11", ""},
    {"n[3]", "n3", ""},
    {"r[1-2]n[1-2]-ib", "r1n1-ib r1n2-ib r2n1-ib r2n2-ib", ""},
    {"10.0.0.[1-2]", "10.0.0.1 10.0.0.2", ""},
    {"[1-2]", "1 2", ""},
    {"", NULL, "a name is blank"},
    {"n1,", "n1", ""},
    {"n1,,", NULL, "a name is blank"},
    {",n1", NULL, "a name is blank"},
    {"n[1-3", NULL, "a bracket has no counterpart"},
    {"n1-3]", NULL, "a bracket has no counterpart"},
    {"n[]", NULL, "numbers and ranges"},
    {"n[1-]", NULL, "numbers and ranges"},
    {"n[-1]", NULL, "numbers and ranges"},
    {"n[1,]", NULL, "numbers and ranges"},
    {"n[1-2-3]", NULL, "numbers and ranges"},
    {"n[[1-2]]", NULL, "numbers and ranges"},
    {"n[a-c]", NULL, "numbers and ranges"},
    {"n[1234567890]", NULL, "numbers and ranges"},
    {"n[3-1]", NULL, "a range descends"},
    {"n[1-100001]", NULL, "there are too many"},
    {"n[0-999999999]", NULL, "there are too many"},
    {"n[1-1000][1-1000]", NULL, "there are too many"},
    {"n[1-60000],m[1-60000]", NULL, "there are too many"},
};

static void test_lists(void **state) {
  struct fixture *fixture = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct texts names = {0};
    fixture->diagnostics = (struct diagnostics){.arena = &fixture->arena};
    const int result =
        host_list_read(cases[i].text, &names, &fixture->arena, &fixture->diagnostics);
    expect_error(fixture, cases[i].text, cases[i].error);
    assert_int_equal(result, cases[i].names ? 0 : -1);
    if (cases[i].names)
      assert_string_equal(texts_joined_by(&names, " ", &fixture->arena), cases[i].names);
  }
}

static void test_as_many_as_may_be(void **state) {
  struct fixture *fixture = *state;
  struct texts names = {0};
  assert_int_equal(host_list_read("n[1-100000]", &names, &fixture->arena, &fixture->diagnostics),
                   0);
  assert_int_equal(names.count, MAX_HOSTS);
  assert_string_equal(names.list[MAX_HOSTS - 1], "n100000");
}

int main(void) {
  const struct CMUnitTest tests[] = {FIXTURE_TEST(test_lists),
                                     FIXTURE_TEST(test_as_many_as_may_be)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
