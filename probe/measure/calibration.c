#include "probe/measure/calibration.h"

#include "base/statistics.h"

#include <stdbool.h>
#include <stdint.h>

enum { PASSES = 3 };

static bool is_stopped(const struct calibration *calibration) {
  return calibration->stop && *calibration->stop;
}

static enum decode_status time_variant(const struct calibration *calibration, int variant,
                                       double *bytes_per_s) {
  double seconds[PASSES], sorted[PASSES];
  *bytes_per_s = 0;
  for (int i = 0; i < PASSES; i++) {
    if (is_stopped(calibration))
      return DECODE_OK;
    const enum decode_status status = calibration->backend->read_memory(
        calibration->device, calibration->bytes, calibration->threads, variant, &seconds[i]);
    if (status != DECODE_OK)
      return status;
    if (!(seconds[i] > 0))
      return DECODE_FAILED;
  }
  *bytes_per_s = (double)calibration->bytes / summarise(seconds, PASSES, sorted).median;
  return DECODE_OK;
}

// The best read kernel over calibration->bytes.
static enum decode_status time_variants(struct calibration *calibration) {
  calibration->bytes_per_s = 0;
  for (int variant = 0; !is_stopped(calibration); variant++) {
    double bytes_per_s;
    const enum decode_status status = time_variant(calibration, variant, &bytes_per_s);
    if (status == DECODE_UNSUPPORTED && variant > 0)
      return DECODE_OK;
    if (status != DECODE_OK)
      return status;
    if (bytes_per_s <= calibration->bytes_per_s)
      continue;
    calibration->variant = variant;
    calibration->bytes_per_s = bytes_per_s;
  }
  return DECODE_OK;
}

enum decode_status calibrate(const struct decode_backend *backend, int device, int threads,
                             uint64_t footprint, uint64_t room, const volatile sig_atomic_t *stop,
                             struct calibration *out) {
  *out =
      (struct calibration){.backend = backend, .device = device, .threads = threads, .stop = stop};
  out->bytes = room < CALIBRATION_BYTES ? room : CALIBRATION_BYTES;
  const enum decode_status status = time_variants(out);
  out->buffer_bytes_per_s = out->bytes_per_s;
  if (status != DECODE_OK || footprint <= out->bytes || footprint > room)
    return status;
  struct calibration large = *out;
  large.bytes = footprint;
  double bytes_per_s;
  const enum decode_status again = time_variant(&large, large.variant, &bytes_per_s);
  if (again == DECODE_OK && bytes_per_s > out->bytes_per_s)
    out->bytes_per_s = bytes_per_s;
  return again;
}

enum decode_status calibration_read(const struct calibration *calibration, double *seconds) {
  return calibration->backend->read_memory(calibration->device, calibration->bytes,
                                           calibration->threads, calibration->variant, seconds);
}

enum decode_status calibration_repeat(const struct calibration *calibration, double *bytes_per_s) {
  return time_variant(calibration, calibration->variant, bytes_per_s);
}
