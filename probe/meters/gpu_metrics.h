// gpu_metrics: what AMD SMI and ROCm SMI read from a device, as a reading of amd.h.
#ifndef PERTOKEN_PROBE_METERS_GPU_METRICS_H
#define PERTOKEN_PROBE_METERS_GPU_METRICS_H

#include "probe/meters/amd.h"

#include <stddef.h>
#include <stdint.h>

// The head of gpu_metrics as both SMI libraries give it (amdsmi_gpu_metrics_t of AMD SMI 23.4 to
// 26, rsmi_gpu_metrics_t of ROCm SMI 5 to 7; later versions add fields at the end). A member that
// the device does not report has all bits set.
struct gpu_metrics {
  uint16_t structure_size;
  uint8_t format_revision, content_revision;
  uint16_t temperature_edge, temperature_hotspot, temperature_mem; // degrees Celsius
  uint16_t temperature_vrgfx, temperature_vrsoc, temperature_vrmem;
  uint16_t average_gfx_activity, average_umc_activity, average_mm_activity;
  uint16_t average_socket_power; // W; MI200 and before
  uint64_t energy_accumulator;   // 15.259 uJ
  uint64_t system_clock_counter;
  uint16_t average_clocks[7];
  uint16_t current_gfxclk, current_socclk, current_uclk; // MHz
  uint16_t current_vclk0, current_dclk0, current_vclk1, current_dclk1;
  uint32_t throttle_status;
  uint16_t current_fan_speed, pcie_link_width, pcie_link_speed;
  uint32_t gfx_activity_acc, mem_activity_acc;
  uint16_t temperature_hbm[4];
  uint64_t firmware_timestamp;
  uint16_t voltage_soc, voltage_gfx, voltage_mem;
  uint64_t indep_throttle_status; // SMU_THROTTLER_*_BIT of the kernel's amdgpu_smu.h
  uint16_t current_socket_power;  // W; MI300 and later
  uint16_t vcn_activity[4];
  uint32_t gfxclk_lock_status;
  uint16_t xgmi_link_width, xgmi_link_speed;
  uint64_t pcie[5];
  uint64_t xgmi_read_data_acc[8], xgmi_write_data_acc[8];
  uint16_t current_gfxclks[8], current_socclks[4], current_vclk0s[4], current_dclk0s[4]; // MHz
  uint16_t jpeg_activity[32];
  uint32_t pcie_nak_sent_count_acc, pcie_nak_rcvd_count_acc;
  uint64_t accumulation_counter;
  uint64_t prochot_residency_acc, ppt_residency_acc, socket_thm_residency_acc;
  uint64_t vr_thm_residency_acc, hbm_thm_residency_acc;
};

_Static_assert(offsetof(struct gpu_metrics, energy_accumulator) == 24, "as in amdsmi.h");
_Static_assert(offsetof(struct gpu_metrics, indep_throttle_status) == 112, "as in amdsmi.h");
_Static_assert(offsetof(struct gpu_metrics, current_socket_power) == 120, "as in amdsmi.h");
_Static_assert(offsetof(struct gpu_metrics, current_gfxclks) == 312, "as in amdsmi.h");
_Static_assert(offsetof(struct gpu_metrics, hbm_thm_residency_acc) == 464, "as in amdsmi.h");

// Room for all of it in any version of the library; fill it with set bits first.
union gpu_metrics_room {
  struct gpu_metrics head;
  unsigned char bytes[16384];
};

// Moves what AMD SMI 27 filled in to where the head has it. That version widened gfx_activity_acc,
// mem_activity_acc and both pcie_nak_..._acc to 64 bits (amdsmi's CHANGELOG.md for ROCm 10.0.0);
// these four are lost.
void gpu_metrics_narrow(union gpu_metrics_room *room);

// The energy counter as an SMI library gives it. Both libraries call its unit 15.3 uJ, whatever the
// device (kEnergyCounterResolution in rocm_smi.cc), which is rounded from the firmware's 2^-16 J
// ("15.259uJ (2^-16) units", smu_v13_0_6_ppt.c of the Linux kernel); the latter is used instead.
// Without a unit, or with all bits set, there is no counter.
void gpu_metrics_counter(uint64_t counter, float resolution_uj, struct amd_look *look);

// Watts, clocks, temperatures, links and throttling.
void gpu_metrics_look(const struct gpu_metrics *metrics, struct amd_look *look);

// "enabled" or "disabled", by the memory's bit (..._GPU_BLOCK_UMC) in the SMI libraries' mask of
// ECC blocks.
const char *gpu_metrics_ecc(uint64_t enabled_blocks);

#endif
