// Requests as sent: of the right length, no two with a common prefix, and reproducible from the
// seed.
#include "base/arena.h"
#include "tests/support/fixture.h"

#include "probe/serving/prompt.h"

#include <cmocka.h>
#include <jansson.h>
#include <string.h>

enum { VOCABULARY = 32000, INPUT = 64, OUTPUT = 16, REQUESTS = 50 };

static struct prompt prompt_of(struct fixture *fixture, enum prompt_form form, unsigned fields) {
  struct prompt prompt = {.form = form,
                          .fields = fields,
                          .model = "a \"model\"",
                          .input_tokens = INPUT,
                          .output_tokens = OUTPUT,
                          .words = 40,
                          .seed = 7,
                          .arena = &fixture->arena};
  prompt_set_ids(&prompt, VOCABULARY);
  return prompt;
}

static json_t *body_of(struct prompt *prompt, size_t number) {
  json_t *body = json_loads(prompt_body(prompt, number), 0, NULL);
  assert_non_null(body);
  return body;
}

// ---- ids

static void test_ids(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct prompt prompt = prompt_of(&fixture, PROMPT_IDS, FIELD_ALL);
  for (size_t n = 0; n < REQUESTS; n++) {
    json_t *body = body_of(&prompt, n);
    const json_t *ids = json_object_get(body, "prompt");
    assert_int_equal(json_array_size(ids), INPUT);
    for (size_t i = 0; i < INPUT; i++) // both ends are control tokens
      assert_in_range(json_integer_value(json_array_get(ids, i)), VOCABULARY / 16,
                      VOCABULARY - VOCABULARY / 4 - 1);
    json_decref(body);
  }
  fixture_end(&fixture);
}

// A cache finds a prompt by its beginning.
static void test_no_two_begin_alike(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct prompt prompt = prompt_of(&fixture, PROMPT_IDS, FIELD_ALL);
  long begins[REQUESTS][2];
  for (size_t n = 0; n < REQUESTS; n++) {
    json_t *body = body_of(&prompt, n);
    for (size_t i = 0; i < 2; i++)
      begins[n][i] = (long)json_integer_value(json_array_get(json_object_get(body, "prompt"), i));
    json_decref(body);
    for (size_t k = 0; k < n; k++)
      assert_memory_not_equal(begins[n], begins[k], sizeof begins[n]);
  }
  fixture_end(&fixture);
}

static void test_seeds(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct prompt prompt = prompt_of(&fixture, PROMPT_IDS, FIELD_ALL);
  const char *first = arena_copy(&fixture.arena, prompt_body(&prompt, 3));
  prompt_body(&prompt, 4);
  assert_string_equal(prompt_body(&prompt, 3), first);
  prompt.seed++;
  assert_string_not_equal(prompt_body(&prompt, 3), first);
  fixture_end(&fixture);
}

// ---- words

static size_t words_in(const char *text) {
  size_t count = 1;
  for (; *text; text++)
    count += *text == ' ';
  return count;
}

static void test_words(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  struct prompt prompt = prompt_of(&fixture, PROMPT_WORDS, FIELD_ALL);
  json_t *body = body_of(&prompt, 0);
  assert_int_equal(words_in(json_string_value(json_object_get(body, "prompt"))), 40);
  json_decref(body);
  prompt.form = PROMPT_CHAT;
  prompt.words = 400; // more room than the first had
  body = body_of(&prompt, 0);
  const json_t *message = json_array_get(json_object_get(body, "messages"), 0);
  assert_string_equal(json_string_value(json_object_get(message, "role")), "user");
  assert_int_equal(words_in(json_string_value(json_object_get(message, "content"))), 400);
  assert_null(json_object_get(body, "prompt"));
  json_decref(body);
  fixture_end(&fixture);
}

// ---- the rest of a request

static void test_fields(void **state) {
  (void)state;
  for (int form = 0; form < PROMPT_FORMS; form++)
    for (unsigned fields = 0; fields <= FIELD_ALL; fields++) {
      struct fixture fixture;
      fixture_start(&fixture);
      struct prompt prompt = prompt_of(&fixture, (enum prompt_form)form, fields);
      json_t *body = body_of(&prompt, 0);
      assert_string_equal(json_string_value(json_object_get(body, "model")), "a \"model\"");
      assert_int_equal(json_integer_value(json_object_get(body, "max_tokens")), OUTPUT);
      assert_true(json_is_true(json_object_get(body, "stream")));
      for (unsigned field = 1; field < FIELD_ALL; field <<= 1)
        assert_int_equal(json_object_get(body, prompt_field_name((enum prompt_field)field)) != NULL,
                         (fields & field) != 0);
      json_decref(body);
      fixture_end(&fixture);
    }
}

static void test_names(void **state) {
  (void)state;
  assert_string_equal(prompt_path(PROMPT_WORDS), "/v1/completions");
  assert_string_equal(prompt_path(PROMPT_CHAT), "/v1/chat/completions");
  assert_string_equal(prompt_form_name(PROMPT_IDS), "token ids, completions");
  assert_string_equal(prompt_field_name(FIELD_ALL), "");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_ids),    cmocka_unit_test(test_no_two_begin_alike),
      cmocka_unit_test(test_seeds),  cmocka_unit_test(test_words),
      cmocka_unit_test(test_fields), cmocka_unit_test(test_names),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
