// Forced choices of experts: their distribution, counted over many tables.
#include "tests/support/fixture.h"

#include "kernels/routing.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static struct decode_request request_of(int count, int chosen, int batch,
                                        enum decode_routing routing, double skew) {
  struct decode_request request = {.batch = batch, .seed = 5, .routing = routing};
  request.skew = (float)skew;
  request.shape.layers = 3;
  request.shape.experts = (struct decode_experts){.count = count, .chosen = chosen, .hidden = 1};
  return request;
}

static uint16_t *filled(const struct decode_request *request) {
  uint16_t *table = malloc(routing_entries(request) * sizeof *table);
  assert_non_null(table);
  memset(table, 0xFF, routing_entries(request) * sizeof *table);
  routing_fill(request, table);
  return table;
}

// The distinct experts of a step and layer, which consists of `entries` entries.
static int distinct(const uint16_t *entries, int count) {
  bool seen[MAX_DECODE_EXPERTS] = {false};
  int found = 0;
  for (int i = 0; i < count; i++) {
    found += !seen[entries[i]];
    seen[entries[i]] = true;
  }
  return found;
}

// Every row's experts are valid and all different; also all of them, and one of one.
static void test_rows(void **state) {
  (void)state;
  static const struct {
    int count, chosen;
    enum decode_routing routing;
    double skew;
  } cases[] = {
      {8, 2, ROUTING_UNIFORM, 0},   {256, 8, ROUTING_SKEWED, 1.2}, {5, 5, ROUTING_SKEWED, 3},
      {16, 15, ROUTING_SKEWED, 50}, {1, 1, ROUTING_UNIFORM, 0},    {1024, 4, ROUTING_SKEWED, 0},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        request_of(cases[i].count, cases[i].chosen, 3, cases[i].routing, cases[i].skew);
    uint16_t *table = filled(&request);
    const size_t chosen = (size_t)cases[i].chosen;
    for (size_t at = 0; at < routing_entries(&request); at += chosen) {
      for (size_t k = 0; k < chosen; k++)
        assert_true(table[at + k] < cases[i].count);
      assert_int_equal(distinct(table + at, cases[i].chosen), cases[i].chosen);
    }
    free(table);
  }
}

// Layers, steps and seeds differ; the same request gives the same table.
static void test_tables(void **state) {
  (void)state;
  struct decode_request request = request_of(64, 4, 8, ROUTING_UNIFORM, 0);
  uint16_t *table = filled(&request), *again = filled(&request);
  const size_t entries = routing_entries(&request), layer = 8 * 4, step = 3 * layer;
  assert_int_equal(entries, ROUTING_STEPS * step);
  assert_memory_equal(table, again, entries * sizeof *table);
  assert_memory_not_equal(table, table + layer, layer * sizeof *table);
  assert_memory_not_equal(table, table + step, step * sizeof *table);
  request.seed++;
  routing_fill(&request, again);
  assert_memory_not_equal(table, again, entries * sizeof *table);
  free(table);
  free(again);

  request.shape.experts.dense_layers = 2; // the dense layers' entries are 0
  table = filled(&request);
  for (size_t i = 0; i < 2 * layer; i++)
    assert_int_equal(table[i], 0);
  free(table);
}

// A row's choices do not depend on the number of rows.
static void test_rows_of_any_batch(void **state) {
  (void)state;
  const struct decode_request large = request_of(64, 4, 8, ROUTING_SKEWED, 1),
                              small = request_of(64, 4, 3, ROUTING_SKEWED, 1);
  uint16_t *all = filled(&large), *first = filled(&small);
  for (size_t at = 0; at < ROUTING_STEPS * 3; at++) // steps and layers
    assert_memory_equal(all + at * 8 * 4, first + at * 3 * 4, 3 * 4 * sizeof *all);
  free(all);
  free(first);
}

enum { SEEDS = 200 };

// The mean number of distinct experts of a step and layer, over seeds, steps and layers.
static double mean_distinct(struct decode_request request) {
  const int width = request.batch * request.shape.experts.chosen;
  double sum = 0;
  for (request.seed = 1; request.seed <= SEEDS; request.seed++) {
    uint16_t *table = filled(&request);
    const size_t entries = routing_entries(&request);
    for (size_t at = 0; at < entries; at += (size_t)width)
      sum += distinct(table + at, width);
    free(table);
  }
  return sum / (SEEDS * ROUTING_STEPS * 3);
}

// Uniform: the closed form. Skewed with one expert per row: every row misses expert e with
// probability (1 - p)^batch, p proportional to 1 / place^skew. Five standard errors, each expert's
// at most one half, are 5 * sqrt(count) / 2 / sqrt(38400).
static void test_distinct(void **state) {
  (void)state;
  static const int cases[][3] = {{8, 2, 1}, {8, 2, 4}, {128, 4, 16}, {256, 8, 32}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request =
        request_of(cases[i][0], cases[i][1], cases[i][2], ROUTING_UNIFORM, 0);
    expect_near(mean_distinct(request), routing_expected(&request.shape, request.batch) / 3,
                5 * sqrt(cases[i][0]) / 2 / sqrt(SEEDS * ROUTING_STEPS * 3), "distinct experts");
  }
  const struct decode_request skewed = request_of(16, 1, 8, ROUTING_SKEWED, 1.5);
  double sum = 0, expected = 0;
  for (int place = 1; place <= 16; place++)
    sum += pow(place, -1.5);
  for (int place = 1; place <= 16; place++)
    expected += 1 - pow(1 - pow(place, -1.5) / sum, 8);
  expect_near(mean_distinct(skewed), expected, 10 / sqrt(SEEDS * ROUTING_STEPS * 3),
              "distinct experts");
}

// Uniform choices prefer no expert; skewed ones prefer a different expert in each layer. Two of
// three with weights 1, 1/2, 1/3 (skew 1): the first is left out with probability (1/2 / (11/6))
// (1/3 / (4/3)) + (1/3 / (11/6)) (1/2 / (3/2)) = 0.1288.
static void test_law(void **state) {
  (void)state;
  double left_out[2][3] = {{0}};
  int firsts = 0, layers = 0;
  for (int skewed = 0; skewed < 2; skewed++) {
    struct decode_request request =
        request_of(3, 2, 1, skewed ? ROUTING_SKEWED : ROUTING_UNIFORM, 1);
    for (request.seed = 1; request.seed <= SEEDS; request.seed++) {
      uint16_t *table = filled(&request);
      for (int layer = 0; layer < 3; layer++) {
        int missed[3] = {0};
        for (int step = 0; step < ROUTING_STEPS; step++) {
          const uint16_t *pair = table + (step * 3 + layer) * 2;
          missed[3 - pair[0] - pair[1]]++;
        }
        int least = missed[0] <= missed[1] && missed[0] <= missed[2] ? 0
                    : missed[1] <= missed[2]                         ? 1
                                                                     : 2;
        firsts += skewed && least == 0;
        layers += skewed;
        for (int i = 0; i < 3; i++)
          left_out[skewed][i] += missed[skewed ? (i + least) % 3 : i];
      }
      free(table);
    }
  }
  const double draws = SEEDS * ROUTING_STEPS * 3;
  for (int i = 0; i < 3; i++)
    expect_near(left_out[0][i] / draws, 1.0 / 3, 5 * sqrt(2.0 / 9 / draws), "left out");
  // The least missed of 64 draws is nearly always the first; chance lowers the mean a little.
  expect_near(left_out[1][0] / draws, 0.1288, 0.01, "the most popular left out");
  expect_near((double)firsts / layers, 1.0 / 3, 5 * sqrt(2.0 / 9 / layers), "popular expert 0");
}

static void test_expected(void **state) {
  (void)state;
  struct decode_request request = request_of(8, 2, 4, ROUTING_UNIFORM, 0);
  expect_near(routing_expected(&request.shape, 1), 3 * 2, 1e-12, "expected");
  expect_near(routing_expected(&request.shape, 4), 3 * 8 * (1 - 81 / 256.0), 1e-12, "expected");
  request.shape.experts.dense_layers = 1;
  expect_near(routing_expected(&request.shape, 1), 2 * 2, 1e-12, "expected");
  request.shape.experts.dense_layers = 9;
  expect_near(routing_expected(&request.shape, 1), 0, 0, "expected");
  request.shape.experts.count = 0;
  expect_near(routing_expected(&request.shape, 1), 0, 0, "expected");
}

static void test_faults(void **state) {
  (void)state;
  struct decode_request request = request_of(8, 2, 4, ROUTING_MODEL, -1);
  assert_null(routing_fault(&request));
  assert_int_equal(routing_entries(&request), 0);
  request.routing = ROUTING_UNIFORM;
  assert_null(routing_fault(&request));
  request.routing = ROUTING_SKEWED;
  assert_non_null(routing_fault(&request));
  request.skew = NAN;
  assert_non_null(routing_fault(&request));
  request.skew = INFINITY;
  assert_non_null(routing_fault(&request));
  request.skew = 0;
  assert_null(routing_fault(&request));
  request.shape.experts.count = 0;
  assert_string_equal(routing_fault(&request), "routing of a model without experts");
  request.routing = (enum decode_routing)3;
  assert_non_null(routing_fault(&request));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows),
      cmocka_unit_test(test_tables),
      cmocka_unit_test(test_rows_of_any_batch),
      cmocka_unit_test(test_distinct),
      cmocka_unit_test(test_law),
      cmocka_unit_test(test_expected),
      cmocka_unit_test(test_faults),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
