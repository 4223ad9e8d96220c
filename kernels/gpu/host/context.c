#include "kernels/gpu/host/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local char last_error[512];

const char *context_error(void) {
  return last_error;
}

enum decode_status context_fail(enum decode_status status, const char *words) {
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
    {RUNTIME_NO_CODE, DECODE_UNSUPPORTED,
     "this program has no kernels for this device: build it for the device's architecture"},
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

enum decode_status context_check(struct gpu_context *context, const char *what, int code) {
  const enum decode_status status = explain(context->runtime, what, code);
  if (status == DECODE_OK || status == DECODE_NO_MEMORY)
    return status;
  lose(context);
  return status;
}

enum decode_status context_check_collective(struct gpu_context *context, const char *what,
                                            int code) {
  const struct gpu_collectives *collectives = context->collectives;
  if (code == 0)
    return DECODE_OK;
  snprintf(last_error, sizeof last_error, "%s: %s: %s (%d); NCCL_DEBUG=WARN tells more", what,
           collectives->name, collectives->error_string(code), code);
  lose(context);
  return DECODE_FAILED;
}

enum decode_status context_ready(struct gpu_context *context) {
  if (context->lost)
    return context_fail(DECODE_FAILED, context->words);
  return context_check(context, "choosing the device",
                       context->runtime->device_set(context->device));
}

// ---- devices

static const struct gpu_runtime *runtime_or_words(void) {
  const char *why = "";
  const struct gpu_runtime *runtime = gpu_runtime(&why);
  if (!runtime)
    context_fail(DECODE_NO_DEVICE, why);
  return runtime;
}

int context_devices(void) {
  const struct gpu_runtime *runtime = runtime_or_words();
  int count = 0;
  if (!runtime || explain(runtime, "counting devices", runtime->device_count(&count)))
    return 0;
  if (count <= 0)
    explain(runtime, "counting devices", RUNTIME_NO_DEVICE);
  return count > 0 ? count : 0;
}

enum decode_status context_describe(int device, struct gpu_device *out) {
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

void context_close(struct gpu_context *context) {
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
  enum decode_status status = context_describe(context->device, &device);
  context->overlap = device.overlap;
  if (status == DECODE_OK)
    status = context_check(context, "loading the kernels",
                           runtime->code_load(context->device, &context->code));
  if (status == DECODE_OK)
    status = context_check(context, "making a stream",
                           runtime->stream_create(&context->stream, RUNTIME_NON_BLOCKING));
  for (size_t i = 0; i < sizeof events / sizeof events[0] && status == DECODE_OK; i++)
    status = context_check(context, "making an event", runtime->event_create(events[i]));
  return status;
}

enum decode_status context_open(int device, struct gpu_context **out) {
  *out = NULL;
  const struct gpu_runtime *runtime = runtime_or_words();
  if (!runtime)
    return DECODE_NO_DEVICE;
  struct gpu_context *context = calloc(1, sizeof *context);
  if (!context)
    return context_fail(DECODE_NO_MEMORY, "the host is out of memory");
  context->runtime = runtime;
  context->device = device;
  const enum decode_status status = open_parts(context);
  if (status == DECODE_OK)
    *out = context;
  else
    context_close(context);
  return status;
}
