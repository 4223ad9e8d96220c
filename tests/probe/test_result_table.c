// Tables of several records: results are compared with those of the same workload, wherever each
// record has them, and kernels that are not the same are named.
#include "model/records/serving.h"
#include "probe/sessions/power_sweep.h"
#include "probe/sessions/print.h"
#include "probe/sessions/result_table.h"
#include "probe/sessions/serving_table.h"
#include "tests/support/fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The table's rates are those of the seconds of its watts; samples were a quarter faster.
static struct measurement result_of(int batch, const char *activations, double tokens_per_s,
                                    const char *variant) {
  return (struct measurement){.precision = "bf16",
                              .types = {"bf16", activations, "bf16", "bf16", "f32", ""},
                              .batch = batch,
                              .context = 64,
                              .tokens_per_s = 1.25 * tokens_per_s,
                              .window_tokens_per_s = tokens_per_s,
                              .load_power_w = 400,
                              .joules_per_token = 400 / tokens_per_s,
                              .step_form = {"", "", "", variant},
                              .together = {.devices = 2,
                                           .tokens_per_s = tokens_per_s,
                                           .total_tokens_per_s = 2 * tokens_per_s,
                                           .slowest = tokens_per_s,
                                           .fastest = tokens_per_s,
                                           .load_power_w = 800}};
}

// Two records of the same three workloads, in other orders; the second one has one more.
static const struct measurement_record *const *records_of(const char *other) {
  static struct measurement results[2][4];
  static struct measurement_record records[2];
  static const struct measurement_record *const both[] = {&records[0], &records[1]};
  const struct measurement first[] = {result_of(1, "bf16", 100, ""), result_of(4, "bf16", 400, ""),
                                      result_of(4, "e4m3", 500, "")};
  const struct measurement second[] = {result_of(4, "e4m3", 510, ""), result_of(9, "bf16", 900, ""),
                                       result_of(4, "bf16", 410, ""),
                                       result_of(1, "bf16", 110, other)};
  memcpy(results[0], first, sizeof first);
  memcpy(results[1], second, sizeof second);
  for (int i = 0; i < 2; i++) {
    records[i] = (struct measurement_record){.device = {.backend = "cuda", .index = i, .name = ""},
                                             .results = results[i],
                                             .count = i ? 4 : 3};
    for (size_t k = 0; k < records[i].count; k++)
      results[i][k].record = &records[i];
  }
  return both;
}

static void expect_lines(const char *text, const char *const *lines, size_t count) {
  const char *at = text;
  for (size_t i = 0; i < count; i++) {
    at = strstr(at, lines[i]);
    if (!at)
      fail_msg("expected, in this order, '%s' in\n%s", lines[i], text);
    at += strlen(lines[i]);
  }
}

static void test_limits_are_compared(void **state) {
  const struct number_list limits = {{700, 350}, 2};
  const struct power_sweep sweep = {.limits = &limits};
  (void)state;
  for (int unlike = 0; unlike < 2; unlike++) {
    char text[4096] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    power_sweep_print(&sweep, records_of(unlike ? "step=streaming" : ""), 2, out);
    fclose(out);
    const char *const lines[] = {
        "bf16            1       64      700     100.00 ",
        unlike ? "kernels: own choice\n" : "4\n",
        "bf16            1       64      350     110.00    400.0      3.636  the fewest joules",
        unlike ? "  kernels: step=streaming\nits kernels were not the same at all limits" : "\n",
        "bf16            4       64      700     400.00 ",
        "1\nbf16            4       64      350     410.00    400.0     0.9756  the fewest "
        "joules\n",
        "bf16            4       64      700     500.00 ",
        "0.8\nbf16            4       64      350     510.00    400.0     0.7843  the fewest "
        "joules\n"};
    expect_lines(text, lines, sizeof lines / sizeof lines[0]);
    assert_int_equal(strstr(text, "kernels") != NULL, unlike);
    assert_null(strstr(text, "900"));
  }
}

static void test_devices_are_compared(void **state) {
  (void)state;
  for (int unlike = 0; unlike < 2; unlike++) {
    char text[4096] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    together_table_print(records_of(unlike ? "step=streaming" : ""), 2, out);
    fclose(out);
    const char *const lines[] = {
        "bf16          1       64  one by one        210 ",
        unlike ? "not with the same kernels: cuda:0 own choice; cuda:1 step=streaming\n" : "\n",
        "bf16          4       64  one by one        810 ",
        "bf16          4       64  one by one       1010 "};
    expect_lines(text, lines, sizeof lines / sizeof lines[0]);
    assert_int_equal(strstr(text, "kernels") != NULL, unlike);
  }
}

// Nothing is left out without a word.
static void test_what_is_apart_is_told(void **state) {
  static struct measurement results[2][2];
  static struct measurement_record records[2];
  const struct measurement_record *const both[] = {&records[0], &records[1]};
  char text[4096] = "";
  (void)state;
  for (int i = 0; i < 2; i++) {
    results[i][0] = result_of(1, "bf16", 100, "");
    results[i][1] = result_of(9, "bf16", 900, "");
    results[i][0].together.devices = results[i][1].together.devices = 0;
    results[i][0].slice_count = 2;
    records[i] = (struct measurement_record){
        .device.name = "NVIDIA H200", .results = results[i], .count = 2};
  }
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  together_table_print(both, 2, out);
  fclose(out);
  const char *const lines[] = {
      "\n2 devices: NVIDIA H200\nprecision",
      "bf16          1       64  not at once: slices of a model are measured one by one\n",
      "bf16          9       64  not at once: it is not measured yet\n"};
  expect_lines(text, lines, sizeof lines / sizeof lines[0]);
}

static void test_a_fast_server_has_no_exponents(void **state) {
  (void)state;
  struct serving_record record = serving_record_unknown();
  struct serving_rung rung = serving_rung_unknown();
  struct arena arena = {0};
  char *text = NULL;
  size_t size;
  FILE *out = open_memstream(&text, &size);
  rung.load = LOAD_CLOSED;
  rung.concurrency = 256;
  rung.output_tokens_per_s = 13976.4;
  rung.input_tokens_per_s = 124823;
  rung.ttft.p50_s = 18.75138;
  record.rungs = &rung;
  record.count = 1;
  serving_table_print(&record, &arena, out);
  fclose(out);
  expect_lines(text, (const char *const[]){"256 in flight", " 13976", " 124823", " 18751"}, 4);
  free(text);
  arena_free(&arena);
}

// Names come from devices, servers and files of others.
static void test_nothing_in_a_name_reaches_the_terminal_but_letters(void **state) {
  static const struct {
    const char *name, *printed;
  } names[] = {
      {"NVIDIA H200", "NVIDIA H200"},
      {"Größe", "Größe"},
      {"a\033[2Jb", "a?[2Jb"},
      {"a\xC2\x9B[2Jb", "a?[2Jb"},
      {"a\u202Eb", "a?b"},
      {"a\xFF"
       "b",
       "a?b"},
  };
  (void)state;
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    char text[64] = "";
    FILE *out = fmemopen(text, sizeof text - 1, "w");
    print_safely(names[i].name, out);
    fclose(out);
    assert_string_equal(text, names[i].printed);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_limits_are_compared),
      cmocka_unit_test(test_nothing_in_a_name_reaches_the_terminal_but_letters),
      cmocka_unit_test(test_devices_are_compared),
      cmocka_unit_test(test_what_is_apart_is_told),
      cmocka_unit_test(test_a_fast_server_has_no_exponents),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
