#include "tests/support/kernels/prompted.h"

#include "kernels/element.h"
#include "kernels/gpu/arguments/latent.h"
#include "tests/support/fixture.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { MOST = 300, MAX_VOCAB = 256 };

// Weights, activations, KV, head, accumulation, experts.
const struct prompted_mix prompted_mixes[PROMPTED_MIXES] = {
    {"bf16", {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3", {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3 weights, e4m3 cache",
     {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
};

struct decode_request prompted_request(const struct decode_shape *shape,
                                       const struct decode_types *types, int chunk) {
  return (struct decode_request){.shape = *shape,
                                 .types = *types,
                                 .batch = PROMPTED_BATCH,
                                 .context = PROMPTED_CONTEXT,
                                 .seed = 20,
                                 .chunk = chunk};
}

const int *prompted_tokens(int vocab) {
  static int tokens[MOST];
  for (int i = 0; i < MOST; i++)
    tokens[i] = (i * 37 + 5) % vocab;
  return tokens;
}

void prompted_ok(const struct emulated *plugin, enum decode_status status) {
  if (status != DECODE_OK)
    fail_msg("%s: status %d, %s", plugin->name, status, plugin->backend->error());
}

void prompted_take(const struct emulated *plugin, struct decode_state *state, int count, int chunk,
                   const int *tokens) {
  for (int first = 0; first < count; first += chunk) {
    const struct decode_prompt prompt = {.row = PROMPTED_ROW,
                                         .first = first,
                                         .count = first + chunk < count ? chunk : count - first,
                                         .tokens = tokens + first};
    prompted_ok(plugin, plugin->backend->prefill(state, &prompt));
  }
}

struct reference *prompted_oracle(const struct decode_request *request, int count) {
  enum decode_status status;
  struct decode_request whole = *request;
  whole.chunk = count;
  struct reference *oracle = reference_create(&whole, &status);
  assert_non_null(oracle);
  const struct decode_prompt prompt = {
      .row = PROMPTED_ROW, .count = count, .tokens = prompted_tokens(request->shape.vocab)};
  assert_int_equal(reference_prefill(oracle, &prompt), 0);
  return oracle;
}

double prompted_error(const struct emulated *plugin, struct decode_state *state,
                      const struct reference *oracle) {
  const int vocab = reference_request(oracle)->shape.vocab;
  float logits[PROMPTED_BATCH * MAX_VOCAB];
  int tokens[PROMPTED_BATCH], best = 0;
  double off = 0, norm = 0;
  prompted_ok(plugin, plugin->backend->logits(state, logits));
  prompted_ok(plugin, plugin->backend->tokens(state, tokens));
  const float *own = logits + PROMPTED_ROW * vocab;
  const double *expected = reference_logits(oracle) + PROMPTED_ROW * vocab;
  for (int i = 0; i < vocab; i++) {
    off += pow((double)own[i] - expected[i], 2);
    norm += expected[i] * expected[i];
    best = own[i] > own[best] ? i : best;
  }
  const bool is_token = tokens[PROMPTED_ROW] == best && tokens[0] == 20 % vocab;
  return is_token && isfinite(off) ? sqrt(off / norm) : (double)INFINITY;
}

const char *prompted_check(const struct emulated *plugin, const struct decode_request *request,
                           int count, const char *name) {
  static int seed;
  static char words[512];
  char number[16], what[200];
  snprintf(number, sizeof number, "%d", ++seed);
  setenv("EMULATOR_SEED", number, 1);
  snprintf(what, sizeof what, "%s, EMULATOR_SEED=%s, %s, prompt %d in %d", plugin->name, number,
           name, count, request->chunk);
  struct decode_state *state = compared_state(plugin->backend, request, what);
  struct reference *oracle = prompted_oracle(request, count);
  prompted_take(plugin, state, count, request->chunk, prompted_tokens(request->shape.vocab));
  const double error = prompted_error(plugin, state, oracle);
  if (!(error <= tolerance_of_rows(request)))
    fail_msg("%s: error %g, tolerance %g", what, error, tolerance_of_rows(request));
  prompted_ok(plugin, plugin->backend->set_position(state, count));
  assert_int_equal(reference_set_position(oracle, count), 0);
  const struct reference_verdict verdict = compared_step(plugin->backend, state, oracle);
  if (!verdict.pass)
    fail_msg("%s: the step after it: error %g, shortfall %g", what, verdict.error,
             verdict.shortfall);
  snprintf(words, sizeof words, "%s", plugin->backend->prefill_library(state));
  plugin->backend->destroy(state);
  reference_destroy(oracle);
  return words;
}

static void expect_pass(const struct reference_verdict *verdict, const char *what, int at) {
  if (!verdict->pass)
    fail_msg("%s, at %d: error %g, shortfall %g, routing %g%s", what, at, verdict->error,
             verdict->shortfall, verdict->routing, verdict->greedy ? "" : ", not the largest");
}

void prompted_check_beside(const struct emulated *plugin, const struct decode_request *request,
                           const struct prompted_beside *beside, const char *name) {
  static int seed;
  const struct decode_backend *backend = plugin->backend;
  char number[16], what[200];
  enum decode_status status;
  snprintf(number, sizeof number, "%d", ++seed);
  setenv("EMULATOR_SEED", number, 1);
  snprintf(what, sizeof what, "%s, EMULATOR_SEED=%s, %s, row %d of %d, prompt %d in %d",
           plugin->name, number, name, beside->row, request->batch, beside->count, request->chunk);
  struct decode_state *state = compared_state(backend, request, what);
  struct reference *oracle = reference_create(request, &status);
  assert_non_null(oracle);
  prompted_ok(plugin, backend->set_position(state, beside->position));
  assert_int_equal(reference_set_position(oracle, beside->position), 0);
  struct reference_verdict verdict = compared_step(backend, state, oracle);
  expect_pass(&verdict, what, -1);
  for (int first = 0; first < beside->count; first += request->chunk) {
    const int left = beside->count - first;
    const struct decode_prompt prompt = {.row = beside->row,
                                         .first = first,
                                         .count = left < request->chunk ? left : request->chunk,
                                         .tokens = prompted_tokens(request->shape.vocab) + first,
                                         .beside = true};
    verdict = compared_beside(backend, state, oracle, &prompt, &prompt);
    expect_pass(&verdict, what, first);
  }
  prompted_ok(plugin, backend->set_position(state, beside->count));
  assert_int_equal(reference_set_position(oracle, beside->count), 0);
  verdict = compared_step(backend, state, oracle);
  expect_pass(&verdict, what, beside->count);
  backend->destroy(state);
  reference_destroy(oracle);
}

const struct piece *prompted_piece(size_t *f) {
  const struct piece *piece;
  while ((piece = piece_at((*f)++)) && piece->shape.latent.rank > LATENT_RANK)
    ;
  return piece;
}

bool prompted_is_comparable(const struct piece *piece, size_t mix) {
  return piece->shape.experts.count == 0 || prompted_mixes[mix].types.activations == ELEMENT_BF16;
}

double prompted_decoded(const struct emulated *plugin, const struct decode_request *request,
                        int count, int chunk) {
  const int vocab = request->shape.vocab, *tokens = prompted_tokens(vocab);
  float decoded[PROMPTED_BATCH * MAX_VOCAB], prefilled[PROMPTED_BATCH * MAX_VOCAB];
  struct decode_state *state = compared_state(plugin->backend, request, "decoded");
  for (int i = 0; i < count; i++) {
    const int both[PROMPTED_BATCH] = {tokens[i], tokens[i]};
    prompted_ok(plugin, plugin->backend->set_position(state, i));
    prompted_ok(plugin, plugin->backend->set_tokens(state, both));
    prompted_ok(plugin, plugin->backend->run(state, 1));
  }
  prompted_ok(plugin, plugin->backend->logits(state, decoded));
  prompted_take(plugin, state, count, chunk, tokens);
  prompted_ok(plugin, plugin->backend->logits(state, prefilled));
  plugin->backend->destroy(state);
  double off = 0, norm = 0;
  for (int i = PROMPTED_ROW * vocab; i < PROMPTED_BATCH * vocab; i++) {
    off += pow((double)prefilled[i] - (double)decoded[i], 2);
    norm += pow((double)decoded[i], 2);
  }
  return sqrt(off / norm);
}
