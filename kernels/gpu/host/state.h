// state: a model in use on one device, or one rank's share of it.
#ifndef PERTOKEN_KERNELS_GPU_HOST_STATE_H
#define PERTOKEN_KERNELS_GPU_HOST_STATE_H

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/plan.h"

// Each of several ranks has such a state of its own, without `ranks`, and the one that the caller
// of the backend holds has nothing but `ranks`.
struct gpu_ranks; // ranks.h

struct decode_state {
  struct plan plan;
  struct gpu_context *context;
  void *base; // of the plan's one allocation
  struct gpu_graph *step;
  struct gpu_ranks *ranks;
};

// How many devices the driver has; 0 and a failure (failure.h) for none. A device is described with
// the tuning that the environment asks for, which goes into every record.
int state_device_count(void);
enum decode_status state_describe(int device, struct gpu_device *out);

// A plan for a device; rank 0 for a whole model.
enum decode_status state_plan(int device, const struct decode_request *request, int rank,
                              struct plan *out);

// Opens the device, checks its tiles, and fills memory as state->plan says; then, once ranks are
// joined, records the step.
enum decode_status state_load(struct decode_state *state, int device);
enum decode_status state_make_step(struct decode_state *state);

// As decode.h says, on this device; state_logits of its share of the vocabulary.
enum decode_status state_run(struct decode_state *state, int steps);
enum decode_status state_tokens(struct decode_state *state, int *out);
enum decode_status state_logits(struct decode_state *state, float *out);
void state_step_form(const struct decode_state *state, struct decode_step_form *out);

// Whether all tokens [batch] lie in the vocabulary; and copies them to the device.
enum decode_status state_check_tokens(const struct plan *plan, const int *tokens);
enum decode_status state_copy_tokens(struct decode_state *state, const int *tokens);

// Frees the step, and then all the rest but `state` itself.
void state_free_step(struct decode_state *state);
void state_close(struct decode_state *state);

#endif
