// The reader of the tables: what it accepts, and what it refuses.
#include "base/arena.h"
#include "base/csv.h"
#include "base/diagnostics.h"
#include "base/source.h"
#include "model/catalog/columns.h"
#include "model/evidence/catalog.h"
#include "model/evidence/date.h"
#include "model/evidence/grade.h"
#include "tests/support/tables.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static const struct {
  const char *text;
  struct date first, date;
} dates[] = {
    {"2026", {2026, 1, 1}, {2026, 12, 31}},
    {"2026-04", {2026, 4, 1}, {2026, 4, 30}},
    {"2024-02", {2024, 2, 1}, {2024, 2, 29}},
    {"2100-02", {2100, 2, 1}, {2100, 2, 28}},
    {"2026-04-03", {2026, 4, 3}, {2026, 4, 3}},
    {"2025-2026", {2026, 1, 1}, {2026, 12, 31}},
    {"mid-2026", {2026, 4, 1}, {2026, 9, 30}},
    {"2024-12..2025-12", {2025, 12, 1}, {2025, 12, 31}},
    {"2025-06-30..2026-03", {2026, 3, 1}, {2026, 3, 31}},
    {"2025-09 / 2026-04", {2026, 4, 1}, {2026, 4, 30}},
    {"2026-04 / 2025", {2026, 4, 1}, {2026, 4, 30}},
};

static const char *const no_dates[] = {
    "",        " ",          "26",          "2026-",          "2026-4",       "2026-13",
    "2026-00", "2026-02-29", "2026-02-30",  "2026-04-31",     "2026-04-00",   "1899",
    "2200",    "2026/04",    "20260403",    "not re-fetched", "2026-2025",    "mid-26",
    "2026 / ", "2026..",     "2026-04-03x", "+2026",          "2026-2027-01",
};

static void test_dates(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof dates / sizeof *dates; i++) {
    struct date date = {0};
    if (!date_parse(dates[i].text, &date))
      fail_msg("refused: %s", dates[i].text);
    if (date_compare(date, dates[i].date) != 0)
      fail_msg("misread: %s", dates[i].text);
    if (!date_parse_first(dates[i].text, &date) || date_compare(date, dates[i].first) != 0)
      fail_msg("the first day is misread: %s", dates[i].text);
  }
  for (size_t i = 0; i < sizeof no_dates / sizeof *no_dates; i++) {
    struct date date = {1, 2, 3};
    if (date_parse(no_dates[i], &date))
      fail_msg("taken for a date: '%s'", no_dates[i]);
    assert_int_equal(date.year, 1);
  }
}

static void test_stale(void **state) {
  (void)state;
  const struct {
    struct date of, today;
    bool stale;
  } cases[] = {
      {{2025, 4, 3}, {2026, 4, 3}, false},     {{2025, 4, 3}, {2026, 4, 4}, true},
      {{2025, 12, 31}, {2026, 12, 31}, false}, {{2025, 12, 31}, {2027, 1, 1}, true},
      {{2024, 2, 29}, {2025, 2, 28}, false},   {{2024, 2, 29}, {2025, 3, 1}, true},
      {{2027, 1, 1}, {2026, 1, 1}, false},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    assert_int_equal(date_is_stale(cases[i].of, cases[i].today), cases[i].stale);
}

static void test_ahead(void **state) {
  (void)state;
  const struct date today = {2026, 12, 31};
  assert_false(date_is_ahead((struct date){2026, 12, 31}, today));
  assert_false(date_is_ahead((struct date){2027, 1, 1}, today)); // where it is already tomorrow
  assert_true(date_is_ahead((struct date){2027, 1, 2}, today));
}

static void test_grades(void **state) {
  (void)state;
  const struct {
    enum catalog_table table;
    const char *id, *grade;
  } cases[] = {
      {CATALOG_THROUGHPUT, "tp0001", "benchmark"}, // MLPerf
      {CATALOG_THROUGHPUT, "tp0817", "published"}, // ML.ENERGY
      {CATALOG_PRICES, "pr001", "claim"},          // seed_claim
      {CATALOG_PRICES, "pr006", "published"},      // street_price
      {CATALOG_PRICES, "pr003", "assumed"},        // estimate
      {CATALOG_ACCELERATORS, "h200-sxm-141", "published"},
      {CATALOG_CLAIMS, "1", "claim"},
      {CATALOG_TYPICAL_VALUES, "pue", "assumed"},
      {CATALOG_TYPICAL_VALUES, "price_mi325x", "claim"},
      {CATALOG_TYPICAL_VALUES, "mlperf_llama2_70b_offline_per_gpu_h200", "benchmark"},
  };
  struct tables f;
  tables_open(&f, "data");
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const struct table *table = tables_load(&f, cases[i].table);
    const long row = catalog_find(table, cases[i].id);
    assert_true(row >= 0);
    assert_string_equal(grade_name(catalog_grade(table, (size_t)row)), cases[i].grade);
  }
  for (int grade = 0; grade < GRADES; grade++)
    assert_true(*grade_name((enum grade)grade));
  arena_free(&f.arena);
}

static const struct {
  enum catalog_table table;
  const char *old, *new;
  int line, column; // a column of 0 is not checked
  const char *message;
} edits[] = {
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,nan,", 2, 20,
     "expected a finite number in 'low', found 'nan'"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,-inf,", 2, 20, "a finite number"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1.3 USD,", 2, 20, "a finite number"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1e999,", 2, 20, "a finite number"},
    {CATALOG_TYPICAL_VALUES, "allin_utility_kw_h100", "gpu_hour_cost_h100", 3, 1,
     "expected each id once, 'gpu_hour_cost_h100' is already in line 2"},
    {CATALOG_TYPICAL_VALUES, "allin_utility_kw_h100", "", 3, 1, "expected a value for 'id'"},
    {CATALOG_TYPICAL_VALUES, ",as_of\n", ",asof\n", 1, 1,
     "expected a column 'as_of'; did you mean 'asof'?"},
    {CATALOG_TYPICAL_VALUES, "id,", "key,", 1, 1, "expected a column 'id'"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1.3,,", 2, 321, "expected 9 cells"},
    {CATALOG_TYPICAL_VALUES, "h100,1.3,", "h100,1\"3,", 2, 21, "no quote within"},
    {CATALOG_TYPICAL_VALUES, "2025-08\n", "\n", 2, 320, "expected a value for 'as_of'"},
    {CATALOG_TYPICAL_VALUES, "2025-08\n", "2026-04-31\n", 2, 320,
     "expected a date such as 2026-04-30, 2026-04 or 2026 in 'as_of', found '2026-04-31'"},
    {CATALOG_CLAIMS, "Seed 000: vuild node on MI350 vs Blackwell", "", 2, 0,
     "expected a value for 'source_title'"},
    {CATALOG_CLAIMS, ",2026-05-10,", ",soon,", 2, 0, "expected a date"},
    {CATALOG_ACCELERATORS, ",700,maximum", ",-700,maximum", 2, 137,
     "expected a number above 0 in 'tdp_w', found '-700'"},
    {CATALOG_ACCELERATORS, ",700,maximum", ",0,maximum", 2, 137, "a number above 0"},
    {CATALOG_MODELS, "32000,0,0,", "32000,-1,0,", 2, 0,
     "expected a number of at least 0 in 'experts', found '-1'"},
    {CATALOG_MODELS, ",datasheet\n", ",datashet\n", 2, 0,
     "expected a known word in 'kind', found 'datashet'; did you mean 'datasheet'?"},
    {CATALOG_THROUGHPUT, ",mi300x-192,", ",mi300x-193,", 2, 10,
     "expected an id of the table accelerators in 'accelerator', found 'mi300x-193'; did you mean "
     "'mi300x-192'?"},
    {CATALOG_THROUGHPUT, ",llama-2-70b,", ",llama-2-80b,", 2, 21,
     "expected an id of the table models in 'model', found 'llama-2-80b'; did you mean"},
    {CATALOG_THROUGHPUT, ",output,", ",outputs,", 2, 0, "'outputs'; did you mean 'output'?"},
    {CATALOG_THROUGHPUT, ",high,", ",certain,", 2, 0, "in 'confidence', found 'certain'"},
    {CATALOG_PRICES, ",mi325x-256,", ",H100,", 2, 11, "found 'H100'"},
    {CATALOG_ALTERNATES, ",dense_fp4_tflops,", ",dense_fp3_tflops,", 2, 20,
     "expected a column of the table accelerators in 'field', found 'dense_fp3_tflops'; did you"},
};

static void test_edits(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
    struct directory directory;
    struct tables f;
    directory_make(&directory);
    directory_edit(&directory, edits[i].table, edits[i].old, edits[i].new);
    tables_open(&f, directory.path);
    const struct table *table = catalog_table(&f.catalog, edits[i].table);
    assert_null(table);
    assert_int_equal(f.diagnostics.errors, 1);
    const struct diagnostic *error = &f.diagnostics.list[0];
    tables_check_error(edits[i].new, error, edits[i].line,
                       edits[i].column ? edits[i].column : error->place.column, edits[i].message);
    arena_free(&f.arena);
    directory_remove(&directory);
  }
}

static void test_all_errors_in_one_run(void **state) {
  (void)state;
  static const char text[] = "id,low,mid,high,unit,source_title,source_url,as_of\n"
                             "a,x,1,inf,W,t,u,2026\n"
                             "b,1,1,1,,t,u,2026\n"
                             "a,1,1,1,W,,u,yesterday\n";
  static const struct {
    int line, column;
    const char *message;
  } expected[] = {
      {4, 1, "'a' is already in line 2"},  {2, 3, "in 'low', found 'x'"},
      {2, 7, "in 'high', found 'inf'"},    {3, 9, "value for 'unit'"},
      {4, 11, "value for 'source_title'"}, {4, 14, "found 'yesterday'"},
  };
  struct directory directory;
  struct tables f;
  directory_make(&directory);
  directory_replace(&directory, CATALOG_TYPICAL_VALUES, text, strlen(text));
  tables_open(&f, directory.path);
  assert_null(catalog_table(&f.catalog, CATALOG_TYPICAL_VALUES));
  assert_null(catalog_table(&f.catalog, CATALOG_TYPICAL_VALUES)); // not reported again
  assert_int_equal(f.diagnostics.errors, sizeof expected / sizeof *expected);
  for (size_t i = 0; i < f.diagnostics.errors; i++)
    tables_check_error(text, &f.diagnostics.list[i], expected[i].line, expected[i].column,
                       expected[i].message);
  arena_free(&f.arena);
  directory_remove(&directory);
}

static void test_a_broken_table_breaks_what_refers_to_it(void **state) {
  (void)state;
  struct directory directory;
  struct tables f;
  directory_make(&directory);
  directory_edit(&directory, CATALOG_ACCELERATORS, ",700,maximum", ",watts,maximum");
  tables_open(&f, directory.path);
  assert_null(catalog_table(&f.catalog, CATALOG_PRICES));
  assert_null(catalog_table(&f.catalog, CATALOG_POWER));
  assert_non_null(catalog_table(&f.catalog, CATALOG_MODELS));
  assert_int_equal(f.diagnostics.errors, 1);
  arena_free(&f.arena);
  directory_remove(&directory);
}

#define HEADER "id,low,mid,high,unit,source_title,source_url,as_of"

// A whole file instead of typical.csv. No message: it is valid and has one row.
static const struct {
  const char *bytes;
  size_t size; // 0: to the NUL
  int line, column;
  const char *message;
} files[] = {
    {HEADER "\na,,1,,W,t,u,2026\n", 0, 0, 0, NULL},
    {HEADER "\r\na,,1,,W,t,u,2026\r\n", 0, 0, 0, NULL},
    {"\xef\xbb\xbf" HEADER "\na,,1,,W,t,u,2026\n", 0, 0, 0, NULL},
    {"", 0, 0, 0, "found an empty file"},
    {"\xef\xbb\xbf", 0, 0, 0, "found an empty file"},
    {HEADER "\na,,1,,\xff,t,u,2026\n", 0, 2, 7, "expected UTF-8"},
    {HEADER "\na,,1,,W\0,t,u,2026\n", sizeof HEADER + 18, 2, 8, "NUL"},
    {"\x7f"
     "ELF\x02\x01\x01\x00\x00\x00",
     10, 1, 8, "expected UTF-8 text"},
    {"PK\x03\x04\xfe\xed", 0, 1, 5, "expected UTF-8 text"},
};

static void test_files(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
    struct directory directory;
    struct tables f;
    directory_make(&directory);
    directory_replace(&directory, CATALOG_TYPICAL_VALUES, files[i].bytes,
                      files[i].size ? files[i].size : strlen(files[i].bytes));
    tables_open(&f, directory.path);
    const struct table *table = catalog_table(&f.catalog, CATALOG_TYPICAL_VALUES);
    assert_int_equal(f.diagnostics.errors, files[i].message != NULL);
    if (files[i].message)
      tables_check_error(files[i].bytes, &f.diagnostics.list[0], files[i].line, files[i].column,
                         files[i].message);
    else
      assert_true(table && table->rows == 1 && *table_cell(table, 0, "as_of"));
    arena_free(&f.arena);
    directory_remove(&directory);
  }
}

static void test_no_file(void **state) {
  (void)state;
  struct directory directory;
  struct tables f;
  char path[DIRECTORY_FILE];
  directory_make(&directory);
  assert_int_equal(remove(directory_file(&directory, CATALOG_MODELS, path)), 0);
  assert_int_equal(remove(directory_file(&directory, CATALOG_CLAIMS, path)), 0);
  assert_int_equal(mkdir(path, 0700), 0);
  tables_open(&f, directory.path);
  assert_null(catalog_table(&f.catalog, CATALOG_MODELS));
  assert_null(catalog_table(&f.catalog, CATALOG_CLAIMS));
  assert_int_equal(f.diagnostics.errors, 2);
  tables_check_error("no file", &f.diagnostics.list[0], 0, 0, "No such file");
  tables_check_error("a directory", &f.diagnostics.list[1], 0, 0, "directory");

  struct catalog catalog;
  assert_int_equal(catalog_open(&catalog, path, &f.arena, &f.diagnostics), 0);
  directory_file(&directory, CATALOG_MODELS, path);
  assert_int_equal(catalog_open(&catalog, path, &f.arena, &f.diagnostics), -1);
  assert_int_equal(catalog_open(&catalog, "data/README.md", &f.arena, &f.diagnostics), -1);
  assert_int_equal(f.diagnostics.errors, 4);
  arena_free(&f.arena);
  directory_remove(&directory);
}

static const struct {
  const char *name, *accelerator; // NULL: unknown
} devices[] = {
    {"NVIDIA H200", "h200-sxm-141"},
    {"NVIDIA H200 NVL", "h200-nvl-141"},
    {"NVIDIA GH200 480GB", "gh200-96"},
    {"AMD Instinct MI325X", "mi325x-256"},
    {"Second name", "h100-sxm5-80"},
    {"First name", "h100-sxm5-80"},
    {"NVIDIA GB200", NULL}, // used in NVL72 racks and in NVL4 boards
    {"NVIDIA A100-SXM4-80GB MIG 1g.10gb", NULL},
    {"NVIDIA H20", NULL},
    {"H200", NULL},
    {"nvidia h200", NULL},
    {"First", NULL},
    {";", NULL},
    {"", NULL},
};

static void test_devices_by_name(void **state) {
  (void)state;
  struct directory directory;
  struct tables f;
  directory_make(&directory);
  directory_edit(&directory, CATALOG_ACCELERATORS, ",NVIDIA H100 80GB HBM3,",
                 ",First name ;Second name; ,");
  tables_open(&f, directory.path);
  const struct table *table = tables_load(&f, CATALOG_ACCELERATORS);
  for (size_t i = 0; i < sizeof devices / sizeof *devices; i++) {
    const long row = catalog_device(table, devices[i].name);
    const char *found = row < 0 ? NULL : table_cell(table, (size_t)row, "id");
    if (!found != !devices[i].accelerator || (found && strcmp(found, devices[i].accelerator) != 0))
      fail_msg("'%s' is %s", devices[i].name, found ? found : "not known");
  }
  arena_free(&f.arena);
  directory_remove(&directory);
}

static void test_names(void **state) {
  (void)state;
  for (int which = 0; which < CATALOG_TABLES; which++)
    assert_int_equal(catalog_table_named(catalog_table_names[which]), which);
  assert_int_equal(catalog_table_named("nothing"), CATALOG_TABLES);
}

#define OWN     "table,id,low,mid,high,unit,source_title,source_url,as_of,vendor"
#define OWN_ROW "typical,own,1,2,3,W,t,u,2026,"

// A user's own files in addition to the shipped tables. No message: typical has one more row.
static const struct {
  const char *text;
  int line, column;
  const char *message;
} own_files[] = {
    {OWN "\n" OWN_ROW "\n", 0, 0, NULL},
    {"as_of,id,unit,table,source_url,source_title,mid\n2026,own,W,typical,u,t,2\n", 0, 0, NULL},
    {OWN "\nmodels,own,,,,,t,u,2026,\n" OWN_ROW "\n", 2, 0, "expected a value for 'name'"},
    {"", 0, 0, "found an empty file"},
    {"id,low\nown,1\n", 1, 1, "expected a column 'table'"},
    {OWN "\n,own,1,2,3,W,t,u,2026,\n", 2, 1, "expected a table of the catalogue, found ''"},
    {OWN "\ntypcal,own,1,2,3,W,t,u,2026,\n", 2, 1, "did you mean 'typical'?"},
    {OWN "\n" OWN_ROW "Acme\n", 2, 30, "'vendor' is not a column of the table typical"},
    {OWN "\n" OWN_ROW "\n" OWN_ROW "\n", 3, 9, "'own' is already in line 2"},
    {OWN "\ntypical,pue,1,2,3,W,t,u,2026,\n", 2, 9, "'pue' is already in data/typical.csv:"},
    {OWN "\ntypical,own,1,two,3,W,t,u,2026,\n", 2, 15, "expected a finite number in 'mid'"},
    {OWN "\ntypical,own,2,1,3,W,t,u,2026,\n", 2, 15, "'mid', 1, is below 'low', 2"},
    {OWN "\ntypical,own,,3,2,W,t,u,2026,\n", 2, 16, "'high', 2, is below 'mid', 3"},
    {OWN "\ntypical,own,1,2,3,W,t,u,2099-10-01,\n", 2, 25, "expected a date up to "},
    {OWN "\ntypical,own,1,2,3,W,,u,2026,\n", 2, 0, "expected a value for 'source_title'"},
    {OWN "\n\"typical,own\n", 2, 0, "closed by a quote"},
};

static void test_own_rows(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof own_files / sizeof *own_files; i++) {
    struct tables f;
    tables_open(&f, "data");
    const int added =
        catalog_add_text(&f.catalog, source_from_text("own.csv", own_files[i].text, &f.arena));
    const int failed = added ? added : catalog_add_files(&f.catalog, NULL, 0);
    assert_int_equal(failed, own_files[i].message ? -1 : 0);
    const struct diagnostic *error = f.diagnostics.list;
    if (own_files[i].message) {
      tables_check_error(own_files[i].text, error, own_files[i].line,
                         own_files[i].column ? own_files[i].column : error->place.column,
                         own_files[i].message);
    } else {
      const struct table *table = tables_load(&f, CATALOG_TYPICAL_VALUES);
      const long row = catalog_find(table, "own");
      assert_int_equal(row, table->rows - 1);
      assert_int_equal(catalog_own_count(table), 1);
      assert_string_equal(table_cell(table, (size_t)row, "mid"), "2");
      assert_string_equal(table_place(table, (size_t)row, "mid").source->name, "own.csv");
    }
    arena_free(&f.arena);
  }
}

enum { many_rows = 100000 };

// The shipped throughput rows repeated under new ids.
static void write_many_rows(const struct directory *directory, const struct source *shipped) {
  char path[DIRECTORY_FILE];
  directory_file(directory, CATALOG_THROUGHPUT, path);
  assert_int_equal(unlink(path), 0);
  FILE *file = fopen(path, "w");
  assert_non_null(file);
  const char *start;
  size_t length;
  for (int i = 0, line = 2; i < many_rows; i++, line++) {
    if (i == 0 && source_line(shipped, 1, &start, &length))
      fprintf(file, "%.*s\n", (int)length, start);
    if (!source_line(shipped, line, &start, &length))
      line = 1;
    else
      fprintf(file, "x%d%.*s\n", i, (int)length - 2, start + 2);
  }
  assert_int_equal(fclose(file), 0);
}

static void test_many_rows_are_quick(void **state) {
  (void)state;
  struct directory directory;
  struct tables f;
  tables_open(&f, "data");
  directory_make(&directory);
  write_many_rows(&directory, tables_load(&f, CATALOG_THROUGHPUT)->source);
  arena_free(&f.arena);

  tables_open(&f, directory.path);
  const clock_t begin = clock();
  const struct table *table = tables_load(&f, CATALOG_THROUGHPUT);
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  print_message("%zu rows in %.3f s\n", table->rows, seconds);
  assert_true(table->rows > many_rows * 0.99);
  assert_true(seconds < 5); // 0.3 s on a quiet machine; longer on a busy one under a sanitizer
  assert_int_equal(catalog_find(table, "x991234"), -1);
  assert_true(catalog_find(table, table_cell(table, table->rows - 1, "id")) ==
              (long)table->rows - 1);
  arena_free(&f.arena);
  directory_remove(&directory);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_dates),
      cmocka_unit_test(test_stale),
      cmocka_unit_test(test_ahead),
      cmocka_unit_test(test_grades),
      cmocka_unit_test(test_edits),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_a_broken_table_breaks_what_refers_to_it),
      cmocka_unit_test(test_files),
      cmocka_unit_test(test_no_file),
      cmocka_unit_test(test_devices_by_name),
      cmocka_unit_test(test_names),
      cmocka_unit_test(test_own_rows),
      cmocka_unit_test(test_many_rows_are_quick),
  };
  return cmocka_run_group_tests_name("catalog", tests, NULL, NULL);
}
