// Backends from plugins: which are loaded, which are left out and why, and devices by their names.
#include "kernels/cpu/backend.h"
#include "tests/support/fixture.h"

#include "base/installation.h"
#include "probe/commands/listing.h"
#include "probe/devices/device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Beside the test program: tests/stand_ins/plugins/build.mk.
static const char *plugin_folder(struct arena *arena) {
  return installation_program("plugins", arena);
}

static const struct decode_backend *const *load(struct fixture *fixture) {
  return device_backends(plugin_folder(&fixture->arena), &fixture->arena, &fixture->diagnostics);
}

static size_t warnings_with(const struct diagnostics *diagnostics, const char *fragment) {
  size_t count = 0;
  for (size_t i = 0; i < diagnostics->count; i++)
    count += diagnostics->list[i].severity == SEVERITY_WARNING &&
             strstr(diagnostics->list[i].message, fragment) != NULL;
  return count;
}

static void test_plugins(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct decode_backend *const *backends = load(&fixture);
  assert_string_equal(backends[0]->name, "cpu");
  assert_ptr_equal(backends[0], &cpu_backend);
  assert_string_equal(backends[1]->name, "absent"); // in the order of the file names
  assert_string_equal(backends[2]->name, "present");
  assert_null(backends[3]);
  assert_int_equal(fixture.diagnostics.errors, 0);
  assert_int_equal(fixture.diagnostics.count, 4);
  assert_int_equal(warnings_with(&fixture.diagnostics, "empty.so is ignored: it is not a backend"),
                   1);
  assert_int_equal(warnings_with(&fixture.diagnostics, "old.so is ignored: it belongs to another"),
                   1);
  assert_int_equal(warnings_with(&fixture.diagnostics, "twice.so is ignored: it has the name"), 1);
  assert_int_equal(warnings_with(&fixture.diagnostics, "text.so: "), 1);
  fixture_end(&fixture);
}

static void test_no_folder(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const char *const folders[] = {NULL, "/nonexistent"};
  for (size_t i = 0; i < 2; i++) {
    const struct decode_backend *const *backends =
        device_backends(folders[i], &fixture.arena, &fixture.diagnostics);
    assert_ptr_equal(backends[0], &cpu_backend);
    assert_null(backends[1]);
  }
  assert_int_equal(fixture.diagnostics.count, 0);
  fixture_end(&fixture);
}

static void test_names(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  const struct decode_backend *const *backends = load(&fixture);
  static const struct {
    const char *name, *backend;
    int index;
  } right[] = {{"cpu", "cpu", 0},
               {"present", "present", 0},
               {"present:1", "present", 1},
               {"auto", "present", 0}};
  struct device device;
  for (size_t i = 0; i < sizeof right / sizeof right[0]; i++) {
    assert_int_equal(device_find(right[i].name, backends, &device, &fixture.diagnostics), 0);
    assert_string_equal(device.backend->name, right[i].backend);
    assert_int_equal(device.index, right[i].index);
  }
  static const struct {
    const char *name, *error;
    bool machine_failed;
  } wrong[] = {
      {"auto:1", "unknown device 'auto'", false},
      {"absnt", "did you mean 'absent'?", false},
      {"present:3", "no device 'present:3': present has 3, counted from 0", false},
      {"absent", "absent: no device of the tests; plug one in", true},
      {"absent:0", "absent: no device of the tests; plug one in", true},
      {"present:2", "present:2: the device failed: the device is lost", true},
  };
  for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
    fixture.diagnostics.machine_failed = false;
    assert_int_equal(device_find(wrong[i].name, backends, &device, &fixture.diagnostics), -1);
    expect_error(&fixture, wrong[i].name, wrong[i].error);
    assert_int_equal(fixture.diagnostics.machine_failed, wrong[i].machine_failed);
  }
  fixture_end(&fixture);
}

// One that is named is found even if the first is lost, or is somebody else's: nobody asks that.
static void test_first_is_lost(void **state) {
  (void)state;
  struct fixture fixture;
  struct device *devices;
  size_t count;
  fixture_start(&fixture);
  const struct decode_backend *const *backends = load(&fixture);
  setenv("PLUGIN_LOST", "0", 1);
  for (int i = 0; i < 2; i++) {
    assert_int_equal(devices_find(i ? "present:1" : "auto:1", backends, &devices, &count,
                                  &fixture.arena, &fixture.diagnostics),
                     0);
    assert_int_equal(count, 1);
    assert_int_equal(devices[0].index, 1);
  }
  assert_int_equal(
      devices_find("present:all", backends, &devices, &count, &fixture.arena, &fixture.diagnostics),
      -1);
  expect_error(&fixture, "all", "present:0: the device failed: the device is lost");
  unsetenv("PLUGIN_LOST");
  fixture_end(&fixture);
}

// Without a GPU the CPU is the automatic choice.
static void test_auto_without_plugins(void **state) {
  (void)state;
  struct fixture fixture;
  struct device device;
  fixture_start(&fixture);
  const struct decode_backend *const *backends =
      device_backends(NULL, &fixture.arena, &fixture.diagnostics);
  assert_int_equal(device_find("auto", backends, &device, &fixture.diagnostics), 0);
  assert_ptr_equal(device.backend, &cpu_backend);
  fixture_end(&fixture);
}

static void test_listing(void **state) {
  (void)state;
  struct fixture fixture;
  char text[8192] = "";
  fixture_start(&fixture);
  FILE *out = fmemopen(text, sizeof text - 1, "w");
  const struct listing_request request = {.backends = load(&fixture), .meters = &machine_meters};
  assert_int_equal(listing_print(&request, out, &fixture.arena, &fixture.diagnostics), 0);
  fclose(out);
  static const char *const lines[] = {"cpu:0  ",
                                      "absent  no device of the tests; plug one in\n",
                                      "present:0  a device of the tests\n",
                                      "    watts: none: a device without a PCI address\n",
                                      "present:1  a device of the tests\n",
                                      "present:2  the device failed: the device is lost\n"};
  for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++)
    if (!strstr(text, lines[i]))
      fail_msg("expected '%s' in\n%s", lines[i], text);
  fixture_end(&fixture);
}

static void test_folder_of_plugins(void **state) {
  (void)state;
  struct fixture fixture;
  fixture_start(&fixture);
  setenv("PERTOKEN_PLUGINS", "/usr/../tmp/.", 1);
  assert_string_equal(installation_plugins(&fixture.arena), "/tmp");
  setenv("PERTOKEN_PLUGINS", "/nowhere/at/all", 1);
  assert_null(installation_plugins(&fixture.arena));
  unsetenv("PERTOKEN_PLUGINS");
  const char *beside = installation_plugins(&fixture.arena); // NULL where none was built
  assert_true(!beside || strstr(beside, "/../lib/pertoken"));
  fixture_end(&fixture);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_plugins),       cmocka_unit_test(test_no_folder),
      cmocka_unit_test(test_names),         cmocka_unit_test(test_auto_without_plugins),
      cmocka_unit_test(test_listing),       cmocka_unit_test(test_folder_of_plugins),
      cmocka_unit_test(test_first_is_lost),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
