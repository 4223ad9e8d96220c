// Options as rows of a table: which of them a command takes, and where each value is stored.
#include "base/arena.h"
#include "base/option_row.h"

#include <argp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { ROAST = 1, BAKE = 2 };

enum { KEY_SPICE = OPTION_ACTS };

struct dish {
  const char *meat, *flour, *oven;
  bool covered, quiet;
};

static const struct option_row rows[] = {
    {"meat", "KIND", "What is roasted", ROAST, OPTION_TEXT(0, struct dish, meat)},
    {"flour", "KIND", "What is baked", BAKE, OPTION_TEXT(0, struct dish, flour)},
    {"spice", "[KIND]", "With spice", ROAST | BAKE, OPTION_READ(KEY_SPICE)},
    {"oven", "DEGREES", "How hot", BAKE, OPTION_TEXT('o', struct dish, oven)},
    {"covered", NULL, "Under a lid", ROAST, OPTION_FLAG(0, struct dish, covered)},
    {"quiet", NULL, "No warnings", 0, OPTION_FLAG('q', struct dish, quiet)},
};

enum { ROWS = sizeof rows / sizeof rows[0] };

// The key that argp is told of a command's option; fails if the command does not take it.
static int key_of(const char *name, unsigned command, struct arena *arena) {
  const struct argp_option *option = option_rows_of(rows, ROWS, command, arena);
  while (option->name && strcmp(option->name, name) != 0)
    option++;
  assert_non_null(option->name);
  return option->key;
}

static void test_commands_take_their_own_rows(void **state) {
  static const struct {
    unsigned command;
    const char *names[ROWS];
  } cases[] = {
      {ROAST, {"meat", "spice", "covered", "quiet"}},
      {BAKE, {"flour", "spice", "oven", "quiet"}},
  };
  struct arena arena = {0};
  (void)state;
  for (size_t c = 0; c < sizeof cases / sizeof cases[0]; c++) {
    const struct argp_option *list = option_rows_of(rows, ROWS, cases[c].command, &arena);
    size_t i = 0;
    for (; cases[c].names[i]; i++)
      assert_string_equal(list[i].name, cases[c].names[i]);
    assert_null(list[i].name);
    assert_int_equal(list[i].key, 0);
  }
  arena_free(&arena);
}

static void test_each_value_goes_to_its_own_member(void **state) {
  struct arena arena = {0};
  struct dish dish = {0};
  (void)state;
  assert_true(option_row_keep(rows, ROWS, key_of("meat", ROAST, &arena), "lamb", &dish));
  assert_true(option_row_keep(rows, ROWS, key_of("flour", BAKE, &arena), "rye", &dish));
  assert_true(option_row_keep(rows, ROWS, 'o', "180", &dish));
  assert_true(option_row_keep(rows, ROWS, key_of("covered", ROAST, &arena), NULL, &dish));
  assert_string_equal(dish.meat, "lamb");
  assert_string_equal(dish.flour, "rye");
  assert_string_equal(dish.oven, "180");
  assert_true(dish.covered);
  assert_false(dish.quiet);
  arena_free(&arena);
}

static void test_what_a_command_reads_itself_is_not_stored(void **state) {
  struct arena arena = {0};
  struct dish dish = {0};
  const struct argp_option *list = option_rows_of(rows, ROWS, ROAST, &arena);
  (void)state;
  assert_int_equal(list[1].key, KEY_SPICE);
  assert_string_equal(list[1].arg, "KIND");
  assert_int_equal(list[1].flags, OPTION_ARG_OPTIONAL);
  assert_int_equal(list[0].flags, 0);
  assert_false(option_row_keep(rows, ROWS, KEY_SPICE, "mace", &dish));
  assert_false(option_row_keep(rows, ROWS, ARGP_KEY_ARG, "stray", &dish));
  assert_false(option_row_keep(rows, ROWS, ARGP_KEY_END, NULL, &dish));
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_commands_take_their_own_rows),
      cmocka_unit_test(test_each_value_goes_to_its_own_member),
      cmocka_unit_test(test_what_a_command_reads_itself_is_not_stored),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
