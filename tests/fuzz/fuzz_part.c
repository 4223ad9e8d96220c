// Any text as a part of a simulation, as `pertoken merge` reads them.
#include "fuzz.h"

#include "model/simulate/part.h"
#include "model/simulate/part_file.h"
#include "model/simulate/part_numbers.h"
#include "model/simulate/simulate.h"

#include <assert.h>
#include <math.h>

static void check_outcome(const struct outcome *outcome) {
  assert(isfinite(outcome->mean) && outcome->lowest <= outcome->highest);
  for (int i = 1; i < SIMULATE_LEVELS; i++)
    assert(outcome->percentiles[i - 1] <= outcome->percentiles[i]);
}

// What was read is reported, and printed so that it can be read again.
static void check_part(struct fuzz *fuzz, struct simulation_part *part) {
  struct diagnostics told = {.arena = &fuzz->arena};
  const struct simulation *simulation = simulation_result(part, &fuzz->arena, &told);
  assert((simulation != NULL) == (told.errors == 0));
  for (size_t o = 0; simulation && o < simulation->outcome_count; o++)
    check_outcome(&simulation->outcomes[o]);
  struct fuzz_file file = fuzz_file(&fuzz->arena);
  assert(simulation_part_print(part, file.stream) == 0 && fflush(file.stream) == 0);
  struct simulation_part *again = simulation_part_read(file.path, &fuzz->arena, &told);
  assert(again);
  assert(simulation_merge(again, part, &told) != 0); // its shards are already there
  fuzz_file_close(&file);
}

static void read_part(struct fuzz *fuzz, const char *path) {
  struct simulation_part *part = simulation_part_read(path, &fuzz->arena, &fuzz->diagnostics);
  assert((part != NULL) == (fuzz->diagnostics.errors == 0));
  if (part)
    check_part(fuzz, part);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  return fuzz_a_file(data, size, read_part);
}
