// prompt_experts: which experts of a layer a pass has positions for, as the router chose on the
// device, and which of them the vendor's library multiplies.
#ifndef PERTOKEN_KERNELS_GPU_HOST_PROMPT_EXPERTS_H
#define PERTOKEN_KERNELS_GPU_HOST_PROMPT_EXPERTS_H

#include "kernels/decode.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/launches/list.h"

#include <stdbool.h>

// The experts of one pass; at first {.layer = -1}.
struct prompt_experts {
  int layer;               // whose choices these are
  struct expert_run *runs; // [run_count], in the order of the items, which they cover
  int run_count;
  bool by_library; // one of them at least
  void *read;      // what the device has: the count of items, and the items
};

// Waits for the device's choices in a layer, once for all its products, and divides them.
enum decode_status prompt_experts_read(struct prompt_experts *experts,
                                       const struct decode_state *state, int layer);
void prompt_experts_free(struct prompt_experts *experts);

#endif
