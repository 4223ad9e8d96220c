#include "tests/support/kernels/emulated.h"

#include <dlfcn.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernels/gpu/arguments/product.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/plan/plan.h"
#include "kernels/gpu/plan/tuning.h"
#include "kernels/gpu/units.h"
#include "kernels/reference/reference.h"
#include "tests/support/depth.h"
#include "tests/support/library.h"

// One of each width, and the rest if all are wanted; with sanitizers, the most comprehensive PTX.
struct emulated emulated[] = {
    {.name = "emulatormma", .warp = 32, .wgmma = true},
    {.name = "emulator64fnuz", .warp = 64, .fnuz = true, .any_chunk = true},
#if !SANITIZED
    {.name = "emulator32", .warp = 32, .any_chunk = true, .deep = true},
    {.name = "emulator64", .warp = 64, .any_chunk = true, .deep = true},
#endif
    {.name = "ptx90a", .warp = 32, .wgmma = true, .ptx = "build/gpu/cuda_90a.ptx", .deep = true},
#if !SANITIZED
    {.name = "ptx80", .warp = 32, .ptx = "build/gpu/cuda_80.ptx", .deep = true},
    {.name = "ptx120", .warp = 32, .ptx = "build/gpu/cuda_120.ptx", .deep = true},
#endif
};
size_t emulated_count;

const char *const element_names[] = {"f32", "bf16", "e4m3", "int8"};

const enum element weight_kinds[WEIGHT_KINDS][2] = {
    {ELEMENT_BF16, ELEMENT_BF16}, {ELEMENT_E4M3, ELEMENT_BF16}, {ELEMENT_E4M3, ELEMENT_E4M3}};

static int load(bool with_ptx) {
  size_t there = 0;
  for (size_t i = 0; i < sizeof emulated / sizeof emulated[0]; i++) {
    if ((emulated[i].deep && !depth_is_full()) || (emulated[i].ptx && !with_ptx)) {
      continue;
    }
    if (!emulated[i].ptx || access(emulated[i].ptx, R_OK) == 0) {
      emulated[there++] = emulated[i];
    } else {
      printf("skipped: %s, for %s is not there (it needs nvcc)\n", emulated[i].name,
             emulated[i].ptx);
    }
  }
  for (struct emulated *p = emulated; p < emulated + there; p++) {
    p->library = library_open(p->name);
    *(void **)&p->launch = library_symbol(p->library, "emulator_launch_kernel");
    p->backend = library_backend(p->library);
    if (!p->launch || !p->backend) {
      return -1;
    }
  }
  emulated_count = there;
  return 0;
}

int emulated_load(void **unused) {
  (void)unused;
  return load(true);
}

int emulated_load_sources(void **unused) {
  (void)unused;
  return load(false);
}

int emulated_unload(void **unused) {
  (void)unused;
  for (size_t p = 0; p < EMULATED; p++) {
    if (emulated[p].library) {
      dlclose(emulated[p].library);
    }
  }
  return 0;
}

void emulated_set(const char *setting, long long value) {
  char text[32];
  snprintf(text, sizeof text, "%lld", value);
  setenv(setting, text, 1);
}

// ---- inside a device

void *emulated_memory(const struct emulated *plugin) {
  emulator_memory_function *memory;
  *(void **)&memory = library_symbol(plugin->library, "emulator_memory");
  assert_non_null(memory);
  return memory();
}

struct plan emulated_plan(const struct emulated *plugin, const struct decode_request *request) {
  const struct gpu_driver *driver = library_symbol(plugin->library, "gpu_driver");
  enum decode_status (*make_plan)(const struct decode_request *, int, const struct gpu_device *,
                                  struct plan *, const char **);
  struct gpu_device device;
  struct plan plan;
  const char *why;
  char words[128];
  *(void **)&make_plan = library_symbol(plugin->library, "gpu_plan_make");
  assert_true(driver && make_plan);
  assert_int_equal(driver->describe(0, &device), DECODE_OK);
  assert_true(gpu_tuning_read(getenv("PERTOKEN_GPU_TUNING"), &device.tuning, words, sizeof words));
  assert_int_equal(make_plan(request, 0, &device, &plan, &why), DECODE_OK);
  return plan;
}

// ---- memory

static void *taken[32];
static size_t taken_count;

void *emulated_take(size_t bytes) {
  assert_true(taken_count < sizeof taken / sizeof taken[0]);
  void *memory = malloc(bytes);
  assert_non_null(memory);
  memset(memory, 0xFF, bytes);
  return taken[taken_count++] = memory;
}

void emulated_give_back(void) {
  while (taken_count) {
    free(taken[--taken_count]);
  }
}

size_t element_bytes(enum element element) {
  return element == ELEMENT_F32 ? 4 : element == ELEMENT_BF16 ? 2 : 1;
}

uint8_t element_held(const struct emulated *plugin, uint8_t code) {
  if (!plugin->fnuz) {
    return code;
  }
  return (code & 0x7F) == 0x7F ? 0x80 : code == 0x80 ? 0 : code;
}

void element_put(const struct emulated *plugin, enum element element, void *array, size_t i,
                 float value) {
  if (element == ELEMENT_F32) {
    ((float *)array)[i] = value;
  } else if (element == ELEMENT_BF16) {
    ((uint16_t *)array)[i] = bf16_from_float(value);
  } else {
    ((uint8_t *)array)[i] = element_held(plugin, e4m3_from_float(value));
  }
}

float element_get(const struct emulated *plugin, enum element element, const void *array,
                  size_t i) {
  if (element == ELEMENT_F32) {
    return ((const float *)array)[i];
  }
  if (element == ELEMENT_BF16) {
    return float_from_bf16(((const uint16_t *)array)[i]);
  }
  const uint8_t code = ((const uint8_t *)array)[i];
  return plugin->fnuz && code == 0x80 ? NAN : float_from_e4m3(code);
}

static void run(const struct emulated *plugin, struct emulator_launch launch) {
  static uint64_t seed;
  launch.seed = ++seed;
  const char *error = plugin->launch(&launch);
  if (error) {
    fail_msg("%s: %s", plugin->name, error);
  }
}

void emulated_run(const struct emulated *plugin, const char *kernel, unsigned x, unsigned y,
                  unsigned z, int block, size_t shared_bytes, const void *arguments,
                  size_t argument_bytes) {
  run(plugin, (struct emulator_launch){.kernel = kernel,
                                       .grid = {x, y, z},
                                       .block = (unsigned)block,
                                       .shared_bytes = shared_bytes,
                                       .arguments = arguments,
                                       .argument_bytes = argument_bytes});
}

size_t emulated_matrix_shared(const struct emulated *plugin, enum element weights,
                              enum element activations, int chunk, struct product_arguments *a) {
  const bool copied = !plugin->any_chunk && !lies_in_units(weights);
  a->chunk = copied ? MATRIX_COPIED_CHUNK : plugin->any_chunk ? chunk : MATRIX_CHUNK;
  a->buffers = copied && weights == ELEMENT_E4M3 && chunk == MATRIX_CHUNK ? 3 : 2;
  return (copied ? MATRIX_RING : 0) +
         matrix_shared_bytes(a->batch_padded, a->chunk, a->buffers, element_bytes(activations));
}

void emulated_run_clusters(const struct emulated *plugin, const char *kernel, unsigned blocks,
                           unsigned cluster, int block, size_t shared_bytes, const void *arguments,
                           size_t argument_bytes) {
  run(plugin, (struct emulator_launch){.kernel = kernel,
                                       .grid = {blocks, 1, 1},
                                       .block = (unsigned)block,
                                       .shared_bytes = shared_bytes,
                                       .arguments = arguments,
                                       .argument_bytes = argument_bytes,
                                       .cluster = cluster});
}
