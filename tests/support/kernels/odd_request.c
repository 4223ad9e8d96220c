#include "tests/support/kernels/odd_request.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "tests/support/kernels/compared.h"

const struct decode_types odd_mixes[ODD_MIXES] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
};

const struct decode_shape odd_shape = {.layers = 2,
                                       .hidden = 72,
                                       .heads = 6,
                                       .kv_heads = 2,
                                       .head_dim = 40,
                                       .ffn_hidden = 101,
                                       .vocab = 203,
                                       .norm_epsilon = 1e-5f,
                                       .rope_theta = 1e4f};
const struct decode_shape tiny_shape = {.layers = 1,
                                        .hidden = 44,
                                        .heads = 2,
                                        .kv_heads = 1,
                                        .head_dim = 12,
                                        .ffn_hidden = 37,
                                        .vocab = 33,
                                        .norm_epsilon = 1e-5f,
                                        .rope_theta = 1e4f};

struct decode_request odd_request(const struct decode_shape *shape,
                                  const struct decode_types *types, int batch, int context) {
  return (struct decode_request){
      .shape = *shape, .types = *types, .batch = batch, .context = context, .seed = 20};
}

static const char *describe(const struct emulated *plugin, const struct decode_request *r) {
  static char text[320];
  const struct decode_shape *s = &r->shape;
  snprintf(text, sizeof text,
           "%s, weights %s, activations %s, kv %s, head %s; batch %d, context %d; layers %d, "
           "hidden %d, heads %d of %d, kv heads %d, ffn %d, vocab %d; EMULATOR_SEED=%s",
           plugin->name, element_names[r->types.weights], element_names[r->types.activations],
           element_names[r->types.kv], element_names[r->types.head], r->batch, r->context,
           s->layers, s->hidden, s->heads, s->head_dim, s->kv_heads, s->ffn_hidden, s->vocab,
           getenv("EMULATOR_SEED"));
  return text;
}

struct decode_state *odd_state(const struct emulated *plugin,
                               const struct decode_request *request) {
  return compared_state(plugin->backend, request, describe(plugin, request));
}

void odd_ok(const struct emulated *plugin, const struct decode_request *request,
            enum decode_status status) {
  if (status != DECODE_OK) {
    fail_msg("%s: status %d, %s", describe(plugin, request), status, plugin->backend->error());
  }
}

void odd_step(const struct emulated *plugin, const struct decode_request *request,
              struct decode_state *state, const int *tokens, float *logits) {
  const struct decode_backend *backend = plugin->backend;
  assert_true(request->batch * request->shape.vocab <= ODD_LOGITS);
  odd_ok(plugin, request, tokens ? backend->set_tokens(state, tokens) : DECODE_OK);
  odd_ok(plugin, request, backend->run(state, 1));
  odd_ok(plugin, request, backend->logits(state, logits));
}

// ---- turns

unsigned odd_one(size_t turn) {
  return 1u << turn % EMULATED;
}

unsigned odd_widths(size_t turn) {
  unsigned which = odd_few() ? odd_one(turn) : 0;
  for (int warp = 32; warp <= 64 && !odd_few(); warp += 32) {
    size_t p = turn;
    while (emulated[p % EMULATED].warp != warp) {
      p++;
    }
    which |= odd_one(p);
  }
  return which;
}

unsigned odd_wgmma(void) {
  unsigned which = 0;
  for (size_t p = 0; p < EMULATED; p++) {
    which |= emulated[p].wgmma ? odd_one(p) : 0;
  }
  return which;
}

// ---- compared

static void check_first_tokens(const struct emulated *plugin, const struct decode_request *r,
                               struct decode_state *state) {
  int tokens[256];
  odd_ok(plugin, r, plugin->backend->tokens(state, tokens));
  for (int row = 0; row < r->batch; row++) {
    assert_int_equal(tokens[row], (int)((r->seed + (uint64_t)row) % (uint64_t)r->shape.vocab));
  }
}

// No row may be further off than a single one may be, however many there are (tolerance.h).
static void check_on(const struct emulated *plugin, const struct decode_request *r, int steps) {
  const double tolerance = reference_tolerance(&r->types);
  enum decode_status status;
  struct reference *reference = reference_create(r, &status);
  assert_non_null(reference);
  struct decode_state *state = odd_state(plugin, r);
  check_first_tokens(plugin, r, state);
  for (int step = 0; step < steps; step++) {
    const struct reference_verdict v = compared_step(plugin->backend, state, reference);
    if (!v.pass || v.error > tolerance || v.shortfall > tolerance) {
      fail_msg("%s: error %g, shortfall %g%s", describe(plugin, r), v.error, v.shortfall,
               v.greedy ? "" : ", not the largest");
    }
  }
  plugin->backend->destroy(state);
  reference_destroy(reference);
}

void odd_check(const struct decode_request *request, unsigned which, int steps) {
  for (size_t p = 0; p < EMULATED; p++) {
    if (which >> p & 1) {
      check_on(&emulated[p], request, steps);
    }
  }
}

void odd_check_next(const struct decode_shape *shape, const struct decode_types *types, int batch,
                    int context, unsigned which) {
  static int seed;
  const struct decode_request request = odd_request(shape, types, batch, context);
  emulated_set("EMULATOR_SEED", ++seed);
  odd_check(&request, which, seed % 3 == 0 && batch <= 8 && !odd_few() ? 2 : 1);
}

static void logits_on_schedule(const struct emulated *plugin, const struct decode_request *r,
                               int seed, float *logits) {
  emulated_set("EMULATOR_SEED", seed);
  struct decode_state *state = odd_state(plugin, r);
  odd_step(plugin, r, state, NULL, logits);
  plugin->backend->destroy(state);
}

void odd_schedules_agree(const struct emulated *plugin, const struct decode_request *request) {
  static float first[ODD_LOGITS], other[ODD_LOGITS];
  const size_t bytes = size(request->batch) * size(request->shape.vocab) * sizeof *first;
  logits_on_schedule(plugin, request, 1, first);
  for (int seed = 2; seed < 4; seed++) {
    logits_on_schedule(plugin, request, seed, other);
    if (memcmp(first, other, bytes) != 0) {
      fail_msg("%s: differs from EMULATOR_SEED=1", describe(plugin, request));
    }
  }
}
