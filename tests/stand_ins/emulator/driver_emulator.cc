// driver_emulator: kernels/gpu/host/driver.h on the host. Memory is malloc's, in exactly the sizes
// asked for and filled with 0xFF; a launch is carried out when it is queued.
//
// Environment, read when it is needed:
//   EMULATOR_SEED         of the schedules, 1; each launch of a context has one of its own from it
//   EMULATOR_SHARED       bytes of shared memory that a block may take, 98304
//   EMULATOR_MEMORY       bytes of device memory, 2 GiB
//   EMULATOR_UNITS        multiprocessors, 2
//   EMULATOR_CLUSTERS     that it holds at a time at most, one for as many multiprocessors
//   EMULATOR_PART         multiprocessors of a part of the device, which hold a cluster; all
//   EMULATOR_DEVICES      1
//   EMULATOR_SHARED_n, EMULATOR_MEMORY_n, EMULATOR_UNITS_n  the same of device n alone
//   EMULATOR_PRODUCTS     the file of a stand-in for the vendor's library (tests/stand_ins/blaslt):
//                         cuBLASLt's with a warp of 32, else hipBLASLt's; without it there is none
//   EMULATOR_FAIL_LAUNCH  n: the n-th launch of a context, from 1, loses the device
//   EMULATOR_FAIL_DEVICE  only this device's launches fail
//   EMULATOR_FAIL_JOIN    1: contexts cannot be joined
//   EMULATOR_MISS_REDUCE  n: this device (EMULATOR_FAIL_DEVICE) does not come to its n-th
//   all-reduce
//   EMULATOR_SKIP_REDUCE  n: no device's n-th all-reduce does anything
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

extern "C" {
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/vendor_products.h"
}
#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "tests/stand_ins/emulator/emulator.h"
#if defined(EMULATOR_PTX)
#include "tests/stand_ins/ptx/ptx.h"
#endif

struct allocation {
  unsigned char *memory;
  size_t bytes;
  struct allocation *next;   // of the context
  struct allocation *before; // in time
};

// Where the threads of joined contexts meet.
struct meeting {
  pthread_mutex_t mutex;
  pthread_cond_t changed;
  int count, arrived;
  unsigned round;
  bool broken;
  struct all_reduce_arguments brought[MAX_DECODE_RANKS];
};

struct gpu_context {
  struct meeting *meeting;
  int device, rank;
  uint64_t reduces;
  struct allocation *allocations;
  size_t taken, limit, shared_bytes;
  uint64_t seed, launches, failing;
  struct vendor_library *products;
  bool lost;
  double started_s;
};

struct gpu_graph {
  struct gpu_launch *launches; // their arguments belong to the graph
  size_t count;
  bool recorded;
};

namespace {

enum : size_t { ALIGNMENT = 256 }; // promised by GPU runtimes

thread_local char error_text[640];
thread_local struct allocation *newest; // of all contexts of this thread

__attribute__((format(printf, 2, 3))) enum decode_status failed(enum decode_status status,
                                                                const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error_text, sizeof error_text, format, arguments);
  va_end(arguments);
  return status;
}

uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, nullptr, 10) : otherwise;
}

// A device's own, or that of all devices.
uint64_t setting_of(int device, const char *name, uint64_t otherwise) {
  char own[64];
  snprintf(own, sizeof own, "%s_%d", name, device);
  return setting(own, setting(name, otherwise));
}

bool is_failing(int device) {
  return setting("EMULATOR_FAIL_DEVICE", static_cast<uint64_t>(device)) ==
         static_cast<uint64_t>(device);
}

int device_count(void) {
  const int count = static_cast<int>(setting("EMULATOR_DEVICES", 1));
  if (!count) {
    failed(DECODE_NO_DEVICE, "the emulator was told to have no device");
  }
  return count;
}

enum decode_status describe(int device, struct gpu_device *out) {
  if (device < 0 || device >= device_count()) {
    return failed(DECODE_NO_DEVICE, "there is no device %d", device);
  }
  memset(out, 0, sizeof *out);
  struct decode_device *d = &out->described;
  snprintf(d->name, sizeof d->name, "host emulator, warp %d", EMULATOR_WARP);
  snprintf(d->runtime, sizeof d->runtime, "emulator");
  d->memory_bytes = setting_of(device, "EMULATOR_MEMORY", UINT64_C(2) << 30);
  d->memory_free_bytes = d->memory_bytes;
  d->cache_bytes = 1 << 20;
  d->units = static_cast<int>(setting_of(device, "EMULATOR_UNITS", 2));
  snprintf(out->architecture, sizeof out->architecture, "emulator");
  out->warp = EMULATOR_WARP;
  out->shared_bytes = setting_of(device, "EMULATOR_SHARED", 101376);
#if !defined(TILE_MMA)
  out->any_chunk = true;
#endif
  out->overlap = true;
#if defined(EMULATOR_PTX)
  ptx_describe(out);
#elif defined(TILE_MMA)
  out->wgmma = true;
  out->clusters = MAX_CLUSTER;
#endif
  out->cooperative = true;
  return DECODE_OK;
}

enum decode_status open_device(int device, struct gpu_context **out) {
  struct gpu_device described;
  *out = nullptr;
  if (describe(device, &described) != DECODE_OK) {
    return DECODE_NO_DEVICE;
  }
  struct gpu_context *context = static_cast<struct gpu_context *>(calloc(1, sizeof *context));
  if (!context) {
    return failed(DECODE_NO_MEMORY, "out of memory");
  }
  context->device = device;
  context->limit = described.described.memory_bytes;
  context->shared_bytes = described.shared_bytes;
  context->seed = setting("EMULATOR_SEED", 1);
  if (is_failing(device)) {
    context->failing = setting("EMULATOR_FAIL_LAUNCH", 0);
  }
  *out = context;
  return DECODE_OK;
}

// What was not released is leaked, for the leak sanitizer to find.
void close_device(struct gpu_context *context) {
  if (context) {
    vendor_library_close(context->products);
  }
  free(context);
}

enum decode_status usable(const struct gpu_context *context) {
  return context->lost ? DECODE_FAILED : DECODE_OK;
}

enum decode_status allocate(struct gpu_context *context, size_t bytes, void **out) {
  *out = nullptr;
  if (usable(context) != DECODE_OK) {
    return DECODE_FAILED;
  }
  if (bytes > context->limit - context->taken) {
    return failed(DECODE_NO_MEMORY, "%zu bytes do not fit into the %zu free of %zu", bytes,
                  context->limit - context->taken, context->limit);
  }
  struct allocation *a = static_cast<struct allocation *>(malloc(sizeof *a));
  void *memory;
  if (!a || posix_memalign(&memory, ALIGNMENT, bytes)) {
    free(a);
    return failed(DECODE_NO_MEMORY, "out of memory");
  }
  memset(memory, 0xFF, bytes);
  *a = {static_cast<unsigned char *>(memory), bytes, context->allocations, newest};
  newest = a;
  context->allocations = a;
  context->taken += bytes;
  *out = memory;
  return DECODE_OK;
}

void forget(const struct allocation *a) {
  struct allocation **link = &newest;
  while (*link && *link != a) {
    link = &(*link)->before;
  }
  if (*link) {
    *link = a->before;
  }
}

void release(struct gpu_context *context, void *memory) {
  struct allocation **link = &context->allocations;
  while (*link && (*link)->memory != memory) {
    link = &(*link)->next;
  }
  struct allocation *a = *link;
  if (a) {
    *link = a->next;
    forget(a);
    context->taken -= a->bytes;
    free(a->memory);
    free(a);
  } else if (memory) {
    context->lost = true;
    failed(DECODE_FAILED, "memory is released that was not allocated");
  }
}

// Does a single allocation contain all of it?
enum decode_status check_range(struct gpu_context *context, const void *start, size_t bytes) {
  const uintptr_t first = reinterpret_cast<uintptr_t>(start);
  for (const struct allocation *a = context->allocations; a; a = a->next) {
    const uintptr_t begin = reinterpret_cast<uintptr_t>(a->memory);
    if (first >= begin && first - begin <= a->bytes && bytes <= a->bytes - (first - begin)) {
      return usable(context);
    }
  }
  context->lost = true;
  return failed(DECODE_FAILED, "%zu bytes are copied or set outside of device memory", bytes);
}

enum decode_status set(struct gpu_context *context, void *memory, int byte, size_t bytes) {
  if (check_range(context, memory, bytes) != DECODE_OK) {
    return DECODE_FAILED;
  }
  memset(memory, byte, bytes);
  return DECODE_OK;
}

enum decode_status copy_in(struct gpu_context *context, void *device, const void *host,
                           size_t bytes) {
  if (check_range(context, device, bytes) != DECODE_OK) {
    return DECODE_FAILED;
  }
  memcpy(device, host, bytes);
  return DECODE_OK;
}

enum decode_status copy_out(struct gpu_context *context, void *host, const void *device,
                            size_t bytes) {
  if (check_range(context, device, bytes) != DECODE_OK) {
    return DECODE_FAILED;
  }
  memcpy(host, device, bytes);
  return DECODE_OK;
}

enum decode_status lose(struct gpu_context *context, const char *words) {
  context->lost = true;
  return failed(DECODE_FAILED, "%s", words);
}

// ---- all-reduces: the last to arrive does the work, in the order of the ranks

enum decode_status check_brought(const struct meeting *meeting) {
  for (int rank = 1; rank < meeting->count; rank++) {
    if (meeting->brought[rank].count != meeting->brought[0].count) {
      return failed(DECODE_FAILED, "the ranks bring vectors of different lengths");
    }
  }
  return DECODE_OK;
}

void reduce_sum(const struct meeting *meeting) {
  for (uint64_t i = 0; i < meeting->brought[0].count; i++) {
    float sum = 0;
    for (int rank = 0; rank < meeting->count; rank++) {
      sum += static_cast<float *>(meeting->brought[rank].memory)[i];
    }
    for (int rank = 0; rank < meeting->count; rank++) {
      static_cast<float *>(meeting->brought[rank].memory)[i] = sum;
    }
  }
}

void reduce_max(const struct meeting *meeting) {
  for (uint64_t i = 0; i < meeting->brought[0].count; i++) {
    uint64_t most = 0;
    for (int rank = 0; rank < meeting->count; rank++) {
      const uint64_t own = static_cast<uint64_t *>(meeting->brought[rank].memory)[i];
      most = own > most ? own : most;
    }
    for (int rank = 0; rank < meeting->count; rank++) {
      static_cast<uint64_t *>(meeting->brought[rank].memory)[i] = most;
    }
  }
}

enum decode_status meet(struct gpu_context *context, const struct all_reduce_arguments *brought,
                        void (*reduce)(const struct meeting *)) {
  struct meeting *m = context->meeting;
  pthread_mutex_lock(&m->mutex);
  const unsigned round = m->round;
  m->brought[context->rank] = *brought;
  if (!m->broken && ++m->arrived == m->count) {
    m->broken = check_brought(m) != DECODE_OK;
    if (!m->broken) {
      reduce(m);
    }
    m->arrived = 0;
    m->round++;
    pthread_cond_broadcast(&m->changed);
  }
  while (!m->broken && m->round == round) {
    pthread_cond_wait(&m->changed, &m->mutex);
  }
  const bool broken = m->broken;
  pthread_mutex_unlock(&m->mutex);
  return broken ? lose(context, "an all-reduce was ended") : DECODE_OK;
}

enum decode_status all_reduce(struct gpu_context *context, const struct gpu_launch *l) {
  if (!context->meeting) {
    return lose(context, "an all-reduce without others");
  }
  struct all_reduce_arguments brought;
  memcpy(&brought, l->arguments, sizeof brought);
  context->reduces++;
  if (is_failing(context->device) && context->reduces == setting("EMULATOR_MISS_REDUCE", 0)) {
    return lose(context, "the all-reduce failed");
  }
  if (context->reduces == setting("EMULATOR_SKIP_REDUCE", 0)) {
    return DECODE_OK;
  }
  return meet(context, &brought, strcmp(l->kernel, ALL_REDUCE_SUM) ? reduce_max : reduce_sum);
}

enum decode_status join(struct gpu_context *const *contexts, int count) {
  if (setting("EMULATOR_FAIL_JOIN", 0)) {
    return failed(DECODE_NO_DEVICE, "the emulator was told to join nothing");
  }
  struct meeting *m = static_cast<struct meeting *>(calloc(1, sizeof *m));
  if (!m) {
    return failed(DECODE_NO_MEMORY, "out of memory");
  }
  pthread_mutex_init(&m->mutex, nullptr);
  pthread_cond_init(&m->changed, nullptr);
  m->count = count;
  for (int rank = 0; rank < count; rank++) {
    contexts[rank]->meeting = m;
    contexts[rank]->rank = rank;
  }
  return DECODE_OK;
}

enum decode_status look(struct gpu_context *const *, int) {
  return DECODE_OK;
}

void part(struct gpu_context *const *contexts, int count, bool broken) {
  struct meeting *m = contexts[0]->meeting;
  if (!m) {
    return;
  }
  if (broken) {
    pthread_mutex_lock(&m->mutex);
    m->broken = true;
    pthread_cond_broadcast(&m->changed);
    pthread_mutex_unlock(&m->mutex);
    return;
  }
  for (int rank = 0; rank < count; rank++) {
    contexts[rank]->meeting = nullptr;
  }
  pthread_cond_destroy(&m->changed);
  pthread_mutex_destroy(&m->mutex);
  free(m);
}

const char *joined_by(void) {
  return "emulator";
}

uint64_t units_of_part(void) {
  return setting("EMULATOR_PART", setting("EMULATOR_UNITS", 2));
}

enum decode_status launch(struct gpu_context *context, const struct gpu_launch *l) {
  if (usable(context) != DECODE_OK) {
    return DECODE_FAILED;
  }
  if (++context->launches == context->failing) {
    return lose(context, "the device is lost");
  }
  if (!strcmp(l->kernel, ALL_REDUCE_SUM) || !strcmp(l->kernel, ALL_REDUCE_MAX)) {
    return all_reduce(context, l);
  }
  if (l->shared_bytes > context->shared_bytes) {
    context->lost = true;
    return failed(DECODE_FAILED, "kernel %s: %zu bytes of shared memory, the device has %zu",
                  l->kernel, l->shared_bytes, context->shared_bytes);
  }
  if (l->cluster > units_of_part()) {
    return lose(context, "no part of the device holds so large a cluster");
  }
  const struct emulator_launch one = {l->kernel,
                                      {l->grid[0], l->grid[1], l->grid[2]},
                                      l->block,
                                      l->shared_bytes,
                                      l->arguments,
                                      l->argument_bytes,
                                      context->seed * 1000003 + context->launches,
                                      l->cooperative,
                                      nullptr,
                                      l->cluster};
  const char *why = emulator_launch_kernel(&one);
  return why ? lose(context, why) : DECODE_OK;
}

enum decode_status clusters(struct gpu_context *context, const struct gpu_launch *l, int *count) {
  const uint64_t units = setting("EMULATOR_UNITS", 2), part = units_of_part();
  const uint64_t held = units / part * (part / l->cluster) + units % part / l->cluster;
  const uint64_t most = setting("EMULATOR_CLUSTERS", held);
  *count = static_cast<int>(most < held ? most : held);
  return usable(context);
}

// ---- the vendor's library, which multiplies in host memory

#if defined(EMULATOR_FNUZ)
constexpr bool IS_FNUZ = true;
#else
constexpr bool IS_FNUZ = false;
#endif

enum decode_status multiplies(struct gpu_context *context, const struct vendor_size *size) {
  constexpr bool IS_CUDA = EMULATOR_WARP == 32;
  struct library_file file = {};
  file.kind = IS_CUDA ? "cuBLASLt" : "hipBLASLt";
  file.names[0] = "libno-products.so";
  file.variable = "EMULATOR_PRODUCTS";
  file.install = "there is none in the emulator";
  char why[512] = "";
  if (!context->products) {
    context->products = vendor_library_open(IS_CUDA ? VENDOR_CUBLASLT : VENDOR_HIPBLASLT, &file,
                                            IS_FNUZ, why, sizeof why);
  }
  if (!context->products || vendor_prepare(context->products, size, why, sizeof why)) {
    return failed(DECODE_UNSUPPORTED, "%s", why);
  }
  return usable(context);
}

// Is all of it allocated, and aligned as the libraries assume?
bool is_given(struct gpu_context *context, const void *memory, size_t bytes) {
  return reinterpret_cast<uintptr_t>(memory) % VENDOR_ALIGNMENT == 0 &&
         check_range(context, memory, bytes) == DECODE_OK;
}

enum decode_status multiply(struct gpu_context *context, const struct vendor_product *product) {
  const struct vendor_size &size = product->size;
  const size_t vectors = static_cast<size_t>(size.vectors), rows = static_cast<size_t>(size.rows);
  const size_t row = static_cast<size_t>(size.stride) * (size.element == ELEMENT_BF16 ? 2 : 1);
  const enum decode_status status = multiplies(context, &size);
  char why[256];
  if (status != DECODE_OK) {
    return status;
  }
  if (!is_given(context, product->weights, rows * row) ||
      !is_given(context, product->activations, vectors * row) ||
      !is_given(context, product->out, vectors * rows * sizeof(float)) ||
      !is_given(context, product->workspace, VENDOR_WORKSPACE)) {
    return lose(context, "a product of memory that is not there, or not aligned");
  }
  return vendor_multiply(context->products, product, nullptr, why, sizeof why)
             ? failed(DECODE_UNSUPPORTED, "%s", why)
             : DECODE_OK;
}

const char *multiplied_by(const struct gpu_context *context) {
  return context->products ? vendor_library_name(context->products) : "";
}

// Like cuTensorMapEncodeTiled (CUDA driver API).
enum decode_status make_tensor_map(struct gpu_context *context, struct tensor_map *map) {
  const auto &m = map->matrix;
  if (reinterpret_cast<uintptr_t>(m.from) % 16 || m.row_bytes % 16 || !m.rows || !m.box_rows ||
      m.box_rows > 256 || check_range(context, m.from, m.rows * m.row_bytes) != DECODE_OK) {
    return lose(context, "a tensor map of what cannot be one");
  }
  map->encoded[15] = EMULATOR_TENSOR_MAP;
  return usable(context);
}

enum decode_status wait(struct gpu_context *context) {
  return usable(context);
}

void graph_free(struct gpu_context *, struct gpu_graph *graph) {
  if (graph) {
    for (size_t i = 0; i < graph->count; i++) {
      free(const_cast<void *>(graph->launches[i].arguments));
    }
    free(graph->launches);
    free(graph);
  }
}

enum decode_status graph_make(struct gpu_context *context, const struct gpu_launch *launches,
                              size_t count, bool recorded, struct gpu_graph **out) {
  *out = nullptr;
  if (usable(context) != DECODE_OK) {
    return DECODE_FAILED;
  }
  struct gpu_graph *graph = static_cast<struct gpu_graph *>(calloc(1, sizeof *graph));
  if (graph) {
    graph->launches = static_cast<struct gpu_launch *>(calloc(count, sizeof *launches));
  }
  for (size_t i = 0; graph && graph->launches && i < count; i++) {
    void *arguments = malloc(launches[i].argument_bytes);
    graph->launches[i] = launches[i];
    graph->launches[i].arguments = arguments;
    graph->count = i + 1;
    if (!arguments) {
      graph_free(context, graph);
      return failed(DECODE_NO_MEMORY, "out of memory");
    }
    memcpy(arguments, launches[i].arguments, launches[i].argument_bytes);
  }
  if (!graph || graph->count != count) {
    graph_free(context, graph);
    return failed(DECODE_NO_MEMORY, "out of memory");
  }
  graph->recorded = recorded;
  *out = graph;
  return DECODE_OK;
}

void graph_form(const struct gpu_graph *graph, struct decode_step_form *out) {
  *out = {};
  const char *single = graph->count == 1 ? "one launch" : "single launches";
  snprintf(out->form, sizeof out->form, "%s", graph->recorded ? "recorded graph" : single);
}

enum decode_status graph_run(struct gpu_context *context, struct gpu_graph *graph, int times) {
  for (int t = 0; t < times; t++) {
    for (size_t i = 0; i < graph->count; i++) {
      const enum decode_status status = launch(context, &graph->launches[i]);
      if (status != DECODE_OK) {
        return status;
      }
    }
  }
  return usable(context);
}

double now_s(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

enum decode_status timer_start(struct gpu_context *context) {
  context->started_s = now_s();
  return usable(context);
}

enum decode_status timer_stop(struct gpu_context *context, double *seconds) {
  *seconds = now_s() - context->started_s;
  return usable(context);
}

const char *error(void) {
  return error_text;
}

} // namespace

EMULATOR_EXPORT void *emulator_memory(void) {
  return newest ? newest->memory : nullptr;
}

EMULATOR_EXPORT const struct gpu_driver gpu_driver = {
    "emulator", "emulator", device_count, describe,   open_device,   close_device,
    allocate,   release,    set,          copy_in,    copy_out,      launch,
    clusters,   wait,       multiply,     multiplies, multiplied_by, make_tensor_map,
    graph_make, graph_run,  graph_free,   graph_form, join,          look,
    part,       joined_by,  timer_start,  timer_stop, error,
};
