// processor: what the processor is called.
#ifndef PERTOKEN_KERNELS_CPU_PROCESSOR_H
#define PERTOKEN_KERNELS_CPU_PROCESSOR_H

#include <stddef.h>
#include <stdio.h>

// From the text of /proc/cpuinfo: the value of "model name", which x86-64 has. On aarch64 the
// kernel writes only MIDR_EL1's numbers, "CPU implementer" and "CPU part"; their names are those of
// Linux, arch/arm64/include/asm/cputype.h: "Arm Neoverse V2". A core that is not in the table is
// named by its numbers. "CPU" if there is neither, or for NULL.
void processor_name(FILE *cpuinfo, char *out, size_t size);

#endif
