// Power of a server's loads: this host's own in real time, with a fake libnvidia-ml, and another
// host's from a file. Eighteen seconds, almost all of them waiting.
// Seconds: 19
// Waits: for readings; what it judges of them are counts and bounds.
#include "base/arena.h"
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/stand_ins/fake/load.h"
#include "tests/stand_ins/fake/nvml_host.h"
#include "tests/support/fixture.h"

#include "base/clock.h"
#include "model/records/serving.h"
#include "model/telemetry/clock_state.h"
#include "model/telemetry/power_record.h"
#include "model/telemetry/power_series.h"
#include "model/telemetry/utc.h"
#include "probe/measure/power_log.h"
#include "probe/meters/meter.h"
#include "probe/serving/rung.h"
#include "probe/sessions/serving_watts.h"

#include <cmocka.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

// One GPU, without a counter: a busy machine would let it lag.
struct machine {
  struct fixture fixture;
  struct meter_roots roots;
  struct fake_nvml *nvml;
  char folder[64];
  atomic_int watts;
  atomic_bool is_over;
  pthread_t thread;
};

static void *draw(void *argument) {
  struct machine *machine = argument;
  while (!atomic_load(&machine->is_over)) {
    machine->nvml->gpus[0].power_w = atomic_load(&machine->watts);
    clock_sleep(&machine_clock, 0.005);
  }
  return NULL;
}

static int start(void **state) {
  static struct machine machine;
  memset(&machine, 0, sizeof machine);
  strcpy(machine.folder, "/tmp/pertoken-watts-XXXXXX");
  fixture_start(&machine.fixture);
  assert_non_null(mkdtemp(machine.folder));
  nvml_host_plug(&machine.fixture, machine.folder, "0000:17:00.0", "0x030200", "0x10de");
  machine.roots = nvml_host_roots(machine.folder, &machine.fixture.arena);
  machine.nvml = fake_symbol(machine.roots.nvml, FAKE_NVML);
  *machine.nvml = (struct fake_nvml){.count = 1};
  machine.nvml->gpus[0] =
      (struct fake_gpu){.pci = "0000:17:00.0", .power_w = 100, .without_counter = true};
  atomic_store(&machine.watts, 100);
  assert_int_equal(pthread_create(&machine.thread, NULL, draw, &machine), 0);
  *state = &machine;
  return 0;
}

static int end(void **state) {
  struct machine *machine = *state;
  atomic_store(&machine->is_over, true);
  pthread_join(machine->thread, NULL);
  const char *command = arena_printf(&machine->fixture.arena, "rm -rf '%s'", machine->folder);
  assert_int_equal(system(command), 0);
  fixture_end(&machine->fixture);
  return 0;
}

static struct serving_watts watts_of(struct machine *machine, const char *url) {
  return (struct serving_watts){.url = url,
                                .accelerator = "h200-sxm-141",
                                .accelerators = 1,
                                .roots = &machine->roots,
                                .clock = &machine_clock,
                                .arena = &machine->fixture.arena};
}

// A load at that power, and what the meter says about its last 5.2 s.
static struct serving_power load(struct machine *machine, const struct rung_meter *meter,
                                 int watts) {
  meter->begin(meter->context);
  atomic_store(&machine->watts, watts);
  clock_sleep(&machine_clock, 0.4);
  const double from_s = clock_now(&machine_clock);
  clock_sleep(&machine_clock, 5.2);
  return meter->end(meter->context, from_s, clock_now(&machine_clock), NAN);
}

static void test_this_host(void **state) {
  struct machine *machine = *state;
  struct serving_watts watts = watts_of(machine, "http://localhost:8000");
  const struct rung_meter meter = serving_watts_meter(&watts);
  const struct serving_power power = load(machine, &meter, 650);
  expect_fragment(power.source, "pertoken-probe meter, 1 device: watts integrated");
  expect_near(power.load_power_w, 650, 0.02, "load");
  expect_near(power.idle_power_w, 100, 0.02, "idle");
  assert_string_equal(power.which, "GPU-of-0000:17:00.0");
  assert_true(power.clock_offset_s == 0 && power.devices == 1);
  assert_string_equal(power_log_series(watts.log, watts.arena).tracks[0].index, "0");
  // The next load finds nothing here: the port leads elsewhere.
  const struct serving_power elsewhere = load(machine, &meter, 101);
  serving_watts_stop(&watts);
  expect_fragment(elsewhere.source, "the server seems to run elsewhere");
  assert_true(isnan(elsewhere.load_power_w));
}

static void test_another_host(void **state) {
  struct machine *machine = *state;
  struct serving_watts watts = watts_of(machine, "https://gpu-7.example:8000");
  const struct rung_meter meter = serving_watts_meter(&watts);
  meter.begin(meter.context);
  const struct serving_power power = meter.end(meter.context, 0, 60, 0);
  serving_watts_stop(&watts);
  expect_fragment(power.source, "none: the server runs on another host");
  assert_true(isnan(power.load_power_w));
}

static void test_no_such_device(void **state) {
  struct machine *machine = *state;
  struct serving_watts watts = watts_of(machine, "http://127.0.0.1:8000");
  watts.devices = "3";
  const struct rung_meter meter = serving_watts_meter(&watts);
  meter.begin(meter.context);
  expect_fragment(meter.end(meter.context, 0, 60, 0).source, "none: no device '3'");
}

// ---- another host's file

static const char *write_series(struct machine *machine, double from_s, double to_s,
                                struct clock_state clock) {
  struct arena *arena = &machine->fixture.arena;
  const char *path = arena_printf(arena, "%s/watts.json", machine->folder);
  struct power_record record = {.series = {.tool = "pertoken-probe meter",
                                           .covers = COVERS_ACCELERATORS,
                                           .host = "gpu-7",
                                           .clock = clock,
                                           .clock_after = clock},
                                .tool_version = "1",
                                .meters = "",
                                .started = "",
                                .finished = "",
                                .remarks = ""};
  for (double time_s = from_s; time_s <= to_s; time_s++)
    for (int gpu = 0; gpu < 2; gpu++)
      power_series_add(&record.series, gpu ? "GPU-1" : "GPU-0", time_s, gpu ? 500 : 90, NAN, arena);
  power_series_track(&record.series, "GPU-0")->index = "1";
  power_series_track(&record.series, "GPU-1")->index = "4";
  assert_int_equal(power_record_write(&record, path, arena, &machine->fixture.diagnostics), 0);
  return path;
}

static struct serving_rung rung_of(const char *started, const char *finished, double bound_s) {
  struct serving_rung rung = serving_rung_unknown();
  rung.refused = "";
  rung.started = started;
  rung.finished = finished;
  rung.power.clock_offset_s = bound_s;
  return rung;
}

// The first load already has watts, the second gets them, the third is after the file's end.
static void test_a_file_is_joined(void **state) {
  struct machine *machine = *state;
  struct arena *arena = &machine->fixture.arena;
  double start_s;
  assert_true(utc_parse("2026-11-22T10:00:00Z", &start_s));
  const struct clock_state clock = {true, 0.004, 0.001, 1e9};
  const char *path = write_series(machine, start_s - 5, start_s + 200, clock);
  struct serving_rung rungs[] = {
      rung_of("2026-11-22T10:00:10Z", "2026-11-22T10:01:10Z", 0.003),
      rung_of("2026-11-22T10:01:30Z", "2026-11-22T10:02:30Z", 0.003),
      rung_of("2026-11-22T10:03:00Z", "2026-11-22T10:04:00Z", 0.003),
      rung_of("2026-11-22T10:01:30Z", "2026-11-22T10:02:30Z", NAN),
  };
  rungs[0].power.load_power_w = 1;
  struct serving_record record = serving_record_unknown();
  record.rungs = rungs;
  record.count = 4;
  record.accelerators = 1;
  const int joined =
      serving_watts_join(&record, path, "GPU-1", NAN, arena, &machine->fixture.diagnostics);
  expect_error(&machine->fixture, path, "");
  assert_int_equal(joined, 1);
  assert_true(rungs[0].power.load_power_w == 1);
  expect_near(rungs[1].power.load_power_w, 500, 1e-9, "watts");
  expect_near(rungs[1].power.clock_offset_s, 1.007, 1e-9, "both bounds and the times' step");
  expect_fragment(rungs[1].power.remark, "'gpu-7' within 4 ms of UTC according to NTP");
  expect_fragment(rungs[2].power.source, "end 40.0 s before the window does");
  expect_fragment(rungs[3].power.source, "the rates' host: the state of its clock is unknown");
  // The user's statement takes precedence; and all devices are too many for one accelerator.
  assert_int_equal(
      serving_watts_join(&record, path, "4", 0.1, arena, &machine->fixture.diagnostics), 1);
  expect_near(rungs[3].power.clock_offset_s, 1.1, 1e-9, "as stated");
  assert_int_equal(
      serving_watts_join(&record, path, NULL, 0.1, arena, &machine->fixture.diagnostics), 0);
  expect_fragment(rungs[2].power.source, "cover 2 devices and the tokens/s 1 accelerator");
  assert_int_equal(
      serving_watts_join(&record, path, "9", 0.1, arena, &machine->fixture.diagnostics), -1);
  expect_error(&machine->fixture, path, "no device '9'");
}

#define EACH(test) cmocka_unit_test_setup_teardown(test, start, end)

int main(void) {
  const struct CMUnitTest tests[] = {
      EACH(test_this_host),
      EACH(test_another_host),
      EACH(test_no_such_device),
      EACH(test_a_file_is_joined),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
