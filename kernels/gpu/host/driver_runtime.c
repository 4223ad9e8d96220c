#include "kernels/decode.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/host/collectives.h"
#include "kernels/gpu/host/context.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/queue.h"
#include "kernels/gpu/host/runtime.h"
#include "kernels/gpu/host/vendor_products.h"
#include "kernels/gpu/plan/device.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

// The Makefile defines this as a hash of the kernels' sources.
#ifndef GPU_BUILD
#define GPU_BUILD "unversioned"
#endif

#define ABORT_S 30 // at most, once no graph is left

// ---- memory

static uint64_t host_bytes(void) {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? (uint64_t)pages * (uint64_t)page : UINT64_MAX;
}

// Whether the device has so much free, but the host has less memory than that.
static bool is_bound_by_host(const struct gpu_runtime *runtime, size_t bytes) {
  size_t free_bytes = 0, total = 0;
  return runtime->bound_by_host && bytes > host_bytes() &&
         runtime->memory_info(&free_bytes, &total) == 0 && bytes <= free_bytes;
}

static enum decode_status allocate(struct gpu_context *context, size_t bytes, void **out) {
  *out = NULL;
  const enum decode_status status = context_ready(context);
  if (status != DECODE_OK)
    return status;
  char what[64], words[256];
  snprintf(what, sizeof what, "taking %.3f GB of memory", 1e-9 * (double)bytes);
  const int code = context->runtime->allocate(out, bytes);
  const enum decode_status refused = context_check(context, what, code);
  if (refused != DECODE_NO_MEMORY || !is_bound_by_host(context->runtime, bytes))
    return refused;
  snprintf(words, sizeof words,
           "%s: the device has it free, but some versions of ROCm refuse more at once than the "
           "host's %.1f GB; update ROCm, or measure fewer layers (--layers)",
           what, 1e-9 * (double)host_bytes());
  return context_fail(DECODE_NO_MEMORY, words);
}

static void release(struct gpu_context *context, void *memory) {
  if (!memory)
    return;
  context->runtime->device_set(context->device);
  context->runtime->release(memory);
}

static enum decode_status wait_for(struct gpu_context *context) {
  const enum decode_status status = context_ready(context);
  return status == DECODE_OK ? context_check(context, "waiting for the device",
                                             context->runtime->stream_wait(context->stream))
                             : status;
}

static enum decode_status set(struct gpu_context *context, void *memory, int byte, size_t bytes) {
  const enum decode_status status = context_ready(context);
  return status == DECODE_OK
             ? context_check(context, "setting memory",
                             context->runtime->set(memory, byte, bytes, context->stream))
             : status;
}

static enum decode_status copy(struct gpu_context *context, void *to, const void *from,
                               size_t bytes, int kind) {
  enum decode_status status = context_ready(context);
  if (status == DECODE_OK)
    status = context_check(context, "copying memory",
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

// ---- the vendor's library

// gfx940 to gfx942 have the E4M3 without a negative zero ("hipDataType" in AMD's HIP
// documentation).
static void open_products(struct gpu_context *context) {
  const struct gpu_runtime *runtime = context->runtime;
  struct gpu_device device;
  context->products_tried = true;
  if (context_describe(context->device, &device) != DECODE_OK)
    snprintf(context->products_words, sizeof context->products_words, "%.250s", context_error());
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
  return context_fail(DECODE_UNSUPPORTED, why);
}

static enum decode_status multiplies(struct gpu_context *context, const struct vendor_size *size) {
  const enum decode_status status = context_ready(context);
  char why[256];
  if (status != DECODE_OK)
    return status;
  if (!context->products_tried)
    open_products(context);
  if (!context->products)
    return context_fail(DECODE_UNSUPPORTED, context->products_words);
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

// ---- tensor maps

static enum decode_status tensor_map(struct gpu_context *context, struct tensor_map *map) {
  const enum decode_status status = context_ready(context);
  if (status != DECODE_OK)
    return status;
  if (!context->runtime->tensor_map)
    return context_fail(DECODE_UNSUPPORTED, "the device has no tensor maps");
  return context_check(context, "making a tensor map", context->runtime->tensor_map(map));
}

// ---- several devices

static enum decode_status make_communicators(struct gpu_context *const *contexts, int count,
                                             const struct gpu_collectives *collectives) {
  void *communicators[MAX_DECODE_RANKS] = {NULL};
  int devices[MAX_DECODE_RANKS] = {0};
  for (int i = 0; i < count; i++)
    devices[i] = contexts[i]->device;
  const enum decode_status status = context_check_collective(
      contexts[0], "joining the devices", collectives->init_all(communicators, count, devices));
  for (int i = 0; i < count && status == DECODE_OK; i++)
    contexts[i]->communicator = communicators[i];
  return status;
}

static enum decode_status join(struct gpu_context *const *contexts, int count) {
  const char *why = "";
  const enum decode_status status = context_ready(contexts[0]);
  if (status != DECODE_OK)
    return status;
  const struct gpu_collectives *collectives =
      gpu_collectives(&contexts[0]->runtime->collectives, &why);
  if (!collectives)
    return context_fail(DECODE_NO_DEVICE, why);
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
    char words[512];
    snprintf(words, sizeof words, "device %d: %s: %s (%d); NCCL_DEBUG=WARN tells more",
             contexts[i]->device, collectives->name, collectives->error_string(found), found);
    return context_fail(DECODE_FAILED, words);
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
    context_fail(DECODE_NO_DEVICE, why);
  return collectives ? collectives->name : "";
}

// ---- time

static enum decode_status timer_start(struct gpu_context *context) {
  const enum decode_status status = context_ready(context);
  return status == DECODE_OK
             ? context_check(context, "marking the time",
                             context->runtime->event_record(context->start, context->stream))
             : status;
}

static enum decode_status timer_stop(struct gpu_context *context, double *seconds) {
  const struct gpu_runtime *runtime = context->runtime;
  float milliseconds = 0;
  enum decode_status status = context_ready(context);
  if (status == DECODE_OK)
    status = context_check(context, "marking the time",
                           runtime->event_record(context->stop, context->stream));
  if (status == DECODE_OK)
    status = context_check(context, "waiting for the device", runtime->event_wait(context->stop));
  if (status == DECODE_OK)
    status = context_check(context, "reading the time",
                           runtime->event_elapsed(&milliseconds, context->start, context->stop));
  *seconds = 1e-3 * (double)milliseconds;
  return status;
}

const struct gpu_driver gpu_driver = {
    .name = gpu_runtime_name,
    .build = GPU_BUILD,
    .device_count = context_devices,
    .describe = context_describe,
    .open = context_open,
    .close = context_close,
    .allocate = allocate,
    .release = release,
    .set = set,
    .copy_in = copy_in,
    .copy_out = copy_out,
    .launch = queue_launch,
    .clusters = queue_clusters,
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
    .error = context_error,
};
