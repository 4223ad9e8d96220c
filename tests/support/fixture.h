// fixture: an arena with diagnostics for one test, and what a test asks of them.
#ifndef PERTOKEN_FIXTURE_H
#define PERTOKEN_FIXTURE_H

// cmocka.h wants these before it.
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

// The same around a test, whose state is then the fixture.
int fixture_setup(void **state);
int fixture_teardown(void **state);
#define FIXTURE_TEST(test) cmocka_unit_test_setup_teardown(test, fixture_setup, fixture_teardown)

// Writes a file below a folder, with the folders in between.
void fixture_write(struct fixture *fixture, const char *folder, const char *file, const char *text);

// All errors so far, one a line: "line:column: message".
const char *fixture_errors(struct fixture *fixture);

// Fails unless `fragment` stands in the errors so far ("" expects none at all), saying for what
// input.
void expect_error(struct fixture *fixture, const char *input, const char *fragment);

// The same of words that say why something was refused, NULL where it was not.
void expect_why(const char *input, const char *why, const char *fragment);

// Fails unless `fragment` stands in the text.
void expect_fragment(const char *text, const char *fragment);

void expect_near(double got, double expected, double relative, const char *what);

#endif
