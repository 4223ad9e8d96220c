// The shipped data: every row has a source, and is consistent with itself and with what it refers
// to.
#include "tests/support/tables.h"

#include "model/catalog/row_rules.h"
#include "model/evidence/memory.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static void test_every_row_has_a_source_and_a_date(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  for (int which = 0; which < CATALOG_TABLES; which++) {
    const struct table *table = tables_load(&f, (enum catalog_table)which);
    assert_true(table->rows > 0);
    for (size_t row = 0; row < table->rows; row++) {
      struct date date;
      assert_true(*table_cell(table, row, "source_title") && *table_cell(table, row, "source_url"));
      if (!catalog_date(table, row, &date))
        assert_int_equal(which, CATALOG_CLAIMS);
    }
  }
  arena_free(&f.arena);
}

static void check_references(struct tables *f, enum catalog_table which, const char *column,
                             enum catalog_table target) {
  const struct table *table = tables_load(f, which), *ids = tables_load(f, target);
  for (size_t row = 0; row < table->rows; row++) {
    const char *id = table_cell(table, row, column);
    if (*id && catalog_find(ids, id) < 0)
      fail_msg("%s line %d: no %s", table->name, table->places[row].line, id);
  }
}

static void test_references(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  check_references(&f, CATALOG_ALTERNATES, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_THROUGHPUT, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_THROUGHPUT, "model", CATALOG_MODELS);
  check_references(&f, CATALOG_PRICES, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_POWER, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_CARBON, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_API_PRICES, "model", CATALOG_MODELS);
  check_references(&f, CATALOG_ALIASES, "accelerator", CATALOG_ACCELERATORS);
  check_references(&f, CATALOG_ALIASES, "model", CATALOG_MODELS);
  check_references(&f, CATALOG_BANDWIDTH, "accelerator", CATALOG_ACCELERATORS);
  arena_free(&f.arena);
}

// An alias means exactly one thing, and never one that has that name itself.
static void test_aliases(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  const struct table *aliases = tables_load(&f, CATALOG_ALIASES);
  for (size_t row = 0; row < aliases->rows; row++) {
    const char *id = table_cell(aliases, row, "id");
    const int meanings = !!*table_cell(aliases, row, "accelerator") +
                         !!*table_cell(aliases, row, "model") +
                         !!*table_cell(aliases, row, "precision");
    if (meanings != 1 || catalog_find(tables_load(&f, CATALOG_ACCELERATORS), id) >= 0 ||
        catalog_find(tables_load(&f, CATALOG_MODELS), id) >= 0)
      fail_msg("alias '%s' stands for %d things, or is an id", id, meanings);
    if (strspn(id, "abcdefghijklmnopqrstuvwxyz0123456789.-") != strlen(id))
      fail_msg("alias '%s' is not written in lower case with hyphens", id);
  }
  arena_free(&f.arena);
}

// Every row has a figure.
static void test_figures(void **state) {
  (void)state;
  const struct {
    enum catalog_table table;
    const char *columns[3];
  } cases[] = {
      {CATALOG_PRICES, {"price_low", "price_point", "price_high"}},
      {CATALOG_POWER, {"low", "value", "high"}},
      {CATALOG_OVERHEADS, {"low", "value", "high"}},
      {CATALOG_TYPICAL_VALUES, {"low", "mid", "high"}},
  };
  struct tables f;
  tables_open(&f, "data");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct table *table = tables_load(&f, cases[i].table);
    for (size_t row = 0; row < table->rows; row++) {
      const char *const *columns = cases[i].columns;
      if (!*table_cell(table, row, columns[0]) && !*table_cell(table, row, columns[1]) &&
          !*table_cell(table, row, columns[2]))
        fail_msg("%s line %d: expected one of %s, %s and %s", table->name, table->places[row].line,
                 columns[0], columns[1], columns[2]);
    }
  }
  arena_free(&f.arena);
}

// By the same rules as the user's own rows.
static void test_rows_agree_with_themselves(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  for (int which = 0; which < CATALOG_TABLES; which++)
    row_rules_check(tables_load(&f, (enum catalog_table)which), &f.diagnostics);
  assert_int_equal(f.diagnostics.errors, 0);
  arena_free(&f.arena);
}

static bool is_near(double a, double b, double relative) {
  return fabs(a - b) <= relative * fabs(b);
}

// data/README.md: a rack is sold whole, modules in servers, cards and superchips singly.
static const char *unit_by_form(const struct table *table, size_t row) {
  const char *form = table_cell(table, row, "form_factor");
  if (strstr(form, "rack"))
    return table_cell(table, row, "scale_up_domain");
  if (strncmp(form, "SXM", 3) == 0 || strncmp(form, "OAM", 3) == 0)
    return table_cell(table, row, "gpus_per_node");
  return strstr(form, "cloud") ? "" : "1";
}

static void test_purchase_units(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  const struct table *table = tables_load(&f, CATALOG_ACCELERATORS);
  for (size_t row = 0; row < table->rows; row++)
    assert_string_equal(table_cell(table, row, "purchase_unit"), unit_by_form(table, row));
  arena_free(&f.arena);
}

static void test_parameters_follow_from_dimensions(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  const struct table *models = tables_load(&f, CATALOG_MODELS);
  for (size_t row = 0; row < models->rows; row++) {
    const struct memory_model model = memory_model_of(models, row);
    const char *id = table_cell(models, row, "id");
    const double total = model.parameters / 1e9, active = model.active_parameters / 1e9;
    const double matmul = active - (model.is_tied ? 0 : model.vocab * model.hidden / 1e9);
    // Falcon 40B is named 40, and its dimensions give 41.3.
    const double published =
        strcmp(id, "falcon-40b") == 0 ? 41.3 : tables_number(models, row, "published_params_b");
    if (!is_near(total, published, 0.01))
      fail_msg("%s: %.4f, published %g", id, total, published);
    if (!is_near(total, tables_number(models, row, "params_b"), 1e-3))
      fail_msg("%s: %.4f, params_b %g", id, total, tables_number(models, row, "params_b"));
    if (!is_near(active, tables_number(models, row, "active_params_b"), 1e-3))
      fail_msg("%s: %.4f active", id, active);
    if (!is_near(matmul, tables_number(models, row, "matmul_active_params_b"), 1e-3))
      fail_msg("%s: %.4f active in matrices", id, matmul);
    assert_true(memory_kv_per_token(&model, 16) ==
                tables_number(models, row, "kv_bytes_per_token_16bit"));
  }
  assert_true(tables_number(models, (size_t)catalog_find(models, "falcon-40b"),
                            "published_params_b") == 40);
  arena_free(&f.arena);
}

// The formats with groups of 128 are excluded if a matrix's rows are not a whole number of groups.
static void test_excluded_precisions_follow_from_dimensions(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  const struct table *models = tables_load(&f, CATALOG_MODELS);
  size_t excluding = 0;
  for (size_t row = 0; row < models->rows; row++) {
    const struct memory_model model = memory_model_of(models, row);
    const double rows[] = {model.hidden, model.ffn, model.dense_ffn, model.q_lora,
                           model.heads * (model.is_mla ? model.v_dim : model.head_dim)};
    bool whole = true;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
      whole = whole && fmod(rows[i], 128) == 0;
    assert_string_equal(table_cell(models, row, "excluded_precisions"),
                        whole ? "" : "int4;int8-g128");
    excluding += !whole;
  }
  assert_int_equal(excluding, 3);
  arena_free(&f.arena);
}

// A driver's name leads to one accelerator, and each has a source and a date of its own.
static void test_device_names(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  const struct table *table = tables_load(&f, CATALOG_ACCELERATORS);
  size_t named = 0;
  for (size_t row = 0; row < table->rows; row++) {
    const char *names = table_cell(table, row, "device_names");
    const char *url = table_cell(table, row, "device_names_source_url");
    struct date date;
    const bool has_source = !strncmp(url, "https://", 8) &&
                            date_parse(table_cell(table, row, "device_names_as_of"), &date);
    if (has_source != (*names != '\0'))
      fail_msg("%s: names '%s', source '%s'", table_cell(table, row, "id"), names, url);
    char *rest = arena_copy(&f.arena, names);
    for (char *name = strsep(&rest, ";"); name && *names; name = strsep(&rest, ";")) {
      name += strspn(name, " ");
      if (catalog_device(table, name) != (long)row)
        fail_msg("'%s' is another row's too", name);
      named++;
    }
  }
  assert_true(named >= 18);
  arena_free(&f.arena);
}

// A row is doubtful if it is faster than the best row of a sibling by a factor over DOUBT_MARGIN
// more than both datasheets explain, by peak rate and by bandwidth. Siblings are one vendor's parts
// with stacked memory in the same MLPerf benchmark, scenario and precision; a part with other
// memory has too little of it to compare, and another vendor has different software. So is a row of
// MLPerf's category preview, since the system was not yet for sale.
#define DOUBT_MARGIN 1.4

static const char *peak_column(const char *precision) {
  static const struct {
    const char *precision, *column;
  } columns[] = {
      {"bf16", "dense_bf16_tflops"}, {"fp16", "dense_bf16_tflops"}, {"fp8", "dense_fp8_tflops"},
      {"mxfp8", "dense_fp8_tflops"}, {"fp4", "dense_fp4_tflops"},   {"mxfp4", "dense_fp4_tflops"},
  };
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (!strcmp(columns[i].precision, precision))
      return columns[i].column;
  return NULL;
}

struct comparison {
  const struct table *rows, *accelerators;
};

static bool is_judged(const struct comparison *c, size_t row) {
  const char *scenario = table_cell(c->rows, row, "scenario");
  const long part = catalog_find(c->accelerators, table_cell(c->rows, row, "accelerator"));
  return catalog_grade(c->rows, row) == GRADE_BENCHMARK &&
         (!strcmp(scenario, "offline") || !strcmp(scenario, "server")) &&
         peak_column(table_cell(c->rows, row, "precision")) && part >= 0 &&
         !strncmp(table_cell(c->accelerators, (size_t)part, "memory_type"), "HBM", 3);
}

static bool are_alike(const struct comparison *c, size_t a, size_t b) {
  static const char *const columns[] = {"model_as_published", "precision", "scenario",
                                        "token_basis"};
  for (size_t i = 0; i < sizeof columns / sizeof *columns; i++)
    if (strcmp(table_cell(c->rows, a, columns[i]), table_cell(c->rows, b, columns[i])) != 0)
      return false;
  return true;
}

// The ratio of a figure of two accelerators; 0 if one is unknown.
static double part_ratio(const struct comparison *c, size_t a, size_t b, const char *column) {
  const double below = tables_number(c->accelerators, b, column);
  return below > 0 ? tables_number(c->accelerators, a, column) / below : 0;
}

static double best_of_part(const struct comparison *c, size_t like, const char *accelerator) {
  double best = 0;
  for (size_t row = 0; row < c->rows->rows; row++)
    if (!strcmp(table_cell(c->rows, row, "accelerator"), accelerator) && is_judged(c, row) &&
        are_alike(c, row, like))
      best = fmax(best, tables_number(c->rows, row, "tokens_per_s_per_gpu"));
  return best;
}

// The row's largest factor over a sibling, beyond what the datasheets explain.
static double excess(const struct comparison *c, size_t row) {
  const size_t part =
      (size_t)catalog_find(c->accelerators, table_cell(c->rows, row, "accelerator"));
  const char *vendor = table_cell(c->accelerators, part, "vendor");
  const char *peak = peak_column(table_cell(c->rows, row, "precision"));
  double most = 0;
  for (size_t other = 0; other < c->accelerators->rows; other++) {
    if (other == part || strcmp(table_cell(c->accelerators, other, "vendor"), vendor) != 0)
      continue;
    const double best = best_of_part(c, row, table_cell(c->accelerators, other, "id"));
    const double compute = part_ratio(c, part, other, peak);
    const double bandwidth = part_ratio(c, part, other, "memory_bw_tbs");
    const double power = part_ratio(c, part, other, "tdp_w"); // H100 NVL's peak is not for 400 W
    if (best > 0 && compute > 0 && bandwidth > 0)
      most = fmax(most, tables_number(c->rows, row, "tokens_per_s_per_gpu") / best /
                            fmax(fmax(compute, bandwidth), power));
  }
  return most;
}

static bool is_preview(const struct comparison *c, size_t row) {
  return strstr(table_cell(c->rows, row, "notes"), "availability: preview") != NULL;
}

static void test_doubtful_rows_say_so(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  const struct comparison c = {tables_load(&f, CATALOG_THROUGHPUT),
                               tables_load(&f, CATALOG_ACCELERATORS)};
  size_t judged = 0, previews = 0;
  for (size_t row = 0; row < c.rows->rows; row++) {
    if (!is_judged(&c, row))
      continue;
    judged++;
    const double found = excess(&c, row);
    const bool preview = is_preview(&c, row);
    previews += preview;
    if ((found > DOUBT_MARGIN || preview) != (*table_cell(c.rows, row, "doubt") != '\0'))
      fail_msg("%s is %.2f times what its siblings' datasheets explain, preview: %d, and its doubt "
               "says '%s'",
               table_cell(c.rows, row, "id"), found, preview, table_cell(c.rows, row, "doubt"));
  }
  assert_true(judged > 400 && previews > 4);
  arena_free(&f.arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_row_has_a_source_and_a_date),
      cmocka_unit_test(test_references),
      cmocka_unit_test(test_aliases),
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_rows_agree_with_themselves),
      cmocka_unit_test(test_purchase_units),
      cmocka_unit_test(test_parameters_follow_from_dimensions),
      cmocka_unit_test(test_excluded_precisions_follow_from_dimensions),
      cmocka_unit_test(test_device_names),
      cmocka_unit_test(test_doubtful_rows_say_so),
  };
  return cmocka_run_group_tests_name("data", tests, NULL, NULL);
}
