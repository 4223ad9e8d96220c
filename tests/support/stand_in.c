#include "tests/support/stand_in.h"
#include "base/clock.h"

#include "probe/measure/calibration.h"
#include "probe/measure/result.h"
#include "tests/support/kernels/oracle.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct stand_in stand_in;

volatile sig_atomic_t stand_in_stop;

struct decode_state {
  struct decode_request request;
  const struct stand_in_variant *variant; // NULL: the own choice
  struct reference *reference;
};

static double fake_now(void *context) {
  (void)context;
  return stand_in.now_s;
}

static void fake_sleep(void *context, double seconds) {
  (void)context;
  stand_in.now_s += seconds;
}

const struct clock stand_in_clock = {fake_now, fake_sleep, NULL};

static int fake_count(void) {
  return 1;
}

static enum decode_status fake_describe(int device, struct decode_device *out) {
  if (device != 0)
    return DECODE_NO_DEVICE;
  *out = (struct decode_device){.name = "fake",
                                .runtime = "test",
                                .memory_bytes = stand_in.memory_bytes,
                                .memory_free_bytes = stand_in.memory_bytes,
                                .cache_bytes = stand_in.cache_bytes,
                                .units = 1};
  return DECODE_OK;
}

// A gigabyte per layer, whatever the shape.
static enum decode_status fake_cost(int device, const struct decode_request *request,
                                    struct decode_cost *out) {
  (void)device;
  if (request->types.weights == ELEMENT_E4M3)
    return DECODE_UNSUPPORTED;
  const uint64_t bytes = UINT64_C(1000000000) * (uint64_t)request->shape.layers;
  *out = (struct decode_cost){
      .weight_bytes = bytes, .kv_bytes = 1000, .operations = 2 * bytes, .resident_bytes = bytes};
  return DECODE_OK;
}

enum { VARIANTS = sizeof stand_in.variants / sizeof stand_in.variants[0] };

static const char *fake_variant(int device, const struct decode_request *request, int number) {
  (void)device, (void)request;
  return number < VARIANTS ? stand_in.variants[number].name : NULL;
}

static const struct stand_in_variant *variant_of(const struct decode_request *request) {
  for (int i = 0; i < VARIANTS && request->variant; i++)
    if (stand_in.variants[i].name && !strcmp(stand_in.variants[i].name, request->variant))
      return &stand_in.variants[i];
  return NULL;
}

static struct decode_state *fake_create(int device, const struct decode_request *request,
                                        enum decode_status *status) {
  (void)device;
  const struct stand_in_variant *variant = variant_of(request);
  const bool is_unknown = request->variant && *request->variant && !variant;
  if (is_unknown || (variant && variant->refused)) {
    *status = DECODE_UNSUPPORTED;
    return NULL;
  }
  struct decode_state *state = calloc(1, sizeof *state);
  state->request = *request;
  state->variant = variant;
  state->reference = reference_create(request, status);
  stand_in.states++;
  return state;
}

static void fake_destroy(struct decode_state *state) {
  reference_destroy(state->reference);
  free(state);
  stand_in.states--;
}

// Back and forth in three seconds.
static double swayed(void) {
  return 1 + stand_in.sway * (1 + sin(2.1 * stand_in.now_s)) / 2;
}

// In (0, 1): splitmix64.
static double draw(void) {
  uint64_t z = stand_in.seed += UINT64_C(0x9E3779B97F4A7C15);
  z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
  z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
  return ((double)((z ^ (z >> 31)) >> 11) + 0.5) * 0x1p-53;
}

// What disturbs a call lasts into the next one: AR(1), with a coefficient of 0.7.
static double disturbed(void) {
  static const double rho = 0.7;
  const double radius = sqrt(-2 * log(draw())), normal = radius * cos(2 * M_PI * draw());
  stand_in.disturbed =
      rho * stand_in.disturbed + sqrt(1 - rho * rho) * stand_in.disturbance * normal;
  return exp(stand_in.disturbed);
}

static enum decode_status fake_run(struct decode_state *state, int steps) {
  oracle_step(state->reference);
  stand_in.runs++;
  const double slower = 1 + stand_in.jitter * (stand_in.runs % 2) + stand_in.drift * stand_in.runs;
  stand_in.now_s += steps * slower * swayed() * disturbed() *
                    (state->variant ? state->variant->slower : 1) *
                    (stand_in.step_s + stand_in.layer_s * state->request.shape.layers);
  if (stand_in.stop_after && stand_in.runs >= stand_in.stop_after)
    stand_in_stop = SIGINT;
  return stand_in.fails ? DECODE_FAILED : DECODE_OK;
}

static enum decode_status fake_tokens(struct decode_state *state, int *out) {
  oracle_tokens(state->reference, &state->request, out);
  return DECODE_OK;
}

static enum decode_status fake_logits(struct decode_state *state, float *out) {
  const bool wrong = stand_in.wrong || (state->variant && state->variant->wrong);
  oracle_logits(state->reference, &state->request, wrong ? 1.1f : 1, out);
  return DECODE_OK;
}

static enum decode_status fake_set_tokens(struct decode_state *state, const int *in) {
  return reference_set_tokens(state->reference, in) ? DECODE_FAILED : DECODE_OK;
}

// Three read kernels, the second of which is the best.
static enum decode_status fake_read(int device, uint64_t bytes, int threads, int variant,
                                    double *seconds) {
  static const double speeds[] = {0.8, 1, 0.9};
  (void)device, (void)threads;
  if (variant >= 3)
    return DECODE_UNSUPPORTED;
  stand_in.buffers = 1;
  stand_in.reads++;
  if (stand_in.reads == stand_in.stop_after_reads)
    stand_in_stop = SIGINT;
  *seconds = stand_in.read_overhead_s +
             (double)bytes / stand_in.bytes_per_s / speeds[variant] *
                 (1 + stand_in.read_drift * stand_in.now_s) * swayed() /
                 (1 + (bytes > 2 * CALIBRATION_BYTES ? stand_in.large_gain : 0));
  stand_in.now_s += *seconds;
  return DECODE_OK;
}

static void fake_calibration_end(void) {
  stand_in.buffers = 0;
}

static const char *fake_error(void) {
  return stand_in.fails ? "the fan fell off" : "";
}

static void fake_step_form(const struct decode_state *state, struct decode_step_form *out) {
  (void)state;
  snprintf(out->form, sizeof out->form, "%s",
           stand_in.fallback ? "single launches" : "recorded graph");
  snprintf(out->fallback, sizeof out->fallback, "%s", stand_in.fallback ? stand_in.fallback : "");
  snprintf(out->arithmetic, sizeof out->arithmetic, "native bf16");
}

const struct decode_backend stand_in_backend = {
    .abi = DECODE_ABI,
    .name = "fake",
    .build = "test",
    .device_count = fake_count,
    .describe = fake_describe,
    .cost = fake_cost,
    .create = fake_create,
    .destroy = fake_destroy,
    .run = fake_run,
    .tokens = fake_tokens,
    .logits = fake_logits,
    .set_tokens = fake_set_tokens,
    .read_memory = fake_read,
    .matrix_rate = oracle_matrix_rate,
    .calibration_end = fake_calibration_end,
    .error = fake_error,
    .step_form = fake_step_form,
    .variant = fake_variant,
};

void scene_start(struct scene *scene) {
  memset(&stand_in, 0, sizeof stand_in);
  stand_in.step_s = 0.002;
  stand_in.layer_s = 0.001;
  stand_in.bytes_per_s = 1e12;
  stand_in.memory_bytes = UINT64_C(64) << 30;
  stand_in.cache_bytes = 100000000;
  stand_in_stop = 0;
  *scene = (struct scene){.meter = {.name = "none: a test", .why = ""}};
  fixture_start(&scene->fixture);
  assert_int_equal(device_find("fake", (const struct decode_backend *[]){&stand_in_backend, NULL},
                               &scene->device, &scene->fixture.diagnostics),
                   0);
  scene->protocol = (struct protocol){
      .device = &scene->device,
      .clock = &stand_in_clock,
      .meter = &scene->meter,
      .idle_power_w = NAN,
      .time_s = 5,
      .energy_s = PROTOCOL_ENERGY_S,
      .stop = &stand_in_stop,
      .arena = &scene->fixture.arena,
      .diagnostics = &scene->fixture.diagnostics,
  };
  scene->trial = (struct trial){
      .model = {"tiny", 8, 32, 4, 2, 8, 48, 64, 1e-5, 10000},
      .precision = "bf16",
      .types = {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32},
      .batch = 3,
      .context = 12,
      .seed = 7,
      .layers = {8},
      .layer_count = 1,
  };
}

void scene_end(struct scene *scene) {
  assert_int_equal(stand_in.states, 0);
  assert_int_equal(stand_in.buffers, 0);
  fixture_end(&scene->fixture);
}

struct measurement scene_measured(struct scene *scene) {
  struct measurement result;
  const enum protocol_outcome outcome = result_measure(&scene->protocol, &scene->trial, &result);
  expect_error(&scene->fixture, "measuring", "");
  assert_int_equal(outcome, PROTOCOL_DONE);
  return result;
}
