// A dense model on several devices (tensor parallel), run by the host emulator: steps compared with
// the oracle at shapes that are not multiples of a tile, with latent attention too; lost parts,
// which are detected; and what happens if one of the devices fails.
// Deep: every mix on every number of ranks by vectors and by matrices, also with latent attention.
// Seconds: 9, deep 20
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/cpu/backend.h"
#include "kernels/gpu/host/crew.h"
#include "kernels/reference/reference.h"
#include "tests/support/depth.h"
#include "tests/support/kernels/compared.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/ranked.h"

enum { MAX_BATCH = 5 };

static const struct decode_shape tiny = {.layers = 1,
                                         .hidden = 24,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .head_dim = 8,
                                         .ffn_hidden = 12,
                                         .vocab = 20,
                                         .norm_epsilon = 1e-5f,
                                         .rope_theta = 1e4f};

static struct decode_state *make(const struct decode_request *request) {
  return compared_state(ranked[0].backend, request, "tiny");
}

static void expect_ok(enum decode_status status) {
  if (status != DECODE_OK)
    fail_msg("status %d, %s", status, ranked[0].backend->error());
}

static void set_number(const char *name, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  setenv(name, text, 1);
}

// ---- the same as one device

// By vectors and by matrices, on each kind of emulator in turn; every other one unless the run is
// full. With two KV heads, pairs of the four ranks share one; of 101 rows of the MLP, two ranks
// have one more.
static void test_steps_are_the_oracles(void **unused) {
  static const int batches[] = {1, 3, MAX_BATCH};
  size_t turn = 0;
  (void)unused;
  for (size_t m = 0; m < RANKED_TYPES; m++)
    for (int ranks = 2; ranks <= 4; ranks += 2)
      for (size_t b = 0; b < 2; b++, turn++) {
        const bool some = (m + (size_t)ranks / 2 + b) % 2 == 0;
        if (!some && (!depth_is_full() || SANITIZED))
          continue;
        const struct decode_shape shape = ranked_shape(&piece_plain, ranks);
        const struct decode_request request =
            ranked_request(&shape, &ranked_types[m], batches[(turn + m) % 3], ranks);
        ranked_steps((turn + m / 2) % RANKED, &request, 1 + (int)b);
      }
}

// BF16 activations have no scale, so rounding is the same as on one device.
static void test_bf16_is_that_of_one_device(void **unused) {
  const struct decode_shape shape = ranked_shape(&piece_plain, 4);
  (void)unused;
  for (size_t m = 0; m < 2; m++) {
    const struct decode_request request =
        ranked_request(&shape, &ranked_types[m], 1 + 4 * (int)m, 4);
    ranked_steps_beside(m, &request, 0, 2);
  }
}

// Biases of rows, sinks and norms of heads are divided with the heads and the MLP; those of wo and
// down are added once. If attention is parallel, both read x before either adds to it.
static void test_families_are_divided(void **unused) {
  static const int batches[] = {1, MAX_BATCH};
  struct decode_shape shapes[2];
  (void)unused;
  shapes[0] = shapes[1] = ranked_shape(&piece_plain, 4);
  shapes[0].biases = shapes[1].biases = BIAS_QKV | BIAS_OUTPUT | BIAS_MLP;
  shapes[0].mlp = MLP_CLAMPED_SWIGLU;
  shapes[0].qk_norm = shapes[0].sinks = true;
  shapes[0].window = 30;
  shapes[1].norm = NORM_LAYER;
  shapes[1].mlp = MLP_GELU;
  shapes[1].parallel = true;
  for (size_t s = 0; s < 2; s++)
    for (size_t b = 0; b < 2; b++) {
      const struct decode_request request =
          ranked_request(&shapes[s], &ranked_types[3 * b], batches[b], 4);
      ranked_steps((s + b) % RANKED, &request, 1);
    }
}

// ---- latent attention: a rank has its heads, and all of what they read

// The pieces that the GPU kernels support: with queries of full rank, and of low rank with experts
// in the second layer.
static struct decode_shape latent_shape(size_t i, int ranks, int layers) {
  struct decode_shape shape = ranked_shape(&piece_of(PIECE_LATENT, 2 * i)->shape, ranks);
  shape.layers = layers;
  return shape;
}

static void test_latent_heads_are_divided(void **unused) {
  static const struct {
    size_t piece, types;
    int batch, ranks;
  } some[] = {{0, 0, 1, 2}, {0, 3, 3, 4}, {1, 0, 3, 4}, {1, 3, 1, 2}};
  (void)unused;
  for (size_t i = 0; i < 4; i++) {
    const struct decode_shape shape = latent_shape(some[i].piece, some[i].ranks, 1);
    const struct decode_request request =
        ranked_request(&shape, &ranked_types[some[i].types], some[i].batch, some[i].ranks);
    ranked_steps(i % RANKED, &request, 1);
  }
  for (size_t m = 0; m < RANKED_TYPES && depth_is_full(); m++)
    for (size_t p = 0; p < 2; p++) {
      const int ranks = (m + p) % 2 ? 4 : 2;
      const struct decode_shape shape = latent_shape(p, ranks, 2);
      const struct decode_request request =
          ranked_request(&shape, &ranked_types[m], p ? 1 : MAX_BATCH, ranks);
      ranked_steps((m + p) % RANKED, &request, 2);
    }
}

// BF16: the ranks' sums equal the whole model's, and each rank has the entries of all heads.
static void test_latent_heads_are_those_of_one_device(void **unused) {
  const struct decode_shape shape = latent_shape(1, 2, 1);
  struct decode_request request = ranked_request(&shape, &ranked_types[0], 2, 2);
  struct decode_cost whole, part;
  (void)unused;
  ranked_steps_beside(0, &request, 0, 1);
  assert_int_equal(ranked[0].backend->cost(0, &request, &part), DECODE_OK);
  request.ranks = 0;
  assert_int_equal(ranked[0].backend->cost(0, &request, &whole), DECODE_OK);
  assert_int_equal(part.kv_bytes, whole.kv_bytes);
  assert_true(part.weight_bytes < whole.weight_bytes);
}

// ---- lost parts

// Rank 2 of 4 lacks its part of a tensor whose rows or columns are divided.
struct lost {
  enum tensor tensor;
  size_t rows, columns;
  bool of_rows;
};

static void lose(const struct lost *lost, double *values) {
  for (size_t i = 0; i < lost->rows * lost->columns; i++) {
    const size_t size = lost->of_rows ? lost->rows : lost->columns;
    const size_t at = lost->of_rows ? i / lost->columns : i % lost->columns;
    values[i] *= at * 4 / size == 2 ? 0 : 1;
  }
}

// Steps of ranks that have all their parts, compared with oracles that have lost one.
static void test_lost_parts_are_noticed(void **unused) {
  struct decode_shape shapes[] = {ranked_shape(&piece_plain, 4), latent_shape(1, 4, 1)};
  const struct decode_shape *s = &shapes[0], *l = &shapes[1];
  const size_t hidden = (size_t)s->hidden, q = (size_t)s->heads * (size_t)s->head_dim;
  const size_t heads = (size_t)l->heads, width = (size_t)l->head_dim;
  const size_t rank = (size_t)l->latent.rank, low = (size_t)l->latent.query_rank;
  const size_t still = width - (size_t)l->latent.rope_dim, out = (size_t)l->latent.value_dim;
  const struct lost cases[2][4] = {{{TENSOR_WQ, q, hidden, true},
                                    {TENSOR_WO, hidden, q, false},
                                    {TENSOR_UP, (size_t)s->ffn_hidden, hidden, true},
                                    {TENSOR_DOWN, hidden, (size_t)s->ffn_hidden, false}},
                                   {{TENSOR_Q_B, heads * width, low, true},
                                    {TENSOR_K_B, heads * still, rank, true},
                                    {TENSOR_V_B, heads * out, rank, true},
                                    {TENSOR_WO, hidden, heads * out, false}}};
  (void)unused;
  shapes[0].layers = 1;
  for (size_t m = 0; m < 2; m++) {
    const struct decode_request request = ranked_request(&shapes[m], &ranked_types[0], 1, 4);
    struct decode_state *state = compared_state(ranked[m].backend, &request, "whole");
    for (size_t i = 0; i < 4; i++) {
      enum decode_status status;
      struct reference *reference = reference_create(&request, &status);
      assert_non_null(reference);
      for (int layer = 0; layer < request.shape.layers; layer++)
        lose(&cases[m][i], reference_tensor(reference, cases[m][i].tensor, layer));
      if (compared_step(ranked[m].backend, state, reference).pass)
        fail_msg("tensor %d is not noticed", (int)cases[m][i].tensor);
      reference_destroy(reference);
    }
    ranked[m].backend->destroy(state);
  }
}

// ---- what a rank holds and exchanges

static void test_a_rank_holds_its_part(void **unused) {
  struct decode_cost whole, part;
  const struct decode_backend *backend = ranked[0].backend;
  struct decode_shape shape = ranked_shape(&piece_plain, 4);
  shape.kv_heads = 4;
  shape.ffn_hidden = 108;
  const uint64_t hidden = (uint64_t)shape.hidden;
  const struct decode_request one = ranked_request(&shape, &ranked_types[0], 1, 0);
  const struct decode_request four = ranked_request(&shape, &ranked_types[0], 1, 4);
  (void)unused;
  assert_int_equal(backend->cost(0, &one, &whole), DECODE_OK);
  assert_int_equal(backend->cost(0, &four, &part), DECODE_OK);
  // What every rank holds entirely: five norms of floats, and the embedding's row.
  const uint64_t alike = 5 * hidden * 4 + hidden * 2;
  assert_int_equal(part.weight_bytes - alike, (whole.weight_bytes - alike) / 4);
  assert_int_equal(part.kv_bytes, whole.kv_bytes / 4);
  assert_int_equal(part.operations, whole.operations / 4);

  // The largest share is reported: 26 of 101 rows, in each of gate, up and down.
  shape.ffn_hidden = 101;
  const struct decode_request uneven = ranked_request(&shape, &ranked_types[0], 1, 4);
  struct decode_cost largest;
  assert_int_equal(backend->cost(0, &uneven, &largest), DECODE_OK);
  assert_int_equal(part.weight_bytes - largest.weight_bytes, 2 * 3 * hidden * 2 * (27 - 26));
}

static void test_all_reduces_are_timed(void **unused) {
  const struct decode_backend *backend = ranked[0].backend;
  struct decode_all_reduce timed = {0};
  const struct decode_request request = ranked_request(&tiny, &ranked_types[0], 3, 2);
  const struct decode_request alone = ranked_request(&tiny, &ranked_types[0], 3, 0);
  struct decode_state *state = make(&request);
  (void)unused;
  expect_ok(backend->all_reduce(state, 3, &timed));
  assert_true(timed.seconds > 0 && timed.seconds < RANKED_PATIENCE_S);
  assert_int_equal(timed.bytes, 3 * 24 * 4);
  assert_string_equal(timed.library, "emulator");
  backend->destroy(state);
  state = make(&alone);
  assert_int_equal(backend->all_reduce(state, 3, &timed), DECODE_UNSUPPORTED);
  backend->destroy(state);
}

static void test_tokens_are_set_on_all(void **unused) {
  const struct decode_backend *backend = ranked[0].backend;
  const struct decode_request request = ranked_request(&tiny, &ranked_types[0], 2, 2);
  struct decode_state *state = make(&request);
  int tokens[2] = {19, 20};
  (void)unused;
  assert_int_equal(backend->set_tokens(state, tokens), DECODE_FAILED);
  assert_non_null(strstr(backend->error(), "outside the vocabulary"));
  tokens[1] = 7;
  expect_ok(backend->set_tokens(state, tokens));
  expect_ok(backend->tokens(state, tokens));
  assert_int_equal(tokens[0], 19);
  assert_int_equal(tokens[1], 7);
  expect_ok(backend->run(state, 3));
  backend->destroy(state);
}

// ---- what is not supported

static void expect_refused(const struct decode_request *request, enum decode_status expected,
                           const char *words) {
  const struct decode_backend *backend = ranked[0].backend;
  enum decode_status status = DECODE_OK;
  assert_null(backend->create(ranked_devices[0], request, &status));
  assert_int_equal(status, expected);
  if (!strstr(backend->error(), words))
    fail_msg("'%s' lacks '%s'", backend->error(), words);
}

// What test_share covers in detail, with the planner's messages; and devices.
static void test_refused_in_words(void **unused) {
  static const int twice[] = {1, 1}, absent[] = {1, 4};
  struct decode_types in_blocks = ranked_types[0];
  struct decode_shape few_heads = tiny, thin = tiny;
  struct decode_cost cost;
  (void)unused;
  few_heads.heads = few_heads.kv_heads = 6;
  struct decode_request request = ranked_request(&few_heads, &ranked_types[0], 1, 4);
  expect_refused(&request, DECODE_UNSUPPORTED,
                 "a model with 6 heads cannot be divided among 4 devices");
  in_blocks.weights = ELEMENT_MXFP4;
  thin.head_dim = 16;
  request = ranked_request(&thin, &in_blocks, 1, 4);
  expect_refused(
      &request, DECODE_UNSUPPORTED,
      "4 devices would each have 16 columns of the heads, which are not whole blocks of 32 "
      "weights with one scale");
  request = ranked_request(&tiny, &ranked_types[0], 1, 2);
  request.devices = twice;
  expect_refused(&request, DECODE_UNSUPPORTED, "each rank needs a device of its own");
  request.devices = absent;
  expect_refused(&request, DECODE_NO_DEVICE, "no device 4");
  request.devices = ranked_devices;
  setenv("EMULATOR_SHARED_0", "4096", 1);
  expect_refused(&request, DECODE_UNSUPPORTED, "device 0: ");
  assert_int_equal(ranked[0].backend->cost(0, &request, &cost), DECODE_UNSUPPORTED);
  assert_non_null(strstr(ranked[0].backend->error(), "device 0: "));
  unsetenv("EMULATOR_SHARED_0");
  setenv("EMULATOR_FAIL_JOIN", "1", 1);
  expect_refused(&request, DECODE_NO_DEVICE, "the emulator was told to join nothing");
  assert_null(strstr(ranked[0].backend->error(), "rank"));
}

static void test_no_cpu_is_a_rank(void **unused) {
  struct decode_cost cost;
  const struct decode_request request = ranked_request(&tiny, &ranked_types[0], 1, 2);
  (void)unused;
  assert_int_equal(cpu_backend.cost(0, &request, &cost), DECODE_UNSUPPORTED);
  assert_non_null(strstr(cpu_backend.error(), "only GPUs do tensor parallelism"));
  assert_null(cpu_backend.all_reduce);
}

// ---- failures

static void expect_ended(struct decode_state *state, const char *words) {
  const struct decode_backend *backend = ranked[0].backend;
  float logits[3 * 20];
  int tokens[3] = {0};
  struct decode_all_reduce timed;
  for (int call = 0; call < 5; call++) {
    const enum decode_status status = call == 0   ? backend->run(state, 1)
                                      : call == 1 ? backend->logits(state, logits)
                                      : call == 2 ? backend->tokens(state, tokens)
                                      : call == 3 ? backend->set_tokens(state, tokens)
                                                  : backend->all_reduce(state, 1, &timed);
    assert_int_equal(status, DECODE_FAILED);
    if (!strstr(backend->error(), words))
      fail_msg("'%s' lacks '%s'", backend->error(), words);
  }
}

// A device is lost at each of its launches: first while the model is created, then in a step. The
// others, which wait for it, end too.
static void test_a_rank_is_lost(void **unused) {
  const struct decode_backend *backend = ranked[0].backend;
  const struct decode_request request = ranked_request(&tiny, &ranked_types[0], 3, 4);
  int in_create = 0, in_run = 0;
  (void)unused;
  for (int launch = 1;; launch += 1 + launch / 8) {
    enum decode_status status = DECODE_OK;
    set_number("EMULATOR_FAIL_DEVICE", ranked_devices[launch % 4]);
    set_number("EMULATOR_FAIL_LAUNCH", launch);
    char words[96];
    snprintf(words, sizeof words, "rank %d of 4, device %d: the device is lost", launch % 4,
             ranked_devices[launch % 4]);
    struct decode_state *state = backend->create(ranked_devices[0], &request, &status);
    if (!state) {
      assert_int_equal(status, DECODE_FAILED);
      assert_string_equal(backend->error(), words);
      in_create++;
      continue;
    }
    if (backend->run(state, 1) == DECODE_OK) {
      backend->destroy(state);
      break;
    }
    expect_ended(state, words);
    backend->destroy(state);
    in_run++;
  }
  assert_true(in_create >= 8 && in_run >= 3);
}

static void test_an_all_reduce_fails(void **unused) {
  const struct decode_backend *backend = ranked[0].backend;
  const struct decode_request request = ranked_request(&tiny, &ranked_types[0], 3, 4);
  (void)unused;
  set_number("EMULATOR_FAIL_DEVICE", 2);
  set_number("EMULATOR_MISS_REDUCE", 1);
  expect_refused(&request, DECODE_FAILED, "rank 2 of 4, device 2: the all-reduce failed");
  set_number("EMULATOR_MISS_REDUCE", 4);
  struct decode_state *state = make(&request);
  assert_int_equal(backend->run(state, 2), DECODE_FAILED);
  expect_ended(state, "rank 2 of 4, device 2: the all-reduce failed");
  backend->destroy(state);
}

static void test_no_memory_on_a_rank(void **unused) {
  const struct decode_request request = ranked_request(&tiny, &ranked_types[0], 3, 2);
  (void)unused;
  setenv("EMULATOR_MEMORY", "5000", 1);
  expect_refused(&request, DECODE_NO_MEMORY, "of 2, device");
  unsetenv("EMULATOR_MEMORY");
}

// ---- the crew

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

static _Thread_local const char *why = "";

static const char *words_of_thread(void) {
  return why;
}

static enum decode_status do_job(void *argument, int member) {
  int *done = argument;
  if (member == 1) {
    pthread_mutex_lock(&gate); // locked while it should be stuck
    pthread_mutex_unlock(&gate);
  }
  done[member]++;
  why = member == 2 ? "the third" : "";
  return member == 2 ? DECODE_NO_MEMORY : DECODE_OK;
}

static void test_a_crew_waits_no_longer_than_told(void **unused) {
  int done[3] = {0}, count = 0;
  struct crew *crew = crew_make(3, words_of_thread);
  (void)unused;
  assert_non_null(crew);
  for (int round = 1; round < 4; round++) {
    pthread_mutex_lock(&gate);
    crew_start(crew, do_job, done);
    while (count != 2 || crew_first_busy(crew) != 1)
      crew_wait(crew, 0.01, &count);
    assert_int_equal(crew_wait(crew, 0.01, &count), CREW_WORSE);
    assert_int_equal(crew_first_failed(crew), 2);
    assert_string_equal(crew_words(crew, 2), "the third");
    assert_int_equal(crew_status(crew, 2), DECODE_NO_MEMORY);
    assert_false(crew_free(crew));
    pthread_mutex_unlock(&gate);
    while (crew_wait(crew, 10, &count) != CREW_DONE)
      ;
    assert_int_equal(count, 3);
    for (int i = 0; i < 3; i++)
      assert_int_equal(done[i], round);
    count = 0;
  }
  assert_true(crew_free(crew));
  assert_true(crew_free(NULL));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup(test_steps_are_the_oracles, ranked_begin),
      cmocka_unit_test_setup(test_bf16_is_that_of_one_device, ranked_begin),
      cmocka_unit_test_setup(test_families_are_divided, ranked_begin),
      cmocka_unit_test_setup(test_latent_heads_are_divided, ranked_begin),
      cmocka_unit_test_setup(test_latent_heads_are_those_of_one_device, ranked_begin),
      cmocka_unit_test_setup(test_lost_parts_are_noticed, ranked_begin),
      cmocka_unit_test_setup(test_a_rank_holds_its_part, ranked_begin),
      cmocka_unit_test_setup(test_all_reduces_are_timed, ranked_begin),
      cmocka_unit_test_setup(test_tokens_are_set_on_all, ranked_begin),
      cmocka_unit_test_setup(test_refused_in_words, ranked_begin),
      cmocka_unit_test_setup(test_no_cpu_is_a_rank, ranked_begin),
      cmocka_unit_test_setup(test_a_rank_is_lost, ranked_begin),
      cmocka_unit_test_setup(test_an_all_reduce_fails, ranked_begin),
      cmocka_unit_test_setup(test_no_memory_on_a_rank, ranked_begin),
      cmocka_unit_test_setup(test_a_crew_waits_no_longer_than_told, ranked_begin),
  };
  return cmocka_run_group_tests(tests, ranked_load, ranked_unload);
}
