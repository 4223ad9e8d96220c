// What the CPU backend asks of the machine: the processor's name, and memory in its own pages.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "kernels/cpu/memory.h"
#include "kernels/cpu/processor.h"

static long page_bytes; // 0: the machine's own

// Takes the C library's place in this program.
long sysconf(int name) {
  long (*own)(int) = NULL;
  *(void **)&own = dlsym(RTLD_NEXT, "sysconf");
  return name == _SC_PAGESIZE && page_bytes > 0 ? page_bytes : own(name);
}

#define GRACE                                                                                      \
  "processor\t: 0\nBogoMIPS\t: 2000.00\nFeatures\t: fp asimd sve2 bf16\nCPU implementer\t: 0x41\n" \
  "CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\nCPU revision\t: 0\n\nprocessor\t: " \
  "1\nCPU implementer\t: 0x41\nCPU part\t: 0xd40\n"

static void test_name(void **state) {
  (void)state;
  static const struct {
    const char *cpuinfo, *name;
  } cases[] = {
      {"processor\t: 0\nvendor_id\t: AuthenticAMD\nmodel\t\t: 17\nmodel name\t: AMD EPYC 9B14\n",
       "AMD EPYC 9B14"},
      {GRACE, "Arm Neoverse V2"},
      {"CPU implementer\t: 0x4e\nCPU part\t: 0x010\n", "NVIDIA Olympus"},
      {"CPU implementer\t: 0x41\nCPU part\t: 0xd0b\n", "CPU (implementer 0x41, part 0xd0b)"},
      {"model name\t:\nprocessor\t: 1\n", "CPU"},
      {"processor\t: 0\n", "CPU"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    char name[96];
    FILE *file = fmemopen((void *)cases[i].cpuinfo, strlen(cases[i].cpuinfo), "r");
    processor_name(file, name, sizeof name);
    fclose(file);
    assert_string_equal(name, cases[i].name);
  }
  char name[96];
  processor_name(NULL, name, sizeof name);
  assert_string_equal(name, "CPU");
}

// munmap refuses an address within a page, so that what is cut off must begin and end with one.
static void test_pages(void **state) {
  (void)state;
  enum { BLOCKS = 8, BYTES = 100 };
  page_bytes = 64 << 10;
  void *blocks[BLOCKS];
  for (int i = 0; i < BLOCKS; i++) {
    blocks[i] = memory_take(BYTES);
    assert_non_null(blocks[i]);
    assert_int_equal((uintptr_t)blocks[i] % (uintptr_t)page_bytes, 0);
  }
  for (int i = 0; i < BLOCKS; i++)
    memory_give(blocks[i], BYTES);
  page_bytes = 0;
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_name),
      cmocka_unit_test(test_pages),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
