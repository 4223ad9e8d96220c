#include "tests/support/depth.h"

#include <stdlib.h>
#include <string.h>

bool depth_is_full(void) {
  const char *run = getenv("PERTOKEN_TESTS");
  return run && strcmp(run, "deep") == 0;
}
