// The INI reader, on texts in tables: what it accepts, what it refuses and where.
#include "base/ini.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

struct fixture {
  struct arena arena;
  struct diagnostics diagnostics;
  const struct ini *ini;
};

static struct fixture *read_text(struct fixture *fixture, const char *text) {
  *fixture = (struct fixture){0};
  fixture->diagnostics.arena = &fixture->arena;
  const struct source *source = source_from_text("a.ini", text, &fixture->arena);
  fixture->ini = ini_read(source, &fixture->arena, &fixture->diagnostics);
  return fixture;
}

static const char *value_of(const struct ini *ini, const char *kind, const char *argument,
                            const char *name) {
  const struct ini_section *section = ini ? ini_section(ini, kind, argument) : NULL;
  const struct ini_key *key = section ? ini_find(section, name) : NULL;
  return key ? key->value : NULL;
}

static const struct {
  const char *text, *kind, *argument, *name, *value;
} readable[] = {
    {"[scenario]\ntitle = Two parts\n", "scenario", "", "title", "Two parts"},
    {"[scenario]\r\ntitle = Two parts\r\n", "scenario", "", "title", "Two parts"},
    {"[scenario]\ntitle = no line end", "scenario", "", "title", "no line end"},
    {"[scenario]\ntitle=tight\n", "scenario", "", "title", "tight"},
    {"[scenario]\ntitle \t=\t wide \t \n", "scenario", "", "title", "wide"},
    {"[option h200]\ndiscount = 14 %\n", "option", "h200", "discount", "14 %"},
    {"[ option \t h200 ]\ndiscount = 14 %\n", "option", "h200", "discount", "14 %"},
    {"[case two words]\na = 1\n", "case", "two words", "a", "1"},
    {"[a] ; why\nk = v\n", "a", "", "k", "v"},
    {"; first\n# second\n  ; third\n\t\n[a]\n\nk = v\n", "a", "", "k", "v"},
    {"[a]\nk = v ; a comment\n", "a", "", "k", "v"},
    {"[a]\nk = v\t; a comment\n", "a", "", "k", "v"},
    {"[a]\nk = \"v ; cut\"\n", "a", "", "k", "\"v"},
    {"[a]\nk = v;kept\n", "a", "", "k", "v;kept"},
    {"[a]\nk = v # kept\n", "a", "", "k", "v # kept"},
    {"[a]\nk =;kept\n", "a", "", "k", ";kept"},
    {"[a]\nk =\n", "a", "", "k", ""},
    {"[a]\nk = ; nothing\n", "a", "", "k", ""},
    {"[a]\nk = a = b: c [d]\n", "a", "", "k", "a = b: c [d]"},
    {"[correlate]\nelectricity_price, pue = 0.3\n", "correlate", "", "electricity_price, pue",
     "0.3"},
    {"[a]\nthroughput.source = MLPerf\n", "a", "", "throughput.source", "MLPerf"},
    {"[a]\nk = M\xc3\xbcnchen\n", "a", "", "k", "M\xc3\xbcnchen"},
    {"[a]\nk = 1\n[b]\nk = 2\n", "b", "", "k", "2"},
    {"[option a]\nk = 1\n[option b]\nk = 2\n", "option", "a", "k", "1"},
    {"[a]\nk = 1\nK = 2\n", "a", "", "K", "2"},
    {"[a]\n[b]\nk = 1\n", "b", "", "k", "1"},
};

static void test_readable(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof readable / sizeof *readable; i++) {
    struct fixture f;
    read_text(&f, readable[i].text);
    const char *value = value_of(f.ini, readable[i].kind, readable[i].argument, readable[i].name);
    if (f.diagnostics.errors > 0)
      fail_msg("%s: %s", readable[i].text, f.diagnostics.list[0].message);
    if (!value)
      fail_msg("not found in: %s", readable[i].text);
    assert_string_equal(value, readable[i].value);
    arena_free(&f.arena);
  }
}

#define TEN      "0123456789"
#define FORTY    TEN TEN TEN TEN
#define NAME_49  FORTY "012345678"
#define LINE_199 "k = " FORTY FORTY FORTY FORTY TEN TEN TEN "01234"

// Texts with one error each: its place, and a part of its message.
static const struct {
  const char *text;
  int line, column;
  const char *message;
} refused[] = {
    {"", 0, 0, "no section"},
    {"\n; only a comment\n", 0, 0, "no section"},
    {"\n{\n \"schema\": 1\n}\n", 0, 0, "found JSON: 'pertoken import'"},
    {"[{\"a\": 1}]\n", 0, 0, "found JSON"},
    {"[\n  {\n", 0, 0, "found JSON"},
    {"k = v\n", 1, 1, "before the first key"},
    {"k = v\nl = w\n[a]\n", 1, 1, "before the first key"},
    {"[a]\n k = v\n", 2, 2, "first column"},
    {"[a]\nk = v\n\tmore of it\n", 3, 2, "first column"},
    {"[a]\n [b]\n", 2, 2, "first column"},
    {"[a]\nk\n", 2, 1, "expected 'key = value'"},
    {"[a]\nk ; = v\n", 2, 1, "expected 'key = value'"},
    {"[a]\nk: v\n", 2, 2, "instead of ':'"},
    {"[a]\nk: v = w\n", 2, 2, "instead of ':'"},
    {"[a]\n= v\n", 2, 1, "name before '='"},
    {"[a]\nk = 1\nl = 2\nk = 3\n", 4, 1, "already given in line 2"},
    {"[a]\nk = 1\n[b]\n[a]\nk = 3\n", 4, 1, "already opened in line 1"},
    {"[option a]\n[ option  a ]\n", 2, 1, "already opened in line 1"},
    {"[a\nk = 1\nl = 2\n", 1, 3, "expected ]"},
    {"[a ;b]\n", 1, 3, "expected ]"},
    {"[]\nk = 1\n", 1, 2, "section's name"},
    {"[ \t ]\n", 1, 5, "section's name"},
    {"[a] b\nk = 1\n", 1, 5, "end of the line"},
    {"[[option a]]\nk = 1\n", 1, 2, "between one [ and one ]"},
    {"[[a]\nk = 1\n", 1, 2, "between one [ and one ]"},
    {"[a]]\n", 1, 4, "end of the line"},
    {"[a]\nk = 1\noption b] ; c\nk = 2\n", 3, 1, "expected [ before the section's name"},
    {"[" NAME_49 "9]\n", 1, 2, "at most 49 bytes, this one has 50"},
    {"[a]\n" LINE_199 "5\n", 2, 200, "at most 199 bytes, this one has 200"},
    {"[a]\nk = \x01\n", 2, 5, "control character 0x01"},
    {"[a]\nk = 1\rl = 2\r", 2, 6, "control character 0x0D"},
};

static void test_refused(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
    struct fixture f;
    read_text(&f, refused[i].text);
    if (f.diagnostics.errors != 1)
      fail_msg("%zu errors in: %s", f.diagnostics.errors, refused[i].text);
    const struct diagnostic *error = &f.diagnostics.list[0];
    if (!strstr(error->message, refused[i].message))
      fail_msg("\"%s\" about: %s", error->message, refused[i].text);
    if (error->place.line != refused[i].line || error->place.column != refused[i].column)
      fail_msg("%d:%d about: %s", error->place.line, error->place.column, refused[i].text);
    arena_free(&f.arena);
  }
}

static void test_limits_are_inclusive(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "[" NAME_49 "]\n; " LINE_199 "\n" LINE_199 "\r\n");
  assert_int_equal(f.diagnostics.errors, 0);
  assert_int_equal(strlen(value_of(f.ini, NAME_49, "", "k")), 195);
  arena_free(&f.arena);
}

static void test_nothing_read_is_null(void **state) {
  (void)state;
  static const char *const texts[] = {"", "k = v\n", "[ \n", "prose without any sense\n"};
  for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
    struct fixture f;
    assert_null(read_text(&f, texts[i])->ini);
    arena_free(&f.arena);
  }
}

static void test_all_errors_in_one_run(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "k = 0\n[a]\nk = 1\n l = 2\nnonsense\nk = 3\n[a]\nm = 4\n[b\n= 5\n");
  static const int lines[] = {1, 4, 5, 6, 7, 9, 10};
  assert_int_equal(f.diagnostics.errors, sizeof lines / sizeof *lines);
  for (size_t i = 0; i < f.diagnostics.count; i++)
    assert_int_equal(f.diagnostics.list[i].place.line, lines[i]);
  arena_free(&f.arena);
}

// The keys of a repeated section are checked together with the first one's, and repeating them is
// not another error.
static void test_repeated_section_joins_the_first(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "[a]\nk = 1\n[b]\n[a]\nk = 2\nl = 3\n");
  assert_int_equal(f.diagnostics.errors, 1);
  assert_int_equal(f.ini->section_count, 2);
  assert_string_equal(value_of(f.ini, "a", "", "k"), "1");
  assert_string_equal(value_of(f.ini, "a", "", "l"), "3");
  arena_free(&f.arena);
}

// Keys below a malformed section belong to no other section; an unclosed section is read anyway.
static void test_malformed_section_takes_its_keys(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "[a]\nk = 1\n[]\nl = 2\n[b \nm = 3\n");
  assert_int_equal(f.diagnostics.errors, 2);
  assert_null(value_of(f.ini, "a", "", "l"));
  assert_null(value_of(f.ini, "a", "", "m"));
  assert_string_equal(value_of(f.ini, "b", "", "m"), "3");
  arena_free(&f.arena);
}

static void test_places(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "; top\r\n[option h200]\r\nlist_price  = 35000 USD\r\nempty =\r\nb =   ; c\r\n");
  const struct ini_section *section = ini_section(f.ini, "option", "h200");
  assert_int_equal(section->place.line, 2);
  assert_int_equal(section->place.column, 1);
  static const int columns[] = {15, 8, 4};
  for (size_t i = 0; i < section->key_count; i++) {
    assert_int_equal(section->keys[i].place.line, (int)i + 3);
    assert_int_equal(section->keys[i].place.column, 1);
    assert_int_equal(section->keys[i].value_place.line, (int)i + 3);
    assert_int_equal(section->keys[i].value_place.column, columns[i]);
  }
  assert_ptr_equal(section->keys[0].place.source, f.ini->source);
  arena_free(&f.arena);
}

static void test_order_is_the_files(void **state) {
  (void)state;
  struct fixture f;
  read_text(&f, "[z]\nb = 1\na = 2\nc = 3\n[a]\n[m]\n");
  assert_int_equal(f.ini->section_count, 3);
  assert_string_equal(f.ini->sections[0].kind, "z");
  assert_string_equal(f.ini->sections[2].kind, "m");
  assert_string_equal(f.ini->sections[0].keys[1].name, "a");
  assert_null(ini_section(f.ini, "z", "x"));
  assert_null(ini_find(&f.ini->sections[0], "d"));
  arena_free(&f.arena);
}

static void test_megabyte_line_is_one_error(void **state) {
  (void)state;
  enum { SIZE = 1 << 20 };
  struct arena arena = {0};
  char *text = arena_alloc(&arena, SIZE + 16);
  memset(text, 'x', SIZE);
  memcpy(text, "[a]\nk = ", 8);
  struct fixture f;
  read_text(&f, text);
  assert_int_equal(f.diagnostics.errors, 1);
  assert_int_equal(f.diagnostics.list[0].place.line, 2);

  FILE *shown = tmpfile();
  assert_non_null(shown);
  diagnostics_print(&f.diagnostics, shown, false);
  assert_in_range(ftell(shown), 100, 1000);
  fclose(shown);
  arena_free(&f.arena);
  arena_free(&arena);
}

static void test_ten_thousand_lines_are_quick(void **state) {
  (void)state;
  enum { LINES = 10000, WIDTH = 32 };
  struct arena arena = {0};
  char *text = arena_alloc(&arena, (LINES + 1) * WIDTH), *end = text;
  end += sprintf(end, "[a]\n");
  for (int i = 0; i < LINES; i++)
    end += sprintf(end, "key_%d = %d USD\n", i, i);
  clock_t begin = clock();
  struct fixture f;
  read_text(&f, text);
  double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  assert_int_equal(f.diagnostics.errors, 0);
  assert_int_equal(f.ini->sections[0].key_count, LINES);
  assert_string_equal(value_of(f.ini, "a", "", "key_9999"), "9999 USD");
  print_message("10,000 lines in %.4f s\n", seconds);
  assert_true(seconds < 0.5); // 0.005 s on a quiet machine; longer on a busy one under a sanitizer
  arena_free(&f.arena);
  arena_free(&arena);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_readable),
      cmocka_unit_test(test_refused),
      cmocka_unit_test(test_limits_are_inclusive),
      cmocka_unit_test(test_nothing_read_is_null),
      cmocka_unit_test(test_all_errors_in_one_run),
      cmocka_unit_test(test_repeated_section_joins_the_first),
      cmocka_unit_test(test_malformed_section_takes_its_keys),
      cmocka_unit_test(test_places),
      cmocka_unit_test(test_order_is_the_files),
      cmocka_unit_test(test_megabyte_line_is_one_error),
      cmocka_unit_test(test_ten_thousand_lines_are_quick),
  };
  return cmocka_run_group_tests_name("ini", tests, NULL, NULL);
}
