#include "kernels/cpu/calibrate.h"

#include "kernels/cpu/isa/blocks.h"
#include "kernels/cpu/isa/dispatch.h"
#include "kernels/cpu/isa/elementwise.h"
#include "kernels/cpu/isa/panel.h"
#include "kernels/cpu/isa/rows.h"
#include "kernels/cpu/memory.h"
#include "kernels/cpu/onednn.h"
#include "kernels/cpu/plan.h"
#include "kernels/cpu/threads.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

// Plain reads of one contiguous part per thread: how many streams each thread reads side by side,
// and how far ahead it prefetches. The last variant reads with portable C.
static const struct variant {
  size_t ahead;
  int streams;
  bool portable;
} variants[] = {{0, 4, false},    {4096, 4, false}, {1024, 4, false}, {0, 2, false},
                {2048, 2, false}, {0, 1, false},    {2048, 1, false}, {0, 4, true}};

enum { VARIANTS = sizeof variants / sizeof variants[0], PART_MULTIPLE = 1024 };

// Kept between calls of the same size; one caller at a time, as decode.h's interface implies.
static struct {
  uint8_t *part[1024]; // per thread
  size_t part_bytes;
  int threads;
} buffer;

struct read_pass {
  struct barrier barrier;
  const struct cpu_kernels *kernels;
  double started, ended;
  struct variant variant;
  atomic_uint result; // keeps the reads from being optimized away
};

static void touch(void *argument, int thread) {
  (void)argument;
  memset(buffer.part[thread], thread + 1, buffer.part_bytes);
}

void calibrate_end(void) {
  for (int t = 0; t < buffer.threads; t++)
    memory_give(buffer.part[t], buffer.part_bytes);
  memset(&buffer, 0, sizeof buffer);
}

static enum decode_status prepare(size_t part_bytes, int threads) {
  if (buffer.part_bytes == part_bytes && buffer.threads == threads)
    return DECODE_OK;
  calibrate_end();
  if (part_bytes * (size_t)threads > memory_now().available)
    return DECODE_NO_MEMORY;
  buffer.part_bytes = part_bytes;
  buffer.threads = threads;
  for (int t = 0; t < threads; t++)
    if (!(buffer.part[t] = memory_take(part_bytes)))
      goto fail;
  if (threads_run(threads, touch, NULL) == 0)
    return DECODE_OK;

fail:
  calibrate_end();
  return DECODE_NO_MEMORY;
}

static void read_part(void *argument, int thread) {
  struct read_pass *reading = argument;
  barrier_wait(&reading->barrier, buffer.threads);
  if (thread == 0)
    reading->started = now();
  uint32_t sum = reading->kernels->read(buffer.part[thread], buffer.part_bytes,
                                        reading->variant.streams, reading->variant.ahead);
  atomic_fetch_add(&reading->result, sum);
  barrier_wait(&reading->barrier, buffer.threads);
  if (thread == 0)
    reading->ended = now();
}

enum decode_status calibrate_read(uint64_t bytes, int threads, int variant, double *seconds) {
  if (threads <= 0)
    threads = threads_default();
  if (variant < 0 || variant >= VARIANTS || threads > 1024)
    return DECODE_UNSUPPORTED;
  size_t part = bytes / (uint64_t)threads / PART_MULTIPLE * PART_MULTIPLE;
  if (part == 0)
    return DECODE_UNSUPPORTED;
  enum decode_status status = prepare(part, threads);
  if (status != DECODE_OK)
    return status;
  struct read_pass reading = {.kernels = variants[variant].portable ? &cpu_kernels_portable
                                                                    : cpu_kernels_choose(),
                              .variant = variants[variant]};
  if (threads_run(threads, read_part, &reading) != 0)
    return DECODE_FAILED;
  *seconds = reading.ended - reading.started;
  return DECODE_OK;
}

// The rate of the kernels that a step itself uses, with weights and vectors in the nearest caches.
enum { RATE_PANELS = 4, RATE_COLUMNS = 256, RATE_BATCH = 16, RATE_ROUNDS = 4000 };

struct rate_pass {
  struct barrier barrier;
  void (*product)(const struct product *);
  double started, ended;
  enum product_kind kind;
  int threads;
};

// Bytes that are numbers of magnitude 1e-5 to 60 in every element type: zeros would draw less power
// than real weights do, and so run at higher clocks.
static void fill_alike(uint8_t *bytes, size_t count) {
  uint32_t bits = 1;
  for (size_t i = 0; i < count; i++) {
    bits = bits * 1664525 + 1013904223; // Numerical Recipes, section 7.1
    bytes[i] = (uint8_t)(0x38 | bits >> 29);
  }
}

static void multiply_part(void *argument, int thread) {
  struct rate_pass *rate = argument;
  _Alignas(64) uint8_t panels[RATE_PANELS * PANEL_ROWS * RATE_COLUMNS * 2];
  _Alignas(64) uint8_t in[RATE_BATCH * (RATE_COLUMNS * sizeof(float) + LINE_BYTES)];
  _Alignas(64) float out[RATE_BATCH * RATE_PANELS * PANEL_ROWS];
  int32_t sums[RATE_BATCH] = {0};
  fill_alike(panels, sizeof panels);
  fill_alike(in, sizeof in);
  const enum element element = product_types[rate->kind].weights;
  const size_t in_stride = sizeof in / RATE_BATCH;
  if (blocks_sum_bytes(element, product_types[rate->kind].input, RATE_COLUMNS) > 0)
    for (size_t b = 0; b < RATE_BATCH; b++)
      blocks_finish_int8(element, (int8_t *)in + b * in_stride, RATE_COLUMNS);
  struct product product = {.panels = panels,
                            .panel_stride = blocks_panel_bytes(element, RATE_COLUMNS),
                            .panel_count = RATE_PANELS,
                            .columns = RATE_COLUMNS,
                            .in = in,
                            .in_stride = in_stride,
                            .in_sums = sums,
                            .batch = RATE_BATCH,
                            .out = out,
                            .out_stride = RATE_PANELS * PANEL_ROWS};
  rate->product(&product);
  barrier_wait(&rate->barrier, rate->threads);
  if (thread == 0)
    rate->started = now();
  for (int i = 0; i < RATE_ROUNDS; i++)
    rate->product(&product);
  barrier_wait(&rate->barrier, rate->threads);
  if (thread == 0)
    rate->ended = now();
}

// ---- the library's rate, which prompts can reach

// A thread's weights, vectors and results fit in 1 MiB.
static const struct onednn_size library_size = {.vectors = 128, .inner = 512, .outputs = 512};
enum { LIBRARY_ROUNDS = 64 };

struct library_pass {
  struct barrier barrier;
  const struct onednn_product *product;
  double started, ended;
  int threads;
  atomic_bool failed;
};

static void multiply_by_library(void *argument, int thread) {
  struct library_pass *pass = argument;
  const size_t weight_bytes = onednn_weight_bytes(library_size.inner, library_size.outputs);
  const size_t in_bytes = library_size.vectors * library_size.inner * 2;
  uint8_t *weights = aligned_alloc(64, weight_bytes), *in = aligned_alloc(64, in_bytes);
  float *out = aligned_alloc(64, library_size.vectors * library_size.outputs * sizeof *out);
  bool good = weights && in && out;
  if (good) {
    fill_alike(weights, weight_bytes);
    fill_alike(in, in_bytes);
    good = onednn_multiply(pass->product, in, weights, out) == 0;
  }
  barrier_wait(&pass->barrier, pass->threads);
  if (thread == 0)
    pass->started = now();
  for (int i = 0; i < LIBRARY_ROUNDS && good; i++)
    good = onednn_multiply(pass->product, in, weights, out) == 0;
  barrier_wait(&pass->barrier, pass->threads);
  if (thread == 0)
    pass->ended = now();
  if (!good)
    pass->failed = true;
  free(weights);
  free(in);
  free(out);
}

// 0 if there is no library, or if it is not given prompts in these types.
static double library_rate(const struct plan *plan) {
  char why[128];
  const enum element element = plan->matrix[MATRIX_QKV].element;
  if (plan->request.types.activations == ELEMENT_F32 ||
      !plan->kernels->elementwise->unpack[element])
    return 0;
  struct onednn *library = onednn_open(cpu_library_file(), why, sizeof why);
  struct library_pass pass = {.product = library ? onednn_product(library, &library_size) : NULL,
                              .threads = plan->threads};
  const bool ran =
      pass.product && threads_run(plan->threads, multiply_by_library, &pass) == 0 && !pass.failed;
  const double operations = 2.0 * (double)(library_size.vectors * library_size.inner) *
                            (double)library_size.outputs * LIBRARY_ROUNDS;
  onednn_close(library);
  return ran ? operations * plan->threads / (pass.ended - pass.started) : 0;
}

enum decode_status calibrate_matrix(const struct decode_types *types, int threads,
                                    double *operations_per_s) {
  struct decode_request request = {
      .shape = {.layers = 1,
                .hidden = 64,
                .heads = 1,
                .kv_heads = 1,
                .head_dim = 64,
                .ffn_hidden = 64,
                .vocab = 64,
                .norm_epsilon = 1e-5f,
                .rope_theta = 1e4f},
      .types = *types,
      .batch = 1,
      .context = 1,
      .threads = threads,
  };
  struct plan plan;
  enum decode_status status = plan_make(&request, cpu_kernels_choose(), &plan);
  if (status != DECODE_OK)
    return status;
  struct rate_pass rate = {.kind = plan.matrix[MATRIX_QKV].kind, .threads = plan.threads};
  rate.product = plan.kernels->product[rate.kind];
  if (threads_run(plan.threads, multiply_part, &rate) != 0)
    return DECODE_FAILED;
  double operations = 2.0 * RATE_PANELS * PANEL_ROWS * RATE_COLUMNS * RATE_BATCH * RATE_ROUNDS;
  *operations_per_s =
      fmax(operations * plan.threads / (rate.ended - rate.started), library_rate(&plan));
  return DECODE_OK;
}
