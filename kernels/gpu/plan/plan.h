// plan: a request as device memory and kernels: which kernels, how large, on which data. planner.h
// makes it, and cost.h says what its steps cost. Pure arithmetic, the same for every driver.
//
// Batches up to VECTOR_BATCH use the vector kernels if their activations fit into shared memory,
// larger ones the matrix kernels. Weights in units only have matrix kernels, except in a step in
// one launch; if only a model's experts are in units, only these use them.
#ifndef PERTOKEN_KERNELS_GPU_PLAN_PLAN_H
#define PERTOKEN_KERNELS_GPU_PLAN_PLAN_H

#include "kernels/decode.h"
#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/even.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/share.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// The regions of device memory; tensors of a layer are at offset + (layer - first layer) * bytes of
// one layer.
enum plan_region {
  REGION_EMBEDDING, // followed by its scales, like every matrix of weights
  REGION_ATTENTION_NORM,
  REGION_QKV, // wq, wk and wv, one matrix of Q + 2 K rows; latent: q_a (or wq) and kv_a
  REGION_Q_B, // for latent attention, like the next two; these are of all heads
  REGION_K_B, // transposed: [heads][rank][the part without rope]
  REGION_V_B,
  REGION_WO,
  REGION_FFN_NORM,
  REGION_GATE,
  REGION_UP,
  REGION_DOWN,
  REGION_ROUTER,
  REGION_ROUTER_BIAS,
  REGION_SHARED_GATE,
  REGION_SHARED_UP,
  REGION_SHARED_DOWN,
  REGION_EXPERT_GATE, // of all experts, like the next two
  REGION_EXPERT_UP,
  REGION_EXPERT_DOWN,
  REGION_EXPERT_GATE_BIAS,
  REGION_EXPERT_UP_BIAS,
  REGION_EXPERT_DOWN_BIAS,
  REGION_FINAL_NORM,
  REGION_ATTENTION_NORM_BIAS, // vectors.h says which of these a model has
  REGION_FFN_NORM_BIAS,
  REGION_FINAL_NORM_BIAS,
  REGION_QKV_BIAS, // of q, k and v, in the order of their matrix
  REGION_WO_BIAS,
  REGION_GATE_BIAS,
  REGION_UP_BIAS,
  REGION_DOWN_BIAS,
  REGION_Q_NORM,
  REGION_K_NORM,
  REGION_SINKS,
  REGION_Q_A_NORM,
  REGION_KV_A_NORM,
  REGION_HEAD,
  REGION_KEYS, // with latent attention the entries, which are also the values
  REGION_VALUES,
  REGION_ANGLES,
  REGION_TOKENS,
  REGION_X,
  REGION_QKV_OUT,
  REGION_QUERIES,  // of latent attention, if they come from q_b
  REGION_ABSORBED, // k_b times these
  REGION_LATENT_SUMS,
  REGION_ATTENDED,
  REGION_FFN_OUT,
  REGION_SCALED,  // x times a norm's gain, between two products: wgmma.h, wgmma_norm
  REGION_SQUARES, // the sums of x^2 that go with it
  REGION_LOGITS,
  REGION_ACTIVATIONS,
  REGION_ACTIVATION_SCALES,
  REGION_PARTIALS,
  REGION_COUNTERS,
  REGION_BEST,
  REGION_BEST_INDEX,
  REGION_ROUTED, // the router's outputs
  REGION_CHOSEN, // experts; what follows is described in arguments/experts.h
  REGION_CHOSEN_WEIGHTS,
  REGION_SLOTS,
  REGION_SLOT_ROWS,
  REGION_ITEMS, // after ITEMS_OFFSET bytes of which the first 4 are their count
  REGION_EXPERT_OUT,
  REGION_EXPERT_SUMS,
  REGION_GATHERED,
  REGION_GATHERED_SCALES,
  REGION_TOUCHED,        // [layers], then the steps counted
  REGION_STEP,           // the number of the step, in a mixture
  REGION_ROUTING,        // the table of a forced policy
  REGION_KEYS_OF_TOKENS, // with several ranks
  REGION_BELL,
  REGION_TABLES,        // for weights in units: struct fill_table, by enum tensor
  REGION_STAGES,        // of a streaming step
  REGION_STREAM,        // its products
  REGION_ARRIVED,       // its counter
  REGION_PROMPT_TOKENS, // [chunk]
  REGION_PROMPT_ANGLES, // for every position, like REGION_ANGLES for one
  REGION_SUMS,          // for products by the vendor's library: vendor.h
  REGION_WORKSPACE,
  REGIONS
};

#define ITEMS_OFFSET 16

struct plan_extent {
  size_t offset;      // from the start of the single allocation
  size_t layer_bytes; // of one layer, or of everything if outside the layers
  size_t scales;      // offset of the row scales within layer_bytes; 0 for none
  int first_layer;    // that have it
};

// "bf16", "e4m3", "mxfp6_e2m3": as kernels are named (arguments/layout.h).
extern const char *const gpu_element_names[];
// Bytes of an element that is not stored in units.
size_t gpu_element_bytes(enum element element);

enum product_name {
  PRODUCT_QKV, // with latent attention q_a (or wq) and kv_a
  PRODUCT_Q_B,
  PRODUCT_K_B,
  PRODUCT_V_B,
  PRODUCT_WO,
  PRODUCT_GATE_UP,
  PRODUCT_DOWN,
  PRODUCT_ROUTER,
  PRODUCT_SHARED_GATE_UP,
  PRODUCT_SHARED_DOWN,
  PRODUCT_EXPERT_GATE_UP,
  PRODUCT_EXPERT_DOWN,
  PRODUCT_HEAD,
  PRODUCTS
};

// A product of weights and activations, and how it is divided. gate and up are one product with
// twice the weights, with `rows` those of either; without a gate, up is an ordinary product.
// Without rows the model does not have the product.
struct plan_product {
  int rows, columns, stride;
  bool gated;
  bool vector;                                // by vector kernels, otherwise matrix
  bool family;                                // by the kernels of families
  int layers, first_layer;                    // that have it; 1 and 0 outside the layers
  bool routed;                                // for the experts that rows go to
  bool by_head;                               // for each head's own vector and matrix
  int copies;                                 // matrices in a layer: experts, heads
  int at_once;                                // of these, how many a step is expected to touch
  enum element weights, rounded, activations; // what vectors are rounded to, and stored as
  size_t shared_bytes;
  int blocks; // of the grid: vector and wgmma, all; matrix, of rows
  // Matrix kernels: a launch takes `slice` batch rows, all of them unless shared memory is too
  // small even for the smallest chunk of their activations; each of its warps takes `warp_columns`
  // of them. Every slice reads the weights again.
  int slice, warp_columns, splits, chunk, buffers;
  bool library;          // in a prompt: by the vendor's library, once that is known to take it
  bool wgmma;            // by a warpgroup's columns; the next members: arguments/wgmma.h
  int stages;            // of weights in shared memory
  int strips;            // of rows, one after the other
  int beside;            // blocks of a cluster side by side in the rows
  int parts;             // of a tile's steps; a cluster has beside * parts blocks
  struct even_work work; // instead of `splits`; its blocks are the clusters
  int activation_stride; // of rounded activations
};

enum {
  PLAN_MIN_SLICE = 16,     // the fewest columns of the batch that a matrix kernel takes
  PLAN_STATIC_SHARED = 16, // bytes a kernel uses apart from those of its launch, in arrive_last
};

// How a layer attends.
struct plan_attention {
  int first;   // first position that is read
  int splits;  // of the positions
  bool family; // by the kernels of families
};

struct plan {
  // With several ranks, the shape in `request` is the rank's share of the whole model.
  struct decode_request request;
  struct decode_shape whole;
  int ranks, rank;
  struct gpu_device device;
  bool vector;          // all except products with weights in units; otherwise matrix
  bool streaming;       // a step in one launch
  const char *fallback; // why it is not, although asked for, or has no clusters; otherwise NULL
  int vector_rows;      // that the vector kernels are made for: 1, 2 or 4
  struct plan_stream {  // of a step in one launch: arguments/streaming.h
    size_t sums, experts, ring; // where in a block's shared memory they begin
    size_t shared_bytes;        // of a block
    int pairs;                  // of rows that a block has sums for
    int slots;                  // of a warp's ring; 0 where the kernels have no ring
    int beside;                 // bytes of a slot beside the codes of each of its two rows
    int flying;                 // of a warp's slots, the most whose units are on their way
  } stream;
  int carveout; // device.h
  int batch_padded, context_padded, head_dim_padded, head_stride, head_groups;
  int attention_splits, window_splits; // of layers that attend to all positions, and of the others
  struct plan_experts {
    int layers, first_layer; // that have experts: the last ones
    int pairs;               // a batch row and an expert that it goes to
    int items, slots;        // the most that there can be: arguments/experts.h
    int columns;             // of an item; 0 for vector kernels
    int library_count;       // in a prompt: the fewest positions of an expert for the library
  } experts;
  struct plan_product product[PRODUCTS];
  struct plan_extent region[REGIONS];
  bool prompt;      // for a prompt's pass: its rows are positions of one batch row
  size_t bytes;     // of the single allocation
  size_t own_bytes; // of that, the rest is for a prompt's pass
};

// The plan's rank's share of the whole model.
struct share gpu_plan_share(const struct plan *plan);

// Whether the plan's model has latent attention: all heads then read one entry per position.
bool gpu_plan_is_latent(const struct plan *plan);

// How a layer of a plan attends.
struct plan_attention gpu_plan_attention(const struct plan *plan, int layer);
// The first position of a window; 0 if the window is no shorter than the context.
int gpu_plan_window_first(const struct decode_request *request, int window);
// Whether attention's kernels copy the cache into shared memory; otherwise into registers.
bool gpu_plan_copies_cache(const struct plan *plan);
// Blocks of attention in each of its splits, and the shared memory that each of them uses.
int gpu_plan_attention_rows(const struct plan *plan);
size_t gpu_plan_attention_shared_bytes(const struct plan *plan);

// Whether the product's kernel needs more parameters than a Llama's.
bool product_is_of_family(const struct decode_shape *shape, enum product_name which);
// Whether the vendor's library could do the product: in a prompt's pass, all products of whole
// batches except the head's, which has one row, and the router's of several ranks: these choose the
// same experts only if all of them multiply in the same order, but the library may decline a
// product on one rank alone. Of routed experts each matrix must begin where the library takes it,
// and a whole pass must have positions enough.
bool gpu_plan_fits_library(const struct plan *plan, enum product_name which);
// Whether a pass is expected to have experts with as many positions as the library takes: one that
// gets twice an even share of them. Otherwise it is not worth waiting for the router's choices.
bool gpu_plan_reaches_library(const struct plan *plan);
// How many vectors the library is asked to multiply for a batch: few distinct numbers, because a
// library chooses its method for each.
int gpu_plan_library_vectors(int batch);
// Floats from the sums of a product by the library to those of its second half, of up.
size_t gpu_plan_library_sums(const struct plan *plan, enum product_name which);

// The most merges of a block of wgmma one after the other, at the nodes of even.h: 0 if every tile
// is one block's.
unsigned gpu_plan_merges(const struct even_work *work);

// How many blocks a cluster of a product by wgmma has.
int gpu_plan_cluster(const struct plan_product *product);

// How the product's input is stored by the kernel that makes it: rounded, where that is all that
// happens to it, and it has no padding that somebody would have to write.
enum passed gpu_plan_passed(const struct plan *plan, enum product_name which);

// The product that passes the residual stream on to this one, times its norm's gain, so that no
// kernel rounds it between them: in every layer, or for qkv in every layer but the first. PRODUCTS
// for none: a norm that is not between two products by wgmma has a kernel.
enum product_name gpu_plan_norm_from(const struct plan *plan, enum product_name which);

// Bytes from one row of the product's weights to the next.
size_t gpu_plan_row_bytes(const struct plan_product *product);
// Whether any product is by wgmma.
bool gpu_plan_uses_wgmma(const struct plan *plan);
// Whether the matrix unit multiplies: weights in units even for vectors.
bool gpu_plan_uses_matrix_unit(const struct plan_product *product);
// The type in which the matrix unit takes the product's weights.
enum element gpu_plan_multiplied(const struct plan_product *product);
// The shared memory that a vector kernel's launch may give a block: one that is a whole step uses a
// part itself.
size_t gpu_plan_block_shared_bytes(const struct plan *plan);

#endif
