#include "kernels/gpu/host/prompt.h"

#include "kernels/decode.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/failure.h"
#include "kernels/gpu/host/prompt_experts.h"
#include "kernels/gpu/host/state.h"
#include "kernels/gpu/host/wgmma_check.h"
#include "kernels/gpu/launches/library.h"
#include "kernels/gpu/launches/list.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/device.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/vendor.h"
#include "kernels/integers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *at(const struct decode_state *state, enum plan_region region) {
  return (char *)state->base + state->prompt.region[region].offset;
}

// The angles of every position of the cache for each pair.
static enum decode_status copy_angles(const struct decode_state *state) {
  const struct decode_shape *shape = &state->plan.request.shape;
  const size_t width = (size_t)shape->head_dim;
  const size_t bytes = (size_t)state->positions * width * sizeof(float);
  float *angles = malloc(bytes);
  if (!angles)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  for (int position = 0; position < state->positions; position++)
    state_angles(shape, position, angles + (size_t)position * width);
  const enum decode_status status = failure_told(
      gpu_driver.copy_in(state->context, at(state, REGION_PROMPT_ANGLES), angles, bytes));
  free(angles);
  return status;
}

// ---- the vendor's library

// The names of the CPU's products (kernels/cpu/backend.c); the head has one row.
static const char *const product_names[PRODUCTS] = {
    [PRODUCT_QKV] = "qkv",
    [PRODUCT_Q_B] = "latent",
    [PRODUCT_K_B] = "latent",
    [PRODUCT_V_B] = "latent",
    [PRODUCT_WO] = "output",
    [PRODUCT_GATE_UP] = "MLP",
    [PRODUCT_DOWN] = "MLP",
    [PRODUCT_ROUTER] = "router",
    [PRODUCT_SHARED_GATE_UP] = "shared expert",
    [PRODUCT_SHARED_DOWN] = "shared expert",
    [PRODUCT_EXPERT_GATE_UP] = "experts",
    [PRODUCT_EXPERT_DOWN] = "experts",
};

// Lists the products that the library takes, or those that it does not.
static void name_products(const struct decode_state *state, bool taken, char *out, size_t size) {
  const char *last = "";
  *out = 0;
  for (int p = 0; p < PRODUCT_HEAD; p++) {
    const struct plan_product *product = &state->prompt.product[p];
    const bool by_library = product->library && (!product->routed || state->library.experts);
    const size_t length = strlen(out);
    if (product->rows == 0 || by_library != taken || !strcmp(last, product_names[p]))
      continue;
    last = product_names[p];
    snprintf(out + length, size - length, "%s%s", length ? ", " : "", last);
  }
}

// Adds that experts with too few positions are not left to the library, if it takes the others.
static void name_small_experts(const struct decode_state *state, char *out, size_t size) {
  const struct plan *plan = &state->prompt;
  const size_t length = strlen(out);
  if (state->library.experts && plan->product[PRODUCT_EXPERT_GATE_UP].library &&
      plan->product[PRODUCT_EXPERT_DOWN].library && plan->experts.library_count > 1)
    snprintf(out + length, size - length, "%sexperts with under %d positions", length ? ", " : "",
             plan->experts.library_count);
}

static void tell_library(struct decode_state *state) {
  struct state_library *library = &state->library;
  const char *name = gpu_driver.multiplied_by(state->context), *why = library->why;
  char taken[128], own[128];
  name_products(state, true, taken, sizeof taken);
  name_products(state, false, own, sizeof own);
  name_small_experts(state, own, sizeof own);
  if (!*taken)
    snprintf(library->words, sizeof library->words, "own tiles: %s",
             *why ? why
                  : "passes this short, or weights and activations of these types, are not handed "
                    "to a library");
  else if (!*own)
    snprintf(library->words, sizeof library->words, "%s", name);
  else
    snprintf(library->words, sizeof library->words, "%s; own tiles: %s%s%s%s", name, own,
             *why ? " (" : "", why, *why ? ")" : "");
}

// The driver's message about the first product that it does not take.
static void decline(struct decode_state *state, int product) {
  struct state_library *library = &state->library;
  state->prompt.product[product].library = false;
  if (!*library->why)
    snprintf(library->why, sizeof library->why, "%s", gpu_driver.error());
}

// The vectors of a product in a whole pass, or of an expert in one if all get the same.
static int usual_count(const struct plan *plan, enum product_name name) {
  const struct plan_experts *experts = &plan->experts;
  if (!plan->product[name].routed)
    return plan->request.batch;
  const int even = experts->pairs / plan->request.shape.experts.count;
  return even > experts->library_count ? even : experts->library_count;
}

// Asks about every product at its usual size.
static enum decode_status choose_library(struct decode_state *state) {
  struct plan *plan = &state->prompt;
  enum decode_status status = DECODE_OK;
  for (int p = 0; p < PRODUCTS && (status == DECODE_OK || status == DECODE_UNSUPPORTED); p++) {
    const enum product_name name = (enum product_name)p;
    if (!gpu_plan_fits_library(plan, name))
      continue;
    const struct vendor_size size = library_size(plan, name, usual_count(plan, name));
    status = gpu_driver.multiplies(state->context, &size);
    plan->product[p].library = status == DECODE_OK;
    if (status == DECODE_UNSUPPORTED)
      decline(state, p);
  }
  tell_library(state);
  return status == DECODE_UNSUPPORTED ? DECODE_OK : failure_told(status);
}

const char *prompt_library(const struct decode_state *state) {
  return state->library.words;
}

int prompt_library_products(const struct decode_state *state) {
  int count = 0;
  for (int p = 0; p < PRODUCTS; p++)
    count += state->prompt.product[p].library;
  return count;
}

enum decode_status prompt_prepare(struct decode_state *state) {
  if (state->plan.request.chunk == 0)
    return DECODE_OK;
  const char *why = gpu_plan_prompt(&state->plan, &state->prompt);
  const enum decode_status status =
      why ? failure_keep(DECODE_UNSUPPORTED, why) : copy_angles(state);
  return status == DECODE_OK ? choose_library(state) : status;
}

// ---- a prompt

enum decode_status prompt_check(const struct decode_state *state,
                                const struct decode_prompt *prompt) {
  const struct decode_request *request = &state->plan.request;
  if (prompt->row < 0 || prompt->row >= request->batch || prompt->first < 0 || prompt->count < 1 ||
      prompt->count > request->chunk || prompt->first > state->positions - prompt->count)
    return failure_keep(
        DECODE_FAILED, "the prompt is longer than a chunk or the cache, or has a row out of range");
  return state_check_tokens(&state->plan, prompt->tokens, prompt->count);
}

// The library has only written sums, so all that the product reads is still there.
static enum decode_status queue_own(const struct decode_state *state,
                                    const struct prompt_piece *piece,
                                    const struct vendor_arguments *declined) {
  size_t count = 0;
  struct gpu_launch *launches =
      gpu_plan_pass_product(&state->prompt, piece, declined->layer,
                            (enum product_name)declined->product, state->base, &count);
  if (!launches)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < count && status == DECODE_OK; i++)
    status = failure_told(gpu_driver.launch(state->context, &launches[i]));
  free(launches);
  return status;
}

// Whether a product that the library was asked for has been left undone: from now on it is ours.
static bool is_declined(struct decode_state *state, int product, enum decode_status status) {
  if (status != DECODE_UNSUPPORTED)
    return false;
  if (state->prompt.product[product].library) {
    decline(state, product);
    tell_library(state);
  }
  return true;
}

// Moves *i to the last launch of the product that the library does not take. No all-reduce is
// repeated or left out, so that it makes no difference to other ranks.
static enum decode_status queue_product(struct decode_state *state,
                                        const struct prompt_piece *piece,
                                        const struct gpu_launch *launches, size_t *i) {
  const struct vendor_arguments *arguments = launches[*i].arguments;
  const bool taken = state->prompt.product[arguments->product].library;
  const enum decode_status status =
      taken ? gpu_driver.multiply(state->context, &arguments->multiplied) : DECODE_UNSUPPORTED;
  if (!is_declined(state, arguments->product, status))
    return failure_told(status);
  *i += (size_t)arguments->rest;
  return queue_own(state, piece, arguments);
}

// A product of the experts as the runs divide it; unless it is declined, by our own tiles from then
// on for all of them, including those that the library has done.
static enum decode_status queue_runs(struct decode_state *state, const struct prompt_piece *piece,
                                     const struct vendor_arguments *arguments,
                                     const struct prompt_experts *experts) {
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_pass_experts(
      &state->prompt, piece, arguments->layer, (enum product_name)arguments->product, experts->runs,
      experts->run_count, state->base, &count);
  if (!launches)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < count && status == DECODE_OK; i++) {
    const struct vendor_arguments *vendor = launches[i].arguments;
    status = strcmp(launches[i].kernel, VENDOR_MULTIPLY) == 0
                 ? gpu_driver.multiply(state->context, &vendor->multiplied)
                 : gpu_driver.launch(state->context, &launches[i]);
  }
  free(launches);
  return status;
}

static enum decode_status queue_experts(struct decode_state *state,
                                        const struct prompt_piece *piece,
                                        const struct vendor_arguments *arguments,
                                        struct prompt_experts *experts) {
  if (!state->prompt.product[arguments->product].library)
    return queue_own(state, piece, arguments);
  enum decode_status status = prompt_experts_read(experts, state, arguments->layer);
  if (status == DECODE_OK)
    status = queue_runs(state, piece, arguments, experts);
  if (is_declined(state, arguments->product, status))
    return queue_own(state, piece, arguments);
  if (status == DECODE_OK && experts->by_library && !state->library.experts) {
    state->library.experts = true;
    tell_library(state);
  }
  return failure_told(status);
}

// What a launch of the pass stands for; *i moves to the last one that is done with it.
static enum decode_status queue(struct decode_state *state, const struct prompt_piece *piece,
                                const struct gpu_launch *launches, size_t *i,
                                struct prompt_experts *experts) {
  const struct gpu_launch *launch = &launches[*i];
  if (strcmp(launch->kernel, VENDOR_MULTIPLY) == 0)
    return queue_product(state, piece, launches, i);
  if (strcmp(launch->kernel, VENDOR_EXPERTS) == 0)
    return queue_experts(state, piece, launch->arguments, experts);
  return failure_told(gpu_driver.launch(state->context, launch));
}

static enum decode_status take_piece(struct decode_state *state, const struct prompt_piece *piece) {
  size_t count = 0;
  struct gpu_launch *launches = gpu_plan_pass(&state->prompt, piece, state->base, &count);
  if (!launches)
    return failure_keep(DECODE_NO_MEMORY, "the host is out of memory");
  struct prompt_experts experts = {.layer = -1};
  enum decode_status status = failure_told(wgmma_maps(state->context, launches, count));
  for (size_t i = 0; i < count && status == DECODE_OK; i++)
    status = queue(state, piece, launches, &i, &experts);
  prompt_experts_free(&experts);
  free(launches);
  return status;
}

// A pass's piece of the prompt, its tokens from the from-th on; the other rows go with the last.
static struct prompt_piece piece_from(const struct decode_state *state,
                                      const struct decode_prompt *prompt, int from) {
  const int batch = state->plan.request.batch, beside = prompt->beside ? batch - 1 : 0;
  const int most = state->prompt.request.batch, left = prompt->count - from;
  const bool ends = left <= most - beside;
  return (struct prompt_piece){.row = prompt->row,
                               .of = batch,
                               .first = prompt->first + from,
                               .count = ends ? left : least(most, left - 1),
                               .from = from,
                               .ends = ends,
                               .steps = ends && beside > 0 ? &state->plan : NULL};
}

enum decode_status prompt_take(struct decode_state *state, const struct decode_prompt *prompt) {
  enum decode_status status = prompt_check(state, prompt);
  if (status == DECODE_OK)
    status = failure_told(gpu_driver.copy_in(state->context, at(state, REGION_PROMPT_TOKENS),
                                             prompt->tokens, (size_t)prompt->count * sizeof(int)));
  for (int from = 0; from < prompt->count && status == DECODE_OK;) {
    const struct prompt_piece piece = piece_from(state, prompt, from);
    status = take_piece(state, &piece);
    from += piece.count;
  }
  return status == DECODE_OK ? failure_told(gpu_driver.wait(state->context)) : status;
}
