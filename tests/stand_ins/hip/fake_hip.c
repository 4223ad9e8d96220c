// A HIP runtime for tests: kernels/gpu/host/driver_hip.c, in the plugin as built, runs on it
// without a GPU. It takes the plugin's own code objects, finds kernels in them by name and refuses
// those of another architecture, as HIP does; but launches are computed by the host emulator beside
// it (emulator64fnuz.so).
//
// Environment, read when needed:
//   FAKE_HIP_DEVICES       1
//   FAKE_HIP_PARTITIONS    1: the devices are partitions of a single one
//   FAKE_HIP_ARCHITECTURE  as in hipDeviceProp_t, "gfx942:sramecc+:xnack-"; "" for none
//   FAKE_HIP_MACHINE       of the code objects that match, in hexadecimal: 4c, gfx942's
//   FAKE_HIP_WARP          64
//   FAKE_HIP_MEMORY        bytes, 1 GiB
//   FAKE_HIP_AT_ONCE       the most bytes of one allocation
//   FAKE_HIP_NO_CAPTURE    1: streams cannot be recorded
//   FAKE_HIP_FAIL_RECORD   n: the n-th recorded launch, from 1, is refused, and the recording with
//                          it; the device is not affected
//   FAKE_HIP_FAIL_LAUNCH   n: the n-th launch, from 1, and all calls after it fail
//   FAKE_HIP_COOPERATIVE   0: the device reports that it has no cooperative launches
//   FAKE_HIP_RESIDENT      3: the maximum number of blocks of a cooperative launch
//   FAKE_HIP_EMULATOR      the library that computes launches: instructions.so does so from the
//                          machine code
// MISSING leaves out a function that the driver needs; OLD leaves out those that HIP 5.2 does not
// have, and names the properties as HIP 5.2 does.
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kernels/gpu/arguments/hip.h"
#include "kernels/gpu/arguments/streaming.h"
#include "tests/stand_ins/emulator/launch.h"
#include "tests/stand_ins/hip/fake_hip.h"

enum {
  SUCCESS = 0, // hipError_t
  INVALID_VALUE = 1,
  OUT_OF_MEMORY = 2,
  NO_DEVICE = 100,
  INVALID_DEVICE = 101,
  NO_BINARY = 209,
  NOT_FOUND = 500,
  LAUNCH_FAILURE = 719,
  COOPERATIVE_TOO_LARGE = 720,
  NOT_SUPPORTED = 801,
  CAPTURE_INVALIDATED = 901,

  ELF_FLAGS = 48, // offset of e_flags in an ELF64 header; its lowest byte is EF_AMDGPU_MACH
  ELF_SECTIONS = 40,
  ELF_SECTION_BYTES = 58,
  ELF_SECTION_COUNT = 60,

  MAX_ARGUMENT_BYTES = 256, // behind the grid's
  MAX_DEVICES = 16,
  UNITS = 3,
  SHARED_BYTES = 65536,
  L2_BYTES = 4 << 20
};

struct launch {
  char kernel[64];
  const unsigned char *image;
  unsigned grid[3], block, shared_bytes;
  struct {
    struct hip_grid grid; // as the kernel is told, followed by its own
    unsigned char own[MAX_ARGUMENT_BYTES];
  } arguments;
  size_t argument_bytes; // of its own
  bool cooperative;
};

struct graph {
  struct launch *launches;
  size_t count, room;
  bool refused;
};

struct stream {
  struct graph *recording;
};

struct event {
  double time_s;
};

struct function {
  struct function *next;
  const unsigned char *image;
  char kernel[64];
};

struct module {
  const unsigned char *image;
  size_t bytes;
  struct function *functions; // which live as long as the module
};

struct allocation {
  size_t bytes;
  unsigned char padding[248]; // memory begins at a multiple of 256
};

static struct {
  atomic_int executables; // of those alive
  atomic_int alive;       // objects and memory that have not been released
  _Atomic uint64_t taken, launches;
  atomic_bool lost[MAX_DEVICES];
} fake;

static _Thread_local int current; // device

int fake_hip_alive(void) {
  return fake.alive;
}

void fake_hip_reset(void) {
  atomic_store(&fake.alive, 0);
  atomic_store(&fake.executables, 0);
  atomic_store(&fake.taken, 0);
  atomic_store(&fake.launches, 0);
  for (int device = 0; device < MAX_DEVICES; device++)
    atomic_store(&fake.lost[device], false);
}

static uint64_t setting(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 10) : otherwise;
}

static int state(void) {
  return atomic_load(&fake.lost[current]) ? LAUNCH_FAILURE : SUCCESS;
}

static void *create(size_t bytes) {
  fake.alive++;
  return calloc(1, bytes);
}

static int destroy(void *object) {
  fake.alive--;
  free(object);
  return state();
}

// ---- devices

int hipGetDeviceCount(int *count) {
  const int devices = (int)setting("FAKE_HIP_DEVICES", 1);
  if (devices == 0)
    return NO_DEVICE; // and leaves *count unchanged
  *count = devices;
  return SUCCESS;
}

static int check_device(int device) {
  int count = 0;
  hipGetDeviceCount(&count);
  return device < 0 || device >= count ? INVALID_DEVICE : state();
}

int hipSetDevice(int device) {
  current = device >= 0 && device < MAX_DEVICES ? device : 0;
  return check_device(device);
}

int hipDeviceGetAttribute(int *out, int attribute, int device) {
  const struct {
    int attribute, value;
  } attributes[] = {{0, 1},
                    {10, (int)setting("FAKE_HIP_COOPERATIVE", 1)},
                    {19, L2_BYTES},
                    {63, UNITS},
                    {74, SHARED_BYTES},
                    {87, (int)setting("FAKE_HIP_WARP", 64)}};
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
    if (attributes[i].attribute == attribute) {
      *out = attributes[i].value;
      return check_device(device);
    }
  return INVALID_VALUE;
}

int hipDeviceGetName(char *out, int size, int device) {
  snprintf(out, (size_t)size, "Fake Instinct");
  return check_device(device);
}

int hipDeviceGetPCIBusId(char *out, int size, int device) {
  const int partitions = (int)setting("FAKE_HIP_PARTITIONS", 1);
  snprintf(out, (size_t)size, "0000:%02x:00.%d", 0xc1 + device / partitions, device % partitions);
  return check_device(device);
}

int hipDeviceGetUuid(void *out, int device) {
  memcpy(out, "0123456789abcdef", 16);
  return check_device(device);
}

#ifdef OLD
int hipGetDeviceProperties(void *out, int device) {
  enum { ARCHITECTURE_AT = 396 }; // hipDeviceProp_t of 5.2
#else
int hipGetDevicePropertiesR0600(void *out, int device) {
  enum { ARCHITECTURE_AT = 1160 };
#endif
  const char *architecture = getenv("FAKE_HIP_ARCHITECTURE");
  memset(out, 0, ARCHITECTURE_AT);
  snprintf(out, 256, "Fake Instinct");
  snprintf((char *)out + ARCHITECTURE_AT, 256, "%s",
           architecture ? architecture : "gfx942:sramecc+:xnack-");
  return check_device(device);
}

int hipRuntimeGetVersion(int *out) {
  *out = 60342133;
  return SUCCESS;
}

const char *hipGetErrorName(int code) {
  return code == NO_DEVICE               ? "hipErrorNoDevice"
         : code == OUT_OF_MEMORY         ? "hipErrorOutOfMemory"
         : code == NO_BINARY             ? "hipErrorNoBinaryForGpu"
         : code == LAUNCH_FAILURE        ? "hipErrorLaunchFailure"
         : code == COOPERATIVE_TOO_LARGE ? "hipErrorCooperativeLaunchTooLarge"
                                         : "hipErrorOfTheFake";
}

const char *hipGetErrorString(int code) {
  return hipGetErrorName(code);
}

int hipGetLastError(void) {
  return SUCCESS;
}

// ---- memory

int hipMemGetInfo(size_t *free_bytes, size_t *total) {
  *total = setting("FAKE_HIP_MEMORY", UINT64_C(1) << 30);
  *free_bytes = *total - fake.taken;
  return state();
}

int hipMalloc(void **out, size_t bytes) {
  size_t free_bytes = 0, total = 0;
  hipMemGetInfo(&free_bytes, &total);
  if (state())
    return state();
  if (bytes > free_bytes || bytes > setting("FAKE_HIP_AT_ONCE", UINT64_MAX))
    return OUT_OF_MEMORY;
  struct allocation *allocation =
      aligned_alloc(256, sizeof *allocation + (bytes + 255) / 256 * 256);
  if (!allocation)
    return OUT_OF_MEMORY;
  allocation->bytes = bytes;
  memset(allocation + 1, 0xFF, bytes);
  fake.taken += bytes;
  fake.alive++;
  *out = allocation + 1;
  // cppcheck-suppress memleak
  return SUCCESS;
}

int hipFree(void *memory) {
  struct allocation *allocation = (struct allocation *)memory - 1;
  fake.taken -= allocation->bytes;
  return destroy(allocation);
}

int hipMemsetAsync(void *memory, int byte, size_t bytes, void *stream) {
  (void)stream;
  memset(memory, byte, bytes);
  return state();
}

int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  (void)kind, (void)stream;
  memcpy(to, from, bytes);
  return state();
}

// ---- streams and events

int hipStreamCreateWithFlags(void **out, unsigned flags) {
  (void)flags;
  *out = create(sizeof(struct stream));
  return state();
}

int hipStreamDestroy(void *stream) {
  return destroy(stream);
}

int hipStreamSynchronize(void *stream) {
  return ((struct stream *)stream)->recording ? INVALID_VALUE : state();
}

int hipEventCreate(void **out) {
  *out = create(sizeof(struct event));
  return state();
}

int hipEventDestroy(void *event) {
  return destroy(event);
}

int hipEventRecord(void *event, void *stream) {
  (void)stream;
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  ((struct event *)event)->time_s = (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
  return state();
}

int hipEventSynchronize(void *event) {
  return ((struct event *)event)->time_s > 0 ? state() : INVALID_VALUE;
}

int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  const double from = ((struct event *)start)->time_s, to = ((struct event *)stop)->time_s;
  *milliseconds = (float)(1e3 * (to - from));
  return state();
}

// ---- code

static uint64_t number_at(const unsigned char *at, int bytes) {
  uint64_t value = 0;
  for (int i = bytes - 1; i >= 0; i--)
    value = value << 8 | at[i];
  return value;
}

int hipModuleLoadData(void **out, const void *image) {
  const unsigned char *elf = image;
  const char *machine = getenv("FAKE_HIP_MACHINE");
  *out = NULL;
  if (memcmp(elf, "\177ELF", 4) != 0)
    return INVALID_VALUE;
  if (elf[ELF_FLAGS] != strtoul(machine ? machine : "4c", NULL, 16))
    return NO_BINARY;
  struct module *module = create(sizeof *module);
  module->image = elf;
  module->bytes = number_at(elf + ELF_SECTIONS, 8) +
                  number_at(elf + ELF_SECTION_BYTES, 2) * number_at(elf + ELF_SECTION_COUNT, 2);
  *out = module;
  return state();
}

int hipModuleUnload(void *module) {
  struct function *next, *function = ((struct module *)module)->functions;
  for (; function; function = next) {
    next = function->next;
    free(function);
  }
  return destroy(module);
}

// A kernel's descriptor is the symbol NAME.kd (LLVM, User Guide for AMDGPU Backend).
int hipModuleGetFunction(void **out, void *module, const char *name) {
  struct module *in = module;
  char descriptor[80] = "";
  const int length = snprintf(descriptor + 1, sizeof descriptor - 1, "%s.kd", name);
  *out = NULL;
  if (!memmem(in->image, in->bytes, descriptor, (size_t)length + 2))
    return NOT_FOUND;
  struct function *function = calloc(1, sizeof *function);
  if (!function || strlen(name) >= sizeof function->kernel) {
    free(function);
    return INVALID_VALUE;
  }
  strcpy(function->kernel, name);
  function->image = in->image;
  function->next = in->functions;
  in->functions = function;
  *out = function;
  return state();
}

// ---- launches

static emulator_launch_function *emulate;
static bool takes_grid; // as machine code does; the host emulator's kernels do not

static void find_emulator(void) {
  char path[4096];
  Dl_info own;
  if (!dladdr((void *)(uintptr_t)find_emulator, &own))
    return;
  const char *slash = strrchr(own.dli_fname, '/');
  snprintf(path, sizeof path, "%.*s/emulator64fnuz.so", slash ? (int)(slash - own.dli_fname) : 1,
           slash ? own.dli_fname : ".");
  const char *other = getenv("FAKE_HIP_EMULATOR");
  takes_grid = other;
  void *library = dlopen(other ? other : path, RTLD_NOW | (other ? RTLD_GLOBAL : RTLD_LOCAL));
  if (!library)
    fprintf(stderr, "fake HIP: %s\n", dlerror());
  void *symbol = library ? dlsym(library, "emulator_launch_kernel") : NULL;
  memcpy(&emulate, &symbol, sizeof emulate);
}

// For the device that may fail, from 1; 0 for the others.
static uint64_t count_launch(void) {
  const uint64_t device = (uint64_t)current;
  const bool counts = setting("FAKE_HIP_FAIL_DEVICE", device) == device;
  return counts ? atomic_fetch_add(&fake.launches, 1) + 1 : 0;
}

static int execute(const struct launch *launch) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, find_emulator);
  if (!strcmp(launch->kernel, FAKE_RCCL_KERNEL))
    return state() ? state() : fake_rccl_execute(launch->arguments.own);
  const uint64_t number = count_launch();
  const struct emulator_launch one = {
      .kernel = launch->kernel,
      .grid = {launch->grid[0], launch->grid[1], launch->grid[2]},
      .block = launch->block,
      .shared_bytes = launch->shared_bytes,
      .arguments = takes_grid ? (const void *)&launch->arguments : launch->arguments.own,
      .argument_bytes =
          launch->argument_bytes + (takes_grid ? sizeof launch->arguments.grid : (size_t)0),
      .seed = number,
      .cooperative = launch->cooperative,
      .image = launch->image,
  };
  const char *why = emulate ? emulate(&one) : "nothing to compute with";
  if (why)
    fprintf(stderr, "fake HIP: %s\n", why);
  if (why || (number > 0 && number == setting("FAKE_HIP_FAIL_LAUNCH", 0)))
    atomic_store(&fake.lost[current], true);
  return state();
}

static int record(struct graph *graph, const struct launch *launch) {
  if (graph->count == graph->room) {
    graph->room = 2 * graph->room + 16;
    struct launch *grown = realloc(graph->launches, graph->room * sizeof *grown);
    if (!grown)
      return OUT_OF_MEMORY;
    graph->launches = grown;
  }
  graph->launches[graph->count++] = *launch;
  return SUCCESS;
}

// Whether the kernel is told of the launch as it is.
static bool is_told(const struct launch *launch) {
  const struct hip_grid *grid = &launch->arguments.grid;
  return memcmp(grid->blocks, launch->grid, sizeof grid->blocks) == 0 &&
         grid->threads == launch->block;
}

// Into the stream or, if that is recorded, after what has been recorded.
static int queue(struct launch *launch, const struct function *function, void *stream) {
  struct graph *recording = ((struct stream *)stream)->recording;
  strcpy(launch->kernel, function->kernel);
  launch->image = function->image;
  if (state())
    return state();
  if (!is_told(launch))
    return INVALID_VALUE;
  if (!recording)
    return execute(launch);
  recording->refused |= recording->count + 1 == setting("FAKE_HIP_FAIL_RECORD", 0);
  return recording->refused ? NOT_SUPPORTED : record(recording, launch);
}

// `extra` is HIP_LAUNCH_PARAM_BUFFER_POINTER, _SIZE, _END: 1, 2, 3.
int hipModuleLaunchKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **parameters, void **extra) {
  struct launch launch = {
      .grid = {grid_x, grid_y, grid_z}, .block = block_x, .shared_bytes = shared_bytes};
  const bool known = !parameters && extra && (uintptr_t)extra[0] == 1 && (uintptr_t)extra[2] == 2 &&
                     (uintptr_t)extra[4] == 3;
  if (!known || block_y != 1 || block_z != 1 || shared_bytes > SHARED_BYTES)
    return INVALID_VALUE;
  const size_t bytes = *(size_t *)extra[3];
  if (bytes < sizeof launch.arguments.grid || bytes > sizeof launch.arguments)
    return INVALID_VALUE;
  memcpy(&launch.arguments, extra[1], bytes);
  launch.argument_bytes = bytes - sizeof launch.arguments.grid;
  return queue(&launch, kernel, stream);
}

// The parameters' sizes are in the code object's metadata, which the fake does not read: it knows
// the only kernels launched this way. Such launches are not recorded here, either.
#ifndef OLD
int hipModuleLaunchCooperativeKernel(void *function, unsigned grid_x, unsigned grid_y,
                                     unsigned grid_z, unsigned block_x, unsigned block_y,
                                     unsigned block_z, unsigned shared_bytes, void *stream,
                                     void **parameters) {
  struct launch launch = {.grid = {grid_x, grid_y, grid_z},
                          .block = block_x,
                          .shared_bytes = shared_bytes,
                          .argument_bytes = sizeof(struct streaming_arguments),
                          .cooperative = true};
  const char *kernel = ((const struct function *)function)->kernel;
  if (strncmp(kernel, "streaming_", strlen("streaming_")) != 0 || !parameters || block_y != 1 ||
      block_z != 1 || shared_bytes > SHARED_BYTES || ((struct stream *)stream)->recording)
    return INVALID_VALUE;
  if (grid_x * grid_y * grid_z > setting("FAKE_HIP_RESIDENT", UNITS))
    return COOPERATIVE_TOO_LARGE;
  memcpy(&launch.arguments.grid, parameters[0], sizeof launch.arguments.grid);
  memcpy(launch.arguments.own, parameters[1], launch.argument_bytes);
  return queue(&launch, function, stream);
}
#endif

bool fake_hip_is_recording(const void *stream) {
  return ((const struct stream *)stream)->recording != NULL;
}

int fake_hip_queue(void *stream, const void *arguments, size_t bytes) {
  struct graph *recording = ((struct stream *)stream)->recording;
  struct launch launch = {.kernel = FAKE_RCCL_KERNEL, .argument_bytes = bytes};
  memcpy(launch.arguments.own, arguments, bytes);
  if (state())
    return state();
  return recording ? record(recording, &launch) : execute(&launch);
}

int hipStreamBeginCapture(void *stream, int mode) {
  (void)mode;
  if (setting("FAKE_HIP_NO_CAPTURE", 0))
    return NOT_SUPPORTED;
  ((struct stream *)stream)->recording = create(sizeof(struct graph));
  return state();
}

int hipGraphDestroy(void *graph) {
  free(((struct graph *)graph)->launches);
  return destroy(graph);
}

int hipStreamEndCapture(void *stream, void **out) {
  struct graph *recorded = ((struct stream *)stream)->recording;
  ((struct stream *)stream)->recording = NULL;
  *out = NULL;
  if (!recorded)
    return INVALID_VALUE;
  if (recorded->refused) {
    hipGraphDestroy(recorded);
    return CAPTURE_INVALIDATED;
  }
  *out = recorded;
  return state();
}

int hipGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags) {
  const struct graph *from = graph;
  struct graph *copy = create(sizeof *copy);
  (void)flags;
  for (size_t i = 0; i < from->count; i++)
    if (record(copy, &from->launches[i]))
      return OUT_OF_MEMORY;
  *out = copy;
  atomic_fetch_add(&fake.executables, 1);
  return state();
}

int fake_hip_executables(void) {
  return atomic_load(&fake.executables);
}

int hipGraphExecDestroy(void *executable) {
  atomic_fetch_sub(&fake.executables, 1);
  return hipGraphDestroy(executable);
}

// Not every version of the fake has RCCL.
#if defined(MISSING) || defined(OLD)
int fake_rccl_execute(const void *arguments) {
  (void)arguments;
  return INVALID_VALUE;
}
#endif

#ifndef MISSING
int hipGraphLaunch(void *executable, void *stream) {
  const struct graph *graph = executable;
  int code = ((struct stream *)stream)->recording ? INVALID_VALUE : state();
  for (size_t i = 0; i < graph->count && code == SUCCESS; i++)
    code = execute(&graph->launches[i]);
  return code;
}
#endif
