// calibration: how fast the device reads its memory, the reference for decoding.
#ifndef PERTOKEN_PROBE_MEASURE_CALIBRATION_H
#define PERTOKEN_PROBE_MEASURE_CALIBRATION_H

#include "kernels/decode.h"

#include <signal.h>
#include <stdint.h>

#define CALIBRATION_BYTES (UINT64_C(4) << 30) // beyond any cache

struct calibration {
  const struct decode_backend *backend;
  int device, threads;
  uint64_t bytes;    // of the buffer
  int variant;       // the best of the backend's read kernels
  double overhead_s; // of every read, apart from its bytes: a launch, and the marks around it
  double bytes_per_s;
  double buffer_bytes_per_s;         // over the buffer alone: compared with calibration_repeat
  const volatile sig_atomic_t *stop; // or NULL
};

// Times every read kernel over CALIBRATION_BYTES, or `room` bytes if that is less, and the best of
// them also over `footprint` bytes if that is more and fits; the higher bandwidth counts. If twice
// as many bytes fit, and reads are short enough for it to matter, the bandwidth is the bytes over
// the difference of the two reads: the overhead that both have is not reading, and is subtracted
// from every later read. With less memory the overhead counts as reading, so that bandwidths come
// out low. The backend keeps a buffer from here on until its calibration_end. *stop, unless NULL,
// ends it after the current pass: what was found by then is meaningless.
enum decode_status calibrate(const struct decode_backend *backend, int device, int threads,
                             uint64_t footprint, uint64_t room, const volatile sig_atomic_t *stop,
                             struct calibration *out);

// One more pass over the buffer with the best kernel: its time in seconds, less overhead_s.
enum decode_status calibration_read(const struct calibration *calibration, double *seconds);

// The median of a few such passes, in bytes per second.
enum decode_status calibration_repeat(const struct calibration *calibration, double *bytes_per_s);

#endif
