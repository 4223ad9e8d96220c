// AMD's meters: AMD SMI, ROCm SMI and sysfs, with fake libraries, a fake tree and a fake clock.
#include "tests/stand_ins/fake/load.h"
#include "tests/support/amd_machine.h"

#include "probe/measure/energy.h"
#include "probe/measure/meter_set.h"
#include "probe/meters/amd.h"
#include "probe/meters/kinds.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static enum meter_status open_kind(struct amd_machine *machine, const struct meter_kind *kind,
                                   struct meter *meter, const char *const *devices, size_t count) {
  return meter_open_device_kind(meter, kind, devices, count, &machine->roots, &machine->clock,
                                &machine->fixture.arena);
}

static struct energy_use measure(struct amd_machine *machine, struct meter *meter, double seconds) {
  struct energy_window window;
  if (energy_start(&window, meter, &machine->fixture.arena) != METER_OK)
    return energy_unknown;
  const double end_s = machine->now_s + seconds;
  while (machine->now_s < end_s) {
    amd_pass(machine, 0.1);
    if (energy_sample(&window) != METER_OK)
      return energy_unknown;
  }
  return energy_stop(&window);
}

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
    struct amd_machine machine;
    struct meter meter;
    amd_start_with(&machine, cases[i].library);
    assert_int_equal(open_kind(&machine, cases[i].kind, &meter, amd_first, 1), METER_OK);
    assert_string_equal(meter.name, cases[i].name);
    const struct energy_use use = measure(&machine, &meter, 6);
    expect_near(use.power_w, 700, 1e-6, "2^-16 J a count");
    expect_near(use.sampled_power_w, 700, 1e-9, "socket power");
    assert_false(use.inconsistent);
    meter_close(&meter);
    amd_end(&machine);
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
      {700, AMD_UNTOLD, "current socket power", 700},
      {AMD_UNTOLD, 650, "average socket power", 650},
      {700, 650, "current socket power", 700},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct amd_machine machine;
    struct meter meter;
    struct meter_reading reading;
    amd_start(&machine);
    machine.amd->list[0].current_w = cases[i].current_w;
    machine.amd->list[0].average_w = cases[i].average_w;
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_OK);
    expect_fragment(meter.name, cases[i].name);
    assert_int_equal(meter_read(&meter, &reading), METER_OK);
    expect_near(reading.watts, cases[i].watts, 1e-12, cases[i].name);
    meter_close(&meter);
    amd_end(&machine);
  }
}

static struct amd_look look_of_version(uint32_t version, bool has_residency) {
  struct amd_machine machine;
  struct amd amd;
  struct amd_look look;
  amd_start(&machine);
  machine.amd->version = version;
  struct fake_accelerator *one = &machine.amd->list[0];
  one->throttle_bits = UINT64_C(1) << 36;
  one->xgmi_width = 16;
  if (has_residency) {
    one->cycles = 1000;
    one->power_residency = 50;
  }
  assert_int_equal(amd_open(&amd, &amd_smi, &machine.roots, &machine.fixture.arena), METER_OK);
  assert_int_equal(amd_look(&amd, 0, &look), 0);
  amd_close(&amd);
  amd_end(&machine);
  return look;
}

// The year 24 is of ROCm 6. Version 27 moved the members of gpu_metrics; where the next has them is
// not known, and its energy is read alone, or along with the kernel's sensors.
static void test_versions(void **state) {
  (void)state;
  static const uint32_t known[] = {24, 26, 27};
  for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
    const struct amd_look look = look_of_version(known[i], true);
    assert_true(look.has_counter && look.is_momentary && look.has_residency);
    expect_near(look.watts, 700, 0, "socket power");
    expect_near(look.core_clock_hz, 2050e6, 1e-12, "core clock");
    expect_near(look.memory_clock_hz, 1300e6, 1e-12, "memory clock");
    expect_near(look.core_temperature_c, 66, 0, "junction");
    expect_near(look.xgmi_width, 16, 0, "lanes");
    assert_int_equal(look.cycles, 1000);
    assert_int_equal(look.residency[1], 50);
    const struct amd_look older = look_of_version(known[i], false);
    assert_true(older.has_bits && older.throttled[2] && !older.throttled[1]);
  }
  const struct amd_look next = look_of_version(28, true);
  assert_true(next.has_counter && !next.has_residency && !next.has_bits);
  assert_true(isnan(next.watts) && isnan(next.core_clock_hz) && isnan(next.core_temperature_c));
}

static void test_kernel_sensors(void **state) {
  (void)state;
  static const char *const files[][2] = {
      {"power1_average", "712000000\n"}, {"freq1_input", "2050000000\n"},
      {"freq2_input", "1300000000\n"},   {"temp1_label", "junction\n"},
      {"temp1_input", "66000\n"},        {"temp2_label", "mem\n"},
      {"temp2_input", "58000\n"}};
  struct amd_machine machine;
  struct amd amd;
  struct amd_look look;
  amd_start(&machine);
  machine.amd->version = 28;
  machine.amd->count = 2;
  machine.amd->list[1] = amd_accelerator(0xc2, 0);
  for (size_t i = 0; i < sizeof files / sizeof files[0]; i++)
    amd_put_device(&machine, "0000:c2:00.0", "0x1002\n", "amdgpu\n", files[i][0], files[i][1]);
  assert_int_equal(amd_open(&amd, &amd_smi, &machine.roots, &machine.fixture.arena), METER_OK);
  assert_int_equal(amd_look(&amd, 0, &look), 0);
  assert_true(look.has_counter && isnan(look.watts) && isnan(look.core_clock_hz));
  assert_int_equal(amd_look(&amd, 1, &look), 0);
  assert_true(look.has_counter && !look.is_momentary && !look.has_bits && !look.has_residency);
  expect_near(look.watts, 712, 1e-12, "microwatts");
  expect_near(look.core_clock_hz, 2050e6, 1e-12, "core clock");
  expect_near(look.memory_clock_hz, 1300e6, 1e-12, "memory clock");
  expect_near(look.core_temperature_c, 66, 1e-12, "junction");
  expect_near(look.memory_temperature_c, 58, 1e-12, "memory");
  amd_close(&amd);
  amd_end(&machine);
}

static void test_disagreement(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  amd_start(&machine);
  machine.amd->list[0].current_w = 630;
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_OK);
  const struct energy_use use = measure(&machine, &meter, 6);
  expect_near(use.power_w, 700, 1e-6, "counter");
  expect_near(use.sampled_power_w, 630, 1e-9, "integral");
  assert_true(use.inconsistent);
  meter_close(&meter);
  amd_end(&machine);
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
    struct amd_machine machine;
    struct meter meter;
    amd_start_with(&machine, cases[i].library);
    machine.amd->count = 8;
    for (unsigned f = 0; f < 8; f++)
      machine.amd->list[f] = amd_accelerator(0xc1, f);
    assert_int_equal(open_kind(&machine, cases[i].kind, &meter, three, 3), METER_OK);
    expect_fragment(meter.name, ", 1 socket: ");
    expect_fragment(meter.name, "shared by its 8 partitions");
    expect_near(measure(&machine, &meter, 6).power_w, 700, 1e-6, "one socket's");
    meter_close(&meter);
    amd_end(&machine);
  }
}

// A partition without readings of its own is covered by its socket's, not by another socket's.
static void test_silent_partition(void **state) {
  (void)state;
  static const char *const last[] = {"0000:c1:00.1"}, *const alone[] = {"0000:c5:00.0"};
  for (int fails = 0; fails <= 1; fails++) {
    struct amd_machine machine;
    struct meter meter;
    amd_start(&machine);
    machine.amd->count = 3;
    machine.amd->list[1] = amd_accelerator(0xc1, 1);
    machine.amd->list[2] = amd_accelerator(0xc5, 0);
    for (unsigned i = 1; i <= 2; i++) {
      machine.amd->list[i].energy = UINT64_MAX;
      machine.amd->list[i].current_w = AMD_UNTOLD;
      machine.amd->list[i].code = fails ? 2 : 0;
    }
    machine.amd->list[0].energy = 1;
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, last, 1), METER_OK);
    expect_fragment(meter.name, "energy accumulator and current socket power; the watts of a "
                                "socket, shared by its 2 partitions");
    struct meter_reading reading;
    assert_int_equal(meter_read(&meter, &reading), METER_OK);
    expect_near(reading.watts, 700, 1e-12, "the socket's");
    meter_close(&meter);
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, alone, 1), METER_ABSENT);
    expect_fragment(meter.name, fails ? "amd-smi: failed (2)"
                                      : "0000:c5:00.0 reports neither energy nor power");
    amd_end(&machine);
  }
}

// The library is started once for the process: the first user to close it must not end it for the
// other.
static void test_two_users(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter, other;
  struct meter_reading reading;
  amd_start(&machine);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_OK);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &other, amd_first, 1), METER_OK);
  meter_close(&other);
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  meter_close(&meter);
  amd_end(&machine);
}

static void test_two_sockets(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  static const char *const two[] = {"0000:c1:00.0", "0000:46:00.0"};
  amd_start(&machine);
  machine.amd->count = 2;
  machine.amd->list[1] = amd_accelerator(0x46, 0);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, two, 2), METER_OK);
  expect_fragment(meter.name, ", 2 sockets: ");
  expect_near(measure(&machine, &meter, 6).power_w, 1400, 1e-6, "both");
  meter_close(&meter);
  amd_end(&machine);
}

// Two modules of two dies each, at the addresses of a node; every second die reads 0.
static void make_dies(struct amd_machine *machine) {
  static const unsigned buses[] = {0xce, 0xc1, 0xc9, 0xc6}; // listed in any order
  machine->amd->count = 4;
  for (size_t i = 0; i < 4; i++) {
    struct fake_accelerator *die = &machine->amd->list[i];
    *die = amd_accelerator(buses[i], 0);
    die->current_w = AMD_UNTOLD;
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
    struct amd_machine machine;
    struct meter meter;
    amd_start(&machine);
    machine.power_w = 500;
    make_dies(&machine);
    assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, cases[i].devices, cases[i].count),
                     METER_OK);
    expect_fragment(meter.name, cases[i].note);
    const struct energy_use use = measure(&machine, &meter, 6);
    expect_near(use.power_w, cases[i].power_w, 1e-6, "each module once");
    expect_near(use.sampled_power_w, cases[i].power_w, 1e-6, "integral");
    meter_close(&meter);
    amd_end(&machine);
  }
}

static void test_second_die_without_first(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  amd_start(&machine);
  machine.amd->list[0].energy = 0;
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_ABSENT);
  expect_fragment(meter.name, "reads 0, as a second die does, but no first die precedes it");
  amd_end(&machine);
}

// A 32-bit accumulator fills in 94 s at 700 W; one that starts again from any other value was
// reset.
static void test_wrap(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  struct meter_reading reading;
  amd_start(&machine);
  machine.counter = 4.2e9;
  machine.counter_end = UINT64_C(1) << 32;
  amd_pass(&machine, 0.1);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_OK);
  expect_near(measure(&machine, &meter, 200).power_w, 700, 1e-6, "over three turns");
  amd_pass(&machine, 90); // almost a turn: to a value that a reset could have left as well
  expect_near(measure(&machine, &meter, 6).power_w, 700, 1e-6, "after a soak");
  machine.counter = 3e6;
  amd_pass(&machine, 0.1);
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "amd-smi: the energy accumulator went backwards");
  meter_close(&meter);
  amd_end(&machine);
}

static void test_without_counter(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  amd_start(&machine);
  machine.amd->list[0].without_energy = true;
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_OK);
  assert_string_equal(meter.name, "amd-smi, 1 socket: current socket power integrated, no counter");
  expect_near(measure(&machine, &meter, 6).power_w, 700, 1e-9, "integrated");
  meter_close(&meter);
  amd_end(&machine);
}

// Before gpu_metrics, ROCm SMI reported socket power through separate calls.
static void test_power_calls(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  struct meter_reading reading;
  amd_start_with(&machine, "librocm_smi64.so");
  machine.amd->list[0].without_metrics = true;
  machine.amd->list[0].current_w = AMD_UNTOLD;
  machine.amd->list[0].average_w = 480;
  assert_int_equal(open_kind(&machine, &meter_rocmsmi, &meter, amd_first, 1), METER_OK);
  expect_fragment(meter.name, "and average socket power");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.watts, 480, 1e-12, "microwatts");
  meter_close(&meter);
  amd_end(&machine);
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
    struct amd_machine machine;
    struct meter meter;
    amd_start_with(&machine, cases[i].library);
    machine.amd->init_code = cases[i].init_code;
    machine.amd->list[0].code = cases[i].code;
    assert_int_equal(open_kind(&machine, cases[i].kind, &meter, &cases[i].device, 1),
                     cases[i].status);
    expect_fragment(meter.name, cases[i].why);
    amd_end(&machine);
  }
}

// ROCM_PATH names ROCm's folder, before any library that the system finds by itself.
static void test_rocm_path(void **state) {
  (void)state;
  static const struct {
    const char *library, *name;
    const struct meter_kind *kind;
  } cases[] = {{"libamd_smi.so", "libamd_smi.so.26", &meter_amdsmi},
               {"librocm_smi64.so", "librocm_smi64.so.7", &meter_rocmsmi}};
  for (size_t i = 0; i < 2; i++) {
    struct amd_machine machine;
    struct meter meter;
    amd_start_with(&machine, cases[i].library);
    const char *real = machine.roots.amdsmi;
    machine.roots.amdsmi = machine.roots.rocmsmi = NULL;
    amd_put(&machine, "lib/README", "");
    assert_int_equal(symlink(real, arena_printf(&machine.fixture.arena, "%s/lib/%s", machine.tree,
                                                cases[i].name)),
                     0);
    setenv("ROCM_PATH", machine.tree, 1);
    const enum meter_status status = open_kind(&machine, cases[i].kind, &meter, amd_first, 1);
    unsetenv("ROCM_PATH");
    if (status != METER_OK)
      fail_msg("%s is not found: %s", cases[i].name, meter.name);
    expect_fragment(meter.name, ", 1 socket: energy accumulator and current socket power");
    meter_close(&meter);
    amd_end(&machine);
  }
}

static void test_disappears(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  struct meter_reading reading;
  amd_start(&machine);
  assert_int_equal(open_kind(&machine, &meter_amdsmi, &meter, amd_first, 1), METER_OK);
  machine.amd->list[0].code = 31;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "amd-smi: Device Not found (31)");
  machine.amd->list[0].code = 0;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  meter_close(&meter);
  amd_end(&machine);
}

// ---- sysfs

static void test_hwmon(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  amd_start(&machine);
  amd_put_device(&machine, "0000:03:00.0", "0x1002\n", "amdgpu\n", "power1_average", "250000000\n");
  amd_put_device(&machine, "0000:04:00.0", "0x10de\n", "nouveau\n", "power1_input", "9000000\n");
  static const char *const amd[] = {"0000:03:00.0"};
  static const char *const other[] = {"0000:04:00.0"};
  assert_int_equal(open_kind(&machine, &meter_hwmon, &meter, amd, 1), METER_OK);
  assert_string_equal(meter.name,
                      "amdgpu-hwmon, 1 socket: average socket power integrated, no counter");
  expect_near(measure(&machine, &meter, 6).power_w, 250, 1e-9, "microwatts");
  meter_close(&meter);
  amd_put(&machine, "0000:03:00.0/hwmon/hwmon5/power1_input", "260000000\n");
  amd_put(&machine, "0000:03:00.0/hwmon/hwmon5/energy1_input", "1000000\n");
  assert_int_equal(open_kind(&machine, &meter_hwmon, &meter, amd, 1), METER_OK);
  expect_fragment(meter.name, "energy accumulator and current socket power");
  struct meter_reading reading;
  amd_put(&machine, "0000:03:00.0/hwmon/hwmon5/energy1_input", "3500000\n");
  assert_int_equal(meter_read(&meter, &reading), METER_OK);
  expect_near(reading.joules, 2.5, 1e-9, "microjoules");
  expect_near(reading.watts, 260, 1e-9, "the momentary one");
  amd_put(&machine, "0000:03:00.0/hwmon/hwmon5/energy1_input", "");
  amd_put(&machine, "0000:03:00.0/hwmon/hwmon5/power1_input", "");
  amd_put(&machine, "0000:03:00.0/hwmon/hwmon5/power1_average", "");
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "amdgpu-hwmon: no power in ");
  meter_close(&meter);
  assert_int_equal(open_kind(&machine, &meter_hwmon, &meter, other, 1), METER_ABSENT);
  expect_fragment(meter.name, "no device at 0000:04:00.0");
  amd_end(&machine);
}

// In order of preference: AMD SMI, ROCm SMI, sysfs. For other vendors none is tried.
static void test_fallbacks(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter meter;
  amd_start(&machine);
  amd_put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_average", "250000000\n");
  machine.roots.rocmsmi = "/nonexistent";
  const struct clock *clock = &machine.clock;
  struct arena *arena = &machine.fixture.arena;
  assert_int_equal(meter_open_devices(&meter, amd_first, 1, &machine.roots, clock, arena),
                   METER_OK);
  assert_string_equal(meter.kind->name, "amd-smi");
  meter_close(&meter);
  machine.roots.rocmsmi = fake_library("librocm_smi64.so", arena);
  struct fake_amd *rocm = fake_symbol(machine.roots.rocmsmi, FAKE_AMD);
  *rocm = *machine.amd;
  machine.roots.amdsmi = "/nonexistent";
  assert_int_equal(meter_open_devices(&meter, amd_first, 1, &machine.roots, clock, arena),
                   METER_OK);
  assert_string_equal(meter.kind->name, "rocm-smi");
  meter_close(&meter);
  machine.roots.rocmsmi = "/nonexistent";
  assert_int_equal(meter_open_devices(&meter, amd_first, 1, &machine.roots, clock, arena),
                   METER_OK);
  assert_string_equal(meter.kind->name, "amdgpu-hwmon");
  meter_close(&meter);
  amd_put(&machine, "0000:c1:00.0/vendor", "0x10de\n");
  assert_int_equal(meter_open_devices(&meter, amd_first, 1, &machine.roots, clock, arena),
                   METER_ABSENT);
  expect_fragment(meter.name, "none: nvml: ");
  assert_null(strstr(meter.name, "amd"));
  amd_end(&machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_accumulator),
      cmocka_unit_test(test_generations),
      cmocka_unit_test(test_versions),
      cmocka_unit_test(test_kernel_sensors),
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
      cmocka_unit_test(test_rocm_path),
      cmocka_unit_test(test_disappears),
      cmocka_unit_test(test_hwmon),
      cmocka_unit_test(test_fallbacks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
