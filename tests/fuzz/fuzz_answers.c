// Any text as what other programs and the environment tell the probe: ipmitool, a Redfish service,
// PERTOKEN_GPU_TUNING.
#include "fuzz.h"

#include "kernels/gpu/host/tuning.h"
#include "probe/meters/wall.h"

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

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct fuzz fuzz;
  if (!fuzz_begin(&fuzz, data, size))
    return -1;
  const char *text = fuzz.source->text;
  const double dcmi = wall_parse(text), redfish = wall_parse_redfish(text);
  assert((isnan(dcmi) || dcmi >= 0) && (isnan(redfish) || redfish >= 0));
  assert(!isinf(dcmi) && !isinf(redfish));
  check_tuning(text);
  fuzz_end(&fuzz);
  return 0;
}
