// ptx: nvcc's PTX of the GPU kernels, run on the host. The emulator (../emulator) runs the same
// kernels' source with another platform.h and other matrix instructions; here platform_cuda.h,
// matrix_tile_mma.h and matrix_wgmma.h are run entirely, as compiled. Built as decode backends with
// the emulator's driver (build.mk), so that the emulator's tests also run here.
//
// It follows NVIDIA's "Parallel Thread Execution ISA", version 9.0, but has only what these kernels
// use (text.cc, arithmetic.cc, memory.cc, matrix.cc): any other instruction, modifier, operand or
// directive is an error that names the line. So is what the document leaves undefined:
//   - addresses that are not aligned, or outside of the block's shared memory or of the arguments.
//     Global memory is the host's: sanitizers watch over it
//   - .aligned instructions, and those with a mask of lanes, that not all of their lanes reach
//   - shared memory that is touched while an asynchronous copy into it is in flight: it arrives as
//     late as possible, at the wait, or at a random time
//   - registers that are touched while wgmma uses them, or that it uses without a fence; matrices
//     that change in shared memory before it ends
//   - global memory before griddepcontrol.wait, except for what is read as constant
//   - barriers that not all threads reach, and waits and loops that never end, also for registers
//     that no other warp of the block leaves
// Registers and shared memory begin as garbage, and variables in shared memory have no better
// alignment than they request. Warps and two blocks, or all blocks of a cooperative launch, take
// turns at random. mul and add are never fused, which ptxas may do; what the document allows to be
// approximate (ex2.approx, sqrt.approx, the sums within mma and wgmma) is rounded well.
//
// KERNELS_LOG in the environment is a file to which the names of completed kernels are appended.
//
// It does not look for races, nor for what the memory model leaves open: the emulator finds the
// former, from the source.
#ifndef PERTOKEN_TESTS_STAND_INS_PTX_PTX_H
#define PERTOKEN_TESTS_STAND_INS_PTX_PTX_H

extern "C" {
#include "kernels/gpu/host/driver.h"
}
#include "tests/stand_ins/emulator/launch.h"

// Runs a kernel of the file named by PTX_FILE in the environment, else of
// build/gpu/cuda_ARCHITECTURE.ptx; if its name begins with "streaming", of PTX_STREAMING_FILE,
// else of streaming_ARCHITECTURE.ptx. Errors read "kernel sum, block 3 0 0, thread 17,
// cuda_80.ptx:120 (add.s32): ...".
extern "C" emulator_launch_function emulator_launch_kernel;

// The properties of a device with the architecture, as in driver.h.
void ptx_describe(struct gpu_device *);

// "80", "90a": which of them this library is, and whose whole steps it runs (architecture.cc).
extern const char ptx_architecture[], ptx_streaming_architecture[];

#endif
