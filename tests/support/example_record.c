#include "tests/support/example_record.h"

#include <math.h>
#include <stdio.h>

#include "tests/support/fixture.h"

static const double samples[] = {0.1, 0.1 + 1e-17, 1.0 / 3, 0.125};
static const double shares[] = {0.93, 0.9300000000000001, 0.5, 0.94};

static const struct measurement_throttle throttles[] = {{"software power cap", 0.4},
                                                        {"hardware slowdown", 5.5}};

#define WATCHED                                                                                    \
  {                                                                                                \
    .source = "nvml", .looks = 22, .window_s = 5.5, .core_clock_hz = {1.7e9, 1.9e9, 1.98e9},       \
    .memory_clock_hz = {NAN, NAN, NAN}, .core_temperature_c = {-3, 61, 64},                        \
    .memory_temperature_c = {70, 70, 70}, .throttles = throttles, .throttle_count = 2,             \
    .links = "PCIe 5 x16, 18 NVLinks"                                                              \
  }

static const struct measurement_member members[] = {
    {0,
     "NVIDIA H200",
     "GPU-0",
     "0000:17:00.0",
     {"580.95.05", "96", "enabled", "whole", 700, 700, 0},
     WATCHED},
    {3, "NVIDIA H200", "GPU-3", "0000:2a:00.0", {"", "", "", "", 650, NAN, NAN}, WATCHED}};

static const double prompt_s[] = {4, 4.125, 4.25};
static const struct measurement_prefill prompts[] = {{512, 256, 4.125, NAN, NAN, 512 / 4.125,
                                                      2.5e11, 0.75, NAN, NAN, 125, "oneDNN 2.6.3",
                                                      prompt_s, 3}};
static const struct measurement_variant variants[] = {{"", NAN, "no memory"},
                                                      {"step=launches", 0.1, ""}};
static const struct measurement_mixed mixed[] = {{3, 128, 0.25, 1, 1.125, 1.25 / 1.125 - 1}};

const struct measurement example_measurement = {
    .prefills = prompts,
    .prefill_count = 1,
    .mixed = mixed,
    .mixed_count = 1,
    .model = {.id = "tinyllama-1.1b",
              .layers = 22,
              .hidden = 2048,
              .heads = 32,
              .kv_heads = 4,
              .head_dim = 64,
              .ffn_hidden = 5632,
              .vocab = 32000,
              .norm_epsilon = 1e-5,
              .rope_theta = 10000},
    .precision = "bf16",
    .types = {"bf16", "bf16", "bf16", "bf16", "f32", ""},
    .routing = {"", NAN, NAN, NAN, 0},
    .together = {8, 9.5, 9.25, 10, 78, 3200, NAN, 5.5, WATCHED, 4100},
    .shard = {0, NAN, NAN, ""},
    .tensor_parallel = {2, members, 2, "NCCL 2.28.9", 12.5e-6, 32768},
    .batch = 4,
    .context = 512,
    .whole_model = true,
    .layers_measured = 22,
    .slice_error_s = NAN,
    .tokens_per_s = 4 / 0.1,
    .ci95_low = 39.9,
    .ci95_high = 40.1,
    .step_seconds = 0.1,
    .p5_s = 0.099,
    .p95_s = 0.11,
    .layer_seconds = 0.1 / 22,
    .samples = samples,
    .sample_count = 4,
    .shares = shares,
    .share_count = 4,
    .bytes_per_step = 2123456789,
    .operations_per_step = 9007199254740993,
    .resident_bytes = 2200000000,
    .cost_formula = "counted from the shapes",
    .read_bandwidth = 2.5e10,
    .read_bandwidth_after = 2.5e10,
    .read_bandwidth_share = 0.93,
    .share_p5 = 0.9,
    .share_p95 = 0.95,
    .share_ci95_low = 0.92,
    .share_ci95_high = 0.94,
    .energy_meter = "none: absent",
    .idle_power_w = NAN,
    .load_power_w = NAN,
    .sampled_power_w = NAN,
    .joules_per_token = NAN,
    .energy_j = NAN,
    .energy_window_s = NAN,
    .power_slope_w_per_s = NAN,
    .beside = {NAN, NAN, "rapl-powercap, 1 CPU package", 25, 30.5, "typed: PDU A3", 512},
    .telemetry = WATCHED,
    .step_form = {"single launches", "recording failed", "native bf16", "step=launches"},
    .variants = variants,
    .variant_count = 2,
    .grade = GRADE_MEASURED,
    .verification = {"two layers", 1e-3, 1e-2, "ab"},
    .seed = INT64_MAX,
    .started = "2026-11-21T09:30:00Z",
    .finished = "2026-11-21T09:31:00Z",
};

struct measurement_record *example_record(struct arena *arena, size_t count) {
  struct measurement_record *record = arena_alloc(arena, sizeof *record);
  record->device = (struct measurement_device){
      "cpu",        0, "Xeon \xc3\xbc \"2\" cores", "", "", "AVX-512", 1ull << 34, 105ull << 20,
      320ull << 20, 2};
  record->environment = (struct measurement_environment){
      "node-17", "Linux 6.1",
      "avx2",    "",
      0.25,      2,
      "0.1.0",   "00ff",
      "",        {"580.95.05", "96.00.A5.00.01", "enabled", "whole", 650, 700, NAN}};
  record->started = record->finished = "2026-11-21T09:30:00Z";
  record->results = arena_array(arena, count, sizeof *record->results);
  record->count = count;
  for (size_t i = 0; i < count; i++)
    record->results[i] = example_measurement;
  return record;
}

char *example_text(const char *path, struct arena *arena) {
  char *text = arena_alloc(arena, 1 << 16);
  FILE *file = fopen(path, "r");
  assert_non_null(file);
  text[fread(text, 1, (1 << 16) - 1, file)] = 0;
  fclose(file);
  return text;
}
