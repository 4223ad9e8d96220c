#include "probe/measure/verify.h"

#include "base/source.h"
#include "kernels/reference.h"

#include <math.h>
#include <stdlib.h>

enum { most_context = 1024, small_vocab = 8192, few_rows = 4, most_layers = 2 };

// Seconds that the oracle takes for a weight, and for a weight and row of the batch, roughly.
static const double weight_s = 3.5e-9, product_s = 0.6e-9;
static const double patience_s = 8;

static int least(int a, int b) {
  return a < b ? a : b;
}

static double oracle_seconds(const struct decode_request *request) {
  const struct decode_shape *shape = &request->shape;
  const double hidden = shape->hidden;
  const double heads = (double)shape->heads * shape->head_dim;
  const double kv = (double)shape->kv_heads * shape->head_dim;
  const double layer = hidden * (2 * heads + 2 * kv + 3.0 * shape->ffn_hidden);
  const double weights = shape->layers * layer + hidden * shape->vocab;
  const double attended =
      2 * heads * (double)request->context * (double)request->batch * shape->layers;
  return weights * (weight_s + product_s * request->batch) + attended * product_s;
}

struct decode_request verify_request(const struct decode_request *request) {
  struct decode_request small = *request;
  small.shape.layers = least(request->shape.layers, most_layers);
  small.context = least(request->context, most_context);
  if (oracle_seconds(&small) > patience_s)
    small.shape.vocab =
        least(small.shape.vocab, small_vocab - small_vocab % (small.ranks > 1 ? small.ranks : 1));
  if (oracle_seconds(&small) > patience_s)
    small.shape.layers = 1;
  if (oracle_seconds(&small) > patience_s)
    small.batch = least(small.batch, few_rows);
  return small;
}

// What a comparison needs; all of it is undone by finish.
struct comparison {
  const struct decode_backend *backend;
  struct decode_request request;
  struct decode_state *state;
  struct reference *reference;
  float *logits;
  int *tokens;
  const char *sampled; // every token sampled, for the checksum
  struct arena *arena;
  struct measurement_verification *out;
};

static enum decode_status begin(struct comparison *comparison, int device) {
  const struct decode_request *request = &comparison->request;
  const size_t rows = (size_t)request->batch;
  enum decode_status status = DECODE_OK;
  comparison->logits = malloc(rows * (size_t)request->shape.vocab * sizeof *comparison->logits);
  comparison->tokens = malloc(rows * sizeof *comparison->tokens);
  if (!comparison->logits || !comparison->tokens)
    return DECODE_NO_MEMORY;
  comparison->reference = reference_create(request, &status);
  if (!comparison->reference)
    return status;
  comparison->state = comparison->backend->create(device, request, &status);
  return comparison->state ? DECODE_OK : status;
}

static void finish(struct comparison *comparison) {
  if (comparison->state)
    comparison->backend->destroy(comparison->state);
  reference_destroy(comparison->reference);
  free(comparison->logits);
  free(comparison->tokens);
}

// What the device does not write must not look right.
static void poison(struct comparison *comparison) {
  const size_t rows = (size_t)comparison->request.batch;
  const size_t count = rows * (size_t)comparison->request.shape.vocab;
  for (size_t i = 0; i < count; i++)
    comparison->logits[i] = NAN;
  for (size_t i = 0; i < rows; i++)
    comparison->tokens[i] = -1;
}

static enum decode_status step(struct comparison *comparison) {
  poison(comparison);
  enum decode_status status = comparison->backend->run(comparison->state, 1);
  if (status == DECODE_OK)
    status = comparison->backend->logits(comparison->state, comparison->logits);
  if (status == DECODE_OK)
    status = comparison->backend->tokens(comparison->state, comparison->tokens);
  return status;
}

static void note_tokens(struct comparison *comparison) {
  const char *text = comparison->sampled;
  for (int i = 0; i < comparison->request.batch; i++)
    text = arena_printf(comparison->arena, "%s%s%d", text, *text ? "," : "", comparison->tokens[i]);
  comparison->sampled = text;
}

// One step on both from the same tokens. False ends the comparison.
static bool compare(struct comparison *comparison, bool *passed) {
  reference_step(comparison->reference);
  const struct reference_verdict verdict = reference_check(
      comparison->reference, comparison->logits, comparison->tokens, comparison->out->tolerance);
  const double error = fmax(verdict.error, verdict.shortfall);
  comparison->out->max_error = fmax(comparison->out->max_error, error);
  note_tokens(comparison);
  *passed = verdict.pass;
  return verdict.pass && reference_set_tokens(comparison->reference, comparison->tokens) == 0;
}

static const char *describe(const struct decode_request *full, const struct decode_request *small,
                            int steps, struct arena *arena) {
  const char *what = arena_printf(
      arena, "full width, %d of %d layers, %d of %d rows, %d of %d positions", small->shape.layers,
      full->shape.layers, small->batch, full->batch, small->context, full->context);
  if (small->shape.vocab < full->shape.vocab)
    what = arena_printf(arena, "%s, %d of %d words", what, small->shape.vocab, full->shape.vocab);
  return arena_printf(arena, "%s, %d step%s: logits and tokens against double precision", what,
                      steps, steps == 1 ? "" : "s");
}

static enum decode_status compare_steps(struct comparison *comparison, int steps,
                                        const volatile sig_atomic_t *stop, bool *passed) {
  for (int i = 0; i < steps; i++) {
    const enum decode_status status = step(comparison);
    if (status != DECODE_OK)
      return status;
    if (*stop || !compare(comparison, passed))
      break;
  }
  *passed = *passed && !*stop;
  return DECODE_OK;
}

enum decode_status verify(const struct decode_backend *backend, int device,
                          const struct decode_request *request, const volatile sig_atomic_t *stop,
                          struct arena *arena, struct measurement_verification *out, bool *passed) {
  struct comparison comparison = {.backend = backend,
                                  .request = verify_request(request),
                                  .sampled = "",
                                  .arena = arena,
                                  .out = out};
  const int steps = oracle_seconds(&comparison.request) < patience_s / 2 ? 2 : 1;
  *passed = false;
  *out = (struct measurement_verification){
      .what = describe(request, &comparison.request, steps, arena),
      .tolerance = reference_tolerance(&request->types),
      .token_checksum = "",
  };
  enum decode_status status = begin(&comparison, device);
  if (status == DECODE_OK)
    status = compare_steps(&comparison, steps, stop, passed);
  finish(&comparison);
  if (status == DECODE_OK)
    out->token_checksum =
        source_sha256(source_from_text("tokens", comparison.sampled, arena), arena);
  return status;
}
