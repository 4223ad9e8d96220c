// fake_amd: what the fake libamd_smi and librocm_smi64 show, set by the test that loads them.
#ifndef PERTOKEN_TESTS_STAND_INS_FAKE_FAKE_AMD_H
#define PERTOKEN_TESTS_STAND_INS_FAKE_FAKE_AMD_H

#include <stdbool.h>
#include <stdint.h>

struct fake_accelerator {
  unsigned domain, bus, device, function;
  uint64_t energy; // the accumulator
  float resolution_uj;
  uint16_t current_w, average_w; // 65535: not reported
  uint16_t core_mhz[8], memory_mhz, core_c, memory_c;
  uint64_t cycles, power_residency; // all bits set: not reported
  uint64_t throttle_bits;
  uint16_t pcie_width, pcie_speed, xgmi_width; // lanes, 0.1 GT/s
  uint64_t cap_uw;                             // as set; 0: 1000 W, the original value
  bool without_energy, without_metrics;
  int code; // result of every call on it, 0: success
};

struct fake_amd {
  int init_code;
  uint32_t version; // of AMD SMI; 0: 26
  int inits;        // not yet shut down
  struct fake_accelerator list[8];
  unsigned count;
  const char *compute_partition;
  unsigned processes;
  int cap_code; // result of setting a cap
};

#define FAKE_AMD "fake_amd_machine"

#endif
