// The servers' own counters, in the wording of each, compared with a client's counts.
#include "tests/support/fixture.h"

#include "probe/serving/counters.h"

#include <cmocka.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// NAN: not reported. A sum that lacks a part that others report is not reported, either.
static const struct {
  const char *name, *text, *engine;
  double input, cached, output, accepted; // the last: tokens a step since the start
} cases[] = {
    {"vLLM",
     "# HELP vllm:prompt_tokens_total Number of prefill tokens processed.\n"
     "# TYPE vllm:prompt_tokens_total counter\n"
     "vllm:prompt_tokens_total{engine=\"0\",model_name=\"m\"} 120.0\n"
     "vllm:generation_tokens_total{engine=\"0\",model_name=\"m\"} 64.0\n"
     "vllm:prefix_cache_hits_total{engine=\"0\",model_name=\"m\"} 16.0\n",
     "vLLM", 120, 16, 64, NAN},
    {"vLLM, two engines in one",
     "vllm:prompt_tokens_total{engine=\"0\"} 100\nvllm:prompt_tokens_total{engine=\"1\"} 20\n"
     "vllm:generation_tokens_total{engine=\"0\"} 60\nvllm:generation_tokens_total{engine=\"1\"} "
     "4\n",
     "vLLM", 120, NAN, 64, NAN},
    {"vLLM 0.9 tells its cache's hits under two names: they count once",
     "vllm:gpu_prefix_cache_hits_total 16\nvllm:prefix_cache_hits_total 16\n"
     "vllm:prompt_tokens_total 120\nvllm:generation_tokens_total 64\n",
     "vLLM", 120, 16, 64, NAN},
    {"SGLang",
     "sglang:prompt_tokens_total{model_name=\"m\"} 120\nsglang:generation_tokens_total 64\n"
     "sglang:cached_tokens_total 3\n",
     "SGLang", 120, 3, 64, NAN},
    {"llama-server counts what was cached beside the rest",
     "llamacpp:prompt_tokens_total 100\nllamacpp:prompt_tokens_cached_total 20\n"
     "llamacpp:tokens_predicted_total 64\n",
     "llama.cpp", 120, 20, 64, NAN},
    {"llama-server that counts no cache", "llamacpp:prompt_tokens_total 100\n", NULL, 100, NAN, NAN,
     NAN},
    {"vLLM that speculates: a token of every step's own, and those accepted of its draft",
     "vllm:prompt_tokens_total 120\nvllm:generation_tokens_total 64\n"
     "vllm:spec_decode_num_drafts_total{engine=\"0\"} 20\n"
     "vllm:spec_decode_num_drafts_total{engine=\"1\"} 20\n"
     "vllm:spec_decode_num_draft_tokens_total 120\n"
     "vllm:spec_decode_num_accepted_tokens_total{engine=\"0\"} 20\n"
     "vllm:spec_decode_num_accepted_tokens_total{engine=\"1\"} 50\n",
     "vLLM", 120, NAN, 64, 2.75},
    {"vLLM that has accepted nothing yet, of no drafts",
     "vllm:spec_decode_num_drafts_total 0\nvllm:spec_decode_num_accepted_tokens_total 0\n", NULL,
     NAN, NAN, NAN, NAN},
    {"SGLang that speculates, in two replicas",
     "sglang:spec_accept_length{dp_rank=\"0\"} 2.5\nsglang:spec_accept_length{dp_rank=\"1\"} 3\n",
     NULL, NAN, NAN, NAN, 2.75},
    {"SGLang that speculates, with one replica idle",
     "sglang:spec_accept_length{dp_rank=\"0\"} 0.0\nsglang:spec_accept_length{dp_rank=\"1\"} 3\n",
     NULL, NAN, NAN, NAN, 3},
    {"SGLang that does not", "sglang:spec_accept_length 0.0\n", NULL, NAN, NAN, NAN, NAN},
    {"labels with any character in them, a time, no end of line",
     "vllm:prompt_tokens_total{m=\"a } b \\\" 7\"} 120 1763800000000\n"
     "vllm:generation_tokens_total{m=\"{\"}\t6.4e1",
     "vLLM", 120, NAN, 64, NAN},
    {"no number, less than none, more than any",
     "vllm:prompt_tokens_total many\nvllm:generation_tokens_total -1\n"
     "vllm:prefix_cache_hits_total +Inf\n",
     NULL, NAN, NAN, NAN, NAN},
    {"names that only begin alike, and a label that does not end",
     "vllm:prompt_tokens_total_ 5\nvllm:prompt_token 5\nvllm:generation_tokens_total{a=\"b 5\n",
     NULL, NAN, NAN, NAN, NAN},
    {"no counters at all", "<html>Not Found</html>\n\n\n{}\n", NULL, NAN, NAN, NAN, NAN},
    {"nothing", "", NULL, NAN, NAN, NAN, NAN},
};

static bool is_same(double one, double other) {
  return (isnan(one) && isnan(other)) || one == other;
}

static void test_texts(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    // An exact allocation, so that reading beyond it is detected.
    const size_t size = strlen(cases[i].text);
    char *bytes = test_malloc(size + 1);
    memcpy(bytes, cases[i].text, size);
    const struct server_counters read = counters_read(bytes, size);
    test_free(bytes);
    const struct server_counters start = {NULL, 0, 0, 0, 0, 0, 0};
    const double accepted = counters_accepted_length(&start, &read);
    if (!is_same(read.input_tokens, cases[i].input) ||
        !is_same(read.cached_tokens, cases[i].cached) ||
        !is_same(read.output_tokens, cases[i].output) || !is_same(accepted, cases[i].accepted))
      fail_msg("%s: %g in, %g of them cached, %g out, %g a step", cases[i].name, read.input_tokens,
               read.cached_tokens, read.output_tokens, accepted);
    assert_int_equal(read.engine != NULL, cases[i].engine != NULL);
    if (read.engine)
      assert_string_equal(read.engine, cases[i].engine);
  }
}

// ---- compared with the client's

static struct server_counters counted(double input, double cached, double output) {
  return (struct server_counters){
      .input_tokens = input, .cached_tokens = cached, .output_tokens = output};
}

static const struct {
  double before, after; // output tokens; input tokens are equal
  const char *verdict;
} comparisons[] = {
    {500, 1500, "agree: 1000 tokens in and 1000 out, 1000 and 1000 by usage"},
    {500, 1501, "agree: 1001 tokens in"},
    {500, 1502, "differ: 1002 tokens in"}, // another client's
    {500, 1498, "differ: 998 tokens in"},
    {500, 20, "none: the server's counters were reset"},
    {NAN, 1500, "none: /metrics has no known token counters"},
    {500, NAN, "none: /metrics has no known token counters"},
};

static void test_comparisons(void **state) {
  (void)state;
  struct fixture fixture;
  const struct client_counts client = {1000, 1000};
  fixture_start(&fixture);
  for (size_t i = 0; i < sizeof comparisons / sizeof comparisons[0]; i++) {
    const struct server_counters before =
        counted(comparisons[i].before, NAN, comparisons[i].before);
    const struct server_counters after = counted(comparisons[i].after, NAN, comparisons[i].after);
    expect_fragment(counters_compare(&before, &after, &client, &fixture.arena),
                    comparisons[i].verdict);
  }
  fixture_end(&fixture);
}

static void test_cached_share(void **state) {
  (void)state;
  const struct server_counters before = counted(100, 50, 0), after = counted(300, 60, 0);
  const struct server_counters untold = counted(300, NAN, 0);
  assert_true(counters_cached_share(&before, &after) == 0.05);
  assert_true(isnan(counters_cached_share(&before, &untold)));
  assert_true(isnan(counters_cached_share(&before, &before))); // of nothing
  assert_true(isnan(counters_cached_share(&after, &before)));  // was reset
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_texts),
      cmocka_unit_test(test_comparisons),
      cmocka_unit_test(test_cached_share),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
