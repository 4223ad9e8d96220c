// This host's power as a series: with a fake libnvidia-ml, in real time, and what `pertoken probe
// meter` writes of it.
#include "base/arena.h"
#include "base/diagnostics.h"
#include "model/telemetry/power_formats.h"
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/stand_ins/fake/load.h"
#include "tests/stand_ins/fake/nvml_host.h"
#include "tests/support/amd_machine.h"
#include "tests/support/fixture.h"

#include "base/clock.h"
#include "model/telemetry/power_read.h"
#include "model/telemetry/power_series.h"
#include "probe/commands/metering.h"
#include "probe/measure/power_log.h"
#include "probe/meters/accelerators.h"
#include "probe/meters/meter.h"

#include <cmocka.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

struct machine {
  struct fixture fixture;
  struct meter_roots roots;
  struct fake_nvml *nvml;
  char folder[64];
};

static void plug(struct machine *machine, const char *address, const char *class_code,
                 const char *vendor) {
  nvml_host_plug(&machine->fixture, machine->folder, address, class_code, vendor);
}

// Two GPUs at 300 W, an audio function of one, a network card, and an AMD part in two partitions.
static int start(void **state) {
  static struct machine machine;
  machine = (struct machine){.folder = "/tmp/pertoken-power-XXXXXX"};
  fixture_start(&machine.fixture);
  assert_non_null(mkdtemp(machine.folder));
  plug(&machine, "0000:65:00.0", "0x030200", "0x10de");
  plug(&machine, "0000:17:00.0", "0x030200", "0x10de");
  plug(&machine, "0000:17:00.1", "0x040300", "0x10de");
  plug(&machine, "0000:18:00.0", "0x020000", "0x15b3");
  machine.roots = nvml_host_roots(machine.folder, &machine.fixture.arena);
  machine.nvml = fake_symbol(machine.roots.nvml, FAKE_NVML);
  *machine.nvml = (struct fake_nvml){.count = 2};
  machine.nvml->gpus[0] = (struct fake_gpu){.pci = "0000:17:00.0", .power_w = 300};
  machine.nvml->gpus[1] = (struct fake_gpu){.pci = "0000:65:00.0", .power_w = 400};
  *state = &machine;
  return 0;
}

static int end(void **state) {
  struct machine *machine = *state;
  const char *command = arena_printf(&machine->fixture.arena, "rm -rf '%s'", machine->folder);
  assert_int_equal(system(command), 0);
  fixture_end(&machine->fixture);
  return 0;
}

enum { TRIES = 3 };
static const double most_still_s = 0.02; // for watts over 0.8 s to within 5 %

static struct power_log_request request_of(const struct machine *machine, const char *devices) {
  return (struct power_log_request){devices, 0.02, &machine->roots, &machine_clock};
}

// From here on, the energy counters of the fake GPUs run in real time, for that long. Returns the
// longest time that they stood still.
static double draw(struct machine *machine, double seconds) {
  const double begun_s = clock_now(&machine_clock);
  double still_s = 0, before_s = begun_s, now_s = begun_s;
  for (; now_s < begun_s + seconds; now_s = clock_now(&machine_clock)) {
    still_s = fmax(still_s, now_s - before_s);
    before_s = now_s;
    for (size_t i = 0; i < 2; i++)
      machine->nvml->gpus[i].energy_mj =
          (unsigned long long)(1e3 * now_s * machine->nvml->gpus[i].power_w);
    clock_sleep(&machine_clock, 0.005);
  }
  return fmax(still_s, now_s - before_s);
}

static void test_accelerators_are_found(void **state) {
  struct machine *machine = *state;
  size_t count;
  plug(machine, "0000:03:00.0", "0x120000", "0x1002");
  plug(machine, "0000:03:00.1", "0x120000", "0x1002");
  fixture_write(&machine->fixture, machine->folder, "0000:03:00.0/unique_id", "abcd\n");
  const struct accelerator_found *found =
      accelerators_find(&machine->roots, &count, &machine->fixture.arena);
  assert_int_equal(count, 3);
  assert_string_equal(found[0].pci, "0000:03:00.0");
  assert_string_equal(found[0].uuid, "abcd");
  assert_string_equal(found[1].pci, "0000:17:00.0");
  assert_string_equal(found[1].uuid, "GPU-of-0000:17:00.0");
}

// The power by the counters over 0.8 s of a log. False: they stood still for too long to judge.
static bool counters_are_read(struct machine *machine) {
  struct arena *arena = &machine->fixture.arena;
  const struct power_log_request request = request_of(machine, "all");
  struct power_log *log;
  assert_null(power_log_start(&request, &log, arena));
  expect_fragment(power_log_meters(log), "GPU-of-0000:17:00.0 (0000:17:00.0): nvml, 1 GPU");
  const double from_s = power_log_utc(log, clock_now(&machine_clock)) + 0.2;
  const bool kept = draw(machine, 1.2) < most_still_s;
  const struct power_series series = power_log_series(log, arena);
  expect_near(power_log_watts(log), 700, 1e-9, "the newest watts");
  assert_string_equal(power_log_trouble(log, arena), "");
  power_log_stop(log);
  assert_int_equal(series.count, 2);
  assert_true(fabs(from_s - (double)time(NULL)) < 5);
  struct power_use use;
  const char *why = power_series_use(&series, from_s, from_s + 0.8, &use, arena);
  expect_why("a second", why ? why : "well", "well");
  assert_string_equal(use.method, "energy counters");
  if (!kept && fabs(use.power_w - 700) > 0.05 * 700)
    return false;
  expect_near(use.power_w, 700, 0.05, "the counters' watts");
  return true;
}

static void test_all_devices_are_read(void **state) {
  for (int i = 0; i < TRIES; i++)
    if (counters_are_read(*state))
      return;
  skip(); // other processes use the processors
}

static void test_devices_are_named(void **state) {
  struct machine *machine = *state;
  struct arena *arena = &machine->fixture.arena;
  const struct {
    const char *devices, *why;
  } cases[] = {{"2", "no device '2' among the 2 accelerators"},
               {"0,GPU-of-0000:17:00.0", "named twice"},
               {"", "no device ''"},
               {"cpu", "no meter of CPU packages"}};
  struct power_log *log;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct power_log_request request = request_of(machine, cases[i].devices);
    expect_why(cases[i].devices, power_log_start(&request, &log, arena), cases[i].why);
    assert_null(log);
  }
  const struct power_log_request request = request_of(machine, "1");
  assert_null(power_log_start(&request, &log, arena));
  draw(machine, 0.1);
  const struct power_series series = power_log_series(log, arena);
  power_log_stop(log);
  assert_int_equal(series.count, 1);
  assert_true(series.tracks[0].power_w[0] == 400);
  assert_string_equal(series.tracks[0].index, "1"); // of the machine, not of the log
}

// A GPU that falls off the bus: its track ends, and nothing is invented.
static void test_a_device_is_lost(void **state) {
  struct machine *machine = *state;
  struct arena *arena = &machine->fixture.arena;
  const struct power_log_request request = request_of(machine, "all");
  struct power_log *log;
  assert_null(power_log_start(&request, &log, arena));
  draw(machine, 0.2);
  machine->nvml->gpus[0].code = 15;
  draw(machine, 0.2);
  const struct power_series series = power_log_series(log, arena);
  expect_fragment(power_log_trouble(log, arena), "GPU-of-0000:17:00.0: nvml");
  power_log_stop(log);
  const struct power_track *lost = &series.tracks[0], *other = &series.tracks[1];
  assert_true(lost->time_s[lost->count - 1] + 0.05 < other->time_s[other->count - 1]);
}

// ---- the command

static struct metering metering_of(const struct machine *machine, const char *path,
                                   const volatile sig_atomic_t *stop) {
  return (struct metering){.seconds = 1,
                           .devices = "all",
                           .path = path,
                           .roots = &machine->roots,
                           .clock = &machine_clock,
                           .stop = stop};
}

static void test_what_is_written_is_read(void **state) {
  struct machine *machine = *state;
  struct arena *arena = &machine->fixture.arena;
  struct diagnostics *diagnostics = &machine->fixture.diagnostics;
  const char *path = arena_printf(arena, "%s/watts.json", machine->folder);
  volatile sig_atomic_t stop = 0;
  const struct metering metering = metering_of(machine, path, &stop);
  FILE *out = tmpfile();
  assert_int_equal(metering_run(&metering, out, arena, diagnostics), 0);
  fclose(out);
  const struct power_series *series =
      power_read(path, &power_read_nothing_said, arena, diagnostics);
  expect_error(&machine->fixture, path, "");
  assert_int_equal(series->count, 2);
  assert_true(series->tracks[0].count >= 4 && series->tracks[1].power_w[0] == 400);
  assert_true(!isnan(series->clock.utc_minus_monotonic_s) && *series->host);
}

static void test_a_stop_keeps_what_was_read(void **state) {
  struct machine *machine = *state;
  struct arena *arena = &machine->fixture.arena;
  struct diagnostics *diagnostics = &machine->fixture.diagnostics;
  const char *path = arena_printf(arena, "%s/watts.json", machine->folder);
  volatile sig_atomic_t stop = SIGINT;
  struct metering metering = metering_of(machine, path, &stop);
  metering.seconds = 60;
  FILE *out = tmpfile();
  const int result = metering_run(&metering, out, arena, diagnostics);
  fclose(out);
  // Stopped immediately: a reading was either taken, and is in the file, or not.
  if (result)
    expect_error(&machine->fixture, path, "nothing was read");
  else
    assert_non_null(power_read(path, &power_read_nothing_said, arena, diagnostics));
}

// Before anything is read: of two errors it is the output's.
static void test_output_is_tried_first(void **state) {
  struct machine *machine = *state;
  struct arena *arena = &machine->fixture.arena;
  const char *path = arena_printf(arena, "%s/none/watts.json", machine->folder);
  volatile sig_atomic_t stop = 0;
  struct metering metering = metering_of(machine, path, &stop);
  metering.devices = "no such device";
  assert_int_equal(metering_run(&metering, stdout, arena, &machine->fixture.diagnostics), -1);
  assert_int_equal(machine->fixture.diagnostics.errors, 1);
  expect_error(&machine->fixture, path, "cannot write");
  assert_true(machine->fixture.diagnostics.machine_failed);
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, start, end)

// The two dies of an MI250X, of which the first's watts are the module's.
static void test_module_counts_once(void **state) {
  (void)state;
  static const unsigned buses[] = {0xc1, 0xc6};
  static const char *const chosen[] = {"all", "0000:c6:00.0,0000:c1:00.0", "0000:c6:00.0"};
  for (size_t c = 0; c < sizeof chosen / sizeof chosen[0]; c++) {
    struct amd_machine machine;
    struct power_log *log;
    amd_start(&machine);
    struct arena *arena = &machine.fixture.arena;
    machine.amd->count = 2;
    for (int i = 0; i < 2; i++) {
      struct fake_accelerator *die = &machine.amd->list[i];
      *die = amd_accelerator(buses[i], 0);
      die->current_w = AMD_UNTOLD;
      die->average_w = i ? 0 : 500;
      die->energy = i ? 0 : 1000;
      amd_put(&machine, arena_printf(arena, "0000:%02x:00.0/vendor", buses[i]), "0x1002\n");
      amd_put(&machine, arena_printf(arena, "0000:%02x:00.0/class", buses[i]), "0x038000\n");
    }
    machine.roots.powercap = machine.roots.events = "/nonexistent";
    const struct power_log_request request = {chosen[c], 0.02, &machine.roots, &machine_clock};
    assert_null(power_log_start(&request, &log, arena));
    clock_sleep(&machine_clock, 0.3);
    expect_near(power_log_watts(log), 500, 1e-9, "the module");
    assert_int_equal(power_log_series(log, arena).count, 1);
    power_log_stop(log);
    amd_end(&machine);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(test_accelerators_are_found),  EACH(test_all_devices_are_read),
      EACH(test_devices_are_named),       EACH(test_a_device_is_lost),
      EACH(test_what_is_written_is_read), EACH(test_a_stop_keeps_what_was_read),
      EACH(test_output_is_tried_first),   cmocka_unit_test(test_module_counts_once),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
