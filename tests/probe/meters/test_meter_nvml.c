// The NVML meter and telemetry, with a fake libnvidia-ml and a fake clock.
#include "base/clock.h"
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/stand_ins/fake/load.h"

#include "probe/measure/energy.h"
#include "probe/measure/meter_set.h"
#include "probe/meters/kinds.h"
#include "probe/meters/telemetry.h"

#include <math.h>
#include <string.h>

struct machine {
  struct fixture fixture;
  struct clock clock;
  struct meter_roots roots;
  struct fake_nvml *nvml;
  double now_s;
  double power_w;           // the true draw of each GPU
  double momentary_share;   // the share of it that the momentary sensor shows
  double loses_gpu_s;       // when the first falls off the bus
  double stands_s, moves_s; // between these the counters stand still
  double used_j;            // by each
};

static const char *const both[] = {"0000:17:00.0", "0000:65:00.0"};

static double fake_now(void *context) {
  return ((struct machine *)context)->now_s;
}

// The counters advance in whole refreshes of 100 ms, like the driver's.
static void fake_sleep(void *context, double seconds) {
  struct machine *machine = context;
  machine->now_s += seconds;
  if (machine->now_s < machine->stands_s || machine->now_s > machine->moves_s)
    machine->used_j += machine->power_w * seconds;
  const double refreshed_j = machine->used_j - fmod(machine->used_j, 0.1 * machine->power_w);
  for (unsigned i = 0; i < machine->nvml->count; i++) {
    struct fake_gpu *gpu = &machine->nvml->gpus[i];
    gpu->energy_mj = 1000000ull * (i + 1) + (unsigned long long)(1000 * refreshed_j);
    gpu->power_w = machine->momentary_share * machine->power_w;
  }
  if (machine->now_s >= machine->loses_gpu_s)
    machine->nvml->gpus[0].code = 15;
}

static void start_with(struct machine *machine, const char *library) {
  *machine = (struct machine){.power_w = 300, .momentary_share = 1, .loses_gpu_s = INFINITY};
  machine->stands_s = machine->moves_s = INFINITY;
  fixture_start(&machine->fixture);
  machine->clock = (struct clock){fake_now, fake_sleep, machine};
  machine->roots = (struct meter_roots){.pci = "/nonexistent"};
  machine->roots.nvml = fake_library(library, &machine->fixture.arena);
  machine->roots.amdsmi = machine->roots.rocmsmi = "/nonexistent";
  machine->nvml = fake_symbol(machine->roots.nvml, FAKE_NVML);
  *machine->nvml = (struct fake_nvml){.count = 2};
  for (unsigned i = 0; i < 2; i++)
    machine->nvml->gpus[i] = (struct fake_gpu){.pci = both[i],
                                               .core_mhz = 1980,
                                               .memory_mhz = 3201,
                                               .core_c = 61,
                                               .memory_c = 70,
                                               .processes = 1};
  fake_sleep(machine, 1);
}

static void start(struct machine *machine) {
  start_with(machine, "libnvidia-ml.so");
}

// Whatever happened, every initialization was matched by a shutdown.
static void end(struct machine *machine) {
  assert_int_equal(machine->nvml->inits, 0);
  fixture_end(&machine->fixture);
}

static enum meter_status open_meter(struct machine *machine, struct meter *meter, size_t count) {
  return meter_open_device_kind(meter, &meter_nvml, both, count, &machine->roots, &machine->clock,
                                &machine->fixture.arena);
}

static struct energy_use measure(struct machine *machine, struct meter *meter, double seconds) {
  struct energy_window window;
  struct energy_use use = energy_unknown;
  if (energy_start(&window, meter, &machine->fixture.arena) != METER_OK)
    return use;
  const double end_s = machine->now_s + seconds;
  while (machine->now_s < end_s) {
    fake_sleep(machine, 0.1);
    if (energy_sample(&window) != METER_OK)
      return use;
  }
  return energy_stop(&window);
}

// ---- what it provides

static void test_one(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
  assert_string_equal(meter.name, "nvml, 1 GPU: total energy and instant power");
  const struct energy_use use = measure(&machine, &meter, 10);
  expect_near(use.power_w, 300, 1e-4, "counter");
  expect_near(use.sampled_power_w, 300, 1e-4, "field 186");
  assert_false(use.inconsistent || use.unsettled);
  meter_close(&meter);
  end(&machine);
}

static void test_two_are_summed(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  assert_int_equal(open_meter(&machine, &meter, 2), METER_OK);
  expect_near(measure(&machine, &meter, 6).power_w, 600, 1e-4, "both");
  meter_close(&meter);
  end(&machine);
}

static void test_one_named_twice(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  static const char *const twice[] = {"0000:17:00.0", "0000:17:00.0"};
  start(&machine);
  assert_int_equal(meter_open_device_kind(&meter, &meter_nvml, twice, 2, &machine.roots,
                                          &machine.clock, &machine.fixture.arena),
                   METER_OK);
  expect_near(measure(&machine, &meter, 6).power_w, 300, 1e-4, "counted once");
  meter_close(&meter);
  end(&machine);
}

// The second in PCI order is requested, and no other counts.
static void test_matched_by_address(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  machine.nvml->gpus[0].code = 15;
  assert_int_equal(meter_open_devices(&meter, &both[1], 1, &machine.roots, &machine.clock,
                                      &machine.fixture.arena),
                   METER_OK);
  expect_near(measure(&machine, &meter, 6).power_w, 300, 1e-4, "the second");
  meter_close(&meter);
  end(&machine);
}

static void test_module_scope(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  machine.nvml->gpus[0].module_w = 520;
  assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
  expect_fragment(meter.name, "of the GPU alone, with its module's power recorded separately");
  const struct energy_use use = measure(&machine, &meter, 6);
  expect_near(use.power_w, 300, 1e-4, "the GPU's is used");
  expect_near(use.module_power_w, 520, 1e-4, "the module's is kept");
  meter_close(&meter);
  end(&machine);
}

static void test_disagreement(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  machine.momentary_share = 1.1;
  fake_sleep(&machine, 0.1);
  assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
  const struct energy_use use = measure(&machine, &meter, 6);
  expect_near(use.power_w, 300, 1e-4, "counter");
  expect_near(use.sampled_power_w, 330, 1e-4, "integral");
  assert_true(use.inconsistent);
  meter_close(&meter);
  end(&machine);
}

static void test_counter_gap(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
  machine.stands_s = machine.now_s + 2;
  machine.moves_s = machine.now_s + 3;
  const struct energy_use use = measure(&machine, &meter, 6);
  expect_near(use.power_w, 250, 0.02, "a sixth is lost");
  assert_true(use.inconsistent);
  meter_close(&meter);
  end(&machine);
}

static void test_counter_stands_still(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
  machine.stands_s = machine.now_s + 2;
  const struct energy_use use = measure(&machine, &meter, 6);
  assert_true(isnan(use.power_w));
  expect_fragment(meter.why, "nvml: the counter did not change for 1 s");
  meter_close(&meter);
  end(&machine);
}

static void test_instant_power_alone(void **state) {
  (void)state;
  static const char *const libraries[] = {"libnvidia-ml-old.so", "libnvidia-ml.so"};
  for (size_t i = 0; i < 2; i++) {
    struct machine machine;
    struct meter meter;
    start_with(&machine, libraries[i]);
    machine.nvml->gpus[0].without_counter = i == 1;
    assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
    assert_string_equal(meter.name, "nvml, 1 GPU: instant power integrated, no counter");
    const struct energy_use use = measure(&machine, &meter, 6);
    expect_near(use.power_w, 300, 1e-4, "integrated");
    assert_true(isnan(use.sampled_power_w));
    meter_close(&meter);
    end(&machine);
  }
}

// ---- what it must not provide

static const struct {
  const char *name;
  unsigned init_code, gpu_code;
  bool is_split, gives_nothing;
  enum meter_status status;
  const char *why;
} refusals[] = {
    {"no driver", 9, 0, false, false, METER_ABSENT, "none: nvml: Driver Not Loaded"},
    {"not this user's", 4, 0, false, false, METER_FORBIDDEN, "none: nvml: Insufficient Perm"},
    {"not this device", 0, 4, false, false, METER_FORBIDDEN, "0000:17:00.0: Insufficient Perm"},
    {"fallen off the bus", 0, 15, false, false, METER_ABSENT, "0000:17:00.0: GPU is lost"},
    {"MIG", 0, 0, true, false, METER_ABSENT, "is split by MIG: its instances share"},
    {"no sensor", 0, 0, false, true, METER_ABSENT, "reports neither energy nor power"},
};

static void test_refusals(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof refusals / sizeof refusals[0]; i++) {
    struct machine machine;
    struct meter meter;
    start(&machine);
    machine.nvml->init_code = (int)refusals[i].init_code;
    machine.nvml->gpus[0].code = (int)refusals[i].gpu_code;
    machine.nvml->gpus[0].is_split = refusals[i].is_split;
    machine.nvml->gpus[0].without_counter = machine.nvml->gpus[0].without_power =
        refusals[i].gives_nothing;
    assert_int_equal(open_meter(&machine, &meter, 1), refusals[i].status);
    expect_fragment(meter.name, refusals[i].why);
    assert_null(meter.kind);
    end(&machine);
  }
}

static void test_libraries(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start_with(&machine, "libnvidia-ml-useless.so");
  assert_int_equal(open_meter(&machine, &meter, 1), METER_ABSENT);
  expect_fragment(meter.name, "has no nvmlDeviceGetHandleByPciBusId_v2: it is too old or too new");
  machine.roots.nvml = "/nonexistent/libnvidia-ml.so.1";
  assert_int_equal(open_meter(&machine, &meter, 1), METER_ABSENT);
  expect_fragment(meter.name, "none: nvml: /nonexistent/libnvidia-ml.so.1: cannot open");
  end(&machine);
}

// The reason of every kind of meter is reported; a device without an address matches none.
static void test_no_meter_at_all(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  static const char *const nowhere[] = {""};
  start(&machine);
  machine.nvml->gpus[0].is_split = true;
  assert_int_equal(
      meter_open_devices(&meter, both, 1, &machine.roots, &machine.clock, &machine.fixture.arena),
      METER_ABSENT);
  expect_fragment(meter.name, "none: nvml: 0000:17:00.0 is split by MIG");
  expect_fragment(meter.name, "; amd-smi: ");
  assert_int_equal(meter_open_devices(&meter, nowhere, 1, &machine.roots, &machine.clock,
                                      &machine.fixture.arena),
                   METER_ABSENT);
  expect_fragment(meter.name, "without a PCI address");
  struct meter_reading reading;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  end(&machine);
}

static void test_disappears(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  start(&machine);
  assert_int_equal(open_meter(&machine, &meter, 2), METER_OK);
  machine.loses_gpu_s = machine.now_s + 3;
  const struct energy_use use = measure(&machine, &meter, 8);
  assert_true(isnan(use.power_w) && isnan(use.sampled_power_w));
  expect_fragment(meter.why, "nvml: 0000:17:00.0: GPU is lost");
  meter_close(&meter);
  end(&machine);
}

// The counter has 64 bits: it goes backwards only if the driver was reloaded.
static void test_backwards(void **state) {
  (void)state;
  struct machine machine;
  struct meter meter;
  struct meter_reading reading;
  start(&machine);
  assert_int_equal(open_meter(&machine, &meter, 1), METER_OK);
  machine.nvml->gpus[0].energy_mj = 17;
  assert_int_equal(meter_read(&meter, &reading), METER_LOST);
  expect_fragment(meter.why, "the energy counter went backwards");
  meter_close(&meter);
  end(&machine);
}

// ---- telemetry

static void test_telemetry(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  struct fake_gpu *gpu = &machine.nvml->gpus[0];
  gpu->processes = 3; // this one and two more
  gpu->power_cap_ns = 5000000000ull;
  telemetry_open(&telemetry, both[0], &machine.roots, &machine.clock, &machine.fixture.arena);
  assert_string_equal(telemetry.name, "nvml");
  assert_string_equal(telemetry.state.driver, "580.95.05");
  assert_string_equal(telemetry.state.vbios, "96.00.A5.00.01");
  assert_string_equal(telemetry.state.ecc, "enabled");
  assert_string_equal(telemetry.state.partition, "whole");
  expect_near(telemetry.state.power_limit_w, 650, 1e-9, "limit");
  expect_near(telemetry.state.default_power_limit_w, 700, 1e-9, "default limit");
  expect_near(telemetry.state.other_processes, 2, 0, "others");
  static const unsigned clocks_mhz[] = {1980, 1755, 1900, 1905, 1980};
  for (size_t i = 0; i < 5; i++) {
    gpu->core_mhz = clocks_mhz[i];
    gpu->core_c = 60 + (unsigned)i;
    gpu->reasons = i >= 3 ? 0x08 : 0; // hardware slowdown, seen by the last two
    gpu->pcie_generation = i ? 5 : 1; // it was idle
    gpu->pcie_width = 16;
    gpu->nvlinks = 17;
    gpu->power_cap_ns += 100000000;
    fake_sleep(&machine, 0.5);
    telemetry_look(&telemetry);
  }
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  assert_string_equal(sum.source, "nvml");
  assert_int_equal(sum.looks, 5);
  expect_near(sum.window_s, 2, 1e-9, "window");
  expect_near(sum.core_clock_hz.min, 1755e6, 1e-12, "slowest");
  expect_near(sum.core_clock_hz.median, 1905e6, 1e-12, "median");
  expect_near(sum.core_clock_hz.max, 1980e6, 1e-12, "fastest");
  expect_near(sum.memory_clock_hz.median, 3201e6, 1e-12, "memory");
  expect_near(sum.core_temperature_c.max, 64, 1e-12, "hottest");
  expect_near(sum.memory_temperature_c.min, 70, 1e-12, "memory's");
  assert_int_equal(sum.throttle_count, 2);
  assert_string_equal(sum.throttles[0].reason, "software power cap");
  expect_near(sum.throttles[0].seconds, 0.4, 1e-6, "by the counter of nanoseconds");
  assert_string_equal(sum.throttles[1].reason, "hardware slowdown");
  expect_near(sum.throttles[1].seconds, 1, 1e-9, "by what the looks saw");
  assert_string_equal(sum.links, "PCIe 5 x16, 17 NVLinks");
  gpu->nvlinks = 0;
  telemetry_restart(&telemetry);
  telemetry_look(&telemetry);
  assert_string_equal(telemetry_sum(&telemetry).links, "PCIe 5 x16");
  gpu->pcie_width = 0;
  telemetry_restart(&telemetry);
  telemetry_look(&telemetry);
  assert_string_equal(telemetry_sum(&telemetry).links, "");
  telemetry_close(&telemetry);
  end(&machine);
}

static void test_telemetry_lost(void **state) {
  (void)state;
  struct machine machine;
  struct telemetry telemetry;
  start(&machine);
  machine.nvml->gpus[0].is_split = true;
  telemetry_open(&telemetry, both[0], &machine.roots, &machine.clock, &machine.fixture.arena);
  assert_string_equal(telemetry.state.partition, "MIG");
  telemetry_look(&telemetry);
  machine.nvml->gpus[0].code = 15;
  telemetry_look(&telemetry);
  telemetry_look(&telemetry);
  const struct measurement_telemetry sum = telemetry_sum(&telemetry);
  assert_string_equal(sum.source, "lost: nvml: 0000:17:00.0: GPU is lost");
  assert_int_equal(sum.looks, 1);
  telemetry_close(&telemetry);
  telemetry_open(&telemetry, "0000:99:00.0", &machine.roots, &machine.clock,
                 &machine.fixture.arena);
  expect_fragment(telemetry.name, "none: nvml: 0000:99:00.0: Not Found");
  assert_int_equal(telemetry_sum(&telemetry).looks, 0);
  telemetry_close(&telemetry);
  end(&machine);
}

// ---- what a device is watched by

static void test_set_of_a_gpu(void **state) {
  (void)state;
  struct machine machine;
  struct meter_set set;
  start(&machine);
  machine.roots.powercap = machine.roots.events = "/nonexistent";
  const struct decode_backend backend = {.name = "cuda"};
  struct device device = {&backend, 1, {.pci = "0000:65:00.0"}};
  meter_set_open(&set, &device, 1, &machine.roots, NULL, &machine.clock, &machine.fixture.arena);
  assert_string_equal(set.device.kind->name, "nvml");
  assert_string_equal(set.telemetry[0].name, "nvml");
  assert_string_equal(set.telemetry[0].device, "0000:65:00.0");
  assert_null(set.host.kind);
  expect_fragment(set.host.name, "none: rapl-powercap: /nonexistent");
  meter_set_close(&set);
  assert_int_equal(machine.nvml->inits, 0);
  device.described.pci[0] = 0;
  meter_set_open(&set, &device, 1, &machine.roots, NULL, &machine.clock, &machine.fixture.arena);
  expect_fragment(set.device.name, "none: a device without a PCI address");
  expect_fragment(set.telemetry[0].name, "none: a device without a PCI address");
  meter_set_close(&set);
  end(&machine);
}

// A CPU uses the machine's meter, and no GPU is queried.
static void test_set_of_a_cpu(void **state) {
  (void)state;
  struct machine machine;
  struct meter_set set;
  start(&machine);
  machine.roots.powercap = machine.roots.events = machine.roots.cpu = "/nonexistent";
  const struct decode_backend backend = {.name = "cpu"};
  const struct device device = {&backend, 0, {.pci = ""}};
  meter_set_open(&set, &device, 1, &machine.roots, NULL, &machine.clock, &machine.fixture.arena);
  expect_fragment(set.device.name, "none: rapl-powercap: /nonexistent");
  assert_null(set.host.kind);
  assert_string_equal(set.host.name, "");
  expect_fragment(set.telemetry[0].name, "none: the kernel exposes neither");
  meter_set_close(&set);
  end(&machine);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_one),
      cmocka_unit_test(test_two_are_summed),
      cmocka_unit_test(test_one_named_twice),
      cmocka_unit_test(test_matched_by_address),
      cmocka_unit_test(test_module_scope),
      cmocka_unit_test(test_disagreement),
      cmocka_unit_test(test_counter_gap),
      cmocka_unit_test(test_counter_stands_still),
      cmocka_unit_test(test_instant_power_alone),
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_libraries),
      cmocka_unit_test(test_no_meter_at_all),
      cmocka_unit_test(test_disappears),
      cmocka_unit_test(test_backwards),
      cmocka_unit_test(test_telemetry),
      cmocka_unit_test(test_telemetry_lost),
      cmocka_unit_test(test_set_of_a_gpu),
      cmocka_unit_test(test_set_of_a_cpu),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
