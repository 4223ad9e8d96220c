// CUDA's runtime, linked statically: on a machine without a GPU only the driver is missing, and a
// call to the runtime tells.
#include "kernels/decode.h"
#include "kernels/gpu/arguments/wgmma.h"
#include "kernels/gpu/host/driver.h"
#include "kernels/gpu/host/identity.h"
#include "kernels/gpu/host/runtime.h"
#include "kernels/gpu/host/stamps.h"
#include "kernels/gpu/plan/device.h"

#include <ctype.h>
#include <cuda.h>
#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// The oldest driver that runs code of this CUDA (CUDA release notes, table of driver versions).
#define OLDEST_DRIVER                                                                              \
  (CUDART_VERSION >= 13000 ? "install NVIDIA's driver, 580 or later"                               \
                           : "install NVIDIA's driver, 570 or later")

const char gpu_runtime_name[] = "cuda";

// The fat binaries of kernels.cu and streaming.cu (build.mk).
extern const unsigned char gpu_code_cuda[], gpu_code_streaming[];

// Functions of the runtime, with the types of runtime.h.
#define RUNTIME_CALL(name, parameters, call)                                                       \
  static int name parameters {                                                                     \
    return (int)(call);                                                                            \
  }

// Functions of the runtime that create something: `out` points to a handle, which the runtime
// types.
#define RUNTIME_MAKE(name, parameters, type, call)                                                 \
  static int name parameters {                                                                     \
    type made = NULL;                                                                              \
    const cudaError_t code = call;                                                                 \
    *out = made;                                                                                   \
    return (int)code;                                                                              \
  }

RUNTIME_CALL(device_set, (int device), cudaSetDevice(device))
RUNTIME_CALL(device_count, (int *count), cudaGetDeviceCount(count))
RUNTIME_CALL(memory_info, (size_t * free_bytes, size_t *total), cudaMemGetInfo(free_bytes, total))
RUNTIME_CALL(allocate, (void **out, size_t bytes), cudaMalloc(out, bytes))
RUNTIME_CALL(release, (void *memory), cudaFree(memory))
RUNTIME_CALL(set, (void *memory, int byte, size_t bytes, void *stream),
             cudaMemsetAsync(memory, byte, bytes, stream))
RUNTIME_CALL(copy, (void *to, const void *from, size_t bytes, int kind, void *stream),
             cudaMemcpyAsync(to, from, bytes, (enum cudaMemcpyKind)kind, stream))
RUNTIME_MAKE(stream_create, (void **out, unsigned flags), cudaStream_t,
             cudaStreamCreateWithFlags(&made, flags))
RUNTIME_CALL(stream_destroy, (void *stream), cudaStreamDestroy(stream))
RUNTIME_CALL(stream_wait, (void *stream), cudaStreamSynchronize(stream))
RUNTIME_MAKE(event_create, (void **out), cudaEvent_t, cudaEventCreate(&made))
RUNTIME_CALL(event_destroy, (void *event), cudaEventDestroy(event))
RUNTIME_CALL(event_record, (void *event, void *stream), cudaEventRecord(event, stream))
RUNTIME_CALL(event_wait, (void *event), cudaEventSynchronize(event))
RUNTIME_CALL(event_elapsed, (float *milliseconds, void *start, void *stop),
             cudaEventElapsedTime(milliseconds, start, stop))
RUNTIME_CALL(capture_begin, (void *stream, int mode),
             cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode))
RUNTIME_MAKE(capture_end, (void *stream, void **out), cudaGraph_t,
             cudaStreamEndCapture(stream, &made))
RUNTIME_MAKE(graph_instantiate, (void **out, void *graph, unsigned long long flags),
             cudaGraphExec_t, cudaGraphInstantiate(&made, graph, flags))
RUNTIME_CALL(graph_launch, (void *executable, void *stream), cudaGraphLaunch(executable, stream))
RUNTIME_CALL(graph_destroy, (void *graph), cudaGraphDestroy(graph))
RUNTIME_CALL(executable_destroy, (void *executable), cudaGraphExecDestroy(executable))
RUNTIME_CALL(error_clear, (void), cudaGetLastError())

static const char *error_name(int code) {
  return cudaGetErrorName((cudaError_t)code);
}

static const char *error_string(int code) {
  return cudaGetErrorString((cudaError_t)code);
}

// The kernels of streaming.cu are a separate library, loaded when one of them is first needed.
struct code {
  cudaLibrary_t stages, streaming;
};

static cudaError_t load_library(cudaLibrary_t *out, const void *image) {
  return cudaLibraryLoadData(out, image, NULL, NULL, 0, NULL, NULL, 0);
}

static int code_load(int device, void **code) {
  (void)device; // the library finds the code that fits each device
  struct code *loaded = calloc(1, sizeof *loaded);
  if (!loaded)
    return RUNTIME_OUT_OF_MEMORY;
  cudaError_t error = (cudaError_t)gpu_stamps_open();
  if (error == cudaSuccess)
    error = load_library(&loaded->stages, gpu_code_cuda);
  if (error == cudaSuccess)
    *code = loaded;
  else
    free(loaded);
  return (int)error;
}

static int code_unload(void *code) {
  struct code *loaded = code;
  const cudaError_t stamps = (cudaError_t)gpu_stamps_close();
  const cudaError_t error = cudaLibraryUnload(loaded->stages);
  const cudaError_t other = loaded->streaming ? cudaLibraryUnload(loaded->streaming) : cudaSuccess;
  free(loaded);
  return (int)(stamps ? stamps : error ? error : other);
}

// Querying the attributes loads the kernel now rather than at its first launch, which may be
// recorded.
static int kernel_find(void **kernel, void *code, const char *name) {
  struct code *loaded = code;
  const bool streaming = strncmp(name, "streaming_", strlen("streaming_")) == 0;
  cudaKernel_t found = NULL;
  struct cudaFuncAttributes attributes;
  cudaError_t error = cudaSuccess;
  if (streaming && !loaded->streaming)
    error = load_library(&loaded->streaming, gpu_code_streaming);
  if (error == cudaSuccess)
    error = cudaLibraryGetKernel(&found, streaming ? loaded->streaming : loaded->stages, name);
  if (error == cudaSuccess)
    error = cudaFuncGetAttributes(&attributes, found);
  *kernel = found;
  return (int)error;
}

static int kernel_shared(void *kernel, size_t bytes) {
  return (int)cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)bytes);
}

static int kernel_carveout(void *kernel, int percent) {
  return (int)cudaFuncSetAttribute(kernel, cudaFuncAttributePreferredSharedMemoryCarveout,
                                   percent > 0 ? percent : cudaSharedmemCarveoutDefault);
}

#define MOST_ATTRIBUTES 2

static cudaLaunchConfig_t config_of(const struct gpu_launch *launch, void *stream, bool overlap,
                                    cudaLaunchAttribute (*attributes)[MOST_ATTRIBUTES]) {
  unsigned count = 0;
  if (launch->cooperative)
    (*attributes)[count++] =
        (cudaLaunchAttribute){.id = cudaLaunchAttributeCooperative, .val.cooperative = 1};
  else if (overlap)
    (*attributes)[count++] =
        (cudaLaunchAttribute){.id = cudaLaunchAttributeProgrammaticStreamSerialization,
                              .val.programmaticStreamSerializationAllowed = 1};
  if (launch->cluster > 1)
    (*attributes)[count++] = (cudaLaunchAttribute){.id = cudaLaunchAttributeClusterDimension,
                                                   .val.clusterDim = {launch->cluster, 1, 1}};
  return (cudaLaunchConfig_t){
      .gridDim = {launch->grid[0], launch->grid[1], launch->grid[2]},
      .blockDim = {launch->block, 1, 1},
      .dynamicSmemBytes = launch->shared_bytes,
      .stream = stream,
      .attrs = *attributes,
      .numAttrs = count,
  };
}

static int kernel_clusters(void *kernel, const struct gpu_launch *launch, int *count) {
  cudaLaunchAttribute attributes[MOST_ATTRIBUTES];
  const cudaLaunchConfig_t config = config_of(launch, NULL, false, &attributes);
  return (int)cudaOccupancyMaxActiveClusters(count, kernel, &config);
}

static int kernel_launch(void *kernel, const struct gpu_launch *launch, void *stream,
                         bool overlap) {
  cudaLaunchAttribute attributes[MOST_ATTRIBUTES];
  const cudaLaunchConfig_t config = config_of(launch, stream, overlap, &attributes);
  // The interface takes pointers to const data, one per kernel parameter; only a build that stamps
  // has a second parameter.
  struct gpu_stamp *stamps = gpu_stamps_of(launch);
  void *arguments[] = {(void *)(uintptr_t)launch->arguments, &stamps};
  return (int)cudaLaunchKernelExC(&config, kernel, arguments);
}

// The driver's own function, looked up by name, so that nothing is linked with the driver. Plain
// bytes, 128 to a row of the box, with the swizzle that matrix_wgmma.h describes; fetched into L2
// by the row.
static int tensor_map(struct tensor_map *map) {
  __typeof__(&cuTensorMapEncodeTiled) encode = NULL;
  enum cudaDriverEntryPointQueryResult found = cudaDriverEntryPointSymbolNotFound;
  const cudaError_t code = cudaGetDriverEntryPointByVersion(
      "cuTensorMapEncodeTiled", (void **)&encode, 12000, cudaEnableDefault, &found);
  if (code != cudaSuccess || found != cudaDriverEntryPointSuccess || !encode)
    return code != cudaSuccess ? (int)code : (int)cudaErrorNotSupported;
  const cuuint64_t sizes[] = {map->matrix.row_bytes, map->matrix.rows};
  const cuuint64_t strides[] = {map->matrix.row_bytes};
  const cuuint32_t box[] = {WGMMA_STEP_BYTES, map->matrix.box_rows}, steps[] = {1, 1};
  CUtensorMap encoded;
  const CUresult result =
      encode(&encoded, CU_TENSOR_MAP_DATA_TYPE_UINT8, 2, (void *)(uintptr_t)map->matrix.from, sizes,
             strides, box, steps, CU_TENSOR_MAP_INTERLEAVE_NONE, CU_TENSOR_MAP_SWIZZLE_128B,
             CU_TENSOR_MAP_L2_PROMOTION_L2_128B, CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE);
  if (result == CUDA_SUCCESS)
    memcpy(map->encoded, &encoded, sizeof map->encoded);
  return (int)result;
}

// A MIG slice of a device has that in its name ("NVIDIA H200 MIG 1g.18gb"), and is selected by a
// name of its own (NVIDIA Multi-Instance GPU User Guide).
static const char *slice_of(const struct cudaDeviceProp *properties) {
  const char *chosen = getenv("CUDA_VISIBLE_DEVICES");
  const char *named = strstr(properties->name, "MIG ");
  if (named)
    return named;
  return chosen && strncmp(chosen, "MIG-", 4) == 0 ? "MIG" : NULL;
}

static void describe_runtime(const struct cudaDeviceProp *properties, char *out, size_t size) {
  int runtime = 0, driver = 0;
  char module[32];
  const char *slice = slice_of(properties);
  cudaRuntimeGetVersion(&runtime);
  cudaDriverGetVersion(&driver);
  identity_module_version("nvidia", module, sizeof module);
  snprintf(out, size, "CUDA %d.%d, driver %s%sfor CUDA %d.%d, sm_%d%d, ECC %s%s%s%s",
           runtime / 1000, runtime % 1000 / 10, module, *module ? " " : "", driver / 1000,
           driver % 1000 / 10, properties->major, properties->minor,
           properties->ECCEnabled ? "on" : "off", slice ? ", a part of a device (" : "",
           slice ? slice : "", slice ? ")" : "");
}

static int describe(int device, struct gpu_device *out) {
  struct cudaDeviceProp properties;
  cudaError_t code = cudaGetDeviceProperties(&properties, device);
  if (code)
    return (int)code;
  struct decode_device *described = &out->described;
  code = cudaDeviceGetPCIBusId(described->pci, sizeof described->pci, device);
  if (code)
    return (int)code;
  for (char *c = described->pci; *c; c++)
    *c = (char)tolower((unsigned char)*c);
  snprintf(described->name, sizeof described->name, "%.*s", (int)sizeof described->name - 1,
           properties.name);
  identity_uuid(slice_of(&properties) ? "MIG" : "GPU", (const unsigned char *)properties.uuid.bytes,
                described->uuid, sizeof described->uuid);
  describe_runtime(&properties, described->runtime, sizeof described->runtime);
  described->cache_bytes = (uint64_t)properties.l2CacheSize;
  described->units = properties.multiProcessorCount;
  snprintf(out->architecture, sizeof out->architecture, "sm_%d%d", properties.major,
           properties.minor);
  out->warp = properties.warpSize;
  out->shared_bytes = properties.sharedMemPerBlockOptin - STAMPS_KEPT_BYTES;
  out->overlap = properties.major >= 9;
  out->wgmma = properties.major == 9 && properties.minor == 0;
  int cooperative = 0, clusters = 0;
  code = cudaDeviceGetAttribute(&cooperative, cudaDevAttrCooperativeLaunch, device);
  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute(&clusters, cudaDevAttrClusterLaunch, device);
  out->cooperative = cooperative != 0;
  out->clusters = clusters != 0 ? MAX_CLUSTER : 0;
  return (int)code;
}

static const struct gpu_runtime runtime = {
    .vendor = "NVIDIA",
    .install = OLDEST_DRIVER,
    .collectives = {.kind = "NCCL",
                    .need = "devices that hold a model together",
                    .names = {"libnccl.so.2", "libnccl.so"},
                    .variable = "PERTOKEN_NCCL_LIBRARY",
                    .install = "install libnccl2 from NVIDIA's repository"},
    .vendor_kind = VENDOR_CUBLASLT,
    .products = {.kind = "cuBLASLt",
                 .names = {"libcublasLt.so.13", "libcublasLt.so.12",
                           "/usr/local/cuda/lib64/libcublasLt.so"},
                 .variable = "PERTOKEN_CUBLASLT_LIBRARY",
                 .install = "install libcublas from NVIDIA's repository"},
    .device_count = device_count,
    .device_set = device_set,
    .memory_info = memory_info,
    .allocate = allocate,
    .release = release,
    .set = set,
    .copy = copy,
    .stream_create = stream_create,
    .stream_destroy = stream_destroy,
    .stream_wait = stream_wait,
    .event_create = event_create,
    .event_destroy = event_destroy,
    .event_record = event_record,
    .event_wait = event_wait,
    .event_elapsed = event_elapsed,
    .capture_begin = capture_begin,
    .capture_end = capture_end,
    .graph_instantiate = graph_instantiate,
    .graph_launch = graph_launch,
    .graph_destroy = graph_destroy,
    .executable_destroy = executable_destroy,
    .error_name = error_name,
    .error_string = error_string,
    .error_clear = error_clear,
    .code_load = code_load,
    .code_unload = code_unload,
    .kernel_find = kernel_find,
    .kernel_shared = kernel_shared,
    .kernel_carveout = kernel_carveout,
    .kernel_launch = kernel_launch,
    .kernel_clusters = kernel_clusters,
    .tensor_map = tensor_map,
    .describe = describe,
};

const struct gpu_runtime *gpu_runtime(const char **why) {
  *why = "";
  return &runtime;
}
