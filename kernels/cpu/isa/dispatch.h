// dispatch: chooses at run time among the kernels of the instruction sets.
#ifndef PERTOKEN_KERNELS_CPU_ISA_DISPATCH_H
#define PERTOKEN_KERNELS_CPU_ISA_DISPATCH_H

#include "kernels/cpu/isa/rows.h"
#include "kernels/decode.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// Whether the machine and this build both support the instruction set.
bool cpu_has(enum cpu_isa isa);

// The fastest kernels that run on this machine, or those forced by a test.
const struct cpu_kernels *cpu_kernels_choose(void);

// What each kind of product takes, and which kind takes two given elements (PRODUCT_KINDS: none).
struct product_types {
  enum element weights, input;
};
extern const struct product_types product_types[PRODUCT_KINDS];
enum product_kind product_kind_of(enum element weights, enum element input);

// For tests: use this instruction set from now on, if the machine has it; CPU_ISAS undoes that.
void cpu_force_isa(enum cpu_isa isa);

// For tests: load prompts' products from this file from now on; NULL: the usual files.
void cpu_force_library(const char *file);
const char *cpu_library_file(void);

// For tests: from how many positions of an expert its products are the library's; 0: as usual.
void cpu_force_expert_positions(size_t count);
size_t cpu_expert_positions(void);

// Whether this machine reads memory fastest in one stream per thread, left to the hardware
// prefetcher, rather than in several with prefetch instructions.
bool cpu_reads_one_stream(void);

// Copies in[batch][in_stride bytes], `words` words of each vector, to `out` in the arrangement of
// rows.h.
void cpu_arrange(const void *in, size_t in_stride, size_t batch, size_t words, int32_t *out);

#endif
