// What both fake AMD libraries share: gpu_metrics, with offsets typed from amdsmi.h and rocm_smi.h
// of ROCm 6.2 (see their struct ..._gpu_metrics_t), so that a mistake in the probe's own struct is
// found.
#ifndef PERTOKEN_FAKE_AMD_METRICS_H
#define PERTOKEN_FAKE_AMD_METRICS_H

#include "tests/stand_ins/fake/fake_amd.h"

#include <string.h>

enum { METRICS_BYTES = 1832 };

static inline void put(unsigned char *metrics, size_t offset, const void *value, size_t size) {
  memcpy(metrics + offset, value, size);
}

static inline void fill_metrics(const struct fake_accelerator *one, unsigned char *metrics) {
  memset(metrics, 0xff, METRICS_BYTES);
  put(metrics, 6, &one->core_c, 2);
  put(metrics, 8, &one->memory_c, 2);
  put(metrics, 22, &one->average_w, 2);
  put(metrics, 24, &one->energy, 8);
  put(metrics, 58, &one->memory_mhz, 2);
  put(metrics, 74, &one->pcie_width, 2);
  put(metrics, 76, &one->pcie_speed, 2);
  put(metrics, 136, &one->xgmi_width, 2);
  put(metrics, 112, &one->throttle_bits, 8);
  put(metrics, 120, &one->current_w, 2);
  put(metrics, 312, one->core_mhz, sizeof one->core_mhz);
  put(metrics, 424, &one->cycles, 8);
  put(metrics, 440, &one->power_residency, 8);
}

#endif
