#include "probe/measure/verify.h"

#include "base/source.h"
#include "kernels/integers.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "probe/measure/one_step.h"

#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

enum { MAX_CONTEXT = 1024, MAX_VOCAB = 8192, MIN_ROWS = 4, MAX_LAYERS = 2 };

// Roughly the oracle's time per weight, and per weight and batch row.
static const double weight_s = 3.5e-9, product_s = 0.6e-9;
static const double patience_s = 8;
// How long the oracle may take for a second layer to be verified, too: only between two layers does
// a step pass the vectors from one's `down` to the next one's qkv.
static const double second_layer_s = 12;

// Rows of the MLP that a layer reads: with experts, those that this many batch rows can choose.
static double mlp_width(const struct decode_shape *shape, int rows) {
  const struct decode_experts *experts = &shape->experts;
  const double touched = fmin((double)experts->chosen * rows, experts->count);
  return experts->count == 0
             ? shape->ffn_hidden
             : touched * experts->hidden + experts->shared_hidden + experts->count / 3.0;
}

// About how long the oracle takes for the first `rows` of the batch.
static double oracle_seconds(const struct decode_request *request, int rows) {
  const struct decode_shape *shape = &request->shape;
  const double hidden = shape->hidden;
  const double heads = (double)shape->heads * shape->head_dim;
  const double kv = (double)shape->kv_heads * shape->head_dim;
  const double layer = hidden * (2 * heads + 2 * kv + 3.0 * mlp_width(shape, rows));
  const double weights = shape->layers * layer + hidden * shape->vocab;
  const double attended = 2 * heads * (double)request->context * (double)rows * shape->layers;
  return weights * (weight_s + product_s * rows) + attended * product_s;
}

// With this few layers, the last one has experts, and each of the two kinds of attention has a
// layer; a window that covers all of the few positions is shortened, so that it has an effect.
static void keep_kinds(const struct decode_request *request, struct decode_request *small) {
  struct decode_shape *shape = &small->shape;
  shape->experts.dense_layers = least(request->shape.experts.dense_layers, shape->layers - 1);
  if (request->shape.full_every > 0)
    shape->full_every = least(request->shape.full_every, MAX_LAYERS);
  if (request->shape.window < request->context && shape->window >= small->context)
    shape->window = (small->context + 1) / 2;
}

static struct decode_request smaller_request(const struct decode_request *request) {
  struct decode_request small = *request;
  const int fewest = least(request->batch, MIN_ROWS);
  small.shape.layers = least(request->shape.layers, MAX_LAYERS);
  small.context = least(request->context, MAX_CONTEXT);
  keep_kinds(request, &small);
  if (oracle_seconds(&small, small.batch) > patience_s)
    small.shape.vocab =
        least(small.shape.vocab, MAX_VOCAB - MAX_VOCAB % (small.ranks > 1 ? small.ranks : 1));
  if (oracle_seconds(&small, fewest) > second_layer_s)
    small.shape.layers = 1;
  keep_kinds(request, &small);
  return small;
}

struct verify_plan verify_plan(const struct decode_request *request) {
  struct verify_plan plan = {.request = smaller_request(request), .rows = request->batch};
  while (plan.rows > MIN_ROWS && oracle_seconds(&plan.request, plan.rows) > patience_s)
    plan.rows = plan.rows / 2 > MIN_ROWS ? plan.rows / 2 : MIN_ROWS;
  plan.steps = oracle_seconds(&plan.request, plan.rows) < patience_s / 2 ? 2 : 1;
  return plan;
}

// The device and the oracle, in step; finish undoes all of it. The oracle has only the first rows
// of the batch: a row's tokens, caches and choices of experts are the same in any batch.
struct pairing {
  const struct decode_backend *backend;
  struct decode_request request; // the device's
  int rows;                      // the oracle's
  struct decode_state *state;
  struct reference *reference;
  float *logits;
  int *tokens;
  int *chosen;         // [layers][batch][chosen], for a model with experts
  const char *sampled; // every token sampled, for the checksum
  struct arena *arena;
  struct measurement_verification *out;
};

// Experts that a step chooses, over all layers and rows.
static size_t choices_of(const struct decode_request *request) {
  const struct decode_shape *shape = &request->shape;
  return (size_t)shape->layers * (size_t)request->batch * (size_t)shape->experts.chosen;
}

// Makes no device's state if asked to stop by then.
static enum decode_status begin(struct pairing *pairing, int device,
                                const volatile sig_atomic_t *stop) {
  const struct decode_request *request = &pairing->request;
  const size_t rows = (size_t)request->batch;
  const size_t choices = choices_of(request);
  enum decode_status status = DECODE_OK;
  pairing->logits = malloc(rows * (size_t)request->shape.vocab * sizeof *pairing->logits);
  pairing->tokens = malloc(rows * sizeof *pairing->tokens);
  pairing->chosen = choices ? malloc(choices * sizeof *pairing->chosen) : NULL;
  if (!pairing->logits || !pairing->tokens || (choices && !pairing->chosen))
    return DECODE_NO_MEMORY;
  struct decode_request first = *request;
  first.batch = pairing->rows;
  pairing->reference = reference_create(&first, &status);
  if (!pairing->reference || *stop)
    return status;
  pairing->state = pairing->backend->create(device, request, &status);
  return pairing->state ? DECODE_OK : status;
}

static void finish(struct pairing *pairing) {
  if (pairing->state)
    pairing->backend->destroy(pairing->state);
  reference_destroy(pairing->reference);
  free(pairing->logits);
  free(pairing->tokens);
  free(pairing->chosen);
}

static enum decode_status step(struct pairing *pairing) {
  for (size_t i = 0; pairing->chosen && i < choices_of(&pairing->request); i++)
    pairing->chosen[i] = -1;
  enum decode_status status = one_step(pairing->backend, pairing->state, &pairing->request,
                                       pairing->logits, pairing->tokens);
  if (status == DECODE_OK && pairing->chosen)
    status = pairing->backend->chosen ? pairing->backend->chosen(pairing->state, pairing->chosen)
                                      : DECODE_UNSUPPORTED;
  return status;
}

static void note_tokens(struct pairing *pairing) {
  const char *text = pairing->sampled;
  for (int i = 0; i < pairing->request.batch; i++)
    text = arena_printf(pairing->arena, "%s%s%d", text, *text ? "," : "", pairing->tokens[i]);
  pairing->sampled = text;
}

// Turns the device's choices, [layers][batch][chosen], into the oracle's, for fewer rows.
static void give_chosen(struct pairing *pairing) {
  const struct decode_shape *shape = &pairing->request.shape;
  const size_t chosen = (size_t)shape->experts.chosen;
  const size_t all = (size_t)pairing->request.batch * chosen,
               first = (size_t)pairing->rows * chosen;
  for (size_t layer = 1; layer < (size_t)shape->layers; layer++)
    memmove(pairing->chosen + layer * first, pairing->chosen + layer * all,
            first * sizeof *pairing->chosen);
  reference_set_chosen(pairing->reference, pairing->chosen);
}

static bool all_finite(const float *values, size_t count) {
  for (size_t i = 0; i < count; i++)
    if (!isfinite(values[i]))
      return false;
  return true;
}

// For rows that the oracle has not computed: whether their logits are numbers, and their tokens the
// first of the largest.
static bool rest_is_greedy(const struct pairing *pairing) {
  const size_t vocab = (size_t)pairing->request.shape.vocab;
  for (int row = pairing->rows; row < pairing->request.batch; row++) {
    const float *logits = pairing->logits + (size_t)row * vocab;
    if (!all_finite(logits, vocab) || !reference_greedy(logits, vocab, pairing->tokens[row]))
      return false;
  }
  return true;
}

// One step on both, from the same tokens and with the same experts. False ends the pairing.
static bool compare(struct pairing *pairing, bool *passed) {
  if (pairing->chosen)
    give_chosen(pairing);
  reference_step(pairing->reference);
  const struct reference_verdict verdict = reference_check(
      pairing->reference, pairing->logits, pairing->tokens, pairing->out->tolerance);
  const double error = fmax(fmax(verdict.error, verdict.shortfall), verdict.routing);
  pairing->out->max_error = fmax(pairing->out->max_error, error);
  note_tokens(pairing);
  *passed = verdict.pass && rest_is_greedy(pairing);
  return *passed && reference_set_tokens(pairing->reference, pairing->tokens) == 0;
}

static const char *describe(const struct decode_request *full, const struct verify_plan *plan,
                            struct arena *arena) {
  const struct decode_request *small = &plan->request;
  const bool mixture = small->shape.experts.count > 0;
  const char *what = arena_printf(
      arena, "full width, %d of %d layers, %d of %d rows, %d of %d positions", small->shape.layers,
      full->shape.layers, small->batch, full->batch, small->context, full->context);
  if (plan->rows < small->batch)
    what = arena_printf(arena, "%s, the first %d rows compared", what, plan->rows);
  if (small->shape.vocab < full->shape.vocab)
    what = arena_printf(arena, "%s, %d of %d words", what, small->shape.vocab, full->shape.vocab);
  return arena_printf(arena, "%s, %d step%s: logits%s and tokens against double precision", what,
                      plan->steps, plan->steps == 1 ? "" : "s", mixture ? ", experts" : "");
}

static enum decode_status compare_steps(struct pairing *pairing, int steps,
                                        const volatile sig_atomic_t *stop, bool *passed) {
  for (int i = 0; i < steps && !*stop; i++) {
    const enum decode_status status = step(pairing);
    if (status != DECODE_OK)
      return status;
    if (*stop || !compare(pairing, passed))
      break;
  }
  *passed = *passed && !*stop;
  return DECODE_OK;
}

enum decode_status verify(const struct decode_backend *backend, int device,
                          const struct decode_request *request, const struct verify_plan *plan,
                          const volatile sig_atomic_t *stop, struct arena *arena,
                          struct measurement_verification *out, bool *passed) {
  struct pairing pairing = {.backend = backend,
                            .request = plan->request,
                            .rows = plan->rows,
                            .sampled = "",
                            .arena = arena,
                            .out = out};
  *passed = false;
  *out = (struct measurement_verification){
      .what = describe(request, plan, arena),
      .tolerance = reference_tolerance(&request->types),
      .token_checksum = "",
  };
  enum decode_status status = begin(&pairing, device, stop);
  if (status == DECODE_OK)
    status = compare_steps(&pairing, plan->steps, stop, passed);
  finish(&pairing);
  if (status == DECODE_OK)
    out->token_checksum = source_sha256(source_from_text("tokens", pairing.sampled, arena), arena);
  return status;
}
