// Any bytes as an evidence archive, unchanged and with corrected header checksums; and any text as
// a manifest. The part before the first NUL is also used as the row digests of the part after it.
#include "fuzz.h"

#include "base/tar.h"
#include "model/delivery/pack.h"
#include "model/delivery/row_digests.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { BLOCK = 512 };

static void check_pack(const struct pack *pack) {
  size_t sum = 0;
  for (int state = 0; state < PACK_STATES; state++)
    sum += pack->states[state];
  assert(sum == pack->count);
  for (size_t i = 0; i < pack->count; i++)
    assert(tar_name_fits(pack->files[i].member.name));
}

static void read_members(const struct tar_member *members, size_t count) {
  struct arena arena = {NULL};
  struct diagnostics diagnostics = {.arena = &arena};
  const struct pack *pack = pack_of_members(members, count, "x.tar", &arena, &diagnostics);
  assert((pack != NULL) == (diagnostics.errors == 0));
  if (pack)
    check_pack(pack);
  arena_free(&arena);
}

static void read_archive(const char *bytes, size_t size) {
  struct arena arena = {NULL};
  struct diagnostics diagnostics = {.arena = &arena};
  struct tar_member *members;
  size_t count;
  const int result = tar_parse(bytes, size, "x.tar", &members, &count, &arena, &diagnostics);
  assert((result == 0) == (diagnostics.errors == 0));
  if (!result)
    read_members(members, count);
  arena_free(&arena);
}

static void mend(char *block) {
  unsigned sum = 8 * ' ';
  char digits[8];
  for (size_t i = 0; i < BLOCK; i++)
    sum += i < 148 || i >= 156 ? (unsigned char)block[i] : 0;
  snprintf(digits, sizeof digits, "%06o", sum);
  memcpy(block + 148, digits, 7);
  block[155] = ' ';
}

static void compare_rows(const char *bytes, size_t size) {
  struct arena arena = {NULL};
  struct row_differences differences = {NULL, 0};
  const size_t digests = strlen(bytes), behind = digests < size ? digests + 1 : size;
  const struct tar_member table = {"a.csv", bytes + behind, size - behind};
  const char *own = row_digests_of(&table, 1, &arena);
  json_t *theirs = json_loadb(bytes, digests, 0, NULL);
  json_t *ours = own ? json_loads(own, 0, NULL) : NULL;
  if (theirs)
    row_digests_compare(theirs, &table, &differences, &arena);
  differences.count = 0;
  if (ours)
    row_digests_compare(ours, &table, &differences, &arena);
  assert(!ours || (differences.count == 1 && differences.list[0].change == ROW_REWRITTEN));
  json_decref(theirs);
  json_decref(ours);
  arena_free(&arena);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *bytes = malloc(size + 1);
  if (!bytes)
    return 0;
  memcpy(bytes, data, size);
  bytes[size] = 0;
  compare_rows(bytes, size);
  read_archive(bytes, size);
  for (size_t at = 0; at + BLOCK <= size; at += BLOCK)
    if (!memcmp(bytes + at + 257, "ustar", 5))
      mend(bytes + at);
  read_archive(bytes, size);
  const struct tar_member members[] = {{PACK_MANIFEST, bytes, size}, {"a", "", 0}};
  read_members(members, 2);
  free(bytes);
  return 0;
}
