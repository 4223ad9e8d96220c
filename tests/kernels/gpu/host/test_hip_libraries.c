// The probe with the HIP plugin, and libraries of HIP and RCCL that are missing, old or beside each
// other (hip_plugin.h).
// Deep only: the plugin holds every AMD GPU's machine code, which takes minutes to compile.
// Seconds: 2
#include "tests/support/kernels/hip_plugin.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

// The probe of the same build with a HIP library that is missing, lacks a function, or is of HIP 5.
static void test_libraries(void **unused) {
  (void)unused;
  hip_needed();
  static const struct {
    const char *file, *expected;
  } cases[] = {{"nothing.so", "PERTOKEN_HIP_LIBRARY: "},
               {"fake_hip_missing.so", "lacks hipGraphLaunch; install ROCm"},
               {"fake_hip_old.so", ", gfx942"}};
  const char *path = getenv("PERTOKEN_HIP_LIBRARY");
  const int folder = (int)(strrchr(path, '/') - path);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char command[9000], output[8192];
    snprintf(command, sizeof command,
             "PERTOKEN_PLUGINS=build/lib/pertoken PERTOKEN_HIP_LIBRARY=%.*s/%s "
             "%.*s/../../pertoken-probe list",
             folder, path, cases[i].file, folder, path);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    output[fread(output, 1, sizeof output - 1, program)] = 0;
    assert_int_equal(pclose(program), 0);
    if (!strstr(output, cases[i].expected))
      fail_msg("expected '%s' in '%s'", cases[i].expected, output);
  }
}

// HIP 5.2 has no cooperative launches of a module's kernels.
static void test_old_library(void **unused) {
  (void)unused;
  hip_needed();
  const char *path = getenv("PERTOKEN_HIP_LIBRARY");
  const int folder = (int)(strrchr(path, '/') - path);
  char command[9000], output[8192];
  snprintf(command, sizeof command,
           "PERTOKEN_PLUGINS=build/lib/pertoken PERTOKEN_HIP_LIBRARY=%.*s/fake_hip_old.so "
           "PERTOKEN_GPU_TUNING=step=streaming %.*s/../../pertoken-probe run --data data "
           "--model smollm-135m --device hip --verify-only -q 2>&1",
           folder, path, folder, path);
  FILE *program = popen(command, "r");
  assert_non_null(program);
  output[fread(output, 1, sizeof output - 1, program)] = 0;
  assert_true(pclose(program) != 0);
  if (!strstr(output, "HIP with hipModuleLaunchCooperativeKernel)"))
    fail_msg("expected that HIP lacks cooperative launches, found '%s'", output);
}

// The same with an RCCL that is missing or lacks a function.
static void test_collective_libraries(void **unused) {
  (void)unused;
  hip_needed();
  static const struct {
    const char *file, *expected;
  } cases[] = {{"nothing.so", "PERTOKEN_RCCL_LIBRARY: "},
               {"fake_hip_old.so", "this RCCL lacks ncclGetVersion; install rccl"},
               {NULL, "need RCCL, and librccl.so.1 was not found; install rccl"}};
  char records[] = "/tmp/pertoken-XXXXXX";
  assert_non_null(mkdtemp(records));
  const char *path = getenv("PERTOKEN_RCCL_LIBRARY");
  const int folder = (int)(strrchr(path, '/') - path);
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char command[9000], output[8192];
    const char *file = cases[i].file;
    snprintf(
        command, sizeof command,
        "FAKE_HIP_DEVICES=3 PERTOKEN_PLUGINS=build/lib/pertoken PERTOKEN_RCCL_LIBRARY=%.*s%s%s "
        "%.*s/../../pertoken-probe run --data data --model smollm-135m --device hip:all "
        "--tensor-parallel 3 -q -o %s 2>&1; s=$?; rm -f %s/.lock; exit $s",
        file ? folder : 0, path, file ? "/" : "", file ? file : "", folder, path, records, records);
    FILE *program = popen(command, "r");
    assert_non_null(program);
    output[fread(output, 1, sizeof output - 1, program)] = 0;
    assert_int_equal(pclose(program), 3 << 8);
    if (!strstr(output, cases[i].expected))
      fail_msg("expected '%s' in '%s'", cases[i].expected, output);
  }
  assert_int_equal(rmdir(records), 0);
}

static void link_to(const char *target, const char *folder, const char *name) {
  char path[600];
  snprintf(path, sizeof path, "%s/%s", folder, name);
  assert_int_equal(symlink(target, path), 0);
}

// Without pertoken's variables: the HIP under ROCM_PATH, and the RCCL beside it, which here lacks a
// function.
static void test_found_under_rocm(void **unused) {
  (void)unused;
  hip_needed();
  char rocm[] = "/tmp/pertoken-XXXXXX", folder[64], real[PATH_MAX], command[9000], output[8192];
  assert_non_null(mkdtemp(rocm));
  snprintf(folder, sizeof folder, "%s/lib", rocm);
  assert_int_equal(mkdir(folder, 0777), 0);
  const char *path = getenv("PERTOKEN_HIP_LIBRARY");
  assert_non_null(realpath(path, real));
  link_to(real, folder, "libamdhip64.so.7");
  strcpy(strrchr(real, '/'), "/fake_hip_old.so");
  link_to(real, folder, "librccl.so.1");
  snprintf(command, sizeof command,
           "env -u PERTOKEN_HIP_LIBRARY -u PERTOKEN_RCCL_LIBRARY ROCM_PATH=%s FAKE_HIP_DEVICES=3 "
           "PERTOKEN_PLUGINS=build/lib/pertoken %.*s/../../pertoken-probe run --data data "
           "--model smollm-135m --device hip:all --tensor-parallel 3 -q -o %s 2>&1; s=$?; "
           "rm -rf %s; exit $s",
           rocm, (int)(strrchr(path, '/') - path), path, rocm, rocm);
  FILE *program = popen(command, "r");
  assert_non_null(program);
  output[fread(output, 1, sizeof output - 1, program)] = 0;
  assert_int_equal(pclose(program), 3 << 8);
  if (!strstr(output, "this RCCL lacks ncclGetVersion"))
    fail_msg("the RCCL beside HIP is not found: '%s'", output);
}

// What the environment says about kernels' arguments holds.
static void test_arguments_elsewhere(void **unused) {
  (void)unused;
  hip_needed();
  assert_int_equal(hip.backend->device_count(), 1);
  assert_string_equal(getenv("HIP_FORCE_DEV_KERNARG"), "0");
}

int main(void) {
  setenv("HIP_FORCE_DEV_KERNARG", "0", 1);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_libraries, hip_begin),
      cmocka_unit_test_setup(test_old_library, hip_begin),
      cmocka_unit_test_setup(test_collective_libraries, hip_begin),
      cmocka_unit_test_setup(test_found_under_rocm, hip_begin),
      cmocka_unit_test_setup(test_arguments_elsewhere, hip_begin),
  };
  return cmocka_run_group_tests(tests, hip_load, NULL);
}
