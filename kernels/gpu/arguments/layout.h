// layout: how what kernels read and write lies in device memory, and what all of their arguments
// have in common. The other files of this folder have the arguments of a family of kernels each:
// what the host passes to them, plain C structs, one per kernel, passed by value.
//
// There is one source of kernels for CUDA, HIP and the host emulator (device/kernels.cu). The host
// side turns a request into a plan of launches (plan/planner.h), and a driver carries them out
// (host/driver.h).
//
// Layouts in device memory, the last index fastest; `stride` is a count of elements:
//   a matrix of weights  [rows][stride], stride = columns rounded up to ROW_ALIGNMENT elements, the
//                        padding zero; E4M3 with one float scale per row. Narrower types, and
//                        INT8: rows as units.h says, stride = columns rounded up to UNIT
//   keys                 [batch][kv_heads][context_padded][head_stride], head_stride = head_dim
//                        rounded up to ROW_ALIGNMENT, the padding zero
//   values               [batch][kv_heads][context_padded / VALUE_BLOCK][head_dim][VALUE_BLOCK]:
//                        transposed in blocks, so that a run of positions is contiguous along the
//                        direction of the sum; positions past the context are zero
//   rounded activations  [batch_padded][stride], BF16 or E4M3, the padding zero, and a float scale
//                        per row for E4M3
//   everything else between stages: float, without padding; or, where the next product takes it
//                        rounded to BF16, that (enum passed)
// context_padded is context rounded up to VALUE_BLOCK. E4M3 bytes are stored in the device's own
// format (platform.h, e4m3_held).
//
// A kernel's name is made of its parts, in the order given at its struct; elements are "bf16",
// "e4m3" and, for weights, the names of units.h. Every kernel first calls let_next_start(), a
// vector product with its last loads; and then, after whatever it can fetch early (weights
// only: nothing that another kernel writes), wait_for_previous().
#ifndef PERTOKEN_KERNELS_GPU_ARGUMENTS_LAYOUT_H
#define PERTOKEN_KERNELS_GPU_ARGUMENTS_LAYOUT_H

enum {
  ROW_ALIGNMENT = 64, // elements: a step of a matrix tile in E4M3, two in BF16
  VALUE_BLOCK = 64,   // positions
  SMALL_THREADS = 256 // of a block of a kernel without a size of its own
};

// How a product's or attention's results are stored for the product that they go into:
enum passed {
  PASSED_FLOAT,
  PASSED_BF16,  // rounded, as that one takes its activations: of the vectors' length
  PASSED_PAIRED // the same in the order of wgmma_paired_word
};

#endif
