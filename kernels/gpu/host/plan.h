// plan: a request as device memory and kernels: which ones, how large, on what. It is pure
// arithmetic, the same for every driver, so that the emulator runs what a GPU would.
//
// Batches up to VECTOR_BATCH use the vector kernels as long as their activations fit into shared
// memory, larger ones the matrix kernels.
#ifndef PERTOKEN_KERNELS_GPU_HOST_PLAN_H
#define PERTOKEN_KERNELS_GPU_HOST_PLAN_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// What lies in device memory; tensors of a layer lie at offset + layer * bytes of one layer.
enum plan_region {
  REGION_EMBEDDING, // with its scales behind it, as every matrix of weights
  REGION_ATTENTION_NORM,
  REGION_QKV, // wq, wk and wv, one matrix of Q + 2 K rows
  REGION_WO,
  REGION_FFN_NORM,
  REGION_GATE,
  REGION_UP,
  REGION_DOWN,
  REGION_FINAL_NORM,
  REGION_HEAD,
  REGION_KEYS,
  REGION_VALUES,
  REGION_ANGLES,
  REGION_TOKENS,
  REGION_X,
  REGION_QKV_OUT,
  REGION_ATTENDED,
  REGION_FFN_OUT,
  REGION_LOGITS,
  REGION_ACTIVATIONS,
  REGION_ACTIVATION_SCALES,
  REGION_PARTIALS,
  REGION_COUNTERS,
  REGION_BEST,
  REGION_BEST_INDEX,
  REGION_KEYS_OF_TOKENS, // of several ranks
  REGION_BELL,
  REGION_STAGES,  // of a persistent step
  REGION_ARRIVED, // its counter
  REGIONS
};

struct plan_extent {
  size_t offset;      // from the start of the one allocation
  size_t layer_bytes; // of one layer, or of the whole outside of the layers
  size_t scales;      // offset of the row scales within layer_bytes; 0 for none
};

// "bf16", "e4m3": as kernels are named (arguments.h).
extern const char *const gpu_element_names[];

enum product_name {
  PRODUCT_QKV,
  PRODUCT_WO,
  PRODUCT_GATE_UP,
  PRODUCT_DOWN,
  PRODUCT_HEAD,
  PRODUCTS
};

// A product of weights and activations, and how it is divided. gate and up are one product with
// twice the weights: `rows` are those of either.
struct plan_product {
  int rows, columns, stride;
  bool gated;
  enum element weights, activations;
  size_t shared_bytes;
  int blocks; // of the grid: vector, all; matrix, of rows
  int ahead;  // arguments.h
  // Matrix kernels: a launch takes `slice` rows of the batch, all of them unless shared memory is
  // too small even for the least chunk of their activations, each of its warps `warp_columns` of
  // them. Every slice reads the weights again.
  int slice, warp_columns, splits, chunk;
  bool wgmma;            // by a warpgroup's columns, in so many stages of shared memory
  int stages;            // of wgmma
  int activation_stride; // of rounded activations
};

struct plan {
  // For several ranks, the shape in `request` is a rank's share of the whole model; their plans
  // only differ in `rank`, which the caller sets.
  struct decode_request request;
  struct decode_shape whole;
  int ranks, rank;
  struct gpu_device device;
  bool vector;     // else matrix
  bool persistent; // a step in one launch
  int vector_rows; // of the batch that the vector kernels are made for: 1, 2 or 4
  int carveout;    // driver.h
  int batch_padded, context_padded, head_dim_padded, head_stride, head_groups, attention_splits;
  struct plan_product product[PRODUCTS];
  struct plan_extent region[REGIONS];
  size_t bytes; // of the one allocation
};

// DECODE_UNSUPPORTED, with *why in words, for what the kernels do not support: INT8 weights, F32
// activations, mixture of experts, head_dim above 256 or odd, batch above 256, heads that are not a
// multiple of the KV heads.
enum decode_status gpu_plan_make(const struct decode_request *request,
                                 const struct gpu_device *device, struct plan *out,
                                 const char **why);

// What a step costs, of one rank.
struct decode_cost gpu_plan_cost(const struct plan *plan);

// The bytes of that that all launches of a product read, and that all of attention reads and
// writes.
uint64_t gpu_plan_product_bytes(const struct plan *plan, enum product_name which);
uint64_t gpu_plan_cache_bytes(const struct plan *plan);

#endif
