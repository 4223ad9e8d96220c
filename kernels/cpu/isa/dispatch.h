// dispatch: the choice at run time among the kernels of each instruction set.
#ifndef PERTOKEN_KERNELS_CPU_ISA_DISPATCH_H
#define PERTOKEN_KERNELS_CPU_ISA_DISPATCH_H

#include "kernels/cpu/isa/rows.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether the machine, and this build, has that instruction set.
bool cpu_has(enum cpu_isa isa);

// The fastest kernels that run on this machine, or those that were forced.
const struct cpu_kernels *cpu_kernels_choose(void);

// What each kind of product takes, and which kind takes two elements; PRODUCT_KINDS if none does.
struct product_types {
  enum element weights, input;
};
extern const struct product_types product_types[PRODUCT_KINDS];
enum product_kind product_kind_of(enum element weights, enum element input);

// For tests: from now on use this instruction set, if the machine has it; CPU_ISAS ends that.
void cpu_force_isa(enum cpu_isa isa);

// For tests: the file that prompts' products are loaded from, from now on; NULL: the usual ones.
void cpu_force_library(const char *file);
const char *cpu_library_file(void);

// Whether this machine reads memory fastest in one stream per thread, left to the hardware's
// prefetching, rather than in several with prefetch instructions.
bool cpu_reads_one_stream(void);

// Copies in[batch][in_stride bytes], `words` of each vector, to `out` as rows.h arranges it.
void cpu_arrange(const void *in, size_t in_stride, size_t batch, size_t words, int32_t *out);

#endif
