// Plugins that the probe must cope with, one for each NAME and ABI: build.mk. The device whose
// number the environment variable PLUGIN_LOST has is lost, and so are those from the third on.
#include "kernels/decode.h"

#include <stdlib.h>

#ifndef NAME
#define NAME    "name"
#define ABI     DECODE_ABI
#define DEVICES 1
#endif

static int device_count(void) {
  return DEVICES;
}

static enum decode_status describe(int device, struct decode_device *out) {
  *out = (struct decode_device){.name = "a device of the tests", .units = device + 1};
  const char *lost = getenv("PLUGIN_LOST");
  return device < 2 && !(lost && atoi(lost) == device) ? DECODE_OK : DECODE_FAILED;
}

static const char *error(void) {
  return DEVICES ? "the device is lost" : "no device of the tests; plug one in";
}

decode_plugin pertoken_backend;

const struct decode_backend *pertoken_backend(void) {
  static const struct decode_backend backend = {.abi = ABI,
                                                .name = NAME,
                                                .build = "test",
                                                .device_count = device_count,
                                                .describe = describe,
                                                .error = error};
  return &backend;
}
