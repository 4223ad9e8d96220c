#include "tests/support/twins.h"

#include "kernels/decode.h"
#include "tests/support/kernels/oracle.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { GIVE_UP_S = 60 };

const double twins_step_s[TWINS] = {0.002, 0.002, 0.003};
const char *const twins_pci[TWINS] = {"0000:17:00.0", "0000:65:00.0", "0000:ca:00.0"};
struct twins twins;

struct decode_state {
  int device, ranks;
  struct decode_request request;
  struct reference *reference;
  double now_s; // of its thread, once it is running beside others
  bool is_under_way, has_failed;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct decode_state *live[TWINS];
static int running;
static double probe_now_s;
static _Thread_local struct decode_state *own; // of a thread that runs one beside others

void twins_reset(void) {
  twins = (struct twins){.lost = -1};
  memset(live, 0, sizeof live);
  running = 0;
  probe_now_s = 1;
}

// ---- time

static bool is_of_several(void) {
  return twins.states > 1;
}

// Waits for a change; after a minute without one it ends the test program, naming what it waited
// for.
static void await_change(const char *what) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += GIVE_UP_S;
  if (pthread_cond_timedwait(&changed, &mutex, &until) == 0)
    return;
  fprintf(stderr, "twins: waited in vain for %s\n", what);
  abort();
}

static bool is_behind(const struct decode_state *state) {
  return state && !state->has_failed && (!state->is_under_way || state->now_s < probe_now_s);
}

static bool any_is_behind(void) {
  for (int i = 0; i < TWINS; i++)
    if (is_behind(live[i]))
      return true;
  return false;
}

// The probe's time passes, and with it what the meter counts.
static void pass(double seconds) {
  probe_now_s += seconds;
  for (unsigned i = 0; twins.nvml && i < twins.nvml->count; i++) {
    twins.nvml->gpus[i].energy_mj = (unsigned long long)(1e3 * TWINS_LOAD_W * probe_now_s);
    twins.nvml->gpus[i].power_w = TWINS_LOAD_W;
  }
}

static double now(void *context) {
  (void)context;
  pthread_mutex_lock(&mutex);
  const double now_s = own ? own->now_s : probe_now_s;
  pthread_mutex_unlock(&mutex);
  return now_s;
}

static void sleep_for(void *context, double seconds) {
  (void)context;
  pthread_mutex_lock(&mutex);
  pass(seconds);
  while (is_of_several() && any_is_behind())
    await_change("devices that run beside the probe");
  pthread_mutex_unlock(&mutex);
}

const struct clock twins_clock = {now, sleep_for, NULL};

// ---- the backend

static int count(void) {
  return TWINS;
}

static enum decode_status describe(int device, struct decode_device *out) {
  if (device < 0 || device >= TWINS)
    return DECODE_NO_DEVICE;
  *out = (struct decode_device){.name = "a twin",
                                .runtime = "test",
                                .memory_bytes = 1 << 30,
                                .memory_free_bytes = 1 << 30,
                                .units = 1};
  snprintf(out->uuid, sizeof out->uuid, "twin-%d", device);
  snprintf(out->pci, sizeof out->pci, "%s", twins.nvml ? twins_pci[device] : "");
  return DECODE_OK;
}

static enum decode_status cost(int device, const struct decode_request *request,
                               struct decode_cost *out) {
  (void)device;
  *out = (struct decode_cost){
      .weight_bytes = 1000000, .kv_bytes = 1000, .operations = 2000000, .resident_bytes = 1000000};
  return request->types.weights == ELEMENT_BF16 ? DECODE_OK : DECODE_UNSUPPORTED;
}

static struct decode_state *create(int device, const struct decode_request *request,
                                   enum decode_status *status) {
  struct decode_state *state = calloc(1, sizeof *state);
  const int ranks = request->ranks > 1 ? request->ranks : 1;
  *state = (struct decode_state){
      .device = device, .ranks = ranks, .request = *request, .now_s = probe_now_s};
  state->reference = reference_create(request, status);
  twins.devices_of_ranks = 0;
  for (int i = 0; ranks > 1 && i < ranks; i++)
    twins.devices_of_ranks = 10 * twins.devices_of_ranks + request->devices[i];
  live[device] = state;
  twins.states++;
  return state;
}

static void destroy(struct decode_state *state) {
  reference_destroy(state->reference);
  live[state->device] = NULL;
  free(state);
  twins.states--;
}

// Running only when all that are alive are: run one after the other, they never would be.
static void get_under_way(struct decode_state *state) {
  if (running > twins.most_running)
    twins.most_running = running;
  pthread_cond_broadcast(&changed);
  while (twins.most_running < twins.states)
    await_change("all devices to run at once");
  state->is_under_way = true;
}

static double seconds_of(const struct decode_state *state, int steps) {
  const double slower = twins.states == TWINS ? TWINS_SLOWED : 1;
  return steps * slower * twins_step_s[state->device] / state->ranks;
}

static enum decode_status run(struct decode_state *state, int steps) {
  oracle_step(state->reference);
  pthread_mutex_lock(&mutex);
  running++;
  get_under_way(state);
  if (is_of_several()) {
    own = state;
    state->now_s += seconds_of(state, steps);
  } else {
    pass(seconds_of(state, steps));
  }
  state->has_failed = twins.states == TWINS && state->device == twins.lost;
  const enum decode_status status = state->has_failed ? DECODE_FAILED : DECODE_OK;
  running--;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&mutex);
  return status;
}

static enum decode_status tokens(struct decode_state *state, int *out) {
  oracle_tokens(state->reference, &state->request, out);
  return DECODE_OK;
}

static enum decode_status logits(struct decode_state *state, float *out) {
  oracle_logits(state->reference, &state->request, 1, out);
  return DECODE_OK;
}

static enum decode_status set_tokens(struct decode_state *state, const int *in) {
  return reference_set_tokens(state->reference, in) ? DECODE_FAILED : DECODE_OK;
}

static enum decode_status all_reduce(struct decode_state *state, int repeats,
                                     struct decode_all_reduce *out) {
  *out = (struct decode_all_reduce){.bytes = (uint64_t)state->request.batch *
                                             (uint64_t)state->request.shape.hidden * 4,
                                    .seconds = 5e-5,
                                    .library = "strings and cans"};
  return repeats > 0 && state->ranks > 1 ? DECODE_OK : DECODE_UNSUPPORTED;
}

static enum decode_status read_memory(int device, uint64_t bytes, int threads, int variant,
                                      double *seconds) {
  (void)device, (void)threads;
  *seconds = (double)bytes / 1e12;
  return variant ? DECODE_UNSUPPORTED : DECODE_OK;
}

static void calibration_end(void) {}

static const char *error(void) {
  return twins.lost >= 0 ? "it fell off the bus" : "";
}

const struct decode_backend twins_backend = {
    .abi = DECODE_ABI,
    .name = "twins",
    .build = "test",
    .device_count = count,
    .describe = describe,
    .cost = cost,
    .create = create,
    .destroy = destroy,
    .run = run,
    .tokens = tokens,
    .logits = logits,
    .set_tokens = set_tokens,
    .all_reduce = all_reduce,
    .read_memory = read_memory,
    .matrix_rate = oracle_matrix_rate,
    .calibration_end = calibration_end,
    .error = error,
};
