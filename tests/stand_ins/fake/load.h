// load: finds the fake libraries beside the running test program.
#ifndef PERTOKEN_TESTS_STAND_INS_FAKE_LOAD_H
#define PERTOKEN_TESTS_STAND_INS_FAKE_LOAD_H

#include "tests/support/fixture.h"

#include <dlfcn.h>
#include <libgen.h>
#include <unistd.h>

// "build/tests/fake/libamd_smi.so"
static inline const char *fake_library(const char *name, struct arena *arena) {
  char self[4096];
  const ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
  assert_true(length > 0);
  self[length] = 0;
  return arena_printf(arena, "%s/fake/%s", dirname(self), name);
}

// What the library exports for the test to set.
static inline void *fake_symbol(const char *path, const char *symbol) {
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library)
    fail_msg("%s", dlerror());
  void *address = dlsym(library, symbol);
  assert_non_null(address);
  return address;
}

#endif
