// Any text as a serving record. Its digest is corrected first: otherwise no changed record would
// get past that check.
#include "base/diagnostics.h"
#include "fuzz.h"

#include "model/delivery/fleet_item.h"
#include "model/records/serving.h"

#include <assert.h>
#include <math.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static void check_rung(const struct serving_record *record, const struct serving_rung *rung) {
  assert(rung->refused && rung->power.source && serving_load_names[rung->load]);
  assert(*rung->refused || rung->output_tokens_per_s > 0 || record->basis == BASIS_DECODE);
  assert(isnan(rung->ttft.p99_s) || isnan(rung->completed) ||
         rung->completed >= serving_samples(99));
}

// The items for a fleet come from the record's loads, each of which counts or is refused.
static void check_items(struct fuzz *fuzz, const struct serving_record *record) {
  const struct fleet_items items = fleet_items_of_serving(record, "a.json", &fuzz->arena);
  assert(items.count + items.refused.count == record->count);
  for (size_t i = 0; i < items.count; i++)
    assert(*items.list[i].node && *items.list[i].workload.words &&
           items.list[i].workload.input_tokens >= 0);
}

// What was read is written so that it can be read again, with the same content.
static void check_record(struct fuzz *fuzz, void *read) {
  struct serving_record *record = read;
  for (size_t i = 0; i < record->count; i++)
    check_rung(record, &record->rungs[i]);
  check_items(fuzz, record);
  struct diagnostics told = {.arena = &fuzz->arena};
  const char *path = fuzz_path(fuzz);
  assert(serving_write(record, path, &fuzz->arena, &told) == 0);
  const struct serving_record *again = serving_read(path, &fuzz->arena, &told);
  unlink(path);
  assert(again && again->count == record->count && !strcmp(again->digest, record->digest));
}

static void *read_record(struct fuzz *fuzz, const char *path) {
  return serving_read(path, &fuzz->arena, &fuzz->diagnostics);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_record(data, size, read_record, check_record);
}
