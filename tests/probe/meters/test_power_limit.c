// Power limits read, set and restored, with fake libraries of both vendors.
#include "tests/stand_ins/fake/fake_amd.h"
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/stand_ins/fake/load.h"

#include "probe/limits/power_guard.h"
#include "probe/limits/power_limit.h"
#include "probe/meters/users.h"
#include "probe/sessions/power_sweep.h"

#include <math.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct machine {
  struct fixture fixture;
  struct meter_roots roots;
  struct fake_nvml *nvml;
  struct fake_amd *amd;
  char limits[64]; // what the libraries were told to set
};

static const char nvidia[] = "0000:17:00.0", amd[] = "0000:05:00.0";

static void start(struct machine *machine) {
  *machine = (struct machine){.roots = {.pci = "/nonexistent"}};
  fixture_start(&machine->fixture);
  machine->roots.nvml = fake_library("libnvidia-ml.so", &machine->fixture.arena);
  machine->roots.amdsmi = fake_library("libamd_smi.so", &machine->fixture.arena);
  machine->nvml = fake_symbol(machine->roots.nvml, FAKE_NVML);
  machine->amd = fake_symbol(machine->roots.amdsmi, FAKE_AMD);
  *machine->nvml = (struct fake_nvml){.gpus = {{.pci = nvidia, .processes = 1}}, .count = 1};
  *machine->amd = (struct fake_amd){.list = {{.bus = 5}}, .count = 1, .compute_partition = "SPX"};
  strcpy(machine->limits, "/tmp/pertoken-limits-XXXXXX");
  const int file = mkstemp(machine->limits);
  assert_true(file >= 0);
  close(file);
  setenv("FAKE_NVML_LIMITS", machine->limits, 1);
  setenv("FAKE_AMD_LIMITS", machine->limits, 1);
}

static void end(struct machine *machine) {
  assert_int_equal(machine->nvml->inits, 0);
  assert_int_equal(machine->amd->inits, 0);
  unlink(machine->limits);
  unsetenv("FAKE_NVML_LIMITS");
  unsetenv("FAKE_AMD_LIMITS");
  fixture_end(&machine->fixture);
}

// Everything that was set, in the libraries' units.
static const char *set_so_far(struct machine *machine) {
  static char text[256];
  FILE *file = fopen(machine->limits, "r");
  assert_non_null(file);
  text[fread(text, 1, sizeof text - 1, file)] = 0;
  fclose(file);
  for (char *c = text; *c; c++)
    *c = *c == '\n' ? ' ' : *c;
  return text;
}

static void test_sets_what_it_is_told(void **state) {
  static const struct {
    const char *pci;
    double watts, least_w, most_w, others;
    const char *set;
  } cases[] = {{nvidia, 650, 200, 700, 0, "350000 650000 "},
               {amd, 1000, 500, 1000, 0, "600 1000 "}};
  (void)state;
  for (size_t i = 0; i < 2; i++) {
    struct machine machine;
    struct power_limit limit;
    start(&machine);
    struct device_users users = device_users_find(&machine.roots, &machine.fixture.arena);
    assert_int_equal(
        power_limit_open(&limit, cases[i].pci, &users, &machine.roots, &machine.fixture.arena),
        METER_OK);
    assert_float_equal(limit.watts, cases[i].watts, 1e-9);
    assert_float_equal(limit.least_w, cases[i].least_w, 1e-9);
    assert_float_equal(limit.most_w, cases[i].most_w, 1e-9);
    assert_float_equal(limit.other_processes, cases[i].others, 1e-9);
    assert_string_equal(limit.part, "");
    assert_int_equal(power_limit_set(&limit, i ? 600 : 350), METER_OK);
    assert_int_equal(power_limit_set(&limit, limit.watts), METER_OK);
    power_limit_close(&limit);
    assert_string_equal(set_so_far(&machine), cases[i].set);
    end(&machine);
  }
}

// A library that reads nine digits of a limit of ten: 100 W would be set at the end.
static void test_believes_the_driver(void **state) {
  (void)state;
  for (int wrong = 0; wrong < 2; wrong++) {
    char tree[] = "/tmp/pertoken-driver-XXXXXX";
    struct machine machine;
    struct power_limit limit;
    start(&machine);
    struct arena *arena = &machine.fixture.arena;
    assert_non_null(mkdtemp(tree));
    fixture_write(&machine.fixture, tree, arena_printf(arena, "%s/hwmon/hwmon5/power1_cap", amd),
                  wrong ? "10000000000\n" : "1000000000\n");
    machine.roots.pci = tree;
    const enum meter_status status =
        power_limit_open(&limit, amd, NULL, &machine.roots, &machine.fixture.arena);
    assert_int_equal(status, wrong ? METER_ABSENT : METER_OK);
    if (wrong)
      assert_non_null(strstr(limit.why, "reports a limit of 1000 W, but the driver has 10000 W"));
    else
      power_limit_close(&limit);
    assert_int_equal(system(arena_printf(arena, "rm -r '%s'", tree)), 0);
    end(&machine);
  }
}

// ---- a sweep

struct trouble {
  const char *name, *pci;
  int limit_w;
  void (*make)(struct machine *machine);
  const char *words;
};

static void make_none(struct machine *machine) {
  (void)machine;
}
static void make_mig(struct machine *machine) {
  machine->nvml->gpus[0].is_split = true;
}
static void make_cpx(struct machine *machine) {
  machine->amd->compute_partition = "CPX";
}
static void make_silent_part(struct machine *machine) {
  make_cpx(machine);
  machine->amd->list[machine->amd->count++] =
      (struct fake_accelerator){.bus = 5, .function = 1, .code = 2};
}
static void make_busy(struct machine *machine) {
  machine->nvml->gpus[0].processes = 3;
  machine->amd->processes = 1;
}
static void make_forbidden(struct machine *machine) {
  machine->nvml->gpus[0].limit_code = 4;
  machine->amd->cap_code = 10;
}
static void make_stubborn(struct machine *machine) {
  machine->nvml->gpus[0].ignores_limit = true;
}
static void make_lost(struct machine *machine) {
  machine->nvml->gpus[0].code = 15;
  machine->amd->list[0].code = 31;
}

static const struct trouble troubles[] = {
    {"below", nvidia, 199, make_none,
     "--power-limit 199: 0000:17:00.0 can be held at 200 to 700 W"},
    {"above", amd, 1001, make_none,
     "--power-limit 1001: 0000:05:00.0 can be held at 500 to 1000 W"},
    {"MIG", nvidia, 350, make_mig, "is divided (MIG)"},
    {"CPX", amd, 600, make_cpx, "is divided (CPX)"},
    {"CPX's second", "0000:05:00.1", 600, make_silent_part, "0000:05:00.1 is divided (CPX)"},
    {"used", nvidia, 350, make_busy, "2 other processes use 0000:17:00.0"},
    {"used", amd, 600, make_busy, "1 other process uses 0000:05:00.0"},
    {"no root", nvidia, 350, make_forbidden,
     "needs root: nvml: 0000:17:00.0: Insufficient Permissions"},
    {"no root", amd, 600, make_forbidden, "needs root: amd-smi: Permission Denied"},
    {"kept", nvidia, 350, make_stubborn, "was set to 350 W but reports 650 W"},
    {"lost", nvidia, 350, make_lost, "GPU is lost"},
    {"lost", amd, 600, make_lost, "Device Not found"},
    {"absent", "0000:99:00.0", 600, make_none, "it does not list 0000:99:00.0"},
    {"a CPU", "", 600, make_none, "needs a GPU with a PCI address"},
};

static void run_trouble(const struct trouble *trouble) {
  struct machine machine;
  struct device device = {.described = {.name = "a device"}};
  const struct number_list limits = {{trouble->limit_w}, 1};
  start(&machine);
  trouble->make(&machine);
  strcpy(device.described.pci, trouble->pci);
  const struct device_users users = device_users_find(&machine.roots, &machine.fixture.arena);
  struct power_sweep sweep = {.limits = &limits,
                              .roots = &machine.roots,
                              .users = &users,
                              .arena = &machine.fixture.arena,
                              .diagnostics = &machine.fixture.diagnostics};
  assert_int_equal(power_sweep_begin(&sweep), 0);
  const int failed =
      power_sweep_open(&sweep, &device) || power_sweep_hold(&sweep, trouble->limit_w);
  machine.nvml->gpus[0].limit_code = machine.nvml->gpus[0].code = machine.amd->cap_code = 0;
  const int ended = power_sweep_end(&sweep);
  const struct diagnostics *said = &machine.fixture.diagnostics;
  if (!failed || ended || said->count != 1 || !strstr(said->list[0].message, trouble->words))
    fail_msg("%s %s: failed %d, ended %d: %s", trouble->name, trouble->pci, failed, ended,
             said->count ? said->list[0].message : "nothing said");
  assert_null(strstr(set_so_far(&machine), "350000"));
  assert_null(strstr(set_so_far(&machine), "600"));
  end(&machine);
}

static void test_refuses_in_words(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof troubles / sizeof troubles[0]; i++)
    run_trouble(&troubles[i]);
}

// ---- ways out

static const struct way_out {
  const char *name;
  int signal; // 0: power_sweep_end
} ways_out[] = {{"ends", 0}, {"killed", SIGKILL}, {"crashes", SIGSEGV}, {"is aborted", SIGABRT}};

// A process that holds a device and then exits.
static void hold_and_go(struct machine *machine, const char *pci, const struct way_out *way) {
  struct device device = {.described = {.name = "a device"}};
  const struct number_list limits = {{550, 600}, 2};
  strcpy(device.described.pci, pci);
  const struct device_users users = device_users_find(&machine->roots, &machine->fixture.arena);
  struct power_sweep sweep = {.limits = &limits,
                              .roots = &machine->roots,
                              .users = &users,
                              .arena = &machine->fixture.arena,
                              .diagnostics = &machine->fixture.diagnostics};
  signal(SIGSEGV, SIG_DFL); // the inherited handler is for the test program
  signal(SIGABRT, SIG_DFL);
  if (power_sweep_begin(&sweep) || power_sweep_open(&sweep, &device) ||
      power_sweep_hold(&sweep, 550) || power_sweep_hold(&sweep, 600))
    _exit(1);
  if (way->signal)
    raise(way->signal);
  _exit(power_sweep_end(&sweep) ? 1 : 0);
}

static void sets_back(const char *pci, const struct way_out *way, const char *all) {
  struct machine machine;
  int status = 0;
  start(&machine);
  const pid_t process = fork();
  if (process == 0)
    hold_and_go(&machine, pci, way);
  assert_int_equal(waitpid(process, &status, 0), process);
  assert_int_equal(way->signal ? WTERMSIG(status) : WEXITSTATUS(status), way->signal);
  for (int i = 0; i < 500 && strcmp(set_so_far(&machine), all) != 0; i++)
    usleep(20000);
  if (strcmp(set_so_far(&machine), all) != 0)
    fail_msg("%s %s: expected '%s', found '%s'", pci, way->name, all, set_so_far(&machine));
  end(&machine);
}

static void test_sets_back_on_every_way_out(void **state) {
  (void)state;
  for (size_t i = 0; i < sizeof ways_out / sizeof ways_out[0]; i++) {
    sets_back(nvidia, &ways_out[i], "550000 600000 650000 ");
    sets_back(amd, &ways_out[i], "550 600 1000 ");
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_sets_what_it_is_told),
      cmocka_unit_test(test_believes_the_driver),
      cmocka_unit_test(test_refuses_in_words),
      cmocka_unit_test(test_sets_back_on_every_way_out),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
