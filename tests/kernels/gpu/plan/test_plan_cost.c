// The cost of a step of a GPU's plan: by hand, and compared with the CPU's.
#include "kernels/cpu/backend.h"
#include "kernels/gpu/launches/step.h"
#include "kernels/gpu/plan/cost.h"
#include "kernels/gpu/plan/plan.h"
#include "tests/support/kernels/pieces.h"
#include "tests/support/kernels/planned.h"
#include "tests/support/kernels/shapes.h"

static void test_cost_as_on_the_cpu(void **state) {
  (void)state;
  const struct decode_shape *const shapes[] = {&piece_plain, &llama_8b, &llama_70b};
  for (size_t s = 0; s < 3; s++)
    for (size_t m = 0; m < PLANNED_TYPES; m++)
      for (int batch = 1; batch <= 64; batch *= 4) {
        const struct decode_request request =
            planned_request(shapes[s], &planned_types[m], batch, 777);
        const struct plan plan = planned(&request, &planned_h200);
        const struct decode_cost gpu = gpu_plan_cost(&plan);
        struct decode_cost cpu;
        if (planned_types[m].activations == ELEMENT_E4M3)
          continue; // not for the CPU
        assert_int_equal(cpu_backend.cost(0, &request, &cpu), DECODE_OK);
        assert_int_equal(gpu.weight_bytes, cpu.weight_bytes);
        assert_int_equal(gpu.kv_bytes, cpu.kv_bytes);
        assert_int_equal(gpu.operations, cpu.operations);
        assert_int_equal(gpu.resident_bytes, plan.bytes);
      }
}

// By hand: one layer, with only ones and twos.
static void test_cost_by_hand(void **state) {
  (void)state;
  const struct decode_shape shape = {.layers = 1,
                                     .hidden = 64,
                                     .heads = 1,
                                     .kv_heads = 1,
                                     .head_dim = 64,
                                     .ffn_hidden = 64,
                                     .vocab = 64,
                                     .norm_epsilon = 1e-5f,
                                     .rope_theta = 1e4f};
  const struct decode_request request =
      planned_request(&shape, &planned_types[PLANNED_BF16], 1, 10);
  const struct plan plan = planned(&request, &planned_h200);
  const struct decode_cost cost = gpu_plan_cost(&plan);
  const uint64_t square = 64 * 64; // q, k, v, wo, gate, up, down, head, and a row of the embedding
  assert_int_equal(cost.weight_bytes, 8 * square * 2 + 64 * 2 + 3 * 64 * 4);
  assert_int_equal(cost.kv_bytes, 11 * 2 * 64 * 2);
  assert_int_equal(cost.operations, 2 * 8 * square + 10 * 4 * 64);
  static const struct {
    const char *stage;
    uint64_t bytes;
  } stages[] = {{"qkv", 3 * 64 * 64 * 2},
                {"wo", 64 * 64 * 2},
                {"gate and up", 2 * 64 * 64 * 2},
                {"down", 64 * 64 * 2},
                {"head", 64 * 64 * 2},
                {"attention", 11 * 2 * 64 * 2},
                {"embed", 0},
                {"sample", 0}};
  for (size_t i = 0; i < sizeof stages / sizeof stages[0]; i++)
    assert_int_equal(gpu_plan_stage_bytes(&plan, stages[i].stage), stages[i].bytes);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_cost_as_on_the_cpu),
      cmocka_unit_test(test_cost_by_hand),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
