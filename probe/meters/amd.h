// amd: AMD accelerators as three sources show them: AMD SMI, ROCm SMI, and the kernel's
// sysfs.
//
// What is one socket and what is not: a partitioned accelerator (CPX, DPX) appears as several
// devices that differ in the PCI function alone, each repeating its socket's watts. A MI250X is two
// dies with addresses of their own; the firmware gives the energy and power of both through the
// first, and 0 through the second, which is how ROCm's own tools tell it (rocm_smi.py,
// checkIfSecondaryDie). Sorted by address, a second die stands directly after its first.
#ifndef PERTOKEN_PROBE_METERS_AMD_H
#define PERTOKEN_PROBE_METERS_AMD_H

#include "probe/meters/address.h"
#include "probe/meters/meter.h"

#include <stdint.h>

enum { AMD_MOST_DEVICES = 256, AMD_REASONS = 6 };

// Reasons of throttling: names, in the order of amd_look's seconds.
extern const char *const amd_reasons[AMD_REASONS + 1];

// One look at a device. NAN where it is not told.
struct amd_look {
  bool has_counter;
  uint64_t counter;
  double resolution_j; // of the counter, joules in one count
  double watts;        // of the socket: momentary on MI300 and later, an average before
  bool is_momentary;
  double core_clock_hz, memory_clock_hz, core_temperature_c, memory_temperature_c;
  // Throttling, in one of two forms: cycles spent throttled since the driver was loaded and the
  // cycles that they are counted against, or what throttles now.
  bool has_residency, has_bits;
  uint64_t cycles, residency[AMD_REASONS];
  bool throttled[AMD_REASONS];
};

// What stays the same over a run.
struct amd_state {
  const char *compute_partition, *memory_partition; // "SPX", "NPS1"; "" where not told
  const char *ecc;                                  // "enabled", "disabled", ""
  int processes;                                    // on the device; -1 when not told
};

struct amd;

struct amd_source {
  const char *name; // "amd-smi"
  // Lists the devices in amd->addresses, unsorted. METER_OK with count 0 when there are none.
  enum meter_status (*open)(struct amd *amd, const struct meter_roots *roots);
  // Returns 0, or -1 with amd->why. `look` comes with all values untold.
  int (*look)(struct amd *amd, size_t index, struct amd_look *look);
  void (*state)(struct amd *amd, size_t index, struct amd_state *state);
  void (*close)(struct amd *amd);
};

extern const struct amd_source amd_smi, rocm_smi, amd_sysfs;

struct amd {
  const struct amd_source *source;
  const char *why;
  struct arena *arena;
  const struct meter_roots *roots;
  void *own; // of the source
  struct meter_address addresses[AMD_MOST_DEVICES];
  size_t count;
};

enum meter_status amd_open(struct amd *amd, const struct amd_source *source,
                           const struct meter_roots *roots, struct arena *arena);
int amd_look(struct amd *amd, size_t index, struct amd_look *look);
void amd_close(struct amd *amd);

// The device at that address, or its socket's first where the partition is not listed; -1: none.
int amd_find(const struct amd *amd, const struct meter_address *address);

// The counter as an SMI library gave it. Both libraries call its unit 15.3 uJ, whatever the device
// (kEnergyCounterResolution in rocm_smi.cc): rounded from the firmware's 2^-16 J ("15.259uJ (2^-16)
// units", smu_v13_0_6_ppt.c of the Linux kernel), which is taken instead. Without a unit, or with
// all bits set, there is no counter.
void amd_look_at_counter(uint64_t counter, float resolution_uj, struct amd_look *look);

// The head of gpu_metrics as both SMI libraries give it (amdsmi_gpu_metrics_t of AMD SMI 23.4 to
// 26.2, rsmi_gpu_metrics_t of ROCm SMI 5 to 7; later versions add at the end). A member that the
// device does not give has all bits set.
struct amd_metrics {
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

_Static_assert(offsetof(struct amd_metrics, energy_accumulator) == 24, "as in amdsmi.h");
_Static_assert(offsetof(struct amd_metrics, indep_throttle_status) == 112, "as in amdsmi.h");
_Static_assert(offsetof(struct amd_metrics, current_socket_power) == 120, "as in amdsmi.h");
_Static_assert(offsetof(struct amd_metrics, current_gfxclks) == 312, "as in amdsmi.h");
_Static_assert(offsetof(struct amd_metrics, hbm_thm_residency_acc) == 464, "as in amdsmi.h");

// Room for the whole of it, whatever the library's version: filled with set bits beforehand.
union amd_metrics_room {
  struct amd_metrics head;
  unsigned char bytes[16384];
};

void amd_look_at_metrics(const struct amd_metrics *metrics, struct amd_look *look);

// Of ECC blocks as the SMI libraries give them, the memory's bit (..._GPU_BLOCK_UMC).
const char *amd_ecc_text(uint64_t enabled_blocks);

// The device's files under roots->pci: a line of one, or "".
const char *amd_sysfs_text(const struct amd *amd, size_t index, const char *file);

// Its directory of sensors, "ROOT/0000:c1:00.0/hwmon/hwmon3", or NULL.
const char *amd_sysfs_sensors(const struct meter_roots *roots, const struct meter_address *address,
                              struct arena *arena);

#endif
