// `pertoken catalog`: which rows it shows, and how.
#include "reports/answers/catalog.h"
#include "reports/faces/faces.h"
#include "tests/support/tables.h"

#include <jansson.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define HEADER "id,low,mid,high,unit,source_title,source_url,as_of"

static char *view(struct tables *f, enum catalog_table which, enum output_format format,
                  const char *const *wheres) {
  char *text = NULL;
  size_t size = 0, count = 0;
  while (wheres[count])
    count++;
  FILE *out = open_memstream(&text, &size);
  assert_non_null(out);
  struct answer answer;
  const struct answers alone = {&answer, 1};
  const struct catalog_request request = {
      .wheres = wheres, .where_count = count, .day = "2026-11-23"};
  if (!catalog_answer(tables_load(f, which), &request, &answer, &f->arena, &f->diagnostics))
    answers_print(NULL, &alone, format, out, &f->arena);
  fclose(out);
  char *kept = arena_copy_n(&f->arena, text, size);
  free(text);
  return kept;
}

static const struct {
  enum catalog_table table;
  const char *wheres[3];
  const char *sentence;
} selections[] = {
    {CATALOG_MODELS, {NULL}, "21 of 21 rows; all columns with --format csv\n\n"},
    {CATALOG_MODELS, {"attention_kind=mla"}, "1 of 21 rows; "},
    {CATALOG_MODELS, {"Attention_Kind=MLA"}, "1 of 21 rows; "},
    {CATALOG_MODELS, {"id~QWEN3"}, "3 of 21 rows; "},
    {CATALOG_MODELS, {"id~qwen3", "experts=0"}, "2 of 21 rows; "},
    {CATALOG_MODELS, {"published_params_b=671.0"}, "1 of 21 rows; "},
    {CATALOG_MODELS, {"id=none"}, "0 of 21 rows; "},
    {CATALOG_MODELS, {"dense_ffn_hidden="}, "20 of 21 rows; "},
    {CATALOG_MODELS, {"source_url~/blob/"}, "9 of 21 rows; "},
    {CATALOG_THROUGHPUT,
     {"grade=benchmark", "accelerator=h200-nvl-141", "scenario=offline"},
     "10 of 2023 rows; "},
};

static void test_selections(void **state) {
  (void)state;
  struct tables f;
  tables_open(&f, "data");
  for (size_t i = 0; i < sizeof selections / sizeof *selections; i++) {
    const char *const wheres[4] = {selections[i].wheres[0], selections[i].wheres[1],
                                   selections[i].wheres[2], NULL};
    const char *text = view(&f, selections[i].table, FORMAT_TABLE, wheres);
    assert_int_equal(f.diagnostics.errors, 0);
    if (!strstr(text, selections[i].sentence))
      fail_msg("no '%s' in\n%s", selections[i].sentence, text);
  }
  arena_free(&f.arena);
}

static void test_refused_selections(void **state) {
  (void)state;
  const struct {
    const char *where, *message;
  } cases[] = {
      {"modle=x", "expected a column of throughput, found 'modle'; did you mean 'model'?"},
      {"nothing at all=x", "expected a column of throughput, found 'nothing at all'"},
      {"model", "expected --where COLUMN=VALUE or COLUMN~TEXT, found 'model'"},
      {"=x", "expected --where COLUMN=VALUE"},
      {"", "expected --where COLUMN=VALUE"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct tables f;
    tables_open(&f, "data");
    const char *const wheres[] = {cases[i].where, NULL};
    assert_string_equal(view(&f, CATALOG_THROUGHPUT, FORMAT_TABLE, wheres), "");
    assert_int_equal(f.diagnostics.errors, 1);
    tables_check_error(cases[i].where, &f.diagnostics.list[0], 0, 0, cases[i].message);
    arena_free(&f.arena);
  }
}

// Every table, read back from CSV, is unchanged, with its grade added, and a throughput's round.
static void test_csv_reads_back(void **state) {
  (void)state;
  const char *const all[] = {NULL};
  struct tables f;
  tables_open(&f, "data");
  for (int which = 0; which < CATALOG_TABLES; which++) {
    const struct table *table = tables_load(&f, (enum catalog_table)which);
    const char *text = view(&f, (enum catalog_table)which, FORMAT_CSV, all);
    const struct table *again =
        csv_read(source_from_text("view", text, &f.arena), "view", &f.arena, &f.diagnostics);
    const size_t added = which == CATALOG_THROUGHPUT ? 2 : 1;
    assert_true(again && again->rows == table->rows && again->columns == table->columns + added);
    for (size_t row = 0; row < table->rows; row++) {
      for (size_t column = 0; column < table->columns; column++) {
        const char *old = table->cells[row * table->columns + column];
        const char *new = again->cells[row * again->columns + column];
        assert_string_equal(new + (*new == '\'' && *old != '\''), old);
      }
      assert_string_equal(table_cell(again, row, "grade"), grade_name(catalog_grade(table, row)));
    }
  }
  arena_free(&f.arena);
}

static const char typical[] = HEADER "\n"
                                     "=1+1,-18,1.5,,+-%,@t,-u,2026\n"
                                     "\xe6\x9d\xb1\xe4\xba\xac,,2,3,W,\"a \"\"b\"\"\",u,2026\n"
                                     "x\x1b[31m,,2,,M\xc3\xbc,t,u,2026\n";

static char *view_typical(struct tables *f, enum output_format format) {
  const char *const all[] = {NULL};
  struct directory directory;
  directory_make(&directory);
  directory_replace(&directory, CATALOG_TYPICAL_VALUES, typical, strlen(typical));
  tables_open(f, directory.path);
  char *text = view(f, CATALOG_TYPICAL_VALUES, format, all);
  directory_remove(&directory);
  return text;
}

static void test_formats(void **state) {
  (void)state;
  struct tables f;
  assert_string_equal(view_typical(&f, FORMAT_TABLE),
                      "3 of 3 rows; all columns with --format csv\n"
                      "\n"
                      "id      low  mid  high  unit  grade    as_of\n"
                      "--------------------------------------------\n"
                      "=1+1    -18  1.5        +-%   assumed  2026\n"
                      "??             2     3  W     assumed  2026\n"
                      "x?[31m         2        M?    assumed  2026\n");
  arena_free(&f.arena);
  assert_non_null(strstr(view_typical(&f, FORMAT_CSV),
                         "\n\"'=1+1\",\"-18\",\"1.5\",,\"'+-%\",\"'@t\",\"'-u\",\"2026\","
                         "\"assumed\"\n"));
  arena_free(&f.arena);
}

static void test_json(void **state) {
  (void)state;
  struct tables f;
  json_t *root = json_loads(view_typical(&f, FORMAT_JSON), 0, NULL);
  const json_t *rows = json_object_get(root, "rows");
  assert_int_equal(json_array_size(rows), 3);
  const json_t *row = json_array_get(rows, 0);
  assert_string_equal(json_string_value(json_object_get(row, "id")), "=1+1");
  assert_true(json_number_value(json_object_get(row, "low")) == -18);
  assert_true(json_real_value(json_object_get(row, "mid")) == 1.5);
  assert_true(json_is_null(json_object_get(row, "high")));
  assert_string_equal(json_string_value(json_object_get(row, "as_of")), "2026");
  assert_string_equal(json_string_value(json_object_get(row, "grade")), "assumed");
  json_decref(root);
  arena_free(&f.arena);
}

int main(void) {
  setenv("LC_ALL", "C", 1); // the tables here are drawn in ASCII
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_selections),     cmocka_unit_test(test_refused_selections),
      cmocka_unit_test(test_csv_reads_back), cmocka_unit_test(test_formats),
      cmocka_unit_test(test_json),
  };
  return cmocka_run_group_tests_name("catalog_view", tests, NULL, NULL);
}
