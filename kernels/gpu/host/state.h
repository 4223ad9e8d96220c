// state: what a backend keeps of a model in use: on one device, or a share of it on each of
// several.
#ifndef PERTOKEN_KERNELS_GPU_HOST_STATE_H
#define PERTOKEN_KERNELS_GPU_HOST_STATE_H

#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/plan.h"

// Of several ranks each has such a state of its own, without `ranks`, and the one that the caller
// holds has nothing but `ranks`.
struct decode_state {
  struct plan plan;
  struct gpu_context *context;
  void *base; // of the plan's one allocation
  struct gpu_graph *step;
  struct ranks *ranks;
};

// The last failure of the calling thread, for decode_backend.error: keeps the words, returns the
// status. told: the driver's.
enum decode_status state_refuse(enum decode_status status, const char *words);
enum decode_status state_told(enum decode_status status);
const char *state_error(void);

// ---- one device, backend.c; rank and ranks are 0 and 1 of a whole model

enum decode_status state_plan(int device, const struct decode_request *request, int rank,
                              struct plan *out);
// The model in memory, then, once ranks are joined, its step.
enum decode_status state_load(struct decode_state *state, int device);
enum decode_status state_make_step(struct decode_state *state);
enum decode_status state_run(struct decode_state *state, int steps);
enum decode_status state_tokens(struct decode_state *state, int *out);
enum decode_status state_logits(struct decode_state *state, float *out); // of its share
enum decode_status state_check_tokens(const struct plan *plan, const int *tokens);
enum decode_status state_copy_tokens(struct decode_state *state, const int *tokens);
void state_free_step(struct decode_state *state);
void state_step_form(const struct decode_state *state, struct decode_step_form *out);
void state_close(struct decode_state *state); // all but the step

// ---- several, ranks.c: what decode.h says

enum decode_status ranks_create(const struct decode_request *request, struct ranks **out);
void ranks_destroy(struct ranks *ranks);
enum decode_status ranks_run(struct ranks *ranks, int steps);
enum decode_status ranks_tokens(struct ranks *ranks, int *out);
enum decode_status ranks_logits(struct ranks *ranks, float *out);
enum decode_status ranks_set_tokens(struct ranks *ranks, const int *in);
void ranks_step_form(const struct ranks *ranks, struct decode_step_form *out);
enum decode_status ranks_all_reduce(struct ranks *ranks, int repeats,
                                    struct decode_all_reduce *out);

#endif
