// identity: what identifies CUDA and HIP devices, as texts [size] in `out`.
#ifndef PERTOKEN_KERNELS_GPU_HOST_IDENTITY_H
#define PERTOKEN_KERNELS_GPU_HOST_IDENTITY_H

#include <stddef.h>

// The kernel module's version, "580.65.06", or "" if /sys/module has none.
void identity_module_version(const char *module, char *out, size_t size);

// 16 bytes as "PREFIX-01234567-89ab-cdef-0123-456789abcdef".
void identity_uuid(const char *prefix, const unsigned char *bytes, char *out, size_t size);

#endif
