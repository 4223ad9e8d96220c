// fit: whether a trial fits into the memory of its devices, and what it leaves free.
#ifndef PERTOKEN_PROBE_MEASURE_FIT_H
#define PERTOKEN_PROBE_MEASURE_FIT_H

#include "kernels/decode.h"
#include "probe/measure/protocol.h"
#include "probe/measure/trial.h"

#include <stdint.h>

// Refuses what the devices cannot run or hold, and says how much is needed, how much is free, and
// what would fit. Returns 0 or -1.
int fit_check(const struct protocol *protocol, const struct trial *trial);

// Bytes left for calibration apart from a model of that cost: at least 64 MiB.
uint64_t fit_room(const struct protocol *protocol, const struct trial *trial,
                  const struct decode_cost *cost);

#endif
