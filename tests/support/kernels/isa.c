#include "tests/support/kernels/isa.h"

#include "tests/support/fixture.h"

const char *const isa_names[CPU_ISAS] = {"portable", "avx2", "avx512", "avx512-bf16", "amx"};
enum cpu_isa isa_list[CPU_ISAS] = {CPU_PORTABLE, CPU_AVX2, CPU_AVX512, CPU_AVX512_BF16, CPU_AMX};

void isa_use(enum cpu_isa isa) {
  if (!cpu_has(isa)) {
    print_message("this machine has no %s\n", isa_names[isa]);
    skip();
  }
  cpu_force_isa(isa);
}
