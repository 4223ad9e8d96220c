// Production from a server's own counters: hours, resets, gaps, names, and the record.
#include "base/arena.h"
#include "tests/support/fixture.h"

#include "base/json_in.h"
#include "base/source.h"
#include "model/records/production.h"
#include "model/telemetry/metrics.h"
#include "model/telemetry/production_read.h"

#include <cmocka.h>
#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

static const double t0 = 1795305600; // 2026-11-22 00:00 UTC

// A counter scraped every five minutes, whose rate depends on the hour of the day.
static const char *counter(struct fixture *fixture, const char *name, const char *instance,
                           double scale, int from, int to, int reset_at) {
  struct arena *arena = &fixture->arena;
  char *text = arena_alloc(arena, 64 * (size_t)(to - from + 2));
  double value = 1000;
  size_t used = 0;
  for (int i = from; i <= to; i++) {
    used += (size_t)sprintf(text + used, "%s[%.1f, \"%.17g\"]", i > from ? ", " : "",
                            t0 + 300.0 * i, value);
    const int hour = i / 12 % 24;
    value = i + 1 == reset_at ? 5 : value + 300 * scale * (hour >= 9 && hour < 17 ? 4 : 1);
  }
  return arena_printf(
      arena, "{\"metric\": {\"__name__\": \"%s\", \"instance\": \"%s\"}, \"values\": [%s]}", name,
      instance, text);
}

static const struct source *answer_of(struct fixture *fixture, const char *results) {
  return source_from_text("counters.json",
                          arena_printf(&fixture->arena,
                                       "{\"status\": \"success\", \"data\": {\"resultType\": "
                                       "\"matrix\", \"result\": [%s]}}",
                                       results),
                          &fixture->arena);
}

static struct production read_one(struct fixture *fixture, const char *results, int offset_min) {
  struct production production;
  const struct source *file = answer_of(fixture, results);
  assert_true(production_read_knows(file));
  assert_int_equal(
      production_read(&file, 1, offset_min, &production, &fixture->arena, &fixture->diagnostics),
      0);
  return production;
}

static const char *two(struct fixture *fixture, const char *a, const char *b) {
  return arena_printf(&fixture->arena, "%s, %s", a, b);
}

// Two days of two servers: 1 token/s each, 4 from 9 to 17 h.
static void test_hours_of_two_servers(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total";
  const struct production production =
      read_one(fixture,
               two(fixture, counter(fixture, name, "a", 1, 0, 576, -1),
                   counter(fixture, name, "b", 1, 0, 576, -1)),
               0);
  assert_string_equal(production.engine, "vLLM");
  assert_int_equal(production.hour_count, 48);
  expect_near(production.covered_s, 172800, 1e-9, "covered");
  expect_near(production.output_tokens_per_s, 2 * (16 + 8 * 4) / 24.0, 1e-9, "mean");
  expect_near(production.peak_over_mean, 2, 1e-9, "peak");
  assert_int_equal(production.day_profile_count, 24);
  expect_near(production.day_profile[9], 4 / 48.0, 1e-9, "nine o'clock");
  expect_near(production.day_profile[8], 1 / 48.0, 1e-9, "eight o'clock");
  assert_true(isnan(production.cache_hit) && production.resets == 0);
  assert_string_equal(production.hours[9].start, "2026-11-22T09:00:00Z");
  expect_near(
      production_throughput(&(struct production){.output_tokens_per_s = 400, .accelerators = 8}),
      50, 1e-12, "each accelerator's");
}

static void test_the_profile_is_of_a_zone(void **state) {
  struct fixture *fixture = *state;
  const struct production production = read_one(
      fixture, counter(fixture, "sglang:generation_tokens_total", "a", 1, 0, 576, -1), 120);
  assert_string_equal(production.engine, "SGLang");
  expect_near(production.day_profile[11], 4 / 48.0, 1e-9, "nine o'clock UTC");
  expect_near(production.day_profile[10], 1 / 48.0, 1e-9, "eight o'clock UTC");
}

// The counter starts again at 5: what it has counted since is not lost.
static void test_a_reset(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total";
  const struct production whole = read_one(fixture, counter(fixture, name, "a", 1, 0, 96, -1), 0);
  const struct production reset = read_one(fixture, counter(fixture, name, "a", 1, 0, 96, 48), 0);
  assert_int_equal(reset.resets, 1);
  expect_near(reset.output_tokens, whole.output_tokens - 300 + 5, 1e-9, "tokens");
  assert_int_equal(reset.day_profile_count, 0); // eight hours are not a day
}

// An hour without scrapes is not covered, and does not lower the mean.
static void test_a_gap(void **state) {
  struct fixture *fixture = *state;
  const char *results = counter(fixture, "llamacpp:tokens_predicted_total", "a", 1, 0, 36, -1);
  char *text = arena_copy(&fixture->arena, results);
  char *from = strstr(text, arena_printf(&fixture->arena, "[%.1f", t0 + 300.0 * 13));
  char *to = strstr(text, arena_printf(&fixture->arena, "[%.1f", t0 + 300.0 * 24));
  memmove(from, to, strlen(to) + 1);
  const struct production production = read_one(fixture, text, 0);
  assert_string_equal(production.engine, "llama.cpp");
  expect_near(production.covered_s, 3 * 3600 - 12 * 300, 1e-9, "covered");
  expect_near(production.output_tokens_per_s, 1, 1e-9, "mean");
}

// A single scrape between gaps covers nothing.
static void test_a_lone_scrape(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total";
  const struct source *const files[] = {
      answer_of(fixture, counter(fixture, name, "a", 1, 0, 24, -1)),
      answer_of(fixture, counter(fixture, name, "a", 1, 40, 40, -1))};
  struct production production;
  assert_int_equal(
      production_read(files, 2, 0, &production, &fixture->arena, &fixture->diagnostics), 0);
  expect_near(production.covered_s, 2 * 3600, 1e-9, "covered");
  expect_near(production.output_tokens_per_s, 1, 1e-9, "mean");
}

// Both names of a quantity exist for a while: it counts once.
static void test_hits_under_both_names(void **state) {
  struct fixture *fixture = *state;
  const char *results = counter(fixture, "vllm:generation_tokens_total", "a", 1, 0, 24, -1);
  results =
      two(fixture, results, counter(fixture, "vllm:prefix_cache_hits_total", "a", 3, 0, 24, -1));
  results = two(fixture, results,
                counter(fixture, "vllm:prefix_cache_queries_total", "a", 10, 0, 24, -1));
  expect_near(read_one(fixture, results, 0).cache_hit, 0.3, 1e-9, "new names");
  results = two(fixture, results,
                counter(fixture, "vllm:gpu_prefix_cache_hits_total", "a", 9, 0, 24, -1));
  expect_near(read_one(fixture, results, 0).cache_hit, 0.3, 1e-9, "both");
  results =
      two(fixture, counter(fixture, "vllm:generation_tokens_total", "a", 1, 0, 24, -1),
          two(fixture, counter(fixture, "vllm:gpu_prefix_cache_hits_total", "a", 9, 0, 24, -1),
              counter(fixture, "vllm:gpu_prefix_cache_queries_total", "a", 10, 0, 24, -1)));
  expect_near(read_one(fixture, results, 0).cache_hit, 0.9, 1e-9, "old names");
}

// llama-server's input tokens exclude the cached ones, SGLang's include them.
static void test_hits_of_other_engines(void **state) {
  struct fixture *fixture = *state;
  const char *llama =
      two(fixture, counter(fixture, "llamacpp:tokens_predicted_total", "a", 1, 0, 24, -1),
          two(fixture, counter(fixture, "llamacpp:prompt_tokens_total", "a", 6, 0, 24, -1),
              counter(fixture, "llamacpp:prompt_tokens_cached_total", "a", 4, 0, 24, -1)));
  const char *sglang =
      two(fixture, counter(fixture, "sglang:generation_tokens_total", "a", 1, 0, 24, -1),
          two(fixture, counter(fixture, "sglang:prompt_tokens_total", "a", 10, 0, 24, -1),
              counter(fixture, "sglang:cached_tokens_total", "a", 4, 0, 24, -1)));
  expect_near(read_one(fixture, llama, 0).cache_hit, 0.4, 1e-9, "llama-server");
  expect_near(read_one(fixture, sglang, 0).cache_hit, 0.4, 1e-9, "SGLang");
}

// What several files have in common counts once, and so do they themselves.
static void test_files_of_one_server(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total", *running = "vllm:num_requests_running";
  const struct source *const files[] = {
      answer_of(fixture, two(fixture, counter(fixture, name, "a", 1, 0, 300, -1),
                             counter(fixture, running, "a", 0, 0, 300, -1))),
      answer_of(fixture, two(fixture, counter(fixture, running, "a", 0, 0, 576, -1),
                             counter(fixture, name, "a", 1, 0, 576, -1)))};
  const struct source *const twice[] = {files[1], files[1]};
  for (int i = 0; i < 2; i++) {
    struct production production;
    assert_int_equal(production_read(i ? twice : files, 2, 0, &production, &fixture->arena,
                                     &fixture->diagnostics),
                     0);
    expect_near(production.covered_s, 172800, 1e-9, "covered");
    expect_near(production.output_tokens_per_s, (16 + 8 * 4) / 24.0, 1e-9, "mean");
    expect_near(production.peak_over_mean, 2, 1e-9, "peak");
    expect_near(production.running, 1000, 1e-9, "running");
  }
}

// A server that another replaces at half past: each hour is covered, and both served in turn.
static void test_a_successor(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total", *running = "vllm:num_requests_running";
  const struct production production =
      read_one(fixture,
               two(fixture,
                   two(fixture, counter(fixture, name, "a", 1, 0, 18, -1),
                       counter(fixture, name, "b", 1, 18, 36, -1)),
                   two(fixture, counter(fixture, running, "a", 0, 0, 18, -1),
                       counter(fixture, running, "b", 0, 18, 36, -1))),
               0);
  expect_near(production.covered_s, 3 * 3600, 1e-9, "covered");
  expect_near(production.output_tokens_per_s, 1, 1e-9, "mean");
  expect_near(production.running, 1000, 1e-9, "running");
}

static void test_files_that_differ(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total";
  const struct source *const files[] = {
      answer_of(fixture, counter(fixture, name, "a", 1, 0, 24, -1)),
      answer_of(fixture, counter(fixture, name, "a", 2, 0, 24, -1))};
  struct production production;
  assert_int_equal(
      production_read(files, 2, 0, &production, &fixture->arena, &fixture->diagnostics), -1);
  expect_error(fixture, "differ",
               "is 1600 at 2026-11-22T00:05:00Z, and 1300 in another series with the same labels");
}

// Two clusters whose servers have the same labels, each queried at times of its own.
static void test_servers_that_alternate(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total";
  const char *other = counter(fixture, name, "a", 9, 1, 24, -1);
  char *later = arena_copy(&fixture->arena, other);
  for (char *at = later; (at = strstr(at, "00.0, ")); at++)
    at[0] = '3'; // 30 s after the first one's
  const struct source *const files[] = {
      answer_of(fixture, counter(fixture, name, "a", 1, 0, 24, -1)), answer_of(fixture, later)};
  struct production production;
  assert_int_equal(
      production_read(files, 2, 0, &production, &fixture->arena, &fixture->diagnostics), -1);
  expect_error(fixture, "alternate", "times apart: servers need labels that tell them apart");
}

#define MODEL(name) "a\", \"model_name\": \"" name

static void test_the_servers_name_of_the_model(void **state) {
  struct fixture *fixture = *state;
  const char *name = "vllm:generation_tokens_total";
  assert_string_equal(
      read_one(fixture, counter(fixture, name, MODEL("meta/l-70b"), 1, 0, 9, -1), 0).model,
      "meta/l-70b");
  assert_string_equal(read_one(fixture, counter(fixture, name, "a", 1, 0, 9, -1), 0).model, "");
}

static void test_refused(void **state) {
  struct fixture *fixture = *state;
  const struct {
    const char *results, *fragment;
  } cases[] = {
      {counter(fixture, "vllm:prompt_tokens_total", "a", 1, 0, 24, -1), "no counter of output"},
      {counter(fixture, "vllm:generation_tokens_total", "a", 1, 3, 3, -1), "not scraped twice"},
      {two(fixture, counter(fixture, "vllm:generation_tokens_total", "a", 1, 0, 9, -1),
           counter(fixture, "sglang:generation_tokens_total", "a", 1, 0, 9, -1)),
       "counters of both vLLM and SGLang"},
      {two(fixture, counter(fixture, "vllm:generation_tokens_total", MODEL("x"), 1, 0, 9, -1),
           counter(fixture, "vllm:generation_tokens_total", MODEL("y"), 1, 0, 9, -1)),
       "counters of both 'x' and 'y': query one model's, with {model_name=\"x\"}"},
      {two(fixture, counter(fixture, "vllm:generation_tokens_total", MODEL("x"), 1, 0, 9, -1),
           counter(fixture, "vllm:prompt_tokens_total", MODEL("y"), 1, 0, 9, -1)),
       "counters of both 'x' and 'y': query one model's, with {model_name=\"x\"}"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct production production;
    const struct source *file = answer_of(fixture, cases[i].results);
    assert_int_equal(
        production_read(&file, 1, 0, &production, &fixture->arena, &fixture->diagnostics), -1);
    expect_error(fixture, cases[i].fragment, cases[i].fragment);
  }
}

static void test_the_record_comes_back(void **state) {
  struct fixture *fixture = *state;
  struct production production =
      read_one(fixture, counter(fixture, "vllm:generation_tokens_total", "a", 1, 0, 576, -1), 60);
  production.accelerator = "h100";
  production.accelerators = 8;
  production.precision = "fp8";
  production.model = "m";
  const char *path = "build/test_production.json";
  assert_int_equal(production_write(&production, path, &fixture->arena, &fixture->diagnostics), 0);
  const struct source *source;
  json_t *object = json_in_read(path, "not JSON", &source, &fixture->arena, &fixture->diagnostics);
  unlink(path);
  assert_true(production_is_one(object));
  const struct production *again =
      production_of_json(object, source, &fixture->arena, &fixture->diagnostics);
  expect_error(fixture, path, "");
  assert_true(again->accelerators == 8 && again->day_profile_count == 24 &&
              again->hour_count == 48);
  assert_string_equal(again->digest, production.digest);
  json_object_set_new(object, "output_tokens", json_real(1));
  source = fixture_source(fixture, path, object);
  assert_null(production_of_json(object, source, &fixture->arena, &fixture->diagnostics));
  expect_error(fixture, path, "digest does not match");
  json_decref(object);
}

// Prometheus's text format: \\, \" and \n stand for a backslash, a quote and a line feed.
static void test_labels_lose_their_escapes(void **state) {
  struct fixture *fixture = *state;
  const struct source *source = source_from_text(
      "counters.txt",
      "# TYPE vllm:generation_tokens counter\n"
      "vllm:generation_tokens_total{model_name=\"a\\nb\\\\c\\\"d\"} 1 1795305600\n",
      &fixture->arena);
  const struct metrics *metrics = metrics_of_text(source, &fixture->arena, &fixture->diagnostics);
  assert_non_null(metrics);
  assert_int_equal(metrics->count, 1);
  assert_string_equal(metric_label(&metrics->list[0], "model_name"), "a\nb\\c\"d");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_hours_of_two_servers),
      FIXTURE_TEST(test_labels_lose_their_escapes),
      FIXTURE_TEST(test_the_profile_is_of_a_zone),
      FIXTURE_TEST(test_a_reset),
      FIXTURE_TEST(test_a_gap),
      FIXTURE_TEST(test_a_lone_scrape),
      FIXTURE_TEST(test_hits_under_both_names),
      FIXTURE_TEST(test_hits_of_other_engines),
      FIXTURE_TEST(test_files_of_one_server),
      FIXTURE_TEST(test_a_successor),
      FIXTURE_TEST(test_files_that_differ),
      FIXTURE_TEST(test_servers_that_alternate),
      FIXTURE_TEST(test_the_servers_name_of_the_model),
      FIXTURE_TEST(test_refused),
      FIXTURE_TEST(test_the_record_comes_back),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
