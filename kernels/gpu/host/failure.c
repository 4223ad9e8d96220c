#include "kernels/gpu/host/failure.h"

#include "kernels/gpu/host/driver.h"

#include <stdio.h>

static _Thread_local char last[512];

enum decode_status failure_keep(enum decode_status status, const char *words) {
  snprintf(last, sizeof last, "%s", words);
  return status;
}

enum decode_status failure_told(enum decode_status status) {
  return status == DECODE_OK ? status : failure_keep(status, gpu_driver.error());
}

const char *failure_words(void) {
  return last;
}
