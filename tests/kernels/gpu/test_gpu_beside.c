// Steps of the other rows in the same pass as a piece of a prompt: all rows leave the oracle's
// results, each at a position of its own, and the next step continues from them, in dense families,
// mixtures, windows and formats, by vectors and by matrix tiles, on the host emulator. A row left
// out, another position, window or number of the step is noticed.
// Deep: every family and mixture with more mixes of types, on all emulators and as nvcc's PTX, and
// pieces longer than a pass.
// Seconds: 10, deep 70
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/emulated.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/prompted.h"

#include <stdlib.h>

#include "kernels/cpu/backend.h"

enum { MIXES = PROMPTED_MIXES };

// Mixtures are routed by a table: a router's outputs nearly tie, and no device reports its choices
// for these passes.
static struct decode_request request_of(const struct decode_shape *shape,
                                        const struct decode_types *types, int batch, int chunk) {
  struct decode_request request = prompted_request(shape, types, chunk);
  request.batch = batch;
  request.routing = shape->experts.count > 0 ? ROUTING_UNIFORM : ROUTING_MODEL;
  return request;
}

// The first row's prompt, the last one's, or one between; with positions on both sides of a
// boundary between blocks of the cache.
static void test_every_family(void **unused) {
  const struct piece *piece;
  (void)unused;
  for (size_t f = 0; (piece = prompted_piece(&f));)
    for (size_t m = 0; m < MIXES; m++) {
      const int batch = 3 + (int)(f % 3), count = 5 + (int)(f % 4);
      const struct prompted_beside beside = {
          .row = (int)(f + m) % batch, .position = 60 + (int)(3 * f % 17), .count = count};
      const struct decode_request request =
          request_of(&piece->shape, &prompted_mixes[m].types, batch, 4);
      const bool is_turn = f % 5 == 1 && f / 5 % MIXES == m;
      if (is_turn || (depth_is_full() && (f + m) % 2 == 0))
        prompted_check_beside(&emulated[(f + m) / 2 % EMULATED], &request, &beside, piece->name);
    }
}

// What differs by size or format: vector kernels, with as few rows as they take; weights in few
// bits; a window shorter than the steps' positions and than the prompt; parts of the context.
static void test_every_way(void **unused) {
  static const struct decode_types four_bits = {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_BF16,
                                                ELEMENT_BF16,  ELEMENT_F32,  ELEMENT_F32};
  static const struct {
    const char *name, *piece;
    size_t mix;
    enum decode_routing routing;
    int batch, chunk;
    struct prompted_beside beside;
    const char *tuning, *shared;
  } ways[] = {
      {"vectors", NULL, 0, ROUTING_MODEL, 3, 2, {1, 9, 5}, "", NULL},
      {"vectors", NULL, 2, ROUTING_MODEL, 2, 1, {0, 9, 2}, "", NULL},
      {"vectors", "one expert of one", 0, ROUTING_UNIFORM, 3, 2, {2, 9, 3}, "", NULL},
      {"a router", "Mixtral: softmax of the chosen", 0, ROUTING_MODEL, 3, 7, {1, 9, 7}, "", NULL},
      {"four bits", NULL, MIXES, ROUTING_MODEL, 3, 7, {1, 70, 7}, "", NULL},
      {"windows", "sinks, windows, YaRN", 0, ROUTING_MODEL, 4, 22, {2, 100, 22}, "", NULL},
      {"parts", NULL, 1, ROUTING_MODEL, 4, 7, {1, 129, 4}, "attention_splits=3", NULL},
      {"wgmma", NULL, 2, ROUTING_MODEL, 4, 7, {0, 40, 7}, "matrix=wgmma", "232448"},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
    for (size_t p = 0; p < EMULATED; p++) {
      const bool is_some = depth_is_full() && (p + i) % 2 == 0;
      const bool is_turn = is_some || ways[i].shared || p == i % 2;
      struct decode_request request =
          request_of(ways[i].piece ? &piece_named(ways[i].piece)->shape : &piece_plain,
                     ways[i].mix < MIXES ? &prompted_mixes[ways[i].mix].types : &four_bits,
                     ways[i].batch, ways[i].chunk);
      request.routing = ways[i].routing;
      if (!is_turn || (ways[i].shared && !emulated[p].wgmma))
        continue;
      setenv("PERTOKEN_GPU_TUNING", ways[i].tuning, 1);
      if (ways[i].shared)
        setenv("EMULATOR_SHARED", ways[i].shared, 1);
      prompted_check_beside(&emulated[p], &request, &ways[i].beside, ways[i].name);
      unsetenv("EMULATOR_SHARED");
      unsetenv("PERTOKEN_GPU_TUNING");
    }
}

// Steps of a streaming plan, whose own attention needs less shared memory than the kernel here.
static void test_beside_streaming_steps(void **unused) {
  static const struct prompted_beside beside = {.row = 1, .position = 190, .count = 4};
  struct decode_shape shape = piece_plain;
  (void)unused;
  setenv("PERTOKEN_GPU_TUNING", "step=streaming", 1);
  emulated_set("EMULATOR_SHARED", 232448);
  emulated_set("EMULATOR_UNITS", 2);
  for (size_t p = 0; p < EMULATED; p++) {
    shape.head_dim = p % 2 ? 64 : 128;
    struct decode_request request = request_of(&shape, &prompted_mixes[0].types, 2, 4);
    request.context = 200;
    if (emulated[p].wgmma || depth_is_full())
      prompted_check_beside(&emulated[p], &request, &beside, "streaming");
  }
  unsetenv("EMULATOR_UNITS");
  unsetenv("EMULATOR_SHARED");
  unsetenv("PERTOKEN_GPU_TUNING");
}

// Prompts that do not fit a mixture's pass, by as many positions as there are rows beside them, or
// by more.
static void test_more_than_a_pass(void **unused) {
  static const int counts[] = {255, 290};
  (void)unused;
  if (!depth_is_full())
    skip();
  struct decode_shape shape = piece_of(PIECE_EXPERTS, 0)->shape;
  shape.layers = 1;
  shape.hidden = 24;
  shape.experts = (struct decode_experts){.count = 64, .chosen = 64, .hidden = 2};
  for (size_t i = 0; i < 2; i++) {
    struct decode_request request = request_of(&shape, &prompted_mixes[0].types, 3, counts[i]);
    const struct prompted_beside beside = {.row = 1, .position = 20, .count = counts[i]};
    request.context = counts[i] + 1;
    prompted_check_beside(&emulated[i], &request, &beside, "more than a pass");
  }
}

// ---- experts from a table

static const struct prompted_beside forced = {.row = 1, .position = 30, .count = 6};

static struct decode_request forced_request(void) {
  struct decode_shape shape = piece_of(PIECE_EXPERTS, 0)->shape;
  shape.experts = (struct decode_experts){
      .count = 9, .chosen = 3, .hidden = 40, .shared_hidden = 24, .dense_layers = 1};
  return request_of(&shape, &prompted_mixes[0].types, 3, 3);
}

// Steps alone, a prompt alone, and both together; what was touched then.
static struct decode_touched touched_by(const struct decode_backend *backend) {
  const struct decode_request request = forced_request();
  const int *tokens = prompted_tokens(request.shape.vocab);
  const struct decode_prompt alone = {.row = 1, .count = 3, .tokens = tokens};
  const struct decode_prompt beside = {.row = 1, .count = 3, .tokens = tokens, .beside = true};
  struct decode_state *state = compared_state(backend, &request, "touched");
  struct decode_touched touched;
  assert_int_equal(backend->run(state, 2), DECODE_OK);
  assert_int_equal(backend->prefill(state, &alone), DECODE_OK);
  assert_int_equal(backend->prefill(state, &beside), DECODE_OK);
  assert_int_equal(backend->run(state, 3), DECODE_OK);
  assert_int_equal(backend->touched(state, &touched), DECODE_OK);
  backend->destroy(state);
  return touched;
}

// The rows beside use the line of the step's number, which they advance; it is not among the steps
// whose experts are counted.
static void test_forced_experts(void **unused) {
  (void)unused;
  const struct decode_request request = forced_request();
  const struct decode_touched expected = touched_by(&cpu_backend);
  assert_int_equal(expected.steps, 5);
  for (size_t p = 0; p < EMULATED; p++) {
    if (p == 0 || depth_is_full())
      prompted_check_beside(&emulated[p], &request, &forced, "forced experts");
    if (p == 0 && !depth_is_full())
      continue;
    const struct decode_touched touched = touched_by(emulated[p].backend);
    assert_int_equal(touched.steps, expected.steps);
    assert_int_equal(touched.experts, expected.experts);
  }
}

// ---- what must be noticed

// A pass on a device and an oracle that differ in one thing.
struct alteration {
  const char *name, *piece; // whose `without` the oracle has; NULL: the same model
  int position, oracle_position, oracle_steps;
  struct decode_prompt prompt; // the device's
};

static bool agrees(const struct emulated *plugin, const struct alteration *altered) {
  const struct piece *piece = altered->piece ? piece_named(altered->piece) : NULL;
  struct decode_request request = forced_request();
  enum decode_status status;
  if (piece)
    request = request_of(&piece->shape, &prompted_mixes[0].types, 3, 3);
  const int *tokens = prompted_tokens(request.shape.vocab);
  struct decode_prompt prompt = altered->prompt;
  const struct decode_prompt expected = {.row = 1, .count = 3, .tokens = tokens, .beside = true};
  prompt.tokens = tokens;
  struct decode_state *state = compared_state(plugin->backend, &request, altered->name);
  if (piece)
    request.shape = piece->without;
  struct reference *oracle = reference_create(&request, &status);
  assert_non_null(oracle);
  prompted_ok(plugin, plugin->backend->set_position(state, altered->position));
  assert_int_equal(reference_set_position(oracle, altered->oracle_position), 0);
  prompted_ok(plugin, plugin->backend->run(state, 1));
  for (int step = 0; step < altered->oracle_steps; step++)
    reference_step(oracle);
  const bool pass = compared_beside(plugin->backend, state, oracle, &prompt, &expected).pass;
  plugin->backend->destroy(state);
  reference_destroy(oracle);
  return pass;
}

static void test_alterations_are_noticed(void **unused) {
  static const struct decode_prompt same = {.row = 1, .count = 3, .beside = true};
  const struct alteration none = {"nothing", NULL, 9, 9, 1, same};
  const struct alteration alterations[] = {
      {"the position of the rows", NULL, 10, 9, 1, same},
      {"the number of the step", NULL, 9, 9, 2, same},
      {"the other rows", NULL, 9, 9, 1, {.row = 1, .count = 3}},
      {"the prompt's row", NULL, 9, 9, 1, {.row = 2, .count = 3, .beside = true}},
      {"the prompt's position", NULL, 9, 9, 1, {.row = 1, .first = 1, .count = 3, .beside = true}},
      {"the prompt's last token", NULL, 9, 9, 1, {.row = 1, .count = 2, .beside = true}},
      {"the window of the rows", "window", 90, 90, 1, same},
      {"the norms of their heads", "norms of heads", 90, 90, 1, same},
  };
  (void)unused;
  for (size_t p = 0; p < 2; p++) {
    assert_true((p == 0 && !depth_is_full()) || agrees(&emulated[p], &none));
    for (size_t i = 0; i < sizeof alterations / sizeof alterations[0]; i++)
      if ((depth_is_full() || i % 2 == p) && agrees(&emulated[p], &alterations[i]))
        fail_msg("%s: %s: unnoticed", emulated[p].name, alterations[i].name);
  }
}

// A batch of one row has no other rows: the prompt alone, and no step.
static void test_nothing_beside(void **unused) {
  (void)unused;
  struct decode_request request = forced_request();
  const struct prompted_beside beside = {.row = 0, .position = 9, .count = 5};
  request.batch = 1;
  prompted_check_beside(&emulated[0], &request, &beside, "one row");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_every_family),
      cmocka_unit_test(test_every_way),
      cmocka_unit_test(test_beside_streaming_steps),
      cmocka_unit_test(test_more_than_a_pass),
      cmocka_unit_test(test_forced_experts),
      cmocka_unit_test(test_nothing_beside),
      cmocka_unit_test(test_alterations_are_noticed),
  };
  return cmocka_run_group_tests(tests, emulated_load, emulated_unload);
}
