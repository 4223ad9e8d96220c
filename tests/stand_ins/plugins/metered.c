// A GPU with an energy meter for tests that start the probe the way users do: it decodes with the
// oracle, a step per millisecond, and draws power through the fake libnvidia-ml as a load does. If
// its power limit is lower, it is slower by the square root of the ratio. The name is a real one,
// so that the catalogue knows it; nothing else is.
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/support/kernels/oracle.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { MOST = 4 }; // METERED_DEVICES: in one machine; 1 by default. METERED_OTHER: another's index

static const char *const addresses[MOST] = {"0000:17:00.0", "0000:18:00.0", "0000:19:00.0",
                                            "0000:1a:00.0"};
// A prompt's position takes a fraction of a step, so that prompts are short.
static const double step_s = 0.001, position_s = 0.0001, bytes_per_s = 4.5e12;
// It draws less than load_w at first, and warms up so slowly that this still shows in the meter's
// window, however long a busy machine took to get there.
static const double idle_w = 90, load_w = 420, warming_w = 80, warming_s = 20;
static const double tick_s = 0.02;

struct decode_state {
  struct decode_request request;
  struct reference *reference;
};

// Under load since its first step: pauses that a busy machine causes are not idle time.
static atomic_bool busy;
// The fraction of a load's power that it draws at its power limit.
static _Atomic double held_share = 1;

static double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static void wait_s(double seconds) {
  const struct timespec wait = {(time_t)seconds, (long)(1e9 * fmod(seconds, 1))};
  nanosleep(&wait, NULL);
}

// ---- watts

static void *draw(void *argument) {
  struct fake_nvml *nvml = argument;
  double joules = 1e6, before_s = now_s(), began_s = before_s;
  for (;;) {
    wait_s(tick_s);
    const double at_s = now_s();
    if (!atomic_load(&busy))
      began_s = at_s;
    const double busy_s = at_s - began_s, cold = exp(-busy_s / warming_s);
    const double limit_w = 1e-3 * nvml->gpus[0].limit_mw; // all devices have the same limit
    atomic_store(&held_share, limit_w > 0 && limit_w < load_w ? limit_w / load_w : 1);
    const double full_w = load_w - warming_w * cold + 6 * sin(9 * at_s);
    const double watts = busy_s > 0 ? full_w * atomic_load(&held_share) : idle_w + sin(3 * at_s);
    joules += watts * (at_s - before_s);
    before_s = at_s;
    for (unsigned i = 0; i < nvml->count; i++) {
      nvml->gpus[i].power_w = watts;
      nvml->gpus[i].energy_mj = (unsigned long long)(1000 * joules);
    }
  }
  return NULL;
}

static int device_count(void) {
  const char *text = getenv("METERED_DEVICES");
  const int count = text ? atoi(text) : 1;
  return count > 0 && count <= MOST ? count : 1;
}

// Without the library there are no watts, as on a machine without a driver.
static void plug_in(void) {
  static bool plugged;
  void *library = plugged ? NULL : dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  struct fake_nvml *nvml = library ? dlsym(library, FAKE_NVML) : NULL;
  pthread_t thread;
  plugged = true;
  if (!nvml)
    return;
  nvml->count = (unsigned)device_count();
  for (unsigned i = 0; i < nvml->count; i++) {
    nvml->gpus[i].pci = addresses[i];
    nvml->gpus[i].core_mhz = 1980;
    nvml->gpus[i].core_c = 51;
  }
  if (pthread_create(&thread, NULL, draw, nvml) == 0)
    pthread_detach(thread);
}

// ---- the backend

static enum decode_status describe(int device, struct decode_device *out) {
  if (device < 0 || device >= device_count())
    return DECODE_NO_DEVICE;
  plug_in();
  *out = (struct decode_device){.name = "NVIDIA H200",
                                .runtime = "a device of the tests",
                                .memory_bytes = 150000000000,
                                .memory_free_bytes = 149000000000,
                                .cache_bytes = 50000000,
                                .units = 132};
  strcpy(out->pci, addresses[device]);
  const char *other = getenv("METERED_OTHER");
  if (other && device == atoi(other))
    strcpy(out->name, "NVIDIA L40S");
  return DECODE_OK;
}

// The bytes that it could read in a step, less a tenth.
static enum decode_status cost(int device, const struct decode_request *request,
                               struct decode_cost *out) {
  (void)device;
  const uint64_t bytes = (uint64_t)(0.9 * step_s * bytes_per_s);
  *out = (struct decode_cost){.weight_bytes = bytes,
                              .kv_bytes = 1000,
                              .operations = 2 * bytes,
                              .resident_bytes = 2 * bytes};
  return request->types.weights == ELEMENT_BF16 ? DECODE_OK : DECODE_UNSUPPORTED;
}

static struct decode_state *create(int device, const struct decode_request *request,
                                   enum decode_status *status) {
  (void)device;
  struct decode_state *state = calloc(1, sizeof *state);
  state->request = *request;
  state->reference = reference_create(request, status);
  return state;
}

static void destroy(struct decode_state *state) {
  reference_destroy(state->reference);
  free(state);
}

static enum decode_status run(struct decode_state *state, int steps) {
  atomic_store(&busy, true);
  oracle_step(state->reference);
  wait_s(steps * step_s / sqrt(atomic_load(&held_share)));
  return DECODE_OK;
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  oracle_tokens(state->reference, &state->request, out);
  return DECODE_OK;
}

static enum decode_status logits(struct decode_state *state, float *out) {
  oracle_logits(state->reference, &state->request, getenv("PERTOKEN_TEST_WRONG") ? 1.1F : 1, out);
  return DECODE_OK;
}

static enum decode_status set_tokens(struct decode_state *state, const int *in) {
  return reference_set_tokens(state->reference, in) ? DECODE_FAILED : DECODE_OK;
}

static enum decode_status prefill(struct decode_state *state, const struct decode_prompt *prompt) {
  if (prompt->beside && getenv("METERED_ALONE"))
    return DECODE_UNSUPPORTED;
  struct decode_prompt taken = *prompt;
  taken.beside &= !getenv("METERED_LEAVES_OUT");
  if (prompt->count > 24 && getenv("METERED_LONG_CHUNKS_LATE"))
    taken.first++; // and everything sees the slot that was not written
  atomic_store(&busy, true);
  if (reference_prefill(state->reference, &taken))
    return DECODE_FAILED;
  reference_set_tokens(state->reference, reference_tokens(state->reference));
  wait_s(prompt->count * position_s);
  return DECODE_OK;
}

static enum decode_status set_position(struct decode_state *state, int position) {
  return reference_set_position(state->reference, position) ? DECODE_FAILED : DECODE_OK;
}

static const char *prefill_library(const struct decode_state *state) {
  (void)state;
  return "own tiles: no library is used on GPUs";
}

static enum decode_status read_memory(int device, uint64_t bytes, int threads, int variant,
                                      double *seconds) {
  (void)device, (void)threads;
  *seconds = (double)bytes / bytes_per_s;
  return variant ? DECODE_UNSUPPORTED : DECODE_OK;
}

static void calibration_end(void) {}

static const char *error(void) {
  return "";
}

decode_plugin pertoken_backend;

const struct decode_backend *pertoken_backend(void) {
  static const struct decode_backend backend = {.abi = DECODE_ABI,
                                                .name = "cuda",
                                                .build = "test",
                                                .device_count = device_count,
                                                .describe = describe,
                                                .cost = cost,
                                                .create = create,
                                                .destroy = destroy,
                                                .run = run,
                                                .tokens = tokens,
                                                .logits = logits,
                                                .set_tokens = set_tokens,
                                                .read_memory = read_memory,
                                                .matrix_rate = oracle_matrix_rate,
                                                .calibration_end = calibration_end,
                                                .prefill = prefill,
                                                .set_position = set_position,
                                                .prefill_library = prefill_library,
                                                .error = error};
  return &backend;
}
