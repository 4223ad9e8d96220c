// prompt: runs a prompt piece by piece through the whole model, into the cache that the steps of a
// state then use.
#ifndef PERTOKEN_KERNELS_GPU_HOST_PROMPT_H
#define PERTOKEN_KERNELS_GPU_HOST_PROMPT_H

#include "kernels/decode.h"
#include "kernels/gpu/host/state.h"

// Plans the passes of a loaded state, and gives the device what they need.
enum decode_status prompt_prepare(struct decode_state *state);

// Whether the prompt fits the state; and decode.h's prefill on one device, or one rank's part of
// it. A product that the vendor's library turns out not to take is done by our own tiles from then
// on, and prefill_library says so.
enum decode_status prompt_check(const struct decode_state *state,
                                const struct decode_prompt *prompt);
enum decode_status prompt_take(struct decode_state *state, const struct decode_prompt *prompt);

// What decode.h's prefill_library says; and how many products the library takes.
const char *prompt_library(const struct decode_state *state);
int prompt_library_products(const struct decode_state *state);

#endif
