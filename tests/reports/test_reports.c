// The building blocks of all reports: numbers for people, display widths, aligned columns, CSV and
// JSON cells, files put in place.
#include "base/output.h"
#include "reports/print/csv_out.h"
#include "reports/print/grid.h"
#include "reports/print/json_out.h"
#include "reports/print/json_stream.h"
#include "reports/print/number.h"
#include "reports/print/style.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

enum { most_values = 4 };

static struct unit unit_of(const char *text, struct arena *arena) {
  struct unit unit = {0};
  struct diagnostics diagnostics = {.arena = arena};
  assert_int_equal(unit_parse(text, nowhere, &unit, arena, &diagnostics), 0);
  return unit;
}

// Values in the unit as typed, and how the row shows them.
static const struct {
  const char *unit;
  double values[most_values];
  size_t count;
  const char *shown_unit, *texts[most_values];
} rows[] = {
    {"USD", {39597312, 31890752.4}, 2, "USD", {"39,597,312", "31,890,752"}},
    {"USD", {0, 4415.04}, 2, "USD", {"0", "4,415"}},
    {"USD", {12.5, 999.99}, 2, "USD", {"12.50", "999.99"}},
    {"USD", {-1234567}, 1, "USD", {"-1,234,567"}},
    {"USD", {-0.0}, 1, "USD", {"0"}},
    {"USD/Mtok", {0.1778663401, 0.1523497837}, 2, "USD/Mtok", {"0.1779", "0.1523"}},
    {"USD/Mtok", {0.5, 12}, 2, "USD/Mtok", {"0.5000", "12.0000"}},
    {"USD/Mtok", {1475.87254, 0.35}, 2, "USD/Mtok", {"1,475.8725", "0.3500"}},
    {"USD/Mtok", {1475.87254, 1253.52161}, 2, "USD/Mtok", {"1,475.87", "1,253.52"}},
    {"USD/Mtok", {0.000123456}, 1, "USD/Mtok", {"0.000123"}},
    {"USD/h", {1.88343379, 1.516873668}, 2, "USD/h", {"1.8834", "1.5169"}},
    {"J/token", {0.4249677025}, 1, "J/token", {"0.42497"}},
    {"%", {14, 22}, 2, "%", {"14", "22"}},
    {"%", {14.27, 22}, 2, "%", {"14.3", "22.0"}},
    {"token", {2.22623977e14, 2.093258765e14}, 2, "T tokens", {"222.62", "209.33"}},
    {"token", {226.45e12, 1.744e9}, 2, "T tokens", {"226.45", "0.0017"}},
    {"token", {226.45e12, 2e3, 0}, 3, "T tokens", {"226.45", "<0.01", "0.00"}},
    {"USD", {39597312, 0.3, 4e-6}, 3, "USD", {"39,597,312", "0.30", "0"}},
    {"token", {5e9}, 1, "G tokens", {"5"}},
    {"token", {512}, 1, "token", {"512"}},
    {"token/s/gpu", {4202, 3951.5}, 2, "token/s/gpu", {"4,202.0", "3,951.5"}},
    {"gpu", {800, 64}, 2, "gpu", {"800", "64"}},
    {"-", {1.25}, 1, "", {"1.25"}},
    {"USD", {0}, 0, "USD", {0}},
};

static void test_rows_of_numbers(void **state) {
  (void)state;
  for (size_t r = 0; r < sizeof rows / sizeof rows[0]; r++) {
    struct arena arena = {0};
    const struct unit unit = unit_of(rows[r].unit, &arena);
    double values[most_values];
    for (size_t i = 0; i < rows[r].count; i++)
      values[i] = rows[r].values[i] * unit_factor(&unit);
    const struct scale scale = number_scale(&unit, values, rows[r].count, &arena);
    assert_string_equal(scale.unit, rows[r].shown_unit);
    for (size_t i = 0; i < rows[r].count; i++)
      assert_string_equal(number_scaled(values[i], scale, &arena), rows[r].texts[i]);
    arena_free(&arena);
  }
}

static const struct {
  double value;
  int decimals;
  const char *text;
} fixed[] = {
    {0, 0, "0"},
    {-0.0, 2, "0.00"},
    {-0.004, 2, "0.00"},
    {999, 0, "999"},
    {1000, 0, "1,000"},
    {-1000, 1, "-1,000.0"},
    {123456789.125, 3, "123,456,789.125"},
    {1e15, 0, "1,000,000,000,000,000"},
};

static void test_thousands(void **state) {
  (void)state;
  struct arena arena = {0};
  for (size_t i = 0; i < sizeof fixed / sizeof fixed[0]; i++)
    assert_string_equal(number_fixed(fixed[i].value, fixed[i].decimals, &arena), fixed[i].text);
  assert_string_equal(number_significant(39597312, 10, &arena), "39,597,312");
  assert_string_equal(number_significant(0.177866340123, 10, &arena), "0.1778663401");
  assert_string_equal(number_significant(2.22623977e14, 10, &arena), "222,623,977,000,000");
  assert_string_equal(number_significant(-0.0, 10, &arena), "0");
  arena_free(&arena);
}

static const struct {
  double a, b;
  const char *text;
} changes[] = {
    {100, 122, "+22.0 %"},
    {100, 78, "-22.0 %"},
    {100, 100, "0.0 %"},
    {0, 0, "0.0 %"},
    {0, 1, "-"},
    {100, 100.03, "+0.03 %"},
    {-100, -50, "+50.0 %"},
    {1, 1 + 1e-12, "0.0 %"},
    {1, 2001, "+200,000.0 %"},
};

static void test_changes(void **state) {
  (void)state;
  struct arena arena = {0};
  for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++)
    assert_string_equal(number_change(changes[i].a, changes[i].b, &arena), changes[i].text);
  arena_free(&arena);
}

// 0.14 / 0.01 is not 14 in doubles, but 14 % is what 0.14 means; the number shown means the value.
static void test_numbers_in_their_unit(void **state) {
  (void)state;
  struct arena arena = {0};
  const struct unit percent = unit_of("%", &arena), yearly = unit_of("%/yr", &arena);
  for (int i = 0; i <= 10000; i++) {
    const double typed = i / 100.0;
    assert_true(number_in_unit(typed * 0.01, &percent) == typed);
    const double value = typed * unit_factor(&yearly);
    assert_true(number_in_unit(value, &yearly) == typed);
  }
  assert_false(signbit(number_in_unit(-0.0, &percent)));
  arena_free(&arena);
}

// ---- text

static const struct {
  const char *text;
  int width;
} widths[] = {
    {"", 0}, {"h200", 4}, {"M\xc3\xbcnchen", 7}, {"\xe5\x8a\xa0\xe9\x80\x9f", 4}, {"e\xcc\x81", 1},
};

static void test_display_widths(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof widths / sizeof widths[0]; i++)
    assert_int_equal(style_width(widths[i].text), widths[i].width);
}

static const struct {
  bool utf8;
  const char *text, *shown;
} texts[] = {
    {true, "plain", "plain"},
    {true, "M\xc3\xbcnchen \xe2\x80\x93", "M\xc3\xbcnchen \xe2\x80\x93"},
    {false, "M\xc3\xbcnchen \xe2\x80\x93", "M?nchen ?"},
    {true, "\033[2Jgone\a", "?[2Jgone?"},
    {true, "two\nlines\ttab", "two?lines?tab"},
    {true,
     "C1 \xc2\x9b"
     "31m",
     "C1 ?31m"},
    {true, "broken \xff\xfe", "broken ??"},
};

static void test_text_for_terminals(void **state) {
  (void)state;
  struct arena arena = {0};
  for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
    const struct style style = {.arena = &arena, .utf8 = texts[i].utf8};
    assert_string_equal(style_text(&style, texts[i].text), texts[i].shown);
  }
  arena_free(&arena);
}

static const struct {
  const char *text;
  int width;
  const char *lines; // joined by |
} wrapped[] = {
    {"", 10, ""},
    {"one", 10, "one"},
    {"one two three", 7, "one two|three"},
    {"one two three", 8, "one two|three"},
    {"one two three", 3, "one|two|three"},
    {"overlong word", 4, "overlong|word"},
    {"two  blanks", 20, "two  blanks"},
    {"a b", 1, "a|b"},
    {"M\xc3\xbcnchen M\xc3\xbcnchen", 7, "M\xc3\xbcnchen|M\xc3\xbcnchen"},
};

static void test_wrapping(void **state) {
  (void)state;
  struct arena arena = {0};
  for (size_t i = 0; i < sizeof wrapped / sizeof wrapped[0]; i++) {
    const char **lines, *joined = "";
    const size_t count = style_wrap(wrapped[i].text, wrapped[i].width, &arena, &lines);
    for (size_t k = 0; k < count; k++)
      joined = arena_printf(&arena, "%s%s%s", joined, k ? "|" : "", lines[k]);
    assert_string_equal(joined, wrapped[i].lines);
  }
  arena_free(&arena);
}

// ---- output

// A stream whose text can be examined.
struct capture {
  FILE *stream;
  char *text;
  size_t size;
};

static void capture_open(struct capture *capture) {
  capture->stream = open_memstream(&capture->text, &capture->size);
  assert_non_null(capture->stream);
}

static void capture_check(struct capture *capture, const char *expected) {
  fclose(capture->stream);
  assert_string_equal(capture->text, expected);
  free(capture->text);
}

static struct grid *example_grid(struct arena *arena) {
  struct grid *grid = grid_new(4, arena);
  grid->left[1] = true;
  struct cell *cells = grid_row(grid);
  cells[2].text = "a";
  cells[3].text = "beta";
  grid_rule(grid);
  cells = grid_row(grid);
  cells[0].text = "Cost of a million tokens";
  cells[1].text = "USD";
  cells[2].text = "1,000";
  cells[3].text = "2";
  cells = grid_row(grid);
  cells[0].text = "  M\xc3\xbcnchen";
  cells[2].text = "3";
  return grid;
}

static void check_grid(int width, const char *expected) {
  struct arena arena = {0};
  struct capture capture;
  capture_open(&capture);
  const struct style style = {.out = capture.stream, .arena = &arena, .width = width};
  grid_print(example_grid(&arena), &style);
  capture_check(&capture, expected);
  arena_free(&arena);
}

static void test_grid(void **state) {
  (void)state;
  check_grid(80, "                                   a  beta\n"
                 "------------------------------------------\n"
                 "Cost of a million tokens  USD  1,000     2\n"
                 "  M?nchen                          3\n");
}

static void test_grid_wraps_its_labels(void **state) {
  (void)state;
  struct arena arena = {0};
  const struct grid *grid = example_grid(&arena);
  assert_int_equal(grid_width(grid, 24), 42);
  assert_int_equal(grid_width(grid, 10), 28);
  arena_free(&arena);
  check_grid(28, "                     a  beta\n"
                 "----------------------------\n"
                 "Cost of a\n"
                 "million\n"
                 "tokens      USD  1,000     2\n"
                 "  M?nchen            3\n");
}

static const struct {
  const char *text, *cell;
} cells[] = {
    {"", "\"\""},
    {"plain", "\"plain\""},
    {"a \"quote\", a comma", "\"a \"\"quote\"\", a comma\""},
    {"=1+1", "\"'=1+1\""},
    {"+1", "\"'+1\""},
    {"-1", "\"'-1\""},
    {"@x", "\"'@x\""},
    {"\tx", "\"'\tx\""},
    {"\rx", "\"'\rx\""},
    {"-", "\"-\""},
    {"a=1", "\"a=1\""},
};

static void test_csv_cells(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof cells / sizeof cells[0]; i++) {
    struct capture capture;
    capture_open(&capture);
    struct csv_out out = {.file = capture.stream};
    csv_out_text(&out, cells[i].text);
    capture_check(&capture, cells[i].cell);
  }
}

static void test_csv_rows(void **state) {
  (void)state;
  static const char *const names[] = {"name", "value"};
  struct capture capture;
  capture_open(&capture);
  struct csv_out out = {.file = capture.stream};
  csv_out_header(&out, names, 2);
  csv_out_blank(&out);
  csv_out_number(&out, 0.1);
  csv_out_end_row(&out);
  csv_out_text(&out, "x");
  csv_out_number(&out, -0.0);
  csv_out_end_row(&out);
  capture_check(&capture, "\"name\",\"value\"\n,0.1\n\"x\",0\n");
}

static const double json_numbers[] = {0.1, -0.0, 3, 1e15, 1e22, 1.5e-7, 1e-7, NAN, INFINITY};
static const char *const json_texts[] = {"M\xc3\xbcnchen", "a\xffz", "a \"word\" \\",
                                         "\b\f\n\r\t\x01\x1f\x7f", ""};

enum {
  JSON_NUMBERS = sizeof json_numbers / sizeof json_numbers[0],
  JSON_TEXTS = sizeof json_texts / sizeof json_texts[0]
};

// What the library prints of the same values.
static char *json_of_library(void) {
  json_t *object = json_object(), *list = json_array();
  for (size_t i = 0; i < JSON_TEXTS; i++)
    json_array_append_new(list, json_out_text(json_texts[i]));
  for (size_t i = 0; i < JSON_NUMBERS; i++)
    json_array_append_new(list, json_out_number(json_numbers[i]));
  json_array_append_new(list, json_pack("{}"));
  json_array_append_new(list, json_pack("[]"));
  json_array_append_new(list, json_pack("[i, b, b]", 12, 1, 0));
  json_object_set_new(object, "a \"key\"", list);
  char *text = json_out_text_of(object, JSON_INDENT(2));
  json_decref(object);
  return text;
}

static void test_json(void **state) {
  (void)state;
  struct capture capture;
  capture_open(&capture);
  struct json_stream stream = {.out = capture.stream};
  json_stream_open(&stream, '{');
  json_stream_key(&stream, "a \"key\"");
  json_stream_open(&stream, '[');
  for (size_t i = 0; i < JSON_TEXTS; i++)
    json_stream_text(&stream, json_texts[i]);
  for (size_t i = 0; i < JSON_NUMBERS; i++)
    json_stream_number(&stream, json_numbers[i]);
  json_stream_open(&stream, '{');
  json_stream_close(&stream, '}');
  json_stream_open(&stream, '[');
  json_stream_close(&stream, ']');
  json_stream_open(&stream, '[');
  json_stream_integer(&stream, 12);
  json_stream_flag(&stream, true);
  json_stream_flag(&stream, false);
  json_stream_close(&stream, ']');
  json_stream_close(&stream, ']');
  json_stream_close(&stream, '}');
  char *expected = json_of_library();
  capture_check(&capture, expected);
  free(expected);
}

// ---- files

struct folder {
  struct arena arena;
  struct diagnostics diagnostics;
  char path[64];
};

static int make_folder(void **state) {
  struct folder *folder = calloc(1, sizeof *folder);
  strcpy(folder->path, "/tmp/pertoken-reports-XXXXXX");
  folder->diagnostics.arena = &folder->arena;
  *state = folder;
  return mkdtemp(folder->path) ? 0 : -1;
}

static int remove_folder(void **state) {
  struct folder *folder = *state;
  const int left = rmdir(folder->path);
  arena_free(&folder->arena);
  free(folder);
  return left;
}

static const char *in_folder(struct folder *folder, const char *name) {
  return arena_printf(&folder->arena, "%s/%s", folder->path, name);
}

static void write_text(struct folder *folder, const char *path, const char *text) {
  struct output output;
  assert_int_equal(output_open(&output, path, &folder->arena, &folder->diagnostics), 0);
  fputs(text, output.stream);
  assert_int_equal(output_close(&output, &folder->diagnostics), 0);
}

static void check_text(const char *path, const char *expected) {
  char text[64] = "";
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  assert_int_equal(fread(text, 1, sizeof text - 1, file), strlen(expected));
  fclose(file);
  assert_string_equal(text, expected);
}

static void test_file_is_replaced(void **state) {
  struct folder *folder = *state;
  const char *path = in_folder(folder, "a.csv");
  write_text(folder, path, "old");
  write_text(folder, path, "new");
  check_text(path, "new");
  unlink(path);
}

static void test_discarded_file_leaves_the_old(void **state) {
  struct folder *folder = *state;
  const char *path = in_folder(folder, "a.csv");
  write_text(folder, path, "old");
  struct output output;
  assert_int_equal(output_open(&output, path, &folder->arena, &folder->diagnostics), 0);
  fputs("half", output.stream);
  output_discard(&output);
  check_text(path, "old");
  unlink(path);
}

static void test_link_is_followed(void **state) {
  struct folder *folder = *state;
  const char *path = in_folder(folder, "a.csv"), *link = in_folder(folder, "link.csv");
  write_text(folder, path, "old");
  assert_int_equal(symlink(path, link), 0);
  write_text(folder, link, "new");
  struct stat status;
  assert_int_equal(lstat(link, &status), 0);
  assert_true(S_ISLNK(status.st_mode));
  check_text(path, "new");
  unlink(link);
  unlink(path);
}

static void test_device_stays_a_device(void **state) {
  struct folder *folder = *state;
  write_text(folder, "/dev/null", "gone");
  struct stat status;
  assert_int_equal(stat("/dev/null", &status), 0);
  assert_true(S_ISCHR(status.st_mode));
}

static void test_failures_are_the_machines(void **state) {
  struct folder *folder = *state;
  struct output output;
  const char *path = in_folder(folder, "missing/a.csv");
  assert_int_equal(output_open(&output, path, &folder->arena, &folder->diagnostics), -1);
  assert_true(folder->diagnostics.machine_failed);
  assert_int_equal(folder->diagnostics.errors, 1);

  folder->diagnostics.machine_failed = false;
  assert_int_equal(output_open(&output, "/dev/full", &folder->arena, &folder->diagnostics), 0);
  fputs("lost", output.stream);
  assert_int_equal(output_close(&output, &folder->diagnostics), -1);
  assert_true(folder->diagnostics.machine_failed);
}

#define WITH_FOLDER(test) cmocka_unit_test_setup_teardown(test, make_folder, remove_folder)

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_rows_of_numbers),
      cmocka_unit_test(test_thousands),
      cmocka_unit_test(test_changes),
      cmocka_unit_test(test_numbers_in_their_unit),
      cmocka_unit_test(test_display_widths),
      cmocka_unit_test(test_text_for_terminals),
      cmocka_unit_test(test_wrapping),
      cmocka_unit_test(test_grid),
      cmocka_unit_test(test_grid_wraps_its_labels),
      cmocka_unit_test(test_csv_cells),
      cmocka_unit_test(test_csv_rows),
      cmocka_unit_test(test_json),
      WITH_FOLDER(test_file_is_replaced),
      WITH_FOLDER(test_discarded_file_leaves_the_old),
      WITH_FOLDER(test_link_is_followed),
      WITH_FOLDER(test_device_stays_a_device),
      WITH_FOLDER(test_failures_are_the_machines),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
