// The ladder of CPU kernels: a whole decode step with each instruction set, beside the memory's
// read speed measured between the samples. "own" is the one that the machine is given unasked.
//   cpu_kernels MODEL WEIGHTS BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]
// Or only tokens per second, of SAMPLES steps in a row with the best of them:
//   cpu_kernels speed MODEL WEIGHTS BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]
// MODEL is tinyllama, llama8b, mistral, mixtral or falcon40b (of which LAYERS layers), WEIGHTS is
// bf16, int8, e4m3,
// mxfp4, nvfp4, mxfp6, int8-group, int4, or int4-bf16 with bf16 activations.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/cpu/backend.h"
#include "kernels/cpu/isa/dispatch.h"

#define MOST_SAMPLES  200
#define MOST_VARIANTS 32
#define READERS       3
#define READ_BYTES    (UINT64_C(4) << 30)

static const struct model {
  const char *name;
  struct decode_shape shape;
} models[] = {
    {"tinyllama",
     {.layers = 22,
      .hidden = 2048,
      .heads = 32,
      .kv_heads = 4,
      .head_dim = 64,
      .ffn_hidden = 5632,
      .vocab = 32000,
      .norm_epsilon = 1e-5f,
      .rope_theta = 1e4f}},
    {"llama8b",
     {.layers = 8,
      .hidden = 4096,
      .heads = 32,
      .kv_heads = 8,
      .head_dim = 128,
      .ffn_hidden = 14336,
      .vocab = 128256,
      .norm_epsilon = 1e-5f,
      .rope_theta = 5e5f}},
    {"mistral",
     {.layers = 8,
      .hidden = 4096,
      .heads = 32,
      .kv_heads = 8,
      .head_dim = 128,
      .ffn_hidden = 14336,
      .vocab = 32000,
      .norm_epsilon = 1e-5f,
      .rope_theta = 1e4f,
      .window = 4096}},
    {"mixtral",
     {.layers = 2,
      .hidden = 4096,
      .heads = 32,
      .kv_heads = 8,
      .head_dim = 128,
      .vocab = 32000,
      .norm_epsilon = 1e-5f,
      .rope_theta = 1e6f,
      .experts = {.count = 8, .chosen = 2, .hidden = 14336}}},
    {"falcon40b",
     {.layers = 2,
      .hidden = 8192,
      .heads = 128,
      .kv_heads = 8,
      .head_dim = 64,
      .ffn_hidden = 32768,
      .vocab = 65024,
      .norm_epsilon = 1e-5f,
      .rope_theta = 1e4f,
      .norm = NORM_LAYER,
      .mlp = MLP_GELU,
      .parallel = true}},
};

static const struct mix {
  const char *name;
  struct decode_types types;
} mixes[] = {
    {"bf16", {ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"int8", {ELEMENT_INT8, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8, ELEMENT_F32, ELEMENT_F32}},
    {"e4m3", {ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_E4M3, ELEMENT_BF16, ELEMENT_F32, ELEMENT_F32}},
    {"mxfp4", {ELEMENT_MXFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_MXFP4, ELEMENT_F32, ELEMENT_F32}},
    {"nvfp4", {ELEMENT_NVFP4, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_NVFP4, ELEMENT_F32, ELEMENT_F32}},
    {"mxfp6",
     {ELEMENT_MXFP6_E2M3, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_MXFP6_E2M3, ELEMENT_F32,
      ELEMENT_F32}},
    {"int8-group",
     {ELEMENT_INT8_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT8_GROUP, ELEMENT_F32,
      ELEMENT_F32}},
    {"int4",
     {ELEMENT_INT4_GROUP, ELEMENT_INT8, ELEMENT_BF16, ELEMENT_INT4_GROUP, ELEMENT_F32,
      ELEMENT_F32}},
    {"int4-bf16",
     {ELEMENT_INT4_GROUP, ELEMENT_BF16, ELEMENT_BF16, ELEMENT_INT4_GROUP, ELEMENT_F32,
      ELEMENT_F32}},
};

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static int ascending(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double at(const double *sorted, int count, double part) {
  return sorted[(int)(part * (count - 1) + 0.5)];
}

// Bytes per second of one variant of reading; 0 past the last.
static double read_speed(int variant, int threads) {
  double seconds;
  if (cpu_backend.read_memory(0, READ_BYTES, threads, variant, &seconds) != DECODE_OK)
    return 0;
  return (double)READ_BYTES / seconds;
}

// The read kernels that are the fastest here, in no order.
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
  double speeds[MOST_VARIANTS] = {0};
  for (int round = 0; round < 3; round++)
    for (int v = 0; v < MOST_VARIANTS; v++) {
      const double speed = read_speed(v, threads);
      if (speed == 0)
        break;
      speeds[v] = speed > speeds[v] ? speed : speeds[v];
    }
  for (int v = 0; v < MOST_VARIANTS && speeds[v] > 0; v++) {
    printf("  read %d: %.2f GB/s\n", v, speeds[v] / 1e9);
    const int worst = slowest(speeds, readers.variants, READERS);
    if (v < READERS)
      readers.variants[v] = v;
    else if (speeds[v] > speeds[readers.variants[worst]])
      readers.variants[worst] = v;
  }
  return readers;
}

// What memory gives now: the best of several, as none is it always.
static double read_now(const struct readers *readers) {
  double best = 0;
  for (int i = 0; i < READERS; i++) {
    const double speed = read_speed(readers->variants[i], readers->threads);
    best = speed > best ? speed : best;
  }
  return best;
}

// Those of the experts as they were touched, on average.
static double bytes_of_step(struct decode_state *state, const struct decode_cost *cost) {
  struct decode_touched touched;
  cpu_backend.touched(state, &touched);
  return (double)(cost->weight_bytes + cost->kv_bytes) +
         (double)cost->expert_bytes * (double)touched.experts / (double)touched.steps;
}

// Samples of a step, each between two reads: prints medians and the spread of the ratio; and what
// part of the matrix units' rate the step's arithmetic takes.
static void measure(const struct decode_request *request, const char *isa,
                    const struct readers *readers, int samples, double rate) {
  enum decode_status status;
  struct decode_cost cost;
  double created = now();
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state || cpu_backend.cost(request, &cost) != DECODE_OK) {
    printf("%s: %s\n", isa, cpu_backend.error());
    return;
  }
  created = now() - created;
  double steps[MOST_SAMPLES] = {0}, reads[MOST_SAMPLES] = {0}, ratios[MOST_SAMPLES] = {0};
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
  qsort(steps, (size_t)samples, sizeof *steps, ascending);
  qsort(reads, (size_t)samples, sizeof *reads, ascending);
  qsort(ratios, (size_t)samples, sizeof *ratios, ascending);
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

// The request in MODEL WEIGHTS BATCH [CONTEXT [THREADS [SAMPLES [LAYERS]]]]; -1 if it is none.
static int read_request(int count, char **values, struct decode_request *request, int *samples) {
  const struct model *model = NULL;
  const struct mix *mix = NULL;
  for (size_t i = 0; count > 2 && i < sizeof models / sizeof models[0]; i++)
    if (strcmp(values[0], models[i].name) == 0)
      model = &models[i];
  for (size_t i = 0; count > 2 && i < sizeof mixes / sizeof mixes[0]; i++)
    if (strcmp(values[1], mixes[i].name) == 0)
      mix = &mixes[i];
  if (!model || !mix)
    return -1;
  *request = (struct decode_request){.shape = model->shape, .types = mix->types, .seed = 1};
  request->batch = argument(count, values, 2, 1);
  request->context = argument(count, values, 3, 512);
  request->threads = argument(count, values, 4, 0);
  *samples = argument(count, values, 5, 15);
  request->shape.layers = argument(count, values, 6, request->shape.layers);
  if (*samples < 1 || *samples > MOST_SAMPLES)
    *samples = MOST_SAMPLES;
  return 0;
}

static int print_speed(const struct decode_request *request, int steps) {
  enum decode_status status;
  struct decode_state *state = cpu_backend.create(0, request, &status);
  if (!state) {
    fprintf(stderr, "%s\n", cpu_backend.error());
    return 1;
  }
  cpu_backend.run(state, 2);
  double started = now();
  cpu_backend.run(state, steps);
  printf("%.3f\n", steps * request->batch / (now() - started));
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
  bool speed = count > 1 && strcmp(values[1], "speed") == 0;
  int first = speed ? 2 : 1, samples;
  struct decode_request request;
  if (read_request(count - first, values + first, &request, &samples) != 0) {
    fprintf(stderr, "cpu_kernels [speed] tinyllama|llama8b bf16|int8|e4m3 BATCH [CONTEXT [THREADS "
                    "[SAMPLES [LAYERS]]]]\n");
    return 2;
  }
  if (speed)
    return print_speed(&request, samples);
  printf("%s %s, batch %d, context %d\n", values[1], values[2], request.batch, request.context);
  print_ladder(&request, samples);
  return 0;
}
