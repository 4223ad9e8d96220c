// Any text as input from other programs and the environment to the probe: ipmitool, a Redfish
// service, an inference server's counters and its self-description, PERTOKEN_GPU_TUNING.
#include "fuzz.h"

#include "kernels/gpu/plan/tuning.h"
#include "probe/meters/wall.h"
#include "probe/serving/counters.h"
#include "probe/serving/engine.h"

#include <assert.h>
#include <math.h>
#include <string.h>

static void check_tuning(const char *text) {
  struct gpu_tuning tuning, again;
  char why[200], written[200];
  if (!gpu_tuning_read(text, &tuning, why, sizeof why)) {
    assert(*why && strlen(why) < sizeof why);
    return;
  }
  gpu_tuning_write(&tuning, written, sizeof written);
  assert(gpu_tuning_read(written, &again, why, sizeof why));
  assert(memcmp(&tuning, &again, sizeof tuning) == 0);
}

static void check_counters(const char *text, size_t size) {
  const struct server_counters counters = counters_read(text, size);
  assert(isnan(counters.input_tokens) || counters.input_tokens >= 0);
  assert(isnan(counters.cached_tokens) || counters.cached_tokens >= 0);
  assert((counters.engine != NULL) == !isnan(counters.output_tokens));
}

static void check_engine(const char *text, size_t size, struct arena *arena) {
  struct engine engine = {.name = "", .version = ""};
  engine_read_models(&engine, text, size, arena);
  engine_read_state(&engine, text, size, arena);
  assert(engine.name && engine.version && engine.places >= 0);
  for (size_t i = 0; i < engine.count; i++)
    assert(engine.models[i].name && engine.models[i].vocabulary >= 0 &&
           engine.models[i].context >= 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  const char *text = fuzz.source->text;
  const double dcmi = wall_parse(text), redfish = wall_parse_redfish(text);
  assert((isnan(dcmi) || dcmi >= 0) && (isnan(redfish) || redfish >= 0));
  assert(!isinf(dcmi) && !isinf(redfish));
  check_tuning(text);
  check_counters(text, size);
  check_engine(text, size, &fuzz.arena);
  fuzz_end(&fuzz);
  return 0;
}
