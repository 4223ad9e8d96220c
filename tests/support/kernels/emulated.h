// emulated: single GPU kernels, run by the host emulators, and as nvcc's PTX if that was built
// (tests/stand_ins/ptx), on memory of exactly the size that kernels/gpu/arguments gives.
#ifndef PERTOKEN_TESTS_SUPPORT_KERNELS_EMULATED_H
#define PERTOKEN_TESTS_SUPPORT_KERNELS_EMULATED_H

#include "tests/support/fixture.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments/product.h"
#include "tests/stand_ins/emulator/launch.h"

// An emulator of one kind of GPU; kernels/gpu and the build of its tests describe the differences.
struct emulated {
  const char *name;
  int warp;
  bool fnuz;       // E4M3 as gfx942 holds it
  bool any_chunk;  // device.h
  bool wgmma;      // has the wgmma kernels
  const char *ptx; // which it runs, and which may be missing; NULL: the kernels' source
  bool deep;       // only for depth_is_full
  void *library;
  emulator_launch_function *launch;
  const struct decode_backend *backend; // whole steps on it
};

// Those that exist and are wanted: fewer with sanitizers, and fewer unless all are wanted. The
// first two are always used; the last ones run PTX.
#define EMULATED emulated_count
extern struct emulated emulated[];
extern size_t emulated_count;

// cmocka's set-up and tear-down of a group: opens all, or those of the kernels' source alone, and
// closes them.
int emulated_load(void **unused);
int emulated_load_sources(void **unused);
int emulated_unload(void **unused);

// Changes what the emulators are like: "EMULATOR_UNITS" and others, which are variables of the
// environment, in force until unsetenv.
void emulated_set(const char *setting, long long value);

// A device from inside: the plan of a request for it, as tuned, and the newest memory that has not
// been released. (kernels/gpu/plan/plan.h cannot be included beside the CPU's plan.)
struct plan;
struct plan emulated_plan(const struct emulated *plugin, const struct decode_request *request);
void *emulated_memory(const struct emulated *plugin);

// Runs a kernel on a grid of x, y, z blocks, each run in an order of its own; fails the test if the
// emulator reports an error.
void emulated_run(const struct emulated *plugin, const char *kernel, unsigned x, unsigned y,
                  unsigned z, int block, size_t shared_bytes, const void *arguments,
                  size_t argument_bytes);

// The same for a row of blocks in clusters of `cluster`.
void emulated_run_clusters(const struct emulated *plugin, const char *kernel, unsigned blocks,
                           unsigned cluster, int block, size_t shared_bytes, const void *arguments,
                           size_t argument_bytes);

// Sets how the activations of a matrix product are divided in shared memory, and returns what its
// launch gets of that: where the kernels take any chunk, this one; otherwise a long
// one stands for as many buffers as its weights in E4M3 may have.
size_t emulated_matrix_shared(const struct emulated *plugin, enum element weights,
                              enum element activations, int chunk, struct product_arguments *a);

// ---- memory

static inline size_t size(int count) {
  return (size_t)count;
}

// Of exactly this size, all NaN, until emulated_give_back, which frees everything that was taken.
void *emulated_take(size_t bytes);
void emulated_give_back(void);

// ---- elements

extern const char *const element_names[]; // by enum element

// Weights and activations for which there are products.
#define WEIGHT_KINDS 3
extern const enum element weight_kinds[WEIGHT_KINDS][2];

size_t element_bytes(enum element element);

// The code of E4M3 in the GPU's form.
uint8_t element_held(const struct emulated *plugin, uint8_t code);

// An element of an array in the GPU's memory.
void element_put(const struct emulated *plugin, enum element element, void *array, size_t i,
                 float value);
float element_get(const struct emulated *plugin, enum element element, const void *array, size_t i);

#endif
