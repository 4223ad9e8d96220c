// Parts of a simulation: the same answer however the work is divided, and files that are not parts.
// Run in the repository's root.
#include "tests/support/scenario_fixture.h"

#include "model/simulate/part.h"
#include "model/simulate/part_file.h"
#include "model/simulate/part_numbers.h"
#include "model/simulate/simulate.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *part_text(const struct simulation_part *part, struct arena *arena) {
  char *text;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  assert_int_equal(simulation_part_print(part, file), 0);
  fclose(file);
  const char *copy = arena_copy(arena, text);
  free(text);
  return copy;
}

static struct simulation_part *shard_of(struct scenario_fixture *fixture,
                                        struct simulate_request request, unsigned shard,
                                        unsigned shards) {
  request.shard = shard;
  request.shards = shards;
  struct simulation_part *part =
      simulate(&request, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  expect_error(&fixture->fixture, "shard", "");
  // Through a file, as in real use.
  const char *path = scenario_fixture_path(fixture, "part.json");
  FILE *file = fopen(path, "w");
  assert_int_equal(simulation_part_print(part, file), 0);
  fclose(file);
  struct simulation_part *read =
      simulation_part_read(path, &fixture->fixture.arena, &fixture->fixture.diagnostics);
  expect_error(&fixture->fixture, "read part", "");
  assert_string_equal(part_text(part, &fixture->fixture.arena),
                      part_text(read, &fixture->fixture.arena));
  return read;
}

// To the last bit.
static void expect_same(const struct simulation *a, const struct simulation *b, const char *what) {
  print_message("%s\n", what);
  for (size_t o = 0; o < a->outcome_count; o++) {
    struct outcome x = a->outcomes[o], y = b->outcomes[o];
    assert_memory_equal(x.influences, y.influences, a->group_count * sizeof *x.influences);
    x.influences = y.influences = NULL;
    assert_memory_equal(&x, &y, sizeof x);
  }
  assert_memory_equal(a->cheapest, b->cheapest, a->option_count * sizeof *a->cheapest);
  assert_memory_equal(a->ranked, b->ranked, a->option_count * sizeof *a->ranked);
  for (size_t o = 0; o < a->option_count; o++)
    assert_string_equal(a->not_ranked[o], b->not_ranked[o]);
  assert_string_equal(a->why_none, b->why_none);
  assert_true(a->undecided == b->undecided && a->done == b->done && !a->partial && !b->partial);
}

// Two that tie, one that serves the demand in some draws only, one that is decode only.
static const char ranked_scenario[] =
    "[scenario]\ntitle = T\ndate = 2026-11-01\nhorizon = 1 yr\n[common]\naccelerators = 8\n"
    "accelerators_per_node = 8\nutilization = 50 %\nrental_rate = 2 USD/gpu/h\n"
    "demand = 120000 Mtok/yr\n"
    "[option a]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n"
    "[option b]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n"
    "[option c]\naccelerator = h100-sxm5-80\nthroughput = 1000 token/s\n"
    "[option d]\naccelerator = h100-sxm5-80\ndecode_throughput = 3000 token/s\n"
    "[range]\nc.throughput = uniform(700, 1100) token/s\n";

static void test_same_however_shared_out(void **state) {
  (void)state;
  static const uint64_t draws[] = {100, 777, 10011};
  for (int method = DRAW_SOBOL; method <= DRAW_RANDOM; method++)
    for (size_t i = 0; i < 2 * sizeof draws / sizeof draws[0]; i++) {
      struct scenario_fixture fixture;
      if (i % 2)
        scenario_fixture_request(&fixture, ranked_scenario,
                                 (struct scenario_request){.mixed = true});
      else
        scenario_fixture_open(&fixture, "examples/uncertainty.ini");
      expect_error(&fixture.fixture, "scenario", "");
      struct simulate_request request = {
          .scenario = fixture.scenario, .draws = draws[i / 2], .seed = 19, .method = method};
      request.threads = 1;
      const struct simulation *one = scenario_fixture_simulate(&fixture, &request);
      assert_int_equal(one->done, draws[i / 2]);
      request.threads = 2;
      expect_same(one, scenario_fixture_simulate(&fixture, &request), "2 threads");
      request.threads = 16;
      expect_same(one, scenario_fixture_simulate(&fixture, &request), "16 threads");
      struct simulation_part *all = shard_of(&fixture, request, 5, 8);
      for (unsigned s = 0; s < 8; s++)
        if (s != 5)
          assert_int_equal(simulation_merge(all, shard_of(&fixture, request, s, 8),
                                            &fixture.fixture.diagnostics),
                           0);
      expect_same(one, simulation_result(all, &fixture.fixture.arena, &fixture.fixture.diagnostics),
                  "8 shards");
      scenario_fixture_end(&fixture);
    }
}

static void test_merge_refused(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/uncertainty.ini");
  struct diagnostics *diagnostics = &fixture.fixture.diagnostics;
  struct simulate_request request = {.scenario = fixture.scenario, .draws = 3000, .seed = 20};
  struct simulation_part *part = shard_of(&fixture, request, 1, 3);
  assert_int_equal(simulation_merge(part, shard_of(&fixture, request, 0, 3), diagnostics), 0);
  const struct simulation *two = simulation_result(part, &fixture.fixture.arena, diagnostics);
  assert_true(two->partial && two->done < 3000 && two->done > 1000);
  struct simulation_part *again = shard_of(&fixture, request, 0, 3);
  request.seed = 21;
  struct simulation_part *other = shard_of(&fixture, request, 2, 3);
  assert_int_equal(simulation_merge(part, again, diagnostics), -1);
  expect_error(&fixture.fixture, "twice", "shard 1 of 3 is given twice");
  assert_int_equal(simulation_merge(part, other, diagnostics), -1);
  expect_error(&fixture.fixture, "other", "these parts are from different runs");
  scenario_fixture_end(&fixture);
}

// A file with the first `from` of a text replaced.
static const char *changed_part(struct scenario_fixture *fixture, const char *good,
                                const char *from, const char *to) {
  const char *at = strstr(good, from), *path = scenario_fixture_path(fixture, "part.json");
  if (!at)
    fail_msg("no %s in the part", from);
  FILE *file = fopen(path, "w");
  fprintf(file, "%.*s%s%s", (int)(at - good), good, to, at + strlen(from));
  fclose(file);
  return path;
}

// Whatever two parts of one run have in common is compared, and what differs is named.
static void test_other_frame(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/uncertainty.ini");
  struct arena *arena = &fixture.fixture.arena;
  struct diagnostics *diagnostics = &fixture.fixture.diagnostics;
  struct simulate_request request = {.scenario = fixture.scenario, .draws = 600, .seed = 23};
  struct simulation_part *first = shard_of(&fixture, request, 0, 2);
  const char *good = part_text(shard_of(&fixture, request, 1, 2), arena);
  static const struct {
    const char *from, *to, *name;
  } cases[] = {
      {"\"unit\":\"", "\"unit\":\"k", "'unit'"},
      {"\"unit_factor\":", "\"unit_factor\":2", "'unit_factor'"},
      {"\"digest\":\"", "\"digest\":\"0", "'digest'"},
      {"\"stamp\":\"", "\"stamp\":\"x", "'stamp'"},
      {"\"asked\":\"", "\"asked\":\"not ", "'asked'"},
      {"\"currency\":\"", "\"currency\":\"X", "'currency'"},
      {"\"options\":[\"", "\"options\":[\"x", "'options'"},
      {"\"labels\":[\"", "\"labels\":[\"x", "'labels'"},
      {"\"groups\":[\"", "\"groups\":[\"x", "'groups'"},
      {"\"notes\":[", "\"notes\":[\"x\"", "'notes'"},
      {"\"compared\":[true", "\"compared\":[false", "'compared'"},
      {"\"baseline\":0", "\"baseline\":1", "'baseline'"},
      {"\"damages_draws\":", "\"damages_draws\":1", "'damages_draws'"},
      {"\"damages\":[[null", "\"damages\":[[0.5", "'damages'"},
      {"\"rank_shares\":[", "\"rank_shares\":[1", "'rank_shares'"},
      {"\"half_width\":", "\"half_width\":1", "'atoms'"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *path = changed_part(&fixture, good, cases[i].from, cases[i].to);
    struct simulation_part *other = simulation_part_read(path, arena, diagnostics);
    expect_error(&fixture.fixture, cases[i].to, "");
    assert_int_equal(simulation_merge(first, other, diagnostics), -1);
    expect_error(&fixture.fixture, cases[i].to, cases[i].name);
    diagnostics->count = diagnostics->errors = 0;
  }
  scenario_fixture_end(&fixture);
}

static void test_bad_parts(void **state) {
  (void)state;
  struct scenario_fixture fixture;
  scenario_fixture_open(&fixture, "examples/uncertainty.ini");
  struct arena *arena = &fixture.fixture.arena;
  struct simulate_request request = {
      .scenario = fixture.scenario, .draws = 300, .seed = 22, .shards = 2};
  struct simulation_part *part = simulate(&request, arena, &fixture.fixture.diagnostics);
  const char *good = part_text(part, arena);
  static const struct {
    const char *from, *to, *error;
  } cases[] = {
      {"{\"", "[\"", "not a part of a simulation"},
      {"\"schema\":7", "\"schema\":4", "'schema' is missing or wrong"},
      {"\"draws\":300", "\"draws\":0", "'draws' is missing or wrong"},
      {"\"replicates\":2", "\"replicates\":9", "'replicates' is missing or wrong"},
      {"\"groups\":", "\"grups\":", "'groups' is missing or wrong"},
      {"\"baseline\":0", "\"baseline\":7", "'baseline' is missing or wrong"},
      {"\"squares\":[", "\"squares\":[99,1,", "'squares' is missing or wrong"},
      {"\"done\":256", "\"done\":255", "'counts' is missing or wrong"},
      {"\"counts\":[", "\"counts\":[5,", "'counts' is missing or wrong"},
      {"\"compared\":[", "\"compared\":[true,", "'compared' is missing or wrong"},
      {"\"not_ranked\":[", "\"not_ranked\":[\"\",", "'not_ranked' is missing or wrong"},
      {"\"not_ranked\":[\"\"", "\"not_ranked\":[\"x\"", "'cheapest' is missing or wrong"},
      {"\"decided\":256", "\"decided\":257", "'cheapest' is missing or wrong"},
      {"\"decided\":256", "\"decided\":301", "'decided' is missing or wrong"},
      {"\"ranked\":[256,", "\"ranked\":[255,", "'cheapest' is missing or wrong"},
      {"\"ranked\":[256,", "\"ranked\":[257,", "'cheapest' is missing or wrong"},
      {"\"cheapest\":[", "\"cheapest\":[1,", "'cheapest' is missing or wrong"},
      {"\"shards\":[0]", "\"shards\":[2]", "'shards' is missing or wrong"},
      // What is no number, where one is needed.
      {"\"shards\":[0]", "\"shards\":[\"0\"]", "'shards' is missing or wrong"},
      {"\"unit_factor\":", "\"unit_factor\":null,\"\":", "'unit_factor' is missing or wrong"},
      {"\"unit_factor\":", "\"unit_factor\":-", "'unit_factor' is missing or wrong"},
      {"\"method\":\"sobol", "\"method\":\"soboll", "'method' is missing or wrong"},
      {"\"compared\":[true", "\"compared\":[1", "'compared' is missing or wrong"},
      {"\"damages\":[[null", "\"damages\":[[\"1\"", "'damages' is missing or wrong"},
      {"\"centre\":", "\"centre\":null,\"\":", "'centre' is missing or wrong"},
      {"\"half_width\":", "\"half_width\":0,\"\":", "'half_width' is missing or wrong"},
      {"\"lowest\":", "\"lowest\":\"\",\"\":", "'lowest' is missing or wrong"},
      {"\"lowest\":", "\"lowest\":1e99,\"\":", "'highest' is missing or wrong"},
      {"\"highest\":", "\"highest\":null,\"\":", "'highest' is missing or wrong"},
      {"\"replicate_done\":[", "\"replicate_done\":[\"1\"],\"\":[", "'replicate_done' is"},
      {"\"replicate_sums\":[[", "\"replicate_sums\":[[0,\"x\",", "'replicate_sums' is"},
      {"\"squares\":[", "\"squares\":[0,0.5,", "'squares' is missing or wrong"},
      {"\"squares\":[", "\"squares\":[0,4294967297,", "'squares' is missing or wrong"},
      {"\"rank_shares\":[", "\"rank_shares\":[\"x\"],\"\":[", "'rank_shares' is missing or wrong"},
      {"\"unsaved\":[0", "\"unsaved\":[-1", "'unsaved' is missing or wrong"},
      {"\"counts\":[", "\"counts\":[0,\"1\",", "'counts' is missing or wrong"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *path = changed_part(&fixture, good, cases[i].from, cases[i].to);
    assert_null(simulation_part_read(path, arena, &fixture.fixture.diagnostics));
    expect_error(&fixture.fixture, cases[i].to, cases[i].error);
    fixture.fixture.diagnostics.count = fixture.fixture.diagnostics.errors = 0;
  }
  scenario_fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_same_however_shared_out),
      cmocka_unit_test(test_merge_refused),
      cmocka_unit_test(test_other_frame),
      cmocka_unit_test(test_bad_parts),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
