// amd: AMD accelerators as three sources see them: AMD SMI, ROCm SMI and the kernel's sysfs.
//
// What counts as one socket: a partitioned accelerator (CPX, DPX) appears as several devices that
// differ only in the PCI function, each repeating its socket's watts. An MI250X is two dies with
// addresses of their own; the firmware reports the energy and power of both through the first and 0
// through the second, which is how ROCm's own tools recognize it (rocm_smi.py,
// checkIfSecondaryDie). Sorted by address, a second die directly follows its first.
#ifndef PERTOKEN_PROBE_METERS_AMD_H
#define PERTOKEN_PROBE_METERS_AMD_H

#include "base/arena.h"
#include "probe/meters/address.h"
#include "probe/meters/meter.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MAX_AMD_DEVICES = 256, AMD_REASONS = 6 };

// Throttling reasons: names, in the order of amd_look's seconds.
extern const char *const amd_reasons[AMD_REASONS + 1];

// One reading of a device. NAN: not reported.
struct amd_look {
  bool has_counter;
  uint64_t counter;
  double resolution_j; // of the counter, joules per count
  double watts;        // of the socket: momentary since MI300, an average on older devices
  bool is_momentary;
  double core_clock_hz, memory_clock_hz, core_temperature_c, memory_temperature_c;
  double pcie_generation, pcie_width, xgmi_width; // lanes
  // Throttling, in one of two forms: cycles spent throttled since the driver was loaded, out of
  // this many cycles; or what throttles now.
  bool has_residency, has_bits;
  uint64_t cycles, residency[AMD_REASONS];
  bool throttled[AMD_REASONS];
};

// What stays the same during a run.
struct amd_state {
  const char *compute_partition, *memory_partition; // "SPX", "NPS1"; "" if unknown
  const char *ecc;                                  // "enabled", "disabled", ""
  int processes;                                    // on the device; -1: unknown
};

// The power limit of a socket, and the limits that can be set.
struct amd_cap {
  double watts, least_w, most_w;
};

struct amd;

struct amd_source {
  const char *name; // "amd-smi"
  // Lists the devices in amd->addresses, unsorted. METER_OK with count 0 if there are none. On
  // failure amd->why has a sentence.
  enum meter_status (*open)(struct amd *amd, const struct meter_roots *roots);
  // Returns 0, or -1 with amd->why. `look` comes with every field set to not reported.
  int (*look)(struct amd *amd, size_t index, struct amd_look *look);
  // Fills in what it knows; `state` comes with every field unknown.
  void (*state)(struct amd *amd, size_t index, struct amd_state *state);
  // Reads and sets the socket's power limit; on failure amd->why has a sentence. NULL if a source
  // knows none.
  enum meter_status (*cap)(struct amd *amd, size_t index, struct amd_cap *cap);
  enum meter_status (*set_cap)(struct amd *amd, size_t index, double watts);
  void (*close)(struct amd *amd);
};

struct amd {
  const struct amd_source *source;
  const char *why; // the last failure in words, "" before one
  struct arena *arena;
  const struct meter_roots *roots;
  void *own; // of the source
  struct meter_address addresses[MAX_AMD_DEVICES];
  size_t count;
};

// Opens a source and lists its devices; `roots` must outlive it. On failure amd->why says why, and
// there is nothing to close.
enum meter_status amd_open(struct amd *amd, const struct amd_source *source,
                           const struct meter_roots *roots, struct arena *arena);

// Returns 0, or -1 with amd->why.
int amd_look(struct amd *amd, size_t index, struct amd_look *look);
void amd_close(struct amd *amd);

// The index of the device at that address, or of the first on its socket if that partition is not
// listed; -1: none.
int amd_find(const struct amd *amd, const struct meter_address *address);

// The first partition of the device's socket: the only one that the kernel has files for, and often
// the only one with readings.
size_t amd_first_partition(const struct amd *amd, size_t index);

#endif
