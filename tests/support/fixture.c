#include "tests/support/fixture.h"

#include "base/source.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

void fixture_start(struct fixture *fixture) {
  *fixture = (struct fixture){{NULL}, {0}};
  fixture->diagnostics.arena = &fixture->arena;
}

void fixture_end(struct fixture *fixture) {
  arena_free(&fixture->arena);
}

const struct source *fixture_source(struct fixture *fixture, const char *file,
                                    const json_t *object) {
  char *text = json_dumps(object, 0);
  const struct source *source = source_from_text(file, text, &fixture->arena);
  free(text);
  return source;
}

const char *fixture_errors(struct fixture *fixture) {
  const char *all = "";
  for (size_t i = 0; i < fixture->diagnostics.count; i++) {
    const struct diagnostic *diagnostic = &fixture->diagnostics.list[i];
    if (diagnostic->severity == SEVERITY_ERROR)
      all = arena_printf(&fixture->arena, "%s%d:%d: %s\n", all, diagnostic->place.line,
                         diagnostic->place.column, diagnostic->message);
  }
  return all;
}

int fixture_setup(void **state) {
  static struct fixture fixture;
  fixture_start(&fixture);
  *state = &fixture;
  return 0;
}

int fixture_teardown(void **state) {
  fixture_end(*state);
  return 0;
}

void fixture_write(struct fixture *fixture, const char *folder, const char *file,
                   const char *text) {
  char *path = arena_printf(&fixture->arena, "%s/%s", folder, file);
  for (char *slash = strchr(path + strlen(folder) + 1, '/'); slash;
       slash = strchr(slash + 1, '/')) {
    *slash = 0;
    mkdir(path, 0777);
    *slash = '/';
  }
  FILE *stream = fopen(path, "w");
  assert_non_null(stream);
  fputs(text, stream);
  fclose(stream);
}

void expect_error(struct fixture *fixture, const char *input, const char *fragment) {
  expect_why(input, fixture_errors(fixture), fragment);
}

void expect_why(const char *input, const char *why, const char *fragment) {
  const char *errors = why ? why : "";
  bool met = *fragment ? strstr(errors, fragment) != NULL : !*errors;
  if (!met)
    fail_msg("%s\n  expected: %s\n  got: %s", input, *fragment ? fragment : "no error",
             *errors ? errors : "no error");
}

void expect_fragment(const char *text, const char *fragment) {
  if (!strstr(text, fragment))
    fail_msg("expected '%s' in '%s'", fragment, text);
}

void expect_near(double got, double expected, double relative, const char *what) {
  if (!(fabs(got - expected) <= relative * fabs(expected)))
    fail_msg("%s: expected %.17g, got %.17g", what, expected, got);
}
