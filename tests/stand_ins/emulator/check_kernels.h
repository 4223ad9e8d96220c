// check_kernels: kernels that check the emulator itself, some right, some wrong on purpose.
#ifndef PERTOKEN_TESTS_STAND_INS_EMULATOR_CHECK_KERNELS_H
#define PERTOKEN_TESTS_STAND_INS_EMULATOR_CHECK_KERNELS_H

#include <stdbool.h>
#include <stdint.h>

struct check_outcome {
  const char *error; // of the launch, NULL if it ended well; valid until the next
  bool right;        // it completed and the results are correct
};

// Runs the kernel of this name with a schedule from `seed`. Exported as "emulator_check".
typedef struct check_outcome check_function(const char *kernel, uint64_t seed);

// Ways in which a launch itself can be wrong; any other name is a kernel's.
#define CHECK_NO_KERNEL   "there_is_no_such_kernel"
#define CHECK_ARGUMENTS   "wrong_arguments"
#define CHECK_BLOCK       "wrong_block"
#define CHECK_GRID        "wrong_grid"
#define CHECK_RESIDENT    "too_many_blocks" // in a cooperative launch
#define CHECK_ALONE       "not_cooperative"
#define CHECK_CLUSTER     "cluster_of_half_a_grid" // which is no multiple of it
#define CHECK_CONVERSIONS "conversions"            // of bf16 and E4M3; no launch

#endif
