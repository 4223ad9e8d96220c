// An evidence archive: written, read, checked against its manifest; and every way of corrupting it.
#include "base/tar.h"
#include "model/delivery/pack.h"
#include "model/delivery/row_digests.h"
#include "tests/support/fixture.h"

#include <cmocka.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

// printf '' | sha256sum
#define NONE "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

struct bytes {
  char *at;
  size_t size;
};

static struct bytes written(const struct tar_member *members, size_t count) {
  struct bytes bytes = {NULL, 0};
  FILE *stream = open_memstream(&bytes.at, &bytes.size);
  tar_write(stream, members, count);
  fclose(stream);
  return bytes;
}

static struct tar_member text(const char *name, const char *content) {
  return (struct tar_member){name, content, strlen(content)};
}

static struct bytes packed(struct fixture *fixture) {
  static const struct pack_about about = {"1.0", "00ff", {NULL, 0}};
  const struct tar_member members[] = {text("records/b.json", "{\"b\": 2}\n"),
                                       text("a.ini", "[option h200]\n"), text("empty", "")};
  struct bytes bytes = {NULL, 0};
  const struct pack *pack = pack_make(&about, members, 3, &fixture->arena, &fixture->diagnostics);
  assert_non_null(pack);
  FILE *stream = open_memstream(&bytes.at, &bytes.size);
  pack_write(pack, stream, &fixture->arena);
  fclose(stream);
  return bytes;
}

static const struct pack *read_again(struct fixture *fixture, struct bytes bytes) {
  struct tar_member *members;
  size_t count;
  if (tar_parse(bytes.at, bytes.size, "x.tar", &members, &count, &fixture->arena,
                &fixture->diagnostics))
    return NULL;
  return pack_of_members(members, count, "x.tar", &fixture->arena, &fixture->diagnostics);
}

// As a forger of a header would.
static void mend_checksum(char *header) {
  unsigned sum = 8 * ' ';
  for (size_t i = 0; i < BLOCK; i++)
    sum += i < 148 || i >= 156 ? (unsigned char)header[i] : 0;
  snprintf(header + 148, 8, "%06o", sum);
  header[155] = ' ';
}

static void test_as_packed(void **state) {
  struct fixture *fixture = *state;
  const struct bytes bytes = packed(fixture);
  const struct pack *pack = read_again(fixture, bytes);
  assert_non_null(pack);
  assert_int_equal(pack->count, 4);
  assert_int_equal(pack->states[PACK_SAME], 4);
  assert_string_equal(pack->files[0].member.name, "a.ini");
  assert_string_equal(pack->about.version, "1.0");
  assert_string_equal(pack->files[2].digest, NONE);
  free(bytes.at);
}

// Every bit of the archive matters: a change is refused or detected.
static void test_each_bit(void **state) {
  struct fixture *fixture = *state;
  const struct bytes bytes = packed(fixture);
  for (size_t i = 0; i < bytes.size; i++) {
    struct diagnostics diagnostics = {.arena = &fixture->arena};
    struct tar_member *members;
    const struct pack *pack = NULL;
    size_t count;
    bytes.at[i] ^= (char)(1 << i % 8);
    if (!tar_parse(bytes.at, bytes.size, "x.tar", &members, &count, &fixture->arena, &diagnostics))
      pack = pack_of_members(members, count, "x.tar", &fixture->arena, &diagnostics);
    if (pack && pack->states[PACK_SAME] == pack->count)
      fail_msg("byte %zu may be anything", i);
    bytes.at[i] ^= (char)(1 << i % 8);
  }
  free(bytes.at);
}

static void test_cut(void **state) {
  struct fixture *fixture = *state;
  struct bytes bytes = packed(fixture);
  const size_t whole = bytes.size;
  for (bytes.size = 0; bytes.size < whole; bytes.size += 100)
    assert_null(read_again(fixture, bytes));
  bytes.size = whole;
  assert_non_null(read_again(fixture, bytes));
  free(bytes.at);
}

static void test_states(void **state) {
  struct fixture *fixture = *state;
  const struct tar_member members[] = {
      text(PACK_MANIFEST, NONE "  changed\n" NONE "  missing\n" NONE "  same\n"), text("same", ""),
      text("changed", "x"), text("added", "x")};
  static const enum pack_state expected[] = {PACK_ADDED, PACK_CHANGED, PACK_MISSING, PACK_SAME};
  const struct pack *pack =
      pack_of_members(members, 4, "x.tar", &fixture->arena, &fixture->diagnostics);
  assert_non_null(pack);
  assert_int_equal(pack->count, 4);
  for (size_t i = 0; i < 4; i++)
    assert_int_equal(pack->files[i].state, expected[i]);
}

// Only tables whose rows have their own ids have digests, and identical bytes give no differences.
static void test_which_tables(void **state) {
  static const struct {
    const char *name, *text;
    bool is_table;
  } cases[] = {
      {"a.csv", "id,b\np,1\nq,\n", true},
      {"a.csv", "b,id\r\n1,p\r\n", true},
      {"a.csv", "id\n", true},
      {"a.csv", "id,b\np,1\np,2\n", false},
      {"a.csv", "id,b\n,1\n", false},
      {"a.csv", "time,watts\n1,2\n", false},
      {"a.csv", "id,b\np\n", false},
      {"a.csv", "", false},
      {"a.txt", "id,b\np,1\n", false},
      {".csv", "id,b\np,1\n", false},
  };
  struct fixture *fixture = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct tar_member member = text(cases[i].name, cases[i].text);
    const char *digests = row_digests_of(&member, 1, &fixture->arena);
    assert_int_equal(digests != NULL, cases[i].is_table);
    struct row_differences differences = {NULL, 0};
    json_t *rows = digests ? json_loads(digests, 0, NULL) : json_object();
    row_digests_compare(rows, &member, &differences, &fixture->arena);
    assert_int_equal(differences.count, cases[i].is_table);
    if (differences.count)
      assert_int_equal(differences.list[0].change, ROW_REWRITTEN);
    json_decref(rows);
  }
}

// Changes that others might make to a header's field.
static void test_headers(void **state) {
  static const struct {
    const char *what;
    size_t at;
    const char *bytes;
    size_t size;
    const char *said;
  } cases[] = {
      {"a symbolic link", 156, "2", 1, "links, folders and devices are refused"},
      {"a hard link", 156, "1", 1, "links, folders and devices are refused"},
      {"a folder", 156, "5", 1, "links, folders and devices are refused"},
      {"a device", 156, "3", 1, "links, folders and devices are refused"},
      {"GNU's long name", 156, "L", 1, "links, folders and devices are refused"},
      {"an old file", 156, "\0", 1, "links, folders and devices are refused"},
      {"a name to link to", 157, "x", 1, "links, folders and devices are refused"},
      {"an absolute name", 0, "/etc/a", 7, "leads outside the folder"},
      {"a name upwards", 0, "../a", 5, "leads outside the folder"},
      {"a name upwards within", 0, "a/../../b", 10, "leads outside the folder"},
      {"no name", 0, "\0", 1, "leads outside the folder"},
      {"a name of two lines", 0, "a\nb", 4, "not plain text"},
      {"a name that is no UTF-8", 0, "\xff", 2, "not plain text"},
      {"a prefix upwards", 345, "..", 3, "leads outside the folder"},
      {"another format", 257, "ustar  ", 8, "a ustar archive"},
      {"too large", 124, "02000000001", 12, "at most 256 MiB"},
      {"larger than the archive", 124, "00000100000", 12, "ends within this file"},
      {"no size", 124, "0000000000x", 12, "at most 256 MiB"},
      {"a size in base 256", 124, "\x80\0\0\0\0\0\0\0\0\0\1", 12, "at most 256 MiB"},
  };
  struct fixture *fixture = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct tar_member one[] = {text("name", "content")};
    struct bytes bytes = written(one, 1);
    struct diagnostics diagnostics = {.arena = &fixture->arena};
    struct tar_member *members;
    size_t count;
    memcpy(bytes.at + cases[i].at, cases[i].bytes, cases[i].size);
    mend_checksum(bytes.at);
    if (!tar_parse(bytes.at, bytes.size, "x.tar", &members, &count, &fixture->arena, &diagnostics))
      fail_msg("%s is taken", cases[i].what);
    expect_fragment(diagnostics.list[0].message, cases[i].said);
    free(bytes.at);
  }
}

static void test_twice(void **state) {
  struct fixture *fixture = *state;
  const struct tar_member two[] = {text("a", "1"), text("b", "2"), text("a", "3")};
  const struct bytes bytes = written(two, 3);
  assert_null(read_again(fixture, bytes));
  expect_error(fixture, "twice", "'a' appears twice");
  free(bytes.at);
}

static void test_manifests(void **state) {
  static const struct {
    const char *text, *said;
  } cases[] = {
      {NONE "  b\n" NONE "  a\n", "not sorted"},
      {NONE "  a\n" NONE "  a\n", "not sorted"},
      {NONE "  ../a\n", "cannot have this name"},
      {NONE "  /a\n", "cannot have this name"},
      {NONE "  MANIFEST\n", "cannot have this name"},
      {NONE " *a\n", "64 hexadecimal digits"},
      {NONE "  \n", "64 hexadecimal digits"},
      {"e3b0  a\n", "64 hexadecimal digits"},
      {NONE "  a", "a line end"},
      {"\n", "64 hexadecimal digits"},
  };
  struct fixture *fixture = *state;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct tar_member members[] = {text(PACK_MANIFEST, cases[i].text), text("a", "")};
    struct diagnostics diagnostics = {.arena = &fixture->arena};
    assert_null(pack_of_members(members, 2, "x.tar", &fixture->arena, &diagnostics));
    expect_fragment(diagnostics.list[0].message, cases[i].said);
  }
  const struct tar_member late[] = {text("a", ""), text(PACK_MANIFEST, NONE "  a\n")};
  assert_null(pack_of_members(late, 2, "x.tar", &fixture->arena, &fixture->diagnostics));
  assert_null(pack_of_members(late, 0, "x.tar", &fixture->arena, &fixture->diagnostics));
}

static void test_no_file(void **state) {
  struct fixture *fixture = *state;
  const struct bytes bytes = written(NULL, 0);
  assert_null(read_again(fixture, bytes));
  assert_int_equal(fixture->diagnostics.errors, 1);
  free(bytes.at);
}

// A path that a header splits, and one that does not fit.
static void test_long_names(void **state) {
  struct fixture *fixture = *state;
  char name[300];
  memset(name, 'a', sizeof name);
  name[256] = 0;
  assert_false(tar_name_fits(name));
  name[155] = '/';
  assert_true(tar_name_fits(name));
  const struct tar_member one[] = {text(name, "x")};
  const struct bytes bytes = written(one, 1);
  struct tar_member *members;
  size_t count;
  assert_int_equal(tar_parse(bytes.at, bytes.size, "x.tar", &members, &count, &fixture->arena,
                             &fixture->diagnostics),
                   0);
  assert_string_equal(members[0].name, name);
  name[155] = 'a';
  name[156] = '/';
  assert_false(tar_name_fits(name));
  free(bytes.at);
}

// A record's files are found by their digest, under any name; one that was changed is not the one.
static void test_cited(void **state) {
  struct fixture *fixture = *state;
  static const struct pack_about about = {"1.0", "00ff", {NULL, 0}};
  const struct tar_member members[] = {
      text("r.json",
           "{\"record\": \"engine run\", \"files\": [{\"name\": \"empty.csv\", "
           "\"sha256\": \"" NONE "\"}, {\"name\": \"go\\u001bne\", \"sha256\": \"00\"}]}"),
      text("not-a-record.json", "{\"files\": [{\"name\": \"x\", \"sha256\": \"" NONE "\"}]}"),
      text("broken.json", "{"), text("any-name", "")};
  const struct pack *pack = pack_make(&about, members, 4, &fixture->arena, &fixture->diagnostics);
  assert_non_null(pack);
  assert_int_equal(pack->cited.count, 2);
  assert_int_equal(pack->cited.missing, 1);
  assert_string_equal(pack->cited.list[0].record, "r.json");
  assert_string_equal(pack->cited.list[0].name, "empty.csv");
  assert_string_equal(pack->cited.list[0].member, "any-name");
  assert_null(pack->cited.list[1].member);
  assert_null(strchr(pack->cited.list[1].name, 0x1b)); // it is printed
  const char *const no_digests[] = {NULL, NULL, NULL, NULL};
  assert_int_equal(cited_by_members(members, no_digests, 4, &fixture->arena).count, 0);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      FIXTURE_TEST(test_as_packed), FIXTURE_TEST(test_each_bit),   FIXTURE_TEST(test_cut),
      FIXTURE_TEST(test_states),    FIXTURE_TEST(test_headers),    FIXTURE_TEST(test_twice),
      FIXTURE_TEST(test_manifests), FIXTURE_TEST(test_long_names), FIXTURE_TEST(test_which_tables),
      FIXTURE_TEST(test_no_file),   FIXTURE_TEST(test_cited)};
  return cmocka_run_group_tests(tests, NULL, NULL);
}
