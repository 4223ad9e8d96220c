// A library for the fake HIP (FAKE_HIP_EMULATOR) that computes a launch by executing the kernel's
// own machine code. The semantics of instructions are not ours: they come from the emulator of
// AMD's instruction sets in tinygrad, which was generated from AMD's documents and is tested
// against GPUs; instructions.py requests each instruction once, as a compiled function. Ours is
// everything around them: code objects, the initial state of a wave, blocks, barriers, and the
// instructions that it lacks.
//
// Sources: LLVM, User Guide for AMDGPU Backend ("Kernel Descriptor", "Initial Kernel Execution
// State"); the layout of a wave's registers is that of tinygrad's functions (instructions.py).
//
// It is strict where a GPU is lenient: registers and shared memory begin as NaNs, and an access
// beyond a block's shared memory, or a kernel that needs what is not supported, fails the launch.
//
// KERNELS_LOG in the environment is a file to which the names of completed kernels are appended.
#include <elf.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <xmmintrin.h>

#include "kernels/weights.h"
#include "tests/stand_ins/emulator/launch.h"

enum {
  SCALARS = 260, // 0 to 127 registers, to 255 constants, then the program counter and SCC
  EXECUTE = 126,
  COUNTER = 256,
  VECTORS = 256,
  MAX_LANES = 64,
  MAX_WAVES = 128, // resident at once
  MAX_CODES = 8,
  SLICE = 20000, // instructions until another wave's turn, as waves may wait for each other
  PAGE = 4096
};

#define ENDED UINT64_MAX // the program counter after s_endpgm

// What instructions.py makes of an instruction; its Instruction has the same fields.
enum action { ORDINARY, BARRIER, NOTHING, FP8_TO_F32, F32_TO_FP8, LEFT_OUT };
struct instruction {
  void (*function)(void);
  int32_t action, bytes, count;
  int32_t shared_bytes, shared_offsets[2]; // what it touches of shared memory, from its address
  int32_t arguments[6]; // 0 scalars, 1 vectors, 2 memory, 3 shared, 4 scratch, 5 accumulators
};

typedef int translate_function(uint64_t counter, struct instruction *out);

struct code {
  const void *image;
  unsigned char *loaded;
  size_t bytes;
  struct instruction *instructions; // one for every four bytes, filled in when reached
};

// As in the code object.
struct descriptor {
  uint32_t shared_bytes, scratch_bytes, argument_bytes, reserved;
  int64_t entry;
  unsigned char reserved_too[20];
  uint32_t resources[3]; // 3, 1, 2
  uint16_t properties, preload;
};

struct wave {
  _Alignas(64) uint32_t accumulators[VECTORS * MAX_LANES];
  _Alignas(64) uint32_t scalars[SCALARS];
  _Alignas(64) uint32_t vectors[VECTORS * MAX_LANES];
  unsigned char *shared;
  size_t shared_bytes;
  bool waits, ended;
};

static struct {
  pthread_mutex_t lock;
  translate_function *translate;
  char broken[128];          // the kernel in which LEFT_OUT instructions do nothing
  uint32_t scalars[SCALARS]; // with the constants
  struct code codes[MAX_CODES];
  struct wave *waves;               // preceded by one that is never used: see shared_of
  unsigned char *shared[MAX_WAVES]; // of the blocks
  const char *volatile kernel;      // and the place in it, for the handler of invalid accesses
  volatile uint64_t at;
  char why[200];
} state = {.lock = PTHREAD_MUTEX_INITIALIZER};

static const char *refuse(const char *kernel, const char *why) {
  snprintf(state.why, sizeof state.why, "%s: %s", kernel, why);
  return state.why;
}

// The place in the code object, in a disassembler's numbering.
static const char *refuse_at(const char *kernel, uint64_t address, const char *why) {
  snprintf(state.why, sizeof state.why, "%s: at %" PRIx64 ": %s", kernel, address, why);
  return state.why;
}

// For a signal handler, which may not use the standard library's formatting.
static void wild(int signal_number) {
  char words[] = ": at ........: an access outside memory\n";
  uint64_t at = state.at;
  for (int i = 12; i > 4; i--, at /= 16)
    words[i] = "0123456789abcdef"[at % 16];
  if (write(STDERR_FILENO, state.kernel, strlen(state.kernel)) < 0 ||
      write(STDERR_FILENO, words, sizeof words - 1) < 0)
    _exit(2);
  signal(signal_number, SIG_DFL);
}

// Called before any launch. `scalars` [SCALARS]: registers 128 to 255 hold the constants that they
// represent. `broken`: the kernel in which instructions are left out, "" for none. -1 if memory
// runs out.
__attribute__((visibility("default"))) int
instructions_begin(translate_function *translate, const uint32_t *scalars, const char *broken);
int instructions_begin(translate_function *translate, const uint32_t *scalars, const char *broken) {
  state.waves = aligned_alloc(64, (MAX_WAVES + 1) * sizeof *state.waves);
  if (!state.waves++)
    return -1;
  state.translate = translate;
  snprintf(state.broken, sizeof state.broken, "%s", broken);
  memcpy(state.scalars, scalars, sizeof state.scalars);
  return 0;
}

// ---- code objects

static const Elf64_Ehdr *header_of(const struct code *code) {
  return code->image;
}

static const void *in_image(const struct code *code, uint64_t offset) {
  return (const unsigned char *)code->image + offset;
}

// Determines the memory that the segments take or, once there is memory, loads them.
static void each_segment(struct code *code) {
  const Elf64_Phdr *segment = in_image(code, header_of(code)->e_phoff);
  for (int i = 0; i < header_of(code)->e_phnum; i++, segment++) {
    const uint64_t end = segment->p_vaddr + segment->p_memsz;
    if (segment->p_type != PT_LOAD)
      continue;
    if (code->loaded)
      memcpy(code->loaded + segment->p_vaddr, in_image(code, segment->p_offset), segment->p_filesz);
    else if (code->bytes < end)
      code->bytes = end;
  }
}

static struct code *find_code(const void *image) {
  struct code *code = state.codes, *end = state.codes + MAX_CODES;
  while (code < end && code->image && code->image != image)
    code++;
  if (code == end || code->image == image)
    return code < end ? code : NULL;
  code->image = image;
  each_segment(code);
  code->bytes += 64; // an instruction is read before its length is known
  code->instructions = calloc(code->bytes / 4 + 1, sizeof *code->instructions);
  code->loaded = aligned_alloc(PAGE, (code->bytes + PAGE - 1) / PAGE * PAGE);
  if (!code->loaded || !code->instructions)
    return NULL;
  memset(code->loaded, 0, code->bytes);
  each_segment(code);
  return code;
}

// At the symbol NAME.kd of a symbol table; NULL if it is not there.
static const struct descriptor *find_symbol(const struct code *code, const Elf64_Shdr *table,
                                            const char *kernel) {
  const Elf64_Shdr *sections = in_image(code, header_of(code)->e_shoff);
  const char *names = in_image(code, sections[table->sh_link].sh_offset);
  const Elf64_Sym *symbol = in_image(code, table->sh_offset);
  const size_t length = strlen(kernel);
  for (size_t i = 0; i < table->sh_size / sizeof *symbol; i++, symbol++) {
    const char *name = names + symbol->st_name;
    if (!strncmp(name, kernel, length) && !strcmp(name + length, ".kd"))
      return (const void *)(code->loaded + symbol->st_value);
  }
  return NULL;
}

static const struct descriptor *find_descriptor(const struct code *code, const char *kernel) {
  const Elf64_Shdr *section = in_image(code, header_of(code)->e_shoff);
  const struct descriptor *found = NULL;
  for (int i = 0; i < header_of(code)->e_shnum && !found; i++, section++)
    if (section->sh_type == SHT_DYNSYM)
      found = find_symbol(code, section, kernel);
  return found;
}

// EF_AMDGPU_MACH of the code object's flags.
enum machine { GFX1100 = 0x41, GFX942 = 0x4c, GFX1201 = 0x4e };

static unsigned machine_of(const struct code *code) {
  return header_of(code)->e_flags & 0xFF;
}

static bool is_rdna(const struct code *code) {
  return machine_of(code) == GFX1100 || machine_of(code) == GFX1201;
}

// ---- waves

static void set_address(struct wave *wave, int at, const void *address) {
  wave->scalars[at] = (uint32_t)(uintptr_t)address;
  wave->scalars[at + 1] = (uint32_t)((uintptr_t)address >> 32);
}

// The initial registers of a wave of the block: addresses, after a descriptor of scratch memory
// that it does not use, then the block's number (in gfx12's trap registers), and the thread's
// number within the block.
static const char *set_up(struct wave *wave, const struct code *code,
                          const struct descriptor *descriptor, const void *arguments,
                          const unsigned block[3], int first_thread, int lanes) {
  enum { // from the descriptor's properties and rsrc2; registers
    SCRATCH = 1 << 0,
    ARGUMENTS = 1 << 3,
    OTHERS = 0x76, // the launch's packet and number, queue, scratch's address and size
    BLOCK_X = 1 << 7,
    IN_TRAP = 108,
    NONE = 124
  };
  const uint32_t rsrc2 = descriptor->resources[2];
  const uint64_t entry = (uint64_t)(uintptr_t)descriptor + (uint64_t)descriptor->entry;
  int next = 0;
  memset(wave->vectors, 0xFF, sizeof wave->vectors);
  memset(wave->accumulators, 0xFF, sizeof wave->accumulators);
  memcpy(wave->scalars, state.scalars, sizeof wave->scalars);
  memset(wave->scalars, 0xFF, 128 * sizeof *wave->scalars);
  if (descriptor->properties & OTHERS || descriptor->preload)
    return "wants registers that are not set here";
  if (descriptor->properties & SCRATCH)
    next += 4;
  if (descriptor->properties & ARGUMENTS)
    set_address(wave, next, arguments);
  next = rsrc2 >> 1 & 31;
  for (int axis = 0; axis < 3; axis++)
    if (rsrc2 & (unsigned)(BLOCK_X << axis))
      wave->scalars[next++] = block[axis];
  if (is_rdna(code))
    wave->scalars[NONE] = 0;
  if (machine_of(code) == GFX1201) {
    wave->scalars[IN_TRAP + 9] = block[0];
    wave->scalars[IN_TRAP + 7] = block[1] | block[2] << 16;
  }
  for (int lane = 0; lane < lanes; lane++)
    wave->vectors[lane] = (uint32_t)(first_thread + lane);
  wave->scalars[EXECUTE] = UINT32_MAX;
  wave->scalars[EXECUTE + 1] = lanes == 64 ? UINT32_MAX : 0;
  wave->scalars[COUNTER] = (uint32_t)entry;
  wave->scalars[COUNTER + 1] = (uint32_t)(entry >> 32);
  wave->waits = wave->ended = false;
  return NULL;
}

static uint64_t counter_of(const struct wave *wave) {
  return wave->scalars[COUNTER] | (uint64_t)wave->scalars[COUNTER + 1] << 32;
}

static void advance(struct wave *wave, int bytes) {
  const uint64_t next = counter_of(wave) + (uint64_t)bytes;
  wave->scalars[COUNTER] = (uint32_t)next;
  wave->scalars[COUNTER + 1] = (uint32_t)(next >> 32);
}

// ---- what tinygrad's emulator lacks: fp8 to and from f32. AMD, "Instinct MI300" ISA, chapter 16,
// V_CVT_PK_F32_FP8 and V_CVT_PK_FP8_F32: two elements of the low half, first in the low byte; the
// destination's other half is kept. A value out of range becomes NaN here.

static uint32_t operand(const struct wave *wave, unsigned source, int lanes, int lane) {
  return source < 256 ? wave->scalars[source] : wave->vectors[(int)(source - 256) * lanes + lane];
}

static bool is_active(const struct wave *wave, int lane) {
  return wave->scalars[EXECUTE + lane / 32] >> lane % 32 & 1;
}

static float as_float(uint32_t bits) {
  float value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint32_t as_bits(float value) {
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

// FNUZ has a bias of 8, no infinities, and its only NaN in place of -0.
static float decode_fp8(uint8_t code, bool fnuz) {
  if (!fnuz)
    return float_from_e4m3(code);
  if (code == 0x80)
    return as_float(0x7FC00000);
  const int exponent = code >> 3 & 15, mantissa = code & 7;
  const float magnitude = exponent ? (float)(8 + mantissa) * 0x1p-11f * (float)(1 << exponent)
                                   : (float)mantissa * 0x1p-10f;
  return code & 0x80 ? -magnitude : magnitude;
}

// The nearest code or, of two equally near ones, the even one: by trying.
static uint8_t encode_fp8(float value, bool fnuz) {
  const uint8_t nan = fnuz ? 0x80 : 0x7F, largest = fnuz ? 0x7F : 0x7E;
  const float magnitude = value < 0 ? -value : value;
  uint8_t code = 0;
  if (!(magnitude <= decode_fp8(largest, fnuz)))
    return nan;
  while (code < largest && decode_fp8((uint8_t)(code + 1), fnuz) <= magnitude)
    code++;
  if (code < largest) {
    const float below = magnitude - decode_fp8(code, fnuz),
                above = decode_fp8((uint8_t)(code + 1), fnuz) - magnitude;
    if (above < below || (above == below && code & 1))
      code++;
  }
  return value < 0 && (code || !fnuz) ? (uint8_t)(code | 0x80) : code;
}

static void fp8_to_f32(struct wave *wave, const uint32_t *words, int lanes, bool fnuz) {
  const unsigned to = words[0] >> 17 & 255;
  for (int lane = 0; lane < lanes; lane++) {
    const uint32_t pair = operand(wave, words[0] & 511, lanes, lane);
    for (unsigned i = 0; i < 2 && is_active(wave, lane); i++)
      wave->vectors[(int)(to + i) * lanes + lane] =
          as_bits(decode_fp8((uint8_t)(pair >> 8 * i), fnuz));
  }
}

static void f32_to_fp8(struct wave *wave, const uint32_t *words, int lanes, bool fnuz) {
  const int to = (int)(words[0] & 255), high = words[0] >> 14 & 1;
  for (int lane = 0; lane < lanes; lane++) {
    const float first = as_float(operand(wave, words[1] & 511, lanes, lane));
    const float second = as_float(operand(wave, words[1] >> 9 & 511, lanes, lane));
    const uint32_t pair = encode_fp8(first, fnuz) | (uint32_t)encode_fp8(second, fnuz) << 8;
    uint32_t *out = &wave->vectors[to * lanes + lane];
    if (is_active(wave, lane))
      *out = high ? (*out & 0xFFFF) | pair << 16 : (*out & 0xFFFF0000) | pair;
  }
}

// ---- execution

// DS instructions: the address is in the register named by the second word's first byte; address
// and offset wrap around together.
static bool within_shared(const struct wave *wave, const struct instruction *it,
                          const uint32_t *words, int lanes) {
  for (int lane = 0; lane < lanes && it->shared_bytes; lane++)
    for (int i = 0; i < 2 && is_active(wave, lane); i++) {
      const uint32_t base = wave->vectors[(int)(words[1] & 255) * lanes + lane];
      const uint32_t address = base + (uint32_t)it->shared_offsets[i];
      if ((uint64_t)address + (uint64_t)it->shared_bytes > wave->shared_bytes) {
        fprintf(stderr, "lane %d: %d bytes at %u of %zu\n", lane, it->shared_bytes, address,
                wave->shared_bytes);
        return false;
      }
    }
  return true;
}

static void call(const struct instruction *it, struct wave *wave, bool rdna) {
  void *const all[] = {wave->scalars, wave->vectors, NULL,
                       wave->shared,  NULL,          rdna ? wave->vectors : wave->accumulators};
  void *a[6] = {NULL};
  for (int i = 0; i < it->count; i++)
    a[i] = all[it->arguments[i]];
  ((void (*)(void *, void *, void *, void *, void *, void *))it->function)(a[0], a[1], a[2], a[3],
                                                                           a[4], a[5]);
}

static const char *step(struct wave *wave, struct code *code, const char *kernel) {
  const uint64_t counter = counter_of(wave);
  const uint64_t offset = counter - (uint64_t)(uintptr_t)code->loaded;
  const int lanes = is_rdna(code) ? 32 : 64;
  const bool fnuz = machine_of(code) == GFX942;
  if (offset >= code->bytes)
    return refuse(kernel, "runs out of its code");
  struct instruction *it = &code->instructions[offset / 4];
  if (!it->bytes && state.translate(counter, it) != 0)
    return refuse_at(kernel, offset, "an instruction that is not known");
  const uint32_t *words = (const uint32_t *)(code->loaded + offset);
  enum action action = (enum action)it->action;
  if (action == LEFT_OUT)
    action = strcmp(kernel, state.broken) == 0 ? NOTHING : ORDINARY;
  switch (action) {
  case LEFT_OUT:
  case ORDINARY:
    state.at = offset;
    if (!within_shared(wave, it, words, lanes))
      return refuse_at(kernel, offset, "an access behind the block's shared memory");
    call(it, wave, is_rdna(code));
    return NULL;
  case BARRIER: wave->waits = true; break;
  case FP8_TO_F32: fp8_to_f32(wave, words, lanes, fnuz); break;
  case F32_TO_FP8: f32_to_fp8(wave, words, lanes, fnuz); break;
  case NOTHING: break;
  }
  advance(wave, it->bytes);
  return NULL;
}

// Gives each wave of all blocks a turn, until none has anything left to do. A barrier opens when
// all waves of the block that have not ended wait at it.
static const char *run_waves(struct code *code, int blocks, int waves, const char *kernel) {
  for (int left = 1; left;) {
    left = 0;
    for (int block = 0; block < blocks; block++) {
      struct wave *first = state.waves + block * waves;
      int waiting = 0, running = 0;
      for (struct wave *wave = first; wave < first + waves; wave++) {
        for (int i = 0; i < SLICE && !wave->waits && !wave->ended; i++) {
          const char *why = step(wave, code, kernel);
          if (why)
            return why;
          wave->ended = counter_of(wave) == ENDED;
        }
        running += !wave->ended;
        waiting += !wave->ended && wave->waits;
      }
      for (struct wave *wave = first; wave < first + waves && waiting == running; wave++)
        wave->waits = false;
      left += running;
    }
  }
  return NULL;
}

// tinygrad's functions also read shared memory for inactive lanes, at any address, and discard the
// result; likewise registers before the first.
static unsigned char *shared_of(int block) {
  enum { REAL = 1 << 17 };
  const size_t reached = (size_t)UINT32_MAX + REAL;
  unsigned char **memory = &state.shared[block];
  if (!*memory) {
    void *all = mmap(NULL, reached, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (all == MAP_FAILED || mprotect(all, REAL, PROT_READ | PROT_WRITE))
      return NULL;
    *memory = all;
  }
  memset(*memory, 0xFF, REAL);
  return *memory;
}

static const char *run_blocks(const struct emulator_launch *launch, struct code *code,
                              const struct descriptor *descriptor, unsigned first, int blocks) {
  const int lanes = is_rdna(code) ? 32 : 64, waves = (int)launch->block / lanes;
  const size_t bytes = descriptor->shared_bytes + launch->shared_bytes;
  const char *why = NULL;
  for (int b = 0; b < blocks && !why; b++) {
    const unsigned number = first + (unsigned)b;
    const unsigned block[] = {number % launch->grid[0], number / launch->grid[0] % launch->grid[1],
                              number / launch->grid[0] / launch->grid[1]};
    unsigned char *shared = shared_of(b);
    if (!shared)
      why = refuse(launch->kernel, "no memory");
    for (int w = 0; w < waves && !why; w++) {
      struct wave *wave = &state.waves[b * waves + w];
      why = set_up(wave, code, descriptor, launch->arguments, block, w * lanes, lanes);
      why = why ? refuse(launch->kernel, why) : NULL;
      wave->shared = shared;
      wave->shared_bytes = bytes;
    }
  }
  if (!why)
    why = run_waves(code, blocks, waves, launch->kernel);
  return why;
}

static const char *run_all(const struct emulator_launch *launch, struct code *code) {
  const struct descriptor *descriptor = find_descriptor(code, launch->kernel);
  const unsigned all = launch->grid[0] * launch->grid[1] * launch->grid[2];
  const unsigned lanes = is_rdna(code) ? 32 : 64, at_once = launch->cooperative ? all : 1;
  if (!descriptor || descriptor->scratch_bytes || launch->block % lanes ||
      descriptor->argument_bytes != launch->argument_bytes ||
      at_once * (launch->block / lanes) > MAX_WAVES)
    return refuse(launch->kernel, "is not launched as its descriptor says");
  const char *why = NULL;
  for (unsigned first = 0; first < all && !why; first += at_once)
    why = run_blocks(launch, code, descriptor, first, (int)at_once);
  return why;
}

static void log_kernel(const char *kernel) {
  const char *path = getenv("KERNELS_LOG");
  FILE *file = path ? fopen(path, "a") : NULL;
  if (file) {
    fprintf(file, "%s\n", kernel);
    fclose(file);
  }
}

// f32 denormals are flushed if the descriptor's mode says so (FLOAT_DENORM_MODE_32 of rsrc1).
static const char *launch_kernel(const struct emulator_launch *launch) {
  enum { FLUSH = 0x8040, DENORMALS = 3 << 16 };
  struct code *code = state.translate ? find_code(launch->image) : NULL;
  const struct descriptor *descriptor = code ? find_descriptor(code, launch->kernel) : NULL;
  if (!descriptor)
    return refuse(launch->kernel, "no such code, or nothing to read it");
  const unsigned mode = _mm_getcsr();
  state.kernel = launch->kernel;
  signal(SIGSEGV, wild);
  if (!(descriptor->resources[1] & DENORMALS))
    _mm_setcsr(mode | FLUSH);
  const char *why = run_all(launch, code);
  _mm_setcsr(mode);
  if (!why)
    log_kernel(launch->kernel);
  return why;
}

__attribute__((visibility("default"))) emulator_launch_function emulator_launch_kernel;
const char *emulator_launch_kernel(const struct emulator_launch *launch) {
  pthread_mutex_lock(&state.lock);
  const char *why = launch_kernel(launch);
  pthread_mutex_unlock(&state.lock);
  return why;
}
