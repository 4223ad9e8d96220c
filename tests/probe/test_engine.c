// What servers report about themselves: their program, its version, their models, in the form of
// each.
#include "tests/support/fixture.h"

#include "probe/serving/engine.h"

#include <cmocka.h>
#include <stdio.h>
#include <string.h>

static void start(struct fixture *fixture, struct engine *engine, const char *models) {
  fixture_start(fixture);
  *engine = (struct engine){.name = "", .version = ""};
  engine_read_models(engine, models, strlen(models), &fixture->arena);
}

// ---- which program it is

static const struct {
  const char *models, *state;
  const char *name, *version;
  long vocabulary, context, places; // 0: not reported
} engines[] = {
    {"{\"data\":[{\"id\":\"m\",\"owned_by\":\"vllm\",\"max_model_len\":4096}]}",
     "{\"version\":\"0.10.1\"}", "vLLM", "0.10.1", 0, 4096, 0},
    {"{\"data\":[{\"id\":\"m\",\"owned_by\":\"sglang\",\"max_model_len\":8192}]}",
     "{\"version\":\"0.4.6\",\"max_running_requests\":64}", "SGLang", "0.4.6", 0, 8192, 64},
    {"{\"data\":[{\"id\":\"m\",\"owned_by\":\"sglang\"}]}", // two replicas
     "{\"version\":\"0.5.18\",\"max_running_requests\":null,\"internal_states\":["
     "{\"effective_max_running_requests_per_dp\":52},"
     "{\"effective_max_running_requests_per_dp\":52}]}",
     "SGLang", "0.5.18", 0, 0, 104},
    {"{\"data\":[{\"id\":\"m\",\"owned_by\":\"llamacpp\",\"meta\":{\"n_vocab\":32000,\"n_ctx\":512}"
     "}]}",
     "{\"build_info\":\"b11669\",\"total_slots\":4}", "llama.cpp", "b11669", 32000, 512, 4},
    {"{\"data\":[{\"id\":\"m\",\"owned_by\":\"TensorRT_LLM\"}]}", "{\"version\":\"1.1\"}",
     "TensorRT-LLM", "1.1", 0, 0, 0},
    {"{\"data\":[{\"id\":\"m\",\"owned_by\":\"somebody\"}]}", "", "", "", 0, 0, 0},
    {"{\"data\":[{\"id\":\"m\"}]}", "{\"version\":7,\"total_slots\":\"4\"}", "", "", 0, 0, 0},
    {"{\"data\":[{\"id\":\"m\",\"max_model_len\":-1,\"meta\":{\"n_vocab\":1e99,\"n_ctx\":0.5}}]}",
     "[]", "", "", 0, 0, 0},
};

static void test_engines(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof engines / sizeof engines[0]; i++) {
    struct fixture fixture;
    struct engine engine;
    start(&fixture, &engine, engines[i].models);
    engine_read_state(&engine, engines[i].state, strlen(engines[i].state), &fixture.arena);
    assert_int_equal(engine.count, 1);
    assert_string_equal(engine.name, engines[i].name);
    assert_string_equal(engine.version, engines[i].version);
    assert_string_equal(engine.models[0].name, "m");
    assert_int_equal(engine.models[0].vocabulary, engines[i].vocabulary);
    assert_int_equal(engine.models[0].context, engines[i].context);
    assert_int_equal(engine.places, engines[i].places);
    fixture_end(&fixture);
  }
}

static void test_what_lists_no_models(void **state) {
  (void)state;
  static const char *const texts[] = {"",
                                      "hello",
                                      "[]",
                                      "{\"data\":{}}",
                                      "{\"data\":[7,null,{},{\"id\":3}]}",
                                      "{\"data\":[{\"id\":"};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    struct fixture fixture;
    struct engine engine;
    start(&fixture, &engine, texts[i]);
    assert_int_equal(engine.count, 0);
    fixture_end(&fixture);
  }
}

// ---- what the user states

static const struct {
  const char *name, *version; // that the server reports
  const char *typed;
  const char *becomes, *of_version, *error;
} statements[] = {
    {"", "", "vLLM 0.10.1", "vLLM", "0.10.1", ""},
    {"", "", "vLLM", "vLLM", "", ""},
    {"", "", "my engine", "my engine", "", ""},
    {"", "", "my engine v2", "my engine", "v2", ""},
    {"llama.cpp", "", "llama.cpp b11669", "llama.cpp", "b11669", ""},
    {"vLLM", "0.10.1", "VLLM 0.10.1", "vLLM", "0.10.1", ""},
    {"vLLM", "0.10.1", "SGLang", "", "",
     "--engine states 'SGLang', but the server reports 'vLLM 0.10.1'"},
    {"vLLM", "0.10.1", "vLLM 0.9", "", "", "the server reports 'vLLM 0.10.1'"},
    {"vLLM", "", "SGLang 0.4", "", "", "the server reports 'vLLM'"},
};

static void test_statements(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof statements / sizeof statements[0]; i++) {
    struct fixture fixture;
    fixture_start(&fixture);
    struct engine engine = {.name = statements[i].name, .version = statements[i].version};
    const int result =
        engine_state(&engine, statements[i].typed, &fixture.arena, &fixture.diagnostics);
    expect_error(&fixture, statements[i].typed, statements[i].error);
    assert_int_equal(result, *statements[i].error ? -1 : 0);
    if (!result) {
      assert_string_equal(engine.name, statements[i].becomes);
      assert_string_equal(engine.version, statements[i].of_version);
    }
    fixture_end(&fixture);
  }
}

// ---- which model is requested

#define ONE "{\"data\":[{\"id\":\"/srv/a/llama.gguf\"}]}"
#define TWO "{\"data\":[{\"id\":\"/srv/a/llama.gguf\"},{\"id\":\"other\"}]}"
#define TWINS                                                                                      \
  "{\"data\":[{\"id\":\"/srv/a/llama.gguf\"},{\"id\":\"/srv/b/llama.gguf\"},{\"id\":\"c\"}]}"

static const struct {
  const char *models, *named; // NULL: none is named
  const char *found, *error;
} choices[] = {
    {ONE, NULL, "/srv/a/llama.gguf", ""},
    {ONE, "/srv/a/llama.gguf", "/srv/a/llama.gguf", ""},
    {TWO, "llama.gguf", "/srv/a/llama.gguf", ""}, // in the form for a record
    {TWINS, "/srv/b/llama.gguf", "/srv/b/llama.gguf", ""},
    {TWINS, "llama.gguf", NULL, "does not serve 'llama.gguf'; it serves '/srv/a/llama.gguf', "},
    {TWO, "llama", NULL, "the server does not serve 'llama'"},
    {TWO, NULL, NULL, "choose one with --served-model NAME"},
    {"", "anything", "anything", ""}, // nothing is listed: all that is possible is to try it
};

static void test_choices(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof choices / sizeof choices[0]; i++) {
    struct fixture fixture;
    struct engine engine;
    start(&fixture, &engine, choices[i].models);
    const struct served_model *model =
        engine_model(&engine, choices[i].named, &fixture.arena, &fixture.diagnostics);
    expect_error(&fixture, choices[i].models, choices[i].error);
    assert_int_equal(model != NULL, choices[i].found != NULL);
    if (model)
      assert_string_equal(model->name, choices[i].found);
    fixture_end(&fixture);
  }
}

static void test_many_models_are_cut(void **state) {
  (void)state;
  struct fixture fixture;
  struct engine engine;
  char models[1024] = "{\"data\":[";
  for (int i = 0; i < 12; i++)
    sprintf(models + strlen(models), "%s{\"id\":\"m%d\"}", i ? "," : "", i);
  strcat(models, "]}");
  start(&fixture, &engine, models);
  assert_null(engine_model(&engine, "x", &fixture.arena, &fixture.diagnostics));
  expect_error(&fixture, models, "'m9', and 2 others");
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_engines),
      cmocka_unit_test(test_what_lists_no_models),
      cmocka_unit_test(test_statements),
      cmocka_unit_test(test_choices),
      cmocka_unit_test(test_many_models_are_cut),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
