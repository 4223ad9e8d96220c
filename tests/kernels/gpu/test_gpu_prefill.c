// A prompt processed in chunks by the GPU kernels leaves the oracle's results, and the cache from
// which the next step continues: every family and mixture, every format, chunks that divide
// nothing, by vectors and by matrix tiles, on the host emulator; what is refused is named.
// Deep: every family with more mixes of types and chunks, on all emulators and as nvcc's PTX, and
// chunks longer than a pass.
// Seconds: 9, deep 180
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/prompted.h"
#include "tests/support/kernels/tolerance.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/element.h"
#include "kernels/gpu/units.h"
#include "kernels/routing.h"

enum { BATCH = PROMPTED_BATCH, CONTEXT = PROMPTED_CONTEXT, PROMPT = 90, SHORT = 9, MOST = 300 };

enum { MIXES = PROMPTED_MIXES };

static const int chunks[] = {3, 7, 64, PROMPT};
enum { CHUNKS = sizeof chunks / sizeof chunks[0] };

// By vectors and by matrix tiles; across a boundary between blocks of the cache, or within one
// chunk.
static void test_every_family(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = prompted_piece(&f));)
    for (size_t m = 0; m < MIXES; m++)
      for (size_t c = 0; c < CHUNKS; c++) {
        const bool is_turn = f % 3 == 0 && (f / 3 + m) % MIXES == 0 && (f / 3) % CHUNKS == c;
        const bool is_some = (f + m + c) % (SANITIZED ? 9 : 6) == 0;
        if (!(depth_is_full() ? is_some : is_turn) || !prompted_is_comparable(piece, m))
          continue;
        const struct decode_request request =
            prompted_request(&piece->shape, &prompted_mixes[m].types, chunks[c]);
        prompted_check(&emulated[(f + m + c) / 2 % EMULATED], &request,
                       depth_is_full() && c == 2 && f % 4 == 0 ? PROMPT : SHORT, piece->name);
      }
}

// Windows that begin anywhere in a block, or are longer than the prompt, and heads of every padded
// size; one KV head for three query heads, and one for each.
static void test_every_window(void **unused) {
  static const int windows[] = {1, 25, 64, 600}, head_dims[] = {80, 12, 192, 40};
  (void)unused;
  for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
    for (size_t m = 0; m < MIXES; m++) {
      struct decode_shape shape = piece_plain;
      shape.window = windows[w];
      shape.full_every = 2;
      shape.sinks = true;
      shape.head_dim = head_dims[w];
      shape.heads = 3;
      shape.kv_heads = w % 2 ? 1 : 3;
      const struct decode_request request = prompted_request(&shape, &prompted_mixes[m].types, 50);
      if (depth_is_full() ? !SANITIZED || m == w % MIXES : m == w % MIXES && w % 2 == 1)
        prompted_check(&emulated[(w + m) % EMULATED], &request, PROMPT, "window");
    }
}

// Weights in few bits; the emulators have 64 columns in two of the formats.
static void test_every_format(void **unused) {
  (void)unused;
  for (int e = ELEMENT_INT8; e < ELEMENTS; e++) {
    if (!lies_in_units((enum element)e))
      continue;
    const struct decode_types types = {(enum element)e, ELEMENT_BF16, ELEMENT_BF16,
                                       ELEMENT_BF16,    ELEMENT_F32,  ELEMENT_F32};
    const bool is_wide = e == ELEMENT_MXFP4;
    const struct decode_request request = prompted_request(&piece_plain, &types, is_wide ? 40 : 5);
    if (depth_is_full() || is_wide)
      prompted_check(&emulated[(size_t)e % 2], &request, is_wide ? 41 : 7,
                     element_format(types.weights)->name);
  }
}

// More positions than a product takes at a time, also one by heads and of experts; and for a
// mixture with many of these than a pass, in chunks of two.
static void test_more_than_a_pass(void **unused) {
  (void)unused;
  if (!depth_is_full())
    skip();
  struct decode_shape dense = piece_plain;
  dense.window = 270;
  dense.full_every = 2;
  struct decode_shape many = piece_of(PIECE_EXPERTS, 0)->shape;
  many.layers = 1;
  many.hidden = 24;
  many.experts = (struct decode_experts){.count = 64, .chosen = 64, .hidden = 2};
  const struct decode_shape *const shapes[] = {&dense, &piece_of(PIECE_EXPERTS, 0)->shape,
                                               &piece_of(PIECE_LATENT, 0)->shape, &many};
  for (size_t p = 0; p < 7; p++) {
    struct decode_request request = prompted_request(shapes[p / 2], &prompted_mixes[0].types, 290);
    request.context = MOST + 1;
    prompted_check(&emulated[p % 2], &request, MOST, "more than a pass");
  }
}

// Experts from a table: a position uses the line of its number and the column of its row, wrapping
// around at the table's end, in several chunks. Another table is detected, and experts touched by
// prompts are not counted.
static void test_forced_experts(void **unused) {
  (void)unused;
  enum { LONGER = ROUTING_STEPS + 6 };
  struct decode_shape shape = piece_of(PIECE_EXPERTS, 0)->shape;
  shape.experts = (struct decode_experts){.count = 9, .chosen = 3, .hidden = 40, .dense_layers = 1};
  struct decode_request request = prompted_request(&shape, &prompted_mixes[0].types, 33);
  request.routing = ROUTING_UNIFORM;
  for (size_t p = 0; p < (depth_is_full() ? EMULATED : 1); p++)
    prompted_check(&emulated[p], &request, LONGER, "forced experts");
  struct decode_state *state = compared_state(emulated[0].backend, &request, "forced experts");
  struct decode_touched touched;
  prompted_take(&emulated[0], state, SHORT, SHORT, prompted_tokens(PIECE_VOCAB));
  prompted_ok(&emulated[0], emulated[0].backend->touched(state, &touched));
  assert_int_equal(touched.steps, 0);
  request.routing = ROUTING_SKEWED;
  request.skew = 1;
  struct reference *oracle = prompted_oracle(&request, SHORT);
  assert_true(prompted_error(&emulated[0], state, oracle) > tolerance_of_rows(&request));
  emulated[0].backend->destroy(state);
  reference_destroy(oracle);
}

// Queries from wq or of low rank, with experts; in either cache; by vectors and by matrix tiles.
static void test_latent_attention(void **unused) {
  static const struct {
    size_t piece, mix;
    int chunk, count;
  } some[] = {{0, 0, 37, 67}, {2, 0, 3, SHORT}, {0, 1, 7, SHORT}, {2, 2, 17, 20}};
  (void)unused;
  for (size_t i = 0; i < (depth_is_full() ? sizeof some / sizeof some[0] : 3); i++) {
    const struct piece *piece = piece_of(PIECE_LATENT, some[i].piece);
    const struct decode_request request =
        prompted_request(&piece->shape, &prompted_mixes[some[i].mix].types, some[i].chunk);
    prompted_check(&emulated[i / 2 % 2], &request, some[i].count, piece->name);
    if (depth_is_full())
      prompted_check(&emulated[(i / 2 + 1) % EMULATED], &request, some[i].count, piece->name);
  }
}

// Compared with decoding token by token on the device, where the tolerance would hide what both
// omit.
static void test_decoded_alike(void **unused) {
  const struct decode_shape *const shapes[] = {&piece_plain, &piece_of(PIECE_LATENT, 0)->shape};
  (void)unused;
  for (size_t s = 0; s < 2; s++) {
    const struct decode_request request =
        prompted_request(shapes[s], &prompted_mixes[0].types, SHORT);
    const double error = prompted_decoded(&emulated[s], &request, SHORT, 5);
    if (!(error < 4e-3))
      fail_msg("%s: expected an error below 4e-3, found %g", s ? "latent attention" : "plain",
               error);
  }
}

static void check_left_out(const struct emulated *plugin, const struct piece *piece) {
  struct decode_request request = prompted_request(&piece->shape, &prompted_mixes[0].types, SHORT);
  const int count = piece->context < PROMPT || piece->shape.window == 0 ? SHORT : PROMPT;
  struct decode_state *state = compared_state(plugin->backend, &request, piece->name);
  prompted_take(plugin, state, count, SHORT, prompted_tokens(PIECE_VOCAB));
  request.shape = piece->without;
  struct reference *oracle = prompted_oracle(&request, count);
  if (prompted_error(plugin, state, oracle) <= tolerance_of_rows(&request))
    fail_msg("%s: %s: unnoticed", plugin->name, piece->name);
  plugin->backend->destroy(state);
  reference_destroy(oracle);
}

// An oracle of the same model without the piece must not agree.
static void test_pieces_left_out_are_noticed(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = piece_of(PIECE_DENSE, f)); f += depth_is_full() ? 1 : 4)
    check_left_out(&emulated[f % 2], piece);
  check_left_out(&emulated[0], piece_of(PIECE_LATENT, 0));
  if (depth_is_full())
    check_left_out(&emulated[1], piece_of(PIECE_LATENT, 2));
}

// Each differs in one thing from a valid prompt.
static void test_prompts_are_refused(void **unused) {
  (void)unused;
  const struct decode_backend *backend = emulated[0].backend;
  static const int tokens[] = {1, 2, 3, 4, 5, 6, 7, 8}, unknown[] = {1, PIECE_VOCAB};
  static const struct {
    const char *what;
    struct decode_prompt prompt;
    enum decode_status status;
  } prompts[] = {
      {"a row", {.row = BATCH, .count = 2, .tokens = tokens}, DECODE_FAILED},
      {"a row", {.row = -1, .count = 2, .tokens = tokens}, DECODE_FAILED},
      {"a chunk", {.count = 8, .tokens = tokens}, DECODE_FAILED},
      {"a chunk", {.count = 0, .tokens = tokens}, DECODE_FAILED},
      {"the cache", {.first = CONTEXT - 2, .count = 3, .tokens = tokens}, DECODE_FAILED},
      {"the cache", {.first = -1, .count = 2, .tokens = tokens}, DECODE_FAILED},
      {"the vocabulary", {.count = 2, .tokens = unknown}, DECODE_FAILED},
  };
  const struct decode_request request = prompted_request(&piece_plain, &prompted_mixes[0].types, 7);
  struct decode_state *state = compared_state(backend, &request, "refused");
  for (size_t i = 0; i < sizeof prompts / sizeof prompts[0]; i++)
    if (backend->prefill(state, &prompts[i].prompt) != prompts[i].status ||
        !strstr(backend->error(), prompts[i].what))
      fail_msg("%s: '%s'", prompts[i].what, backend->error());
  const struct decode_prompt last = {.first = CONTEXT - 2, .count = 2, .tokens = tokens};
  assert_int_equal(backend->prefill(state, &last), DECODE_OK);
  assert_int_equal(backend->set_position(state, CONTEXT), DECODE_FAILED);
  assert_int_equal(backend->set_position(state, -1), DECODE_FAILED);
  assert_int_equal(strncmp(backend->prefill_library(state), "own tiles: ", 11), 0);
  backend->destroy(state);
}

// A plan refuses a chunk longer than the cache; without a chunk it is accepted.
static void test_requests_are_refused(void **unused) {
  (void)unused;
  const struct decode_backend *backend = emulated[0].backend;
  struct decode_request request = prompted_request(&piece_plain, &prompted_mixes[0].types, 7);
  struct decode_cost with, without;
  request.chunk = CONTEXT + 1;
  assert_int_equal(backend->cost(0, &request, &with), DECODE_UNSUPPORTED);
  assert_non_null(strstr(backend->error(), "longer than the cache"));
  request.chunk = 0;
  assert_int_equal(backend->cost(0, &request, &without), DECODE_OK);
}

// Room for a prompt counts as memory held; the cost of a step does not change.
static void test_costs_are_a_steps(void **unused) {
  (void)unused;
  struct decode_request request = prompted_request(&piece_plain, &prompted_mixes[0].types, 0);
  struct decode_cost alone, both;
  assert_int_equal(emulated[0].backend->cost(0, &request, &alone), DECODE_OK);
  request.chunk = SHORT;
  assert_int_equal(emulated[0].backend->cost(0, &request, &both), DECODE_OK);
  assert_true(both.resident_bytes > alone.resident_bytes);
  alone.resident_bytes = both.resident_bytes;
  assert_memory_equal(&alone, &both, sizeof alone);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_family),
      cmocka_unit_test(test_every_window),
      cmocka_unit_test(test_every_format),
      cmocka_unit_test(test_more_than_a_pass),
      cmocka_unit_test(test_decoded_alike),
      cmocka_unit_test(test_pieces_left_out_are_noticed),
      cmocka_unit_test(test_prompts_are_refused),
      cmocka_unit_test(test_requests_are_refused),
      cmocka_unit_test(test_costs_are_a_steps),
      cmocka_unit_test(test_forced_experts),
      cmocka_unit_test(test_latent_attention),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
