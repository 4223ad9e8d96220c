// amd_machine: a machine with AMD's accelerators, as its libraries (tests/stand_ins/fake) and its
// sysfs show it, with a clock of its own: for the suites of AMD's meters and telemetry.
#ifndef PERTOKEN_TESTS_SUPPORT_AMD_MACHINE_H
#define PERTOKEN_TESTS_SUPPORT_AMD_MACHINE_H

#include "tests/support/fixture.h"

#include "base/clock.h"
#include "probe/meters/meter.h"
#include "tests/stand_ins/fake/fake_amd.h"

#define AMD_UNTOLD UINT16_MAX
static const double amd_resolution_j = 1.0 / 65536; // the firmware's; the libraries state 15.3 uJ

struct amd_machine {
  struct fixture fixture;
  struct clock clock;
  struct meter_roots roots;
  struct fake_amd *amd;
  char tree[64];
  double now_s, power_w;
  double counter;       // of the first device
  uint64_t counter_end; // where it wraps around to 0; 0: never
};

// Its only device, unless a test adds others.
extern const char *const amd_first[1];
struct fake_accelerator amd_accelerator(unsigned bus, unsigned function);

// With AMD SMI, or another library. The end checks that it has been closed.
void amd_start(struct amd_machine *machine);
void amd_start_with(struct amd_machine *machine, const char *library);
void amd_end(struct amd_machine *machine);

// Time passes. Every device whose counter is not 0 counts the same power.
void amd_pass(void *machine, double seconds);

// Writes a file of the tree; and a device's vendor, driver and one file of its sensors.
void amd_put(struct amd_machine *machine, const char *file, const char *text);
void amd_put_device(struct amd_machine *machine, const char *pci, const char *vendor,
                    const char *driver, const char *file, const char *value);

#endif
