// The ladder of GPU kernels: whole decode steps, and their stages, with each choice that tuning.h
// leaves open, compared with the device's read speed measured between the samples.
//
//   gpu_kernels [--time SECONDS] [--tiny] DEVICE [WORKLOAD]...
//
// DEVICE is named as in the probe, and plugins are found in the same places (PERTOKEN_PLUGINS).
// WORKLOAD is a number from the table below; without any, all are run, the most valuable first,
// until the time is up or an interrupt comes. --tiny rehearses all of them on a small shape.
//
// Every variant is verified before it is timed: on a small shape against the oracle, and on the
// timed shape by the logits and tokens of its first step, which must match the default's. Then all
// variants of a workload take turns for several rounds, each time in a state of its own. Lines that
// begin with "best: " give the result for each workload. Exit status 1: a variant computed
// something else, or failed.
#include <dlfcn.h>
#include <math.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/clock.h"
#include "base/diagnostics.h"
#include "base/installation.h"
#include "base/statistics.h"
#include "kernels/cpu/backend.h"
#include "kernels/decode.h"
#include "kernels/gpu/host/stage_times.h"
#include "kernels/gpu/host/state.h"
#include "kernels/reference/check.h"
#include "kernels/reference/reference.h"
#include "probe/devices/device.h"
#include "probe/measure/calibration.h"
#include "probe/measure/protocol.h"
#include "probe/measure/sampling.h"
#include "tests/support/kernels/shapes.h"

#define TIME_S         240.0
#define VISIT_S        0.3  // of sampling
#define STAGE_S        0.01 // of one stage
#define READ_BYTES     CALIBRATION_BYTES
#define ROOM_BYTES     (UINT64_C(2) << 30) // left free on the device
#define VOID_SHARE     1.02                // a read speed that exceeds this is invalid
#define MAX_ROUNDS     3
#define MAX_VARIANTS   8
#define ORACLE_CONTEXT 600
#define STAGE_CACHES   2 // a stage of fewer bytes finds some of them in the cache when repeated

// Timed in a rehearsal, with heads grouped as in the workload; see small_shape.
static const struct decode_shape tiny = {.layers = 2,
                                         .hidden = 72,
                                         .heads = 1,
                                         .kv_heads = 1,
                                         .head_dim = 66,
                                         .ffn_hidden = 520,
                                         .vocab = 96,
                                         .norm_epsilon = 1e-5f,
                                         .rope_theta = 1e4f};
static const struct decode_shape oracle_tiny = {.layers = 1,
                                                .hidden = 72,
                                                .heads = 1,
                                                .kv_heads = 1,
                                                .head_dim = 70,
                                                .ffn_hidden = 520,
                                                .vocab = 61,
                                                .norm_epsilon = 1e-5f,
                                                .rope_theta = 1e4f};
static const struct decode_shape oracle_shape = {.layers = 2,
                                                 .hidden = 512,
                                                 .heads = 1,
                                                 .kv_heads = 1,
                                                 .head_dim = 128,
                                                 .ffn_hidden = 1408,
                                                 .vocab = 1024,
                                                 .norm_epsilon = 1e-5f,
                                                 .rope_theta = 1e4f};

// The variants besides the default, in the syntax of tuning.h: those that the model of
// docs/gpu-model.md favors somewhere, or does not know. The head is bf16.
static const struct work {
  const char *name;
  const struct decode_shape *shape;
  enum element weights, kv;
  int batch, context;
  const char *variants[MAX_VARIANTS];
} works[] = {
#define WORK(name, shape, weights, kv, batch, context, ...)                                        \
  {                                                                                                \
    name, &shape, ELEMENT_##weights, ELEMENT_##kv, batch, context, {                               \
      __VA_ARGS__                                                                                  \
    }                                                                                              \
  }
    WORK("8B fp8, batch 1", llama_8b, E4M3, BF16, 1, 512, "step=streaming",
         "stream_flying=4 step=streaming", "step=launches"),
    WORK("8B bf16, batch 1", llama_8b, BF16, BF16, 1, 512, "step=streaming",
         "stream_flying=4 step=streaming", "attention_splits=16"),
    WORK("70B fp8, batch 64", llama_70b, E4M3, E4M3, 64, 4096, "wgmma_strips=1",
         "matrix=registers"),
    WORK("70B fp8, batch 64, bf16 KV", llama_70b, E4M3, BF16, 64, 4096, "matrix=registers",
         "matrix_splits=4"),
    WORK("8B fp8, batch 64", llama_8b, E4M3, BF16, 64, 512, "wgmma_strips=1", "matrix=registers",
         "wgmma_beside=2", "matrix_splits=1"),
    WORK("8B fp8, batch 16", llama_8b, E4M3, BF16, 16, 512, "matrix=registers", "wgmma_beside=2",
         "matrix_splits=1"),
    WORK("8B fp8, batch 4", llama_8b, E4M3, BF16, 4, 512, "step=streaming",
         "stream_flying=4 step=streaming", "matrix=registers"),
    WORK("8B fp8, batch 3", llama_8b, E4M3, BF16, 3, 512, "step=streaming", "matrix=registers"),
    WORK("8B fp8, batch 2", llama_8b, E4M3, BF16, 2, 512, "step=streaming",
         "stream_flying=4 step=streaming"),
    WORK("8B bf16, batch 4", llama_8b, BF16, BF16, 4, 512, "step=streaming"),
    WORK("8B bf16, batch 2", llama_8b, BF16, BF16, 2, 512, "step=launches"),
    WORK("70B fp8, batch 1", llama_70b, E4M3, BF16, 1, 512, "step=streaming",
         "stream_flying=4 step=streaming"),
    WORK("8B bf16, batch 64", llama_8b, BF16, BF16, 64, 512, "wgmma_strips=1", "wgmma_strips=2",
         "matrix=registers", "wgmma_beside=2", "wgmma_parts=4", "matrix_splits=1"),
};
#define WORKS (sizeof works / sizeof works[0])

enum outcome { UNTRIED, VERIFIED, REFUSED, WRONG };

struct variant {
  const char *tuning; // "" for the default
  enum outcome outcome;
  char words[256]; // why it is refused or wrong
  int rounds;      // number of timed rounds
  double step_s[MAX_ROUNDS], share[MAX_ROUNDS];
  struct gpu_stage_time stages[MAX_GPU_STAGES];
  size_t stage_count;
};

struct ladder {
  struct device device;
  struct calibration calibration;
  struct arena *arena;
  gpu_stage_times_function *stage_times; // NULL where the backend has none
  double end_s, visit_s;                 // on the machine's clock; duration of the last visit
  bool tiny, failed;
};

// The current workload.
struct rung {
  struct ladder *ladder;
  const struct work *work;
  struct decode_request request;
  struct decode_cost cost;
  struct variant variants[MAX_VARIANTS + 1];
  size_t count;
  double oracle_error, error; // the largest of all variants: relative to the oracle, to the default
  float *logits;              // of the default's first step
  int *tokens;
};

static volatile sig_atomic_t stopped;

static void stop(int number) {
  (void)number;
  stopped = 1;
}

static double now_s(void) {
  return clock_now(&machine_clock);
}

static const struct decode_backend *backend_of(const struct rung *rung) {
  return rung->ladder->device.backend;
}

// ---- states

static struct decode_state *create(const struct rung *rung, const struct decode_request *request,
                                   const char *tuning, enum decode_status *status) {
  struct decode_request tuned = *request;
  tuned.variant = tuning;
  return backend_of(rung)->create(rung->ladder->device.index, &tuned, status);
}

// True for DECODE_OK. A variant that the device does not support, or has no room for, has not
// failed.
static bool accept(const struct rung *rung, struct variant *variant, enum decode_status status) {
  if (status == DECODE_OK)
    return true;
  variant->outcome = status == DECODE_UNSUPPORTED || status == DECODE_NO_MEMORY ? REFUSED : WRONG;
  snprintf(variant->words, sizeof variant->words, "%s",
           device_failure(backend_of(rung), status, rung->ladder->arena));
  return false;
}

static void reject(struct variant *variant, const char *from, double error, double tolerance) {
  variant->outcome = WRONG;
  snprintf(variant->words, sizeof variant->words,
           "its results differ from %s by %.3g, %.3g is allowed", from, error, tolerance);
}

// The results of the first step, written over values that cannot be right.
static enum decode_status first_step(const struct rung *rung, struct decode_state *state,
                                     const struct decode_request *request, float *logits,
                                     int *tokens) {
  const struct decode_backend *backend = backend_of(rung);
  const size_t rows = (size_t)request->batch, vocab = (size_t)request->shape.vocab;
  for (size_t i = 0; i < rows * vocab; i++)
    logits[i] = NAN;
  memset(tokens, 0xFF, rows * sizeof *tokens);
  enum decode_status status = backend->run(state, 1);
  if (status == DECODE_OK)
    status = backend->logits(state, logits);
  return status == DECODE_OK ? backend->tokens(state, tokens) : status;
}

// ---- verification

// The oracle's request: the workload's types, batch and head groups, in a shape that takes the
// oracle a second or two.
static struct decode_request small_request(const struct rung *rung, const struct decode_shape *like,
                                           int context) {
  const struct decode_shape *shape = rung->work->shape;
  struct decode_request small = rung->request;
  small.shape = *like;
  small.shape.kv_heads = 2;
  small.shape.heads = 2 * (shape->heads / shape->kv_heads);
  small.batch = rung->ladder->tiny && small.batch > 5 ? 5 : small.batch;
  small.context = small.context < context ? small.context : context;
  return small;
}

static void check_oracle(struct rung *rung, struct variant *variant,
                         const struct decode_request *request, const struct reference *reference,
                         float *logits, int *tokens) {
  enum decode_status status;
  struct decode_state *state = create(rung, request, variant->tuning, &status);
  if (!state) {
    accept(rung, variant, status);
    return;
  }
  status = first_step(rung, state, request, logits, tokens);
  if (accept(rung, variant, status)) {
    const double tolerance = reference_tolerance(&request->types);
    const struct reference_verdict verdict = reference_check(reference, logits, tokens, tolerance);
    const double error = fmax(verdict.error, verdict.shortfall);
    rung->oracle_error = fmax(rung->oracle_error, error);
    variant->outcome = VERIFIED;
    if (!verdict.pass)
      reject(variant, verdict.greedy ? "the oracle's" : "the oracle's, its token not its largest",
             error, tolerance);
  }
  backend_of(rung)->destroy(state);
}

static void check_variants(struct rung *rung) {
  const bool small = rung->ladder->tiny;
  const struct decode_request request =
      small_request(rung, small ? &oracle_tiny : &oracle_shape, small ? 70 : ORACLE_CONTEXT);
  enum decode_status status = DECODE_NO_MEMORY;
  struct reference *reference = reference_create(&request, &status);
  const size_t rows = (size_t)request.batch, vocab = (size_t)request.shape.vocab;
  float *logits = malloc(rows * vocab * sizeof *logits);
  int *tokens = malloc(rows * sizeof *tokens);
  if (reference)
    reference_step(reference);
  for (size_t i = 0; i < rung->count; i++) {
    if (reference && logits && tokens)
      check_oracle(rung, &rung->variants[i], &request, reference, logits, tokens);
    else
      accept(rung, &rung->variants[i], DECODE_FAILED);
  }
  free(logits);
  free(tokens);
  reference_destroy(reference);
}

// The first step of a state on the timed shape. The default's results are kept.
static bool check_step(struct rung *rung, struct variant *variant, struct decode_state *state) {
  const size_t rows = (size_t)rung->request.batch, vocab = (size_t)rung->request.shape.vocab;
  // Each of the two may differ from the true result by as much as the oracle tolerates.
  const double tolerance = 2 * reference_tolerance(&rung->request.types);
  if (!rung->logits) {
    rung->logits = arena_array(rung->ladder->arena, rows * vocab, sizeof(float));
    rung->tokens = arena_array(rung->ladder->arena, rows, sizeof(int));
    return accept(rung, variant,
                  first_step(rung, state, &rung->request, rung->logits, rung->tokens));
  }
  float *logits = malloc(rows * vocab * sizeof *logits);
  int *tokens = malloc(rows * sizeof *tokens);
  const enum decode_status status =
      logits && tokens ? first_step(rung, state, &rung->request, logits, tokens) : DECODE_NO_MEMORY;
  bool good = accept(rung, variant, status);
  const double error =
      good ? reference_distance(logits, tokens, rung->logits, rung->tokens, rows, vocab) : 0;
  rung->error = fmax(rung->error, error);
  if (error > tolerance) {
    reject(variant, "the default's", error, tolerance);
    good = false;
  }
  free(logits);
  free(tokens);
  return good;
}

// ---- timing

// A single step, in a rehearsal.
static enum decode_status sample_once(const struct rung *rung, struct decode_state *state,
                                      double *step_s, double *share) {
  const double bytes = (double)(rung->cost.weight_bytes + rung->cost.kv_bytes), start = now_s();
  const enum decode_status status = backend_of(rung)->run(state, 1);
  *step_s = now_s() - start;
  *share = bytes / *step_s / rung->ladder->calibration.bytes_per_s;
  return status;
}

// As in the probe, each step is paired with a read of memory.
static enum decode_status sample(const struct rung *rung, struct decode_state *state,
                                 double *step_s, double *share) {
  struct ladder *ladder = rung->ladder;
  const struct protocol protocol = {.device = &ladder->device,
                                    .clock = &machine_clock,
                                    .time_s = VISIT_S,
                                    .stop = &stopped,
                                    .arena = ladder->arena};
  struct sampling sampling = {.protocol = &protocol,
                              .calibration = &ladder->calibration,
                              .state = state,
                              .batch = rung->request.batch,
                              .cost = &rung->cost};
  enum decode_status status = sampling_warm_up(&sampling);
  if (status == DECODE_OK)
    status = sampling_run(&sampling);
  if (status != DECODE_OK || sampling.count == 0)
    return status;
  double *sorted = arena_array(ladder->arena, sampling.count, sizeof *sorted);
  *step_s = summarise(sampling.samples, sampling.count, sorted).median;
  *share = summarise(sampling.shares, sampling.count, sorted).median;
  return DECODE_OK;
}

static enum decode_status time_state(struct rung *rung, struct variant *variant,
                                     struct decode_state *state) {
  const struct ladder *ladder = rung->ladder;
  double step_s = 0, share = 0;
  enum decode_status status = ladder->tiny ? sample_once(rung, state, &step_s, &share)
                                           : sample(rung, state, &step_s, &share);
  if (status != DECODE_OK || !(step_s > 0))
    return status;
  const int round = variant->rounds++;
  variant->step_s[round] = step_s;
  variant->share[round] = share;
  const bool staged = round == 0 && (!ladder->tiny || variant == rung->variants);
  if (staged && ladder->stage_times && !stopped)
    status = ladder->stage_times(state, ladder->tiny ? 0 : STAGE_S, variant->stages,
                                 &variant->stage_count);
  return status;
}

static void visit(struct rung *rung, struct variant *variant) {
  const double start = now_s();
  enum decode_status status;
  struct decode_state *state = create(rung, &rung->request, variant->tuning, &status);
  if (!state) {
    accept(rung, variant, status);
    return;
  }
  if (check_step(rung, variant, state))
    accept(rung, variant, time_state(rung, variant, state));
  backend_of(rung)->destroy(state);
  rung->ladder->visit_s = now_s() - start;
}

static bool is_time_up(const struct ladder *ladder) {
  return stopped || now_s() + ladder->visit_s > ladder->end_s;
}

// The order rotates, so that no variant always follows the same one; the default comes first.
static void time_variants(struct rung *rung) {
  const int rounds = rung->ladder->tiny ? 1 : MAX_ROUNDS;
  for (int round = 0; round < rounds; round++)
    for (size_t i = 0; i < rung->count && !is_time_up(rung->ladder); i++) {
      struct variant *variant = &rung->variants[(i + (size_t)round) % rung->count];
      if (variant->outcome == VERIFIED && rung->variants[0].outcome == VERIFIED)
        visit(rung, variant);
    }
}

// ---- results

static double median(const double *values, int count) {
  double sorted[MAX_ROUNDS];
  return summarise(values, (size_t)count, sorted).median;
}

// The range from the slowest to the fastest round.
static void range(const struct variant *variant, double *fastest, double *slowest) {
  *fastest = *slowest = variant->step_s[0];
  for (int i = 1; i < variant->rounds; i++) {
    *fastest = fmin(*fastest, variant->step_s[i]);
    *slowest = fmax(*slowest, variant->step_s[i]);
  }
}

static bool is_timed(const struct variant *variant) {
  return variant->outcome == VERIFIED && variant->rounds > 0;
}

static double step_seconds(const struct variant *variant) {
  return median(variant->step_s, variant->rounds);
}

static double share_of(const struct variant *variant) {
  return median(variant->share, variant->rounds);
}

static const struct variant *find_best(const struct rung *rung) {
  const struct variant *best = NULL;
  for (const struct variant *v = rung->variants; v < rung->variants + rung->count; v++)
    if (is_timed(v) && (!best || step_seconds(v) < step_seconds(best)))
      best = v;
  return best;
}

static const char *name_of(const struct variant *variant) {
  return *variant->tuning ? variant->tuning : "default";
}

static void print_variant(const struct rung *rung, const struct variant *variant, bool best) {
  const double bytes = (double)(rung->cost.weight_bytes + rung->cost.kv_bytes);
  if (!is_timed(variant)) {
    static const char *const words[] = {"", "not timed", "not here: ", "WRONG: "};
    printf("  %-36s %s%s\n", name_of(variant), words[variant->outcome], variant->words);
    return;
  }
  const double seconds = step_seconds(variant);
  double fastest, slowest;
  range(variant, &fastest, &slowest);
  printf("  %-36s %9.2f %9.3f %8.0f %7.3f %6.2f%s\n", name_of(variant),
         1e6 * seconds / rung->request.shape.layers, 1e3 * seconds, 1e-9 * bytes / seconds,
         share_of(variant), 100 * (slowest - fastest) / seconds, best ? "  best" : "");
}

// In a step, other stages' bytes take the place of its own meanwhile.
static bool is_partly_cached(const struct rung *rung, const struct gpu_stage_time *stage) {
  return stage->bytes > 0 &&
         stage->bytes < STAGE_CACHES * rung->ladder->device.described.cache_bytes;
}

// Microseconds of each stage (per layer, if it belongs to the layers) and its share of R.
static void print_stages(const struct rung *rung, const struct variant *variant) {
  const int layers = rung->request.shape.layers;
  const double bytes = (double)(rung->cost.weight_bytes + rung->cost.kv_bytes);
  const double read = bytes / step_seconds(variant) / share_of(variant);
  printf("  %-36s", name_of(variant));
  for (size_t i = 0; i < variant->stage_count; i++) {
    const struct gpu_stage_time *stage = &variant->stages[i];
    const int parts = stage->launches % layers == 0 ? layers : 1;
    printf(" %8.2f", 1e6 * stage->seconds / parts);
    if (stage->bytes > 0)
      printf(" %5.3f%s", (double)stage->bytes / stage->seconds / read,
             is_partly_cached(rung, stage) ? "*" : " ");
  }
  printf("\n");
}

static void print_stage_table(const struct rung *rung) {
  bool headed = false, cached = false;
  for (const struct variant *v = rung->variants; v < rung->variants + rung->count; v++) {
    if (!is_timed(v) || v->stage_count == 0)
      continue;
    if (!headed) {
      printf("  %-36s", "each stage alone: us of R");
      for (size_t i = 0; i < v->stage_count; i++)
        printf(v->stages[i].bytes > 0 ? " %14s " : " %8s", v->stages[i].name);
      printf("\n");
    }
    headed = true;
    print_stages(rung, v);
    for (size_t i = 0; i < v->stage_count; i++)
      cached |= is_partly_cached(rung, &v->stages[i]);
  }
  if (cached)
    printf("  * less than twice the cache of %.0f MB, so partly read from it when repeated alone: "
           "in a "
           "step it takes at least as long\n",
           1e-6 * (double)rung->ladder->device.described.cache_bytes);
}

static void print_best(const struct rung *rung) {
  const struct variant *own = &rung->variants[0], *best = find_best(rung);
  const int layers = rung->request.shape.layers;
  double own_fastest, own_slowest, fastest, slowest;
  if (!best || !is_timed(own))
    return;
  range(own, &own_fastest, &own_slowest);
  range(best, &fastest, &slowest);
  printf("best: %s, context %d: %s, %.2f us/layer, %.3f R", rung->work->name, rung->request.context,
         name_of(best), 1e6 * step_seconds(best) / layers, share_of(best));
  if (best != own)
    printf("; default %.2f us/layer, %.3f R%s", 1e6 * step_seconds(own) / layers, share_of(own),
           slowest >= own_fastest ? ", within the spread" : "");
  printf("\n");
}

static void print_rung(const struct rung *rung) {
  const struct decode_request *request = &rung->request;
  const uint64_t bytes = rung->cost.weight_bytes + rung->cost.kv_bytes;
  const bool resident = bytes < PROTOCOL_CACHES * rung->ladder->device.described.cache_bytes;
  printf("\n%s, context %d, %d of %d layers, %.3f GB a step%s; error to the oracle %.1e, to the "
         "default %.1e; %.0e is allowed to the oracle, twice that to the default\n",
         rung->work->name, request->context, request->shape.layers,
         rung->ladder->tiny ? request->shape.layers : rung->work->shape->layers,
         1e-9 * (double)bytes, resident ? ", cache-resident" : "", rung->oracle_error, rung->error,
         reference_tolerance(&request->types));
  printf("  %-36s %9s %9s %8s %7s %6s\n", "variant", "us/layer", "ms/step", "GB/s", "of R", "+-%");
  const struct variant *best = find_best(rung);
  for (size_t i = 0; i < rung->count; i++)
    print_variant(rung, &rung->variants[i], &rung->variants[i] == best);
  print_stage_table(rung);
  if (best && share_of(best) > VOID_SHARE && !rung->ladder->tiny)
    printf("  R is void: a step cannot be faster than reading\n");
  print_best(rung);
  fflush(stdout);
}

// ---- a workload

// As many layers as fit on the device. False if none does.
static bool fit(struct rung *rung) {
  struct ladder *ladder = rung->ladder;
  const struct decode_backend *backend = ladder->device.backend;
  const uint64_t beside = ladder->tiny ? 0 : ROOM_BYTES;
  for (int layers = rung->request.shape.layers; layers > 0; layers -= (layers + 7) / 8) {
    rung->request.shape.layers = layers;
    const enum decode_status status =
        backend->cost(ladder->device.index, &rung->request, &rung->cost);
    if (!accept(rung, &rung->variants[0], status))
      return false;
    if (rung->cost.resident_bytes + beside <= ladder->device.described.memory_free_bytes)
      return true;
  }
  snprintf(rung->variants[0].words, sizeof rung->variants[0].words,
           "not one layer fits into the free memory");
  return false;
}

static void name_variants(struct rung *rung) {
  rung->variants[rung->count++].tuning = "";
  for (size_t i = 0; i < MAX_VARIANTS && rung->work->variants[i]; i++)
    rung->variants[rung->count++].tuning = rung->work->variants[i];
}

static void climb(struct ladder *ladder, const struct work *work) {
  struct rung rung = {.ladder = ladder, .work = work};
  const struct decode_types types = {work->weights, ELEMENT_BF16, work->kv,
                                     ELEMENT_BF16,  ELEMENT_F32,  ELEMENT_F32};
  rung.request = (struct decode_request){.shape = *work->shape,
                                         .types = types,
                                         .batch = work->batch,
                                         .context = work->context,
                                         .seed = 1};
  if (ladder->tiny)
    rung.request = small_request(&rung, &tiny, work->context > 1000 ? 260 : 130);
  name_variants(&rung);
  if (!fit(&rung)) {
    printf("\n%s, context %d: left out: %s\n", work->name, work->context, rung.variants[0].words);
    ladder->failed |= rung.variants[0].outcome == WRONG;
    return;
  }
  check_variants(&rung);
  time_variants(&rung);
  print_rung(&rung);
  for (size_t i = 0; i < rung.count; i++)
    ladder->failed |= rung.variants[i].outcome == WRONG;
}

// ---- the program

// An additional function of a plugin.
static gpu_stage_times_function *find_stage_times(const struct decode_backend *backend) {
  Dl_info info;
  gpu_stage_times_function *function = NULL;
  if (backend == &cpu_backend || !dladdr(backend, &info))
    return NULL;
  void *plugin = dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD);
  void *symbol = plugin ? dlsym(plugin, GPU_STAGE_TIMES) : NULL;
  memcpy(&function, &symbol, sizeof function); // C cannot convert data to function pointers
  return function;
}

static int open_device(struct ladder *ladder, const char *name) {
  struct diagnostics diagnostics = {.arena = ladder->arena};
  const struct decode_backend *const *backends =
      device_backends(installation_plugins(ladder->arena), ladder->arena, &diagnostics);
  if (device_find(name, backends, &ladder->device, &diagnostics) != 0) {
    diagnostics_print(&diagnostics, stderr, false);
    return diagnostics.machine_failed ? 3 : 2;
  }
  const struct device *device = &ladder->device;
  ladder->stage_times = find_stage_times(device->backend);
  const uint64_t room = ladder->tiny ? UINT64_C(1) << 16 : READ_BYTES;
  const enum decode_status status =
      calibrate(device->backend, device->index, 0, 0, room, &stopped, &ladder->calibration);
  if (status != DECODE_OK) {
    fprintf(stderr, "%s: %s\n", name, device_failure(device->backend, status, ladder->arena));
    return 3;
  }
  // Once more: now the buffer for reads exists.
  device->backend->describe(device->index, &ladder->device.described);
  printf("%s, %s, kernels %s\nR %.1f GB/s, read kernel %d\n", device->described.name,
         device->described.runtime, device->backend->build, 1e-9 * ladder->calibration.bytes_per_s,
         ladder->calibration.variant);
  return 0;
}

// A list of all workloads, if none is named.
static size_t read_works(int count, char **values, const struct work **out) {
  size_t found = 0;
  for (int i = 0; i < count && found < WORKS; i++) {
    char *end;
    const long number = strtol(values[i], &end, 10);
    if (*end || number < 1 || number > (long)WORKS)
      return 0;
    out[found++] = &works[number - 1];
  }
  for (; count == 0 && found < WORKS; found++)
    out[found] = &works[found];
  return found;
}

static int usage(void) {
  fprintf(stderr, "gpu_kernels [--time SECONDS] [--tiny] DEVICE [WORKLOAD]...\n");
  for (size_t i = 0; i < WORKS; i++) {
    fprintf(stderr, "  %zu  %s, context %d: default", i + 1, works[i].name, works[i].context);
    for (size_t v = 0; v < MAX_VARIANTS && works[i].variants[v]; v++)
      fprintf(stderr, ", %s", works[i].variants[v]);
    fprintf(stderr, "\n");
  }
  return 2;
}

static int run(struct ladder *ladder, const char *name, const struct work *const *chosen,
               size_t count) {
  const int status = open_device(ladder, name);
  size_t i = 0;
  if (status != 0)
    return status;
  for (; i < count && !is_time_up(ladder); i++)
    climb(ladder, chosen[i]);
  if (i < count)
    printf("\n%s: %zu of %zu workloads were not begun\n", stopped ? "stopped" : "time is up",
           count - i, count);
  ladder->device.backend->calibration_end();
  return ladder->failed ? 1 : 0;
}

int main(int count, char **values) {
  struct arena arena = {0};
  struct ladder ladder = {.arena = &arena};
  const struct work *chosen[WORKS];
  double time_s = TIME_S;
  int at = 1;
  for (; at < count && strncmp(values[at], "--", 2) == 0; at++) {
    if (strcmp(values[at], "--tiny") == 0)
      ladder.tiny = true;
    else if (strcmp(values[at], "--time") == 0 && at + 1 < count)
      time_s = atof(values[++at]);
    else
      return usage();
  }
  const size_t works_chosen = at < count ? read_works(count - at - 1, values + at + 1, chosen) : 0;
  if (works_chosen == 0 || !(time_s > 0))
    return usage();
  signal(SIGINT, stop);
  signal(SIGTERM, stop);
  setenv("PERTOKEN_GPU_TUNING", "", 1);
  ladder.end_s = now_s() + time_s;
  const int status = run(&ladder, values[at], chosen, works_chosen);
  arena_free(&arena);
  return status;
}
