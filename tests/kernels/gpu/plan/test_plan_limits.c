// What no GPU plan can be made for, and the messages.
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/streaming.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/planner.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/stream.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/planned.h"
#include "tests/support/kernels/shapes.h"

static void test_refusals(void **state) {
  (void)state;
  const struct decode_request good =
      planned_request(&piece_plain, &planned_types[PLANNED_BF16], 1, 10);
  planned(&good, &planned_h200);
#define REFUSED(field, value, words)                                                               \
  do {                                                                                             \
    struct decode_request bad = good;                                                              \
    bad.field = (value);                                                                           \
    planned_refused(&bad, &planned_h200, words);                                                   \
  } while (0)
  REFUSED(types.weights, ELEMENT_F32, "weights in f32");
  REFUSED(types.activations, ELEMENT_F32, "activations in bf16");
  REFUSED(types.activations, ELEMENT_E4M3, "with weights that go with these");
  REFUSED(types.kv, ELEMENT_INT8, "KV cache");
  REFUSED(types.head, ELEMENT_E4M3, "head");
  REFUSED(types.accumulation, ELEMENT_BF16, "accumulate");
  REFUSED(shape.experts.count, 8, "no expert per token");
  REFUSED(shape.head_dim, 41, "even head_dim");
  REFUSED(shape.head_dim, 258, "at most 256");
  REFUSED(shape.kv_heads, 4, "not a multiple of the KV heads");
  REFUSED(shape.kv_heads, 0, "not a multiple of the KV heads");
  REFUSED(shape.hidden, 65537, "wider or deeper");
  REFUSED(shape.layers, 0, "wider or deeper");
  REFUSED(shape.rope_theta, 0, "theta");
  REFUSED(batch, 257, "1 to 256");
  REFUSED(batch, 0, "1 to 256");
  REFUSED(context, 0, "context");
  REFUSED(context, (1 << 24) + 1, "context");
#undef REFUSED
}

static bool streams(const struct decode_request *request, const struct gpu_device *device) {
  struct plan plan;
  const char *why;
  return gpu_plan_make(request, 0, device, &plan, &why) == DECODE_OK && plan.streaming;
}

// Shared memory that a block of the whole step needs in addition to its launch's counts: with one
// byte too few, the products go to the matrix kernels, which such a step does not include. Beyond
// that, at least two units of weights for each warp.
static void test_streaming_shared(void **state) {
  (void)state;
  struct gpu_device device = planned_h200;
  const struct decode_request request =
      planned_request(&llama_8b, &planned_types[PLANNED_E4M3_KV], 4, 512);
  const size_t needed = vector_shared_bytes(llama_8b.ffn_hidden, 4, 2);
  device.cooperative = true;
  device.shared_bytes = needed;
  assert_true(planned(&request, &device).vector);
  device.tuning.step = STEP_STREAMING;
  planned_refused(&request, &device, "step=streaming: this batch's activations do not fit");
  device.shared_bytes = needed + STREAMING_SHARED - 1;
  planned_refused(&request, &device, "step=streaming: this batch's activations do not fit");
  device.shared_bytes++;
  planned_refused(&request, &device, "no room for weights on their way");
  while (!streams(&request, &device))
    device.shared_bytes += 16;
  assert_int_equal(planned(&request, &device).stream.slots, STREAM_LEAST);
}

static void test_devices_refused(void **state) {
  (void)state;
  static const struct {
    const struct gpu_device *device; // with the following, unless 0
    int warp;
    size_t shared_bytes;
    bool lacks_wgmma;
    int head_dim;
    const char *words;
  } cases[] = {
      {.device = &planned_h200, .warp = 16, .words = "warp"},
      {.device = &planned_h200_wgmma, .lacks_wgmma = true, .words = "matrix=wgmma needs sm_90"},
      {.device = &planned_h200_wgmma,
       .shared_bytes = 98304,
       .words = "products need more shared memory"},
      {.device = &planned_h200, .shared_bytes = 8192, .words = "attention with heads this wide"},
      {.device = &planned_small, .head_dim = 256, .words = "attention with heads this wide"},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    struct decode_request request =
        planned_request(&piece_plain, &planned_types[PLANNED_BF16], 5, 10);
    struct gpu_device device = *cases[i].device;
    request.shape.head_dim = cases[i].head_dim > 0 ? cases[i].head_dim : request.shape.head_dim;
    device.warp = cases[i].warp > 0 ? cases[i].warp : device.warp;
    device.shared_bytes = cases[i].shared_bytes > 0 ? cases[i].shared_bytes : device.shared_bytes;
    device.wgmma = device.wgmma && !cases[i].lacks_wgmma;
    planned_refused(&request, &device, cases[i].words);
  }
}

// What is too little for wgmma is enough for the other way, and 64 KiB for the widest heads.
static void test_shared_memory_suffices(void **state) {
  (void)state;
  struct decode_request request =
      planned_request(&piece_plain, &planned_types[PLANNED_BF16], 5, 10);
  struct gpu_device device = planned_h200_wgmma;
  device.shared_bytes = 98304;
  device.tuning.matrix = 0;
  assert_false(planned(&request, &device).product[PRODUCT_QKV].wgmma);
  request.shape.head_dim = 256;
  const struct plan plan = planned(&request, &planned_mi300x);
  assert_true(gpu_plan_attention_shared_bytes(&plan) + 16 <= planned_mi300x.shared_bytes);
}

// Only what differs from one vector of an 8B model in bf16.
struct streaming_case {
  const struct gpu_device *device;
  int batch, head_dim, ranks;
  enum element weights;
  bool is_mixture;
  enum element experts; // F32: as the weights
  const char *words;    // NULL: the step is one launch
};

static struct decode_request streaming_request(const struct streaming_case *step) {
  struct decode_request request = planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 10);
  request.batch = step->batch > 0 ? step->batch : request.batch;
  request.shape.head_dim = step->head_dim > 0 ? step->head_dim : request.shape.head_dim;
  request.ranks = step->ranks;
  request.types.weights =
      step->weights != ELEMENT_F32 ? step->weights : planned_types[PLANNED_BF16].weights;
  if (step->is_mixture)
    request.shape.experts = (struct decode_experts){.count = 8, .chosen = 2, .hidden = 100};
  request.types.experts = step->experts;
  return request;
}

static struct gpu_device streaming_device(const struct gpu_device *from, bool is_cooperative) {
  struct gpu_device device = *from;
  device.cooperative = is_cooperative;
  device.tuning.step = STEP_STREAMING;
  return device;
}

static void test_streaming_refused(void **state) {
  (void)state;
  const struct gpu_device old = streaming_device(&planned_h200, false);
  const struct gpu_device h200 = streaming_device(&planned_h200, true);
  const struct gpu_device mi300x = streaming_device(&planned_mi300x, true);
  static const char unknown_weights[] = "needs weights in bf16, e4m3, mxfp4 or groups of int4";
  const struct streaming_case cases[] = {
      {.device = &old, .words = "needs cooperative launches"},
      {.device = &h200, .batch = 5, .words = "step=streaming needs one device, batch 1"},
      {.device = &h200, .ranks = 2, .words = "step=streaming needs one device, batch 1"},
      {.device = &h200, .head_dim = 130, .words = "heads of up to 128"},
      {.device = &h200, .head_dim = 64},
      {.device = &h200, .head_dim = 128},
      {.device = &mi300x, .weights = ELEMENT_INT4_GROUP},
      {.device = &mi300x, .weights = ELEMENT_NVFP4, .words = unknown_weights},
      {.device = &mi300x, .is_mixture = true},
      {.device = &mi300x, .is_mixture = true, .experts = ELEMENT_MXFP4},
      {.device = &mi300x, .is_mixture = true, .experts = ELEMENT_NVFP4, .words = unknown_weights},
  };
  for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
    const struct decode_request request = streaming_request(&cases[i]);
    if (cases[i].words)
      planned_refused(&request, cases[i].device, cases[i].words);
    else if (!planned(&request, cases[i].device).streaming)
      fail_msg("case %zu: expected one launch", i);
  }
}

// Whatever the weights' type, the head is in bf16.
static void test_streaming_heads(void **state) {
  (void)state;
  const struct gpu_device device = streaming_device(&planned_h200, true);
  struct decode_request request = planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 10);
  for (int element = ELEMENT_BF16; element < ELEMENTS; element++) {
    request.types.weights = (enum element)element;
    request.types.head = ELEMENT_BF16;
    assert_true(planned(&request, &device).streaming);
    request.types.head = (enum element)element;
    if (element != ELEMENT_BF16)
      planned_refused(&request, &device, "and activations and head in bf16");
  }
}

// A vector type that does not go with the weights'; ranks that cannot have whole blocks.
static void test_formats_refused(void **state) {
  (void)state;
  static const enum element pairs[][2] = {{ELEMENT_MXFP4, ELEMENT_INT8},
                                          {ELEMENT_INT4_GROUP, ELEMENT_E4M3},
                                          {ELEMENT_INT8, ELEMENT_E4M3},
                                          {ELEMENT_NVFP4, ELEMENT_F32}};
  struct decode_request request = planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 10);
  for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
    request.types.weights = pairs[i][0];
    request.types.activations = pairs[i][1];
    planned_refused(&request, &planned_h200, "in e4m3 or int8 with weights that go with these");
  }
  request = planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 10);
  request.types.weights = ELEMENT_INT4_GROUP;
  request.ranks = 8;
  planned(&request, &planned_h200);
  request.shape.ffn_hidden = 7 * 128;
  planned_refused(
      &request, &planned_h200,
      "the 896 columns of the MLP are fewer blocks of 128 weights with one scale than 8");
  request.types.weights = ELEMENT_MXFP4;
  planned(&request, &planned_h200);
  request.shape.head_dim = 20; // 32 heads
  planned_refused(&request, &planned_h200, "would each have 80 columns of the heads");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_refusals),          cmocka_unit_test(test_streaming_shared),
      cmocka_unit_test(test_devices_refused),   cmocka_unit_test(test_shared_memory_suffices),
      cmocka_unit_test(test_streaming_refused), cmocka_unit_test(test_streaming_heads),
      cmocka_unit_test(test_formats_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
