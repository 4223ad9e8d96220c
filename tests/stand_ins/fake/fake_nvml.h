// fake_nvml: what the fake libnvidia-ml shows, set by the test that loads it.
#ifndef PERTOKEN_FAKE_NVML_H
#define PERTOKEN_FAKE_NVML_H

#include <stdbool.h>

struct fake_gpu {
  const char *pci;
  unsigned long long energy_mj; // the counter
  double power_w, module_w;     // momentary; module 0: not a superchip
  bool is_split;                // by MIG
  bool without_counter, without_power;
  int code; // what every call on this GPU returns, 0: it works
  unsigned core_mhz, memory_mhz, core_c, memory_c, processes;
  unsigned long long reasons;      // bits
  unsigned long long power_cap_ns; // field 74
};

struct fake_nvml {
  int init_code; // what nvmlInit_v2 returns
  int inits;     // not yet shut down
  struct fake_gpu gpus[4];
  unsigned count;
};

// The symbol under which the library exports it.
#define FAKE_NVML "fake_nvml_machine"

#endif
