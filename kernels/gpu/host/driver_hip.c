// HIP's runtime, loaded at run time: its library's name changes with every major version, and
// linking would tie this to one. Everything used here has been in HIP since 5.2 and has the same
// numbers in 5, 6 and 7 (hip_runtime_api.h of each).
#include "kernels/decode.h"
#include "kernels/gpu/arguments/hip.h"
#include "kernels/gpu/host/identity.h"
#include "kernels/gpu/host/library_file.h"
#include "kernels/gpu/host/runtime.h"
#include "kernels/gpu/host/vendor_products.h"
#include "kernels/gpu/plan/device.h"

#include <ctype.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char gpu_runtime_name[] = "hip";

// ---- the embedded code, one object for each architecture that the compiler supported (build.mk)

#define CODE(architecture)                                                                         \
  extern const unsigned char gpu_code_##architecture[] __attribute__((weak, visibility("hidden")))
CODE(gfx90a);
CODE(gfx942);
CODE(gfx950);
CODE(gfx1100);
CODE(gfx1201);
CODE(streaming_gfx90a);
CODE(streaming_gfx942);
CODE(streaming_gfx950);

// The last-level cache in MB, if it is not the L2 that HIP reports: Infinity Cache (AMD's CDNA 3
// and CDNA 4 architecture white papers; for gfx1100 and gfx1201 that of the largest cards, Radeon
// RX 7900 XTX and RX 9070 XT).
static const struct code {
  const char *architecture;
  const unsigned char *object; // NULL when it was not built
  unsigned infinity_cache_mb;
  const unsigned char *streaming; // the kernels of streaming.cu likewise
} codes[] = {
    {"gfx90a", gpu_code_gfx90a, 0, gpu_code_streaming_gfx90a},
    {"gfx942", gpu_code_gfx942, 256, gpu_code_streaming_gfx942},
    {"gfx950", gpu_code_gfx950, 256, gpu_code_streaming_gfx950},
    {"gfx1100", gpu_code_gfx1100, 96, NULL},
    {"gfx1201", gpu_code_gfx1201, 64, NULL},
};

enum { CODES = sizeof codes / sizeof codes[0] };

// ---- HIP's functions

enum {
  ATTRIBUTE_COOPERATIVE = 10, // hipDeviceAttribute_t
  ATTRIBUTE_L2_BYTES = 19,
  ATTRIBUTE_UNITS = 63,
  ATTRIBUTE_SHARED_BYTES = 74,
  ATTRIBUTE_WARP = 87,

  PARAM_BUFFER = 1, // HIP_LAUNCH_PARAM_BUFFER_POINTER and so on
  PARAM_BYTES = 2,
  PARAM_END = 3,

  INVALID_VALUE = 1,   // hipError_t
  KERNEL_BYTES = 1024, // of a kernel's own arguments, at most

  // Larger than hipDeviceProp_t has been in any version (1472 bytes in 6 and 7).
  PROPERTIES_BYTES = 16384,
  NAME_BYTES = 256, // its first member
};

// Filled in once, by load.
static struct {
  struct gpu_runtime runtime; // what the driver calls
  int (*attribute)(int *, int attribute, int device);
  int (*device_name)(char *, int, int device);
  int (*pci_bus_id)(char *, int, int device);
  int (*uuid)(void *, int device);
  int (*properties)(void *, int device);
  int (*runtime_version)(int *);
  int (*module_load)(void **, const void *);
  int (*module_unload)(void *);
  int (*module_kernel)(void **, void *module, const char *name);
  int (*module_launch)(void *, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                       void *, void **, void **);
  int (*module_launch_cooperative)(void *, unsigned, unsigned, unsigned, unsigned, unsigned,
                                   unsigned, unsigned, void *, void **);
  char why[400];
} hip;

#define REQUIRED(member, symbol)                                                                   \
  { offsetof(__typeof__(hip), member), symbol, NULL, true }
#define OPTIONAL(member, symbol, older)                                                            \
  { offsetof(__typeof__(hip), member), symbol, older, false }

static const struct {
  size_t offset;
  const char *symbol, *older;
  bool required;
} symbols[] = {
    REQUIRED(runtime.device_count, "hipGetDeviceCount"),
    REQUIRED(runtime.device_set, "hipSetDevice"),
    REQUIRED(runtime.memory_info, "hipMemGetInfo"),
    REQUIRED(runtime.allocate, "hipMalloc"),
    REQUIRED(runtime.release, "hipFree"),
    REQUIRED(runtime.set, "hipMemsetAsync"),
    REQUIRED(runtime.copy, "hipMemcpyAsync"),
    REQUIRED(runtime.stream_create, "hipStreamCreateWithFlags"),
    REQUIRED(runtime.stream_destroy, "hipStreamDestroy"),
    REQUIRED(runtime.stream_wait, "hipStreamSynchronize"),
    REQUIRED(runtime.event_create, "hipEventCreate"),
    REQUIRED(runtime.event_destroy, "hipEventDestroy"),
    REQUIRED(runtime.event_record, "hipEventRecord"),
    REQUIRED(runtime.event_wait, "hipEventSynchronize"),
    REQUIRED(runtime.event_elapsed, "hipEventElapsedTime"),
    REQUIRED(runtime.capture_begin, "hipStreamBeginCapture"),
    REQUIRED(runtime.capture_end, "hipStreamEndCapture"),
    REQUIRED(runtime.graph_instantiate, "hipGraphInstantiateWithFlags"),
    REQUIRED(runtime.graph_launch, "hipGraphLaunch"),
    REQUIRED(runtime.graph_destroy, "hipGraphDestroy"),
    REQUIRED(runtime.executable_destroy, "hipGraphExecDestroy"),
    REQUIRED(runtime.error_name, "hipGetErrorName"),
    REQUIRED(runtime.error_string, "hipGetErrorString"),
    REQUIRED(runtime.error_clear, "hipGetLastError"),
    REQUIRED(module_unload, "hipModuleUnload"),
    REQUIRED(module_kernel, "hipModuleGetFunction"),
    REQUIRED(attribute, "hipDeviceGetAttribute"),
    REQUIRED(device_name, "hipDeviceGetName"),
    REQUIRED(pci_bus_id, "hipDeviceGetPCIBusId"),
    REQUIRED(runtime_version, "hipRuntimeGetVersion"),
    REQUIRED(module_load, "hipModuleLoadData"),
    REQUIRED(module_launch, "hipModuleLaunchKernel"),
    OPTIONAL(uuid, "hipDeviceGetUuid", NULL),
    OPTIONAL(module_launch_cooperative, "hipModuleLaunchCooperativeKernel", NULL), // not in 5.2
    OPTIONAL(properties, "hipGetDevicePropertiesR0600", "hipGetDeviceProperties"),
};

// ---- what differs from CUDA

// "gfx942" from "gfx942:sramecc+:xnack-". The structure differs between versions, the text does
// not; it is searched for after the name. "" if it is not there.
static void find_architecture(int device, char *out, size_t size) {
  *out = 0;
  char *properties = calloc(1, PROPERTIES_BYTES);
  if (properties && hip.properties && hip.properties(properties, device) == 0) {
    const char *rest = properties + NAME_BYTES;
    const char *found = memmem(rest, PROPERTIES_BYTES - NAME_BYTES - 1, "gfx", 3);
    if (found)
      snprintf(out, size, "%.*s", (int)strcspn(found, ":"), found);
  }
  free(properties);
}

static const struct code *find_code(const char *architecture) {
  for (size_t i = 0; i < CODES; i++)
    if (strcmp(codes[i].architecture, architecture) == 0)
      return &codes[i];
  return NULL;
}

// The kernels of streaming.cu are a separate module, loaded when one of them is first needed.
struct loaded {
  void *stages, *streaming;
  const unsigned char *streaming_object;
};

// The object of the device's architecture. If HIP does not report that, each is tried in turn: all
// but the fitting one are refused.
static int load_stages(int device, struct loaded *out) {
  char architecture[16];
  find_architecture(device, architecture, sizeof architecture);
  const struct code *own = find_code(architecture);
  out->streaming_object = own ? own->streaming : NULL;
  if (own)
    return own->object ? hip.module_load(&out->stages, own->object) : RUNTIME_NO_CODE;
  int error = RUNTIME_NO_CODE;
  for (size_t i = 0; i < CODES && error && !*architecture; i++)
    if (codes[i].object)
      error = hip.module_load(&out->stages, codes[i].object);
  return error;
}

static int code_load(int device, void **code) {
  struct loaded *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return RUNTIME_OUT_OF_MEMORY;
  const int error = load_stages(device, loaded);
  if (error == 0)
    *code = loaded;
  else
    free(loaded);
  return error;
}

static int code_unload(void *code) {
  struct loaded *loaded = code;
  const int error = hip.module_unload(loaded->stages);
  const int other = loaded->streaming ? hip.module_unload(loaded->streaming) : 0;
  free(loaded);
  return error ? error : other;
}

static int kernel_find(void **kernel, void *code, const char *name) {
  struct loaded *loaded = code;
  const bool streaming = strncmp(name, "streaming_", strlen("streaming_")) == 0;
  int error = 0;
  if (streaming && !loaded->streaming)
    error = loaded->streaming_object ? hip.module_load(&loaded->streaming, loaded->streaming_object)
                                     : RUNTIME_NO_CODE;
  return error ? error
               : hip.module_kernel(kernel, streaming ? loaded->streaming : loaded->stages, name);
}

static int kernel_shared(void *kernel, size_t bytes) {
  (void)kernel, (void)bytes; // every kernel may use what the device has
  return 0;
}

// What every kernel takes before its own arguments (platform_hip.h).
static struct hip_grid grid_of(const struct gpu_launch *launch) {
  return (struct hip_grid){{launch->grid[0], launch->grid[1], launch->grid[2]}, launch->block};
}

// The cooperative form takes each argument separately.
static int launch_cooperative(void *kernel, const struct gpu_launch *launch, void *stream) {
  struct hip_grid grid = grid_of(launch);
  void *arguments[] = {&grid, (void *)(uintptr_t)launch->arguments};
  return hip.module_launch_cooperative(kernel, launch->grid[0], launch->grid[1], launch->grid[2],
                                       launch->block, 1, 1, (unsigned)launch->shared_bytes, stream,
                                       arguments);
}

static int kernel_launch(void *kernel, const struct gpu_launch *launch, void *stream,
                         bool overlap) {
  struct {
    struct hip_grid grid;
    unsigned char own[KERNEL_BYTES];
  } both = {.grid = grid_of(launch)};
  (void)overlap;
  if (launch->cooperative)
    return launch_cooperative(kernel, launch, stream);
  if (launch->argument_bytes > sizeof both.own)
    return INVALID_VALUE;
  memcpy(both.own, launch->arguments, launch->argument_bytes);
  size_t bytes = sizeof both.grid + launch->argument_bytes;
  void *arguments[] = {(void *)PARAM_BUFFER, &both, (void *)PARAM_BYTES, &bytes, (void *)PARAM_END};
  return hip.module_launch(kernel, launch->grid[0], launch->grid[1], launch->grid[2], launch->block,
                           1, 1, (unsigned)launch->shared_bytes, stream, NULL, arguments);
}

// A partitioned device (compute partitions of MI300) is several devices at one address, except for
// the function. "partition 2 of 8", or "".
static void describe_partition(int device, const char *pci, char *out, size_t size) {
  const size_t length = strcspn(pci, ".");
  int count = 0, before = 0, parts = 0;
  *out = 0;
  if (hip.runtime.device_count(&count))
    return;
  for (int i = 0; i < count; i++) {
    char other[32] = "";
    if (hip.pci_bus_id(other, sizeof other, i) || strncasecmp(other, pci, length) != 0)
      continue;
    parts++;
    before += i < device;
  }
  if (parts > 1)
    snprintf(out, size, ", partition %d of %d", before + 1, parts);
}

// The sixteen bytes are either the text that the driver's tools show after "GPU-", or plain bytes.
static void describe_uuid(int device, char *out, size_t size) {
  unsigned char bytes[16];
  *out = 0;
  if (!hip.uuid || hip.uuid(bytes, device))
    return;
  for (int i = 0; i < 16; i++)
    if (!isxdigit(bytes[i])) {
      identity_uuid("GPU", bytes, out, size);
      return;
    }
  snprintf(out, size, "GPU-%.16s", (const char *)bytes);
}

// ECC is left out: HIP reports it as off whatever the device has (rocdevice.cpp of ROCm 5 to 7);
// the meters report it.
static void describe_runtime(int device, const struct gpu_device *gpu, char *out, size_t size) {
  int version = 0;
  char module[32], partition[48];
  hip.runtime_version(&version); // major * 10000000 + minor * 100000 + patch
  identity_module_version("amdgpu", module, sizeof module);
  describe_partition(device, gpu->described.pci, partition, sizeof partition);
  snprintf(out, size, "HIP %d.%d%s%s, %s%s", version / 10000000, version / 100000 % 100,
           *module ? ", amdgpu " : "", module,
           *gpu->architecture ? gpu->architecture : "unknown architecture", partition);
}

// A runtime that does not know the attribute has no such launches.
static bool is_cooperative(int device, const struct code *own) {
  int cooperative = 0;
  return own && own->streaming && hip.module_launch_cooperative &&
         hip.attribute(&cooperative, ATTRIBUTE_COOPERATIVE, device) == 0 && cooperative != 0;
}

static int describe(int device, struct gpu_device *out) {
  struct decode_device *described = &out->described;
  int shared = 0, l2 = 0;
  const struct {
    int attribute, *to;
  } numbers[] = {{ATTRIBUTE_L2_BYTES, &l2},
                 {ATTRIBUTE_UNITS, &described->units},
                 {ATTRIBUTE_SHARED_BYTES, &shared},
                 {ATTRIBUTE_WARP, &out->warp}};
  int code = 0;
  for (size_t i = 0; i < sizeof numbers / sizeof numbers[0] && code == 0; i++)
    code = hip.attribute(numbers[i].to, numbers[i].attribute, device);
  if (code == 0)
    code = hip.device_name(described->name, sizeof described->name, device);
  if (code == 0)
    code = hip.pci_bus_id(described->pci, sizeof described->pci, device);
  if (code)
    return code;
  find_architecture(device, out->architecture, sizeof out->architecture);
  const struct code *own = find_code(out->architecture);
  const uint64_t infinity_cache = own ? (uint64_t)own->infinity_cache_mb << 20 : 0;
  described->cache_bytes = (uint64_t)l2 > infinity_cache ? (uint64_t)l2 : infinity_cache;
  out->shared_bytes = (size_t)shared;
  out->any_chunk = true; // of all of AMD's kernels, also where the architecture has no name
  out->cooperative = is_cooperative(device, own);
  describe_uuid(device, described->uuid, sizeof described->uuid);
  describe_runtime(device, out, described->runtime, sizeof described->runtime);
  return 0;
}

// ---- finding the library

static void *open_in(const char *folder, const char *name) {
  char path[512];
  snprintf(path, sizeof path, "%s/lib/%s", folder, name);
  return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}

// Newest first. ROCm's packages install under /opt/rocm without telling the loader, so a search by
// name may only find a distribution's older library; ROCM_PATH, if set, takes precedence.
static void *search_library(void) {
  static const char *const names[] = {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5",
                                      "libamdhip64.so"};
  const char *rocm = getenv("ROCM_PATH");
  const bool meant = rocm && *rocm;
  void *library = NULL;
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !library && meant; i++)
    library = open_in(rocm, names[i]);
  for (size_t i = 0; i < sizeof names / sizeof names[0] && !library; i++) {
    library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
    if (!library)
      library = open_in("/opt/rocm", names[i]);
  }
  return library;
}

// By default HIP keeps kernels' arguments in the host's memory, except on gfx94x (clr,
// rocsettings.cpp): each launch would begin with reads from there. A value that is set already
// holds. HIP reads the variable when it is loaded.
static void keep_arguments_on_device(void) {
  setenv("HIP_FORCE_DEV_KERNARG", "1", 0);
}

static void *open_library(void) {
  const char *given = getenv("PERTOKEN_HIP_LIBRARY");
  if (given && *given) {
    void *library = dlopen(given, RTLD_NOW | RTLD_LOCAL);
    if (!library)
      snprintf(hip.why, sizeof hip.why, "PERTOKEN_HIP_LIBRARY: %s", dlerror());
    return library;
  }
  void *library = search_library();
  if (!library)
    snprintf(hip.why, sizeof hip.why,
             "no AMD driver: libamdhip64.so was not found; install ROCm's HIP runtime, or set "
             "ROCM_PATH to ROCm's folder");
  return library;
}

static int find_symbols(void *library) {
  for (size_t i = 0; i < sizeof symbols / sizeof symbols[0]; i++) {
    void *symbol = dlsym(library, symbols[i].symbol);
    if (!symbol && symbols[i].older)
      symbol = dlsym(library, symbols[i].older);
    if (!symbol && symbols[i].required) {
      snprintf(hip.why, sizeof hip.why,
               "no AMD driver: this HIP library lacks %s; install ROCm 5.2 or later",
               symbols[i].symbol);
      return -1;
    }
    memcpy((char *)&hip + symbols[i].offset, &symbol, sizeof symbol);
  }
  return 0;
}

static void load(void) {
  keep_arguments_on_device();
  void *library = open_library(); // kept: the runtime has threads of its own
  if (!library || find_symbols(library))
    return;
  hip.runtime.vendor = "AMD";
  hip.runtime.install = "load the amdgpu kernel module, and join the groups render and video";
  // RCCL is built for one version of HIP: the one it is installed beside.
  Dl_info hip_itself;
  if (!dladdr(dlsym(library, "hipMalloc"), &hip_itself))
    hip_itself.dli_fname = NULL;
  hip.runtime.collectives =
      (struct library_file){.kind = "RCCL",
                            .need = "devices that hold a model together",
                            .beside = hip_itself.dli_fname,
                            .names = {"librccl.so.1", "librccl.so", "/opt/rocm/lib/librccl.so.1"},
                            .variable = "PERTOKEN_RCCL_LIBRARY",
                            .install = "install rccl (Debian: librccl1) from ROCm's repository"};
  hip.runtime.vendor_kind = VENDOR_HIPBLASLT;
  hip.runtime.products = (struct library_file){
      .kind = "hipBLASLt",
      .beside = hip_itself.dli_fname,
      .names = {"libhipblaslt.so.1", "libhipblaslt.so.0", "/opt/rocm/lib/libhipblaslt.so"},
      .variable = "PERTOKEN_HIPBLASLT_LIBRARY",
      .install = "install hipblaslt from ROCm's repository"};
  // ihipMalloc of clr (October 2024) compares device memory, too, with maxPhysicalMemAllocSize_,
  // the host's; later versions do not.
  hip.runtime.bound_by_host = true;
  hip.runtime.code_load = code_load;
  hip.runtime.code_unload = code_unload;
  hip.runtime.kernel_find = kernel_find;
  hip.runtime.kernel_shared = kernel_shared;
  hip.runtime.kernel_launch = kernel_launch;
  hip.runtime.describe = describe;
}

const struct gpu_runtime *gpu_runtime(const char **why) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  *why = hip.why;
  return hip.runtime.vendor ? &hip.runtime : NULL;
}
