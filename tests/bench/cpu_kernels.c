// The ladder of CPU kernels: a whole decode step with each instruction set, compared with the
// memory's read speed measured between the samples. "own" is the instruction set that this machine
// gets by default.
//   cpu_kernels MODEL PRECISION BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]
// Or tokens per second only: of SAMPLES consecutive steps with the best of them; or the median of
// SAMPLES prompts as long as the context, each read in one piece; or the speed that prompts would
// have if oneDNN computed nothing but products of their sizes, from weights in its preferred
// layout:
//   cpu_kernels speed MODEL PRECISION BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]
//   cpu_kernels prompts MODEL PRECISION BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]
//   cpu_kernels products MODEL PRECISION BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]
// MODEL is a row of data/models.csv, with all of its layers unless LAYERS is given; PRECISION is
// named as in the probe and applies to weights and head, or only to the experts if the row says
// that they ship in it. Run it in the repository's root.
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/arena.h"
#include "base/diagnostics.h"
#include "base/statistics.h"
#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/threads.h"
#include "kernels/decode.h"
#include "kernels/integers.h"
#include "kernels/weights.h"
#include "model/evidence/catalog.h"
#include "probe/devices/device.h"
#include "probe/devices/model_shape.h"
#include "probe/devices/precision.h"

#define MAX_SAMPLES  200
#define MAX_VARIANTS 32
#define READERS      3
#define READ_BYTES   (UINT64_C(4) << 30)

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double at(const double *sorted, int count, double part) {
  return sorted[(int)(part * (count - 1) + 0.5)];
}

// Bytes per second of a read variant; 0 after the last.
static double read_speed(int variant, int threads) {
  double seconds;
  if (cpu_backend.read_memory(0, READ_BYTES, threads, variant, &seconds) != DECODE_OK)
    return 0;
  return (double)READ_BYTES / seconds;
}

// The fastest read kernels of this machine, in no particular order.
struct readers {
  int variants[READERS], threads;
};

static int slowest(const double *speeds, const int *of, int count) {
  int found = 0;
  for (int i = 1; i < count; i++)
    found = speeds[of[i]] < speeds[of[found]] ? i : found;
  return found;
}

static struct readers best_readers(int threads) {
  struct readers readers = {.threads = threads};
  double speeds[MAX_VARIANTS] = {0};
  for (int round = 0; round < 3; round++)
    for (int v = 0; v < MAX_VARIANTS; v++) {
      const double speed = read_speed(v, threads);
      if (speed == 0)
        break;
      speeds[v] = speed > speeds[v] ? speed : speeds[v];
    }
  for (int v = 0; v < MAX_VARIANTS && speeds[v] > 0; v++) {
    printf("  read %d: %.2f GB/s\n", v, speeds[v] / 1e9);
    const int worst = slowest(speeds, readers.variants, READERS);
    if (v < READERS)
      readers.variants[v] = v;
    else if (speeds[v] > speeds[readers.variants[worst]])
      readers.variants[worst] = v;
  }
  return readers;
}

// The current memory speed: the best of several kernels, since none is always the fastest.
static double read_now(const struct readers *readers) {
  double best = 0;
  for (int i = 0; i < READERS; i++) {
    const double speed = read_speed(readers->variants[i], readers->threads);
    best = speed > best ? speed : best;
  }
  return best;
}

// The bytes of experts count as they were touched, on average.
static double bytes_of_step(struct decode_state *state, const struct decode_cost *cost) {
  struct decode_touched touched;
  cpu_backend.touched(state, &touched);
  return (double)(cost->weight_bytes + cost->kv_bytes) +
         (double)cost->expert_bytes * (double)touched.experts / (double)touched.steps;
}

// Samples of a step, each between two reads: prints medians, the spread of the ratio, and the share
// of the matrix units' rate that the step's arithmetic uses.
static void measure(const struct decode_request *request, const char *isa,
                    const struct readers *readers, int samples, double rate) {
  enum decode_status status;
  struct decode_cost cost;
  double created = now();
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state || cpu_backend.cost(0, request, &cost) != DECODE_OK) {
    printf("%s: %s\n", isa, cpu_backend.error());
    return;
  }
  created = now() - created;
  double steps[MAX_SAMPLES] = {0}, reads[MAX_SAMPLES] = {0}, ratios[MAX_SAMPLES] = {0};
  cpu_backend.run(state, 1);
  double before = read_now(readers);
  for (int i = 0; i < samples; i++) {
    double started = now();
    cpu_backend.run(state, 1);
    steps[i] = now() - started;
    double after = read_now(readers);
    reads[i] = after;
    ratios[i] = 1 / steps[i] / (0.5 * (before + after));
    before = after;
  }
  const double bytes = bytes_of_step(state, &cost);
  for (int i = 0; i < samples; i++)
    ratios[i] *= bytes;
  cpu_backend.destroy(state);
  sort_ascending(steps, (size_t)samples);
  sort_ascending(reads, (size_t)samples);
  sort_ascending(ratios, (size_t)samples);
  double arithmetic = (double)cost.operations / at(steps, samples, 0.5) / rate;
  printf("%-11s step %8.2f ms (best %8.2f) %6.2f GB/s  read %6.2f (best %6.2f)  ratio %.3f "
         "[%.3f %.3f]  best/best %.3f  arithmetic %.2f  create %.2f s for %.2f GB\n",
         isa, 1e3 * at(steps, samples, 0.5), 1e3 * steps[0], bytes / at(steps, samples, 0.5) / 1e9,
         at(reads, samples, 0.5) / 1e9, reads[samples - 1] / 1e9, at(ratios, samples, 0.5),
         at(ratios, samples, 0.25), at(ratios, samples, 0.75),
         bytes / steps[0] / reads[samples - 1], arithmetic, created,
         (double)cost.resident_bytes / 1e9);
}

static int argument(int count, char **values, int i, int otherwise) {
  return i < count ? atoi(values[i]) : otherwise;
}

// The request in MODEL PRECISION BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]; -1 after reporting
// an error.
static int read_request(int count, char **values, struct decode_request *request, int *samples,
                        struct diagnostics *diagnostics) {
  struct measurement_shape model;
  struct model_notes notes;
  struct catalog catalog;
  if (catalog_open(&catalog, "data", diagnostics->arena, diagnostics) ||
      model_shape_find(&catalog, values[0], &model, &notes))
    return -1;
  *request = (struct decode_request){
      .shape = model_shape_of(&model, argument(count, values, 6, model.layers)), .seed = 1};
  request->batch = argument(count, values, 2, 1);
  request->context = argument(count, values, 3, 512);
  request->threads = argument(count, values, 4, 0);
  *samples = argument(count, values, 5, 15);
  if (*samples < 1 || *samples > MAX_SAMPLES)
    *samples = MAX_SAMPLES;
  const struct precision_request wanted = {
      .weights = precision_find(values[1], diagnostics),
      .of_experts_alone = notes.expert_precision && !strcmp(notes.expert_precision, values[1]),
      .kv = "bf16",
      .head = "weights",
  };
  const struct device cpu = {.backend = &cpu_backend};
  if (!wanted.weights)
    return -1;
  if (precision_choose(&cpu, &wanted, request) == DECODE_OK)
    return 0;
  diagnostics_error(diagnostics, nowhere, "%s", cpu_backend.error());
  return -1;
}

static double steps_per_s(struct decode_state *state, const struct decode_request *request,
                          int steps) {
  cpu_backend.run(state, 2);
  const double started = now();
  cpu_backend.run(state, steps);
  return steps * request->batch / (now() - started);
}

static double prompts_per_s(struct decode_state *state, const struct decode_request *request,
                            int samples) {
  double seconds[MAX_SAMPLES] = {0};
  struct arena arena = {0};
  int *tokens = arena_array(&arena, (size_t)request->context, sizeof *tokens);
  for (int i = 0; i < request->context; i++)
    tokens[i] = (int)((int64_t)i * 7919 % request->shape.vocab);
  const struct decode_prompt prompt = {.count = request->context, .tokens = tokens};
  cpu_backend.prefill(state, &prompt);
  for (int i = 0; i < samples; i++) {
    const double started = now();
    cpu_backend.prefill(state, &prompt);
    seconds[i] = now() - started;
  }
  arena_free(&arena);
  sort_ascending(seconds, (size_t)samples);
  return request->context / at(seconds, samples, 0.5);
}

// ---- only the products of a prompt, by the library

struct alone {
  struct plan plan;
  struct onednn *library;
  struct barrier barrier;
  int samples;
  double seconds[MAX_SAMPLES];
  atomic_bool failed;
};

static bool is_multiplied(const struct plan *plan, enum matrix_name name) {
  const struct matrix *matrix = &plan->matrix[name];
  return name != MATRIX_HEAD && matrix->copies == 1 && matrix->head_panels == 0 &&
         plan->kernels->elementwise->unpack[matrix->element];
}

// A thread's rows of a matrix; one thread creates it before others need it.
static const struct onednn_product *product_of(const struct alone *alone, enum matrix_name name,
                                               int thread) {
  const struct plan *plan = &alone->plan;
  const struct onednn_size size = {
      .vectors = plan->context,
      .inner = plan->matrix[name].padded,
      .outputs = plan_share(plan, name, thread).count * PANEL_ROWS,
  };
  return size.outputs > 0 ? onednn_product(alone->library, &size) : NULL;
}

static void *room_of(size_t bytes) {
  uint16_t *room = aligned_alloc(LINE_BYTES, round_up(bytes, LINE_BYTES));
  for (size_t i = 0; room && i < bytes / sizeof *room; i++)
    room[i] = bf16_from_float((float)(i % 15) - 7);
  return room;
}

static bool multiply_layers(const struct alone *alone, int thread, const void *in,
                            const void *weights, float *out) {
  const struct plan *plan = &alone->plan;
  bool good = true;
  for (size_t layer = 0; layer < plan->layers; layer++)
    for (int m = 0; m < MATRICES; m++) {
      const enum matrix_name name = (enum matrix_name)m;
      if (!is_multiplied(plan, name) || !plan_has(plan, plan_layer_kind(plan, layer), name))
        continue;
      const struct onednn_product *product = product_of(alone, name, thread);
      good = good && (!product || onednn_multiply(product, in, weights, out) == 0);
    }
  return good;
}

static void multiply_alone(void *argument, int thread) {
  struct alone *alone = argument;
  const struct plan *plan = &alone->plan;
  size_t in_bytes = 0, weight_bytes = 0, out_bytes = 0;
  for (int m = 0; m < MATRICES; m++) {
    const size_t padded = plan->matrix[m].padded;
    const size_t rows = plan_share(plan, (enum matrix_name)m, thread).count * PANEL_ROWS;
    const size_t bytes[] = {plan->context * padded * 2, onednn_weight_bytes(padded, rows),
                            plan->context * rows * sizeof(float)};
    in_bytes = bytes[0] > in_bytes ? bytes[0] : in_bytes;
    weight_bytes = bytes[1] > weight_bytes ? bytes[1] : weight_bytes;
    out_bytes = bytes[2] > out_bytes ? bytes[2] : out_bytes;
  }
  void *in = room_of(in_bytes), *weights = room_of(weight_bytes), *out = room_of(out_bytes);
  bool good = in && weights && out && multiply_layers(alone, thread, in, weights, out);
  for (int i = 0; i < alone->samples; i++) {
    barrier_wait(&alone->barrier, plan->threads);
    const double started = now();
    good = good && multiply_layers(alone, thread, in, weights, out);
    barrier_wait(&alone->barrier, plan->threads);
    if (thread == 0)
      alone->seconds[i] = now() - started;
  }
  if (!good)
    alone->failed = true;
  free(in);
  free(weights);
  free(out);
}

static int print_products(const struct decode_request *request, int samples) {
  static struct alone alone;
  char why[128];
  alone.samples = samples;
  alone.library = onednn_open(NULL, why, sizeof why);
  if (!alone.library || plan_make(request, cpu_kernels_choose(), &alone.plan) != DECODE_OK) {
    fprintf(stderr, "%s\n", alone.library ? "such a model is not known" : why);
    onednn_close(alone.library);
    return 1;
  }
  for (int m = 0; m < MATRICES; m++)
    for (int t = 0; t < alone.plan.threads; t++)
      if (is_multiplied(&alone.plan, (enum matrix_name)m))
        product_of(&alone, (enum matrix_name)m, t);
  const bool ran = threads_run(alone.plan.threads, multiply_alone, &alone) == 0 && !alone.failed;
  onednn_close(alone.library);
  if (!ran) {
    fprintf(stderr, "the library failed\n");
    return 1;
  }
  sort_ascending(alone.seconds, (size_t)samples);
  printf("%.3f\n", request->context / at(alone.seconds, samples, 0.5));
  return 0;
}

static const struct {
  const char *word;
  double (*per_s)(struct decode_state *, const struct decode_request *, int);
} speeds[] = {{"speed", steps_per_s}, {"prompts", prompts_per_s}, {"products", NULL}};

static int print_speed(size_t which, struct decode_request *request, int samples) {
  enum decode_status status;
  if (!speeds[which].per_s)
    return print_products(request, samples);
  request->chunk = speeds[which].per_s == prompts_per_s ? request->context : 0;
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state) {
    fprintf(stderr, "%s\n", cpu_backend.error());
    return 1;
  }
  printf("%.3f\n", speeds[which].per_s(state, request, samples));
  cpu_backend.destroy(state);
  return 0;
}

static void print_ladder(const struct decode_request *request, int samples) {
  static const char *const isas[] = {"portable", "avx2", "avx512", "avx512-bf16", "amx"};
  const struct readers readers = best_readers(request->threads);
  const int chosen = (int)cpu_kernels_choose()->isa;
  for (int isa = CPU_ISAS - 1; isa > CPU_PORTABLE; isa--) {
    if (!cpu_has((enum cpu_isa)isa))
      continue;
    double rate = 0;
    cpu_force_isa((enum cpu_isa)isa);
    cpu_backend.matrix_rate(0, &request->types, request->threads, &rate);
    printf("%s%.0f GFLOP/s ", isa == chosen ? "own " : "", rate / 1e9);
    measure(request, isas[isa], &readers, samples, rate);
  }
  cpu_backend.calibration_end();
}

int main(int count, char **values) {
  enum { SPEEDS = sizeof speeds / sizeof speeds[0] };
  size_t which = 0;
  while (count > 1 && which < SPEEDS && strcmp(values[1], speeds[which].word) != 0)
    which++;
  const int first = count > 1 && which < SPEEDS ? 2 : 1;
  if (count - first < 3) {
    fprintf(stderr,
            "cpu_kernels [speed | prompts | products] MODEL PRECISION BATCH [CONTEXT [THREADS "
            "[SAMPLES [LAYERS]]]]\n");
    return 2;
  }
  struct arena arena = {0};
  struct diagnostics diagnostics = {.arena = &arena};
  struct decode_request request;
  int samples, status = 2;
  if (read_request(count - first, values + first, &request, &samples, &diagnostics)) {
    diagnostics_print(&diagnostics, stderr, false);
  } else if (first == 2) {
    status = print_speed(which, &request, samples);
  } else {
    printf("%s %s, batch %d, context %d\n", values[1], values[2], request.batch, request.context);
    print_ladder(&request, samples);
    status = 0;
  }
  arena_free(&arena);
  return status;
}
