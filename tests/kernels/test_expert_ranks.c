// Mixtures of experts on several devices (tensor parallel), run by the host emulator: each router,
// a shared expert, biases and a clamp compared with the oracle, in every format, with unequal
// numbers of whole blocks on the ranks; lost parts are detected; and what is counted.
// Deep: every mixture with every mix by vectors and by matrices, and every format both in experts
// and in the whole model.
// Seconds: 7, deep 19
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <string.h>

#include "kernels/reference/reference.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/ranked.h"

enum { MAX_BATCH = 5 };

// Pieces with experts.
enum { MIXTRAL, SOFTMAX_OF_ALL, GROUPS, GPT_OSS = 4 };

static struct decode_shape mixture(size_t piece, int ranks) {
  return ranked_shape(&piece_of(PIECE_EXPERTS, piece)->shape, ranks);
}

// With one layer of experts, after the dense layers.
static struct decode_shape shallow(size_t piece, int ranks) {
  struct decode_shape shape = mixture(piece, ranks);
  shape.layers = shape.experts.dense_layers + 1;
  return shape;
}

// Every router, a shared expert and dense layers, biases and a clamp, by vectors and by matrices.
// No expert, nor the shared one on three ranks, has the same number of rows on all ranks.
static void test_experts_are_divided(void **unused) {
  static const struct {
    size_t piece, types;
    int batch, ranks;
  } some[] = {{MIXTRAL, 3, 3, 2}, {SOFTMAX_OF_ALL, 0, 1, 4}, {GROUPS, 1, 1, 2},
              {GROUPS, 3, 3, 4},  {GPT_OSS, 0, 1, 4},        {GPT_OSS, 2, 3, 2}};
  static const size_t pieces[] = {MIXTRAL, SOFTMAX_OF_ALL, GROUPS, GPT_OSS};
  (void)unused;
  for (size_t i = 0; i < sizeof some / sizeof some[0]; i++) {
    const struct decode_shape shape = shallow(some[i].piece, some[i].ranks);
    const struct decode_request request =
        ranked_request(&shape, &ranked_types[some[i].types], some[i].batch, some[i].ranks);
    ranked_steps(i % RANKED, &request, 1);
  }
  for (size_t p = 0; p < 4 && depth_is_full(); p++)
    for (size_t m = 0; m < RANKED_TYPES; m++)
      for (size_t b = 0; b < 2; b++) {
        const int ranks = (p + b) % 2 ? 4 : 2;
        const struct decode_shape shape = shallow(pieces[p], ranks);
        const struct decode_request request =
            ranked_request(&shape, &ranked_types[m], b ? MAX_BATCH : 1, ranks);
        if ((b || m % 2 == p % 2) && (!SANITIZED || (p + m + b) % 2)) // every other one by vectors
          ranked_steps((p + m + b) % RANKED, &request, 1);
      }
}

// Experts of gpt-oss, or all weights of a model with a shared expert and a dense layer, with some
// whole blocks of every format and a short last one.
static struct decode_request in_blocks(enum element element, bool whole, int batch) {
  struct decode_types types = ranked_types[0];
  struct decode_shape shape = shallow(whole ? GROUPS : GPT_OSS, 2);
  shape.experts.hidden = 300;
  if (whole) {
    types.weights = element;
    shape.heads = 4;
    shape.kv_heads = 2;
    shape.head_dim = 64;
    shape.ffn_hidden = shape.experts.shared_hidden = 300;
    shape.experts.count = 8;
  } else {
    types.experts = element;
  }
  return ranked_request(&shape, &types, batch, 2);
}

static void test_formats_are_divided_between_their_blocks(void **unused) {
  size_t turn = 0;
  (void)unused;
  for (enum element e = ELEMENT_INT8; e < ELEMENTS; e++, turn++)
    for (size_t whole = 0; whole < 2; whole++) {
      const struct decode_request request = in_blocks(e, whole, turn < 3 ? 1 : MAX_BATCH);
      const bool some = turn % 2 == 0 && turn / 2 % 2 == whole;
      if (some || (depth_is_full() && (!SANITIZED || (turn + whole) % 2)))
        ranked_steps((turn + whole) % RANKED, &request, 1);
    }
}

// Of 5 blocks of mxfp4, four ranks have 2, 1, 1 and the last one, which is short; E4M3 activations
// have a scale for each rank's part.
static void test_four_ranks_have_five_blocks(void **unused) {
  const struct decode_shape shape = shallow(GPT_OSS, 4);
  struct decode_types types = ranked_types[3];
  struct decode_cost whole, largest;
  (void)unused;
  types.experts = ELEMENT_MXFP4;
  struct decode_request request = ranked_request(&shape, &types, 2, 4);
  assert_int_equal(shape.experts.hidden, 4 * 32 + 5);
  ranked_steps(1, &request, 1);
  types = ranked_types[0];
  types.experts = ELEMENT_MXFP4;
  request.types = types;
  ranked_steps_beside(0, &request, 0, 1);
  assert_int_equal(ranked[0].backend->cost(0, &request, &largest), DECODE_OK);
  request.ranks = 0;
  assert_int_equal(ranked[0].backend->cost(0, &request, &whole), DECODE_OK);
  // Gate and up have rows of 36 + 3 bytes for 72 weights, a row of down has 32 + 2; biases are
  // floats.
  assert_int_equal(largest.expert_bytes, 2 * 64 * (36 + 3 + 4) + 72 * (32 + 2 + 4));
  assert_int_equal(whole.expert_bytes, 2 * 133 * (36 + 3 + 4) + 72 * (67 + 5 + 4));
}

// The table is the same on all ranks, and experts touched are counted once.
static void test_forced_experts_are_those_of_one_device(void **unused) {
  const struct decode_backend *backend = ranked[0].backend;
  const struct decode_shape shape = mixture(MIXTRAL, 4);
  struct decode_touched one, four;
  (void)unused;
  for (int ranks = 1; ranks <= 4; ranks += 3) {
    struct decode_request request = ranked_request(&shape, &ranked_types[0], 2, ranks);
    request.routing = ROUTING_SKEWED;
    request.skew = 1;
    if (ranks > 1)
      ranked_steps(0, &request, 1);
    struct decode_state *state = compared_state(backend, &request, "forced");
    assert_int_equal(backend->run(state, 2), DECODE_OK);
    assert_int_equal(backend->touched(state, ranks > 1 ? &four : &one), DECODE_OK);
    backend->destroy(state);
  }
  assert_int_equal(one.steps, 2);
  assert_in_range(one.experts, 2 * 2 * 2, 2 * 2 * 4);
  assert_memory_equal(&one, &four, sizeof one);
}

// Rank 2 of 4 lacks its part of a tensor [rows][columns] whose rows or columns are divided, expert
// by expert; or each of the four adds what only the first one should.
struct lost {
  enum tensor tensor;
  size_t experts, rows, columns;
  bool of_rows, four_times;
};

static void lose(const struct lost *lost, double *values) {
  const size_t rows = lost->rows, columns = lost->columns;
  for (size_t i = 0; i < lost->experts * rows * columns; i++) {
    const size_t at = lost->of_rows ? i / columns % rows * 4 / rows : i % columns * 4 / columns;
    values[i] *= lost->four_times ? 4 : at == 2 ? 0 : 1;
  }
}

// A step of ranks that have all their parts, compared with an oracle that has lost some.
static void expect_noticed(size_t emulator, struct decode_state *state,
                           const struct decode_request *request, const struct lost *lost) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_non_null(reference);
  for (int layer = 0; layer < request->shape.layers; layer++)
    lose(lost, reference_tensor(reference, lost->tensor, layer));
  if (compared_step(ranked[emulator].backend, state, reference).pass)
    fail_msg("tensor %d%s is not noticed", (int)lost->tensor,
             lost->four_times ? ", four times," : "");
  reference_destroy(reference);
}

static void test_lost_parts_are_noticed(void **unused) {
  static const struct lost cases[2][6] = {{{TENSOR_EXPERT_GATE, 9, 133, 72, true, false},
                                           {TENSOR_EXPERT_UP, 9, 133, 72, true, false},
                                           {TENSOR_EXPERT_DOWN, 9, 72, 133, false, false},
                                           {TENSOR_EXPERT_GATE_BIAS, 9, 133, 1, true, false},
                                           {TENSOR_EXPERT_UP_BIAS, 9, 133, 1, true, false},
                                           {TENSOR_EXPERT_DOWN_BIAS, 9, 72, 1, true, true}},
                                          {{TENSOR_SHARED_GATE, 1, 88, 72, true, false},
                                           {TENSOR_SHARED_UP, 1, 88, 72, true, false},
                                           {TENSOR_SHARED_DOWN, 1, 72, 88, false, false},
                                           {TENSOR_SHARED_DOWN, 1, 72, 88, false, true},
                                           {TENSOR_EXPERT_DOWN, 24, 72, 33, false, false},
                                           {TENSOR_EXPERT_DOWN, 24, 72, 33, false, true}}};
  (void)unused;
  for (size_t s = 0; s < 2; s++) { // in all layers, so that the losses add up
    const struct decode_shape shape = mixture(s == 0 ? GPT_OSS : GROUPS, 4);
    const struct decode_request request = ranked_request(&shape, &ranked_types[0], 1, 4);
    struct decode_state *state = compared_state(ranked[s].backend, &request, "whole");
    for (size_t i = 0; i < 6; i++)
      expect_noticed(s, state, &request, &cases[s][i]);
    ranked[s].backend->destroy(state);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_experts_are_divided, ranked_begin),
      cmocka_unit_test_setup(test_formats_are_divided_between_their_blocks, ranked_begin),
      cmocka_unit_test_setup(test_four_ranks_have_five_blocks, ranked_begin),
      cmocka_unit_test_setup(test_forced_experts_are_those_of_one_device, ranked_begin),
      cmocka_unit_test_setup(test_lost_parts_are_noticed, ranked_begin),
  };
  return cmocka_run_group_tests(tests, ranked_load, ranked_unload);
}
