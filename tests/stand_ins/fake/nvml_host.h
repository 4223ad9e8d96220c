// nvml_host: a host's PCI devices as a folder of files, with the fake libnvidia-ml as its only
// meter.
#ifndef PERTOKEN_TESTS_STAND_INS_FAKE_NVML_HOST_H
#define PERTOKEN_TESTS_STAND_INS_FAKE_NVML_HOST_H

#include "tests/stand_ins/fake/load.h"
#include "tests/support/fixture.h"

#include "probe/meters/meter.h"

// A device at an address, "0000:17:00.0", as in sysfs: of a class, "0x030200", by a vendor,
// "0x10de".
static inline void nvml_host_plug(struct fixture *fixture, const char *folder, const char *address,
                                  const char *class_code, const char *vendor) {
  struct arena *arena = &fixture->arena;
  fixture_write(fixture, folder, arena_printf(arena, "%s/class", address),
                arena_printf(arena, "%s\n", class_code));
  fixture_write(fixture, folder, arena_printf(arena, "%s/vendor", address),
                arena_printf(arena, "%s\n", vendor));
}

static inline struct meter_roots nvml_host_roots(const char *folder, struct arena *arena) {
  return (struct meter_roots){.pci = folder,
                              .nvml = fake_library("libnvidia-ml.so", arena),
                              .amdsmi = "/nonexistent",
                              .rocmsmi = "/nonexistent",
                              .hwmon = "/nonexistent",
                              .powercap = "/nonexistent",
                              .events = "/nonexistent"};
}

#endif
