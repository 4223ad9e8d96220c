// The backend of a plugin: turns a request into a plan, which the driver that this is linked with
// carries out, on one device (state.h) or on several (ranks.h).
#include "kernels/decode.h"
#include "kernels/gpu/host/calibration.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/host/prompt.h"
#include "kernels/gpu/host/ranks.h"
#include "kernels/gpu/host/stage_times.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/variants.h"

#include <stdlib.h>

static enum decode_status describe(int device, struct decode_device *out) {
  struct gpu_device gpu;
  const enum decode_status status = state_describe(device, &gpu);
  if (status == DECODE_OK)
    *out = gpu.described;
  return status;
}

static enum decode_status cost(int device, const struct decode_request *request,
                               struct decode_cost *out) {
  if (request->ranks > 1 && request->devices)
    return ranks_cost(request, out);
  struct plan plan;
  const enum decode_status status = state_plan(device, request, 0, &plan);
  if (status == DECODE_OK)
    *out = gpu_plan_cost(&plan);
  return status;
}

static const char *variant(int device, const struct decode_request *request, int number) {
  struct gpu_device gpu;
  return state_describe(device, &gpu) == DECODE_OK ? gpu_plan_variant(request, &gpu, number) : NULL;
}

static void destroy(struct decode_state *state) {
  if (!state)
    return;
  ranks_destroy(state->ranks);
  state_free_step(state);
  state_close(state);
  free(state);
}

static enum decode_status build(struct decode_state *state, int device,
                                const struct decode_request *request) {
  if (request->ranks > 1)
    return ranks_create(request, &state->ranks);
  enum decode_status status = state_plan(device, request, 0, &state->plan);
  if (status == DECODE_OK)
    status = state_load(state, device);
  if (status == DECODE_OK)
    status = prompt_prepare(state);
  return status == DECODE_OK ? state_make_step(state) : status;
}

static struct decode_state *create(int device, const struct decode_request *request,
                                   enum decode_status *status) {
  struct decode_state *state = calloc(1, sizeof *state);
  if (!state) {
    *status = failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
    return NULL;
  }
  *status = build(state, device, request);
  if (*status == DECODE_OK)
    return state;
  destroy(state);
  return NULL;
}

static enum decode_status run(struct decode_state *state, int steps) {
  return state->ranks ? ranks_run(state->ranks, steps) : state_run(state, steps);
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  return state->ranks ? ranks_tokens(state->ranks, out) : state_tokens(state, out);
}

static enum decode_status logits(struct decode_state *state, float *out) {
  return state->ranks ? ranks_logits(state->ranks, out) : state_logits(state, out);
}

static enum decode_status set_tokens(struct decode_state *state, const int *in) {
  if (state->ranks)
    return ranks_set_tokens(state->ranks, in);
  const enum decode_status status = state_check_tokens(&state->plan, in, state->plan.request.batch);
  return status == DECODE_OK ? state_copy_tokens(state, in) : status;
}

static enum decode_status prefill(struct decode_state *state, const struct decode_prompt *prompt) {
  return state->ranks ? ranks_prefill(state->ranks, prompt) : prompt_take(state, prompt);
}

static enum decode_status set_position(struct decode_state *state, int position) {
  return state->ranks ? ranks_set_position(state->ranks, position)
                      : state_set_position(state, position);
}

static const char *prefill_library(const struct decode_state *state) {
  return state->ranks ? ranks_prefill_library(state->ranks) : prompt_library(state);
}

static enum decode_status all_reduce(struct decode_state *state, int repeats,
                                     struct decode_all_reduce *out) {
  if (!state->ranks)
    return failure_keep(DECODE_UNSUPPORTED, "the model is on one device");
  return ranks_all_reduce(state->ranks, repeats, out);
}

static enum decode_status chosen(struct decode_state *state, int *out) {
  return state->ranks ? ranks_chosen(state->ranks, out) : state_chosen(state, out);
}

static enum decode_status touched(struct decode_state *state, struct decode_touched *out) {
  return state->ranks ? ranks_touched(state->ranks, out) : state_touched(state, out);
}

static void step_form(const struct decode_state *state, struct decode_step_form *out) {
  if (state->ranks)
    ranks_step_form(state->ranks, out);
  else
    state_step_form(state, out);
}

__attribute__((visibility("default"))) gpu_stage_times_function pertoken_stage_times;

enum decode_status pertoken_stage_times(struct decode_state *state, double least_s,
                                        struct gpu_stage_time *out, size_t *count) {
  if (state->ranks)
    return failure_keep(DECODE_UNSUPPORTED, "stages are timed on one device");
  return failure_told(
      gpu_stage_times(state->context, &state->plan, state->base, least_s, out, count));
}

__attribute__((visibility("default"))) decode_plugin pertoken_backend;

// Called once, by whoever loads the plugin.
const struct decode_backend *pertoken_backend(void) {
  static struct decode_backend backend = {
      .abi = DECODE_ABI,
      .device_count = state_device_count,
      .describe = describe,
      .cost = cost,
      .create = create,
      .destroy = destroy,
      .run = run,
      .tokens = tokens,
      .logits = logits,
      .set_tokens = set_tokens,
      .all_reduce = all_reduce,
      .read_memory = calibration_read,
      .matrix_rate = calibration_rate,
      .calibration_end = calibration_end,
      .prefill = prefill,
      .set_position = set_position,
      .chosen = chosen,
      .touched = touched,
      .prefill_library = prefill_library,
      .error = failure_words,
      .step_form = step_form,
      .variant = variant,
  };
  backend.name = gpu_driver.name;
  backend.build = gpu_driver.build;
  return &backend;
}
