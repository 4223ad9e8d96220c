#include "kernels/gpu/host/queue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernels/gpu/arguments/token.h"
#include "kernels/gpu/host/collectives.h"
#include "kernels/gpu/host/context.h"
#include "kernels/gpu/host/runtime.h"

#define MAX_QUEUED   200         // launches: filling a longer queue stalls
#define SMALL_SHARED (47 * 1024) // usable without asking: 48 KiB, static memory included
#define NAME_BYTES   sizeof(((struct gpu_launch *)0)->kernel)

struct kernel {
  char name[NAME_BYTES];
  void *handle;
  size_t shared_bytes; // allowed so far
  int carveout;        // asked for so far
};

// `executable` is NULL if the runtime cannot record: the launches are then queued one by one.
struct gpu_graph {
  void *executable;
  struct gpu_launch *launches;
  size_t count;
  struct decode_step_form form;
};

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
    return context_fail(DECODE_NO_MEMORY, "the host is out of memory");
  memset(*out, 0, sizeof **out);
  snprintf((*out)->name, NAME_BYTES, "%s", name);
  char what[96];
  snprintf(what, sizeof what, "finding the kernel %s", name);
  const enum decode_status status = context_check(
      context, what, context->runtime->kernel_find(&(*out)->handle, context->code, name));
  context->kernel_count += status == DECODE_OK;
  return status;
}

static bool is_all_reduce(const struct gpu_launch *launch) {
  return !strcmp(launch->kernel, ALL_REDUCE_SUM) || !strcmp(launch->kernel, ALL_REDUCE_MAX);
}

static enum decode_status queue_all_reduce(struct gpu_context *context,
                                           const struct gpu_launch *launch) {
  const bool sums = !strcmp(launch->kernel, ALL_REDUCE_SUM);
  struct all_reduce_arguments arguments;
  memcpy(&arguments, launch->arguments, sizeof arguments);
  if (!context->communicator || atomic_load(&context->parted))
    return context_fail(DECODE_FAILED, "this device is no longer joined with others");
  return context_check_collective(
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
    status =
        context_check(context, what, runtime->kernel_shared(kernel->handle, launch->shared_bytes));
    kernel->shared_bytes = launch->shared_bytes;
  }
  if (status == DECODE_OK && runtime->kernel_carveout && launch->carveout != kernel->carveout) {
    status =
        context_check(context, what, runtime->kernel_carveout(kernel->handle, launch->carveout));
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
  return context_check(
      context, what,
      context->runtime->kernel_launch(kernel->handle, launch, context->stream, context->overlap));
}

enum decode_status queue_launch(struct gpu_context *context, const struct gpu_launch *one) {
  const enum decode_status status = context_ready(context);
  return status == DECODE_OK ? queue(context, one) : status;
}

// A refusal is an answer, not a failure.
enum decode_status queue_clusters(struct gpu_context *context, const struct gpu_launch *one,
                                  int *count) {
  const struct gpu_runtime *runtime = context->runtime;
  struct kernel *kernel;
  *count = 0;
  enum decode_status status = context_ready(context);
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

// ---- graphs

void graph_free(struct gpu_context *context, struct gpu_graph *graph) {
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
             "the step could not be recorded: %.200s", context_error());
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

void graph_form(const struct gpu_graph *graph, struct decode_step_form *out) {
  *out = graph->form;
}

enum decode_status graph_make(struct gpu_context *context, const struct gpu_launch *launches,
                              size_t count, bool recorded, struct gpu_graph **out) {
  *out = NULL;
  enum decode_status status = context_ready(context);
  if (status != DECODE_OK)
    return status;
  struct gpu_graph *graph = calloc(1, sizeof *graph);
  if (graph)
    graph->launches = copy_launches(launches, count);
  if (!graph || !graph->launches) {
    free(graph);
    return context_fail(DECODE_NO_MEMORY, "the host is out of memory");
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
    return context_fail(DECODE_FAILED, "this device is no longer joined with others");
  if (graph->executable)
    return context_check(context, "launching a step",
                         context->runtime->graph_launch(graph->executable, context->stream));
  enum decode_status status = DECODE_OK;
  for (size_t i = 0; i < graph->count && status == DECODE_OK; i++)
    status = queue(context, &graph->launches[i]);
  return status;
}

// Records a mark at the end of the queue and waits for the mark before it: the queue stays short
// but never runs empty.
static enum decode_status wait_for_mark(struct gpu_context *context) {
  const struct gpu_runtime *runtime = context->runtime;
  void *mark = context->mark[context->marks % 2], *before = context->mark[(context->marks + 1) % 2];
  enum decode_status status =
      context_check(context, "marking the queue", runtime->event_record(mark, context->stream));
  if (status == DECODE_OK && context->marks > 0)
    status = context_check(context, "waiting for the device", runtime->event_wait(before));
  context->marks++;
  return status;
}

enum decode_status graph_run(struct gpu_context *context, struct gpu_graph *graph, int times) {
  enum decode_status status = context_ready(context);
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
