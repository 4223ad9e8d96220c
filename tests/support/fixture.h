// fixture: an arena with diagnostics for one test, and checks of them.
#ifndef PERTOKEN_TESTS_SUPPORT_FIXTURE_H
#define PERTOKEN_TESTS_SUPPORT_FIXTURE_H

// cmocka.h requires these before it.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/diagnostics.h"

struct fixture {
  struct arena arena;
  struct diagnostics diagnostics;
};

void fixture_start(struct fixture *fixture);
void fixture_end(struct fixture *fixture);

// The same as set-up and tear-down of a test, whose state is then the fixture.
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

// Writes a file below a folder, with the folders in between.
void fixture_write(struct fixture *fixture, const char *folder, const char *file, const char *text);

struct json_t; // of jansson

// The text of an object that a test has changed, as if it had been read from the file.
const struct source *fixture_source(struct fixture *fixture, const char *file,
                                    const struct json_t *object);

// All errors so far, one a line: "line:column: message".
const char *fixture_errors(struct fixture *fixture);

// Fails unless `fragment` is in the errors so far ("" expects none at all), naming the input.
void expect_error(struct fixture *fixture, const char *input, const char *fragment);

// The same for the reason for a refusal, NULL if nothing was refused.
void expect_why(const char *input, const char *why, const char *fragment);

// Fails unless `fragment` is in the text.
void expect_fragment(const char *text, const char *fragment);

void expect_near(double got, double expected, double relative, const char *what);

#endif
