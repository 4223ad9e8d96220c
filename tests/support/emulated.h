// emulated: the GPU's kernels by themselves, run by the host emulators, and as nvcc's PTX where
// that was made (tests/stand_ins/ptx), on memory of exactly the size that arguments.h gives.
#ifndef PERTOKEN_TESTS_EMULATED_H
#define PERTOKEN_TESTS_EMULATED_H

#include "tests/support/fixture.h"

#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "tests/stand_ins/emulator/launch.h"

// An emulator of one kind of GPU; kernels/gpu and its tests' build say how they differ.
struct emulated {
  const char *name;
  int warp;
  bool fnuz;       // E4M3 as gfx942 holds it
  bool any_chunk;  // driver.h
  bool wgmma;      // has those kernels
  const char *ptx; // what it runs, which may not be there; NULL: the kernels' source
  bool deep;       // for depth_is_full alone
  void *library;
  emulator_launch_function *launch;
};

// Those that are there and wanted: fewer with sanitizers, and fewer where not all is.
#define EMULATED emulated_count
extern struct emulated emulated[];
extern size_t emulated_count;

// cmocka's set-up and tear-down of a group: opens and closes all.
int emulated_load(void **unused);
int emulated_unload(void **unused);

// Runs a kernel on a grid of x, y, z blocks, each run in an order of its own; fails the test when
// the emulator finds something wrong.
void emulated_run(const struct emulated *plugin, const char *kernel, unsigned x, unsigned y,
                  unsigned z, int block, size_t shared_bytes, const void *arguments,
                  size_t argument_bytes);

// ---- memory

static inline size_t size(int count) {
  return (size_t)count;
}

// Of exactly this size, all NaN, until emulated_give_back, which frees all that was taken.
void *emulated_take(size_t bytes);
void emulated_give_back(void);

// ---- elements

extern const char *const element_names[]; // by enum element

// Weights and activations that there are products for.
#define WEIGHT_KINDS 3
extern const enum element weight_kinds[WEIGHT_KINDS][2];

size_t element_bytes(enum element element);

// The code of E4M3 as the GPU holds it.
uint8_t element_held(const struct emulated *plugin, uint8_t code);

// One of an array in the GPU's memory.
void element_put(const struct emulated *plugin, enum element element, void *array, size_t i,
                 float value);
float element_get(const struct emulated *plugin, enum element element, const void *array, size_t i);

#endif
