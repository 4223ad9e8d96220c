// calibrate: measures the machine's own limits for cpu_backend; see decode.h for the contracts.
#ifndef PERTOKEN_KERNELS_CPU_CALIBRATE_H
#define PERTOKEN_KERNELS_CPU_CALIBRATE_H

#include "kernels/decode.h"

#include <stdint.h>

enum decode_status calibrate_read(uint64_t bytes, int threads, int variant, double *seconds);
enum decode_status calibrate_matrix(const struct decode_types *types, int threads,
                                    double *operations_per_s);
void calibrate_end(void);

#endif
