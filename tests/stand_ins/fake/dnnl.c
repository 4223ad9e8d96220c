// A oneDNN that has nothing but its version, from FAKE_DNNL in the environment: "MAJOR MINOR PATCH
// RUNTIME", where RUNTIME is its threading runtime, numbered as in dnnl_types.h.
#include <stdio.h>
#include <stdlib.h>

struct version {
  int major, minor, patch;
  const char *hash;
  unsigned cpu_runtime, gpu_runtime;
};

const struct version *dnnl_version(void);

const struct version *dnnl_version(void) {
  static struct version version;
  const char *told = getenv("FAKE_DNNL");
  if (!told || sscanf(told, "%d %d %d %u", &version.major, &version.minor, &version.patch,
                      &version.cpu_runtime) != 4)
    abort();
  return &version;
}
