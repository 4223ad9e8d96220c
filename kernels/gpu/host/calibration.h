// calibration: a GPU's own limits: decode.h's read_memory, matrix_rate and calibration_end.
#ifndef PERTOKEN_KERNELS_GPU_HOST_CALIBRATION_H
#define PERTOKEN_KERNELS_GPU_HOST_CALIBRATION_H

#include "kernels/decode.h"

#include <stdint.h>

// The calling thread keeps the buffer, so that devices can be calibrated side by side.
enum decode_status calibration_read(int device, uint64_t bytes, int threads, int variant,
                                    double *seconds);
enum decode_status calibration_rate(int device, const struct decode_types *types, int threads,
                                    double *operations_per_s);
void calibration_end(void);

#endif
