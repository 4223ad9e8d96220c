#include "kernels/decode.h"
#include "kernels/gpu/arguments.h"
#include "kernels/gpu/host/collectives.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/runtime.h"
#include "kernels/gpu/host/vendor_products.h"
#include "kernels/gpu/plan/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// The Makefile defines this as a hash of the kernels' sources.
#ifndef GPU_BUILD
#define GPU_BUILD "unversioned"
#endif

#define MAX_QUEUED   200         // launches: filling a longer queue stalls
#define SMALL_SHARED (47 * 1024) // usable without asking: 48 KiB, static memory included
#define ABORT_S      30          // at most, once no graph is left
#define NAME_BYTES   sizeof(((struct gpu_launch *)0)->kernel)

struct kernel {
  char name[NAME_BYTES];
  void *handle;
  size_t shared_bytes; // allowed so far
  int carveout;        // asked for so far
};

struct gpu_context {
  const struct gpu_runtime *runtime;
  int device;
  bool overlap, lost, recording;
  void *stream, *start, *stop, *mark[2];
  size_t marks;
  void *code;
  struct vendor_library *products;
  bool products_tried;
  char products_words[256];                  // why there is none
  const struct gpu_collectives *collectives; // once joined with others
  void *communicator;
  atomic_bool parted; // no more all-reduces may be started
  bool aborting;
  pthread_t aborter;
  struct kernel *kernels;
  size_t kernel_count, kernel_room;
  char words[512]; // from the failure that lost the device
};

// `executable` is NULL if the runtime cannot record: the launches are then queued one by one.
struct gpu_graph {
  void *executable;
  struct gpu_launch *launches;
  size_t count;
  struct decode_step_form form;
};

static _Thread_local char last_error[512];

static enum decode_status fail(enum decode_status status, const char *words) {
  snprintf(last_error, sizeof last_error, "%s", words);
  return status;
}

// ---- what a runtime's error means

static const struct meaning {
  int code;
  enum decode_status status;
  const char *advice;
} meanings[] = {
    {RUNTIME_OUT_OF_MEMORY, DECODE_NO_MEMORY,
     "free memory on the device, or measure something smaller"},
    {3, DECODE_NO_DEVICE, "the driver failed to start: look at dmesg"},
    {RUNTIME_STUB_LIBRARY, DECODE_NO_DEVICE, NULL},
    {RUNTIME_OLD_DRIVER, DECODE_NO_DEVICE, NULL},
    {46, DECODE_NO_DEVICE, "another program has exclusive use of the device"},
    {RUNTIME_NO_DEVICE, DECODE_NO_DEVICE, NULL},
    {101, DECODE_NO_DEVICE, "there is no such device"},
    {RUNTIME_NO_CODE, DECODE_UNSUPPORTED, "this program has no kernels for this device"},
    {214, DECODE_FAILED, "memory errors that could not be corrected: have the device reset"},
    {222, DECODE_UNSUPPORTED, "the driver is older than the kernels' code: update it"},
    {700, DECODE_FAILED, "a kernel touched memory that is not its own: please report it"},
    {702, DECODE_FAILED, "a kernel took too long: use a device that drives no display"},
    {719, DECODE_FAILED, "a kernel failed: look at dmesg, and please report it"},
    {720, DECODE_UNSUPPORTED, "leave step=streaming out: its blocks are not all resident here"},
    {802, DECODE_NO_DEVICE, "start the service that sets up the links (nvidia-fabricmanager)"},
    {803, DECODE_NO_DEVICE, "library and kernel module belong to different drivers: restart"},
    {999, DECODE_FAILED, "look at dmesg; the device may need a reset"},
};

static const struct meaning *meaning_of(int code) {
  static const struct meaning other = {0, DECODE_FAILED, "look at dmesg"};
  for (size_t i = 0; i < sizeof meanings / sizeof meanings[0]; i++)
    if (meanings[i].code == code)
      return &meanings[i];
  return &other;
}

// Why there is no device. Without a driver, CUDA reports one that is too old.
static void explain_absence(const struct gpu_runtime *runtime, int code, const char *advice) {
  if (code == RUNTIME_OLD_DRIVER || code == RUNTIME_STUB_LIBRARY)
    snprintf(last_error, sizeof last_error, "no %s driver, or one too old; %s", runtime->vendor,
             runtime->install);
  else if (code == RUNTIME_NO_DEVICE)
    snprintf(last_error, sizeof last_error, "no %s device; %s", runtime->vendor, runtime->install);
  else
    snprintf(last_error, sizeof last_error, "no %s device: %s (%s); %s", runtime->vendor,
             runtime->error_string(code), runtime->error_name(code), advice);
}

static enum decode_status explain(const struct gpu_runtime *runtime, const char *what, int code) {
  if (code == 0)
    return DECODE_OK;
  const struct meaning *meaning = meaning_of(code);
  runtime->error_clear();
  if (meaning->status == DECODE_NO_DEVICE)
    explain_absence(runtime, code, meaning->advice);
  else
    snprintf(last_error, sizeof last_error, "%s: %s (%s); %s", what, runtime->error_string(code),
             runtime->error_name(code), meaning->advice);
  return meaning->status;
}

// Every later call fails the same way. But what cannot be recorded may still work when each step's
// launches are queued again.
static void lose(struct gpu_context *context) {
  context->lost = !context->recording;
  snprintf(context->words, sizeof context->words, "%s", last_error);
}

// Checks a call on a context, which is lost after any failure except running out of memory.
static enum decode_status check(struct gpu_context *context, const char *what, int code) {
  const enum decode_status status = explain(context->runtime, what, code);
  if (status == DECODE_OK || status == DECODE_NO_MEMORY)
    return status;
  lose(context);
  return status;
}

static enum decode_status ready(struct gpu_context *context) {
  if (context->lost)
    return fail(DECODE_FAILED, context->words);
  return check(context, "choosing the device", context->runtime->device_set(context->device));
}

// ---- devices

static const struct gpu_runtime *runtime_or_words(void) {
  const char *why = "";
  const struct gpu_runtime *runtime = gpu_runtime(&why);
  if (!runtime)
    fail(DECODE_NO_DEVICE, why);
  return runtime;
}

static int device_count(void) {
  const struct gpu_runtime *runtime = runtime_or_words();
  int count = 0;
  if (!runtime || explain(runtime, "counting devices", runtime->device_count(&count)))
    return 0;
  if (count <= 0)
    explain(runtime, "counting devices", RUNTIME_NO_DEVICE);
  return count > 0 ? count : 0;
}

static enum decode_status describe(int device, struct gpu_device *out) {
  const struct gpu_runtime *runtime = runtime_or_words();
  size_t free_bytes = 0, total = 0;
  memset(out, 0, sizeof *out);
  if (!runtime)
    return DECODE_NO_DEVICE;
  enum decode_status status = explain(runtime, "choosing the device", runtime->device_set(device));
  if (status == DECODE_OK)
    status = explain(runtime, "describing the device", runtime->describe(device, out));
  if (status == DECODE_OK)
    status = explain(runtime, "asking for free memory", runtime->memory_info(&free_bytes, &total));
  out->described.memory_bytes = total;
  out->described.memory_free_bytes = free_bytes;
  return status;
}

static void close_context(struct gpu_context *context) {
  if (!context)
    return;
  const struct gpu_runtime *runtime = context->runtime;
  runtime->device_set(context->device);
  vendor_library_close(context->products);
  void *const events[] = {context->start, context->stop, context->mark[0], context->mark[1]};
  for (size_t i = 0; i < sizeof events / sizeof events[0]; i++)
    if (events[i])
      runtime->event_destroy(events[i]);
  if (context->stream)
    runtime->stream_destroy(context->stream);
  if (context->code)
    runtime->code_unload(context->code);
  runtime->error_clear();
  free(context->kernels);
  free(context);
}

static enum decode_status open_parts(struct gpu_context *context) {
  const struct gpu_runtime *runtime = context->runtime;
  void **const events[] = {&context->start, &context->stop, &context->mark[0], &context->mark[1]};
  struct gpu_device device;
  enum decode_status status = describe(context->device, &device);
  context->overlap = device.overlap;
  if (status == DECODE_OK)
    status =
        check(context, "loading the kernels", runtime->code_load(context->device, &context->code));
  if (status == DECODE_OK)
    status = check(context, "making a stream",
                   runtime->stream_create(&context->stream, RUNTIME_NON_BLOCKING));
  for (size_t i = 0; i < sizeof events / sizeof events[0] && status == DECODE_OK; i++)
    status = check(context, "making an event", runtime->event_create(events[i]));
  return status;
}

static enum decode_status open_context(int device, struct gpu_context **out) {
  *out = NULL;
  const struct gpu_runtime *runtime = runtime_or_words();
  if (!runtime)
    return DECODE_NO_DEVICE;
  struct gpu_context *context = calloc(1, sizeof *context);
  if (!context)
    return fail(DECODE_NO_MEMORY, "the host is out of memory");
  context->runtime = runtime;
  context->device = device;
  const enum decode_status status = open_parts(context);
  if (status == DECODE_OK)
    *out = context;
  else
    close_context(context);
  return status;
}

// ---- memory

static enum decode_status allocate(struct gpu_context *context, size_t bytes, void **out) {
  *out = NULL;
  const enum decode_status status = ready(context);
  if (status != DECODE_OK)
    return status;
  char what[64];
  snprintf(what, sizeof what, "taking %.3f GB of memory", 1e-9 * (double)bytes);
  return check(context, what, context->runtime->allocate(out, bytes));
}

static void release(struct gpu_context *context, void *memory) {
  if (!memory)
    return;
  context->runtime->device_set(context->device);
  context->runtime->release(memory);
}

static enum decode_status wait_for(struct gpu_context *context) {
  const enum decode_status status = ready(context);
  return status == DECODE_OK ? check(context, "waiting for the device",
                                     context->runtime->stream_wait(context->stream))
                             : status;
}

static enum decode_status set(struct gpu_context *context, void *memory, int byte, size_t bytes) {
  const enum decode_status status = ready(context);
  return status == DECODE_OK ? check(context, "setting memory",
                                     context->runtime->set(memory, byte, bytes, context->stream))
                             : status;
}

static enum decode_status copy(struct gpu_context *context, void *to, const void *from,
                               size_t bytes, int kind) {
  enum decode_status status = ready(context);
  if (status == DECODE_OK)
    status = check(context, "copying memory",
                   context->runtime->copy(to, from, bytes, kind, context->stream));
  return status == DECODE_OK ? wait_for(context) : status;
}

static enum decode_status copy_in(struct gpu_context *context, void *device, const void *host,
                                  size_t bytes) {
  return copy(context, device, host, bytes, RUNTIME_TO_DEVICE);
}

static enum decode_status copy_out(struct gpu_context *context, void *host, const void *device,
                                   size_t bytes) {
  return copy(context, host, device, bytes, RUNTIME_FROM_DEVICE);
}

// ---- launches

static struct kernel *room_for_kernel(struct gpu_context *context) {
  if (context->kernel_count == context->kernel_room) {
    const size_t room = context->kernel_room ? 2 * context->kernel_room : 32;
    struct kernel *kernels = realloc(context->kernels, room * sizeof *kernels);
    if (!kernels)
      return NULL;
    context->kernels = kernels;
    context->kernel_room = room;
  }
  return &context->kernels[context->kernel_count];
}

static enum decode_status find_kernel(struct gpu_context *context, const char *name,
                                      struct kernel **out) {
  for (size_t i = 0; i < context->kernel_count; i++) {
    *out = &context->kernels[i];
    if (strcmp((*out)->name, name) == 0)
      return DECODE_OK;
  }
  *out = room_for_kernel(context);
  if (!*out)
    return fail(DECODE_NO_MEMORY, "the host is out of memory");
  memset(*out, 0, sizeof **out);
  snprintf((*out)->name, NAME_BYTES, "%s", name);
  char what[96];
  snprintf(what, sizeof what, "finding the kernel %s", name);
  const enum decode_status status =
      check(context, what, context->runtime->kernel_find(&(*out)->handle, context->code, name));
  context->kernel_count += status == DECODE_OK;
  return status;
}

static bool is_all_reduce(const struct gpu_launch *launch) {
  return !strcmp(launch->kernel, ALL_REDUCE_SUM) || !strcmp(launch->kernel, ALL_REDUCE_MAX);
}

static enum decode_status check_collective(struct gpu_context *context, const char *what,
                                           int code) {
  const struct gpu_collectives *collectives = context->collectives;
  if (code == 0)
    return DECODE_OK;
  snprintf(last_error, sizeof last_error, "%s: %s: %s (%d); NCCL_DEBUG=WARN tells more", what,
           collectives->name, collectives->error_string(code), code);
  lose(context);
  return DECODE_FAILED;
}

static enum decode_status queue_all_reduce(struct gpu_context *context,
                                           const struct gpu_launch *launch) {
  const bool sums = !strcmp(launch->kernel, ALL_REDUCE_SUM);
  struct all_reduce_arguments arguments;
  memcpy(&arguments, launch->arguments, sizeof arguments);
  if (!context->communicator || atomic_load(&context->parted))
    return fail(DECODE_FAILED, "this device is no longer joined with others");
  return check_collective(
      context, "an all-reduce",
      context->collectives->all_reduce(arguments.memory, arguments.memory, arguments.count,
                                       sums ? COLLECTIVES_FLOAT : COLLECTIVES_UINT64,
                                       sums ? COLLECTIVES_SUM : COLLECTIVES_MAX,
                                       context->communicator, context->stream));
}

// A kernel is told only once how much shared memory its launches need.
static enum decode_status allow_shared(struct gpu_context *context, struct kernel *kernel,
                                       const struct gpu_launch *launch) {
  const struct gpu_runtime *runtime = context->runtime;
  enum decode_status status = DECODE_OK;
  char what[128];
  snprintf(what, sizeof what, "%zu bytes of shared memory for %s", launch->shared_bytes,
           launch->kernel);
  if (launch->shared_bytes > SMALL_SHARED && launch->shared_bytes > kernel->shared_bytes) {
    status = check(context, what, runtime->kernel_shared(kernel->handle, launch->shared_bytes));
    kernel->shared_bytes = launch->shared_bytes;
  }
  if (status == DECODE_OK && runtime->kernel_carveout && launch->carveout != kernel->carveout) {
    status = check(context, what, runtime->kernel_carveout(kernel->handle, launch->carveout));
    kernel->carveout = launch->carveout;
  }
  return status;
}

static enum decode_status queue(struct gpu_context *context, const struct gpu_launch *launch) {
  struct kernel *kernel;
  char what[96];
  if (is_all_reduce(launch))
    return queue_all_reduce(context, launch);
  enum decode_status status = find_kernel(context, launch->kernel, &kernel);
  if (status == DECODE_OK)
    status = allow_shared(context, kernel, launch);
  if (status != DECODE_OK)
    return status;
  snprintf(what, sizeof what, "launching %s", launch->kernel);
  return check(
      context, what,
      context->runtime->kernel_launch(kernel->handle, launch, context->stream, context->overlap));
}

static enum decode_status launch(struct gpu_context *context, const struct gpu_launch *one) {
  const enum decode_status status = ready(context);
  return status == DECODE_OK ? queue(context, one) : status;
}

// A refusal is an answer, not a failure.
static enum decode_status clusters(struct gpu_context *context, const struct gpu_launch *one,
                                   int *count) {
  const struct gpu_runtime *runtime = context->runtime;
  struct kernel *kernel;
  *count = 0;
  enum decode_status status = ready(context);
  if (status != DECODE_OK || !runtime->kernel_clusters)
    return status;
  status = find_kernel(context, one->kernel, &kernel);
  if (status == DECODE_OK)
    status = allow_shared(context, kernel, one);
  if (status == DECODE_OK && runtime->kernel_clusters(kernel->handle, one, count)) {
    runtime->error_clear();
    *count = 0;
  }
  return status;
}

// gfx940 to gfx942 have the E4M3 without a negative zero ("hipDataType" in AMD's HIP
// documentation).
static void open_products(struct gpu_context *context) {
  const struct gpu_runtime *runtime = context->runtime;
  struct gpu_device device;
  context->products_tried = true;
  if (describe(context->device, &device) != DECODE_OK)
    snprintf(context->products_words, sizeof context->products_words, "%.250s", last_error);
  else
    context->products = vendor_library_open(
        runtime->vendor_kind, &runtime->products, !strncmp(device.architecture, "gfx94", 5),
        context->products_words, sizeof context->products_words);
}

// A product that the library does not take, with the reason in `why`, leaves no error behind.
static enum decode_status declined(const struct gpu_context *context, int failed, const char *why) {
  if (!failed)
    return DECODE_OK;
  context->runtime->error_clear();
  return fail(DECODE_UNSUPPORTED, why);
}

static enum decode_status multiplies(struct gpu_context *context, const struct vendor_size *size) {
  const enum decode_status status = ready(context);
  char why[256];
  if (status != DECODE_OK)
    return status;
  if (!context->products_tried)
    open_products(context);
  if (!context->products)
    return fail(DECODE_UNSUPPORTED, context->products_words);
  return declined(context, vendor_prepare(context->products, size, why, sizeof why), why);
}

static enum decode_status multiply(struct gpu_context *context,
                                   const struct vendor_product *product) {
  const enum decode_status status = multiplies(context, &product->size);
  char why[256];
  return status != DECODE_OK ? status
                             : declined(context,
                                        vendor_multiply(context->products, product, context->stream,
                                                        why, sizeof why),
                                        why);
}

static const char *multiplied_by(const struct gpu_context *context) {
  return context->products ? vendor_library_name(context->products) : "";
}

static enum decode_status tensor_map(struct gpu_context *context, struct tensor_map *map) {
  const enum decode_status status = ready(context);
  if (status != DECODE_OK)
    return status;
  if (!context->runtime->tensor_map)
    return fail(DECODE_UNSUPPORTED, "the device has no tensor maps");
  return check(context, "making a tensor map", context->runtime->tensor_map(map));
}

// ---- graphs

static void graph_free(struct gpu_context *context, struct gpu_graph *graph) {
  if (!graph)
    return;
  context->runtime->device_set(context->device);
  if (graph->executable)
    context->runtime->executable_destroy(graph->executable);
  free(graph->launches);
  free(graph);
}

// The launches, followed by their arguments.
static struct gpu_launch *copy_launches(const struct gpu_launch *launches, size_t count) {
  size_t bytes = count * sizeof *launches;
  for (size_t i = 0; i < count; i++)
    bytes += launches[i].argument_bytes;
  struct gpu_launch *copies = malloc(bytes);
  if (!copies)
    return NULL;
  char *arguments = (char *)(copies + count);
  for (size_t i = 0; i < count; i++) {
    copies[i] = launches[i];
    copies[i].arguments = arguments;
    memcpy(arguments, launches[i].arguments, launches[i].argument_bytes);
    arguments += launches[i].argument_bytes;
  }
  return copies;
}

// Kernels are found, and granted their memory, beforehand: not everything is allowed while
// recording.
static enum decode_status prepare_kernels(struct gpu_context *context,
                                          const struct gpu_graph *graph) {
  enum decode_status status = DECODE_OK;
  struct kernel *kernel;
  for (size_t i = 0; i < graph->count && status == DECODE_OK; i++) {
    if (is_all_reduce(&graph->launches[i]))
      continue;
    status = find_kernel(context, graph->launches[i].kernel, &kernel);
    if (status == DECODE_OK)
      status = allow_shared(context, kernel, &graph->launches[i]);
  }
  return status;
}

static bool refuse_recording(const struct gpu_runtime *runtime, int code, struct gpu_graph *graph) {
  snprintf(graph->form.fallback, sizeof graph->form.fallback,
           "the step could not be recorded: %.150s (%.60s)", runtime->error_string(code),
           runtime->error_name(code));
  return false;
}

// If it fails, graph->form.fallback says why.
static bool record(struct gpu_context *context, struct gpu_graph *graph) {
  const struct gpu_runtime *runtime = context->runtime;
  void *recorded = NULL;
  int code = runtime->capture_begin(context->stream, RUNTIME_CAPTURE_OF_THREAD);
  if (code)
    return refuse_recording(runtime, code, graph);
  enum decode_status status = DECODE_OK;
  context->recording = true;
  for (size_t i = 0; i < graph->count && status == DECODE_OK; i++)
    status = queue(context, &graph->launches[i]);
  context->recording = false;
  if (status != DECODE_OK)
    snprintf(graph->form.fallback, sizeof graph->form.fallback,
             "the step could not be recorded: %.200s", last_error);
  code = runtime->capture_end(context->stream, &recorded);
  if (code == 0 && status == DECODE_OK)
    code = runtime->graph_instantiate(&graph->executable, recorded, 0);
  if (recorded)
    runtime->graph_destroy(recorded);
  if (code && status == DECODE_OK)
    return refuse_recording(runtime, code, graph);
  return status == DECODE_OK;
}

// If the runtime cannot record, only speed is lost.
static enum decode_status record_if_possible(struct gpu_context *context, struct gpu_graph *graph) {
  if (record(context, graph)) {
    snprintf(graph->form.form, sizeof graph->form.form, "recorded graph");
    return DECODE_OK;
  }
  if (context->lost)
    return DECODE_FAILED;
  context->runtime->error_clear();
  graph->executable = NULL;
  return DECODE_OK;
}

static void graph_form(const struct gpu_graph *graph, struct decode_step_form *out) {
  *out = graph->form;
}

static enum decode_status graph_make(struct gpu_context *context, const struct gpu_launch *launches,
                                     size_t count, bool recorded, struct gpu_graph **out) {
  *out = NULL;
  enum decode_status status = ready(context);
  if (status != DECODE_OK)
    return status;
  struct gpu_graph *graph = calloc(1, sizeof *graph);
  if (graph)
    graph->launches = copy_launches(launches, count);
  if (!graph || !graph->launches) {
    free(graph);
    return fail(DECODE_NO_MEMORY, "the host is out of memory");
  }
  graph->count = count;
  snprintf(graph->form.form, sizeof graph->form.form,
           count == 1 ? "one launch" : "single launches");
  status = prepare_kernels(context, graph);
  if (status == DECODE_OK && recorded)
    status = record_if_possible(context, graph);
  if (status == DECODE_OK)
    *out = graph;
  else
    graph_free(context, graph);
  return status;
}

static enum decode_status queue_graph(struct gpu_context *context, const struct gpu_graph *graph) {
  if (atomic_load(&context->parted))
    return fail(DECODE_FAILED, "this device is no longer joined with others");
  if (graph->executable)
    return check(context, "launching a step",
                 context->runtime->graph_launch(graph->executable, context->stream));
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < graph->count && status == DECODE_OK; i++)
    status = queue(context, &graph->launches[i]);
  return status;
}

// Records a mark at the end of the queue and waits for the mark before it: the queue stays short
// but never runs empty.
// never empty.
static enum decode_status wait_for_mark(struct gpu_context *context) {
  const struct gpu_runtime *runtime = context->runtime;
  void *mark = context->mark[context->marks % 2], *before = context->mark[(context->marks + 1) % 2];
  enum decode_status status =
      check(context, "marking the queue", runtime->event_record(mark, context->stream));
  if (status == DECODE_OK && context->marks > 0)
    status = check(context, "waiting for the device", runtime->event_wait(before));
  context->marks++;
  return status;
}

static enum decode_status graph_run(struct gpu_context *context, struct gpu_graph *graph,
                                    int times) {
  enum decode_status status = ready(context);
  size_t queued = 0;
  for (int i = 0; i < times && status == DECODE_OK; i++) {
    status = queue_graph(context, graph);
    queued += graph->executable ? 1 : graph->count;
    if (status != DECODE_OK || queued < MAX_QUEUED / 2)
      continue;
    status = wait_for_mark(context);
    queued = 0;
  }
  return status;
}

// ---- several devices

static enum decode_status make_communicators(struct gpu_context *const *contexts, int count,
                                             const struct gpu_collectives *collectives) {
  void *communicators[MAX_DECODE_RANKS] = {NULL};
  int devices[MAX_DECODE_RANKS] = {0};
  for (int i = 0; i < count; i++)
    devices[i] = contexts[i]->device;
  const enum decode_status status = check_collective(
      contexts[0], "joining the devices", collectives->init_all(communicators, count, devices));
  for (int i = 0; i < count && status == DECODE_OK; i++)
    contexts[i]->communicator = communicators[i];
  return status;
}

static enum decode_status join(struct gpu_context *const *contexts, int count) {
  const char *why = "";
  const enum decode_status status = ready(contexts[0]);
  if (status != DECODE_OK)
    return status;
  const struct gpu_collectives *collectives =
      gpu_collectives(&contexts[0]->runtime->collectives, &why);
  if (!collectives)
    return fail(DECODE_NO_DEVICE, why);
  for (int i = 0; i < count; i++)
    contexts[i]->collectives = collectives;
  return make_communicators(contexts, count, collectives);
}

static enum decode_status look(struct gpu_context *const *contexts, int count) {
  for (int i = 0; i < count; i++) {
    const struct gpu_collectives *collectives = contexts[i]->collectives;
    int error = 0;
    const int code = collectives->async_error(contexts[i]->communicator, &error);
    const int found = code ? code : error;
    if (found == 0 || found == COLLECTIVES_IN_PROGRESS)
      continue;
    snprintf(last_error, sizeof last_error, "device %d: %s: %s (%d); NCCL_DEBUG=WARN tells more",
             contexts[i]->device, collectives->name, collectives->error_string(found), found);
    return DECODE_FAILED;
  }
  return DECODE_OK;
}

static void *abort_communicator(void *argument) {
  struct gpu_context *context = argument;
  context->runtime->device_set(context->device);
  context->collectives->abort(context->communicator);
  return NULL;
}

// Whoever is about to start an all-reduce sees `parted`, or has started it a moment later. An abort
// may wait for graphs with all-reduces to be freed, which is up to others.
static void end_waiting(struct gpu_context *const *contexts, int count) {
  const struct timespec moment = {.tv_nsec = 20000000};
  for (int i = 0; i < count; i++)
    atomic_store(&contexts[i]->parted, true);
  nanosleep(&moment, NULL);
  for (int i = 0; i < count; i++)
    contexts[i]->aborting =
        !pthread_create(&contexts[i]->aborter, NULL, abort_communicator, contexts[i]);
}

static void end_joining(struct gpu_context *context) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_sec += ABORT_S;
  context->runtime->device_set(context->device);
  if (!atomic_load(&context->parted))
    context->collectives->destroy(context->communicator);
  else if (context->aborting && pthread_timedjoin_np(context->aborter, NULL, &until))
    pthread_detach(context->aborter);
  context->communicator = NULL;
}

static void part(struct gpu_context *const *contexts, int count, bool broken) {
  if (broken) {
    end_waiting(contexts, count);
    return;
  }
  for (int i = 0; i < count; i++)
    end_joining(contexts[i]);
}

static const char *joined_by(void) {
  const char *why = "";
  const struct gpu_runtime *runtime = gpu_runtime(&why);
  const struct gpu_collectives *collectives =
      runtime ? gpu_collectives(&runtime->collectives, &why) : NULL;
  if (!collectives)
    fail(DECODE_NO_DEVICE, why);
  return collectives ? collectives->name : "";
}

// ---- time

static enum decode_status timer_start(struct gpu_context *context) {
  const enum decode_status status = ready(context);
  return status == DECODE_OK
             ? check(context, "marking the time",
                     context->runtime->event_record(context->start, context->stream))
             : status;
}

static enum decode_status timer_stop(struct gpu_context *context, double *seconds) {
  const struct gpu_runtime *runtime = context->runtime;
  float milliseconds = 0;
  enum decode_status status = ready(context);
  if (status == DECODE_OK)
    status =
        check(context, "marking the time", runtime->event_record(context->stop, context->stream));
  if (status == DECODE_OK)
    status = check(context, "waiting for the device", runtime->event_wait(context->stop));
  if (status == DECODE_OK)
    status = check(context, "reading the time",
                   runtime->event_elapsed(&milliseconds, context->start, context->stop));
  *seconds = 1e-3 * (double)milliseconds;
  return status;
}

static const char *error(void) {
  return last_error;
}

const struct gpu_driver gpu_driver = {
    .name = gpu_runtime_name,
    .build = GPU_BUILD,
    .device_count = device_count,
    .describe = describe,
    .open = open_context,
    .close = close_context,
    .allocate = allocate,
    .release = release,
    .set = set,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .launch = launch,
    .clusters = clusters,
    .wait = wait_for,
    .multiply = multiply,
    .multiplies = multiplies,
    .multiplied_by = multiplied_by,
    .tensor_map = tensor_map,
    .graph_make = graph_make,
    .graph_run = graph_run,
    .graph_free = graph_free,
    .graph_form = graph_form,
    .join = join,
    .look = look,
    .part = part,
    .joined_by = joined_by,
    .timer_start = timer_start,
    .timer_stop = timer_stop,
    .error = error,
};
