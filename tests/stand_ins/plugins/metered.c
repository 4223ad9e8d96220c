// A GPU of the tests with an energy meter, for the probe as its users start it: it decodes with the
// oracle, a step a millisecond, and draws through the fake libnvidia-ml what a load draws. The name
// is a real one's so that the catalogue knows it; nothing else of it is.
#include "tests/stand_ins/fake/fake_nvml.h"
#include "tests/support/oracle.h"

#include <dlfcn.h>
#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char address[] = "0000:17:00.0";
static const double step_s = 0.001, bytes_per_s = 4.5e12;
// It draws less of load_w at first, and warms so slowly that it still does in the meter's window,
// however long a busy machine took to get there.
static const double idle_w = 90, load_w = 420, warming_w = 80, warming_s = 20;
static const double tick_s = 0.02;

struct decode_state {
  struct decode_request request;
  struct reference *reference;
};

// Since its first step it is under load: what a busy machine lets wait in between is no rest.
static atomic_bool busy;

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
  struct fake_gpu *gpu = argument;
  double joules = 1e6, before_s = now_s(), began_s = before_s;
  for (;;) {
    wait_s(tick_s);
    const double at_s = now_s();
    if (!atomic_load(&busy))
      began_s = at_s;
    const double busy_s = at_s - began_s, cold = exp(-busy_s / warming_s);
    const double watts =
        busy_s > 0 ? load_w - warming_w * cold + 6 * sin(9 * at_s) : idle_w + sin(3 * at_s);
    joules += watts * (at_s - before_s);
    before_s = at_s;
    gpu->power_w = watts;
    gpu->energy_mj = (unsigned long long)(1000 * joules);
  }
  return NULL;
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
  nvml->count = 1;
  nvml->gpus[0].pci = address;
  nvml->gpus[0].core_mhz = 1980;
  nvml->gpus[0].core_c = 51;
  if (pthread_create(&thread, NULL, draw, &nvml->gpus[0]) == 0)
    pthread_detach(thread);
}

// ---- the backend

static int device_count(void) {
  return 1;
}

static enum decode_status describe(int device, struct decode_device *out) {
  if (device != 0)
    return DECODE_NO_DEVICE;
  plug_in();
  *out = (struct decode_device){.name = "NVIDIA H200",
                                .runtime = "a device of the tests",
                                .memory_bytes = 150000000000,
                                .memory_free_bytes = 149000000000,
                                .cache_bytes = 50000000,
                                .units = 132};
  strcpy(out->pci, address);
  return DECODE_OK;
}

// As many bytes as it could read in a step, less a tenth.
static enum decode_status cost(const struct decode_request *request, struct decode_cost *out) {
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
  wait_s(steps * step_s);
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
                                                .error = error};
  return &backend;
}
