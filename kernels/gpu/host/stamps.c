#ifndef GPU_STAMPS
#define GPU_STAMPS // it is built with no other
#endif
#include "kernels/gpu/host/stamps.h"

#include "kernels/gpu/host/runtime.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS   ((size_t)1 << 21) // of 40 bytes
#define MAX_LAUNCHES ((size_t)1 << 16)

struct stamped {
  char kernel[sizeof((struct gpu_launch *)0)->kernel];
  size_t first, blocks;
};

// A kernel's launch knows no context (runtime.h), so there is one of these for all: room that a
// graph of one context stamps is released with the last context.
static struct {
  int contexts;
  const char *path;
  struct gpu_stamp *on_device;
  struct stamped *launches;
  size_t count, blocks;
  size_t written; // blocks in the file
} stamps;

// Kernels that no step has.
static const char *const not_stamped[] = {"fill_", "read_", "rate_", "tile_check_"};

static const struct gpu_runtime *runtime(void) {
  const char *why;
  return gpu_runtime(&why);
}

static void let_go(void) {
  if (stamps.on_device)
    runtime()->release(stamps.on_device);
  free(stamps.launches);
  stamps.on_device = NULL;
  stamps.launches = NULL;
  stamps.count = stamps.blocks = 0;
}

int gpu_stamps_open(void) {
  void *memory = NULL;
  stamps.path = getenv("PERTOKEN_GPU_STAMPS");
  if (!stamps.path || !*stamps.path || stamps.contexts++)
    return 0;
  stamps.launches = malloc(MAX_LAUNCHES * sizeof *stamps.launches);
  int code = stamps.launches ? runtime()->allocate(&memory, MAX_BLOCKS * sizeof(struct gpu_stamp))
                             : RUNTIME_OUT_OF_MEMORY;
  stamps.on_device = memory;
  if (!code)
    code = runtime()->set(memory, 0, MAX_BLOCKS * sizeof(struct gpu_stamp), NULL);
  if (!code)
    code = runtime()->stream_wait(NULL);
  if (code) {
    let_go();
    stamps.contexts = 0;
  }
  return code;
}

static bool is_of_step(const char *kernel) {
  for (size_t i = 0; i < sizeof not_stamped / sizeof not_stamped[0]; i++)
    if (strncmp(kernel, not_stamped[i], strlen(not_stamped[i])) == 0)
      return false;
  return true;
}

struct gpu_stamp *gpu_stamps_of(const struct gpu_launch *launch) {
  const size_t blocks = (size_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
  if (!stamps.on_device || !is_of_step(launch->kernel) || stamps.count == MAX_LAUNCHES ||
      blocks > MAX_BLOCKS - stamps.blocks)
    return NULL;
  struct stamped *stamped = &stamps.launches[stamps.count++];
  *stamped = (struct stamped){.first = stamps.blocks, .blocks = blocks};
  snprintf(stamped->kernel, sizeof stamped->kernel, "%s", launch->kernel);
  stamps.blocks += blocks;
  return stamps.on_device + stamped->first;
}

static void write_launch(FILE *file, size_t launch, const struct gpu_stamp *found) {
  const struct stamped *stamped = &stamps.launches[launch];
  for (size_t block = 0; block < stamped->blocks; block++) {
    const struct gpu_stamp *stamp = &found[stamped->first + block];
    if (stamp->exit)
      fprintf(file, "%zu,%s,%zu,%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n",
              launch, stamped->kernel, block, stamp->multiprocessor, stamp->entry, stamp->released,
              stamp->multiplied, stamp->exit);
  }
}

static void write_file(const struct gpu_stamp *found) {
  FILE *file = fopen(stamps.path, "w");
  if (file) {
    fputs("launch,kernel,block,multiprocessor,entry_ns,released_ns,multiplied_ns,exit_ns\n", file);
    for (size_t launch = 0; launch < stamps.count; launch++)
      write_launch(file, launch, found);
  }
  if (!file || fclose(file))
    fprintf(stderr, "the stamps cannot be written to '%s'\n", stamps.path);
}

static int bring_and_write(size_t blocks) {
  const size_t bytes = blocks * sizeof(struct gpu_stamp);
  struct gpu_stamp *found = malloc(bytes);
  int code = found ? runtime()->copy(found, stamps.on_device, bytes, RUNTIME_FROM_DEVICE, NULL)
                   : RUNTIME_OUT_OF_MEMORY;
  if (!code)
    code = runtime()->stream_wait(NULL);
  if (!code) {
    write_file(found);
    stamps.written = blocks;
  }
  free(found);
  return code;
}

int gpu_stamps_close(void) {
  const int code =
      stamps.on_device && stamps.blocks > stamps.written ? bring_and_write(stamps.blocks) : 0;
  if (stamps.contexts && !--stamps.contexts)
    let_go();
  return code;
}
