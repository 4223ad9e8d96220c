// ptx: what nvcc makes of the GPU's kernels, PTX, run on the host. The emulator (../emulator)
// runs the same kernels' source with another platform.h and other matrix instructions; here all of
// platform_cuda.h, matrix_tile_mma.h and matrix_wgmma.h is run as the compiler has left it. Built
// as decode backends with the emulator's driver (build.mk), so that the tests of the one run on the
// other.
//
// After NVIDIA's "Parallel Thread Execution ISA", version 9.0, of which only what these kernels use
// is there (text.cc, arithmetic.cc, memory.cc, matrix.cc): any other instruction, modifier, operand
// or directive is an error that names the line. So is what the document leaves undefined:
//   - addresses that are not aligned, or outside of the block's shared memory or of the arguments.
//     Global memory is the host's: sanitizers watch over it
//   - .aligned instructions, and those with a mask of lanes, that not all of their lanes come to
//   - shared memory that is touched while an asynchronous copy into it is under way: it arrives as
//     late as it can, at the wait, or when chance says so
//   - registers that are touched while wgmma has them, or that it takes without a fence; matrices
//     that change in shared memory before its end
//   - global memory, but for what is read as constant, before griddepcontrol.wait
//   - barriers that not all threads come to, and waits that never end
// Registers and shared memory begin as garbage, and variables in shared memory at no better an
// address than they ask for. Warps and two blocks, or all of a cooperative launch, take turns by
// chance. mul and add are never made one, which ptxas may do; what the document lets be approximate
// (ex2.approx, sqrt.approx, the sums within mma and wgmma) is rounded well.
//
// It does not look for races, nor for what the memory model leaves open: the emulator does the
// first, from the source.
#ifndef PERTOKEN_PTX_H
#define PERTOKEN_PTX_H

extern "C" {
#include "kernels/gpu/host/driver.h"
}
#include "tests/stand_ins/emulator/launch.h"

// Runs a kernel of the file that PTX_FILE of the environment names, else of
// build/gpu/cuda_ARCHITECTURE.ptx, or persistent_ARCHITECTURE.ptx for what begins so. Errors read
// "kernel sum, block 3 0 0, thread 17, cuda_80.ptx:120 (add.s32): ...".
extern "C" emulator_launch_function emulator_launch_kernel;

// What a device of the architecture is and has, of what driver.h says.
void ptx_describe(struct gpu_device *);

// "80", "90a": which of them this library is, and whose whole steps it runs (architecture.cc).
extern const char ptx_architecture[], ptx_persistent_architecture[];

#endif
