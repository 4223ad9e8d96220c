#include "tests/support/amd_machine.h"

#include "tests/stand_ins/fake/load.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const amd_first[] = {"0000:c1:00.0"};

static double fake_now(void *context) {
  return ((struct amd_machine *)context)->now_s;
}

void amd_pass(void *context, double seconds) {
  struct amd_machine *machine = context;
  machine->now_s += seconds;
  machine->counter += machine->power_w * seconds / amd_resolution_j;
  if (machine->counter_end)
    machine->counter = fmod(machine->counter, (double)machine->counter_end);
  for (unsigned i = 0; i < machine->amd->count; i++)
    if (machine->amd->list[i].energy && machine->amd->list[i].energy != UINT64_MAX)
      machine->amd->list[i].energy = (uint64_t)machine->counter;
}

struct fake_accelerator amd_accelerator(unsigned bus, unsigned function) {
  return (struct fake_accelerator){
      .bus = bus,
      .function = function,
      .energy = 1,
      .resolution_uj = 15.3F,
      .current_w = 700,
      .average_w = AMD_UNTOLD,
      .core_mhz = {2100, 2100, 2000, 2000, AMD_UNTOLD, AMD_UNTOLD, 0, 0},
      .memory_mhz = 1300,
      .core_c = 66,
      .memory_c = 58,
      .cycles = UINT64_MAX,
      .power_residency = UINT64_MAX,
      .throttle_bits = UINT64_MAX};
}

void amd_start_with(struct amd_machine *machine, const char *library) {
  *machine = (struct amd_machine){.power_w = 700, .counter = 1e6};
  fixture_start(&machine->fixture);
  strcpy(machine->tree, "/tmp/pertoken-amd-XXXXXX");
  assert_non_null(mkdtemp(machine->tree));
  machine->clock = (struct clock){fake_now, amd_pass, machine};
  const char *path = fake_library(library, &machine->fixture.arena);
  machine->roots = (struct meter_roots){.pci = machine->tree,
                                        .module = machine->tree,
                                        .nvml = "/nonexistent",
                                        .amdsmi = path,
                                        .rocmsmi = path};
  machine->amd = fake_symbol(path, FAKE_AMD);
  *machine->amd = (struct fake_amd){.count = 1, .compute_partition = "SPX", .processes = 2};
  machine->amd->list[0] = amd_accelerator(0xc1, 0);
}

void amd_start(struct amd_machine *machine) {
  amd_start_with(machine, "libamd_smi.so");
}

void amd_end(struct amd_machine *machine) {
  assert_int_equal(machine->amd->inits, 0);
  assert_int_equal(system(arena_printf(&machine->fixture.arena, "rm -rf '%s'", machine->tree)), 0);
  fixture_end(&machine->fixture);
}

void amd_put(struct amd_machine *machine, const char *file, const char *text) {
  fixture_write(&machine->fixture, machine->tree, file, text);
}

void amd_put_device(struct amd_machine *machine, const char *pci, const char *vendor,
                    const char *driver, const char *file, const char *value) {
  struct arena *arena = &machine->fixture.arena;
  amd_put(machine, arena_printf(arena, "%s/vendor", pci), vendor);
  amd_put(machine, arena_printf(arena, "%s/hwmon/hwmon5/name", pci), driver);
  amd_put(machine, arena_printf(arena, "%s/hwmon/hwmon5/%s", pci, file), value);
}
