// The CSV reader: what it accepts, what it refuses and where, and how fast it finds numbers and
// keys.
#include "base/csv.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct fixture {
  struct arena arena;
  struct diagnostics diagnostics;
  struct table *table;
};

static struct fixture *read_text(struct fixture *fixture, const char *text) {
  *fixture = (struct fixture){0};
  fixture->diagnostics.arena = &fixture->arena;
  const struct source *source = source_from_text("a.csv", text, &fixture->arena);
  fixture->table = csv_read(source, "a", &fixture->arena, &fixture->diagnostics);
  return fixture;
}

// The cells in the form "a|b/c|d", header first.
static const char *outline(struct fixture *f) {
  const struct table *table = f->table;
  const char *text = "";
  for (size_t i = 0; i < table->columns; i++)
    text = arena_printf(&f->arena, "%s%s%s", text, i ? "|" : "", table->column_names[i]);
  for (size_t i = 0; i < table->rows * table->columns; i++)
    text = arena_printf(&f->arena, "%s%s%s", text, i % table->columns ? "|" : "/", table->cells[i]);
  return text;
}

static const struct {
  const char *text, *cells;
} readable[] = {
    {"a,b\n1,2\n", "a|b/1|2"},
    {"a,b\n1,2", "a|b/1|2"},
    {"a,b\n1,", "a|b/1|"},
    {"a,b\r\n1,2\r\n3,4\r\n", "a|b/1|2/3|4"},
    {"a,b\n", "a|b"},
    {"a,b", "a|b"},
    {"a\n1\n2\n", "a/1/2"},
    {"a,b\n,\n", "a|b/|"},
    {"a,b\n\n1,2\n\n  \n3,4\n\n", "a|b/1|2/3|4"},
    {"\n\na,b\n1,2\n", "a|b/1|2"},
    {"a,b\n \t1 , two words \n", "a|b/1|two words"},
    {"a,b\n\" 1 \",2\n", "a|b/ 1 |2"},
    {"a,b\n \"1\" ,2\n", "a|b/1|2"},
    {"a,b\n\"x, y\",2\n", "a|b/x, y|2"},
    {"a,b\n\"say \"\"no\"\"\",2\n", "a|b/say \"no\"|2"},
    {"a,b\n\"\"\"\",\"\"\n", "a|b/\"|"},
    {"a,b\n\"two\nlines\",2\n3,4\n", "a|b/two\nlines|2/3|4"},
    {"a,b\n1,\"no line end\"", "a|b/1|no line end"},
    {"\"a\",\"b, c\"\n1,2\n", "a|b, c/1|2"},
    {"a,b\nM\xc3\xbcnchen,\xe2\x82\xac\n", "a|b/M\xc3\xbcnchen|\xe2\x82\xac"},
};

static void test_readable(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
    struct fixture f;
    read_text(&f, readable[i].text);
    if (!f.table)
      fail_msg("%s: %s", readable[i].text, f.diagnostics.list[0].message);
    assert_string_equal(outline(&f), readable[i].cells);
    arena_free(&f.arena);
  }
}

// Expected errors as "line:column text" with a part of the message, in order.
static const struct {
  const char *text;
  const char *errors[4];
} refused[] = {
    {"", {"0:0 empty file"}},
    {"\n\n", {"0:0 empty file"}},
    {"a;b\n1,5;2\n", {"1:2 expected columns separated by commas, not semicolons: save the file"}},
    {"\"a\";\"b\"\n\"1\";\"2\"\n", {"1:4 not semicolons"}},
    {"a\tb\n1\t2\n", {"1:2 not tabs"}},
    {"a,,c\n", {"1:3 name of a column"}},
    {"a,b,a\n", {"1:5 'a' is repeated"}},
    {"a,b\n1\n", {"2:2 expected 2 cells as in the header, found 1"}},
    {"a,b\n1,2,3\n", {"2:5 expected 2 cells as in the header, found 3"}},
    {"a,b\n1\n2,3\n4,5,6\n", {"2:2 found 1", "4:5 found 3"}},
    {"a,b\r\n1\r\n", {"2:2 found 1"}},
    {"a,b\n1,2\"\n3,4\n", {"2:4 no quote within an unquoted cell"}},
    {"a,b\n1,x\"y\"\n", {"2:4 no quote within"}},
    {"a,b\n\"x\"y,2\n", {"2:4 after the closing quote"}},
    {"a,b\n1,\"x\n3,4\n5,6\n", {"2:3 closed by a quote"}},
    {"a,b\n1,\"x\n3\n5,6,7\n", {"2:3 closed by a quote", "3:2 found 1", "4:5 found 3"}},
    {"a,b\n1,\"x\n3,\"y\"\n5\n", {"2:3 closed by a quote", "4:2 found 1"}},
    {"a,b\n1,2\"\n3\n\"4\"5,6\n", {"2:4 no quote", "3:2 found 1", "4:4 closing quote"}},
    {"a,b\n1,\"x", {"2:3 closed by a quote"}},
    {"a,b\n\"two\nlines\",\"x\n3\n", {"3:8 closed by a quote", "4:2 found 1"}},
    {"a,b\n1,2\r3,4\n5\n", {"2:4 carriage return", "3:2 found 1"}},
    {"a,\"b\n1,2\n", {"1:3 closed by a quote"}},
    {"a,b\"\n1\n", {"1:4 no quote"}},
    {"a b\n1;2\n3,4\n", {"3:3 expected 1 cells as in the header, found 2"}},
};

static size_t count_errors(const char *const *errors) {
  size_t count = 0;
  while (count < 4 && errors[count])
    count++;
  return count;
}

static void check_error(const char *text, const struct diagnostic *error, const char *expected) {
  int line, column, offset;
  assert_int_equal(sscanf(expected, "%d:%d %n", &line, &column, &offset), 2);
  if (error->place.line != line || error->place.column != column ||
      !strstr(error->message, expected + offset))
    fail_msg("%s\nexpected %s\nfound %d:%d %s", text, expected, error->place.line,
             error->place.column, error->message);
}

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct fixture f;
    read_text(&f, refused[i].text);
    assert_null(f.table);
    if (f.diagnostics.errors != count_errors(refused[i].errors))
      fail_msg("%s\n%zu errors, the last: %s", refused[i].text, f.diagnostics.errors,
               f.diagnostics.count ? f.diagnostics.list[f.diagnostics.count - 1].message : "");
    for (size_t k = 0; k < f.diagnostics.count; k++)
      check_error(refused[i].text, &f.diagnostics.list[k], refused[i].errors[k]);
    arena_free(&f.arena);
  }
}

// "a,b", a row whose first cell is `length` bytes long, and a row with the wrong number of cells.
static char *long_line(size_t length) {
  char *text = malloc(length + 16);
  assert_non_null(text);
  char *p = stpcpy(text, "a,b\n");
  memset(p, 'x', length);
  strcpy(p + length, ",2\n3\n");
  return text;
}

static void test_long_lines(void **state) {
  (void)state;
  const struct {
    size_t length;
    const char *message;
  } cases[] = {
      {MAX_CSV_LINE - 2, NULL},
      {MAX_CSV_LINE - 1, "expected a line of at most 65536 bytes, found 65537"},
      {1 << 20, "expected a line of at most 65536 bytes, found 1048578"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = long_line(cases[i].length);
    struct fixture f;
    read_text(&f, text);
    assert_int_equal(f.diagnostics.errors, cases[i].message ? 2 : 1);
    if (cases[i].message) {
      assert_string_equal(f.diagnostics.list[0].message, cases[i].message);
      assert_int_equal(f.diagnostics.list[0].place.line, 2);
    }
    assert_int_equal(f.diagnostics.list[f.diagnostics.count - 1].place.line, 3);
    arena_free(&f.arena);
    free(text);
  }
}

static void test_too_many_columns(void **state) {
  (void)state;
  char text[2 * MAX_CSV_COLUMNS + 2];
  for (int i = 0; i <= MAX_CSV_COLUMNS; i++)
    memcpy(text + 2 * i, "a,", 2);
  text[sizeof text - 1] = '\0';
  struct fixture f;
  read_text(&f, text);
  assert_null(f.table);
  assert_int_equal(f.diagnostics.errors, 1);
  check_error(text, &f.diagnostics.list[0], "1:513 at most 256 columns, found 257");
  arena_free(&f.arena);
}

static void test_cells(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "id,n,text\nx,1.5,\"a\nb\"\ny,,  c\n");
  assert_non_null(f.table);
  double number = 7;
  assert_int_equal(f.table->rows, 2);
  assert_int_equal(table_column(f.table, "text"), 2);
  assert_int_equal(table_column(f.table, "Text"), -1);
  assert_string_equal(table_cell(f.table, 0, "text"), "a\nb");
  assert_true(table_number(f.table, 0, "n", &number) && number == 1.5);
  assert_false(table_number(f.table, 1, "n", &number) || table_number(f.table, 1, "id", &number));
  assert_true(number == 1.5);
  arena_free(&f.arena);
}

static void test_places(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "\nid,n,text\n\nx,\"1\n2\",t\ny,,  c\n");
  assert_non_null(f.table);
  const struct {
    size_t row;
    const char *column;
    int line, place;
  } cases[] = {
      {0, "id", 4, 1}, {0, "n", 4, 3},    {0, "text", 5, 4},
      {1, "n", 6, 3},  {1, "text", 6, 6}, {1, "no column", 6, 1},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    struct place place = table_place(f.table, cases[i].row, cases[i].column);
    assert_int_equal(place.line, cases[i].line);
    assert_int_equal(place.column, cases[i].place);
  }
  assert_int_equal(table_header_place(f.table).line, 2);
  arena_free(&f.arena);
}

static void test_index(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "n,id\n1,x\n2,y\n3,Y\n");
  assert_int_equal(table_find(f.table, "x"), -1);
  assert_int_equal(table_index(f.table, "id", &f.arena, &f.diagnostics), 0);
  assert_int_equal(table_find(f.table, "x"), 0);
  assert_int_equal(table_find(f.table, "Y"), 2);
  assert_int_equal(table_find(f.table, "z"), -1);
  arena_free(&f.arena);

  read_text(&f, "n,id\n1,x\n2,\n3,x\n4,x\n");
  assert_int_equal(table_index(f.table, "id", &f.arena, &f.diagnostics), -1);
  assert_int_equal(f.diagnostics.errors, 3);
  check_error("ids", &f.diagnostics.list[0], "3:3 expected a value for 'id'");
  check_error("ids", &f.diagnostics.list[1], "4:3 'x' is already in line 2");
  check_error("ids", &f.diagnostics.list[2], "5:3 'x' is already in line 2");
  arena_free(&f.arena);
}

static const char *const numbers[] = {
    "0",
    "1",
    "-1",
    "+1",
    "007",
    "1.",
    ".5",
    "-.5",
    "0.1",
    "3.35",
    "123456789012345",
    "1234567890123456789",
    "0.000000000000001",
    "9007199254740993",
    "3692.70031905196",
    "3687.7445305378305",
    "1e3",
    "1E+3",
    "-2.5e-3",
    "1e-400",
    "-0",
};

static const char *const no_numbers[] = {
    "",     " ",     "-",      "+",    ".",   "e5",  "1e",       "1e+", "1.2.3",
    "1 ",   " 1",    "1,5",    "0x10", "nan", "NaN", "-nan",     "inf", "Infinity",
    "-inf", "1e999", "-1e999", "12 W", "--1", "1-",  "\xd9\xa1",
};

static void test_numbers(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    double number = NAN;
    if (!csv_number(numbers[i], &number))
      fail_msg("refused: %s", numbers[i]);
    assert_true(number == strtod(numbers[i], NULL));
  }
  for (size_t i = 0; i < sizeof no_numbers / sizeof *no_numbers; i++) {
    double number = 7;
    if (csv_number(no_numbers[i], &number))
      fail_msg("taken for a number: '%s'", no_numbers[i]);
    assert_true(number == 7);
  }
}

// The fast path and strtod agree for every number of digits, to the last bit.
static void test_numbers_are_exact(void **state) {
  (void)state;
  uint64_t seed = 1;
  for (int i = 0; i < 20000; i++) {
    seed = seed * 6364136223846793005u + 1442695040888963407u;
    char text[64];
    snprintf(text, sizeof text, "%.*f", (int)(seed >> 40) % 12, (double)(seed >> 20) / 4099.0);
    double number = NAN;
    assert_true(csv_number(text, &number));
    assert_true(number == strtod(text, NULL));
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_readable),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_long_lines),
      cmocka_unit_test(test_too_many_columns),
      cmocka_unit_test(test_cells),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_index),
      cmocka_unit_test(test_numbers),
      cmocka_unit_test(test_numbers_are_exact),
  };
  return cmocka_run_group_tests_name("csv", tests, NULL, NULL);
}
