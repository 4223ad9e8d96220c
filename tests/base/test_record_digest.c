// The digest of a record's text is that of its object, where the text has canonical numbers and
// strings.
#include "tests/support/fixture.h"

#include "base/arena.h"
#include "base/record_digest.h"
#include "base/source.h"

#include <glob.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

static bool is_same(const char *text, json_t *object) {
  struct arena arena = {NULL};
  const struct source *source = source_from_text("record", text, &arena);
  const bool same = !strcmp(record_digest_of_text(source, &arena), record_digest(object, &arena));
  arena_free(&arena);
  return same;
}

static void test_texts(void **state) {
  (void)state;
  static const struct {
    const char *text;
    bool is_canonical;
  } cases[] = {
      {"{}", true},
      {"{\"digest\": \"0\"}", true},
      {" { \"b\" : 1 ,\n\t\"a\" : [ ] , \"digest\":\"0\"}\n", true},
      {"{\"digest\": {\"a\": [1, {\"b\": 2}]}, \"z\": true, \"ab\": null, \"a\": false}", true},
      {"{\"a\": {\"digest\": \"kept\", \"c\": [{\"y\": 1, \"x\": [[], {}]}, -2.5]}}", true},
      {"{\"b\\\"}]\": \"a \\\\\", \"b\": \"[{\\\"\"}", true},
      {"{\"b\": \"\xc3\xa9, \\n\", \"a\": 0.10000000000000001}", true},
      {"{\"a\": 0.1}", false}, // 17 digits are canonical
      {"{\"a\": 1e3}", false},
      {"{\"a\": \"\\u00e9\"}", false},
      {"{\"a\": \"\\/\"}", false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    json_t *object = json_loads(cases[i].text, 0, NULL);
    assert_non_null(object);
    if (is_same(cases[i].text, object) != cases[i].is_canonical)
      fail_msg("%s", cases[i].text);
    json_decref(object);
  }
}

// What a change leaves alone is the same; any other is noticed.
static void test_changed(void **state) {
  (void)state;
  json_t *object = json_loads("{\"a\": [1, 2], \"b\": {\"c\": \"d\"}, \"digest\": \"0\"}", 0, NULL);
  assert_true(is_same("{\"digest\":\"1\",\"b\":{\"c\":\"d\"},\"a\":[1,2]}", object));
  static const char *const others[] = {
      "{\"a\": [2, 1], \"b\": {\"c\": \"d\"}}",           "{\"a\": [1, 2], \"b\": {\"c\": \"D\"}}",
      "{\"a\": [1, 2], \"b\": {\"c\": \"d\"}, \"e\": 1}", "{\"a\": [12], \"b\": {\"c\": \"d\"}}",
      "{\"a\": [1, 2], \"b\": [\"c\", \"d\"]}",           "{\"a\": [1, 2]}",
  };
  for (size_t i = 0; i < sizeof others / sizeof *others; i++)
    assert_false(is_same(others[i], object));
  json_decref(object);
}

// Deeper than any record: another digest, and no stack that grows with the text.
static void test_deep(void **state) {
  (void)state;
  enum { DEPTH = 2000 };
  char text[2 * DEPTH + 8] = "{\"a\":";
  memset(text + 5, '[', DEPTH);
  memset(text + 5 + DEPTH, ']', DEPTH);
  strcpy(text + 5 + 2 * DEPTH, "}");
  json_t *object = json_loads(text, 0, NULL);
  assert_true(is_same(text, object)); // no blanks to leave out, nor keys to sort
  json_decref(object);
}

static void test_records(void **state) {
  (void)state;
  glob_t found;
  assert_int_equal(glob("data/measured/*.json", 0, NULL, &found), 0);
  assert_true(found.gl_pathc > 5);
  for (size_t i = 0; i < found.gl_pathc; i++) {
    json_t *object = json_load_file(found.gl_pathv[i], 0, NULL);
    char *text = json_dumps(object, JSON_INDENT(1) | JSON_REAL_PRECISION(17));
    if (!is_same(text, object))
      fail_msg("%s", found.gl_pathv[i]);
    free(text);
    json_decref(object);
  }
  globfree(&found);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_changed),
      cmocka_unit_test(test_deep),
      cmocka_unit_test(test_records),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
