#include "probe/measure/calibration.h"

#include "base/statistics.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PASSES = 3, OVERHEAD_PASSES = 9 };

// The longest that a launch and the marks around it may take; more than that is noise. Reads that
// take a thousand times as long need no correction for it.
static const double most_overhead_s = 50e-6, long_read_s = 50e-3;

static bool is_stopped(const struct calibration *calibration) {
  return calibration->stop && *calibration->stop;
}

// The median of several reads with calibration->variant, without the known overhead. 0 if it was
// stopped.
static enum decode_status time_reads(const struct calibration *calibration, int passes,
                                     double *median_s) {
  double seconds[OVERHEAD_PASSES], sorted[OVERHEAD_PASSES];
  *median_s = 0;
  for (int i = 0; i < passes; i++) {
    if (is_stopped(calibration))
      return DECODE_OK;
    const enum decode_status status = calibration_read(calibration, &seconds[i]);
    if (status != DECODE_OK)
      return status;
    if (!(seconds[i] > 0))
      return DECODE_FAILED;
  }
  *median_s = summarise(seconds, (size_t)passes, sorted).median;
  return DECODE_OK;
}

static enum decode_status time_variant(const struct calibration *calibration, int variant,
                                       double *bytes_per_s) {
  struct calibration one = *calibration;
  one.variant = variant;
  double seconds;
  const enum decode_status status = time_reads(&one, PASSES, &seconds);
  *bytes_per_s = seconds > 0 ? (double)one.bytes / seconds : 0;
  return status;
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

// The time of a read apart from its bytes: twice the time of a read, less that of one over twice as
// many bytes. Nothing if there is no memory for that.
static enum decode_status find_overhead(struct calibration *calibration, uint64_t room) {
  struct calibration twice = *calibration;
  twice.bytes = 2 * calibration->bytes;
  if (twice.bytes > room || (double)calibration->bytes > long_read_s * calibration->bytes_per_s)
    return DECODE_OK;
  double once_s, twice_s = 0;
  enum decode_status status = time_reads(calibration, OVERHEAD_PASSES, &once_s);
  if (status == DECODE_OK)
    status = time_reads(&twice, OVERHEAD_PASSES, &twice_s);
  if (status == DECODE_NO_MEMORY)
    return DECODE_OK;
  if (status != DECODE_OK || is_stopped(calibration))
    return status;
  const double overhead_s = 2 * once_s - twice_s;
  if (overhead_s > 0 && overhead_s < most_overhead_s)
    calibration->overhead_s = overhead_s;
  calibration->bytes_per_s = (double)calibration->bytes / (once_s - calibration->overhead_s);
  return DECODE_OK;
}

enum decode_status calibrate(const struct decode_backend *backend, int device, int threads,
                             uint64_t footprint, uint64_t room, const volatile sig_atomic_t *stop,
                             struct calibration *out) {
  *out =
      (struct calibration){.backend = backend, .device = device, .threads = threads, .stop = stop};
  out->bytes = room < CALIBRATION_BYTES ? room : CALIBRATION_BYTES;
  enum decode_status status = time_variants(out);
  if (status == DECODE_OK && !is_stopped(out))
    status = find_overhead(out, room);
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
  const enum decode_status status = calibration->backend->read_memory(
      calibration->device, calibration->bytes, calibration->threads, calibration->variant, seconds);
  *seconds -= status == DECODE_OK ? calibration->overhead_s : 0;
  return status;
}

enum decode_status calibration_repeat(const struct calibration *calibration, double *bytes_per_s) {
  return time_variant(calibration, calibration->variant, bytes_per_s);
}
