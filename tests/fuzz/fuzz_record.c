// Any text as a measurement record. Its digest is mended first: otherwise no change of a record
// would come further than that.
#include "fuzz.h"

#include "model/evidence/measurement.h"
#include "model/evidence/measurement_fields.h"
#include "model/evidence/measurement_read.h"
#include "model/evidence/measurement_write.h"

#include <assert.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static struct fuzz_file mended(const uint8_t *data, size_t size, struct arena *arena) {
  json_t *object = json_loadb((const char *)data, size, JSON_REJECT_DUPLICATES, NULL);
  if (!json_is_object(object)) {
    json_decref(object);
    return fuzz_file_of(data, size, arena);
  }
  const char *digest = measurement_digest(object, arena);
  json_object_set_new(object, "digest", json_string(digest ? digest : ""));
  char *text = json_dumps(object, JSON_REAL_PRECISION(17));
  struct fuzz_file file = text ? fuzz_file_of(text, strlen(text), arena) : fuzz_file(arena);
  free(text);
  json_decref(object);
  return file;
}

static void check_window(const struct measurement_window *window) {
  assert(window->count == window->power_count);
  for (size_t i = 0; i < window->count; i++)
    assert(window->end_s[i] > (i ? window->end_s[i - 1] : 0));
  assert(window->count == 0 || measurement_window_seconds(window) > 0);
}

static void check_result(const struct measurement_record *record, const struct measurement *result,
                         struct arena *arena) {
  assert(result->record == record && result->model.layers > 0 && result->batch > 0);
  assert(isfinite(result->tokens_per_s) || !result->whole_model);
  assert(measurement_devices(result) >= 1);
  assert(measurement_flags_text(&result->flags, arena));
  check_window(&result->readings.idle);
  check_window(&result->readings.load);
}

// What is read is written so that it is read again, as the same content.
static void check_record(struct fuzz *fuzz, struct measurement_record *record) {
  for (size_t i = 0; i < record->count; i++)
    check_result(record, &record->results[i], &fuzz->arena);
  struct diagnostics told = {.arena = &fuzz->arena};
  const char *path = arena_printf(&fuzz->arena, "/dev/shm/pertoken-fuzz-%d.json", (int)getpid());
  assert(measurement_write(record, path, &fuzz->arena, &told) == 0);
  const struct measurement_record *again = measurement_read(path, &fuzz->arena, &told);
  unlink(path);
  assert(again && again->count == record->count && !strcmp(again->digest, record->digest));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  struct fuzz_file file = mended(data, size, &fuzz.arena);
  struct measurement_record *record = measurement_read(file.path, &fuzz.arena, &fuzz.diagnostics);
  assert((record != NULL) == (fuzz.diagnostics.errors == 0));
  if (record)
    check_record(&fuzz, record);
  fuzz_file_close(&file);
  fuzz_end(&fuzz);
  return 0;
}
