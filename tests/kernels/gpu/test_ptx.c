// The interpreter of nvcc's PTX (tests/stand_ins/ptx): the results of instructions on known
// numbers, the errors that it promises to detect, and whole steps of the GPU kernels as compiled
// for each architecture, compared with the oracle. The suites that use
// tests/support/kernels/emulated.h run more kernels separately.
// Deep: all that needs nvcc's output for the kernels.
// Seconds: 6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/gpu/arguments/calibration.h"
#include "kernels/gpu/host/tile_check.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "kernels/weights.h"
#include "tests/stand_ins/emulator/launch.h"
#include "tests/support/depth.h"
#include "tests/support/fixture.h"
#include "tests/support/library.h"

enum { THREADS = 128, SHARED = 16384 };

static struct architecture {
  const char *name, *library, *ptx;
  bool wgmma;
  void *handle;
} architectures[] = {
    {.name = "sm_90a", .library = "ptx90a", .ptx = "build/gpu/cuda_90a.ptx", .wgmma = true},
    {.name = "sm_80", .library = "ptx80", .ptx = "build/gpu/cuda_80.ptx"},
    {.name = "sm_100", .library = "ptx100", .ptx = "build/gpu/cuda_100.ptx"},
    {.name = "sm_120", .library = "ptx120", .ptx = "build/gpu/cuda_120.ptx"},
};
#define ARCHITECTURES (sizeof architectures / sizeof architectures[0])

static int load(void **unused) {
  (void)unused;
  for (size_t i = 0; i < ARCHITECTURES; i++) {
    architectures[i].handle = library_open(architectures[i].library);
    if (!architectures[i].handle) {
      return -1;
    }
  }
  return 0;
}

static int unload(void **unused) {
  (void)unused;
  for (size_t i = 0; i < ARCHITECTURES; i++) {
    dlclose(architectures[i].handle);
  }
  return 0;
}

// ---- a few instructions by themselves

static const char head[] =
    ".version 9.0\n.target sm_90a\n.address_size 64\n"
    ".extern .shared .align 16 .b8 cuda_shared[];\n"
    ".visible .entry check(\n\t.param .align 8 .b8 check_param_0[8]\n)\n.maxntid 128, 1, 1\n"
    ".minnctapersm 4\n{\n"
    ".reg .pred %p<8>;\n.reg .b16 %rs<8>;\n.reg .f32 %f<64>;\n.reg .b32 %r<16>;\n"
    ".reg .b64 %rd<8>;\n"
    "mov.u32 %r0, %tid.x;\nld.param.u64 %rd0, [check_param_0];\n"
    "mul.wide.u32 %rd1, %r0, 4;\nadd.s64 %rd1, %rd0, %rd1;\n"
    "mov.u32 %r9, cuda_shared;\nshl.b32 %r8, %r0, 4;\nadd.s32 %r8, %r8, %r9;\n";

// Runs the body on one block, with its thread in %r0, the address of its result in %rd1, the
// beginning of shared memory in %r9, and 16 bytes of it for each thread in %r8. Returns the error,
// "" for none.
static const char *run(const char *body, uint32_t *results) {
  char path[] = "/tmp/ptx-XXXXXX";
  emulator_launch_function *launch;
  *(void **)&launch = library_symbol(architectures[0].handle, "emulator_launch_kernel");
  const int file = mkstemp(path);
  assert_true(file >= 0);
  FILE *out = fdopen(file, "w");
  assert_non_null(out);
  fprintf(out, "%s%s\nret;\n}\n", head, body);
  fclose(out);
  setenv("PTX_FILE", path, 1);
  static struct emulator_launch one; // static: else cppcheck thinks that the error points at it
  one = (struct emulator_launch){.kernel = "check",
                                 .grid = {1, 1, 1},
                                 .block = THREADS,
                                 .shared_bytes = SHARED,
                                 .arguments = &results,
                                 .argument_bytes = sizeof results,
                                 .seed = 1};
  const char *error = launch(&one);
  unsetenv("PTX_FILE");
  unlink(path);
  return error ? error : "";
}

// The lowest bytes of %r2 and of 8 of a thread's bytes of shared memory are FE, 80.
#define BYTES                                                                                      \
  "mov.u32 %r2, 0x123480FE; mov.u32 %r3, 0x9ABC5678; st.shared.u32 [%r8], %r2;"                    \
  "st.shared.u32 [%r8+4], %r3;"

// The value that thread 5 has in %r1.
static const struct value {
  const char *body;
  uint32_t expected;
} values[] = {
    {"add.s32 %r1, %r0, -7;", 0xFFFFFFFE},
    {"div.s32 %r1, -7, 2;", 0xFFFFFFFD},
    {"rem.u32 %r1, -1, 10;", 5},
    {"min.u32 %r1, -1, 6;", 6},
    {"mul.wide.s32 %rd2, -3, 5; cvt.u32.u64 %r1, %rd2;", 0xFFFFFFF1},
    {"mov.u32 %r2, 40; shr.s32 %r1, -2, %r2;", 0xFFFFFFFF},
    {"mov.u32 %r2, 32; shl.b32 %r1, 1, %r2;", 0},
    {"bfi.b32 %r1, 5, 65280, 4, 8;", 0xF050},
    {"prmt.b32 %r1, 0x44332211, 0x88776655, 0x7531;", 0x88664422},
    {"prmt.b32 %r1, 0x44332211, 0x88776655, 0xF080;", 0xFF110011},
    {"cvt.s64.s32 %rd2, -5; shr.u64 %rd2, %rd2, 32; cvt.u32.u64 %r1, %rd2;", 0xFFFFFFFF},
    {"setp.lt.u32 %p1, %r0, 6; selp.b32 %r1, 11, 22, %p1;", 11},
    {"setp.le.u32 %p1, %r0, 5; selp.b32 %r1, 11, 22, %p1;", 11},
    {"setp.lt.u32 %p1, %r0, 5; @%p1 mov.u32 %r1, 1; @!%p1 mov.u32 %r1, 2;", 2},
    {"{ .reg .b16 l, h; mov.b32 {l, h}, 0x12345678; mov.b32 %r1, {h, l}; }", 0x56781234},
    // 1 + 2^-12 squared is 1 + 2^-11 + 2^-24.
    {"mov.f32 %f1, 0f3F800800; fma.rn.f32 %f2, %f1, %f1, 0fBF801000; mov.b32 %r1, %f2;",
     0x33800000},
    {"mov.f32 %f1, 0f3F800000; fma.rn.f32 %f2, %f1, %f1, 0fB0800000; mov.b32 %r1, %f2;",
     0x3F800000},
    {"mov.f32 %f1, 0f3F800000; fma.rm.f32 %f2, %f1, %f1, 0fB0800000; mov.b32 %r1, %f2;",
     0x3F7FFFFF},
    {"mov.f32 %f1, 0f40400000; ex2.approx.ftz.f32 %f2, %f1; mov.b32 %r1, %f2;", 0x41000000},
    {"mov.f32 %f1, 0fC3020000; ex2.approx.ftz.f32 %f2, %f1; mov.b32 %r1, %f2;", 0},
    {"mov.f32 %f1, 0f7FC00000; cvt.sat.f32.f32 %f2, %f1; mov.b32 %r1, %f2;", 0},
    {"mov.f32 %f1, 0f7FC00000; max.f32 %f2, %f1, 0f40000000; mov.b32 %r1, %f2;", 0x40000000},
    // Halfway between two, it rounds to even; the first operand is the upper half.
    {"mov.f32 %f1, 0f3F808000; mov.f32 %f2, 0f3F818000; cvt.rn.bf16x2.f32 %r1, %f1, %f2;",
     0x3F803F82},
    {"mov.f32 %f1, 0f447A0000; mov.f32 %f2, 0fBF800000; "
     "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2; cvt.u32.u16 %r1, %rs1;",
     0x7EB8},
    {"mov.f32 %f1, 0f3B000000; mov.f32 %f2, 0f3A800000; " // 2^-9 and its half
     "cvt.rn.satfinite.e4m3x2.f32 %rs1, %f1, %f2; cvt.u32.u16 %r1, %rs1;",
     0x0100},
    {"mov.u32 %r2, 0x8138; cvt.u16.u32 %rs1, %r2; cvt.rn.f16x2.e4m3x2 %r1, %rs1;", 0x98003C00},
    {"mul.rn.f16x2 %r1, 0x3C014200, 0x3C014200;", 0x3C024880},
    // 2^-127 and 2^-126 times 2^126; 1.5 times -2, less 0.25.
    {"fma.rn.bf16x2 %r1, 0x00800040, 0x7E807E80, 0x80008000;", 0x3F803F00},
    {"fma.rn.bf16x2 %r1, 0x3FC03FC0, 0xC000C000, 0xBE80BE80;", 0xC050C050},
    {"shfl.sync.bfly.b32 %r1|%p1, %r0, 16, 31, -1;", 21},
    {"shfl.sync.idx.b32 %r1|%p1, %r0, 3, 31, -1;", 3},
    {BYTES "ld.shared.s8 %r1, [%r8];", 0xFFFFFFFE},
    {BYTES "ld.shared.s16 %r1, [%r8];", 0xFFFF80FE},
    {BYTES "ld.shared.u8 %rs1, [%r8]; cvt.u32.u16 %r1, %rs1;", 0xFE},
    {BYTES "ld.shared.u16 %rs1, [%r8]; cvt.s32.s16 %r1, %rs1;", 0xFFFF80FE},
    {BYTES "ld.shared.u16 %rs1, [%r8]; cvt.s64.s16 %rd2, %rs1; shr.u64 %rd2, %rd2, 8; cvt.u32.u64 "
           "%r1, %rd2;",
     0xFFFFFF80},
    {"mov.u32 %r1, 0x80000000; cvt.rn.f32.u32 %r1, %r1;", 0x4F000000},
    {"mov.b16 %rs1, 0x12; mov.b16 %rs2, 0x34; st.shared.v2.u8 [%r8], {%rs1, %rs2}; ld.shared.u16 "
     "%r1, [%r8];",
     0x3412},
    {BYTES "ld.shared.v4.u16 {%rs1, %rs2, %rs3, %rs4}, [%r8]; cvt.u32.u16 %r1, %rs3;", 0x5678},
    {BYTES "cvt.s32.s8 %r1, %r2;", 0xFFFFFFFE},
    {BYTES "cvt.u16.u32 %rs1, %r2; setp.gt.s16 %p1, %rs1, 3; selp.b32 %r1, 1, 2, %p1;", 2},
    {BYTES "cvt.u16.u32 %rs1, %r2; setp.gt.u16 %p1, %rs1, 3; selp.b32 %r1, 1, 2, %p1;", 1},
    {BYTES "cvt.u16.u32 %rs1, %r2; setp.ne.s16 %p1, %rs1, -32514; selp.b32 %r1, 1, 2, %p1;", 2},
    {"setp.lt.u32 %p1, %r0, 6; mov.b16 %rs1, 9; selp.b16 %rs2, 7, %rs1, %p1; cvt.u32.u16 %r1, "
     "%rs2;",
     7},
    {"mov.f32 %f1, 0f3F800000; st.relaxed.gpu.global.f32 [%rd1], %f1;"
     "ld.relaxed.gpu.global.f32 %f2, [%rd1]; mov.b32 %r1, %f2;",
     0x3F800000},
    {"setp.eq.s32 %p1, %r0, 99; bar.red.or.pred %p2, 0, %p1; selp.u32 %r1, 1, 0, %p2;", 1},
    {"st.shared.u32 [%r8], %r0; bar.sync 0; xor.b32 %r2, %r0, 70; shl.b32 %r2, %r2, 4;"
     "add.s32 %r2, %r2, %r9; ld.shared.u32 %r1, [%r2];",
     67},
    {"setp.lt.u32 %p1, %r0, 5; mov.u32 %r1, 0; @%p1 bra $low; add.s32 %r1, %r1, 2; bra.uni $both;"
     "\n$low:\nadd.s32 %r1, %r1, 1;\n$both:\nbar.warp.sync -1; add.s32 %r1, %r1, 8;",
     10},
};

static void test_instructions_are_the_documents(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
    static const char *const put = "\nst.global.s32 [%rd1], %r1;";
    uint32_t results[THREADS] = {0};
    char body[1024];
    snprintf(body, sizeof body, "%s%s", values[i].body, put);
    const char *error = run(body, results);
    if (*error || results[5] != values[i].expected) {
      fail_msg("%s: %#x, not %#x (%s)", values[i].body, results[5], values[i].expected, error);
    }
  }
}

// Descriptors in %rd2 for the first multiple of 1024 bytes in shared memory; SUMS are 8 registers.
#define SUMS "{%f0, %f1, %f2, %f3, %f4, %f5, %f6, %f7}"
#define DESCRIBED                                                                                  \
  "add.s32 %r1, %r9, 1023; and.b32 %r1, %r1, -1024; shr.u32 %r1, %r1, 4; cvt.u64.u32 %rd2, %r1;"   \
  "or.b64 %rd2, %rd2, 4611686293305360384; setp.ne.b32 %p1, 0, 0;"
#define WGMMA                                                                                      \
  "wgmma.mma_async.sync.aligned.m64n16k32.f32.e4m3.e4m3 " SUMS ", %rd2, %rd2, %p1, 1, 1;"
#define WAIT "wgmma.commit_group.sync.aligned; wgmma.wait_group.sync.aligned 0;"

static const struct mistake {
  const char *body, *words; // "" for none
} mistakes[] = {
    {"add.u128 %r1, %r0, 1;", "unknown instruction 'add.u128'"},
    {"ld.global.L1::no_allocate.u32 %r1, [%rd1];", "unknown instruction 'ld.global.L1"},
    {"add.s32 %rd2, %r0, 1;", "operands of 'add.s32'"},
    {"mov.b32 {%rs1, %rs2, %rs3}, %r0;", "operands of 'mov.b32'"},
    {"mov.u32 %r1, %clock;", "what is '%clock'?"},
    {"mov.u32 %r99, 1;", "what is '%r99'?"},
    {".align 4;", "unknown directive '.align'"},
    {"bra $nowhere;", "there is no label $nowhere"},
    {"ld.global.u32 %r1, [%rd1+2];", "not aligned to 4"},
    {"ld.global.v4.u32 {%r1, %r2, %r3, %r4}, [%rd1+4];", "not aligned to 16"},
    {"ld.shared.v4.u32 {%r1, %r2, %r3, %r4}, [%r8+8];", "not aligned to 16"},
    {"ld.shared.u32 %r1, [%r9+16384];", "of shared memory"},
    {"ld.param.u32 %r1, [check_param_0+8];", "outside of the arguments"},
    {"ld.global.u32 %r1, [64];", "in no memory"},
    {"sub.s32 %r1, %r0, %r0; div.s32 %r1, 1, %r1;", "a division that is undefined"},
    {"setp.lt.u32 %p1, %r0, 5; @%p1 bra $end; bar.sync 0;\n$end:", "lanes 0x0000001f have ended"},
    {"setp.lt.u32 %p1, %r0, 32; @%p1 bra $end; bar.sync 0;\n$end:", "other warps have ended"},
    {"setp.lt.u32 %p1, %r0, 5; @%p1 bra $end; shfl.sync.bfly.b32 %r1|%p2, %r0, 1, 31, -1;\n$end:",
     "lanes 0x0000001f have ended"},
    {"setp.lt.u32 %p1, %r0, 5; @%p1 bra $low; bar.sync 0; bra.uni $end;\n$low:\nbar.sync 0;\n$end:",
     "not all lanes come here"},
    {"setp.lt.u32 %p1, %r0, 5; @%p1 bra.uni $end;\n$end:", "the same for all lanes is not"},
    {"setp.lt.u32 %p1, %r0, 5; @%p1 bar.sync 0;", "condition is the same"},
    {"mov.u32 %r1, 5; bar.warp.sync %r1;", "come to what is not for them"},
    {"cp.async.cg.shared.global [%r8], [%rd0], 16; ld.shared.u32 %r1, [%r8];", "is under way"},
    {"cp.async.cg.shared.global [%r8], [%rd0], 16; cp.async.wait_all; ld.shared.u32 %r1, [%r8];",
     ""},
    {"cp.async.cg.shared.global [%r8], [%rd1], 16;", "a copy from"},
    {"mbarrier.arrive.shared::cta.b64 _, [%r8];", "no barrier"},
    {"mbarrier.init.shared::cta.b64 [%r8], 2;\n$more:\n"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r8], 0; @!%p1 bra $more;",
     "all wait"},
    {"mbarrier.init.shared::cta.b64 [%r8], 1; mbarrier.arrive.shared::cta.b64 _, [%r8];\n$more:\n"
     "mbarrier.try_wait.parity.shared::cta.b64 %p1, [%r8], 0; @!%p1 bra $more;",
     ""},
    {"mbarrier.init.shared::cta.b64 [%r8], 1; mapa.shared::cluster.u32 %r1, %r8, 0;"
     "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%r1];\n$more:\n"
     "mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %p1, [%r8], 0; @!%p1 bra $more;",
     ""},
    {"mapa.shared::cluster.u32 %r1, %r8, 1;", "in block 1 of 1"},
    {"st.shared.u32 [%r8], %r0; mapa.shared::cluster.u32 %r1, %r8, 0;"
     "ld.shared::cluster.v4.u32 {%r1, %r2, %r3, %r4}, [%r1];",
     ""},
    {"add.s32 %r1, %r8, 8; mapa.shared::cluster.u32 %r1, %r1, 0;"
     "ld.shared::cluster.v4.u32 {%r1, %r2, %r3, %r4}, [%r1];",
     "not aligned to 16"},
    {"mov.u32 %r1, 33554432; ld.shared::cluster.v4.u32 {%r1, %r2, %r3, %r4}, [%r1];",
     "there is no block 1 in its cluster"},
    {"barrier.cluster.arrive.relaxed; barrier.cluster.wait.acquire;", ""},
    {"barrier.cluster.arrive.relaxed; barrier.cluster.arrive.relaxed;", "without having waited"},
    {"barrier.cluster.wait.acquire;", "without having arrived"},
    {"setp.lt.u32 %p1, %r0, 40; @%p1 bra $end; barrier.cluster.arrive.relaxed;"
     "barrier.cluster.wait.acquire;\n$end:",
     "all wait"},
    {"ld.global.u32 %r1, [%rd1]; griddepcontrol.wait;", "before griddepcontrol.wait"},
    {"griddepcontrol.wait; ld.global.u32 %r1, [%rd1];", ""},
    {"prefetch.global.L2 [%rd0]; ld.global.nc.u32 %r1, [%rd0];", ""},
    {"prefetch.global.L2 [%rd0];", "asked for ahead, and then not loaded"},
    {"ld.global.nc.u32 %r1, [%rd0]; prefetch.global.L2 [%rd0];", "and then not loaded"},
    {"$more:\nadd.s32 %r1, %r1, 1; bra $more;", "a warp that never ends"},
    {DESCRIBED "wgmma.fence.sync.aligned;" WGMMA WAIT "add.f32 %f9, %f0, %f1;", ""},
    {DESCRIBED WGMMA WAIT, "no wgmma.fence"},
    {"setmaxnreg.dec.sync.aligned.u32 44;", "44 is no number of registers"},
    // Of 65,536 registers, four blocks of 128 threads have 128 each.
    {"setmaxnreg.dec.sync.aligned.u32 40; bar.sync 0; setmaxnreg.inc.sync.aligned.u32 128;", ""},
    {"setmaxnreg.dec.sync.aligned.u32 40; bar.sync 0; setmaxnreg.inc.sync.aligned.u32 136;",
     "(setmaxnreg.inc.sync.aligned.u32): all wait"},
    {"setmaxnreg.inc.sync.aligned.u32 232;", "(setmaxnreg.inc.sync.aligned.u32): all wait"},
    {"setmaxnreg.inc.sync.aligned.u32 120;", "from 128 registers to 120"},
    {"setmaxnreg.dec.sync.aligned.u32 136;", "from 128 registers to 136"},
    {DESCRIBED "wgmma.fence.sync.aligned; mov.f32 %f1, 0f00000000;" WGMMA, "no wgmma.fence"},
    {DESCRIBED "wgmma.fence.sync.aligned;" WGMMA "add.f32 %f9, %f0, %f1;", "not waited for"},
    {DESCRIBED "wgmma.fence.sync.aligned;" WGMMA, "ends with wgmma under way"},
    {DESCRIBED "wgmma.fence.sync.aligned;" WGMMA "add.s32 %r1, %r9, 1024; and.b32 %r1, %r1, -1024;"
               "st.shared.u32 [%r1], %r0;" WAIT,
     "were changed before"},
    {DESCRIBED "add.s64 %rd2, %rd2, 8; wgmma.fence.sync.aligned;" WGMMA, "is not of an aligned"},
    {DESCRIBED "setp.lt.u32 %p2, %r0, 32; selp.b64 %rd3, 2, 0, %p2; add.s64 %rd2, %rd2, %rd3;"
               "wgmma.fence.sync.aligned;" WGMMA WAIT,
     "different instructions or matrices"},
};

static void test_what_is_undefined_is_found(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof mistakes / sizeof mistakes[0]; i++) {
    _Alignas(16) uint32_t results[THREADS] = {0};
    const char *error = run(mistakes[i].body, results), *words = mistakes[i].words;
    if (*words ? !strstr(error, words) : *error) {
      fail_msg("%s: '%s', not '%s'", mistakes[i].body, error, words);
    }
  }
}

// ---- the conversion of E4M3 in nvcc's code, through the tile that multiplies it

enum { COLUMNS_OF_MMA = 8 };

// All codes, four times in the tile; 0 instead of NaN, which is never a weight.
static uint8_t code_at(int row, int element) {
  const uint8_t code = (uint8_t)(row * TILE_CHECK_ELEMENTS + element);
  return (code & 0x7F) == 0x7F ? 0 : code;
}

// The product with the unit vectors from `first` on: that many elements of each row.
static const char *multiply_units(const struct architecture *a, int first, float *c) {
  _Alignas(16) static uint8_t codes[TILE_CHECK_ROWS * TILE_CHECK_ELEMENTS];
  _Alignas(16) static uint16_t units[COLUMNS_OF_MMA * TILE_CHECK_ELEMENTS];
  emulator_launch_function *launch;
  *(void **)&launch = library_symbol(a->handle, "emulator_launch_kernel");
  for (int i = 0; i < TILE_CHECK_ROWS * TILE_CHECK_ELEMENTS; i++) {
    codes[i] = code_at(i / TILE_CHECK_ELEMENTS, i % TILE_CHECK_ELEMENTS);
  }
  memset(units, 0, sizeof units);
  for (int column = 0; column < COLUMNS_OF_MMA; column++) {
    units[column * TILE_CHECK_ELEMENTS + first + column] = 0x3F80; // 1
  }
  const struct tile_check_arguments arguments = {codes, units, c};
  const struct emulator_launch one = {.kernel = "tile_check_e4m3_bf16",
                                      .grid = {1, 1, 1},
                                      .block = 32,
                                      .shared_bytes = TILE_CHECK_SHARED,
                                      .arguments = &arguments,
                                      .argument_bytes = sizeof arguments,
                                      .seed = 1};
  // cppcheck-suppress returnDanglingLifetime // a message, which is not of `one`
  return launch(&one);
}

static void test_every_code_of_e4m3(void **unused) {
  (void)unused;
  for (size_t i = 0; i < (SANITIZED ? 1 : ARCHITECTURES); i++) {
    const struct architecture *a = &architectures[i];
    if (access(a->ptx, R_OK) != 0) {
      continue;
    }
    for (int first = 0; first < TILE_CHECK_ELEMENTS; first += COLUMNS_OF_MMA) {
      _Alignas(16) float c[TILE_CHECK_ROWS * TILE_CHECK_ROWS];
      const char *error = multiply_units(a, first, c);
      assert_null(error);
      for (int row = 0; row < TILE_CHECK_ROWS; row++) {
        for (int column = 0; column < COLUMNS_OF_MMA; column++) {
          const uint8_t code = code_at(row, first + column);
          const float found = c[row * TILE_CHECK_ROWS + column];
          if (found != float_from_e4m3(code)) {
            fail_msg("%s: code %#x is %g", a->name, code, (double)found);
          }
        }
      }
    }
  }
}

// ---- whole steps

#define E4M3_ALL                                                                                   \
  { ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32 }
#define E4M3_WEIGHTS                                                                               \
  { ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32 }
#define BF16_ALL                                                                                   \
  { ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32 }

static const struct step {
  const char *tuning; // "" for the plan's own choices
  struct decode_types types;
  int batch, context;
  bool latent;
  int head_dim; // 0: the shape's
} steps[] = {
    {"step=graph", BF16_ALL, 1, 65, false, 0},
    {"step=streaming", E4M3_WEIGHTS, 2, 130, false, 0},
    {"", E4M3_ALL, 3, 64, false, 0},
    {"", BF16_ALL, 17, 3, false, 0},
    {"matrix=wgmma", E4M3_WEIGHTS, 33, 5, false, 0},
    {"matrix=registers", E4M3_ALL, 9, 70, false, 0},
    {"step=streaming", BF16_ALL, 1, 1, false, 0},
    {"step=streaming", E4M3_WEIGHTS, 4, 66, false, 0},
    {"attention_splits=2", BF16_ALL, 1, 90, true, 0},
    {"", E4M3_WEIGHTS, 9, 70, true, 0},
    {"step=streaming", BF16_ALL, 2, 70, false, 64},
    {"step=streaming", E4M3_WEIGHTS, 1, 66, false, 42},
};
#define STEPS (sizeof steps / sizeof steps[0])

// Nothing is a multiple of a tile.
static const struct decode_shape shape = {.layers = 1,
                                          .hidden = 72,
                                          .heads = 6,
                                          .kv_heads = 2,
                                          .head_dim = 80,
                                          .ffn_hidden = 101,
                                          .vocab = 203,
                                          .norm_epsilon = 1e-5f,
                                          .rope_theta = 1e4f};

static const struct decode_shape latent_shape = {
    .layers = 1,
    .hidden = 72,
    .heads = 17,
    .head_dim = 44,
    .ffn_hidden = 101,
    .vocab = 203,
    .norm_epsilon = 1e-5f,
    .rope_theta = 1e4f,
    .latent = {.rank = 72, .query_rank = 88, .rope_dim = 12, .value_dim = 27}};

// One step; returns NULL, or what went wrong.
static const char *step_error(const struct architecture *a, const struct step *s) {
  static char words[768];
  static float logits[33 * 203];
  struct decode_request request = {.shape = s->latent ? latent_shape : shape,
                                   .types = s->types,
                                   .batch = s->batch,
                                   .context = s->context,
                                   .seed = 20};
  if (s->head_dim > 0) {
    request.shape.head_dim = s->head_dim;
  }
  enum decode_status status = DECODE_OK;
  int tokens[33];
  decode_plugin *plugin;
  *(void **)&plugin = library_symbol(a->handle, DECODE_PLUGIN);
  const struct decode_backend *backend = plugin();
  struct decode_state *state = backend->create(0, &request, &status);
  struct reference *reference = reference_create(&request, &status);
  assert_non_null(reference);
  reference_step(reference);
  if (!state || backend->run(state, 1) != DECODE_OK ||
      backend->logits(state, logits) != DECODE_OK || backend->tokens(state, tokens) != DECODE_OK) {
    snprintf(words, sizeof words, "%s", backend->error());
  } else {
    const struct reference_verdict verdict =
        reference_check(reference, logits, tokens, reference_tolerance(&s->types));
    words[0] = '\0';
    if (!verdict.pass) {
      snprintf(words, sizeof words, "error %g, shortfall %g", verdict.error, verdict.shortfall);
    }
  }
  backend->destroy(state);
  reference_destroy(reference);
  return words[0] ? words : NULL;
}

// The kernels that measure a device's memory and its matrix unit.
static void test_calibration_runs(void **unused) {
  (void)unused;
  for (size_t i = 0; i < (SANITIZED ? 1 : ARCHITECTURES); i++) {
    const struct architecture *a = &architectures[i];
    double seconds = 0, rate = 0;
    int variant = 0;
    decode_plugin *plugin;
    *(void **)&plugin = library_symbol(a->handle, DECODE_PLUGIN);
    const struct decode_backend *backend = plugin();
    if (access(a->ptx, R_OK) != 0) {
      continue;
    }
    while (backend->read_memory(0, 5 * 65536 + 100, 0, variant, &seconds) == DECODE_OK) {
      variant++;
    }
    assert_int_equal(variant, 3);
    backend->calibration_end();
    for (size_t s = 0; s < 3; s++) {
      if (backend->matrix_rate(0, &steps[s].types, 0, &rate) != DECODE_OK) {
        fail_msg("%s: %s", a->name, backend->error());
      }
    }
  }
}

// Copies a->ptx with `to`, of the same length, in place of `from` everywhere, or in one kernel
// only. False: it does not occur.
static bool alter(const struct architecture *a, const char *kernel, const char *from,
                  const char *to, int out) {
  FILE *file = fopen(a->ptx, "r");
  char *text = NULL;
  size_t room = 0;
  const ssize_t size = file ? getdelim(&text, &room, '\0', file) : -1;
  if (file) {
    fclose(file);
  }
  bool found = false;
  char *const start = size <= 0 ? NULL : kernel ? strstr(text, kernel) : text;
  char *const end = start && kernel ? strstr(start, ".entry ") : NULL;
  char *at = start ? strstr(start, from) : NULL;
  for (; at && (!end || at < end); at = strstr(at, from)) {
    memcpy(at, to, strlen(to));
    found = true;
  }
  assert_true(!found || write(out, text, (size_t)size) == size);
  free(text);
  return found;
}

static void test_altered_kernels_are_noticed(void **unused) {
  static const struct {
    const char *from, *to;
    size_t step;
    const char *words, *kernel; // its entry's name and the next character; NULL: all
  } alterations[] = {
      {"neg.f32", "abs.f32", 0, "error ", NULL},
      {"cp.async.wait_group", "//.async.wait_group", 5, "a copy is under way", NULL},
      {"griddepcontrol.wait", "//iddepcontrol.wait", 0, "before griddepcontrol", NULL},
      {"atom.acq_rel.gpu", "atom.relaxed.gpu", 5, "unknown instruction", NULL},
      {"dec.sync.aligned.u32 40;", "dec.sync.aligned.u32 48;", 4, "all wait", NULL},
      {"cvt.rn.f16x2.e4m3x2", "cvt.rn.f16x2.e5m2x2", 5, "unknown instruction", NULL},
      {"bar.sync", "//r.sync", 8, "", "latent_bf16("},
      {"ex2.approx", "//2.approx", 8, "", "latent_bf16("},
      {"shfl.sync.bfly", "//fl.sync.bfly", 8, "", "latent_bf16("}};
  (void)unused;
  if (access(architectures[0].ptx, R_OK) != 0) {
    skip();
  }
  setenv("EMULATOR_SHARED", "232448", 1); // for wgmma
  for (size_t i = 0; i < (SANITIZED ? 1 : sizeof alterations / sizeof alterations[0]); i++) {
    char path[] = "/tmp/ptx-XXXXXX";
    const int file = mkstemp(path);
    assert_int_equal(strlen(alterations[i].from), strlen(alterations[i].to));
    assert_true(alter(&architectures[0], alterations[i].kernel, alterations[i].from,
                      alterations[i].to, file));
    close(file);
    setenv("PTX_FILE", path, 1);
    setenv("PERTOKEN_GPU_TUNING", steps[alterations[i].step].tuning, 1);
    const char *error = step_error(&architectures[0], &steps[alterations[i].step]);
    unsetenv("PERTOKEN_GPU_TUNING");
    unsetenv("PTX_FILE");
    unlink(path);
    if (!error || !strstr(error, alterations[i].words)) {
      fail_msg("%s: %s", alterations[i].from, error ? error : "not noticed");
    }
  }
  unsetenv("EMULATOR_SHARED");
}

static void test_whole_steps_are_the_oracles(void **unused) {
  (void)unused;
  int there = 0;
  setenv("EMULATOR_SHARED", "232448", 1); // of sm_90; the others have less and the same plans
  for (size_t i = 0; i < (SANITIZED ? 1 : ARCHITECTURES); i++) {
    const struct architecture *a = &architectures[i];
    if (access(a->ptx, R_OK) != 0) {
      printf("skipped: %s is not there, which needs nvcc\n", a->ptx);
      continue;
    }
    there++;
    for (size_t s = 0; s < STEPS; s++) {
      const bool fits = a->wgmma || strcmp(steps[s].tuning, "matrix=wgmma") != 0;
      if (!fits || (i > 1 && s % 2 == 0 && s != 2)) {
        continue; // not of this architecture, or the same as an earlier one
      }
      setenv("PERTOKEN_GPU_TUNING", steps[s].tuning, 1);
      const char *error = step_error(a, &steps[s]);
      if (error) {
        fail_msg("%s, step %zu (%s): %s", a->name, s, steps[s].tuning, error);
      }
    }
  }
  unsetenv("PERTOKEN_GPU_TUNING");
  unsetenv("EMULATOR_SHARED");
  if (!there) {
    skip();
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_instructions_are_the_documents),
      cmocka_unit_test(test_what_is_undefined_is_found),
  };
  const struct CMUnitTest deep[] = {
      cmocka_unit_test(test_every_code_of_e4m3),
      cmocka_unit_test(test_whole_steps_are_the_oracles),
      cmocka_unit_test(test_calibration_runs),
      cmocka_unit_test(test_altered_kernels_are_noticed),
  };
  if (load(NULL)) {
    return 1;
  }
  int failed = cmocka_run_group_tests(tests, NULL, NULL);
  failed += depth_is_full() ? cmocka_run_group_tests(deep, NULL, NULL) : 0;
  return unload(NULL) + failed;
}
