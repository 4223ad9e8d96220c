// AMD's meters and telemetry: AMD SMI, ROCm SMI and sysfs, with fake libraries, a fake tree and a
// fake clock.
#include "base/clock.h"
#include "tests/stand_ins/fake/fake_amd.h"
#include "tests/stand_ins/fake/load.h"

#include "probe/measure/energy.h"
#include "probe/measure/energy_watch.h"
#include "probe/measure/meter_set.h"
#include "probe/meters/amd.h"
#include "probe/meters/kinds.h"
#include "probe/meters/telemetry.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define UNTOLD UINT16_MAX
static const double resolution_j = 1.0 / 65536; // the firmware's; the libraries state 15.3 uJ

struct machine {
  struct fixture fixture;
  struct clock clock;
  struct meter_roots roots;
  struct fake_amd *amd;
  char tree[64];
  double now_s, power_w;
  double counter;       // of the first device
  uint64_t counter_end; // where it wraps around to 0; 0: never
};

static double fake_now(void *context) {
  return ((struct machine *)context)->now_s;
}

// Every device whose counter is not 0 counts the same power.
static void fake_sleep(void *context, double seconds) {
  struct machine *machine = context;
  machine->now_s += seconds;
  machine->counter += machine->power_w * seconds / resolution_j;
  if (machine->counter_end)
    machine->counter = fmod(machine->counter, (double)machine->counter_end);
  for (unsigned i = 0; i < machine->amd->count; i++)
    if (machine->amd->list[i].energy && machine->amd->list[i].energy != UINT64_MAX)
      machine->amd->list[i].energy = (uint64_t)machine->counter;
}

static struct fake_accelerator accelerator(unsigned bus, unsigned function) {
  return (struct fake_accelerator){.bus = bus,
                                   .function = function,
                                   .energy = 1,
                                   .resolution_uj = 15.3F,
                                   .current_w = 700,
                                   .average_w = UNTOLD,
                                   .core_mhz = {2100, 2100, 2000, 2000, UNTOLD, UNTOLD, 0, 0},
                                   .memory_mhz = 1300,
                                   .core_c = 66,
                                   .memory_c = 58,
                                   .cycles = UINT64_MAX,
                                   .power_residency = UINT64_MAX,
                                   .throttle_bits = UINT64_MAX};
}

static void start_with(struct machine *machine, const char *library) {
  *machine = (struct machine){.power_w = 700, .counter = 1e6};
  fixture_start(&machine->fixture);
  strcpy(machine->tree, "/tmp/pertoken-amd-XXXXXX");
  assert_non_null(mkdtemp(machine->tree));
  machine->clock = (struct clock){fake_now, fake_sleep, machine};
  const char *path = fake_library(library, &machine->fixture.arena);
  machine->roots = (struct meter_roots){.pci = machine->tree,
                                        .module = machine->tree,
                                        .nvml = "/nonexistent",
                                        .amdsmi = path,
                                        .rocmsmi = path};
  machine->amd = fake_symbol(path, FAKE_AMD);
  *machine->amd = (struct fake_amd){.count = 1, .compute_partition = "SPX", .processes = 2};
  machine->amd->list[0] = accelerator(0xc1, 0);
}

static void start(struct machine *machine) {
  start_with(machine, "libamd_smi.so");
}

static void end(struct machine *machine) {
  assert_int_equal(machine->amd->inits, 0);
  assert_int_equal(system(arena_printf(&machine->fixture.arena, "rm -rf '%s'", machine->tree)), 0);
  fixture_end(&machine->fixture);
}

static enum meter_status open_kind(struct machine *machine, const struct meter_kind *kind,
                                   struct meter *meter, const char *const *devices, size_t count) {
  return meter_open_device_kind(meter, kind, devices, count, &machine->roots, &machine->clock,
                                &machine->fixture.arena);
}

static void expect_text(const char *text, const char *fragment) {
  if (!strstr(text, fragment))
    fail_msg("expected '%s' in '%s'", fragment, text);
}

static struct energy_use measure(struct machine *machine, struct meter *meter, double seconds) {
  struct energy_window window;
  if (energy_start(&window, meter, &machine->fixture.arena) != METER_OK)
    return energy_unknown;
  const double end_s = machine->now_s + seconds;
  while (machine->now_s < end_s) {
    fake_sleep(machine, 0.1);
    if (energy_sample(&window) != METER_OK)
      return energy_unknown;
  }
  return energy_stop(&window);
}

static const char *const first[] = {"0000:c1:00.0"};

// ---- what both libraries provide

static void test_accumulator(void **state) {
  (void)state;
  static const struct {
    const char *library;
    const struct meter_kind *kind;
    const char *name;
  } cases[] = {
      {"libamd_smi.so", &meter_amdsmi,
       "amd-smi, 1 socket: energy accumulator and current socket power"},
      {"librocm_smi64.so", &meter_rocmsmi,
       "rocm-smi, 1 socket: energy accumulator and current socket power"},
  };
  for (size_t i = 0; i < 2; i++) {
    struct machine machine;
    struct meter meter;
    start_with(&machine, cases[i].library);
    assert_int_equal(open_kind(&machine, cases[i].kind, &meter, first, 1), METER_OK);
    assert_string_equal(meter.name, cases[i].name);
    const struct energy_use use = measure(&machine, &meter, 6);
    expect_near(use.power_w, 700, 1e-6, "2^-16 J a count");
    expect_near(use.sampled_power_w, 700, 1e-9, "socket power");
    assert_false(use.inconsistent);
    meter_close(&meter);
    end(&machine);
  }
}

// MI200 and earlier report an average; if both are reported, the momentary value counts.
static void test_generations(void **state) {
  (void)state;
  static const struct {
    uint16_t current_w, average_w;
    const char *name;
    double watts;
  } cases[] = {
      {700, UNTOLD, "current socket power", 700},
      {UNTOLD, 650, "average socket power", 650},
      {700, 650, "current socket power", 700},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct machine machine;
    struct meter meter;
    struct meter_reading reading;
    start(&machine);
    machine.amd->list[0].current_w = cases[i].current_w;
    machine.amd->list[0].average_w = cases[i].average_w;
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_OK);
    expect_text(meter.name, cases[i].name);
    assert_int_equal(meter_read(&meter, &reading), METER_OK);
    expect_near(reading.watts, cases[i].watts, 1e-12, cases[i].name);
    meter_close(&meter);
    end(&machine);
  }
}

static void test_disagreement(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  machine.amd->list[0].current_w = 630;
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_OK);
  const struct energy_use use = measure(&machine, &meter, 6);
  expect_near(use.power_w, 700, 1e-6, "counter");
  expect_near(use.sampled_power_w, 630, 1e-9, "integral");
  assert_true(use.inconsistent);
  meter_close(&meter);
  end(&machine);
}

// A socket with eight partitions: each repeats the socket's watts, which count once however many
// are used.
static void test_partitions(void **state) {
  (void)state;
  static const struct {
    const char *library;
    const struct meter_kind *kind;
  } cases[] = {{"libamd_smi.so", &meter_amdsmi}, {"librocm_smi64.so", &meter_rocmsmi}};
  static const char *const three[] = {"0000:c1:00.0", "0000:c1:00.3", "0000:c1:00.7"};
  for (size_t i = 0; i < 2; i++) {
    struct machine machine;
    struct meter meter;
    start_with(&machine, cases[i].library);
    machine.amd->count = 8;
    for (unsigned f = 0; f < 8; f++)
      machine.amd->list[f] = accelerator(0xc1, f);
    assert_int_equal(open_kind(&machine, cases[i].kind, &meter, three, 3), METER_OK);
    expect_text(meter.name, ", 1 socket: ");
    expect_text(meter.name, "shared by its 8 partitions");
    expect_near(measure(&machine, &meter, 6).power_w, 700, 1e-6, "one socket's");
    meter_close(&meter);
    end(&machine);
  }
}

// A partition without readings of its own is covered by its socket's, not by another socket's.
static void test_silent_partition(void **state) {
  (void)state;
  static const char *const last[] = {"0000:c1:00.1"}, *const alone[] = {"0000:c5:00.0"};
  for (int fails = 0; fails <= 1; fails++) {
    struct machine machine;
    struct meter meter;
    start(&machine);
    machine.amd->count = 3;
    machine.amd->list[1] = accelerator(0xc1, 1);
    machine.amd->list[2] = accelerator(0xc5, 0);
    for (unsigned i = 1; i <= 2; i++) {
      machine.amd->list[i].energy = UINT64_MAX;
      machine.amd->list[i].current_w = UNTOLD;
      machine.amd->list[i].code = fails ? 2 : 0;
    }
    machine.amd->list[0].energy = 1;
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, last, 1), METER_OK);
    expect_text(meter.name, "energy accumulator and current socket power; the watts of a "
                            "socket, shared by its 2 partitions");
    struct meter_reading reading;
    assert_int_equal(meter_read(&meter, &reading), METER_OK);
    expect_near(reading.watts, 700, 1e-12, "the socket's");
    meter_close(&meter);
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, alone, 1), METER_ABSENT);
    expect_text(meter.name,
                fails ? "amd-smi: failed (2)" : "0000:c5:00.0 reports neither energy nor power");
    end(&machine);
  }
}

// The library is started once for the process: the first user to close it must not end it for the
// other.
static void test_two_users(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter, other;
  struct meter_reading reading;
  start(&machine);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_OK);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &other, first, 1), METER_OK);
  meter_close(&other);
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  meter_close(&meter);
  end(&machine);
}

static void test_two_sockets(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  static const char *const two[] = {"0000:c1:00.0", "0000:46:00.0"};
  start(&machine);
  machine.amd->count = 2;
  machine.amd->list[1] = accelerator(0x46, 0);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, two, 2), METER_OK);
  expect_text(meter.name, ", 2 sockets: ");
  expect_near(measure(&machine, &meter, 6).power_w, 1400, 1e-6, "both");
  meter_close(&meter);
  end(&machine);
}

// Two modules of two dies each, at the addresses of a node; every second die reads 0.
static void make_dies(struct machine *machine) {
  static const unsigned buses[] = {0xce, 0xc1, 0xc9, 0xc6}; // listed in any order
  machine->amd->count = 4;
  for (size_t i = 0; i < 4; i++) {
    struct fake_accelerator *die = &machine->amd->list[i];
    *die = accelerator(buses[i], 0);
    die->current_w = UNTOLD;
    die->average_w = 500;
    if (buses[i] == 0xc6 || buses[i] == 0xce) {
      die->energy = 0;
      die->average_w = 0;
    }
  }
}

static void test_second_dies(void **state) {
  (void)state;
  static const struct {
    const char *devices[4];
    size_t count;
    const char *note;
    double power_w;
  } cases[] = {
      {{"0000:c6:00.0"},
       1,
       "0000:c6:00.0 is a second die: the first, 0000:c1:00.0, covers both",
       500},
      {{"0000:c1:00.0"}, 1, "both dies of the module, whichever is busy", 500},
      {{"0000:ce:00.0"}, 1, "the first, 0000:c9:00.0, covers both", 500},
      {{"0000:c1:00.0", "0000:c6:00.0"}, 2, "the first, 0000:c1:00.0, covers both", 500},
      {{"0000:c1:00.0", "0000:c6:00.0", "0000:c9:00.0", "0000:ce:00.0"}, 4, ", 2 sockets: ", 1000},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct machine machine;
    struct meter meter;
    start(&machine);
    machine.power_w = 500;
    make_dies(&machine);
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, cases[i].devices, cases[i].count),
                     METER_OK);
    expect_text(meter.name, cases[i].note);
    const struct energy_use use = measure(&machine, &meter, 6);
    expect_near(use.power_w, cases[i].power_w, 1e-6, "each module once");
    expect_near(use.sampled_power_w, cases[i].power_w, 1e-6, "integral");
    meter_close(&meter);
    end(&machine);
  }
}

static void test_second_die_without_first(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  machine.amd->list[0].energy = 0;
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_ABSENT);
  expect_text(meter.name, "reads 0, as a second die does, but no first die precedes it");
  end(&machine);
}

// A 32-bit accumulator fills in 94 s at 700 W; one that starts again from any other value was
// reset.
static void test_wrap(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  machine.counter = 4.2e9;
  machine.counter_end = UINT64_C(1) << 32;
  fake_sleep(&machine, 0.1);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_OK);
  expect_near(measure(&machine, &meter, 200).power_w, 700, 1e-6, "over three turns");
  machine.counter = 3e6;
  fake_sleep(&machine, 0.1);
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_text(meter.why, "amd-smi: the energy accumulator went backwards");
  meter_close(&meter);
  end(&machine);
}

static void test_without_counter(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  machine.amd->list[0].without_energy = true;
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_OK);
  assert_string_equal(meter.name, "amd-smi, 1 socket: current socket power integrated, no counter");
  expect_near(measure(&machine, &meter, 6).power_w, 700, 1e-9, "integrated");
  meter_close(&meter);
  end(&machine);
}

// Before gpu_metrics, ROCm SMI reported socket power through separate calls.
static void test_power_calls(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start_with(&machine, "librocm_smi64.so");
  machine.amd->list[0].without_metrics = true;
  machine.amd->list[0].current_w = UNTOLD;
  machine.amd->list[0].average_w = 480;
  assert_int_equal(open_kind(&machine, &meter_rocmsmi, &meter, first, 1), METER_OK);
  expect_text(meter.name, "and average socket power");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.watts, 480, 1e-12, "microwatts");
  meter_close(&meter);
  end(&machine);
}

static void test_refusals(void **state) {
  (void)state;
  static const struct {
    const char *library;
    const struct meter_kind *kind;
    int init_code, code;
    const char *device;
    enum meter_status status;
    const char *why;
  } cases[] = {
      {"libamd_smi.so", &meter_amdsmi, 10, 0, "0000:c1:00.0", METER_FORBIDDEN,
       "none: amd-smi: Permission Denied (10)"},
      {"libamd_smi.so", &meter_amdsmi, 0, 31, "0000:c1:00.0", METER_ABSENT,
       "amd-smi: Device Not found (31)"},
      {"libamd_smi.so", &meter_amdsmi, 0, 0, "0000:c2:00.0", METER_ABSENT,
       "amd-smi: no device at 0000:c2:00.0"},
      {"libamd_smi-old.so", &meter_amdsmi, 0, 0, "0000:c1:00.0", METER_ABSENT,
       "has no amdsmi_get_energy_count: it is too old or too new"},
      {"librocm_smi64.so", &meter_rocmsmi, 4, 0, "0000:c1:00.0", METER_FORBIDDEN,
       "none: rocm-smi: RSMI_STATUS_PERMISSION (4)"},
      {"librocm_smi64.so", &meter_rocmsmi, 0, 3, "0000:c1:00.0", METER_ABSENT,
       "RSMI_STATUS_FILE_ERROR (3)"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct machine machine;
    struct meter meter;
    start_with(&machine, cases[i].library);
    machine.amd->init_code = cases[i].init_code;
    machine.amd->list[0].code = cases[i].code;
    assert_int_equal(open_kind(&machine, cases[i].kind, &meter, &cases[i].device, 1),
                     cases[i].status);
    expect_text(meter.name, cases[i].why);
    end(&machine);
  }
}

static void test_disappears(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, first, 1), METER_OK);
  machine.amd->list[0].code = 31;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_text(meter.why, "amd-smi: Device Not found (31)");
  machine.amd->list[0].code = 0;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  meter_close(&meter);
  end(&machine);
}

// ---- sysfs

static void put(struct machine *machine, const char *file, const char *text) {
  fixture_write(&machine->fixture, machine->tree, file, text);
}

static void put_device(struct machine *machine, const char *pci, const char *vendor,
                       const char *driver, const char *file, const char *value) {
  struct arena *arena = &machine->fixture.arena;
  put(machine, arena_printf(arena, "%s/vendor", pci), vendor);
  put(machine, arena_printf(arena, "%s/hwmon/hwmon5/name", pci), driver);
  put(machine, arena_printf(arena, "%s/hwmon/hwmon5/%s", pci, file), value);
}

static void test_hwmon(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  put_device(&machine, "0000:03:00.0", "0x1002\n", "amdgpu\n", "power1_average", "250000000\n");
  put_device(&machine, "0000:04:00.0", "0x10de\n", "nouveau\n", "power1_input", "9000000\n");
  static const char *const amd[] = {"0000:03:00.0"};
  static const char *const other[] = {"0000:04:00.0"};
  assert_int_equal(open_kind(&machine, &meter_hwmon, &meter, amd, 1), METER_OK);
  assert_string_equal(meter.name,
                      "amdgpu-hwmon, 1 socket: average socket power integrated, no counter");
  expect_near(measure(&machine, &meter, 6).power_w, 250, 1e-9, "microwatts");
  meter_close(&meter);
  put(&machine, "0000:03:00.0/hwmon/hwmon5/power1_input", "260000000\n");
  put(&machine, "0000:03:00.0/hwmon/hwmon5/energy1_input", "1000000\n");
  assert_int_equal(open_kind(&machine, &meter_hwmon, &meter, amd, 1), METER_OK);
  expect_text(meter.name, "energy accumulator and current socket power");
  struct meter_reading reading;
  put(&machine, "0000:03:00.0/hwmon/hwmon5/energy1_input", "3500000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 2.5, 1e-9, "microjoules");
  expect_near(reading.watts, 260, 1e-9, "the momentary one");
  put(&machine, "0000:03:00.0/hwmon/hwmon5/energy1_input", "");
  put(&machine, "0000:03:00.0/hwmon/hwmon5/power1_input", "");
  put(&machine, "0000:03:00.0/hwmon/hwmon5/power1_average", "");
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_text(meter.why, "amdgpu-hwmon: no power in ");
  meter_close(&meter);
  assert_int_equal(open_kind(&machine, &meter_hwmon, &meter, other, 1), METER_ABSENT);
  expect_text(meter.name, "no device at 0000:04:00.0");
  end(&machine);
}

// In order of preference: AMD SMI, ROCm SMI, sysfs. For other vendors none is tried.
static void test_fallbacks(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_average", "250000000\n");
  machine.roots.rocmsmi = "/nonexistent";
  const struct clock *clock = &machine.clock;
  struct arena *arena = &machine.fixture.arena;
  assert_int_equal(meter_open_devices(&meter, first, 1, &machine.roots, clock, arena), METER_OK);
  assert_string_equal(meter.kind->name, "amd-smi");
  meter_close(&meter);
  machine.roots.rocmsmi = fake_library("librocm_smi64.so", arena);
  struct fake_amd *rocm = fake_symbol(machine.roots.rocmsmi, FAKE_AMD);
  *rocm = *machine.amd;
  machine.roots.amdsmi = "/nonexistent";
  assert_int_equal(meter_open_devices(&meter, first, 1, &machine.roots, clock, arena), METER_OK);
  assert_string_equal(meter.kind->name, "rocm-smi");
  meter_close(&meter);
  machine.roots.rocmsmi = "/nonexistent";
  assert_int_equal(meter_open_devices(&meter, first, 1, &machine.roots, clock, arena), METER_OK);
  assert_string_equal(meter.kind->name, "amdgpu-hwmon");
  meter_close(&meter);
  put(&machine, "0000:c1:00.0/vendor", "0x10de\n");
  assert_int_equal(meter_open_devices(&meter, first, 1, &machine.roots, clock, arena),
                   METER_ABSENT);
  expect_text(meter.name, "none: nvml: ");
  assert_null(strstr(meter.name, "amd"));
  end(&machine);
}

// ---- telemetry

static void test_telemetry(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  put(&machine, "amdgpu/version", "6.12.12\n");
  put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_cap", "750000000\n");
  put(&machine, "0000:c1:00.0/hwmon/hwmon5/power1_cap_default", "1000000000\n");
  put(&machine, "0000:c1:00.0/vbios_version", "113-M3000100-103\n");
  struct fake_accelerator *one = &machine.amd->list[0];
  one->cycles = 1000;
  one->power_residency = 50;
  one->pcie_width = one->xgmi_width = 16;
  one->pcie_speed = 320;
  telemetry_open(&telemetry, first[0], &machine.roots, &machine.clock, &machine.fixture.arena);
  assert_string_equal(telemetry.name, "amd-smi");
  assert_string_equal(telemetry.state.driver, "amdgpu 6.12.12");
  assert_string_equal(telemetry.state.vbios, "113-M3000100-103");
  assert_string_equal(telemetry.state.ecc, "enabled");
  assert_string_equal(telemetry.state.partition, "SPX, NPS1");
  expect_near(telemetry.state.power_limit_w, 750, 1e-9, "cap");
  expect_near(telemetry.state.default_power_limit_w, 1000, 1e-9, "default cap");
  expect_near(telemetry.state.other_processes, 2, 0, "processes");
  for (int i = 0; i < 5; i++) {
    telemetry_look(&telemetry);
    fake_sleep(&machine, 1);
    one->cycles += 1000;
    one->power_residency += 250; // a quarter of the time
  }
  telemetry_look(&telemetry);
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  assert_int_equal(sum.looks, 6);
  expect_near(sum.core_clock_hz.median, 2050e6, 1e-12, "mean of the dies that are told");
  expect_near(sum.memory_clock_hz.median, 1300e6, 1e-12, "memory");
  expect_near(sum.core_temperature_c.max, 66, 1e-12, "junction");
  expect_near(sum.memory_temperature_c.max, 58, 1e-12, "memory's");
  assert_int_equal(sum.throttle_count, 1);
  assert_string_equal(sum.throttles[0].reason, "power limit");
  expect_near(sum.throttles[0].seconds, 1.25, 1e-9, "a quarter of 5 s");
  assert_string_equal(sum.links, "PCIe 5 x16, xGMI x16");
  one->xgmi_width = 0;
  one->pcie_speed = UINT16_MAX;
  one->pcie_width = 8;
  telemetry_restart(&telemetry);
  telemetry_look(&telemetry);
  assert_string_equal(telemetry_sum(&telemetry).links, "PCIe x8");
  telemetry_close(&telemetry);
  end(&machine);
}

// Each of several devices reports its own clocks, temperatures, settings and throttling.
static void test_telemetry_of_several(void **state) {
  (void)state;
  struct machine machine;
  struct meter_set set;
  start(&machine);
  machine.roots.powercap = machine.roots.events = "/nonexistent";
  machine.amd->count = 2;
  machine.amd->list[1] = accelerator(0xd1, 0);
  struct fake_accelerator *hot = &machine.amd->list[1];
  hot->core_c = 97;
  hot->memory_mhz = 900;
  hot->cycles = 1000;
  hot->power_residency = 0;
  const struct decode_backend backend = {.name = "hip"};
  const struct device devices[] = {{&backend, 1, {.pci = "0000:d1:00.0"}},
                                   {&backend, 0, {.pci = "0000:c1:00.0"}}};
  meter_set_open(&set, devices, 2, &machine.roots, &machine.clock, &machine.fixture.arena);
  struct energy_watch watch = {.clock = &machine.clock,
                               .meter = &set.device,
                               .host = &set.host,
                               .telemetry = set.telemetry,
                               .telemetry_count = set.telemetry_count,
                               .seconds = 6,
                               .arena = &machine.fixture.arena};
  assert_int_equal(energy_watch_start(&watch), 0);
  do {
    fake_sleep(&machine, 0.1);
    hot->cycles += 100;
    hot->power_residency += 40;
  } while (!energy_watch_is_over(&watch));
  energy_watch_stop(&watch);
  expect_near(watch.use.power_w, 2 * 700, 1e-3, "watts of both");
  assert_int_equal(set.telemetry_count, 2);
  const struct measurement_telemetry *sums =
      telemetry_sums(set.telemetry, set.telemetry_count, &machine.fixture.arena);
  expect_near(sums[0].core_temperature_c.max, 97, 1e-12, "the hot one");
  expect_near(sums[1].core_temperature_c.max, 66, 1e-12, "the other");
  expect_near(sums[0].memory_clock_hz.median, 900e6, 1e-12, "its memory");
  expect_near(sums[1].memory_clock_hz.median, 1300e6, 1e-12, "the other's");
  assert_int_equal(sums[0].throttle_count, 1);
  assert_string_equal(sums[0].throttles[0].reason, "power limit");
  expect_near(sums[0].throttles[0].seconds, 0.4 * sums[0].window_s, 0.02, "of its time");
  assert_int_equal(sums[1].throttle_count, 0);
  meter_set_close(&set);
  end(&machine);
}

// Before MI300 there are bits, whose meanings are in amdgpu_smu.h.
static void test_throttle_bits(void **state) {
  (void)state;
  static const struct {
    int bit;
    const char *reason;
  } cases[] = {{0, "power limit"},
               {16, "current limit"},
               {32, "socket temperature"},
               {36, "socket temperature"},
               {34, "memory temperature"},
               {38, "regulator temperature"},
               {45, "regulator temperature"},
               {47, "processor hot"}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct machine machine;
    struct telemetry telemetry;
    start(&machine);
    machine.amd->list[0].throttle_bits = UINT64_C(1) << cases[i].bit;
    telemetry_open(&telemetry, first[0], &machine.roots, &machine.clock, &machine.fixture.arena);
    telemetry_look(&telemetry);
    fake_sleep(&machine, 2);
    telemetry_look(&telemetry);
    const struct measurement_telemetry sum = telemetry_sum(&telemetry);
    assert_int_equal(sum.throttle_count, 1);
    assert_string_equal(sum.throttles[0].reason, cases[i].reason);
    expect_near(sum.throttles[0].seconds, 2, 1e-9, cases[i].reason);
    telemetry_close(&telemetry);
    end(&machine);
  }
}

static void test_telemetry_of_sysfs(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  machine.roots.amdsmi = machine.roots.rocmsmi = "/nonexistent";
  put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_average", "250000000\n");
  put(&machine, "0000:c1:00.0/hwmon/hwmon5/freq1_input", "1700000000\n");
  put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp1_label", "junction\n");
  put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp1_input", "71000\n");
  put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp2_label", "mem\n");
  put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp2_input", "64000\n");
  put(&machine, "0000:c1:00.0/current_compute_partition", "CPX\n");
  put(&machine, "0000:c1:00.0/current_memory_partition", "NPS4\n");
  telemetry_open(&telemetry, first[0], &machine.roots, &machine.clock, &machine.fixture.arena);
  assert_string_equal(telemetry.name, "amdgpu");
  assert_string_equal(telemetry.state.partition, "CPX, NPS4");
  assert_string_equal(telemetry.state.driver, "amdgpu of the kernel");
  assert_true(isnan(telemetry.state.power_limit_w) && isnan(telemetry.state.other_processes));
  telemetry_look(&telemetry);
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  expect_near(sum.core_clock_hz.median, 1700e6, 1e-12, "sclk");
  assert_true(isnan(sum.memory_clock_hz.median));
  expect_near(sum.core_temperature_c.max, 71, 1e-12, "junction");
  expect_near(sum.memory_temperature_c.max, 64, 1e-12, "memory");
  telemetry_close(&telemetry);
  end(&machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accumulator),
      cmocka_unit_test(test_generations),
      cmocka_unit_test(test_disagreement),
      cmocka_unit_test(test_partitions),
      cmocka_unit_test(test_silent_partition),
      cmocka_unit_test(test_two_users),
      cmocka_unit_test(test_two_sockets),
      cmocka_unit_test(test_second_dies),
      cmocka_unit_test(test_second_die_without_first),
      cmocka_unit_test(test_wrap),
      cmocka_unit_test(test_without_counter),
      cmocka_unit_test(test_power_calls),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_disappears),
      cmocka_unit_test(test_hwmon),
      cmocka_unit_test(test_fallbacks),
      cmocka_unit_test(test_telemetry),
      cmocka_unit_test(test_telemetry_of_several),
      cmocka_unit_test(test_throttle_bits),
      cmocka_unit_test(test_telemetry_of_sysfs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
