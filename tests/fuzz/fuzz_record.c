// Any text as a measurement record. Its digest is corrected first: otherwise no changed record
// would get past that check.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "fuzz.h"

#include "model/records/measurement.h"
#include "model/records/measurement_file.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

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
  assert(measurement_doubts(result, arena));
  check_window(&result->readings.idle);
  check_window(&result->readings.load);
}

// What was read is written so that it can be read again, with the same content.
static void check_record(struct fuzz *fuzz, void *read) {
  struct measurement_record *record = read;
  for (size_t i = 0; i < record->count; i++)
    check_result(record, &record->results[i], &fuzz->arena);
  struct diagnostics told = {.arena = &fuzz->arena};
  const char *path = fuzz_path(fuzz);
  assert(measurement_write(record, path, &fuzz->arena, &told) == 0);
  const struct measurement_record *again = measurement_read(path, &fuzz->arena, &told);
  unlink(path);
  assert(again && again->count == record->count && !strcmp(again->digest, record->digest));
}

static void *read_record(struct fuzz *fuzz, const char *path) {
  return measurement_read(path, &fuzz->arena, &fuzz->diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_record(data, size, read_record, check_record);
}
