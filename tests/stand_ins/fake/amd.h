// What both fake AMD libraries share: gpu_metrics, with offsets typed from amdsmi.h and rocm_smi.h
// of ROCm 6.2 (see their struct ..._gpu_metrics_t), and from amdsmi.h of ROCm 10.0, so that a
// mistake in the probe's own struct is found.
#ifndef PERTOKEN_TESTS_STAND_INS_FAKE_AMD_H
#define PERTOKEN_TESTS_STAND_INS_FAKE_AMD_H

#include "tests/stand_ins/fake/fake_amd.h"

#include <string.h>

enum { METRICS_BYTES = 1832 };

// Where the members are that have moved.
struct metrics_layout {
  size_t throttle_bits, current_w, xgmi_width, core_mhz, cycles, power_residency;
};
static const struct metrics_layout metrics_of_rocm_6 = {112, 120, 136, 312, 424, 440},
                                   metrics_of_rocm_10 = {120, 128, 144, 320, 440, 456};

static inline void put(unsigned char *metrics, size_t offset, const void *value, size_t size) {
  memcpy(metrics + offset, value, size);
}

static inline void fill_metrics(const struct fake_accelerator *one,
                                const struct metrics_layout *layout, unsigned char *metrics) {
  memset(metrics, 0xff, METRICS_BYTES);
  put(metrics, 6, &one->core_c, 2);
  put(metrics, 8, &one->memory_c, 2);
  put(metrics, 22, &one->average_w, 2);
  put(metrics, 24, &one->energy, 8);
  put(metrics, 58, &one->memory_mhz, 2);
  put(metrics, 74, &one->pcie_width, 2);
  put(metrics, 76, &one->pcie_speed, 2);
  put(metrics, layout->throttle_bits, &one->throttle_bits, 8);
  put(metrics, layout->current_w, &one->current_w, 2);
  put(metrics, layout->xgmi_width, &one->xgmi_width, 2);
  put(metrics, layout->core_mhz, one->core_mhz, sizeof one->core_mhz);
  put(metrics, layout->cycles, &one->cycles, 8);
  put(metrics, layout->power_residency, &one->power_residency, 8);
}

#endif
