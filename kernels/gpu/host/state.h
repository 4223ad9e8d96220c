// state: a model in use on one device, or one rank's share of it.
#ifndef PERTOKEN_KERNELS_GPU_HOST_STATE_H
#define PERTOKEN_KERNELS_GPU_HOST_STATE_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"

#include <stdbool.h>

// With several ranks, each has such a state of its own, without `ranks`; in the one that the caller
// of the backend holds, only `ranks` is set.
struct gpu_ranks; // ranks.h

struct decode_state {
  struct plan plan;      // request.context: how many of the cache's `positions` a step attends to
  struct plan prompt;    // of a prompt's pass, if the request has a chunk
  struct state_library { // what computes a prompt's products, prompt.h
    bool experts;        // whether it has multiplied for any routed expert
    char why[256];       // the first product that it does not take
    char words[512];
  } library;
  int positions;
  struct gpu_context *context;
  void *base; // of the plan's single allocation
  struct gpu_graph *step;
  struct gpu_ranks *ranks;
};

// How many devices the driver has; 0 and a failure (failure.h) if there are none. A device's
// description includes the tuning that the environment asks for, which goes into every record.
int state_device_count(void);
enum decode_status state_describe(int device, struct gpu_device *out);

// A plan for a device; rank 0 for a whole model.
enum decode_status state_plan(int device, const struct decode_request *request, int rank,
                              struct plan *out);

// Opens the device, checks its tiles, and fills memory as state->plan says; then, after ranks are
// joined, records the step.
enum decode_status state_load(struct decode_state *state, int device);
enum decode_status state_make_step(struct decode_state *state);

// Cosine and sine of a position's angle for each pair.
void state_angles(const struct decode_shape *shape, int position, float *out);

// What decode.h says of these, on this device; state_logits for its share of the vocabulary.
enum decode_status state_run(struct decode_state *state, int steps);
enum decode_status state_set_position(struct decode_state *state, int position);
enum decode_status state_tokens(struct decode_state *state, int *out);
enum decode_status state_logits(struct decode_state *state, float *out);
enum decode_status state_chosen(struct decode_state *state, int *out);
enum decode_status state_touched(struct decode_state *state, struct decode_touched *out);
void state_step_form(const struct decode_state *state, struct decode_step_form *out);

// Whether a position is in the cache, and all tokens in the vocabulary; and copies [batch] of them
// to the device.
enum decode_status state_check_position(const struct decode_state *state, int position);
enum decode_status state_check_tokens(const struct plan *plan, const int *tokens, int count);
enum decode_status state_copy_tokens(struct decode_state *state, const int *tokens);

// Frees the step, and then everything else except `state` itself.
void state_free_step(struct decode_state *state);
void state_close(struct decode_state *state);

#endif
