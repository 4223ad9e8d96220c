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
  struct decode_request request =
      planned_request(&piece_plain, &planned_types[PLANNED_BF16], 5, 10);
  struct gpu_device device = planned_h200;
  device.warp = 16;
  planned_refused(&request, &device, "warp");
  device = planned_h200_wgmma;
  device.wgmma = false;
  planned_refused(&request, &device, "matrix=wgmma needs sm_90");
  device.wgmma = true;
  device.shared_bytes = 98304;
  planned_refused(&request, &device, "products need more shared memory");
  device.tuning.matrix = 0; // enough for the other way
  assert_false(planned(&request, &device).product[PRODUCT_QKV].wgmma);
  device = planned_h200;
  device.shared_bytes = 8192;
  planned_refused(&request, &device, "attention with heads this wide");
  request.shape.head_dim = 256;
  planned_refused(&request, &planned_small, "attention with heads this wide");
  const struct plan plan = planned(&request, &planned_mi300x); // 64 KiB
  assert_true(gpu_plan_attention_shared_bytes(&plan) + 16 <= planned_mi300x.shared_bytes);
  request = planned_request(&llama_8b, &planned_types[PLANNED_BF16], 1, 10);
  device = planned_h200;
  device.tuning.step = STEP_STREAMING;
  planned_refused(&request, &device, "needs cooperative launches");
  device.cooperative = true;
  request.batch = 5;
  planned_refused(&request, &device, "step=streaming needs one device, batch 1");
  request.batch = 1;
  request.shape.head_dim = 130;
  planned_refused(&request, &device, "heads of up to 128");
  request.shape.head_dim = 64;
  assert_true(planned(&request, &device).streaming);
  request.shape.head_dim = 128;
  assert_true(planned(&request, &device).streaming);
  for (int element = ELEMENT_BF16; element < ELEMENTS; element++) {
    request.types.weights = request.types.head = (enum element)element;
    if (element != ELEMENT_BF16)
      planned_refused(&request, &device, "and activations and head in bf16");
    request.types.head = ELEMENT_BF16;
    assert_true(planned(&request, &device).streaming);
  }
  struct gpu_device wide = planned_mi300x;
  wide.cooperative = true;
  wide.tuning.step = STEP_STREAMING;
  request.types.weights = ELEMENT_INT4_GROUP;
  assert_true(planned(&request, &wide).streaming);
  request.types.weights = ELEMENT_NVFP4;
  planned_refused(&request, &wide, "needs weights in bf16, e4m3, mxfp4 or groups of int4");
  request.types.weights = ELEMENT_BF16;
  struct decode_request mixture = request;
  mixture.shape.experts = (struct decode_experts){.count = 8, .chosen = 2, .hidden = 100};
  assert_true(planned(&mixture, &wide).streaming);
  mixture.types.experts = ELEMENT_NVFP4;
  planned_refused(&mixture, &wide, "needs weights in bf16, e4m3, mxfp4 or groups of int4");
  mixture.types.experts = ELEMENT_MXFP4;
  assert_true(planned(&mixture, &wide).streaming);
  request.ranks = 2;
  planned_refused(&request, &device, "step=streaming needs one device, batch 1");
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
      cmocka_unit_test(test_refusals),
      cmocka_unit_test(test_streaming_shared),
      cmocka_unit_test(test_devices_refused),
      cmocka_unit_test(test_formats_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
