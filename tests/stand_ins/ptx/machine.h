// machine: what the parts of the interpreter (ptx.h) share.
#ifndef PERTOKEN_TESTS_STAND_INS_PTX_MACHINE_H
#define PERTOKEN_TESTS_STAND_INS_PTX_MACHINE_H

#include <stddef.h>
#include <stdint.h>

enum { LANES = 32, MAX_WARPS = 32, GROUP_WARPS = 4, GRANULE = 16, MAX_CALLED = 8 };
enum : uint32_t { ALL_LANES = 0xFFFFFFFFu };

// A register is 32 lanes; a predicate is the bits of u[0]. 16-bit values are in the low half.
union lanes32 {
  uint32_t u[LANES];
  int32_t s[LANES];
  float f[LANES];
};
union lanes64 {
  uint64_t u[LANES];
  int64_t s[LANES];
};

enum width { PREDICATE, BITS16, BITS32, BITS64 };

// How the machine executes an instruction.
enum manner : uint8_t {
  PLAIN,
  BRANCH,
  RETURN, // from the kernel's code, or from a function's if `target` is not 0
  CALL,
  WARP_TOGETHER,  // all lanes that are active
  MASK_TOGETHER,  // the lanes of the mask in the last operand
  BLOCK_WAIT,     // all warps, of which together
  CLUSTER_WAIT,   // all threads of the cluster, each by itself
  WGMMA_TOGETHER, // like WARP_TOGETHER, with rules of its own for registers
};

struct warp;
struct instruction;
typedef void operation(struct warp *, const struct instruction *, uint32_t mask);

// One instruction by its full name. `operands`: destinations before '=', one letter each, a number
// for repetition: p predicate, h r d for 16, 32, 64 bits, i a constant, L a label, _ nothing;
// brackets are written where they appear.
struct operation_entry {
  const char *name, *operands;
  operation *run;
  enum manner manner;
};
extern const struct operation_entry arithmetic_operations[], memory_operations[],
    matrix_operations[];

struct instruction {
  const struct operation_entry *what;
  uint32_t *at; // of the operands, in lanes32 of the warp's file
  int outs, count, line;
  int guard; // -1: none
  bool guard_not;
  int target;     // of a branch or call
  int64_t offset; // added to the address in brackets
};

// A register that holds the same value in all lanes from the start.
enum constant_kind {
  NUMBER,
  SHARED_BEGIN,
  STATIC_BEGIN,
  PARAMETER_BEGIN,
  THREAD_X,
  BLOCK_SIZE_X,
  BLOCK_AXIS,
  GRID_AXIS,
  CLUSTER_RANK
};
struct constant {
  enum constant_kind kind;
  enum width width;
  uint64_t value; // or which axis
  uint32_t at;
};

struct kernel {
  char name[128];
  const char *text; // after the name
  int line;         // where that is
  bool parsed;
  struct instruction *code;
  int code_count;
  struct constant *constants;
  int constant_count;
  uint32_t file_size; // in lanes32
  size_t parameter_bytes;
  unsigned most_threads;
  unsigned registers;      // of a thread at launch; 0 without .minnctapersm: not known
  bool has_wgmma, depends; // has griddepcontrol
};

// Functions are kernels without arguments here, which are inlined into the code of their callers.
// There is at most one static variable in shared memory.
struct module {
  char file[64]; // its name without folders
  char *text;
  struct kernel *kernels;
  int kernel_count;
  char static_name[128]; // "" for none
  uint32_t static_bytes, static_alignment;
};

// NULL, with the reason in *why: it cannot be read.
struct module *module_read(const char *path, const char **why);
void module_free(struct module *); // NULL is allowed
// Fills in the kernel, once; false, with the reason in `why`.
bool kernel_parse(const struct module *, struct kernel *, char *why, size_t size);

// ---- a running block

struct fragment { // lanes of a warp at one place
  int pc;
  uint32_t mask;
  bool waits; // for the warp's other lanes, at an instruction that they execute together
};

struct pending_copy { // cp.async of one lane
  uint32_t lane_bit, to;
  const unsigned char *from;
  uint32_t group; // of the lane's, counted from 0
};
struct pending_box { // cp.async.bulk.tensor, and cp.async.bulk
  const void *map;   // of the first, else NULL
  int32_t byte, row;
  uint32_t to, barrier;
  const unsigned char *from; // of the second
  uint32_t bytes;
};
struct pending_wgmma {
  const struct instruction *in;
  uint64_t a, b, hash; // descriptors, and what they described
};

enum {
  MAX_COPIES = 1 << 14,
  MAX_BOXES = 512,
  MAX_WGMMA = 64,
  WGMMA_HISTORY = 256,
  MAX_ASKED = 1 << 12
};

struct warp {
  struct block *block;
  int number;
  union lanes32 *file;
  struct fragment fragment[LANES];
  int fragments;
  uint32_t live;
  bool at_barrier, yields;
  bool again;                    // the instruction waits for something: the next turn repeats it
  uint32_t registers;            // of each lane: setmaxnreg
  int return_to;                 // of the function that all lanes are in
  uint32_t waited;               // lanes that have executed griddepcontrol.wait
  uint32_t of_cluster;           // lanes that have arrived at the cluster's barrier and not waited
  uint32_t cluster_round[LANES]; // in which they arrived
  const struct instruction *barrier;
  bool brought; // supplied to bar.red, or from its predicate

  struct pending_copy *copies;
  int copy_count;
  uint32_t groups[LANES]; // that the lane has committed

  // Registers: by lanes32 of the file; only in kernels with wgmma.
  uint8_t *flying;   // 1: a sum of wgmma under way, 2: its A
  uint32_t *touched; // the fence after which it was last used
  uint32_t fence;
  struct pending_wgmma wgmma[MAX_WGMMA];
  int wgmma_count, wgmma_committed;
  uint64_t wgmma_issued;
  uint32_t steps; // instructions so far
};

// What the blocks of a launch share.
struct run {
  const struct module *module;
  const struct kernel *kernel;
  unsigned grid[3], threads;
  unsigned cluster; // blocks of one, neighbors in the array of resident blocks
  unsigned char *parameters;
  uint32_t static_begin, shared_begin; // addresses of shared memory
  uint32_t first_begin, shared_bytes;  // of all of it
  uint64_t random;
  uint64_t idle;             // failed waits since the last that ended
  uint64_t asked[MAX_ASKED]; // pieces of 16 bytes that were asked for ahead, and not loaded since
  int asked_count;
  char failure[512];
  bool failed;
};

struct block {
  struct run *run;
  unsigned index[3];
  bool live;
  struct warp warp[MAX_WARPS];
  int warps;

  unsigned char *shared;
  uint8_t *under_way;       // by copies, per GRANULE bytes
  uint32_t spare_registers; // that warps have left, of a lane
  struct pending_box boxes[MAX_BOXES];
  int box_count;
  struct block *first;                     // of its cluster
  uint32_t cluster_arrived, cluster_round; // in a cluster's first block: its barrier
  uint64_t group_history[MAX_WARPS / GROUP_WARPS][WGMMA_HISTORY];
  uint64_t group_issued[MAX_WARPS / GROUP_WARPS];
};

uint32_t draw(struct run *, uint32_t below);

// Ends the launch; the first failure counts. `lane` may be -1.
__attribute__((format(printf, 4, 5))) void fail(struct warp *, const struct instruction *, int lane,
                                                const char *format, ...);

// Carries out any one asynchronous copy of the block; false if there is none.
bool box_arrives(struct block *);

// memory.cc: `bytes` of shared memory at an address, or NULL and a failure.
unsigned char *shared_bytes_at(struct warp *, const struct instruction *, int lane,
                               uint32_t address, uint32_t bytes);
// The block of this rank in the warp's cluster; NULL and a failure if there is none or it has
// ended.
struct block *block_of_cluster(struct warp *, const struct instruction *, int lane, uint32_t rank);
// matrix.cc: before any other instruction of a kernel with wgmma: may it touch its registers?
void wgmma_watch(struct warp *, const struct instruction *);

// ---- for the operations

static inline union lanes32 *words(const struct warp *w, const struct instruction *in, int i) {
  return w->file + in->at[i];
}
static inline union lanes64 *doubles(const struct warp *w, const struct instruction *in, int i) {
  return reinterpret_cast<union lanes64 *>(w->file + in->at[i]);
}

template <class F> static inline void each_lane(uint32_t mask, F f) {
  if (mask == ALL_LANES) {
    for (int l = 0; l < LANES; l++) {
      f(l);
    }
    return;
  }
  for (; mask; mask &= mask - 1) {
    f(__builtin_ctz(mask));
  }
}

float half_value(uint32_t bits);
uint32_t half_bits(float);
float e4m3_value(uint32_t code);
static inline float bits_float(uint32_t u) {
  union {
    uint32_t u;
    float f;
  } both = {u};
  return both.f;
}
static inline uint32_t float_bits(float f) {
  union {
    float f;
    uint32_t u;
  } both = {f};
  return both.u;
}

#endif
