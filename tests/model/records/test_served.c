// What serving records say about a workload: the rungs that count, the point on their curve, the
// watts.
#include "base/arena.h"
#include "base/source.h"
#include "model/evidence/curve.h"
#include "model/evidence/grade.h"
#include "model/evidence/workload.h"
#include "model/records/records.h"
#include "model/records/served.h"
#include "model/records/served_choice.h"
#include "model/records/served_rungs.h"
#include "model/records/serving.h"
#include "tests/support/fixture.h"

#include <cmocka.h>
#include <math.h>
#include <string.h>

enum { RUNGS = 6 };

static const double ttft_s[RUNGS] = {0.2, 0.4, 1, 4, 9, 20};

static struct serving_rung rung_of(double concurrency, double tokens_per_s, double watts) {
  struct serving_rung rung = serving_rung_unknown();
  rung.load = LOAD_CLOSED;
  rung.concurrency = concurrency;
  rung.input_tokens = 1000;
  rung.output_tokens = 250;
  rung.completed = 1000;
  rung.output_tokens_per_s = tokens_per_s;
  rung.power.source = "nvml, 4 devices";
  rung.power.covers = COVERS_ACCELERATORS;
  rung.power.devices = 4;
  rung.power.load_power_w = watts;
  rung.power.idle_power_w = 400;
  return rung;
}

// On 8 accelerators, 4 of them metered: 100 to 2000 token/s; the last but one, at 16, was refused.
struct scene {
  struct fixture fixture;
  struct source source;
  struct serving_rung rungs[RUNGS];
  struct serving_record record, *list[4];
  struct records records;
  struct workload workload;
  struct served_request request;
  struct served_rungs found;
};

static void start(struct scene *scene) {
  static const double concurrency[RUNGS] = {8, 1, 2, 4, 16, 32};
  static const double rates[RUNGS] = {700, 100, 195, 370, 5000, 2000};
  memset(scene, 0, sizeof *scene);
  fixture_start(&scene->fixture);
  for (size_t i = 0; i < RUNGS; i++) {
    scene->rungs[i] = rung_of(concurrency[i], rates[i], 1000 + 10 * concurrency[i]);
    scene->rungs[i].ttft.p99_s = scene->rungs[i].ttft.p90_s = ttft_s[i];
    scene->rungs[i].tpot.p99_s = scene->rungs[i].tpot.p90_s = 0.01;
  }
  scene->rungs[4].refused = "2 of 160 requests failed";
  scene->record = serving_record_unknown();
  scene->record.source = &scene->source;
  scene->record.path = "records/a.json";
  scene->record.engine = "vLLM";
  scene->record.tool = "pertoken-probe";
  scene->record.accelerator = "h200";
  scene->record.accelerators = 8;
  scene->record.model = "llama";
  scene->record.precision = "fp8";
  scene->record.activations = "bf16";
  scene->record.date = "2026-11-01";
  scene->record.rungs = scene->rungs;
  scene->record.count = RUNGS;
  scene->list[0] = &scene->record;
  scene->records = (struct records){.servings = scene->list, .serving_count = 1};
  for (int k = 0; k < WORKLOAD_KEYS; k++)
    scene->workload.values[k] = "";
  scene->workload.values[WORKLOAD_MODEL] = "llama";
  scene->workload.values[WORKLOAD_PRECISION] = "fp8";
  scene->request = (struct served_request){&scene->records, "", "h200", &scene->workload, 0, 0, 0};
}

static const char *find(struct scene *scene) {
  return served_find(&scene->request, &scene->found, &scene->fixture.arena);
}

static void test_most(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  start(&scene);
  assert_null(find(&scene));
  assert_int_equal(scene.found.count, 5); // by increasing concurrency, without the refused one
  for (size_t i = 1; i < scene.found.count; i++)
    assert_true(scene.found.list[i]->concurrency > scene.found.list[i - 1]->concurrency);
  served_most(&scene.found, &served, &scene.fixture.arena);
  expect_near(served.tokens_per_s, 2000.0 / 8, 1e-12, "per accelerator");
  expect_near(served.load_power_w, 1320.0 / 4, 1e-12, "of those that are metered");
  expect_near(served.idle_power_w, 100, 1e-12, "idle");
  assert_true(isnan(served.node_power_w));
  assert_int_equal(served.grade, GRADE_MEASURED);
  expect_fragment(served.source, "record a.json: vLLM on 8 accelerators, 32 requests in flight");
  expect_fragment(served.note, "more requests in flight may yield more");
  expect_fragment(served.note, "1 of its rungs was refused: 2 of 160 requests failed");
  scene.rungs[0].output_tokens_per_s = 1990; // at 8
  served_most(&scene.found, &served, &scene.fixture.arena);
  assert_null(strstr(served.note, "may yield more"));
  fixture_end(&scene.fixture);
}

static void test_between_rungs(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  assert_null(find(&scene));
  assert_null(served_at(&scene.found, 4, &served, arena));
  expect_near(served.tokens_per_s, 370.0 / 8, 1e-12, "a rung");
  assert_int_equal(served.grade, GRADE_MEASURED);
  assert_null(served_at(&scene.found, 3, &served, arena));
  assert_true(served.tokens_per_s > 195.0 / 8 && served.tokens_per_s < 370.0 / 8);
  expect_near(served.load_power_w, 1030.0 / 4, 1e-9, "watts on a straight line");
  assert_int_equal(served.grade, GRADE_PROJECTED);
  expect_fragment(served.source, "interpolated to 3 requests in flight, of 1 to 32");
  expect_why("beyond", served_at(&scene.found, 33, &served, arena), "1 to 32 requests in flight");
  scene.record.grade = GRADE_PUBLISHED; // which interpolation does not improve
  assert_null(served_at(&scene.found, 3, &served, arena));
  assert_int_equal(served.grade, GRADE_PROJECTED);
  fixture_end(&scene.fixture);
}

static void test_within_limits(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  struct curve_choice choice;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  for (size_t i = 0; i < RUNGS; i++) // which are not in order
    scene.rungs[i].ttft.p99_s = scene.rungs[i].concurrency / 10;
  assert_null(find(&scene));
  const struct curve_limits rate = {46.25 * 2, INFINITY, INFINITY};
  assert_null(served_within(&scene.found, &rate, &choice, &served, arena));
  assert_int_equal(choice.batch, 4); // 370 / 4
  const struct curve_limits time = {0, 0.85, 0.02};
  assert_null(served_within(&scene.found, &time, &choice, &served, arena));
  assert_int_equal(choice.batch, 8);
  assert_true(choice.is_measured);
  const struct curve_limits between = {0, 1.7, 0.02};
  assert_null(served_within(&scene.found, &between, &choice, &served, arena));
  assert_true(choice.batch > 8 && choice.batch < 32 && choice.ttft_s <= 1.7 + 1e-9);
  expect_near(served.tokens_per_s, choice.tokens_per_s, 1e-12, "the same");
  const struct curve_limits none = {0, 0.05, INFINITY};
  expect_why("too soon", served_within(&scene.found, &none, &choice, &served, arena),
             "no measured point meets it");
  scene.rungs[1].ttft.p99_s = scene.rungs[1].ttft.p90_s = NAN; // at 1, of too few requests
  assert_null(find(&scene));
  assert_null(served_within(&scene.found, &time, &choice, &served, arena));
  assert_int_equal(choice.batch, 8);
  const struct curve_limits below = {0, 0.15, 0.02}; // only 1 meets it, whose percentile is unknown
  expect_why("not told", served_within(&scene.found, &below, &choice, &served, arena),
             "at batch 2 P99 is 0.2 s to the first token");
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].ttft.p99_s = scene.rungs[i].ttft.p95_s = scene.rungs[i].ttft.p90_s = NAN;
  assert_null(find(&scene));
  expect_why("not told", served_within(&scene.found, &time, &choice, &served, arena),
             "give no P90");
  fixture_end(&scene.fixture);
}

static void test_watts_of_a_node(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  start(&scene);
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].power.covers = COVERS_NODE;
  assert_null(find(&scene));
  served_most(&scene.found, &served, &scene.fixture.arena);
  expect_near(served.node_power_w, 1320.0 / 8, 1e-12, "of all in it, whatever is metered");
  assert_true(isnan(served.load_power_w) && isnan(served.idle_power_w));
  assert_null(served_at(&scene.found, 3, &served, &scene.fixture.arena));
  expect_near(served.node_power_w, 1030.0 / 8, 1e-9, "between");
  fixture_end(&scene.fixture);
}

// MLPerf's requests count for any length, which is remarked.
static void test_lengths_of_mlperf(void **state) {
  (void)state;
  static const struct {
    double recorded_input, input_tokens, output_tokens;
    const char *source;
    bool is_remarked;
  } cases[] = {{1000, 1000, 250, "requests of 1000 tokens in, 250 out", false},
               {1000, 8192, 1024, "requests of 1000 tokens in, 250 out", true},
               {NAN, 0, 0, "requests of 250 tokens out, unstated in", false},
               {NAN, 0, 250, "requests of 250 tokens out, unstated in", false},
               {NAN, 8192, 1024, "requests of 250 tokens out, unstated in", true}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct scene scene;
    struct served served;
    start(&scene);
    scene.record.grade = GRADE_BENCHMARK;
    for (size_t r = 0; r < RUNGS; r++)
      scene.rungs[r].input_tokens = cases[i].recorded_input;
    scene.request.input_tokens = cases[i].input_tokens;
    scene.request.output_tokens = cases[i].output_tokens;
    assert_null(find(&scene));
    assert_string_equal(scene.found.remark,
                        cases[i].is_remarked ? "the record's requests have MLPerf's lengths, not "
                                               "those of input_tokens and output_tokens"
                                             : "");
    served_most(&scene.found, &served, &scene.fixture.arena);
    expect_fragment(served.source, cases[i].source);
    fixture_end(&scene.fixture);
  }
}

// They do not count beside a record of the lengths that the workload states.
static void test_stated_lengths_beside_mlperf(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  struct serving_record mlperf = scene.record;
  struct serving_rung other = rung_of(1, 50, 100);
  other.input_tokens = 295;
  mlperf.grade = GRADE_BENCHMARK;
  mlperf.rungs = &other;
  mlperf.count = 1;
  scene.list[1] = &mlperf;
  scene.records.serving_count = 2;
  expect_why("no lengths stated", find(&scene), "choose with input_tokens and output_tokens");
  scene.request.input_tokens = 1000;
  assert_null(find(&scene));
  assert_ptr_equal(scene.found.record, &scene.record);
  assert_string_equal(scene.found.remark, "");
  scene.request.input_tokens = 0;
  scene.workload.values[WORKLOAD_CONTEXT] = "8192";
  assert_null(find(&scene));
  assert_ptr_equal(scene.found.record, &mlperf);
  assert_string_equal(scene.found.remark,
                      "the record's requests have MLPerf's lengths, not that of context");
  fixture_end(&scene.fixture);
}

// A workload that differs from the record.
static const struct {
  const char *file, *accelerator;
  int key; // of the workload
  const char *value;
  double input_tokens, output_tokens;
  const char *why;
} refusals[] = {
    {"", "h200", WORKLOAD_MODEL, "llama", 1020, 240, ""},
    {"a.json", "h200", WORKLOAD_MODEL, "llama", 0, 0, ""},
    {"", "h200", WORKLOAD_CONTEXT, "1024", 0, 0, ""},
    {"", "b200", WORKLOAD_MODEL, "llama", 0, 0, "no serving record of b200"},
    {"b.json", "h200", WORKLOAD_MODEL, "llama", 0, 0, "no serving record named b.json"},
    {"a.json", "b200", WORKLOAD_MODEL, "llama", 0, 0,
     "has accelerator = h200, but the option asks for b200"},
    {"", "h200", WORKLOAD_MODEL, "mixtral", 0, 0,
     "has model = llama, but the option asks for mixtral"},
    {"", "h200", WORKLOAD_PRECISION, "bf16", 0, 0, "has precision = fp8, but"},
    {"", "h200", WORKLOAD_SPECULATION, "mtp", 0, 0, "has speculation = (not stated), but"},
    {"", "h200", WORKLOAD_ACTIVATIONS, "bf16", 0, 0, ""},
    {"", "h200", WORKLOAD_ACTIVATIONS, "fp8", 0, 0,
     "has activations = bf16, but the option asks for fp8"},
    {"", "h200", WORKLOAD_KV, "fp8", 0, 0, "has kv = (not stated), but the option asks for fp8"},
    {"", "h200", WORKLOAD_TOKENS, "total", 0, 0,
     "has tokens = output, but the option asks for total"},
    {"", "h200", WORKLOAD_CONTEXT, "8192", 0, 0,
     "have 8192 tokens in, but the records served requests of 1000 tokens in, 250 out (a.json)"},
    {"", "h200", WORKLOAD_MODEL, "llama", 1000, 300, "have 1000 tokens in, 300 out, but"},
    {"", "h200", WORKLOAD_MODEL, "llama", 0, 100, "have 100 out, but the records served"},
};

static void test_contradictions(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct scene scene;
    start(&scene);
    scene.request.file = refusals[i].file;
    scene.request.accelerator = refusals[i].accelerator;
    scene.request.input_tokens = refusals[i].input_tokens;
    scene.request.output_tokens = refusals[i].output_tokens;
    scene.workload.values[refusals[i].key] = refusals[i].value;
    expect_why(refusals[i].value, find(&scene), refusals[i].why);
    fixture_end(&scene.fixture);
  }
}

static void test_refused_rungs_and_twins(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  scene.rungs[1].concurrency = 2;
  expect_why("two at 2", find(&scene), "two rungs with 2 requests in flight");
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].refused = "too short";
  expect_why("all", find(&scene), "every rung of the serving records of 'h200' was refused");
  scene.record.basis = BASIS_DECODE;
  assert_false(served_is_there(&scene.request));
  expect_why("decoding", find(&scene), "no serving record of h200");
  fixture_end(&scene.fixture);
}

// Of several with the same lengths, the best grade counts, then the newest; if lengths differ, none
// does.
static void test_several_records(void **state) {
  (void)state;
  struct scene scene;
  start(&scene);
  struct serving_record published = scene.record, newer = scene.record;
  struct serving_rung other = rung_of(1, 50, 100);
  published.grade = GRADE_PUBLISHED;
  published.date = "2026-11-30";
  newer.date = "2026-11-02";
  newer.path = "newer.json";
  scene.list[1] = &published;
  scene.list[2] = &newer;
  scene.records.serving_count = 3;
  assert_null(find(&scene));
  assert_ptr_equal(scene.found.record, &newer);
  assert_int_equal(scene.found.others, 2);
  expect_fragment(scene.found.remark, "of 3 matching serving records, newer.json is used");
  other.input_tokens = 8000;
  newer.rungs = &other;
  newer.count = 1;
  expect_why("two lengths", find(&scene), "match with several request lengths; choose");
  scene.request.input_tokens = 8100;
  assert_null(find(&scene));
  assert_ptr_equal(scene.found.record, &newer);
  fixture_end(&scene.fixture);
}

// However many there are, the newest counts, and all are counted.
static void test_many_records(void **state) {
  (void)state;
  enum { MANY = 70 };
  struct scene scene;
  struct serving_record records[MANY], *list[MANY];
  start(&scene);
  for (int i = 0; i < MANY; i++) {
    records[i] = scene.record;
    records[i].path = arena_printf(&scene.fixture.arena, "records/%d.json", i);
    records[i].date = arena_printf(&scene.fixture.arena, "2026-%02d-%02d", 1 + i / 28, 1 + i % 28);
    list[i] = &records[i];
  }
  scene.records = (struct records){.servings = list, .serving_count = MANY};
  assert_null(find(&scene));
  expect_fragment(scene.found.remark, "of 70 matching serving records, 69.json is used");
  fixture_end(&scene.fixture);
}

// However many there are, all are on the curve.
static void test_many_rungs(void **state) {
  (void)state;
  enum { MANY = 70 };
  struct scene scene;
  struct served served;
  struct serving_rung rungs[MANY];
  start(&scene);
  for (int i = 0; i < MANY; i++)
    rungs[i] = rung_of(MANY - i, 100.0 * (MANY - i), 1000);
  scene.record.rungs = rungs;
  scene.record.count = MANY;
  assert_null(find(&scene));
  assert_int_equal(scene.found.curve.count, MANY);
  assert_null(served_at(&scene.found, MANY, &served, &scene.fixture.arena));
  expect_near(served.tokens_per_s, 100.0 * MANY / 8, 1e-12, "at the last");
  served_most(&scene.found, &served, &scene.fixture.arena);
  expect_fragment(served.note, "maximum, with 70 requests in flight");
  fixture_end(&scene.fixture);
}

// A load beyond those from which limits choose can still be asked for.
static void test_a_large_load(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  struct curve_choice choice;
  const struct curve_limits limits = {0, 5, INFINITY};
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  scene.rungs[5].concurrency = 70000;
  assert_null(find(&scene));
  served_most(&scene.found, &served, arena);
  expect_fragment(served.note, "maximum, with 70000 requests in flight");
  assert_null(served_at(&scene.found, 70000, &served, arena));
  expect_near(served.tokens_per_s, 2000.0 / 8, 1e-12, "at it");
  expect_why("limits", served_within(&scene.found, &limits, &choice, &served, arena),
             "up to batch 70000, and none is chosen above 65536");
  fixture_end(&scene.fixture);
}

// Without a closed loop there is no curve.
static void test_arrivals(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  struct curve_choice choice;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  for (size_t i = 0; i < RUNGS; i++) {
    scene.rungs[i].load = LOAD_POISSON;
    scene.rungs[i].request_rate = scene.rungs[i].concurrency / 4;
  }
  assert_null(find(&scene));
  assert_int_equal(scene.found.closed, 0);
  served_most(&scene.found, &served, arena);
  expect_fragment(served.source, "8 requests/s, Poisson arrivals");
  expect_fragment(served.note, "a higher rate of requests may yield more");
  const struct curve_limits limits = {0, 4, INFINITY}, rate = {1, 4, 1};
  assert_null(served_within(&scene.found, &limits, &choice, &served, arena));
  expect_near(served.tokens_per_s, 700.0 / 8, 1e-12, "the fastest within 4 s, at 0.2 s");
  expect_why("no users", served_within(&scene.found, &rate, &choice, &served, arena),
             "interactivity needs requests in flight");
  expect_why("no batch", served_at(&scene.found, 4, &served, arena), "omit batch");
  fixture_end(&scene.fixture);
}

static void test_an_unknown_load(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  struct curve_choice choice;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  for (size_t i = 0; i < RUNGS; i++) {
    scene.rungs[i].load = LOAD_UNKNOWN;
    scene.rungs[i].concurrency = NAN;
  }
  assert_null(find(&scene));
  served_most(&scene.found, &served, arena);
  expect_fragment(served.source, "on 8 accelerators, an unknown load, ");
  const struct curve_limits limits = {0, 1e-9, INFINITY}, rate = {1, 4, 1};
  expect_why("limits", served_within(&scene.found, &limits, &choice, &served, arena),
             "no rung meets the limits at P99");
  expect_why("rate", served_within(&scene.found, &rate, &choice, &served, arena),
             "its record has no closed loop, and interactivity needs requests in flight");
  expect_why("batch", served_at(&scene.found, 4, &served, arena), "has no closed loop");
  fixture_end(&scene.fixture);
}

// Arrivals count beside closed loops: for the maximum, and within times if they are faster.
static void test_arrivals_and_closed_loops(void **state) {
  (void)state;
  static const struct {
    struct curve_limits limits;
    double tokens_per_s; // of all
    int batch;           // 0: arrivals
  } expected[] = {
      {{0, 25, INFINITY}, 2000, 0},
      {{0, 20 * (1 - 1e-15), INFINITY}, 2000, 0}, // a limit converted from hours
      {{0, 4, INFINITY}, 700, 8},                 // which the arrivals miss
      {{100, 25, INFINITY}, 100, 1},              // they have no users
  };
  struct scene scene;
  struct served served;
  struct curve_choice choice;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  scene.rungs[5].load = LOAD_POISSON; // 2000 token/s, with 20 s to the first token
  scene.rungs[5].request_rate = 8;
  scene.rungs[4].load = LOAD_BURST;
  scene.rungs[4].refused = "";
  assert_null(find(&scene));
  assert_int_equal(scene.found.count, 6);
  assert_int_equal(scene.found.closed, 4);
  assert_int_equal(scene.found.curve.count, 4);
  served_most(&scene.found, &served, arena);
  expect_near(served.tokens_per_s, 5000.0 / 8, 1e-12, "all at once");
  expect_fragment(served.note, "the server's maximum, with all requests at once");
  assert_null(strstr(served.note, "may yield more"));
  assert_null(served_at(&scene.found, 4, &served, arena));
  scene.rungs[4].refused = "2 of 160 requests failed";
  assert_null(find(&scene));
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    assert_null(served_within(&scene.found, &expected[i].limits, &choice, &served, arena));
    expect_near(served.tokens_per_s, expected[i].tokens_per_s / 8, 1e-12, "within");
    assert_int_equal(choice.batch, expected[i].batch);
  }
  for (size_t i = 0; i < 4; i++)
    scene.rungs[i].ttft.p99_s = scene.rungs[i].ttft.p90_s = NAN;
  assert_null(find(&scene));
  assert_null(served_within(&scene.found, &expected[0].limits, &choice, &served, arena));
  expect_near(served.tokens_per_s, 2000.0 / 8, 1e-12, "only arrivals tell their times");
  expect_why("missed", served_within(&scene.found, &expected[2].limits, &choice, &served, arena),
             "no rung meets the limits at P99");
  fixture_end(&scene.fixture);
}

// Times are compared at the percentile that most rungs tell, of the times that are limited.
static void test_percentile_of_arrivals(void **state) {
  (void)state;
  static const struct curve_limits limits = {0, 2, INFINITY};
  struct scene scene;
  struct served served;
  struct curve_choice choice;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  for (size_t i = 0; i < RUNGS; i++) {
    scene.rungs[i].load = LOAD_POISSON;
    scene.rungs[i].request_rate = scene.rungs[i].concurrency / 4;
    scene.rungs[i].ttft.p99_s = scene.rungs[i].concurrency / 10;
    scene.rungs[i].ttft.p90_s = NAN;
  }
  scene.rungs[5].ttft.p99_s = NAN; // the fastest tells P90 only
  scene.rungs[5].ttft.p90_s = 1.9;
  scene.rungs[0].ttft.p99_s = 2.4;
  assert_null(find(&scene));
  assert_null(served_within(&scene.found, &limits, &choice, &served, arena));
  expect_near(served.tokens_per_s, 370.0 / 8, 1e-12, "the fastest at P99");
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].ttft.p90_s = i == 5 ? 2.1 : 0.2;
  assert_null(find(&scene));
  assert_null(served_within(&scene.found, &limits, &choice, &served, arena));
  expect_near(served.tokens_per_s, 700.0 / 8, 1e-12, "the fastest at P90, which all tell");
  expect_fragment(served.source, "TTFT P90 0.2 s");
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].tpot.p99_s = scene.rungs[i].tpot.p90_s = NAN;
  assert_null(find(&scene));
  expect_why("both", served_within(&scene.found, &limits, &choice, &served, arena), "give no P90");
  scene.workload.values[WORKLOAD_TTFT] = "2 s"; // alone
  assert_null(find(&scene));
  assert_null(served_within(&scene.found, &limits, &choice, &served, arena));
  expect_near(served.tokens_per_s, 700.0 / 8, 1e-12, "with no time per token");
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].load = LOAD_CLOSED;
  assert_null(find(&scene));
  const struct curve_limits soon = {0, 0.01, INFINITY};
  expect_why("closed", served_within(&scene.found, &soon, &choice, &served, arena),
             "at batch 1 P90 is 0.2 s to the first token, at 100 token/s per user");
  fixture_end(&scene.fixture);
}

// Several records are judged at the percentile that all of them have on most rungs.
static void test_percentile_of_several(void **state) {
  (void)state;
  static const struct {
    size_t with_p99[2], with_p90[2]; // rungs of each record
    int percentile;
  } expected[] = {{{5, 5}, {5, 5}, 99}, {{5, 0}, {5, 5}, 90}, {{0, 5}, {5, 5}, 90},
                  {{5, 1}, {5, 5}, 90}, {{5, 0}, {0, 5}, 0},  {{5, 0}, {5, 0}, 99}};
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct served_tally tally = {0};
    struct scene scene;
    start(&scene);
    scene.workload.values[WORKLOAD_TTFT] = "2 s";
    scene.rungs[4].refused = "";
    for (size_t one = 0; one < 2; one++) {
      for (size_t r = 0; r < RUNGS; r++) {
        scene.rungs[r].ttft.p99_s = r < expected[i].with_p99[one] ? 0.2 : NAN;
        scene.rungs[r].ttft.p90_s = r < expected[i].with_p90[one] ? 0.1 : NAN;
      }
      assert_null(find(&scene));
      served_tally_add(&tally, &scene.found, &scene.workload);
    }
    assert_int_equal(served_tally_percentile(&tally), expected[i].percentile);
    fixture_end(&scene.fixture);
  }
}

// One that no rung has is not asked for in vain: the record's own is used.
static void test_percentile_asked_for(void **state) {
  (void)state;
  static const int asked[] = {0, 99, 95, 90}, given[] = {99, 99, 99, 90};
  for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
    struct scene scene;
    start(&scene);
    scene.request.percentile = asked[i];
    assert_null(find(&scene));
    assert_int_equal(scene.found.percentile, given[i]);
    assert_int_equal(scene.found.curve.percentile, given[i]);
    fixture_end(&scene.fixture);
  }
}

// The limit that no rung meets is to blame, none if each is met by some.
static void test_missed(void **state) {
  (void)state;
  static const struct {
    struct curve_limits limits;
    enum workload_key missed;
  } expected[] = {{{0, 1, 0.005}, WORKLOAD_TPOT},
                  {{0, 0.1, 0.02}, WORKLOAD_TTFT},
                  {{200, 1, 0.02}, WORKLOAD_INTERACTIVITY},
                  {{0, 1, 0.02}, WORKLOAD_KEYS}};
  struct scene scene;
  start(&scene);
  assert_null(find(&scene));
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++)
    assert_int_equal(served_missed(&scene.found, &expected[i].limits), expected[i].missed);
  fixture_end(&scene.fixture);
}

// A rung without watts takes them from those around it, graded projected, but not beyond them.
static void test_watts_of_some(void **state) {
  (void)state;
  static const struct {
    size_t without; // an index of rungs
    int batch;      // 0: the maximum
    double watts;   // of the four metered; 0: none
    enum grade grade, power_grade;
    const char *source;
  } expected[] = {
      {1, 0, 1320, GRADE_MEASURED, GRADE_MEASURED, "nvml, 4 devices, 32 requests in flight"},
      {1, 4, 1040, GRADE_MEASURED, GRADE_MEASURED, "nvml, 4 devices, 4 requests"},
      {1, 3, 1030, GRADE_PROJECTED, GRADE_PROJECTED, "nvml, 4 devices, interpolated to 3"},
      {1, 1, 0, GRADE_MEASURED, GRADE_MEASURED, ""},
      {5, 0, 0, GRADE_MEASURED, GRADE_MEASURED, ""},
      {3, 5, 1050, GRADE_PROJECTED, GRADE_PROJECTED, "interpolated to 5"}, // the nearest has none
      {3, 4, 1040, GRADE_MEASURED, GRADE_PROJECTED, "nvml, 4 devices, interpolated to 4 requests"},
      {5, 16, 0, GRADE_PROJECTED, GRADE_PROJECTED, ""},
  };
  for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
    struct scene scene;
    struct served served;
    start(&scene);
    scene.rungs[expected[i].without].power = serving_rung_unknown().power;
    assert_null(find(&scene));
    if (expected[i].batch)
      assert_null(served_at(&scene.found, expected[i].batch, &served, &scene.fixture.arena));
    else
      served_most(&scene.found, &served, &scene.fixture.arena);
    assert_true(isnan(served.node_power_w));
    assert_int_equal(served.grade, expected[i].grade);
    if (expected[i].watts > 0) {
      expect_near(served.load_power_w, expected[i].watts / 4, 1e-9, expected[i].source);
      assert_int_equal(served.power_grade, expected[i].power_grade);
    } else {
      assert_true(isnan(served.load_power_w));
    }
    expect_fragment(served.power_source, expected[i].source);
    fixture_end(&scene.fixture);
  }
}

// Rungs of two meters: each rung's own, and between them that of the first.
static void test_watts_of_two_meters(void **state) {
  (void)state;
  struct scene scene;
  struct served served;
  start(&scene);
  scene.rungs[5].power.covers = COVERS_NODE; // at 32
  assert_null(find(&scene));
  served_most(&scene.found, &served, &scene.fixture.arena);
  expect_near(served.node_power_w, 1320.0 / 8, 1e-12, "its own meter");
  assert_null(served_at(&scene.found, 7, &served, &scene.fixture.arena));
  expect_near(served.load_power_w, 1070.0 / 4, 1e-9, "of the accelerators");
  assert_true(isnan(served.node_power_w));
  assert_null(served_at(&scene.found, 30, &served, &scene.fixture.arena));
  assert_true(isnan(served.load_power_w) && isnan(served.node_power_w));
  fixture_end(&scene.fixture);
}

// A rung that its server contradicts is doubted, and so is what is interpolated on its curve.
static void test_doubt(void **state) {
  (void)state;
  static const char words[] = "with 8 requests in flight, the server's own counters differ: 2 of 1";
  struct scene scene;
  struct served served;
  start(&scene);
  struct arena *arena = &scene.fixture.arena;
  for (size_t i = 0; i < RUNGS; i++)
    scene.rungs[i].server_counters = "agree: 2 of 2";
  scene.rungs[0].server_counters = "differ: 2 of 1";
  assert_null(find(&scene));
  served_most(&scene.found, &served, arena);
  assert_string_equal(served.doubt, "");
  assert_null(served_at(&scene.found, 8, &served, arena));
  assert_string_equal(served.doubt, words);
  assert_null(served_at(&scene.found, 7, &served, arena));
  assert_string_equal(served.doubt, words);
  fixture_end(&scene.fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_most),
      cmocka_unit_test(test_between_rungs),
      cmocka_unit_test(test_within_limits),
      cmocka_unit_test(test_watts_of_a_node),
      cmocka_unit_test(test_lengths_of_mlperf),
      cmocka_unit_test(test_stated_lengths_beside_mlperf),
      cmocka_unit_test(test_contradictions),
      cmocka_unit_test(test_refused_rungs_and_twins),
      cmocka_unit_test(test_several_records),
      cmocka_unit_test(test_many_records),
      cmocka_unit_test(test_many_rungs),
      cmocka_unit_test(test_a_large_load),
      cmocka_unit_test(test_arrivals),
      cmocka_unit_test(test_an_unknown_load),
      cmocka_unit_test(test_arrivals_and_closed_loops),
      cmocka_unit_test(test_percentile_of_arrivals),
      cmocka_unit_test(test_percentile_of_several),
      cmocka_unit_test(test_percentile_asked_for),
      cmocka_unit_test(test_missed),
      cmocka_unit_test(test_watts_of_some),
      cmocka_unit_test(test_watts_of_two_meters),
      cmocka_unit_test(test_doubt),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
