// A model on several devices (tensor parallel), run by the host emulator: steps against the oracle
// at shapes that fit no tile, and what ends when one of the devices does.
// Deep: every mix on every number of ranks by vectors and by matrices.
// Seconds: 6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/cpu/backend.h"
#include "kernels/gpu/host/crew.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "kernels/share.h"
#include "tests/support/depth.h"
#include "tests/support/library.h"

enum { MOST_BATCH = 5, VOCAB = 204, PATIENCE_S = 120 };

static struct plugin {
  const char *name;
  void *library;
  const struct decode_backend *backend;
} plugins[] = {{.name = "emulatormma"}, {.name = "emulator64fnuz"}};
#define PLUGINS (sizeof plugins / sizeof plugins[0])

// Weights, activations, KV, head, accumulation.
static const struct decode_types mixes[] = {
    {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_F32, ELEMENT_F32},
    {ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
};
#define MIXES (sizeof mixes / sizeof mixes[0])

// No size fits a tile. Of two KV heads, four ranks have each in pairs.
static const struct decode_shape odd = {.layers = 2,
                                        .hidden = 72,
                                        .heads = 12,
                                        .kv_heads = 4,
                                        .head_dim = 20,
                                        .ffn_hidden = 108,
                                        .vocab = VOCAB,
                                        .norm_epsilon = 1e-5f,
                                        .rope_theta = 1e4f};
static const struct decode_shape few_kv_heads = {.layers = 2,
                                                 .hidden = 100,
                                                 .heads = 12,
                                                 .kv_heads = 2,
                                                 .head_dim = 10,
                                                 .ffn_hidden = 52,
                                                 .vocab = VOCAB,
                                                 .norm_epsilon = 1e-5f,
                                                 .rope_theta = 1e4f};
static const struct decode_shape tiny = {.layers = 1,
                                         .hidden = 24,
                                         .heads = 4,
                                         .kv_heads = 2,
                                         .head_dim = 8,
                                         .ffn_hidden = 12,
                                         .vocab = 20,
                                         .norm_epsilon = 1e-5f,
                                         .rope_theta = 1e4f};

static const int devices[] = {3, 0, 2, 1};

static const char *const variables[] = {"EMULATOR_DEVICES", "EMULATOR_FAIL_LAUNCH",
                                        "EMULATOR_FAIL_DEVICE", "EMULATOR_FAIL_JOIN",
                                        "EMULATOR_MISS_REDUCE"};

static int load(void **unused) {
  (void)unused;
  for (struct plugin *p = plugins; p < plugins + PLUGINS; p++) {
    decode_plugin *plugin;
    p->library = library_open(p->name);
    *(void **)&plugin = library_symbol(p->library, DECODE_PLUGIN);
    if (!plugin)
      return -1;
    p->backend = plugin();
  }
  return 0;
}

static int unload(void **unused) {
  (void)unused;
  for (size_t p = 0; p < PLUGINS; p++)
    dlclose(plugins[p].library);
  return 0;
}

// A hang is a failure.
static int begin(void **unused) {
  (void)unused;
  for (size_t i = 0; i < sizeof variables / sizeof variables[0]; i++)
    unsetenv(variables[i]);
  setenv("EMULATOR_DEVICES", "4", 1);
  alarm(PATIENCE_S);
  return 0;
}

static void set_number(const char *name, long value) {
  char text[32];
  snprintf(text, sizeof text, "%ld", value);
  setenv(name, text, 1);
}

static struct decode_request request_of(const struct decode_shape *shape,
                                        const struct decode_types *types, int batch, int ranks) {
  return (struct decode_request){.shape = *shape,
                                 .types = *types,
                                 .batch = batch,
                                 .context = 67,
                                 .seed = 20,
                                 .ranks = ranks,
                                 .devices = devices};
}

static const char *describe(const struct plugin *plugin, const struct decode_request *request) {
  static char text[256];
  snprintf(text, sizeof text,
           "%s, %d ranks, batch %d, hidden %d, weights %d, activations %d, kv %d", plugin->name,
           request->ranks, request->batch, request->shape.hidden, (int)request->types.weights,
           (int)request->types.activations, (int)request->types.kv);
  return text;
}

static struct decode_state *make(const struct plugin *plugin,
                                 const struct decode_request *request) {
  static enum decode_status status; // static: cppcheck takes the state to point at it
  struct decode_state *state = plugin->backend->create(devices[0], request, &status);
  if (!state)
    fail_msg("%s: status %d, %s", describe(plugin, request), status, plugin->backend->error());
  return state;
}

static void expect_ok(const struct plugin *plugin, const struct decode_request *request,
                      enum decode_status status) {
  if (status != DECODE_OK)
    fail_msg("%s: status %d, %s", describe(plugin, request), status, plugin->backend->error());
}

// ---- the same as one device

// Steps from the same tokens on the ranks and on an oracle of `oracle_ranks`.
static void check_steps(const struct plugin *plugin, const struct decode_request *request,
                        int oracle_ranks, int steps) {
  static float logits[MOST_BATCH * VOCAB];
  const struct decode_backend *backend = plugin->backend;
  struct decode_request expected = *request;
  enum decode_status status;
  int tokens[MOST_BATCH];
  expected.ranks = oracle_ranks;
  struct reference *reference = reference_create(&expected, &status);
  struct decode_state *state = make(plugin, request);
  assert_non_null(reference);
  for (int step = 0; step < steps; step++) {
    memset(logits, 0xFF, sizeof logits);
    expect_ok(plugin, request, backend->tokens(state, tokens));
    assert_int_equal(reference_set_tokens(reference, tokens), 0);
    reference_step(reference);
    expect_ok(plugin, request, backend->run(state, 1));
    expect_ok(plugin, request, backend->logits(state, logits));
    expect_ok(plugin, request, backend->tokens(state, tokens));
    const struct reference_verdict verdict =
        reference_check(reference, logits, tokens, reference_tolerance(&request->types));
    if (!verdict.pass)
      fail_msg("%s, step %d: error %g, shortfall %g%s", describe(plugin, request), step,
               verdict.error, verdict.shortfall, verdict.greedy ? "" : ", not the largest");
  }
  backend->destroy(state);
  reference_destroy(reference);
}

// By vectors and by matrices, on each kind of emulator in turn; every other where not all is wanted.
static void steps_are_the_oracles(void **unused) {
  static const int batches[] = {1, 3, MOST_BATCH}, ranks[] = {2, 4};
  const struct decode_shape *const shapes[] = {&odd, &few_kv_heads};
  size_t turn = 0;
  (void)unused;
  for (size_t m = 0; m < MIXES; m++)
    for (size_t r = 0; r < 2; r++)
      for (size_t b = 0; b < 2; b++, turn++) {
        if (!depth_is_full() && (m + r + b) % 2)
          continue;
        const struct decode_request request =
            request_of(shapes[(turn + m) % 2], &mixes[m], batches[(turn + m) % 3], ranks[r]);
        check_steps(&plugins[(turn + r) % PLUGINS], &request, ranks[r], 1 + (int)b);
      }
}

// BF16 activations have no scale, so that nothing is rounded otherwise than on one device.
static void bf16_is_that_of_one_device(void **unused) {
  (void)unused;
  for (size_t m = 0; m < 2; m++) {
    const struct decode_request request = request_of(&odd, &mixes[m], 1 + 4 * (int)m, 4);
    check_steps(&plugins[m], &request, 0, 2);
  }
}

// Logits of an oracle in which the writer of the residual stream `without` writes nothing.
static void oracle_logits(int ranks, enum tensor without, double *logits) {
  enum decode_status status;
  const struct decode_request request = request_of(&odd, &mixes[3], 1, ranks);
  struct reference *reference = reference_create(&request, &status);
  const size_t columns = without == TENSOR_WO ? 12 * 20 : 108;
  assert_non_null(reference);
  for (int layer = 0; layer < odd.layers; layer++)
    memset(reference_tensor(reference, without, layer), 0, 72 * columns * sizeof(double));
  reference_step(reference);
  memcpy(logits, reference_logits(reference), VOCAB * sizeof *logits);
  reference_destroy(reference);
}

// E4M3 activations have a scale for each rank's part, before wo and before down: the oracle of one
// device rounds otherwise.
static void parts_have_scales_of_their_own(void **unused) {
  static const enum tensor writers[] = {TENSOR_WO, TENSOR_DOWN};
  static double one[VOCAB], four[VOCAB];
  (void)unused;
  for (size_t i = 0; i < 2; i++) {
    oracle_logits(0, writers[i], one);
    oracle_logits(4, writers[i], four);
    assert_memory_not_equal(one, four, sizeof one);
  }
}

// Each element of a part is that of the whole tensor: heads, columns, rows, cache.
static void parts_are_of_the_whole(void **unused) {
  static const struct {
    enum tensor tensor;
    int rank;
    uint64_t first, beside;
  } cases[] = {
      {TENSOR_WQ, 1, 3 * 20 * 72, 0},   {TENSOR_WK, 3, 3 * 20 * 72, 0},
      {TENSOR_WO, 2, 6 * 20, 9 * 20},   {TENSOR_GATE, 3, 81 * 72, 0},
      {TENSOR_DOWN, 1, 27, 81},         {TENSOR_HEAD, 2, 102 * 72, 0},
      {TENSOR_KEYS, 3, 3 * 20, 3 * 20}, {TENSOR_EMBEDDING, 3, 0, 0},
      {TENSOR_FFN_NORM, 1, 0, 0},
  };
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct share_part part = share_part_of(&odd, cases[i].tensor, cases[i].rank, 4);
    assert_int_equal(part.first, cases[i].first);
    assert_int_equal(part.beside, cases[i].beside);
  }
  const struct share_part shared = share_part_of(&few_kv_heads, TENSOR_KEYS, 1, 4);
  assert_int_equal(shared.first, 0);
  assert_int_equal(shared.beside, 10);
  assert_int_equal(share_part_of(&few_kv_heads, TENSOR_KEYS, 2, 4).first, 10);
}

static void a_rank_holds_its_part(void **unused) {
  struct decode_cost whole, part;
  const struct decode_backend *backend = plugins[0].backend;
  const struct decode_request one = request_of(&odd, &mixes[0], 1, 0);
  const struct decode_request four = request_of(&odd, &mixes[0], 1, 4);
  (void)unused;
  assert_int_equal(backend->cost(&one, &whole), DECODE_OK);
  assert_int_equal(backend->cost(&four, &part), DECODE_OK);
  // What every rank has whole: five norms of floats, and the row of the embedding.
  const uint64_t alike = 5 * 72 * 4 + 72 * 2;
  assert_int_equal(part.weight_bytes - alike, (whole.weight_bytes - alike) / 4);
  assert_int_equal(part.kv_bytes, whole.kv_bytes / 4);
  assert_int_equal(part.operations, whole.operations / 4);
}

static void all_reduces_are_timed(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  struct decode_all_reduce timed = {0};
  const struct decode_request request = request_of(&tiny, &mixes[0], 3, 2);
  const struct decode_request alone = request_of(&tiny, &mixes[0], 3, 0);
  struct decode_state *state = make(&plugins[0], &request);
  (void)unused;
  expect_ok(&plugins[0], &request, backend->all_reduce(state, 3, &timed));
  assert_true(timed.seconds > 0 && timed.seconds < PATIENCE_S);
  assert_int_equal(timed.bytes, 3 * 24 * 4);
  assert_string_equal(timed.library, "emulator");
  backend->destroy(state);
  state = make(&plugins[0], &alone);
  assert_int_equal(backend->all_reduce(state, 3, &timed), DECODE_UNSUPPORTED);
  backend->destroy(state);
}

static void tokens_are_set_on_all(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  const struct decode_request request = request_of(&tiny, &mixes[0], 2, 2);
  struct decode_state *state = make(&plugins[0], &request);
  int tokens[2] = {19, 20};
  (void)unused;
  assert_int_equal(backend->set_tokens(state, tokens), DECODE_FAILED);
  assert_non_null(strstr(backend->error(), "outside the vocabulary"));
  tokens[1] = 7;
  expect_ok(&plugins[0], &request, backend->set_tokens(state, tokens));
  expect_ok(&plugins[0], &request, backend->tokens(state, tokens));
  assert_int_equal(tokens[0], 19);
  assert_int_equal(tokens[1], 7);
  expect_ok(&plugins[0], &request, backend->run(state, 3));
  backend->destroy(state);
}

// ---- what cannot be

static void expect_refused(const struct decode_request *request, enum decode_status expected,
                           const char *words) {
  const struct decode_backend *backend = plugins[0].backend;
  enum decode_status status = DECODE_OK;
  assert_null(backend->create(devices[0], request, &status));
  assert_int_equal(status, expected);
  if (!strstr(backend->error(), words))
    fail_msg("'%s' lacks '%s'", backend->error(), words);
}

static void refused_in_words(void **unused) {
  static const struct {
    struct decode_shape shape;
    int ranks;
    const char *words;
  } cases[] = {
      {{.layers = 1,
        .hidden = 24,
        .heads = 6,
        .kv_heads = 6,
        .head_dim = 8,
        .ffn_hidden = 12,
        .vocab = 20,
        .norm_epsilon = 1e-5f,
        .rope_theta = 1e4f},
       4,
       "6 heads cannot be divided among 4 devices"},
      {{.layers = 1,
        .hidden = 24,
        .heads = 12,
        .kv_heads = 3,
        .head_dim = 8,
        .ffn_hidden = 12,
        .vocab = 20,
        .norm_epsilon = 1e-5f,
        .rope_theta = 1e4f},
       4,
       "3 KV heads cannot"},
      {{.layers = 1,
        .hidden = 24,
        .heads = 4,
        .kv_heads = 2,
        .head_dim = 8,
        .ffn_hidden = 14,
        .vocab = 20,
        .norm_epsilon = 1e-5f,
        .rope_theta = 1e4f},
       4,
       "14 rows of the MLP cannot"},
      {{.layers = 1,
        .hidden = 24,
        .heads = 4,
        .kv_heads = 2,
        .head_dim = 8,
        .ffn_hidden = 12,
        .vocab = 21,
        .norm_epsilon = 1e-5f,
        .rope_theta = 1e4f},
       2,
       "21 entries of the vocabulary cannot"},
  };
  static const int twice[] = {1, 1}, absent[] = {1, 4};
  (void)unused;
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request = request_of(&cases[i].shape, &mixes[0], 1, cases[i].ranks);
    expect_refused(&request, DECODE_UNSUPPORTED, cases[i].words);
  }
  struct decode_request request = request_of(&tiny, &mixes[0], 1, 2);
  request.devices = twice;
  expect_refused(&request, DECODE_UNSUPPORTED, "each rank needs a device of its own");
  request.devices = absent;
  expect_refused(&request, DECODE_NO_DEVICE, "no device 4");
  setenv("EMULATOR_FAIL_JOIN", "1", 1);
  request.devices = devices;
  expect_refused(&request, DECODE_NO_DEVICE, "the emulator was told to join nothing");
  assert_null(strstr(plugins[0].backend->error(), "rank"));
}

static void no_cpu_is_a_rank(void **unused) {
  struct decode_cost cost;
  const struct decode_request request = request_of(&tiny, &mixes[0], 1, 2);
  (void)unused;
  assert_int_equal(cpu_backend.cost(&request, &cost), DECODE_UNSUPPORTED);
  assert_non_null(strstr(cpu_backend.error(), "only GPUs do tensor parallelism"));
  assert_null(cpu_backend.all_reduce);
}

// ---- what fails

static void expect_ended(struct decode_state *state, const char *words) {
  const struct decode_backend *backend = plugins[0].backend;
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

// A device is lost at each of its launches: first while the model is made, then in a step. The
// others, which wait for it, end too.
static void a_rank_is_lost(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  const struct decode_request request = request_of(&tiny, &mixes[0], 3, 4);
  int in_create = 0, in_run = 0;
  (void)unused;
  for (int launch = 1;; launch += 1 + launch / 6) {
    enum decode_status status = DECODE_OK;
    set_number("EMULATOR_FAIL_DEVICE", devices[launch % 4]);
    set_number("EMULATOR_FAIL_LAUNCH", launch);
    char words[96];
    snprintf(words, sizeof words, "rank %d of 4, device %d: the device is lost", launch % 4,
             devices[launch % 4]);
    struct decode_state *state = backend->create(devices[0], &request, &status);
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

static void an_all_reduce_fails(void **unused) {
  const struct decode_backend *backend = plugins[0].backend;
  const struct decode_request request = request_of(&tiny, &mixes[0], 3, 4);
  (void)unused;
  set_number("EMULATOR_FAIL_DEVICE", 2);
  set_number("EMULATOR_MISS_REDUCE", 1);
  expect_refused(&request, DECODE_FAILED, "rank 2 of 4, device 2: the all-reduce failed");
  set_number("EMULATOR_MISS_REDUCE", 3);
  struct decode_state *state = make(&plugins[0], &request);
  assert_int_equal(backend->run(state, 2), DECODE_FAILED);
  expect_ended(state, "rank 2 of 4, device 2: the all-reduce failed");
  backend->destroy(state);
}

static void no_memory_on_a_rank(void **unused) {
  const struct decode_request request = request_of(&tiny, &mixes[0], 3, 2);
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
    pthread_mutex_lock(&gate); // held while it is to be stuck
    pthread_mutex_unlock(&gate);
  }
  done[member]++;
  why = member == 2 ? "the third" : "";
  return member == 2 ? DECODE_NO_MEMORY : DECODE_OK;
}

static void a_crew_waits_no_longer_than_told(void **unused) {
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
      cmocka_unit_test_setup(steps_are_the_oracles, begin),
      cmocka_unit_test_setup(bf16_is_that_of_one_device, begin),
      cmocka_unit_test_setup(parts_have_scales_of_their_own, begin),
      cmocka_unit_test_setup(parts_are_of_the_whole, begin),
      cmocka_unit_test_setup(a_rank_holds_its_part, begin),
      cmocka_unit_test_setup(all_reduces_are_timed, begin),
      cmocka_unit_test_setup(tokens_are_set_on_all, begin),
      cmocka_unit_test_setup(refused_in_words, begin),
      cmocka_unit_test_setup(no_cpu_is_a_rank, begin),
      cmocka_unit_test_setup(a_rank_is_lost, begin),
      cmocka_unit_test_setup(an_all_reduce_fails, begin),
      cmocka_unit_test_setup(no_memory_on_a_rank, begin),
      cmocka_unit_test_setup(a_crew_waits_no_longer_than_told, begin),
  };
  return cmocka_run_group_tests(tests, load, unload);
}
