// A HIP runtime for tests on a machine with an NVIDIA GPU: the plugin's host side runs on real
// streams, graphs and failures, with CUDA's kernels in place of its code objects. Results must be
// those of cuda.so, bit for bit:
//   PERTOKEN_HIP_LIBRARY=build/tests/lib/hip_on_cuda.so build/pertoken-probe run --device hip ...
#include <cuda_runtime_api.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "kernels/gpu/arguments/hip.h"

extern const unsigned char gpu_code_cuda[]; // the fat binary of cuda.so

int hipGetDeviceCount(int *count) {
  return (int)cudaGetDeviceCount(count);
}

int hipSetDevice(int device) {
  return (int)cudaSetDevice(device);
}

// hipDeviceAttribute_t: ECC, L2, units, shared memory per block, warp.
int hipDeviceGetAttribute(int *out, int attribute, int device) {
  static const struct {
    int hip;
    enum cudaDeviceAttr cuda;
  } attributes[] = {{0, cudaDevAttrEccEnabled},
                    {19, cudaDevAttrL2CacheSize},
                    {63, cudaDevAttrMultiProcessorCount},
                    {74, cudaDevAttrMaxSharedMemoryPerBlockOptin},
                    {87, cudaDevAttrWarpSize}};
  for (size_t i = 0; i < sizeof attributes / sizeof attributes[0]; i++)
    if (attributes[i].hip == attribute)
      return (int)cudaDeviceGetAttribute(out, attributes[i].cuda, device);
  return (int)cudaErrorInvalidValue;
}

int hipDeviceGetName(char *out, int size, int device) {
  struct cudaDeviceProp properties;
  const cudaError_t code = cudaGetDeviceProperties(&properties, device);
  snprintf(out, (size_t)size, "%s, as HIP", code ? "" : properties.name);
  return (int)code;
}

int hipDeviceGetPCIBusId(char *out, int size, int device) {
  return (int)cudaDeviceGetPCIBusId(out, size, device);
}

int hipRuntimeGetVersion(int *out) {
  *out = 60000000;
  return 0;
}

const char *hipGetErrorName(int code) {
  return cudaGetErrorName((cudaError_t)code);
}

const char *hipGetErrorString(int code) {
  return cudaGetErrorString((cudaError_t)code);
}

int hipGetLastError(void) {
  return (int)cudaGetLastError();
}

int hipMemGetInfo(size_t *free_bytes, size_t *total) {
  return (int)cudaMemGetInfo(free_bytes, total);
}

int hipMalloc(void **out, size_t bytes) {
  return (int)cudaMalloc(out, bytes);
}

int hipFree(void *memory) {
  return (int)cudaFree(memory);
}

int hipMemsetAsync(void *memory, int byte, size_t bytes, void *stream) {
  return (int)cudaMemsetAsync(memory, byte, bytes, stream);
}

int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream) {
  return (int)cudaMemcpyAsync(to, from, bytes, (enum cudaMemcpyKind)kind, stream);
}

int hipStreamCreateWithFlags(void **out, unsigned flags) {
  return (int)cudaStreamCreateWithFlags((cudaStream_t *)out, flags);
}

int hipStreamDestroy(void *stream) {
  return (int)cudaStreamDestroy(stream);
}

int hipStreamSynchronize(void *stream) {
  return (int)cudaStreamSynchronize(stream);
}

int hipEventCreate(void **out) {
  return (int)cudaEventCreate((cudaEvent_t *)out);
}

int hipEventDestroy(void *event) {
  return (int)cudaEventDestroy(event);
}

int hipEventRecord(void *event, void *stream) {
  return (int)cudaEventRecord(event, stream);
}

int hipEventSynchronize(void *event) {
  return (int)cudaEventSynchronize(event);
}

int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  return (int)cudaEventElapsedTime(milliseconds, start, stop);
}

int hipStreamBeginCapture(void *stream, int mode) {
  return (int)cudaStreamBeginCapture(stream, (enum cudaStreamCaptureMode)mode);
}

int hipStreamEndCapture(void *stream, void **out) {
  return (int)cudaStreamEndCapture(stream, (cudaGraph_t *)out);
}

int hipGraphInstantiateWithFlags(void **out, void *graph, unsigned long long flags) {
  return (int)cudaGraphInstantiate((cudaGraphExec_t *)out, graph, flags);
}

int hipGraphLaunch(void *executable, void *stream) {
  return (int)cudaGraphLaunch(executable, stream);
}

int hipGraphDestroy(void *graph) {
  return (int)cudaGraphDestroy(graph);
}

int hipGraphExecDestroy(void *executable) {
  return (int)cudaGraphExecDestroy(executable);
}

// Any code object will do. No architecture is reported, so the first one is tried.
int hipModuleLoadData(void **out, const void *image) {
  (void)image;
  return (int)cudaLibraryLoadData((cudaLibrary_t *)out, gpu_code_cuda, NULL, NULL, 0, NULL, NULL,
                                  0);
}

int hipModuleUnload(void *module) {
  return (int)cudaLibraryUnload(module);
}

// HIP lets a kernel use all shared memory without asking.
int hipModuleGetFunction(void **out, void *module, const char *name) {
  int device = 0, shared = 0;
  struct cudaFuncAttributes attributes;
  cudaError_t code = cudaLibraryGetKernel((cudaKernel_t *)out, module, name);
  if (code == cudaSuccess)
    code = cudaFuncGetAttributes(&attributes, *out);
  if (code == cudaSuccess)
    code = cudaGetDevice(&device);
  if (code == cudaSuccess)
    code = cudaDeviceGetAttribute(&shared, cudaDevAttrMaxSharedMemoryPerBlockOptin, device);
  if (code == cudaSuccess)
    code = cudaFuncSetAttribute(*out, cudaFuncAttributeMaxDynamicSharedMemorySize,
                                shared - (int)attributes.sharedSizeBytes);
  return (int)code;
}

// `extra` holds the arguments' address at [1]; CUDA's kernel takes what follows the grid.
int hipModuleLaunchKernel(void *kernel, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                          unsigned block_x, unsigned block_y, unsigned block_z,
                          unsigned shared_bytes, void *stream, void **parameters, void **extra) {
  (void)parameters;
  const dim3 grid = {grid_x, grid_y, grid_z}, block = {block_x, block_y, block_z};
  void *arguments = (char *)extra[1] + sizeof(struct hip_grid);
  return (int)cudaLaunchKernel(kernel, grid, block, &arguments, shared_bytes, stream);
}
