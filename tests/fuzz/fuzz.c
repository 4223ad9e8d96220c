#include "fuzz.h"
#include "base/arena.h"
#include "base/source.h"

#include "base/record_digest.h"

#include <assert.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <unistr.h>

bool fuzz_begin(struct fuzz *fuzz, const uint8_t *data, size_t size) {
  *fuzz = (struct fuzz){0};
  if ((size > 0 && memchr(data, '\0', size)) || u8_check(data, size))
    return false;
  fuzz->diagnostics.arena = &fuzz->arena;
  const char *text = arena_copy_n(&fuzz->arena, (const char *)data, size);
  fuzz->source = source_from_text("fuzz", text, &fuzz->arena);
  return true;
}

static void check_place(const struct diagnostic *diagnostic) {
  const struct place place = diagnostic->place;
  const char *start;
  size_t length;
  if (!place.source || place.line == 0)
    return;
  assert(place.line > 0 && place.column >= 0);
  if (source_line(place.source, place.line, &start, &length))
    assert((size_t)place.column <= length + 1);
}

void fuzz_end(struct fuzz *fuzz) {
  FILE *nowhere = fopen("/dev/null", "w");
  assert(nowhere);
  diagnostics_print(&fuzz->diagnostics, nowhere, true);
  fclose(nowhere);
  for (size_t i = 0; i < fuzz->diagnostics.count; i++)
    check_place(&fuzz->diagnostics.list[i]);
  arena_free(&fuzz->arena);
}

struct fuzz_file fuzz_file(struct arena *arena) {
  const int fd = memfd_create("fuzz", 0);
  struct fuzz_file file = {fdopen(fd, "w"), arena_printf(arena, "/proc/self/fd/%d", fd)};
  assert(file.stream);
  return file;
}

struct fuzz_file fuzz_file_of(const void *data, size_t size, struct arena *arena) {
  struct fuzz_file file = fuzz_file(arena);
  assert(fwrite(data, 1, size, file.stream) == size && fflush(file.stream) == 0);
  return file;
}

// The same for a JSON record, with its digest corrected.
static struct fuzz_file record_of(const uint8_t *data, size_t size, struct arena *arena) {
  json_t *object = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  if (!json_is_object(object)) {
    json_decref(object);
    return fuzz_file_of(data, size, arena);
  }
  const char *digest = record_digest(object, arena);
  json_object_set_new(object, "digest", json_string(digest ? digest : ""));
  char *text = json_dumps(object, JSON_REAL_PRECISION(17));
  struct fuzz_file file = text ? fuzz_file_of(text, strlen(text), arena) : fuzz_file(arena);
  free(text);
  json_decref(object);
  return file;
}

void fuzz_file_close(struct fuzz_file *file) {
  fclose(file->stream);
}

int fuzz_a_file(const uint8_t *data, size_t size,
                void (*read)(struct fuzz *fuzz, const char *path)) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  struct fuzz_file file = fuzz_file_of(data, size, &fuzz.arena);
  read(&fuzz, file.path);
  fuzz_file_close(&file);
  fuzz_end(&fuzz);
  return 0;
}

int fuzz_a_record(const uint8_t *data, size_t size,
                  void *(*read)(struct fuzz *fuzz, const char *path),
                  void (*check)(struct fuzz *fuzz, void *record)) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  struct fuzz_file file = record_of(data, size, &fuzz.arena);
  void *record = read(&fuzz, file.path);
  assert((record != NULL) == (fuzz.diagnostics.errors == 0));
  if (record)
    check(&fuzz, record);
  fuzz_file_close(&file);
  fuzz_end(&fuzz);
  return 0;
}

const char *fuzz_path(struct fuzz *fuzz) {
  return arena_printf(&fuzz->arena, "/dev/shm/pertoken-fuzz-%d.json", (int)getpid());
}
