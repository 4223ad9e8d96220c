// isa: the instruction sets that the CPU's kernels are written for, one after another.
#ifndef PERTOKEN_TESTS_ISA_H
#define PERTOKEN_TESTS_ISA_H

#include "kernels/cpu/isa/dispatch.h"

extern const char *const isa_names[CPU_ISAS];

// Uses its kernels until cpu_force_isa; skips the test on a machine without it.
void isa_use(enum cpu_isa isa);

#endif
