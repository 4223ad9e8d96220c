// The timing model of the GPU kernels: it reproduces the figures of the reading it was made from,
// its sums are the plan's, and each constant and each point changes what it should and nothing
// else.
#include <math.h>
#include <string.h>

#include "kernels/gpu/arguments/layout.h"
#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/plan/cost.h"
#include "tests/support/kernels/planned.h"
#include "tests/support/kernels/shapes.h"
#include "tests/support/kernels/timed.h"
#include "tests/support/timing/timing_flow.h"

// Figures for the first kernels, from the reading of their machine code.
static void test_figures(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double share;
  } read[] = {{"8B bf16, batch 1", 0.88},
              {"8B fp8 weights, batch 1", 0.77},
              {"Llama-2-70B fp8, batch 1", 0.915},
              {"fp8 KV, registers", 0.69},
              {"fp8 KV, wgmma", 0.76},
              {"GQA 8, bf16 KV", 0.90},
              {"GQA 8, fp8 KV", 0.82},
              {"8B bf16, batch 64, registers", 0.58}};
  for (size_t i = 0; i < sizeof read / sizeof read[0]; i++) {
    const double share = timed_share(timed_workload(read[i].name), TIMING_FIRST);
    if (!(fabs(share - read[i].share) <= 0.02))
      fail_msg("%s: %.3f, not %.3f", read[i].name, share, read[i].share);
  }
}

// By prediction with what was measured, the default's kernels reach the targets of attention alone,
// and a streaming step those of batch 1; docs/gpu-model.md says by how much others are missed.
static void test_targets(void **state) {
  (void)state;
  static const struct {
    const char *name;
    double target, predicted, streaming;
    bool is_reached, is_reached_streaming;
  } targets[] = {{"8B bf16, batch 1", 0.93, 0.795, 0.977, false, true},
                 {"8B fp8 weights, batch 1", 0.88, 0.680, 0.907, false, true},
                 {"Llama-2-70B fp8, batch 1", 0.95, 0.856, 0.965, false, true},
                 {"fp8 KV, wgmma", 0.82, 0.773, 0.773, false, false},
                 {"activations too", 0.82, 0.820, 0.820, false, false},
                 {"GQA 8, bf16 KV", 0.88, 0.902, 0.902, true, true},
                 {"GQA 8, fp8 KV", 0.80, 0.889, 0.889, true, true},
                 {"8B bf16, batch 64, wgmma", 0.80, 0.754, 0.754, false, false}};
  for (size_t i = 0; i < sizeof targets / sizeof targets[0]; i++) {
    const int workload = timed_workload(targets[i].name);
    const double now = timed_share_measured(workload, TIMING_IMPLEMENTED),
                 streaming = timed_share_measured(workload, TIMING_IMPLEMENTED | TIMING_STREAMING);
    assert_int_equal(now >= targets[i].target, targets[i].is_reached);
    assert_int_equal(streaming >= targets[i].target, targets[i].is_reached_streaming);
    expect_near(now, targets[i].predicted, 1e-3, targets[i].name);
    expect_near(streaming, targets[i].streaming, 1e-3, targets[i].name);
  }
}

// The memory term is the plan's bytes, all other terms are added to it, and there is nothing else.
static void test_sums(void **state) {
  (void)state;
  for (int w = 0; w < TIMING_WORKLOADS; w++) {
    const struct timing_workload *workload = &timing_workloads[w];
    const struct decode_request request = timing_request(workload);
    const struct plan plan = planned(&request, &timing_device);
    double bytes = (double)gpu_plan_cache_bytes(&plan);
    for (int p = 0; p < PRODUCTS; p++)
      bytes += (double)gpu_plan_product_bytes(&plan, (enum product_name)p);
    for (unsigned points = 0; points < 1U << TIMING_POINTS; points += 31) {
      const struct timing_step step = timed_step(w, &timing_h200, points);
      const double memory =
          step.layers * step.layer.term[TIMING_MEMORY] + step.rest.term[TIMING_MEMORY];
      double sum = 0;
      for (int t = 0; t < TIMING_TERMS; t++) {
        assert_true(step.layer.term[t] >= 0);
        sum += step.layer.term[t];
      }
      expect_near(memory, bytes / timing_h200.read, 1e-9, workload->name);
      expect_near(step.layer.us, sum, 1e-9, workload->name);
      assert_true(timing_limit(&step.layer) != TIMING_MEMORY);
    }
  }
}

static double layer_us(int workload, const struct timing_machine *machine) {
  return timed_step(workload, machine, TIMING_FIRST).layer.us;
}

// Memory twice as fast halves its term exactly, and the layer by no more than that; a release that
// takes a microsecond longer costs at most one for each of a layer's launches; conversions occur
// with E4M3 only.
static void test_constants(void **state) {
  (void)state;
  const int bf16 = timed_workload("8B bf16, batch 1"), fp8 = timed_workload("fp8 KV, registers");
  for (int w = 0; w < TIMING_WORKLOADS; w++) {
    struct timing_machine fast = timing_h200, late = timing_h200, far = timing_h200;
    fast.read *= 2;
    late.release_us += 1;
    far.latency_us *= 1.5;
    const struct timing_step now = timed_step(w, &timing_h200, TIMING_FIRST),
                             then = timed_step(w, &fast, TIMING_FIRST);
    expect_near(then.layer.term[TIMING_MEMORY], now.layer.term[TIMING_MEMORY] / 2, 1e-9, "memory");
    assert_true(then.layer.us <= now.layer.us && then.layer.us > now.layer.us / 2);
    const double later = layer_us(w, &late) - now.layer.us;
    const int launches = timing_workloads[w].batch > 4 ? 9 : 5;
    if (!(later > 1 && later <= launches + 1e-9))
      fail_msg("%s: %.2f us for %d launches", timing_workloads[w].name, later, launches);
    assert_true(layer_us(w, &far) > now.layer.us);
  }
  struct timing_machine converts = timing_h200;
  converts.conversions *= 2;
  expect_near(layer_us(bf16, &converts), layer_us(bf16, &timing_h200), 1e-12, "bf16");
  assert_true(layer_us(fp8, &converts) < layer_us(fp8, &timing_h200) - 20);
}

// E4M3 by E4M3 is multiplied twice as fast as what wgmma multiplies in BF16: on a slow device,
// where the matrix unit limits both, products take half the time.
static void test_narrow_activations(void **state) {
  (void)state;
  struct timing_machine slow = timing_h200;
  slow.wgmma /= 100;
  const struct timing_step both =
                               timed_step(timed_workload("activations too"), &slow, TIMING_FIRST),
                           one = timed_step(timed_workload("fp8 KV, wgmma"), &slow, TIMING_FIRST);
  assert_int_equal(timing_limit(&both.layer), TIMING_MATRIX);
  expect_near((both.layer.term[TIMING_MATRIX] + both.layer.term[TIMING_MEMORY]) * 2,
              one.layer.term[TIMING_MATRIX] + one.layer.term[TIMING_MEMORY], 0.02, "half");
}

// What exists because of the measurement, each on its own: without overlap nothing is faster, and a
// step of launches by at most what it requests; residuals cost the matrix unit's two products that
// add, a part in groups; all memory as shared memory makes attention slower where
// wgmma has it so, until it copies; and loads behind copies are a streaming step's, less with fewer
// on their way.
static void test_measured_constants(void **state) {
  (void)state;
  const int one = timed_workload("8B fp8"), many = timed_workload("64, wgmma"),
            registers = timed_workload("64, registers");
  struct timing_machine machine = timing_h200;
  machine.overlap = 0;
  for (int w = 0; w < TIMING_WORKLOADS; w++)
    assert_true(timed_share_by(&machine, w, TIMING_FIRST) <= timed_share(w, TIMING_FIRST));
  assert_true(timed_share_by(&machine, one, TIMING_FIRST) < timed_share(one, TIMING_FIRST) - 0.05);
  machine = timing_h200;
  machine.residual_us = 0.5;
  machine.overlap = 0;
  const unsigned before = TIMING_IMPLEMENTED & ~(unsigned)TIMING_P11;
  expect_near(timed_step(many, &machine, before).layer.term[TIMING_RESIDUAL], 64, 1e-9,
              "one by one");
  expect_near(timed_step(many, &machine, TIMING_IMPLEMENTED).layer.term[TIMING_RESIDUAL], 2, 1e-9,
              "32 at a time");
  expect_near(timed_step(registers, &machine, TIMING_IMPLEMENTED).layer.term[TIMING_RESIDUAL], 8,
              1e-9, "eight at a time");
  assert_true(timed_step(one, &machine, before).layer.term[TIMING_RESIDUAL] == 0);
  machine = timing_h200;
  const unsigned loaded = TIMING_IMPLEMENTED & ~(unsigned)TIMING_P13;
  machine.cached_whole /= 2;
  assert_true(timed_step(many, &machine, loaded).attention.us >
              1.5 * timed_step(many, &timing_h200, loaded).attention.us);
  assert_true(timed_step(registers, &machine, loaded).attention.us ==
              timed_step(registers, &timing_h200, loaded).attention.us);
  assert_true(timed_step(many, &machine, TIMING_IMPLEMENTED).attention.us ==
              timed_step(many, &timing_h200, TIMING_IMPLEMENTED).attention.us);
  machine = timing_h200;
  machine.copied_trip_us = 1.6;
  assert_true(timed_share_by(&machine, one, TIMING_IMPLEMENTED) ==
              timed_share(one, TIMING_IMPLEMENTED));
  const struct decode_request request = timing_request(&timing_workloads[one]);
  double us[3];
  for (int flying = 2; flying <= 6; flying += 2) {
    struct gpu_device device = timing_device;
    struct timing_step step;
    device.tuning = (struct gpu_tuning){.step = STEP_STREAMING, .stream_flying = flying};
    assert_null(timing_of(&request, &device, &machine, TIMING_IMPLEMENTED, &step));
    us[flying / 2 - 1] = timing_step_us(&step);
  }
  assert_true(us[0] < us[1] && us[1] < us[2]);
}

// The point's effect is looked at after these.
static unsigned points_before(unsigned point) {
  return point == TIMING_P6    ? TIMING_P5
         : point == TIMING_P14 ? TIMING_P5 | TIMING_P6
                               : TIMING_FIRST;
}

// No point makes anything slower, except for rounding; each makes something faster, P6 after P5,
// with whose conversions few blocks keep up, P14 after both, and P10 where requests help nothing;
// and nothing unrelated to it changes. P10 takes away requests, which the model believes in. P6s is
// looked at below, and so is P11, which by these constants changes nothing. With P14 fewer blocks
// request something before they wait, half a percent at most.
static void test_points(void **state) {
  (void)state;
  struct timing_machine alone = timing_h200;
  alone.overlap = 0;
  for (int p = 0; p < TIMING_POINTS; p++) {
    const struct timing_machine *machine = 1U << p == TIMING_P10 ? &alone : &timing_h200;
    double most = 0;
    for (int w = 0; w < TIMING_WORKLOADS; w++) {
      const unsigned before = points_before(1U << p);
      const double more =
          timed_share_by(machine, w, before | 1U << p) - timed_share_by(machine, w, before);
      if (more < (1U << p == TIMING_P14 ? -5e-3 : -1e-3))
        fail_msg("%s: %+.4f by %s", timing_workloads[w].name, more, timing_points[p]);
      most = fmax(most, more);
    }
    if (most < 1e-3 && 1U << p != TIMING_P6_SUMS && 1U << p != TIMING_P11)
      fail_msg("%s changes nothing", timing_points[p]);
  }
  const int vector = timed_workload("8B bf16, batch 1"), matrix = timed_workload("fp8 KV, wgmma");
  assert_true(timed_share(vector, TIMING_P5 | TIMING_P6 | TIMING_P7) ==
              timed_share(vector, TIMING_FIRST));
  assert_true(timed_share(matrix, TIMING_P9 | TIMING_STREAMING) ==
              timed_share(matrix, TIMING_FIRST));
  assert_true(timed_share(vector, TIMING_STREAMING) > 0.93);
  assert_true(timed_share(vector, TIMING_P10) < timed_share(vector, TIMING_FIRST) - 0.01);
  assert_true(timed_share(matrix, TIMING_P10) == timed_share(matrix, TIMING_FIRST));
}

// No workload with a target has products whose sums the plan adds up in clusters, but the 8B model
// in fp8 at batch 64 has, if the device holds clusters of eight.
static void test_parts_pay(void **state) {
  (void)state;
  struct timing_workload workload = timing_workloads[timed_workload("8B fp8")];
  struct timing_step in_parts, merged;
  workload.batch = 64;
  workload.matrix = MATRIX_WGMMA;
  assert_null(timing_of_workload(&workload, &timing_h200, TIMING_IMPLEMENTED, &merged));
  assert_null(
      timing_of_workload(&workload, &timing_h200, TIMING_IMPLEMENTED | TIMING_P6_SUMS, &in_parts));
  assert_true(timing_share(&in_parts) > timing_share(&merged) + 1e-3);
}

static struct plan plan_of(int workload) {
  const struct decode_request request = timing_request(&timing_workloads[workload]);
  struct gpu_device device = timing_device;
  device.tuning.matrix = timing_workloads[workload].matrix;
  return planned(&request, &device);
}

// What is said of the kernels as they are is what the plan and the sources have.
static void test_implemented(void **state) {
  (void)state;
  for (int w = 0; w < TIMING_WORKLOADS; w++) {
    const unsigned predicted = TIMING_IMPLEMENTED & ~(unsigned)TIMING_P10;
    assert_true(timed_share(w, predicted) > timed_share(w, TIMING_FIRST) - 1e-3);
  }
  const struct plan wgmma = plan_of(timed_workload("fp8 KV, wgmma"));
  assert_int_equal(wgmma.carveout == 100, (TIMING_IMPLEMENTED & TIMING_P7) != 0);
  assert_int_equal(wgmma.product[PRODUCT_WO].work.blocks != wgmma.product[PRODUCT_WO].work.tiles,
                   (TIMING_IMPLEMENTED & TIMING_P6) != 0);
  assert_int_equal(wgmma.product[PRODUCT_GATE_UP].strips == MAX_WGMMA_STRIPS,
                   (TIMING_IMPLEMENTED & TIMING_P14) != 0);
  assert_int_equal(gpu_plan_copies_cache(&wgmma), (TIMING_IMPLEMENTED & TIMING_P13) != 0);
  assert_int_equal(wgmma.product[PRODUCT_GATE_UP].beside == MAX_WGMMA_BESIDE,
                   (TIMING_IMPLEMENTED & TIMING_P6_CLUSTERS) != 0);
  assert_int_equal(gpu_plan_passed(&wgmma, PRODUCT_DOWN) != PASSED_FLOAT,
                   (TIMING_IMPLEMENTED & TIMING_P8) != 0);
  assert_int_equal(gpu_plan_norm_from(&wgmma, PRODUCT_QKV) != PRODUCTS,
                   (TIMING_IMPLEMENTED & TIMING_P12) != 0);
  const struct plan registers = plan_of(timed_workload("8B bf16, batch 64, registers"));
  assert_int_equal(registers.product[PRODUCT_GATE_UP].shared_bytes > MATRIX_RING,
                   (TIMING_IMPLEMENTED & TIMING_P1_MATRIX) != 0);
  const struct plan vector = plan_of(timed_workload("8B bf16, batch 1"));
  static const enum product_name of_many_rows[] = {PRODUCT_QKV, PRODUCT_GATE_UP, PRODUCT_HEAD};
  for (size_t i = 0; i < sizeof of_many_rows / sizeof of_many_rows[0]; i++)
    assert_int_equal(vector.product[of_many_rows[i]].blocks == 2 * timing_device.described.units,
                     (TIMING_IMPLEMENTED & TIMING_P10) != 0);
}

// The kernels have clusters that share activations only if a device's tuning chooses them, and then
// the model has them as with P6c.
static void test_chosen_clusters(void **state) {
  (void)state;
  static const char *const names[] = {"fp8 KV, wgmma", "8B bf16, batch 64, wgmma"};
  for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
    const int workload = timed_workload(names[i]);
    const struct decode_request request = timing_request(&timing_workloads[workload]);
    struct gpu_device device = timing_device;
    struct timing_step chosen, none;
    device.tuning = (struct gpu_tuning){.matrix = MATRIX_WGMMA, .wgmma_beside = MAX_WGMMA_BESIDE};
    assert_null(timing_of(&request, &device, &timing_h200, TIMING_IMPLEMENTED, &chosen));
    device.tuning.wgmma_beside = 1;
    assert_null(
        timing_of(&request, &device, &timing_h200, TIMING_IMPLEMENTED | TIMING_P6_CLUSTERS, &none));
    const struct timing_step with =
        timed_step(workload, &timing_h200, TIMING_IMPLEMENTED | TIMING_P6_CLUSTERS);
    const struct timing_step without = timed_step(workload, &timing_h200, TIMING_IMPLEMENTED);
    expect_near(timing_step_us(&chosen), timing_step_us(&with), 1e-9, names[i]);
    expect_near(timing_step_us(&none), timing_step_us(&without), 1e-9, names[i]);
    assert_true(timing_step_us(&chosen) < timing_step_us(&none));
  }
}

// A device with fewer multiprocessors; 16 are a part of one, with its part of the memory and of L2.
static struct timing_machine machine_of(int units) {
  struct timing_machine machine = timing_h200;
  const double part = units == 16 ? units / 132.0 : 1;
  machine.read *= part;
  machine.l2 *= part;
  machine.network *= units / 132.0;
  return machine;
}

// wgmma's even division is the plan's only one because it is nowhere slower than that of the first
// kernels. Clusters that add up sums may be: the plan's costs differ from the model's, most where
// the sums are large, beyond batch 64.
static void test_even_division_pays(void **state) {
  (void)state;
  static const struct decode_shape *const shapes[] = {&tinyllama, &llama_8b, &llama_70b};
  static const int units[] = {16, 78, 114, 132};
  static const struct {
    unsigned with, without;
    double loss, beyond; // at most: up to batch 64, and beyond
  } pairs[] = {{TIMING_IMPLEMENTED, TIMING_IMPLEMENTED ^ TIMING_P6, 1e-3, 1e-3},
               {TIMING_IMPLEMENTED | TIMING_P6_SUMS, TIMING_IMPLEMENTED, 0.014, 0.027}};
  for (int c = 0; c < 3 * 4 * 2; c++)
    for (int batch = 16; batch <= 256; batch *= 2) {
      struct gpu_device device = timing_device;
      const struct decode_request request = {.shape = *shapes[c % 3],
                                             .types = timing_workloads[c / 12].types,
                                             .batch = batch,
                                             .context = 512};
      struct timing_step with, without;
      device.described.units = units[c / 3 % 4];
      device.tuning.matrix = MATRIX_WGMMA;
      const struct timing_machine machine = machine_of(device.described.units);
      for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
        const double most = 1 + (batch > 64 ? pairs[i].beyond : pairs[i].loss);
        if (timing_of(&request, &device, &machine, pairs[i].with, &with))
          continue; // slices
        assert_null(timing_of(&request, &device, &machine, pairs[i].without, &without));
        if (timing_step_us(&with) > timing_step_us(&without) * most)
          fail_msg("case %d, batch %d: %.1f us, not %.1f: %zu", c, batch, timing_step_us(&with),
                   timing_step_us(&without), i);
      }
    }
}

static void test_windows(void **state) {
  (void)state;
  expect_near(timing_windows(1, 2, 3), 0.2, 1e-12, "one warp");
  // Two warps: the second finds the first there for 2 of 5, and takes 2 * 1.4.
  expect_near(timing_windows(2, 2, 3), 2 / 5.8, 1e-12, "two warps");
  expect_near(timing_windows(1000, 2, 3), 0.5, 1e-3, "as many as there is use for");
}

static void test_unknown(void **state) {
  (void)state;
  static const struct decode_shape experts = {.layers = 2,
                                              .hidden = 512,
                                              .heads = 4,
                                              .kv_heads = 4,
                                              .head_dim = 128,
                                              .vocab = 512,
                                              .norm_epsilon = 1e-5f,
                                              .rope_theta = 1e4f,
                                              .experts = {.count = 8, .chosen = 2, .hidden = 256}};
  struct decode_request request = {
      .shape = experts, .types = timing_workloads[0].types, .batch = 1, .context = 64};
  struct gpu_device device = timing_device;
  struct timing_step step;
  expect_why("experts", timing_of(&request, &device, &timing_h200, 0, &step), "no experts");
  request.shape = llama_8b;
  request.types.weights = ELEMENT_MXFP4;
  expect_why("units", timing_of(&request, &device, &timing_h200, 0, &step), "no weights but");
  request.types = timing_workloads[0].types;
  strcpy(device.architecture, "gfx942");
  expect_why("AMD", timing_of(&request, &device, &timing_h200, 0, &step), "NVIDIA");
  strcpy(device.architecture, "sm_90");
  device.tuning = (struct gpu_tuning){.matrix = MATRIX_WGMMA};
  request.types = timing_workloads[1].types;
  request.batch = 256;
  expect_why("slices", timing_of(&request, &device, &timing_h200, 0, &step), "more than once");
  request.batch = 0;
  expect_why("no batch", timing_of(&request, &device, &timing_h200, 0, &step), "batches of");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_figures),
      cmocka_unit_test(test_targets),
      cmocka_unit_test(test_sums),
      cmocka_unit_test(test_constants),
      cmocka_unit_test(test_narrow_activations),
      cmocka_unit_test(test_measured_constants),
      cmocka_unit_test(test_points),
      cmocka_unit_test(test_parts_pay),
      cmocka_unit_test(test_implemented),
      cmocka_unit_test(test_chosen_clusters),
      cmocka_unit_test(test_even_division_pays),
      cmocka_unit_test(test_windows),
      cmocka_unit_test(test_unknown),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
