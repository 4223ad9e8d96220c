// Telemetry of AMD's accelerators: AMD SMI's and sysfs's, with a fake library, a fake tree and a
// fake clock.
#include "tests/support/amd_machine.h"

#include "probe/measure/energy_watch.h"
#include "probe/measure/meter_set.h"
#include "probe/meters/telemetry.h"
#include "probe/meters/users.h"

#include <math.h>

static void test_telemetry(void **state) {
  (void)state;
  struct amd_machine machine;
  struct telemetry telemetry;
  amd_start(&machine);
  amd_put(&machine, "amdgpu/version", "6.12.12\n");
  amd_put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_cap", "750000000\n");
  amd_put(&machine, "0000:c1:00.0/hwmon/hwmon5/power1_cap_default", "1000000000\n");
  amd_put(&machine, "0000:c1:00.0/vbios_version", "113-M3000100-103\n");
  struct fake_accelerator *one = &machine.amd->list[0];
  one->cycles = 1000;
  one->power_residency = 50;
  one->pcie_width = one->xgmi_width = 16;
  one->pcie_speed = 320;
  telemetry_open(&telemetry, amd_first[0], &machine.roots, &machine.clock, &machine.fixture.arena);
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
    amd_pass(&machine, 1);
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
  amd_end(&machine);
}

// Each of several devices reports its own clocks, temperatures, settings and throttling.
static void test_telemetry_of_several(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter_set set;
  amd_start(&machine);
  machine.roots.powercap = machine.roots.events = "/nonexistent";
  machine.amd->count = 2;
  machine.amd->list[1] = amd_accelerator(0xd1, 0);
  struct fake_accelerator *hot = &machine.amd->list[1];
  hot->core_c = 97;
  hot->memory_mhz = 900;
  hot->cycles = 1000;
  hot->power_residency = 0;
  const struct decode_backend backend = {.name = "hip"};
  const struct device devices[] = {{&backend, 1, {.pci = "0000:d1:00.0"}},
                                   {&backend, 0, {.pci = "0000:c1:00.0"}}};
  meter_set_open(&set, devices, 2, &machine.roots, NULL, &machine.clock, &machine.fixture.arena);
  struct energy_watch watch = {.clock = &machine.clock,
                               .meter = &set.device,
                               .host = &set.host,
                               .telemetry = set.telemetry,
                               .telemetry_count = set.telemetry_count,
                               .seconds = 6,
                               .arena = &machine.fixture.arena};
  assert_int_equal(energy_watch_start(&watch), 0);
  do {
    amd_pass(&machine, 0.1);
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
  amd_end(&machine);
}

// AMD SMI counts whoever asks, once a device is in use.
static void test_counts_others_only(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter_set set;
  amd_start(&machine);
  machine.roots.powercap = machine.roots.events = "/nonexistent";
  const struct device_users before = device_users_find(&machine.roots, &machine.fixture.arena);
  machine.amd->processes++; // this one
  const struct decode_backend backend = {.name = "hip"};
  const struct device device = {&backend, 0, {.pci = "0000:c1:00.0"}};
  meter_set_open(&set, &device, 1, &machine.roots, &before, &machine.clock, &machine.fixture.arena);
  expect_near(set.telemetry[0].state.other_processes, 2, 0, "others");
  meter_set_close(&set);
  amd_end(&machine);
}

// Up to ROCm 6.1.0 it always counts whoever asks: that an idle device is idle is not known.
static void test_counts_itself(void **state) {
  (void)state;
  struct amd_machine machine;
  struct meter_set set;
  amd_start_with(&machine, "libamd_smi-counts.so");
  machine.roots.powercap = machine.roots.events = "/nonexistent";
  machine.amd->processes = 0;
  const struct device_users users = device_users_find(&machine.roots, &machine.fixture.arena);
  const struct decode_backend backend = {.name = "hip"};
  const struct device device = {&backend, 0, {.pci = "0000:c1:00.0"}};
  meter_set_open(&set, &device, 1, &machine.roots, &users, &machine.clock, &machine.fixture.arena);
  assert_string_equal(set.telemetry[0].state.ecc, "enabled");
  assert_true(isnan(set.telemetry[0].state.other_processes));
  meter_set_close(&set);
  amd_end(&machine);
}

// A partition that refuses or reports nothing is watched through its socket's first, which alone
// has files in sysfs.
static void test_second_partition(void **state) {
  (void)state;
  static const struct {
    int code;
    uint16_t core_mhz, core_c;
    double watched_c;
  } cases[] = {{0, 2100, 61, 61}, {0, AMD_UNTOLD, AMD_UNTOLD, 66}, {2, 2100, 61, 66}};
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct amd_machine machine;
    struct telemetry telemetry;
    amd_start(&machine);
    amd_put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_cap", "750000000\n");
    amd_put(&machine, "0000:c1:00.0/vbios_version", "113-M3000100-103\n");
    machine.amd->count = 3;
    machine.amd->list[1] = amd_accelerator(0xc1, 1);
    machine.amd->list[2] = machine.amd->list[0];
    machine.amd->list[0] = amd_accelerator(0xb1, 0);
    struct fake_accelerator *second = &machine.amd->list[1];
    second->code = cases[i].code;
    second->core_c = cases[i].core_c;
    for (size_t k = 0; k < sizeof second->core_mhz / sizeof second->core_mhz[0]; k++)
      second->core_mhz[k] = cases[i].core_mhz;
    telemetry_open(&telemetry, "0000:c1:00.1", &machine.roots, &machine.clock,
                   &machine.fixture.arena);
    assert_string_equal(telemetry.name, "amd-smi");
    assert_string_equal(telemetry.state.vbios, "113-M3000100-103");
    assert_string_equal(telemetry.state.partition, "SPX, NPS1");
    expect_near(telemetry.state.power_limit_w, 750, 1e-9, "the socket's");
    telemetry_look(&telemetry);
    expect_near(telemetry_sum(&telemetry).core_temperature_c.max, cases[i].watched_c, 1e-12,
                "junction");
    telemetry_close(&telemetry);
    amd_end(&machine);
  }
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
    struct amd_machine machine;
    struct telemetry telemetry;
    amd_start(&machine);
    machine.amd->list[0].throttle_bits = UINT64_C(1) << cases[i].bit;
    telemetry_open(&telemetry, amd_first[0], &machine.roots, &machine.clock,
                   &machine.fixture.arena);
    telemetry_look(&telemetry);
    amd_pass(&machine, 2);
    telemetry_look(&telemetry);
    const struct measurement_telemetry sum = telemetry_sum(&telemetry);
    assert_int_equal(sum.throttle_count, 1);
    assert_string_equal(sum.throttles[0].reason, cases[i].reason);
    expect_near(sum.throttles[0].seconds, 2, 1e-9, cases[i].reason);
    telemetry_close(&telemetry);
    amd_end(&machine);
  }
}

static void test_telemetry_of_sysfs(void **state) {
  (void)state;
  struct amd_machine machine;
  struct telemetry telemetry;
  amd_start(&machine);
  machine.roots.amdsmi = machine.roots.rocmsmi = "/nonexistent";
  amd_put_device(&machine, "0000:c1:00.0", "0x1002\n", "amdgpu\n", "power1_average", "250000000\n");
  amd_put(&machine, "0000:c1:00.0/hwmon/hwmon5/freq1_input", "1700000000\n");
  amd_put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp1_label", "junction\n");
  amd_put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp1_input", "71000\n");
  amd_put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp2_label", "mem\n");
  amd_put(&machine, "0000:c1:00.0/hwmon/hwmon5/temp2_input", "64000\n");
  amd_put(&machine, "0000:c1:00.0/current_compute_partition", "CPX\n");
  amd_put(&machine, "0000:c1:00.0/current_memory_partition", "NPS4\n");
  telemetry_open(&telemetry, amd_first[0], &machine.roots, &machine.clock, &machine.fixture.arena);
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
  amd_end(&machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_telemetry),          cmocka_unit_test(test_telemetry_of_several),
      cmocka_unit_test(test_counts_others_only), cmocka_unit_test(test_counts_itself),
      cmocka_unit_test(test_second_partition),   cmocka_unit_test(test_throttle_bits),
      cmocka_unit_test(test_telemetry_of_sysfs),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
