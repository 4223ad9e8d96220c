// fake_hip: what the tests' fake HIP runtime offers in addition to HIP.
#ifndef PERTOKEN_TESTS_STAND_INS_HIP_FAKE_HIP_H
#define PERTOKEN_TESTS_STAND_INS_HIP_FAKE_HIP_H

#include <stdbool.h>
#include <stddef.h>

// The number of streams, events, graphs, modules and memory blocks that have not been released.
int fake_hip_alive(void);

// The same for communicators of the fake RCCL.
int fake_rccl_alive(void);

// Restores a working device with nothing alive.
void fake_hip_reset(void);

// For the fake RCCL beside it (fake_rccl.c): its all-reduces go into streams, recorded or not, and
// fake_rccl_execute carries them out when it is their turn. Codes are HIP's.
#define FAKE_RCCL_KERNEL "ncclAllReduce"
int fake_hip_queue(void *stream, const void *arguments, size_t bytes);
bool fake_hip_is_recording(const void *stream);
int fake_hip_executables(void); // graphs that can be launched
int fake_rccl_execute(const void *arguments);

#endif
