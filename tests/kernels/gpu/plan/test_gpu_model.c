// What build/bench/gpu_model prints, of the timing model and for a record, and what
// docs/gpu-model.md shows of both.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/source_file.h"
#include "model/records/measurement_file.h"
#include "tests/support/kernels/shapes.h"
#include "tests/support/kernels/timed.h"
#include "tests/support/place_of_work.h"

#define RECORD "data/measured/tinyllama-1.1b-decode-67500151.json"
#define MODEL  "build/bench/gpu_model"

static const char *printed(struct arena *arena, const char *arguments, int *status) {
  char text[8192];
  FILE *program = popen(arena_printf(arena, MODEL " %s 2>&1", arguments), "r");
  assert_non_null(program);
  const size_t length = fread(text, 1, sizeof text - 1, program);
  text[length] = '\0';
  *status = WEXITSTATUS(pclose(program));
  return arena_copy(arena, text);
}

// Records of a CPU run turned into records of a GPU: the 8B at batch 1, and with another tuning at
// 64.
static struct measurement_record *made_record(struct fixture *fixture) {
  struct measurement_record *record =
      measurement_read(RECORD, &fixture->arena, &fixture->diagnostics);
  expect_error(fixture, RECORD, "");
  record->device.backend = "cuda";
  record->device.name = "NVIDIA H200";
  record->device.runtime = "CUDA 13.0, driver for CUDA 13.0, sm_90, ECC on, matrix=wgmma";
  record->device.units = 132;
  record->device.cache_bytes = UINT64_C(60) << 20;
  record->count = 2;
  for (size_t i = 0; i < record->count; i++) {
    struct measurement *result = &record->results[i];
    result->model = (struct measurement_shape){.id = "llama-3.1-8b",
                                               .layers = 32,
                                               .hidden = 4096,
                                               .heads = 32,
                                               .kv_heads = 8,
                                               .head_dim = 128,
                                               .ffn_hidden = 14336,
                                               .vocab = 128256,
                                               .norm_epsilon = 1e-5,
                                               .rope_theta = 5e5};
    result->precision = "bf16";
    result->types = (struct measurement_types){"bf16", "bf16", "bf16", "bf16", "f32", ""};
    result->layers_measured = 32;
    result->batch = i == 0 ? 1 : 64;
    result->context = 512;
    result->layer_seconds = 150e-6;
    result->step_seconds = 32 * result->layer_seconds;
    result->sample_count = 0; // those of the CPU
    result->tokens_per_s = result->ci95_low = result->ci95_high =
        result->batch / result->step_seconds;
    result->p5_s = result->p95_s = result->step_seconds;
    result->share_p5 = result->share_p95 = result->share_ci95_low = result->share_ci95_high = 0.7;
    result->read_bandwidth = 4.5e12;
    result->read_bandwidth_share = 0.7;
  }
  return record;
}

static void expect_line(const char *text, const char *name, double measured, double predicted) {
  char line[160];
  snprintf(line, sizeof line, "%8.1f %10.1f %9.2f", measured, predicted, measured / predicted);
  const char *at = strstr(text, name);
  if (!at || !strstr(text, line))
    fail_msg("no '%s ... %s' in\n%s", line, name, text);
}

static void test_records(void **state) {
  (void)state;
  struct place_of_work work;
  int status;
  place_of_work_start(&work);
  struct fixture *fixture = &work.fixture;
  struct measurement_record *record = made_record(fixture);
  assert_int_equal(measurement_write(record, work.path, &fixture->arena, &fixture->diagnostics), 0);
  const char *text = printed(&fixture->arena, work.path, &status);
  if (status)
    fail_msg("%s", text);
  struct timing_machine machine = timing_h200_measured;
  machine.read = 4.5e6; // of the record
  const struct timing_step one =
      timed_step(timed_workload("8B bf16, batch 1"), &machine, TIMING_IMPLEMENTED);
  const struct timing_step many =
      timed_step(timed_workload("64, wgmma"), &machine, TIMING_IMPLEMENTED);
  expect_line(text, "llama-3.1-8b bf16, batch 1, context 512", 150, timing_step_us(&one) / 32);
  expect_line(text, "llama-3.1-8b bf16, batch 64, context 512", 150, timing_step_us(&many) / 32);
  record->device.name = "NVIDIA B200";
  assert_int_equal(measurement_write(record, work.path, &fixture->arena, &fixture->diagnostics), 0);
  expect_fragment(printed(&fixture->arena, work.path, &status), "nothing but H100 and H200");
  assert_int_equal(status, 1);
  place_of_work_end(&work);
}

// docs/gpu-model.md shows what the program prints.
static void test_docs(void **state) {
  struct fixture *fixture = *state;
  struct arena *arena = &fixture->arena;
  static const char *const shown[] = {"", " --points", " --before"};
  const struct source *page = source_read("docs/gpu-model.md", arena, &fixture->diagnostics);
  assert_non_null(page);
  for (size_t i = 0; i < sizeof shown / sizeof shown[0]; i++) {
    int status;
    const char *text = printed(arena, shown[i], &status);
    expect_fragment(page->text, arena_printf(arena, "$ " MODEL "%s\n%s```", shown[i], text));
  }
}

// A row of the table of docs/gpu-model.md: what was measured, in us per layer, and its share of the
// bandwidth then.
struct row {
  unsigned points;
  const char *kernels, *workload;
  const struct decode_shape *shape;
  const struct decode_types *types;
  int batch, context;
  enum gpu_tuning_matrix matrix;
  double measured_us;
  const char *share;
  bool is_close; // the prediction with measured constants is
};

#define NOW (TIMING_IMPLEMENTED & ~(unsigned)(TIMING_P11 | TIMING_P12 | TIMING_P13 | TIMING_P14))

static const struct row rows[] = {
#define BF16 &timing_workloads[0].types
#define FP8  &timing_workloads[1].types
#define KV   &timing_workloads[4].types
#define ROW(points, kernels, workload, shape, types, batch, context, matrix, us, share, close)     \
  { points, kernels, workload, &(shape), types, batch, context, MATRIX_##matrix, us, share, close }
    ROW(NOW, "without P11 to P14", "8B bf16, batch 1", llama_8b, BF16, 1, 512, WGMMA, 121.8,
        "0.846", true),
    ROW(NOW, "without P11 to P14", "8B fp8, batch 1", llama_8b, FP8, 1, 512, WGMMA, 83.5, "0.658",
        true),
    ROW(NOW, "without P11 to P14", "8B fp8, batch 2", llama_8b, FP8, 2, 512, WGMMA, 92.9, "0.595",
        true),
    ROW(NOW, "without P11 to P14", "8B fp8, batch 4", llama_8b, FP8, 4, 512, WGMMA, 111.5, "0.499",
        true),
    ROW(NOW, "without P11 to P14", "8B fp8, batch 16", llama_8b, FP8, 16, 512, WGMMA, 126.8,
        "0.482", true),
    ROW(NOW, "without P11 to P14", "8B fp8, batch 64", llama_8b, FP8, 64, 512, WGMMA, 236.1,
        "0.354", true),
    ROW(NOW, "without P11 to P14", "8B bf16, batch 64", llama_8b, BF16, 64, 512, WGMMA, 266.5,
        "0.490", true),
    ROW(NOW, "without P11 to P14", "70B fp8, batch 1", llama_70b, FP8, 1, 512, WGMMA, 223.1,
        "0.834", true),
    ROW(NOW, "without P11 to P14", "70B fp8, batch 64, context 4096, fp8 KV", llama_70b, KV, 64,
        4096, WGMMA, 547.2, "0.563", true),
    ROW(NOW, "without P11 to P14", "8B fp8, batch 64, registers", llama_8b, FP8, 64, 512, REGISTERS,
        290.6, "0.291", false),
    ROW(NOW, "without P11 to P14", "8B bf16, batch 64, registers", llama_8b, BF16, 64, 512,
        REGISTERS, 313.7, "0.416", false),
    ROW(NOW, "without P11 to P14", "70B fp8, batch 64, context 4096, fp8 KV, registers", llama_70b,
        KV, 64, 4096, REGISTERS, 701.9, "0.435", false),
    ROW(NOW | TIMING_P6_CLUSTERS, "P6c", "8B fp8, batch 64", llama_8b, FP8, 64, 512, WGMMA, 264.0,
        "0.317", false),
    ROW(NOW | TIMING_P6_CLUSTERS, "P6c", "8B bf16, batch 64", llama_8b, BF16, 64, 512, WGMMA, 338.4,
        "0.387", false),
    ROW(NOW | TIMING_P6_CLUSTERS, "P6c", "70B fp8, batch 64, context 4096, fp8 KV", llama_70b, KV,
        64, 4096, WGMMA, 674.6, "0.457", false),
};

static double row_us(const struct row *row, const struct timing_machine *machine) {
  const struct decode_request request = {
      .shape = *row->shape, .types = *row->types, .batch = row->batch, .context = row->context};
  struct gpu_device device = timing_device;
  struct timing_step step;
  device.tuning.matrix = row->matrix;
  assert_null(timing_of(&request, &device, machine, row->points, &step));
  return timing_step_us(&step) / step.layers;
}

// The table sets beside measurements what the model predicts for the same kernels, by both sets of
// constants; by those measured within 15 % for the kernels of the default.
static void test_table(void **state) {
  struct fixture *fixture = *state;
  const struct source *page =
      source_read("docs/gpu-model.md", &fixture->arena, &fixture->diagnostics);
  assert_non_null(page);
  for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
    const double after_us = row_us(&rows[i], &timing_h200_measured);
    expect_fragment(page->text,
                    arena_printf(&fixture->arena, "| %s | %s | %.1f | %.1f | %.1f | %s |\n",
                                 rows[i].kernels, rows[i].workload, row_us(&rows[i], &timing_h200),
                                 after_us, rows[i].measured_us, rows[i].share));
    if (rows[i].is_close)
      expect_near(after_us, rows[i].measured_us, 0.15, rows[i].workload);
  }
}

static void test_calls(void **state) {
  struct arena *arena = &((struct fixture *)*state)->arena;
  int status;
  const int fp8 = timed_workload("fp8 KV, registers");
  expect_fragment(printed(arena, "", &status),
                  arena_printf(arena, " %.3f  ", timed_share_measured(fp8, TIMING_IMPLEMENTED)));
  expect_fragment(printed(arena, "--before", &status),
                  arena_printf(arena, " %.3f  ", timed_share(fp8, TIMING_IMPLEMENTED)));
  expect_fragment(printed(arena, "--points", &status),
                  arena_printf(arena, "\n%.3f %.3f  ", timed_share_measured(fp8, TIMING_FIRST),
                               timed_share_measured(fp8, TIMING_IMPLEMENTED)));
  expect_fragment(printed(arena, "--before --points", &status),
                  arena_printf(arena, "\n%.3f %.3f  ", timed_share(fp8, TIMING_FIRST),
                               timed_share(fp8, TIMING_IMPLEMENTED)));
  expect_fragment(printed(arena, "--with P6c,streaming", &status), "barriers");
  assert_int_equal(status, 0);
  expect_fragment(printed(arena, "--with P15", &status), "POINT: P1m to P14");
  assert_int_equal(status, 2);
  printed(arena, "--point", &status);
  assert_int_equal(status, 2);
  expect_fragment(printed(arena, "none.json", &status), "none.json");
  assert_int_equal(status, 1);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(test_records),
      FIXTURE_TEST(test_docs),
      FIXTURE_TEST(test_table),
      FIXTURE_TEST(test_calls),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
