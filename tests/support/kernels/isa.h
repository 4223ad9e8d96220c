// isa: the instruction sets that the CPU's kernels are written for, one after another.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_ISA_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_ISA_H

#include "kernels/cpu/isa/dispatch.h"

extern const char *const isa_names[CPU_ISAS];
extern enum cpu_isa isa_list[CPU_ISAS];

// Of cmocka's list of tests: `test` once for each, its state a pointer to the instruction set.
#define ISA_TEST(test, isa)                                                                        \
  { isa_names[isa], test, NULL, NULL, &isa_list[isa] }
#define ISA_TESTS(test)                                                                            \
  ISA_TEST(test, CPU_PORTABLE), ISA_TEST(test, CPU_AVX2), ISA_TEST(test, CPU_AVX512),              \
      ISA_TEST(test, CPU_AVX512_BF16), ISA_TEST(test, CPU_AMX)

// Uses its kernels until cpu_force_isa; skips the test on a machine without it.
void isa_use(enum cpu_isa isa);

#endif
