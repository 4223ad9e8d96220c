#include "kernels/cpu/isa/dispatch.h"

#include "kernels/decode.h"

#include <stdatomic.h>
#include <string.h>
#if defined(__x86_64__)
#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

// Intel SDM volume 1, 13.3: the tile registers' bits in XCR0, and the AMX bits of leaf 7. A process
// must ask Linux (arch/x86/include/uapi/asm/prctl.h) before its first use of tiles.
enum {
  XCR0_TILES = 3 << 17,
  LEAF7_EDX_AMX = 1 << 22 | 1 << 24 | 1 << 25, // bf16, tile, int8
  LEAF1_ECX_OSXSAVE = 1 << 27,
  REQUEST_PERMISSION = 0x1023,
  TILE_DATA = 18
};

static uint64_t xcr0(void) {
  uint32_t low, high;
  __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (uint64_t)high << 32 | low;
}

static bool has_amx(void) {
  unsigned a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & LEAF1_ECX_OSXSAVE))
    return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & LEAF7_EDX_AMX) != LEAF7_EDX_AMX)
    return false;
  return (xcr0() & XCR0_TILES) == XCR0_TILES &&
         syscall(SYS_arch_prctl, REQUEST_PERMISSION, TILE_DATA) == 0;
}

static bool has_avx2(void) {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}

static bool has_avx512(void) {
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
         __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vnni") &&
         __builtin_cpu_supports("avx512bf16");
}

static const struct cpu_kernels *const kernels[CPU_ISAS] = {
    [CPU_PORTABLE] = &cpu_kernels_portable, [CPU_AVX2] = &cpu_kernels_avx2,
    [CPU_AVX512] = &cpu_kernels_avx512,     [CPU_AVX512_BF16] = &cpu_kernels_avx512_bf16,
    [CPU_AMX] = &cpu_kernels_amx,
};

bool cpu_has(enum cpu_isa isa) {
  switch (isa) {
  case CPU_PORTABLE: return true;
  case CPU_AVX2: return has_avx2();
  case CPU_AVX512:
  case CPU_AVX512_BF16: return has_avx2() && has_avx512();
  case CPU_AMX: return has_avx2() && has_avx512() && has_amx();
  case CPU_ISAS: break;
  }
  return false;
}

// vdpbf16ps takes two cycles on Sapphire Rapids, two multiply-adds of floats one.
static bool is_worthwhile(enum cpu_isa isa) {
  return cpu_has(isa) && (isa != CPU_AVX512_BF16 || !__builtin_cpu_is("intel"));
}

// Two Zen 4 cores read 60 GB/s with one stream each, and 48 with four and prefetch instructions.
bool cpu_reads_one_stream(void) {
  return __builtin_cpu_is("amd");
}
#else
static const struct cpu_kernels *const kernels[CPU_ISAS] = {[CPU_PORTABLE] = &cpu_kernels_portable};

bool cpu_has(enum cpu_isa isa) {
  return isa == CPU_PORTABLE;
}

static bool is_worthwhile(enum cpu_isa isa) {
  return cpu_has(isa);
}

bool cpu_reads_one_stream(void) {
  return false;
}
#endif

static atomic_int forced = CPU_ISAS;

void cpu_force_isa(enum cpu_isa isa) {
  forced = (int)isa;
}

static _Atomic(const char *) library_file;

void cpu_force_library(const char *file) {
  library_file = file;
}

const char *cpu_library_file(void) {
  return library_file;
}

// Weights are unpacked for every expert: with 128 positions the library took 1.04 times as long as
// the kernels of steps, with 512 it took 0.75 (Mixtral 8x7B in bf16, two cores of an EPYC).
static atomic_size_t expert_positions;
enum { EXPERT_POSITIONS = 256 };

void cpu_force_expert_positions(size_t count) {
  expert_positions = count;
}

size_t cpu_expert_positions(void) {
  return expert_positions > 0 ? expert_positions : EXPERT_POSITIONS;
}

const struct cpu_kernels *cpu_kernels_choose(void) {
  int isa = forced;
  if (isa != CPU_ISAS && cpu_has((enum cpu_isa)isa))
    return kernels[isa];
  for (isa = CPU_ISAS - 1; isa > CPU_PORTABLE; isa--)
    if (is_worthwhile((enum cpu_isa)isa))
      break;
  return kernels[isa];
}

const struct product_types product_types[PRODUCT_KINDS] = {
    [BF16_F32] = {ELEMENT_BF16, ELEMENT_F32},
    [E4M3_F32] = {ELEMENT_E4M3, ELEMENT_F32},
    [BF16_BF16] = {ELEMENT_BF16, ELEMENT_BF16},
    [E4M3_BF16] = {ELEMENT_E4M3, ELEMENT_BF16},
    [INT8_INT8] = {ELEMENT_INT8, ELEMENT_INT8},
    [MXFP4_F32] = {ELEMENT_MXFP4, ELEMENT_F32},
    [MXFP4_BF16] = {ELEMENT_MXFP4, ELEMENT_BF16},
    [NVFP4_F32] = {ELEMENT_NVFP4, ELEMENT_F32},
    [NVFP4_BF16] = {ELEMENT_NVFP4, ELEMENT_BF16},
    [MXFP6_E2M3_F32] = {ELEMENT_MXFP6_E2M3, ELEMENT_F32},
    [MXFP6_E2M3_BF16] = {ELEMENT_MXFP6_E2M3, ELEMENT_BF16},
    [MXFP6_E3M2_F32] = {ELEMENT_MXFP6_E3M2, ELEMENT_F32},
    [MXFP6_E3M2_BF16] = {ELEMENT_MXFP6_E3M2, ELEMENT_BF16},
    [INT8_GROUP_F32] = {ELEMENT_INT8_GROUP, ELEMENT_F32},
    [INT8_GROUP_BF16] = {ELEMENT_INT8_GROUP, ELEMENT_BF16},
    [INT8_GROUP_INT8] = {ELEMENT_INT8_GROUP, ELEMENT_INT8},
    [INT4_GROUP_F32] = {ELEMENT_INT4_GROUP, ELEMENT_F32},
    [INT4_GROUP_BF16] = {ELEMENT_INT4_GROUP, ELEMENT_BF16},
    [INT4_GROUP_INT8] = {ELEMENT_INT4_GROUP, ELEMENT_INT8},
};

enum product_kind product_kind_of(enum element weights, enum element input) {
  int kind = 0;
  while (kind < PRODUCT_KINDS &&
         (product_types[kind].weights != weights || product_types[kind].input != input))
    kind++;
  return (enum product_kind)kind;
}

void cpu_arrange(const void *in, size_t in_stride, size_t batch, size_t words, int32_t *out) {
  const uint8_t *from = in;
  for (size_t row = 0; row < batch; row += ARRANGED_ROWS, from += ARRANGED_ROWS * in_stride) {
    size_t count = batch - row < ARRANGED_ROWS ? batch - row : ARRANGED_ROWS;
    for (size_t word = 0; word < words; word++, out += ARRANGED_ROWS) {
      for (size_t b = 0; b < count; b++)
        memcpy(&out[b], from + b * in_stride + word * sizeof *out, sizeof *out);
      memset(out + count, 0, (ARRANGED_ROWS - count) * sizeof *out);
    }
  }
}
