// fake_nvml: what the fake libnvidia-ml shows, set by the test that loads it.
#ifndef PERTOKEN_TESTS_STAND_INS_FAKE_FAKE_NVML_H
#define PERTOKEN_TESTS_STAND_INS_FAKE_FAKE_NVML_H

#include <stdbool.h>

struct fake_gpu {
  const char *pci;
  unsigned long long energy_mj; // the counter
  double power_w, module_w;     // momentary; module 0: not a superchip
  bool is_split;                // by MIG
  bool without_counter, without_power;
  int code; // result of every call on this GPU, 0: success
  unsigned core_mhz, memory_mhz, core_c, memory_c, processes;
  unsigned pcie_generation, pcie_width, nvlinks; // 0 lanes: not reported; 0 links: it has none
  unsigned long long reasons;                    // bits
  unsigned long long power_cap_ns;               // field 74
  unsigned limit_mw;                             // as set; 0: 650000, the original value
  int limit_code;                                // result of setting it
  bool ignores_limit;                            // accepts a limit, and keeps its own
};

struct fake_nvml {
  int init_code; // result of nvmlInit_v2
  int inits;     // not yet shut down
  struct fake_gpu gpus[4];
  unsigned count;
};

// The symbol under which the library exports it.
#define FAKE_NVML "fake_nvml_machine"

#endif
