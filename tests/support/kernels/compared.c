#include "tests/support/kernels/compared.h"

#include "kernels/routing.h"
#include "tests/support/fixture.h"
#include "tests/support/kernels/tolerance.h"

#include <stdlib.h>
#include <string.h>

struct decode_state *compared_state(const struct decode_backend *backend,
                                    const struct decode_request *request, const char *what) {
  static enum decode_status status; // static: otherwise cppcheck thinks that the state points at it
  const int device = request->ranks > 1 ? request->devices[0] : 0;
  struct decode_state *state = backend->create(device, request, &status);
  if (!state)
    fail_msg("%s: create: status %d, %s", what, status, backend->error());
  return state;
}

static struct reference *oracle_of(const struct decode_request *request) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_non_null(reference);
  return reference;
}

static void expect_ok(const struct decode_backend *backend, enum decode_status status) {
  if (status != DECODE_OK)
    fail_msg("%s: status %d, %s", backend->name, status, backend->error());
}

static void step_oracle(const struct decode_backend *backend, struct decode_state *state,
                        struct reference *reference) {
  const struct decode_request *r = reference_request(reference);
  const int experts = r->shape.experts.count > 0 ? r->shape.experts.chosen : 0;
  int *chosen = calloc((size_t)(r->shape.layers * r->batch * experts) + 1, sizeof *chosen);
  assert_non_null(chosen);
  if (experts > 0) {
    expect_ok(backend, backend->chosen(state, chosen));
    reference_set_chosen(reference, chosen);
  }
  reference_step(reference);
  free(chosen);
}

// Gives the oracle the device's tokens.
static void share_tokens(const struct decode_backend *backend, struct decode_state *state,
                         struct reference *reference) {
  int *tokens = malloc((size_t)reference_request(reference)->batch * sizeof *tokens);
  assert_non_null(tokens);
  expect_ok(backend, backend->tokens(state, tokens));
  assert_int_equal(reference_set_tokens(reference, tokens), 0);
  free(tokens);
}

static struct reference_verdict judge(const struct decode_backend *backend,
                                      struct decode_state *state,
                                      const struct reference *reference) {
  const struct decode_request *r = reference_request(reference);
  const size_t rows = (size_t)r->batch, bytes = rows * (size_t)r->shape.vocab * sizeof(float);
  int *tokens = malloc(rows * sizeof *tokens);
  float *logits = malloc(bytes);
  assert_true(tokens && logits);
  memset(logits, 0xFF, bytes);
  expect_ok(backend, backend->logits(state, logits));
  expect_ok(backend, backend->tokens(state, tokens));
  const struct reference_verdict verdict =
      reference_check(reference, logits, tokens, tolerance_of_rows(r));
  free(logits);
  free(tokens);
  return verdict;
}

struct reference_verdict compared_step(const struct decode_backend *backend,
                                       struct decode_state *state, struct reference *reference) {
  share_tokens(backend, state, reference);
  expect_ok(backend, backend->run(state, 1));
  step_oracle(backend, state, reference);
  return judge(backend, state, reference);
}

struct reference_verdict compared_beside(const struct decode_backend *backend,
                                         struct decode_state *state, struct reference *reference,
                                         const struct decode_prompt *prompt,
                                         const struct decode_prompt *expected) {
  share_tokens(backend, state, reference);
  expect_ok(backend, backend->prefill(state, prompt));
  assert_int_equal(reference_prefill(reference, expected), 0);
  return judge(backend, state, reference);
}

void compared_steps(const struct decode_backend *backend, const struct decode_request *request,
                    const struct decode_request *expected, const char *what, int steps) {
  struct reference *reference = oracle_of(expected);
  struct decode_state *state = compared_state(backend, request, what);
  for (int step = 0; step < steps; step++) {
    const struct reference_verdict v = compared_step(backend, state, reference);
    if (!v.pass)
      fail_msg(
          "%s, weights %d, activations %d, batch %d, context %d, threads %d, step %d: error %g, "
          "shortfall %g, routing %g%s",
          what, (int)request->types.weights, (int)request->types.activations, request->batch,
          request->context, request->threads, step, v.error, v.shortfall, v.routing,
          v.greedy ? "" : ", not the largest");
  }
  backend->destroy(state);
  reference_destroy(reference);
}

bool compared_apart(const struct decode_backend *backend, const struct decode_request *request,
                    const struct decode_shape *other, const char *what) {
  struct decode_request expected = *request;
  expected.shape = *other;
  struct reference *reference = oracle_of(&expected);
  struct decode_state *state = compared_state(backend, request, what);
  const bool is_apart = !compared_step(backend, state, reference).pass;
  backend->destroy(state);
  reference_destroy(reference);
  return is_apart;
}

// Marks for each expert whether a line of the table names it; returns how many are.
static int touch(const uint16_t *line, size_t pairs, bool touched[MAX_DECODE_EXPERTS]) {
  int distinct = 0;
  memset(touched, 0, MAX_DECODE_EXPERTS * sizeof *touched);
  for (size_t i = 0; i < pairs; i++) {
    distinct += !touched[line[i]];
    touched[line[i]] = true;
  }
  return distinct;
}

void compared_forced(const struct decode_backend *backend, const struct decode_request *request,
                     int steps) {
  const struct decode_experts *experts = &request->shape.experts;
  const size_t layers = (size_t)request->shape.layers;
  const size_t pairs = (size_t)request->batch * (size_t)experts->chosen;
  uint16_t *table = malloc(routing_entries(request) * sizeof *table);
  int *chosen = malloc(layers * pairs * sizeof *chosen);
  struct decode_state *state = compared_state(backend, request, "forced routing");
  struct decode_touched counted;
  int distinct = 0;
  assert_true(table && chosen);
  routing_fill(request, table);
  for (int step = 0; step < steps; step++) {
    expect_ok(backend, backend->run(state, 1));
    expect_ok(backend, backend->chosen(state, chosen));
    for (size_t layer = 0; layer < layers; layer++) {
      const bool is_dense = layer < (size_t)experts->dense_layers;
      const uint16_t *line = table + ((size_t)(step % ROUTING_STEPS) * layers + layer) * pairs;
      bool touched[MAX_DECODE_EXPERTS];
      distinct += is_dense ? 0 : touch(line, pairs, touched);
      for (size_t i = layer * pairs; i < (layer + 1) * pairs; i++)
        assert_true(is_dense ? chosen[i] == -1 : touched[chosen[i]]);
    }
  }
  expect_ok(backend, backend->touched(state, &counted));
  assert_int_equal(counted.steps, steps);
  assert_int_equal(counted.experts, distinct);
  backend->destroy(state);
  free(chosen);
  free(table);
}
