// What each of several ranks holds of a model: parts that together make up every tensor, each
// element once, unequal if the weights have blocks; how the oracle's ranks round; and what cannot
// be divided.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "kernels/reference/reference.h"
#include "kernels/reference/tensors.h"
#include "kernels/share.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/ranked.h"

static struct decode_types in_element(enum element weights, enum element experts) {
  return (struct decode_types){weights,      ELEMENT_BF16, ELEMENT_BF16,
                               ELEMENT_BF16, ELEMENT_F32,  experts};
}

// share.h's rows and columns; for the biases of experts' gate and up, these are experts and their
// rows.
static struct tensor_size size_of(const struct decode_shape *shape, enum tensor tensor) {
  if (tensor == TENSOR_EXPERT_GATE_BIAS || tensor == TENSOR_EXPERT_UP_BIAS)
    return (struct tensor_size){(size_t)shape->experts.count, (size_t)shape->experts.hidden};
  return reference_tensor_size(shape, tensor);
}

// Counts what a rank holds of a tensor, at its place in the whole tensor.
static void count_part(const struct share *share, enum tensor tensor, unsigned char *held,
                       size_t size) {
  const struct decode_shape own = share_shape(share);
  const struct tensor_size part_size = size_of(&own, tensor);
  const struct share_part part = share_part_of(share, tensor);
  const size_t experts = part.expert > 0 ? (size_t)own.experts.count : 1;
  const size_t rows = part_size.rows / experts;
  for (size_t e = 0; e < experts; e++)
    for (size_t row = 0; row < rows; row++)
      for (size_t column = 0; column < part_size.columns; column++) {
        const uint64_t at =
            e * part.expert + part.first + row * (part_size.columns + part.beside) + column;
        assert_in_range(at, 0, size - 1);
        held[at]++;
      }
}

// How many ranks have each element: all, one, or those that share a KV head.
static unsigned char copies_of(const struct share *share, enum tensor tensor) {
  const struct decode_shape *whole = share->whole;
  const int ranks = share->ranks, kv_heads = whole->latent.rank > 0 ? ranks : whole->kv_heads;
  const int alike = ranks > kv_heads ? ranks / kv_heads : 1;
  static const bool kv[TENSORS] = {
      [TENSOR_WK] = true, [TENSOR_WV] = true, [TENSOR_K_BIAS] = true, [TENSOR_V_BIAS] = true};
  static const bool is_whole[TENSORS] = {
      [TENSOR_EMBEDDING] = true,
      [TENSOR_ATTENTION_NORM] = true,
      [TENSOR_FFN_NORM] = true,
      [TENSOR_FINAL_NORM] = true,
      [TENSOR_Q_NORM] = true,
      [TENSOR_K_NORM] = true,
      [TENSOR_O_BIAS] = true,
      [TENSOR_DOWN_BIAS] = true,
      [TENSOR_ROUTER] = true,
      [TENSOR_ROUTER_BIAS] = true,
      [TENSOR_Q_A] = true,
      [TENSOR_Q_A_NORM] = true,
      [TENSOR_KV_A] = true,
      [TENSOR_KV_A_NORM] = true,
      [TENSOR_EXPERT_DOWN_BIAS] = true,
      [TENSOR_ATTENTION_NORM_BIAS] = true,
      [TENSOR_FFN_NORM_BIAS] = true,
      [TENSOR_FINAL_NORM_BIAS] = true,
  };
  return (unsigned char)(is_whole[tensor] ? ranks : kv[tensor] ? alike : 1);
}

static void check_tensor(struct share share, enum tensor tensor, const char *what) {
  struct decode_shape whole = *share.whole;
  if (tensor == TENSOR_EMBEDDING || tensor == TENSOR_LATENTS)
    return; // stored whole on every rank, so its size differs from a share's
  const struct tensor_size size = size_of(&whole, tensor);
  const size_t count = size.rows * size.columns;
  unsigned char *held = calloc(count + 1, 1);
  assert_non_null(held);
  for (share.rank = 0; share.rank < share.ranks; share.rank++)
    count_part(&share, tensor, held, count);
  for (size_t i = 0; i < count; i++)
    if (held[i] != copies_of(&share, tensor))
      fail_msg("%s, %d ranks: element %zu of tensor %d is held %d times", what, share.ranks, i,
               (int)tensor, held[i]);
  free(held);
}

static void test_parts_are_every_tensor(void **unused) {
  static const enum element elements[][2] = {{ELEMENT_BF16, ELEMENT_F32},
                                             {ELEMENT_BF16, ELEMENT_MXFP4},
                                             {ELEMENT_BF16, ELEMENT_NVFP4},
                                             {ELEMENT_INT8, ELEMENT_INT8_GROUP}};
  const struct piece *piece;
  (void)unused;
  for (size_t i = 0; (piece = piece_at(i)); i++)
    for (size_t e = 0; e < 4; e++)
      for (int ranks = 2; ranks <= 4; ranks++) {
        const struct decode_types types = in_element(elements[e][0], elements[e][1]);
        const struct decode_shape shape = ranked_shape(&piece->shape, ranks == 3 ? 1 : ranks);
        char words[SHARE_WORDS];
        int size;
        const char *what;
        if (!share_divides(&shape, ranks, &size, &what) || share_cut(&shape, &types, ranks, words))
          continue;
        for (int t = 0; t < TENSORS; t++)
          check_tensor((struct share){&shape, &types, 0, ranks}, (enum tensor)t, piece->name);
      }
}

// gpt-oss: 2880 in whole blocks of each format; the ranks' numbers differ by one block at most.
static void test_shares_are_of_whole_blocks(void **unused) {
  static const struct {
    enum element element;
    int ranks, columns[4]; // of the first, the second, the last but one, the last
  } cases[] = {{ELEMENT_MXFP4, 4, {736, 736, 704, 704}},
               {ELEMENT_MXFP4, 8, {384, 384, 352, 352}},
               {ELEMENT_NVFP4, 8, {368, 368, 352, 352}},
               {ELEMENT_MXFP6_E2M3, 2, {1440, 1440, 1440, 1440}},
               {ELEMENT_INT4_GROUP, 4, {768, 768, 768, 576}}, // 22.5 groups
               {ELEMENT_INT8_GROUP, 2, {1536, 1344, 1536, 1344}},
               {ELEMENT_INT8, 8, {360, 360, 360, 360}},
               {ELEMENT_BF16, 7, {412, 412, 411, 411}}};
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_types types = in_element(ELEMENT_BF16, cases[i].element);
    const int ranks = cases[i].ranks, asked[] = {0, 1, ranks - 2, ranks - 1};
    int next = 0, most = 0;
    for (int rank = 0; rank < ranks; rank++) {
      const struct share_range r = share_columns(&types, TENSOR_EXPERT_DOWN, 2880, rank, ranks);
      assert_int_equal(r.first, next);
      next += r.count;
      most = rank == 0 ? r.count : most;
      assert_true(r.count <= most);
      for (size_t a = 0; a < 4; a++)
        if (asked[a] == rank)
          assert_int_equal(r.count, cases[i].columns[a]);
    }
    assert_int_equal(next, 2880);
  }
}

// ---- the oracle's ranks

static void logits_of(const struct decode_request *request, enum tensor without, size_t size,
                      double logits[RANKED_VOCAB]) {
  enum decode_status status;
  struct reference *reference = reference_create(request, &status);
  assert_non_null(reference);
  for (int layer = 0; size > 0 && layer < request->shape.layers; layer++)
    memset(reference_tensor(reference, without, layer), 0, size * sizeof(double));
  reference_step(reference);
  memcpy(logits, reference_logits(reference), RANKED_VOCAB * sizeof *logits);
  reference_destroy(reference);
}

static bool are_alike(const double one[RANKED_VOCAB], const double other[RANKED_VOCAB]) {
  for (size_t i = 0; i < RANKED_VOCAB; i++)
    if (one[i] != other[i])
      return false;
  return true;
}

// An oracle of ranks equals that of one device to the last bit if no vector has a scale; with
// scales, vectors are rounded part by part, before wo and before down, also for experts and latent
// heads.
static void test_ranks_round_alone(void **unused) {
  const struct piece *piece;
  static double one[RANKED_VOCAB], four[RANKED_VOCAB];
  (void)unused;
  for (size_t i = 0; (piece = piece_at(i)); i++)
    for (size_t scaled = 0; scaled < 2; scaled++) {
      const struct decode_shape shape = ranked_shape(&piece->shape, 4);
      if (shape.vocab % 4 || shape.heads % 4)
        continue;
      struct decode_request r = ranked_request(&shape, &ranked_types[scaled ? 3 : 0], 1, 0);
      logits_of(&r, TENSOR_WO, 0, one);
      r.ranks = 4;
      logits_of(&r, TENSOR_WO, 0, four);
      if (are_alike(one, four) != (scaled == 0))
        fail_msg("%s: expected %s logits of one rank and of four", piece->name,
                 scaled ? "different" : "the same");
    }
}

// Each of the two alone: the other writes nothing.
static void test_both_writers_round_parts(void **unused) {
  static double one[RANKED_VOCAB], four[RANKED_VOCAB];
  const struct decode_shape shape = ranked_shape(&piece_plain, 4);
  const size_t hidden = (size_t)shape.hidden;
  const struct {
    enum tensor tensor;
    size_t size;
  } writers[] = {{TENSOR_WO, hidden * (size_t)(shape.heads * shape.head_dim)},
                 {TENSOR_DOWN, hidden * (size_t)shape.ffn_hidden}};
  (void)unused;
  for (size_t i = 0; i < 2; i++) {
    struct decode_request r = ranked_request(&shape, &ranked_types[3], 1, 0);
    logits_of(&r, writers[i].tensor, writers[i].size, one);
    r.ranks = 4;
    logits_of(&r, writers[i].tensor, writers[i].size, four);
    assert_memory_not_equal(one, four, sizeof one);
  }
}

// ---- what cannot be divided

static void test_refused_in_words(void **unused) {
  static const struct {
    struct decode_shape shape;
    int ranks, size;
    const char *what;
  } cases[] = {
      {{.heads = 6, .kv_heads = 6, .ffn_hidden = 12, .vocab = 20}, 4, 6, "heads"},
      {{.heads = 12, .kv_heads = 3, .ffn_hidden = 12, .vocab = 20}, 4, 3, "KV heads"},
      {{.heads = 4, .kv_heads = 2, .ffn_hidden = 3, .vocab = 20}, 4, 3, "rows of the MLP"},
      {{.heads = 4, .kv_heads = 2, .ffn_hidden = 12, .vocab = 21},
       2,
       21,
       "entries of the vocabulary"},
      {{.heads = 4, .kv_heads = 2, .vocab = 20, .experts = {.count = 5, .chosen = 2, .hidden = 3}},
       4,
       3,
       "rows of each expert"},
      {{.heads = 4,
        .kv_heads = 2,
        .vocab = 20,
        .experts = {.count = 5, .chosen = 2, .hidden = 36, .shared_hidden = 2}},
       4,
       2,
       "rows of the shared expert"},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    int size = 0;
    const char *what = "";
    assert_false(share_divides(&cases[i].shape, cases[i].ranks, &size, &what));
    assert_int_equal(size, cases[i].size);
    assert_string_equal(what, cases[i].what);
  }
}

static void test_refused_by_their_blocks(void **unused) {
  char words[SHARE_WORDS];
  struct decode_shape shape = {.heads = 8, .kv_heads = 8, .head_dim = 40, .ffn_hidden = 320};
  const struct decode_types types = in_element(ELEMENT_MXFP4, ELEMENT_F32);
  (void)unused;
  assert_string_equal(
      share_cut(&shape, &types, 4, words),
      "4 devices would each have 80 columns of the heads, which are not whole blocks "
      "of 32 weights with one scale");
  shape.head_dim = 64;
  assert_null(share_cut(&shape, &types, 4, words));
  shape.ffn_hidden = 96;
  assert_string_equal(
      share_cut(&shape, &types, 4, words),
      "the 96 columns of the MLP are fewer blocks of 32 weights with one scale than "
      "4 devices");
  shape.ffn_hidden = 0;
  shape.experts = (struct decode_experts){.hidden = 97, .shared_hidden = 64};
  assert_non_null(strstr(share_cut(&shape, &types, 4, words), "64 columns of the shared expert"));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_parts_are_every_tensor),
      cmocka_unit_test(test_shares_are_of_whole_blocks),
      cmocka_unit_test(test_ranks_round_alone),
      cmocka_unit_test(test_both_writers_round_parts),
      cmocka_unit_test(test_refused_in_words),
      cmocka_unit_test(test_refused_by_their_blocks),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
