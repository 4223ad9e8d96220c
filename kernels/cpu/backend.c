#include "kernels/cpu/backend.h"

#include "kernels/arithmetic.h"
#include "kernels/cpu/cache.h"
#include "kernels/cpu/calibrate.h"
#include "kernels/cpu/experts.h"
#include "kernels/cpu/fill.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/limits.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/processor.h"
#include "kernels/cpu/prompt_product.h"
#include "kernels/cpu/state.h"
#include "kernels/cpu/step.h"
#include "kernels/cpu/threads.h"
#include "kernels/decode.h"
#include "kernels/element.h"
#include "kernels/integers.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The Makefile may define this as a hash of the sources.
#ifndef KERNELS_BUILD
#define KERNELS_BUILD "unversioned"
#endif

static _Thread_local char last_error[256];

static enum decode_status refuse(enum decode_status status, const char *words) {
  snprintf(last_error, sizeof last_error, "%s", words);
  return status;
}

static int device_count(void) {
  return 1;
}

static void name_processor(char *out, size_t size) {
  FILE *file = fopen("/proc/cpuinfo", "re");
  processor_name(file, out, size);
  if (file)
    fclose(file);
}

static enum decode_status describe(int device, struct decode_device *out) {
  if (device != 0)
    return refuse(DECODE_NO_DEVICE, "there is one CPU, device 0");
  struct memory_state memory = memory_now();
  const uint64_t cache = cache_in_use(), reported = cache_reported();
  char model[96];
  name_processor(model, sizeof model);
  *out = (struct decode_device){
      .memory_bytes = memory.total,
      .memory_free_bytes = memory.available,
      .cache_bytes = cache ? cache : reported,
      .reported_cache_bytes = reported,
      .units = threads_default(),
  };
  snprintf(out->name, sizeof out->name, "%s, %d cores", model, out->units);
  snprintf(out->runtime, sizeof out->runtime, "OpenMP, %s", cpu_kernels_choose()->name);
  return DECODE_OK;
}

static enum decode_status make_plan(const struct decode_request *request, struct plan *plan) {
  if (request->ranks > 1)
    return refuse(DECODE_UNSUPPORTED,
                  "a CPU holds a model by itself: only GPUs do tensor parallelism");
  char words[LIMITS_WORDS];
  const char *fault = limits_fault(request, words);
  return fault ? refuse(DECODE_UNSUPPORTED, fault) : plan_make(request, cpu_kernels_choose(), plan);
}

static enum decode_status cost(int device, const struct decode_request *request,
                               struct decode_cost *out) {
  (void)device;
  struct plan plan;
  enum decode_status status = make_plan(request, &plan);
  if (status == DECODE_OK)
    *out = plan_cost(&plan);
  return status;
}

static void destroy(struct decode_state *state) {
  if (!state)
    return;
  for (int t = 0; state->streams && t < state->plan.threads; t++)
    memory_give(state->streams[t].base, state->streams[t].bytes);
  for (int b = 0; b < BLOCKS; b++)
    memory_give(state->block[b], state->plan.block_bytes[b]);
  free(state->streams);
  free(state->tokens);
  free(state->turned);
  onednn_close(state->library);
  free(state);
  threads_release();
}

static int take_stream(struct decode_state *state, int thread) {
  const struct plan *plan = &state->plan;
  struct stream *stream = &state->streams[thread];
  for (int m = 0; m < MATRICES; m++)
    stream->share[m] = plan_share(plan, (enum matrix_name)m, thread);
  for (int kind = 0; kind < LAYER_KINDS; kind++)
    for (int m = 0; m < MATRIX_HEAD; m++) {
      stream->start[kind][m] = stream->layer_bytes[kind];
      if (plan_has(plan, (enum layer_kind)kind, (enum matrix_name)m))
        stream->layer_bytes[kind] += plan_share_bytes(plan, (enum matrix_name)m, thread);
    }
  stream->bytes = plan_weight_bytes(plan, thread);
  stream->start[LAYER_DENSE][MATRIX_HEAD] =
      stream->bytes - plan_share_bytes(plan, MATRIX_HEAD, thread);
  if (stream->bytes == 0)
    stream->bytes = LINE_BYTES; // more threads than panels
  stream->base = memory_take(stream->bytes);
  return stream->base ? 0 : -1;
}

static int take_memory(struct decode_state *state) {
  const struct plan *plan = &state->plan;
  state->tokens = calloc(plan->batch, sizeof *state->tokens);
  state->streams = calloc((size_t)plan->threads, sizeof *state->streams);
  state->turned = calloc(plan->vectors, sizeof *state->turned);
  if (!state->tokens || !state->streams || !state->turned)
    return -1;
  for (int b = 0; b < BLOCKS; b++)
    if (plan->block_bytes[b] > 0 && !(state->block[b] = memory_take(plan->block_bytes[b])))
      return -1;
  for (int t = 0; t < plan->threads; t++)
    if (take_stream(state, t) != 0)
      return -1;
  return 0;
}

static void fill_part(void *argument, int thread) {
  cpu_fill(argument, thread);
}

// Names of a prompt's products, for when only some of them are the library's. The head is left out:
// it multiplies one vector per prompt.
static const char *const product_names[MATRIX_HEAD] = {
    [MATRIX_QKV] = "qkv",
    [MATRIX_QUERY] = "latent",
    [MATRIX_KEY_B] = "latent",
    [MATRIX_VALUE_B] = "latent",
    [MATRIX_OUTPUT] = "output",
    [MATRIX_GATE_UP] = "MLP",
    [MATRIX_DOWN] = "MLP",
    [MATRIX_ROUTER] = "router",
    [MATRIX_SHARED_GATE_UP] = "shared expert",
    [MATRIX_SHARED_DOWN] = "shared expert",
    [MATRIX_EXPERT_GATE_UP] = "experts",
    [MATRIX_EXPERT_DOWN] = "experts",
};

static bool has_matrix(const struct plan *plan, enum matrix_name name) {
  return plan_has(plan, LAYER_DENSE, name) || plan_has(plan, LAYER_EXPERTS, name);
}

// Lists, by name, the products that the library takes, or those that it does not.
static void name_products(const struct decode_state *state, bool taken, char *out, size_t size) {
  const char *last = "";
  *out = 0;
  for (int m = 0; m < MATRIX_HEAD; m++) {
    const enum matrix_name name = (enum matrix_name)m;
    const size_t length = strlen(out);
    if (!has_matrix(&state->plan, name) || !strcmp(last, product_names[m]) ||
        cpu_prompt_product_fits(state, name) != taken)
      continue;
    last = product_names[m];
    snprintf(out + length, size - length, "%s%s", length ? ", " : "", last);
  }
}

// Adds that experts with too few positions are not left to the library, if it takes the others.
static void name_small_experts(const struct decode_state *state, char *out, size_t size) {
  const size_t length = strlen(out);
  if (has_matrix(&state->plan, MATRIX_EXPERT_GATE_UP) &&
      cpu_prompt_product_fits(state, MATRIX_EXPERT_GATE_UP) &&
      cpu_prompt_product_fits(state, MATRIX_EXPERT_DOWN))
    snprintf(out + length, size - length, "%sexperts with under %zu positions", length ? ", " : "",
             cpu_expert_positions());
}

static void open_library(struct decode_state *state) {
  enum { SIZE = sizeof state->library_words };
  char why[SIZE - 16], taken[SIZE / 2], own[SIZE / 2];
  state->library = onednn_open(cpu_library_file(), why, sizeof why);
  name_products(state, true, taken, sizeof taken);
  name_products(state, false, own, sizeof own);
  name_small_experts(state, own, sizeof own);
  if (!state->library)
    snprintf(state->library_words, SIZE, "own tiles: %s", why);
  else if (!*taken)
    snprintf(state->library_words, SIZE,
             "own tiles: these weights and activations are not handed to %s",
             onednn_name(state->library));
  else
    snprintf(state->library_words, SIZE, "%s%s%s", onednn_name(state->library),
             *own ? "; own tiles: " : "", own);
}

static enum decode_status build(struct decode_state *state) {
  const struct plan *plan = &state->plan;
  const uint64_t needed = plan_cost(plan).resident_bytes, available = memory_now().available;
  if (needed > available) {
    char words[128];
    snprintf(words, sizeof words, "the model needs %.2f GB, but only %.2f GB is free",
             1e-9 * (double)needed, 1e-9 * (double)available);
    return refuse(DECODE_NO_MEMORY, words);
  }
  state->position = plan->context - 1;
  if (take_memory(state) != 0)
    return refuse(DECODE_NO_MEMORY, "the system cannot provide the memory");
  if (threads_run(plan->threads, fill_part, state) != 0)
    return refuse(DECODE_FAILED, "the system cannot provide the threads");
  for (size_t b = 0; b < plan->batch; b++)
    state->tokens[b] = (int)((plan->request.seed + b) % plan->vocab);
  for (size_t v = 0; v < plan->vectors; v++)
    state->turned[v] = SIZE_MAX;
  if (plan->request.chunk > 0)
    open_library(state);
  return DECODE_OK;
}

static struct decode_state *create(int device, const struct decode_request *request,
                                   enum decode_status *status) {
  if (device != 0) {
    *status = refuse(DECODE_NO_DEVICE, "there is one CPU, device 0");
    return NULL;
  }
  struct plan plan;
  *status = make_plan(request, &plan);
  if (*status != DECODE_OK)
    return NULL;
  size_t size = round_up(sizeof(struct decode_state), _Alignof(struct decode_state));
  struct decode_state *state = aligned_alloc(_Alignof(struct decode_state), size);
  if (!state) {
    *status = refuse(DECODE_NO_MEMORY, "out of memory");
    return NULL;
  }
  memset(state, 0, size);
  state->plan = plan;
  *status = build(state);
  if (*status == DECODE_OK)
    return state;
  destroy(state);
  return NULL;
}

struct job {
  struct decode_state *state;
  int steps;
};

static void run_part(void *argument, int thread) {
  const struct job *job = argument;
  for (int i = 0; i < job->steps; i++)
    cpu_step(job->state, thread);
}

static enum decode_status pass(struct decode_state *state, int steps) {
  struct job job = {state, steps};
  if (threads_run(state->plan.threads, run_part, &job) != 0)
    return refuse(DECODE_FAILED, "the system cannot provide the threads");
  return DECODE_OK;
}

static enum decode_status run(struct decode_state *state, int steps) {
  state->pass = (struct pass){.vectors = state->plan.batch};
  return pass(state, steps);
}

static bool prompt_known(const struct plan *plan, const struct decode_prompt *prompt) {
  if (prompt->row < 0 || prompt->row >= plan->request.batch || prompt->first < 0 ||
      prompt->count < 1 || prompt->count > plan->request.chunk ||
      prompt->first > plan->request.context - prompt->count)
    return false;
  for (int i = 0; i < prompt->count; i++)
    if (prompt->tokens[i] < 0 || prompt->tokens[i] >= plan->request.shape.vocab)
      return false;
  return true;
}

static enum decode_status prefill(struct decode_state *state, const struct decode_prompt *prompt) {
  if (!prompt_known(&state->plan, prompt))
    return refuse(
        DECODE_FAILED,
        "the prompt is longer than a chunk or the cache, or has a row or token out of range");
  state->pass = (struct pass){
      .vectors = (size_t)prompt->count + (prompt->beside ? state->plan.batch - 1 : 0),
      .prompt_count = (size_t)prompt->count,
      .prompt_row = (size_t)prompt->row,
      .prompt_first = (size_t)prompt->first,
      .prompt_tokens = prompt->tokens,
  };
  if (state->library && cpu_prompt_product_prepare(state))
    return refuse(DECODE_FAILED, "oneDNN cannot multiply these shapes");
  state->library_failed = 0;
  enum decode_status status = pass(state, 1);
  return state->library_failed ? refuse(DECODE_FAILED, "oneDNN failed in a product") : status;
}

static enum decode_status set_position(struct decode_state *state, int position) {
  if (position < 0 || position >= state->plan.request.context)
    return refuse(DECODE_FAILED, "the position lies outside the cache");
  state->position = (size_t)position;
  return DECODE_OK;
}

static const char *prefill_library(const struct decode_state *state) {
  return state->library_words;
}

// Each kind of product multiplies in the type of its vectors.
static void step_form(const struct decode_state *state, struct decode_step_form *out) {
  struct arithmetic arithmetic = {"", ""};
  for (int m = 0; m < MATRICES; m++) {
    const struct matrix *matrix = &state->plan.matrix[m];
    if (matrix->copies == 0)
      continue;
    const char *as = element_format(matrix->input)->name;
    arithmetic_add(&arithmetic, matrix->element, as);
    arithmetic_add(&arithmetic, matrix->rounded, as);
  }
  *out = (struct decode_step_form){.form = ""};
  arithmetic_tell(&arithmetic, out);
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  memcpy(out, state->tokens, state->plan.batch * sizeof *out);
  return DECODE_OK;
}

static enum decode_status logits(struct decode_state *state, float *out) {
  const struct plan *plan = &state->plan;
  const float *from = block_floats(state, BLOCK_LOGITS);
  for (size_t b = 0; b < plan->batch; b++)
    memcpy(out + b * plan->vocab, from + b * plan->logits_stride, plan->vocab * sizeof *out);
  return DECODE_OK;
}

static enum decode_status set_tokens(struct decode_state *state, const int *in) {
  for (size_t b = 0; b < state->plan.batch; b++)
    if (in[b] < 0 || in[b] >= state->plan.request.shape.vocab)
      return refuse(DECODE_FAILED, "a token lies outside the vocabulary");
  memcpy(state->tokens, in, state->plan.batch * sizeof *in);
  return DECODE_OK;
}

static enum decode_status chosen(struct decode_state *state, int *out) {
  const struct plan *plan = &state->plan;
  for (size_t layer = 0; layer < plan->layers; layer++)
    for (size_t i = 0; i < plan->batch * plan->chosen; i++)
      *out++ =
          plan_layer_kind(plan, layer) == LAYER_EXPERTS ? chosen_experts(state, layer, 0)[i] : -1;
  return DECODE_OK;
}

static enum decode_status touched(struct decode_state *state, struct decode_touched *out) {
  *out = state->touched;
  return DECODE_OK;
}

static enum decode_status read_memory(int device, uint64_t bytes, int threads, int variant,
                                      double *seconds) {
  if (device != 0)
    return refuse(DECODE_NO_DEVICE, "there is one CPU, device 0");
  return calibrate_read(bytes, threads, variant, seconds);
}

static enum decode_status matrix_rate(int device, const struct decode_types *types, int threads,
                                      double *operations_per_s) {
  if (device != 0)
    return refuse(DECODE_NO_DEVICE, "there is one CPU, device 0");
  return calibrate_matrix(types, threads, operations_per_s);
}

static const char *error(void) {
  return last_error;
}

const struct decode_backend cpu_backend = {
    .abi = DECODE_ABI,
    .name = "cpu",
    .build = KERNELS_BUILD,
    .device_count = device_count,
    .describe = describe,
    .cost = cost,
    .create = create,
    .destroy = destroy,
    .run = run,
    .tokens = tokens,
    .logits = logits,
    .set_tokens = set_tokens,
    .chosen = chosen,
    .touched = touched,
    .read_memory = read_memory,
    .matrix_rate = matrix_rate,
    .calibration_end = calibrate_end,
    .prefill = prefill,
    .set_position = set_position,
    .prefill_library = prefill_library,
    .error = error,
    .step_form = step_form,
};
