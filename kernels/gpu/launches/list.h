// list: launches made from a plan: where things are in its memory, and each launch's stage and
// arguments. A file of this room adds the launches of one family of kernels.
#ifndef PERTOKEN_KERNELS_GPU_LAUNCHES_LIST_H
#define PERTOKEN_KERNELS_GPU_LAUNCHES_LIST_H

#include "kernels/gpu/arguments/attention.h"
#include "kernels/gpu/arguments/experts.h"
#include "kernels/gpu/arguments/fill.h"
#include "kernels/gpu/arguments/latent.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/vendor.h"

#include <stdbool.h>
#include <stddef.h>

#define LAUNCH_STAGE_BYTES 32 // of a stage's name
// Bytes for rounding and sampling: what the warps exchange.
#define LAUNCH_SMALL_SHARED 1024

#define NO_REGION REGIONS

union launch_arguments {
  struct product_arguments product;
  struct wgmma_arguments wgmma;
  struct round_arguments round;
  struct embed_arguments embed;
  struct attention_arguments attention;
  struct turn_arguments turn;
  struct heads_arguments heads;
  struct latent_arguments latent;
  struct sample_arguments sample;
  struct sample_key_arguments sample_key;
  struct all_reduce_arguments all_reduce;
  struct fill_arguments fill;
  struct fill_value_arguments fill_value;
  struct expert_arguments expert;
  struct route_arguments route;
  struct gather_arguments gather;
  struct combine_arguments combine;
  struct fill_units_arguments fill_units;
  struct finish_arguments finish;
  struct vendor_arguments vendor;
};

// Positions `first` to first + count - 1 of a prompt for one of `of` batch rows; the first token is
// the from-th on the device. If they include the prompt's last position, the row's token and logits
// become that position's. With `steps`, the plan of the steps, which then ends the prompt, every
// other row makes a step in the same pass. Its vectors are in the order of the batch rows, with the
// positions in the place of theirs.
struct prompt_piece {
  int row, of, first, count, from;
  bool ends;
  const struct plan *steps;
};

// The vectors of a pass that are other rows' steps: those before the piece's, and those behind.
static inline int piece_before(const struct prompt_piece *piece) {
  return piece->steps ? piece->row : 0;
}
static inline int piece_behind(const struct prompt_piece *piece) {
  return piece->steps ? piece->of - piece->row - 1 : 0;
}

// Neighboring items of a layer's list, from the item-th on: those of experts that our own tiles
// take, or all items of one expert for the library, with `count` slots from `first` on.
struct expert_run {
  int item, items;
  bool library;
  int expert, first, count;
};

// Made in two passes: counted while `launches` is NULL, then written.
struct launch_list {
  const struct plan *plan;
  const struct prompt_piece *piece; // of a prompt's plan; NULL for steps
  char *base;                       // of the plan's memory
  int layer;                        // -1 outside the layers
  enum product_name alone;          // of gpu_plan_pass_product and gpu_plan_pass_experts
  const struct expert_run *runs;    // [run_count], of gpu_plan_pass_experts
  int run_count;
  const struct expert_run *run; // whose items the next launch of experts takes; NULL: all items
  size_t count;
  struct gpu_launch *launches;
  union launch_arguments *arguments;
  const char **what; // the launches' stages: "layer 3 qkv"
  char (*stages)[LAUNCH_STAGE_BYTES];
};

// What `emit` adds to a list for `plan` and `base`, as one allocation [*count] that includes the
// arguments and the list's `what`; to be passed to free, NULL without memory.
struct gpu_launch *list_make(struct launch_list *list, void (*emit)(struct launch_list *),
                             size_t *count);

// Adds a launch that is complete except for its arguments. `stage` is without its layer.
void list_add(struct launch_list *list, const char *stage, const struct gpu_launch *launch,
              const union launch_arguments *arguments);

// Where a region is: the current layer's, or the one that all layers share.
void *list_at(const struct launch_list *list, enum plan_region region);
void *list_shared_at(const struct launch_list *list, enum plan_region region);
// NULL for a region in which the model has nothing, and for NO_REGION.
const float *list_vector_at(const struct launch_list *list, enum plan_region region);
// The scales of a matrix's rows; NULL if they have none.
float *list_scales_at(const struct launch_list *list, enum plan_region region);
// The count at the start of REGION_ITEMS, and the items themselves.
int *list_item_count(const struct launch_list *list);
struct expert_item *list_items(const struct launch_list *list);

#endif
