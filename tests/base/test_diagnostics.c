// Reading input files, and reporting what is wrong with them: base/source.h and base/diagnostics.h.
#include "base/diagnostics.h"
#include "base/source_file.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

struct fixture {
  struct arena arena;
  struct diagnostics diagnostics;
  char folder[64];
  char path[80]; // a file in the folder
};

static int set_up(void **state) {
  struct fixture *f = calloc(1, sizeof *f);
  if (!f)
    return -1;
  f->diagnostics.arena = &f->arena;
  strcpy(f->folder, "/tmp/pertoken-test-XXXXXX");
  if (!mkdtemp(f->folder))
    return -1;
  snprintf(f->path, sizeof f->path, "%s/input.ini", f->folder);
  *state = f;
  return 0;
}

static int tear_down(void **state) {
  struct fixture *f = *state;
  unlink(f->path);
  rmdir(f->folder);
  arena_free(&f->arena);
  free(f);
  return 0;
}

static void write_file(const char *path, const void *bytes, size_t size) {
  FILE *file = fopen(path, "wb");
  assert_non_null(file);
  assert_int_equal(fwrite(bytes, 1, size, file), size);
  assert_int_equal(fclose(file), 0);
}

static const struct source *read_back(struct fixture *f, const void *bytes, size_t size) {
  write_file(f->path, bytes, size);
  return source_read(f->path, &f->arena, &f->diagnostics);
}

// What diagnostics_print writes.
static const char *printed(struct fixture *f, bool colour) {
  char *text = NULL;
  size_t size = 0;
  FILE *stream = open_memstream(&text, &size);
  assert_non_null(stream);
  diagnostics_print(&f->diagnostics, stream, colour);
  fclose(stream);
  const char *copy = arena_copy_n(&f->arena, text, size);
  free(text);
  return copy;
}

static struct place place_in(struct fixture *f, const char *text, int line, int column) {
  return (struct place){source_from_text("a.ini", text, &f->arena), line, column};
}

// The report of one error at a place in the text.
static const char *shown(struct fixture *f, const char *text, int line, int column) {
  f->diagnostics = (struct diagnostics){.arena = &f->arena};
  diagnostics_error(&f->diagnostics, place_in(f, text, line, column), "no");
  return printed(f, false);
}

static void assert_refused(struct fixture *f, const char *path, const char *reason) {
  f->diagnostics = (struct diagnostics){.arena = &f->arena};
  assert_null(source_read(path, &f->arena, &f->diagnostics));
  assert_int_equal(f->diagnostics.errors, 1);
  assert_int_equal(f->diagnostics.count, 1);
  assert_false(f->diagnostics.machine_failed);
  assert_string_equal(f->diagnostics.list[0].place.source->name, path);
  assert_non_null(strstr(f->diagnostics.list[0].message, reason));
}

static void arena_memory_is_zeroed_and_aligned(void **state) {
  struct fixture *f = *state;
  static const size_t sizes[] = {1, 3, 40, 0, 65535, 65536, 200000, 7, 1};
  for (size_t round = 0; round < 20; round++) {
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      unsigned char *piece = arena_alloc(&f->arena, sizes[i]);
      assert_int_equal((uintptr_t)piece % _Alignof(max_align_t), 0);
      for (size_t j = 0; j < sizes[i]; j++) {
        if (piece[j])
          fail_msg("byte %zu of %zu is not zero", j, sizes[i]);
        piece[j] = 0xFF;
      }
    }
  }
}

static void arena_grow_keeps_the_old_and_zeroes_the_rest(void **state) {
  struct fixture *f = *state;
  int *numbers = arena_grow(&f->arena, NULL, 0, 2, sizeof *numbers);
  numbers[0] = 5;
  numbers[1] = 6;
  const int *more = arena_grow(&f->arena, numbers, 2, 4, sizeof *more);
  assert_memory_equal(more, ((int[]){5, 6, 0, 0}), 4 * sizeof *more);
}

static void arena_texts(void **state) {
  struct fixture *f = *state;
  assert_string_equal(arena_copy(&f->arena, ""), "");
  assert_string_equal(arena_copy_n(&f->arena, "electricity", 8), "electric");
  assert_string_equal(arena_printf(&f->arena, "%s.%d", "h200", 3), "h200.3");
  const char *long_text = arena_printf(&f->arena, "%0100000d", 1);
  assert_int_equal(strlen(long_text), 100000);
}

static void a_file_is_read_whole(void **state) {
  struct fixture *f = *state;
  static const char text[] = "[scenario]\r\ntitle = Größe\n";
  const struct source *source = read_back(f, text, sizeof text - 1);
  assert_non_null(source);
  assert_string_equal(source->name, f->path);
  assert_string_equal(source->text, text);
  assert_int_equal(source->size, sizeof text - 1);
  assert_int_equal(f->diagnostics.count, 0);
}

static void an_empty_file_is_read(void **state) {
  const struct source *source = read_back(*state, "", 0);
  assert_non_null(source);
  assert_int_equal(source->size, 0);
  assert_string_equal(source->text, "");
}

static void a_byte_order_mark_is_dropped(void **state) {
  const struct source *source = read_back(*state, "\xEF\xBB\xBF[a]\n", 7);
  assert_non_null(source);
  assert_string_equal(source->text, "[a]\n");
  assert_int_equal(source->size, 4);
}

static void a_file_of_many_blocks_is_read(void **state) {
  struct fixture *f = *state;
  const size_t size = 300001;
  char *text = arena_alloc(&f->arena, size + 1);
  for (size_t i = 0; i < size; i++)
    text[i] = (char)('a' + i % 26);
  const struct source *source = read_back(f, text, size);
  assert_non_null(source);
  assert_int_equal(source->size, size);
  assert_string_equal(source->text, text);
}

static void missing_files_are_refused(void **state) {
  assert_refused(*state, "/nowhere/at/all.ini", strerror(ENOENT));
  assert_refused(*state, "", strerror(ENOENT));
}

static void unreadable_files_are_refused(void **state) {
  struct fixture *f = *state;
  const uid_t user = geteuid(), nobody = 65534;
  write_file(f->path, "a", 1);
  assert_int_equal(chmod(f->path, 0), 0);
  if (user == 0)
    assert_int_equal(seteuid(nobody), 0); // root can read every file
  assert_refused(f, f->path, strerror(EACCES));
  if (user == 0)
    assert_int_equal(seteuid(user), 0);
}

static void what_is_no_regular_file_is_refused(void **state) {
  struct fixture *f = *state;
  assert_refused(f, f->folder, "expected a file, found a directory");
  assert_refused(f, "/dev/zero", "expected a regular file");
  assert_int_equal(mkfifo(f->path, 0600), 0);
  assert_refused(f, f->path, "expected a regular file");
}

static void files_over_256_mib_are_refused(void **state) {
  struct fixture *f = *state;
  write_file(f->path, "", 0);
  assert_int_equal(truncate(f->path, ((off_t)256 << 20) + 1), 0);
  assert_refused(f, f->path, "at most 256 MiB");
}

// Each with the place where it stops being valid text.
static const struct {
  const char *bytes;
  size_t size;
  int line, column;
  const char *reason;
} not_text[] = {
    {"a\0b", 3, 1, 2, "NUL"},
    {"\0", 1, 1, 1, "NUL"},
    {"ab\ncd\0", 6, 2, 3, "NUL"},
    {"\xFF\xFE[\0a\0]\0", 8, 1, 4, "NUL"},
    {"a = \xFF\n", 6, 1, 5, "0xFF"},
    {"x\nGr\xF6\xDF"
     "e\n",
     8, 2, 3, "0xF6"},
    {"\xC0\xAF", 2, 1, 1, "0xC0"},         // an overlong slash
    {"ok \xED\xA0\x80", 6, 1, 4, "0xED"},  // half of a surrogate pair
    {"\n\n\xE2\x82", 4, 3, 1, "0xE2"},     // truncated
    {"\xF5\x80\x80\x80", 4, 1, 1, "0xF5"}, // above U+10FFFF
    {"\xEF\xBB\xBF"
     "a\x80",
     5, 1, 2, "0x80"}, // a lone continuation byte after a byte order mark
};

static void what_is_not_utf8_text_is_refused(void **state) {
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof not_text / sizeof *not_text; i++) {
    write_file(f->path, not_text[i].bytes, not_text[i].size);
    assert_refused(f, f->path, not_text[i].reason);
    assert_int_equal(f->diagnostics.list[0].place.line, not_text[i].line);
    assert_int_equal(f->diagnostics.list[0].place.column, not_text[i].column);
    const bool shows_line = strstr(printed(f, false), "\n  ") != NULL;
    assert_int_equal(shows_line, strcmp(not_text[i].reason, "NUL") != 0);
  }
}

static void lines_come_without_their_ends(void **state) {
  struct fixture *f = *state;
  static const char *const lines[] = {"one", "", "three\rthree", "four", "five\r"};
  const struct source *source =
      source_from_text("t", "one\n\r\nthree\rthree\r\nfour\nfive\r", &f->arena);
  const char *start;
  size_t length;
  for (int i = 1; i <= 5; i++) {
    assert_true(source_line(source, i, &start, &length));
    assert_string_equal(arena_copy_n(&f->arena, start, length), lines[i - 1]);
  }
  assert_false(source_line(source, 6, &start, &length));
  assert_false(source_line(source, 0, &start, &length));
}

// Columns are bytes; a line's end is behind its last column, however many bytes it has.
static void bytes_have_places(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *before;
    int line, column;
  } cases[] = {
      {"", 1, 1},
      {"ab", 1, 3},
      {"ab\n", 2, 1},
      {"ab\r", 1, 3},
      {"ab\r\n", 2, 1},
      {"ab\r\n\r", 2, 1},
      {"ab\r\n\r\n\u00e9", 3, 3},
      {"a\rb", 1, 4},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const char *rest = strchr(cases[i].before, 'b') ? "\nrest" : "rest";
    const struct source *source =
        source_from_text("t", arena_printf(&f->arena, "%s%s", cases[i].before, rest), &f->arena);
    const struct place place = source_place(source, strlen(cases[i].before));
    assert_int_equal(place.line, cases[i].line);
    assert_int_equal(place.column, cases[i].column);
  }
}

static void the_last_line_end_starts_no_line(void **state) {
  struct fixture *f = *state;
  const char *start;
  size_t length;
  assert_true(source_line(source_from_text("t", "\n", &f->arena), 1, &start, &length));
  assert_false(source_line(source_from_text("t", "\n", &f->arena), 2, &start, &length));
  assert_false(source_line(source_from_text("t", "", &f->arena), 1, &start, &length));
}

static void digests_are_sha256(void **state) {
  struct fixture *f = *state;
  static const struct {
    const char *text, *digest;
  } known[] = {
      {"", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"},
      {"abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"},
      {"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
       "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1"},
  };
  for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
    const struct source *source = source_from_text("t", known[i].text, &f->arena);
    assert_string_equal(source_sha256(source, &f->arena), known[i].digest);
  }
}

static void the_place_is_named_as_far_as_it_is_known(void **state) {
  struct fixture *f = *state;
  const struct source *source = source_from_text("a.ini", "pue = 1.2\n", &f->arena);
  diagnostics_error(&f->diagnostics, (struct place){NULL, 0, 0}, "no file");
  diagnostics_error(&f->diagnostics, (struct place){source, 0, 0}, "whole file");
  diagnostics_error(&f->diagnostics, (struct place){source, 1, 0}, "whole line");
  diagnostics_warning(&f->diagnostics, (struct place){source, 1, 7}, "%d %s", 1, "value");
  diagnostics_error(&f->diagnostics, (struct place){source, 2, 1}, "at the end");
  assert_int_equal(f->diagnostics.count, 5);
  assert_int_equal(f->diagnostics.errors, 4);
  assert_string_equal(printed(f, false), "error: no file\n"
                                         "a.ini: error: whole file\n"
                                         "a.ini:1: error: whole line\n"
                                         "  pue = 1.2\n"
                                         "a.ini:1:7: warning: 1 value\n"
                                         "  pue = 1.2\n"
                                         "        ^\n"
                                         "a.ini:2:1: error: at the end\n");
}

static void many_errors_keep_their_order(void **state) {
  struct fixture *f = *state;
  for (int i = 0; i < 100; i++)
    diagnostics_error(&f->diagnostics, (struct place){NULL, 0, 0}, "number %d", i);
  assert_int_equal(f->diagnostics.errors, 100);
  assert_string_equal(f->diagnostics.list[0].message, "number 0");
  assert_string_equal(f->diagnostics.list[99].message, "number 99");
}

static void warnings_are_not_repeated(void **state) {
  struct fixture *f = *state;
  diagnostics_warning(&f->diagnostics, place_in(f, "a\nb\n", 1, 1), "the price is old");
  diagnostics_warning(&f->diagnostics, place_in(f, "a\nb\n", 2, 1), "the price is %s", "old");
  diagnostics_error(&f->diagnostics, place_in(f, "a\nb\n", 1, 1), "the price is old");
  diagnostics_error(&f->diagnostics, place_in(f, "a\nb\n", 1, 1), "the price is old");
  diagnostics_warning(&f->diagnostics, place_in(f, "a\nb\n", 2, 1), "the price is new");
  assert_int_equal(f->diagnostics.count, 4);
  assert_int_equal(f->diagnostics.errors, 2);
}

static void colour_marks_severity_and_caret(void **state) {
  struct fixture *f = *state;
  diagnostics_warning(&f->diagnostics, place_in(f, "ab\n", 1, 2), "hm");
  assert_string_equal(printed(f, true), "a.ini:1:2: \033[1;35mwarning:\033[0m hm\n"
                                        "  ab\n"
                                        "   \033[1;32m^\033[0m\n");
}

// Columns count bytes; the caret is below the character.
static const struct {
  const char *text;
  int column;
  const char *line, *caret;
} carets[] = {
    {"pue = 1.2", 1, "  pue = 1.2", "  ^"},
    {"pue = 1.2", 9, "  pue = 1.2", "          ^"},
    {"pue = 1.2", 10, "  pue = 1.2", "           ^"},
    {"pue = 1.2", 99, "  pue = 1.2", "           ^"},
    {"", 1, "  ", "  ^"},
    {"\tpue\t= x", 7, "  \tpue\t= x", "  \t   \t ^"},
    {"größe = x", 11, "  größe = x", "          ^"},
    {"価格 = x", 10, "  価格 = x", "         ^"},
    {"e\u0301 = x", 7, "  e\u0301 = x", "      ^"},
    {"価 = x\r", 7, "  価 = x", "       ^"},
    {"a\033[31m = x", 9, "  a\uFFFD[31m = x", "          ^"},
    {"a\xC2\x9B"
     "31m = x",
     9, "  a\uFFFD31m = x", "         ^"},
    {"a\u202Em = x", 9, "  a\uFFFDm = x", "        ^"}, // right to left from here on
    {"a\u2067m = x", 9, "  a\uFFFDm = x", "        ^"},
};

static void the_caret_stands_under_its_character(void **state) {
  struct fixture *f = *state;
  for (size_t i = 0; i < sizeof carets / sizeof *carets; i++) {
    const char *text = arena_printf(&f->arena, "first\n%s\nlast", carets[i].text);
    const char *expected = arena_printf(&f->arena, "a.ini:2:%d: error: no\n%s\n%s\n",
                                        carets[i].column, carets[i].line, carets[i].caret);
    assert_string_equal(shown(f, text, 2, carets[i].column), expected);
  }
}

static void escape_sequences_in_messages_and_names_are_not_sent(void **state) {
  struct fixture *f = *state;
  const struct source *source = source_from_text("\033]0;a", "", &f->arena);
  diagnostics_error(&f->diagnostics, (struct place){source, 0, 0}, "unknown name '\033[2J'");
  assert_string_equal(printed(f, false), "\uFFFD]0;a: error: unknown name '\uFFFD[2J'\n");
}

// Checks the second and third line of a report: the place is marked, and the line is not too long.
static void assert_window(const char *report, char marked, bool cut_before, bool cut_after) {
  const char *line = strchr(report, '\n') + 1, *line_end = strchr(line, '\n');
  const char *caret = line_end + 1;
  const size_t column = strcspn(caret, "^");
  assert_true(line_end - line <= 168);
  assert_int_equal(line[column], marked);
  assert_int_equal(strncmp(line, "  ...", 5) == 0, cut_before);
  assert_int_equal(strncmp(line_end - 3, "...", 3) == 0, cut_after);
}

static void of_a_long_line_a_window_is_shown(void **state) {
  struct fixture *f = *state;
  static const struct {
    int length, column;
    bool cut_before, cut_after;
  } cases[] = {
      {160, 100, false, false}, {161, 1, false, true},       {1000, 1, false, true},
      {1000, 80, false, true},  {1000, 500, true, true},     {1000, 1000, true, false},
      {1000, 930, true, false}, {100000, 60000, true, true},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    char *text = arena_alloc(&f->arena, (size_t)cases[i].length + 1);
    memset(text, '-', (size_t)cases[i].length);
    text[cases[i].column - 1] = 'X';
    assert_window(shown(f, text, 1, cases[i].column), 'X', cases[i].cut_before, cases[i].cut_after);
  }
}

static void a_window_never_cuts_a_character(void **state) {
  struct fixture *f = *state;
  char *text = arena_alloc(&f->arena, 3001);
  for (size_t i = 0; i < 1000; i++)
    memcpy(text + 3 * i, "価", 3);
  const char *report = shown(f, text, 1, 1501);
  assert_null(strstr(report, "\uFFFD"));
  const char *caret = strrchr(report, ' ') + 1;
  assert_string_equal(caret, "^\n");
  assert_true(strlen(report) < 500);
}

// Characters without a column of their own fill no terminal either.
static void a_window_is_limited_in_bytes(void **state) {
  struct fixture *f = *state;
  enum { SIZE = 1000000 };
  static const struct {
    const char *text;
    size_t size;
  } characters[] = {{"\0", 1}, {"\u0301", 2}, {"\u200B", 3}};
  for (size_t c = 0; c < sizeof characters / sizeof *characters; c++) {
    const size_t size = characters[c].size * (SIZE / characters[c].size);
    char *text = arena_alloc(&f->arena, size + 1);
    for (size_t i = 0; i < size; i += characters[c].size)
      memcpy(text + i, characters[c].text, characters[c].size);
    const struct source source = {"a.ini", text, size};
    for (int column = 1; column <= SIZE; column += SIZE / 2) {
      f->diagnostics = (struct diagnostics){.arena = &f->arena};
      diagnostics_error(&f->diagnostics, (struct place){&source, 1, column}, "no");
      assert_true(strlen(printed(f, false)) < 2200);
    }
  }
}

static size_t lines_in(const char *text) {
  size_t lines = 0;
  for (; *text; text++)
    lines += *text == '\n';
  return lines;
}

// The first ones, and how many more there are, of each file.
static void of_very_many_messages_the_first_are_shown(void **state) {
  struct fixture *f = *state;
  const struct place one = place_in(f, "x", 1, 1), other = place_in(f, "y", 1, 1);
  for (int i = 0; i < 20000; i++)
    diagnostics_error(&f->diagnostics, one, "no");
  for (int i = 0; i < 51; i++)
    diagnostics_warning(&f->diagnostics, other, "doubt %d", i);
  diagnostics_error(&f->diagnostics, other, "last");
  const char *report = printed(f, false);
  assert_int_equal(lines_in(report), 3 * (50 + 50 + 1) + 2);
  assert_non_null(strstr(report, "error: last\n"));
  assert_non_null(strstr(report, "\na.ini: and 19950 more errors\na.ini: and 1 more warning\n"));
}

static void the_nearest_name_is_found(void **state) {
  (void)state;
  static const char *const names[] = {
      "electricity_price", "discount", "list_price", "pue", "rack", "horizon"};
  static const struct {
    const char *name, *nearest;
  } cases[] = {
      {"electricty_price", "electricity_price"},
      {"Discount", "discount"},
      {"dicsount", "discount"},
      {"listprice", "list_price"},
      {"peu", "pue"},
      {"pew", NULL},
      {"pues", "pue"},
      {"rakc", "rack"},
      {"horizont", "horizon"},
      {"hrzn", NULL},
      {"", NULL},
      {"throughput", NULL},
      {"discombobulated", NULL},
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
    const char *nearest = nearest_name(cases[i].name, names, sizeof names / sizeof *names);
    if (!cases[i].nearest)
      assert_null(nearest);
    else
      assert_string_equal(nearest ? nearest : "(none)", cases[i].nearest);
  }
}

static void of_names_equally_near_the_first_is_taken(void **state) {
  (void)state;
  static const char *const names[] = {"h100", "h200", "h20"};
  assert_ptr_equal(nearest_name("h300", names, 3), names[0]);
  assert_ptr_equal(nearest_name("h2000", names, 3), names[1]);
}

static void overlong_names_have_no_nearest(void **state) {
  struct fixture *f = *state;
  const char *const names[] = {arena_printf(&f->arena, "%0200d", 1), "a"};
  assert_null(nearest_name(names[0], names, 2));
  assert_ptr_equal(nearest_name("a", names, 2), names[1]);
  assert_null(nearest_name("a", names, 0));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void) {
  const struct CMUnitTest tests[] = {
      TEST(arena_memory_is_zeroed_and_aligned),
      TEST(arena_grow_keeps_the_old_and_zeroes_the_rest),
      TEST(arena_texts),
      TEST(a_file_is_read_whole),
      TEST(an_empty_file_is_read),
      TEST(a_byte_order_mark_is_dropped),
      TEST(a_file_of_many_blocks_is_read),
      TEST(missing_files_are_refused),
      TEST(unreadable_files_are_refused),
      TEST(what_is_no_regular_file_is_refused),
      TEST(files_over_256_mib_are_refused),
      TEST(what_is_not_utf8_text_is_refused),
      TEST(lines_come_without_their_ends),
      TEST(bytes_have_places),
      TEST(the_last_line_end_starts_no_line),
      TEST(digests_are_sha256),
      TEST(the_place_is_named_as_far_as_it_is_known),
      TEST(many_errors_keep_their_order),
      TEST(warnings_are_not_repeated),
      TEST(colour_marks_severity_and_caret),
      TEST(the_caret_stands_under_its_character),
      TEST(escape_sequences_in_messages_and_names_are_not_sent),
      TEST(of_a_long_line_a_window_is_shown),
      TEST(a_window_never_cuts_a_character),
      TEST(a_window_is_limited_in_bytes),
      TEST(of_very_many_messages_the_first_are_shown),
      TEST(the_nearest_name_is_found),
      TEST(of_names_equally_near_the_first_is_taken),
      TEST(overlong_names_have_no_nearest),
  };
  return cmocka_run_group_tests_name("diagnostics", tests, NULL, NULL);
}
